//! Nobody keeps the others out: not by connections without a token, not by event streams of one, not by files of the wrong mode.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use super::serve::{Cage, Server};
use crate::support::private_tmux::{PATIENCE, PrivateTmux, wait_until};

fn connect(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(&server.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Begins to follow what happens, and returns the status.
fn follow(server: &Server, token: &str) -> (TcpStream, String) {
    let mut stream = connect(server);
    let address = &server.address;
    let request = format!("GET /v1/events HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut head = [0; 12];
    stream.read_exact(&mut head).unwrap();
    (stream, String::from_utf8(head.to_vec()).unwrap())
}

#[test]
fn half_requests_without_a_token_make_room_for_good_ones() {
    let cage = Cage::new();
    let server = cage.serve(&["--listen", "127.0.0.1:0"]);
    let reader = cage.token("reader", &[]);
    let (mut following, status) = follow(&server, &reader);
    assert_eq!(status, "HTTP/1.1 200");
    let half: Vec<TcpStream> = (0..600)
        .map(|number| {
            let mut stream = connect(&server);
            // Some send nothing at all, some half a head, and some a token that is none.
            let said = ["", "GET /v1/term", "GET / HTTP/1.1\r\nAuthorization: Bearer fwt_0\r\nX: "][number % 3];
            let _ = stream.write_all(said.as_bytes());
            stream
        })
        .collect();
    let began = Instant::now();
    for _ in 0..20 {
        assert_eq!(server.get("/v1/terminals").status, 200);
    }
    // Each of the half ones would have kept its place for ten seconds.
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    drop(half);
    // Whoever has shown a good token still has the place.
    cage.ask("it");
    let mut heard = String::new();
    wait_until("the stream goes on", || {
        let mut bytes = [0; 4096];
        let read = following.read(&mut bytes).unwrap();
        assert!(read > 0, "it was cut off: {heard}");
        heard.push_str(&String::from_utf8_lossy(&bytes[..read]));
        heard.contains("Allow it?")
    });
}

#[test]
fn the_event_streams_of_a_token_are_counted_and_leave_room_to_act() {
    let cage = Cage::new();
    let server = cage.serve(&["--listen", "127.0.0.1:0"]);
    let (reader, other) = (cage.token("reader", &[]), cage.token("other", &[]));
    let streams: Vec<(TcpStream, String)> = (0..30).map(|_| follow(&server, &reader)).collect();
    let count = |status: &str| streams.iter().filter(|(_, of)| of == &format!("HTTP/1.1 {status}")).count();
    assert_eq!((count("200"), count("429")), (16, 14));
    assert_eq!(follow(&server, &other).1, "HTTP/1.1 200");
    drop(streams);
    wait_until("they are given back", || follow(&server, &reader).1 == "HTTP/1.1 200");
}

#[test]
fn tokens_that_others_can_read_are_told_to_nobody_who_asks() {
    let cage = Cage::new();
    let server = cage.serve(&["--listen", "127.0.0.1:0"]);
    let tokens = cage.state().join("fleetwatch/tokens.json");
    fs::set_permissions(&tokens, fs::Permissions::from_mode(0o644)).unwrap();
    let answer = server.get("/v1/terminals");
    assert!(answer.is_denial(503, "no token can be checked now"), "{answer:?}");
    assert!(!answer.body.contains("tokens.json") && !answer.body.contains("chmod"), "{answer:?}");
    let listed = cage.fleetwatch(&["token", "list"]).output().unwrap();
    let why = String::from_utf8(listed.stderr).unwrap();
    assert!(why.contains("chmod 600") && why.contains("tokens.json"), "here it is said: {why}");
    fs::set_permissions(&tokens, fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(server.get("/v1/terminals").status, 200);
}

#[test]
fn a_list_is_no_body() {
    let cage = Cage::new();
    let token = cage.token("acts", &["--scope", "act"]);
    let server = cage.serve_to(token, &["--listen", "127.0.0.1:0"]);
    let bodies = [
        ("input", r#"["rm -rf"]"#),
        ("answer", r#"["0","yes",null]"#),
        ("keys", "[[\"y\"],null]"),
        ("interrupt", "[null]"),
    ];
    for (number, (route, body)) in bodies.iter().enumerate() {
        let answer = server.post(&format!("/v1/terminals/main/{route}"), &format!("k{number}"), body);
        assert!(answer.is_denial(400, "not a JSON object"), "{route}: {answer:?}");
    }
    assert!(!cage.tmux.screen("main:").contains("rm -rf"));
}

#[test]
fn where_others_reach_it_the_network_has_to_be_private() {
    let cage = Cage::new();
    cage.token("any", &[]);
    let refused = |listen: &str| {
        let output = cage.fleetwatch(&["serve", "--listen", listen]).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    // Nobody here has these addresses, so what may be listened on cannot be, and that is another refusal.
    for listen in ["192.0.2.7:7717", "[2001:db8::7]:7717"] {
        let (code, why) = refused(listen);
        assert!(code == Some(2) && why.contains("nothing is encrypted"), "{listen}: {why}");
    }
    for listen in ["100.64.0.9:7717", "100.127.255.254:7717", "[fd7a:115c:a1e0::9]:7717"] {
        let (code, why) = refused(listen);
        assert!(code == Some(1) && why.contains("cannot listen on"), "{listen}: {why}");
    }
    cage.configure("[serve]\nprivate_networks = [\"192.0.2.0/28\"]\n");
    assert_eq!(refused("192.0.2.7:7717").0, Some(1));
    assert_eq!(refused("192.0.2.17:7717").0, Some(2));
}

/// The squares of a code of half blocks, as a camera sees it, each of them this wide.
const SQUARE: usize = 4;

/// What the code on a screen says.
fn decoded(text: &str) -> Option<String> {
    let rows: Vec<Vec<char>> = text.lines().map(|row| row.chars().collect()).collect();
    let is_dark = |x: usize, y: usize| {
        let half = rows.get(y / 2).and_then(|row| row.get(x)).copied();
        matches!((half, y % 2), (Some('█'), _) | (Some('▀'), 0) | (Some('▄'), 1))
    };
    let (width, height) = (120 * SQUARE, 120 * SQUARE);
    let mut seen = rqrr::PreparedImage::prepare_from_greyscale(width, height, |x, y| {
        if is_dark(x / SQUARE, y / SQUARE) { 0 } else { 255 }
    });
    Some(seen.detect_grids().first()?.decode().ok()?.1)
}

/// What the code says that `serve` shows on a terminal.
fn read_off_the_screen(cage: &Cage, arguments: &[&str]) -> String {
    let command = cage.fleetwatch(arguments);
    let mut words = vec!["env".to_owned()];
    words.extend(
        command.get_envs().filter_map(|(name, value)| Some(format!("{}={}", name.to_str()?, value?.to_str()?))),
    );
    words.push(command.get_program().to_str().unwrap().to_owned());
    words.extend(command.get_args().map(|word| word.to_str().unwrap().to_owned()));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let screen = PrivateTmux::unstarted();
    screen.new_session("main", &words);
    screen.run(&["resize-window", "-t", "main:", "-x", "120", "-y", "60"]);
    let mut read = None;
    wait_until("the code is there", || {
        let text = screen.screen("main:");
        assert!(!text.contains("fwt_"), "the token is in the code alone: {text}");
        read = decoded(&text);
        read.is_some()
    });
    let read = read.unwrap();
    let (page, token) = read.split_once("/#token=").unwrap();
    if let Some(address) = page.strip_prefix("http://") {
        // It is asked while the screen is there.
        let status = |method: &str, path: &str| {
            let mut stream = TcpStream::connect(address).unwrap();
            let head = format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}");
            let more =
                "Content-Type: application/json\r\nIdempotency-Key: one\r\nContent-Length: 12\r\nConnection: close";
            stream.write_all(format!("{head}\r\n{more}\r\n\r\n{{\"text\":\"x\"}}").as_bytes()).unwrap();
            let mut head = [0; 12];
            stream.read_exact(&mut head).unwrap();
            String::from_utf8(head.to_vec()).unwrap()
        };
        assert_eq!(status("GET", "/v1/terminals"), "HTTP/1.1 200");
        assert_eq!(status("POST", "/v1/terminals/main/input"), "HTTP/1.1 403", "it may only read");
    }
    page.to_owned()
}

#[test]
fn a_phone_reads_address_and_token_off_the_screen() {
    let cage = Cage::new();
    let qr = ["serve", "--listen", "127.0.0.1:0", "--qr"];
    let printed = cage.fleetwatch(&qr).output().unwrap();
    let said = String::from_utf8_lossy(&printed.stderr).into_owned();
    assert!(printed.status.code() == Some(2) && said.contains("needs a terminal"), "{said}");
    assert!(read_off_the_screen(&cage, &qr).starts_with("http://127.0.0.1:"));
    assert!(cage.printed(&["token", "list"]).contains("\nqr    read   20"));
    // What a proxy shows is what the phone opens.
    let url = "https://box.example.ts.net";
    assert_eq!(read_off_the_screen(&cage, &[&qr[..], &["--url", url]].concat()), url);
}
