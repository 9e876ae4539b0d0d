//! The whole text of a dialog of which its pane shows a part, from the agent's own record (SPEC §11).
//!
//! Nobody may approve what is not the dialog's. A text counts only if what the pane shows is its end, to the last row and with what
//! the agent shows behind it, or its beginning, up to the row that says that the rest is left out. No other call that waits may have
//! the same end or beginning.

use super::Dialog;
use super::option::{Cut, Recorded};
use super::text::is_left_out;
use crate::agent_record::OpenCall;
use crate::screen::{dense, spelled};

/// Letters that the pane must show of it: fewer may be those of another text.
const SHOWN: usize = 24;

/// How a line begins that says which other agent asks here, whose record it is not.
const OTHERS: &str = "Thread: ";

impl Dialog {
    /// What the record says of it; `None` if nothing of that is proven to be this dialog's.
    pub(crate) fn recorded_in(&self, calls: &[OpenCall]) -> Option<Recorded> {
        // Of a call whose text is not known it cannot be said that it is not the one which waits.
        if self.cuts.is_empty() || calls.iter().any(|call| call.text.is_none()) {
            return None;
        }
        let calls = calls.iter().filter_map(CallText::of);
        let mut proven = calls.filter_map(|call| self.end_of(&call).or_else(|| self.beginning_of(&call)));
        proven.next().filter(|_| proven.next().is_none())
    }

    /// The call's text if the pane shows the end of it.
    fn end_of(&self, call: &CallText) -> Option<Recorded> {
        let above = Some(&self.above).filter(|_| self.cuts == [Cut::Top])?;
        let shown: Vec<String> = above.iter().map(|line| dense(line)).collect();
        let ends = |shown: &str| call.may_show(shown) && call.whole.ends_with(shown);
        let rows = (1..=shown.len()).rev().find(|rows| ends(&shown[..*rows].concat()))?;
        let behind = shown[rows..].concat();
        // Newer releases of Claude Code show it in front.
        let is_beside = behind.is_empty() || behind.starts_with(&call.beside);
        is_beside.then(|| Recorded { text: call.lines.clone(), behind: above[rows..].to_vec(), instead: 0..0 })
    }

    /// The call's text if the pane shows the beginning of it, and all options.
    fn beginning_of(&self, call: &CallText) -> Option<Recorded> {
        let lines: Vec<&str> = self.above.iter().chain(&self.text).map(|line| line.trim()).collect();
        let end = lines.iter().rposition(|line| is_left_out(line))?;
        let shown: Vec<String> = lines[..end].iter().map(|line| dense(line)).collect();
        let begins = |from: usize| {
            let rows = shown[from..].concat();
            let prompted = rows.strip_prefix('$').unwrap_or_default();
            [&rows, prompted].iter().any(|rows| call.may_show(rows) && call.whole.starts_with(*rows))
        };
        let begin = (0..end).find(|from| !shown[*from].is_empty() && begins(*from))?;
        // Who asks may be out of sight with the top; what is said of the call is then all that tells it from another agent's.
        let is_known = |cut: &Cut| match cut {
            Cut::Top => !call.beside.is_empty(),
            cut => matches!(cut, Cut::LeftOut(row) if row == lines[end]),
        };
        let is_anothers = lines[..begin].iter().any(|line| line.starts_with(OTHERS));
        // Behind the mark the dialog goes on, and nothing that was there before.
        let (above, is_beside) = (self.above.len(), shown[..begin].concat().contains(&call.beside));
        let is_its = self.asks_leave() && self.cuts.iter().all(is_known) && !is_anothers && above <= end + 1;
        let text = self.above.iter().take(begin).chain(&call.lines).cloned().collect();
        let instead = begin.saturating_sub(above)..(end + 1).saturating_sub(above);
        (is_its && is_beside).then_some(Recorded { text, behind: Vec::new(), instead })
    }
}

/// What a pane may show of a call, of which everything can be seen.
struct CallText {
    lines: Vec<String>,
    /// All of it without blanks, as a pane breaks lines where it likes.
    whole: String,
    /// What is shown beside it, likewise.
    beside: String,
}

impl CallText {
    /// `None` where nothing is known of the text, or something of it cannot be seen: the pane then shows something else.
    fn of(call: &OpenCall) -> Option<Self> {
        let text = call.text.as_deref()?;
        let lines: Vec<String> = text.replace('\t', "    ").lines().map(|line| line.trim_end().to_owned()).collect();
        let (whole, beside) = (dense(text), call.beside.as_deref().map(dense).unwrap_or_default());
        lines.iter().all(|line| spelled(line) == line.as_str()).then_some(Self { lines, whole, beside })
    }

    /// Whether that is enough of it to be told from others, and not all.
    fn may_show(&self, shown: &str) -> bool {
        shown.chars().count() >= SHOWN && self.whole.len() > shown.len()
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

    fn source(agent: &str) -> AgentRecordSource {
        ProfileSet::builtin().records(agent).iter().find(|source| source.calls.is_some()).unwrap().clone()
    }

    fn calls(id: &str, input: Value) -> Value {
        calls_of("Bash", id, input)
    }

    fn calls_of(tool: &str, id: &str, input: Value) -> Value {
        let content = json!([{ "type": "tool_use", "id": id, "name": tool, "input": input }]);
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
        proven(&shown(), "claude", lines)
    }

    fn proven(dialog: &Dialog, agent: &str, lines: &[Value]) -> Option<Recorded> {
        let (source, mut reader) = (source(agent), AgentRecordReader::new(false));
        let begins = json!({ "type": "event_msg", "payload": { "type": "task_started" } });
        let lines = std::iter::once(&begins).chain(lines);
        lines.for_each(|line| reader.read(&source, line, Timestamp::default()));
        dialog.recorded_in(&reader.reading().map(|reading| reading.calls.clone()).unwrap_or_default())
    }

    /// The dialog that an agent shows in a pane of these rows.
    fn read(agent: &str, rows: &str) -> Dialog {
        let screen = Screen::from_capture(rows.as_bytes(), 100, rows.lines().count() as u16);
        let profiles = ProfileSet::builtin();
        let mut facts = PaneFacts::default();
        facts.cursor.visible = false;
        profiles.select(agent, None, false).unwrap().profile.read(&screen, &facts).dialog.expect("a dialog")
    }

    /// Codex's request to run a command, as a pane shows the beginning of it.
    fn begun(ahead: &str, command: &str) -> Dialog {
        let shown: Vec<&str> = command.lines().take(25).collect();
        read(
            "codex",
            &format!(
                "\n  \x1b[1mWould you like to run the following command?\x1b[m\n\n{ahead}  Reason: Write a ledger\n\n  $ {}\n  \
            [… 67 lines] ^a view all\n\x1b[1m› 1. Yes, proceed (y)\x1b[m\n  2. No, and tell Codex what to do differently (esc)\n  \
            Press enter to confirm or esc to cancel",
                shown.join("\n  ")
            ),
        )
    }

    fn codex_calls(name: &str, id: &str, arguments: &str) -> Value {
        let payload = json!({ "type": "function_call", "name": name, "call_id": id, "arguments": arguments });
        json!({ "type": "response_item", "payload": payload })
    }

    fn codex_asks(id: &str, command: &str) -> Value {
        let arguments = json!({ "cmd": command, "justification": "Write a ledger" });
        codex_calls("exec_command", id, &arguments.to_string())
    }

    fn codex_ran(id: &str) -> Value {
        json!({ "type": "response_item", "payload": { "type": "function_call_output", "call_id": id } })
    }

    #[test]
    fn a_command_is_shown_in_full_where_the_record_has_its_end_with_all_that_is_behind_it() {
        let (whole, lines) = (command("rm -rf pier"), [asks("a", &command("rm -rf pier"))]);
        let recorded = by(&lines).expect("it is the only call");
        assert_eq!(recorded.text.join("\n"), whole);
        assert_eq!(recorded.behind, ["Write a ledger"]);
        // Others that have ended, or have another end, are not asked about.
        assert!(by(&[asks("b", &whole), ran("b"), asks("a", &whole), asks("c", "ls -l pier")]).is_some());
        // What it says of the command may stand in front of it, out of sight.
        let mut bare = shown();
        bare.above.pop();
        assert!(proven(&bare, "claude", &lines).is_some_and(|recorded| recorded.behind.is_empty()));
        // The same line again, as it is streamed.
        assert!(by(&[lines[0].clone(), lines[0].clone()]).is_some());
        let mut dialog = shown();
        let (id, shown) = (dialog.id(), dialog.rows_above().len() + dialog.own_lines().count());
        dialog.recorded = Some(recorded);
        assert!(dialog.is_whole() && dialog.own_lines().count() > shown);
        // Another one with the same question and options is another one.
        let (same, mut other) = (self::shown(), self::shown());
        let last = other.above.len() - 2;
        other.above[last].push_str(" elsewhere");
        assert!(dialog.is_same(&same) && same.is_same(&dialog) && same.is_same(&other));
        assert!(!dialog.is_same(&other) && !other.is_same(&dialog) && dialog.id() != id);
        let mut more = dialog.clone();
        more.recorded.as_mut().unwrap().text[0].push_str(" more");
        assert!(!dialog.is_same(&more) && dialog.id() != more.id());
    }

    #[test]
    fn a_command_is_shown_in_full_where_the_record_has_its_beginning() {
        let (whole, mut dialog) = (command("rm -rf pier"), begun("  Environment: local\n\n", &command("rm -rf pier")));
        assert!(!dialog.is_whole(), "{dialog:#?}");
        let lines = [codex_asks("b", "ls"), codex_ran("b"), codex_asks("a", &whole), codex_asks("c", "ls -l pier")];
        dialog.recorded = proven(&dialog, "codex", &lines);
        let lines: Vec<&str> = dialog.own_lines().map(String::as_str).collect();
        let ahead = "Would you like to run the following command?\n\nEnvironment: local\n\nReason: Write a ledger\n\n";
        assert_eq!(lines.join("\n"), format!("{ahead}{whole}"));
    }

    #[test]
    fn an_end_in_two_boxes_is_read_and_a_beginning_below_the_end() {
        let whole = command("rm -rf pier");
        let rows: Vec<&str> = whole.lines().collect();
        let inner: String = rows[30..].iter().map(|row| format!("│ {row:<92} │\n")).collect();
        let below = "╰────╯\n\nDo you want to run this command?\n\n❯ 1. Yes\n  2. No, and tell Copilot what to do differently\n";
        let boxed: String = (inner + below).lines().map(|row| format!("│ {row:<96} │\n")).collect();
        let copilot = format!(" [Current]  Sessions\n\n{boxed}╰────╯");
        let requested = |kind: &str| {
            let request = json!({ "kind": kind, "fullCommandText": whole });
            json!({ "type": "permission.requested", "data": { "requestId": "a", "permissionRequest": request } })
        };
        let completed = json!({ "type": "permission.completed", "data": { "requestId": "a" } });
        let qwen = format!(
            "    {} (Write a ledger)\n\n     {}\n     ... last 37 lines hidden ...\n\n   Allow execution of: 'rm'?\n\n\
             \x20  › 1. Yes, allow once\n     2. No, suggest changes (esc)\n\n\n  ⠏ Waiting for user confirmation...",
            rows[60],
            rows[..24].join("\n     ")
        );
        let part = |part: Value, by: &str| json!({ "type": by, "message": { "parts": [part] } });
        let called = |name: &str| {
            let arguments = json!({ "command": whole, "description": "Write a ledger" });
            part(json!({ "functionCall": { "id": "a", "name": name, "args": arguments } }), "assistant")
        };
        let response = part(json!({ "functionResponse": { "id": "a" } }), "tool_result");
        // What stands in front of the beginning stays.
        let described = format!("{} (Write a ledger)\n", rows[60]);
        for (agent, rows, ahead, asks, other, ran) in [
            ("copilot", copilot, "", requested("shell"), requested("write"), completed),
            ("qwen", qwen, described.as_str(), called("run_shell_command"), called("edit"), response),
        ] {
            let dialog = read(agent, &rows);
            assert_eq!(dialog.cuts, [Cut::Top], "{agent}");
            let recorded = proven(&dialog, agent, std::slice::from_ref(&asks)).expect(agent);
            assert_eq!(recorded.text.join("\n"), format!("{ahead}{whole}"), "{agent}");
            assert_eq!(proven(&dialog, agent, &[asks, ran]), None, "{agent}");
            assert_eq!(proven(&dialog, agent, &[other]), None, "{agent}");
        }
    }

    #[test]
    fn a_record_that_may_be_of_another_call_proves_no_beginning() {
        let whole = command("rm -rf pier");
        let dialog = begun("", &whole);
        let asks = |name, arguments: Value| codex_calls(name, "a", &arguments.to_string());
        let more = whole.clone() + "\nls";
        let cases: [(&str, Vec<Value>); 8] = [
            ("two have the same beginning", vec![codex_asks("a", &whole), codex_asks("b", &more)]),
            ("it has ended", vec![codex_asks("a", &whole), codex_ran("a")]),
            ("another beginning", vec![codex_asks("a", &command("rm -rf harbour"))]),
            ("half of it is written", vec![codex_asks("a", &whole[..300])]),
            ("it was replaced", vec![codex_asks("a", &whole), codex_asks("a", &more)]),
            ("another reason", vec![asks("exec_command", json!({ "cmd": whole, "justification": "Read a ledger" }))]),
            ("no JSON", vec![codex_calls("exec_command", "a", &whole)]),
            ("agents of its own", vec![codex_asks("a", &whole), codex_calls("wait_agent", "b", "{}")]),
        ];
        for (why, lines) in cases {
            assert_eq!(proven(&dialog, "codex", &lines), None, "{why}");
        }
        // What a tool does not know, it does not do.
        let decoy = json!({ "command": more, "cmd": whole, "justification": "Write a ledger" });
        let recorded = proven(&dialog, "codex", &[asks("shell_command", decoy)]).expect("the only call");
        assert_eq!(recorded.text.join("\n"), more);
        let lines = [codex_asks("a", &whole)];
        assert_eq!(proven(&begun("  Thread: Avicenna\n\n", &whole), "codex", &lines), None, "an agent of its own asks");
        let mut few = dialog.clone();
        few.options.truncate(1);
        assert_eq!(proven(&few, "codex", &lines), None, "an option is cut off");
        assert!(proven(&dialog, "codex", &lines).is_some());
    }

    #[test]
    fn a_record_that_may_be_of_another_call_proves_nothing() {
        let whole = command("rm -rf pier");
        let other = command("rm -rf harbour");
        let many = (0..20).map(|n| asks(&format!("{n}"), &format!("ls {n}"))).chain([asks("a", &whole)]).collect();
        let plan = json!({ "command": whole, "plan": "ls", "description": "Write a ledger" });
        let ended = (0..16).map(|n| ran(&format!("{n}")));
        let forgotten =
            (0..17).map(|n| asks(&format!("{n}"), &format!("ls {n}"))).chain(ended).chain([asks("a", &whole)]);
        let cases: [(&str, Vec<Value>); 12] = [
            ("a plan with a command", vec![calls_of("ExitPlanMode", "a", plan)]),
            ("one that was not kept may wait", forgotten.collect()),
            ("another agent may ask", vec![calls_of("Agent", "b", json!({})), ran("b"), asks("a", &whole)]),
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
    fn what_was_left_out_of_a_record_may_have_called_something() {
        let (source, mut reader) = (source("claude"), AgentRecordReader::new(true));
        let prompt = json!({ "type": "user", "message": { "role": "user", "content": "tidy up" } });
        let asked = asks("a", &command("rm -rf pier"));
        let mut proven = |line: &Value| {
            reader.read(&source, line, Timestamp::default());
            shown().recorded_in(&reader.reading().map(|reading| reading.calls.clone()).unwrap_or_default())
        };
        assert_eq!(proven(&asked), None);
        assert_eq!(proven(&prompt), None);
        assert!(proven(&asked).is_some(), "all of this turn was read");
    }

    #[test]
    fn what_is_not_proven_to_be_the_agents_own_says_nothing_of_calls() {
        let mut unproven = source("claude");
        unproven.directory = Some(crate::agent_record::DirectoryLink::Base);
        let mut reader = AgentRecordReader::new(false);
        reader.read(&unproven, &asks("a", &command("rm -rf pier")), Timestamp::default());
        assert!(reader.reading().is_none_or(|reading| reading.calls.is_empty()));
    }
}
