//! What is known of the git repository that an agent works in, and how its files differ from the last commit, parsed from
//! git's output. It is as untrusted as everything else that an agent may have written.

use serde::{Deserialize, Serialize};

use crate::screen::spelled;
use crate::time::{Span, Timestamp};

/// Digits of a commit's hash that people are shown.
const SHORT_HASH: usize = 7;
/// How often a repository is read in which an agent works: each time costs several programs.
pub const REREAD: Span = Span::from_secs(5);
/// Characters of a line of a difference that are kept.
const KEPT_LINE: usize = 2000;

/// What is known of the repository around a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GitFacts {
    /// The top-level directory of its working tree.
    pub root: String,
    /// That of the repository's first working tree, which linked ones have in common; of a bare one the repository itself.
    #[serde(default)]
    pub repository: String,
    /// `None` when no branch is checked out.
    pub branch: Option<String>,
    /// The commit that is checked out; `None` before the first one.
    pub head: Option<String>,
    /// Commits that the branch has and its upstream has not; `None` without an upstream.
    pub ahead: Option<u64>,
    /// Commits that its upstream has and the branch has not.
    pub behind: Option<u64>,
    /// Lines added since the commit; `None` when that could not be read in time.
    pub added: Option<u64>,
    /// Lines removed since the commit.
    pub removed: Option<u64>,
    /// Files that differ from the commit.
    pub changed: Option<u64>,
    /// Files, and directories that are new as a whole, that git neither knows nor ignores.
    pub untracked: Option<u64>,
    /// When this was first found so.
    pub at: Timestamp,
}

impl GitFacts {
    /// The directory that stands for the repository; an older record has only that of the working tree.
    pub fn repository(&self) -> &str {
        if self.repository.is_empty() { &self.root } else { &self.repository }
    }

    /// Whether anything differs from the commit or is untracked; `None` where neither is known to be so.
    pub fn is_dirty(&self) -> Option<bool> {
        let counts = [self.changed, self.untracked];
        match counts.into_iter().flatten().any(|count| count > 0) {
            true => Some(true),
            false => counts.iter().all(Option::is_some).then_some(false),
        }
    }

    /// The branch, or `@` and the beginning of the commit's hash.
    pub fn branch_or_commit(&self) -> String {
        match (&self.branch, &self.head) {
            (Some(branch), _) => branch.clone(),
            (None, Some(head)) => format!("@{}", head.get(..SHORT_HASH).unwrap_or(head)),
            (None, None) => String::new(),
        }
    }

    /// In a few words: `main* ↑2 ↓1 +12 -3`.
    pub fn words(&self) -> String {
        let dirty = if self.is_dirty() == Some(true) { "*" } else { "" };
        let mut words = format!("{}{dirty}", self.branch_or_commit());
        for (sign, count) in [("↑", self.ahead), ("↓", self.behind), ("+", self.added), ("-", self.removed)] {
            if let Some(count @ 1..) = count {
                words.push_str(&format!(" {sign}{count}"));
            }
        }
        words
    }

    /// The same facts as others, whenever those were found.
    pub fn is_same(&self, other: &Self) -> bool {
        *self == Self { at: self.at, ..other.clone() }
    }

    /// Takes in the lines and files that differ, as `git diff-index --numstat -z` prints them.
    pub fn count_changes(&mut self, printed: &[u8]) {
        let (mut added, mut removed, mut changed) = (0_u64, 0_u64, 0_u64);
        for record in printed.split(|byte| *byte == 0).filter(|record| !record.is_empty()) {
            let mut fields = record.splitn(3, |byte| *byte == b'\t');
            // Of a binary file no lines are counted.
            let mut lines = || std::str::from_utf8(fields.next()?).ok()?.parse::<u64>().ok();
            added = added.saturating_add(lines().unwrap_or_default());
            removed = removed.saturating_add(lines().unwrap_or_default());
            changed += 1;
        }
        (self.added, self.removed, self.changed) = (Some(added), Some(removed), Some(changed));
    }
}

/// The commits on each side, as `git rev-list --left-right --count` prints them.
pub fn read_counts(printed: &[u8]) -> Option<(u64, u64)> {
    let mut counts = std::str::from_utf8(printed).ok()?.split_whitespace().map(str::parse);
    Some((counts.next()?.ok()?, counts.next()?.ok()?))
}

/// Names that end with a NUL each, spelled out. What is cut off at the end is none.
pub fn read_names(printed: &[u8]) -> Vec<String> {
    let whole = printed.split_inclusive(|byte| *byte == 0).filter_map(|name| name.strip_suffix(b"\0"));
    whole.map(|name| spelled(&String::from_utf8_lossy(name)).into_owned()).collect()
}

/// Why nothing is known of a directory.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GitError {
    /// No repository is around it.
    #[error("no repository")]
    NoRepository,
    /// There is no `git`, or no place for what it needs, or it is on a host.
    #[error("{0}")]
    Unusable(String),
    /// What git said.
    #[error("git refused: {0}")]
    Refused(String),
    #[error("git did not answer within {0} s")]
    Late(u64),
}

/// How a working tree differs from the commit that is checked out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkingTreeDiff {
    pub lines: Vec<DiffLine>,
    /// The lines with which files begin.
    pub files: Vec<usize>,
}

/// A line of a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffLine {
    pub kind: DiffLineKind,
    pub text: String,
}

/// What a line of a difference says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffLineKind {
    /// A file begins.
    File,
    /// Where in the file the next lines stand.
    Hunk,
    Added,
    Removed,
    /// A line that both have.
    Same,
    /// Something about a file, or about what is shown.
    Note,
}

/// What one command printed, as far as it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    pub bytes: Vec<u8>,
    pub is_cut: bool,
}

impl WorkingTreeDiff {
    /// Reads what `git diff-index --patch` and `git ls-files --others -z` have printed, and the beginnings of untracked files
    /// that were read, in the order of their names.
    pub fn read(patch: &Printed, untracked: &Printed, contents: &[Option<Printed>]) -> Self {
        let mut diff = Self::default();
        diff.read_patch(&patch.bytes);
        if patch.is_cut {
            diff.note(&format!("… more differs than the {} that are shown", size(patch.bytes.len())));
        }
        let names = read_names(&untracked.bytes);
        let mut others = Vec::new();
        for (place, name) in names.iter().enumerate() {
            match contents.get(place).and_then(Option::as_ref).map(new_text) {
                Some(Ok(text)) => diff.add_file(name, text),
                Some(Err(why)) => others.push(format!("? {name}  ({why})")),
                None => others.push(format!("? {name}")),
            }
        }
        if !others.is_empty() {
            diff.begin_file("untracked");
            others.iter().for_each(|name| diff.push(DiffLineKind::Added, name));
        }
        if untracked.is_cut {
            diff.note(&format!("… more is untracked than these {}", names.len()));
        }
        diff
    }

    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The line with which the file after a line begins, or the one before it.
    pub fn file_beside(&self, line: usize, forward: bool) -> Option<usize> {
        match forward {
            true => self.files.iter().find(|file| **file > line).copied(),
            false => self.files.iter().rev().find(|file| **file < line).copied(),
        }
    }

    fn read_patch(&mut self, bytes: &[u8]) {
        // Lines of the hunk that are still to come: a line of a file may look like any heading.
        let (mut old, mut new) = (0_u64, 0_u64);
        for line in bytes.split(|byte| *byte == b'\n') {
            let line = String::from_utf8_lossy(line);
            let kind = match line.chars().next() {
                Some('+') if new > 0 => DiffLineKind::Added,
                Some('-') if old > 0 => DiffLineKind::Removed,
                Some(' ') if old > 0 && new > 0 => DiffLineKind::Same,
                Some('\\') => DiffLineKind::Note,
                _ => {
                    if let Some(names) = line.strip_prefix("diff --git ") {
                        self.begin_file(one_name(names));
                        (old, new) = (0, 0);
                    } else if let Some(sizes) = hunk(&line) {
                        (old, new) = sizes;
                        self.push(DiffLineKind::Hunk, &line);
                    } else if !line.is_empty() && !is_said_elsewhere(&line) {
                        self.push(DiffLineKind::Note, &line);
                    }
                    continue;
                }
            };
            old -= u64::from(matches!(kind, DiffLineKind::Removed | DiffLineKind::Same));
            new -= u64::from(matches!(kind, DiffLineKind::Added | DiffLineKind::Same));
            self.push(kind, &line);
        }
    }

    /// A file that git does not know, with its text.
    fn add_file(&mut self, name: &str, text: &str) {
        self.begin_file(name);
        self.note(if text.is_empty() { "new file, untracked, empty" } else { "new file, untracked" });
        text.lines().for_each(|line| self.push(DiffLineKind::Added, &format!("+{line}")));
    }

    fn begin_file(&mut self, name: &str) {
        if !self.lines.is_empty() {
            self.lines.push(DiffLine { kind: DiffLineKind::Same, text: String::new() });
        }
        self.files.push(self.lines.len());
        self.push(DiffLineKind::File, name);
    }

    fn push(&mut self, kind: DiffLineKind, line: &str) {
        let cut = line.char_indices().nth(KEPT_LINE).map_or(line, |(at, _)| &line[..at]);
        self.lines.push(DiffLine { kind, text: spelled(&cut.replace('\t', "    ")).into_owned() });
    }

    fn note(&mut self, text: &str) {
        self.push(DiffLineKind::Note, text);
    }
}

/// The text of a file whose beginning was read, or why its lines are not shown.
fn new_text(content: &Printed) -> Result<&str, String> {
    match std::str::from_utf8(&content.bytes) {
        _ if content.bytes.contains(&0) => Err("binary".to_owned()),
        _ if content.is_cut => Err(format!("{} or more", size(content.bytes.len()))),
        Ok(text) => Ok(text),
        Err(_) => Err("binary".to_owned()),
    }
}

/// `a/NAME b/NAME` as the one name that it is, as git is asked for no renames.
fn one_name(names: &str) -> &str {
    let Some((first, second)) = names.split_at_checked(names.len() / 2) else { return names };
    match (first.strip_prefix("a/"), second.strip_prefix(" b/")) {
        (Some(first), Some(second)) if first == second => second,
        _ => names,
    }
}

/// The lines of both files that follow a heading such as `@@ -1,3 +1,4 @@`.
fn hunk(line: &str) -> Option<(u64, u64)> {
    let (ranges, _) = line.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let size = |range: &str| match range.split_once(',') {
        Some((_, size)) => size.parse().ok(),
        None => Some(1),
    };
    Some((size(old)?, size(new)?))
}

/// Lines between a file's name and its hunks that say what the name, the hunks or nobody asks for.
fn is_said_elsewhere(line: &str) -> bool {
    ["index ", "--- ", "+++ "].iter().any(|begin| line.starts_with(begin))
}

fn size(bytes: usize) -> String {
    match bytes >> 20 {
        0 => format!("{} KiB", bytes >> 10),
        mib => format!("{mib} MiB"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(text: &str) -> Printed {
        Printed { bytes: text.as_bytes().to_vec(), is_cut: false }
    }

    #[test]
    fn a_repository_is_described_in_a_few_words() {
        let mut facts = GitFacts { branch: Some("main".to_owned()), untracked: Some(0), ..GitFacts::default() };
        assert_eq!((facts.is_dirty(), facts.words().as_str()), (None, "main"), "the changes were not read");
        facts.count_changes(b"");
        assert_eq!((facts.is_dirty(), facts.words().as_str()), (Some(false), "main"));
        facts.count_changes(b"12\t1\ta b\x00-\t-\tbinary\x000\t2\tx\ty\x00");
        (facts.ahead, facts.behind) = read_counts(b"2\t1\n").unzip();
        assert_eq!((facts.changed, facts.words().as_str()), (Some(3), "main* ↑2 ↓1 +12 -3"));
        let detached = GitFacts { head: Some("0123456789".to_owned()), untracked: Some(1), ..GitFacts::default() };
        assert_eq!(detached.words(), "@0123456*");
        assert_eq!(read_counts(b"fatal"), None);
    }

    #[test]
    fn a_difference_is_read_by_the_sizes_of_its_hunks() {
        let patch = "diff --git a/src/a b.rs b/src/a b.rs\nindex 1..2 100644\n--- a/src/a b.rs\n+++ b/src/a b.rs\n\
                     @@ -1,2 +1,3 @@ fn main\n \tone\n--- old\n+++ new\n+diff --git a/x b/x\n\\ No newline at end of file\n\
                     diff --git a/e b/e\nnew file mode 100644\nindex 0..1\n";
        let diff =
            WorkingTreeDiff::read(&printed(patch), &printed("s\0u\0d/\0cut"), &[Some(printed("one\n+two")), None]);
        use DiffLineKind::{Added, File, Hunk, Note, Removed, Same};
        let lines: Vec<_> = diff.lines.iter().map(|line| (line.kind, line.text.as_str())).collect();
        let expected = [
            (File, "src/a b.rs"),
            (Hunk, "@@ -1,2 +1,3 @@ fn main"),
            (Same, "     one"),
            (Removed, "--- old"),
            (Added, "+++ new"),
            (Added, "+diff --git a/x b/x"),
            (Note, "\\ No newline at end of file"),
            (Same, ""),
            (File, "e"),
            (Note, "new file mode 100644"),
            (Same, ""),
            (File, "s"),
            (Note, "new file, untracked"),
            (Added, "+one"),
            (Added, "++two"),
            (Same, ""),
            (File, "untracked"),
            (Added, "? u"),
            (Added, "? d/"),
        ];
        assert_eq!(lines, expected);
        let (next, before) = (|line| diff.file_beside(line, true), |line| diff.file_beside(line, false));
        assert_eq!((next(0), next(9), next(16), before(9), before(0)), (Some(8), Some(11), None, Some(8), None));
        assert!(WorkingTreeDiff::read(&printed(""), &printed(""), &[]).is_empty());
    }

    #[test]
    fn what_is_cut_is_said_and_nothing_acts_on_a_terminal() {
        let patch =
            Printed { bytes: b"diff --git a/f b/f\n@@ -0,0 +1,9 @@\n+\x1b]0;x\x07\xff\n".to_vec(), is_cut: true };
        let untracked = Printed { bytes: "\u{1b}[2Ju\0".as_bytes().to_vec(), is_cut: true };
        let untracked = Printed { bytes: [untracked.bytes.as_slice(), b"b\0l\0"].concat(), ..untracked };
        let long = Printed { bytes: vec![b'x'; 16 << 10], is_cut: true };
        let diff =
            WorkingTreeDiff::read(&patch, &untracked, &[Some(printed("\x1bc")), Some(printed("\0")), Some(long)]);
        assert!(diff.lines.iter().any(|line| line.text == "? b  (binary)"), "{diff:?}");
        assert!(diff.lines.iter().any(|line| line.text == "? l  (16 KiB or more)"), "{diff:?}");
        assert!(diff.lines.iter().all(|line| line.text.chars().all(crate::screen::is_harmless)), "{diff:?}");
        assert!(diff.lines.iter().any(|line| line.text == "^[[2Ju"), "{diff:?}");
        let said =
            |part: &str| diff.lines.iter().any(|line| line.kind == DiffLineKind::Note && line.text.contains(part));
        assert!(said("more differs than") && said("more is untracked than these 3"), "{diff:?}");
        let overlong = format!("@@ -0,0 +1 @@\n+{}\n", "x".repeat(9000));
        let line = WorkingTreeDiff::read(&printed(&overlong), &printed(""), &[]).lines[1].text.len();
        assert_eq!(line, KEPT_LINE);
    }
}
