//! What the view is about: an agent's terminal or a task, as it was seen last.

use std::collections::VecDeque;
use std::sync::Arc;

use super::facts;
use crate::fleet::{Terminal, TerminalKey, View};
use crate::history::StoredScreen;
use crate::profile::RefusedInputs;
use crate::screen::{PaneFacts, Screen};
use crate::status::Status;
use crate::task::{Preview, Task};
use crate::time::Timestamp;
use crate::ui::action::Action;
use crate::ui::canvas::Canvas;
use crate::ui::composer::Composer;
use crate::ui::dialog::DialogBox;
use crate::ui::item::Item;
use crate::ui::keymap::Context;
use crate::ui::overlay::{Flow, OverlayContext};
use crate::ui::popup::StyledLine;

/// A terminal, as long as it is there and afterwards.
#[derive(Clone, Debug)]
pub enum Subject {
    /// Without its transitions, which are in the list.
    Agent(Box<Terminal>),
    Task {
        task: Box<Task>,
        /// The last lines of its output.
        output: Arc<Screen>,
    },
}

impl Subject {
    pub fn agent(terminal: &Terminal) -> Self {
        let Terminal { key, place, declared, state, facts, screen, dialog, .. } = terminal;
        Self::Agent(Box::new(Terminal {
            key: key.clone(),
            place: place.clone(),
            declared: declared.clone(),
            state: state.clone(),
            facts: facts.clone(),
            screen: screen.clone(),
            dialog: dialog.clone(),
            interrupt: Vec::new(),
            input: RefusedInputs::default(),
            transitions: VecDeque::new(),
        }))
    }

    pub fn task(task: &Task) -> Self {
        Self::Task { task: Box::new(task.clone()), output: Arc::new(output(&task.preview())) }
    }

    /// The same as it is now; `None` when it is no longer there.
    pub fn now(&self, view: &View<'_>) -> Option<Self> {
        match self {
            Self::Agent(known) => crate::ui::find(view, &known.key).map(Self::agent),
            Self::Task { task: known, output } => {
                let task = view.tasks.iter().find(|task| task.key == known.key)?;
                // The same output stays the same, so that nobody reads it anew.
                let same = task.preview() == known.preview();
                Some(if same {
                    Self::Task { task: Box::new((*task).clone()), output: Arc::clone(output) }
                } else {
                    Self::task(task)
                })
            }
        }
    }

    /// What it is, as the table has it.
    pub fn item(&self) -> Item<'_> {
        match self {
            Self::Agent(terminal) => Item::Terminal(terminal),
            Self::Task { task, .. } => Item::Task(task),
        }
    }

    pub fn key(&self) -> &TerminalKey {
        self.item().key()
    }

    pub fn name(&self) -> &str {
        self.item().id()
    }

    /// Whether it is a task.
    pub fn is_task(&self) -> bool {
        matches!(self, Self::Task { .. })
    }

    /// Why a task stands as it does; `None` for an agent, whose reasons are asked for.
    pub fn why_task(&self, now: Timestamp) -> Option<String> {
        match self {
            Self::Agent(_) => None,
            Self::Task { task, .. } => Some(task.why(now)),
        }
    }

    /// Whether a dialog of an agent has the keys.
    pub fn waits(&self) -> bool {
        matches!(self, Self::Agent(terminal) if terminal.state.waits())
    }

    /// Gives way to its prompt or its dialog. The table's cursor may have gone on to another row meanwhile, where a filter
    /// lets this one through no longer.
    pub fn act(&self, action: Action, desk: &mut OverlayContext<'_, '_>) -> Flow {
        match self {
            Self::Task { task, .. } => {
                let jump = desk.options.keymap.key_for(Context::Drill, Action::Jump).unwrap_or_default();
                desk.tell(Status::Unknown, format!("{} is a task; go there to type ({jump})", task.id));
                Flow::Stay
            }
            Self::Agent(agent) if action == Action::Open && self.waits() => {
                Flow::Become(Box::new(DialogBox::new(agent.key.clone())))
            }
            Self::Agent(agent) => Flow::Become(Box::new(Composer::new(agent.key.clone(), desk.memory))),
        }
    }

    /// What the head tells of it beside its name, most telling first.
    pub fn about(&self) -> Vec<String> {
        let item = self.item();
        let (what, id, profile) = match self {
            Self::Agent(terminal) => {
                let profile = terminal.state.terminal.profile.as_ref();
                (item.agent(), terminal.key.pane.to_string(), profile.map(|profile| format!("profile {profile}")))
            }
            Self::Task { task, .. } => {
                let command = task.pane.as_ref().map_or("", |pane| pane.command.as_str());
                (format!("task {command}"), task.window.to_string(), None)
            }
        };
        let pid = format!("pid {}", item.key().pid);
        let parts = [what, format!("{id} {}", item.place()), pid, item.cwd().to_owned(), profile.unwrap_or_default()];
        parts.into_iter().filter(|text| !text.trim().is_empty()).collect()
    }

    /// What it shows now.
    pub fn screen(&self) -> Option<&Arc<Screen>> {
        match self {
            Self::Agent(terminal) => terminal.screen.as_ref(),
            Self::Task { output, .. } => Some(output),
        }
    }

    /// A screen of it, to be read as a dialog.
    pub fn shown(&self, screen: Arc<Screen>) -> StoredScreen {
        match self {
            Self::Agent(terminal) => {
                let Terminal { state, facts, .. } = &**terminal;
                let (tool, version) = (state.terminal.tool.clone(), state.terminal.observed_tool_version.clone());
                StoredScreen { screen, facts: facts.clone(), tool, version }
            }
            Self::Task { .. } => {
                StoredScreen { screen, facts: PaneFacts::default(), tool: String::new(), version: None }
            }
        }
    }

    /// Everything else that is known of it.
    pub fn facts(&self, canvas: &Canvas<'_>, view: &View<'_>) -> Vec<StyledLine> {
        match self {
            Self::Agent(terminal) => facts::of_agent(canvas, terminal, view),
            Self::Task { task, .. } => facts::of_task(canvas, task, view),
        }
    }
}

fn output(preview: &Preview) -> Screen {
    Screen::from_text(&preview.lines().join("\n"), u16::MAX)
}
