//! Web Push: what the real `serve` takes of browsers, and what it posts to a push service of the test's own, over TLS.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::{fs, thread};

use serde_json::{Value, json};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::serve::{Answer, Cage, Server};
use crate::support::private_tmux::wait_until;
use crate::support::sealed::{AUTH, POINT, claimed, opened};

/// A push service that only those reach who believe its certificate.
struct PushService {
    listener: TcpListener,
    tls: Arc<ServerConfig>,
    certificate: String,
}

/// What was posted there.
struct Posted {
    /// In small letters but for what `Authorization` says.
    head: String,
    body: Vec<u8>,
}

impl Posted {
    fn header(&self, name: &str) -> &str {
        let line = self.head.lines().find(|line| line.to_lowercase().starts_with(&format!("{name}: ")));
        line.and_then(|line| line.split_once(": ")).unwrap_or_else(|| panic!("no {name}: {}", self.head)).1
    }

    fn reported(&self) -> Value {
        serde_json::from_slice(&opened(&self.body)).unwrap()
    }
}

impl PushService {
    fn start() -> Self {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
        let tls = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        Self { listener, tls: Arc::new(tls), certificate: made.cert.pem() }
    }

    fn name(&self) -> String {
        format!("localhost:{}", self.listener.local_addr().unwrap().port())
    }

    /// Waits for a request and answers it.
    fn taken(&self, answer: &str) -> Posted {
        let (stream, _) = self.listener.accept().unwrap();
        stream.set_nonblocking(false).unwrap();
        let mut reader =
            BufReader::new(StreamOwned::new(ServerConnection::new(Arc::clone(&self.tls)).unwrap(), stream));
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(reader.read_line(&mut head).unwrap() > 0, "{head}");
        }
        let mut posted = Posted { head, body: Vec::new() };
        posted.body.resize(posted.header("content-length").parse().unwrap(), 0);
        reader.read_exact(&mut posted.body).unwrap();
        write!(reader.get_mut(), "HTTP/1.1 {answer}\r\nContent-Length: 0\r\n\r\n").unwrap();
        reader.get_mut().flush().unwrap();
        posted
    }

    /// Whether somebody else has come by now.
    fn is_asked(&self) -> bool {
        self.listener.set_nonblocking(true).unwrap();
        let is_asked = self.listener.accept().is_ok();
        self.listener.set_nonblocking(false).unwrap();
        is_asked
    }
}

fn subscription(endpoint: &str) -> Value {
    json!({ "endpoint": endpoint, "expirationTime": null, "keys": { "p256dh": POINT, "auth": AUTH } })
}

/// Asks as the page of this server does.
fn ask(server: &Server, token: &str, method: &str, body: &Value) -> Answer {
    ask_with(
        server,
        method,
        &format!("Authorization: Bearer {token}\r\nContent-Type: application/json\r\n"),
        &body.to_string(),
    )
}

fn ask_with(server: &Server, method: &str, headers: &str, body: &str) -> Answer {
    server.raw(&format!(
        "{method} /v1/push HTTP/1.1\r\nConnection: close\r\nHost: localhost\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    ))
}

fn listed(cage: &Cage) -> Vec<(String, u64)> {
    let tokens: Value = serde_json::from_str(&cage.printed(&["token", "list", "--json"])).unwrap();
    let reported =
        |token: &Value| (token["name"].as_str().unwrap().to_owned(), token["subscriptions"].as_u64().unwrap());
    tokens.as_array().unwrap().iter().map(reported).collect()
}

#[test]
fn a_locked_phone_is_notified_who_waits_until_its_token_or_its_subscription_ends() {
    let (cage, service) = (Cage::new(), PushService::start());
    cage.configure(&format!("[serve]\npush_services = [\"{}\"]\n", service.name()));
    let home = tempfile::tempdir().unwrap();
    let certificate = home.path().join("push.pem");
    fs::write(&certificate, &service.certificate).unwrap();
    let (phone, tablet) = (cage.token("phone", &[]), cage.token("tablet", &[]));
    let mut command = cage.fleetwatch(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("SSL_CERT_FILE", &certificate).env_remove("SSL_CERT_DIR");
    let server = Server::start(command, phone.clone());
    server.wait_for_ready();
    let place = |path: &str| format!("https://{}/{path}", service.name());
    let key = ask(&server, &phone, "GET", &Value::Null).json()["key"].as_str().unwrap().to_owned();
    for _ in 0..2 {
        let done = ask(&server, &phone, "POST", &subscription(&place("phone?secret=1")));
        assert_eq!((done.status, done.json()["subscriptions"].as_u64()), (200, Some(1)), "the same one again is one");
    }
    ask(&server, &tablet, "POST", &subscription(&place("tablet")));
    assert_eq!(listed(&cage), [("phone".to_owned(), 1), ("tablet".to_owned(), 1)]);
    assert!(cage.printed(&["token", "list"]).ends_with("  1 browser\n"));

    cage.ask("<b>this</b>");
    let mut both = [service.taken("201 Created"), service.taken("201 Created")];
    both.sort_by_key(|posted| posted.head.contains("/tablet "));
    let [first, other] = &both;
    assert!(first.head.starts_with("POST /phone?secret=1 HTTP/1.1") && other.head.starts_with("POST /tablet HTTP/1.1"));
    assert_eq!((first.header("ttl"), first.header("urgency")), ("3600", "high"));
    assert_eq!(first.header("content-encoding"), "aes128gcm");
    let (head, claims, whose) = claimed(first.header("authorization"));
    assert_eq!((head["alg"].as_str(), whose), (Some("ES256"), key), "it is signed by whom the browser subscribed to");
    assert_eq!(claims["aud"], format!("https://{}", service.name()));
    assert_eq!(claims["sub"], "https://localhost");
    let reported = first.reported();
    assert_eq!(reported["text"], "main asks for approval: Allow <b>this</b>?");
    let state: Value = serde_json::from_str(&cage.printed(&["list", "--json"])).unwrap();
    let terminal = &state[0]["terminal"];
    assert_eq!(reported["row"], json!([terminal["host"], terminal["socket"], terminal["pane"], terminal["pid"]]));
    assert_eq!(reported["topic"], first.header("topic"));
    assert!(first.header("topic").len() <= 32 && other.reported() == reported && other.body != first.body);

    // A revoked token tells nobody; a later notice of a terminal takes the place of the earlier one.
    cage.printed(&["token", "revoke", "tablet"]);
    cage.printed(&["answer", "main", "yes"]);
    cage.ask("two");
    let second = service.taken("201 Created");
    assert!(second.head.starts_with("POST /phone"), "{}", second.head);
    assert_eq!(second.reported()["text"], "main asks for approval: Allow two?");
    assert_eq!(second.header("topic"), first.header("topic"));
    assert!(!service.is_asked(), "the tablet gets nothing more");

    // The browser has forgotten it.
    cage.printed(&["answer", "main", "yes"]);
    cage.ask("three");
    service.taken("410 Gone");
    wait_until("the subscription ends", || listed(&cage) == [("phone".to_owned(), 0)]);
    let private = |path: &Path| {
        use std::os::unix::fs::PermissionsExt as _;
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    };
    let state = cage.state().join("fleetwatch");
    assert_eq!((private(&state.join("push.key")), private(&state.join("tokens.json"))), (0o600, 0o600));
}

#[test]
fn a_push_service_that_is_not_believed_gets_nothing() {
    let (cage, service) = (Cage::new(), PushService::start());
    cage.configure(&format!("[serve]\npush_services = [\"{}\"]\n", service.name()));
    let token = cage.token("phone", &[]);
    let server = Server::start(cage.fleetwatch(&["serve", "--listen", "127.0.0.1:0"]), token.clone());
    cage.printed(&["wait", "main", "--for", "ready"]);
    let endpoint = format!("https://{}/x", service.name());
    assert_eq!(ask(&server, &token, "POST", &subscription(&endpoint)).status, 200);
    let tls = Arc::clone(&service.tls);
    let heard = thread::spawn(move || {
        let (stream, _) = service.listener.accept().unwrap();
        let mut text = Vec::new();
        let _ = StreamOwned::new(ServerConnection::new(tls).unwrap(), stream).read_to_end(&mut text);
        text
    });
    cage.ask("this");
    assert_eq!(String::from_utf8_lossy(&heard.join().unwrap()), "");
}

#[test]
fn who_may_not_be_notified_is_refused_and_why() {
    let cage = Cage::new();
    let server = cage.serve(&["--listen", "127.0.0.1:0"]);
    let token = server.token.clone();
    let known = |n: u32| subscription(&format!("https://fcm.googleapis.com/fcm/send/{n}"));
    let subscribe = |body: &Value| ask(&server, &token, "POST", body);
    for other in
        ["https://10.0.0.1/x", "https://localhost/x", "https://push.example.net/x", "https://fcm.googleapis.com:8443/x"]
    {
        assert!(subscribe(&subscription(other)).is_denial(400, "is not a known push service"), "{other}");
    }
    for bad in ["http://fcm.googleapis.com/x", "/v1/push", "https://me@fcm.googleapis.com/x"] {
        assert!(subscribe(&subscription(bad)).is_denial(400, "not a complete `https` address"), "{bad}");
    }
    let mut no_keys = known(0);
    no_keys["keys"]["p256dh"] = AUTH.into();
    assert!(subscribe(&no_keys).is_denial(400, "keys are not"));
    assert!(subscribe(&json!({ "endpoint": "https://fcm.googleapis.com/x" })).is_denial(400, "missing field"));
    let authorized = format!("Authorization: Bearer {token}\r\n");
    let typed = format!("{authorized}Content-Type: application/json\r\n");
    assert!(ask_with(&server, "POST", "", "{}").is_denial(401, "no token"));
    assert!(ask_with(&server, "GET", "", "").is_denial(401, "no token"));
    assert!(ask_with(&server, "POST", &authorized, "{}").is_denial(415, "not JSON"));
    assert!(ask_with(&server, "POST", &typed, &"x".repeat(5_000)).is_denial(413, "too long"));
    let foreign = format!("{typed}Origin: https://evil.example\r\n");
    assert!(ask_with(&server, "POST", &foreign, &known(0).to_string()).is_denial(403, "other origins"));
    assert!((1..=8).all(|n| subscribe(&known(n)).status == 200));
    assert!(subscribe(&known(9)).is_denial(409, "8 browsers"));
    assert_eq!(subscribe(&known(8)).status, 200, "one that is there may come again");
    let ended = ask(&server, &token, "DELETE", &json!({ "endpoint": "https://fcm.googleapis.com/fcm/send/8" }));
    assert_eq!((ended.status, ended.json()["subscriptions"].as_u64()), (200, Some(7)));
    assert_eq!(subscribe(&known(9)).status, 200);
    // A browser that has another token now is notified once.
    let next = cage.token("next", &[]);
    assert_eq!(ask(&server, &next, "POST", &known(9)).status, 200);
    assert_eq!(listed(&cage), [("test".to_owned(), 7), ("next".to_owned(), 1)]);
    cage.printed(&["token", "revoke", "test"]);
    assert!(subscribe(&known(1)).is_denial(401, "not known"));
    // What the browser runs and shows comes without a token, as text of its kind.
    for (path, kind) in [("/sw.js", "text/javascript"), ("/manifest.json", "application/manifest+json")] {
        let answer = server.get(path);
        assert!(answer.status == 200 && answer.head.contains(&format!("content-type: {kind}")), "{answer:?}");
        assert!(answer.head.contains("nosniff") && answer.head.contains("content-security-policy: default-src 'none'"));
    }
}
