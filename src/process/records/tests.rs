use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, LazyLock};

use tempfile::TempDir;

use super::files::part_fits;
use super::find::fits;
use super::*;
use crate::agent_record::{RecordDepth, RecordedFiles, RecordedPhase};
use crate::fleet::{PaneId, ServerId};
use crate::process::proc;
use crate::profile::ProfileSet;
use crate::state::{FactValue, TurnResult};

/// An agent's home, and a process that stands for the agent.
struct Home {
    home: TempDir,
    agent: Child,
    records: AgentRecords,
    tool: &'static str,
    now: Timestamp,
    /// How much later it is read next time: late enough to search for other files.
    pause: Span,
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = self.agent.kill();
        let _ = self.agent.wait();
    }
}

/// A process is begun a moment before its environment can be read.
fn wait_for_environment(process: &Child) {
    let environment = format!("/proc/{}/environ", process.id());
    let begun = std::time::Instant::now();
    while fs::read(&environment).is_ok_and(|text| text.is_empty()) {
        assert!(begun.elapsed().as_secs() < 60, "{environment} stays empty");
        std::thread::yield_now();
    }
}

impl Home {
    /// A process whose home this is; its standard input is `held`, a file below it that it holds open so.
    fn of(tool: &'static str, held: Option<&str>) -> Self {
        let home = tempfile::tempdir().unwrap();
        let input = held.map(|held| {
            let path = home.path().join(held);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            Stdio::from(OpenOptions::new().create(true).append(true).read(true).open(path).unwrap())
        });
        let agent = Command::new("sleep")
            .arg("4711")
            .env_clear()
            .env("HOME", home.path())
            .env("PATH", "/usr/bin:/bin")
            .stdin(input.unwrap_or_else(Stdio::null))
            .spawn()
            .unwrap();
        wait_for_environment(&agent);
        let now = Timestamp::from_millis(1_800_000_000_000);
        Self { home, agent, records: AgentRecords::default(), tool, now, pause: Span::SECOND }
    }

    /// A process by the tool's name that works in `shop` below its home, which is a repository.
    fn at_work(tool: &'static str) -> Self {
        let mut home = Self::of(tool, None);
        fs::create_dir_all(home.home.path().join("shop/.git")).unwrap();
        home.replace_agent(&Self::worker(home.home.path(), tool));
        home
    }

    fn replace_agent(&mut self, start: &dyn Fn() -> Child) {
        let mut before = std::mem::replace(&mut self.agent, start());
        wait_for_environment(&self.agent);
        before.kill().unwrap();
        before.wait().unwrap();
    }

    fn worker(home: &Path, tool: &'static str) -> impl Fn() -> Child + use<> {
        let home = home.to_owned();
        move || {
            let program = home.join(tool);
            if !program.exists() {
                symlink("/bin/sleep", &program).unwrap();
            }
            let mut command = Command::new(program);
            command.arg("4711").env_clear().env("HOME", &home).current_dir(home.join("shop"));
            command.spawn().unwrap()
        }
    }

    /// What a sample of a record says of a directory, said of this agent's.
    fn sample(&self, file: &str) -> String {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/records").join(file);
        let shop = self.home.path().canonicalize().unwrap().join("shop");
        fs::read_to_string(path).unwrap().replace("/home/dev/shop-api", shop.to_str().unwrap())
    }

    /// Writes the sample of a session of pi or opencode where that keeps it. Returns its path, and a database's connection.
    fn write_session(&self) -> (String, Option<rusqlite::Connection>) {
        if self.tool == "pi" {
            let slug = self.home.path().canonicalize().unwrap().join("shop").to_str().unwrap().replace('/', "-");
            let file = format!(".pi/agent/sessions/-{slug}--/2026_01.jsonl");
            self.write(&file, &self.sample("pi-0.74.2.jsonl"));
            return (file, None);
        }
        let file = ".local/share/opencode/opencode.db".to_owned();
        let path = self.home.path().join(&file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let connection = rusqlite::Connection::open(path).unwrap();
        connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA foreign_keys = 0").unwrap();
        connection.execute_batch(&self.sample("opencode-1.18.33.sql")).unwrap();
        connection.execute_batch("UPDATE session SET time_updated = 2000000000000").unwrap();
        (file, Some(connection))
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.home.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn append(&self, path: &str, text: &str) {
        OpenOptions::new().append(true).open(self.home.path().join(path)).unwrap().write_all(text.as_bytes()).unwrap();
    }

    fn agent(&self) -> RecordedAgent {
        let key = TerminalKey {
            server: ServerId::default(),
            pane: PaneId(1),
            pid: self.agent.id(),
            instance: Default::default(),
        };
        static LIBRARY: LazyLock<Arc<ProfileSet>> = LazyLock::new(|| Arc::new(ProfileSet::builtin()));
        let profiles = Arc::clone(&LIBRARY);
        let (sources, tool) = (profiles.records(self.tool), self.tool.to_owned());
        RecordedAgent { key, processes: vec![self.agent.id()], sources, tool, profiles, is_changing: true }
    }

    /// What is read anew, a while later.
    fn read(&mut self) -> Option<AgentRecordReading> {
        self.now = self.now + self.pause;
        let agent = self.agent();
        self.records.read(&[agent], self.now).pop().map(|(_, reading)| reading)
    }

    fn phase(&mut self) -> Option<RecordedPhase> {
        self.read()?.turn.map(|turn| turn.phase)
    }

    fn status(&self, began: u64, status: &str, rest: &str) {
        let id = self.agent.id();
        let json = format!(r#"{{"pid":{id},"sessionId":"5-e","procStart":"{began}","status":"{status}"}}{rest}"#);
        self.write(&format!(".claude/sessions/{id}.json"), &json);
    }

    fn began(&self) -> u64 {
        proc::began(self.agent.id()).unwrap()
    }
}

#[test]
fn a_status_file_is_read_for_its_own_process_only_and_however_it_is_caught() {
    let mut home = Home::of("claude", None);
    assert_eq!(home.read(), Some(AgentRecordReading::default()), "there is none, whatever was known before");
    home.status(home.began() + 1, "busy", "");
    assert_eq!(home.read(), None, "another process had this id");
    home.status(home.began(), "busy", "");
    assert_eq!(home.phase(), Some(RecordedPhase::Active));
    assert_eq!(home.read(), None, "nothing has changed");
    let file = format!(".claude/sessions/{}.json", home.agent.id());
    home.write(&file, "");
    assert_eq!(home.read(), None, "it is caught while it is written");
    home.status(home.began(), "idle", r#"50,"waitingFor":"permission prompt"}"#);
    assert_eq!(home.phase(), Some(RecordedPhase::Idle), "the tail of the old value stands behind the new one");
    fs::remove_file(home.home.path().join(file)).unwrap();
    assert_eq!(home.read(), Some(AgentRecordReading::default()));
}

#[test]
fn a_transcript_is_followed_by_the_session_that_the_status_names() {
    let mut home = Home::of("claude", None);
    home.status(home.began(), "idle", "");
    let path = ".claude/projects/-home-dev/5-e.jsonl";
    let line = |model: &str| format!(r#"{{"type":"assistant","message":{{"model":"{model}"}}}}"#);
    home.write(path, &format!("{}\nnonsense\n{{\"half\":", line("first")));
    let model = |reading: Option<AgentRecordReading>| reading?.facts.text(FactName::Model).map(str::to_owned);
    assert_eq!(model(home.read()).as_deref(), Some("first"));
    home.append(path, &format!("1}}\n{}", line("second")));
    assert_eq!(home.read(), None, "the line has no end yet");
    home.append(path, "\n");
    let read = home.read();
    let file = read.as_ref().and_then(|read| read.facts.text(FactName::Transcript).map(PathBuf::from)).unwrap();
    assert_eq!(file, home.home.path().join(path).canonicalize().unwrap());
    assert_eq!(model(read).as_deref(), Some("second"));
    home.write(path, &format!("{}\n", line("third")));
    assert_eq!(model(home.read()).as_deref(), Some("third"), "it was begun anew");
    // Two agents that resumed one session write into one file.
    let other = Home::of("claude", None);
    let id = other.agent.id();
    let json = format!(r#"{{"pid":{id},"sessionId":"5-e","procStart":"{}","status":"busy"}}"#, other.began());
    home.write(&format!(".claude/sessions/{id}.json"), &json);
    let mut agents = vec![home.agent(), home.agent()];
    (agents[1].key.pane, agents[1].processes) = (PaneId(2), vec![id]);
    symlink(home.home.path().join(".claude"), other.home.path().join(".claude")).unwrap();
    let mut now = home.now;
    for _ in 0..3 {
        now = now + Span::SECOND;
        home.records.read(&agents, now);
    }
    let reported: Vec<_> = home.records.agents.values().map(|state| state.returned.clone().unwrap()).collect();
    assert!(
        reported.iter().all(|reported| reported.facts.text(FactName::Model).is_none() && reported.turn.is_some()),
        "{reported:?}"
    );
}

#[test]
fn files_of_a_folder_are_read_together() {
    let mut home = Home::of("claude", None);
    home.status(home.began(), "idle", "");
    home.read();
    let task = |status: &str| format!(r#"{{"id":"1","subject":"Fix total","status":"{status}"}}"#);
    home.write(".claude/tasks/5-e/1.json", &task("in_progress"));
    home.write(".claude/tasks/5-e/2.json", &task("pending"));
    let plan = |reading: Option<AgentRecordReading>| reading?.facts.plan().map(|plan| (plan.done, plan.of));
    assert_eq!(plan(home.read()), Some((0, 2)));
    assert_eq!(home.read(), None);
    home.write(".claude/tasks/5-e/1.json", &task("completed"));
    assert_eq!(plan(home.read()), Some((1, 2)));
    fs::remove_file(home.home.path().join(".claude/tasks/5-e/2.json")).unwrap();
    assert_eq!(plan(home.read()), Some((1, 1)));
}

#[test]
fn a_rollout_is_read_that_the_process_holds_open() {
    let path = ".codex/sessions/2026/11/22/rollout-2026-11-22T08-00-00-01.jsonl";
    let mut home = Home::of("codex", Some(path));
    let begun = r#"{"type":"event_msg","payload":{"type":"task_started"}}"#;
    home.write(".codex/sessions/2026/11/22/rollout-2026-11-22T09-00-00-02.jsonl", begun);
    let nothing = Some(AgentRecordReading::default());
    assert_eq!(home.read(), nothing, "its first line is still missing, and the other file is not open");
    home.append(path, "{\"type\":\"session_meta\",\"payload\":{\"source\":\"cli\"}}\n");
    home.append(path, &format!("{begun}\n"));
    assert_eq!(home.phase(), Some(RecordedPhase::Active));
    home.append(path, "{\"type\":\"event_msg\",\"payload\":{\"type\":\"turn_aborted\"}}\n");
    let reading = home.read().unwrap();
    assert_eq!(reading.result.unwrap().result, TurnResult::Interrupted);
    home.agent.kill().unwrap();
    home.agent.wait().unwrap();
    assert_eq!(home.read(), Some(AgentRecordReading::default()), "nothing proves it any more");
}

/// Codex 0.169 begins a service that keeps the rollouts of every Codex of the user: what it holds may be another pane's.
#[test]
fn what_a_service_of_the_agent_holds_is_no_proof() {
    let path = ".codex/sessions/2026/11/23/rollout-1.jsonl";
    let mut home = Home::of("codex", None);
    let line = "{\"type\":\"session_meta\",\"payload\":{\"source\":\"vscode\",\"id\":\"5-e\"}}\n";
    home.write(path, line);
    let holder = |program: &[&str]| {
        let file = File::open(home.home.path().join(path)).unwrap();
        let mut command = Command::new(program[0]);
        command.args(&program[1..]).arg("4711").env_clear().env("PATH", "/usr/bin:/bin").env("HOME", home.home.path());
        command.stdin(file).spawn().unwrap()
    };
    let (mut service, mut child) = (holder(&["setsid", "sleep"]), holder(&["sleep"]));
    let wait = || proc::process(service.id()).is_some_and(|process| process.name == "sleep");
    while !wait() {
        std::thread::yield_now();
    }
    let mut session = |process: u32| {
        let mut agent = home.agent();
        agent.processes.push(process);
        home.now = home.now + Span::SECOND;
        let (_, reading) = home.records.read(&[agent], home.now).pop().unwrap();
        reading.facts.text(FactName::Session).map(str::to_owned)
    };
    let reported = (session(service.id()), session(child.id()));
    for process in [&mut service, &mut child] {
        process.kill().unwrap();
        process.wait().unwrap();
    }
    assert_eq!(reported, (None, Some("5-e".to_owned())));
}

#[test]
fn the_first_reading_is_of_now_however_much_was_written_before() {
    let path = ".codex/sessions/2026/11/22/rollout-1.jsonl";
    let mut home = Home::of("codex", Some(path));
    home.append(path, "{\"type\":\"session_meta\",\"payload\":{\"source\":\"cli\",\"id\":\"first\"}}\n");
    home.append(path, "{\"type\":\"event_msg\",\"payload\":{\"type\":\"task_started\"}}\n");
    let filler = format!("{{\"x\":\"{}\"}}\n", "y".repeat(1 << 20));
    (0..3).for_each(|_| home.append(path, &filler));
    home.append(path, "{\"type\":\"event_msg\",\"payload\":{\"type\":\"task_complete\"}}\n");
    assert_eq!(home.phase(), Some(RecordedPhase::Idle));
}

#[test]
fn a_long_file_is_read_from_near_its_end_and_at_its_head_and_long_lines_are_left_out() {
    let path = ".codex/sessions/2026/11/22/rollout-1.jsonl";
    let mut home = Home::of("codex", Some(path));
    home.append(path, "{\"type\":\"session_meta\",\"payload\":{\"source\":\"cli\",\"id\":\"first\"}}\n");
    home.append(path, "{\"type\":\"event_msg\",\"payload\":{\"type\":\"user_message\",\"message\":\"long ago\"}}\n");
    let filler = format!("{{\"x\":\"{}\"}}\n", "y".repeat(1 << 20));
    (0..5).for_each(|_| home.append(path, &filler));
    let begun = "{\"type\":\"event_msg\",\"payload\":{\"type\":\"task_started\"}}\n";
    home.append(path, begun);
    let reading = home.read().unwrap();
    assert_eq!(reading.turn.unwrap().phase, RecordedPhase::Active);
    let session = reading.facts.get(FactName::Session).unwrap();
    assert_eq!(session.value, FactValue::Text("first".to_owned()), "it stands at the head");
    assert_eq!(reading.facts.text(FactName::LastPrompt), None, "what was said at the beginning is not read");
    home.append(path, &format!("\"{}\n", "z".repeat(6 << 20)));
    home.append(path, "{\"type\":\"event_msg\",\"payload\":{\"type\":\"turn_aborted\"}}\n");
    let read = (0..10).find_map(|_| home.read()).unwrap();
    assert_eq!(read.turn.unwrap().phase, RecordedPhase::Idle);
    assert!(home.records.agents.values().all(|state| state.open().all(|(_, open)| open.half.len() <= LINE)));
}

#[test]
fn links_out_of_the_folder_and_pipes_are_left_alone() {
    let mut home = Home::of("claude", None);
    let outside = tempfile::NamedTempFile::new().unwrap();
    let (id, began) = (home.agent.id(), home.began());
    let json = format!(r#"{{"pid":{id},"sessionId":"5-e","procStart":"{began}","status":"busy"}}"#);
    fs::write(outside.path(), &json).unwrap();
    let file = home.home.path().join(format!(".claude/sessions/{id}.json"));
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    symlink(outside.path(), &file).unwrap();
    assert_eq!(home.read(), Some(AgentRecordReading::default()));
    fs::remove_file(&file).unwrap();
    assert!(Command::new("mkfifo").arg(&file).status().unwrap().success());
    assert_eq!(home.read(), None, "and nobody waits at the pipe");
    fs::remove_file(&file).unwrap();
    home.status(began, "busy", "");
    assert_eq!(home.phase(), Some(RecordedPhase::Active));
}

#[test]
fn an_agent_that_stands_still_is_read_less_often() {
    let path = ".codex/sessions/2026/11/22/rollout-1.jsonl";
    let mut home = Home::of("codex", Some(path));
    let event = |kind: &str| format!("{{\"type\":\"event_msg\",\"payload\":{{\"type\":\"{kind}\"}}}}\n");
    home.append(path, "{\"type\":\"session_meta\",\"payload\":{\"source\":\"cli\"}}\n");
    home.append(path, &event("task_started"));
    assert_eq!(home.phase(), Some(RecordedPhase::Active));
    home.append(path, &event("turn_aborted"));
    let still = [RecordedAgent { is_changing: false, ..home.agent() }];
    let soon = home.now + FOLLOWS - Span::from_millis(1);
    assert_eq!(home.records.read(&still, soon).len(), 1, "its record may follow what its screen showed");
    home.append(path, &event("task_started"));
    assert!(home.records.read(&still, soon + Span::from_millis(1999)).is_empty());
    assert_eq!(home.records.read(&still, soon + READ_STILL).len(), 1);
}

/// The facts that are known, each with where it comes from.
fn known(reading: &AgentRecordReading) -> Vec<String> {
    let facts = reading.facts.iter();
    facts.map(|(name, fact)| format!("{name} {} ({})", fact.value.to_string().trim_end(), fact.source)).collect()
}

#[test]
fn a_session_of_the_directory_gives_facts_that_are_unsure_and_no_state() {
    let mut home = Home::at_work("pi");
    let (file, _) = home.write_session();
    let sample = home.sample("pi-0.74.2.jsonl");
    home.write(&file.replace("_01", "_02"), &sample.replace("/shop\"", "/other\"").replace("mock-1", "another"));
    let reading = home.read().unwrap();
    let reported = known(&reading);
    for wanted in ["model mock-1 (directory)", "context_used 1242 (directory)", "cost_usd 0.01 (directory)"] {
        assert!(reported.iter().any(|fact| fact == wanted), "{wanted}: {reported:?}");
    }
    assert_eq!((reading.turn, reading.result), (None, None));

    // One that is not written any more since before the agent began is of another one.
    let old = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_600_000_000);
    File::options().write(true).open(home.home.path().join(&file)).unwrap().set_modified(old).unwrap();
    assert_eq!(home.read(), Some(AgentRecordReading::default()));
    home.write(&file, &sample);
    assert!(!home.read().unwrap().facts.is_empty());
    // What another process of the same kind writes there looks the same; a child of its own is part of it.
    let mut second = Home::worker(home.home.path(), "pi")();
    assert_eq!(home.read(), Some(AgentRecordReading::default()));
    second.kill().unwrap();
    second.wait().unwrap();
    assert!(!home.read().unwrap().facts.is_empty());
}

/// Codex 0.171 has its rollouts written by a service that it starts, and that stays when it has gone.
#[test]
fn what_a_service_writes_is_found_by_the_directory_until_the_agent_writes_itself() {
    let mut home = Home::at_work("codex");
    let path = |name: &str| format!(".codex/sessions/2026/11/22/rollout-{name}.jsonl");
    let by_itself = home.sample("codex-0.169.0.jsonl");
    let by_service = by_itself.replacen(r#""source": "cli""#, r#""source": "vscode""#, 1);
    home.write(&path("1"), &by_itself);
    home.write(&path("2"), &by_service.replace("/shop\"", "/other\""));
    home.write(&path("3"), &by_service.replacen("codex-tui", "codex_vscode", 1));
    assert!(home.read().unwrap().facts.is_empty(), "these are of others");
    home.write(&path("4"), &by_service);
    let reading = home.read().unwrap();
    let reported = known(&reading);
    assert!(reported.iter().any(|fact| fact.starts_with("last_prompt ")), "{reported:?}");
    assert!(reported.iter().all(|fact| fact.ends_with(" (directory)")), "{reported:?}");
    assert_eq!((reading.turn, reading.result), (None, None));

    let folder = home.home.path().to_owned();
    let shop = folder.join("shop");
    let begin = |program: &Path, first: &str, input: Stdio| {
        let mut command = Command::new(program);
        command.arg(first).arg("-f").current_dir(&shop).env_clear().env("HOME", &folder).stdin(input);
        command.spawn().unwrap()
    };
    // It has its name, and waits for more of a file that is called as its argument is.
    let program = folder.join("bin/codex");
    fs::create_dir(program.parent().unwrap()).unwrap();
    symlink("/usr/bin/tail", &program).unwrap();
    fs::write(shop.join("app-server"), "").unwrap();
    fs::write(shop.join("a-prompt"), "").unwrap();
    let mut service = begin(&program, "app-server", Stdio::null());
    wait_for_environment(&service);
    let beside_service = home.read();
    let mut second = begin(&program, "a-prompt", Stdio::null());
    wait_for_environment(&second);
    let beside_second = home.read();
    second.kill().unwrap();
    second.wait().unwrap();
    let held = File::open(folder.join(path("4"))).unwrap();
    let mut writer = begin(Path::new("/usr/bin/tail"), "a-prompt", held.into());
    wait_for_environment(&writer);
    let mut agent = home.agent();
    agent.processes.push(writer.id());
    home.now = home.now + home.pause;
    let (_, by_writer) = home.records.read(&[agent], home.now).pop().unwrap();
    for process in [&mut service, &mut writer] {
        process.kill().unwrap();
        process.wait().unwrap();
    }
    assert_eq!(beside_service, None, "a service is no other agent");
    assert_eq!(beside_second, Some(AgentRecordReading::default()));
    let reported = known(&by_writer);
    assert!(reported.len() > 2 && reported.iter().all(|fact| fact.ends_with(" (record)")), "{reported:?}");
    assert!(by_writer.turn.is_some());
}

#[test]
fn the_folder_that_stands_for_a_directory_is_found_by_what_it_says() {
    let mut home = Home::at_work("gemini");
    let shop = home.home.path().canonicalize().unwrap().join("shop");
    home.write(".gemini/tmp/other/.project_root", "/home/other");
    home.write(".gemini/tmp/other/chats/session-2.jsonl", &home.sample("gemini-0.61.0.jsonl").replace("2.5", "9"));
    home.write(".gemini/tmp/shop-1/.project_root", shop.to_str().unwrap());
    assert!(home.read().unwrap().facts.is_empty());
    home.write(".gemini/tmp/shop-1/chats/session-1.jsonl", &home.sample("gemini-0.61.0.jsonl"));
    let reported = known(&home.read().unwrap());
    for wanted in ["model gemini-2.5-pro (directory)", "last_prompt plan it (directory)", "tokens_in 3600 (directory)"]
    {
        assert!(reported.iter().any(|fact| fact == wanted), "{wanted}: {reported:?}");
    }
}

#[test]
fn a_text_is_read_line_by_line_and_its_last_session_counts() {
    let mut home = Home::at_work("aider");
    home.write("shop/.aider.chat.history.md", &home.sample("aider-0.86.2.md"));
    assert!(home.read().unwrap().facts.is_empty(), "the last session has said nothing yet");
    let more = "\n> Main model: anthropic/opus with diff edit format  \n\n#### /add src/cart.py  \n#### what is it?  \n\nIt.\n\n\
        > Tokens: 1.2k sent, 14 received. Cost: $0.01 message, $0.03 session.\n\
        > Tokens: 2k sent, 1.1k cache hit, 1,006 received. Cost: $0.02 message, $0.05 session.\n";
    home.append("shop/.aider.chat.history.md", more);
    let reported = known(&home.read().unwrap());
    let wanted = [
        "model anthropic/opus (directory)",
        "context_used 2000 (directory)",
        "tokens_in 3200 (directory)",
        "tokens_out 1020 (directory)",
        "cost_usd 0.05 (directory)",
        "last_prompt what is it? (directory)",
    ];
    assert_eq!(reported, wanted);
}

#[test]
fn a_database_is_asked_for_the_session_of_the_directory() {
    let mut home = Home::at_work("opencode");
    let connection = home.write_session().1.unwrap();
    connection.execute_batch("UPDATE session SET time_updated = 1000000000000").unwrap();
    assert!(home.read().unwrap().facts.is_empty(), "it was last used before the agent began");
    connection.execute_batch("UPDATE session SET time_updated = 2000000000000").unwrap();
    let reported = known(&home.read().unwrap());
    let wanted = ["model mock-1 (directory)", "last_prompt plan it (directory)", "tokens_in 3600 (directory)"];
    for wanted in wanted {
        assert!(reported.iter().any(|fact| fact == wanted), "{wanted}: {reported:?}");
    }
    assert_eq!(home.read(), None, "nothing has changed");
    assert!(reported.contains(&"plan 1/3 (directory)".to_owned()), "{reported:?}");
    // Another version's tables lack what one question asks for; the others are answered.
    connection.execute_batch("ALTER TABLE session DROP COLUMN cost; UPDATE session SET title = 'new'").unwrap();
    let reported = known(&home.read().unwrap());
    assert!(
        reported.contains(&"title new (directory)".to_owned())
            && !reported.iter().any(|it| it.starts_with("tokens_in"))
    );
}

/// Watching changes nothing: a database that nobody has open is read without the files that SQLite would make beside it.
#[test]
fn nothing_is_created_beside_a_database() {
    let mut home = Home::at_work("opencode");
    let folder = home.home.path().join(".local/share/opencode");
    drop(home.write_session());
    let files = || fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
    assert_eq!(files(), ["opencode.db"]);
    assert!(known(&home.read().unwrap()).contains(&"model mock-1 (directory)".to_owned()));
    assert_eq!(files(), ["opencode.db"]);
    // What only the log holds cannot be read without its index.
    fs::write(folder.join("opencode.db-wal"), "x").unwrap();
    assert_eq!(home.read(), None, "what was known is kept");
    let mut files = files();
    files.sort();
    assert_eq!(files, ["opencode.db", "opencode.db-wal"]);
}

#[test]
fn a_database_that_is_busy_loses_nothing() {
    let mut home = Home::at_work("opencode");
    let connection = home.write_session().1.unwrap();
    connection.execute_batch("PRAGMA journal_mode = DELETE; UPDATE session SET title = 'old'").unwrap();
    assert!(known(&home.read().unwrap()).contains(&"title old (directory)".to_owned()));
    connection.execute_batch("UPDATE session SET title = 'new'").unwrap();
    connection.execute_batch("BEGIN EXCLUSIVE").unwrap();
    assert_eq!(home.read(), None, "what was known is kept");
    connection.execute_batch("COMMIT").unwrap();
    assert!(known(&home.read().unwrap()).contains(&"title new (directory)".to_owned()), "it is asked again");
}

#[test]
fn all_questions_together_have_an_end() {
    let home = Home::at_work("opencode");
    let path = home.home.path().join("a b%.db");
    rusqlite::Connection::open(&path).unwrap().execute_batch("CREATE TABLE one (name)").unwrap();
    let at = Workplace { directory: PathBuf::from("/"), began: Timestamp::default() };
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) AS many FROM n";
    let reported = |queries: &[&str]| {
        let queries: Vec<String> = queries.iter().map(|query| (*query).to_owned()).collect();
        let answers = database::query(&path, &queries, &at);
        (answers.rows, answers.ended)
    };
    let one = json!({ "session": "1", "one": [1], "text": "[", "part": 0.5, "blob": null });
    let first = "SELECT '1' AS session, '[1]' AS one, '[' AS text, 0.5 AS part, x'00' AS blob";
    assert_eq!(reported(&[first, "SELECT another FROM version"]), (vec![one.clone()], Ok(())));
    let asked = (vec![one, json!({ "about": "1", "where": "/" })], Err(Unanswered::TooLong));
    let second = "SELECT :session AS about, :directory AS 'where'";
    assert_eq!(reported(&[first, second, endless, first]), asked, "there is no time left for another");
}

/// A prompt in a Claude Code transcript, of a length and written at a second.
fn prompt(second: u32, text: &str) -> String {
    format!(
        "{{\"type\":\"user\",\"timestamp\":\"2026-11-22T08:00:{second:02}.000Z\",\"message\":{{\"content\":\"{text}\"}}}}\n"
    )
}

fn texts(said: &[crate::agent_record::Said]) -> Vec<&str> {
    said.iter().map(|said| &*said.text).filter(|text| !text.is_empty()).collect()
}

/// A record may have megabytes and is asked for each second: what was read is not read again.
#[test]
fn of_a_transcript_only_what_was_added_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("5-e.jsonl");
    let sources = ProfileSet::builtin().records("claude");
    let source = sources.iter().find(|source| source.is_transcript()).unwrap();
    let late = Timestamp::from_millis(i64::MAX);
    let mut transcript = RecordedTranscript::default();
    assert!(transcript.up_to(&path, source, late).is_none());
    let begin = prompt(1, "first") + &prompt(2, "second") + &"x".repeat(100) + "\n";
    fs::write(&path, format!("{begin}{{\"half\":")).unwrap();
    let before = transcript.up_to(&path, source, late).unwrap();
    assert_eq!(texts(&before), ["first", "second"]);
    assert!(Arc::ptr_eq(&before, &transcript.up_to(&path, source, late).unwrap()), "nothing new was said");

    // Nobody does so: it shows what is read.
    let file = OpenOptions::new().read(true).write(true).open(&path).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, &vec![b'z'; prompt(1, "first").len()], 0).unwrap();
    let append = |text: &str| OpenOptions::new().append(true).open(&path).unwrap().write_all(text.as_bytes()).unwrap();
    append(&format!("1}}\n{}", prompt(3, "third")));
    assert_eq!(texts(&transcript.up_to(&path, source, late).unwrap()), ["first", "second", "third"]);
    let second = Timestamp::from_millis("2026-11-22T08:00:02Z".parse::<jiff::Timestamp>().unwrap().as_millisecond());
    assert_eq!(texts(&transcript.up_to(&path, source, second).unwrap()), ["first", "second"]);
    assert_eq!(texts(&transcript.up_to(&path, source, late).unwrap()), ["first", "second", "third"]);

    // It is another one: shorter, or of the same name and longer.
    fs::write(&path, prompt(4, "anew")).unwrap();
    assert_eq!(texts(&transcript.up_to(&path, source, late).unwrap()), ["anew"]);
    fs::write(&path, prompt(5, "another") + &prompt(6, "and more")).unwrap();
    assert_eq!(texts(&transcript.up_to(&path, source, late).unwrap()), ["another", "and more"]);
    let other = folder.path().join("6-f.jsonl");
    fs::write(&other, prompt(7, "other")).unwrap();
    assert_eq!(texts(&transcript.up_to(&other, source, late).unwrap()), ["other"]);
}

#[test]
fn a_transcript_has_the_end_of_a_long_record_however_it_grew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("5-e.jsonl");
    let sources = ProfileSet::builtin().records("claude");
    let source = sources.iter().find(|source| source.is_transcript()).unwrap();
    let late = Timestamp::from_millis(i64::MAX);
    let filler = format!("{{\"x\":\"{}\"}}\n", "y".repeat(5 << 20));
    let mut transcript = RecordedTranscript::default();
    fs::write(&path, prompt(1, "first") + &filler + &prompt(2, "second") + &filler).unwrap();
    assert_eq!(texts(&transcript.up_to(&path, source, late).unwrap()), ["first", "second"]);
    let append = |text: &str| OpenOptions::new().append(true).open(&path).unwrap().write_all(text.as_bytes()).unwrap();
    append(&(filler.clone() + &prompt(3, "third") + &filler));
    for transcript in [&mut transcript, &mut RecordedTranscript::default()] {
        assert_eq!(
            texts(&transcript.up_to(&path, source, late).unwrap()),
            [crate::agent_record::GAP, "second", "third"]
        );
    }
}

#[test]
fn names_fit_patterns_part_by_part() {
    assert!(fits(Path::new("a/rollout-1.jsonl"), "*/rollout-*.jsonl"));
    assert!(!fits(Path::new("a/b/rollout-1.jsonl"), "*/rollout-*.jsonl"));
    assert!(!fits(Path::new("a/x-rollout-1.jsonl"), "*/rollout-*.jsonl"));
    assert!(!part_fits("ab", "ab*b"), "begin and end do not overlap");
    for bad in ["", "..", "a/b", "a.b", "x\n"] {
        assert!(!is_plain(bad), "{bad:?}");
    }
}

/// What a recording keeps says at each time what was said then, also of files that are begun anew, go and come.
#[test]
fn what_is_kept_for_a_recording_says_the_same() {
    for depth in [RecordDepth::Named, RecordDepth::Whole] {
        let mut home = Home::of("claude", None);
        home.records = AgentRecords::kept(RecordKeeping { depth, since: None });
        let mut files = RecordedFiles::new(home.agent().sources);
        let mut said = AgentRecordReading::default();
        let mut added: Vec<(bool, usize)> = Vec::new();
        let mut check = |home: &mut Home| {
            said = home.read().unwrap_or_else(|| said.clone());
            for addition in home.records.additions(&home.agent()) {
                assert_eq!(
                    addition.path.starts_with("projects/-home-dev/"),
                    addition.source.contains("{session}") && !addition.path.is_empty()
                );
                files.take(&addition, home.now);
                if addition.source.starts_with("tasks/") {
                    continue;
                }
                added.push((addition.is_anew, addition.lines.len()));
            }
            // Where the files are is not recorded.
            let mut kept = files.reading();
            let place = said.facts.get(FactName::Transcript).cloned();
            place.into_iter().for_each(|place| kept.facts.put(FactName::Transcript, place));
            assert_eq!(kept, said);
            std::mem::take(&mut added)
        };
        assert_eq!(check(&mut home), [(true, 0), (true, 0)]);
        home.status(home.began(), "busy", "");
        let path = ".claude/projects/-home-dev/5-e.jsonl";
        let line = |model: &str| format!("{{\"type\":\"assistant\",\"message\":{{\"model\":\"{model}\"}}}}\n");
        home.write(path, &line("first").repeat(2));
        assert_eq!(check(&mut home), [(true, 1), (true, 2)]);
        home.append(path, &line("second"));
        assert_eq!(check(&mut home), [(false, 1)]);
        assert_eq!(check(&mut home), []);
        home.write(path, &line("third"));
        home.status(home.began(), "idle", "");
        assert_eq!(check(&mut home), [(false, 1), (true, 1)]);
        fs::remove_file(home.home.path().join(path)).unwrap();
        assert_eq!(check(&mut home), [(true, 0)]);
        fs::remove_file(home.home.path().join(format!(".claude/sessions/{}.json", home.agent.id()))).unwrap();
        assert_eq!(check(&mut home), [(true, 0)]);
    }
}

/// A recording begins when it begins: of what was written before it keeps what holds now, without what was said, and a
/// replay knows as much as who watched. So it is of a file that is found later, as of a session that is resumed.
#[test]
fn what_was_said_before_a_recording_began_is_not_in_it() {
    let mut home = Home::of("claude", None);
    home.records = AgentRecords::kept(RecordKeeping { depth: RecordDepth::Named, since: Some(home.now) });
    home.status(home.began(), "idle", "");
    let line = |at: Timestamp, kind: &str, rest: &str| {
        format!("{{\"timestamp\":\"{at}\",\"type\":\"{kind}\",\"message\":{{{rest}}}}}\n")
    };
    let turn = |at: Timestamp, words: &str| {
        let answer = format!(
            r#""id":"{words}","model":"opus","content":[{{"text":"{words} answered"}}],"usage":{{"output_tokens":7}}"#
        );
        let asked = line(at, "user", &format!("\"content\":\"{words} asked\""));
        asked + &line(at, "assistant", &answer)
    };
    let ended =
        |at: Timestamp| line(at, "system", "").replace("\"message\"", "\"subtype\":\"turn_duration\",\"message\"");
    let before = Timestamp::from_millis(home.now.as_millis() - 1);
    let old = turn(before, "first")
        + "{\"type\":\"permission-mode\",\"permissionMode\":\"plan\"}\n"
        + &turn(before, "second");
    home.write(".claude/projects/-home-dev/5-e.jsonl", &(old + &ended(before)));

    let mut files = RecordedFiles::new(home.agent().sources);
    let mut recorded = String::new();
    let mut check = |home: &mut Home| {
        let said = home.read().unwrap();
        for addition in home.records.additions(&home.agent()) {
            let written = serde_json::to_string(&addition).unwrap();
            files.take(&serde_json::from_str(&written).unwrap(), home.now);
            recorded += &written;
        }
        let mut kept = files.reading();
        let text = |name| kept.facts.text(name).map(str::to_owned);
        let texts = [text(FactName::LastPrompt), text(FactName::LastAnswer)];
        let is_unsaid = |name| [FactName::Transcript, FactName::LastPrompt, FactName::LastAnswer].contains(&name);
        said.facts
            .iter()
            .filter(|(name, _)| is_unsaid(*name))
            .for_each(|(name, fact)| kept.facts.put(name, fact.clone()));
        assert_eq!(kept, said);
        (texts, kept.facts.count(FactName::TokensOut), recorded.clone())
    };
    let (texts, tokens, recorded) = check(&mut home);
    assert_eq!((texts, tokens), ([None, None], Some(14)));
    assert!(recorded.contains("opus") && recorded.contains("plan") && recorded.contains("success"), "{recorded}");
    home.append(".claude/projects/-home-dev/5-e.jsonl", &turn(home.now, "third"));
    let (texts, tokens, recorded) = check(&mut home);
    assert_eq!(texts, [Some("third asked".to_owned()), Some("third answered".to_owned())]);
    assert_eq!(tokens, Some(21), "it counts on");
    assert!(!recorded.contains("first") && !recorded.contains("second asked"), "{recorded}");

    let resumed = turn(before, "earlier") + &turn(home.now, "later");
    home.write(".claude/projects/-home-dev/6-f.jsonl", &resumed);
    let path = format!(".claude/sessions/{}.json", home.agent.id());
    let status = fs::read_to_string(home.home.path().join(&path)).unwrap().replace("5-e", "6-f");
    home.write(&path, &status);
    home.now = home.now + FIND_AGAIN_STILL;
    let (texts, tokens, recorded) = check(&mut home);
    assert_eq!((texts[0].as_deref(), tokens), (Some("later asked"), Some(14)));
    assert!(!recorded.contains("earlier asked") && !recorded.contains("earlier answered"), "{recorded}");
}
