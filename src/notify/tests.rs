use std::sync::Arc;

use super::*;
use crate::fleet::{self, Capture, Declared, Fleet, Input, PaneId, PaneReport, PollResult, ServerReport};
use crate::pattern::Pattern;
use crate::profile::{ProfileSet, Program};
use crate::screen::PaneFacts;
use crate::state::{Attention, Phase, State, UiContext};
use crate::status::Status;
use crate::task::Happening;

/// A fleet that a test changes, and what the notifier says of it.
struct NotifyScene {
    notifier: Notifier,
    fleet: Fleet,
    /// What the fleet is taken to show.
    terminals: Vec<Terminal>,
    now: Timestamp,
    looks_at: Option<TerminalKey>,
    muted: HashSet<TerminalKey>,
    leads: bool,
}

fn rule(on: &[Occasion], by: &[Means]) -> NotifyRule {
    NotifyRule {
        on: on.iter().copied().collect(),
        terminal: None,
        by: by.iter().copied().collect(),
        command: Vec::new(),
        command_deadline: Span::from_secs(1),
        command_environment: Vec::new(),
        webhook: None,
        quiet_hours: None,
        minimum_distance: Span::from_secs(5),
    }
}

fn all_by_bell() -> NotifyRule {
    rule(Occasion::ALL, &[Means::Bell])
}

fn key(pane: u32) -> TerminalKey {
    TerminalKey { server: ServerId::default(), pane: PaneId(pane), pid: 1, instance: Default::default() }
}

impl NotifyScene {
    /// Terminals `a`, `b` and `c`, which are ready and were polled once.
    fn new(rules: Vec<NotifyRule>) -> Self {
        let mut scene = Self::unseen(rules);
        scene.pass(1.0);
        scene
    }

    fn unseen(rules: Vec<NotifyRule>) -> Self {
        let now = Timestamp::from_millis(1_700_000_000_000);
        let pane = |(pane, name): (u32, &str)| PaneReport {
            key: key(pane),
            place: Arc::default(),
            cwd: None,
            facts: PaneFacts::default(),
            program: Program::agent("claude", None),
            capture: Capture::Unchanged,
            declared: Some(Declared { name: Some(name.to_owned()), ..Declared::default() }),
            record: None,
            git: None,
            agent_process: None,
            printed_until: None,
        };
        let mut fleet = Fleet::new(fleet::Settings::default(), Arc::new(ProfileSet::builtin()));
        let outcome = PollResult::Listed([(1, "a"), (2, "b"), (3, "c")].map(pane).into());
        fleet.handle(Input::Server(ServerReport::new(ServerId::default(), now, outcome)), now);
        let mut terminals: Vec<Terminal> = fleet.view(now).terminals.into_iter().cloned().collect();
        terminals.iter_mut().for_each(|terminal| terminal.state.turn.phase = Phase::Ready);
        let notifier = Notifier::new(rules, TimeZone::UTC);
        Self { notifier, fleet, terminals, now, looks_at: None, muted: HashSet::new(), leads: true }
    }

    fn state(&mut self, pane: u32) -> &mut State {
        &mut self.terminals[pane as usize - 1].state
    }

    fn dialog(&mut self, pane: u32, text: &str) {
        let state = self.state(pane);
        state.attention = Attention::Approval;
        state.turn.phase = Phase::Unknown;
        state.assessment.operator_excerpt = Some(text.to_owned());
        state.activity = Some(text.lines().next().unwrap_or_default().to_owned());
    }

    fn finished(&mut self, pane: u32) {
        let now = self.now;
        let state = self.state(pane);
        (state.attention, state.turn.phase, state.last_turn.at) = (Attention::Finished, Phase::Ready, Some(now));
        state.since_exact = true;
        state.activity = Some("All done".to_owned());
    }

    fn calm(&mut self, pane: u32, phase: Phase) {
        let state = self.state(pane);
        (state.attention, state.turn.phase) = (Attention::None, phase);
        state.assessment.operator_excerpt = None;
    }

    /// Lets time pass in tenths of a second, and gives what was announced in it.
    fn pass(&mut self, seconds: f64) -> Vec<String> {
        let end = self.now + Span::from_millis((seconds * 1000.0) as u64);
        let mut reported = Vec::new();
        while self.now < end {
            self.now = self.now + Span::from_millis(100);
            let view = View { terminals: self.terminals.iter().collect(), ..self.fleet.view(self.now) };
            let is_muted = |terminal: &Terminal| self.muted.contains(&terminal.key);
            let looks_at = self.looks_at.as_ref();
            let operator = Suppression { looks_at, is_muted: &is_muted, is_task_muted: &|_| false };
            let leads = |_: &ServerId| self.leads;
            self.notifier.observe(&view, operator, &leads);
            reported
                .extend(std::iter::from_fn(|| self.notifier.poll(self.now, &leads)).map(|delivery| delivery.text()));
        }
        reported
    }
}

#[test]
fn every_kind_of_attention_is_an_occasion_by_its_word() {
    let without: Vec<_> = Attention::ALL.iter().filter(|attention| Occasion::of(**attention).is_none()).collect();
    assert_eq!(without, [&Attention::None]);
}

#[test]
fn a_task_that_ended_badly_has_failed_as_well_and_is_told_once() {
    let ended = |code| Happening::Exited { code, bells: 0 };
    let is_told = |on: &[Occasion], happening: &Happening| {
        Occasion::of_task(happening).is_among(&on.iter().copied().collect(), happening.is_failure())
    };
    let (failed, exited) = ([Occasion::Failed], [Occasion::Exited]);
    for code in [Some(3), Some(137), None] {
        assert!(is_told(&failed, &ended(code)) && is_told(&exited, &ended(code)), "{code:?}");
    }
    assert!(!is_told(&failed, &ended(Some(0))) && is_told(&exited, &ended(Some(0))));
    for happening in [Happening::Started, Happening::Notify { bells: 1 }, Happening::Disappeared { reason: None }] {
        assert!(!is_told(&failed, &happening), "{happening:?}");
    }
    assert!(!is_told(&[Occasion::Finished], &ended(Some(3))));
}

#[test]
fn a_turn_that_its_accounts_limit_ended_needs_the_operator_and_has_failed() {
    let limited = |on: &[Occasion], attention: Attention, phase: Phase| {
        let mut scene = NotifyScene::new(vec![rule(on, &[Means::Bell])]);
        let now = scene.now;
        let state = scene.state(1);
        state.diagnostics.availability = crate::state::Availability::Available;
        (state.attention, state.turn.phase, state.last_turn.at) = (attention, phase, Some(now));
        state.assessment.ui_context = UiContext::Limit;
        (Status::of(state), scene.pass(30.0).len())
    };
    for (on, told) in [(Occasion::Limit, 1), (Occasion::Question, 1), (Occasion::Failed, 1), (Occasion::Finished, 0)] {
        assert_eq!(limited(&[on], Attention::Failed, Phase::Ready), (Status::Limit, told), "{on:?}");
    }
    assert_eq!(limited(&[Occasion::Failed], Attention::Question, Phase::Unknown), (Status::Limit, 0));
    assert_eq!(limited(&[Occasion::Limit], Attention::None, Phase::Ready), (Status::Limit, 0), "it was seen");
    assert_eq!(limited(&[Occasion::Limit], Attention::None, Phase::Active), (Status::Working, 0));
    assert!(Status::Limit.needs_operator());
}

#[test]
fn what_the_first_answer_shows_is_no_news_although_the_server_failed_before() {
    let mut scene = NotifyScene::unseen(vec![all_by_bell()]);
    let terminals = std::mem::take(&mut scene.terminals);
    scene.fleet = Fleet::new(fleet::Settings::default(), Arc::new(ProfileSet::builtin()));
    let at = scene.now;
    let report = |outcome| Input::Server(ServerReport::new(ServerId::default(), at, outcome));
    let problem = crate::state::Problem { kind: "timeout".to_owned(), message: "no answer".to_owned() };
    scene.fleet.handle(report(PollResult::Failed(problem)), scene.now);
    scene.pass(3.0);
    scene.terminals = terminals;
    scene.dialog(1, "Run make?");
    scene.fleet.handle(report(PollResult::Listed(Vec::new())), scene.now);
    assert_eq!(scene.pass(30.0), [""; 0]);
}

#[test]
fn what_a_first_poll_finds_bit_by_bit_is_no_news() {
    let mut scene = NotifyScene::unseen(vec![all_by_bell()]);
    let at = scene.now;
    let listed = |fleet: &Fleet, capture: Capture| {
        let pane = |terminal: &Terminal| PaneReport {
            key: terminal.key.clone(),
            place: Arc::default(),
            cwd: None,
            facts: PaneFacts::default(),
            program: Program::agent("claude", None),
            capture: capture.clone(),
            declared: None,
            record: None,
            git: None,
            agent_process: None,
            printed_until: None,
        };
        let outcome = PollResult::Listed(fleet.view(at).terminals.into_iter().map(pane).collect());
        Input::Server(ServerReport::new(ServerId::default(), at, outcome))
    };
    let found = listed(&scene.fleet, Capture::Awaited);
    let read = listed(&scene.fleet, Capture::Unchanged);
    scene.fleet = Fleet::new(fleet::Settings::default(), Arc::new(ProfileSet::builtin()));
    scene.fleet.handle(found, at);
    scene.pass(2.0);
    scene.dialog(1, "Run make?");
    assert_eq!(scene.pass(3.0), [""; 0]);
    scene.finished(2);
    scene.fleet.handle(read, at);
    assert_eq!(scene.pass(30.0), ["b has finished: All done"; 0]);
    scene.dialog(1, "Run make test?");
    assert_eq!(scene.pass(3.0), ["a asks for approval: Run make test?"]);
}

#[test]
fn what_stands_for_a_moment_is_announced_once() {
    let mut scene = NotifyScene::new(vec![all_by_bell()]);
    scene.dialog(1, "Run make?\n❯ 1. Yes\n  2. No");
    assert_eq!(scene.pass(0.9), [""; 0]);
    assert_eq!(scene.pass(0.3), ["a asks for approval: Run make?"]);
    assert_eq!(scene.pass(60.0), [""; 0]);
}

#[test]
fn an_approval_is_named_by_what_it_is_asked_for() {
    let mut scene = NotifyScene::new(vec![all_by_bell()]);
    scene.dialog(1, "Bash command\n\n  rm -rf build/\u{1b}[2Jcache\n  Clear it\n\nDo you want to proceed?\n❯ 1. Yes");
    let state = scene.state(1);
    state.assessment.ui_context = UiContext::ApprovalPrompt;
    state.activity = Some("Do you want to proceed?".to_owned());
    assert_eq!(scene.pass(2.0), ["a asks for approval: rm -rf build/[2Jcache · Clear it"]);
}

#[test]
fn what_flashes_by_is_not_announced() {
    let mut scene = NotifyScene::new(vec![all_by_bell()]);
    scene.dialog(1, "Run make?");
    scene.pass(0.5);
    scene.calm(1, Phase::Active);
    assert_eq!(scene.pass(30.0), [""; 0]);
}

#[test]
fn the_same_dialog_is_the_same_however_its_mark_moves_and_whatever_covers_it() {
    let mut scene = NotifyScene::new(vec![all_by_bell()]);
    scene.dialog(1, "Run make?\n❯ 1. Yes\n  2. No");
    assert_eq!(scene.pass(2.0).len(), 1);
    scene.dialog(1, "Run make?\n  1. Yes\n❯ 2. No");
    assert_eq!(scene.pass(10.0), [""; 0]);
    scene.calm(1, Phase::Unknown);
    scene.pass(10.0);
    scene.dialog(1, "Run make?\n❯ 1. Yes\n  2. No");
    assert_eq!(scene.pass(10.0), [""; 0]);
    scene.calm(1, Phase::Active);
    scene.pass(1.0);
    scene.dialog(1, "Run make?\n❯ 1. Yes\n  2. No");
    assert_eq!(
        scene.pass(10.0),
        ["a asks for approval: Run make?"],
        "the agent worked in between: this is a new question"
    );
    scene.dialog(1, "Run make test?\n❯ 1. Yes\n  2. No");
    assert_eq!(scene.pass(10.0), ["a asks for approval: Run make test?"], "another dialog right behind the first");
}

#[test]
fn each_end_of_a_turn_is_announced() {
    let mut scene = NotifyScene::new(vec![all_by_bell()]);
    for _ in 0..2 {
        scene.finished(2);
        assert_eq!(scene.pass(10.0), ["b has finished: All done"]);
        scene.calm(2, Phase::Active);
        scene.pass(10.0);
    }
}

#[test]
fn what_was_there_from_the_start_is_no_news_but_a_new_terminal_is() {
    let mut scene = NotifyScene::unseen(vec![all_by_bell()]);
    scene.dialog(1, "Run make?");
    let late = scene.terminals.remove(2);
    assert_eq!(scene.pass(10.0), [""; 0]);
    scene.terminals.push(late);
    scene.dialog(3, "Trust it?");
    assert_eq!(scene.pass(2.0), ["c asks for approval: Trust it?"]);
}

#[test]
fn nothing_is_announced_of_what_is_muted_or_in_view() {
    let mut scene = NotifyScene::new(vec![all_by_bell()]);
    scene.muted.insert(key(1));
    scene.looks_at = Some(key(2));
    (1..=3).for_each(|pane| scene.dialog(pane, "Run make?"));
    assert_eq!(scene.pass(5.0), ["c asks for approval: Run make?"]);
    scene.muted.clear();
    scene.looks_at = None;
    assert_eq!(scene.pass(60.0), [""; 0], "what nobody wanted to know is not announced later");
}

#[test]
fn everything_can_be_muted() {
    let mut scene = NotifyScene::new(vec![all_by_bell()]);
    scene.finished(1);
    scene.pass(2.0);
    scene.finished(2);
    scene.pass(2.0);
    scene.notifier.mute(true);
    scene.finished(3);
    assert_eq!(scene.pass(60.0), [""; 0], "neither what waited nor what came");
    scene.notifier.mute(false);
    scene.finished(1);
    assert_eq!(scene.pass(2.0), ["a has finished: All done"]);
}

#[test]
fn a_rule_keeps_its_distance_and_tells_the_rest_together() {
    let mut scene = NotifyScene::new(vec![all_by_bell()]);
    scene.dialog(1, "Run make?");
    assert_eq!(scene.pass(1.5).len(), 1);
    scene.dialog(2, "Run it?");
    scene.dialog(3, "Stop it?");
    scene.pass(2.0);
    scene.calm(2, Phase::Active);
    scene.finished(1);
    assert_eq!(scene.pass(1.0), [""; 0]);
    assert_eq!(
        scene.pass(10.0),
        ["c asks for approval: Stop it?; a has finished: All done"],
        "what went in the meantime is not announced"
    );
    assert_eq!(scene.notifier.poll_timeout(), None);
}

#[test]
fn a_rule_is_about_its_terminals_and_occasions() {
    let only =
        NotifyRule { terminal: Some(Pattern::new("[bc]").unwrap()), ..rule(&[Occasion::Approval], &[Means::Bell]) };
    let mut scene = NotifyScene::new(vec![only]);
    scene.dialog(1, "Run make?");
    scene.dialog(2, "Run make?");
    scene.finished(3);
    assert_eq!(scene.pass(10.0), ["b asks for approval: Run make?"]);
}

#[test]
fn one_notice_rings_once_however_many_rules_match() {
    let command = |program: &str| NotifyRule {
        command: vec![program.to_owned()],
        ..rule(Occasion::ALL, &[Means::Bell, Means::Command])
    };
    let mut scene = NotifyScene::new(vec![all_by_bell(), command("one"), command("two")]);
    scene.dialog(1, "Run make?");
    let mut by = Vec::new();
    for _ in 0..20 {
        scene.now = scene.now + Span::from_millis(100);
        let view = View { terminals: scene.terminals.iter().collect(), ..scene.fleet.view(scene.now) };
        let operator = Suppression { looks_at: None, is_muted: &|_| false, is_task_muted: &|_| false };
        scene.notifier.observe(&view, operator, &|_| true);
        by.extend(std::iter::from_fn(|| scene.notifier.poll(scene.now, &|_| true)).map(|delivery| delivery.by));
    }
    let only = |means| BTreeSet::from([means]);
    assert_eq!(by, [only(Means::Bell), only(Means::Command), only(Means::Command)]);
}

#[test]
fn who_takes_over_tells_what_the_leader_has_not() {
    let reported = |scene: &mut NotifyScene| {
        let notices = scene.notifier.take_handled();
        notices.into_iter().map(|notice| notice.text).collect::<Vec<_>>()
    };
    let (mut leader, mut other) = (NotifyScene::new(vec![all_by_bell()]), NotifyScene::new(vec![all_by_bell()]));
    other.leads = false;
    leader.looks_at = Some(key(2));
    for scene in [&mut leader, &mut other] {
        scene.finished(1);
        scene.dialog(2, "Run it?");
    }
    assert_eq!(leader.pass(2.0), ["a has finished: All done"]);
    assert_eq!(other.pass(2.0), [""; 0]);
    let handled = leader.notifier.take_handled();
    assert_eq!(handled.len(), 2, "what its operator sees need not be announced either");
    handled.into_iter().for_each(|notice| other.notifier.handled(notice, other.now));
    // The leader may be a little faster.
    leader.finished(3);
    leader.pass(7.0);
    other.finished(3);
    leader.notifier.take_handled().into_iter().for_each(|notice| other.notifier.handled(notice, other.now));
    assert_eq!(other.pass(2.0), [""; 0]);
    // This one it has no time to announce.
    other.dialog(3, "Stop it?");
    other.pass(2.0);
    other.leads = true;
    assert_eq!(other.pass(1.0), ["c asks for approval: Stop it?"]);
    assert_eq!(reported(&mut other), ["c asks for approval: Stop it?"]);
    // What happens while another one leads for long, or was known before this one followed, is no news.
    other.leads = false;
    other.dialog(1, "Run make?");
    other.pass(12.0);
    other.dialog(2, "Run cargo?");
    other.notifier.follow(&ServerId::default());
    other.pass(2.0);
    other.leads = true;
    assert_eq!(other.pass(5.0), [""; 0]);
}

#[test]
fn quiet_hours_are_silent_also_over_midnight() {
    let at = |time: &str| {
        let timestamp: jiff::Timestamp = format!("2026-11-21T{time}:00Z").parse().unwrap();
        Timestamp::from_millis(timestamp.as_millisecond())
    };
    let hold = |hours: &str, time: &str| QuietHours::parse(hours).unwrap().hold(at(time), &TimeZone::UTC);
    assert!(hold("22:00-07:00", "22:00") && hold("22:00-07:00", "03:10") && !hold("22:00-07:00", "07:00"));
    assert!(hold("12:00-13:30", "13:29") && !hold("12:00-13:30", "11:59") && !hold("12:00-13:30", "13:30"));
    let east = TimeZone::fixed(jiff::tz::offset(3));
    assert!(QuietHours::parse("22:00-7:00").unwrap().hold(at("20:00"), &east));
    for wrong in ["", "22:00", "22-7", "24:00-07:00", "22:60-07:00", "22:00-22:00", "a:b-c:d", "+1:00-02:00"] {
        assert_eq!(QuietHours::parse(wrong), None, "{wrong}");
    }
}

#[test]
fn a_notice_is_one_harmless_line_and_json_for_programs() {
    let mut scene = NotifyScene::new(vec![all_by_bell()]);
    let evil = format!("Run\u{1b}]9;x\u{7}\u{9c}\n\tthat? {}", "long ".repeat(100));
    scene.dialog(1, &evil);
    scene.state(1).activity = Some(evil);
    let mut reported = scene.pass(2.0);
    let text = reported.remove(0);
    assert!(text.starts_with("a asks for approval: Run]9;x that? long") && text.ends_with('…'), "{text}");
    assert!(text.chars().count() <= 161 && !text.chars().any(char::is_control), "{text}");
}
