//! History files of any bytes: whole ones, and a good one with some bytes changed. Reading one may fail, but only with a word.
#![no_main]

use std::sync::LazyLock;

use fleetwatch::history::{History, Reader, RecordFilter, Settings};
use fleetwatch::operation::{Act, Operation, Outcome, Producer, Recipient, When};
use fleetwatch::record::{OperatorAction, Record};
use fleetwatch_fuzz::{NOW, scratch, seed, terminal};
use libfuzzer_sys::fuzz_target;

/// A history with some records.
static GOOD: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let path = scratch("good.db");
    let history = History::start(&Settings { path: Some(path.clone()), ..Settings::default() });
    history.lead(terminal().server, None);
    for n in 0..20 {
        let (at, key, name) = (NOW, terminal(), format!("api-{n}"));
        history.record(Record::Introduced { at, key: key.clone(), name: name.clone() });
        let action = OperatorAction::of_word("pinned");
        history.record(Record::Action { at, key: Some(key.clone()), name: name.clone(), action });
        let act = Act::Prompt { text: format!("prompt {n}"), when: When::Now };
        let to = Recipient::new(key, name);
        let operation = Operation { at, producer: Producer::Dashboard, to, act };
        history.begin_input(&operation.into()).ended(Outcome::Accepted(None), NOW);
    }
    drop(history);
    std::fs::read(&path).expect("it was written")
});

/// Changes to the good one: each is a place (three bytes), a length, and so many bytes.
fn changed(mut edits: &[u8]) -> Vec<u8> {
    let mut bytes = GOOD.clone();
    while let [a, b, c, length, rest @ ..] = edits {
        let at = usize::from(*a) << 16 | usize::from(*b) << 8 | usize::from(*c);
        let (put, rest) = rest.split_at(rest.len().min(usize::from(*length)));
        let at = at % bytes.len();
        let end = bytes.len().min(at + put.len());
        bytes[at..end].copy_from_slice(&put[..end - at]);
        edits = rest;
    }
    bytes
}

fn seeds() -> Vec<Vec<u8>> {
    vec![
        b"w".to_vec(),
        [b"w", &GOOD[..4096]].concat(),
        b"c\x00\x10\x00\x04abcd".to_vec(),
        b"c\x00\x00\x64\x01\x00".to_vec(),
    ]
}

fuzz_target!(init: seed(8192, seeds), |data: &[u8]| {
    let Some((kind, rest)) = data.split_first() else { return };
    let path = scratch("history.db");
    let bytes = if *kind == b'w' { rest.to_vec() } else { changed(rest) };
    std::fs::write(&path, bytes).expect("it is written");
    let mut reader = match Reader::open(&path) {
        Ok(reader) => reader,
        Err(error) => return drop(error.to_string()),
    };
    let _ = (reader.terminals(), reader.extent(), reader.notes(), reader.summaries(NOW), reader.named("api-1"));
    let _ = reader.prompts(None, 10);
    let limit = Some(50);
    for record in reader.records(&RecordFilter { limit, ..RecordFilter::default() }).unwrap_or_default() {
        let _ = (record.body.what(), record.body.fields(), record.body.status());
    }
    let _ = reader.transitions(&terminal(), 10);
});
