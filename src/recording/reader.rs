//! Reading asciicast v3 and v2. Recordings are untrusted: whatever is wrong is refused with its line.

use std::borrow::Cow;
use std::io::Read;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::{EventKind, Header, LARGEST_SIDE, RecordedEvent, Recording, RecordingError, Size};
use crate::time::{Span, Timestamp};

/// The largest file that is read, in bytes; the longest day of a busy terminal stays below it.
const LARGEST_FILE: u64 = 512 << 20;
/// What standard input is called.
const INPUT: &str = "standard input";
/// The longest recording, in seconds: a year.
const LONGEST: f64 = 366.0 * 86_400.0;
/// Commands that run another program, so that their name says nothing of the agent.
const CARRIERS: &[&str] =
    &["sh", "bash", "zsh", "fish", "dash", "env", "sudo", "node", "bun", "deno", "npx", "uv", "python", "python3"];

impl Recording {
    /// Reads a file, or standard input if it is called `-`.
    pub fn open(path: &Path) -> Result<Self, RecordingError> {
        let (path, is_input) = if path == Path::new("-") { (Path::new(INPUT), true) } else { (path, false) };
        let source = path.display().to_string();
        let unreadable = |error: std::io::Error| RecordingError::unreadable(path, &error);
        let opened = || -> std::io::Result<Box<dyn Read>> {
            Ok(if is_input { Box::new(std::io::stdin()) } else { Box::new(std::fs::File::open(path)?) })
        };
        let file = opened().map_err(unreadable)?;
        let mut bytes = Vec::new();
        // One byte more than allowed is enough to know that the file is too large, even if it is a device without end.
        file.take(LARGEST_FILE + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        if bytes.len() as u64 > LARGEST_FILE {
            let message = format!("the file is larger than {} MiB", LARGEST_FILE >> 20);
            return Err(RecordingError::Unreadable { source_name: source, message });
        }
        Self::parse(&source, &bytes)
    }

    /// Reads the bytes of a file; `source` is its name in errors.
    pub fn parse(source: &str, bytes: &[u8]) -> Result<Self, RecordingError> {
        let mut reader = LineReader { source, line: 0, format: TimeFormat::V3, at: 0.0 };
        let mut lines = bytes.split(|&b| b == b'\n').peekable();
        let first = lines.next().unwrap_or_default();
        reader.line = 1;
        let header = reader.header(first)?;
        let (mut events, mut cut) = (Vec::new(), None);
        while let Some(line) = lines.next() {
            reader.line += 1;
            if lines.peek().is_none() && is_cut(line) {
                cut = Some(reader.wrong("the last line is cut; what comes before it is read"));
            } else if let Some(event) = reader.event(line)? {
                events.push(event);
            }
        }
        let name =
            Path::new(source).file_stem().map_or_else(|| source.to_owned(), |s| s.to_string_lossy().into_owned());
        Ok(Self { name, header, events, cut })
    }
}

/// How times are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TimeFormat {
    /// Seconds since the start.
    V2,
    /// Seconds since the event before.
    V3,
}

struct LineReader<'a> {
    source: &'a str,
    line: usize,
    format: TimeFormat,
    /// The time of the last event, in seconds since the start.
    at: f64,
}

#[derive(Deserialize)]
struct RawHeader {
    version: u64,
    term: Option<RawTerm>,
    width: Option<u64>,
    height: Option<u64>,
    timestamp: Option<f64>,
    command: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
}

#[derive(Deserialize)]
struct RawTerm {
    cols: u64,
    rows: u64,
}

impl LineReader<'_> {
    fn header(&mut self, line: &[u8]) -> Result<Header, RecordingError> {
        let text = self.text(line)?;
        if text.trim().is_empty() {
            return Err(self.wrong(
                "the header is missing: the first line must be an asciicast header, such as {\"version\": 3, …}",
            ));
        }
        let raw: RawHeader = serde_json::from_str(text).map_err(|e| match e.classify() {
            serde_json::error::Category::Data => self.wrong(format!("this is not an asciicast header: {}", inner(&e))),
            _ => self.wrong(format!("the header is broken JSON: {}", inner(&e))),
        })?;
        let (columns, rows) = match (raw.version, &raw.term, raw.width, raw.height) {
            (3, Some(term), ..) => (term.cols, term.rows),
            (3, None, ..) => return Err(self.wrong("the header has no `term` with `cols` and `rows`")),
            (2, _, Some(width), Some(height)) => (width, height),
            (2, ..) => return Err(self.wrong("the header has no `width` and `height`")),
            (version, ..) => {
                return Err(self.wrong(format!("asciicast version {version} is not supported, only 3 and 2")));
            }
        };
        self.format = if raw.version == 3 { TimeFormat::V3 } else { TimeFormat::V2 };
        let (tool, version, situation) = names(raw.command.as_deref(), &raw.tags);
        // A time outside of what a moment can hold says nothing.
        let began = raw
            .timestamp
            .filter(|s| s.is_finite() && s.abs() < 1e12)
            .map(|s| Timestamp::from_millis((s * 1000.0) as i64));
        Ok(Header { tool, version, situation, size: self.size(columns, rows)?, began })
    }

    /// Reads one line after the header; blank lines, comments and unknown events are nothing.
    fn event(&mut self, line: &[u8]) -> Result<Option<RecordedEvent>, RecordingError> {
        let text = self.text(line)?.trim_ascii();
        if text.is_empty() || text.starts_with('#') {
            return Ok(None);
        }
        let (time, code, data): (f64, Cow<str>, Value) =
            serde_json::from_str(text).map_err(|e| match e.classify() {
                serde_json::error::Category::Data => {
                    self.wrong(format!("an event must be [time, code, data]: {}", inner(&e)))
                }
                _ => self.wrong(format!("broken JSON: {}", inner(&e))),
            })?;
        let at = self.advance(time)?;
        if !matches!(&*code, "o" | "i" | "r" | "m" | "x") {
            return Ok(None);
        }
        let Value::String(data) = data else {
            return Err(self.wrong(format!("the data of an `{code}` event must be a string")));
        };
        let kind = match &*code {
            "o" => EventKind::Output(data),
            "i" => EventKind::Input(data),
            "r" => self.resize(&data)?,
            "x" => EventKind::Exit(
                data.trim().parse().map_err(|_| self.wrong(format!("exit status {data:?} is not a number")))?,
            ),
            _ => marker(data),
        };
        Ok(Some(RecordedEvent { at, line: self.line, kind }))
    }

    fn advance(&mut self, time: f64) -> Result<Span, RecordingError> {
        if time < 0.0 {
            return Err(self.wrong(format!("negative time {time}")));
        }
        let at = if self.format == TimeFormat::V3 { self.at + time } else { time };
        if at < self.at {
            return Err(self.wrong(format!("time runs backwards, from {} to {at}", self.at)));
        }
        if at > LONGEST {
            return Err(self.wrong(format!("time {at} lies more than a year after the start")));
        }
        self.at = at;
        // The bounds above keep the number far inside of u64.
        Ok(Span::from_millis((at * 1000.0).round() as u64))
    }

    fn resize(&self, data: &str) -> Result<EventKind, RecordingError> {
        let sides = data.split_once('x').and_then(|(c, r)| Some((c.trim().parse().ok()?, r.trim().parse().ok()?)));
        let Some((columns, rows)) = sides else {
            return Err(self.wrong(format!("a resize must be COLUMNSxROWS, not {data:?}")));
        };
        Ok(EventKind::Resize(self.size(columns, rows)?))
    }

    fn size(&self, columns: u64, rows: u64) -> Result<Size, RecordingError> {
        let side = |n: u64| u16::try_from(n).ok().filter(|n| (1..=LARGEST_SIDE).contains(n));
        match (side(columns), side(rows)) {
            (Some(columns), Some(rows)) => Ok(Size { columns, rows }),
            _ => Err(self.wrong(format!(
                "a terminal of {columns}x{rows} is not supported, only 1x1 to {LARGEST_SIDE}x{LARGEST_SIDE}"
            ))),
        }
    }

    fn text<'b>(&self, line: &'b [u8]) -> Result<&'b str, RecordingError> {
        std::str::from_utf8(line).map_err(|_| self.wrong("the line is not UTF-8"))
    }

    fn wrong(&self, message: impl Into<String>) -> RecordingError {
        RecordingError::at(self.source, self.line, message)
    }
}

/// Whether a line ends before its JSON or its last character does.
fn is_cut(line: &[u8]) -> bool {
    !line.trim_ascii().is_empty() && serde_json::from_slice::<Value>(line).is_err_and(|error| error.is_eof())
}

/// The message of a JSON error with its column; its line is always 1, because lines are read one by one.
fn inner(error: &serde_json::Error) -> String {
    error.to_string().replace(" at line 1 column ", " at column ")
}

/// Tool, version and situation from the header's `command` and `tags` (SPEC §13).
fn names(command: Option<&str>, tags: &[String]) -> (Option<String>, Option<String>, Option<String>) {
    let command = command.and_then(|c| c.split_whitespace().next()).map(|c| c.rsplit('/').next().unwrap_or(c));
    let tool = command.filter(|c| !CARRIERS.contains(c)).map(str::to_owned).or_else(|| tags.first().cloned());
    // Tags that do not begin with the agent are somebody's own and name no version.
    if tool.is_none() || tags.first() != tool.as_ref() {
        return (tool, None, None);
    }
    let known = |tag: Option<&String>| tag.filter(|tag| !tag.is_empty()).cloned();
    (tool, known(tags.get(1)), known(tags.get(2)))
}

fn marker(data: String) -> EventKind {
    match data.split_once(' ') {
        Some(("process", name)) => EventKind::Process(name.trim().to_owned()),
        Some(("truth", json)) => EventKind::Truth(json.to_owned()),
        // Anybody's own marker may begin with the same word.
        Some(("record", json)) => match serde_json::from_str(json) {
            Ok(addition) => EventKind::Record(Box::new(addition)),
            Err(_) => EventKind::Marker(data),
        },
        _ => EventKind::Marker(data),
    }
}
