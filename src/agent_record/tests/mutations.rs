//! Malformed lines of real records: whatever an agent, a full disk or somebody else writes there, the reader says something
//! or nothing, and keeps no more of it than of a well-formed line.

use serde_json::{Map, Value, json};

use super::without_calls;
use crate::agent_record::{AgentRecordReader, AgentRecordSource, RecordDepth};
use crate::profile::ProfileSet;
use crate::state::KEPT_TEXT;
use crate::time::Timestamp;

/// The most that a reader may keep, in bytes of its debug text: all facts as long as they may be, escaped.
const KEPT: usize = 20 * KEPT_TEXT * 8;

/// The same numbers in every run (xorshift64*).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() >> 11).unwrap_or(0) % limit.max(1)
    }

    fn of<'a, T>(&mut self, some: &'a [T]) -> &'a T {
        &some[self.below(some.len())]
    }
}

/// A line with one fault or several.
fn mutated(random: &mut Random, lines: &[&str]) -> Vec<u8> {
    let line = lines[random.below(lines.len())];
    match random.below(8) {
        0 => flipped(random, line.as_bytes()),
        1 => line.as_bytes()[..random.below(line.len())].to_vec(),
        // The beginning of one line and the end of another, as when two processes write at once.
        2 => {
            let other = lines[random.below(lines.len())].as_bytes();
            [&line.as_bytes()[..random.below(line.len())], &other[random.below(other.len())..]].concat()
        }
        3 => {
            let depth = random.below(200);
            [&b"[".repeat(depth)[..], line.as_bytes(), &b"]".repeat(depth)[..]].concat()
        }
        _ => {
            let Ok(mut value) = serde_json::from_str::<Value>(line) else { return line.as_bytes().to_vec() };
            for _ in 0..=random.below(3) {
                let fault = fault(random, lines);
                *somewhere(random, &mut value) = fault;
            }
            value.to_string().into_bytes()
        }
    }
}

fn flipped(random: &mut Random, line: &[u8]) -> Vec<u8> {
    let mut bytes = line.to_vec();
    for _ in 0..=random.below(8) {
        let at = random.below(bytes.len());
        bytes[at] ^= 1 << random.below(8);
    }
    bytes
}

/// A value of another type or size than anybody expects.
fn fault(random: &mut Random, lines: &[&str]) -> Value {
    match random.below(12) {
        0 => Value::Null,
        1 => json!(true),
        2 => json!(*random.of(&[u64::MAX, u64::MAX / 2, 0, 1, 99_999_999_999, 100_000_000_000])),
        3 => json!(*random.of(&[i64::MIN, -1])),
        4 => json!(*random.of(&[f64::MAX, f64::MIN_POSITIVE, -0.0, 1e300])),
        5 => json!(""),
        6 => json!(*random.of(&[
            "9999-12-31T23:59:59.999Z",
            "-009999-01-01T00:00:00Z",
            "2026-11-22T25:61:61Z",
            "\u{1b}]0;x\u{7}"
        ])),
        // Now and then of a length that counts.
        7 if random.below(40) == 0 => json!("x\u{202e}".repeat(random.below(40_000))),
        8 if random.below(40) == 0 => json!(vec![json!({ "text": "y", "type": "text" }); random.below(5_000)]),
        9 => (0..random.below(100)).fold(json!("deep"), |inner, _| json!({ "content": [inner] })),
        10 => serde_json::from_str::<Value>(lines[random.below(lines.len())]).unwrap_or_default(),
        _ => Value::Object(Map::new()),
    }
}

/// Any place in a value.
fn somewhere<'a>(random: &mut Random, value: &'a mut Value) -> &'a mut Value {
    let length = match &*value {
        Value::Object(fields) => fields.len(),
        Value::Array(elements) => elements.len(),
        _ => 0,
    };
    if length == 0 || random.below(6) == 0 {
        return value;
    }
    let at = random.below(length);
    match value {
        Value::Object(fields) => match fields.values_mut().nth(at) {
            Some(field) => somewhere(random, field),
            None => unreachable!("there are as many"),
        },
        Value::Array(elements) => somewhere(random, &mut elements[at]),
        _ => value,
    }
}

/// Reads so many faulty lines, each with three sources of any profiles; says how many were JSON still.
fn read_faulty(lines: usize) -> usize {
    let profiles = ProfileSet::builtin();
    let tools: Vec<String> = profiles.tools().map(str::to_owned).collect();
    let sources: Vec<AgentRecordSource> = tools.iter().flat_map(|tool| profiles.records(tool).to_vec()).collect();
    let files = [
        include_str!("../../../tests/records/claude-2.1.197.jsonl"),
        include_str!("../../../tests/records/codex-0.116.0.jsonl"),
        include_str!("../../../tests/records/codex-0.169.0.jsonl"),
        include_str!("../../../tests/records/copilot-1.0.102.jsonl"),
        r#"{"pid":7,"sessionId":"s","procStart":"1","status":"waiting","waitingFor":"dialog open","statusUpdatedAt":1795332552989}"#,
    ];
    let honest: Vec<&str> = files.iter().flat_map(|file| file.lines()).collect();
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut readers = vec![(AgentRecordReader::default(), AgentRecordReader::default()); sources.len()];
    let (mut read, now) = (0, Timestamp::from_millis(1_800_000_000_000));
    for number in 0..lines {
        let line = mutated(&mut random, &honest);
        let Ok(value) = serde_json::from_slice::<Value>(&line) else { continue };
        read += 1;
        for _ in 0..3 {
            let at = random.below(sources.len());
            let (source, (reader, of_kept)) = (&sources[at], &mut readers[at]);
            reader.read(source, &value, now);
            of_kept.read(source, &source.kept(&value, RecordDepth::Named), now);
            assert_eq!(without_calls(of_kept), without_calls(reader), "{}", String::from_utf8_lossy(&line));
        }
        if number % 1000 == 0 {
            let largest = readers.iter().map(|(reader, _)| format!("{reader:?}").len()).max().unwrap_or(0);
            assert!(largest < KEPT, "a reader keeps {largest} bytes after {number} lines");
        }
    }
    read
}

#[test]
fn faulty_lines_do_no_harm() {
    let read = read_faulty(20_000);
    assert!(read > 10_000, "only {read} lines were JSON still");
}

/// The same a million times. Memory is that of the whole process, once all has been touched and at the end.
#[test]
#[ignore = "takes minutes: cargo test --lib a_million_faulty_lines -- --ignored --nocapture"]
fn a_million_faulty_lines_do_no_harm_and_cost_no_memory() {
    let resident = || {
        let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
        pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4
    };
    read_faulty(20_000);
    let (before, began) = (resident(), std::time::Instant::now());
    let read = read_faulty(1_000_000);
    let after = resident();
    println!(
        "{read} of 1000000 faulty lines were JSON; {before} KiB before, {after} KiB after, {:.0?}",
        began.elapsed()
    );
    assert!(after < before + 8192, "{before} KiB became {after} KiB");
}
