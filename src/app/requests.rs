//! Carries out what the operator asks for, and reports the result.

use std::collections::HashMap;
use std::sync::Arc;

use super::App;
use super::terminal::{AppError, LendPurpose};
use crate::clock;
use crate::config::{Adopted, AdoptedError};
use crate::fleet::{Fleet, View};
use crate::git::Git;
use crate::history;
use crate::history::{Decided, IntentNews, Intents, Reader, keep_note};
use crate::ids::{ServerId, TerminalKey, WindowId};
use crate::operation::{Act, Operation, Outcome, Producer, Recipient, Refusal, When};
use crate::record::{HistoryError, Intent, IntentId, IntentState, OperatorAction, Record, Stored};
use crate::repository::GitError;
use crate::screen::is_harmless;
use crate::state::KeptNote;
use crate::status::Status;
use crate::task::{Batch, Happening, TaskEvent};
use crate::time::Timestamp;
use crate::tmux::{self, Clipboard, Inside, Jump, Server, Start};
use crate::ui::{Copied, Decision, OverlayEvent, Request, Topic, Waiting, decided};

/// Earlier prompts that the composer offers, of one terminal and of all.
const RECALLED: usize = 200;

/// The words for a kill.
const KILLED: &str = "killed from the dashboard";

impl App {
    pub(super) async fn carry_out(&mut self, request: Request) -> Result<(), AppError> {
        match request {
            Request::Quit => self.wants_to_end = true,
            Request::Reload => self.reload(),
            Request::Theme(name) => self.show_in(name),
            Request::Redraw => self.tty.clear(),
            Request::Suspend => self.suspend().await?,
            Request::Seen(key) => self.saw(key, "seen"),
            Request::KeepNote { kept, name } => self.keep_note(kept, name),
            Request::Note { key, action } => self.note(key, action),
            Request::Jump(key) => self.jump(key),
            Request::Offers { line, near } => self.offer(line, near.as_ref()),
            Request::Start { line, near } => self.start_ordered(&line, near.as_ref()),
            Request::CloseAgent { key, asks } => self.close_agent(key, asks),
            Request::RemoveWorktree { path, ignored } => self.remove_worktree(path, ignored),
            Request::KillTasks(tasks) => self.kill_tasks(tasks),
            Request::RerunTask { key, window } => self.rerun_task(key, window),
            Request::AdoptSession { server, session, adopt } => self.adopt(server, session, adopt),
            Request::Explain(key) => self.ui.explained(&key, self.engine.explain(&key, clock::now()), clock::now()),
            Request::Copy { key, what } => self.copy(&key, what)?,
            Request::Reasons(key) => {
                let text = self.engine.explain(&key, self.now);
                let event = OverlayEvent::Reasons { key: &key, text: text.as_deref() };
                self.ui.on_event(event, &self.engine.fleet().view(self.now));
            }
            Request::Diff { key, directory } => self.read_diff(key, directory),
            Request::DecideFollowUp { id, decision } => self.decide(id, decision),
            Request::Ask(question) => self.questions.ask(question),
            Request::Unqueue(keys) => self.unqueue(keys),
            Request::Prompts(key) => self.look_up_prompts(key),
            Request::OpenEditor(text) => self.edit(text)?,
            Request::Perform(operation) => match &operation.act {
                Act::Prompt { when: When::Ready, .. } => self.queue(operation),
                Act::Keys { .. } | Act::Interrupt { .. } => {
                    self.keyboards.press(&operation, &self.actor, &mut self.sends);
                }
                _ => {
                    let actor = self.actor.clone();
                    // Those that are done need no place any more.
                    while self.sends.try_join_next().is_some() {}
                    self.sends.spawn(async move { drop(actor.perform(operation, ()).await) });
                }
            },
        }
        Ok(())
    }

    /// Does something that takes time in a task of its own, and then something with the result.
    pub(super) fn work<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
        then: impl FnOnce(&mut App, T) -> Result<(), AppError> + Send + 'static,
    ) {
        let done = self.to_done.clone();
        tokio::spawn(async move {
            let result = work.await;
            // Nobody listens any more when the dashboard has been left.
            let _ = done.send(Box::new(move |app| then(app, result)));
        });
    }

    /// Brings the operator to a terminal, or lends the terminal to what does.
    fn jump(&mut self, key: TerminalKey) {
        let (tmux, inside, to) = (self.tmux(), self.inside.clone(), key.clone());
        let jump = async move { Server::new(to.server.clone(), tmux)?.jump(&to, inside.as_ref()).await };
        self.work(jump, move |app, jump| {
            match jump {
                Ok(Jump::Switched) => {
                    app.saw(key, "jumped to it");
                    // A popup would go on to hide what was jumped to.
                    app.wants_to_end |= app.inside.as_ref().is_some_and(Inside::is_popup) && app.lent.is_none();
                }
                // The key was pressed twice, or something else was begun meanwhile.
                Ok(Jump::Attach(_)) if app.lent.is_some() => {}
                Ok(Jump::Attach(command)) => {
                    let name = key
                        .server
                        .host
                        .as_ref()
                        .map_or_else(|| "tmux".to_owned(), |host| format!("the connection to {host}"));
                    app.hand_over(command, name, LendPurpose::Jump(key))?;
                }
                Err(error) => app.complain(&error.to_string()),
            }
            Ok(())
        });
    }

    pub(super) fn tmux(&self) -> tmux::Settings {
        self.engine.settings().poll.tmux.clone()
    }

    fn copy(&mut self, key: &TerminalKey, what: Copied) -> Result<(), AppError> {
        let Some(clip) = clip(self.engine.fleet(), key, &what) else {
            let message = match what {
                Copied::Dialog => "no dialog waits there, so nothing was copied",
                Copied::Name | Copied::Transcript | Copied::Answer(_) => "there is nothing to copy",
            };
            self.ui.notify_about(Topic::Clipboard, Status::Ready, message.to_owned(), clock::now());
            return Ok(());
        };
        self.tty.copy(&clip.text)?;
        let (tmux, inside) = (self.tmux(), self.inside.clone());
        // What tmux around the dashboard does with it, if there is one.
        let clipboard = async move {
            match inside {
                Some(inside) => Some(inside.clipboard(tmux).await),
                None => None,
            }
        };
        self.work(clipboard, move |app, clipboard| {
            let (status, message) = message(&what, &clip, clipboard.as_ref());
            app.ui.notify_about(Topic::Clipboard, status, message, clock::now());
            Ok(())
        });
        Ok(())
    }

    /// Looks up the prompts that were sent before: to one terminal, and to any. A history that cannot be read has none.
    fn look_up_prompts(&self, key: Option<TerminalKey>) {
        let Some(path) = self.history.path().map(ToOwned::to_owned) else { return };
        let prompts = tokio::task::spawn_blocking(move || {
            let mut reader = Reader::open(&path).ok()?;
            let own = key.map(|key| reader.prompts(Some(&key), RECALLED)).transpose();
            Some((own.ok().flatten().unwrap_or_default(), reader.prompts(None, RECALLED).unwrap_or_default()))
        });
        self.work(prompts, |app, prompts| {
            if let Ok(Some((own, all))) = prompts {
                app.ui.prompts(&own, &all, &app.engine.fleet().view(clock::now()));
            }
            Ok(())
        });
    }

    /// Reads how the files around a terminal's directory differ from the last commit.
    fn read_diff(&self, key: TerminalKey, directory: String) {
        let is_on = self.engine.settings().poll.git;
        let is_here = key.server.host.is_none();
        let read = async move {
            match (is_on, is_here) {
                (false, _) => Err(GitError::Unusable("git is turned off in the configuration".to_owned())),
                (true, false) => Err(GitError::Unusable("repositories on hosts are not read".to_owned())),
                (true, true) => Git::of_process().await?.difference(directory.as_ref()).await,
            }
        };
        self.work(read, move |app, diff| {
            app.ui.on_event(OverlayEvent::Diff { key: &key, diff: &diff }, &app.engine.fleet().view(clock::now()));
            Ok(())
        });
    }

    /// The operator has seen a terminal, by doing something.
    pub(super) fn saw(&mut self, key: TerminalKey, action: &'static str) {
        // That a result was seen the engine keeps itself.
        if action != "seen" || self.engine.fleet().terminal(&key).is_none() {
            self.note(Some(key.clone()), action);
        }
        self.engine.see(key, clock::now());
    }

    /// Keeps what the operator did beside inputs (SPEC §10).
    pub(super) fn note(&self, key: Option<TerminalKey>, action: &'static str) {
        let name = key.as_ref().and_then(|key| self.engine.fleet().name_of(key)).unwrap_or("dashboard").to_owned();
        self.did(key, name, OperatorAction::of_word(action));
    }

    pub(super) fn did(&self, key: Option<TerminalKey>, name: String, action: OperatorAction) {
        self.history.record(Record::Action { key, name, at: clock::now(), action });
    }

    /// Keeps a note; it is shown once it is kept, as with one of another process.
    fn keep_note(&self, kept: KeptNote, name: String) {
        let path = self.history.path().map(ToOwned::to_owned);
        let work = tokio::task::spawn_blocking(move || {
            let path = path.ok_or_else(|| "no history is kept, so there is no place for notes".to_owned())?;
            keep_note(&path, &kept, &name, clock::now()).map_err(|trouble| trouble.to_string())
        });
        self.work(work, |app, kept| {
            if let Err(why) = kept.unwrap_or_else(|error| Err(error.to_string())) {
                app.complain(&format!("the note was not kept: {why}"));
            }
            Ok(())
        });
    }

    pub(super) fn complain(&mut self, what: &str) {
        self.ui.notify(Status::Error, what.to_owned(), clock::now());
    }

    // What the dashboard does about tasks beside showing them.

    /// Kills tasks, and removes their windows.
    fn kill_tasks(&mut self, tasks: Vec<(TerminalKey, WindowId)>) {
        for (key, window) in tasks {
            let Some(task) = self.engine.fleet().task(&key.server, window) else { continue };
            let (name, ended) = (task.id.clone(), task.is_dead());
            let (server, reason) = (key.server.clone(), KILLED.to_owned());
            if !ended {
                self.history.record(Record::kill(key.clone(), name.clone(), clock::now(), KILLED));
                self.engine.task_killed(server, window, reason, clock::now());
            }
            let (history, tmux, of) = (self.history.clone(), self.tmux(), key.clone());
            let kill = async move {
                history.written(history::WRITTEN).await;
                Server::new(of.server.clone(), tmux)?.kill_task(&of, window).await
            };
            self.work(kill, move |app, killed| {
                let (status, message) = match killed {
                    Ok(true) if ended => {
                        app.did(Some(key.clone()), name.clone(), OperatorAction::Prune);
                        (Status::Finished, format!("{name} was removed"))
                    }
                    Ok(true) => (Status::Finished, format!("{name} was killed")),
                    Ok(false) => (Status::Error, format!("{name} is gone already")),
                    Err(error) => (Status::Error, format!("{name}: {error}")),
                };
                app.tell_of_task(key, status, message)
            });
        }
    }

    /// Runs a task that has ended again.
    fn rerun_task(&mut self, key: TerminalKey, window: WindowId) {
        let Some(task) = self.engine.fleet().task(&key.server, window) else { return };
        let (name, action) = (task.id.clone(), OperatorAction::rerun(task));
        let (tmux, of) = (self.tmux(), key.clone());
        let begin = async move {
            Server::new(of.server.clone(), tmux)?.begin_again(&of, window, None, clock::now().as_millis()).await
        };
        self.work(begin, move |app, begun| {
            let (status, message) = match begun {
                Ok(Start::Begun(begun)) => {
                    app.did(Some(begun.key), name.clone(), action);
                    (Status::Finished, format!("{name} runs again"))
                }
                Ok(Start::Overtaken) => (Status::Error, format!("{name} runs again already, or is gone")),
                Err(error) => (Status::Error, format!("{name}: {error}")),
            };
            app.tell_of_task(key, status, message)
        });
    }

    fn tell_of_task(&mut self, key: TerminalKey, status: Status, message: String) -> Result<(), AppError> {
        self.engine.wake(&key.server);
        self.ui.notify_about(Topic::Task(key), status, message, clock::now());
        Ok(())
    }

    /// Keeps that a session is one of tasks, or no longer. The file is locked by whoever else writes it, which may take as
    /// long as it likes.
    fn adopt(&self, server: ServerId, session: String, adopt: bool) {
        let (choosing, to, name) = (Arc::clone(&self.choosing), server.clone(), session.clone());
        let keep = async move {
            let _in_order = choosing.lock_owned().await;
            let change = move || match Adopted::location() {
                Some(path) => Adopted::change(&path, &to, &name, adopt).map(drop),
                None => Err(AdoptedError::Homeless),
            };
            match tokio::task::spawn_blocking(change).await {
                Ok(kept) => kept.map_err(|error| error.to_string()),
                Err(error) => Err(error.to_string()),
            }
        };
        self.work(keep, move |app, kept| {
            match kept {
                Ok(()) => app.adopted(server, session, adopt),
                Err(error) => app.ui.notify(Status::Failed, format!("nothing was changed: {error}"), clock::now()),
            }
            Ok(())
        });
    }

    /// A session is treated as tasks from now on, or no longer; the pollers read the choice with their next poll.
    fn adopted(&mut self, server: ServerId, session: String, adopt: bool) {
        let run = self
            .engine
            .fleet()
            .view(clock::now())
            .tasks
            .into_iter()
            .any(|task| task.key.server == server && task.session == session && task.registration.at().is_some());
        let message = match (adopt, run) {
            (true, _) => "is a task session now",
            (false, true) => "is no longer a task session, but what `fleetwatch run` started stays a task",
            (false, false) => "is no longer a task session",
        };
        let action = if adopt { "treated as tasks" } else { "treated as tasks no longer" };
        self.did(None, session.clone(), OperatorAction::of_word(action));
        self.ui.notify(Status::Finished, format!("{session} {message}"), clock::now());
        self.engine.wake(&server);
        if !adopt {
            let tmux = self.tmux();
            tokio::spawn(async move {
                let Ok(server) = Server::new(server, tmux) else { return };
                if let Err(error) = server.undeclare_tasks(&session).await {
                    tracing::warn!(server = %server.id(), %error, "the session is still marked as a task session");
                }
            });
        }
    }

    /// Shows what happened to tasks as messages (SPEC §9), the urgent ones last, which are the last ones to give way.
    pub(super) fn show_task_events(&mut self, batch: &Batch) {
        let now = clock::now();
        let view = self.engine.fleet().view(now);
        let is_muted = |key: &TerminalKey| view.tasks.iter().any(|task| task.key == *key && self.ui.mutes(*task));
        // What was asked for here has been answered here.
        let ours = Happening::Disappeared { reason: Some(KILLED.to_owned()) };
        let mut events: Vec<&TaskEvent> =
            batch.events.iter().filter(|event| event.happening != ours && !is_muted(&event.key)).collect();
        events.sort_by_key(|event| event.happening.level());
        for event in events {
            let message = format!("{} {}", event.id, event.happening.text());
            let topic = Topic::Event(event.key.clone());
            self.ui.notify_about(topic, event.happening.as_status(), message, now);
        }
    }

    // Messages to agents, and prompts that wait until their agents are ready. They are kept in the history, and sent by the
    // owner.

    /// Shows which messages to agents are open.
    pub(super) fn on_intent(&mut self, news: IntentNews) {
        if !news.is_old && news.intent.recipient.is_some() {
            self.tell_of_prompt(&news.intent);
        }
        match news.intent.state.is_open() {
            true => drop(self.follow_ups.insert(news.intent.id, news.intent)),
            false => drop(self.follow_ups.remove(&news.intent.id)),
        }
        self.ui.show_follow_ups(self.follow_ups.values().cloned().collect());
        self.show_queue();
    }

    /// Writes down what the operator decides of a message; whoever sends messages carries it out.
    fn decide(&self, id: IntentId, decision: Decision) {
        self.in_outbox(
            move |outbox, now| match decision {
                Decision::Resend => outbox.resend(id, now),
                Decision::Dismiss => outbox.dismiss(id, now),
            },
            move |app, done| {
                let (status, message) = match done {
                    Ok(Decided::Dismissed) => (Status::Finished, decided(id, decision, None)),
                    Ok(Decided::Resent(next)) => (Status::Finished, decided(id, decision, Some(next))),
                    Ok(Decided::NotOpen(state)) => (Status::Error, format!("message {} is already {state}", id.0)),
                    Ok(Decided::Missing) => (Status::Error, format!("message {} no longer exists", id.0)),
                    Err(trouble) => (Status::Error, format!("message {} was not changed: {trouble}", id.0)),
                };
                app.ui.notify(status, message, clock::now());
            },
        );
    }

    /// Has a prompt wait for its terminal. Where nothing can be kept, its text is given back.
    fn queue(&mut self, prompt: Operation) {
        let Operation { to: Recipient { key, name, .. }, act, .. } = prompt.clone();
        let Act::Prompt { text, .. } = act else { return };
        self.in_outbox(
            move |outbox, now| outbox.post((&key, &name), (&text, None), now).map(drop),
            move |app, posted| {
                if let Err(why) = posted {
                    app.ui.ended(&prompt, &Refusal::Other(why).into(), &app.engine.fleet().view(clock::now()));
                }
            },
        );
    }

    /// Gives the prompts back that wait for a terminal.
    fn unqueue(&mut self, keys: Vec<TerminalKey>) {
        self.in_outbox(
            move |outbox, now| {
                let take_back = |key| outbox.take_back(&key, now).map(|texts| (key, texts));
                keys.into_iter().map(take_back).collect::<Result<Vec<_>, HistoryError>>()
            },
            move |app, taken| match taken {
                Ok(taken) => app.ui.taken_back(&taken, &app.engine.fleet().view(clock::now())),
                Err(why) => app.complain(&format!("nothing was taken back: {why}")),
            },
        );
    }

    /// Does something in the outbox, which takes time, and then something with the result.
    fn in_outbox<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Intents, Timestamp) -> Result<T, HistoryError> + Send + 'static,
        then: impl FnOnce(&mut App, Result<T, String>) + Send + 'static,
    ) {
        let path = self.history.path().map(ToOwned::to_owned);
        let work = tokio::task::spawn_blocking(move || {
            let path = path.ok_or_else(|| "no prompt can wait without a history".to_owned())?;
            let now = clock::now();
            let outbox = Intents::open(&path, now);
            outbox.and_then(|mut outbox| work(&mut outbox, now)).map_err(|trouble| trouble.to_string())
        });
        self.work(work, move |app, done| {
            then(app, done.unwrap_or_else(|error| Err(error.to_string())));
            Ok(())
        });
    }

    /// Takes what happened, or was done by whatever process, into the log, as far as it is about these servers.
    pub(super) fn keep_in_log(&mut self, records: Vec<Stored>) {
        let view = self.engine.fleet().view(clock::now());
        let is_here = |key: &TerminalKey| {
            view.servers.iter().any(|server| key.may_be(&TerminalKey { server: server.id.clone(), ..key.clone() }))
        };
        for record in records.into_iter().filter(|record| record.key.as_ref().is_some_and(is_here)) {
            self.ui.keep_in_log(record);
        }
    }

    /// Tells what became of a prompt that waited.
    fn tell_of_prompt(&mut self, prompt: &Intent) {
        let view = self.engine.fleet().view(clock::now());
        let Some(key) = here(prompt, &view) else { return };
        let why = prompt.detail.clone().unwrap_or_default();
        let outcome = match prompt.state {
            IntentState::Sent => Outcome::Accepted(prompt.detail.clone()),
            IntentState::Unknown => Outcome::Unverified { why },
            IntentState::Failed => Refusal::Other(why).into(),
            _ => return,
        };
        let act = Act::Prompt { text: prompt.text.clone().unwrap_or_default(), when: When::Ready };
        let (producer, to) = (Producer::Queue(prompt.id.0), Recipient::new(key, prompt.target.clone()));
        self.ui.ended(&Operation { at: prompt.created, producer, to, act }, &outcome, &view);
    }

    /// Shows which prompts wait.
    fn show_queue(&mut self) {
        let view = self.engine.fleet().view(clock::now());
        let mut waiting: HashMap<TerminalKey, Vec<Waiting>> = HashMap::new();
        for prompt in self.follow_ups.values().filter(|it| waits(it)) {
            let Some(key) = here(prompt, &view) else { continue };
            let text = prompt.text.clone().unwrap_or_default();
            waiting.entry(key).or_default().push(Waiting { text, since: prompt.created });
        }
        self.ui.show_queue(waiting);
    }

    /// What still waits when the dashboard is left, in words.
    pub(super) fn still_waiting(&self) -> Vec<String> {
        let waiting = self.follow_ups.values().filter(|it| it.recipient.is_some() && waits(it));
        let message = |it: &Intent| {
            let message = format!(
                "a prompt is queued for {}, and whoever watches next sends it: {}",
                it.target,
                it.message_text()
            );
            self.ui.hint_in_place(&message)
        };
        waiting.map(message).collect()
    }
}

fn waits(it: &Intent) -> bool {
    matches!(it.state, IntentState::Pending | IntentState::Attempted)
}

/// The terminal of a prompt as it is called here; one that is gone has no other name.
fn here(prompt: &Intent, view: &View<'_>) -> Option<TerminalKey> {
    let key = prompt.recipient.as_ref()?;
    let here = view.terminals.iter().find(|terminal| terminal.key.may_be(key));
    Some(here.map_or_else(|| key.clone(), |terminal| terminal.key.clone()))
}

// What is copied into the operator's clipboard, through the terminal itself (OSC 52).

/// Bytes that are copied at most. Terminals drop what is longer than their own limit without a word; the lowest in use
/// is 74994 bytes of what this becomes in base64.
const MOST: usize = 56_000;

/// A text for the clipboard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Clip {
    pub(super) text: String,
    /// Whether the beginning was left out because it was too long.
    pub(super) cut: bool,
}

/// The text to copy from a terminal or a task; `None` when there is no such thing.
pub(super) fn clip(fleet: &Fleet, key: &TerminalKey, what: &Copied) -> Option<Clip> {
    let text = match what {
        Copied::Name => fleet.name_of(key).map(str::to_owned),
        Copied::Dialog => fleet.terminal(key)?.state.assessment.operator_excerpt.clone(),
        Copied::Transcript => fleet.dialog_text(key),
        Copied::Answer(text) => Some(text.clone()),
    };
    text.map(|text| prepare(&text)).filter(|clip| !clip.text.is_empty())
}

/// Says what became of copied text. No terminal reports whether it took it, and tmux mostly does not; text known to be dropped is
/// not called copied.
pub(super) fn message(
    what: &Copied,
    clip: &Clip,
    clipboard: Option<&Result<Clipboard, tmux::Error>>,
) -> (Status, String) {
    let cut = if clip.cut { "; its beginning was left out, because it is too long" } else { "" };
    let what = match what {
        Copied::Name => "the name",
        Copied::Dialog => "the dialog",
        Copied::Transcript => "the transcript",
        Copied::Answer(_) => "the last answer",
    };
    let text = format!("{what}, {} characters{cut}", clip.text.chars().count());
    match clipboard {
        None => (Status::Ready, format!("sent to the terminal's clipboard: {text}")),
        Some(Ok(Clipboard::Taken)) => (Status::Ready, format!("sent to tmux for the clipboard: {text}")),
        Some(Ok(Clipboard::Dropped)) => {
            let why = "tmux drops what programs in it copy (`tmux set -s set-clipboard on` lets it through)";
            (Status::Stalled, format!("not copied: {why}"))
        }
        Some(Ok(Clipboard::Popup)) => {
            let why = "tmux drops what programs in a popup copy (in a window of tmux it can be copied)";
            (Status::Stalled, format!("not copied: {why}"))
        }
        Some(Err(error)) => {
            (Status::Stalled, format!("sent to tmux, which does not say whether it copied it: {error}"))
        }
    }
}

/// Takes out whatever could act on the terminal that it is pasted into one day, and keeps the end of what is too long:
/// the latest is what one copies it for.
fn prepare(text: &str) -> Clip {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let text: String = lines.join("\n").chars().filter(|&c| c == '\n' || is_harmless(c)).collect();
    let text = text.trim_matches('\n');
    let from = (text.len().saturating_sub(MOST)..text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    Clip { text: text[from..].to_owned(), cut: from > 0 }
}

#[cfg(test)]
mod copy_tests {
    use super::*;

    #[test]
    fn what_is_copied_can_do_nothing_where_it_is_pasted() {
        let hostile = "\n\nrm \u{1b}[201~-rf\u{7}  \r\n\u{202e}漢字\u{9b}31m\n";
        assert_eq!(prepare(hostile), Clip { text: "rm [201~-rf\n漢字31m".to_owned(), cut: false });
    }

    #[test]
    fn the_end_of_what_is_too_long_is_copied() {
        let long = format!("{}the end", "漢".repeat(40_000));
        let clip = prepare(&long);
        assert!(clip.cut && clip.text.len() <= MOST && clip.text.ends_with("the end") && clip.text.starts_with('漢'));
    }
}
