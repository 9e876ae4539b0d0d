//! Web hooks: what the real `serve` posts to a small server of the test's own, which does not take it at first.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::Sha256;

use super::serve::{Cage, Server};
use crate::support::private_tmux::wait_until;

/// Waits for a request and answers it: its head in small letters, and its body.
fn taken(listener: &TcpListener, answer: &str) -> (String, String) {
    let (stream, _) = listener.accept().unwrap();
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(reader.read_line(&mut head).unwrap() > 0, "{head}");
    }
    let head = head.to_lowercase();
    let mut body = vec![0; header(&head, "content-length").parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    write!(reader.get_mut(), "HTTP/1.1 {answer}\r\nContent-Length: 0\r\n\r\n").unwrap();
    (head, String::from_utf8(body).unwrap())
}

fn header<'a>(head: &'a str, name: &str) -> &'a str {
    let value = head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    value.unwrap_or_else(|| panic!("no {name}: {head}"))
}

#[test]
fn what_happens_is_posted_signed_and_again_when_nobody_took_it() {
    let cage = Cage::new();
    let (own, ntfy) = (TcpListener::bind("127.0.0.1:0").unwrap(), TcpListener::bind("127.0.0.1:0").unwrap());
    let rule = |listener: &TcpListener, more: &str| {
        let address = listener.local_addr().unwrap();
        format!("[[notify]]\non = [\"approval\"]\nby = [\"webhook\"]\nwebhook = \"http://{address}/hook/7\"\n{more}\n")
    };
    let own_rule = rule(&own, "webhook_secret = \"HOOK_SECRET\"\nwebhook_token = \"HOOK_TOKEN\"");
    cage.configure(&format!("{own_rule}{}", rule(&ntfy, "webhook_shape = \"ntfy\"")));
    let mut serve = cage.fleetwatch(&["serve", "--listen", "127.0.0.1:0"]);
    serve.env("HOOK_SECRET", "s3cret").env("HOOK_TOKEN", "t0ken");
    let token = cage.token("test", &[]);
    let server = Server::start(serve, token);
    server.wait_for_ready();
    cage.ask("<b>*this*</b>");
    let (first, body) = taken(&own, "503 Service Unavailable");
    let (second, again) = taken(&own, "200 OK");
    assert!(first.starts_with("post /hook/7 http/1.1") && body == again);
    assert_eq!(header(&first, "fleetwatch-delivery"), header(&second, "fleetwatch-delivery"));
    assert_eq!(header(&second, "authorization"), "bearer t0ken");
    let mut mac = Hmac::<Sha256>::new_from_slice(b"s3cret").unwrap();
    mac.update(format!("{}.{again}", header(&second, "fleetwatch-timestamp")).as_bytes());
    let signed: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(header(&second, "fleetwatch-signature"), format!("sha256={signed}"));
    let reported: Value = serde_json::from_str(&again).unwrap();
    assert_eq!(reported["text"], "main asks for approval: Allow <b>*this*</b>?");
    assert_eq!(reported["events"][0]["state"]["attention"], "approval");
    let (head, message) = taken(&ntfy, "200 OK");
    assert_eq!(
        (header(&head, "title"), message.as_str()),
        ("fleetwatch: approval", reported["text"].as_str().unwrap())
    );
    assert!(!head.contains("fleetwatch-signature") && !head.contains("authorization"), "{head}");
}

/// A server whose web hook goes to a listener, through a `curl` that keeps its arguments.
fn posting(cage: &Cage, hook: &TcpListener, curl: &str) -> Server {
    let address = hook.local_addr().unwrap();
    cage.configure(&format!(
        "[[notify]]\non = [\"approval\"]\nby = [\"webhook\"]\nwebhook = \"http://{address}/s3cret-path\"\n\
         webhook_token = \"HOOK_TOKEN\"\n"
    ));
    let bin = cage.state().with_file_name("bin");
    fs::create_dir(&bin).unwrap();
    fs::write(bin.join("curl"), curl).unwrap();
    fs::set_permissions(bin.join("curl"), fs::Permissions::from_mode(0o755)).unwrap();
    let token = cage.token("test", &[]);
    let mut serve = cage.fleetwatch(&["serve", "--listen", "127.0.0.1:0"]);
    serve.env("PATH", format!("{}:{}", bin.display(), std::env::var("PATH").unwrap()));
    serve.env("HOOK_TOKEN", "t0\\k\"en").env("HOME", &bin);
    serve.stderr(fs::File::create(bin.join("stderr")).unwrap());
    let server = Server::start(serve, token);
    server.wait_for_ready();
    server
}

#[test]
fn what_is_secret_stands_in_no_argument_and_in_no_file_afterwards() {
    let cage = Cage::new();
    let hook = TcpListener::bind("127.0.0.1:0").unwrap();
    let bin = cage.state().with_file_name("bin");
    let kept = bin.join("arguments");
    // It keeps the mode of the file that it is told by, too. What the user's .curlrc says is not done.
    let real = "/usr/bin/env -i PATH=/usr/bin:/bin:/usr/local/bin curl";
    let curl = format!(
        "#!/bin/sh\nfor last; do :; done\n(echo \"$@\"; stat -c %a \"$last\") > '{}'\nexec {real} \"$@\"\n",
        kept.display()
    );
    let _server = posting(&cage, &hook, &curl);
    fs::write(bin.join(".curlrc"), "header = \"Evil: 1\"\nlocation\n").unwrap();
    cage.ask("it");
    let (head, body) = taken(&hook, "302 Found\r\nLocation: /elsewhere");
    assert!(head.starts_with("post /s3cret-path http/1.1") && body.contains("Allow it?"), "{head}{body}");
    assert!(head.contains("authorization: bearer t0\\k\"en\r\n") && !head.contains("evil"), "{head}");
    let arguments = fs::read_to_string(&kept).unwrap();
    assert!(arguments.ends_with("\n600\n"), "{arguments}");
    for secret in ["s3cret", "t0", "Allow"] {
        assert!(!arguments.contains(secret), "{arguments}");
    }
    // It is no answer that somebody else may have one, and is told; nobody is asked again.
    wait_until("it is told", || {
        fs::read_to_string(bin.join("stderr")).unwrap().contains("webhook: http://127.0.0.1") // and not the path
    });
    let told = fs::read_to_string(bin.join("stderr")).unwrap();
    assert!(told.contains(" answers 302") && !told.contains("s3cret"), "{told}");
    let run = cage.state().with_file_name("run").join("fleetwatch");
    let left = |name: &str| name.starts_with("webhook");
    let files = || fs::read_dir(&run).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    wait_until("the file is gone", || !files().any(|name| left(&name)));
}

#[test]
fn without_curl_the_notice_and_doctor_say_so() {
    let cage = Cage::new();
    let hook = TcpListener::bind("127.0.0.1:0").unwrap();
    let bin = cage.state().with_file_name("bin");
    // A PATH with everything but curl.
    let _server = {
        let server = posting(&cage, &hook, "");
        drop(server);
        fs::remove_file(bin.join("curl")).unwrap();
        for program in ["tmux", "ps", "git", "ssh"] {
            let found = Command::new("sh").args(["-c", &format!("command -v {program}")]).output().unwrap();
            let found = String::from_utf8(found.stdout).unwrap();
            if !found.trim().is_empty() {
                std::os::unix::fs::symlink(found.trim(), bin.join(program)).unwrap();
            }
        }
        let mut serve = cage.fleetwatch(&["serve", "--listen", "127.0.0.1:0"]);
        serve.env("PATH", &bin).env("HOOK_TOKEN", "x").stderr(fs::File::create(bin.join("stderr")).unwrap());
        let server = Server::start(serve, cage.token("other", &[]));
        server.wait_for_ready();
        server
    };
    cage.ask("it");
    wait_until("it is told", || {
        fs::read_to_string(bin.join("stderr")).unwrap().contains("webhook: there is no program curl; install curl")
    });
    let doctor = cage.fleetwatch(&["doctor"]).env("PATH", &bin).output().unwrap();
    let doctor = String::from_utf8(doctor.stdout).unwrap();
    assert!(doctor.contains("nothing is announced by webhook: there is no program curl"), "{doctor}");
}
