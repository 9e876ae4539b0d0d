//! The fleet over HTTP (SPEC §17): raw requests to the real binary, which watches a small agent in a real tmux server.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::copy_shell;
use crate::support::private_tmux::{PATIENCE, PrivateTmux, signal, wait_or_tell, wait_until};

/// A small agent in a tmux server, and directories of their own for what watches it.
pub struct Cage {
    pub tmux: PrivateTmux,
    home: TempDir,
}

/// What was answered.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Whether it says why not, in the form of all errors.
    pub fn is_denial(&self, status: u16, error: &str) -> bool {
        let body = self.json();
        let is_said = |field: &str| body[field].as_str().is_some_and(|text| !text.is_empty());
        self.status == status && is_said("error") && is_said("hint") && self.body.contains(error)
    }
}

impl Cage {
    pub fn new() -> Self {
        Self::with(include_str!("../support/parrot.toml"))
    }

    /// The same with another profile of the agent.
    pub fn with(profile: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let path = |name: &str| home.path().join(name);
        copy_shell("/bin/bash", path("parrot"));
        fs::create_dir_all(path("fleetwatch/profiles")).unwrap();
        fs::write(path("fleetwatch/profiles/parrot.toml"), profile).unwrap();
        fs::write(path("parrot.sh"), include_str!("../support/parrot.sh")).unwrap();
        fs::create_dir(path("run")).unwrap();
        let run = format!("exec '{}' '{}'", path("parrot").display(), path("parrot.sh").display());
        let tmux = PrivateTmux::start(&["bash", "--norc", "--noprofile", "-c", &run]);
        tmux.wait_for_text("main:", "❯");
        Self { tmux, home }
    }

    /// The directory in which state is kept.
    pub fn state(&self) -> PathBuf {
        self.home.path().join("state")
    }

    /// Writes the configuration.
    pub fn configure(&self, text: &str) {
        fs::write(self.home.path().join("fleetwatch/config.toml"), text).unwrap();
    }

    pub fn fleetwatch(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fleetwatch"));
        for variable in ["TMUX", "TMUX_PANE", "FLEETWATCH_CONFIG"] {
            command.env_remove(variable);
        }
        command.env("XDG_CONFIG_HOME", self.home.path()).env("XDG_STATE_HOME", self.home.path().join("state"));
        command.env("XDG_RUNTIME_DIR", self.home.path().join("run")).stdin(Stdio::null());
        command.args(["-L", self.tmux.name()]).args(arguments);
        command
    }

    pub fn printed(&self, arguments: &[&str]) -> String {
        let output = self.fleetwatch(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    pub fn token(&self, name: &str, more: &[&str]) -> String {
        self.printed(&[&["token", "add", name], more].concat()).trim().to_owned()
    }

    /// Starts `serve`, and waits until it has seen the agent.
    pub fn serve(&self, arguments: &[&str]) -> Server {
        let token = self.token("test", &[]);
        self.serve_to(token, arguments)
    }

    /// The same, to whoever has a token.
    pub fn serve_to(&self, token: String, arguments: &[&str]) -> Server {
        let server = self.serve_unasked(token, arguments);
        wait_until("the agent is served", || server.get("/v1/terminals/main").status == 200);
        server
    }

    /// The same, without asking it anything.
    pub fn serve_unasked(&self, token: String, arguments: &[&str]) -> Server {
        Server::start(self.fleetwatch(&[&["serve"], arguments].concat()), token)
    }

    /// Lets the agent end what it holds on to.
    pub fn let_go(&self) {
        fs::write(self.home.path().join("go"), "").unwrap();
    }

    pub fn ask(&self, what: &str) {
        self.tmux.run(&["send-keys", "-t", "main:", &format!("ask {what}"), "Enter"]);
        self.tmux.wait_for_text("main:", &format!("Allow {what}?"));
    }
}
/// A running `fleetwatch serve`.
pub struct Server {
    child: Child,
    /// `ADDRESS:PORT`, or the path of a socket.
    pub address: String,
    pub token: String,
    _out: BufReader<ChildStdout>,
}

/// Sends all of a request and reads all that is answered.
fn exchange(mut stream: impl Read + Write, request: &str) -> Answer {
    // Who is refused early may not take the rest.
    let _ = stream.write_all(request.as_bytes());
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer to {request}: {text:?}"));
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer { status, head: head.to_lowercase(), body: body.to_owned() }
}

impl Server {
    /// Starts it, and waits until it says where it listens.
    pub fn start(mut command: Command, token: String) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let place = line.trim().strip_prefix("listening on ").unwrap_or_else(|| panic!("{line}")).to_owned();
        Self {
            child,
            address: place.trim_start_matches("https://").trim_start_matches("http://").to_owned(),
            token,
            _out: out,
        }
    }

    /// Its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Kills it.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits until it has seen the agent ready itself: what happens from then on is news to it.
    pub fn wait_for_ready(&self) {
        wait_until("it has seen the agent", || self.get("/v1/terminals/main").json()["turn"]["phase"] == "ready");
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    pub fn raw(&self, request: &str) -> Answer {
        exchange(self.connect(), request)
    }

    fn get_with(&self, path: &str, headers: &str) -> Answer {
        self.raw(&format!("GET {path} HTTP/1.1\r\nConnection: close\r\n{headers}\r\n"))
    }

    pub fn get(&self, path: &str) -> Answer {
        self.get_with(path, &format!("Host: {}\r\nAuthorization: Bearer {}\r\n", self.address, self.token))
    }

    /// Asks for something to be done, under a key; again when the history was busy, which does nothing.
    pub fn post(&self, path: &str, key: &str, body: &str) -> Answer {
        (0..20)
            .map(|_| self.post_once(path, key, body))
            .find(|answer| answer.status != 503)
            .expect("the history is free")
    }

    fn post_once(&self, path: &str, key: &str, body: &str) -> Answer {
        let (address, token) = (&self.address, &self.token);
        self.raw(&format!(
            "POST {path} HTTP/1.1\r\nConnection: close\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
             Idempotency-Key: {key}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ))
    }

    /// Follows what happens, behind an event or from the beginning.
    fn follow(&self, heard: Option<&str>) -> Events {
        let mut stream = self.connect();
        let heard = heard.map(|heard| format!("Last-Event-ID: {heard}\r\n")).unwrap_or_default();
        let (address, token) = (&self.address, &self.token);
        let request =
            format!("GET /v1/events HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n{heard}\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        Events { lines: BufReader::new(stream), id: String::new() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        signal("TERM", self.child.id());
        let _ = self.child.wait();
    }
}

/// What a reader of events hears.
struct Events {
    lines: BufReader<TcpStream>,
    /// The name of the last event.
    id: String,
}

impl Events {
    /// The next event that satisfies a condition, with those before it, each as its name and what it says.
    fn until(&mut self, is_it: impl Fn(&str, &Value) -> bool) -> Vec<(String, Value)> {
        let (mut heard, mut name, mut id) = (Vec::new(), "message".to_owned(), None);
        loop {
            let mut line = String::new();
            assert!(self.lines.read_line(&mut line).unwrap() > 0, "the events ended: {heard:?}");
            // Lines of the chunks that the body is sent in stand between those of the events.
            match line.trim_end().split_once(": ") {
                Some(("id", reported)) => id = Some(reported.to_owned()),
                Some(("event", reported)) => name = reported.to_owned(),
                Some(("data", reported)) => {
                    let reported: Value = serde_json::from_str(reported).unwrap();
                    self.id = id.take().unwrap_or(std::mem::take(&mut self.id));
                    let is_it = is_it(&name, &reported);
                    heard.push((std::mem::replace(&mut name, "message".to_owned()), reported));
                    if is_it {
                        return heard;
                    }
                }
                _ => {}
            }
        }
    }
}

/// Takes out what passes with time.
fn without_ages(mut value: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            fields.retain(|name, _| !name.ends_with("_seconds") && name != "observed_at");
            fields.values_mut().for_each(|field| *field = without_ages(field.take()));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| *item = without_ages(item.take())),
        _ => {}
    }
    value
}

#[test]
fn http_says_what_the_command_line_says() {
    let cage = Cage::new();
    // What git tells comes a moment later, and between two of the requests.
    cage.configure("[watch]\ngit = false\n");
    let server = cage.serve(&["--listen", "127.0.0.1:0"]);
    cage.ask("rm -rf build");
    wait_until("the dialog is served", || server.get("/v1/terminals/main").json()["attention"] == "approval");
    let listed: Value = serde_json::from_str(&cage.printed(&["list", "--json"])).unwrap();
    let mut served = server.get("/v1/terminals").json();
    served.as_array_mut().unwrap().extend(server.get("/v1/tasks").json().as_array().unwrap().clone());
    assert_eq!(without_ages(served.clone()), without_ages(listed));
    // By its name, its pane's id, and with everything in the name spelled as URLs may.
    for id in ["main", "%250", "%6dain"] {
        assert_eq!(without_ages(server.get(&format!("/v1/terminals/{id}")).json()), without_ages(served[0].clone()));
    }
    let dialog = server.get("/v1/terminals/main/dialog").json();
    assert_eq!(dialog["id"], served[0]["assessment"]["dialog"]);
    assert_eq!((&dialog["text"][0], &dialog["whole"]), (&Value::from("Allow rm -rf build?"), &Value::from(true)));
    assert_eq!(dialog["options"][1]["label"], "No");
    let screen = server.get("/v1/terminals/main/screen").json();
    let row = |row: &Value| row.as_array().unwrap().iter().map(|run| run["text"].as_str().unwrap()).collect::<String>();
    assert!(
        screen["rows"].as_array().unwrap().iter().any(|it| row(it).trim_end() == "Allow rm -rf build?"),
        "{screen}"
    );
    let explained: Value = serde_json::from_str(&cage.printed(&["explain", "main", "--json"])).unwrap();
    let reported = server.get("/v1/terminals/main/explain").json();
    assert_eq!(reported["reading"], explained["reading"]);
    let transitions = server.get("/v1/terminals/main/transitions").json();
    assert!(transitions.as_array().is_some_and(|all| !all.is_empty()), "{transitions}");
    wait_until("the history is written", || {
        let reported = server.get("/v1/history?target=main&kind=transition").json();
        let printed = cage.printed(&["history", "main", "--kind", "transition", "--json"]);
        let printed: Vec<Value> = printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        !printed.is_empty() && reported == Value::from(printed)
    });
    assert_eq!(server.get("/v1/history?limit=1").json().as_array().map(Vec::len), Some(1));
    assert!(server.get("/v1/history?kind=nonsense").is_denial(400, "nonsense"));
    assert!(server.get("/v1/history?colour=red").is_denial(400, "colour"));
    assert!(server.get("/v1/terminals/mai").is_denial(404, "mai"), "a beginning of a name is none");
    assert!(server.get("/v1/nothing").is_denial(404, "nothing here"));
    // What was on a screen that is gone is not reported as if it were there.
    let gone = || server.get("/v1/terminals/main").json();
    cage.tmux.run(&["kill-server"]);
    wait_until("it is gone", || gone()["attention"] == "gone");
    let seen = server.get("/v1/terminals/main/screen").json()["at"].clone();
    assert_eq!((&seen, seen.is_string()), (&gone()["stale"]["at"], true));
    wait_until("it is polled again", || gone()["observed_at"].as_str() > seen.as_str());
    assert_eq!(server.get("/v1/terminals/main/screen").json()["at"], seen);
}

#[test]
fn turns_that_ended_before_anybody_watched_are_not_counted() {
    let cage = Cage::new();
    let say = |what: &str| {
        cage.tmux.run(&["send-keys", "-t", "main:", what, "Enter"]);
        cage.tmux.wait_for_text("main:", &format!("● heard {what}"));
    };
    say("early");
    let server = cage.serve(&["--listen", "127.0.0.1:0"]);
    let rests = |server: &Server| {
        let state = server.get("/v1/terminals/main").json();
        // An end is one when it has stood for a second.
        state["turn"]["phase"] == "ready"
            && state["stability"]["stable_for_seconds"].as_f64().is_some_and(|it| it > 2.0)
    };
    let count = |server: &Server, name: &str| {
        let reported = server.get("/metrics").body;
        let value = |line: &str| line.rsplit_once(' ').unwrap().1.parse::<f64>().unwrap();
        reported.lines().filter(|line| line.starts_with(name)).map(value).sum::<f64>()
    };
    wait_until("it has been polled for a while", || rests(&server));
    assert_eq!(count(&server, "fleetwatch_turns_total"), 0.0, "{}", server.get("/metrics").body);
    // Work that no poll misses, however busy the machine is.
    say("nap 3");
    wait_until("the turn is counted", || count(&server, "fleetwatch_turns_total") == 1.0);
    // What began while nobody watched took nobody knows how long, and what ended then is not counted.
    drop(server);
    say("nap 4");
    cage.tmux.run(&["send-keys", "-t", "main:", "hold", "Enter"]);
    cage.tmux.wait_for_text("main:", "working");
    let server = cage.serve_to(cage.token("again", &[]), &["--listen", "127.0.0.1:0"]);
    wait_until("it is seen at work", || server.get("/v1/terminals/main").json()["turn"]["phase"] == "active");
    cage.let_go();
    wait_until("that one is counted", || count(&server, "fleetwatch_turns_total") == 1.0);
    let reported = server.get("/v1/terminals/main/transitions").body;
    assert_eq!(count(&server, "fleetwatch_turn_seconds_count"), 0.0, "{reported}");
}

#[test]
fn what_is_served_is_written_down_as_openapi_and_counted() {
    let cage = Cage::new();
    let server = cage.serve_to(cage.token("phone", &["--scope", "act"]), &["--listen", "127.0.0.1:0"]);
    cage.ask("one");
    let dialog = || server.get("/v1/terminals/main/dialog").json();
    wait_until("the dialog is served", || !dialog().is_null());
    let body = serde_json::json!({ "dialog": dialog()["id"], "choice": "yes" }).to_string();
    assert_eq!(server.post("/v1/terminals/main/answer", "a", &body).status, 200);
    let numbers = || server.get("/metrics");
    // Prometheus sees no rise of what was not there before.
    let none = "fleetwatch_inputs_total{input=\"prompt\",outcome=\"accepted\",sender=\"queue\"} 0\n";
    assert!(numbers().body.contains(none), "{}", numbers().body);
    let counted = [
        "fleetwatch_terminals{state=\"finished\",agent=\"parrot\",host=\"\"} 1\n",
        "fleetwatch_wait_seconds_count{state=\"approval\",agent=\"parrot\",host=\"\"} 1\n",
        "fleetwatch_longest_wait_seconds{host=\"\"} 0.0\n",
        "fleetwatch_inputs_total{input=\"answer\",outcome=\"accepted\",sender=\"token\"} 1\n",
        "fleetwatch_turn_seconds_count{result=\"success\",agent=\"parrot\",host=\"\"} ",
        "fleetwatch_turns_total{result=\"success\",agent=\"parrot\",host=\"\"} ",
        "fleetwatch_server_up{server=",
        "fleetwatch_server_poll_seconds{server=",
        "# EOF\n",
    ];
    cage.tmux.wait_for_text("main:", "● answered");
    cage.tmux.run(&["send-keys", "-t", "main:", "hello", "Enter"]);
    let is_counted = || {
        let reported = numbers().body;
        counted.iter().all(|line| reported.contains(line))
    };
    wait_or_tell("all is counted", is_counted, || numbers().body);
    assert!(numbers().head.contains("content-type: application/openmetrics-text; version=1.0.0"), "{}", numbers().head);
    let open = |path: &str| server.get_with(path, &format!("Host: {}\r\n", server.address));
    assert!(open("/metrics").is_denial(401, "no token"));
    let page = open("/");
    assert!(page.status == 200 && page.head.contains("script-src 'sha256-") && page.body.contains("<title>fleetwatch"));
    // Every route that is written down is there, with its method, and the other way round.
    let api = open("/openapi.json").json();
    let paths = api["paths"].as_object().unwrap();
    assert!(paths.len() > 12, "{paths:?}");
    for (path, methods) in paths {
        let path = path.replace("{id}", "main");
        for method in methods.as_object().unwrap().keys() {
            let answer = match method.as_str() {
                "get" if path == "/v1/events" => continue,
                "get" => server.get(&path),
                _ => server.post(&path, "b", "{}"),
            };
            assert!(!matches!(answer.status, 404 | 405), "{method} {path}: {answer:?}");
        }
    }
    let described = include_str!("../../../docs/serving.md");
    for path in paths.keys() {
        assert!(described.contains(&path.replace("{id}", "ID")), "docs/serving.md does not tell of {path}");
    }
}

#[test]
fn whoever_may_not_ask_is_told_so() {
    let cage = Cage::new();
    let server = cage.serve(&["--listen", "127.0.0.1:0"]);
    let ended = cage.token("ended", &["--for", "1ms"]);
    let (address, token) = (server.address.clone(), server.token.clone());
    let port = address.rsplit(':').next().unwrap();
    let ask = |host: &str, more: &str| {
        server.get_with("/v1/terminals", &format!("Host: {host}\r\nAuthorization: Bearer {token}\r\n{more}"))
    };
    assert_eq!(ask(&address, "").status, 200);
    assert!(ask(&address, "").head.contains("fleetwatch-scope: read"), "nobody offers what is refused");
    assert_eq!(ask(&format!("localhost:{port}"), &format!("Origin: http://localhost:{port}\r\n")).status, 200);
    // A page in the operator's browser, under a name that leads here or from its own place.
    assert!(ask(&format!("evil.example:{port}"), "").is_denial(421, "name"));
    assert!(ask(&address, "Host: localhost\r\n").is_denial(421, "name"), "two are none");
    for origin in ["http://evil.example", "null", "http://localhost:1", "file://"] {
        let answer = ask(&address, &format!("Origin: {origin}\r\n"));
        assert!(answer.is_denial(403, "other origins"), "{origin}: {answer:?}");
        assert!(!answer.head.contains("access-control"), "{answer:?}");
    }
    // Somebody else on the machine.
    for authorization in
        ["", "Authorization: Bearer\r\n", "Authorization: Bearer fwt_0\r\n", "Authorization: Basic eA==\r\n"]
    {
        let answer = server.get_with("/v1/terminals", &format!("Host: {address}\r\n{authorization}"));
        assert!(answer.is_denial(401, "token"), "{authorization}: {answer:?}");
        assert!(answer.head.contains("www-authenticate: bearer"), "{answer:?}");
    }
    let answer = server.get_with("/v1/terminals", &format!("Host: {address}\r\nAuthorization: Bearer {ended}\r\n"));
    assert!(answer.is_denial(401, "expired"), "{answer:?}");
    assert!(server.get(&format!("/v1/terminals?token={token}")).status == 200);
    let answer = server.get_with(&format!("/v1/terminals?token={token}"), &format!("Host: {address}\r\n"));
    assert!(answer.is_denial(401, "no token"), "an address is written down in too many places");
    let open = server.get_with("/healthz", &format!("Host: {address}\r\n"));
    assert_eq!((open.status, open.body.as_str()), (200, "{\"ok\":true}"));
    assert_eq!(
        server.raw(&format!("HEAD /healthz HTTP/1.1\r\nConnection: close\r\nHost: {address}\r\n\r\n")).status,
        200
    );
    for header in
        ["cache-control: no-store", "x-content-type-options: nosniff", "content-security-policy: default-src 'none'"]
    {
        assert!(open.head.contains(header), "{open:?}");
    }
    assert!(server.raw(&format!("DELETE /v1/terminals HTTP/1.1\r\nConnection: close\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\r\n")).is_denial(405, "method"));
    // A token that is taken back is none from then on.
    cage.printed(&["token", "revoke", "test"]);
    assert!(ask(&address, "").is_denial(401, "not known"));
    let listed: Value = serde_json::from_str(&cage.printed(&["token", "list", "--json"])).unwrap();
    let names: Vec<&Value> = listed.as_array().unwrap().iter().map(|token| &token["name"]).collect();
    assert_eq!((names, listed[0].get("hash")), (vec![&Value::from("ended")], None));
    let file = cage.home.path().join("state/fleetwatch/tokens.json");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn events_go_on_where_they_were_cut() {
    let cage = Cage::new();
    let server = cage.serve(&["--listen", "127.0.0.1:0"]);
    let mut events = server.follow(None);
    let begun = events.until(|name, _| name == "current");
    assert_eq!(begun[0].0, "reset");
    let states: Vec<&Value> =
        begun.iter().filter(|(name, _)| name == "message").map(|(_, reported)| reported).collect();
    assert_eq!((states.len(), &states[0]["kind"], &states[0]["terminal"]), (1, &"state".into(), &"main".into()));
    cage.ask("one");
    let asks = |_: &str, reported: &Value| reported["state"]["attention"] == "approval";
    let mut all = events.until(asks);
    let heard = events.id.clone();
    drop(events);
    // What happens while nobody follows is sent once, and nothing twice.
    cage.tmux.run(&["send-keys", "-t", "main:", "1"]);
    wait_until("the answer was seen", || server.get("/v1/terminals/main").json()["attention"] != "approval");
    cage.ask("two");
    let is_two = |_: &str, reported: &Value| {
        reported["state"]["assessment"]["operator_excerpt"].as_str().is_some_and(|text| text.contains("Allow two?"))
    };
    let mut events = server.follow(Some(&heard));
    all.extend(events.until(is_two));
    assert!(all.iter().all(|(name, _)| name == "message"), "{all:?}");
    let mut whole = server.follow(Some(&heard));
    let again = whole.until(is_two);
    assert!(all.ends_with(&again) && whole.id == events.id);
    let changes: Vec<&Value> =
        all.iter().map(|(_, reported)| reported).filter(|reported| reported["kind"] == "transition").collect();
    let of = |line: &Value| (line["at"].clone(), line["changed"].clone());
    let changes: Vec<_> = changes.into_iter().map(of).collect();
    assert!(changes.len() >= 3, "{all:?}");
    wait_until("the history has each of them once", || {
        let reported = cage.printed(&["history", "main", "--kind", "transition", "--json"]);
        let kept: Vec<Value> = reported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        kept.iter().map(of).collect::<Vec<_>>().ends_with(&changes)
    });
    // Numbers of another run, and nonsense, begin again.
    for heard in ["1-1", "x", ""] {
        assert_eq!(server.follow(Some(heard)).until(|_, _| true)[0].0, "reset", "{heard:?}");
    }
}

#[test]
fn who_has_no_token_any_more_hears_no_more_however_much_happens() {
    let cage = Cage::new();
    let server = cage.serve(&["--listen", "127.0.0.1:0"]);
    let mut events = server.follow(None);
    events.until(|name, _| name == "current");
    cage.printed(&["token", "revoke", "test"]);
    thread::scope(|scope| {
        let reading =
            scope.spawn(move || while events.lines.read_line(&mut String::new()).is_ok_and(|read| read > 0) {});
        let (mut keys, mut pressed) = (["x", "BSpace"].into_iter().cycle(), Instant::now());
        wait_until("the events end", || {
            // Drafts that come and go are sent, each long before it is silent for a heart-beat.
            if pressed.elapsed() > Duration::from_secs(1) {
                cage.tmux.run(&["send-keys", "-t", "main:", keys.next().unwrap()]);
                pressed = Instant::now();
            }
            reading.is_finished()
        });
    });
}

#[test]
fn who_is_slow_or_says_too_much_is_let_go() {
    let cage = Cage::new();
    let server = cage.serve(&["--listen", "127.0.0.1:0"]);
    // Half a head, and nothing more.
    let mut slow = server.connect();
    slow.write_all(b"GET /healthz HTTP/1.1\r\nHost: local").unwrap();
    let huge = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\nX: {}\r\n\r\n", server.address, "x".repeat(100_000));
    assert_eq!(server.raw(&huge).status, 431);
    // Many who follow and read nothing, as far as they may, keep nobody from asking.
    let deaf: Vec<Events> = (0..50).map(|_| server.follow(None)).collect();
    assert_eq!(server.get("/v1/terminals").status, 200);
    let mut rest = Vec::new();
    let _ = slow.read_to_end(&mut rest);
    assert!(!String::from_utf8_lossy(&rest).contains("200 OK"), "it was let go");
    let too_often = (0..400).map(|_| server.get("/v1/tasks")).find(|answer| answer.status != 200);
    assert!(
        too_often
            .is_some_and(|answer| answer.is_denial(429, "too many requests") && answer.head.contains("retry-after: 1"))
    );
    drop(deaf);
}

#[test]
fn a_socket_is_this_users_alone_and_goes_with_its_server() {
    let cage = Cage::new();
    let path = cage.home.path().join("run/fleet.sock");
    let place = path.to_str().unwrap();
    let token = cage.token("socket", &[]);
    let mut child = cage.fleetwatch(&["serve", "--unix", place]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line.trim(), format!("listening on {place}"));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let ask = |more: &str| {
        let request = format!("GET /v1/tasks HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{more}\r\n");
        exchange(UnixStream::connect(&path).unwrap(), &request)
    };
    assert_eq!(ask(&format!("Authorization: Bearer {token}\r\n")).body, "[]");
    assert!(ask("").is_denial(401, "no token"));
    let second = cage.fleetwatch(&["serve", "--unix", place]).output().unwrap();
    assert_eq!(second.status.code(), Some(1), "somebody listens there: {second:?}");
    // Killed, it leaves its socket behind, which the next one replaces.
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(path.exists());
    let mut child = cage.fleetwatch(&["serve", "--unix", place]).stdout(Stdio::null()).spawn().unwrap();
    wait_until("it listens again", || UnixStream::connect(&path).is_ok());
    signal("TERM", child.id());
    assert!(child.wait().unwrap().success() && !path.exists());
    // What is there is no socket, and stays.
    fs::write(&path, "kept").unwrap();
    let refused = cage.fleetwatch(&["serve", "--unix", place]).output().unwrap();
    assert_eq!((refused.status.code(), fs::read_to_string(&path).unwrap().as_str()), (Some(1), "kept"), "{refused:?}");
    let refused = cage.fleetwatch(&["serve", "--listen", "0.0.0.0:0"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("nothing is encrypted"), "{refused:?}");
}
