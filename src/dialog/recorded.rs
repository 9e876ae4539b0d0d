//! The whole text of a dialog that is higher than its pane, from the agent's own record (SPEC §11).
//!
//! Nobody may approve what is not the dialog's: a text counts only if what the pane shows is its end, to the last row and with what
//! the agent shows behind it, and no other call that waits has the same end.

use super::Dialog;
use super::option::{Cut, Recorded};
use crate::agent_record::OpenCall;
use crate::screen::{dense, spelled};

/// Letters that the pane must show of it: fewer may be those of another text.
const SHOWN: usize = 24;

impl Dialog {
    /// What the record says of it; `None` if nothing of that is proven to be this dialog's.
    pub(crate) fn recorded_in(&self, calls: &[OpenCall]) -> Option<Recorded> {
        // Of a call whose text is not known it cannot be said that it is not the one which waits.
        if self.cuts != [Cut::Top] || calls.iter().any(|call| call.text.is_none()) {
            return None;
        }
        let mut proven = calls.iter().filter_map(|call| self.end_of(call));
        proven.next().filter(|_| proven.next().is_none())
    }

    /// The call's text if the pane shows the end of it.
    fn end_of(&self, call: &OpenCall) -> Option<Recorded> {
        let text = call.text.as_deref()?.replace('\t', "    ");
        let lines: Vec<String> = text.lines().map(|line| line.trim_end().to_owned()).collect();
        // Where something of it cannot be seen, the pane shows something else.
        if lines.iter().any(|line| spelled(line) != line.as_str()) {
            return None;
        }
        let (whole, behind) = (dense(&text), call.behind.as_deref().map(dense).unwrap_or_default());
        let ends = |rows: usize| {
            let shown = dense(&self.above[..rows].concat());
            shown.chars().count() >= SHOWN && whole.len() > shown.len() && whole.ends_with(&shown)
        };
        let rows = (1..=self.above.len()).rev().find(|rows| ends(*rows))?;
        let is_behind = dense(&self.above[rows..].concat()).starts_with(&behind);
        is_behind.then(|| Recorded { text: lines, behind: self.above[rows..].to_vec() })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::agent_record::{AgentRecordReader, AgentRecordSource};
    use crate::profile::ProfileSet;
    use crate::screen::{PaneFacts, Screen};
    use crate::time::Timestamp;

    const ROWS: usize = 60;

    fn command(begin: &str) -> String {
        (1..=ROWS).fold(begin.to_owned(), |text, row| text + &format!("\necho row {row} of many >> ledger &&"))
    }

    /// Claude Code's request to run a command, as a pane of forty rows shows it.
    fn shown() -> Dialog {
        let below = "   Write a ledger\n\n Do you want to proceed?\n ❯ 1. Yes\n   2. No, and tell Claude what to do\n\n Esc to cancel";
        let rows = command("rm -rf pier").replace('\n', "\n   ") + "\n" + below;
        let all: Vec<&str> = rows.lines().collect();
        let screen = Screen::from_text(&all[all.len() - 40..].join("\n"), 100);
        let profiles = ProfileSet::builtin();
        let profile = profiles.select("claude", Some("2.1.197"), false).unwrap().profile;
        let dialog = profile.read(&screen, &PaneFacts::default()).dialog.expect("a dialog");
        assert!(dialog.cuts == [Cut::Top] && !dialog.is_whole(), "{dialog:#?}");
        dialog
    }

    fn source() -> AgentRecordSource {
        ProfileSet::builtin().records("claude").iter().find(|source| source.calls.is_some()).unwrap().clone()
    }

    fn calls(id: &str, input: Value) -> Value {
        let content = json!([{ "type": "tool_use", "id": id, "name": "Bash", "input": input }]);
        json!({ "type": "assistant", "message": { "content": content } })
    }

    fn ran(id: &str) -> Value {
        json!({ "type": "user", "message": { "content": [{ "type": "tool_result", "tool_use_id": id }] } })
    }

    fn asks(id: &str, command: &str) -> Value {
        calls(id, json!({ "command": command, "description": "Write a ledger" }))
    }

    /// What is proven of the dialog by a record of these lines.
    fn by(lines: &[Value]) -> Option<Recorded> {
        let (source, mut reader) = (source(), AgentRecordReader::new(false));
        lines.iter().for_each(|line| reader.read(&source, line, Timestamp::default()));
        shown().recorded_in(&reader.reading().map(|reading| reading.calls.clone()).unwrap_or_default())
    }

    #[test]
    fn a_command_is_shown_in_full_where_the_record_has_its_end_with_all_that_is_behind_it() {
        let (whole, lines) = (command("rm -rf pier"), [asks("a", &command("rm -rf pier"))]);
        let recorded = by(&lines).expect("it is the only call");
        assert_eq!(recorded.text.join("\n"), whole);
        assert_eq!(recorded.behind, ["Write a ledger"]);
        // Others that have ended, or have another end, are not asked about.
        assert!(by(&[asks("b", &whole), ran("b"), asks("a", &whole), asks("c", "ls -l pier")]).is_some());
        // The same line again, as it is streamed.
        assert!(by(&[lines[0].clone(), lines[0].clone()]).is_some());
        let mut dialog = shown();
        let (id, shown) = (dialog.id(), dialog.rows_above().len() + dialog.own_lines().count());
        dialog.recorded = Some(recorded);
        assert!(dialog.is_whole() && dialog.id() == id && dialog.own_lines().count() > shown);
    }

    #[test]
    fn a_record_that_may_be_of_another_call_proves_nothing() {
        let whole = command("rm -rf pier");
        let other = command("rm -rf harbour");
        let many = (0..20).map(|n| asks(&format!("{n}"), &format!("ls {n}"))).chain([asks("a", &whole)]).collect();
        let cases: [(&str, Vec<Value>); 9] = [
            ("two have the same end", vec![asks("a", &whole), asks("b", &other)]),
            ("it has ended", vec![asks("a", &whole), ran("a")]),
            ("more than are kept", many),
            ("another end", vec![asks("a", &(whole.clone() + "\nls"))]),
            ("half of it is written", vec![asks("a", &whole[..whole.len() - 20])]),
            ("the pane shows more than the call has", vec![asks("a", "echo row 60 of many >> ledger &&")]),
            ("it was replaced", vec![asks("a", &whole), asks("a", &other)]),
            ("agents of its own", vec![asks("a", &whole), calls("b", json!({ "prompt": "do it" }))]),
            ("something that nobody sees", vec![asks("a", &whole.replacen("pier", "pi\u{202e}er", 1))]),
        ];
        for (why, lines) in cases {
            assert_eq!(by(&lines), None, "{why}");
        }
        let described = json!({ "command": whole, "description": "Read a ledger" });
        assert_eq!(by(&[calls("a", described)]), None, "another description");
        let prompt = json!({ "type": "user", "message": { "content": "go on" } });
        assert_eq!(by(&[asks("a", &whole), prompt]), None, "another turn");
    }

    #[test]
    fn what_is_not_proven_to_be_the_agents_own_says_nothing_of_calls() {
        let mut unproven = source();
        unproven.directory = Some(crate::agent_record::DirectoryLink::Base);
        let mut reader = AgentRecordReader::new(false);
        reader.read(&unproven, &asks("a", &command("rm -rf pier")), Timestamp::default());
        assert!(reader.reading().is_none_or(|reading| reading.calls.is_empty()));
    }
}
