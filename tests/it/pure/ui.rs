//! The dashboard's frames and keys, drawn from a fleet made by hand.

mod acting;
mod blind;
mod drill;
mod matrix;
mod messages;
mod prose;
mod sheet;
mod sizes;
mod today;

use std::sync::Arc;

use crate::support::sample_fleet::{NOW, SampleFleet, terminal};
use fleetwatch::fleet::{ServerHealth, ServerId, TerminalKey, TerminalTransition, View};
use fleetwatch::operation::{Act, Operation, Outcome, Producer, Recipient, Refusal, Reply, When};
use fleetwatch::record::Draft;
use fleetwatch::record::{Body, RecordId, Stored};
use fleetwatch::repository::GitFacts;
use fleetwatch::state::{
    AgentFacts, Attention, Availability, BusinessState, Change, Fact, FactName, FactSource, FactValue, Note, NotePart,
    OperatorStatus, Phase, PlanProgress, Problem, Summary, Transition, TurnResult, TurnSource, UiContext,
};
use fleetwatch::status::{Hindrance, Status};
use fleetwatch::time::Span;
use fleetwatch::ui::{Action, Copied, Depth, Keymap, Request, Theme, Ui, UiOptions};
use fleetwatch::ui::{OverlayEvent, Waiting};
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};
use unicode_width::UnicodeWidthStr;

/// An act on a terminal, as the dashboard asks for it now.
fn operation(fleet: &SampleFleet, key: &TerminalKey, act: Act) -> Operation {
    let terminal = fleet.terminals.iter().find(|terminal| terminal.key == *key);
    let to = terminal.map_or_else(|| Recipient::new(key.clone(), "gone".to_owned()), Recipient::of);
    Operation { at: fleet.now, producer: Producer::Dashboard, to, act }
}

fn prompt(text: &str, when: When) -> Act {
    Act::Prompt { text: text.to_owned(), when }
}

/// What is asked for when a prompt is sent now.
fn send(fleet: &SampleFleet, key: &TerminalKey, text: &str) -> Request {
    Request::Perform(operation(fleet, key, prompt(text, When::Now)))
}

/// The acts that are asked for, and the terminals for which they are.
fn acts(requests: &[Request]) -> Vec<(&TerminalKey, &Act)> {
    let act = |request| match request {
        &Request::Perform(Operation { to: Recipient { ref key, .. }, ref act, .. }) => Some((key, act)),
        _ => None,
    };
    requests.iter().filter_map(act).collect()
}

/// Tells the dashboard what came of a prompt that was sent at once.
fn sent(ui: &mut Ui, fleet: &SampleFleet, key: &TerminalKey, text: &str, outcome: impl Into<Outcome>) {
    ui.ended(&operation(fleet, key, prompt(text, When::Now)), &outcome.into(), &fleet.view());
}

/// Tells the dashboard that the agent ended for which a prompt waited.
fn dropped(ui: &mut Ui, fleet: &SampleFleet, key: &TerminalKey, text: &str) {
    let refused = Refusal::Other("the agent has ended".to_owned()).into();
    ui.ended(&operation(fleet, key, prompt(text, When::Ready)), &refused, &fleet.view());
}

/// A draft of an hour ago.
fn kept(key: &TerminalKey, text: &str) -> Draft {
    Draft { key: Some(key.clone()), text: text.to_owned(), at: NOW - Span::from_secs(3600) }
}

/// The draft for a terminal; empty if there is none.
fn draft(ui: &Ui, key: &TerminalKey) -> String {
    let found = ui.drafts().into_iter().find(|draft| draft.key.as_ref() == Some(key));
    found.map(|draft| draft.text).unwrap_or_default()
}

fn dashboard() -> Ui {
    Ui::new(UiOptions::default())
}

fn frame(ui: &mut Ui, fleet: &SampleFleet, width: u16, height: u16) -> Buffer {
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    ui.update(&fleet.view());
    ui.draw_into(&mut buffer, area, &fleet.view());
    buffer
}

fn lines(buffer: &Buffer) -> Vec<String> {
    let row = |y| {
        let mut line = String::new();
        let mut skip = 0;
        for x in 0..buffer.area.width {
            if skip > 0 {
                skip -= 1;
                continue;
            }
            let symbol = buffer[(x, y)].symbol();
            skip = symbol.width().saturating_sub(1);
            line.push_str(symbol);
        }
        line.trim_end().to_owned()
    };
    (0..buffer.area.height).map(row).collect()
}

fn text(ui: &mut Ui, fleet: &SampleFleet, width: u16, height: u16) -> String {
    lines(&frame(ui, fleet, width, height)).join("\n")
}

fn press(ui: &mut Ui, fleet: &SampleFleet, keys: &[KeyCode]) -> Vec<Request> {
    let press = |code| {
        let modifiers = match code {
            KeyCode::Char(c) if c.is_uppercase() => KeyModifiers::SHIFT,
            KeyCode::BackTab => KeyModifiers::SHIFT,
            _ => KeyModifiers::NONE,
        };
        Event::Key(KeyEvent::new(code, modifiers))
    };
    keys.iter().flat_map(|&code| ui.handle(&press(code), &fleet.view())).collect()
}

/// The keys of a text; a tab and the end of a line are the keys of that name.
fn chars(text: &str) -> Vec<KeyCode> {
    let key = |c| match c {
        '\t' => KeyCode::Tab,
        '\n' => KeyCode::Enter,
        c => KeyCode::Char(c),
    };
    text.chars().map(key).collect()
}

/// Does what has no key in the table, as the list of commands does.
fn run(ui: &mut Ui, fleet: &SampleFleet, action: Action) -> Vec<Request> {
    ui.obey(action, &fleet.view())
}

/// Takes an entry of the menu of orders and groups.
fn arrange(ui: &mut Ui, fleet: &SampleFleet, entry: &str) {
    press(ui, fleet, &chars(&format!("s{entry}\n")));
}

/// The line of the frame that the cursor is on.
fn selected(ui: &mut Ui, fleet: &SampleFleet) -> String {
    let text = text(ui, fleet, 120, 40);
    text.lines().find(|line| line.starts_with('›')).unwrap_or_default().to_owned()
}

#[test]
fn ascii_and_no_colour() {
    let fleet = SampleFleet::usual();
    let theme = Theme::shipped("no-colour").expect("a shipped theme");
    let options = UiOptions { theme, ascii: true, depth: Depth::None, ..UiOptions::default() };
    let buffer = frame(&mut Ui::new(options), &fleet, 120, 30);
    for cell in &buffer.content {
        assert!(cell.symbol().is_ascii(), "{:?}", cell.symbol());
        assert_eq!((cell.fg, cell.bg), (Color::Reset, Color::Reset));
    }
}

#[test]
fn colour_says_what_the_glyph_says() {
    let fleet = SampleFleet::usual();
    let buffer = frame(&mut dashboard(), &fleet, 120, 40);
    // The glyphs stand in the third column, from the first row below the heading on.
    let glyph = |row: u16| (buffer[(2, 3 + row)].symbol().to_owned(), buffer[(2, 3 + row)].fg);
    let shown: Vec<(String, Color)> = (0..12).map(glyph).collect();
    let expected = [
        ("?", Color::Magenta),
        ("?", Color::Magenta),
        ("?", Color::Magenta),
        ("✗", Color::Red),
        ("!", Color::Red),
        ("⊘", Color::LightBlue),
        ("✓", Color::Green),
        ("⠋", Color::Yellow),
        ("⠋", Color::Yellow),
        ("…", Color::Indexed(248)),
        ("·", Color::Indexed(248)),
        ("○", Color::Indexed(248)),
    ];
    assert_eq!(shown, expected.map(|(glyph, color)| (glyph.to_owned(), color)));
    assert_eq!(buffer[(1, 3)].symbol(), "▌");
    assert!(buffer[(2, 3)].modifier.contains(Modifier::BOLD));
    assert_eq!(buffer[(60, 3)].bg, Color::Indexed(237), "the selected row has a background from end to end");
    assert_eq!(buffer[(60, 4)].bg, Color::Reset);
}

#[test]
fn the_preview_has_the_panes_own_colours_and_ends_at_its_live_edge() {
    let fleet = SampleFleet::usual();
    let buffer = frame(&mut dashboard(), &fleet, 120, 24);
    let lines = lines(&buffer);
    let last = lines.iter().position(|line| line.contains("3. No")).expect("the last row of the screen");
    assert!(lines.iter().all(|line| !line.contains("old line that has scrolled away")));
    let row = lines.iter().position(|line| line.contains("❯ 1. Yes")).expect("the selected option");
    let x = lines[row].split("❯").next().map(UnicodeWidthStr::width).expect("a column");
    let cell = &buffer[(u16::try_from(x).expect("a column"), u16::try_from(row).expect("a row"))];
    assert_eq!(cell.fg, Color::Rgb(177, 185, 249));
    assert!(last > row);
}

#[test]
fn the_cursor_stays_on_its_terminal_and_its_row_stays_in_place() {
    let mut fleet = SampleFleet::usual();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    press(&mut ui, &fleet, &chars("jjj"));
    assert!(selected(&mut ui, &fleet).contains("infra"));
    let row = |ui: &mut Ui, fleet: &SampleFleet| {
        text(ui, fleet, 120, 40).lines().position(|line| line.starts_with('›')).expect("a selected row")
    };
    let before = row(&mut ui, &fleet);
    // It becomes the least urgent of all; the cursor and the row stay as long as the operator is there.
    let mut infra = fleet.terminals.remove(3);
    infra.state.attention = Attention::Gone;
    infra.state.terminal.id = "z-infra".into();
    fleet.terminals.push(infra);
    assert!(selected(&mut ui, &fleet).contains("infra"));
    assert_eq!(row(&mut ui, &fleet), before);
    fleet.now = NOW + Span::from_secs(6);
    assert!(selected(&mut ui, &fleet).contains("infra"));
    assert_eq!(row(&mut ui, &fleet), before + 8, "left alone, the table is in order again");
    // When it leaves, the cursor stays at the row.
    fleet.terminals.pop();
    assert!(selected(&mut ui, &fleet).contains("legacy"));
}

/// Gives a terminal another state, and its row with it another place.
fn turn_into(fleet: &mut SampleFleet, index: usize, attention: Attention) {
    fleet.terminals[index].state.attention = attention;
    fleet.terminals[index].state.turn.since = fleet.now;
}

#[test]
fn the_cursor_that_nobody_moves_stays_at_the_top_whatever_stands_there() {
    for (width, height) in [(80, 24), (60, 15), (30, 8)] {
        let mut fleet = SampleFleet::of(30);
        let mut ui = dashboard();
        let cursor = |ui: &mut Ui, fleet: &SampleFleet| {
            let text = text(ui, fleet, width, height);
            let line = text.lines().find(|line| line.starts_with('›')).expect("a selected row").to_owned();
            (line, text)
        };
        let (before, frame) = cursor(&mut ui, &fleet);
        let at = frame.lines().position(|line| line.starts_with('›'));
        // What was at the top calms down, one row after the other.
        for index in 0..8 {
            fleet.now = fleet.now + Span::from_secs(7);
            turn_into(&mut fleet, index, Attention::None);
            let (line, frame) = cursor(&mut ui, &fleet);
            assert_eq!(frame.lines().position(|line| line.starts_with('›')), at, "{frame}");
            assert!(!frame.contains('↑'), "{frame}");
            assert!(line.contains("api") || line != before, "{line}");
        }
        // Once it is moved it stays on its row; at the top again it stays there.
        press(&mut ui, &fleet, &[KeyCode::Down, KeyCode::Up]);
        let (line, _) = cursor(&mut ui, &fleet);
        let name = line.split_whitespace().nth(1).expect("a name").to_owned();
        let index = fleet.terminals.iter().position(|it| it.state.terminal.id.starts_with(&name)).unwrap_or(8);
        fleet.now = fleet.now + Span::from_secs(7);
        turn_into(&mut fleet, index, Attention::Gone);
        assert!(cursor(&mut ui, &fleet).0.contains(&name));
        press(&mut ui, &fleet, &[KeyCode::Home]);
        let (top, _) = cursor(&mut ui, &fleet);
        assert!(!top.contains(&name), "{top}");
    }
}

#[test]
fn what_begins_to_wait_goes_above_the_cursor_and_keys_go_to_the_row_that_was_shown() {
    let mut fleet = SampleFleet::usual();
    fleet.terminals.drain(..6);
    fleet.terminals.retain(|it| ["ingest", "web", "vague"].contains(&it.state.terminal.id.as_str()));
    let mut ui = dashboard();
    assert!(selected(&mut ui, &fleet).contains("ingest"));
    let mut asking = SampleFleet::usual().terminals.remove(0);
    asking.state.turn.since = fleet.now;
    fleet.terminals.push(asking);
    // No frame has shown the new one yet.
    press(&mut ui, &fleet, &[KeyCode::Home, KeyCode::Enter]);
    assert!(text(&mut ui, &fleet, 120, 40).contains("prompt to ingest"));
    press(&mut ui, &fleet, &[KeyCode::Esc]);
    let shown = text(&mut ui, &fleet, 120, 40);
    let row = |name: &str| shown.lines().position(|line| line.contains(name)).expect("a row");
    assert!(row("shop-api") < row("ingest"), "{shown}");
    assert!(selected(&mut ui, &fleet).contains("ingest"), "{shown}");
    press(&mut ui, &fleet, &[KeyCode::Home]);
    assert!(selected(&mut ui, &fleet).contains("shop-api"));
    press(&mut ui, &fleet, &[KeyCode::Enter]);
    assert!(text(&mut ui, &fleet, 120, 40).contains("close without answering"));
}

#[test]
fn nothing_is_sent_for_a_second_to_a_row_that_came_under_the_cursor_by_itself() {
    let mut fleet = SampleFleet::usual();
    let mut ui = dashboard();
    assert!(selected(&mut ui, &fleet).contains("shop-api"));
    fleet.now = NOW + Span::from_secs(10);
    fleet.terminals.remove(0);
    assert!(selected(&mut ui, &fleet).contains("billing"));
    press(&mut ui, &fleet, &[KeyCode::Enter]);
    frame(&mut ui, &fleet, 120, 40);
    assert_eq!(press(&mut ui, &fleet, &[KeyCode::Enter]), []);
    assert!(text(&mut ui, &fleet, 120, 40).contains("look at it first"));
    fleet.now = fleet.now + Span::from_secs(1);
    frame(&mut ui, &fleet, 120, 40);
    assert_eq!(press(&mut ui, &fleet, &[KeyCode::Enter]).len(), 1);
}

#[test]
fn tab_goes_to_the_longest_wait_and_to_what_has_failed_or_finished_only_when_nobody_waits() {
    let mut fleet = SampleFleet::usual();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    let name = |ui: &mut Ui, fleet: &SampleFleet| {
        selected(ui, fleet)
            .split_whitespace()
            .find(|word| word.chars().any(char::is_alphabetic))
            .unwrap_or_default()
            .to_owned()
    };
    // Below those that wait, on one that failed.
    press(&mut ui, &fleet, &chars("jjj"));
    assert_eq!(name(&mut ui, &fleet), "infra");
    let mut walk = Vec::new();
    for _ in 0..6 {
        press(&mut ui, &fleet, &chars("\t"));
        walk.push(name(&mut ui, &fleet));
    }
    let round = ["shop-api", "billing", "new-repo"];
    assert_eq!(walk, [round, round].concat(), "only those that wait, the longest wait first");
    press(&mut ui, &fleet, &[KeyCode::BackTab]);
    assert_eq!(name(&mut ui, &fleet), "billing");
    // Where the cursor is on the longest wait already, whoever put it there, it stays there first.
    for keys in [&[KeyCode::Home][..], &[KeyCode::End, KeyCode::Home], &[KeyCode::Down, KeyCode::Up]] {
        press(&mut ui, &fleet, keys);
        press(&mut ui, &fleet, &chars("\t"));
        assert_eq!(name(&mut ui, &fleet), "shop-api");
        assert!(text(&mut ui, &fleet, 120, 40).contains("shop-api waits longest"));
        press(&mut ui, &fleet, &chars("\t"));
        assert_eq!(name(&mut ui, &fleet), "billing");
        press(&mut ui, &fleet, &[KeyCode::Home, KeyCode::Esc]);
    }
    // It goes on only from the key before: after any other one, it is the longest wait again that is meant.
    for between in [&[KeyCode::Esc][..], &[KeyCode::F(12)], &[KeyCode::Enter, KeyCode::Esc], &[KeyCode::Char('!')]] {
        press(&mut ui, &fleet, &chars("G\t\t"));
        assert_eq!(name(&mut ui, &fleet), "billing");
        press(&mut ui, &fleet, between);
        press(&mut ui, &fleet, &chars("\t"));
        assert_eq!(name(&mut ui, &fleet), "shop-api", "after {between:?}");
        press(&mut ui, &fleet, between);
        press(&mut ui, &fleet, &chars("\t"));
        assert_eq!(name(&mut ui, &fleet), "shop-api", "after {between:?}");
        assert!(text(&mut ui, &fleet, 120, 40).contains("shop-api waits longest"));
    }
    // From the box of a dialog it goes on, whatever was pressed to read there.
    press(&mut ui, &fleet, &[KeyCode::Enter, KeyCode::Down, KeyCode::Tab, KeyCode::Down, KeyCode::Tab]);
    press(&mut ui, &fleet, &[KeyCode::Esc]);
    assert_eq!(name(&mut ui, &fleet), "new-repo");
    press(&mut ui, &fleet, &chars("\t"));
    assert_eq!(name(&mut ui, &fleet), "shop-api");
    // Beside one that waits, nothing else is gone to.
    let all = fleet.terminals.clone();
    for index in [1, 2] {
        turn_into(&mut fleet, index, Attention::None);
        fleet.terminals[index].state.assessment.business_state = BusinessState::Working;
    }
    press(&mut ui, &fleet, &chars("\t\t\t"));
    assert_eq!(name(&mut ui, &fleet), "shop-api");
    assert!(text(&mut ui, &fleet, 120, 40).contains("shop-api waits longest"));
    turn_into(&mut fleet, 0, Attention::None);
    fleet.terminals[0].state.assessment.business_state = BusinessState::Working;
    let mut walk = Vec::new();
    for _ in 0..4 {
        press(&mut ui, &fleet, &chars("\t"));
        walk.push(name(&mut ui, &fleet));
    }
    assert_eq!((walk[0].as_str(), walk[3].as_str()), ("infra", "docs"), "what has finished comes last: {walk:?}");
    fleet.terminals = all;
    // One that begins to wait is next, wherever the walk is.
    press(&mut ui, &fleet, &chars("G\t"));
    assert_eq!(name(&mut ui, &fleet), "shop-api");
    press(&mut ui, &fleet, &chars("\t\t"));
    let web = fleet.terminals.iter().position(|it| it.state.terminal.id == "web").expect("web");
    turn_into(&mut fleet, web, Attention::Approval);
    fleet.terminals[web].state.since = NOW;
    press(&mut ui, &fleet, &chars("\t"));
    assert_eq!(name(&mut ui, &fleet), "web");
    // So is one that was gone to and asks anew.
    press(&mut ui, &fleet, &chars("\t"));
    assert_eq!(name(&mut ui, &fleet), "shop-api");
    press(&mut ui, &fleet, &chars("\t"));
    assert_eq!(name(&mut ui, &fleet), "billing");
    fleet.terminals[0].state.since = NOW;
    press(&mut ui, &fleet, &chars("\t\t"));
    assert_eq!(name(&mut ui, &fleet), "shop-api", "new-repo is on the way");
}

#[test]
fn tab_goes_back_to_another_that_waits_once_one_is_answered_and_not_again_to_finished_ones() {
    let mut fleet = SampleFleet::usual();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    let at = |fleet: &SampleFleet, name: &str| {
        fleet.terminals.iter().position(|it| it.state.terminal.id == name).expect("a terminal")
    };
    // Past an approval to a question, which is answered.
    press(&mut ui, &fleet, &chars("G\t\t"));
    assert!(selected(&mut ui, &fleet).contains("billing"));
    let billing = at(&fleet, "billing");
    turn_into(&mut fleet, billing, Attention::None);
    fleet.terminals[billing].state.assessment.business_state = BusinessState::Working;
    press(&mut ui, &fleet, &chars("\t"));
    assert!(selected(&mut ui, &fleet).contains("shop-api"), "{}", selected(&mut ui, &fleet));
    press(&mut ui, &fleet, &chars("\t"));
    assert!(selected(&mut ui, &fleet).contains("new-repo"));
    // Where nothing is left but what has finished, each is gone to once.
    for terminal in &mut fleet.terminals {
        terminal.state.attention = Attention::None;
        terminal.state.assessment.business_state = BusinessState::Idle;
    }
    for name in ["docs", "web"] {
        let finished = at(&fleet, name);
        turn_into(&mut fleet, finished, Attention::Finished);
    }
    press(&mut ui, &fleet, &chars("\t\t"));
    let last = selected(&mut ui, &fleet);
    press(&mut ui, &fleet, &chars("\t"));
    assert_eq!(selected(&mut ui, &fleet), last);
    assert!(text(&mut ui, &fleet, 120, 40).contains("nothing else needs you"));
}

#[test]
fn an_agent_that_finished_and_is_gone_is_gone() {
    let mut fleet = SampleFleet::usual();
    let docs = fleet.terminals.iter_mut().find(|it| it.state.terminal.id == "docs").expect("docs");
    docs.state.diagnostics.availability = Availability::TuiDown;
    let shown = text(&mut dashboard(), &fleet, 120, 40);
    let row = shown.lines().find(|line| line.contains(" docs ")).expect("a row");
    assert!(row.contains("○ docs  ") && row.contains(" gone ") && row.contains("✓   9s›●"), "{row}");
    assert!(shown.lines().next().is_some_and(|header| !header.contains("finished")), "{shown}");
}

#[test]
fn a_row_that_waits_keeps_its_colour_beside_its_marks_which_move_no_column() {
    let mut fleet = SampleFleet::usual();
    let mut ui = dashboard();
    let before = lines(&frame(&mut ui, &fleet, 120, 40));
    run(&mut ui, &fleet, Action::MarkAll);
    let buffer = frame(&mut ui, &fleet, 120, 40);
    let after = lines(&buffer);
    assert!(after[3].starts_with("›■? shop-api") && after[4].starts_with(" ■? billing"), "{after:?}");
    assert_eq!(buffer[(1, 3)].fg, buffer[(2, 3)].fg, "it is a bar of its own");
    let cells = |line: &String| line.chars().skip(2).collect::<String>();
    assert!((2..13).all(|row| cells(&before[row]) == cells(&after[row])), "{before:?} {after:?}");
    press(&mut ui, &fleet, &[KeyCode::Esc]);
    fleet.terminals[1].declared.pinned = true;
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    press(&mut ui, &fleet, &chars("  "));
    let shown = text(&mut ui, &fleet, 120, 40);
    let row = |name: &str| shown.lines().find(|line| line.contains(name)).unwrap_or_default().to_owned();
    assert!(row("billing").contains(" ■? billing") && row("billing").contains("↑ "), "{shown}");
    assert!(row("? shop-api").contains(" ■? shop-api"), "{shown}");
    assert!(!row("infra").contains('▌'), "{shown}");
}

#[test]
fn a_blank_before_a_row_is_blank_in_every_theme() {
    let fleet = SampleFleet::usual();
    for name in Theme::names() {
        let theme = Theme::shipped(name).expect("a shipped theme");
        let buffer = frame(&mut Ui::new(UiOptions { theme, ..UiOptions::default() }), &fleet, 120, 40);
        let blank = (4..12).map(|y| &buffer[(0, y)]);
        let drawn = Modifier::UNDERLINED | Modifier::REVERSED;
        assert!(blank.clone().all(|cell| cell.symbol() == " " && !cell.modifier.intersects(drawn)), "{name}");
    }
}

#[test]
fn what_needs_you_is_counted_alike_everywhere() {
    let fleet = SampleFleet::of(48);
    let waiting = fleet.terminals.iter().filter(|it| {
        matches!(it.state.attention, Attention::Approval | Attention::Question | Attention::Trust | Attention::Setup)
    });
    let waiting = waiting.count();
    let mut ui = dashboard();
    assert!(text(&mut ui, &fleet, 120, 12).contains(&format!("{waiting} need you")));
    press(&mut ui, &fleet, &[KeyCode::End]);
    let shown = text(&mut ui, &fleet, 120, 12);
    assert!(shown.contains(&format!("↑ {waiting} need you")), "{shown}");
    assert!(shown.contains("tab longest wait"), "{shown}");
}

#[test]
fn a_result_is_seen_when_its_row_was_selected_for_a_second_while_the_operator_was_there() {
    let seen = |requests: &[Request]| requests.iter().any(|request| matches!(request, Request::Seen(..)));
    let fleet_at = |seconds: u64| {
        let mut fleet = SampleFleet::usual();
        fleet.terminals.retain(|it| it.state.terminal.id == "docs");
        fleet.terminals[0].state.last_turn.at = Some(NOW);
        fleet.now = NOW + Span::from_secs(seconds);
        fleet
    };
    // The operator pressed a key a while before it finished under the cursor, and looks on.
    let mut ui = dashboard();
    let mut before = fleet_at(0);
    before.now = NOW - Span::from_secs(8);
    frame(&mut ui, &before, 80, 24);
    press(&mut ui, &before, &chars("k"));
    assert!(!seen(&ui.update(&fleet_at(0).view())));
    assert!(seen(&ui.update(&fleet_at(1).view())));
    // Nobody was there; it is seen a second after a key.
    let mut ui = dashboard();
    before.now = NOW - Span::from_secs(60);
    frame(&mut ui, &before, 80, 24);
    press(&mut ui, &before, &chars("k"));
    assert!(!seen(&ui.update(&fleet_at(100).view())));
    press(&mut ui, &fleet_at(101), &chars("k"));
    assert!(seen(&ui.update(&fleet_at(101).view())));
}

#[test]
fn keys_move_and_ask() {
    let fleet = SampleFleet::usual();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    press(&mut ui, &fleet, &[KeyCode::Down, KeyCode::Down, KeyCode::Up]);
    assert!(selected(&mut ui, &fleet).contains("billing"));
    press(&mut ui, &fleet, &[KeyCode::End]);
    assert!(selected(&mut ui, &fleet).contains("legacy"));
    press(&mut ui, &fleet, &[KeyCode::Home]);
    assert!(selected(&mut ui, &fleet).contains("shop-api"));
    press(&mut ui, &fleet, &[KeyCode::BackTab]);
    assert!(selected(&mut ui, &fleet).contains("new-repo"));
    press(&mut ui, &fleet, &[KeyCode::Home]);
    press(&mut ui, &fleet, &[KeyCode::Down; 6]);
    assert!(selected(&mut ui, &fleet).contains("docs"));
    let key = fleet.terminals[5].key.clone();
    assert_eq!(press(&mut ui, &fleet, &chars("g")), [Request::Jump(key)]);
    assert_eq!(press(&mut ui, &fleet, &chars("q")), [Request::Quit]);
}

#[test]
fn a_prompt_is_sent_as_it_was_written_and_its_draft_stays_until_it_was_taken() {
    let fleet = SampleFleet::usual();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    press(&mut ui, &fleet, &chars("jjjjjji"));
    press(&mut ui, &fleet, &chars("one q?"));
    ui.handle(&Event::Key(KeyEvent::new(KeyCode::Enter, KeyModifiers::ALT)), &fleet.view());
    ui.handle(&Event::Paste("-l 'two'; \\".into()), &fleet.view());
    let (key, text_sent) = (fleet.terminals[5].key.clone(), "one q?\n-l 'two'; \\".to_owned());
    let requests = press(&mut ui, &fleet, &[KeyCode::Enter]);
    assert_eq!(requests, [send(&fleet, &key, &text_sent)]);
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("sending to docs") && !shown.contains("✎"), "{shown}");

    sent(&mut ui, &fleet, &key, &text_sent, Refusal::Hindrance(Hindrance::Draft));
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(
        shown.contains("nothing was sent to docs: its input line holds an unsent draft (alt-s in the prompt"),
        "{shown}"
    );
    assert!(!shown.contains("sending to docs") && shown.contains('✎'), "{shown}");
    press(&mut ui, &fleet, &chars("i"));
    assert!(text(&mut ui, &fleet, 120, 40).contains("-l 'two'"), "the draft is kept");
    ui.handle(&Event::Key(KeyEvent::new(KeyCode::Char('s'), KeyModifiers::ALT)), &fleet.view());
    sent(&mut ui, &fleet, &key, &text_sent, Outcome::Accepted(None));
    press(&mut ui, &fleet, &chars("i"));
    assert!(!text(&mut ui, &fleet, 120, 40).contains("-l 'two'"), "what was taken is no draft");
}

#[test]
fn a_closed_draft_is_kept_for_its_terminal() {
    let mut fleet = SampleFleet::usual();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    press(&mut ui, &fleet, &chars("jjjjjjihello"));
    press(&mut ui, &fleet, &[KeyCode::Esc]);
    press(&mut ui, &fleet, &chars("jji"));
    assert!(!text(&mut ui, &fleet, 120, 40).contains("hello"));
    press(&mut ui, &fleet, &[KeyCode::Esc]);
    press(&mut ui, &fleet, &chars("kki"));
    // What is typed takes its place, as in the address line of a browser, and it comes back.
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("hello") && shown.contains("draft from 22:13"), "{shown}");
    assert!(shown.contains("what you type replaces the draft; → edits it"), "{shown}");
    press(&mut ui, &fleet, &chars("new"));
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(!shown.contains("hello") && !shown.contains("draft from"), "{shown}");
    assert!(shown.contains("new") && shown.contains("↑ brings the draft back"), "{shown}");
    let key = fleet.terminals[5].key.clone();
    ui.prompts(&["sent before".to_owned()], &[], &fleet.view());
    press(&mut ui, &fleet, &[KeyCode::Up]);
    assert_eq!(draft(&ui, &key), "hello");
    // Any other key keeps it.
    for (keys, wanted) in
        [(vec![KeyCode::Left], "hell!o"), (vec![KeyCode::Backspace], "hell!"), (vec![KeyCode::End], "hello!")]
    {
        let mut ui = dashboard();
        ui.restore_drafts([kept(&key, "hello")]);
        frame(&mut ui, &fleet, 120, 40);
        press(&mut ui, &fleet, &chars("jjjjjji"));
        press(&mut ui, &fleet, &[keys, chars("!")].concat());
        assert_eq!(draft(&ui, &key), wanted);
    }
    // A row that only waits for a prompt shows its words, in a grid too; what an agent has just finished says more.
    let mut ui = dashboard();
    ui.restore_drafts([kept(&key, "hello\n\nthere")]);
    ui.update(&fleet.view());
    let shown = text(&mut ui, &fleet, 160, 45);
    assert!(shown.contains('✎') && !shown.contains("draft: hello"), "{shown}");
    fleet.terminals[5].state.attention = Attention::None;
    for keys in ["", "vv"] {
        press(&mut ui, &fleet, &chars(keys));
        let shown = text(&mut ui, &fleet, 160, 45);
        assert!(shown.contains("draft: hello there"), "{shown}");
    }
}

#[test]
fn a_paste_outside_of_the_composer_runs_no_keys() {
    let fleet = SampleFleet::usual();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    assert_eq!(ui.handle(&Event::Paste("qqq".into()), &fleet.view()), []);
    assert!(text(&mut ui, &fleet, 120, 40).contains("open one first (i)"));
}

#[test]
fn a_finished_terminal_is_seen_after_a_second_and_only_when_somebody_is_there() {
    let mut fleet = SampleFleet::usual();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    press(&mut ui, &fleet, &chars("jjjjjj"));
    fleet.now = NOW + Span::from_millis(900);
    assert_eq!(ui.update(&fleet.view()), []);
    fleet.now = NOW + Span::from_millis(1000);
    let key = fleet.terminals[5].key.clone();
    assert_eq!(ui.update(&fleet.view()), [Request::Seen(key)]);
    assert_eq!(ui.update(&fleet.view()), [], "it is announced once");
    // The next turn ends while the operator is away: the cursor is still there, the operator is not.
    fleet.now = NOW + Span::from_secs(600);
    fleet.terminals[5].state.last_turn.at = Some(NOW + Span::from_secs(500));
    assert_eq!(ui.update(&fleet.view()), []);
}

#[test]
fn what_hides_several_terminals_at_once_is_one_line_of_the_log() {
    let mut fleet = SampleFleet::usual();
    fleet.recent.clear();
    let change =
        |field: &'static str, from: &str, to: &str| Change { field: field.into(), from: from.into(), to: to.into() };
    for (index, ago) in [(0, 5_000), (1, 4_900), (2, 4_800), (5, 1_000)] {
        let terminal = &fleet.terminals[index];
        let summary = Summary {
            availability: Availability::Error,
            phase: Phase::Unknown,
            result: TurnResult::None,
            source: TurnSource::None,
            ui_context: UiContext::Unknown,
            status: OperatorStatus::Unknown,
        };
        let transition = Transition {
            at: NOW - Span::from_millis(ago),
            changed: vec![change("diagnostics.availability", "available", "error")],
            summary,
            note: None,
            evidence: Arc::default(),
        };
        let (key, id) = (terminal.key.clone(), terminal.state.terminal.id.clone());
        fleet.recent.push_back(TerminalTransition { key, id, transition, state: None, screen: None });
    }
    let mut ui = dashboard();
    let shown = lines(&frame(&mut ui, &fleet, 160, 45));
    let log: Vec<&String> = shown.iter().skip_while(|line| !line.starts_with("─ log")).collect();
    let errors: Vec<&&String> = log.iter().filter(|line| line.contains("error")).collect();
    assert_eq!(errors.len(), 2, "{log:?}");
    assert!(
        errors[0].contains(&fleet.terminals[5].state.terminal.id) && !errors[0].contains("terminals"),
        "{errors:?}"
    );
    assert!(errors[1].contains("3 terminals  "), "{errors:?}");
    let all = [2, 1, 0].map(|index| fleet.terminals[index].state.terminal.id.as_str()).join(", ");
    assert!(errors[1].contains(&format!(" · {all}")), "{errors:?}");
    // What was renamed since has one name in all of them.
    fleet.terminals[5].state.terminal.id = "manual".to_owned();
    let shown = text(&mut ui, &fleet, 160, 45);
    assert!(shown.lines().any(|line| line.contains("manual ") && line.contains("  error")), "{shown}");
}

#[test]
fn the_mouse_selects_opens_and_scrolls() {
    let fleet = SampleFleet::usual();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    let mouse = |kind, row| Event::Mouse(MouseEvent { kind, column: 20, row, modifiers: KeyModifiers::NONE });
    let click = mouse(MouseEventKind::Down(MouseButton::Left), 9);
    ui.handle(&click, &fleet.view());
    assert!(selected(&mut ui, &fleet).contains("docs"));
    ui.handle(&click, &fleet.view());
    assert!(text(&mut ui, &fleet, 120, 40).contains("prompt to docs"), "a double click opens");
    press(&mut ui, &fleet, &[KeyCode::Esc]);
    ui.handle(&mouse(MouseEventKind::ScrollDown, 8), &fleet.view());
    assert!(selected(&mut ui, &fleet).contains("ingest"));
    let before = text(&mut ui, &fleet, 120, 40);
    ui.handle(&mouse(MouseEventKind::ScrollDown, 30), &fleet.view());
    assert_ne!(text(&mut ui, &fleet, 120, 40), before, "the log is scrolled");
    let footer = lines(&frame(&mut ui, &fleet, 120, 40))[39].clone();
    let column = u16::try_from(footer.find("quit").expect("a hint")).expect("a column");
    let event =
        MouseEvent { kind: MouseEventKind::Down(MouseButton::Left), column, row: 39, modifiers: KeyModifiers::NONE };
    assert_eq!(ui.handle(&Event::Mouse(event), &fleet.view()), [Request::Quit]);
}

#[test]
fn the_wheel_scrolls_the_screen_of_the_selected_terminal_and_no_other() {
    let mut fleet = SampleFleet::usual();
    let rows: Vec<String> = (1..=40).map(|nth| format!("row {nth} of it")).collect();
    for terminal in &mut fleet.terminals[..2] {
        terminal.screen = Some(Arc::new(fleetwatch::screen::Screen::from_text(&rows.join("\n"), 80)).into());
    }
    let mut ui = dashboard();
    let shown = text(&mut ui, &fleet, 120, 40);
    let below = shown.lines().position(|line| line.contains("row 40 of it")).expect("the end of the screen");
    let column = shown.lines().nth(below).and_then(|line| line.find("row 40")).expect("its column");
    let turn = |ui: &mut Ui, kind| {
        let (column, row) = (u16::try_from(column).expect("a column"), u16::try_from(below).expect("a row"));
        let mouse = MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE };
        ui.handle(&Event::Mouse(mouse), &fleet.view());
        text(ui, &fleet, 120, 40)
    };
    let up = turn(&mut ui, MouseEventKind::ScrollUp);
    assert!(up.contains("row 37 of it") && !up.contains("row 38 of it") && up.contains("scrolled up"), "{up}");
    let many = |ui: &mut Ui, kind| (0..30).fold(String::new(), |_, _| turn(ui, kind));
    let top = many(&mut ui, MouseEventKind::ScrollUp);
    assert!(top.contains("row 1 of it"), "{top}");
    press(&mut ui, &fleet, &chars("j"));
    let next = text(&mut ui, &fleet, 120, 40);
    assert!(next.contains("row 40 of it") && !next.contains("scrolled up"), "{next}");
    press(&mut ui, &fleet, &chars("k"));
    let end = many(&mut ui, MouseEventKind::ScrollDown);
    assert!(end.contains("row 40 of it") && !end.contains("scrolled up"), "{end}");
    assert!(selected(&mut ui, &fleet).contains("shop-api"), "the cursor stays");
}

#[test]
fn a_click_beside_a_popup_closes_it_and_the_wheel_moves_nothing_behind_it() {
    let fleet = SampleFleet::usual();
    let mouse = |kind, column, row| Event::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE });
    let click = |column, row| mouse(MouseEventKind::Down(MouseButton::Left), column, row);
    for keys in ["?", ":", "y", "\n", "jjjjjjjx", " B\n", "e"] {
        let mut ui = dashboard();
        frame(&mut ui, &fleet, 120, 40);
        for key in keys.chars() {
            press(&mut ui, &fleet, &[if key == '\n' { KeyCode::Enter } else { KeyCode::Char(key) }]);
            if key == 'B' {
                press(&mut ui, &fleet, &chars("all"));
            }
            if key == 'e' {
                ui.explained(&fleet.terminals[0].key, Some("so".into()), NOW);
            }
        }
        let popup = text(&mut ui, &fleet, 120, 40);
        assert!(popup.contains('┌'), "{keys}: {popup}");
        let cursor = |shown: &str| shown.lines().position(|line| line.starts_with('›'));
        ui.handle(&mouse(MouseEventKind::ScrollDown, 2, 5), &fleet.view());
        assert_eq!(cursor(&text(&mut ui, &fleet, 120, 40)), cursor(&popup), "{keys}");
        assert_eq!(ui.handle(&click(1, 37), &fleet.view()), [], "{keys}");
        let closed = text(&mut ui, &fleet, 120, 40);
        assert!(!closed.contains('┌'), "{keys}: {closed}");
        assert_eq!(cursor(&closed), cursor(&popup), "the click selects nothing");
        assert_eq!(closed.contains("prompt to 1 terminal"), keys.contains('B'), "only the popup goes");
    }
}

#[test]
fn the_header_keeps_its_words_while_numbers_grow_and_drops_the_least_urgent_first() {
    let header = |working: usize, width: u16| {
        let mut fleet = SampleFleet::usual();
        let more = (0..working).map(|n| {
            let mut terminal = fleet.terminals[7].clone();
            terminal.key.pane = fleetwatch::fleet::PaneId(100 + u32::try_from(n).expect("a small number"));
            terminal
        });
        fleet.terminals.extend(more.collect::<Vec<_>>());
        lines(&frame(&mut dashboard(), &fleet, width, 24))[0].clone()
    };
    let wording = |header: &str| {
        let blank: String = header.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
        blank.replace("00", "0").split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let mut words = 0;
    for width in 60..=200 {
        let usual = header(0, width);
        for working in [1, 7, 8, 30, 97] {
            assert_eq!(wording(&header(working, width)), wording(&usual), "{width} columns, {working} more");
        }
        assert!(usual.contains("3 need you"), "{width}: {usual}");
        assert_eq!(usual.starts_with(" fleetwatch"), width >= 100, "{width}: {usual}");
        // Each count is there, by its word or its glyph, and words are added from the most urgent one on.
        let glyphs = ['✗', '!', '✓', '⊘', '⠋', '·', '…', '○'].map(|glyph| usual.contains(&format!("{glyph}1")));
        let glyphs = glyphs.into_iter().enumerate().filter(|(_, shown)| *shown).map(|(index, _)| index);
        let now = ["failed", "stalled", "finished", "interrupted", "working", "ready", "unknown", "gone"]
            .iter()
            .take_while(|word| usual.contains(*word))
            .count();
        assert!(glyphs.clone().all(|index| index >= now), "{width}: {usual}");
        assert!(now >= words || width == 100, "{width}: {usual}");
        words = now;
    }
    assert_eq!(words, 8);
}

#[test]
fn no_count_of_the_header_changes_its_form_because_another_one_comes_or_goes() {
    let header = |which: &[&str], width: u16| {
        let mut fleet = SampleFleet::usual();
        fleet.servers.truncate(1);
        fleet.terminals.retain(|terminal| which.contains(&terminal.state.terminal.id.as_str()));
        lines(&frame(&mut dashboard(), &fleet, width, 24))[0].clone()
    };
    for (width, form) in [(79, "⊘1"), (80, "⊘1"), (99, "⊘1"), (100, "1 interrupted"), (120, "1 interrupted")] {
        for which in [&["étude"][..], &["étude", "docs"], &["infra", "étude"], &["shop-api", "étude", "docs", "web"]]
        {
            let shown = header(which, width);
            assert!(shown.contains(form), "{width}: {shown}");
        }
    }
}

#[test]
fn the_age_of_the_data_is_never_understated() {
    let mut fleet = SampleFleet::usual();
    let mut ui = dashboard();
    assert!(text(&mut ui, &fleet, 120, 24).contains("data <3s"));
    let wake = ui.wake_at(&fleet.view());
    assert!(wake <= NOW + Span::from_millis(1550), "the oldest answer is 450 ms old");
    fleet.now = NOW + Span::from_secs(34);
    assert!(text(&mut ui, &fleet, 120, 24).contains("data <45s"));
    // One that fails has a time of its own, unless it is the only one.
    fleet.servers.truncate(2);
    fleet.servers[0].answered_at = Some(fleet.now - Span::from_secs(1));
    let problem = Problem { kind: "unreachable".to_owned(), message: "no route".to_owned() };
    fleet.servers[1].health = ServerHealth::Failed(problem.clone());
    let shown = text(&mut ui, &fleet, 120, 24);
    assert!(shown.contains("data <3s") && shown.contains("! unreachable"), "{shown}");
    fleet.servers[0].health = ServerHealth::Failed(problem);
    assert!(text(&mut ui, &fleet, 120, 24).contains("data <45s"));
}

#[test]
fn the_log_is_said_to_be_where_it_is() {
    // What happened to terminals that are there no more stays below the reason.
    let fleet = SampleFleet { terminals: Vec::new(), tasks: Vec::new(), ..SampleFleet::usual() };
    for (columns, rows) in [(160, 45), (80, 24)] {
        let shown = text(&mut dashboard(), &fleet, columns, rows);
        assert!(shown.contains("No agents found") && shown.contains("─ log ─"), "{shown}");
        assert!(shown.contains("it appears here by itself"), "{shown}");
    }
    // A filter that nothing matches takes the place of the table only.
    let (mut ui, fleet) = (dashboard(), SampleFleet::usual());
    text(&mut ui, &fleet, 160, 45);
    press(&mut ui, &fleet, &chars("/zzz"));
    press(&mut ui, &fleet, &[KeyCode::Enter]);
    let shown = text(&mut ui, &fleet, 160, 45);
    assert!(shown.contains("nothing matches zzz; esc shows all 12") && shown.contains("─ log ─"), "{shown}");
}

#[test]
fn who_ended_with_its_server_is_counted_once_and_stays_counted() {
    let mut fleet = SampleFleet::usual();
    let ended_at = NOW - Span::from_secs(3);
    let server = fleet.terminals[0].key.server.clone();
    fleet.terminals.retain(|terminal| terminal.key.server == server);
    fleet.servers.retain(|it| it.id == server);
    fleet.servers[0].ended_at = Some(ended_at);
    let problem = Problem { kind: "no_server".to_owned(), message: "no server".to_owned() };
    fleet.servers[0].health = ServerHealth::NoServer(problem);
    let docs = fleet.terminals.iter().find(|it| it.state.terminal.id == "docs").expect("docs");
    let (many, finished) = (fleet.terminals.len(), docs.state.last_turn.clone());
    for (at, terminal) in fleet.terminals.iter_mut().enumerate() {
        let state = &mut terminal.state;
        state.diagnostics.availability = Availability::Unavailable;
        (state.attention, state.since, state.turn.since) = (Attention::Gone, ended_at, ended_at);
        state.last_turn = finished.clone();
        match at {
            // Two were cut off, of which one was looked at; the last two had ended before.
            0 | 1 => state.last_turn = fleetwatch::state::LastTurn::cut_off(TurnSource::None, ended_at),
            _ if at + 2 >= many => {
                (state.since, state.turn.since) = (NOW - Span::from_secs(60), NOW - Span::from_secs(60))
            }
            _ => {}
        }
    }
    fleet.terminals[0].state.attention = Attention::Failed;
    let mut ui = dashboard();
    let shown = text(&mut ui, &fleet, 160, 45);
    assert!(shown.contains(&format!("{} ended with tmux, 2 in mid-turn │ 2 gone", many - 2)), "{shown}");
}

#[test]
fn a_draft_that_is_typed_over_comes_back_while_its_prompt_is_open() {
    let mut fleet = SampleFleet::usual();
    let key = fleet.terminals[5].key.clone();
    let mut ui = dashboard();
    ui.restore_drafts([kept(&key, "long considered")]);
    frame(&mut ui, &fleet, 120, 40);
    press(&mut ui, &fleet, &chars("jjjjjjiq"));
    press(&mut ui, &fleet, &[KeyCode::Esc]);
    assert_eq!(draft(&ui, &key), "long considered", "a letter was meant for the table");
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains(r#"the draft is kept; "q" is too short to replace it"#), "{shown}");
    press(&mut ui, &fleet, &chars("ianother text"));
    press(&mut ui, &fleet, &[KeyCode::Esc]);
    assert_eq!(draft(&ui, &key), "another text");
    // As long as the prompt is open, the one before can come back.
    press(&mut ui, &fleet, &chars("i"));
    press(&mut ui, &fleet, &chars("yet another"));
    assert!(text(&mut ui, &fleet, 120, 40).contains("↑ brings the draft back"));
    press(&mut ui, &fleet, &[KeyCode::Up, KeyCode::Esc]);
    assert_eq!(draft(&ui, &key), "another text");
    // What is left of an agent that is gone is offered to the others.
    fleet.terminals.remove(5);
    ui.update(&fleet.view());
    press(&mut ui, &fleet, &[KeyCode::End, KeyCode::Up]);
    press(&mut ui, &fleet, &chars("i"));
    ui.prompts(&[], &[], &fleet.view());
    acting::control(&mut ui, &fleet, 'r');
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("another text"), "{shown}");
}

#[test]
fn the_frame_is_drawn_again_only_for_what_moves() {
    let mut fleet = SampleFleet::usual();
    fleet.servers.clear();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    assert_eq!(ui.wake_at(&fleet.view()), NOW + Span::from_millis(200), "the spinner");
    let mut ui = Ui::new(UiOptions { motion: false, ..UiOptions::default() });
    frame(&mut ui, &fleet, 120, 40);
    assert_eq!(ui.wake_at(&fleet.view()), NOW + Span::from_secs(1), "running times");
    // What is shown to the second goes on; where nothing has changed for two seconds, nothing is.
    let mut draw = |fleet: &SampleFleet, seconds| {
        let (area, view) = (Rect::new(0, 0, 120, 40), View { now: NOW + Span::from_secs(seconds), ..fleet.view() });
        ui.draw_into(&mut Buffer::empty(area), area, &view);
        ui.wake_at(&view).since(view.now)
    };
    assert_eq!([1, 2, 3].map(|second| draw(&fleet, second)), [Span::from_secs(1); 3]);
    let nobody = SampleFleet { terminals: Vec::new(), servers: Vec::new(), ..SampleFleet::usual() };
    assert_eq!([4, 5, 6, 8].map(|second| draw(&nobody, second)), [1, 1, 4, 4].map(Span::from_secs));
    // A task that runs has no spinner: hundreds of them cost a frame a second.
    fleet.tasks = tasks();
    fleet.terminals.clear();
    let mut ui = dashboard();
    assert!(text(&mut ui, &fleet, 120, 40).contains("running"));
    assert_eq!(ui.wake_at(&fleet.view()), NOW + Span::from_secs(1));
}

#[test]
fn a_hostile_terminal_changes_nothing_outside_of_its_cells() {
    let mut fleet = SampleFleet::usual();
    let clean = lines(&frame(&mut dashboard(), &fleet, 120, 40));
    let evil = "\u{1b}]52;c;aGk=\u{7}\u{202E}\0\r\n\t".to_owned() + &"long ".repeat(2000);
    fleet.terminals[0].state.activity = Some(evil.clone());
    fleet.terminals[0].state.terminal.title = evil.clone();
    let hostile = frame(&mut dashboard(), &fleet, 120, 40);
    for (row, line) in lines(&hostile).iter().enumerate().filter(|(row, _)| *row != 3) {
        assert_eq!(*line, clean[row]);
    }
    fleet.terminals[0].state.terminal.id = evil.clone();
    fleet.terminals[0].state.terminal.cwd = Some(evil.clone());
    fleet.terminals[0].state.assessment.operator_excerpt = Some(evil);
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    press(&mut ui, &fleet, &[KeyCode::Enter]);
    assert_harmless(&frame(&mut ui, &fleet, 120, 40));
}

#[test]
fn the_help_of_a_view_lists_its_keys_and_those_of_what_it_leads_to() {
    let fleet = SampleFleet::usual();
    let help = |keys: &[KeyCode]| {
        let mut ui = dashboard();
        frame(&mut ui, &fleet, 120, 80);
        press(&mut ui, &fleet, keys);
        text(&mut ui, &fleet, 120, 80)
    };
    let day = help(&chars("D?"));
    assert!(day.contains("the day, hour by hour") && day.contains("this list"), "{day}");
    let others = ["composer", "choosing from a list", "every key goes to a terminal"];
    assert!(others.iter().all(|other| !day.contains(other)), "{day}");
    let composer = help(&[KeyCode::Char('i'), KeyCode::F(1)]);
    assert!(composer.contains("writing a prompt in the composer") && composer.contains("alt-enter"), "{composer}");
}

#[test]
fn a_title_says_once_how_old_a_screen_is_and_a_turn_without_words_is_not_blank() {
    let mut fleet = SampleFleet::usual();
    let place = |fleet: &SampleFleet, name: &str| {
        fleet.terminals.iter().position(|it| it.state.terminal.id == name).expect("a terminal")
    };
    let ingest = place(&fleet, "ingest");
    fleet.terminals[ingest].state.activity = None;
    let shown = text(&mut dashboard(), &fleet, 160, 45);
    assert!(shown.lines().any(|line| line.contains("ingest") && line.trim_end().ends_with('…')), "{shown}");
    let legacy = place(&fleet, "legacy");
    let state = &mut fleet.terminals[legacy].state;
    let asked = state.assessment.clone();
    state.stale = Some(fleetwatch::state::Stale::new(NOW - Span::from_secs(90), state.surface, Phase::Ready, &asked));
    for (availability, said) in [
        (Availability::TuiDown, "legacy:1.0  ~"),
        (Availability::Unavailable, "legacy:1.0  its last screen  ~"),
        (Availability::Error, "legacy:1.0  as of 1m ago  ~"),
    ] {
        fleet.terminals[legacy].state.diagnostics.availability = availability;
        let mut ui = dashboard();
        frame(&mut ui, &fleet, 160, 45);
        press(&mut ui, &fleet, &chars("/legacy"));
        let shown = text(&mut ui, &fleet, 160, 45);
        assert!(shown.contains(said), "{said}: {shown}");
    }
    // Why it cannot be read stands behind what it did, and once in the header.
    let state = &mut fleet.terminals[legacy].state;
    state.stale = Some(fleetwatch::state::Stale::new(NOW - Span::from_secs(90), state.surface, Phase::Active, &asked));
    let prompt = FactValue::Text("rewrite the parser".to_owned());
    state.agent.put(FactName::LastPrompt, Fact { value: prompt, source: FactSource::Record, at: NOW });
    let shown = text(&mut dashboard(), &fleet, 160, 45);
    assert!(shown.contains("before: rewrite the parser · "), "{shown}");
    // Where no words of it are known, how it stood is.
    fleet.terminals[legacy].state.agent = AgentFacts::default();
    let shown = text(&mut dashboard(), &fleet, 160, 45);
    assert!(shown.contains("before: working · "), "{shown}");
}

#[test]
fn own_keys_show_in_footer_and_help() {
    let fleet = SampleFleet::usual();
    let own = Keymap::parse("fleet = [ { on = \"ctrl-x\", run = \"jump\" }, { on = \"g\", run = \"none\" } ]")
        .expect("a right keymap");
    let mut ui = Ui::new(UiOptions { keymap: Keymap::shipped().overlaid(own), ..UiOptions::default() });
    assert!(text(&mut ui, &fleet, 120, 40).contains("ctrl-x jump"));
    assert_eq!(press(&mut ui, &fleet, &chars("g")), []);
    press(&mut ui, &fleet, &chars("?"));
    assert!(text(&mut ui, &fleet, 120, 60).contains("ctrl-x"));
}

/// A completion begins behind the last blank, whichever it is.
#[test]
fn the_filter_is_completed_behind_a_wide_blank() {
    let fleet = SampleFleet::usual();
    for blank in [' ', '\u{3000}', '\u{2003}', '\u{85}'] {
        let mut ui = dashboard();
        press(&mut ui, &fleet, &chars(&format!("/claude{blank}is:fai")));
        press(&mut ui, &fleet, &[KeyCode::Tab]);
        assert!(text(&mut ui, &fleet, 120, 40).contains("is:failed "), "{blank:?}");
    }
}

fn assert_harmless(buffer: &Buffer) {
    for cell in &buffer.content {
        assert!(cell.symbol().chars().all(fleetwatch::screen::is_harmless), "{:?}", cell.symbol());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn no_size_and_no_text_breaks_a_frame(
        width in 1_u16..220,
        height in 1_u16..60,
        count in prop_oneof![Just(0_usize), 1_usize..30, Just(200)],
        name in any::<String>(),
        activity in any::<String>(),
        excerpt in any::<String>(),
        pasted in any::<String>(),
        keys in "[jkgiGnN?\t\n:TFyx+\\-\u{12}\u{14}]{0,12}",
    ) {
        let mut fleet = SampleFleet::of(count);
        for terminal in fleet.terminals.iter_mut().take(3) {
            terminal.state.terminal.id = name.clone();
            terminal.state.terminal.cwd = Some(activity.clone());
            terminal.state.activity = Some(activity.clone());
            terminal.state.assessment.operator_excerpt = Some(excerpt.clone());
        }
        let mut ui = sizes::with_menus();
        assert_harmless(&frame(&mut ui, &fleet, width, height));
        ui.notify(Status::Failed, activity, NOW);
        for code in keys.chars() {
            sizes::strike(&mut ui, &fleet, code);
            ui.handle(&Event::Paste(pasted.clone()), &fleet.view());
            assert_harmless(&frame(&mut ui, &fleet, width, height));
            // What is open stays open while the operator makes the terminal as small as can be.
            assert_harmless(&frame(&mut ui, &fleet, width, height.min(1 + width % 12)));
        }
        press(&mut ui, &fleet, &[KeyCode::Esc, KeyCode::Esc, KeyCode::Enter]);
        assert_harmless(&frame(&mut ui, &fleet, height, width));
    }

    #[test]
    fn rows_stay_straight_whatever_the_names(name in any::<String>()) {
        let mut fleet = SampleFleet::usual();
        fleet.terminals[1].state.terminal.id = name;
        let buffer = frame(&mut dashboard(), &fleet, 120, 40);
        let column = |row: &str| row.split("STATE").next().map(UnicodeWidthStr::width).expect("a heading");
        let turn = u16::try_from(column(&lines(&buffer)[2])).expect("a column");
        let word: String = (turn..turn + 8).map(|x| buffer[(x, 4)].symbol().to_owned()).collect();
        prop_assert_eq!(word, "question");
    }
}

#[test]
fn the_composer_says_that_a_prompt_for_a_working_terminal_waits() {
    let mut fleet = SampleFleet::usual();
    fleet.terminals = vec![terminal(1, "solo", "claude", None, 5)];
    fleet.terminals[0].state.turn.phase = Phase::Active;
    fleet.terminals[0].state.attention = Attention::None;
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 80, 24);
    press(&mut ui, &fleet, &[KeyCode::Enter]);
    assert!(text(&mut ui, &fleet, 80, 24).contains("it is working   enter queues it until it is ready"));
}

#[test]
fn the_palette_finds_actions_by_typing_and_does_them() {
    let fleet = SampleFleet::usual();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    press(&mut ui, &fleet, &chars(":qui"));
    assert!(text(&mut ui, &fleet, 120, 40).lines().any(|line| line.contains("› quit fleetwatch")));
    assert_eq!(press(&mut ui, &fleet, &[KeyCode::Enter]), [Request::Quit]);
    // The words of the footer and of the keymap find them as well.
    for (word, found) in [
        ("quit", "quit fleetwatch"),
        ("interrupt", "interrupt the agent"),
        ("diff", "show the terminal's history"),
        ("jump", "go to the terminal in tmux"),
        ("broadcast", "write a prompt to all marked"),
        ("layout", "change the layout"),
        ("mute", "mute the terminal"),
        ("help", "list all keys"),
        ("kill", "end the agent, or kill the task"),
        ("restart", "run the selected task again"),
        ("attach", "go to the terminal in tmux"),
        ("approve", "open the dialog with \"yes, this once\""),
        ("exit", "quit fleetwatch"),
        ("reload", "reload configuration, keymap and theme"),
        ("queue", "write a prompt"),
        // What begins a word of it comes before what means it.
        ("que", "take back the terminal's queued prompts"),
        ("call", "name the terminal"),
        ("sort by agent", "sort by agent"),
    ] {
        press(&mut ui, &fleet, &chars(":"));
        press(&mut ui, &fleet, &chars(word));
        let shown = text(&mut ui, &fleet, 120, 40);
        assert!(shown.contains(&format!("› {found}")), "{word}: {shown}");
        press(&mut ui, &fleet, &[KeyCode::Esc]);
    }
    for order in ["agent", "attention", "name"] {
        press(&mut ui, &fleet, &chars(&format!(":sort by {order}")));
        press(&mut ui, &fleet, &[KeyCode::Enter]);
        assert_eq!(text(&mut ui, &fleet, 120, 40).contains(&format!("by {order}")), order != "attention", "{order}");
    }
    // A theme is shown at once.
    press(&mut ui, &fleet, &chars(":theme light"));
    assert_eq!(press(&mut ui, &fleet, &[KeyCode::Enter]), [Request::Theme("light")]);
    for typed in [":zzzz", ":theme pink"] {
        press(&mut ui, &fleet, &[KeyCode::Esc]);
        press(&mut ui, &fleet, &chars(typed));
        assert!(text(&mut ui, &fleet, 120, 40).contains("nothing fits"), "{typed}");
    }
    assert_eq!(press(&mut ui, &fleet, &[KeyCode::Enter, KeyCode::Esc]), []);
    assert!(!text(&mut ui, &fleet, 120, 40).contains("commands ─"));
}

#[test]
fn the_palette_begins_with_what_the_selected_row_offers() {
    let fleet = SampleFleet::usual();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    press(&mut ui, &fleet, &chars(":"));
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("› answer the waiting dialog") && shown.contains("│ : "), "{shown}");
    // What would do nothing stands last, with why, and the key says the same.
    press(&mut ui, &fleet, &chars("queued"));
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("› take back the terminal's queued prompts  "), "{shown}");
    assert!(shown.contains("  no prompt is queued for shop-api │"), "the reason is whole: {shown}");
    press(&mut ui, &fleet, &[KeyCode::Enter]);
    assert!(text(&mut ui, &fleet, 120, 40).contains("no prompt is queued for shop-api"));
    press(&mut ui, &fleet, &chars(":"));
    let dead = ["run the selected task again", "remove all tasks", "go to the longest wait"];
    let mut seen = Vec::new();
    for _ in 0..60 {
        let shown = text(&mut ui, &fleet, 120, 40);
        let line = shown.lines().find(|line| line.contains("│ › ")).expect("an entry").to_owned();
        if let Some(of) = dead.iter().find(|of| line.contains(**of)).filter(|of| !seen.contains(*of)) {
            seen.push(*of);
        }
        press(&mut ui, &fleet, &[KeyCode::Down]);
    }
    assert_eq!(seen.first(), Some(&"go to the longest wait"), "{seen:?}");
    assert_eq!(seen.len(), 3, "{seen:?}");
}

#[test]
fn the_title_counts_those_that_wait() {
    let mut fleet = SampleFleet::usual();
    let mut ui = dashboard();
    assert_eq!(ui.title(&fleet.view()).as_deref(), Some("(3) fleetwatch"));
    fleet.terminals.clear();
    assert_eq!(ui.title(&fleet.view()).as_deref(), Some("fleetwatch"));
    ui.set_options(UiOptions { title: false, ..UiOptions::default() });
    assert_eq!(ui.title(&fleet.view()), None);
}

/// The names in the table, top first; heads of groups as they are shown.
fn names(ui: &mut Ui, fleet: &SampleFleet) -> Vec<String> {
    let lines = lines(&frame(ui, fleet, 120, 60));
    let rows = lines.iter().skip(3).take_while(|line| !line.is_empty());
    let column = lines[2].find("NAME").unwrap_or(4);
    rows.map(|line| {
        let text: String = line.chars().skip(column).collect();
        let is_head = line.chars().nth(1).is_some_and(|c| matches!(c, '▾' | '▸'));
        if is_head { line.chars().skip(1).collect() } else { text.split("  ").next().unwrap_or_default().to_owned() }
    })
    .collect()
}

#[test]
fn the_most_urgent_come_first_and_of_those_the_one_that_waited_longest() {
    let mut fleet = SampleFleet::usual();
    fleet.terminals.reverse();
    let mut ui = dashboard();
    let expected = [
        "shop-api", "billing", "new-repo", "infra", "nightly", "étude", "docs", "ingest", "検索", "vague", "web",
        "legacy",
    ];
    assert_eq!(names(&mut ui, &fleet), expected);
    let mut newer = fleet.terminals[11].clone();
    newer.key.pane = fleetwatch::fleet::PaneId(99);
    newer.state.terminal.id = "a-newer".into();
    (newer.state.turn.since, newer.state.since) = (NOW, NOW);
    fleet.terminals.push(newer);
    assert_eq!(names(&mut ui, &fleet)[..4], ["shop-api", "billing", "new-repo", "a-newer"], "whatever they ask");
}

#[test]
fn who_waits_longest_is_named_where_there_is_room() {
    let fleet = SampleFleet::usual();
    let header = |width| text(&mut dashboard(), &fleet, width, 24).lines().next().unwrap_or_default().to_owned();
    for (width, wanted) in
        [(220, "3 need you: shop-api 2m │ "), (80, "3 need you: shop-api 2m   ✗1"), (30, "3 need you: shop-api 2m")]
    {
        assert!(header(width).contains(wanted), "{width}: {}", header(width));
    }
}

#[test]
fn what_is_looked_at_stays_under_the_cursor_when_that_changes_its_state() {
    let mut fleet = SampleFleet::usual();
    let mut ui = dashboard();
    press(&mut ui, &fleet, &chars("/is:finished"));
    press(&mut ui, &fleet, &[KeyCode::Enter]);
    let before = names(&mut ui, &fleet);
    assert_eq!(before, ["docs"]);
    // What a filter leads to counts as seen a second after it is kept, and not at all where Esc leads back.
    let seen = |requests: &[Request]| requests.iter().any(|request| matches!(request, Request::Seen(..)));
    let mut typing = dashboard();
    press(&mut typing, &fleet, &[KeyCode::Down, KeyCode::Down]);
    assert!(selected(&mut typing, &fleet).contains("new-repo"));
    press(&mut typing, &fleet, &chars("/is:finished"));
    for end in [KeyCode::Esc, KeyCode::Enter] {
        fleet.now = fleet.now + Span::from_secs(2);
        assert!(selected(&mut typing, &fleet).contains("docs") && !seen(&typing.update(&fleet.view())));
        press(&mut typing, &fleet, &[end]);
        assert!(!seen(&typing.update(&fleet.view())));
        if end == KeyCode::Esc {
            assert!(selected(&mut typing, &fleet).contains("new-repo"));
            press(&mut typing, &fleet, &chars("/is:finished"));
        }
    }
    fleet.now = fleet.now + Span::from_secs(1);
    assert!(seen(&typing.update(&fleet.view())));
    let docs = fleet.terminals.iter_mut().find(|it| it.state.terminal.id == "docs").expect("a terminal");
    docs.state.attention = Attention::None;
    assert_eq!(names(&mut ui, &fleet), before, "it was only seen");
    assert!(selected(&mut ui, &fleet).contains("docs"));
    press(&mut ui, &fleet, &[KeyCode::Esc]);
    press(&mut ui, &fleet, &chars("/is:finished"));
    assert!(names(&mut ui, &fleet).is_empty(), "a filter that is typed anew lets through what fits");
}

#[test]
fn what_is_marked_one_after_the_other_stays_and_keeps_its_order_although_it_was_looked_at() {
    let calls = ["docs", "notebooks", "pricing", "mobile"];
    let finished = |fleet: &mut SampleFleet| {
        let docs = fleet.terminals.iter().find(|it| it.state.terminal.id == "docs").cloned().expect("a terminal");
        fleet.terminals.retain(|it| it.state.attention != Attention::Finished);
        for (place, name) in (0..).zip(calls) {
            let mut terminal = docs.clone();
            terminal.key.pane = fleetwatch::fleet::PaneId(900 + place);
            terminal.state.terminal.id = name.to_owned();
            terminal.state.last_turn.at = Some(NOW - Span::from_secs(u64::from(100 - place)));
            fleet.terminals.push(terminal);
        }
    };
    for is_filtered in [true, false] {
        let mut fleet = SampleFleet::usual();
        finished(&mut fleet);
        if !is_filtered {
            fleet.terminals.retain(|it| calls.contains(&it.state.terminal.id.as_str()));
        }
        let mut ui = dashboard();
        frame(&mut ui, &fleet, 120, 40);
        if is_filtered {
            press(&mut ui, &fleet, &chars("/is:finished"));
            press(&mut ui, &fleet, &[KeyCode::Enter]);
        }
        press(&mut ui, &fleet, &[KeyCode::Home]);
        assert_eq!(names(&mut ui, &fleet), calls);
        fleet.now = fleet.now + Span::from_secs(2);
        let docs = fleet.terminals.iter_mut().find(|it| it.state.terminal.id == "docs").expect("a terminal");
        docs.state.attention = Attention::None;
        for _ in 0..3 {
            assert_eq!(names(&mut ui, &fleet), calls);
            press(&mut ui, &fleet, &chars(" "));
            fleet.now = fleet.now + Span::from_millis(150);
        }
        let marked = |ui: &mut Ui, fleet: &SampleFleet| -> Vec<String> {
            let shown = text(ui, fleet, 120, 40);
            let marked = shown.lines().filter(|line| line.chars().nth(1) == Some('■'));
            marked
                .filter_map(|line| line.split_whitespace().find(|word| calls.contains(word)))
                .map(str::to_owned)
                .collect()
        };
        assert_eq!(marked(&mut ui, &fleet), calls[..3]);
        assert!(selected(&mut ui, &fleet).contains("mobile"));
        // A while later each goes to where it belongs, but what is marked does not leave.
        fleet.now = fleet.now + Span::from_secs(6);
        frame(&mut ui, &fleet, 120, 40);
        assert_eq!(names(&mut ui, &fleet), ["notebooks", "pricing", "mobile", "docs"]);
    }
}

#[test]
fn an_explanation_names_rules_only_to_who_asks_for_them() {
    let fleet = SampleFleet::usual();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    let text_of = "shop-api waits for your approval\n  because        rule menu, row 3: Esc to cancel\n  because        \
                   rule keys, row 3: Esc to cancel\n\nread by claude\n";
    ui.explained(&fleet.terminals[0].key, Some(text_of.into()), NOW);
    let brief = text(&mut ui, &fleet, 120, 40);
    assert_eq!(brief.matches("because        row 3: Esc to cancel").count(), 1, "{brief}");
    assert!(!brief.contains("rule menu") && !brief.contains("read by claude"), "{brief}");
    press(&mut ui, &fleet, &[KeyCode::Tab]);
    let whole = text(&mut ui, &fleet, 120, 40);
    assert!(whole.contains("rule menu, row 3: Esc to cancel") && whole.contains("read by claude"), "{whole}");
    press(&mut ui, &fleet, &[KeyCode::Tab]);
    assert_eq!(text(&mut ui, &fleet, 120, 40), brief);
}

#[test]
fn a_key_that_does_nothing_says_so() {
    let fleet = SampleFleet::usual();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    press(&mut ui, &fleet, &chars("!"));
    assert!(text(&mut ui, &fleet, 120, 40).contains("! does nothing here; ? lists keys"));
    // What is typed somewhere is no key of the table.
    press(&mut ui, &fleet, &chars("/!"));
    assert_eq!(text(&mut ui, &fleet, 120, 40).matches("does nothing here").count(), 1);
}

#[test]
fn rows_are_sorted_by_what_the_operator_wants() {
    let fleet = SampleFleet::usual();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    let mut sorted = |by: &str| {
        arrange(&mut ui, &fleet, &format!("sort by {by}"));
        assert!(text(&mut ui, &fleet, 120, 40).contains(&format!("by {by}")), "{by}");
        names(&mut ui, &fleet)
    };
    assert_eq!(sorted("name")[..4], ["billing", "docs", "infra", "ingest"]);
    assert_eq!(
        sorted("state")[..4],
        ["ingest", "検索", "web", "billing"],
        "two that work, one that is ready, those that ask"
    );
    assert_eq!(sorted("age")[..3], ["legacy", "nightly", "web"]);
    assert_eq!(sorted("agent")[..4], ["shop-api", "検索", "infra", "legacy"]);
    assert_eq!(sorted("server")[11], "ingest");
    press(&mut ui, &fleet, &chars("s"));
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.lines().any(|line| line.contains("sort by server") && line.contains("now")), "{shown}");
    press(&mut ui, &fleet, &[KeyCode::Esc]);
    arrange(&mut ui, &fleet, "sort by attention");
    assert!(!text(&mut ui, &fleet, 120, 40).contains("by attention"), "what is usual is not named");
}

#[test]
fn groups_fold_and_count_what_they_hide() {
    let mut fleet = SampleFleet::usual();
    fleet.terminals[3].declared.label = Some("prod".into());
    fleet.terminals[8].declared.label = Some("prod".into());
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    arrange(&mut ui, &fleet, "group by label");
    let heads = |ui: &mut Ui, fleet: &SampleFleet| -> Vec<String> {
        names(ui, fleet).into_iter().filter(|name| name.starts_with(['▾', '▸'])).collect()
    };
    let open = heads(&mut ui, &fleet);
    assert_eq!(
        open,
        [
            "▾ no label  10  ? 3 need you              ! 1 stalled  ⊘ 1 interrupted  ✓ 1 finished",
            "▾ prod       2                ✗ 1 failed"
        ],
        "counts stand below each other"
    );
    press(&mut ui, &fleet, &[KeyCode::Home]);
    (0..8).for_each(|_| drop(press(&mut ui, &fleet, &[KeyCode::Left, KeyCode::Down])));
    press(&mut ui, &fleet, &[KeyCode::Home]);
    assert!(heads(&mut ui, &fleet)[1].contains("✗ 1"));
    assert_eq!(names(&mut ui, &fleet).len(), 2);
    let preview = text(&mut ui, &fleet, 120, 40);
    assert!(preview.contains("─ no label  10 terminals ─") && preview.contains("? shop-api"), "{preview}");
    // What needs the operator is found in a folded group, which is unfolded for it.
    press(&mut ui, &fleet, &[KeyCode::Home]);
    press(&mut ui, &fleet, &chars("\t"));
    assert!(selected(&mut ui, &fleet).contains("shop-api"));
    press(&mut ui, &fleet, &[KeyCode::End, KeyCode::Right, KeyCode::Down]);
    assert!(selected(&mut ui, &fleet).contains("infra"));
    press(&mut ui, &fleet, &[KeyCode::Left]);
    assert!(selected(&mut ui, &fleet).contains("▸ prod"), "the cursor goes to the head of what it folds");
    press(&mut ui, &fleet, &[KeyCode::Enter]);
    assert!(selected(&mut ui, &fleet).contains("▾ prod"));
    let shown = lines(&frame(&mut ui, &fleet, 120, 40));
    let row = shown.iter().position(|line| line.contains("▾ prod")).and_then(|row| u16::try_from(row).ok());
    let row = row.expect("the head");
    let click =
        MouseEvent { kind: MouseEventKind::Down(MouseButton::Left), column: 9, row, modifiers: KeyModifiers::NONE };
    ui.handle(&Event::Mouse(click), &fleet.view());
    assert!(selected(&mut ui, &fleet).contains("▸ prod"), "a click folds");
}

#[test]
fn groups_of_one_stand_together_below_one_head() {
    let mut fleet = SampleFleet::usual();
    let heads = |ui: &mut Ui, fleet: &SampleFleet| -> Vec<String> {
        let heads = names(ui, fleet).into_iter().filter(|name| name.starts_with(['▾', '▸']));
        heads.map(|head| head.chars().skip(2).take(11).collect::<String>().trim_end().to_owned()).collect()
    };
    for (index, label) in [(0, "alpha"), (1, "beta"), (2, "beta"), (3, "gamma"), (4, "delta")] {
        fleet.terminals[index].declared.label = Some(label.into());
    }
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    arrange(&mut ui, &fleet, "group by label");
    assert_eq!(
        heads(&mut ui, &fleet),
        ["one each  3", "beta      2", "no label  7"],
        "the one that waits stands first"
    );
    // The filter shows one of two, and moves no row to another group.
    press(&mut ui, &fleet, &chars("/billing"));
    press(&mut ui, &fleet, &[KeyCode::Enter]);
    let billing = fleet.terminals.iter().position(|it| it.state.terminal.id == "billing").expect("billing");
    let label = fleet.terminals[billing].declared.label.clone().unwrap_or_default();
    assert!(heads(&mut ui, &fleet)[0].starts_with(if label == "beta" { "beta" } else { "one each" }));
    press(&mut ui, &fleet, &[KeyCode::Esc]);
    // It folds as one group, and is unfolded for whom it hides.
    press(&mut ui, &fleet, &[KeyCode::Home, KeyCode::Left, KeyCode::Left]);
    assert!(selected(&mut ui, &fleet).contains("▸ one each"), "{}", text(&mut ui, &fleet, 120, 40));
    press(&mut ui, &fleet, &chars("\t"));
    assert!(selected(&mut ui, &fleet).contains("shop-api"));
    // A single group of one keeps its own head.
    for index in [3, 4] {
        fleet.terminals[index].declared.label = None;
    }
    let alone = heads(&mut ui, &fleet);
    assert!(alone.iter().any(|head| head.starts_with("alpha")) && !alone.iter().any(|head| head.starts_with("one")));
}

#[test]
fn esc_that_removes_nothing_leaves_rows_where_they_are() {
    let mut fleet = SampleFleet::usual();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    press(&mut ui, &fleet, &[KeyCode::Down]);
    let before = names(&mut ui, &fleet);
    turn_into(&mut fleet, 0, Attention::None);
    fleet.terminals[0].state.assessment.business_state = BusinessState::Working;
    press(&mut ui, &fleet, &[KeyCode::Esc]);
    assert_eq!(names(&mut ui, &fleet), before);
    fleet.now = fleet.now + Span::from_secs(6);
    assert_ne!(names(&mut ui, &fleet), before, "it is no longer the one that waits longest");
}

#[test]
fn the_cursor_follows_what_is_started_again_in_its_pane() {
    let mut fleet = SampleFleet::usual();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    press(&mut ui, &fleet, &[KeyCode::Down, KeyCode::Down, KeyCode::Down]);
    let row = selected(&mut ui, &fleet);
    let name = row.split_whitespace().find(|word| word.chars().any(char::is_alphabetic)).expect("a name");
    let again = fleet.terminals.iter_mut().find(|it| it.state.terminal.id == name).expect("a terminal");
    again.key.pid += 5000;
    let found = selected(&mut ui, &fleet);
    assert!(found.contains(name), "{name}: {found}");
}

/// The heading of the table.
fn heading(ui: &mut Ui, fleet: &SampleFleet, width: u16) -> Vec<String> {
    let shown = text(ui, fleet, width, 40);
    let line = shown.lines().find(|line| line.contains("NAME")).unwrap_or_default();
    line.split_whitespace().filter(|word| word.chars().all(|c| c.is_ascii_uppercase())).map(str::to_owned).collect()
}

#[test]
fn the_next_dashboard_keeps_the_order_and_the_groups() {
    let mut fleet = SampleFleet::usual();
    let mut ui = dashboard();
    arrange(&mut ui, &fleet, "sort by name");
    arrange(&mut ui, &fleet, "group by session");
    // What is said of the key has gone.
    fleet.now = NOW + Span::from_secs(10);
    ui.update(&fleet.view());
    let chosen = text(&mut ui, &fleet, 160, 40);
    let mut next = dashboard();
    assert_ne!(text(&mut next, &fleet, 160, 40), chosen);
    next.restore(serde_json::from_str(&serde_json::to_string(&ui.choices()).unwrap()).unwrap());
    assert_eq!(text(&mut next, &fleet, 160, 40), chosen);
}

#[test]
fn columns_are_chosen_and_the_table_follows_at_once() {
    let fleet = SampleFleet::usual();
    let mut ui = dashboard();
    let usual = ["NAME", "SERVER", "AGENT", "STATE", "LAST", "STABLE", "CONTEXT", "MODEL", "WHAT"];
    let chosen = ["NAME", "SERVER", "LAST", "STATE", "STABLE", "CONTEXT", "MODEL", "BRANCH", "WHAT"];
    assert_eq!(heading(&mut ui, &fleet, 200), usual);
    // AGENT goes, and LAST goes before STATE.
    press(&mut ui, &fleet, &chars(":columns\njj jjjKK"));
    assert_eq!(heading(&mut ui, &fleet, 200), &chosen[..heading(&mut ui, &fleet, 200).len()]);
    // What must be shown cannot be taken away.
    press(&mut ui, &fleet, &[KeyCode::Home, KeyCode::Char(' ')]);
    assert!(text(&mut ui, &fleet, 200, 40).contains("NAME cannot be hidden"));
    press(&mut ui, &fleet, &[KeyCode::Esc]);
    assert_eq!(heading(&mut ui, &fleet, 200), chosen);
    let choices = serde_json::to_string(&ui.choices()).unwrap();
    let mut next = dashboard();
    next.restore(serde_json::from_str(&choices).unwrap());
    assert_eq!(heading(&mut next, &fleet, 200), chosen);
    for restore in [vec![KeyCode::End, KeyCode::Char(' ')], vec![KeyCode::End, KeyCode::Enter]] {
        press(&mut next, &fleet, &chars(":columns\njj "));
        press(&mut next, &fleet, &restore);
        press(&mut next, &fleet, &[KeyCode::Esc]);
        assert_eq!(heading(&mut next, &fleet, 200), usual);
    }
    assert_eq!(next.choices(), dashboard().choices());
}

/// The heading of the table as it is drawn.
fn heading_line(ui: &mut Ui, fleet: &SampleFleet, width: u16) -> String {
    let shown = text(ui, fleet, width, 40);
    shown.lines().find(|line| line.contains("NAME")).unwrap_or_default().trim_end().to_owned()
}

#[test]
fn which_columns_a_table_has_and_where_follows_from_its_width_alone() {
    let mut here = SampleFleet::usual();
    here.servers.truncate(1);
    for (width, titles) in [
        (40, "NAME STATE WHAT"),
        (60, "NAME STATE WHAT"),
        (80, "NAME AGENT STATE LAST WHAT"),
        (100, "NAME AGENT STATE LAST STABLE WHAT"),
        (120, "NAME AGENT STATE LAST STABLE WHAT"),
        (160, "NAME AGENT STATE LAST STABLE CONTEXT MODEL WHAT"),
        (200, "NAME AGENT STATE LAST STABLE CONTEXT MODEL BRANCH WHAT"),
    ] {
        assert_eq!(heading(&mut dashboard(), &here, width).join(" "), titles, "{width}");
    }
    // Names, versions, facts and results are as long as they like, or not there at all.
    let mut long = SampleFleet::usual();
    for terminal in &mut long.terminals {
        terminal.state.terminal.id = "a-name-of-a-terminal-that-is-long".to_owned();
        terminal.state.terminal.observed_tool_version = Some("12.345.678-beta.1".to_owned());
        for name in [FactName::Model, FactName::Branch, FactName::LastPrompt, FactName::PermissionMode] {
            let value = FactValue::Text("as long as a fact can be in its column".to_owned());
            terminal.state.agent.put(name, Fact { value, source: FactSource::Record, at: NOW });
        }
    }
    let mut bare = SampleFleet::usual();
    bare.terminals.truncate(1);
    bare.terminals[0].state.last_turn = fleetwatch::state::LastTurn::NONE;
    let mut tasks_only = SampleFleet::usual();
    tasks_only.terminals.clear();
    tasks_only.tasks = tasks();
    let usual = SampleFleet::usual();
    // The extent at the right of the heading is no column.
    let columns = |fleet: &SampleFleet, width| {
        let line = heading_line(&mut dashboard(), fleet, width);
        line.split_once("WHAT").map_or(line.clone(), |(columns, _)| format!("{columns}WHAT"))
    };
    for width in 10..260 {
        let wanted = columns(&usual, width);
        for (nth, fleet) in [&long, &bare, &tasks_only].into_iter().enumerate() {
            assert_eq!(columns(fleet, width), wanted, "{nth} at {width}");
        }
    }
}

#[test]
fn columns_stay_where_they_are_whatever_a_filter_or_a_folded_group_hides() {
    let mut fleet = SampleFleet::usual();
    fleet.terminals[0].state.terminal.id = "a-name-that-is-long".to_owned();
    for width in [80, 120, 160, 220] {
        let mut ui = dashboard();
        let all = heading_line(&mut ui, &fleet, width);
        for filter in ["agent:pi", "host:box", "is:finished", "docs"] {
            press(&mut ui, &fleet, &chars(&format!("/{filter}")));
            assert_eq!(heading_line(&mut ui, &fleet, width), all, "{filter} at {width}");
            press(&mut ui, &fleet, &[KeyCode::Esc]);
        }
        press(&mut ui, &fleet, &chars("bbZ"));
        assert_eq!(heading_line(&mut ui, &fleet, width), all, "folded at {width}");
    }
}

#[test]
fn whoever_waits_has_an_age_in_the_narrowest_table() {
    let mut fleet = SampleFleet::usual();
    for (exact, seconds, age) in
        [(true, 124, "2m"), (true, 172_799, "47h"), (false, 5999, ">99m"), (false, 172_799, ">47h")]
    {
        fleet.terminals[0].state.since = NOW - Span::from_secs(seconds);
        fleet.terminals[0].state.since_exact = exact;
        let shown = text(&mut dashboard(), &fleet, 40, 10);
        assert!(shown.contains(&format!("approval {age:>4}")), "{shown}");
    }
    fleet.terminals[0].state.since = NOW - Span::from_secs(59 * 60);
    for (width, age) in [(40, "approval >59m"), (20, ">59m")] {
        let shown = text(&mut dashboard(), &fleet, width, 10);
        assert!(shown.lines().any(|line| line.contains("shop-api") && line.contains(age)), "{width}: {shown}");
    }
}

#[test]
fn how_long_a_screen_has_stood_still_stands_beside_the_age_of_the_state() {
    let mut fleet = SampleFleet::usual();
    let row = |fleet: &SampleFleet| {
        let shown = text(&mut dashboard(), fleet, 160, 40);
        shown.lines().find(|line| line.contains("? shop-api")).expect("a row").to_owned()
    };
    let blank = |cells| " ".repeat(cells);
    assert!(row(&fleet).contains(&format!("approval       2m  –{}rm -rf", blank(28))), "{}", row(&fleet));
    fleet.terminals[0].state.stability.stable_since = NOW - Span::from_secs(9);
    assert!(
        row(&fleet).contains(&format!("approval       2m  –{}9s{}rm -rf", blank(13), blank(13))),
        "{}",
        row(&fleet)
    );
}

#[test]
fn what_agents_tell_of_themselves_has_columns_and_filters() {
    let mut fleet = SampleFleet::usual();
    let mut ui = dashboard();
    let mut choices = serde_json::to_value(ui.choices()).unwrap();
    choices["columns"] = serde_json::json!(["state", "model", "context", "plan", "cost", "tokens", "branch"]);
    ui.restore(serde_json::from_value(choices).unwrap());
    for (index, model, used) in [(0, "claude-opus-4", 990), (1, "gpt-5.5", 100)] {
        let facts = &mut fleet.terminals[index].state.agent;
        let mut put = |name, value| facts.put(name, Fact { value, source: FactSource::Record, at: NOW });
        put(FactName::Model, FactValue::Text(model.to_owned()));
        put(FactName::ContextUsed, FactValue::Count(used));
        put(FactName::ContextLimit, FactValue::Count(1000));
        put(FactName::TokensIn, FactValue::Count(used * 100));
        put(FactName::Plan, FactValue::Plan(PlanProgress { done: used / 100, of: 10, doing: None }));
    }
    let unsure = |value| Fact { value, source: FactSource::Directory, at: NOW };
    fleet.terminals[1].state.agent.put(FactName::CostUsd, unsure(FactValue::Amount(1.5)));
    fleet.terminals[0].state.agent.put(FactName::CostUsd, unsure(FactValue::Amount(0.25)));
    fleet.terminals[1].state.agent.put(FactName::Branch, unsure(FactValue::Text("main".to_owned())));
    // What git says of the directory holds before what the agent says.
    fleet.terminals[0].state.agent.put(FactName::Branch, unsure(FactValue::Text("main".to_owned())));
    let mut git = GitFacts { branch: Some("trunk".to_owned()), ahead: Some(2), ..GitFacts::default() };
    git.count_changes(b"12\t3\tfile\0");
    fleet.terminals[0].state.terminal.git = Some(Arc::new(git));
    let shown = text(&mut ui, &fleet, 240, 40);
    for word in [
        "MODEL",
        "claude-opus-4",
        "gpt-5.5",
        "CONTEXT",
        "1% left",
        "90% left",
        "9/10",
        "~$1.50",
        "99.0k",
        "trunk* ↑2 +12 -3",
        "~main",
    ] {
        assert!(shown.contains(word), "{word}:\n{shown}");
    }
    assert!(!text(&mut ui, &fleet, 80, 24).contains("MODEL"), "what it does comes first");
    let mut filtered = |filter: &str| {
        press(&mut ui, &fleet, &chars(&format!("/{filter}")));
        let count = names(&mut ui, &fleet).len();
        press(&mut ui, &fleet, &[KeyCode::Esc]);
        count
    };
    let filters = [
        ("model:opus", 1),
        // As the screen of the same agent spells it.
        ("model:opus.4", 1),
        ("model:opus4", 1),
        ("model:opus5", 0),
        ("context:<20%", 1),
        ("context:<91", 2),
        ("context:<", 12),
        ("context:>50", 1),
        ("context:x", 0),
        ("plan:<50%", 1),
        ("plan:9/10", 1),
        ("plan:9/", 0),
        ("plan:0/0", 0),
        ("tokens:>50k", 1),
        ("cost:>$1", 1),
        ("cost:2", 0),
        ("!branch:main", 11),
        ("branch:trunk", 1),
        ("is:dirty", 1),
        ("age:>2m", 6),
        ("age:<2m", 6),
        ("age:>2m3s", 6),
        ("age:>2m5s", 5),
        ("age:1h30m", 1),
        ("age:>-5m", 0),
        ("waited:>1m", 1),
        ("waited:<1d", 3),
        ("waited:>5", 0),
    ];
    for (filter, wanted) in filters {
        assert_eq!(filtered(filter), wanted, "{filter}");
    }
    for (filter, meant) in [
        ("contxt:20", "context:"),
        ("modell:opus", "model:"),
        ("brunch:x", "branch:"),
        ("state:asks", "is:"),
        ("-is:ready", "!is:"),
        ("wait:>5m", "waited:?"),
        ("is:waitng", "is:waiting?"),
    ] {
        press(&mut ui, &fleet, &chars(&format!("/{filter}")));
        let shown = text(&mut ui, &fleet, 120, 40);
        press(&mut ui, &fleet, &[KeyCode::Esc]);
        assert!(shown.contains(&format!("did you mean {meant}")), "{filter}:\n{shown}");
    }
    for (by, first) in [("context", 0), ("plan", 1), ("cost", 1)] {
        arrange(&mut ui, &fleet, &format!("sort by {by}"));
        assert_eq!(names(&mut ui, &fleet)[0], fleet.terminals[first].state.terminal.id, "{by}");
    }
    let (bare, mut ui) = (SampleFleet::usual(), dashboard());
    frame(&mut ui, &bare, 120, 40);
    arrange(&mut ui, &bare, "sort by cost");
    assert!(!text(&mut ui, &bare, 220, 40).contains("by cost"), "nobody is sorted by what is known of nobody");
}

#[test]
fn a_filter_holds_as_it_is_typed_and_is_never_hidden() {
    let fleet = SampleFleet::usual();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    press(&mut ui, &fleet, &chars("/is:bl"));
    assert_eq!(names(&mut ui, &fleet), ["shop-api", "billing", "new-repo"]);
    press(&mut ui, &fleet, &[KeyCode::Down, KeyCode::Enter]);
    let shown = selected(&mut ui, &fleet);
    assert!(shown.contains("billing"), "one moves in the table while typing: {shown}");
    assert!(text(&mut ui, &fleet, 120, 40).contains("/ is:bl  3 of 12"));
    assert!(text(&mut ui, &fleet, 40, 8).contains("/ is:bl  3 of 12"), "in small frames as well");
    press(&mut ui, &fleet, &[KeyCode::Esc]);
    assert_eq!(names(&mut ui, &fleet).len(), 12);
    let mut filtered = |filter: &str| {
        press(&mut ui, &fleet, &chars(&format!("/{filter}")));
        let names = names(&mut ui, &fleet);
        press(&mut ui, &fleet, &[KeyCode::Esc]);
        names
    };
    assert_eq!(filtered("op-a"), ["shop-api"], "a part of it");
    assert_eq!(filtered("claude !infra"), ["shop-api", "検索"]);
    assert_eq!(filtered("host:box"), ["ingest"]);
    assert_eq!(filtered("host:local is:working"), ["検索"]);
    assert_eq!(filtered("is:failed"), ["infra"]);
    assert_eq!(filtered("agent:codex"), ["billing", "legacy"]);
    assert_eq!(filtered("session:web"), ["web"]);
    assert_eq!(filtered("!is:blocked !is:working !is:ready"), ["infra", "nightly", "étude", "docs", "vague", "legacy"]);
    for (said, meant) in [
        ("active", "working"),
        ("blocked", "needs-you"),
        ("waiting", "needs-you"),
        ("awaiting_operator", "needs-you"),
        ("known_failure", "failed"),
    ] {
        assert_eq!(filtered(&format!("is:{said}")), filtered(&format!("is:{meant}")), "{said}");
        assert!(!filtered(&format!("is:{said}")).is_empty(), "{said}");
    }
    assert_eq!(filtered("is:idle"), ["infra", "étude", "docs", "web"], "who takes a prompt now, whatever was before");
    assert!(filtered("is:success").contains(&"docs".to_owned()));
    assert_eq!(filtered("is:success is:working,gone"), Vec::<String>::new(), "it rests after a turn that ended well");
    assert_eq!(filtered("name:docs,we"), ["docs", "web"]);
    assert_eq!(filtered("is: agent: !"), filtered(""), "a word that asks for nothing yet hides nothing");
    press(&mut ui, &fleet, &chars("/is:bz"));
    assert_eq!(press(&mut ui, &fleet, &[KeyCode::Enter, KeyCode::Enter]), [], "there is nothing to open");
}

#[test]
fn marks_pins_and_mutes() {
    let mut fleet = SampleFleet::usual();
    fleet.terminals[9].declared.pinned = true;
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    assert_eq!(names(&mut ui, &fleet)[0], "web");
    press(&mut ui, &fleet, &[KeyCode::Home]);
    // Where something is marked, all of that is muted; so this one comes first.
    press(&mut ui, &fleet, &chars("jjmm"));
    assert!(text(&mut ui, &fleet, 120, 40).contains("billing is muted"));
    // The muted row stays as long as the cursor is on it.
    assert!(selected(&mut ui, &fleet).contains("billing"));
    press(&mut ui, &fleet, &[KeyCode::Home]);
    press(&mut ui, &fleet, &chars("  "));
    press(&mut ui, &fleet, &[KeyCode::Home]);
    fleet.now = NOW + Span::from_secs(60);
    assert!(text(&mut ui, &fleet, 120, 40).contains("2 marked"));
    assert!(text(&mut ui, &fleet, 160, 40).contains("2 need you"), "the muted one is not counted");
    let buffer = frame(&mut ui, &fleet, 120, 40);
    let row = lines(&buffer).iter().position(|line| line.contains("billing")).expect("a row");
    // One that is both marked and pinned moves nothing for its two signs.
    let shown = lines(&buffer);
    assert!(shown.iter().any(|line| line.starts_with("›■· web")) && shown[row].starts_with(" z? "), "{shown:?}");
    let glyph = &buffer[(2, u16::try_from(row).expect("a row"))];
    assert_eq!((glyph.symbol(), glyph.fg), ("?", Color::Indexed(248)), "it keeps its glyph and loses its colour");
    press(&mut ui, &fleet, &chars("/is:marked"));
    assert_eq!(names(&mut ui, &fleet), ["web", "shop-api"]);
    press(&mut ui, &fleet, &[KeyCode::Esc]);
    press(&mut ui, &fleet, &[KeyCode::Esc]);
    run(&mut ui, &fleet, Action::MarkAll);
    assert!(text(&mut ui, &fleet, 120, 40).contains("12 marked"));
    press(&mut ui, &fleet, &[KeyCode::Esc]);
    assert!(!text(&mut ui, &fleet, 120, 40).contains("marked"));
    // A pin on one that waits moves nothing, and says how to take it back.
    let rows = |ui: &mut Ui| -> Vec<String> { text(ui, &fleet, 120, 40).lines().map(str::to_owned).collect() };
    let heading = |rows: &[String]| rows.iter().find(|row| row.contains("NAME")).cloned().expect("a heading");
    let before = heading(&rows(&mut ui));
    press(&mut ui, &fleet, &chars("\tp"));
    let after = rows(&mut ui);
    assert_eq!(heading(&after), before);
    assert!(after.iter().any(|row| row.starts_with("›▌? ") && row.contains("↑ ")), "{after:?}");
    assert!(after.iter().any(|row| row.contains("pinned to the top; p undoes it")), "{after:?}");
    // It is there at once, and the cursor with it.
    press(&mut ui, &fleet, &[KeyCode::End]);
    let last = names(&mut ui, &fleet).pop().expect("a row");
    press(&mut ui, &fleet, &chars("p"));
    assert!(names(&mut ui, &fleet)[..3].contains(&last), "{:?}", names(&mut ui, &fleet));
    assert!(selected(&mut ui, &fleet).contains(&last));
}

#[test]
fn a_terminal_is_named_and_several_are_labelled() {
    let mut fleet = SampleFleet::usual();
    fleet.terminals.retain(|terminal| ["web", "shop-api"].contains(&terminal.state.terminal.id.as_str()));
    fleet.tasks.clear();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    press(&mut ui, &fleet, &[KeyCode::End]);
    run(&mut ui, &fleet, Action::Rename);
    assert!(text(&mut ui, &fleet, 120, 40).contains("name of web: web"));
    let clear = Event::Key(KeyEvent::new(KeyCode::Char('u'), KeyModifiers::CONTROL));
    for (name, why) in [
        ("shop-api", "another terminal is called shop-api"),
        ("work:1", "a name contains no `:`"),
        ("%7", "does not begin with `%`"),
    ] {
        ui.handle(&clear, &fleet.view());
        press(&mut ui, &fleet, &chars(name));
        assert!(press(&mut ui, &fleet, &[KeyCode::Enter]).is_empty(), "{name} was taken");
        let shown = text(&mut ui, &fleet, 160, 45);
        assert!(shown.contains(why) && shown.contains(&format!("name of web: {name}")), "{shown}");
    }
    ui.handle(&clear, &fleet.view());
    press(&mut ui, &fleet, &chars("shopfront"));
    let kept = |asked: &Request| match asked {
        Request::KeepNote { kept, name } => Some((name.clone(), kept.note.clone())),
        _ => None,
    };
    let asked = press(&mut ui, &fleet, &[KeyCode::Enter]);
    let named = Note::default().with(NotePart::Name, "shopfront");
    assert_eq!(asked.iter().filter_map(kept).collect::<Vec<_>>(), [("web".into(), named.clone())]);
    let before = heading(&mut ui, &fleet, 120);
    let web = fleet.terminals.iter_mut().find(|terminal| terminal.state.terminal.id == "web").expect("web");
    (web.note, web.state.terminal.id) = (named.clone(), "shopfront".into());
    assert_eq!(heading(&mut ui, &fleet, 120), before, "another name moves no column");
    press(&mut ui, &fleet, &chars("/web"));
    assert_eq!(names(&mut ui, &fleet), ["shopfront"], "its own name still finds it");
    press(&mut ui, &fleet, &[KeyCode::Esc, KeyCode::Esc]);
    run(&mut ui, &fleet, Action::MarkAll);
    run(&mut ui, &fleet, Action::Label);
    let shown = text(&mut ui, &fleet, 120, 40);
    assert!(shown.contains("label of 2 terminals:"), "{shown}");
    press(&mut ui, &fleet, &chars("shop"));
    let asked = press(&mut ui, &fleet, &[KeyCode::Enter]);
    let labelled = |note: Note| note.with(NotePart::Label, "shop");
    let wanted = [("shop-api".to_owned(), labelled(Note::default())), ("shopfront".into(), labelled(named))];
    assert_eq!(asked.iter().filter_map(kept).collect::<Vec<_>>(), wanted);
    // What is not typed changes nothing, be it the same of all or not.
    for (place, terminal) in fleet.terminals.iter_mut().enumerate() {
        terminal.note = terminal.note.clone().with(NotePart::Label, ["one", "other"][place]);
    }
    frame(&mut ui, &fleet, 120, 40);
    run(&mut ui, &fleet, Action::Label);
    assert_eq!(press(&mut ui, &fleet, &[KeyCode::Enter]), []);
    press(&mut ui, &fleet, &[KeyCode::Esc]);
    run(&mut ui, &fleet, Action::Rename);
    assert_eq!(press(&mut ui, &fleet, &[KeyCode::Enter]), []);
    // What another process said while the line was open stays.
    press(&mut ui, &fleet, &[KeyCode::Home]);
    run(&mut ui, &fleet, Action::Rename);
    press(&mut ui, &fleet, &[KeyCode::Char('x')]);
    fleet.terminals.iter_mut().for_each(|it| it.note = Note::default().with(NotePart::Label, "meanwhile"));
    let asked = press(&mut ui, &fleet, &[KeyCode::Enter]);
    let wanted = Note::default().with(NotePart::Label, "meanwhile").with(NotePart::Name, "x");
    assert_eq!(asked.iter().filter_map(kept).map(|(_, note)| note).collect::<Vec<_>>(), [wanted]);
    fleet.terminals.iter_mut().for_each(|it| it.note = labelled(it.note.clone()));
    arrange(&mut ui, &fleet, "group by label");
    assert!(text(&mut ui, &fleet, 120, 40).contains("▾ shop"), "grouped by label");
}

#[test]
fn a_mute_ends_with_its_time_or_with_what_it_was_for() {
    let mut fleet = SampleFleet::usual();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    let muted = |ui: &Ui, fleet: &SampleFleet| fleet.terminals.iter().filter(|it| ui.mutes(*it)).count();
    press(&mut ui, &fleet, &chars("jm"));
    assert!(text(&mut ui, &fleet, 120, 40).contains("until it changes"));
    assert_eq!(muted(&ui, &fleet), 0, "it is asked first");
    press(&mut ui, &fleet, &chars("q"));
    assert!(text(&mut ui, &fleet, 120, 40).contains("muted for 15 minutes"));
    fleet.now = fleet.now + Span::from_secs(15 * 60 - 1);
    ui.update(&fleet.view());
    assert_eq!(muted(&ui, &fleet), 1);
    // Another dashboard reads the same from the file.
    let kept = serde_json::to_string(&ui.choices()).expect("JSON");
    let mut next = dashboard();
    next.restore(serde_json::from_str(&kept).expect("choices"));
    fleet.now = fleet.now + Span::from_secs(1);
    for ui in [&mut ui, &mut next] {
        assert_eq!(muted(ui, &fleet), 1);
        ui.update(&fleet.view());
        assert_eq!(muted(ui, &fleet), 0);
    }
    frame(&mut ui, &fleet, 120, 40);
    press(&mut ui, &fleet, &[KeyCode::Home]);
    press(&mut ui, &fleet, &chars("mu"));
    let key = fleet.terminals.iter().find(|it| ui.mutes(*it)).expect("a muted one").key.clone();
    let at = fleet.terminals.iter().position(|it| it.key == key).expect("a terminal");
    fleet.now = fleet.now + Span::from_secs(3600);
    ui.update(&fleet.view());
    assert_eq!(muted(&ui, &fleet), 1);
    fleet.terminals[at] = fleet.terminals.iter().find(|it| !it.state.waits()).expect("another state").clone();
    fleet.terminals[at].key = key;
    ui.update(&fleet.view());
    assert_eq!(muted(&ui, &fleet), 0);
}

#[test]
fn pins_and_mutes_are_there_at_the_next_start_as_long_as_their_terminals_are() {
    let mut fleet = SampleFleet::usual();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    press(&mut ui, &fleet, &[KeyCode::End, KeyCode::Char('p')]);
    press(&mut ui, &fleet, &[KeyCode::Home, KeyCode::Char('j'), KeyCode::Char('m'), KeyCode::Char('m')]);
    let kept = serde_json::to_string(&ui.choices()).expect("JSON");
    let start = |fleet: &SampleFleet| {
        let mut next = dashboard();
        next.restore(serde_json::from_str(&kept).expect("choices"));
        next.update(&fleet.view());
        next
    };
    let mut next = start(&fleet);
    assert_eq!(next.choices(), ui.choices());
    assert_eq!(names(&mut next, &fleet)[0], "legacy", "it is pinned");
    assert!(text(&mut next, &fleet, 160, 40).contains("2 need you"), "the muted one is not counted");
    let terminals = std::mem::take(&mut fleet.terminals);
    next.update(&fleet.view());
    assert_eq!(next.choices(), ui.choices(), "they may still be found");
    fleet.now = NOW + Span::from_secs(60);
    next.update(&fleet.view());
    assert_eq!(next.choices(), dashboard().choices(), "they have gone");
    // What the configuration says anyway is no choice.
    fleet.terminals = terminals;
    press(&mut next, &fleet, &chars("pp"));
    assert_eq!(next.choices(), dashboard().choices());
}

/// The names of the tiles, in their order, and which one is selected.
fn tiles(ui: &mut Ui, fleet: &SampleFleet) -> (Vec<String>, String) {
    let mut names: Vec<(usize, usize, String)> = Vec::new();
    let mut selected = String::new();
    for (row, line) in lines(&frame(ui, fleet, 160, 45)).iter().enumerate() {
        for terminal in &fleet.terminals {
            let name = &terminal.state.terminal.id;
            let word = format!(" {name}  {} ", Status::of(&terminal.state).word());
            if let Some(at) = line.find(&word) {
                let tile: String = line[..at].chars().rev().take_while(|c| *c != '─').take(6).collect();
                if tile.contains('›') {
                    selected.clone_from(name);
                }
                names.push((row, line[..at].width(), name.clone()));
            }
        }
    }
    names.sort();
    (names.into_iter().map(|(.., name)| name).collect(), selected)
}

#[test]
fn v_goes_through_three_layouts_and_the_next_dashboard_begins_in_the_last_one() {
    let fleet = SampleFleet::usual();
    let mut ui = dashboard();
    let place = |ui: &mut Ui, title: &str| {
        let shown = lines(&frame(ui, &fleet, 160, 45));
        let row = shown.iter().position(|line| line.contains(title))?;
        Some((shown[row].split(title).next().map_or(0, UnicodeWidthStr::width), row))
    };
    let (log, screen) = ("─ log", "─ shop-api");
    let below = place(&mut ui, log).expect("the log");
    assert_eq!(place(&mut ui, screen).map(|at| at.1), Some(below.1), "the screen is beside the log");
    press(&mut ui, &fleet, &chars("v"));
    assert_eq!(place(&mut ui, screen).map(|at| at.1), Some(2), "the screen begins beside the heading of the table");
    let mut next = dashboard();
    next.restore(ui.choices());
    assert_eq!(place(&mut next, screen), place(&mut ui, screen));
    press(&mut ui, &fleet, &chars("v"));
    assert_eq!((place(&mut ui, log), tiles(&mut ui, &fleet).0.len()), (None, 12));
    // A prompt has room in each of them.
    press(&mut ui, &fleet, &chars("i"));
    assert!(text(&mut ui, &fleet, 80, 24).contains("prompt to"));
    press(&mut ui, &fleet, &[KeyCode::Esc]);
    press(&mut ui, &fleet, &chars("v"));
    assert_eq!(place(&mut ui, log), Some(below));
    // A layout that is no more is the usual one.
    let old = serde_json::json!({ "panes": { "layout": "transitions", "table": 3 } });
    ui.restore(serde_json::from_value(old).expect("choices"));
    assert_eq!(place(&mut ui, log), Some(below));
}

#[test]
fn arrows_move_between_tiles_and_keys_act_on_the_selected_one() {
    let mut fleet = SampleFleet::usual();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 160, 45);
    press(&mut ui, &fleet, &chars("vv"));
    let (shown, selected) = tiles(&mut ui, &fleet);
    let first = ["shop-api", "billing", "new-repo", "infra", "nightly", "étude", "docs", "ingest", "検索"];
    assert_eq!(shown[..9], first.map(str::to_owned));
    assert_eq!((shown.len(), selected.as_str()), (12, "shop-api"));
    for (keys, at) in [
        (vec![KeyCode::Right], "billing"),
        (chars("j"), "nightly"),
        (vec![KeyCode::Left], "infra"),
        (vec![KeyCode::Left], "infra"),
        (vec![KeyCode::Right, KeyCode::Right, KeyCode::Right], "étude"),
        (vec![KeyCode::Up], "new-repo"),
        (chars("k"), "new-repo"),
        (vec![KeyCode::End], "legacy"),
        (chars("j"), "legacy"),
        (vec![KeyCode::Left, KeyCode::Home], "shop-api"),
        (chars("\t"), "shop-api"),
        (chars("\t"), "billing"),
    ] {
        press(&mut ui, &fleet, &keys);
        assert_eq!(tiles(&mut ui, &fleet).1, at, "after {keys:?}");
    }
    assert_eq!(press(&mut ui, &fleet, &chars("g")), [Request::Jump(fleet.terminals[1].key.clone())]);
    fleet.now = fleet.now + Span::from_secs(1);
    press(&mut ui, &fleet, &[KeyCode::Enter]);
    assert!(text(&mut ui, &fleet, 160, 45).contains("sends: "), "Enter opens the dialog");
    press(&mut ui, &fleet, &[KeyCode::Esc]);
    run(&mut ui, &fleet, Action::Fold);
    assert!(text(&mut ui, &fleet, 160, 45).contains("a grid has no groups (v goes back to the table)"));
}

#[test]
fn tiles_stay_where_they_are_and_one_that_begins_to_wait_comes_at_once() {
    let mut fleet = SampleFleet::usual();
    let kinds = SampleFleet::usual().terminals;
    // Twenty that work, twelve of which have a tile.
    let make = |n: u32| {
        let mut terminal = kinds[8].clone();
        terminal.key.pane = fleetwatch::fleet::PaneId(100 + n);
        terminal.state.terminal.id = format!("w-{n:02}");
        terminal
    };
    fleet.terminals = (0..20).map(make).collect();
    let become_like = |fleet: &mut SampleFleet, index: usize, kind: usize| {
        let id = fleet.terminals[index].state.terminal.id.clone();
        fleet.terminals[index].state = kinds[kind].state.clone();
        fleet.terminals[index].state.terminal.id = id;
    };
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 160, 45);
    press(&mut ui, &fleet, &chars("vv"));
    fleet.now = fleet.now + Span::from_secs(6);
    let (before, _) = tiles(&mut ui, &fleet);
    assert_eq!(before, (0..12).map(|n| format!("w-{n:02}")).collect::<Vec<_>>());
    // One that is ready is less urgent than those that work, and one that has no tile finishes: not at once.
    become_like(&mut fleet, 3, 9);
    become_like(&mut fleet, 15, 5);
    fleet.now = fleet.now + Span::from_secs(1);
    assert_eq!(tiles(&mut ui, &fleet).0, before);
    // One that asks has a tile with the next frame; the others keep theirs.
    become_like(&mut fleet, 17, 0);
    let (asked, _) = tiles(&mut ui, &fleet);
    assert!(asked.contains(&"w-17".to_owned()), "{asked:?}");
    assert_eq!(asked.iter().zip(&before).filter(|(now, before)| now != before).count(), 1, "{asked:?}");
    fleet.now = fleet.now + Span::from_secs(6);
    let (settled, _) = tiles(&mut ui, &fleet);
    assert!(settled.contains(&"w-15".to_owned()) && !settled.contains(&"w-03".to_owned()), "{settled:?}");
    assert!(settled.iter().zip(&asked).filter(|(now, before)| now != before).count() <= 2, "{settled:?}");
    // What the operator chose keeps its tile, and nothing moves right after a key.
    press(&mut ui, &fleet, &[KeyCode::Right]);
    let (_, chosen) = tiles(&mut ui, &fleet);
    let index = fleet.terminals.iter().position(|it| it.state.terminal.id == chosen).expect("a terminal");
    become_like(&mut fleet, index, 9);
    become_like(&mut fleet, 18, 0);
    assert_eq!(tiles(&mut ui, &fleet).0, settled);
    fleet.now = fleet.now + Span::from_secs(11);
    let (later, selected) = tiles(&mut ui, &fleet);
    assert!(later.contains(&"w-18".to_owned()), "{later:?}");
    assert_eq!((selected.as_str(), later.iter().position(|name| *name == chosen)), (chosen.as_str(), Some(1)));
    // Of those that leave, the tiles go to others.
    fleet.terminals.retain(|terminal| terminal.state.terminal.id != later[5]);
    let (left, _) = tiles(&mut ui, &fleet);
    assert_eq!(left.iter().zip(&later).filter(|(now, before)| now != before).count(), 1, "{left:?}");
}

#[test]
fn those_that_wait_have_a_tile_in_view_wherever_the_cursor_is() {
    let mut fleet = SampleFleet::usual();
    let kinds = SampleFleet::usual().terminals;
    let make = |n: u32| {
        let mut terminal = kinds[if n < 2 { 0 } else { 8 }].clone();
        terminal.key.pane = fleetwatch::fleet::PaneId(100 + n);
        terminal.state.terminal.id = format!("w-{n:02}");
        terminal
    };
    fleet.terminals = (0..22).map(make).collect();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 160, 45);
    // The cursor is on the last row when the grid comes.
    press(&mut ui, &fleet, &[KeyCode::End, KeyCode::Char('v'), KeyCode::Char('v')]);
    let expect = |ui: &mut Ui, fleet: &SampleFleet| {
        let (shown, selected) = tiles(ui, fleet);
        assert_eq!((shown.len(), selected.as_str()), (12, "w-21"), "{shown:?}");
        assert_eq!(shown[..2], ["w-00", "w-01"]);
    };
    expect(&mut ui, &fleet);
    // Who pages to the last ones comes back with the one that was chosen there.
    press(&mut ui, &fleet, &[KeyCode::Home, KeyCode::End]);
    fleet.now = fleet.now + Span::from_secs(6);
    let (shown, selected) = tiles(&mut ui, &fleet);
    assert!(shown.len() == 12 && shown.contains(&"w-00".to_owned()) && shown.contains(&selected), "{shown:?}");
}

#[test]
fn worktrees_stand_with_their_repository_and_are_found_by_its_directory() {
    let mut fleet = SampleFleet::usual();
    for (index, root) in [(0, "/srv/shop"), (1, "/srv/shop-fix"), (2, "/srv/docs"), (3, "/srv/docs")] {
        let repository = root.trim_end_matches("-fix").to_owned();
        let git = GitFacts { root: root.to_owned(), repository, ..GitFacts::default() };
        fleet.terminals[index].state.terminal.git = Some(Arc::new(git));
        fleet.terminals[index].state.terminal.cwd = Some(format!("{root}/src"));
    }
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    arrange(&mut ui, &fleet, "group by repository");
    let shown = text(&mut ui, &fleet, 120, 40);
    let heads: Vec<String> =
        shown.lines().filter_map(|line| line.split_once("▾ ")).map(|(_, head)| head.to_owned()).collect();
    let begins = ["/srv/shop ", "/srv/docs ", "no repository "].map(str::to_owned);
    assert!(heads.len() == 3 && heads.iter().zip(&begins).all(|(head, begin)| head.starts_with(begin)), "{shown}");
    let view = fleet.view();
    let found = |filter: &str| {
        let (filter, flags) = (fleetwatch::present::filter::Filter::new(filter), Default::default());
        let all = fleetwatch::present::item::Item::all(&view);
        (0..all.len()).filter(|index| filter.lets(all[*index], &flags, NOW)).collect::<Vec<_>>()
    };
    assert_eq!(found("dir:/srv/shop"), [0, 1]);
    assert_eq!(found("dir:SHOP-fix"), [1]);
    assert_eq!(found("dir:srv/docs,shop-fix !dir:nothing"), [1, 2, 3]);
    assert_eq!(found("dir:~/shop"), found("dir:/shop"), "a home directory goes without saying");
    assert!(!found("!dir:/srv").iter().any(|index| *index < 4));
}

#[test]
fn what_is_copied_is_chosen_by_a_second_key() {
    let fleet = SampleFleet::usual();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    let key = fleet.terminals[0].key.clone();
    let mut copied = |keys: &[KeyCode]| {
        run(&mut ui, &fleet, Action::Copy);
        press(&mut ui, &fleet, keys)
    };
    assert_eq!(copied(&chars("d")), [Request::Copy { key: key.clone(), what: Copied::Dialog }]);
    assert_eq!(copied(&chars("n")), [Request::Copy { key: key.clone(), what: Copied::Name }]);
    let chosen = copied(&[KeyCode::Down, KeyCode::Down, KeyCode::Enter]);
    assert_eq!(chosen, [Request::Copy { key, what: Copied::Transcript }]);
}

/// Every frame that there is of the table and of what lies over it, at once.
fn frames(options: &UiOptions) -> Vec<(&'static str, Buffer)> {
    let fleet = SampleFleet::usual();
    let mut frames = Vec::new();
    let keys = [
        ("fleet", ""),
        ("grouped, filtered and marked", "bb /e"),
        ("palette", ":"),
        ("copy", "y"),
        ("help", "?"),
        ("dialog", "\n"),
        ("flags", " mp"),
    ];
    for (name, keys) in keys {
        let mut ui = Ui::new(options.clone());
        frame(&mut ui, &fleet, 120, 40);
        for c in keys.chars() {
            press(&mut ui, &fleet, &[if c == '\n' { KeyCode::Enter } else { KeyCode::Char(c) }]);
        }
        ui.notify(Status::Failed, "something went wrong".into(), NOW);
        frames.push((name, frame(&mut ui, &fleet, 80, 24)));
        frames.push((name, frame(&mut ui, &fleet, 160, 45)));
    }
    frames
}

#[test]
fn every_theme_at_every_depth_can_be_read() {
    for theme in Theme::names() {
        for depth in [Depth::True, Depth::Indexed, Depth::Sixteen, Depth::None] {
            for ascii in [false, true] {
                let shipped = Theme::shipped(theme).expect("a shipped theme");
                let options = UiOptions { theme: shipped, depth, ascii, ..UiOptions::default() };
                for (name, buffer) in frames(&options) {
                    for cell in &buffer.content {
                        let reported = || format!("{theme} {depth:?} {name}: {cell:?}");
                        let written = cell.symbol() != " " && cell.fg != Color::Reset;
                        assert!(!written || cell.fg != cell.bg, "{}", reported());
                        assert!(!ascii || cell.symbol().is_ascii(), "{}", reported());
                        let is_fine = |color| matches!(color, Color::Rgb(..) | Color::Indexed(16..));
                        match depth {
                            Depth::None => {
                                assert_eq!((cell.fg, cell.bg), (Color::Reset, Color::Reset), "{}", reported())
                            }
                            Depth::Sixteen => assert!(!is_fine(cell.fg) && !is_fine(cell.bg), "{}", reported()),
                            Depth::Indexed => assert!(!matches!(cell.fg, Color::Rgb(..)), "{}", reported()),
                            Depth::True => {}
                        }
                    }
                    // The row that is selected differs from its neighbours by more than its mark.
                    if name == "fleet" {
                        let row = |y| (buffer[(20, y)].bg, buffer[(20, y)].modifier.contains(Modifier::REVERSED));
                        assert_ne!(row(3), row(4), "{theme} {depth:?}");
                    }
                }
            }
        }
    }
}

/// Counts what is written.
#[derive(Clone, Default)]
struct Count(std::rc::Rc<std::cell::Cell<usize>>);

impl std::io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.set(self.0.get() + bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn only_what_changed_is_written() {
    let mut fleet = SampleFleet::of(200);
    let mut ui = dashboard();
    let viewport = ratatui::Viewport::Fixed(Rect::new(0, 0, 200, 50));
    let bytes = Count::default();
    let backend = ratatui::backend::CrosstermBackend::new(bytes.clone());
    let options = ratatui::TerminalOptions { viewport };
    let mut terminal = ratatui::Terminal::with_options(backend, options).expect("a terminal in memory");
    let mut written = |ui: &mut Ui, fleet: &SampleFleet| {
        ui.update(&fleet.view());
        terminal.draw(|frame| _ = ui.draw(frame, &fleet.view())).expect("nothing that can fail");
        bytes.0.take()
    };
    let whole = written(&mut ui, &fleet);
    assert!(whole > 10_000, "{whole}");
    let same = written(&mut ui, &fleet);
    assert!(same < 32, "a frame like the last one writes nothing but the cursor's state: {same} bytes");
    let asked = "Bash command\n\n  another thing\n\nDo you want to proceed?";
    fleet.terminals[3].state.assessment.operator_excerpt = Some(asked.into());
    let one = written(&mut ui, &fleet);
    assert!(one > same && one < 300, "one cell of the table: {one} bytes");
    press(&mut ui, &fleet, &chars("j"));
    let moved = written(&mut ui, &fleet);
    assert!(moved < whole / 2, "two rows and a preview: {moved} of {whole} bytes");
}

/// Tasks as polls of two sessions give them: a build that failed, one that runs, one that asks, one that ended well.
fn tasks() -> Vec<fleetwatch::task::Task> {
    use fleetwatch::fleet::{PaneId, ServerId, SessionId, TerminalKey, WindowId};
    use fleetwatch::screen::{Cursor, Screen};
    use fleetwatch::task::{PaneState, Preview, Registration, SessionSnapshot, TaskPoll, TaskSnapshot, TaskTracker};
    let window = |n: u32, name: &str, command: &str, exit: Option<i32>, lines: &[&str]| {
        let last = lines.last().map_or(0, |line| line.width() + 1);
        let at = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
        let cursor = Cursor { column: at(last), row: at(lines.len() - 1), visible: true };
        let preview = Preview::of(&Screen::from_text(&lines.join("\n"), 80), cursor, exit.is_some());
        let (dead, cwd) = (exit.is_some(), Some("~/shop".into()));
        let pane = PaneState {
            command: command.into(),
            start_command: None,
            cwd,
            dead,
            exit_code: exit,
            alternate: false,
            preview,
        };
        TaskSnapshot {
            window: WindowId(n),
            name: name.into(),
            index: n,
            key: TerminalKey {
                server: ServerId::default(),
                pane: PaneId(500 + n),
                pid: 9000 + n,
                instance: Default::default(),
            },
            pane: Some(pane),
            ended_at: None,
            bell: false,
            bells: Some(if n == 2 { 3 } else { 0 }),
            registration: Registration::None,
            shown: Default::default(),
        }
    };
    let poll = |exits: bool| TaskPoll {
        sessions: vec![SessionSnapshot {
            id: SessionId(7),
            name: "builds".into(),
            windows: vec![
                window(1, "lint", "cargo", exits.then_some(2), &["checking", "error: unused import"]),
                window(2, "serve", "node", None, &["listening on 8080"]),
                window(
                    3,
                    "deploy",
                    "deploy.sh",
                    None,
                    &[if exits { "Deploy 漢字 to production? [y/N]" } else { "building" }],
                ),
                window(4, "docs", "mdbook", exits.then_some(0), &["done"]),
            ],
        }],
        ..TaskPoll::default()
    };
    let mut watch = TaskTracker::default();
    for (seconds, exits) in [(300, false), (20, true), (10, true), (5, true)] {
        watch.take(poll(exits), NOW - Span::from_secs(seconds));
    }
    for (n, name) in [(1, "lint"), (2, "serve"), (3, "deploy"), (4, "docs")] {
        watch.rename(WindowId(n), name.into());
    }
    watch.tasks().cloned().collect()
}

#[test]
fn what_is_pasted_into_a_line_is_cut_and_drawn_at_once() {
    let fleet = SampleFleet::usual();
    let mut ui = dashboard();
    press(&mut ui, &fleet, &chars("/ab"));
    press(&mut ui, &fleet, &[KeyCode::Left]);
    let begin = std::time::Instant::now();
    ui.handle(&Event::Paste("漢\n".repeat(200_000)), &fleet.view());
    let shown = text(&mut ui, &fleet, 120, 40);
    press(&mut ui, &fleet, &[KeyCode::Char('x'), KeyCode::Backspace, KeyCode::Char('y'), KeyCode::End]);
    let end = text(&mut ui, &fleet, 120, 40);
    // It took minutes when each character was inserted by itself.
    assert!(begin.elapsed() < std::time::Duration::from_secs(10), "{:?}", begin.elapsed());
    let line = |shown: &str| shown.lines().nth(1).unwrap_or_default().to_owned();
    assert!(line(&shown).contains("漢 漢 b"), "the rest of the line is in view: {shown}");
    assert!(line(&end).contains("漢yb"), "{end}");
}

#[test]
fn backwards_the_least_urgent_is_next_and_its_group_is_unfolded() {
    let mut fleet = SampleFleet::usual();
    // The group that stands last has one that needs the operator in front of one that does not.
    for (nth, terminal) in fleet.terminals.iter_mut().enumerate() {
        terminal.declared.label = (nth != 0 && nth != 9).then(|| "prod".into());
    }
    let mut ui = dashboard();
    arrange(&mut ui, &fleet, "group by label");
    press(&mut ui, &fleet, &[KeyCode::End, KeyCode::Left, KeyCode::Home, KeyCode::BackTab]);
    assert!(selected(&mut ui, &fleet).contains("new-repo"), "the shortest wait, as if it came after all others");
    press(&mut ui, &fleet, &[KeyCode::BackTab]);
    assert!(selected(&mut ui, &fleet).contains("billing"));
    press(&mut ui, &fleet, &chars("\t\t\t"));
    assert!(selected(&mut ui, &fleet).contains("new-repo"));
}

#[test]
fn the_log_has_a_run_before_its_end_of_the_same_second() {
    use fleetwatch::record::OperatorAction;
    use fleetwatch::task::{Happening, TaskEvent};
    let mut fleet = SampleFleet::empty();
    fleet.tasks = tasks();
    let task = fleet.tasks[0].clone();
    let second = fleetwatch::time::Timestamp::from_millis(NOW.as_millis() / 1000 * 1000);
    fleet.task_events.push_back(TaskEvent {
        at: second,
        id: task.id.clone(),
        window: task.window,
        name: task.name.clone(),
        session: task.session.clone(),
        key: task.key.clone(),
        happening: Happening::Exited { code: Some(3), bells: 0 },
        preview: task.preview(),
        state: Box::new(task.fields()),
    });
    let mut ui = dashboard();
    let action = OperatorAction::Run { window: "@1".to_owned(), command: vec!["false".to_owned()], again: false };
    let (key, name, at) = (Some(task.key.clone()), task.id.clone(), second + Span::from_millis(400));
    ui.keep_in_log(Stored { id: RecordId(1), at, key, name, body: Body::Action(action) });
    let shown = text(&mut ui, &fleet, 160, 45);
    let line = |words: &str| shown.lines().position(|line| line.contains(words)).expect(words);
    assert!(line("exited with code 3") < line("ran "), "{shown}");
}

#[test]
fn the_wheel_goes_through_what_happened_to_tasks_too() {
    use fleetwatch::task::{Happening, TaskEvent};
    let mut fleet = SampleFleet::empty();
    fleet.tasks = tasks();
    let task = &fleet.tasks[0];
    let event = |n: u32| TaskEvent {
        at: NOW,
        id: format!("event-{n}"),
        window: task.window,
        name: task.name.clone(),
        session: task.session.clone(),
        key: TerminalKey { pid: 90_000 + n, ..task.key.clone() },
        happening: Happening::Started,
        preview: task.preview(),
        state: Box::new(task.fields()),
    };
    let events = (0..30).map(event).collect();
    fleet.task_events = events;
    let mut ui = dashboard();
    let shown = text(&mut ui, &fleet, 160, 45);
    let row = shown.lines().position(|line| line.contains("─ log")).expect("the pane");
    let row = u16::try_from(row + 1).expect("a row");
    for _ in 0..20 {
        let wheel = MouseEvent { kind: MouseEventKind::ScrollDown, column: 5, row, modifiers: KeyModifiers::NONE };
        ui.handle(&Event::Mouse(wheel), &fleet.view());
    }
    let shown = text(&mut ui, &fleet, 160, 45);
    assert!(shown.contains("event-0") && !shown.contains("event-1 "), "{shown}");
}

#[test]
fn a_task_that_ended_well_has_the_word_of_its_row_everywhere_and_needs_nobody() {
    let mut fleet = SampleFleet::empty();
    fleet.servers = SampleFleet::usual().servers;
    fleet.tasks = tasks();
    let mut ui = dashboard();
    let shown = text(&mut ui, &fleet, 160, 40);
    let header = "1 needs you: deploy 10s │ 1 failed │ 1 exited 0 │ 1 running";
    assert!(shown.contains(header) && !shown.contains("gone"), "{shown}");
    assert_eq!(names(&mut ui, &fleet).last().map(String::as_str), Some("docs"), "it stands below what needs somebody");
    let row = shown.lines().find(|line| line.contains(" docs ")).expect("a row");
    assert!(row.contains("✓ docs") && row.contains("exited 0"), "{row}");
    press(&mut ui, &fleet, &chars("\t\t\t\t"));
    assert!(!selected(&mut ui, &fleet).contains("docs"), "only what asks and what failed is gone to");
    press(&mut ui, &fleet, &chars("/is:finished"));
    assert_eq!(names(&mut ui, &fleet), ["docs"]);
    press(&mut ui, &fleet, &[KeyCode::Enter, KeyCode::Char('d')]);
    assert!(text(&mut ui, &fleet, 160, 40).contains("✓ exited 0"));
    press(&mut ui, &fleet, &[KeyCode::Esc, KeyCode::Esc]);
    arrange(&mut ui, &fleet, "group by session");
    press(&mut ui, &fleet, &[KeyCode::Home, KeyCode::Left]);
    assert!(text(&mut ui, &fleet, 160, 40).contains("▸ builds  4  ? 1 needs you  ✗ 1 failed  ✓ 1 exited 0"));
    press(&mut ui, &fleet, &[KeyCode::Right]);
    assert!(text(&mut ui, &fleet, 160, 40).contains("▾ builds  4  ? 1 needs you  ✗ 1 failed\n"));
}

#[test]
fn a_task_that_runs_has_one_sign_wherever_it_is_shown() {
    let mut fleet = SampleFleet::empty();
    fleet.servers = SampleFleet::usual().servers;
    fleet.tasks = tasks();
    let mut ui = dashboard();
    press(&mut ui, &fleet, &chars("/serve"));
    press(&mut ui, &fleet, &[KeyCode::Enter]);
    let shown = text(&mut ui, &fleet, 80, 24);
    assert!(shown.contains("▶ serve") && shown.contains("▶1"), "{shown}");
    press(&mut ui, &fleet, &chars("d"));
    let shown = text(&mut ui, &fleet, 160, 40);
    assert!(shown.contains("▶ running for") && !shown.contains("⠋ running"), "{shown}");
}

#[test]
fn a_long_entry_of_the_log_is_told_whole_where_there_is_room() {
    let fleet = SampleFleet::usual();
    let shown = text(&mut dashboard(), &fleet, 120, 40);
    let asks = shown.lines().position(|line| line.contains("asks: Which database")).expect("an entry");
    let rest = shown.lines().nth(asks + 1).unwrap_or_default();
    assert!(rest.starts_with("                  worker use?"), "below its own beginning: {shown}");
}

#[test]
fn what_needs_the_operator_is_found_in_folded_groups_and_below_the_screen() {
    let mut fleet = SampleFleet::of(30);
    let waiting = SampleFleet::usual().terminals[0].state.clone();
    for (index, terminal) in fleet.terminals.iter_mut().enumerate() {
        let id = format!("agent-{index}");
        (terminal.state.attention, terminal.state.turn.phase) = (Attention::None, Phase::Ready);
        Arc::make_mut(&mut terminal.place).session = format!("session-{}", index / 5);
        terminal.key.server = fleetwatch::fleet::ServerId::default();
        if index == 29 {
            terminal.state = waiting.clone();
        }
        terminal.state.terminal.id = id;
    }
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 80, 24);
    arrange(&mut ui, &fleet, "sort by name");
    arrange(&mut ui, &fleet, "group by session");
    press(&mut ui, &fleet, &[KeyCode::Home]);
    let open = text(&mut ui, &fleet, 80, 24);
    assert!(!open.contains("? agent-29") && open.contains("1 needs you: agent-29 2m"), "{open}");
    assert!(open.contains("↓ 1 needs you  1–"), "the heading says where: {open}");
    press(&mut ui, &fleet, &[KeyCode::Home]);
    (0..8).for_each(|_| drop(press(&mut ui, &fleet, &[KeyCode::Left, KeyCode::Down])));
    let folded = text(&mut ui, &fleet, 80, 24);
    assert!(folded.contains("▸ session-5  5  ? 1 needs you"), "{folded}");
    assert!(!folded.contains('↓'), "{folded}");
    press(&mut ui, &fleet, &chars("\t"));
    let found = text(&mut ui, &fleet, 80, 24);
    assert!(found.contains("▾ session-5") && found.contains("›▌? agent-29"), "{found}");
    assert!(found.contains("▸ session-0"), "only the group that it is in is unfolded");
    press(&mut ui, &fleet, &[KeyCode::Left]);
    let again = text(&mut ui, &fleet, 80, 24);
    assert!(again.contains("›▸ session-5"), "the cursor goes to the head of its group: {again}");
    press(&mut ui, &fleet, &[KeyCode::Home, KeyCode::BackTab]);
    assert!(text(&mut ui, &fleet, 80, 24).contains("›▌? agent-29"));
    press(&mut ui, &fleet, &[KeyCode::End]);
    assert!(!text(&mut ui, &fleet, 80, 24).contains("↑"), "it is in view");
}

#[test]
fn the_help_is_searched() {
    let fleet = SampleFleet::usual();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 80, 24);
    press(&mut ui, &fleet, &chars("?"));
    assert!(text(&mut ui, &fleet, 80, 24).lines().last().is_some_and(|footer| footer.contains("/ search")));
    press(&mut ui, &fleet, &chars("/mark the"));
    let typing = text(&mut ui, &fleet, 80, 24);
    assert!(typing.contains("/mark the") && typing.contains("1 of 1 \"mark the\""), "{typing}");
    assert!(typing.contains("mark the terminal or group"), "{typing}");
    press(&mut ui, &fleet, &[KeyCode::Enter]);
    press(&mut ui, &fleet, &chars("]"));
    let next = text(&mut ui, &fleet, 80, 24);
    assert!(next.contains("1 of 1") && !next.contains("/mark the"), "{next}");
    press(&mut ui, &fleet, &chars("/qq"));
    assert!(text(&mut ui, &fleet, 80, 24).contains("nowhere \"qq\""), "its own keys are typed, too");
    press(&mut ui, &fleet, &[KeyCode::Esc]);
    let cleared = text(&mut ui, &fleet, 80, 24);
    assert!(cleared.contains("┌ keys ─") && !cleared.contains("nowhere"), "{cleared}");
    press(&mut ui, &fleet, &[KeyCode::Esc]);
    assert!(!text(&mut ui, &fleet, 80, 24).contains("┌ keys"));
}

#[test]
fn a_turn_that_goes_on_is_not_named_by_how_the_last_one_ended() {
    let mut fleet = SampleFleet::usual();
    let mut ui = dashboard();
    let what = |ui: &mut Ui, fleet: &SampleFleet| {
        let shown = text(ui, fleet, 160, 40);
        shown.lines().find(|line| line.contains(" infra ")).expect("a row").to_owned()
    };
    assert!(what(&mut ui, &fleet).contains("API Error: 529 Overloaded"));
    let infra = &mut fleet.terminals[3].state;
    (infra.turn.phase, infra.attention, infra.activity) = (Phase::Active, Attention::None, None);
    let row = what(&mut ui, &fleet);
    assert!(row.contains("working") && row.contains("✗   5m") && !row.contains("529"), "the result stays: {row}");
    fleet.terminals[3].state.activity = fleet.terminals[3].state.last_turn.detail.clone();
    let row = what(&mut ui, &fleet);
    assert!(!row.contains("529"), "the line of the failure is still on the screen: {row}");
    fleet.terminals[3].state.activity = Some("●\u{FE0F}\u{A0} Retrying in 4 s".into());
    let row = what(&mut ui, &fleet);
    assert!(row.contains("  Retrying in 4 s") && !row.contains('●'), "{row}");
}

#[test]
fn a_bell_is_news_until_it_was_seen() {
    let mut fleet = SampleFleet::empty();
    fleet.servers = SampleFleet::usual().servers;
    fleet.tasks = tasks();
    let row = |ui: &mut Ui, fleet: &SampleFleet| {
        let shown = text(ui, fleet, 160, 40);
        shown.lines().find(|line| line.contains(" serve ")).expect("a row").to_owned()
    };
    let mut ui = dashboard();
    assert!(row(&mut ui, &fleet).contains("rang×3 ●"));
    fleet.now = NOW + Span::from_secs(5);
    assert!(row(&mut ui, &fleet).contains("rang×3 ●"), "nobody was there");
    press(&mut ui, &fleet, &chars("jj"));
    assert!(selected(&mut ui, &fleet).contains("serve"));
    fleet.now = NOW + Span::from_millis(5900);
    assert!(row(&mut ui, &fleet).contains("rang×3 ●"), "it was not looked at for a second");
    assert!(ui.wake_at(&fleet.view()) <= NOW + Span::from_secs(6));
    fleet.now = NOW + Span::from_secs(6);
    assert!(!row(&mut ui, &fleet).contains("rang"));
    press(&mut ui, &fleet, &chars("d"));
    press(&mut ui, &fleet, &chars("vvvv"));
    let facts = text(&mut ui, &fleet, 160, 45);
    assert!(facts.lines().any(|line| line.contains("bells") && line.trim_end().ends_with('3')), "{facts}");
    press(&mut ui, &fleet, &[KeyCode::Esc]);
    // It rings again, and the operator goes there.
    let serve = fleet.tasks.iter_mut().find(|task| task.id == "serve").expect("a task");
    serve.bells = 4;
    press(&mut ui, &fleet, &chars("k"));
    let shown = row(&mut ui, &fleet);
    assert!(shown.contains("rang ") && !shown.contains("times"), "{shown}");
    press(&mut ui, &fleet, &chars("jg"));
    assert!(!row(&mut ui, &fleet).contains("rang"));
}

#[test]
fn tasks_stand_among_the_agents() {
    let mut fleet = SampleFleet::usual();
    fleet.tasks = tasks();
    let mut ui = dashboard();
    let shown = names(&mut ui, &fleet);
    assert_eq!(shown[..6], ["shop-api", "billing", "deploy", "new-repo", "infra", "lint"], "what asks, what failed");
    assert_eq!(shown.len(), 16);
    press(&mut ui, &fleet, &chars("\t\t\t"));
    assert!(selected(&mut ui, &fleet).contains("Deploy 漢字 to production?"));
    let key = fleet.tasks.iter().find(|task| task.id == "deploy").expect("a task").key.clone();
    assert_eq!(press(&mut ui, &fleet, &chars("g")), [Request::Jump(key)]);
    press(&mut ui, &fleet, &chars("mm/agent:task !is:muted"));
    assert_eq!(names(&mut ui, &fleet), ["lint", "serve", "docs"]);
}

#[test]
fn a_task_is_run_again_only_after_a_question() {
    let mut fleet = SampleFleet::usual();
    fleet.tasks = tasks();
    let mut ui = dashboard();
    frame(&mut ui, &fleet, 120, 40);
    press(&mut ui, &fleet, &chars("/lint\n"));
    assert_eq!(run(&mut ui, &fleet, Action::RerunTask), []);
    assert!(text(&mut ui, &fleet, 120, 40).contains("run lint again?"));
    assert_eq!(press(&mut ui, &fleet, &chars("n")), []);
    let lint = fleet.tasks.iter().find(|task| task.id == "lint").expect("a task");
    let again = Request::RerunTask { key: lint.key.clone(), window: lint.window };
    run(&mut ui, &fleet, Action::RerunTask);
    frame(&mut ui, &fleet, 120, 40);
    fleet.now = fleet.now + Span::from_secs(1);
    assert_eq!(press(&mut ui, &fleet, &chars("y")), [again]);
}

/// Tab completes a field or its value; what is wrong is shown whole, with what was meant.
#[test]
fn a_filter_is_completed_and_a_word_that_is_wrong_is_named() {
    let fleet = SampleFleet::usual();
    let typed = |keys: &str, width: u16| {
        let mut ui = dashboard();
        text(&mut ui, &fleet, width, 30);
        press(&mut ui, &fleet, &chars("/"));
        press(&mut ui, &fleet, &chars(keys));
        press(&mut ui, &fleet, &[KeyCode::Tab]);
        text(&mut ui, &fleet, width, 30)
    };
    assert!(typed("is:wa", 120).contains("/ is:waiting"));
    assert!(typed("!is:wor", 120).contains("/ !is:working "));
    assert!(typed("docs sess", 120).contains("/ docs session:"));
    let agents = typed("agent:co", 120);
    assert!(agents.contains("/ agent:co") && agents.contains("agent:codex  agent:copilot"), "{agents}");
    assert!(typed("agent:gem", 120).contains("/ agent:gemini "));
    assert!(typed("wai", 120).contains("/ waited:") && typed("waited:", 120).contains("waited:>5m"));
    assert!(typed("agent:zzz", 120).contains("nothing begins with that"));
    let wrong = typed("contxt:<20%", 60);
    assert!(wrong.contains("no field contxt\n") && wrong.contains("did you mean context:"), "{wrong}");
    let wrong = typed("is:wrking", 60);
    assert!(wrong.contains("no state wrking") && wrong.contains("did you mean is:working"), "{wrong}");
    let wrong = typed("agent:cluade", 60);
    assert!(wrong.contains("no agent cluade") && wrong.contains("did you mean agent:claude?"), "{wrong}");
    let wrong = typed("session:zzz", 60);
    assert!(wrong.contains("no session zzz") && wrong.contains("there is session:"), "{wrong}");
    for (asked, wanted) in [
        ("cost:>abc", "cost: takes an amount of dollars, such as cost:>5"),
        ("tokens:many", "tokens: takes a number of tokens, such as tokens:>100k"),
        ("context:<low", "context: takes a percentage that is left"),
        ("plan:one/3", "plan: takes a percentage that is done or steps"),
        ("age:>5", "age: takes how long it has been as it is, such as age:<1h"),
        ("waited:soon", "waited: takes how long it has waited for you, such as waited:>5m"),
    ] {
        let mut ui = dashboard();
        text(&mut ui, &fleet, 100, 30);
        press(&mut ui, &fleet, &chars("/"));
        press(&mut ui, &fleet, &chars(asked));
        let wrong = text(&mut ui, &fleet, 100, 30);
        assert!(
            (wrong.contains("no number ") || wrong.contains("no time ")) && wrong.contains(wanted),
            "{asked}: {wrong}"
        );
        press(&mut ui, &fleet, &[KeyCode::Enter]);
        let shown = text(&mut ui, &fleet, 100, 30);
        assert!(shown.contains(&format!("/ {asked}")) && shown.contains("enter keep"), "it is not kept: {shown}");
    }
    // What nobody has may still come: it is kept, and said.
    let mut ui = dashboard();
    text(&mut ui, &fleet, 100, 30);
    press(&mut ui, &fleet, &chars("/agent:cluade"));
    press(&mut ui, &fleet, &[KeyCode::Enter]);
    let shown = text(&mut ui, &fleet, 100, 30);
    assert!(shown.contains("did you mean agent:claude?") && !shown.contains("enter keep"), "{shown}");
    // A word that is like none of the fields is answered with all of them, in as many lines as that takes.
    let wrong = typed("is:zzz", 60);
    assert!(wrong.contains("needs-you") && wrong.contains("exited"), "{wrong}");
}

#[test]
fn hints_name_commands_as_they_are_to_be_typed() {
    let mut fleet = SampleFleet::empty();
    fleet.servers = vec![crate::support::sample_fleet::server(ServerId::default(), ServerHealth::Up, 100, 0)];
    let mut ui = dashboard();
    ui.complete_hints(|hint| hint.replace("`fleetwatch", "`fleetwatch -L work"));
    assert!(text(&mut ui, &fleet, 120, 40).contains("`fleetwatch -L work demo`"));
    ui.notify(Status::Ready, "`fleetwatch tasks prune` removes them".to_owned(), fleet.now);
    assert!(text(&mut ui, &fleet, 120, 40).contains("`fleetwatch -L work tasks prune` removes them"));
}
