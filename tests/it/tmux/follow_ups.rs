//! Follow-ups in a real tmux: what happens to one agent is told to another one, once, whatever becomes of fleetwatch.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::support::copy_shell;
use crate::support::private_tmux::{PrivateTmux, pass, throughout, wait_or_tell, wait_until, wait_within};
use fleetwatch::clock::now;
use fleetwatch::follow_up::{MessageEvent, Wanted};
use fleetwatch::history::{Intents, Reader, RecordFilter, StoredTerminal};
use fleetwatch::record::{IntentId, IntentState, Kind, Stored};
use fleetwatch::state::Phase;
use fleetwatch::time::{Span, Timestamp};
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

const TAG: &str = "[fleetwatch notification";

/// Two parrots, `birds` and `lead`, and a configuration that has `lead` told of `birds`.
struct Aviary {
    tmux: PrivateTmux,
    directory: tempfile::TempDir,
    watch: Option<Child>,
}

impl Aviary {
    fn new(rules: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let profiles = directory.path().join("fleetwatch/profiles");
        std::fs::create_dir_all(&profiles).unwrap();
        std::fs::copy(support("parrot.toml"), profiles.join("parrot.toml")).unwrap();
        copy_shell("/bin/bash", directory.path().join("parrot"));
        std::fs::write(directory.path().join("fleetwatch/config.toml"), rules).unwrap();
        let aviary = Self { tmux: PrivateTmux::unstarted(), directory, watch: None };
        aviary.settle("birds");
        aviary.settle("lead");
        aviary
    }

    /// Starts a parrot in a session of its own, above a program that stays when it ends.
    fn settle(&self, session: &str) {
        let program = self.directory.path().join("parrot");
        let run = format!("set +m; '{}' '{}'; exec cat", program.display(), support("parrot.sh"));
        self.tmux.new_session(session, &["bash", "--norc", "--noprofile", "-c", &run]);
        // A message of usual length fits into a row, so that a prompt with it is recognised as one.
        self.tmux.run(&["resize-window", "-t", &format!("{session}:"), "-x", "160", "-y", "30"]);
        self.tmux.wait_for_text(&format!("{session}:"), "❯");
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fleetwatch"));
        command
            .env("XDG_CONFIG_HOME", self.directory.path())
            .env("XDG_STATE_HOME", self.directory.path().join("state"))
            .env_remove("TMUX")
            .stdin(Stdio::null())
            .args(["-L", self.tmux.name()]);
        command
    }

    fn fleetwatch(&self, words: &[&str]) -> Output {
        self.command().args(words).output().unwrap()
    }

    /// Starts to watch, and waits until both parrots are known.
    fn watch(&mut self) {
        self.watch_with(&[]);
    }

    fn watch_with(&mut self, options: &[&str]) {
        let log = std::fs::File::create(self.directory.path().join("watched")).unwrap();
        let errors = std::fs::OpenOptions::new().create(true).append(true).open(self.log("errors")).unwrap();
        self.watch = Some(self.command().arg("watch").args(options).stdout(log).stderr(errors).spawn().unwrap());
        let known = || std::fs::read_to_string(self.log("watched")).unwrap_or_default();
        let is_let = |name: &str| options.iter().all(|word| word.starts_with("--") || *word == name);
        wait_until("the parrots to be known", || {
            ["birds", "lead"].into_iter().filter(|name| is_let(name)).all(|name| known().contains(name))
        });
    }

    fn log(&self, name: &str) -> std::path::PathBuf {
        self.directory.path().join(name)
    }

    fn warnings(&self) -> String {
        std::fs::read_to_string(self.log("errors")).unwrap_or_default()
    }

    /// Kills the watcher as a crash does.
    fn crash(&mut self) {
        if let Some(mut watch) = self.watch.take() {
            watch.kill().unwrap();
            watch.wait().unwrap();
        }
    }

    fn type_to(&self, session: &str, text: &str) {
        self.tmux.run(&["send-keys", "-t", &format!("{session}:"), "-l", text]);
    }

    fn press(&self, session: &str, key: &str) {
        self.tmux.run(&["send-keys", "-t", &format!("{session}:"), key]);
    }

    /// Has a parrot work on something.
    fn tell(&self, session: &str, text: &str) {
        self.type_to(session, text);
        self.press(session, "Enter");
    }

    /// Everything that a parrot has shown.
    fn transcript(&self, session: &str) -> String {
        self.tmux.run(&["capture-pane", "-p", "-J", "-S", "-", "-t", &format!("{session}:")])
    }

    /// The prompts that `lead` took and that are messages of fleetwatch.
    fn reported(&self) -> Vec<String> {
        let transcript = self.transcript("lead");
        transcript.lines().filter(|line| line.contains(&format!("» {TAG}"))).map(str::to_owned).collect()
    }

    /// What the history says of follow-ups.
    fn records(&self) -> Vec<Value> {
        let output = self.fleetwatch(&["history", "--json", "--kind", "follow_up"]);
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// What `to` is to be told of `birds`.
fn wanted(to: &str, key: &str, text: &str, keep: Span) -> Wanted {
    let (source, event, text) = ("birds".to_owned(), "finished".to_owned(), text.to_owned());
    let body = MessageEvent { source, event, text, ..MessageEvent::default() };
    Wanted { to: to.to_owned(), key: key.to_owned(), body, keep }
}

impl Aviary {
    fn intents(&self) -> Intents {
        let path = self.directory.path().join("state/fleetwatch/history.db");
        Intents::open(&path, now()).unwrap()
    }

    /// A message to `lead` of which nobody knows whether it arrived.
    fn unclear(&self, text: &str) -> IntentId {
        let (mut intents, now) = (self.intents(), now());
        let id = intents.queue(&wanted("lead", text, text, Span::from_secs(3600)), now).unwrap();
        assert!(intents.attempt(id, text, 1, now).unwrap());
        assert!(intents.finish(id, IntentState::Unknown, Some("its sender died"), now).unwrap());
        id
    }

    /// The lines of `watch --json` about follow-ups: outcomes and numbers.
    fn follow_up_lines(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.log("watched")).unwrap_or_default();
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines.filter(|line| line["kind"] == "follow_up").collect()
    }

    /// Events that wait to be reported.
    fn waiting(&self) -> usize {
        self.intents().pending().unwrap().iter().map(|intent| intent.events.len()).sum()
    }

    /// Checks something again and again for so many seconds.
    fn throughout(&self, seconds: u64, check: impl Fn()) {
        throughout(Duration::from_secs(seconds), check);
    }
}

impl Drop for Aviary {
    fn drop(&mut self) {
        self.crash();
    }
}

fn support(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/support").join(name).display().to_string()
}

const FINISHED: &str = "
[[follow_up]]
on = [\"finished\", \"approval\"]
from = \"bird*\"
to = \"lead\"
";

/// Two agents that are told of each other.
const EACH_OTHER: &str = "
[[follow_up]]
on = [\"finished\"]
from = \"*\"
to = \"lead\"

[[follow_up]]
on = [\"finished\"]
from = \"*\"
to = \"birds\"
";

#[test]
fn an_agent_is_reported_once_that_another_one_has_finished() {
    let mut aviary = Aviary::new(FINISHED);
    aviary.watch();
    aviary.tell("birds", "nap 3.5");
    wait_until("lead to be told", || aviary.reported().len() == 1);
    assert!(
        aviary.reported()[0].contains("not from the user] birds has finished: heard nap 3.5"),
        "{:?}",
        aviary.reported()
    );
    wait_until("a record", || aviary.records().len() == 1);
    let record = &aviary.records()[0];
    assert_eq!(
        (&record["kind"], &record["terminal"], &record["outcome"]),
        (&"follow_up".into(), &"lead".into(), &"sent".into())
    );
    aviary.tell("birds", "nap 3.6");
    wait_until("lead to be told again", || aviary.reported().len() == 2);
}

#[test]
fn who_carries_messages_leaves_the_history_in_order() {
    let mut aviary = Aviary::new(FINISHED);
    aviary.watch();
    let path = aviary.directory.path().join("state/fleetwatch/history.db");
    let watched = || -> i64 {
        let count = "SELECT count(*) FROM watches WHERE ended IS NULL";
        let file = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY);
        file.and_then(|file| file.query_row(count, [], |row| row.get(0))).unwrap_or_default()
    };
    wait_until("both to be watched", || watched() == 2);
    let mut watch = aviary.watch.take().unwrap();
    assert!(Command::new("kill").args(["-TERM", &watch.id().to_string()]).status().unwrap().success());
    assert_eq!(watch.wait().unwrap().code(), Some(0));
    assert_eq!(watched(), 0, "its watches have ended with it");
    // That holds a moment longer, for whoever takes over.
    wait_until("nothing to be said", || Reader::open(&path).unwrap().summaries(now()).unwrap().is_empty());
}

#[test]
fn what_happens_while_it_has_a_draft_becomes_one_message() {
    let mut aviary = Aviary::new(FINISHED);
    aviary.watch();
    aviary.type_to("lead", "half a thought");
    aviary.tmux.wait_for_text("lead:", "half a thought");
    for (count, text) in ["nap 3.5", "nap 3.6"].into_iter().enumerate() {
        aviary.tell("birds", text);
        wait_until("an event to wait", || aviary.waiting() == count + 1);
    }
    aviary.throughout(2, || assert_eq!(aviary.reported(), [""; 0]));
    assert!(aviary.tmux.screen("lead:").contains("half a thought"), "the draft is left alone");
    aviary.press("lead", "C-u");
    wait_until("lead to be told", || !aviary.reported().is_empty());
    wait_until("a record", || aviary.records().len() == 1);
    assert_eq!(aviary.reported().len(), 1);
    assert!(aviary.reported()[0].contains("2 events"), "{:?}", aviary.reported());
}

#[test]
fn it_waits_for_the_end_of_work_and_of_a_dialog() {
    let mut aviary = Aviary::new(FINISHED);
    aviary.tell("lead", "nap 8");
    aviary.watch();
    aviary.tell("birds", "nap 3.5");
    wait_until("lead to be told", || aviary.reported().len() == 1);
    let transcript = aviary.transcript("lead");
    assert!(transcript.find("● heard nap 8").unwrap() < transcript.find(TAG).unwrap(), "{transcript}");
    aviary.tell("lead", "ask");
    aviary.tmux.wait_for_text("lead:", "2. No");
    aviary.tell("birds", "nap 3.5");
    wait_until("an event to wait", || aviary.waiting() == 1);
    let untouched = || assert!(aviary.tmux.screen("lead:").contains("> 1. Yes"), "nothing answers a dialog");
    aviary.throughout(2, untouched);
    aviary.press("lead", "2");
    wait_until("lead to be told again", || aviary.reported().len() == 2);
}

#[test]
fn a_message_waits_for_an_agent_that_is_gone_and_survives_a_crash() {
    let mut aviary = Aviary::new(FINISHED);
    aviary.watch();
    aviary.tell("lead", "exit");
    aviary.tell("birds", "nap 3.5");
    wait_until("an event to wait", || aviary.waiting() == 1);
    aviary.crash();
    aviary.tmux.run(&["kill-session", "-t", "lead"]);
    aviary.settle("lead");
    aviary.watch();
    wait_until("lead to be told", || aviary.reported().len() == 1);
    wait_until("a record", || aviary.records().len() == 1);
}

#[test]
fn agents_that_are_told_of_each_other_are_told_a_few_times_a_minute() {
    let mut aviary = Aviary::new(EACH_OTHER);
    aviary.watch();
    let begun = Instant::now();
    aviary.tell("birds", "nap 3.5");
    let warned = || aviary.warnings().matches("wait: it was told 4 times within a minute").count();
    wait_until("the operator to be told", || warned() > 0);
    aviary.throughout(3, || assert!(aviary.reported().len() <= 4 || begun.elapsed() > Duration::from_secs(60)));
    assert_eq!(warned(), 1, "{}", aviary.warnings());
}

/// Kills the watcher again and again, at random moments on a message's way. What a process has seen to begin, or has queued,
/// must have been sent once, or the operator must have been asked about it; nothing may stand in the agent's transcript twice.
///
/// `FLEETWATCH_KILL_ROUNDS` says how often, `FLEETWATCH_KILL_SEED` takes the moments of a run that failed.
#[test]
fn no_message_is_lost_or_sent_twice_whenever_fleetwatch_dies() {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let clock = || now().as_millis().unsigned_abs();
    let (rounds, seed) =
        (number("FLEETWATCH_KILL_ROUNDS").unwrap_or(6), number("FLEETWATCH_KILL_SEED").unwrap_or_else(clock));
    // Shown when the test fails.
    println!("FLEETWATCH_KILL_SEED={seed}");
    let mut dice = Dice(seed);
    let mut aviary = Aviary::new(FINISHED);
    let mut owed = Vec::new();
    for round in 0..rounds {
        let nap = format!("nap 3.2{round:04}");
        aviary.watch();
        aviary.clear_unclear_drafts();
        let begun = now();
        aviary.tell("birds", &nap);
        match dice.below(2) {
            0 => pass(Duration::from_millis(dice.below(5_000))),
            // The way from the queue to the agent is short, and the most dangerous part.
            _ => {
                let start = Instant::now();
                while start.elapsed() < Duration::from_secs(10) && !aviary.is_queued(&nap) {
                    pass(Duration::from_millis(5));
                }
                pass(Duration::from_millis(dice.below(900)));
            }
        }
        aviary.crash();
        if aviary.is_seen_to_work_since(begun) || aviary.is_queued(&nap) {
            owed.push(round);
        }
        wait_until("the nap to end", || aviary.transcript("birds").contains(&format!("● heard {nap}\n")));
    }
    println!("{} of {rounds} naps were seen before the end", owed.len());
    assert!(owed.len() as u64 * 2 >= rounds, "most of the moments say nothing: {}", aviary.account(&owed));
    aviary.watch();
    let name = |round: u64| format!("nap 3.2{round:04}");
    // A first poll after a turn is over reports what it sees: when nobody saw the next one begin, that is the
    // end of the next one.
    let is_reported = |round: u64| {
        aviary.tellings(&name(round)) > 0
            || (round + 1..rounds).take_while(|next| !owed.contains(next)).any(|next| aviary.tellings(&name(next)) > 0)
    };
    // Where the next prompt stood on the screen before anybody looked again, nobody has read the answer of the turn before.
    let without_answer = || {
        let ends = ["birds has finished", "birds has finished, its end was not watched"];
        let records = Value::from(aviary.records()).to_string();
        ends.iter().map(|text| records.matches(&format!("\"text\":\"{text}\"")).count()).sum::<usize>()
    };
    let all = || owed.iter().filter(|round| !is_reported(**round)).count() <= without_answer();
    let settled = || {
        aviary.clear_unclear_drafts();
        aviary.open() == 0 && all()
    };
    wait_within(Duration::from_secs(150), "everything to be told and closed", settled, || aviary.account(&owed));
    let records = aviary.records();
    let transcript = aviary.transcript("lead");
    for record in &records {
        let tag = format!("» {TAG} {},", record["intent"]);
        let times = transcript.matches(&tag).count();
        match record["outcome"].as_str().unwrap() {
            "sent" => assert_eq!(times, 1, "{record}\n{transcript}"),
            "unknown" => {
                assert!(times <= 1, "{record}\n{transcript}");
                assert!(aviary.warnings().contains("may or may not have been told"), "the operator is asked");
            }
            other => panic!("{other}: {record}"),
        }
    }
    for round in 0..rounds {
        let nap = name(round);
        assert!(aviary.tellings(&nap) <= 1, "{nap} is told twice: {}", aviary.account(&owed));
    }
    let told = (0..rounds).filter(|round| aviary.tellings(&name(*round)) > 0).count();
    assert!(
        (told + without_answer()) as u64 <= rounds,
        "more ends are told than there were: {}",
        aviary.account(&owed)
    );
    println!(
        "{} messages, of which {} unclear",
        records.len(),
        records.iter().filter(|one| one["outcome"] == "unknown").count()
    );
}

/// Numbers that poll random and are the same for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }
}

impl Aviary {
    /// The events of all messages that are settled.
    fn reported_events(&self) -> Vec<Value> {
        let records = self.records();
        records.iter().flat_map(|record| record["events"].as_array().unwrap().clone()).collect()
    }

    /// All that says why nobody was told.
    fn all(&self) -> String {
        let history = self.fleetwatch(&["history", "--json"]).stdout;
        let (history, lead) = (String::from_utf8_lossy(&history), self.transcript("lead"));
        format!("{history}\n{}\n{} open\n{lead}", self.warnings(), self.open())
    }

    /// Messages that are not settled yet.
    fn open(&self) -> usize {
        let open = self.intents().open_matters().unwrap();
        open.iter().filter(|one| matches!(one.state, IntentState::Pending | IntentState::Attempted)).count()
    }

    /// Whether a message tells of a nap, sent or not.
    fn is_queued(&self, nap: &str) -> bool {
        let path = self.directory.path().join("state/fleetwatch/history.db");
        let connection = Connection::open(path).unwrap();
        let sql = "SELECT count(*) FROM outbox_events WHERE body LIKE '%' || ?1 || '%'";
        connection.query_row(sql, [nap], |row| row.get::<_, i64>(0)).is_ok_and(|count| count > 0)
    }

    /// Whether it is on record that the birds were seen to work since a moment.
    fn is_seen_to_work_since(&self, moment: Timestamp) -> bool {
        let path = self.directory.path().join("state/fleetwatch/history.db");
        let filter = RecordFilter { since: Some(moment), kinds: vec![Kind::Transition], ..RecordFilter::default() };
        let records = Reader::open(&path).and_then(|mut reader| reader.records(&filter)).unwrap();
        let is_active = |record: &Stored| record.body.agent().is_some_and(|state| state.turn.phase == Phase::Active);
        records.iter().any(|record| record.name == "birds" && is_active(record))
    }

    /// Settled messages that tell of a nap.
    fn tellings(&self, nap: &str) -> usize {
        self.records().iter().filter(|record| record["events"].to_string().contains(nap)).count()
    }

    /// What an operator does who is asked about a message that stands in the prompt: it goes.
    fn clear_unclear_drafts(&self) {
        let screen = self.tmux.screen("lead:");
        let last = screen.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let Some((_, tag)) = screen.rsplit_once(&format!("❯ {TAG} ")).filter(|_| !last.contains("working")) else {
            return;
        };
        let number: i64 = tag.split(',').next().and_then(|number| number.parse().ok()).unwrap_or_default();
        let unclear = |record: &Value| record["intent"] == number && record["outcome"] == "unknown";
        if self.records().iter().any(unclear) {
            self.press("lead", "C-u");
        }
    }

    /// Everything that says what became of the messages.
    fn account(&self, owed: &[u64]) -> String {
        let (records, open) = (self.records(), self.intents().open_matters().unwrap());
        let transcript = self.transcript("lead");
        let history = self.fleetwatch(&["history", "birds"]).stdout;
        let history = String::from_utf8_lossy(&history);
        format!("owed: {owed:?}\n{history}\nrecords: {records:#?}\nopen: {open:#?}\n{transcript}\n{}", self.warnings())
    }
}

#[test]
fn an_agent_is_reported_that_a_task_has_ended_with_its_last_lines() {
    let mut aviary = Aviary::new(
        "
[[follow_up]]
on = [\"exited\"]
from = \"build*\"
to = \"lead\"
",
    );
    aviary.watch();
    // tmux may lose the last output of a program that ends at once (docs/architecture.md), so this one waits until it is read.
    let script = "echo compiling; echo 'error: no such port'; read x; exit 2";
    let started = aviary.fleetwatch(&["run", "build-api", "--", "sh", "-c", script]);
    assert!(started.status.success(), "{started:?}");
    aviary.tmux.wait_for_text(":build-api", "no such port");
    aviary.tmux.run(&["send-keys", "-t", ":build-api", "Enter"]);
    wait_until("lead to be told", || !aviary.reported().is_empty());
    wait_until("a record", || aviary.records().len() == 1);
    assert_eq!(aviary.reported().len(), 1);
    let record = &aviary.records()[0];
    assert_eq!(record["outcome"], "sent", "{record}");
    let text = record["text"].as_str().unwrap();
    assert!(text.contains("not from the user] task build-api (@"), "{text}");
    assert!(text.contains(") exited with code 2\n") && text.contains("\n  | error: no such port"), "{text}");
}

#[test]
fn watch_prints_what_becomes_of_each_message() {
    let mut aviary = Aviary::new(FINISHED);
    aviary.watch_with(&["--json", "name:lead"]);
    aviary.tell("birds", "nap 3.5");
    wait_or_tell("lead to be told", || aviary.reported().len() == 1, || aviary.all());
    wait_until("both lines", || aviary.follow_up_lines().len() == 2);
    let lines = aviary.follow_up_lines();
    assert_eq!((&lines[0]["outcome"], &lines[1]["outcome"]), (&"queued".into(), &"sent".into()), "{lines:?}");
    for line in &lines {
        assert_eq!((&line["terminal"], &line["events"][0]["source"]), (&"lead".into(), &"birds".into()), "{line}");
        assert_eq!(
            (&line["state"]["terminal"]["id"], &line["intent"]),
            (&"lead".into(), &lines[0]["intent"]),
            "{line}"
        );
        assert!(line["at"].as_str().is_some_and(|at| at.ends_with('Z')), "{line}");
    }
    assert!(lines[1]["text"].as_str().unwrap().starts_with(TAG), "{}", lines[1]);
    let all = std::fs::read_to_string(aviary.log("watched")).unwrap();
    let mut all = all.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    assert!(all.all(|line| line["terminal"] == "lead"), "the filter lets no other through");
}

#[test]
fn the_operator_has_an_unclear_message_sent_again_or_dismisses_it() {
    let mut aviary = Aviary::new(FINISHED);
    aviary.watch();
    let (again, enough) = (aviary.unclear("birds has finished: one"), aviary.unclear("birds has finished: two"));
    let listed = aviary.fleetwatch(&["queue"]);
    let text = String::from_utf8(listed.stdout).unwrap();
    assert!(listed.status.success() && text.lines().count() == 3, "{text}");
    assert!(text.starts_with("NUMBER  AGE  TO    STATE "), "{text}");
    assert!(text.contains("  lead  unclear whether it arrived (its sender died)  birds has finished: one\n"), "{text}");
    aviary.throughout(1, || assert_eq!(aviary.reported(), [""; 0]));
    let resent = aviary.fleetwatch(&["queue", "resend", &again.0.to_string()]);
    let text = String::from_utf8(resent.stdout).unwrap();
    assert!(text.starts_with(&format!("message {} is sent again, as number", again.0)), "{text}");
    wait_until("lead to be told", || aviary.reported().len() == 1);
    assert!(aviary.reported()[0].contains("birds has finished: one"), "{:?}", aviary.reported());
    let dismissed = aviary.fleetwatch(&["queue", "dismiss", &enough.0.to_string(), "--json"]);
    let dismissed: Value = serde_json::from_slice(&dismissed.stdout).unwrap();
    assert_eq!((&dismissed[0]["intent"], &dismissed[0]["outcome"]), (&enough.0.into(), &"dismissed".into()));
    wait_until("nothing to be open", || aviary.fleetwatch(&["queue", "--json", "list"]).stdout == b"[]\n");
    let late = aviary.fleetwatch(&["queue", "resend", &enough.0.to_string(), "4711"]);
    let errors = String::from_utf8(late.stderr).unwrap();
    assert_eq!(late.status.code(), Some(1), "{errors}");
    assert!(errors.contains("is dismissed; there is nothing to decide"), "{errors}");
    assert!(errors.contains("error: there is no message 4711\nhint: "), "{errors}");
    assert_eq!(aviary.reported().len(), 1);
}

#[test]
fn what_could_not_be_delivered_in_time_is_reported() {
    let mut aviary = Aviary::new(FINISHED);
    aviary.watch_with(&["--json"]);
    let (mut intents, now) = (aviary.intents(), now());
    let something = "birds has finished: something";
    // What is there when `watch` begins to read is no news to it.
    let mut early = 0;
    wait_until("watch to read messages", || {
        early += 1;
        intents.queue(&wanted("somebody", &format!("early {early}"), something, Span::from_secs(3600)), now).unwrap();
        !aviary.follow_up_lines().is_empty()
    });
    let now = fleetwatch::clock::now();
    intents.queue(&wanted("nobody", "late", something, Span::from_secs(6)), now).unwrap();
    wait_until("the operator to be told", || {
        aviary.warnings().contains("warning: nobody was not there to be told: birds has finished: something")
    });
    let reported =
        || -> Vec<Value> { aviary.follow_up_lines().into_iter().filter(|line| line["terminal"] == "nobody").collect() };
    wait_until("both lines", || reported().len() == 2);
    let lines = reported();
    assert_eq!((&lines[0]["outcome"], &lines[1]["outcome"]), (&"queued".into(), &"expired".into()), "{lines:?}");
    let listed: Value = serde_json::from_slice(&aviary.fleetwatch(&["queue", "list", "--json"]).stdout).unwrap();
    let late = listed.as_array().unwrap().iter().find(|message| message["terminal"] == "nobody").unwrap();
    assert_eq!(late["outcome"], "expired", "{listed}");
}

#[test]
fn what_a_process_had_begun_that_was_killed_is_for_the_operator_to_decide() {
    let mut aviary = Aviary::new(FINISHED);
    aviary.watch();
    aviary.tell("birds", "nap 3.5");
    wait_until("lead to be told", || aviary.reported().len() == 1 && aviary.open() == 0);
    aviary.crash();
    // As it stands in the file when the process ends between its bytes and their outcome.
    let (mut intents, now) = (aviary.intents(), now());
    let id = intents.queue(&wanted("lead", "e", "birds has finished: e", Span::from_secs(3600)), now).unwrap();
    assert!(intents.attempt(id, "text", 1, now).unwrap());
    aviary.watch();
    wait_until("the operator to be asked", || {
        aviary
            .warnings()
            .contains("lead may or may not have been told, look there (its sender died): birds has finished: e")
    });
    let listed: Value = serde_json::from_slice(&aviary.fleetwatch(&["queue", "--json"]).stdout).unwrap();
    assert_eq!((&listed[0]["intent"], &listed[0]["outcome"]), (&id.0.into(), &"unknown".into()));
    assert_eq!(aviary.reported().len(), 1, "it is not sent again by itself");
}

#[test]
fn what_ends_while_nobody_watches_is_reported_by_the_next_one_once() {
    let mut aviary = Aviary::new(
        "
[[follow_up]]
on = [\"exited\", \"disappeared\"]
from = \"build*\"
to = \"lead\"
",
    );
    let gate = aviary.directory.path().join("gate");
    let opened = format!("until [ -e '{}' ]; do sleep 0.1; done", gate.display());
    for (name, until, code) in
        [("build-a", opened.as_str(), "3"), ("build-b", "sleep 4711", "0"), ("build-c", ":", "4")]
    {
        let script = format!("{until}; echo {name} is done; exit {code}");
        assert!(aviary.fleetwatch(&["run", name, "--", "sh", "-c", &script]).status.success());
    }
    aviary.watch();
    let path = aviary.directory.path().join("state/fleetwatch/history.db");
    let seen = || Reader::open(&path).and_then(|reader| reader.terminals()).unwrap_or_default();
    let is_task = |terminal: &&StoredTerminal| terminal.name.starts_with("build-");
    wait_until("the tasks to be on record", || seen().iter().filter(is_task).count() == 3);
    // The one that ended before the first poll was reported, because `run` had started it.
    wait_or_tell("lead to be told", || aviary.reported().len() == 1 && aviary.open() == 0, || aviary.all());
    aviary.crash();
    let window = |name: &str| aviary.tmux.run(&["list-panes", "-t", &format!("tasks:{name}"), "-F", "#{pane_dead}"]);
    std::fs::write(&gate, "").unwrap();
    aviary.tmux.run(&["kill-window", "-t", "tasks:build-b"]);
    wait_until("the first task to end", || window("build-a").trim() == "1");
    aviary.watch();
    wait_or_tell(
        "all three to be reported",
        || aviary.reported_events().len() == 3 && aviary.open() == 0,
        || aviary.all(),
    );
    let text = |name: &str| {
        let reported: Vec<Value> =
            aviary.reported_events().into_iter().filter(|event| event["source"] == name).collect();
        assert_eq!(reported.len(), 1, "{name}: {reported:?}");
        reported[0]["text"].as_str().unwrap().to_owned()
    };
    assert!(text("build-a").ends_with("exited with code 3"), "{}", text("build-a"));
    assert!(text("build-b").ends_with("disappeared: while nobody watched"), "{}", text("build-b"));
    assert!(text("build-c").ends_with("exited with code 4"), "{}", text("build-c"));
    // A third one finds nothing left to tell.
    aviary.crash();
    aviary.watch();
    aviary.throughout(7, || assert_eq!((aviary.reported_events().len(), aviary.open()), (3, 0)));
}
