//! Races: while a prompt is sent or a dialog answered, the world changes right before one of tmux's commands, or at any moment.
//!
//! Whatever happens, nothing goes to somebody else (misdirected), two texts are not submitted as one (merged), no dialog is answered
//! that nobody meant (blind), and what is said of it is so (false). `FLEETWATCH_RACES=1000` runs so many rounds, and
//! `FLEETWATCH_RACES_SEED` the same ones again. What came of them is printed.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::sender::{answer, betrayer, patient, perform, prompt};
use crate::support::copy_shell;
use crate::support::private_tmux::{PrivateTmux, signal, wait_or_tell};
use fleetwatch::dialog::Dialog;
use fleetwatch::history::History;
use fleetwatch::operation::{Outcome, Recipient, Reply};
use fleetwatch::profile::ProfileSet;
use fleetwatch::sender::{Sender, StepLimits};
use fleetwatch::time::Span;
use fleetwatch::tmux::Settings;

/// How many rounds are run unless told otherwise, and how many at once.
const ROUNDS: u64 = 24;
const WORKERS: u64 = 4;

/// What happens meanwhile: its name, where it makes a difference, what is done, and what is on the screen or runs then. What a hand types
/// is waited for: keys that an agent has not read yet nobody can see.
const DEEDS: &[(&str, &str, &str, &str)] = &[
    ("nothing", "send answer", ":", ""),
    ("a dialog opens", "send", "KEYS C-u 'ask dNUMBER' Enter", "Allow dNUMBER?"),
    ("another dialog opens", "answer", "KEYS x 'ask bNUMBER' Enter", "Allow bNUMBER?"),
    ("the agent ends", "send", "KEYS C-u exit Enter", "runs cat"),
    ("the agent ends", "answer", "KEYS x exit Enter", "runs cat"),
    ("a hand types", "send", "KEYS -l mine", "mine"),
    ("agent replaced", "send answer", "TMUX respawn-pane -k -t PANE 'RUN'", "❯"),
    ("copy mode", "send answer", "TMUX copy-mode -t PANE", ""),
    ("panes swapped", "send answer", "TMUX swap-pane -d -s PANE -t OTHER", ""),
    ("the agent reads late", "send ask answer", "kill -STOP PID; (sleep LATE; kill -CONT PID) >&- 2>&- &", ""),
    ("two send", "send", ":", ""),
];

/// A parrot that writes down what it takes, another one, and a `tmux` that does a deed right before a command.
struct Field {
    tmux: PrivateTmux,
    directory: tempfile::TempDir,
    senders: [Sender; 2],
    profiles: Arc<ProfileSet>,
    seed: u64,
}

/// What came of a round: what was told of each text or of the answer.
struct Round {
    number: u64,
    /// The agent that was meant.
    parrot: u32,
    told: Vec<(String, Outcome)>,
    /// The key that stands for the option that was chosen, if a dialog was answered.
    key: Option<&'static str>,
}

impl Field {
    fn new(seed: u64) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        let log = path("log").display().to_string();
        let script = include_str!("../support/parrot.sh");
        let logged = |script: String, text: &str, what: &str| {
            script.replace(text, &format!("echo \"$$ {what}\" >>'{log}'; {text}"))
        };
        // One whose terminal is gone has got no key.
        let script = script.replace("-n 1 answer\n", "-n 1 answer || exit\n");
        let script = logged(script, "echo \"» $line\"", "took $line");
        let script = logged(script, "printf '\\033[3A\\033[J● answered", "answered $line:$answer");
        let script = logged(script, "printf '\\033[3A\\033[J● %s answered", "answered $n:$answer");
        fs::write(path("parrot.sh"), script).unwrap();
        copy_shell("/bin/bash", path("parrot"));
        // A shell below gets the keys when the parrot ends.
        let run =
            format!("#!/bin/bash\ncd '{}'\nset +m\n./parrot parrot.sh\nexec cat >>shell\n", directory.path().display());
        fs::write(path("run"), run).unwrap();
        fs::set_permissions(path("run"), fs::Permissions::from_mode(0o700)).unwrap();
        fs::write(path("word"), "").unwrap();
        let tmux = PrivateTmux::start(&[path("run").to_str().unwrap()]);
        tmux.new_session("other", &[path("run").to_str().unwrap()]);
        tmux.wait_for_text("main:", "❯");
        tmux.wait_for_text("other:", "❯");
        let mut profiles = ProfileSet::builtin();
        profiles.add("parrot.toml", include_str!("../support/parrot.toml")).unwrap();
        let profiles = Arc::new(profiles);
        let settings =
            Settings { deadline: Duration::from_secs(10), tmux: betrayer(directory.path()), ..Settings::default() };
        let limits = StepLimits {
            quiet: Span::from_millis(100),
            enter_again: Span::from_millis(400),
            reaction: Span::from_millis(1500),
            ..patient()
        };
        let sender = || {
            let locks = Some(directory.path().join("turns"));
            Sender::new(Arc::clone(&profiles), settings.clone(), History::off(), locks).within(limits)
        };
        let senders = [sender(), sender()];
        Self { tmux, directory, senders, profiles, seed }
    }

    fn random(&mut self, below: u64) -> u64 {
        self.seed = self.seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.seed >> 33) % below
    }

    fn lines(&self, log: &str) -> Vec<String> {
        let log = fs::read_to_string(self.directory.path().join(log)).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    /// The parrot in a pane, if one runs there.
    fn parrot(&self, pane: &str) -> Option<u32> {
        let pid = self.tmux.run(&["display-message", "-p", "-t", pane, "#{pane_pid}"]);
        let found = Command::new("pgrep").args(["-P", pid.trim(), "-x", "parrot"]).output().unwrap();
        String::from_utf8_lossy(&found.stdout).trim().parse().ok()
    }

    async fn dialog(&self, to: &Recipient) -> Option<Dialog> {
        let poll = self.tmux.server().capture(&[to.key.pane]).await.unwrap();
        let profile = self.profiles.select("parrot", None, false).unwrap().profile;
        profile.read(poll.captures[0].screen.as_ref().unwrap(), &poll.captures[0].pane.facts).dialog
    }

    /// Plays a round in a pane.
    async fn play(&mut self, number: u64, pane: &str, other: &str) -> (String, Round) {
        let keys = |tmux: &PrivateTmux, keys: &[&str]| tmux.output(&[&["send-keys", "-t", pane], keys].concat());
        let parrot = match self.parrot(pane) {
            Some(parrot) => parrot,
            None => {
                self.tmux.run(&["respawn-pane", "-k", "-t", pane, self.directory.path().join("run").to_str().unwrap()]);
                self.tmux.wait_for_text(pane, "❯");
                self.parrot(pane).unwrap()
            }
        };
        let act = ["send", "send", "ask", "answer", "answer"][usize::try_from(self.random(5)).unwrap()];
        let fitting: Vec<_> = DEEDS.iter().filter(|(_, acts, ..)| acts.split(' ').any(|known| known == act)).collect();
        let (name, _, deed, shown) = *fitting[usize::try_from(self.random(fitting.len() as u64)).unwrap()];
        let to = Recipient { tool: Some("parrot".into()), ..Recipient::new(self.tmux.key_of(pane), "main".into()) };
        let is_chain = act == "answer" && self.random(3) == 0;
        let (option, key) = [("Yes", ""), ("No", "2")][usize::try_from(self.random(2)).unwrap()];
        let mut seen = None;
        if act == "answer" {
            let asks = if is_chain { "chain".to_owned() } else { format!("ask a{number}") };
            keys(&self.tmux, &[&asks, "Enter"]);
            self.tmux.wait_for_text(pane, "  2. No");
            seen = self.dialog(&to).await;
        }
        let late = format!("0.{:03}", 100 + self.random(900));
        let deed =
            deed.replace("KEYS", "TMUX send-keys -t PANE").replace("TMUX", &format!("tmux -L {}", self.tmux.name()));
        let deed = deed.replace("RUN", &self.directory.path().join("run").display().to_string());
        let deed = deed.replace("PANE", pane).replace("OTHER", other).replace("LATE", &late);
        let deed = deed.replace("PID", &parrot.to_string()).replace("NUMBER", &number.to_string());
        let polls = format!(
            "(tmux -L {server} capture-pane -p -t {pane}; tmux -L {server} display-message -p -t {pane} 'runs #{{pane_current_command}}')",
            server = self.tmux.name()
        );
        let wait = format!(
            "for ((i = 0; i < 100; i++)); do {polls} | grep -qF '{}' && break; sleep 0.02; done",
            shown.replace("NUMBER", &number.to_string())
        );
        let act_file = self.directory.path().join("act");
        fs::write(self.directory.path().join("skip"), self.random(if act == "answer" { 6 } else { 10 }).to_string())
            .unwrap();
        fs::write(&act_file, format!("{deed}\n{wait}\n")).unwrap();
        let texts = if act == "ask" {
            [format!("ask p{number}x"), String::new()]
        } else {
            [format!("p{number}x"), format!("p{number}y")]
        };
        let [one, two] = &self.senders;
        let told = match &seen {
            Some(dialog) => {
                let reply = Reply::meant(option, dialog).unwrap();
                vec![(format!("a{number}"), perform(one, &to, answer(dialog, reply)).await)]
            }
            None if act == "answer" => Vec::new(),
            None if name == "two send" => {
                let (first, second) =
                    tokio::join!(perform(one, &to, prompt(&texts[0])), perform(two, &to, prompt(&texts[1])));
                texts.iter().cloned().zip([first, second]).collect()
            }
            None => vec![(texts[0].clone(), perform(one, &to, prompt(&texts[0])).await)],
        };
        let _ = fs::remove_file(act_file);
        let what = format!("{act}{}: {name}", if is_chain { " chain" } else { "" });
        self.settle(number, parrot, pane, other);
        (what, Round { number, parrot, told, key: (act == "answer").then_some(key) })
    }

    /// Waits until all keys have been read: a line behind them arrives, wherever that is. What stands before it is taken away, and an
    /// open dialog gets a key that is known from ours.
    fn settle(&self, number: u64, parrot: u32, pane: &str, other: &str) {
        signal("CONT", parrot);
        self.tmux.output(&["send-keys", "-t", pane, "-X", "cancel"]);
        let first = self.tmux.run(&["display-message", "-p", "-t", "main:", "#{pane_id}"]);
        if first.trim() != pane {
            self.tmux.run(&["swap-pane", "-d", "-s", pane, "-t", other]);
        }
        let word = format!("sync{number}");
        self.tmux.run(&["send-keys", "-t", pane, "C-u", "C-u", "C-u", &word, "Enter"]);
        let arrived = || ["log", "shell"].iter().any(|log| self.lines(log).iter().any(|line| line.ends_with(&word)));
        wait_or_tell("the end of a round", arrived, || self.tmux.screen(pane));
        if self.parrot(pane).is_some() {
            wait_or_tell(
                "the parrot to be at rest",
                || self.tmux.screen(pane).contains(&format!("heard {word}")),
                || self.tmux.screen(pane),
            );
        }
    }

    /// What must not be, of each kind.
    fn judge(&self, round: &Round, pane: &str) -> Vec<String> {
        let (log, shell) = (self.lines("log"), self.lines("shell"));
        let mine = format!("{} took ", round.parrot);
        let mut wrong = Vec::new();
        let mut must = |holds: bool, kind: &str, what: &str| {
            if !holds {
                wrong.push(format!("{kind}: {what}"));
            }
        };
        let number = round.number;
        for (text, outcome) in round.told.iter().filter(|_| round.key.is_none()) {
            let took: Vec<&String> =
                log.iter().filter(|line| line.contains(" took ") && line.contains(text.as_str())).collect();
            must(took.iter().all(|line| line.starts_with(&mine)), "misdirected", "another agent took it");
            must(!shell.iter().any(|line| line.contains(text.as_str())), "misdirected", "the shell got it");
            let whole = took.iter().filter(|line| line.strip_prefix(&mine) == Some(text)).count();
            must(
                whole == took.len() || outcome.word() == "unverified",
                "merged",
                "it was submitted with something else",
            );
            must(took.len() <= 1, "false", "it was submitted twice");
            let is_on_screen = || self.tmux.run(&["capture-pane", "-p", "-S", "-", "-t", pane]).contains(text.as_str());
            match outcome.word() {
                "accepted" => must(took.len() == 1, "false", "it was not submitted and is called accepted"),
                "refused" => must(took.is_empty() && !is_on_screen(), "false", "it was typed and is called refused"),
                "not_taken" => must(took.is_empty(), "false", "it was submitted and is called not taken"),
                _ => {}
            }
        }
        let answered: Vec<&str> =
            log.iter().filter_map(|line| line.split_once(" answered ")).map(|(_, what)| what).collect();
        let is_pressed = |what: &&&str| ["", "1", "2"].iter().any(|key| what.ends_with(&format!(":{key}")));
        let pressed: Vec<&&str> = answered.iter().filter(is_pressed).collect();
        let key = round.key.unwrap_or_default();
        let meant = [format!("ask a{number}:{key}"), format!("first:{key}")];
        let ours =
            pressed.iter().filter(|what| round.key.is_some() && meant.iter().any(|meant| meant == **what)).count();
        must(pressed.len() == ours, "blind", &format!("{pressed:?}"));
        if let Some((_, outcome)) = round.told.first().filter(|_| round.key.is_some()) {
            match outcome.word() {
                "accepted" => must(ours == 1, "false", "it was not answered and is called accepted"),
                "refused" | "not_taken" => must(ours == 0, "false", "it was answered, and the outcome denies it"),
                _ => must(ours <= 1, "false", "it was answered twice"),
            }
        }
        if !wrong.is_empty() {
            let told: Vec<String> = round.told.iter().map(|(text, outcome)| format!("{text}: {outcome}")).collect();
            wrong.push(format!("told {told:?}, {log:?}, shell {shell:?}"));
        }
        wrong
    }
}

#[test]
fn whatever_happens_meanwhile_nothing_is_misdirected_merged_blind_or_falsely_reported() {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let now = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let rounds = number("FLEETWATCH_RACES").unwrap_or(ROUNDS);
    let seed = number("FLEETWATCH_RACES_SEED").unwrap_or_else(|| u64::try_from(now().as_millis()).unwrap());
    println!("FLEETWATCH_RACES_SEED={seed}");
    let (counts, broken) = (Mutex::new(BTreeMap::<String, u64>::new()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for worker in 0..WORKERS {
            let (counts, broken) = (&counts, &broken);
            scope.spawn(move || {
                let mut field = Field::new(seed.wrapping_add(worker));
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                let pane_of = |target: &str| field.tmux.run(&["display-message", "-p", "-t", target, "#{pane_id}"]);
                let (pane, other) = (pane_of("main:").trim().to_owned(), pane_of("other:").trim().to_owned());
                for number in (worker..rounds).step_by(usize::try_from(WORKERS).unwrap()) {
                    for log in ["log", "shell"] {
                        let _ = fs::write(field.directory.path().join(log), "");
                    }
                    let (what, round) = runtime.block_on(field.play(number, &pane, &other));
                    let wrong = field.judge(&round, &pane);
                    let words: Vec<&str> = round.told.iter().map(|(_, outcome)| outcome.word()).collect();
                    *counts.lock().unwrap().entry(format!("{what}: {}", words.join(" "))).or_default() += 1;
                    broken.lock().unwrap().extend((!wrong.is_empty()).then(|| format!("{what}: {}", wrong.join("; "))));
                }
            });
        }
    });
    let (counts, broken) = (counts.into_inner().unwrap(), broken.into_inner().unwrap());
    println!("{counts:#?}");
    let of = |kind: &str| broken.iter().filter(|what| what.contains(&format!("{kind}: "))).count();
    let kinds = ["misdirected", "merged", "blind", "false"].map(|kind| format!("{kind} {}", of(kind)));
    println!("{} rounds: {}", counts.values().sum::<u64>(), kinds.join(", "));
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}
