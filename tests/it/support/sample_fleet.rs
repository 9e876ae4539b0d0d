//! A fleet made by hand, for frames: every kind of attention, and as many more terminals as are wanted.

use std::collections::VecDeque;
use std::sync::Arc;

use fleetwatch::dialog::Dialog;
use fleetwatch::fleet::{
    Declared, PaneId, PaneLocation, ServerHealth, ServerId, ServerLoad, ServerView, SessionView, Socket, Terminal,
    TerminalKey, TerminalTransition, View,
};
use fleetwatch::screen::{PaneFacts, Screen};
use fleetwatch::state::*;
use fleetwatch::task::{Task, TaskEvent};
use fleetwatch::time::{Span, Timestamp};

/// 2023-11-14 22:13:20 UTC.
pub const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);

/// What a frame is drawn from, owned.
pub struct SampleFleet {
    pub now: Timestamp,
    pub terminals: Vec<Terminal>,
    pub servers: Vec<ServerView>,
    pub recent: VecDeque<TerminalTransition>,
    pub tasks: Vec<Task>,
    pub sessions: Vec<SessionView>,
    pub task_events: VecDeque<TaskEvent>,
}

impl SampleFleet {
    pub fn view(&self) -> View<'_> {
        let (now, recent) = (self.now, &self.recent);
        let (terminals, servers) = (self.terminals.iter().collect(), self.servers.iter().collect());
        View {
            now,
            version: None,
            terminals,
            servers,
            recent,
            tasks: self.tasks.iter().collect(),
            sessions: self.sessions.iter().collect(),
            task_events: &self.task_events,
        }
    }

    /// No terminal and no server.
    pub fn empty() -> Self {
        Self {
            now: NOW,
            terminals: Vec::new(),
            servers: Vec::new(),
            recent: VecDeque::new(),
            tasks: Vec::new(),
            sessions: Vec::new(),
            task_events: VecDeque::new(),
        }
    }

    /// Every kind of attention, most urgent first.
    pub fn usual() -> Self {
        let mut fleet = Self::empty();
        fleet.terminals = vec![
            shop_api(),
            billing(),
            trusting(),
            infra(),
            stuck(),
            docs(),
            stopped(),
            search(),
            ingest(),
            web(),
            vague(),
            legacy(),
        ];
        fleet.servers = vec![
            server(ServerId::default(), ServerHealth::Up, 300, 11),
            server(ServerId { host: Some("box-2".into()), socket: Socket::Default }, ServerHealth::Up, 450, 1),
        ];
        fleet.recent = recent(&fleet.terminals);
        fleet
    }

    /// Many terminals, named in many ways.
    pub fn of(count: usize) -> Self {
        let names = [
            "api",
            "日本語のセッション名前",
            "e\u{301}te\u{301}",
            "👩\u{200D}🚀 rocket",
            "a-very-long-session-name-that-goes-on",
            "🇩🇪",
            "x",
        ];
        let kinds = Self::usual().terminals;
        let mut fleet = Self::usual();
        fleet.terminals = (0..count)
            .map(|n| {
                let mut terminal = kinds[n * kinds.len() / count.max(1)].clone();
                let pane = u32::try_from(n).unwrap_or(u32::MAX);
                terminal.key.pane = PaneId(pane);
                terminal.state.terminal.id = format!("{}-{n}", names[n % names.len()]);
                Arc::make_mut(&mut terminal.place).window_index = pane;
                terminal
            })
            .collect();
        fleet.servers[0].terminals = count;
        fleet
    }
}

pub fn server(id: ServerId, health: ServerHealth, ms_ago: u64, terminals: usize) -> ServerView {
    let load = ServerLoad { took: Span::from_millis(4 + ms_ago / 10), broken: 0 };
    ServerView { id, health, answered_at: Some(NOW - Span::from_millis(ms_ago)), ended_at: None, terminals, load }
}

fn ago(seconds: u64) -> Timestamp {
    NOW - Span::from_secs(seconds)
}

/// A terminal that is ready and has been so for `seconds`.
pub fn terminal(pane: u32, id: &str, tool: &str, version: Option<&str>, seconds: u64) -> Terminal {
    let known =
        Surface { accepting_input: Tri::Yes, editing_input: Tri::No, ready_posture: Tri::Yes, pending_input: Tri::No };
    let place = PaneLocation {
        session: id.into(),
        window_index: 1,
        window_name: "work".into(),
        pane_index: 0,
        window_panes: 1,
        session_windows: 1,
        links: Vec::new(),
    };
    let state = State {
        terminal: TerminalFacts {
            id: id.into(),
            host: None,
            socket: Some("default".into()),
            session: Some(place.session.clone()),
            window: Some("1:work".into()),
            pane: Some(format!("%{pane}")),
            pid: Some(4000 + pane),
            tool: tool.into(),
            observed_tool_version: version.map(str::to_owned),
            through: None,
            profile: Some(tool.into()),
            title: String::new(),
            cwd: Some(format!("~/{id}")),
            git: None,
            label: None,
        },
        diagnostics: Diagnostics {
            availability: Availability::Available,
            transport_state: TransportState::TmuxUp,
            process_state: ProcessState::TuiUp,
            parse_status: ParseStatus::Parsed,
            probe_error: None,
            parse_error: None,
        },
        surface: known,
        turn: Turn {
            phase: Phase::Ready,
            background_work: Tri::No,
            since: ago(seconds),
            elapsed_seconds: 0.0,
            since_exact: true,
            waited: None,
        },
        last_turn: LastTurn::NONE,
        assessment: Assessment {
            availability: AssessedAvailability::Supported,
            business_state: BusinessState::Idle,
            input_mode: InputMode::Freeform,
            ui_context: UiContext::NormalPrompt,
            anomalies: Vec::new(),
            operator_excerpt: None,
            dialog: None,
        },
        operator: Operator {
            status: OperatorStatus::Ready,
            readiness: Readiness::Ready,
            completion: Completion::Inactive,
            detail: None,
        },
        lifecycle_timing: LifecycleTiming {
            readiness_unknown_elapsed_seconds: None,
            completion_unknown_elapsed_seconds: None,
            completion_candidate_elapsed_seconds: None,
            unknown_to_stalled_timeout_seconds: 30.0,
            completion_stability_seconds: 1.0,
            stale_active_recovery_seconds: 5.0,
            final_stable_active_recovery_seconds: 20.0,
        },
        lifecycle_authority: LifecycleAuthority {
            completion_authority: CompletionAuthority::UnanchoredBackground,
            turn_anchor_state: AnchorState::Absent,
            completion_monitoring_armed: false,
            anchor_armed_at: None,
            anchor_lost_at: None,
            anchor_loss_reason: None,
        },
        stability: Stability {
            signature: "0".into(),
            stable: true,
            stable_for_seconds: 0.0,
            stable_since: ago(seconds),
        },
        attention: Attention::None,
        unseen: false,
        since: ago(seconds),
        since_exact: true,
        evidence: Arc::default(),
        stale: None,
        activity: None,
        ended_with: None,
        agent: Default::default(),
        observed_at: NOW,
    };
    Terminal {
        key: TerminalKey {
            server: ServerId::default(),
            pane: PaneId(pane),
            pid: 4000 + pane,
            instance: Default::default(),
        },
        place: place.into(),
        declared: Declared::default(),
        note: Note::default(),
        process: None,
        state,
        facts: PaneFacts::default(),
        screen: None,
        dialog: None,
        interrupt: Vec::new(),
        input: fleetwatch::profile::RefusedInputs::default(),
        transitions: VecDeque::new(),
    }
}

fn ended(terminal: &mut Terminal, result: TurnResult, source: TurnSource, seconds: u64, detail: Option<&str>) {
    terminal.state.last_turn = LastTurn {
        result,
        source,
        at: Some(ago(seconds)),
        began: Some(ago(seconds + 540)),
        waited: Some(Span::ZERO),
        detail: detail.map(str::to_owned),
        told_by: Witness::Screen,
    };
}

fn waiting(terminal: &mut Terminal, attention: Attention, context: UiContext, headline: &str, excerpt: &str) {
    let state = &mut terminal.state;
    state.attention = attention;
    state.turn.phase = Phase::Unknown;
    state.assessment.business_state = BusinessState::AwaitingOperator;
    state.assessment.input_mode = InputMode::Modal;
    state.assessment.ui_context = context;
    state.assessment.operator_excerpt = Some(excerpt.into());
    state.activity = Some(headline.into());
    show(terminal, Screen::from_text(excerpt, 120), 0);
}

/// A screen with a dialog from a row on.
fn show(terminal: &mut Terminal, screen: Screen, dialog: usize) {
    let end = screen.last_row().map_or(0, |last| last + 1);
    terminal.dialog = Some(Arc::new(Dialog::read(&screen, dialog..end)));
    terminal.screen = Some(Arc::new(screen).into());
}

fn shop_api() -> Terminal {
    let mut it = terminal(12, "shop-api", "claude", Some("2.1.197"), 124);
    waiting(
        &mut it,
        Attention::Approval,
        UiContext::ApprovalPrompt,
        "Bash: rm -rf build/cache",
        "Bash command\n\n  rm -rf build/cache\n  Remove the build cache\n\nDo you want to proceed?\n❯ 1. Yes\n  2. Yes, and don't ask again for rm commands in ~/shop-api\n  3. No, and tell Claude what to do differently",
    );
    let screen = Screen::from_capture(
        "\x1b[2mold line that has scrolled away\x1b[0m\n\x1b[32m●\x1b[0m \x1b[1mBash\x1b[0m(rm -rf build/cache)\n  ⎿  Waiting…\n\n\x1b[38;5;105m────────────────────────────────────────────────────────\x1b[0m\n \x1b[38;2;177;185;249m\x1b[1mBash command\x1b[0m\n\n   rm -rf build/cache\n   \x1b[2mRemove the build cache\x1b[0m\n\n Do you want to proceed?\n \x1b[38;2;177;185;249m❯ 1. Yes\x1b[0m\n   2. Yes, and don't ask again for \x1b[1mrm\x1b[0m commands\n   3. No\n\n\n\n\n".as_bytes(),
        120,
        18,
    );
    show(&mut it, screen, 5);
    it
}

fn billing() -> Terminal {
    let mut it = terminal(3, "billing", "codex", Some("0.169.0"), 38);
    waiting(
        &mut it,
        Attention::Question,
        UiContext::Question,
        "Which database should the worker use?",
        "Which database should the worker use?\n› 1. PostgreSQL\n  2. SQLite",
    );
    ended(&mut it, TurnResult::Success, TurnSource::ExplicitInput, 720, None);
    it
}

fn trusting() -> Terminal {
    let mut it = terminal(4, "new-repo", "gemini", Some("0.61.0"), 4);
    waiting(
        &mut it,
        Attention::Trust,
        UiContext::TrustPrompt,
        "Do you trust this folder?",
        "Do you trust this folder?",
    );
    it
}

fn infra() -> Terminal {
    let mut it = terminal(5, "infra", "claude", Some("2.1.329"), 310);
    it.state.attention = Attention::Failed;
    ended(&mut it, TurnResult::KnownFailure, TurnSource::SurfaceInference, 308, Some("API Error: 529 Overloaded"));
    it
}

fn stopped() -> Terminal {
    let mut it = terminal(6, "étude", "pi", Some("0.73.1"), 60);
    it.state.attention = Attention::Interrupted;
    ended(&mut it, TurnResult::Interrupted, TurnSource::SurfaceInference, 60, Some("Operation aborted"));
    it
}

fn docs() -> Terminal {
    let mut it = terminal(7, "docs", "gemini", Some("0.61.0"), 9);
    it.state.attention = Attention::Finished;
    it.state.activity = Some("Wrote docs/api.md with all endpoints".into());
    ended(&mut it, TurnResult::Success, TurnSource::ExplicitInput, 9, None);
    it
}

fn stuck() -> Terminal {
    let mut it = terminal(8, "nightly", "copilot", Some("1.0.102"), 1800);
    it.state.attention = Attention::Stalled;
    it.state.turn.phase = Phase::Active;
    it.state.activity = Some("Running: npm test".into());
    it
}

fn search() -> Terminal {
    let mut it = terminal(9, "検索", "claude", Some("2.1.197"), 252);
    it.state.turn.phase = Phase::Active;
    it.state.assessment.business_state = BusinessState::Working;
    it.state.activity =
        Some("Running: cargo test --workspace 🚀 全部のテストを実行しています、しばらくお待ちください".into());
    it.state.stability.stable = false;
    it.state.stability.stable_since = NOW;
    ended(&mut it, TurnResult::Success, TurnSource::SurfaceInference, 1860, None);
    it
}

fn ingest() -> Terminal {
    let mut it = terminal(10, "ingest", "opencode", Some("1.18.33"), 8);
    it.key.server.host = Some("box-2".into());
    it.state.turn.phase = Phase::Active;
    it.state.activity = Some("Thinking about the schema".into());
    it.state.stability.stable_since = ago(1);
    it
}

fn web() -> Terminal {
    let mut it = terminal(11, "web", "pi", Some("0.73.1"), 1020);
    it.state.activity = Some("The header is fixed on mobile.".into());
    ended(&mut it, TurnResult::Success, TurnSource::SurfaceInference, 1020, None);
    it
}

fn vague() -> Terminal {
    let mut it = terminal(13, "vague", "generic", None, 15);
    it.state.turn.phase = Phase::Unknown;
    it.state.stale = Some(Stale { at: ago(14), surface: Surface::UNKNOWN, phase: Phase::Ready, asked: None });
    it
}

fn legacy() -> Terminal {
    let mut it = terminal(2, "legacy", "codex", None, 7500);
    it.state.attention = Attention::Gone;
    it.state.diagnostics.availability = Availability::TuiDown;
    it.state.turn.phase = Phase::Unknown;
    ended(&mut it, TurnResult::Interrupted, TurnSource::SurfaceInference, 7500, None);
    it
}

fn recent(terminals: &[Terminal]) -> VecDeque<TerminalTransition> {
    let of = |id: &str| terminals.iter().find(|terminal| terminal.state.terminal.id == id).unwrap_or(&terminals[0]);
    let changed =
        |field: &'static str, from: &str, to: &str| Change { field: field.into(), from: from.into(), to: to.into() };
    let record = |id: &str, ms: u64, changed: Vec<Change>, note: Option<&str>| {
        let state = &of(id).state;
        let summary = Summary {
            availability: state.diagnostics.availability,
            phase: state.turn.phase,
            result: state.last_turn.result,
            source: state.last_turn.source,
            ui_context: state.assessment.ui_context,
            status: state.operator.status,
        };
        let at = NOW - Span::from_millis(ms);
        let transition = Transition { at, changed, summary, note: note.map(str::to_owned), evidence: Arc::default() };
        let state = Some(Arc::new(state.clone()));
        TerminalTransition { key: of(id).key.clone(), id: id.into(), transition, state, screen: None }
    };
    VecDeque::from([
        record(
            "legacy",
            7_500_000,
            vec![
                changed("diagnostics.availability", "available", "tui_down"),
                changed("turn.phase", "active", "unknown"),
            ],
            None,
        ),
        record(
            "infra",
            308_000,
            vec![changed("turn.phase", "active", "ready"), changed("last_turn.result", "none", "known_failure")],
            None,
        ),
        record(
            "検索",
            252_000,
            vec![changed("turn.phase", "ready", "active"), changed("surface.ready_posture", "yes", "no")],
            None,
        ),
        record(
            "shop-api",
            124_460,
            vec![
                changed("turn.phase", "active", "unknown"),
                changed("surface.accepting_input", "yes", "no"),
                changed("assessment.business_state", "working", "awaiting_operator"),
                changed("assessment.ui_context", "normal_prompt", "approval_prompt"),
            ],
            None,
        ),
        record("billing", 38_100, vec![changed("turn.phase", "active", "unknown")], None),
        record("docs", 10_000, vec![changed("turn.phase", "active", "ready")], None),
        record("docs", 8_969, vec![changed("last_turn.result", "none", "success")], Some("answer settled (1.0 s)")),
    ])
}
