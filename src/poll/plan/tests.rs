use super::pane::IDENTIFY_ACTIVE;
use super::*;
use crate::fleet::{Capture, PaneLocation};
use crate::screen::{Cursor, PaneFacts, Screen};
use crate::tracker::GoneReason;

/// A server as the tests play it: a clock, and panes with what they show.
struct PlayedServer {
    memory: ServerMemory,
    server_pid: u32,
    clock: i64,
    panes: Vec<(ListedPane, String)>,
    /// What runs in each pane, by its command.
    agents: &'static [&'static str],
    /// Panes that were captured in the last poll, and in how many calls.
    captured: Vec<u32>,
    calls: usize,
    scans: usize,
    /// What the last poll reported of tasks.
    tasks: task::TaskPoll,
    /// Windows that would be gone with the end of their programs.
    fleeting: Vec<u32>,
    /// Whether tmux prints no screens.
    is_blind: bool,
    replaced: Replaced,
    /// Whether tmux is to be reminded of a child that ended.
    is_reminded: bool,
}

impl PlayedServer {
    fn new(rules: &str) -> Self {
        let config = crate::config::Config::parse(rules, std::path::Path::new("test.toml")).unwrap();
        let own = Own::new(Some("/tmp/a,b,900,0".into()), Some("%9".into()), BTreeSet::from([5009]));
        let memory =
            ServerMemory::new(ServerId::default(), Ticks::default(), Arc::new(config.rules), own, Arc::default());
        let panes = Vec::new();
        let agents = &["claude"];
        Self {
            memory,
            server_pid: 900,
            clock: 1000,
            panes,
            agents,
            captured: vec![],
            calls: 0,
            scans: 0,
            tasks: task::TaskPoll::default(),
            fleeting: Vec::new(),
            is_blind: false,
            replaced: Replaced::default(),
            is_reminded: false,
        }
    }

    fn pane(&mut self, id: u32, command: &str, text: &str) -> &mut Self {
        let place =
            PaneLocation { session: format!("s{id}"), window_panes: 1, session_windows: 1, ..PaneLocation::default() };
        let facts = PaneFacts { command: command.to_owned(), ..PaneFacts::default() };
        let listed = ListedPane {
            id: PaneId(id),
            pid: 5000 + id,
            session_id: id,
            window_id: id,
            place: place.into(),
            activity: self.clock,
            columns: 80,
            rows: 2,
            cwd: None,
            facts,
            died: None,
            synchronized: false,
            input_off: false,
            marks: crate::tmux::Marks::default(),
            start_command: None,
            is_linked_first: false,
            at_home: true,
        };
        self.panes.push((listed, text.to_owned()));
        self
    }

    fn prints(&mut self, id: u32, text: &str) {
        let clock = self.clock;
        let pane = self.panes.iter_mut().find(|(pane, _)| pane.id == PaneId(id)).unwrap();
        (pane.0.activity, pane.1) = (clock, text.to_owned());
    }

    fn pane_mut(&mut self, id: u32) -> &mut ListedPane {
        &mut self.panes.iter_mut().find(|(pane, _)| pane.id == PaneId(id)).unwrap().0
    }

    fn capture(&self, ids: &[PaneId]) -> Vec<CapturedPane> {
        let shown = self.panes.iter().filter(|(pane, _)| ids.contains(&pane.id));
        shown
            .map(|(pane, text)| {
                let screen = (!self.is_blind).then(|| Screen::from_text(text, 80));
                CapturedPane { pane: pane.clone().into(), screen }
            })
            .collect()
    }

    fn polled(&self, captures: Vec<CapturedPane>, list: bool) -> Listing {
        let panes = if list { self.panes.iter().map(|(pane, _)| pane.clone().into()).collect() } else { Vec::new() };
        Listing {
            version: "3.3a".into(),
            server_pid: self.server_pid,
            clock: self.clock,
            panes,
            captures,
            ..Listing::default()
        }
    }

    /// One poll, as the poller makes it.
    fn poll(&mut self) -> Vec<PaneReport> {
        let likely = self.memory.likely();
        let poll = self.polled(self.capture(&likely), true);
        let suspects = self.memory.listed(&poll);
        self.scans += usize::from(!suspects.is_empty());
        for suspect in suspects {
            let program = match self.agents.contains(&suspect.command.as_str()) {
                true => Program::agent(&suspect.command, None),
                false => Program::Other { command: suspect.command.clone() },
            };
            self.memory.identified(&suspect, program);
        }
        self.memory.put_off(&poll);
        let due = self.memory.due(&poll);
        let more = match due.is_empty() {
            true => Listing::default(),
            false => self.polled(self.capture(&due), false),
        };
        self.calls = 1 + usize::from(!due.is_empty());
        self.captured = likely.iter().chain(&due).map(|pane| pane.0).collect();
        let reports = self.memory.report(poll, more, Timestamp::from_millis(self.clock * 1000));
        (self.tasks, self.replaced) = (reports.tasks, reports.replaced);
        self.is_reminded = reports.owes_exit_status.is_some();
        self.fleeting = reports.sessions.iter().flat_map(|it| &it.fleeting).map(|window| window.0).collect();
        reports.panes
    }
}

fn is_fresh(report: &PaneReport) -> bool {
    matches!(report.capture, Capture::Fresh(_))
}

#[test]
fn an_idle_pane_costs_a_row_and_no_capture() {
    let mut tmux = PlayedServer::new("");
    tmux.pane(1, "claude", "hello").pane(2, "bash", "$");
    tmux.clock += 10;
    let reports = tmux.poll();
    assert_eq!((reports.len(), is_fresh(&reports[0]), tmux.calls), (1, true, 2));
    for _ in 0..10 {
        tmux.clock += 1;
        let reports = tmux.poll();
        assert!(matches!(reports[0].capture, Capture::Unchanged));
        assert_eq!((tmux.calls, tmux.scans), (1, 1));
        assert_eq!(tmux.captured, [0; 0]);
    }
}

#[test]
fn of_many_new_panes_the_first_poll_tells_which_there_are_and_the_next_ones_what_they_show() {
    let mut tmux = PlayedServer::new("");
    let count = 2 * AT_ONCE as u32 + 10;
    for id in 1..=count {
        tmux.pane(id, "claude", "hello");
    }
    tmux.clock += 5;
    let awaited = |reports: &[PaneReport]| reports.iter().filter(|it| it.capture == Capture::Awaited).count();
    let reports = tmux.poll();
    assert_eq!((reports.len(), awaited(&reports), tmux.calls), (count as usize, count as usize, 1));
    tmux.memory.hurry_for([PaneId(count)]);
    for left in [AT_ONCE + 10, 10, 0] {
        assert_eq!(tmux.memory.pause(Duration::ZERO), Duration::ZERO);
        let reports = tmux.poll();
        assert_eq!((awaited(&reports), reports.iter().filter(|it| is_fresh(it)).count()), (left, tmux.captured.len()));
        assert_eq!(tmux.captured.contains(&count), left == AT_ONCE + 10, "what is urgent comes first");
    }
    assert!(tmux.memory.pause(Duration::ZERO) > Duration::ZERO);
    // One more is polled with the others.
    tmux.pane(count + 1, "claude", "hello");
    let reports = tmux.poll();
    assert_eq!((awaited(&reports), tmux.captured.as_slice()), (0, &[count + 1][..]));
}

#[test]
fn many_panes_that_cannot_be_captured_are_not_asked_for_without_a_pause() {
    let mut tmux = PlayedServer::new("");
    for id in 1..=2 * AT_ONCE as u32 {
        tmux.pane(id, "claude", "hello");
    }
    tmux.is_blind = true;
    for _ in 0..3 {
        tmux.poll();
    }
    assert!(tmux.memory.pause(Duration::ZERO) > Duration::ZERO);
    let reports = tmux.poll();
    assert!(reports.iter().all(|report| matches!(report.capture, Capture::Failed(_))));
}

#[test]
fn what_is_printed_in_the_second_of_a_capture_is_captured_too() {
    let mut tmux = PlayedServer::new("");
    tmux.pane(1, "claude", "one");
    assert!(is_fresh(&tmux.poll()[0]));
    // The same second: the activity does not show that something was printed.
    tmux.prints(1, "two");
    assert!(is_fresh(&tmux.poll()[0]));
    assert_eq!(tmux.calls, 1);
    tmux.prints(1, "three");
    tmux.clock += 1;
    assert!(is_fresh(&tmux.poll()[0]));
    // Now the second is over and nothing can have been missed.
    assert!(!is_fresh(&tmux.poll()[0]));
    tmux.poll();
    assert_eq!(tmux.captured, [0; 0]);
}

#[test]
fn a_pane_that_goes_on_changing_is_captured_along_with_the_listing() {
    let mut tmux = PlayedServer::new("");
    tmux.pane(1, "claude", "0");
    tmux.poll();
    for n in 1..10 {
        tmux.clock += 1;
        tmux.prints(1, &n.to_string());
        assert!(is_fresh(&tmux.poll()[0]));
        assert_eq!((tmux.calls, tmux.captured.as_slice()), (1, &[1][..]));
    }
}

#[test]
fn a_fact_that_changes_without_output_is_seen() {
    let mut tmux = PlayedServer::new("");
    tmux.pane(1, "claude", "hello");
    tmux.clock += 5;
    tmux.poll();
    for change in [
        |pane: &mut ListedPane| pane.facts.title = "working".into(),
        |pane: &mut ListedPane| pane.facts.cursor = Cursor { column: 3, ..Cursor::default() },
        |pane: &mut ListedPane| pane.columns = 40,
        |pane: &mut ListedPane| pane.facts.dead = true,
    ] {
        tmux.clock += 1;
        change(tmux.pane_mut(1));
        tmux.poll();
        assert_eq!(tmux.captured, [1]);
    }
}

#[test]
fn a_pane_in_which_an_agent_ran_stays_watched_until_it_is_gone() {
    let mut tmux = PlayedServer::new("");
    tmux.pane(1, "bash", "$");
    assert_eq!(tmux.poll().len(), 0);
    tmux.pane_mut(1).facts.command = "claude".into();
    assert!(matches!(&tmux.poll()[0].program, Program::Agent { tool, .. } if tool == "claude"));
    tmux.pane_mut(1).facts.command = "bash".into();
    assert_eq!(tmux.poll()[0].program, Program::Other { command: "bash".into() });
    // The same pane id with another process is another terminal, in which no agent has run yet.
    tmux.pane_mut(1).pid = 7777;
    assert_eq!(tmux.poll().len(), 0);
    // One that somebody else has seen to end is no other.
    let (server, instance) = (ServerId::default(), Default::default());
    let key = TerminalKey { server, pane: PaneId(1), pid: 7777, instance };
    tmux.memory.had_agents([&key]);
    assert_eq!(tmux.poll()[0].program, Program::Other { command: "bash".into() });
}

#[test]
fn an_agent_behind_an_unchanged_command_is_found_when_the_pane_is_active() {
    let mut tmux = PlayedServer::new("");
    tmux.pane(1, "node", "$");
    tmux.clock += 1;
    tmux.poll();
    tmux.agents = &["node"];
    tmux.clock += IDENTIFY_ACTIVE;
    assert_eq!(tmux.poll().len(), 0);
    tmux.prints(1, "$ x");
    assert_eq!(tmux.poll().len(), 1);
    let scans = tmux.scans;
    tmux.poll();
    assert_eq!(tmux.scans, scans);
}

#[test]
fn an_agent_that_has_started_is_polled_as_a_whole_every_half_minute_and_a_silent_one_seldom() {
    let mut tmux = PlayedServer::new("");
    tmux.pane(30, "claude", "x");
    tmux.poll();
    let mut whole = Vec::new();
    for second in 1..=800 {
        tmux.clock += 1;
        if second <= 60 {
            tmux.prints(30, "x");
        }
        let poll = tmux.polled(Vec::new(), true);
        for suspect in tmux.memory.listed(&poll) {
            if suspect.may_be_same {
                tmux.memory.confirmed(&suspect);
            } else {
                whole.push(second);
                tmux.memory.identified(&suspect, Program::agent("claude", None));
            }
        }
    }
    // While it starts, its processes come one after the other.
    assert_eq!(whole, [2, 4, 6, 8, 10, 12, 14, 16, 18, 48, 122, 422, 722]);
}

#[test]
fn rules_say_what_is_watched() {
    let mut tmux = PlayedServer::new(
        "watch.ignore = [\"s1\"]\n[[terminal]]\nsession = \"s2\"\nname = \"build\"\n[[terminal]]\nsession = \"s3\"\ntool = \"codex\"\n",
    );
    tmux.pane(1, "claude", "x").pane(2, "make", "x").pane(3, "node", "x").pane(4, "bash", "x");
    let reports = tmux.poll();
    let names: Vec<_> = reports.iter().map(|report| report.place.session.as_str()).collect();
    assert_eq!(names, ["s2", "s3"]);
    assert_eq!(reports[0].declared.as_ref().unwrap().name.as_deref(), Some("build"));
    // A pane that moves to where a rule names it is watched from then on.
    Arc::make_mut(&mut tmux.pane_mut(4).place).session = "s2".into();
    assert_eq!(tmux.poll().len(), 3);
}

#[test]
fn a_pane_in_two_sessions_is_one_terminal_where_a_rule_names_it() {
    let mut tmux = PlayedServer::new("[[terminal]]\nsession = \"b\"\n");
    tmux.pane(1, "make", "x").pane(1, "make", "x");
    Arc::make_mut(&mut tmux.panes[1].0.place).session = "b".into();
    let reports = tmux.poll();
    assert_eq!((reports.len(), reports[0].place.session.as_str()), (1, "b"));
}

#[test]
fn the_pane_of_fleetwatch_itself_is_never_a_terminal() {
    let rules = "[[terminal]]\nsession = \"*\"\n";
    let mut tmux = PlayedServer::new(rules);
    tmux.pane(9, "fleetwatch", "x").pane(1, "make", "x");
    assert_eq!(tmux.poll().len(), 1);
    // By its processes alone, if the environment says nothing.
    let mut tmux = PlayedServer::new(rules);
    tmux.server_pid = 901;
    tmux.pane(9, "fleetwatch", "x").pane(1, "make", "x");
    assert_eq!(tmux.poll().len(), 1);
    // An agent that runs fleetwatch as a tool is still one.
    let mut tmux = PlayedServer::new("");
    tmux.pane(9, "claude", "x");
    assert_eq!(tmux.poll().len(), 1);
}

#[test]
fn another_server_on_the_socket_is_learned_afresh() {
    let mut tmux = PlayedServer::new("");
    tmux.pane(1, "claude", "x");
    tmux.clock += 5;
    tmux.poll();
    assert_eq!(tmux.replaced, Replaced::default(), "the first server has replaced none");
    tmux.server_pid = 901;
    tmux.poll();
    assert_eq!((tmux.captured.as_slice(), tmux.scans), (&[1][..], 2));
    assert_eq!(tmux.replaced.reason(PaneId(1)), GoneReason::ServerReplaced);
    tmux.poll();
    assert_eq!(tmux.replaced, Replaced::default(), "reported once");
}

#[test]
fn a_process_that_took_a_pane_over_is_told_from_a_pane_that_was_closed() {
    let mut tmux = PlayedServer::new("");
    tmux.pane(1, "claude", "x");
    tmux.pane(2, "claude", "y");
    tmux.poll();
    tmux.panes[0].0.pid += 1000;
    tmux.panes.pop();
    tmux.poll();
    let reasons = [1, 2].map(|pane| tmux.replaced.reason(PaneId(pane)));
    assert_eq!(reasons, [GoneReason::ProcessReplaced, GoneReason::Pane]);
}

#[test]
fn a_capture_that_failed_is_said_and_tried_again() {
    let mut tmux = PlayedServer::new("");
    tmux.pane(1, "claude", "x");
    tmux.clock += 5;
    let poll = tmux.polled(vec![], true);
    let suspects = tmux.memory.listed(&poll);
    tmux.memory.identified(&suspects[0], Program::agent("claude", None));
    let empty = CapturedPane { pane: tmux.panes[0].0.clone().into(), screen: None };
    let reports = tmux.memory.report(poll, tmux.polled(vec![empty], false), Timestamp::default()).panes;
    assert!(matches!(&reports[0].capture, Capture::Failed(problem) if problem.kind == "empty_capture"));
    assert!(is_fresh(&tmux.poll()[0]));
}

#[test]
fn the_tick_follows_what_happens() {
    let mut tmux = PlayedServer::new("");
    let Ticks { usual, shortest, longest } = Ticks::default();
    tmux.pane(1, "claude", "x");
    tmux.poll();
    assert_eq!(tmux.memory.pause(Duration::ZERO), shortest);
    let slow = usual * SLOW;
    let poll = |_| {
        tmux.clock += 1;
        tmux.poll();
        tmux.memory.pause(Duration::ZERO)
    };
    let pauses: Vec<Duration> = (0..QUIET_POLLS[2] + 1).map(poll).collect();
    assert!(pauses.is_sorted() && pauses.contains(&usual) && pauses.contains(&slow));
    assert_eq!(pauses.last(), Some(&longest));
    tmux.prints(1, "y");
    tmux.poll();
    assert_eq!(tmux.memory.pause(Duration::ZERO), shortest);
    // A poll that takes long is followed by a long pause: up to a tick, then in proportion.
    assert_eq!(tmux.memory.pause(Duration::from_millis(8)), shortest);
    assert_eq!(tmux.memory.pause(Duration::from_millis(16)), Duration::from_millis(448));
    assert_eq!(tmux.memory.pause(Duration::from_millis(50)), Duration::from_millis(450));
    assert_eq!(tmux.memory.pause(Duration::from_millis(110)), Duration::from_millis(440));
    // A change is reported soon, unless the poll itself takes longer than that.
    assert_eq!(tmux.memory.pause(Duration::from_millis(200)), usual);
    assert_eq!(tmux.memory.pause(Duration::from_secs(3)), slow);
}

#[test]
fn a_server_that_fails_is_asked_less_often_but_one_that_is_gone_is_awaited() {
    let slow = Ticks::default().usual * SLOW;
    let late = Error::TimedOut { server: "x".into(), after: slow };
    let pauses = |tmux: &mut PlayedServer| {
        let mut pause = || {
            tmux.memory.failed(&late);
            tmux.memory.pause(Duration::ZERO).as_millis() / slow.as_millis()
        };
        [pause(), pause(), pause(), pause(), pause()]
    };
    let mut tmux = PlayedServer::new("");
    assert_eq!(pauses(&mut tmux), [1, 2, 2, 2, 2]);
    tmux = PlayedServer::new("");
    // On a host they are up to half as long again, and longer for one host than for the other.
    let hosts: Vec<_> = (0..16)
        .map(|host| {
            tmux.memory.pace = Pace::new(Ticks::default(), Some(host));
            let pauses: Vec<Duration> = (0..5)
                .map(|_| {
                    tmux.memory.failed(&late);
                    tmux.memory.pause(Duration::ZERO)
                })
                .collect();
            let within = |(pause, least): (&Duration, u32)| (slow * least..slow * least * 3 / 2).contains(pause);
            assert!(pauses.iter().zip([1, 2, 4, 8, 8]).all(within), "{pauses:?}");
            pauses
        })
        .collect();
    let last: BTreeSet<_> = hosts.iter().map(|pauses| pauses[4]).collect();
    assert!(last.len() > 12, "{last:?}");
    tmux.memory.failed(&Error::NoServer { server: ServerId::default(), message: String::new() });
    assert_eq!(tmux.memory.pause(Duration::ZERO), slow);
}

#[test]
fn the_exit_status_of_a_pane_that_dies_is_awaited_for_one_poll() {
    let mut tmux = PlayedServer::new("[[terminal]]\nsession = \"*\"\n");
    tmux.pane(1, "make", "x").pane(2, "make", "x");
    tmux.pane_mut(2).facts.dead = true;
    let dead = |tmux: &mut PlayedServer| {
        let reports = tmux.poll();
        (reports.iter().map(|report| report.facts.dead).collect::<Vec<_>>(), tmux.is_reminded)
    };
    assert_eq!(dead(&mut tmux), (vec![false, true], true), "it may have ended this moment");
    assert_eq!(dead(&mut tmux), (vec![false, true], false), "tmux does not know it, and is asked once");
    tmux.pane_mut(1).facts.dead = true;
    assert_eq!(dead(&mut tmux), (vec![false, true], true));
    assert_eq!(dead(&mut tmux), (vec![true, true], false));
}

/// The windows of tasks in the last poll, by their sessions.
fn windows(tmux: &PlayedServer) -> Vec<(&str, Vec<u32>)> {
    let windows = |session: &task::SessionSnapshot| session.windows.iter().map(|window| window.window.0).collect();
    tmux.tasks.sessions.iter().map(|session| (session.name.as_str(), windows(session))).collect()
}

#[test]
fn declared_windows_are_tasks_until_an_agent_runs_in_them() {
    let mut tmux = PlayedServer::new("[[task]]\nsession = \"s[12]\"\n[watch]\nignore = [\"s2\"]");
    tmux.pane(1, "make", "cc -c a.c").pane(2, "make", "").pane(3, "make", "").pane(4, "make", "");
    tmux.pane_mut(4).marks.run_at = Some(7);
    assert!(tmux.poll().is_empty(), "tasks are no agents");
    assert_eq!(windows(&tmux), [("s1", vec![1]), ("s4", vec![4])]);
    assert_eq!(tmux.tasks.elsewhere.iter().map(|window| window.0).collect::<Vec<_>>(), [2, 3]);
    let state = tmux.tasks.sessions[0].windows[0].pane.clone().unwrap();
    assert_eq!((state.command.as_str(), state.preview.lines()), ("make", &["cc -c a.c".to_owned()][..]));
    assert_eq!(tmux.tasks.sessions[1].windows[0].registration.at(), Some(crate::time::Timestamp::from_millis(7)));

    assert_eq!(tmux.fleeting, [1]);
    tmux.pane_mut(1).facts.command = "fleetwatch".into();
    assert!(tmux.poll().is_empty());
    assert!(
        windows(&tmux)[0].1.is_empty() && tmux.fleeting.is_empty(),
        "a dashboard is none, and may close its window"
    );
    let start = |tmux: &mut PlayedServer, command: &str| {
        tmux.pane_mut(1).facts.command = "sh".into();
        tmux.pane_mut(1).start_command = Some(command.to_owned());
        assert!(tmux.poll().is_empty());
        windows(tmux)[0].1.len()
    };
    assert_eq!(start(&mut tmux, "\"sh -c '/opt/bin/fleetwatch -L work'\""), 0, "a shell that started one is none");
    assert_eq!(start(&mut tmux, "\"sh -c 'fleetwatch doctor; make'\""), 1);
    tmux.pane_mut(1).start_command = None;

    tmux.pane_mut(1).facts.command = "claude".into();
    assert_eq!(tmux.poll().len(), 1);
    assert_eq!(windows(&tmux), [("s1", vec![]), ("s4", vec![4])], "the session is there, its window is no task");
    assert!(tmux.tasks.elsewhere.contains(&crate::ids::WindowId(1)));
}

#[test]
fn tasks_in_which_nothing_happens_cost_a_row_of_the_listing() {
    let mut tmux = PlayedServer::new("[[task]]\nsession = \"*\"");
    for id in 101..=300 {
        tmux.pane(id, "sleep", "waiting");
    }
    tmux.clock += 5;
    tmux.poll();
    assert_eq!(tmux.captured.len(), 200);
    for _ in 0..20 {
        tmux.clock += 1;
        tmux.poll();
        assert_eq!((tmux.captured.len(), tmux.calls), (0, 1));
    }
    tmux.prints(107, "more");
    tmux.poll();
    assert_eq!(tmux.captured, [107]);
}

#[test]
fn the_first_pane_stands_for_its_window_as_long_as_it_is_there() {
    let mut tmux = PlayedServer::new("[[task]]\nsession = \"*\"");
    tmux.pane(1, "make", "").pane(2, "tail", "");
    tmux.pane_mut(2).window_id = 1;
    let primary = |tmux: &mut PlayedServer| {
        tmux.poll();
        tmux.tasks
            .sessions
            .iter()
            .flat_map(|session| &session.windows)
            .map(|window| window.key.pane.0)
            .collect::<Vec<_>>()
    };
    assert_eq!(primary(&mut tmux), [1]);
    tmux.panes.reverse();
    assert_eq!(primary(&mut tmux), [1], "panes were swapped");
    tmux.panes.retain(|(pane, _)| pane.id == PaneId(2));
    assert_eq!(primary(&mut tmux), [2]);
}

#[test]
fn many_hosts_take_turns() {
    let second = Duration::from_secs(1);
    assert_eq!(
        turn_of_host(1, Duration::ZERO),
        Duration::from_millis(10),
        "one is asked as often as something changes there"
    );
    assert_eq!(turn_of_host(200, second), second);
    assert_eq!(turn_of_host(100, 2 * second), Duration::ZERO, "it was slow enough");
}
