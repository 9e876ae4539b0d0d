//! A real agent in a tmux server of its own, a model server that it asks, and fleetwatch that polls on.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::model_server::{Dialect, ModelServer};
use super::private_tmux::{PrivateTmux, pass, signal, throughout, wait_or_tell, wait_until};

/// How long a test waits for a real agent.
pub const PATIENCE: Duration = Duration::from_secs(60);

const KEY: &str = "sk-ant-api03-no-key-at-all-0123456789";

/// The variables of the folders that fleetwatch keeps things in.
const FOLDERS: [&str; 4] = ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"];

/// What Claude Code asks at its first start.
const OFFER: &str = "Make auto mode your default";

/// The agents that can be put on the stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agent {
    ClaudeCode,
    Codex,
}

impl Agent {
    /// The name of its program.
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude",
            Self::Codex => "codex",
        }
    }

    fn dialect(self) -> Dialect {
        match self {
            Self::ClaudeCode => Dialect::Messages,
            Self::Codex => Dialect::Responses,
        }
    }

    /// The versions that are installed.
    pub fn versions(self) -> Versions {
        match self {
            Self::ClaudeCode => Versions { old: "2.1.197", new: "2.1.332" },
            Self::Codex => Versions { old: "0.116.0", new: "0.171.0" },
        }
    }

    /// The folder of its program. Fails the test when it is not installed.
    fn folder(self, version: &str) -> PathBuf {
        let agents = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/agents");
        let folder = agents.join(format!("{}-{version}", self.name())).join("node_modules/.bin");
        let program = folder.join(self.name());
        assert!(program.exists(), "{} is not there: run scripts/install-agents first", program.display());
        folder
    }
}

/// Versions of an agent, as `scripts/install-agents` installs them.
pub struct Versions {
    pub old: &'static str,
    pub new: &'static str,
}

/// The home of an agent that has not been started yet, and of the fleetwatch that watches it.
pub struct Home<'a>(&'a Path);

impl Home<'_> {
    /// The mode in which Claude Code starts.
    pub fn claude_mode(&self, mode: &str) {
        let settings = json!({"permissions": {"defaultMode": mode}});
        std::fs::write(self.0.join(".claude/settings.json"), settings.to_string()).expect("a home that can be written");
    }

    /// Has the agent write its record itself: a new Codex otherwise leaves it to a service that it shares with others.
    fn own_record(&self, agent: Agent, version: &str) {
        if agent == Agent::ClaudeCode || version == agent.versions().old {
            return;
        }
        self.feature("daemon_auto_start = false");
    }

    /// Has Codex do, or not do, what is not a part of all of its releases.
    pub fn feature(&self, setting: &str) {
        let path = self.0.join(".codex/config.toml");
        let config = std::fs::read_to_string(&path).expect("a configuration");
        std::fs::write(path, format!("{config}\n[features]\n{setting}\n")).expect("a home that can be written");
    }

    /// The configuration of fleetwatch.
    pub fn configuration(&self, text: &str) {
        let folder = self.0.join("XDG_CONFIG_HOME/fleetwatch");
        std::fs::create_dir_all(&folder).expect("a home that can be written");
        std::fs::write(folder.join("config.toml"), text).expect("a home that can be written");
    }

    /// Has `new` start the agent with these variables.
    fn starts(&self, agent: Agent, variables: &[String]) {
        let words: Vec<&str> =
            ["env"].into_iter().chain(variables.iter().map(String::as_str)).chain([agent.name()]).collect();
        let known = std::fs::read_to_string(self.0.join("XDG_CONFIG_HOME/fleetwatch/config.toml")).unwrap_or_default();
        self.configuration(&format!("{known}\n[new.starts]\n{} = {}\n", agent.name(), json!(words)));
    }
}

/// The whole arrangement. Dropping it ends the agent, the tmux server and fleetwatch.
pub struct Stage {
    pub agent: Agent,
    pub model: ModelServer,
    pub watch: Watch,
    /// Another one that knows nothing of the first and reads no records.
    pub watch_without_records: Option<Watch>,
    tmux: PrivateTmux,
    home: tempfile::TempDir,
}

impl Stage {
    /// Starts the agent and waits until fleetwatch calls it ready.
    pub fn with(agent: Agent) -> Self {
        Self::furnished(agent, |_| ())
    }

    /// The same, where something is put into the agent's home before.
    pub fn furnished(agent: Agent, furnish: impl FnOnce(&Home<'_>)) -> Self {
        let stage = Self::open(agent, agent.versions().new, furnish);
        stage.start_agent();
        stage
    }

    /// The same, with an agent that writes its record itself.
    pub fn with_its_record(agent: Agent) -> Self {
        Self::furnished(agent, |home| home.own_record(agent, agent.versions().new))
    }

    /// The same at a version, and seen by somebody else who reads no records.
    pub fn with_both_witnesses(agent: Agent, version: &str) -> Self {
        let mut stage = Self::open(agent, version, |home| home.own_record(agent, version));
        let home = stage.home.path().join("without-records");
        Home(&home).configuration("[records]\nenabled = false\n");
        stage.watch_without_records = Some(Watch::start(&stage.tmux, &home));
        stage.start_agent();
        stage
    }

    /// Starts Codex in a folder that it does not know, which it asks about before anything else.
    pub fn with_codex_in_an_unknown_folder() -> Self {
        let stage = Self::open(Agent::Codex, Agent::Codex.versions().new, |_| ());
        let config = stage.home.path().join(".codex/config.toml");
        let known = std::fs::read_to_string(&config).expect("a configuration");
        let unknown = known.split("[projects.").next().unwrap_or_default();
        std::fs::write(&config, unknown).expect("a home that can be written");
        stage.press(&["-l", Agent::Codex.name()]);
        stage.press(&["Enter"]);
        stage
    }

    /// Nothing but a shell, in whose project a repository is.
    pub fn without_agent(agent: Agent) -> Self {
        let stage = Self::open(agent, agent.versions().new, |_| ());
        for words in [&["init", "-q"][..], &["commit", "-q", "--allow-empty", "-m", "first"]] {
            let mut git = Command::new("git");
            git.args(["-c", "user.name=n", "-c", "user.email=n@example.org"]).args(words).current_dir(stage.file(""));
            assert!(git.status().is_ok_and(|status| status.success()), "{words:?}");
        }
        stage
    }

    fn open(agent: Agent, version: &str, furnish: impl FnOnce(&Home<'_>)) -> Self {
        let folder = agent.folder(version);
        let model = ModelServer::start(agent.dialect());
        // Codex warns about a home below the system's folder for temporary files, so the home is elsewhere.
        let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a home");
        let variables = match agent {
            Agent::ClaudeCode => prepare_claude_code(home.path(), &model.url()),
            Agent::Codex => prepare_codex(home.path(), &model.url()),
        };
        furnish(&Home(home.path()));
        let tmux = PrivateTmux::unstarted();
        let path = format!("PATH={}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
        let project = home.path().join("shop");
        let mut around = vec![path, format!("HOME={}", home.path().display())];
        around.extend(["LANG=C.UTF-8".to_owned(), "PS1=$ ".to_owned()]);
        around.extend(variables.into_iter().map(|(name, value)| format!("{name}={value}")));
        Home(home.path()).starts(agent, &around);
        let mut command = vec!["env".to_owned(), "-C".to_owned(), project.display().to_string()];
        command.extend(around);
        // The agent runs above a shell, as people have it.
        command.extend(["bash", "--noprofile", "--norc"].map(str::to_owned));
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        tmux.new_session("main", &words);
        tmux.wait_for_text("main", "$");
        let watch = Watch::start(&tmux, home.path());
        Self { agent, model, watch, watch_without_records: None, tmux, home }
    }

    /// Starts the agent in the shell, and waits until it is ready for a prompt.
    pub fn start_agent(&self) {
        self.press(&["-l", self.agent.name()]);
        self.press(&["Enter"]);
        match self.agent {
            Agent::ClaudeCode => self.decline_auto_mode(),
            // It shows its composer before its session is up, and keeps back what it is given until then. The model's
            // row comes with the session.
            Agent::Codex => self.wait_for_screen("a session", |screen| screen.contains("  gpt-5-codex ")),
        }
        self.expect("a ready agent", |state| {
            is(state, "/turn/phase", "ready") && is(state, "/surface/accepting_input", "yes")
        });
    }

    /// Claude Code may offer another default mode at its first start, a moment after its prompt was painted.
    fn decline_auto_mode(&self) {
        self.wait_for_screen("a prompt", |screen| screen.contains('❯'));
        let end = Instant::now() + Duration::from_secs(5);
        while Instant::now() < end {
            if self.screen().contains(OFFER) {
                self.expect("the offer", |state| is(state, "/assessment/ui_context", "setup"));
                // A busy agent follows a key late, and then follows the next one too.
                self.wait_for_screen("the other answer", |screen| {
                    let is_chosen = screen.contains("❯ No");
                    if !is_chosen {
                        self.press(&["Down"]);
                        pass(Duration::from_secs(1));
                    }
                    is_chosen
                });
                self.press_until(|screen| !screen.contains(OFFER), "Enter");
                return;
            }
            pass(Duration::from_millis(50));
        }
    }

    /// Sends a prompt through fleetwatch, and fails the test when it says that the agent did not take it.
    pub fn send(&self, prompt: &str) {
        // Between two polls an agent may still redraw its last turn; then a plain send would be refused.
        let output = self.fleetwatch(&["send", "--when-ready", "--timeout", "20", "main", prompt]);
        let listed = self.listed();
        assert!(
            output.status.success(),
            "send: {}\nlisted: {}\ncourse: {:?}\n{}",
            said(&output),
            brief(&listed),
            self.watch.course("/turn/phase"),
            self.screen()
        );
    }

    /// Answers the dialog through fleetwatch.
    pub fn answer(&self, choice: &str) {
        let output = self.fleetwatch(&["answer", "main", choice]);
        assert!(output.status.success(), "answer: {}\n{}", said(&output), self.screen());
    }

    /// Presses keys through fleetwatch.
    pub fn keys(&self, keys: &[&str]) {
        let output = self.fleetwatch(&[&["keys", "main"], keys].concat());
        assert!(output.status.success(), "keys: {}\n{}", said(&output), self.screen());
    }

    /// Starts to send a prompt once the agent is ready, and does not wait for it.
    pub fn send_later(&self, prompt: &str) -> Child {
        self.begin(&["send", "--when-ready", "--timeout", "60", "main", prompt])
    }

    /// Starts fleetwatch on this stage's tmux server.
    pub fn begin(&self, words: &[&str]) -> Child {
        let mut command = fleetwatch(&self.tmux, self.home.path());
        command.args(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program under test")
    }

    /// A file in the agent's project.
    pub fn file(&self, name: &str) -> PathBuf {
        self.home.path().join("shop").join(name)
    }

    /// Runs fleetwatch on this stage's tmux server.
    pub fn fleetwatch(&self, words: &[&str]) -> Output {
        fleetwatch(&self.tmux, self.home.path()).args(words).output().expect("the program under test")
    }

    /// The dashboard in a terminal of its own, which is higher than any question.
    pub fn dashboard(&self) -> PrivateTmux {
        let state = self.home.path().join("XDG_STATE_HOME/fleetwatch");
        std::fs::create_dir_all(&state).expect("a home that can be written");
        // At the first start something is said.
        std::fs::write(state.join("dashboard.json"), r#"{"introduced": true}"#).expect("a home that can be written");
        let mut words = ["env", "-u", "TMUX", "-u", "TMUX_PANE", "LC_ALL=C.UTF-8"].map(str::to_owned).to_vec();
        words.extend(FOLDERS.map(|name| format!("{name}={}", self.home.path().join(name).display())));
        words.extend([env!("CARGO_BIN_EXE_fleetwatch"), "-L", self.tmux.name()].map(str::to_owned));
        let shown = PrivateTmux::start(&words.iter().map(String::as_str).collect::<Vec<_>>());
        shown.run(&["resize-window", "-t", "main", "-x", "120", "-y", "120"]);
        shown
    }

    /// The state as a fresh `list --json` sees it.
    pub fn listed(&self) -> Value {
        self.listed_as("main").expect("list shows it")
    }

    /// The same of the terminal with a name, if there is one.
    pub fn listed_as(&self, name: &str) -> Option<Value> {
        let output = self.fleetwatch(&["list", "--json"]);
        let all: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap_or_default();
        all.into_iter().find(|state| is(state, "/terminal/id", name))
    }

    /// Waits until the watched state satisfies a condition.
    ///
    /// Fails the test, with the state and the screen, when that does not come true in time.
    pub fn expect(&self, what: &str, condition: impl Fn(&Value) -> bool) -> Value {
        let mut state = Value::Null;
        let seen = || {
            state = self.watch.state();
            condition(&state)
        };
        wait_or_tell(&format!("fleetwatch to see {what}"), seen, || {
            let work = self.model.timeline().work();
            format!("state: {}\nmodel server: {work:?}\nscreen:\n{}", brief(&self.watch.state()), self.screen())
        });
        state
    }

    /// Watches for a while, and fails the test as soon as the watched state does not satisfy a condition.
    pub fn expect_throughout(&self, what: &str, time: Duration, condition: impl Fn(&Value) -> bool) {
        throughout(time, || {
            let state = self.watch.state();
            assert!(condition(&state), "not {what}\nstate: {}\nscreen:\n{}", brief(&state), self.screen());
        });
    }

    pub fn screen(&self) -> String {
        self.tmux.screen("main")
    }

    /// Kills the agent and what it started, as `kill -9` does, and leaves the shell.
    pub fn kill_agent(&self) {
        let shell = self.tmux.key_of("main").pid;
        let victims = descendants(shell);
        assert!(!victims.is_empty(), "no agent runs in the pane");
        for victim in victims {
            signal("KILL", victim);
        }
    }

    /// Types as the operator does who sits at the terminal.
    pub fn type_by_hand(&self, text: &str) {
        self.press(&["-l", text]);
    }

    /// Pastes as the operator does who sits at the terminal.
    pub fn paste_by_hand(&self, text: &str) {
        self.tmux.run(&["set-buffer", "-b", "pasted", text]);
        self.tmux.run(&["paste-buffer", "-p", "-d", "-b", "pasted", "-t", "main"]);
    }

    /// Gives the agent's terminal another size.
    pub fn resize(&self, columns: u16, rows: u16) {
        self.tmux.run(&["resize-window", "-t", "main", "-x", &columns.to_string(), "-y", &rows.to_string()]);
    }

    pub fn press(&self, keys: &[&str]) {
        let mut words = vec!["send-keys", "-t", "main"];
        words.extend(keys);
        self.tmux.run(&words);
    }

    /// Presses a key again and again, because the agent drops keys in its first moments.
    fn press_until(&self, condition: impl Fn(&str) -> bool, key: &str) {
        let mut pressed = Instant::now() - Duration::from_secs(1);
        self.wait_for_screen(&format!("what {key} does"), |screen| {
            let done = condition(screen);
            if !done && pressed.elapsed() >= Duration::from_millis(700) {
                self.press(&[key]);
                pressed = Instant::now();
            }
            done
        });
    }

    /// Waits until the agent's screen satisfies a condition.
    pub fn wait_for_screen(&self, what: &str, mut condition: impl FnMut(&str) -> bool) {
        wait_until(what, || condition(&self.screen()));
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // Codex leaves a server behind that outlives its terminal, run from a copy of the program in its home.
        let home = self.home.path().display().to_string();
        for (pid, _, words) in processes() {
            if words.contains(&home) {
                signal("KILL", pid);
            }
        }
    }
}

/// `fleetwatch watch --json`, and what it said so far.
pub struct Watch {
    child: Child,
    lines: Arc<Mutex<Vec<(Instant, Value)>>>,
}

impl Watch {
    fn start(tmux: &PrivateTmux, home: &Path) -> Self {
        let mut command = fleetwatch(tmux, home);
        let mut child = command.args(["watch", "--json"]).stdout(Stdio::piped()).spawn().expect("fleetwatch");
        let output = child.stdout.take().expect("a piped output");
        let lines = Arc::new(Mutex::new(Vec::new()));
        let filled = Arc::clone(&lines);
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let line = serde_json::from_str(&line).unwrap_or_else(|_| json!({"broken": line}));
                filled.lock().unwrap_or_else(PoisonError::into_inner).push((Instant::now(), line));
            }
        });
        Self { child, lines }
    }

    /// The agent's states so far, each with the time at which it was reported.
    pub fn states(&self) -> Vec<(Instant, Value)> {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().filter(|(_, line)| is_of_agent(line)).map(|(at, line)| (*at, line["state"].clone())).collect()
    }

    /// The newest state; `null` before the first.
    pub fn state(&self) -> Value {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().rfind(|(_, line)| is_of_agent(line)).map_or(Value::Null, |(_, line)| line["state"].clone())
    }

    /// The values that a field of the state took, in order, each once.
    pub fn course(&self, pointer: &str) -> Vec<String> {
        let mut course: Vec<String> = Vec::new();
        for (_, state) in self.states() {
            let value = state.pointer(pointer).and_then(Value::as_str).unwrap_or("null").to_owned();
            if course.last() != Some(&value) {
                course.push(value);
            }
        }
        course
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Whether a line is about the agent: a test may run tasks beside it.
fn is_of_agent(line: &Value) -> bool {
    line["terminal"] == "main"
}

/// Whether a field of a state has a value.
pub fn is(state: &Value, pointer: &str, value: &str) -> bool {
    state.pointer(pointer).and_then(Value::as_str) == Some(value)
}

fn fleetwatch(tmux: &PrivateTmux, home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fleetwatch"));
    // The operator's own configuration and history stay out of the test.
    for name in FOLDERS {
        command.env(name, home.join(name));
    }
    command.env_remove("TMUX").env_remove("TMUX_PANE").stdin(Stdio::null()).args(["-L", tmux.name()]);
    command
}

pub fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// The fields of a state that a failed test is about.
fn brief(state: &Value) -> Value {
    let mut brief = serde_json::Map::new();
    for group in ["diagnostics", "surface", "turn", "last_turn", "assessment", "operator", "attention", "evidence"] {
        brief.insert(group.to_owned(), state[group].clone());
    }
    Value::Object(brief)
}

fn descendants(ancestor: u32) -> Vec<u32> {
    let processes = processes();
    let mut found = vec![ancestor];
    let mut next = 0;
    while let Some(&of) = found.get(next) {
        found.extend(processes.iter().filter(|(_, parent, _)| *parent == of).map(|(pid, ..)| *pid));
        next += 1;
    }
    found.split_off(1)
}

/// All processes: pid, the parent's pid, and the command line.
fn processes() -> Vec<(u32, u32, String)> {
    let output = Command::new("ps").args(["-axo", "pid=,ppid=,args="]).output().expect("ps");
    let listing = String::from_utf8_lossy(&output.stdout).into_owned();
    let read = |line: &str| {
        let (pid, rest) = line.trim_start().split_once(' ')?;
        let (parent, words) = rest.trim_start().split_once(' ')?;
        Some((pid.parse().ok()?, parent.parse().ok()?, words.to_owned()))
    };
    listing.lines().filter_map(read).collect()
}

fn prepare_claude_code(home: &Path, url: &str) -> Vec<(&'static str, String)> {
    let project = home.join("shop");
    std::fs::create_dir_all(&project).expect("a project");
    std::fs::create_dir_all(home.join(".claude")).expect("a folder for settings");
    let approved = &KEY[KEY.len() - 20..];
    let known = json!({
        "hasCompletedOnboarding": true,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [approved], "rejected": []},
        "projects": {project.display().to_string(): {"hasTrustDialogAccepted": true}},
    });
    std::fs::write(home.join(".claude.json"), known.to_string()).expect("a home that can be written");
    Home(home).claude_mode("default");
    vec![
        ("ANTHROPIC_BASE_URL", url.to_owned()),
        ("ANTHROPIC_API_KEY", KEY.to_owned()),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
        ("CLAUDE_CODE_MAX_RETRIES", "2".to_owned()),
        ("DISABLE_AUTOUPDATER", "1".to_owned()),
        // Without it the agent refuses to run for root, as which a build machine may run its tests.
        ("IS_SANDBOX", "1".to_owned()),
    ]
}

fn prepare_codex(home: &Path, url: &str) -> Vec<(&'static str, String)> {
    let project = home.join("shop");
    std::fs::create_dir_all(&project).expect("a project");
    std::fs::create_dir_all(home.join(".codex")).expect("a folder for settings");
    let config = format!(
        r#"model = "gpt-5-codex"
model_provider = "stand-in"
approval_policy = "on-request"
sandbox_mode = "workspace-write"
check_for_update_on_startup = false

[model_providers.stand-in]
name = "stand-in"
base_url = "{url}"
wire_api = "responses"
env_key = "STAND_IN_KEY"
request_max_retries = 1
stream_max_retries = 1

# An old one offers a newer model at its first start.
[notice.model_migrations]
gpt-5-codex = "gpt-5.3-codex"

[projects."{}"]
trust_level = "trusted"
"#,
        project.display()
    );
    std::fs::write(home.join(".codex/config.toml"), config).expect("a home that can be written");
    vec![("STAND_IN_KEY", "no-key-at-all".to_owned())]
}
