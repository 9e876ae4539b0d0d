//! HTTP requests by bytes, over the socket of a server that watches nothing. None may be answered as a fault of the server.
#![no_main]

use std::cell::RefCell;
use std::path::PathBuf;
use std::time::Duration;

use fleetwatch::config::Config;
use fleetwatch::owner::Settings;
use fleetwatch::serve::{Admission, Listener, Serving};
use fleetwatch::time::Span;
use fleetwatch::token::{Scope, Token, TokenFile};
use fleetwatch_fuzz::{PROFILES, scratch, seed};
use libfuzzer_sys::fuzz_target;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::runtime::Runtime;

/// Stands in an input for a token: each has its turn, as what one may ask for in a second is limited.
const TOKEN: &[u8] = b"TOKEN";
const TOKENS: usize = 400;

fn seeds() -> Vec<Vec<u8>> {
    let head = "Host: localhost\r\nAuthorization: Bearer TOKEN\r\n";
    let gets = [
        "/v1/terminals",
        "/v1/tasks",
        "/v1/terminals/api/dialog",
        "/v1/terminals/%252/screen",
        "/metrics",
        "/",
        "/v1/history?since=2h&kind=input,action&limit=3&target=api",
        "/openapi.json",
        "/v1/events",
        "/healthz",
        "/v1/terminals/api/explain",
        "/v1/terminals/api/transitions",
    ];
    let mut seeds: Vec<_> = gets.iter().map(|path| format!("GET {path} HTTP/1.1\r\n{head}\r\n")).collect();
    let posts = [
        ("answer", r#"{"dialog":"ab","choice":"yes","text":"x"}"#),
        ("input", r#"{"text":"hi","when":"ready"}"#),
        ("interrupt", r#"{"dialog":null}"#),
        ("keys", r#"{"keys":["Enter"],"dialog":null}"#),
    ];
    for (path, body) in posts {
        let length = body.len();
        seeds.push(format!(
            "POST /v1/terminals/api/{path} HTTP/1.1\r\n{head}Content-Type: application/json\r\n\
            Idempotency-Key: k1\r\nContent-Length: {length}\r\n\r\n{body}"
        ));
    }
    seeds.into_iter().map(String::into_bytes).collect()
}

struct Served {
    runtime: Runtime,
    socket: PathBuf,
    turn: usize,
}

impl Served {
    fn start() -> Self {
        let (file, socket) = (TokenFile::at(scratch("tokens.json")), scratch("http/socket"));
        let now = fleetwatch::clock::now();
        let good = (now, now + Span::from_secs(7 * 86_400));
        let token = |n| Token::new(&format!("t{n}"), Scope::Act, good, &text(n));
        file.change(|all| *all = (0..TOKENS).map(token).collect()).expect("tokens are kept");
        let at = socket.clone();
        std::thread::spawn(move || {
            runtime().block_on(async move {
                let mut config = Config::default();
                config.history.enabled = false;
                let settings = Settings::new(&config, PROFILES.clone());
                let admission = Admission { tokens: file, names: Vec::new(), page: None, files: 512 };
                let Ok(serving) = Serving::start(&config, settings, &[], admission) else { panic!("it starts") };
                let Ok(listener) = Listener::on_socket(&at).await else { panic!("it listens") };
                serving.run(listener, std::future::pending::<()>(), |_| {}).await.expect("it serves");
            });
        });
        while !socket.exists() {
            std::thread::yield_now();
        }
        let runtime = runtime();
        Self { runtime, socket, turn: 0 }
    }
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

fn text(n: usize) -> String {
    format!("fwt_{n:04}")
}

fn with_token(data: &[u8], token: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = data;
    while let Some(at) = rest.windows(TOKEN.len()).position(|part| part == TOKEN) {
        bytes.extend_from_slice(&rest[..at]);
        bytes.extend_from_slice(token.as_bytes());
        rest = &rest[at + TOKEN.len()..];
    }
    bytes.extend_from_slice(rest);
    bytes
}

thread_local! {
    static SERVED: RefCell<Served> = RefCell::new(Served::start());
}

fuzz_target!(init: seed(4096, seeds), |data: &[u8]| {
    SERVED.with_borrow_mut(|served| {
        served.turn = (served.turn + 1) % TOKENS;
        let bytes = with_token(data, &text(served.turn));
        let answer = served.runtime.block_on(async {
            let mut stream = UnixStream::connect(&served.socket).await.expect("it listens");
            // Who is refused early may not take the rest.
            let _ = stream.write_all(&bytes).await;
            let _ = stream.shutdown().await;
            let mut answer = Vec::new();
            // Events go on for as long as somebody may hear them.
            let _ = tokio::time::timeout(Duration::from_millis(200), stream.read_to_end(&mut answer)).await;
            answer
        });
        let fault = answer.starts_with(b"HTTP/1.1 500");
        assert!(!fault, "{}", String::from_utf8_lossy(&answer));
    });
});
