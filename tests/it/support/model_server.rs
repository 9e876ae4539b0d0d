//! A small model server on 127.0.0.1 for agents under test: it answers as a test has scripted, and remembers what it
//! did and saw, so that a test can compare what the screen is said to mean with what really went on.

mod anthropic;
mod openai;
mod script;
mod timeline;
mod wire;

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub use script::{Answer, Gate};
pub use timeline::{Ending, Timeline, Work};

use script::{Beat, Script};
use serde_json::Value;
use timeline::Happening;
use wire::{Lost, Reply, Request};

/// Whose API the server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Anthropic's Messages API.
    Messages,
    /// OpenAI's Responses API.
    Responses,
}

/// A running server. Dropping it ends it; exchanges that hang are cut.
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    dialect: Dialect,
    script: Script,
    timeline: Timeline,
    /// What the operator wrote, as the agent passed it on.
    prompts: Mutex<Vec<String>>,
    closing: AtomicBool,
}

impl ModelServer {
    /// Starts a server on a free port.
    pub fn start(dialect: Dialect) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("a bound address");
        let shared = Arc::new(Shared {
            dialect,
            script: Script::default(),
            timeline: Timeline::default(),
            prompts: Mutex::default(),
            closing: AtomicBool::new(false),
        });
        let accepting = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if accepting.closing.load(Ordering::Relaxed) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let serving = Arc::clone(&accepting);
                std::thread::spawn(move || serve(&serving, stream));
            }
        });
        Self { address, shared }
    }

    /// The base URL that the agent is given.
    pub fn url(&self) -> String {
        match self.shared.dialect {
            Dialect::Messages => format!("http://{}", self.address),
            Dialect::Responses => format!("http://{}/v1", self.address),
        }
    }

    /// Adds the answer to the next request of a turn that has none yet. A request beyond the script gets a short
    /// text, and the timeline says that it came unexpected.
    pub fn answer(&self, answer: Answer) {
        self.shared.script.push(answer);
    }

    /// Takes back the answers that were not given yet.
    pub fn take_back_answers(&self) {
        while self.shared.script.take().is_some() {}
    }

    /// The prompts that turns began with, as the agent passed them on.
    pub fn prompts(&self) -> Vec<String> {
        self.shared.prompts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What happened so far.
    pub fn timeline(&self) -> &Timeline {
        &self.shared.timeline
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.shared.closing.store(true, Ordering::Relaxed);
        // The accepting thread checks the flag only when somebody connects.
        drop(TcpStream::connect_timeout(&self.address, Duration::from_secs(1)));
    }
}

/// What a request is for.
enum Purpose {
    /// A step of a turn: it takes the next answer of the script.
    Turn,
    /// Something that the agent asks beside its turns: a title, a quota. It is answered at once and takes no answer.
    Aside(&'static str),
    /// A question about the service itself, with a fixed answer.
    Service(u16, Value),
}

/// How an answer's parts are spelled in one API.
trait Spelling {
    /// The events that open a stream.
    fn open(&mut self) -> Vec<Value>;
    /// A piece of text, or of thinking; blocks are opened and closed as the kind of piece changes.
    fn piece(&mut self, kind: Piece, text: &str) -> Vec<Value>;
    /// A whole tool call.
    fn call(&mut self, name: &str, input: &Value) -> Vec<Value>;
    /// The events that close a stream which is complete.
    fn close(&mut self) -> Vec<Value>;
    /// The body of an error reply.
    fn error(&self, kind: &str, message: &str) -> Value;
    /// The whole answer as one body, for a request that wants no stream.
    fn whole(&mut self, text: &str) -> Value;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    Text,
    Thought,
}

/// Serves one connection until it is closed.
fn serve(shared: &Shared, stream: TcpStream) {
    let Ok(mut connection) = wire::Connection::new(stream) else { return };
    while let Ok(Some(request)) = connection.read() {
        let mut reply = Reply::new(&mut connection, &shared.closing);
        if exchange(shared, &request, &mut reply).is_err() || !reply.reusable() {
            return;
        }
    }
}

fn exchange(shared: &Shared, request: &Request, reply: &mut Reply) -> Result<(), Lost> {
    let (purpose, mut spelling): (Purpose, Box<dyn Spelling>) = match shared.dialect {
        Dialect::Messages => (anthropic::purpose(request), Box::new(anthropic::Messages::new(request))),
        Dialect::Responses => (openai::purpose(request), Box::new(openai::Responses::new(request))),
    };
    match purpose {
        Purpose::Service(status, body) => reply.json(status, &body),
        Purpose::Aside(text) if !request.wants_stream() => reply.json(200, &spelling.whole(text)),
        Purpose::Aside(text) => {
            let answer = Answer::text(text).at_once();
            play(&answer, spelling.as_mut(), reply, &mut || ()).map(drop)
        }
        Purpose::Turn => {
            let prompt = match shared.dialect {
                Dialect::Messages => anthropic::prompt(request),
                Dialect::Responses => openai::prompt(request),
            };
            shared.prompts.lock().unwrap_or_else(PoisonError::into_inner).extend(prompt);
            let answer = shared.script.take();
            let exchange = shared.timeline.begin(answer.is_some());
            let answer = answer.unwrap_or_else(|| Answer::text("There is nothing left to say."));
            let mut begun = || shared.timeline.note(exchange, Happening::FirstByte);
            let played = play(&answer, spelling.as_mut(), reply, &mut begun);
            let happening = match &played {
                Ok(ending) => Happening::Finished(*ending),
                Err(Lost) => Happening::ClientGone,
            };
            shared.timeline.note(exchange, happening);
            played.map(drop)
        }
    }
}

/// Writes an answer beat by beat. `begun` is notified when the first byte has been written.
fn play(
    answer: &Answer,
    spelling: &mut dyn Spelling,
    reply: &mut Reply,
    begun: &mut dyn FnMut(),
) -> Result<Ending, Lost> {
    let mut open = false;
    let mut ending = Ending::Answered;
    for beat in answer.beats() {
        match beat {
            Beat::Wait(time) => reply.wait(*time)?,
            Beat::Hold(gate) => gate.wait(|| reply.wait(wire::CHECK_EVERY))?,
            Beat::Refuse { status, kind, message } => {
                reply.json(*status, &spelling.error(kind, message))?;
                begun();
                return Ok(Ending::Refused(*status));
            }
            Beat::Cut => {
                reply.cut();
                return Ok(Ending::Cut);
            }
            Beat::Say(text, time) | Beat::Think(text, time) => {
                ensure_open(&mut open, spelling, reply, begun)?;
                let kind = if matches!(beat, Beat::Say(..)) { Piece::Text } else { Piece::Thought };
                let pieces = script::pieces(text, *time);
                let pause = time.checked_div(u32::try_from(pieces.len()).unwrap_or(1)).unwrap_or_default();
                for piece in pieces {
                    reply.events(&spelling.piece(kind, piece))?;
                    reply.wait(pause)?;
                }
            }
            Beat::Call(name, input) => {
                ensure_open(&mut open, spelling, reply, begun)?;
                reply.events(&spelling.call(name, input))?;
                ending = Ending::ToolAsked;
            }
        }
    }
    ensure_open(&mut open, spelling, reply, begun)?;
    reply.events(&spelling.close())?;
    reply.end_stream()?;
    Ok(ending)
}

fn ensure_open(
    open: &mut bool,
    spelling: &mut dyn Spelling,
    reply: &mut Reply,
    begun: &mut dyn FnMut(),
) -> Result<(), Lost> {
    if !std::mem::replace(open, true) {
        reply.begin_stream()?;
        reply.events(&spelling.open())?;
        begun();
    }
    Ok(())
}
