//! What an agent asks, in one line.

use super::Dialog;
use super::text::bare;
use crate::state::{Assessment, State, UiContext};

/// What an open dialog is about, in one line of its own words: the command or the file of an approval, else the question.
/// `None` if the screen shows none.
pub fn asked(state: &State, dialog: Option<&Dialog>) -> Option<String> {
    subject_of(&state.assessment, state.activity.as_deref(), dialog)
}

/// What the dialog asked that was open when an unreadable terminal was last read.
pub fn asked_before(state: &State, dialog: Option<&Dialog>) -> Option<String> {
    subject_of(state.stale.as_ref()?.asked.as_ref()?, None, dialog)
}

fn subject_of(assessment: &Assessment, activity: Option<&str>, dialog: Option<&Dialog>) -> Option<String> {
    let excerpt = assessment.operator_excerpt.as_deref()?;
    let subject = approval(assessment, dialog).map(|subject| subject.in_words());
    let said = || activity.map(bare).map(|line| with_next(line, excerpt));
    let in_view = || dialog.and_then(in_view);
    Some(subject.or_else(in_view).or_else(said).or_else(|| question(excerpt)).unwrap_or_default())
}

/// A line of a dialog, and the next one if it only announces that: `Accessing workspace:`.
fn with_next(line: String, excerpt: &str) -> String {
    let announces = line.ends_with(':');
    let mut lines =
        excerpt.lines().map(bare).filter(|line| !line.is_empty()).skip_while(|other| *other != line).skip(1);
    match lines.next().filter(|_| announces) {
        Some(next) => format!("{line} {next}"),
        None => line,
    }
}

/// The line right above a dialog whose first rows are not on the screen: the end of its subject, marked as a part.
fn in_view(dialog: &Dialog) -> Option<String> {
    let lines: Vec<String> = dialog.above.iter().map(|line| bare(line)).collect();
    let said: Vec<&str> =
        lines.iter().map(String::as_str).filter(|line| line.chars().any(char::is_alphanumeric)).collect();
    let last = said.len().saturating_sub(SHOWN);
    (!said.is_empty()).then(|| format!("… {}", said[last..].join(" ")))
}

/// What a dialog with this text is about, as in [`asked`].
pub fn about(excerpt: &str, context: UiContext, dialog: &Dialog) -> String {
    let first = dialog.options.first().map(|option| option.label.as_str());
    let subject = Some(excerpt).filter(|_| context == UiContext::ApprovalPrompt).and_then(|it| subject(it, first));
    subject.map(ApprovalSubject::in_words).or_else(|| question(excerpt)).unwrap_or_default()
}

/// What an approval is about; `None` if its screen does not show it, or if no approval waits.
pub fn approval(assessment: &Assessment, dialog: Option<&Dialog>) -> Option<ApprovalSubject> {
    let excerpt = assessment.operator_excerpt.as_deref()?;
    let first = dialog.and_then(|dialog| dialog.options.first()).map(|option| option.label.as_str());
    let asks_leave = assessment.ui_context == UiContext::ApprovalPrompt;
    asks_leave.then(|| subject(excerpt, first)).flatten()
}

/// What an agent asks permission for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalSubject {
    /// Its verb (`run`, `edit`), if the dialog uses a known one.
    pub act: Option<&'static str>,
    /// The command, the file or whatever else.
    pub what: String,
}

impl ApprovalSubject {
    /// The subject in one line, without the act if it is a command.
    pub fn in_words(self) -> String {
        match self.act {
            Some(act) if act != RUN => format!("{act} {}", self.what),
            _ => self.what,
        }
    }
}

const RUN: &str = "run";

/// Words for acts in the titles of any agent's dialogs; `*` stands for the rest of a word.
const ACTS: [(&str, &str); 20] = [
    ("bash", RUN),
    ("shell", RUN),
    ("command*", RUN),
    ("execut*", RUN),
    ("run", RUN),
    ("running", RUN),
    ("edit*", "edit"),
    ("updat*", "edit"),
    ("replac*", "edit"),
    ("modif*", "edit"),
    ("overwrit*", "write"),
    ("writ*", "write"),
    ("creat*", "create"),
    ("delet*", "delete"),
    ("remov*", "delete"),
    ("read", "read"),
    ("reads", "read"),
    ("reading", "read"),
    ("fetch*", "fetch"),
    ("search*", "search"),
];

/// The most words of a title that names only an act.
const TITLE: usize = 8;

/// The act that a title names, unless it says more.
fn act(title: &str) -> Option<&'static str> {
    let words = || title.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let is_it = |word: &str, known: &str| match known.strip_suffix('*') {
        Some(begins) => word.starts_with(begins),
        None => word == known,
    };
    let known = |word: &str| ACTS.iter().find(|(known, _)| is_it(&word.to_lowercase(), known)).map(|(_, act)| *act);
    (words().count() <= TITLE).then(|| words().find_map(known)).flatten()
}

/// A title and the line below it. A title that names only the act is left out, and so is what both say: dialogs often
/// have the command in their title, cut or whole, and show it once more.
fn joined(title: &str, line: &str) -> ApprovalSubject {
    /// The least number of equal bytes.
    const LEAST: usize = 3;
    let begun = title.trim_end_matches(['…', '.', ' ']);
    let same = begun.char_indices().map(|(at, _)| at).find(|&at| {
        let begins_word = at == 0 || begun[..at].ends_with(' ');
        begins_word && begun.len() - at >= LEAST && line.starts_with(&begun[at..])
    });
    let named = title.find(line).filter(|_| line.len() >= LEAST).or(same);
    let (what, act) = (line.to_owned(), act(named.map_or(title, |at| &title[..at])));
    match (act, named) {
        (Some(_), _) => ApprovalSubject { act, what },
        (None, Some(at)) => ApprovalSubject { act, what: format!("{}{line}", &title[..at]) },
        (None, None) => ApprovalSubject { act, what: format!("{title}: {line}") },
    }
}

/// A title that says all: the subject follows the word for the act.
fn alone(title: &str) -> ApprovalSubject {
    let rest = title.split_once(' ').map(|(word, rest)| (act(word), rest.trim()));
    match rest {
        Some((Some(act), rest)) if !rest.is_empty() => ApprovalSubject { act: Some(act), what: rest.to_owned() },
        _ => ApprovalSubject { act: None, what: title.to_owned() },
    }
}

/// Whether a line is an agent's description of a command; commands seldom begin with a capital letter.
fn is_prose(line: &str) -> bool {
    let is_word = |word: &str| word.chars().all(|c| c.is_alphabetic() || matches!(c, ',' | '.' | '\'' | '’' | '-'));
    line.starts_with(char::is_uppercase) && line.split(' ').all(is_word)
}

/// A path without the word for it: `Destination: src/cart.py`.
fn without_label(line: &str) -> &str {
    let is_word = |word: &str| word.chars().all(char::is_alphabetic);
    let is_path = |text: &str| text.contains('/') && !text.contains(' ');
    line.split_once(": ").filter(|(word, path)| is_word(word) && is_path(path)).map_or(line, |(_, path)| path)
}

/// Lines of the subject that are shown beside its title.
const SHOWN: usize = 2;

/// What an approval is about, which its question seldom says: the command if it is marked as one, else the lines above the
/// question, or after it if it comes first; only lines above the first option count.
fn subject(excerpt: &str, first_option: Option<&str>) -> Option<ApprovalSubject> {
    let mut in_tip = false;
    let said: Vec<String> = excerpt
        .lines()
        .map(bare)
        .take_while(|line| match first_option {
            Some(option) => !line.contains(option),
            // A dialog from the history has no options, only the mark of the chosen one.
            None => !line.starts_with("> "),
        })
        .filter(|line| {
            // It may wrap; what follows it is drawn apart or begins a sentence.
            let goes_on = in_tip && !line.is_empty() && !line.starts_with(char::is_uppercase);
            in_tip = goes_on || line.starts_with("Tip:");
            line.chars().any(char::is_alphanumeric) && !in_tip
        })
        .collect();
    if let Some(command) = said.iter().find_map(|line| line.strip_prefix("$ ")) {
        return Some(ApprovalSubject { act: Some(RUN), what: command.to_owned() });
    }
    let Some(asked) = said.iter().position(|line| line.ends_with('?')) else {
        // Some ask nothing, and say below their title what they want: `Edit price.py`.
        return said.get(1).map(|line| alone(line)).filter(|subject| subject.act.is_some());
    };
    // A diff has numbered rows; its subject comes before.
    let is_numbered = |line: &&String| line.starts_with(|c: char| c.is_ascii_digit());
    let subject =
        |lines: &[String]| -> Vec<String> { lines.iter().take_while(|line| !is_numbered(line)).cloned().collect() };
    let (mut above, below) = (subject(&said[..asked]), subject(&said[asked + 1..]));
    if let [title, description, command, ..] = &mut above[..]
        && act(title) == Some(RUN)
        && is_prose(description)
        && !is_prose(command)
    {
        std::mem::swap(description, command);
    }
    match (above.split_first(), below.last()) {
        (Some((title, [])), _) => Some(alone(title)),
        (Some((title, [first, more @ ..])), _) => {
            let mut subject_text = joined(title, first);
            // The title may be what the model says of its command.
            if subject_text.act.is_some() && act(&said[asked]) == Some(RUN) {
                subject_text.act = Some(RUN);
            }
            for line in more.iter().take(SHOWN - 1) {
                if !subject_text.what.contains(line.as_str()) {
                    subject_text.what = format!("{} · {line}", subject_text.what);
                }
            }
            Some(subject_text)
        }
        (None, Some(last)) => match act(&said[asked]) {
            Some(act) => Some(ApprovalSubject { act: Some(act), what: without_label(last).to_owned() }),
            // Without known options it may be one of them, or a line below them.
            None => first_option.map(|_| ApprovalSubject { act: None, what: format!("{} {last}", said[asked]) }),
        },
        (None, None) => None,
    }
}

/// The line of a dialog that asks, else its first one.
fn question(excerpt: &str) -> Option<String> {
    let lines = || excerpt.lines().map(bare).filter(|line| !line.is_empty());
    lines().find(|line| line.ends_with('?')).or_else(|| lines().next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_approval_is_named_by_what_it_is_about() {
        let subject_text =
            |excerpt: &str| subject(excerpt, Some("Yes")).map(ApprovalSubject::in_words).unwrap_or_default();
        let bash = "Bash command\n\n  rm -rf build/cache\n  Clear it\n\nDo you want to proceed?\n❯ 1. Yes";
        assert_eq!(subject_text(bash), "rm -rf build/cache · Clear it");
        let described =
            "Bash command\n Clear it\n\n rm -rf build/cache\n\nThis command requires approval\n\nProceed?\n❯ 1. Yes";
        assert_eq!(subject_text(described), "rm -rf build/cache · Clear it");
        let tip =
            "Bash command\n\nTip: choose\n\"auto mode\" below\n\nClear it\n\nrm -rf build/cache\n\nProceed?\n❯ 1. Yes";
        assert_eq!(subject_text(tip), "rm -rf build/cache · Clear it", "a tip may take several rows");
        let edit = "Edit file\nsrc/orders.py\n\n1  def f():\n2 - old\n\nMake this edit?\n❯ 1. Yes";
        assert_eq!(subject_text(edit), "edit src/orders.py");
        let command = "Would you like to run the following command?\n\nReason: May I?\n\n$ touch x\n\n› 1. Yes";
        assert_eq!(subject_text(command), "touch x");
        let changes = "Make the following edits?\n\nsrc/cart.py (+1 -1)\n\n1  def f():\n\n› 1. Yes";
        assert_eq!(subject_text(changes), "edit src/cart.py (+1 -1)");
        let labelled = "Make the following edits?\n\nDescription: Apply edits\nDestination: /srv/cart.py\n\n› 1. Yes";
        assert_eq!(subject_text(labelled), "edit /srv/cart.py");
        let named = "Zap docs/readme.md\n\n  docs/readme.md, all of it\n\nGo on?\n❯ 1. Yes";
        assert_eq!(subject_text(named), "Zap docs/readme.md, all of it", "an act that nobody knows is kept");
        let boxed = "Run the command\n────\n╭───╮\n│ rm x │\n╰───╯\nRun this?\n❯ 1. Yes";
        assert_eq!(subject_text(boxed), "rm x");
        let titled = "Create the folder\n╭───╮\n│ mkdir x │\n╰───╯\nDo you want to run this command?\n❯ 1. Yes";
        assert_eq!(subject_text(titled), "mkdir x");
        assert_eq!(subject_text("Proceed?\n❯ 1. Yes"), "");
        let unasked = "△ Permission required\n  → Edit src/price.py\n\n1 + def price(kg):\n\nAllow once   Reject";
        assert_eq!(subject_text(unasked), "edit src/price.py");
        assert_eq!(subject_text("△ Permission required\n  → Price 3\n\nAllow once   Reject"), "");
        let kept = |excerpt: &str| subject(excerpt, None).map(ApprovalSubject::in_words).unwrap_or_default();
        assert_eq!(kept("Allow which?\n> Alpha\nBeta\nGamma"), "", "an option is not what it is about");
        assert_eq!(kept("Shell\nrm db\nAllow it?\n> 1. Yes\n2. No"), "rm db");
    }

    #[test]
    fn what_is_drawn_around_a_line_and_what_is_said_twice_is_left_out() {
        let subject_text =
            |excerpt: &str| subject(excerpt, Some("Yes")).map(ApprovalSubject::in_words).unwrap_or_default();
        let qwen =
            " ?  Shell git reset --hard HEAD~3 (Run it) ←\n\n   git reset --hard HEAD~3\n\n Allow execution of: 'git'?";
        assert_eq!(subject_text(qwen), "git reset --hard HEAD~3");
        let boxed = "│ -  Shell rm -r docs/old … │\n╭──╮\n│ rm -r docs/old build │\n╰──╯\nAllow execution?";
        assert_eq!(subject_text(boxed), "rm -r docs/old build");
        let gemini =
            " ? Shell  rm -r docs/old\n ╭───╮\n │ rm -r docs/old  │\n ╰───╯\n Allow execution of [Shell]?\n\n ● 1. Yes";
        assert_eq!(subject_text(gemini), "rm -r docs/old");
        let plan = "Ready to code?\n\nHere is the plan:\n\nPrice fix\n\n1. Skip missing prices\n\nProceed?\n❯ 1. Yes";
        assert_eq!(subject_text(plan), "Ready to code? Price fix");
        let other = "△ Permission required\n┃ # Shell command\n┃ Read secrets.txt\nAllow?";
        assert_eq!(subject_text(other), "Permission required: Shell command · Read secrets.txt");
        assert_eq!(bare("⎿  Wrote 3 lines"), "Wrote 3 lines");
        assert_eq!(bare("● ⠏ ✦  Now“ it” works ↓"), "Now“ it” works");
        for whole in
            ["[ -f x ] && rm x", "-f is a flag", "#12 is fixed", "“So”, she said", "$ ls", "漢字。", "“a”", "…and more"]
        {
            assert_eq!(bare(whole), whole);
        }
        assert_eq!(bare(" │ │ "), "");
    }

    #[test]
    fn a_line_that_announces_the_next_one_is_shown_with_it() {
        let trust = "Accessing workspace:\n\n/srv/shop\n\nQuick safety check: is it yours?\n❯ 1. Yes";
        let shown = |line: &str| with_next(line.to_owned(), trust);
        assert_eq!(shown("Accessing workspace:"), "Accessing workspace: /srv/shop");
        assert_eq!(shown("Quick safety check: is it yours?"), "Quick safety check: is it yours?");
    }

    #[test]
    fn what_is_in_view_of_a_cut_dialog_is_marked_as_a_part() {
        let screen = crate::screen::Screen::from_text("Proceed?\n❯ 1. Yes\n  2. No", 100);
        let mut dialog = Dialog::read(&screen, 0..3);
        assert_eq!(in_view(&dialog), None);
        dialog.has_no_top(["│ ls", "│ cd build", "│ make install", "──────"].map(str::to_owned).to_vec());
        assert_eq!(in_view(&dialog).as_deref(), Some("… cd build make install"));
    }
}
