//! Web hooks: what the real `serve` posts to a small server of the test's own, which does not take it at first.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;

use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::Sha256;

use super::serve::{Cage, Server};

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
