//! What operators type: filters, choices of a dialog, templates, quiet hours, and keys in the dashboard.
#![no_main]

use std::cell::RefCell;
use std::sync::LazyLock;

use fleetwatch::dialog::Dialog;
use fleetwatch::notify::QuietHours;
use fleetwatch::pattern::Pattern;
use fleetwatch::present::answer::meant;
use fleetwatch::present::filter::{Filter, completed, filter_completions};
use fleetwatch::present::flags::Flags;
use fleetwatch::present::item::Item;
use fleetwatch::present::template::Template;
use fleetwatch::present::text::{at_last_word, cut, width};
use fleetwatch::recording::Player;
use fleetwatch::ui::{Ui, UiOptions};
use fleetwatch_fuzz::{Watched, profile, profile_of, recordings, seed};
use libfuzzer_sys::fuzz_target;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;

fn seeds() -> Vec<Vec<u8>> {
    let filters = [
        "is:needs-you !agent:claude waited:>5m",
        "is:failed,stalled context:<20% plan:1/3",
        "name:api label:shop host:local cost:>5 tokens:>100k age:<1h",
        "model:opus-4.5 mode:plan branch:main prompt:fix session:work",
    ];
    let rests = [
        "yes\n{name} in {cwd}\n/is:f\t\n",
        "1,3\nno\no\u{3000}\t!make -C\t",
        "no\n22:00-07:00\n:theme\t\u{1b}?",
        "2\nx*\nd]v\u{1b}i hello\n",
    ];
    let pairs = filters.iter().zip(rests);
    pairs.map(|(filter, rest)| format!("{filter}\n{rest}").into_bytes()).collect()
}

/// Dialogs of recordings.
static DIALOGS: LazyLock<Vec<Dialog>> = LazyLock::new(|| {
    let mut dialogs = Vec::new();
    for recording in recordings(20) {
        let Some(number) = profile_of(&recording) else { continue };
        let read = |frame: fleetwatch::recording::Frame| profile(number).read(&frame.screen, &frame.facts).dialog;
        dialogs.extend(Player::new(&recording).filter_map(read).take(1));
    }
    assert!(dialogs.len() > 3, "{}", dialogs.len());
    dialogs
});

thread_local! {
    static WATCHED: RefCell<Watched> = RefCell::new(Watched::of(&recordings(300).remove(1)));
}

fuzz_target!(init: {
    seed(4096, seeds);
    LazyLock::force(&DIALOGS);
    WATCHED.with_borrow(|_| ());
}, |data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut lines = text.splitn(4, '\n');
    let mut line = || lines.next().unwrap_or_default();
    let (filter, choice, other, keys) = (line(), line(), line(), line());
    WATCHED.with_borrow(|watched| {
        let view = watched.fleet.view(watched.now);
        let asked = Filter::new(filter);
        let _ = (asked.fault(), asked.doubt(&view), asked.as_names(), completed(filter, &view));
        filter_completions(filter, &view);
        let flags = Flags::default();
        let _fitting = Item::all(&view).into_iter().filter(|item| asked.lets(*item, &flags, watched.now)).count();
        // Another few with each input.
        for dialog in DIALOGS.iter().skip(data.len() % 8).step_by(8) {
            let _ = (meant(choice, None, dialog), meant(choice, Some(other), dialog));
        }
        if let Ok(template) = Template::parse("own", other) {
            template.filled(|_| filter.to_owned());
        }
        let _ = (QuietHours::parse(other), Pattern::try_from(other.to_owned()));
        let (before, last) = at_last_word(filter);
        assert!(before.len() + last.len() == filter.len() && width(&cut(filter, 7)) <= 7);
        // A dashboard takes most of the time.
        if keys.is_empty() {
            return;
        }
        let mut ui = Ui::new(UiOptions::default());
        let draw = |ui: &mut Ui, (width, height)| {
            let area = Rect::new(0, 0, width, height);
            ui.update(&view);
            ui.draw_into(&mut Buffer::empty(area), area, &view);
        };
        draw(&mut ui, (80, 24));
        for key in keys.chars().take(64) {
            let event = match key {
                '\t' => KeyEvent::from(KeyCode::Tab),
                '\n' => KeyEvent::from(KeyCode::Enter),
                '\u{1b}' => KeyEvent::from(KeyCode::Esc),
                '\u{8}' => KeyEvent::from(KeyCode::Backspace),
                '\u{1}'..='\u{1a}' => KeyEvent::new(KeyCode::Char((b'`' + key as u8).into()), KeyModifiers::CONTROL),
                key => KeyEvent::from(KeyCode::Char(key)),
            };
            ui.handle(&Event::Key(event), &view);
        }
        draw(&mut ui, (80, 24));
        draw(&mut ui, (23, 7));
    });
});
