//! The same on hosts: a script reads the repository there, over the existing connection.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use super::{
    ALONE, Apart, BRANCH, CONFIG, COUNTED, COUNTS, DIFF_DEADLINE, DIFFERING, Distance, EMPTY_SHA1, EMPTY_SHA256,
    FACTS_DEADLINE, LINES, LONG_HASHES, NAMES, NEW_FILE, NEW_FILES, PATCH, PATCHED, QUIET, RESOLVE, Repository,
    UNTRACKED, refused,
};
use crate::repository::{GitFacts, GitTrouble, Printed, WorkingTreeDiff, read_counts};
use crate::time::Timestamp;
use crate::tmux::{Error, Nonce, Server};

const SCRIPT: &str = include_str!("host.sh");

/// How `timeout` ends when its time is over, and a program that `SIGALRM` has ended.
const LATE: [i32; 2] = [124, 142];
/// How a shell says that there is no such program.
const MISSING: i32 = 127;

/// What is read of a repository.
#[derive(Clone, Copy)]
struct GitRequest<'a> {
    form: &'a [&'a str],
    limit: usize,
    deadline: Duration,
}

const FACTS: GitRequest<'static> = GitRequest { form: &COUNTED, limit: COUNTS, deadline: FACTS_DEADLINE };
const DIFFERENCE: GitRequest<'static> = GitRequest { form: &PATCHED, limit: PATCH, deadline: DIFF_DEADLINE };

pub(super) async fn facts(
    server: &Server,
    directory: &str,
    distance: &mut Distance,
    at: Timestamp,
) -> Result<GitFacts, GitTrouble> {
    let answer = ask(server, directory, FACTS, &distance.of).await?;
    let it = answer.repository()?;
    let of = (it.head.clone(), it.upstream.clone());
    if distance.of != of {
        *distance = Distance { apart: answer.apart(), of };
    }
    let part = |name, limit| answer.part(name, limit, FACTS.deadline).ok();
    Ok(it.facts(part("branch", LINES), distance.apart, part("differing", COUNTS), part("untracked", NAMES), at))
}

pub(super) async fn difference(server: &Server, directory: &str) -> Result<WorkingTreeDiff, GitTrouble> {
    let answer = ask(server, directory, DIFFERENCE, &(None, None)).await?;
    answer.repository()?;
    let part = |name: &str, limit| answer.part(name, limit, DIFFERENCE.deadline);
    let content = |place| part(&format!("new-{place}"), NEW_FILE).ok();
    let contents: Vec<Option<Printed>> = (0..NEW_FILES).map(content).collect();
    Ok(WorkingTreeDiff::read(&part("differing", PATCH)?, &part("untracked", NAMES)?, &contents))
}

async fn ask(
    server: &Server,
    directory: &str,
    wanted: GitRequest<'_>,
    known: &(Option<String>, Option<String>),
) -> Result<CommandOutputs, GitTrouble> {
    let nonce = Nonce::new();
    let known = match known {
        (Some(head), Some(upstream)) => format!("{head} {upstream}"),
        _ => String::new(),
    };
    // All of the script is read before any of it runs. Nothing in it was written by others.
    let words = ["sh", "-c", r#"eval "$(cat)""#, "sh", directory, &known];
    let script = format!("nonce={nonce}\n{}{SCRIPT}", constants(wanted));
    let printed = server.print_beside(&words, script.into_bytes()).await.map_err(|error| match error {
        Error::BadName { .. } => GitTrouble::NoRepository,
        Error::TimedOut { after, .. } => GitTrouble::Silent(format!("the host did not answer within {after:?}")),
        error => GitTrouble::Silent(error.to_string()),
    })?;
    CommandOutputs::read(&printed, &nonce.to_string())
}

/// The constants of git's commands, as variables of the script.
fn constants(wanted: GitRequest<'_>) -> String {
    let pairs = |pairs: &[(&str, &str)]| {
        let words: Vec<String> = pairs.iter().map(|(name, value)| format!("{name}={value}")).collect();
        words.join(" ")
    };
    let all = [
        ("quiet", pairs(&QUIET)),
        ("alone", pairs(&ALONE)),
        ("resolve", RESOLVE.join(" ")),
        ("branch", BRANCH.join(" ")),
        ("differing", DIFFERING.join(" ")),
        ("form", wanted.form.join(" ")),
        ("untracked", UNTRACKED.join(" ")),
        ("config", CONFIG.to_owned()),
        ("objects", LONG_HASHES.to_owned()),
        ("sha1", EMPTY_SHA1.to_owned()),
        ("sha256", EMPTY_SHA256.to_owned()),
        ("seconds", wanted.deadline.as_secs().to_string()),
        ("limit", wanted.limit.to_string()),
        ("names", NAMES.to_string()),
        ("lines", LINES.to_string()),
        ("files", NEW_FILES.to_string()),
        ("file", NEW_FILE.to_string()),
    ];
    all.iter().map(|(name, value)| format!("{name}='{value}'\n")).collect()
}

/// The parts of an answer by their names: what was printed, and how the command ended.
struct CommandOutputs(BTreeMap<String, (Vec<u8>, i32)>);

impl CommandOutputs {
    fn read(printed: &[u8], nonce: &str) -> Result<Self, GitTrouble> {
        let mark = format!("\n{nonce} ");
        let (mut parts, mut rest) = (BTreeMap::new(), printed);
        while let Some(at) = find(rest, mark.as_bytes()) {
            let (bytes, after) = (&rest[..at], &rest[at + mark.len()..]);
            let end = find(after, b"\n").unwrap_or(after.len());
            let line = String::from_utf8_lossy(&after[..end]).into_owned();
            rest = after.get(end + 1..).unwrap_or_default();
            let Some((name, status)) = line.split_once(' ') else { continue };
            parts.insert(name.to_owned(), (bytes.to_owned(), status.parse().unwrap_or(1)));
        }
        let unusable = |why: &str| Err(GitTrouble::Unusable(format!("{why} on its host")));
        match () {
            () if parts.contains_key("none") => Err(GitTrouble::NoRepository),
            () if parts.contains_key("place") => unusable("no directory for temporary files can be made"),
            () if parts.contains_key("deadline") => unusable("there is neither timeout nor perl to end a slow git"),
            () if parts.get("names").is_some_and(|(_, status)| *status == MISSING) => {
                unusable("there is no git command")
            }
            () if parts.is_empty() => Err(GitTrouble::Silent("the host's answer makes no sense".to_owned())),
            () => Ok(Self(parts)),
        }
    }

    /// What a command printed up to a limit.
    fn part(&self, name: &str, limit: usize, deadline: Duration) -> Result<Printed, GitTrouble> {
        let Some((bytes, status)) = self.0.get(name) else { return Err(GitTrouble::Late(deadline.as_secs())) };
        let is_cut = bytes.len() >= limit;
        match status {
            _ if is_cut => Ok(Printed { bytes: bytes.clone(), is_cut }),
            0 => Ok(Printed { bytes: bytes.clone(), is_cut }),
            status if LATE.contains(status) => Err(GitTrouble::Late(deadline.as_secs())),
            _ => Err(refused(None)),
        }
    }

    fn repository(&self) -> Result<Repository, GitTrouble> {
        let bytes = |name| self.0.get(name).map(|(bytes, _)| bytes.as_slice()).unwrap_or_default();
        if self.0.get("names").is_some_and(|(_, status)| LATE.contains(status)) {
            return Err(GitTrouble::Late(FACTS.deadline.as_secs()));
        }
        let said = String::from_utf8_lossy(bytes("said")).into_owned();
        Repository::read(Path::new(OsStr::from_bytes(bytes("root"))), bytes("names"), Some(said))
    }

    fn apart(&self) -> Apart {
        read_counts(&self.part("apart", LINES, FACTS.deadline).ok()?.bytes)
    }
}

fn find(bytes: &[u8], mark: &[u8]) -> Option<usize> {
    bytes.windows(mark.len()).position(|window| window == mark)
}
