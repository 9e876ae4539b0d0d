//! Questions about one terminal that are answered while the fleet is watched: reading has a thread of its own.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::Trouble;
use super::filter::Filter;
use super::following::OpenFile;
use super::handle::History;
use super::reader::{Line, Reader};
use super::record::{Kind, PublicState};
use super::stored::{Body, RecordId, ScreenId, Stored};
use crate::fleet::TerminalKey;
use crate::moment::{Moment, Span};
use crate::profile::{Library, Projector, Said, Transcript, normalized};
use crate::screen::{PaneFacts, Screen};

/// Records in a page.
const PAGE: u32 = 200;
/// Screens that a transcript is put together from at most.
const SCREENS: u32 = 200;

/// What is asked about a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    pub key: TerminalKey,
    pub ask: Ask,
}

/// A kind of question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// What happened: the newest records, or those before one.
    Page { before: Option<RecordId> },
    /// The newest records once more, none if nothing was written since that was asked last. It costs next to nothing.
    Again,
    /// A screen as it was.
    Screen(ScreenId),
    /// Who had the turn from a time on, or since the beginning.
    Line { since: Option<Moment>, until: Moment },
    /// What was said up to a time, the screen of that time last.
    Transcript { until: Moment, last: Option<Shown> },
}

/// A screen, and whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    pub screen: Arc<Screen>,
    pub facts: PaneFacts,
    pub tool: String,
    pub version: Option<String>,
}

/// What became of a question.
#[derive(Clone, Debug)]
pub struct Answer {
    pub key: TerminalKey,
    pub told: Told,
}

/// An answer, in the order of [`Ask`].
#[derive(Clone, Debug)]
pub enum Told {
    /// Records before one or the newest, oldest first; `earlier` says that there are more before them.
    Page {
        before: Option<RecordId>,
        records: Vec<Stored>,
        earlier: bool,
    },
    /// `None` when it was let go.
    Screen(ScreenId, Option<Arc<Screen>>),
    Line {
        since: Option<Moment>,
        line: Line,
    },
    /// The lines, oldest first. Without a history they are those of the last screen.
    Transcript {
        until: Moment,
        lines: Vec<Said>,
    },
    /// The history cannot be read now.
    Failed {
        ask: Ask,
        trouble: Trouble,
    },
}

/// Where questions go. The thread that answers them ends when this is dropped.
#[derive(Clone, Debug)]
pub struct Questions {
    queue: Sender<Question>,
}

impl Questions {
    /// Asks; the answer comes by itself. A question that nobody can answer any more is forgotten.
    pub fn ask(&self, question: Question) {
        let _ = self.queue.send(question);
    }
}

impl History {
    /// Answers questions, in the order in which they are asked. It does so without a history as well, and says then that
    /// none is kept.
    pub fn questions(&self, library: Arc<Library>) -> (Questions, UnboundedReceiver<Answer>) {
        let (queue, questions) = mpsc::channel();
        let (answers, receiver) = unbounded_channel();
        let clerk = Clerk { path: self.path().map(ToOwned::to_owned), library, open: None, told: None };
        let thread = thread::Builder::new().name("questions".to_owned()).spawn(move || clerk.run(&questions, &answers));
        if let Err(error) = thread {
            tracing::warn!(%error, "the history is not read");
        }
        (Questions { queue }, receiver)
    }
}

/// Answers from one history.
struct Clerk {
    path: Option<PathBuf>,
    library: Arc<Library>,
    open: Option<OpenFile>,
    /// What was told last is of this version of the file.
    told: Option<i64>,
}

impl Clerk {
    fn run(mut self, questions: &Receiver<Question>, answers: &UnboundedSender<Answer>) {
        while let Ok(Question { key, ask }) = questions.recv() {
            let told = self.answer(&key, ask.clone()).unwrap_or_else(|trouble| {
                tracing::debug!(%trouble, "a question about the history has no answer");
                (self.open, self.told) = (None, None);
                Told::Failed { ask, trouble }
            });
            if answers.send(Answer { key, told }).is_err() {
                return;
            }
        }
    }

    fn answer(&mut self, key: &TerminalKey, ask: Ask) -> Result<Told, Trouble> {
        match ask {
            Ask::Page { before } => self.page(key, before),
            Ask::Again => {
                let version = self.reader()?.data_version()?;
                if self.told.replace(version) == Some(version) {
                    return Ok(Told::Page { before: None, records: Vec::new(), earlier: false });
                }
                self.page(key, None)
            }
            Ask::Screen(id) => Ok(Told::Screen(id, self.reader()?.screen(id)?.map(Arc::new))),
            Ask::Line { since, until } => Ok(Told::Line { since, line: self.reader()?.line(key, since, until)? }),
            Ask::Transcript { until, last } => self.transcript(key, until, last),
        }
    }

    fn page(&mut self, key: &TerminalKey, before: Option<RecordId>) -> Result<Told, Trouble> {
        let filter = Filter { terminals: Some(vec![key.clone()]), before, limit: Some(PAGE), ..Filter::default() };
        let records = self.reader()?.records(&filter)?;
        let earlier = u32::try_from(records.len()).is_ok_and(|count| count == PAGE);
        Ok(Told::Page { before, records, earlier })
    }

    fn transcript(&mut self, key: &TerminalKey, until: Moment, last: Option<Shown>) -> Result<Told, Trouble> {
        let mut transcript = Transcript::default();
        match self.stored_dialogs(key, until, &mut transcript) {
            // What is on the screen can be told without a history.
            Err(_) if last.is_some() => {}
            stored => stored?,
        }
        if let Some(shown) = last {
            transcript.add(self.dialog(&shown));
        }
        Ok(Told::Transcript { until, lines: transcript.into_lines() })
    }

    /// Adds the dialogs of the stored screens up to a time.
    fn stored_dialogs(&mut self, key: &TerminalKey, until: Moment, to: &mut Transcript) -> Result<(), Trouble> {
        let filter = Filter {
            terminals: Some(vec![key.clone()]),
            until: Some(until + Span::from_millis(1)),
            kinds: vec![Kind::Transition],
            limit: Some(SCREENS),
            ..Filter::default()
        };
        let records = self.reader()?.records(&filter)?;
        let mut before = None;
        for record in &records {
            let Body::Transition(transition) = &record.body else { continue };
            let Some(id) = transition.screen.filter(|id| before != Some(*id)) else { continue };
            before = Some(id);
            // One that was let go in the meantime leaves a gap.
            let Some(screen) = self.reader()?.screen(id)? else { continue };
            let facts = transition.state.as_ref().and_then(PublicState::terminal).unwrap_or_default();
            let (tool, version) = (facts.tool, facts.observed_tool_version);
            let shown = Shown { screen: Arc::new(screen), facts: PaneFacts::default(), tool, version };
            to.add(self.dialog(&shown));
        }
        Ok(())
    }

    /// The dialog on a screen, as the agent's profile knows it; of a program without one it is all that stands there.
    fn dialog(&self, shown: &Shown) -> Vec<Said> {
        let Shown { screen, facts, tool, version } = shown;
        match self.library.select(tool, version.as_deref(), false) {
            Some(selected) => selected.profile.project(screen, facts, Projector::Profile).said(screen),
            None => normalized(screen).lines().map(|line| Said { text: line.to_owned(), by_user: false }).collect(),
        }
    }

    /// The open file; one that was moved aside in the meantime is left for its successor.
    fn reader(&mut self) -> Result<&mut Reader, Trouble> {
        let path = self.path.as_ref().ok_or(Trouble::Off)?;
        if self.open.as_ref().is_some_and(|open| !open.is_in_place(path)) {
            (self.open, self.told) = (None, None);
        }
        match &mut self.open {
            Some(open) => Ok(&mut open.reader),
            none => Ok(&mut none.insert(OpenFile::open(path)?).reader),
        }
    }
}
