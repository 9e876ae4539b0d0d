//! What an operator asks to be started, as it is written in one line: `claude -C shop --worktree fix Fix the login`, `!make test`.

use crate::present::objection::Objection;

/// What is to be started, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    pub what: What,
    /// The directory to start in, or of the repository whose working tree it is.
    pub directory: Option<String>,
    /// The branch for which the agent gets a working tree of its own.
    pub worktree: Option<String>,
    pub session: Option<String>,
}

/// What is to be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// An agent by the name to start it by, or the last one, and the first prompt for it; an empty one is none.
    Agent { name: Option<String>, prompt: String },
    /// The program of a task, with its arguments.
    Task(Vec<String>),
}

/// What begins the line of a task.
const TASK: char = '!';
/// How a line goes on, for hints.
const FORM: &str =
    "write AGENT, -C DIRECTORY, --worktree BRANCH, --session NAME, and then the prompt; or !COMMAND for a task";

impl Order {
    /// Reads a line.
    ///
    /// # Errors
    /// An option is unknown or has no value, or a quote has no end.
    pub fn parse(line: &str) -> Result<Self, Objection> {
        let (mut agent, mut prompt) = (None, "");
        let (mut directory, mut worktree, mut session) = (None, None, None);
        let mut rest = line.trim();
        while !rest.is_empty() {
            if let (Some(command), None) = (rest.strip_prefix(TASK), &agent) {
                let words = shlex::split(command).ok_or_else(|| Objection::new("a quote has no end", FORM))?;
                let what = Self::task(words)?;
                return Self { what, directory, worktree, session }.checked();
            }
            let (word, after) = next_word(rest)?;
            let option = match word.as_str() {
                "-C" => Some(&mut directory),
                "--worktree" => Some(&mut worktree),
                "--session" => Some(&mut session),
                _ => None,
            };
            match option {
                Some(_) if after.is_empty() => return Err(Objection::new(format!("`{word}` needs a value"), FORM)),
                Some(option) => {
                    let (value, after) = next_word(after)?;
                    *option = Some(value);
                    rest = after;
                }
                None if word == "--" && agent.is_some() => {
                    prompt = after;
                    break;
                }
                None if word.starts_with('-') => {
                    return Err(Objection::new(format!("there is no option `{word}`"), FORM));
                }
                None if agent.is_none() => (agent, rest) = (Some(word), after),
                None => {
                    prompt = rest;
                    break;
                }
            }
        }
        let what = What::Agent { name: agent, prompt: prompt.to_owned() };
        Self { what, directory, worktree, session }.checked()
    }

    /// The same, if what was asked fits together.
    ///
    /// # Errors
    /// It does not.
    pub fn checked(self) -> Result<Self, Objection> {
        match (&self.what, &self.worktree) {
            (What::Task(_), Some(_)) => {
                Err(Objection::new("a task gets no working tree of its own", "leave out --worktree"))
            }
            _ => Ok(self),
        }
    }

    /// The task that runs a command.
    ///
    /// # Errors
    /// There is no command.
    pub fn task(words: Vec<String>) -> Result<What, Objection> {
        if words.is_empty() {
            return Err(Objection::new("a task needs a command", "write it behind `!`, such as !make test"));
        }
        Ok(What::Task(words))
    }

    /// The command of a task as it is written; `None` for the name of an agent.
    pub fn command_of(word: &str) -> Option<&str> {
        word.strip_prefix(TASK)
    }
}

/// The first word of a line, which may stand in quotes, and what comes behind it.
fn next_word(line: &str) -> Result<(String, &str), Objection> {
    let quote = line.chars().next().filter(|c| matches!(c, '\'' | '"'));
    let (word, after) = match quote {
        Some(quote) => line[1..].split_once(quote).ok_or_else(|| Objection::new("a quote has no end", FORM))?,
        None => line.split_once(char::is_whitespace).unwrap_or((line, "")),
    };
    Ok((word.to_owned(), after.trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_an_agent_its_options_and_its_prompt() {
        let agent =
            |name: Option<&str>, prompt: &str| What::Agent { name: name.map(str::to_owned), prompt: prompt.to_owned() };
        let read = |line: &str| Order::parse(line).unwrap();
        assert_eq!(read("").what, agent(None, ""));
        assert_eq!(read(" claude ").what, agent(Some("claude"), ""));
        let order = read("claude -C '~/my shop' --worktree fix/login  Fix  the -C \"login\" ");
        assert_eq!(order.what, agent(Some("claude"), "Fix  the -C \"login\""));
        assert_eq!((order.directory.as_deref(), order.worktree.as_deref()), (Some("~/my shop"), Some("fix/login")));
        assert_eq!(read("-C a codex --session s -- -x").what, agent(Some("codex"), "-x"));
        assert_eq!(read("-C a !make 'a b'").what, What::Task(vec!["make".to_owned(), "a b".to_owned()]));
        assert_eq!(read("claude !make").what, agent(Some("claude"), "!make"));
        for wrong in ["claude -x", "claude -C", "claude -C 'a", "!", "!'", "--worktree b !make"] {
            assert!(Order::parse(wrong).is_err(), "{wrong}");
        }
    }
}
