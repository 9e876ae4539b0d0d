//! The list of keys, from the live keymap, and what the marks mean.

use super::canvas::Canvas;
use super::keymap::{Binding, Context, Keymap, show};
use super::meaning::Meaning;
use super::popup::Line;
use super::table::{INFERRED_MARK, SENT_MARK, UNSEEN_MARK};

/// The lines of the help.
pub fn lines(canvas: &Canvas<'_>, keymap: &Keymap) -> Vec<Line> {
    let parts = &canvas.theme.parts;
    let mut lines: Vec<Line> = Vec::new();
    let keys = |binding: &Binding| binding.keys.iter().map(|key| show(*key)).collect::<Vec<_>>().join("  ");
    let bindings = || Context::ALL.into_iter().flat_map(|context| keymap.bindings(context));
    let cells = bindings().map(|binding| keys(binding).chars().count()).max().unwrap_or(0) + 2;
    for context in Context::ALL {
        if !lines.is_empty() {
            lines.push(Vec::new());
        }
        lines.push(vec![(context.title().to_owned(), parts.title)]);
        for binding in keymap.bindings(context) {
            lines.push(vec![
                (format!("  {:<cells$}", keys(binding)), parts.key),
                (binding.description.clone(), parts.text),
            ]);
        }
    }
    lines.push(Vec::new());
    lines.push(vec![("marks".to_owned(), parts.title)]);
    for meaning in Meaning::ALL {
        let look = canvas.theme.look(meaning);
        lines.push(vec![
            (format!("  {:<cells$}", canvas.glyph(meaning)), look.style),
            (look.word.clone(), look.style),
            (format!("  {}", explanation(meaning)), parts.quiet),
        ]);
    }
    for (mark, text) in [
        (UNSEEN_MARK, "the result has not been seen yet: select the terminal for a second"),
        (SENT_MARK, "the turn began with a prompt that fleetwatch sent"),
        (INFERRED_MARK, "the turn was seen on the screen only"),
    ] {
        lines.push(vec![(format!("  {mark:<cells$}"), parts.quiet), (text.to_owned(), parts.text)]);
    }
    lines
}

fn explanation(meaning: Meaning) -> &'static str {
    match meaning {
        Meaning::Waits => "a dialog of the agent waits for an answer",
        Meaning::Failed => "the last turn ended in an error",
        Meaning::Interrupted => "the last turn was interrupted",
        Meaning::Finished => "the last turn ended well",
        Meaning::Stalled => "it should be moving, and is not",
        Meaning::Error => "it cannot be read",
        Meaning::Gone => "the agent or its pane has ended",
        Meaning::Working => "a turn is in flight",
        Meaning::Ready => "a new prompt may be sent",
        Meaning::Unknown => "the screen does not say, or it is old",
    }
}
