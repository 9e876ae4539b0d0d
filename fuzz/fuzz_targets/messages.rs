//! What another process of the user says over the owner's socket: messages of the owner, of clients, and operations.
#![no_main]

use std::sync::LazyLock;

use fleetwatch::fleet::{Input, ServerId, Told};
use fleetwatch::operation::{Act, Operation, Producer, Recipient, When};
use fleetwatch::owner::ClientMessage;
use fleetwatch::present::item::Item;
use fleetwatch::record::Sent;
use fleetwatch_fuzz::{NOW, Watched, recordings, seed};
use libfuzzer_sys::fuzz_target;

fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for recording in recordings(12) {
        let mut watched = Watched::of(&recording);
        let told = watched.fleet.share(&ServerId::default());
        seeds.push(serde_json::to_vec(&told).expect("what is told is JSON"));
        let view = watched.fleet.view(watched.now);
        for terminal in &view.terminals {
            let act = Act::Prompt { text: "run the tests".to_owned(), when: When::Ready };
            let to = Recipient::of(terminal);
            let operation = Operation { at: NOW, producer: Producer::Dashboard, to, act };
            seeds.push(serde_json::to_vec(&operation).expect("an operation is JSON"));
            let seen = ClientMessage::Seen { key: terminal.key.clone() };
            seeds.push(serde_json::to_vec(&seen).expect("a message is JSON"));
        }
    }
    seeds
}

/// What this process knows already.
static KNOWN: LazyLock<Told> = LazyLock::new(|| {
    let recording = recordings(400).remove(1);
    Watched::of(&recording).fleet.share(&ServerId::default())
});

fuzz_target!(init: {
    seed(16000, seeds);
    LazyLock::force(&KNOWN);
}, |data: &[u8]| {
    if let Ok(told) = serde_json::from_slice::<Told>(data) {
        let mut watched = Watched::new(fleetwatch::profile::Program::agent("claude", None));
        let server = ServerId::default();
        for told in [KNOWN.clone(), told] {
            let now = told.at.max(watched.now);
            watched.fleet.handle(Input::Told { server: server.clone(), told: Box::new(told) }, now);
            watched.now = now;
            for _ in 0..10 {
                while watched.fleet.poll_effect().is_some() {}
                let Some(due) = watched.fleet.poll_timeout() else { break };
                watched.now = watched.now.max(due);
                watched.fleet.handle(Input::TimePassed, watched.now);
            }
        }
        let view = watched.fleet.view(watched.now);
        for item in Item::all(&view) {
            let _ = (item.id(), item.status());
        }
        let again = watched.fleet.share(&server);
        serde_json::to_vec(&again).expect("what is told is JSON");
    }
    let _ = serde_json::from_slice::<ClientMessage>(data);
    if let Ok(operation) = serde_json::from_slice::<Operation>(data) {
        let _ = Sent::from(&operation.act);
        serde_json::to_vec(&operation).expect("an operation is JSON");
    }
});
