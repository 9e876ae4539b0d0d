//! What agents write about their sessions, in any order and torn.
#![no_main]

use fleetwatch::agent_record::{AgentRecordReader, RecordAddition, RecordedFiles};
use fleetwatch::recording::EventKind;
use fleetwatch_fuzz::{NOW, PROFILES, profile, profile_of, recordings, seed};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for recording in recordings(3) {
        let Some(number) = profile_of(&recording) else { continue };
        let additions = recording.events.iter().filter_map(|event| match &event.kind {
            EventKind::Record(addition) => serde_json::to_string(addition).ok(),
            _ => None,
        });
        let additions: Vec<String> = additions.collect();
        for some in additions.chunks(4) {
            seeds.push([vec![number], some.join("\n").into_bytes()].concat());
        }
    }
    seeds
}

fuzz_target!(init: seed(4096, seeds), |data: &[u8]| {
    let Some((number, lines)) = data.split_first() else { return };
    let sources = PROFILES.records(profile(*number).tool());
    let mut files = RecordedFiles::new(sources.clone());
    let mut readers: Vec<_> = sources.iter().map(|source| (source, AgentRecordReader::new(false))).collect();
    for line in lines.split(|byte| *byte == b'\n') {
        let Ok(value) = serde_json::from_slice::<Value>(line) else { continue };
        let addition: Option<RecordAddition> = serde_json::from_value(value.clone()).ok();
        if let Some(addition) = &addition {
            files.take(addition, NOW);
            let _ = files.reading();
        }
        let lines = addition.map_or(vec![value], |addition| addition.lines);
        for (source, reader) in &mut readers {
            for line in &lines {
                reader.read(source, line, NOW);
                reader.read_head(source, line, NOW);
                source.said_by(line);
                source.written_at(line);
            }
            let again = AgentRecordReader::from_summary(&reader.summary(), NOW);
            assert!(again.is_some(), "a summary is read back");
        }
    }
});
