//! What setup finds in the files, and the change that it proposes: text in, text out.

use toml::{Table, Value};

use crate::screen::harmless;

/// Keys for the popup; the first free one is used.
const KEYS: [&str; 4] = ["F", "W", "A", "Y"];
/// Lines of a file that are shown around a change.
const AROUND: usize = 3;

/// What tmux's configuration already has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TmuxSettings {
    /// A popup with fleetwatch.
    pub popup: bool,
    /// The summary for a status line.
    pub status: bool,
    /// Whether it sets the right of the status line itself, or adds to it.
    sets_right: bool,
    /// Keys that are bound after the prefix.
    bound: Vec<String>,
    /// Files that it reads and only tmux can find.
    pub unread: Vec<String>,
}

impl TmuxSettings {
    /// Takes in the text of a file. Returns the files that it reads as it names them.
    pub fn read(&mut self, text: &str) -> Vec<String> {
        let mut sourced = Vec::new();
        let whole = text.replace("\\\n", " ");
        for line in whole.lines().filter(|line| !line.trim_start().starts_with('#')) {
            let is_ours = line.contains("fleetwatch");
            self.popup |= is_ours && line.contains("popup");
            self.status |= is_ours && line.contains("fleetwatch status");
            for words in words(line).split(|word| word == ";") {
                let Some((command, rest)) = words.split_first() else { continue };
                match command.as_str() {
                    "bind" | "bind-key" => self.bound.extend(bound(rest)),
                    "set" | "set-option" => self.sets_right |= rest.iter().any(|word| word == "status-right"),
                    "source" | "source-file" => {
                        sourced.extend(rest.iter().filter(|word| !word.starts_with('-')).cloned());
                    }
                    _ => {}
                }
            }
        }
        sourced
    }

    /// A key that is free for the popup.
    pub fn free_key(&self) -> Option<&'static str> {
        KEYS.into_iter().find(|key| !self.bound.iter().any(|bound| bound == key))
    }

    /// The lines that open the dashboard in a popup.
    pub fn popup_lines(key: &str, program: &str) -> String {
        format!(
            "# The fleetwatch dashboard over whatever is shown: prefix {key}\n\
             bind-key {key} display-popup -E -w 90% -h 90% {program}\n"
        )
    }

    /// The lines that put the summary into the status line, beside what is there.
    pub fn status_lines(&self, program: &str) -> String {
        let set = match self.sets_right {
            true => format!("set -ga status-right ' #({program} status --format tmux)'"),
            false => format!("set -g status-right '#({program} status --format tmux) %H:%M'"),
        };
        format!("# Which agents need you, by fleetwatch\n{set}\n")
    }
}

/// The words of a line of tmux's configuration, without their quotes; a separator of commands is a word of its own.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match (quote, c) {
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(open), _) if open == c => quote = None,
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, ';') => {
                words.extend(word.take());
                words.push(c.to_string());
            }
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// The key that `bind-key` binds after the prefix with these words.
fn bound(words: &[String]) -> Option<String> {
    let mut words = words.iter();
    loop {
        match words.next()?.as_str() {
            "-n" => return None,
            "-T" if words.next()? != "prefix" => return None,
            "-T" => {}
            "-N" => drop(words.next()?),
            flag if flag.len() > 1 && flag.starts_with('-') => {}
            key => return Some(key.to_owned()),
        }
    }
}

/// How the operator learns that somebody waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notices {
    Bell,
    BellAndTerminal,
    Nothing,
}

/// A rule by which the terminal's notices come beside its bell.
const RULE: &str = "# The terminal's bell and a notification when an agent or task begins to wait\n[[notify]]\n\
                    on = [\"approval\", \"question\", \"trust\", \"setup\", \"input\"]\nby = [\"bell\", \"osc9\"]\n";

/// Whether a configuration already says how the operator is notified.
pub fn tells_of_notices(table: &Table) -> bool {
    let has_bell = table.get("ui").and_then(Value::as_table).is_some_and(|ui| ui.contains_key("bell"));
    has_bell || table.contains_key("notify")
}

/// The configuration with the choice; `None` if it cannot be added without changing another line.
pub fn with_notices(text: &str, notices: Notices) -> Option<String> {
    let (new, key, value) = match notices {
        Notices::Bell => return Some(text.to_owned()),
        Notices::BellAndTerminal => {
            let rule = RULE.parse::<Table>().ok()?.remove("notify")?;
            (appended(text, RULE), "notify", rule)
        }
        Notices::Nothing => {
            let line = "# No bell when an agent or task begins to wait\nbell = false\n";
            let is_head = |(line, _): &(&str, usize)| line.split('#').next().is_some_and(|head| head.trim() == "[ui]");
            let new = match text.split_inclusive('\n').scan(0, after_line).find(is_head) {
                Some((head, at)) => {
                    let end = if head.ends_with('\n') { "" } else { "\n" };
                    format!("{}{end}{line}{}", &text[..at], &text[at..])
                }
                None => appended(text, &format!("[ui]\n{line}")),
            };
            let mut ui = text.parse::<Table>().ok()?.get("ui").and_then(Value::as_table).cloned().unwrap_or_default();
            ui.insert("bell".to_owned(), Value::Boolean(false));
            (new, "ui", Value::Table(ui))
        }
    };
    let mut wanted = text.parse::<Table>().ok()?;
    wanted.insert(key.to_owned(), value);
    (new.parse::<Table>().ok()? == wanted).then_some(new)
}

/// The bytes of a line, and where the next one begins.
fn after_line<'a>(at: &mut usize, line: &'a str) -> Option<(&'a str, usize)> {
    *at += line.len();
    Some((line, *at))
}

/// A text with another one after it, a blank line between them.
pub fn appended(text: &str, more: &str) -> String {
    let end = match text {
        "" => "",
        text if text.ends_with('\n') => "\n",
        // A backslash at the end of a line would continue into the next one.
        _ => "\n\n",
    };
    format!("{text}{end}{more}")
}

/// The change of a file in one place, as `diff -u` writes it, without control characters.
pub fn diff(name: &str, old: Option<&str>, new: &str) -> String {
    let name = harmless(name);
    let (before, after): (Vec<&str>, Vec<&str>) = (old.unwrap_or_default().lines().collect(), new.lines().collect());
    let most = before.len().min(after.len());
    let same = before.iter().zip(&after).take_while(|(one, other)| one == other).count();
    let tail = before.iter().rev().zip(after.iter().rev()).take(most - same).take_while(|(one, other)| one == other);
    let tail = tail.count();
    let first = same.saturating_sub(AROUND);
    let last = tail.min(AROUND);
    let (old_end, new_end) = (before.len() - tail, after.len() - tail);
    // A hunk without lines of a file names the line before it.
    let extent = |end: usize| match end + last - first {
        0 => format!("{first},0"),
        count => format!("{},{count}", first + 1),
    };
    let from = if old.is_some() { name.as_str() } else { "/dev/null" };
    let mut text = format!("--- {from}\n+++ {name}\n@@ -{} +{} @@\n", extent(old_end), extent(new_end));
    let mut put = |sign: char, lines: &[&str]| {
        lines.iter().for_each(|line| text.push_str(&format!("{sign}{}\n", harmless(line))));
    };
    put(' ', &before[first..same]);
    put('-', &before[same..old_end]);
    put('+', &after[same..new_end]);
    put(' ', &after[new_end..new_end + last]);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_found() {
        let read = |text: &str| {
            let mut settings = TmuxSettings::default();
            let sourced = settings.read(text);
            (settings, sourced)
        };
        let (settings, sourced) = read(
            "# bind F display-popup fleetwatch\nbind -n F next\nbind-key -r -N 'a note' W select-pane\n\
             bind -T prefix \"F\" \\\n  display-message x\nbind -T copy-mode A x\nset -ga status-right x\n\
             source-file -q ~/.tmux/more.conf\n",
        );
        assert_eq!((settings.free_key(), settings.popup, settings.sets_right), (Some("A"), false, true));
        assert_eq!(sourced, ["~/.tmux/more.conf"]);
        // What is added to tmux's own would be lost, were it set anew.
        assert!(settings.status_lines("fleetwatch").contains("set -ga status-right ' #("));
        assert!(TmuxSettings::default().status_lines("fleetwatch").contains("set -g status-right '#("));
        assert_eq!(read("bind F a; bind W b ; bind -n A c\nbind Y 'x; bind A y' \\; bind A z").0.free_key(), None);
        let (settings, _) = read("  bind-key X display-popup -E '/usr/bin/fleetwatch'\nset -g status-right '%H'\n");
        assert_eq!((settings.popup, settings.status, settings.free_key()), (true, false, Some("F")));
        assert!(settings.status_lines("fleetwatch").contains("set -ga status-right ' #("));
        assert!(read("set -g status-left '#(fleetwatch status --format tmux)'").0.status);
        assert_eq!(read("bind F a\nbind W a\nbind A a\nbind Y a").0.free_key(), None);
    }

    #[test]
    fn a_choice_changes_nothing_else_of_a_configuration() {
        let text = "# mine\n[ui] # as I like it\ntheme = \"dark\"\n";
        assert_eq!(with_notices(text, Notices::Bell).as_deref(), Some(text));
        assert!(with_notices(text, Notices::Nothing).unwrap().contains("as I like it\n# No bell"));
        let quiet = with_notices("a = 1\n[ui]\n# dark\ntheme = \"dark\"\n", Notices::Nothing).unwrap();
        assert!(
            quiet.starts_with("a = 1\n[ui]\n# No bell") && quiet.ends_with("bell = false\n# dark\ntheme = \"dark\"\n")
        );
        assert!(with_notices("", Notices::Nothing).unwrap().starts_with("[ui]\n"));
        assert!(
            with_notices(text, Notices::BellAndTerminal).unwrap().starts_with(&format!("{text}\n# The terminal's"))
        );
        assert!(with_notices("[ui]", Notices::Nothing).unwrap().starts_with("[ui]\n# No bell"));
        for odd in ["ui.title = true", "ui = { title = true }", "text = '''\n[ui]\n'''\n", "no table"] {
            assert_eq!(with_notices(odd, Notices::Nothing), None, "{odd}");
        }
        let notifies = |text: &str| tells_of_notices(&text.parse().unwrap());
        assert!(notifies("[ui]\nbell = true") && notifies("[[notify]]\non = []") && !notifies("[ui]\ntitle = true"));
    }

    #[test]
    fn a_change_is_shown_as_diff_writes_it() {
        let old = "a\nb\nc\nd\n";
        assert_eq!(diff("f", Some(old), &appended(old, "x\n")), "--- f\n+++ f\n@@ -2,3 +2,5 @@\n b\n c\n d\n+\n+x\n");
        assert_eq!(diff("f", None, "x\ny\n"), "--- /dev/null\n+++ f\n@@ -0,0 +1,2 @@\n+x\n+y\n");
        assert_eq!(diff("f", Some(""), "x\n"), "--- f\n+++ f\n@@ -0,0 +1,1 @@\n+x\n");
        assert_eq!(diff("f", Some("a\nb"), "a\nx\u{1b}[2J\nb"), "--- f\n+++ f\n@@ -1,2 +1,3 @@\n a\n+x[2J\n b\n");
        assert_eq!(appended("a \\", "x\n"), "a \\\n\nx\n");
    }
}
