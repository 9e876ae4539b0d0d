//! Metrics for Prometheus, in OpenMetrics: terminals by state, how long agents waited for the operator and turns took, what
//! was sent, and how well servers answer.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, MutexGuard, PoisonError};

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Metric, Registry, Unit};

use crate::engine::Update;
use crate::fleet::{Effect, Fleet, ServerHealth, TerminalKey};
use crate::record::{Body, Stored, What};
use crate::state::{Phase, Since, State as AgentState, TurnResult};
use crate::status::Status;
use crate::time::{Span, Timestamp};

/// The labels of a number.
type Labels = Vec<(&'static str, String)>;
type Seconds = Gauge<f64, AtomicU64>;
type Durations = Family<Labels, Histogram, fn() -> Histogram>;

/// The upper bounds of the classes of waits and turns, in seconds: from an answer at once to one the next morning.
const CLASSES: [f64; 13] =
    [2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 7200.0, 14_400.0, 43_200.0];

/// All numbers. Counters are kept, gauges are computed when they are asked for.
pub(super) struct Metrics {
    registry: Registry,
    terminals: Family<Labels, Gauge>,
    tasks: Family<Labels, Gauge>,
    longest_wait: Family<Labels, Seconds>,
    waits: Durations,
    turns: Durations,
    turns_ended: Family<Labels, Counter>,
    inputs: Family<Labels, Counter>,
    up: Family<Labels, Gauge>,
    answer_age: Family<Labels, Seconds>,
    poll: Family<Labels, Seconds>,
    broken: Family<Labels, Gauge>,
    known: BTreeMap<TerminalKey, LastSeen>,
}

/// A terminal when it was last counted.
#[derive(Clone, Copy)]
struct LastSeen {
    /// Since when it is watched here.
    watched: Timestamp,
    /// For a turn in flight whose end was not counted yet: whether its beginning was seen.
    in_flight: Option<bool>,
    at: Timestamp,
    status: Status,
    since: Since,
    /// When its last turn ended, and when the last counted one began: a success that is withdrawn and comes again is one
    /// turn.
    ended: Option<Timestamp>,
    counted: Option<Timestamp>,
}

impl LastSeen {
    fn of(state: &AgentState) -> Self {
        let (ended, counted) = (state.last_turn.at, state.last_turn.began);
        let in_flight = (state.turn.phase == Phase::Active).then_some(state.turn.since_exact);
        let at = state.observed_at;
        Self { watched: at, in_flight, at, status: Status::of(state), since: state.since(), ended, counted }
    }

    /// Whether the last turn has ended since, while it was watched: not one that the first poll found ended.
    fn has_seen_end(&self, state: &AgentState) -> bool {
        let last = &state.last_turn;
        let is_counted = last.began.is_some() && last.began == self.counted;
        let is_new = last.result != TurnResult::None && last.at > self.ended && !is_counted;
        is_new && (self.in_flight.is_some() || last.began.is_some_and(|began| began >= self.watched))
    }

    /// How long the agent worked on the last turn, if its beginning and its end were seen.
    fn worked(&self, state: &AgentState) -> Option<Span> {
        let worked = state.last_turn.worked()?;
        let end_was_seen = state.turn.since_exact || state.turn.phase != Phase::Ready;
        (self.in_flight != Some(false) && end_was_seen).then_some(worked)
    }
}

impl Metrics {
    pub(super) fn new() -> Self {
        let durations = || Durations::new_with_constructor(|| Histogram::new(CLASSES));
        let mut registry = Registry::with_prefix("fleetwatch");
        let all = &mut registry;
        let longest_wait = "How long the terminal that has waited longest for the operator has waited";
        let waits = "How long terminals waited for the operator, for waits that ended and whose beginning was seen";
        let turns =
            "How long agents worked on turns, without waits for the operator, for turns whose beginning was seen";
        let broken = "A server's answers that were late, torn or cut off since its host was first asked";
        let metrics = Self {
            terminals: number(all, "terminals", "Agent terminals by their current state"),
            tasks: number(all, "tasks", "Tasks by their current state"),
            longest_wait: seconds(all, "longest_wait", longest_wait, Family::default()),
            waits: seconds(all, "wait", waits, durations()),
            turns: seconds(all, "turn", turns, durations()),
            turns_ended: number(all, "turns", "Turns that ended"),
            inputs: number(all, "inputs", "What any fleetwatch process sent into terminals"),
            up: number(all, "server_up", "Whether a tmux server answers"),
            answer_age: seconds(
                all,
                "server_answer_age",
                "How long ago a tmux server last answered",
                Family::default(),
            ),
            poll: seconds(all, "server_poll", "How long the last poll of a server took", Family::default()),
            broken: number(all, "server_broken_answers", broken),
            known: BTreeMap::new(),
            registry,
        };
        for input in [What::Prompt, What::Answer, What::Keys] {
            for sender in ["dashboard", "command line", "queue", "follow-up", "token"] {
                drop(metrics.inputs.get_or_create(&sent(input, "accepted", sender)));
            }
        }
        metrics
    }

    /// Counts what has happened.
    pub(super) fn update(&mut self, updates: &[Update], fleet: &Fleet) {
        for update in updates {
            match update {
                Update::Effect(Effect::Introduced { key }) => {
                    if let Some(terminal) = fleet.terminal(key) {
                        self.known.entry(key.clone()).or_insert_with(|| LastSeen::of(&terminal.state));
                    }
                }
                Update::Effect(Effect::Changed(changed)) => {
                    if let Some(state) = &changed.state {
                        self.changed(&changed.key, state, changed.transition.at);
                    }
                }
                Update::Effect(Effect::Left(left)) => drop(self.known.remove(&left.key)),
                _ => {}
            }
        }
    }

    fn changed(&mut self, key: &TerminalKey, state: &AgentState, at: Timestamp) {
        let now = LastSeen { at, ..LastSeen::of(state) };
        let Some(before) = self.known.get_mut(key) else {
            self.known.insert(key.clone(), now);
            return;
        };
        let of = |name, value: &str| vec![(name, value.to_owned()), agent(state), host(key)];
        // Prometheus sees no increase of a new series: what may end soon begins with 0.
        if now.status.needs_operator() {
            drop(self.waits.get_or_create(&of("state", &now.status.word())));
        }
        if now.in_flight.is_some() {
            for result in TurnResult::ALL.iter().filter(|result| **result != TurnResult::None) {
                drop(self.turns_ended.get_or_create(&of("result", result.word())));
                drop(self.turns.get_or_create(&of("result", result.word())));
            }
        }
        // What its first poll found is not counted.
        if at <= before.at {
            return;
        }
        let is_over = before.status.needs_operator() && (before.status, before.since) != (now.status, now.since);
        if is_over && before.since.exact {
            let waited = at.since(before.since.at).as_secs();
            self.waits.get_or_create(&of("state", &before.status.word())).observe(waited);
        }
        let has_seen_end = before.has_seen_end(state);
        if has_seen_end {
            let labels = of("result", state.last_turn.result.word());
            self.turns_ended.get_or_create(&labels).inc();
            if let Some(worked) = before.worked(state) {
                self.turns.get_or_create(&labels).observe(worked.as_secs());
            }
        }
        // A turn that was withdrawn stays counted.
        let counted = now.counted.max(before.counted);
        let in_flight = now.in_flight.or(before.in_flight.filter(|_| !has_seen_end));
        *before = LastSeen { watched: before.watched, in_flight, counted, ..now };
    }

    /// Counts what was sent, once its outcome is known.
    pub(super) fn sent(&mut self, stored: &Stored) {
        let Body::Input(input) = &stored.body else { return };
        let sender = match input.sender.split_once(' ') {
            Some((first @ ("queue" | "follow-up" | "token"), _)) => first,
            _ => &input.sender,
        };
        let outcome = input.outcome.as_deref().unwrap_or("unknown");
        self.inputs.get_or_create(&sent(input.sent.what(), outcome, sender)).inc();
    }

    /// All metrics as text, with the current gauges.
    pub(super) fn text_of(&self, fleet: &Fleet, now: Timestamp) -> Result<String, std::fmt::Error> {
        self.terminals.clear();
        self.tasks.clear();
        self.longest_wait.clear();
        [&self.up, &self.broken].iter().for_each(|numbers| numbers.clear());
        [&self.answer_age, &self.poll].iter().for_each(|numbers| numbers.clear());
        let view = fleet.view(now);
        for terminal in &view.terminals {
            let status = Status::of(&terminal.state);
            let labels = vec![("state", status.word().into_owned()), agent(&terminal.state), host(&terminal.key)];
            self.terminals.get_or_create(&labels).inc();
            let waited = if status.needs_operator() { now.since(terminal.state.since).as_secs() } else { 0.0 };
            let longest = self.longest_wait.get_or_create(&vec![host(&terminal.key)]);
            longest.set(longest.get().max(waited));
        }
        for task in &view.tasks {
            let status = task.as_status();
            let word = if matches!(status, Status::Exited(_)) { status.name().into() } else { status.word() };
            self.tasks.get_or_create(&vec![("state", word.into_owned()), host(&task.key)]).inc();
        }
        for server in &view.servers {
            let labels = vec![("server", server.id.to_string())];
            self.up.get_or_create(&labels).set(i64::from(server.health == ServerHealth::Up));
            self.broken.get_or_create(&labels).set(i64::from(server.load.broken));
            self.poll.get_or_create(&labels).set(server.load.took.as_secs());
            if let Some(answered) = server.answered_at {
                self.answer_age.get_or_create(&labels).set(now.since(answered).as_secs());
            }
        }
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

/// A number that is known by a name.
fn number<M: Metric + Clone + Default>(registry: &mut Registry, name: &str, help: &str) -> M {
    let metric = M::default();
    registry.register(name, help, metric.clone());
    metric
}

/// The same of one in seconds.
fn seconds<M: Metric + Clone>(registry: &mut Registry, name: &str, help: &str, metric: M) -> M {
    registry.register_with_unit(name, help, Unit::Seconds, metric.clone());
    metric
}

fn sent(input: What, outcome: &str, sender: &str) -> Labels {
    [("input", input.word()), ("outcome", outcome), ("sender", sender)]
        .map(|(name, value)| (name, value.to_owned()))
        .into()
}

fn agent(state: &AgentState) -> (&'static str, String) {
    ("agent", state.terminal.tool.clone())
}

/// The host, empty for this machine.
fn host(key: &TerminalKey) -> (&'static str, String) {
    ("host", key.server.host.as_deref().unwrap_or_default().to_owned())
}

/// The metrics; nothing holds the lock for long.
pub(super) fn locked(metrics: &Mutex<Metrics>) -> MutexGuard<'_, Metrics> {
    metrics.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A panel that asks for what there is not stays empty, and nobody knows why.
    #[test]
    fn what_is_shipped_for_grafana_and_prometheus_asks_for_metrics_that_there_are() {
        let metrics = Metrics::new();
        // What counts nothing is left out.
        let none = Labels::new();
        [&metrics.terminals, &metrics.tasks, &metrics.up, &metrics.broken]
            .iter()
            .for_each(|it| drop(it.get_or_create(&none)));
        [&metrics.longest_wait, &metrics.answer_age, &metrics.poll].iter().for_each(|it| drop(it.get_or_create(&none)));
        [&metrics.waits, &metrics.turns].iter().for_each(|it| drop(it.get_or_create(&none)));
        [&metrics.turns_ended, &metrics.inputs].iter().for_each(|it| drop(it.get_or_create(&none)));
        let mut text = String::new();
        encode(&mut text, &metrics.registry).unwrap();
        let mut there: Vec<String> = Vec::new();
        for line in text.lines().filter_map(|line| line.strip_prefix("# TYPE ")) {
            let (name, kind) = line.split_once(' ').unwrap();
            let endings: &[&str] = match kind {
                "counter" => &["_total"],
                "histogram" => &["_bucket", "_sum", "_count"],
                _ => &[""],
            };
            there.extend(endings.iter().map(|ending| format!("{name}{ending}")));
        }
        assert!(there.len() > 10, "{there:?}");
        let asked = |text: &str| -> Vec<String> {
            let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
            words.filter(|word| word.starts_with("fleetwatch_")).map(str::to_owned).collect()
        };
        let grafana: serde_json::Value = serde_json::from_str(include_str!("../../docs/grafana.json")).unwrap();
        let mut queries = 0;
        for panel in grafana["panels"].as_array().unwrap() {
            for target in panel["targets"].as_array().into_iter().flatten() {
                let names = asked(target["expr"].as_str().unwrap());
                queries += names.len();
                assert!(names.iter().all(|name| there.contains(name)), "{target}");
            }
        }
        assert!(queries > 8, "{queries}");
        // The table and the alerts in the guide; a histogram is called there by its name alone.
        for name in asked(include_str!("../../docs/serving.md")) {
            let is_family = there.iter().any(|known| known.strip_prefix(&name).is_some_and(|end| end == "_bucket"));
            assert!(is_family || there.contains(&name), "{name}");
        }
    }
}
