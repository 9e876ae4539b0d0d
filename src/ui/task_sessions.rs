//! Which sessions are tasks: all sessions in a list, each with who says so, and a question before one becomes another.

use super::Request;
use super::confirm::Confirm;
use super::overlay::{Flow, OverlayContext};
use super::picker::{MenuEntry, Picker};
use super::text;
use crate::fleet::{DeclaredBy, SessionView, View};

/// The widest name that the others are put in line with.
const WIDEST: usize = 40;

/// The sessions in view; the server stands with each where there are several.
pub fn task_sessions(view: &View<'_>) -> Picker {
    let sessions: Vec<SessionView> = view.sessions.iter().map(|&session| session.clone()).collect();
    let several = view.servers.len() > 1;
    let name = |session: &SessionView| match several {
        true => format!("{}: {}", session.server, session.name),
        false => session.name.clone(),
    };
    let widest = sessions.iter().map(|session| text::width(&name(session))).max().unwrap_or(0).min(WIDEST);
    let entry = |session: &SessionView| {
        let name = text::padded(&name(session), widest);
        MenuEntry::new(format!("{name}  {}", text::counted(session.windows, "window")), note(session))
    };
    let entries = sessions.iter().map(entry).collect();
    Picker::new("sessions of tasks", "change it", entries, move |index, desk| ask_about(&sessions[index], desk))
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
