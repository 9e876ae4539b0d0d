//! What stands in place of the table when there is nothing to list: what is the matter, and what to do.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::action::Action;
use super::canvas::Canvas;
use super::keymap::Context;
use super::text::{self, Pen};
use crate::fleet::{ServerHealth, View};

/// What is the matter, then what to do about it.
type Explanation = (String, Vec<String>);

/// Draws the explanation into the middle of an area.
pub fn draw(canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, view: &View<'_>) {
    let filter = canvas.arrangement.filter.text();
    let (what, hints) = match view.terminals.len() + view.tasks.len() {
        0 => explanation(view),
        count => (
            "No terminal matches the filter".to_owned(),
            vec![format!("{} lets none of {count} through.", text::cut(filter, 40)), filter_hint(canvas)],
        ),
    };
    let parts = &canvas.theme.parts;
    let widest = hints.iter().map(|hint| text::width(hint)).chain([text::width(&what)]).max().unwrap_or(0);
    let left = usize::from(area.width).saturating_sub(widest) / 2;
    let height = u16::try_from(hints.len() + 2).unwrap_or(u16::MAX);
    let top = area.height.saturating_sub(height) / 3;
    let left = u16::try_from(left).unwrap_or(0);
    let inner = Rect { x: area.x + left, width: area.width - left, ..area };
    Pen::new(buffer, inner, top).text(&what, parts.title);
    // Where there is no room for a blank row between, what to do matters more.
    let gap = u16::from(area.height > height);
    for (row, hint) in (0..).zip(&hints) {
        Pen::new(buffer, inner, top + 1 + gap + row).text(hint, parts.quiet);
    }
}

/// Which key shows all terminals again, wherever the keyboard is.
fn filter_hint(canvas: &Canvas<'_>) -> String {
    let key = canvas.keymap.key_for(Context::Fleet, Action::Dismiss);
    key.map_or_else(String::new, |key| format!("{key} shows all of them again."))
}

fn explanation(view: &View<'_>) -> Explanation {
    let lines = |hints: &[&str]| hints.iter().map(|hint| (*hint).to_owned()).collect();
    if view.servers.iter().any(|server| server.health == ServerHealth::Up) {
        let names: Vec<String> = view.servers.iter().map(|server| server.id.to_string()).collect();
        return (
            "No agents found".to_owned(),
            vec![
                format!("tmux answers ({}), but no pane runs an agent that fleetwatch knows.", names.join(", ")),
                "Start one in any tmux window (claude, codex, …): it appears here by itself.".to_owned(),
                "`fleetwatch demo` shows a fleet without any agent.".to_owned(),
            ],
        );
    }
    let troubled = view.servers.iter().find_map(|server| match &server.health {
        ServerHealth::NoServer(problem) | ServerHealth::Failed(problem) => Some((server, problem)),
        ServerHealth::Up | ServerHealth::Waiting => None,
    });
    let Some((server, problem)) = troubled else {
        return ("Asking tmux …".to_owned(), lines(&["The first answer takes a moment."]));
    };
    match problem.kind.as_str() {
        "tmux_missing" => (
            problem.message.clone(),
            lines(&[
                "fleetwatch watches agents that run in tmux 3.2 or newer.",
                "Install it with your package manager and make sure it is in the PATH.",
            ]),
        ),
        "tmux_too_old" => (problem.message.clone(), lines(&["fleetwatch needs tmux 3.2 or newer."])),
        _ if matches!(server.health, ServerHealth::NoServer(_)) => (
            format!("No tmux server is running on {}", server.id),
            lines(&[
                "Start one with `tmux new -s work`, and an agent in it: it appears here.",
                "Another server is named with -L NAME or -S PATH, as in tmux.",
                "`fleetwatch demo` shows a fleet without any agent.",
            ]),
        ),
        _ => (
            format!("{} cannot be watched: {}", server.id, problem.message),
            lines(&["fleetwatch keeps trying; `fleetwatch doctor` says more."]),
        ),
    }
}
