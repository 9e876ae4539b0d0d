//! Malformed requests: bytes that nobody sends who means well go through the parser, the checks and the routes, as they would
//! through a connection. Nothing of it may panic, or be answered as a fault of the server.

use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::*;
use crate::history::Settings as HistorySettings;
use crate::owner::{Actor, Roles};
use crate::profile::ProfileSet;
use crate::sender::Sender;
use crate::time::Span;
use crate::token::{Scope, Token};
use listener::Peer;

/// How often everything else has its turn before somebody hangs up.
const TURNS: usize = 200;

/// A server without a tmux server, its token, and what it keeps.
struct Bench {
    served: Served,
    token: String,
    tell_end: watch::Sender<bool>,
    _home: TempDir,
}

impl Bench {
    fn start() -> Self {
        let home = tempfile::tempdir().unwrap();
        let tokens = TokenFile::at(home.path().join("tokens.json"));
        let (token, now) = ("fwt_test".to_owned(), crate::clock::now());
        let good = (now, now + Span::from_secs(86_400));
        tokens.change(|all| all.push(Token::new("test", Scope::Act, good, &token))).unwrap();
        let profiles = Arc::new(ProfileSet::builtin());
        let settings = Settings::new(&crate::config::Config::default(), Arc::clone(&profiles));
        let off = History::start(&HistorySettings { enabled: false, ..HistorySettings::default() });
        let actor = Actor::new(Sender::new(profiles, tmux::Settings::default(), off, None), None, Roles::default());
        let mut engine = Engine::start(settings, &[]).unwrap();
        let (inquiries, mut asked) = mpsc::channel::<Inquiry>(INQUIRIES);
        tokio::spawn(async move {
            while let Some(inquiry) = asked.recv().await {
                inquiry(&mut engine);
            }
        });
        let (tell_end, ending) = watch::channel(false);
        let served = Served {
            inquiries,
            events: Arc::new(EventLog::new()),
            access: Arc::new(Access::new(tokens, Vec::new(), None)),
            metrics: Arc::new(Mutex::new(Metrics::new())),
            actor,
            acts: Arc::new(Semaphore::new(act::MOST as usize)),
            history: None,
            ending,
        };
        Self { served, token, tell_end, _home: home }
    }

    /// Sends bytes through a connection of their own, and returns what is answered.
    async fn answered(&self, bytes: &[u8]) -> Vec<u8> {
        self.served.access.forget_spending();
        let (near, far) = tokio::io::duplex(1 << 16);
        let router = read::routes(self.served.clone());
        let place = ConnectionPlaces::new(1).take().unwrap();
        let answering = listener::answer(Box::new(far), (Peer::Socket, place), router, self.served.ending.clone());
        let asking = async move {
            let (mut from, mut to) = tokio::io::split(near);
            let writing = async {
                // Who is refused early may not take the rest.
                let _ = to.write_all(bytes).await;
                turns().await;
                let _ = to.shutdown().await;
                turns().await;
            };
            let mut answer = Vec::new();
            tokio::select! {
                _ = from.read_to_end(&mut answer) => {}
                // Events go on for as long as somebody may hear them.
                () = writing => {}
            }
            answer
        };
        // What it has said when it ends is still to be read.
        let answering = async {
            answering.await;
            std::future::pending::<()>().await;
        };
        tokio::select! {
            answer = asking => answer,
            () = answering => Vec::new(),
        }
    }
}

/// Lets everything else have its turn until nothing is left to do: all of it takes turns on one thread.
async fn turns() {
    for _ in 0..TURNS {
        tokio::task::yield_now().await;
    }
}

/// Numbers that are the same in each run (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end.max(1) as u64).unwrap()
    }

    fn piece(&mut self) -> &'static [u8] {
        let pieces = || PIECES.split(|byte| *byte == b'|');
        pieces().nth(self.below(pieces().count())).unwrap_or_default()
    }
}

/// What means something somewhere on the way, with `|` between.
const PIECES: &[u8] =
    b"\r\n|\r\n\r\n|\n|\r| |:|%|%2F|%00|%zz|/|//|/../|?|&|=|#|\0|\x1b[2J|\xff|\xc3\x28|\xe2\x80\xae|{|}|[|\"|\
    \\u0000|\\ud800|null|1e999|-1|18446744073709551616|Host: |Origin: null\r\n|Content-Length: 9\r\n|\
    Content-Length: 18446744073709551616\r\n|Transfer-Encoding: chunked\r\n|Upgrade: websocket\r\n|\
    Connection: upgrade\r\n|Last-Event-ID: 1-1\r\n|Expect: 100-continue\r\n|HTTP/1.0|HTTP/2.0|HTTP/9|GET |POST |\
    PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n|/v1/terminals/|/answer|ffffffff\r\n";

/// Requests that are well formed, of every route.
fn requests(token: &str) -> Vec<Vec<u8>> {
    let head = format!("Host: localhost\r\nAuthorization: Bearer {token}\r\n");
    let paths = "/ /openapi.json /metrics /healthz /v1/terminals /v1/tasks /v1/terminals/main \
        /v1/terminals/%251/dialog /v1/terminals/main/screen /v1/terminals/main/transitions \
        /v1/terminals/main/explain /v1/history?target=main&since=2h&limit=7 /v1/events";
    let mut all: Vec<Vec<u8>> =
        paths.split(' ').map(|path| format!("GET {path} HTTP/1.1\r\n{head}\r\n").into_bytes()).collect();
    for (route, body) in [
        ("answer", r#"{"dialog":"0123456789abcdef","choice":"yes","text":null}"#),
        ("input", r#"{"text":"hello","when":"ready"}"#),
        ("keys", r#"{"keys":["Escape","C-c"],"dialog":null}"#),
        ("interrupt", "{}"),
    ] {
        let length = body.len();
        all.push(
            format!(
                "POST /v1/terminals/main/{route} HTTP/1.1\r\n{head}Idempotency-Key: k\r\nContent-Type: application/json\r\n\
                 Content-Length: {length}\r\n\r\n{body}"
            )
            .into_bytes(),
        );
    }
    all
}

/// A request that somebody has got wrong, or means to.
fn malformed(random: &mut Random, requests: &[Vec<u8>]) -> Vec<u8> {
    if random.below(16) == 0 {
        let length = random.below(600);
        return (0..length).map(|_| random.next().to_le_bytes()[3]).collect();
    }
    let mut bytes = requests[random.below(requests.len())].clone();
    for _ in 0..=random.below(6) {
        let at = random.below(bytes.len() + 1);
        match random.below(6) {
            0 => bytes.truncate(at),
            1 => drop(bytes.splice(at..at, random.piece().iter().copied())),
            2 if at < bytes.len() => bytes[at] = random.next().to_le_bytes()[5],
            3 => {
                let end = (at + random.below(24)).min(bytes.len());
                drop(bytes.drain(at..end));
            }
            4 => {
                let end = (at + random.below(48)).min(bytes.len());
                let again = bytes[at..end].repeat(1 + random.below(3));
                drop(bytes.splice(at..at, again));
            }
            // Another one behind it, through the same connection.
            _ if bytes.len() < 4096 => bytes.extend(&requests[random.below(requests.len())]),
            _ => {}
        }
    }
    bytes
}

async fn survives(rounds: usize, seed: u64) {
    let bench = Bench::start();
    let requests = requests(&bench.token);
    for request in &requests {
        let answer = bench.answered(request).await;
        assert!(answer.starts_with(b"HTTP/1.1 ") && !answer.starts_with(b"HTTP/1.1 5"), "{}", answer.escape_ascii());
    }
    let mut random = Random(seed);
    let (mut good, mut refused, mut silent) = (0, 0, 0);
    for round in 0..rounds {
        let bytes = malformed(&mut random, &requests);
        let answer = bench.answered(&bytes).await;
        let is_fault = answer.windows(12).any(|it| it == b"HTTP/1.1 500");
        assert!(
            !is_fault,
            "round {round} of seed {seed}: {} is answered {}",
            bytes.escape_ascii(),
            answer.escape_ascii()
        );
        match answer.get(9) {
            None => silent += 1,
            Some(b'1' | b'2') => good += 1,
            Some(_) => refused += 1,
        }
    }
    // It got everywhere: past the parser, past the checks, and back.
    assert!(good > rounds / 50 && refused > rounds / 10, "{good} answered, {refused} refused, {silent} dropped");
    let healthy = bench.answered(&requests[3]).await;
    assert!(healthy.starts_with(b"HTTP/1.1 200"), "{}", healthy.escape_ascii());
    bench.tell_end.send_replace(true);
    println!("{rounds} requests: {good} answered, {refused} refused, {silent} dropped");
}

#[tokio::test]
async fn malformed_requests_are_refused() {
    survives(2_000, 0x9e37_79b9_7f4a_7c15).await;
}

/// A million of them: `FLEETWATCH_FUZZ=1000000 cargo test --release --lib a_million_malformed -- --ignored --nocapture`. The seed is
/// that of the clock, and printed when something fails.
#[tokio::test]
#[ignore = "takes minutes"]
async fn a_million_malformed_requests_are_refused() {
    let rounds = std::env::var("FLEETWATCH_FUZZ").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(1_000_000);
    let seed = u64::try_from(crate::clock::now().as_millis()).unwrap() | 1;
    println!("seed {seed}");
    survives(rounds, seed).await;
}
