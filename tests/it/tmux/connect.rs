//! What another machine watches (`--connect`): the real commands and the real dashboard, which have nothing but an address and a
//! token, against a real `serve`.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::serve::{Cage, Server};
use crate::support::private_tmux::{PrivateTmux, wait_until};

/// A machine with a configuration, a state and profiles of its own, and without tmux.
struct Laptop {
    home: TempDir,
}

impl Laptop {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("bin")).unwrap();
        Self { home }
    }

    fn environment(&self) -> Vec<(&'static str, String)> {
        let path = |name: &str| self.home.path().join(name).display().to_string();
        vec![
            ("HOME", path("")),
            ("XDG_CONFIG_HOME", path("config")),
            ("XDG_STATE_HOME", path("state")),
            ("XDG_RUNTIME_DIR", path("run")),
            ("PATH", path("bin")),
            ("LC_ALL", "C.UTF-8".to_owned()),
        ]
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fleetwatch"));
        command.env_clear().envs(self.environment()).stdin(Stdio::null()).args(arguments);
        command
    }

    fn at(&self, server: &Server, arguments: &[&str]) -> Command {
        let mut command = self.command(&["--connect", &format!("http://{}", server.address)]);
        command.env("FLEETWATCH_TOKEN", &server.token).args(arguments);
        command
    }

    fn run(&self, server: &Server, arguments: &[&str]) -> Output {
        self.at(server, arguments).output().unwrap()
    }

    fn printed(&self, server: &Server, arguments: &[&str]) -> String {
        let output = self.run(server, arguments);
        assert!(output.status.success(), "{arguments:?}: {}", said(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    fn refused(&self, server: &Server, arguments: &[&str], code: i32, why: &str) {
        is_refused(&self.run(server, arguments), code, why);
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn is_refused(output: &Output, code: i32, why: &str) {
    let reported = said(output);
    assert!(output.status.code() == Some(code) && reported.contains(why) && reported.contains("hint: "), "{output:?}");
}

fn serve(cage: &Cage, scope: &str) -> Server {
    cage.serve_to(cage.token("laptop", &["--scope", scope]), &["--listen", "127.0.0.1:0"])
}

/// Takes out what is another number a moment later.
fn without_ages(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !name.ends_with("_seconds") && name != "observed_at");
            fields.values_mut().for_each(without_ages);
        }
        Value::Array(items) => items.iter_mut().for_each(without_ages),
        _ => {}
    }
}

#[test]
fn what_is_watched_elsewhere_is_listed_and_acted_upon_as_here() {
    let (cage, laptop) = (Cage::new(), Laptop::new());
    let server = serve(&cage, "act");
    let states = |text: &str| {
        let mut all: Value = serde_json::from_str(text).unwrap();
        without_ages(&mut all);
        all
    };
    let there = || states(&laptop.printed(&server, &["list", "--json"]));
    wait_until("both say the same", || there() == states(&cage.printed(&["list", "--json"])));
    assert_eq!(there()[0]["terminal"]["tool"], "parrot", "by the profile that is there alone");
    assert!(laptop.printed(&server, &["list"]).contains("main"));

    assert_eq!(laptop.printed(&server, &["send", "main", "hello there"]), "accepted\n");
    cage.tmux.wait_for_text("main:", "» hello there");
    assert!(laptop.printed(&server, &["wait", "main", "--for", "ready"]).starts_with("main: "));
    cage.ask("this");
    laptop.printed(&server, &["wait", "main", "--for", "needs-you"]);
    // It is read by whoever answers.
    let answered = laptop.printed(&server, &["answer", "main", "yes"]);
    assert!(answered.contains("Allow this?") && answered.contains("\naccepted"), "{answered}");
    cage.tmux.wait_for_text("main:", "● answered 1");
    laptop.refused(&server, &["answer", "main", "yes"], 1, "shows no dialog");
    assert_eq!(laptop.printed(&server, &["keys", "main", "x", "y"]), "accepted\n");
    cage.tmux.wait_for_text("main:", "❯ xy");
    laptop.refused(&server, &["send", "main", "more"], 1, "refused: ");
    laptop.refused(&server, &["send", "nobody", "more"], 1, "nobody");
    laptop.refused(&server, &["explain", "main"], 2, "on the machine itself");
    // Who did it stands in the history there, and nothing is kept here.
    let kept = server.get("/v1/history?kind=input").json();
    let senders: Vec<&str> = kept.as_array().unwrap().iter().filter_map(|it| it["sender"].as_str()).collect();
    assert_eq!(senders[..3], ["token laptop at 127.0.0.1"; 3], "{kept}");
    assert!(!laptop.home.path().join("state/fleetwatch/history.db").exists());
}

#[test]
fn a_prompt_waits_until_the_agent_elsewhere_is_ready() {
    let (cage, laptop) = (Cage::new(), Laptop::new());
    let server = serve(&cage, "act");
    laptop.printed(&server, &["send", "main", "hold"]);
    laptop.printed(&server, &["wait", "main", "--for", "working"]);
    let waiting = laptop.at(&server, &["send", "main", "--when-ready", "later"]).spawn().unwrap();
    cage.let_go();
    assert!(waiting.wait_with_output().unwrap().status.success());
    cage.tmux.wait_for_text("main:", "» later");
}

#[test]
fn who_may_only_read_does_nothing_and_who_is_not_known_sees_nothing() {
    let (cage, laptop) = (Cage::new(), Laptop::new());
    let server = serve(&cage, "read");
    assert!(laptop.printed(&server, &["list"]).contains("main"));
    for act in [&["send", "main", "hello"][..], &["keys", "main", "x"]] {
        laptop.refused(&server, act, 1, "may only read");
    }
    assert!(!cage.tmux.screen("main:").contains("hello"));
    let with = |token: Option<&str>, more: &[&str]| {
        let mut command = laptop.at(&server, more);
        match token {
            Some(token) => command.env("FLEETWATCH_TOKEN", token),
            None => command.env_remove("FLEETWATCH_TOKEN"),
        };
        command.output().unwrap()
    };
    is_refused(&with(None, &["list"]), 2, "there is no token");
    is_refused(&with(Some("fwt_wrong"), &["list"]), 1, "not known");
    let file = laptop.home.path().join("token");
    fs::write(&file, format!("{}\n", server.token)).unwrap();
    let named = ["--token-file", file.to_str().unwrap(), "list"];
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    is_refused(&with(None, &named), 2, "others can read");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    assert!(with(None, &named).status.success());
    // The token does not go out in clear.
    let open = laptop.command(&["--connect", "http://fleet.example.net:7717", "list"]).output().unwrap();
    is_refused(&open, 2, "not encrypted");
    let nobody = laptop.command(&["--connect", "http://127.0.0.1:1", "list"]).env("FLEETWATCH_TOKEN", "x").output();
    is_refused(&nobody.unwrap(), 1, "cannot be reached");
    is_refused(&laptop.command(&["--connect", "127.0.0.1:1", "list"]).output().unwrap(), 2, "not a complete address");
    // Whoever speaks to the connection itself gets no further.
    let ask = |lines: &str| {
        server.raw(&format!(
            "GET /v1/client HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nConnection: upgrade\r\n\
             Upgrade: fleetwatch\r\n\r\n{lines}",
            server.address, server.token
        ))
    };
    let of = |socket: &str, protocol: u32| {
        format!(
            "{{\"protocol\":{protocol},\"version\":\"0.0.1\",\"server\":{{\"host\":null,\"socket\":{socket}}},\"rules\":0,\
             \"rank\":\"dashboard\"}}\n"
        )
    };
    let socket = format!("{{\"Name\":\"{}\"}}", cage.tmux.name());
    for (lines, why) in [
        (of("{\"Name\":\"other\"}", 7), "not watched there"),
        (of(&socket, 1), "it is fleetwatch"),
        ("no json\n".to_owned(), ""),
        (format!("{}\n", "x".repeat(1 << 17)), ""),
    ] {
        let answer = ask(&lines);
        assert!(answer.status == 101 && answer.body.contains(why), "{why}: {answer:?}");
        assert!(!answer.body.contains("parrot"), "{answer:?}");
    }
    assert_eq!(server.get("/healthz").status, 200);
}

/// A command whose output is read as it comes.
struct Following {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
}

impl Following {
    fn until(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let mut line = String::new();
            assert!(self.lines.read_line(&mut line).unwrap() > 0, "it ended");
            let line: Value = serde_json::from_str(&line).unwrap();
            if is_it(&line) {
                return line;
            }
        }
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn what_happens_elsewhere_is_reported_and_again_after_the_server_was_gone() {
    let (cage, laptop) = (Cage::new(), Laptop::new());
    let server = serve(&cage, "read");
    let mut child = laptop.at(&server, &["watch", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut following = Following { lines: BufReader::new(child.stdout.take().unwrap()), child };
    following.until(|line| line["kind"] == "state" && line["terminal"] == "main");
    cage.ask("one");
    let is_approval = |line: &Value| line["state"]["attention"] == "approval";
    following.until(|line| line["kind"] == "transition" && is_approval(line));
    let (address, token) = (server.address.clone(), server.token.clone());
    drop(server);
    following.until(|line| line["state"]["diagnostics"]["availability"] != "available");
    cage.tmux.run(&["send-keys", "-t", "main:", "1"]);
    cage.tmux.wait_for_text("main:", "● answered 1");
    let _again = cage.serve_to(token, &["--listen", &address]);
    following.until(|line| line["state"]["diagnostics"]["availability"] == "available" && !is_approval(line));
}

#[test]
fn the_dashboard_of_another_machine_shows_and_answers() {
    let (cage, laptop) = (Cage::new(), Laptop::new());
    let server = serve(&cage, "act");
    let mut words = vec!["env".to_owned(), "-i".to_owned(), "TERM=tmux-256color".to_owned()];
    words.extend(laptop.environment().iter().map(|(name, value)| format!("{name}={value}")));
    words.push(format!("FLEETWATCH_TOKEN={}", server.token));
    words.extend([env!("CARGO_BIN_EXE_fleetwatch").to_owned(), "--connect".to_owned()]);
    words.push(format!("http://{}", server.address));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let screen = PrivateTmux::start(&words);
    screen.wait_for_text("main:", "parrot");
    let footer = || screen.screen("main:").lines().last().unwrap_or_default().to_owned();
    wait_until("the keys of the row", || footer().contains("prompt"));
    assert!(!footer().contains("jump"), "{}", footer());
    screen.run(&["send-keys", "-t", "main:", "g"]);
    screen.wait_for_text("main:", "works only on the machine itself");
    cage.ask("this");
    screen.wait_for_text("main:", "Allow this?");
    screen.run(&["send-keys", "-t", "main:", "a"]);
    screen.wait_for_text("main:", "1 Yes");
    screen.run(&["send-keys", "-t", "main:", "1"]);
    let mut pressed: Option<Instant> = None;
    wait_until("the answer is taken", || {
        // A box that asks to be read for a second first takes the key later, and one within 0.3 s of the last counts as held.
        if pressed.is_none_or(|at| at.elapsed() > Duration::from_millis(400)) {
            screen.run(&["send-keys", "-t", "main:", "Enter"]);
            pressed = Some(Instant::now());
        }
        cage.tmux.screen("main:").contains("● answered 1")
    });
    let (address, token) = (server.address.clone(), server.token.clone());
    drop(server);
    screen.wait_for_text("main:", "cannot be reached");
    let _again = cage.serve_to(token, &["--listen", &address]);
    wait_until("it is shown again", || !screen.screen("main:").contains("cannot be reached"));
}

#[test]
fn what_is_encrypted_goes_only_to_whom_the_certificate_is_for() {
    let (cage, laptop) = (Cage::new(), Laptop::new());
    let file = |name: &str, text: &str| {
        let path = laptop.home.path().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        path.display().to_string()
    };
    let made = |name: &str| rcgen::generate_simple_self_signed(vec![name.to_owned()]).unwrap();
    let (own, other) = (made("localhost"), made("localhost"));
    let (certificate, key) = (file("cert.pem", &own.cert.pem()), file("key.pem", &own.signing_key.serialize_pem()));
    let stranger = file("stranger.pem", &other.cert.pem());
    let token = cage.token("laptop", &["--scope", "act"]);
    // Beyond the machine, and without `--insecure`.
    let server = cage.serve_unasked(token, &["--listen", "0.0.0.0:0", "--tls-cert", &certificate, "--tls-key", &key]);
    let port = server.address.rsplit_once(':').unwrap().1;
    let ask = |name: &str, authority: &str, more: &[&str]| {
        let mut command = laptop.command(&["--connect", &format!("https://{name}:{port}"), "--ca", authority]);
        command.env("FLEETWATCH_TOKEN", &server.token).args(more).output().unwrap()
    };
    wait_until("the agent is served", || {
        String::from_utf8_lossy(&ask("localhost", &certificate, &["list"]).stdout).contains("main")
    });
    assert!(ask("localhost", &certificate, &["send", "main", "hello"]).status.success());
    cage.tmux.wait_for_text("main:", "» hello");
    is_refused(&ask("localhost", &stranger, &["list"]), 1, "cannot be reached: invalid peer certificate");
    is_refused(&ask("127.0.0.1", &certificate, &["list"]), 1, "certificate not valid for name");
    is_refused(&ask("localhost", &key, &["list"]), 2, "no certificate");
    is_refused(&ask("localhost", "/nonexistent", &["list"]), 2, "/nonexistent");
    // Who speaks no TLS gets nothing.
    let clear = laptop
        .command(&["--connect", &format!("http://127.0.0.1:{port}"), "list"])
        .env("FLEETWATCH_TOKEN", "x")
        .output();
    is_refused(&clear.unwrap(), 1, "did not answer");
    drop(server);
    let serve =
        |more: &[&str]| cage.fleetwatch(&[&["serve", "--listen", "127.0.0.1:0"], more].concat()).output().unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    is_refused(&serve(&["--tls-cert", &certificate, "--tls-key", &key]), 2, "others can read");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    is_refused(&serve(&["--tls-cert", &stranger, "--tls-key", &key]), 2, "stranger.pem cannot be used");
    is_refused(&serve(&["--tls-cert", &key, "--tls-key", &key]), 2, "key.pem cannot be used");
    assert_eq!(serve(&["--tls-cert", &certificate]).status.code(), Some(2));
}

/// The squares of a code of half blocks, as a camera sees it, each of them this wide.
const SQUARE: usize = 4;

#[test]
fn a_phone_reads_address_and_token_off_the_screen() {
    let cage = Cage::new();
    let printed = cage.fleetwatch(&["serve", "--listen", "127.0.0.1:0", "--qr"]).output().unwrap();
    is_refused(&printed, 2, "needs a terminal");
    let mut words = vec!["env".to_owned()];
    let command = cage.fleetwatch(&["serve", "--listen", "127.0.0.1:0", "--qr"]);
    words.extend(
        command.get_envs().filter_map(|(name, value)| Some(format!("{}={}", name.to_str()?, value?.to_str()?))),
    );
    words.push(command.get_program().to_str().unwrap().to_owned());
    words.extend(command.get_args().map(|word| word.to_str().unwrap().to_owned()));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let screen = PrivateTmux::unstarted();
    screen.new_session("main", &words);
    screen.run(&["resize-window", "-t", "main:", "-x", "120", "-y", "60"]);
    screen.wait_for_text("main:", "cannot reach");
    let text = screen.screen("main:");
    assert!(!text.contains("fwt_"), "the token is in the code alone: {text}");
    let rows: Vec<Vec<char>> = text.lines().map(|row| row.chars().collect()).collect();
    let is_dark = |x: usize, y: usize| {
        let half = rows.get(y / 2).and_then(|row| row.get(x)).copied();
        matches!((half, y % 2), (Some('█'), _) | (Some('▀'), 0) | (Some('▄'), 1))
    };
    let (width, height) = (120 * SQUARE, 120 * SQUARE);
    let mut seen = rqrr::PreparedImage::prepare_from_greyscale(width, height, |x, y| {
        if is_dark(x / SQUARE, y / SQUARE) { 0 } else { 255 }
    });
    let grids = seen.detect_grids();
    let (_, read) = grids.first().unwrap_or_else(|| panic!("no code: {text}")).decode().unwrap();
    let (page, token) = read.split_once("/#token=").unwrap();
    let laptop = Laptop::new();
    let ask = |words: &[&str]| {
        laptop.command(&["--connect", page]).env("FLEETWATCH_TOKEN", token).args(words).output().unwrap()
    };
    assert!(ask(&["list"]).status.success());
    is_refused(&ask(&["send", "main", "x"]), 1, "may only read");
    assert!(cage.printed(&["token", "list"]).contains("\nqr    read   20"));
}
