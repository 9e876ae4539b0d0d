//! Whether a task asks for something, judged by its last lines and its cursor (SPEC §9).
//!
//! Words alone do not decide: an answered question, a log and a text about prompts contain the same words. The cursor
//! tells them apart. A program that reads an answer leaves it right after its question or, if it printed the question as
//! a line, at the beginning of the next one.

use super::snapshot::{self, PaneState, Preview};
use crate::state::TaskStatus;
use crate::time::{Span, Timestamp};

/// A question at the end of a task's output.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TaskPrompt {
    /// The row that asks, without the blanks around it.
    pub text: String,
    pub(super) form: PromptForm,
}

/// What makes a row a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) enum PromptForm {
    /// It ends in a known phrase, and the cursor is right after it.
    Open,
    /// It is above a place for an answer, and the cursor is in that place.
    Above,
    /// It ends in a known phrase, and the cursor is below it: asked in a line of its own, or answered with Enter.
    Line,
    /// It ends like a question, and the cursor is right after it.
    Asking,
}

/// Phrases that ask wherever they end a row, whatever punctuation follows.
const PHRASES: &[&str] = &[
    "press enter to continue",
    "press [enter] to continue",
    "press return to continue",
    "press [return] to continue",
    "hit enter to continue",
    "press enter",
    "press return",
    "press any key",
    "press any key to continue",
    "hit any key to continue",
    "select an option",
    "are you sure",
];

/// Phrases that ask with just this ending.
const ENDINGS: &[&str] = &["password:", "passphrase:", "choice:", "continue?", "proceed?"];

/// Rows that are nothing but the place for an answer to the question above them.
const SIGILS: &[&str] = &[">", ">>", "=>", "->", "❯", "»", "›", ":", "?", "$>"];

/// Programs whose prompt is a bare `>`.
const BARE_REPLS: &[&str] = &["node", "deno", "bun", "R", "lua", "luajit", "racket"];

/// Words that begin the line of a log.
const LOG_WORDS: &[&str] = &["trace", "debug", "info", "notice", "warn", "warning", "error", "fatal", "critical"];

/// Columns between a question and the cursor after it.
const GAP: usize = 2;

/// Rows above a bare sigil in which its question is searched for.
const MENU_ROWS: usize = 12;

impl TaskPrompt {
    /// Whether a later preview still shows the prompt, even with half an answer typed after it.
    pub(super) fn stands_in(&self, preview: &Preview) -> bool {
        let Some(caret) = preview.caret() else { return false };
        let lines = preview.lines();
        match self.form {
            PromptForm::Open | PromptForm::Asking => lines.get(caret.line).is_some_and(|line| {
                line.trim_start().starts_with(&self.text) && caret.column >= self.text.chars().count().min(caret.width)
            }),
            PromptForm::Above => {
                let asked = lines.iter().rposition(|line| line.trim() == self.text);
                asked.is_some_and(|at| caret.line > at && caret.line + 1 == lines.len())
            }
            PromptForm::Line => {
                let asked = lines.iter().rposition(|line| line.trim() == self.text);
                // An answer is typed into the row below.
                asked.is_some_and(|at| lines.len() <= at + 2 && (at + 1..=at + 2).contains(&caret.line))
            }
        }
    }
}

/// The question that the last lines of a task ask, if any; `command` is what runs in its pane.
pub(super) fn find(preview: &Preview, command: &str) -> Option<TaskPrompt> {
    let caret = preview.caret()?;
    let lines = preview.lines();
    let last = lines.last()?.trim();
    let found = |form| Some(TaskPrompt { text: last.to_owned(), form });
    if caret.line + 1 == lines.len() {
        if !(caret.width..=caret.width + GAP).contains(&caret.column) || snapshot::is_prompt(last, command) {
            return None;
        }
        if is_repl(last, command) || last == "#?" || ends_in_phrase(last) {
            return found(PromptForm::Open);
        }
        if SIGILS.contains(&last) {
            return above(&lines[..lines.len() - 1]).map(|text| TaskPrompt { text, form: PromptForm::Above });
        }
        return if asks(last) { found(PromptForm::Asking) } else { None };
    }
    let below = caret.line.saturating_sub(lines.len()) <= 1 && caret.line >= lines.len();
    let secret = last.to_lowercase().contains("pass");
    if below && caret.column == 0 && !secret && ends_in_phrase(last) && !is_quoted(last) {
        return found(PromptForm::Line);
    }
    None
}

/// The question above a bare sigil, over the rows of a menu.
fn above(lines: &[String]) -> Option<String> {
    let rows = lines.iter().rev().map(|line| line.trim()).filter(|line| !line.is_empty()).take(MENU_ROWS);
    for row in rows {
        if ends_in_phrase(row) || (asks(row) && !is_option(row)) {
            return Some(row.to_owned());
        }
        if !is_option(row) {
            return None;
        }
    }
    None
}

/// `1) staging`, `[2] production`, `a. all`, `- none`.
fn is_option(row: &str) -> bool {
    let row = row.trim_start_matches(['[', '(', ' ', '*']);
    let label = row.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let rest = &row[label.len()..];
    (label.chars().count() <= 2 && rest.starts_with([')', ']', '.', ':', '-'])) || row.starts_with("- ")
}

fn ends_in_phrase(row: &str) -> bool {
    let row = row.to_lowercase();
    let core = row.trim_end_matches([' ', ':', '?', '>', '.', '…', '!', '-']);
    let ends = |text: &str, phrase: &str| {
        text.strip_suffix(phrase).is_some_and(|before| !before.ends_with(|c: char| c.is_alphanumeric()))
    };
    ends_in_choice(core)
        || PHRASES.iter().any(|phrase| ends(core, phrase))
        || ENDINGS.iter().any(|phrase| ends(row.trim_end(), phrase))
        // `[sudo] password for ada:`, `Enter passphrase for key '/home/ada/.ssh/id':`
        || (row.trim_end().ends_with(':') && ["password for ", "passphrase for "].iter().any(|word| row.contains(word)))
        || (row.trim_end().ends_with('?') && row.contains("are you sure "))
}

/// `[y/N]`, `(y/n)`, `( Y / n )`, `(yes/no/[fingerprint])`, `[y,n,q,?]`.
fn ends_in_choice(core: &str) -> bool {
    let opening = match core.chars().next_back() {
        Some(')') => '(',
        Some(']') => '[',
        _ => return false,
    };
    let Some(start) = core.rfind(opening) else { return false };
    let inside = &core[start + 1..core.len() - 1];
    let mut words = inside.split(['/', ',']).map(str::trim);
    let yes = words.next().is_some_and(|word| matches!(word, "y" | "yes"));
    yes && words.clone().any(|word| matches!(word, "n" | "no")) && words.all(|word| word.len() <= 16)
}

/// A row that ends like a question: a word before `?` or `:`, and no line of a log.
fn asks(row: &str) -> bool {
    let Some(before) = row.strip_suffix(['?', ':']) else { return false };
    let word =
        before.chars().next_back().is_some_and(|c| c.is_alphanumeric() || matches!(c, ')' | ']' | '"' | '\'' | ' '));
    word && before.chars().any(char::is_alphabetic) && !is_log(row)
}

/// The prompt of an interactive interpreter, with nothing after it.
fn is_repl(row: &str, command: &str) -> bool {
    if row == ">>>" || (row == "..." && command.starts_with("python")) {
        return true;
    }
    if row == ">" {
        return BARE_REPLS.contains(&command);
    }
    let numbered = |before: &str, after: &str| {
        row.strip_prefix(before)
            .and_then(|rest| rest.strip_suffix(after))
            .is_some_and(|n| !n.is_empty() && n.chars().all(|c| c.is_ascii_digit()))
    };
    if numbered("In [", "]:") || matches!(row, "(gdb)" | "(lldb)" | "(Pdb)" | "(Pdb++)" | "php >") {
        return true;
    }
    // psql: `shop=#`, `shop=>`, and `shop-#` in the midst of a statement.
    let psql = ["=#", "=>", "-#", "->"].iter().find_map(|end| row.strip_suffix(end));
    if psql.is_some_and(|name| !name.is_empty() && name.chars().all(is_word)) && command.contains("psql") {
        return true;
    }
    // `mysql>`, `sqlite>`, `irb(main):001>`, `iex(1)>`, `127.0.0.1:6379>`.
    row.strip_suffix('>').is_some_and(|name| {
        name.starts_with(|c: char| c.is_alphanumeric()) && name.chars().all(|c| is_word(c) || "().:[]".contains(c))
    })
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '-'
}

/// A comment, a list, a quotation or a line of a log, which has the words but asks nothing.
fn is_quoted(row: &str) -> bool {
    row.starts_with(['#', '*', '|', '"', '\'', '`', '>'])
        || row.starts_with("//")
        || row.starts_with("- ")
        || is_log(row)
}

fn is_log(row: &str) -> bool {
    let mut words = row.split(|c: char| c.is_whitespace() || "[](){}|<>:".contains(c)).filter(|word| !word.is_empty());
    let first = words.clone().next().unwrap_or_default();
    let digits = first.chars().filter(char::is_ascii_digit).count();
    let time = digits >= 4 && first.chars().all(|c| c.is_ascii_digit() || "-/.TZ,+".contains(c));
    let clock = row.trim_start_matches(['[', '(']).as_bytes();
    let clock = matches!(clock, [a, b, b':', c, d, ..] if [a, b, c, d].iter().all(|byte| byte.is_ascii_digit()));
    let level = words.any(|word| LOG_WORDS.iter().any(|level| word == level.to_uppercase()))
        || LOG_WORDS.iter().any(|level| {
            row.trim_start_matches('[')
                .to_lowercase()
                .strip_prefix(level)
                .is_some_and(|rest| rest.starts_with([':', ']', '[']))
        });
    time || clock || level
}

// What a task is doing now, and whether it stands at a prompt.

/// How long a screen must stand still before a row that only looks like a question counts as one. A program that goes on
/// after a colon does so sooner.
const ASKING: Span = Span::from_secs(1);

/// How long a full-screen program must stand still before it counts as waiting for keys, and a task that stands still may yet be
/// given something else to do. Programs that repaint by themselves, such as monitors, do so more often.
pub const SETTLED: Span = Span::from_secs(2);

/// What is remembered of a pane from poll to poll.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub(super) struct PromptDetector {
    preview: Option<Preview>,
    /// The command then, and the question on both screens: only new rows are searched for one.
    command: String,
    asked: Option<TaskPrompt>,
    /// Since when the preview is the same.
    still_since: Timestamp,
    /// The prompt of the last poll, which is reported only if the next poll shows it too.
    found: Option<TaskPrompt>,
    /// The current prompt.
    prompt: Option<TaskPrompt>,
    /// A prompt that the cursor has left: it was answered, though its row is still the last one.
    answered: Option<String>,
    /// The prompt that stood before this process polled, as long as it may be the same one.
    known: Option<String>,
}

impl PromptDetector {
    /// Of a task that stood at a prompt before this process polled.
    pub(super) fn known(prompt: Option<String>) -> Self {
        Self { known: prompt, ..Self::default() }
    }

    /// Takes in a poll; returns the prompt that it confirms.
    pub(super) fn poll(&mut self, pane: &PaneState, now: Timestamp) -> Option<&str> {
        if pane.dead {
            *self = Self::default();
            return None;
        }
        let same = self.preview.as_ref() == Some(&pane.preview);
        if !same {
            (self.preview, self.still_since) = (Some(pane.preview.clone()), now);
        }
        if !same || self.command != pane.command {
            self.asked = find(&pane.preview, &pane.command);
            self.command.clone_from(&pane.command);
        }
        let found = self.unanswered(self.asked.clone());
        if self.prompt.as_ref().is_some_and(|prompt| !prompt.stands_in(&pane.preview)) {
            self.prompt = None;
        }
        let seen_before = same && self.found == found;
        self.found = found;
        self.known.take_if(|known| self.found.as_ref().is_none_or(|found| found.text != *known));
        let ripe = self
            .found
            .as_ref()
            .filter(|found| seen_before && (found.form != PromptForm::Asking || now.since(self.still_since) >= ASKING));
        match ripe {
            Some(found) if self.prompt.as_ref().is_none_or(|standing| standing.text != found.text) => {
                self.prompt = Some(found.clone());
                let is_news = self.known.take().is_none();
                self.prompt.as_ref().map(|prompt| prompt.text.as_str()).filter(|_| is_news)
            }
            _ => None,
        }
    }

    /// The current prompt.
    pub(super) fn prompt(&self) -> Option<&str> {
        self.prompt.as_ref().map(|prompt| prompt.text.as_str()).or(self.known.as_deref())
    }

    /// Whether the last poll found a prompt that the next one has to confirm.
    pub(super) fn may_ask(&self) -> bool {
        self.prompt.is_none() && self.found.is_some()
    }

    /// What the pane is doing.
    pub(super) fn status(&self, pane: &PaneState, now: Timestamp) -> TaskStatus {
        let caret = pane.preview.caret();
        let row = caret.and_then(|caret| pane.preview.lines().get(caret.line));
        if pane.dead {
            TaskStatus::Exited
        } else if self.prompt().is_some() {
            TaskStatus::WaitingInput
        } else if pane.alternate {
            let still = now.since(self.still_since) >= SETTLED && caret.is_some_and(|caret| caret.visible);
            if snapshot::is_interactive(&pane.command) || still {
                TaskStatus::WaitingInput
            } else {
                TaskStatus::Running
            }
        } else if row.is_some_and(|row| snapshot::is_prompt(row, &pane.command)) {
            TaskStatus::Idle
        } else {
            TaskStatus::Running
        }
    }

    /// The prompt that was found, unless it is one that the cursor has left.
    fn unanswered(&mut self, found: Option<TaskPrompt>) -> Option<TaskPrompt> {
        let Some(prompt) = found else {
            self.answered = None;
            return None;
        };
        if prompt.form == PromptForm::Line {
            let was_open =
                self.found.as_ref().or(self.prompt.as_ref()).filter(|before| before.form != PromptForm::Line);
            if was_open.is_some_and(|before| before.text == prompt.text) {
                self.answered = Some(prompt.text.clone());
            }
            if self.answered.as_ref() == Some(&prompt.text) {
                return None;
            }
        }
        Some(prompt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::{Cursor, Screen};

    /// The prompt on a screen with `█` as its cursor, under a program.
    fn found(command: &str, screen: &str) -> Option<TaskPrompt> {
        let row = screen.lines().position(|line| line.contains('█')).unwrap_or(screen.lines().count());
        let line = screen.lines().nth(row).unwrap_or_default();
        let column = line.split('█').next().unwrap_or_default().chars().count();
        let rows = screen.replace('█', "") + &"\n".repeat(10);
        let place = |n: usize| u16::try_from(n).unwrap();
        let cursor = Cursor { column: place(column), row: place(row), visible: true };
        find(&Preview::of(&Screen::from_text(&rows, 100), cursor, false), command)
    }

    proptest::proptest! {
        #[test]
        fn nothing_that_a_pane_shows_makes_it_panic(
            lines in proptest::collection::vec("[ -~é寿\\u{202e}]{0,30}[:?>\\])]?", 0..6),
            column in 0_u16..40,
            row in 0_u16..12,
            command in "(bash|fish|node|psql|x)",
        ) {
            let screen = Screen::from_text(&(lines.join("\n") + &"\n".repeat(10)), 80);
            let preview = Preview::of(&screen, Cursor { column, row, visible: true }, false);
            if let Some(prompt) = find(&preview, &command) {
                proptest::prop_assert!(prompt.stands_in(&preview), "{prompt:?} in {preview:?}");
            }
        }
    }

    #[test]
    fn programs_that_ask_are_found() {
        for (row, form) in [
            ("Overwrite? [y/N] █", PromptForm::Open),
            ("Overwrite? [Y/n]: █", PromptForm::Open),
            ("Overwrite it (y/n)█", PromptForm::Open),
            ("Overwrite it ( Y / n ) █", PromptForm::Open),
            ("Stage this hunk [y,n,q,a,d,e,?]? █", PromptForm::Open),
            ("Are you sure you want to continue connecting (yes/no/[fingerprint])? █", PromptForm::Open),
            ("[sudo] password for ada: █", PromptForm::Open),
            ("Password:█", PromptForm::Open),
            ("Enter passphrase for key '/home/ada/.ssh/id_ed25519': █", PromptForm::Open),
            ("Press Enter to continue█", PromptForm::Open),
            ("Press ENTER to continue...\n█", PromptForm::Line),
            ("-- Press any key to continue --: █", PromptForm::Open),
            ("Press any key█", PromptForm::Open),
            ("Select an option: █", PromptForm::Open),
            ("Select an option\n█", PromptForm::Line),
            ("1) one\n2) two\nEnter your choice: █", PromptForm::Open),
            ("Do you want to proceed?\n█", PromptForm::Line),
            ("This deletes all. Continue? (Y/N)\n█", PromptForm::Line),
            ("Are you sure?\n> █", PromptForm::Above),
            ("Which one? \n  1. staging\n  2. production\n> █", PromptForm::Above),
            ("1) staging\n2) quit\n#? █", PromptForm::Open),
            (">>> █", PromptForm::Open),
            ("In [12]: █", PromptForm::Open),
            ("irb(main):001> █", PromptForm::Open),
            ("sqlite> █", PromptForm::Open),
            ("(gdb) █", PromptForm::Open),
            ("Name of the branch: █", PromptForm::Asking),
            ("Wie heißt du?█", PromptForm::Asking),
        ] {
            assert_eq!(found("prog", row).map(|prompt| prompt.form), Some(form), "{row}");
        }
        assert_eq!(found("node", "> █").map(|prompt| prompt.text).as_deref(), Some(">"));
        assert_eq!(found("psql", "shop=# █").map(|prompt| prompt.text).as_deref(), Some("shop=#"));
        assert_eq!(found("x", "Sure?\n1. a\n2. b\n❯ █").map(|prompt| prompt.text).as_deref(), Some("Sure?"));
    }

    #[test]
    fn prose_logs_and_answered_questions_are_none() {
        for row in [
            "",
            "compiling",
            "Proceed? [y/N] y\n█",
            "Proceed? [y/N] y\nworking\n█",
            "Password:\n█",
            "The installer asks \"Press Enter to continue\" at the end.\n█",
            "`[y/N]` is the default\n█",
            "# Are you sure\n█",
            "- Do you want to proceed?\n█",
            "> Do you want to proceed?\n█",
            "2026-05-04 12:00:01 user was asked: continue?\n█",
            "12:00:01 proceed?\n█",
            "[INFO] will continue?\n█",
            "ERROR could not read choice:\n█",
            "warning: discontinue?\n█",
            "discontinue?\n█",
            "What a question?\n█",
            "Summary:\n█",
            "std::io::█",
            "12:00:01 waiting for:█",
            "[warn] retrying:█",
            "> █",
            "50%█",
            "Proceed? [y/N]      █",
            "Proceed? [y/N]\n\n\n\n█",
            "Proceed? [y/N]\n    █",
            "Proceed?█ [y/N] and more",
            "see (y/z)\n█",
            "f(y)\n█",
            "[y]\n█",
            "[n/y]\n█",
            ")\n█",
        ] {
            assert_eq!(found("prog", row), None, "{row}");
        }
        assert_eq!(found("bash", "$ read -p 'Continue? '█"), None);
        assert_eq!(found("bash", "[ada@box src]$ echo proceed?█"), None);
    }
}
