//! Everything else that is known of a terminal: where it is, what runs in it, who reads it, and what that rests on.

use crate::fleet::{ServerHealth, Terminal, TerminalKey, View};
use crate::screen::harmless;
use crate::state::TurnResult;
use crate::task::Task;
use crate::ui::canvas::Canvas;
use crate::ui::item::Item;
use crate::ui::popup::StyledLine;
use crate::ui::{text, times};

/// The facts of an agent's terminal as lines.
pub fn of_agent(canvas: &Canvas<'_>, terminal: &Terminal, view: &View<'_>) -> Vec<StyledLine> {
    let mut facts = Facts { canvas, lines: Vec::new() };
    pane(&mut facts, terminal, view);
    agent(&mut facts, terminal);
    lifecycle(&mut facts, terminal);
    facts.lines
}

/// The facts of a task as lines.
pub fn of_task(canvas: &Canvas<'_>, task: &Task, view: &View<'_>) -> Vec<StyledLine> {
    let mut facts = Facts { canvas, lines: Vec::new() };
    facts.heading("Task");
    facts.put("name", task.id.clone());
    facts.put("window", format!("{}:{} {} ({})", task.session, task.index, task.name, task.window));
    facts.put("status", format!("{} for {}", task.status, times::running(canvas.now.since(task.since))));
    facts.put("prompt", task.prompt().unwrap_or_default());
    facts.put("runs since", format!("{} ago", times::running(canvas.now.since(task.started_at))));
    let code = task.exit_code().map(|code| code.to_string());
    facts.put("exit code", code.unwrap_or_else(|| if task.is_dead() { "not known" } else { "–" }.to_owned()));
    facts.put("bells", task.bells.to_string());
    let started = if task.registration.at().is_some() { "by fleetwatch run" } else { "by somebody else" };
    facts.put("started", started);
    facts.heading("Pane");
    let known = if task.known { "yes" } else { "not in the last look" };
    facts.put("pane", format!("{}, known: {known}", task.key.pane));
    facts.put("pid of the pane", task.key.pid.to_string());
    let pane = task.pane.as_ref();
    facts.put("command", pane.map(|pane| pane.command.clone()).unwrap_or_default());
    facts.put("directory", pane.and_then(|pane| pane.cwd.clone()).unwrap_or_default());
    server(&mut facts, &task.key, view);
    facts.lines
}

struct Facts<'a, 'c> {
    canvas: &'a Canvas<'c>,
    lines: Vec<StyledLine>,
}

impl Facts<'_, '_> {
    fn heading(&mut self, text: &str) {
        if !self.lines.is_empty() {
            self.lines.push(Vec::new());
        }
        self.lines.push(vec![(text.to_owned(), self.canvas.theme.parts.title)]);
    }

    fn put(&mut self, name: &str, value: impl Into<String>) {
        let parts = &self.canvas.theme.parts;
        let value = harmless(&value.into());
        let value = if value.trim().is_empty() { "–".to_owned() } else { value };
        self.lines.push(vec![(format!("  {name:<20} "), parts.quiet), (value, parts.text)]);
    }
}

fn pane(facts: &mut Facts<'_, '_>, terminal: &Terminal, view: &View<'_>) {
    let (key, pane, known) = (&terminal.key, &terminal.facts, &terminal.state.terminal);
    facts.heading("Pane");
    facts.put("name", known.id.clone());
    facts.put("place", format!("{} ({})", terminal.place.target(), key.pane));
    facts.put("session, window", [&known.session, &known.window].map(|it| it.clone().unwrap_or_default()).join(", "));
    facts.put("title", known.title.clone());
    facts.put("directory", known.cwd.clone().unwrap_or_default());
    let size = terminal.screen.as_ref().map(|screen| format!("{}×{}", screen.columns(), screen.rows().len()));
    facts.put("size", size.unwrap_or_default());
    let cursor = &pane.cursor;
    let shown = if cursor.visible { "" } else { ", hidden" };
    facts.put("cursor", format!("row {}, column {}{shown}", cursor.row, cursor.column));
    let yes = |it: bool| if it { "yes" } else { "no" };
    facts.put("alternate screen", yes(pane.alternate));
    facts.put("in a mode of tmux", yes(pane.in_mode));
    facts.put("scrollback", text::counted(pane.history_size, "row"));
    facts.put("bell", yes(pane.bell));
    server(facts, key, view);
}

fn server(facts: &mut Facts<'_, '_>, key: &TerminalKey, view: &View<'_>) {
    facts.heading("Server");
    facts.put("server", key.server.to_string());
    facts.put("host", key.server.host.clone().unwrap_or_else(|| "this machine".to_owned()));
    facts.put("socket", key.server.socket.to_string());
    if let Some(server) = view.servers.iter().find(|server| server.id == key.server) {
        let health = match &server.health {
            ServerHealth::Waiting => "has not answered yet".to_owned(),
            ServerHealth::Up => "answers".to_owned(),
            ServerHealth::NoServer(problem) | ServerHealth::Failed(problem) => problem.message.clone(),
        };
        let answered = server.answered_at.map(|at| format!(", last {} ago", times::age(view.now.since(at))));
        facts.put("health", health + &answered.unwrap_or_default());
        facts.put("terminals", server.terminals.to_string());
    }
}

fn agent(facts: &mut Facts<'_, '_>, terminal: &Terminal) {
    let (state, pane) = (&terminal.state, &terminal.facts);
    facts.heading("Process and profile");
    facts.put("pid of the pane", terminal.key.pid.to_string());
    facts.put("foreground command", pane.command.clone());
    let dead = match (pane.dead, pane.exit_status) {
        (false, _) => "runs".to_owned(),
        (true, None) => "has ended".to_owned(),
        (true, Some(code)) => format!("has ended with code {code}"),
    };
    facts.put("program", dead);
    facts.put("agent", Item::from(terminal).agent());
    facts.put("profile", state.terminal.profile.clone().unwrap_or_else(|| "none".to_owned()));
    let anomalies = state.assessment.anomalies.iter().map(|it| it.word()).collect::<Vec<_>>().join(", ");
    facts.put("anomalies", anomalies);
    let diagnostics = &state.diagnostics;
    facts.put("availability", diagnostics.availability.word());
    facts.put("transport", diagnostics.transport_state.word());
    facts.put("process", diagnostics.process_state.word());
    facts.put("parsing", diagnostics.parse_status.word());
    for problem in [&diagnostics.probe_error, &diagnostics.parse_error].into_iter().flatten() {
        facts.put(&problem.kind, problem.message.clone());
    }
    facts.put("looked at", format!("{} ago", times::age(facts.canvas.now.since(state.observed_at))));
}

fn lifecycle(facts: &mut Facts<'_, '_>, terminal: &Terminal) {
    let (state, now) = (&terminal.state, facts.canvas.now);
    let (turn, last, operator) = (&state.turn, &state.last_turn, &state.operator);
    facts.heading("Turn");
    facts.put("phase", format!("{} for {}", turn.phase, times::lasting(turn.began(), now)));
    facts.put("background work", turn.background_work.word());
    let ended = last.at.map(|at| format!(", {} ago", times::age(now.since(at)))).unwrap_or_default();
    facts.put(
        "last turn",
        match last.result {
            TurnResult::None => "–".to_owned(),
            result => format!("{result} by {}{ended}", last.source),
        },
    );
    if let Some(detail) = &last.detail {
        facts.put("", detail.clone());
    }
    facts.put("readiness", operator.readiness.word());
    facts.put("completion", operator.completion.word());
    facts.put("status", operator.status.word());
    facts.put("detail", operator.detail.clone().unwrap_or_default());
    let stability = &state.stability;
    let since = times::running(now.since(stability.stable_since));
    facts.put("stable", format!("{} for {since}", if stability.stable { "yes" } else { "not yet" }));
    facts.put("signature", stability.signature.clone());
    let timing = &state.lifecycle_timing;
    let elapsed = |seconds: Option<f64>| seconds.map_or_else(|| "–".to_owned(), |seconds| format!("{seconds:.1} s"));
    facts.heading("Lifecycle timing");
    facts.put("readiness unknown", elapsed(timing.readiness_unknown_elapsed_seconds));
    facts.put("completion unknown", elapsed(timing.completion_unknown_elapsed_seconds));
    facts.put("candidate", elapsed(timing.completion_candidate_elapsed_seconds));
    facts.put("unknown stalls", format!("after {} s", timing.unknown_to_stalled_timeout_seconds));
    facts.put("success settles", format!("in {} s", timing.completion_stability_seconds));
    facts.put("a lone status row", format!("expires after {} s", timing.stale_active_recovery_seconds));
    facts.put("a still screen", format!("expires after {} s", timing.final_stable_active_recovery_seconds));
    let authority = &state.lifecycle_authority;
    let zone = facts.canvas.zone;
    let time = |at: Option<crate::time::Timestamp>| at.map(|at| times::wall(at, zone)).unwrap_or_default();
    facts.heading("Lifecycle authority");
    facts.put("completion", authority.completion_authority.word());
    facts.put("anchor", authority.turn_anchor_state.word());
    facts.put("monitoring", if authority.completion_monitoring_armed { "armed" } else { "not armed" });
    facts.put("armed at", time(authority.anchor_armed_at));
    facts.put("lost at", time(authority.anchor_lost_at));
    facts.put("lost because", authority.anchor_loss_reason.clone().unwrap_or_default());
}
