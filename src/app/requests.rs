//! What the operator asks for is carried out, and what came of it is told.

use super::actors::ActorNews;
use super::lending::LendPurpose;
use super::{App, AppError, copy};
use crate::fleet::{Input, TerminalKey};
use crate::history::{OperatorAction, Record};
use crate::operation::{Act, Refusal, When};
use crate::poll;
use crate::status::Status;
use crate::tmux::Jump;
use crate::ui::{Copied, Request, Topic};

impl App {
    pub(super) async fn carry_out(&mut self, request: Request) -> Result<(), AppError> {
        match request {
            Request::Quit => self.wants_to_end = true,
            Request::Reload => self.reload(),
            Request::Redraw => self.tty.clear()?,
            Request::Suspend => self.suspend().await?,
            Request::Seen { key } => self.saw(key, "seen"),
            Request::Note { key, action } => self.note(key, action),
            Request::Jump { key } => self.actors.jump(key),
            Request::KillTasks { tasks } => self.kill_tasks(tasks),
            Request::RerunTask { key, window } => self.rerun_task(key, window),
            Request::AdoptSession { server, session, adopt } => self.actors.adopt(server, session, adopt),
            Request::Explain { key } => {
                self.ui.explained(&key, self.engine.fleet().explain(&key, poll::now()), poll::now())
            }
            Request::Copy { key, what } => self.copy(&key, what)?,
            Request::Reasons { key } => {
                let now = poll::now();
                let text = self.engine.fleet().explain(&key, now);
                self.ui.reasons(&key, text.as_deref(), &self.engine.fleet().view(now));
            }
            Request::DecideFollowUp { id, decision } => self.decide(id, decision),
            Request::Ask(question) => self.questions.ask(question),
            Request::Unqueue { key } => self.unqueue(key),
            Request::Prompts { key } => self.actors.look_up_prompts(key),
            Request::Edit { text } => self.edit(text)?,
            Request::Perform(operation) => match &operation.act {
                Act::Prompt { when: When::Ready, .. } => self.queue(operation),
                _ => self.actors.perform(operation),
            },
        }
        Ok(())
    }

    pub(super) async fn on_news(&mut self, news: ActorNews) -> Result<(), AppError> {
        match news {
            ActorNews::Queued { posted: Ok(()), .. } => {}
            ActorNews::Queued { prompt, posted: Err(why) } => {
                self.ui.ended(&prompt, &Refusal::Other(why).into(), &self.engine.fleet().view(poll::now()));
            }
            ActorNews::TakenBack { key, texts: Ok(texts) } => {
                self.ui.taken_back(&key, &texts, &self.engine.fleet().view(poll::now()));
            }
            ActorNews::TakenBack { texts: Err(why), .. } => self.complain(&format!("nothing was taken back: {why}")),
            ActorNews::Prompts { own, all } => self.ui.prompts(&own, &all, &self.engine.fleet().view(poll::now())),
            ActorNews::Task { key, told } => {
                self.engine.wake(&key.server);
                let (status, told) = match told {
                    Ok(told) => (Status::Finished, told),
                    Err(trouble) => (Status::Error, trouble),
                };
                self.ui.notify_about(Topic::Task(key), status, told, poll::now());
            }
            ActorNews::Copied { clip, clipboard } => {
                let (status, told) = copy::told(&clip, clipboard.as_ref());
                self.ui.notify_about(Topic::Clipboard, status, told, poll::now());
            }
            ActorNews::Adopted { server, session, adopt, kept } => self.adopted(server, session, adopt, kept),
            ActorNews::Decided { told: Ok(told) } => self.ui.notify(Status::Finished, told, poll::now()),
            ActorNews::Decided { told: Err(trouble) } => self.complain(&trouble),
            ActorNews::Jumped { key, jump: Ok(Jump::Switched) } => {
                self.saw(key, "jumped to it");
                // A popup would go on to hide what was jumped to.
                if self.actors.in_popup() && self.lent.is_none() {
                    self.wants_to_end = true;
                }
            }
            // The key was pressed twice, or something else was begun meanwhile.
            ActorNews::Jumped { jump: Ok(Jump::Attach(_)), .. } if self.lent.is_some() => {}
            ActorNews::Jumped { key, jump: Ok(Jump::Attach(command)) } => {
                let name = key.server.host.as_ref().map_or_else(|| "tmux".to_owned(), |host| format!("ssh to {host}"));
                self.hand_over(command, name, LendPurpose::Jump(key))?;
            }
            ActorNews::Jumped { jump: Err(error), .. } => self.complain(&error.to_string()),
        }
        Ok(())
    }

    fn copy(&mut self, key: &TerminalKey, what: Copied) -> Result<(), AppError> {
        if let Some(clip) = copy::clip(self.engine.fleet(), key, what) {
            self.tty.copy(&clip.text)?;
            self.actors.follow_clip(clip);
            return Ok(());
        }
        let told = match what {
            Copied::Dialog => "no dialog waits there, so nothing was copied",
            Copied::Name | Copied::Transcript => "there is nothing to copy",
        };
        self.ui.notify_about(Topic::Clipboard, Status::Ready, told.to_owned(), poll::now());
        Ok(())
    }

    /// The operator has seen a terminal, by doing something.
    pub(super) fn saw(&mut self, key: TerminalKey, action: &'static str) {
        self.note(Some(key.clone()), action);
        self.engine.handle_local(Input::Seen { key }, poll::now());
    }

    /// Keeps what the operator did beside inputs (SPEC §10).
    fn note(&self, key: Option<TerminalKey>, action: &'static str) {
        let name = key.as_ref().and_then(|key| self.engine.fleet().name_of(key)).unwrap_or("dashboard").to_owned();
        self.history.record(Record::Action { key, name, at: poll::now(), action: OperatorAction::of_word(action) });
    }

    pub(super) fn complain(&mut self, what: &str) {
        self.ui.notify(Status::Error, what.to_owned(), poll::now());
    }
}
