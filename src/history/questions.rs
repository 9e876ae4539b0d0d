//! Questions about the history, answered by a separate thread while the fleet is watched.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::feeds::FollowedFile;
use super::identity::stored_server;
use super::reader::{Reader, RecordFilter};
use super::totals::{Grain, Period, day_totals};
use crate::agent_record::{Said, Speaker};
use crate::fleet::TerminalKey;
use crate::process::RecordedTranscript;
use crate::profile::{ProfileSet, Transcript, normalized};
use crate::record::question::{
    Answer, DayQuestion, HistoryAnswer, HistoryQuestion, QuestionKind, SessionFile, StoredScreen,
};
use crate::record::totals::{DayTotals, hours_of};
use crate::record::{Body, HistoryError, Kind, PublicState, RecordId};
use crate::screen::PaneFacts;
use crate::time::{Span, Timestamp};

/// Records in a page.
const PAGE: u32 = 200;
/// Screens that a transcript is put together from at most.
const SCREENS: u32 = 200;

/// Where questions go. The thread that answers them ends when this is dropped.
#[derive(Clone, Debug)]
pub struct Questions {
    queue: Sender<HistoryQuestion>,
}

impl Questions {
    /// Answers them from a history, in the order in which they are asked; without one each answer is that none is kept.
    pub(super) fn start(path: Option<&Path>, profiles: Arc<ProfileSet>) -> (Self, UnboundedReceiver<Answer>) {
        let (queue, questions) = mpsc::channel();
        let (answers, receiver) = unbounded_channel();
        let file = path.map(|path| FollowedFile::new(path.to_owned()));
        let answering = QuestionThread { file, profiles, recorded: RecordedTranscript::default() };
        let thread =
            thread::Builder::new().name("questions".to_owned()).spawn(move || answering.run(&questions, &answers));
        if let Err(error) = thread {
            tracing::warn!(%error, "the history is not read");
        }
        (Self { queue }, receiver)
    }

    /// Asks; the answer arrives on the receiver. A question after the thread has ended is dropped.
    pub fn ask(&self, question: HistoryQuestion) {
        let _ = self.queue.send(question);
    }
}

/// Answers from one history.
struct QuestionThread {
    /// Its version is that of the last answer; `None` if no history is kept.
    file: Option<FollowedFile>,
    profiles: Arc<ProfileSet>,
    /// The transcript that was asked for last.
    recorded: RecordedTranscript,
}

impl QuestionThread {
    fn run(mut self, questions: &Receiver<HistoryQuestion>, answers: &UnboundedSender<Answer>) {
        while let Ok(question) = questions.recv() {
            let answer = match question {
                HistoryQuestion::Terminal { key, ask } => {
                    let answer = self.answer(&key, (*ask).clone());
                    let answer =
                        self.heeded(answer).unwrap_or_else(|trouble| HistoryAnswer::Failed { ask: *ask, trouble });
                    Answer::Terminal { key, answer: Box::new(answer) }
                }
                HistoryQuestion::Day(question) => {
                    let answer = self.day(&question);
                    Answer::Day { answer: self.heeded(answer), question }
                }
            };
            if answers.send(answer).is_err() {
                return;
            }
        }
    }

    /// Reads from the file as it is then the next time, where it could not be read.
    fn heeded<T>(&mut self, answer: Result<T, HistoryError>) -> Result<T, HistoryError> {
        answer.inspect_err(|trouble| {
            tracing::debug!(%trouble, "a question about the history has no answer");
            self.file.iter_mut().for_each(FollowedFile::close);
        })
    }

    fn day(&mut self, question: &DayQuestion) -> Result<Vec<DayTotals>, HistoryError> {
        let DayQuestion { date, zone, now, by, servers } = question;
        let (hours, end) = hours_of(*date, zone);
        // A success of the last minutes may have been withdrawn after midnight.
        let until = (end + Span::HOUR).min(*now);
        let period = Period { since: hours.first().copied(), until, zone: zone.clone() };
        let servers: Vec<_> = servers.iter().map(stored_server).collect();
        let reader = self.reader()?;
        let mut terminals = reader.terminals()?;
        terminals.retain(|terminal| servers.contains(&stored_server(&terminal.key.server)));
        let mut days = day_totals(reader, &terminals, *by, &period, Grain::Hour)?;
        days.retain(|day| day.date == *date);
        Ok(days)
    }

    fn answer(&mut self, key: &TerminalKey, ask: QuestionKind) -> Result<HistoryAnswer, HistoryError> {
        match ask {
            QuestionKind::Page { before } => self.page(key, before),
            QuestionKind::Again => {
                if !self.file()?.has_changed()? {
                    return Ok(HistoryAnswer::Page { before: None, records: Vec::new(), earlier: false });
                }
                self.page(key, None)
            }
            QuestionKind::Screen(id) => Ok(HistoryAnswer::Screen(id, self.reader()?.screen(id)?.map(Arc::new))),
            QuestionKind::Line { since, until } => Ok(HistoryAnswer::Line(self.reader()?.line(key, since, until)?)),
            QuestionKind::Transcript { until, record, last } => match self.recorded(record.as_ref(), until) {
                Some(lines) => Ok(HistoryAnswer::Transcript { lines, is_recorded: true }),
                None => self.transcript(key, until, last),
            },
        }
    }

    fn page(&mut self, key: &TerminalKey, before: Option<RecordId>) -> Result<HistoryAnswer, HistoryError> {
        let filter =
            RecordFilter { terminals: Some(vec![key.clone()]), before, limit: Some(PAGE), ..RecordFilter::default() };
        let records = self.reader()?.records(&filter)?;
        let earlier = u32::try_from(records.len()).is_ok_and(|count| count == PAGE);
        Ok(HistoryAnswer::Page { before, records, earlier })
    }

    /// The lines of an agent's record up to a time; `None` if it has none.
    fn recorded(&mut self, record: Option<&SessionFile>, until: Timestamp) -> Option<Arc<[Said]>> {
        let SessionFile { path, tool } = record?;
        let sources = self.profiles.records(tool);
        let source = sources.iter().find(|source| source.is_transcript())?;
        self.recorded.up_to(path, source, until).filter(|lines| !lines.is_empty())
    }

    fn transcript(
        &mut self,
        key: &TerminalKey,
        until: Timestamp,
        last: Option<StoredScreen>,
    ) -> Result<HistoryAnswer, HistoryError> {
        let mut transcript = Transcript::default();
        match self.stored_dialogs(key, until, &mut transcript) {
            // What is on the screen is known without a history.
            Err(_) if last.is_some() => {}
            stored => stored?,
        }
        if let Some(shown) = last {
            transcript.add(self.dialog(&shown));
        }
        Ok(HistoryAnswer::Transcript { lines: transcript.into_lines().into(), is_recorded: false })
    }

    /// Adds the dialogs of the stored screens up to a time.
    fn stored_dialogs(&mut self, key: &TerminalKey, until: Timestamp, to: &mut Transcript) -> Result<(), HistoryError> {
        let filter = RecordFilter {
            terminals: Some(vec![key.clone()]),
            until: Some(until.next()),
            kinds: vec![Kind::Transition],
            limit: Some(SCREENS),
            ..RecordFilter::default()
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
            let shown = StoredScreen { screen: Arc::new(screen), facts: PaneFacts::default(), tool, version };
            to.add(self.dialog(&shown));
        }
        Ok(())
    }

    /// The dialog on a screen, read with the agent's profile; without a profile, the whole screen.
    fn dialog(&self, shown: &StoredScreen) -> Vec<Said> {
        let StoredScreen { screen, facts, tool, version } = shown;
        match self.profiles.select(tool, version.as_deref(), false) {
            Some(selected) => selected.profile.project(screen, facts).said(screen),
            None => normalized(screen).lines().map(|line| Said::new(line, Speaker::Agent)).collect(),
        }
    }

    fn reader(&mut self) -> Result<&mut Reader, HistoryError> {
        self.file()?.reader()
    }

    fn file(&mut self) -> Result<&mut FollowedFile, HistoryError> {
        self.file.as_mut().ok_or(HistoryError::Off)
    }
}
