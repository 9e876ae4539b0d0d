//! What a terminal waits for or does, in one line of its own words.

use crate::fleet::Terminal;
use crate::state::{Availability, Phase, State, UiContext};

use super::meaning::waits;

/// How much of an option's text the line of a dialog shows, in characters.
const OPTION_SHOWN: usize = 18;
/// What agents draw before a line, and what tells terminals how to draw it.
const BULLETS: [char; 11] = ['●', '•', '⏺', '■', '✗', '✕', '⎿', '└', '⚠', '\u{FE0E}', '\u{FE0F}'];
/// What agents draw around the parts of a dialog.
const BORDERS: [char; 9] = ['│', '┃', '╭', '╮', '╰', '╯', '─', '━', '█'];

/// The line for the table: the dialog's question and its options, the running tool, the answer's first line, or why
/// there is nothing to see.
pub fn line(terminal: &Terminal) -> String {
    let state = &terminal.state;
    if waits(state)
        && let Some(excerpt) = &state.assessment.operator_excerpt
    {
        let options = terminal.dialog.iter().flat_map(|dialog| &dialog.options);
        let first = options.clone().next().map(|option| option.label.as_str());
        let named = state.activity.clone().filter(|activity| !activity.ends_with('?'));
        let asks_leave = state.assessment.ui_context == UiContext::ApprovalPrompt;
        let question = named
            .or_else(|| subject(excerpt, first).filter(|_| asks_leave))
            .or_else(|| state.activity.clone())
            .or_else(|| question(excerpt))
            .unwrap_or_default();
        return options.fold(question, |line, option| {
            format!("{line}   {} {}", option.name, super::text::cut(&option.label, OPTION_SHOWN))
        });
    }
    if let Some(trouble) = trouble(state) {
        return trouble;
    }
    // What agents draw before a line of their own would look like a mark of the table.
    let bare = |text: &String| text.trim_start_matches(|c: char| c.is_whitespace() || BULLETS.contains(&c)).to_owned();
    let [activity, ended, noted] =
        [&state.activity, &state.last_turn.detail, &state.operator.detail].map(|text| text.as_ref().map(bare));
    // How the last turn ended says nothing of one that goes on, such as the next attempt after a failure, even where its
    // line is still the last one on the screen.
    let goes_on = state.turn.phase == Phase::Active;
    let said = [activity, ended.clone().filter(|_| !goes_on), noted].into_iter().flatten();
    said.filter(|text| !goes_on || Some(text) != ended.as_ref()).find(|text| !text.is_empty()).unwrap_or_default()
}

/// Why a terminal cannot be read, in words.
pub fn trouble(state: &State) -> Option<String> {
    let problem = state.diagnostics.probe_error.as_ref().or(state.diagnostics.parse_error.as_ref());
    match state.diagnostics.availability {
        Availability::Available => None,
        Availability::TuiDown => Some("the agent has ended; its pane is still there".to_owned()),
        Availability::Unavailable => Some("the pane is gone".to_owned()),
        Availability::Error => Some(problem.map_or("cannot be read".to_owned(), |problem| problem.message.clone())),
        Availability::Unknown => problem.map(|problem| problem.message.clone()),
    }
}

/// What an approval is about, which its question seldom says: the command itself where it is marked as one, else what
/// stands above the question, or behind it where it comes first; all of it above the first option.
fn subject(excerpt: &str, first_option: Option<&str>) -> Option<String> {
    /// Lines of the subject that are shown beside its title.
    const SHOWN: usize = 2;
    let said: Vec<&str> = excerpt
        .lines()
        .map(|line| line.trim_matches(|c: char| c.is_whitespace() || BORDERS.contains(&c)))
        .take_while(|line| !first_option.is_some_and(|option| line.contains(option)))
        .filter(|line| line.chars().any(char::is_alphanumeric) && !line.starts_with("Tip:"))
        .collect();
    if let Some(command) = said.iter().find(|line| line.starts_with("$ ")) {
        return Some((*command).to_owned());
    }
    let asked = said.iter().position(|line| line.ends_with('?'))?;
    // A diff numbers its rows; what it is about stands before it.
    let is_numbered = |line: &&&str| line.starts_with(|c: char| c.is_ascii_digit());
    let subject = |lines: &[&str]| -> Vec<String> {
        lines.iter().take_while(|line| !is_numbered(line)).map(|line| (*line).to_owned()).collect()
    };
    let (above, below) = (subject(&said[..asked]), subject(&said[asked + 1..]));
    match (above.split_first(), below.last()) {
        (Some((title, [])), _) => Some(title.clone()),
        (Some((title, body)), _) => Some(format!("{title}: {}", body[..body.len().min(SHOWN)].join(" · "))),
        (None, Some(last)) => Some(format!("{} {last}", said[asked])),
        (None, None) => None,
    }
}

/// The line of a dialog that asks, else its first one.
fn question(excerpt: &str) -> Option<String> {
    let lines = || excerpt.lines().map(str::trim).filter(|line| !line.is_empty());
    lines().find(|line| line.ends_with('?')).or_else(|| lines().next()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_approval_is_told_by_what_it_is_about() {
        let told = |excerpt: &str| subject(excerpt, Some("Yes")).unwrap_or_default();
        let bash = "Bash command\n\n  rm -rf build/cache\n  Clear it\n\nDo you want to proceed?\n❯ 1. Yes";
        assert_eq!(told(bash), "Bash command: rm -rf build/cache · Clear it");
        let edit = "Edit file\nsrc/orders.py\n\n1  def f():\n2 - old\n\nMake this edit?\n❯ 1. Yes";
        assert_eq!(told(edit), "Edit file: src/orders.py");
        let command = "Would you like to run the following command?\n\nReason: May I?\n\n$ touch x\n\n› 1. Yes";
        assert_eq!(told(command), "$ touch x");
        let changes = "Make the following edits?\n\nsrc/cart.py (+1 -1)\n\n1  def f():\n\n› 1. Yes";
        assert_eq!(told(changes), "Make the following edits? src/cart.py (+1 -1)");
        let boxed = "Run the command\n────\n╭───╮\n│ rm x │\n╰───╯\nRun this?\n❯ 1. Yes";
        assert_eq!(told(boxed), "Run the command: rm x");
        assert_eq!(told("Proceed?\n❯ 1. Yes"), "");
    }
}
