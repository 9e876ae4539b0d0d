//! The archive of recordings that the other tests stand on: whole, unaltered and readable.

use std::collections::BTreeSet;
use std::num::NonZeroU16;

use crate::scoring::truth::{Field, Truth};
use fleetwatch::dialog::{Dialog, Manner, Verdict, in_words};
use fleetwatch::hash::fnv;
use fleetwatch::profile::{Composed, Submitted};
use fleetwatch::recording::{EventKind, RecordedEvent, Size};
use fleetwatch::screen::Screen;

use super::played::{Played, archive, played};

#[test]
fn the_archive_holds_exactly_the_listed_recordings() {
    let contents: String = archive()
        .names()
        .map(|name| {
            let bytes = archive().bytes(name).expect("a listed name has bytes");
            format!("{:016x} {:>6} {name}\n", fnv(bytes), bytes.len())
        })
        .collect();
    assert_eq!(contents, include_str!("../../../recordings/CONTENTS"));
    assert_eq!(archive().names().count(), 575);
}

#[test]
fn every_recording_is_read_played_and_labelled() {
    for Played { name, recording, frames, .. } in played() {
        let (directory, situation) = name.split_once('/').expect("a name has two parts");
        let header = &recording.header;
        let (tool, version) = (header.tool.as_deref().expect(name), header.version.as_deref().expect(name));
        assert_eq!(header.situation.as_deref(), Some(situation), "{name}");
        assert!(directory == format!("{tool}-{version}") || (directory, tool) == ("shell", "shell"), "{name}");
        assert!(!frames.is_empty(), "{name} has frames");
        assert!(frames.windows(2).all(|pair| pair[0].at < pair[1].at), "{name} runs forwards");
        assert!(frames.iter().any(|frame| !frame.screen.is_blank()), "{name} shows something");
        let truth = Truth::of(recording, name).expect("its truth can be read");
        let judged = Field::ALL.iter().any(|field| truth.labels(*field).iter().any(|label| label.value.is_some()));
        assert_eq!(judged, tool != "shell", "{name} is labelled");
    }
}

/// Every dialog of every recording with its options, the marked one in parentheses, the keys for each of them, and what its
/// profile knows that it says.
#[test]
fn every_recorded_dialog_can_be_answered() {
    let mut reported = String::new();
    let mut dialogs = 0;
    let mut of_keys_alone = BTreeSet::new();
    for played in played() {
        let name = played.name;
        let mut last: Option<&Dialog> = None;
        for (frame, reading) in played.readings() {
            let Some(dialog) = reading.dialog.as_ref().filter(|_| reading.in_dialog) else { continue };
            if dialog.can_answer() && last.is_some_and(|last| last.is_same(dialog)) {
                continue;
            }
            dialogs += 1;
            if dialog.options.is_empty() {
                of_keys_alone.insert(name);
                continue;
            }
            assert!(dialog.can_answer(), "{name} at {:?}: {dialog:#?}", frame.at);
            let says_nothing = dialog.text.iter().all(|line| line.trim().is_empty());
            assert!(!says_nothing || !dialog.is_whole(), "{name} at {:?} shows options alone: {dialog:#?}", frame.at);
            // Nothing but a colour tells the marked one there, which is not read; the numbers take each of them.
            let is_unmarked =
                dialog.manner == Manner::Letters || (name.starts_with("kilo-") && name.ends_with("/question"));
            assert!(dialog.marked.is_some() || is_unmarked, "{name}: {dialog:#?}");
            reported += &format!("{name}: {:?}\n", dialog.manner);
            for (place, option) in dialog.options.iter().enumerate() {
                let name =
                    if dialog.marked == Some(place) { format!("({})", option.name) } else { option.name.clone() };
                let detail = if option.detail.is_empty() { String::new() } else { format!(" [{}]", option.detail) };
                let says = match option.verdict {
                    Some(Verdict::Once) => "  (yes, once)",
                    Some(Verdict::No) => "  (no)",
                    None => "",
                };
                reported +=
                    &format!("  {name:>3} {}{detail} → {}{says}\n", option.label, in_words(&dialog.presses(place)));
            }
            last = Some(dialog);
        }
    }
    // The first names the key for each of its answers, the second stands behind a transcript, the others ask for a text.
    let expected = BTreeSet::from([
        "claude-2.1.330/auto-mode",
        "claude-2.1.332/dialog-behind-transcript-with-record",
        "cn-1.5.47/question",
        "kilo-7.7.7/tool-denied",
        "kilo-7.7.9/tool-denied-with-record",
    ]);
    assert_eq!(of_keys_alone, expected);
    assert!(dialogs > 40, "{dialogs} dialogs were found");
    insta::with_settings!({prepend_module_to_snapshot => false}, {
        insta::assert_snapshot!("dialogs", reported);
    });
}

/// What an agent shows of a submitted prompt is never taken for somebody else's typing.
#[test]
fn no_recorded_prompt_shows_more_than_was_typed() {
    let mut compared = 0;
    // There the agent has lost a letter that was typed, so that its prompt is another one.
    for played in played().iter().filter(|played| played.name != "grok-0.0.34/simple-success") {
        let Played { name, recording, .. } = played;
        let typed = |event: &RecordedEvent| match &event.kind {
            EventKind::Input(text) => Some(text.clone()),
            _ => None,
        };
        let inputs: Vec<String> = recording.events.iter().filter_map(typed).filter(|text| text.len() > 3).collect();
        let mut last = None;
        for (frame, reading) in played.readings() {
            let submitted = &reading.submitted_rows;
            if last == Some(submitted) {
                continue;
            }
            for text in &inputs {
                let is_more = submitted.as_ref().is_some_and(|submitted| submitted.is_more_than(text));
                assert!(!is_more, "{name} at {:?}: {submitted:?}, {text:?}", frame.at);
            }
            let shown = Composed::of(submitted.as_ref().map_or("", Submitted::first));
            compared += usize::from(submitted.is_some() && inputs.iter().any(|text| shown.is_part_of(text)));
            last = Some(submitted);
        }
    }
    assert!(compared > 100, "{compared} prompts were compared");
}

/// The player copies only the rows that changed; an emulator beside it, whose screen is copied whole, must agree.
#[test]
fn frames_are_what_an_emulator_shows() {
    let mut compared = 0;
    let is_chosen = |name: &str| name.ends_with("-success") || name.contains("resize") || name.contains("kill");
    for Played { name, recording, frames, .. } in played().iter().filter(|played| is_chosen(played.name)) {
        let Size { columns, rows } = recording.header.size;
        let side = |n| NonZeroU16::new(n).expect("a side is never zero");
        let mut emulator = vt100::Parser::new(side(rows), side(columns), 0);
        let mut events = recording.events.iter().peekable();
        for frame in frames {
            while let Some(event) = events.next_if(|event| event.at <= frame.at) {
                match &event.kind {
                    // The player leaves these out, since tmux does not make the character before them wide.
                    EventKind::Output(text) => {
                        text.split('\u{fe0f}').for_each(|piece| emulator.process(piece.as_bytes()));
                    }
                    EventKind::Resize(size) => emulator.set_size(side(size.rows), side(size.columns)),
                    _ => {}
                }
            }
            assert_eq!(*frame.screen, Screen::from_vt100(emulator.screen()), "{name} at {:?}", frame.at);
            compared += 1;
        }
    }
    assert!(compared > 1000, "{compared} frames compared");
}
