//! Every view and popup in every theme, at the sizes that people have. A row of the table below is a view: its name, the
//! sizes beside which it is drawn, and how one gets there from the table.

use std::path::Path;

use fleetwatch::config::Config;
use fleetwatch::fleet::{DeclaredBy, ServerHealth, ServerId, ServerView, SessionView, Socket};
use fleetwatch::follow_up::MessageEvent;
use fleetwatch::record::{HistoryError, Intent};
use fleetwatch::record::{IntentId, IntentState};
use fleetwatch::state::{Problem, Stale};
use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};

use super::sheet::sheet;
use super::*;
use crate::support::sample_fleet::server;

/// What is compared with what was accepted: the frames at some sizes, or the box on top alone.
#[derive(Clone, Copy)]
enum Compared {
    Frames(&'static [(u16, u16)]),
    Box,
}

const BOTH: &[(u16, u16)] = &[(80, 24), (160, 45)];
const NARROW: &[(u16, u16)] = &[(80, 24)];
const WIDE: &[(u16, u16)] = &[(160, 45)];
/// What other tests tell by its rows is only drawn in every look.
const NONE: &[(u16, u16)] = &[];

/// What leads to a view.
enum Step {
    /// Keys: characters, and names in angle brackets.
    Keys(&'static str),
    /// Something that happens.
    Event(fn(&mut Ui, &mut SampleFleet)),
}

use Step::{Event as Happens, Keys};

macro_rules! views {
    ($($name:ident $compared:expr, $fleet:expr, [$($step:expr),*];)+) => {
        $(#[test] fn $name() { look(stringify!($name), $compared, $fleet, &[$($step),*]); })+
    };
}

views! {
    // Nothing to show.
    empty_asking        Compared::Frames(NONE), SampleFleet::empty, [];
    empty_no_agents     Compared::Frames(NARROW), SampleFleet::empty, [Happens(|_, fleet| fleet.servers = health(ServerHealth::Up))];
    empty_no_server     Compared::Frames(NONE), SampleFleet::empty, [Happens(|_, fleet| fleet.servers = health(ServerHealth::NoServer(problem("no_server", "no tmux server is running on work"))))];
    empty_no_tmux       Compared::Frames(NONE), SampleFleet::empty, [Happens(|_, fleet| fleet.servers = health(ServerHealth::Failed(problem("tmux_missing", "tmux is not installed"))))];
    empty_old_tmux      Compared::Frames(NARROW), SampleFleet::empty, [Happens(|_, fleet| fleet.servers = health(ServerHealth::Failed(problem("tmux_too_old", "tmux 2.8 is too old"))))];
    empty_timeout       Compared::Frames(NONE), SampleFleet::empty, [Happens(|_, fleet| fleet.servers = health(ServerHealth::Failed(problem("timeout", "tmux on work did not answer within 2000 ms"))))];

    // The table, its layouts, and what changes its rows.
    fleet               Compared::Frames(&[(80, 24), (120, 40), (160, 45)]), SampleFleet::usual, [];
    fleet_small         Compared::Frames(&[(40, 12), (20, 5)]), SampleFleet::usual, [];
    many                Compared::Frames(NARROW), || SampleFleet::of(200), [];
    many_end            Compared::Frames(NONE), || SampleFleet::of(200), [Keys("<end>")];
    layout_beside       Compared::Frames(WIDE), SampleFleet::usual, [Happens(|ui, _| lay_out(ui, "beside"))];
    grid                Compared::Frames(BOTH), SampleFleet::usual, [Happens(in_grid)];
    grid_moved          Compared::Frames(NARROW), with_tasks, [Happens(in_grid), Keys("<right>"), Keys("jmm"), Happens(queue)];
    grid_many           Compared::Frames(WIDE), || SampleFleet::of(30), [Happens(in_grid), Keys("<end>")];
    grid_prompt         Compared::Frames(NARROW), SampleFleet::usual, [Happens(in_grid), Keys("<end>"), Keys("k"), Keys("<right>"), Keys("i")];
    arranging           Compared::Box, SampleFleet::usual, [Keys("s")];
    grouped             Compared::Frames(WIDE), labelled, [Keys("sgroup by label<enter>")];
    folded              Compared::Frames(NARROW), labelled, [Keys("sgroup by label<enter> <down><left>")];
    filter_typing       Compared::Frames(NARROW), SampleFleet::usual, [Keys("/is:bl")];
    filter_kept         Compared::Frames(NONE), SampleFleet::usual, [Keys("/is:bl<enter>")];
    filter_none         Compared::Frames(NARROW), SampleFleet::usual, [Keys("/is:bz")];
    flags               Compared::Frames(WIDE), pinned, [Keys("<home>jjmm<home>  <home>"), Happens(|_, fleet| fleet.now = NOW + Span::from_secs(60))];
    tasks               Compared::Frames(BOTH), with_tasks, [Keys("<tab><tab><tab>")];
    notices_muted       Compared::Frames(NONE), SampleFleet::usual, [Happens(mute_all)];
    trouble             Compared::Frames(BOTH), SampleFleet::usual, [Happens(break_down)];
    ended_server        Compared::Frames(WIDE), with_tasks, [Happens(|_, fleet| end_servers(fleet, 1))];
    ended_servers       Compared::Frames(NARROW), with_tasks, [Happens(|_, fleet| end_servers(fleet, 9)), Keys("<end>")];
    toasts              Compared::Frames(BOTH), SampleFleet::usual, [Happens(say_things)];

    columns             Compared::Box, SampleFleet::usual, [Keys(":columns<enter>")];
    columns_chosen      Compared::Frames(WIDE), SampleFleet::usual, [Keys(":columns<enter>j jj K<end>kk <end>kJJJ")];

    // What lies over it.
    help                Compared::Box, SampleFleet::usual, [Keys("?")];
    help_end            Compared::Frames(NONE), SampleFleet::usual, [Keys("?"), Keys("<end>")];
    help_search         Compared::Box, SampleFleet::usual, [Keys("?"), Keys("/mut"), Keys("<enter>]")];
    palette             Compared::Box, SampleFleet::usual, [Keys(":terminal up")];
    palette_none        Compared::Frames(NONE), SampleFleet::usual, [Keys(":zzzz")];
    copy                Compared::Box, SampleFleet::usual, [Happens(|ui, fleet| drop(run(ui, fleet, Action::Copy)))];
    explanation         Compared::Box, SampleFleet::usual, [Happens(explain)];
    confirm_kill        Compared::Box, with_tasks, [Keys("/lint<enter>"), Happens(|ui, fleet| drop(run(ui, fleet, Action::End)))];
    confirm_rerun       Compared::Box, with_tasks, [Keys("/lint<enter>"), Happens(|ui, fleet| drop(run(ui, fleet, Action::RerunTask)))];
    confirm_prune       Compared::Box, with_tasks, [Happens(|ui, fleet| drop(run(ui, fleet, Action::PruneTasks)))];
    task_sessions       Compared::Box, with_sessions, [Happens(open_sessions)];
    task_sessions_ask   Compared::Box, with_sessions, [Happens(open_sessions), Keys("shop<enter>")];
    task_sessions_undo  Compared::Frames(NONE), with_sessions, [Happens(open_sessions), Keys("logs<enter>")];
    task_sessions_no    Compared::Frames(NONE), with_sessions, [Happens(open_sessions), Keys("builds<enter>")];
    servers             Compared::Box, SampleFleet::usual, [Happens(break_down), Happens(|ui, fleet| drop(run(ui, fleet, Action::Servers)))];
    follow_ups          Compared::Box, SampleFleet::usual, [Happens(open_messages), Happens(open_follow_ups)];
    follow_ups_choice   Compared::Box, SampleFleet::usual, [Happens(open_messages), Happens(open_follow_ups), Keys("<enter>")];
    follow_ups_ask      Compared::Box, SampleFleet::usual, [Happens(open_messages), Happens(open_follow_ups), Keys("<enter><enter>")];
    follow_ups_none     Compared::Frames(NONE), SampleFleet::usual, [Happens(open_follow_ups)];
    follow_ups_hint     Compared::Frames(NONE), SampleFleet::usual, [Happens(open_messages), Keys("<end>")];

    // Acting on terminals.
    dialog              Compared::Frames(&[(80, 24), (160, 45)]), SampleFleet::usual, [Keys("<enter>")];
    answer              Compared::Box, SampleFleet::usual, [Keys("<enter>"), Keys("2")];
    dialogs_at_once     Compared::Box, SampleFleet::usual, [Keys("  <enter>")];
    dialogs_one_option  Compared::Box, SampleFleet::usual, [Keys("  <enter>"), Keys("3")];
    dialog_ticks        Compared::Box, || asking("Which ones?\n❯ 1. [ ] Tests\n  2. [x] Docs"), [Keys("<enter>")];
    dialog_ticked       Compared::Box, || asking("Which ones?\n❯ 1. [ ] Tests\n  2. [x] Docs\n     Submit"), [Keys("<enter>"), Keys(" ")];
    dialog_text         Compared::Box, || asking("Which one?\n❯ 1. Tests\n  2. Type something."), [Keys("<enter>"), Keys("2"), Keys("<enter>"), Keys("The docs first")];
    dialog_no_options   Compared::Box, || asking("Type the name of the branch:"), [Keys("<enter>")];
    composer            Compared::Frames(BOTH), SampleFleet::usual, [Keys("jjjjjji"), Happens(paste)];
    composer_obstacle   Compared::Frames(NARROW), SampleFleet::usual, [Keys("i"), Happens(paste)];
    composer_earlier    Compared::Frames(NONE), SampleFleet::usual, [Keys("jjjjjji"), Happens(prompts), Keys("<up><up>")];
    recall              Compared::Box, SampleFleet::usual, [Keys("jjjjjji"), Happens(prompts), Keys("<ctrl-r>o")];
    template            Compared::Box, SampleFleet::usual, [Keys("jjjjjji<ctrl-t>")];
    drill_queued        Compared::Frames(NONE), drill::fleet, [Happens(queue_two), Happens(drilled)];
    queued              Compared::Frames(NONE), SampleFleet::usual, [Happens(queue), Keys("<down><down><down><down><down><down><down>")];
    broadcast           Compared::Frames(NARROW), SampleFleet::usual, [Keys(MARK_FOUR), Keys("Ball")];
    broadcast_many      Compared::Frames(NONE), SampleFleet::usual, [Happens(|ui, fleet| drop(run(ui, fleet, Action::MarkAll))), Keys("Ball")];
    broadcast_question  Compared::Box, SampleFleet::usual, [Keys(MARK_FOUR), Keys("Ball<enter>")];
    broadcast_outcomes  Compared::Box, SampleFleet::usual, [Keys(MARK_FOUR), Keys("Ball<enter>"), Happens(a_second_later), Keys("y"), Happens(outcomes)];
    interrupt           Compared::Box, SampleFleet::usual, [Keys("jjjjjjjx")];
    interrupt_ready     Compared::Frames(NONE), SampleFleet::usual, [Keys("<end>kkx")];
    raw_question        Compared::Frames(NARROW), SampleFleet::usual, [Keys("r")];
    raw                 Compared::Frames(NARROW), SampleFleet::usual, [Keys("r"), Happens(a_second_later), Keys("y"), Keys("q?<esc><ctrl-c>")];
    raw_task            Compared::Frames(NONE), with_tasks, [Keys("/agent:task is:bl<enter>r"), Happens(a_second_later), Keys("y"), Keys("y s<enter>")];
    answer_task         Compared::Frames(NARROW), with_tasks, [Keys("/agent:task is:bl<enter><enter>"), Keys("y s")];

    // One terminal.
    drill_list          Compared::Frames(BOTH), drill::fleet, [Happens(drilled)];
    drill_screen        Compared::Frames(WIDE), drill::fleet, [Happens(drilled), Keys("jjl"), Happens(give_screen)];
    drill_transcript    Compared::Frames(BOTH), drill::fleet, [Happens(drilled), Keys("jjlv"), Happens(give_transcript)];
    drill_search        Compared::Frames(NARROW), drill::fleet, [Happens(drilled), Keys("jj/cache"), Happens(give_transcript), Keys("<enter>")];
    drill_diff          Compared::Frames(WIDE), drill::fleet, [Happens(drilled), Keys("lvv"), Happens(give_diff)];
    drill_why           Compared::Frames(WIDE), drill::fleet, [Happens(drilled), Keys("jjlvvv")];
    drill_facts         Compared::Frames(WIDE), drill::fleet, [Happens(drilled), Keys("lvvvv")];
    drill_memory_only   Compared::Frames(NARROW), drill::fleet, [Happens(no_history), Keys("j")];
    drill_locked        Compared::Frames(NONE), drill::fleet, [Happens(locked_history)];
    drill_task          Compared::Frames(WIDE), with_tasks, [Keys("<tab><tab><tab>"), Happens(no_history)];
    drill_task_why      Compared::Frames(NONE), with_tasks, [Keys("/deploy<enter>"), Happens(no_history), Keys("e")];
    drill_ended_why     Compared::Frames(NONE), with_tasks, [Keys("/lint<enter>"), Happens(no_history), Keys("e")];
    today               Compared::Frames(BOTH), SampleFleet::usual, [Happens(|ui, fleet| today::open(ui, fleet, today::usual))];
    today_labels        Compared::Frames(NONE), SampleFleet::usual, [Happens(|ui, fleet| today::open_by_label(ui, fleet))];
    today_alone         Compared::Frames(NONE), SampleFleet::usual, [Happens(|ui, fleet| today::open(ui, fleet, today::alone))];
    today_many          Compared::Frames(WIDE), SampleFleet::usual, [Happens(|ui, fleet| today::open(ui, fleet, today::many))];
    today_empty         Compared::Frames(NARROW), SampleFleet::usual, [Happens(|ui, fleet| today::open(ui, fleet, today::nobody))];
    today_off           Compared::Frames(NONE), SampleFleet::usual, [Happens(|ui, fleet| today::open(ui, fleet, today::off))];
    today_small         Compared::Frames(&[(40, 12)]), SampleFleet::usual, [Happens(|ui, fleet| today::open(ui, fleet, today::usual))];
}

/// Marks the approval, the finished one, the working one and the one that is gone.
const MARK_FOUR: &str = " jjjj j jjj ";

/// Draws a view in every look, at the usual sizes and those that are compared with what was accepted.
fn look(name: &str, compared: Compared, fleet: fn() -> SampleFleet, steps: &[Step]) {
    let frames = if let Compared::Frames(sizes) = compared { sizes } else { NONE };
    let beside = BOTH.iter().filter(|size| !frames.contains(size));
    for &(width, height) in frames.iter().chain(beside) {
        let (mut ui, mut fleet) = (Ui::new(options()), fleet());
        frame(&mut ui, &fleet, width, height);
        for step in steps {
            match step {
                Keys(keys) => type_keys(&mut ui, &fleet, keys),
                Happens(event) => event(&mut ui, &mut fleet),
            }
            frame(&mut ui, &fleet, width, height);
        }
        let place = place_of_box(&frame(&mut ui, &fleet, width, height));
        let is_box = matches!(compared, Compared::Box) && (width, height) == NARROW[0];
        let sheet = sheet(&options(), |options| {
            ui.set_options(options);
            let drawn = frame(&mut ui, &fleet, width, height);
            match place.filter(|_| is_box) {
                Some(place) => cut(&drawn, place),
                None => drawn,
            }
        });
        let name = if is_box { name.to_owned() } else { format!("{name}_{width}x{height}") };
        if is_box || frames.contains(&(width, height)) {
            insta::with_settings!({prepend_module_to_snapshot => false}, {
                insta::assert_snapshot!(name, sheet);
            });
        }
    }
}

/// Where the box is that lies on top of a frame.
fn place_of_box(drawn: &Buffer) -> Option<Rect> {
    let corners = |glyph: &str| drawn.area.positions().filter(|at| drawn[*at].symbol() == glyph).collect::<Vec<_>>();
    let (first, last) = (corners("┌").first().copied()?, corners("┘").last().copied()?);
    Some(Rect::new(first.x, first.y, last.x + 1 - first.x, last.y + 1 - first.y))
}

fn cut(drawn: &Buffer, place: Rect) -> Buffer {
    let mut cut = Buffer::empty(Rect::new(0, 0, place.width, place.height));
    for at in cut.area.positions() {
        cut[at] = drawn[(place.x + at.x, place.y + at.y)].clone();
    }
    cut
}

pub fn options() -> UiOptions {
    let config = "[[template]]\nname = \"review\"\ntext = \"Review {cwd} with {agent}\"\n\
                  [[template]]\nname = \"tests\"\ntext = \"Run the tests.\\nThen say which ones fail.\"\n";
    let config = Config::parse(config, Path::new("t")).expect("a configuration");
    UiOptions { templates: config.templates, ..UiOptions::default() }
}

/// Presses keys: characters as they are, others by their names in angle brackets.
fn type_keys(ui: &mut Ui, fleet: &SampleFleet, keys: &str) {
    let mut rest = keys;
    while let Some(first) = rest.chars().next() {
        let (key, after) = match rest.strip_prefix('<').and_then(|rest| rest.split_once('>')) {
            Some((name, after)) => (named(name), after),
            None => (KeyEvent::new(KeyCode::Char(first), shift(first)), &rest[first.len_utf8()..]),
        };
        // As in `press`; and what is typed into a terminal arrives.
        ui.handle(&Event::FocusGained, &fleet.view());
        for request in ui.handle(&Event::Key(key), &fleet.view()) {
            if let Request::Perform(operation) = request
                && matches!(operation.act, Act::Keys { .. })
            {
                ui.ended(&operation, &Outcome::Accepted(None), &fleet.view());
            }
        }
        rest = after;
    }
}

fn shift(c: char) -> KeyModifiers {
    if c.is_uppercase() { KeyModifiers::SHIFT } else { KeyModifiers::NONE }
}

fn named(name: &str) -> KeyEvent {
    let (modifiers, name) = match name.split_once('-') {
        Some(("ctrl", name)) => (KeyModifiers::CONTROL, name),
        Some(("alt", name)) => (KeyModifiers::ALT, name),
        _ => (KeyModifiers::NONE, name),
    };
    let code = match name {
        "enter" => KeyCode::Enter,
        "esc" => KeyCode::Esc,
        "tab" => KeyCode::Tab,
        "up" => KeyCode::Up,
        "down" => KeyCode::Down,
        "left" => KeyCode::Left,
        "right" => KeyCode::Right,
        "home" => KeyCode::Home,
        "end" => KeyCode::End,
        "pagedown" => KeyCode::PageDown,
        one if one.chars().count() == 1 => KeyCode::Char(one.chars().next().unwrap_or_default()),
        other => panic!("no key is called {other}"),
    };
    KeyEvent::new(code, modifiers)
}

fn health(health: ServerHealth) -> Vec<ServerView> {
    vec![server(ServerId { host: None, socket: Socket::Name("work".into()) }, health, 100, 0)]
}

fn problem(kind: &str, message: &str) -> Problem {
    Problem { kind: kind.into(), message: message.into() }
}

/// Two of the usual terminals have a label.
fn labelled() -> SampleFleet {
    let mut fleet = SampleFleet::usual();
    for terminal in [3, 8] {
        fleet.terminals[terminal].declared.label = Some("prod".into());
    }
    fleet
}

fn pinned() -> SampleFleet {
    let mut fleet = SampleFleet::usual();
    fleet.terminals[9].declared.pinned = true;
    fleet
}

pub fn with_sessions() -> SampleFleet {
    let session = |name: &str, windows, declared_by| {
        let server = ServerId { host: None, socket: Socket::Name("work".into()) };
        SessionView { server, name: name.to_owned(), windows, declared_by }
    };
    let sessions = vec![
        session("shop-api", 1, None),
        session("builds", 4, Some(DeclaredBy::Configuration)),
        session("logs", 2, Some(DeclaredBy::Operator)),
        session("tasks", 12, Some(DeclaredBy::Run)),
    ];
    SampleFleet { sessions, ..with_tasks() }
}

fn with_tasks() -> SampleFleet {
    SampleFleet { tasks: super::tasks(), ..SampleFleet::usual() }
}

/// The first terminal shows another dialog.
fn asking(dialog: &str) -> SampleFleet {
    let mut fleet = SampleFleet::usual();
    acting::ask(&mut fleet, 0, dialog);
    fleet
}

/// The first servers end.
fn end_servers(fleet: &mut SampleFleet, count: usize) {
    let at = NOW - Span::from_secs(90);
    let mut ended = Vec::new();
    for server in fleet.servers.iter_mut().take(count) {
        server.health = ServerHealth::NoServer(problem("no_server", "no tmux server is running on work"));
        server.ended_at = Some(at);
        ended.push(server.id.clone());
    }
    for terminal in fleet.terminals.iter_mut().filter(|terminal| ended.contains(&terminal.key.server)) {
        let state = &mut terminal.state;
        let stale = Stale::new(at, state.surface, state.turn.phase, &state.assessment);
        state.diagnostics.availability = Availability::Unavailable;
        state.activity = Some("its tmux server ended".to_owned());
        (state.stale, state.attention) = (Some(stale), Attention::Gone);
        (state.since, state.turn.since, state.turn.phase) = (at, at, Phase::Unknown);
    }
    let tasks = std::mem::take(&mut fleet.tasks).into_iter();
    fleet.tasks = tasks.map(|it| if ended.contains(&it.key.server) { it.gone_with_server(at) } else { it }).collect();
}

/// A server and the history fail.
fn break_down(ui: &mut Ui, fleet: &mut SampleFleet) {
    fleet.servers[1].health = ServerHealth::Failed(problem("timeout", "tmux on box-2 did not answer within 2000 ms"));
    fleet.servers[1].answered_at = Some(NOW - Span::from_secs(75));
    ui.set_history_trouble(Some("locked"));
}

fn say_things(ui: &mut Ui, _fleet: &mut SampleFleet) {
    ui.notify(Status::Ready, "notices are on again".into(), NOW);
    ui.notify(Status::Finished, "docs took the prompt".into(), NOW);
    let long = "keymap.toml:12:3: the key \"g\" stands twice in the list `fleet`: it runs `jump` and `first`, and only \
                one of them can be meant (take one of them out)";
    ui.notify(Status::Failed, long.into(), NOW);
}

/// Of three messages to agents one waits, one may have arrived, and one ran out.
pub fn open_messages(ui: &mut Ui, _fleet: &mut SampleFleet) {
    let intent = |number: u32, state, detail: Option<&str>, texts: &[&str]| Intent {
        recipient: None,
        id: IntentId(number.into()),
        target: "lead".to_owned(),
        created: NOW - Span::from_secs(60 * u64::from(20 - number)),
        expires: None,
        state,
        attempted_at: None,
        text: None,
        detail: detail.map(str::to_owned),
        events: texts.iter().map(|text| MessageEvent { text: (*text).to_owned(), ..MessageEvent::default() }).collect(),
    };
    let unclear = Some("it is not on the screen, and may have scrolled away");
    ui.show_follow_ups(vec![
        intent(11, IntentState::Pending, None, &["task build (@12) exited with code 2", "docs has finished"]),
        intent(12, IntentState::Unknown, unclear, &["task build (@12) exited with code 2"]),
        intent(13, IntentState::Expired, Some("it could not be sent in time"), &["search failed: no quota"]),
    ]);
}

fn a_second_later(_: &mut Ui, fleet: &mut SampleFleet) {
    fleet.now = fleet.now + Span::from_secs(1);
}

fn mute_all(ui: &mut Ui, fleet: &mut SampleFleet) {
    run(ui, fleet, Action::MuteAll);
}

fn open_sessions(ui: &mut Ui, fleet: &mut SampleFleet) {
    run(ui, fleet, Action::TaskSessions);
}

fn open_follow_ups(ui: &mut Ui, fleet: &mut SampleFleet) {
    run(ui, fleet, Action::FollowUps);
}

fn explain(ui: &mut Ui, fleet: &mut SampleFleet) {
    let text = "profile claude 2.1\n\nregion dialog, rows 5 to 13\n\u{20} approval   row 10  Do you want to proceed?\n\
                  \u{20} option     row 11  ❯ 1. Yes\n\nso: approval_prompt, modal\n";
    ui.explained(&fleet.terminals[0].key, Some(text.into()), NOW);
}

/// Begins with a layout, whatever others look the same at this size.
fn lay_out(ui: &mut Ui, layout: &str) {
    ui.restore(serde_json::from_value(serde_json::json!({ "panes": { "layout": layout } })).expect("a layout"));
}

fn in_grid(ui: &mut Ui, _: &mut SampleFleet) {
    lay_out(ui, "grid");
}

fn queue(ui: &mut Ui, fleet: &mut SampleFleet) {
    ui.show_queue([(fleet.terminals[8].key.clone(), vec![acting::waiting("fix the header")])].into());
}

fn queue_two(ui: &mut Ui, fleet: &mut SampleFleet) {
    let texts = ["fix the header", "then run the tests\nand say which ones fail\n\nand why\nand since when"];
    ui.show_queue([(fleet.terminals[0].key.clone(), texts.map(acting::waiting).into())].into());
}

fn paste(ui: &mut Ui, fleet: &mut SampleFleet) {
    let text = "fix the header\r\n\"quoted\"; #{pane_id} 漢字 \u{1b}[31m";
    ui.handle(&Event::Paste(text.into()), &fleet.view());
}

fn prompts(ui: &mut Ui, fleet: &mut SampleFleet) {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    ui.prompts(&owned(&["own two", "own one\nsecond line"]), &owned(&["of others", "own two"]), &fleet.view());
}

/// One took the prompt, one ended before it was ready; the third still waits.
fn outcomes(ui: &mut Ui, fleet: &mut SampleFleet) {
    let (docs, shop_api) = (fleet.terminals[5].key.clone(), fleet.terminals[0].key.clone());
    sent(ui, fleet, &docs, "all", Outcome::Accepted(None));
    dropped(ui, fleet, &shop_api, "all");
}

fn drilled(ui: &mut Ui, fleet: &mut SampleFleet) {
    drill::open(ui, fleet);
}

fn give_screen(ui: &mut Ui, fleet: &mut SampleFleet) {
    drill::tell_screen(ui, fleet);
}

fn give_diff(ui: &mut Ui, fleet: &mut SampleFleet) {
    drill::tell_diff(ui, fleet);
}

fn give_transcript(ui: &mut Ui, fleet: &mut SampleFleet) {
    drill::tell_transcript(ui, fleet);
}

fn no_history(ui: &mut Ui, fleet: &mut SampleFleet) {
    drill::open_without_history(ui, fleet, &HistoryError::Off);
}

fn locked_history(ui: &mut Ui, fleet: &mut SampleFleet) {
    drill::open_without_history(ui, fleet, &HistoryError::Locked);
}
