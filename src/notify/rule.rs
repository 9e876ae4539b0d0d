//! A rule: which occasions in which terminals are announced, how, and when not.

use std::collections::BTreeSet;

use jiff::civil::Time;
use jiff::tz::TimeZone;

use crate::pattern::Pattern;
use crate::state::{Attention, State, UiContext, words};
use crate::task::Happening;
use crate::time::{Span, Timestamp};

words! {
    /// What can be announced: the kinds of attention (SPEC §2) and the events of tasks (SPEC §9).
    Occasion {
        Approval = "approval", Question = "question", Trust = "trust", Setup = "setup", Failed = "failed",
        Interrupted = "interrupted", Finished = "finished", Stalled = "stalled", Gone = "gone", Started = "started",
        Exited = "exited", Notify = "notify", Input = "input", Disappeared = "disappeared",
        // A question, too.
        Limit = "limit",
    }
}
words! {
    /// How something is announced.
    Means {
        /// The bell of the operator's terminal.
        Bell = "bell",
        /// The notice of the operator's terminal, by OSC 9 (iTerm2, WezTerm, Ghostty, Windows Terminal).
        Osc9 = "osc9",
        /// The same by OSC 777 (foot, urxvt, Ghostty, WezTerm), which has a title.
        Osc777 = "osc777",
        /// A notice of the desktop.
        Desktop = "desktop",
        /// The rule's own command.
        Command = "command",
        /// A POST to the rule's own address.
        Webhook = "webhook",
    }
}
words! {
    /// What a web hook is sent.
    WebhookShape {
        /// What happened, for programs.
        Json = "json",
        /// A message of ntfy.
        Ntfy = "ntfy",
        /// A message of Slack.
        Slack = "slack",
    }
}

/// Where a rule posts what happens.
#[derive(Clone, PartialEq, Eq)]
pub struct Webhook {
    pub url: String,
    pub shape: WebhookShape,
    /// The environment variables with the secret that it is signed with, and with a token.
    pub secret: Option<String>,
    pub token: Option<String>,
}

impl std::fmt::Debug for Webhook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Whoever knows the address may post there.
        f.debug_struct("Webhook").field("shape", &self.shape).finish_non_exhaustive()
    }
}

impl Occasion {
    /// The occasion that something is which happened to a task.
    pub const fn of_task(happening: &Happening) -> Self {
        match happening {
            Happening::Started => Occasion::Started,
            Happening::Exited { .. } => Occasion::Exited,
            Happening::Notify { .. } => Occasion::Notify,
            Happening::Input { .. } => Occasion::Input,
            Happening::Disappeared { .. } => Occasion::Disappeared,
        }
    }

    /// The occasion that a kind of attention is; both have the same words.
    pub fn of(attention: Attention) -> Option<Self> {
        Self::of_word(attention.word())
    }

    /// What a state is an occasion for.
    pub fn of_state(state: &State) -> Option<Self> {
        let occasion = Self::of(state.attention)?;
        Some(if state.assessment.ui_context == UiContext::Limit { Occasion::Limit } else { occasion })
    }

    /// Whether a rule for these occasions is about it; a task that ended badly has failed as well.
    pub fn is_among(self, on: &BTreeSet<Occasion>, has_failed: bool) -> bool {
        on.contains(&self)
            || (self == Occasion::Limit && on.contains(&Occasion::Question))
            || (has_failed && on.contains(&Occasion::Failed))
    }
}

/// One `[[notify]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotifyRule {
    pub on: BTreeSet<Occasion>,
    /// The terminals that it is about, by their names; `None` is all of them.
    pub terminal: Option<Pattern>,
    pub by: BTreeSet<Means>,
    /// The program and its arguments, for [`Means::Command`].
    pub command: Vec<String>,
    /// How long the command may take.
    pub command_deadline: Span,
    /// Environment variables that it gets beside the usual ones, by their names.
    pub command_environment: Vec<String>,
    /// Where it is posted, for [`Means::Webhook`].
    pub webhook: Option<Webhook>,
    pub quiet_hours: Option<QuietHours>,
    /// The least time between two deliveries; what comes in between goes out together afterwards.
    pub minimum_distance: Span,
}

/// How long a program that announces may take, unless its rule says otherwise.
pub const COMMAND_DEADLINE: Span = Span::from_secs(10);

impl NotifyRule {
    /// The bell when somebody begins to wait for the operator.
    pub fn bell_of_waits() -> Self {
        use Occasion::{Approval, Input, Question, Setup, Trust};
        Self {
            on: [Approval, Question, Trust, Setup, Input].into(),
            terminal: None,
            by: [Means::Bell].into(),
            command: Vec::new(),
            command_deadline: Span::ZERO,
            command_environment: Vec::new(),
            webhook: None,
            quiet_hours: None,
            minimum_distance: Span::SECOND,
        }
    }
}

/// A part of each day in which nothing is announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuietHours {
    from: Time,
    /// The first minute after it; before `from` when midnight lies in between.
    to: Time,
}

impl QuietHours {
    /// Reads `22:00-07:00`.
    pub fn parse(text: &str) -> Option<Self> {
        let (from, to) = text.split_once('-')?;
        let (from, to) = (minute(from)?, minute(to)?);
        (from != to).then_some(Self { from, to })
    }

    /// Whether they hold at a moment, on the clock of a time zone.
    pub fn hold(self, now: Timestamp, zone: &TimeZone) -> bool {
        let Some(time) = now.in_zone(zone).map(|zoned| zoned.time()) else { return false };
        match self.from < self.to {
            true => (self.from..self.to).contains(&time),
            false => time >= self.from || time < self.to,
        }
    }
}

/// Reads `7:00` or `07:00`.
fn minute(text: &str) -> Option<Time> {
    let (hour, minute) = text.trim().split_once(':')?;
    let is_number = |text: &str| (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    (is_number(hour) && minute.len() == 2 && is_number(minute)).then_some(())?;
    Time::new(hour.parse().ok()?, minute.parse().ok()?, 0, 0).ok()
}
