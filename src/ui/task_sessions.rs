//! Which sessions are tasks: all sessions in a list, each with who says so, and a question before one becomes another.

use super::Request;
use super::confirm::Confirm;
use super::menu::{Menu, MenuEntry};
use super::overlay::{Flow, OverlayContext};
use super::picker::Picker;
use super::text;
use crate::fleet::{DeclaredBy, SessionView, View};

/// The widest name that the others are put in line with.
const WIDEST: usize = 40;

/// The list of sessions.
#[derive(Debug)]
pub struct TaskSessions {
    sessions: Vec<SessionView>,
    menu: Menu,
}

impl TaskSessions {
    /// The sessions in view; the server stands with each where there are several.
    pub fn new(view: &View<'_>) -> Self {
        let sessions: Vec<SessionView> = view.sessions.iter().map(|&session| session.clone()).collect();
        let several = view.servers.len() > 1;
        let name = |session: &SessionView| match several {
            true => format!("{}: {}", session.server, session.name),
            false => session.name.clone(),
        };
        let widest = sessions.iter().map(|session| text::width(&name(session))).max().unwrap_or(0).min(WIDEST);
        let entry = |session: &SessionView| {
            let name = name(session);
            let blank = " ".repeat(widest.saturating_sub(text::width(&name)));
            let windows = text::counted(session.windows, "window");
            MenuEntry { text: format!("{name}{blank}  {windows}"), note: note(session).to_owned() }
        };
        let entries = sessions.iter().map(entry).collect();
        Self { sessions, menu: Menu::new("sessions of tasks", entries) }
    }
}

/// Asks whether a session becomes one of tasks, or is one no longer.
fn ask_about(session: &SessionView, desk: &mut OverlayContext<'_, '_>) -> Flow {
    let name = &session.name;
    let (title, lines, yes, adopt) = match session.declared_by {
        Some(DeclaredBy::Configuration) => {
            desk.say(&format!("the configuration makes {name} a task session: remove its [[task]]"));
            return Flow::Stay;
        }
        None => (
            format!("treat {name} as tasks?"),
            [
                "Every window of it becomes a task, also in later sessions of that name.",
                "While fleetwatch watches, a hook of the session counts its bells,",
                "and its windows keep programs that have ended.",
            ],
            "treat it so",
            true,
        ),
        Some(DeclaredBy::Operator | DeclaredBy::Run) => (
            format!("treat {name} as tasks no longer?"),
            [
                "Windows that `fleetwatch run` started stay tasks; the others are none.",
                "The hook that counts its bells goes,",
                "and windows keep programs that have ended only where they did before.",
            ],
            "no longer",
            false,
        ),
    };
    let request = Request::AdoptSession { server: session.server.clone(), session: name.clone(), adopt };
    Flow::Become(Box::new(Confirm::new(title, lines.map(str::to_owned).to_vec(), yes, vec![request])))
}

/// Who says that a session is one of tasks.
const fn note(session: &SessionView) -> &'static str {
    match session.declared_by {
        None => "",
        Some(DeclaredBy::Operator) => "tasks",
        Some(DeclaredBy::Run) => "tasks, by run",
        Some(DeclaredBy::Configuration) => "tasks, by [[task]]",
    }
}

impl Picker for TaskSessions {
    fn menu(&mut self) -> &mut Menu {
        &mut self.menu
    }

    fn words(&self) -> [&'static str; 3] {
        ["change it", "down", "close"]
    }

    fn take(&mut self, index: usize, desk: &mut OverlayContext<'_, '_>) -> Flow {
        ask_about(&self.sessions[index], desk)
    }
}
