//! Linked working trees: made for an agent, and removed when nothing would be lost with them.
//!
//! Unlike all else here, this changes a repository, as its operator asks. git does it in the repository itself, but runs nothing that
//! an agent could have named there: no hook, no file system monitor, and no filter of the repository's own configuration.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::process::Command;

use super::{Git, NAMES, root_around};
use crate::present::objection::Objection;
use crate::private::{locked, open_regular};
use crate::repository::GitError;
use crate::screen::harmless;

/// How long git may take to write a whole working tree, or to look through one.
const DEADLINE: Duration = Duration::from_secs(120);
/// Bytes of its lists that are read; a longer one counts as changes.
const LIST: usize = 1 << 20;
/// The settings that run programs wherever they stand. Filters are turned off by their names.
const HARMLESS: [&str; 6] =
    ["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "submodule.recurse=false"];
/// Files in a working tree's directory that say what is under way there, and what that is.
const UNDER_WAY: [(&str, &str); 6] = [
    ("MERGE_HEAD", "a merge"),
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
    ("BISECT_LOG", "a bisect"),
];
/// Names that a sentence lists; more of them are counted.
const LISTED: usize = 5;

/// A linked working tree for a branch, and what was made for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worktree {
    pub path: PathBuf,
    /// Whether it was made now, rather than found.
    pub is_new: bool,
    repository: PathBuf,
    /// The branch, where that was made with it.
    new_branch: Option<String>,
}

/// What would be lost with a working tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorktreeLeft {
    /// Why it is not to be removed; empty where nothing would be lost.
    pub reasons: Vec<String>,
    /// What git ignores there, which goes with it.
    pub ignored: Vec<String>,
    /// The branch that it has checked out.
    pub branch: Option<String>,
    repository: PathBuf,
}

/// A working tree as git lists it.
#[derive(Clone, Debug, Default)]
struct Listed {
    path: PathBuf,
    branch: Option<String>,
    locked: Option<String>,
}

impl Git {
    /// The working tree of a branch of the repository around a directory: the one that has it checked out, or else a new one in
    /// `place`, beside the repository if that is `None`. A branch that is not there is made where the repository stands.
    ///
    /// # Errors
    /// Something else is in the way, or git refuses; nothing is left of what was begun.
    pub async fn worktree(&self, around: &Path, branch: &str, place: Option<&Path>) -> Result<Worktree, Objection> {
        let root = self.root(around).await?;
        let lock = self.sha1.with_file_name("worktree.lock");
        let locked = tokio::task::spawn_blocking(move || locked(&lock)).await;
        // Of several that make one at once, the later ones find what the first one has made.
        let _alone = locked.map_err(std::io::Error::other).flatten();
        let reference = format!("refs/heads/{branch}");
        let is_name = self.says(&root, &["check-ref-format", &reference]).await;
        if branch.starts_with('-') || !is_name {
            return Err(Objection::new(format!("`{branch}` is no name for a branch"), "choose another name"));
        }
        let trees = self.trees(&root).await?;
        let repository = trees.first().map_or(root.clone(), |main| main.path.clone());
        if let Some(found) = trees.iter().find(|tree| tree.branch.as_deref() == Some(branch)) {
            let shown = found.path.display();
            return match () {
                () if found.path == repository => Err(Objection::new(
                    format!("{branch} is checked out in the repository itself, {shown}"),
                    "start the agent there, or name another branch",
                )),
                () if !found.path.is_dir() => Err(Objection::new(
                    format!("the working tree of {branch}, {shown}, is gone"),
                    format!("`git -C {} worktree prune` forgets it", repository.display()),
                )),
                () => Ok(Worktree { path: found.path.clone(), is_new: false, repository, new_branch: None }),
            };
        }
        let path = place_of(&repository, branch, place)?;
        let is_local = self.says(&root, &["show-ref", "--verify", "--quiet", &reference]).await;
        let new_branch = (!is_local).then(|| branch.to_owned());
        let made = Worktree { path, is_new: true, repository, new_branch };
        let remote = if is_local { None } else { self.remote_of(&root, branch).await? };
        let target = made.path.to_string_lossy().into_owned();
        let words: Vec<&str> = match (is_local, &remote) {
            (true, _) => vec!["worktree", "add", "--quiet", "--", &target, branch],
            (false, Some(remote)) => vec!["worktree", "add", "--quiet", "--track", "-b", branch, "--", &target, remote],
            (false, None) => vec!["worktree", "add", "--quiet", "--no-track", "-b", branch, "--", &target, "HEAD"],
        };
        if let Err(trouble) = self.lines(&root, &words).await {
            self.forget_branch(&made).await;
            return Err(refusal("git made no working tree", &trouble));
        }
        Ok(made)
    }

    /// Takes back what was made and never used. What somebody has written there meanwhile stays.
    pub async fn unmake(&self, made: &Worktree) {
        let path = made.path.to_string_lossy();
        if made.is_new && self.says(&made.repository, &["worktree", "remove", "--", &path]).await {
            self.forget_branch(made).await;
        }
    }

    /// Removes a branch that was made and has nothing of its own.
    async fn forget_branch(&self, made: &Worktree) {
        if let Some(branch) = &made.new_branch {
            self.says(&made.repository, &["branch", "-d", "--", branch]).await;
        }
    }

    /// Copies files that git ignores from the repository into a new working tree, by their names below it. What is there already stays,
    /// and what is missing in the repository is left out.
    pub fn copy_into(made: &Worktree, names: &[String]) -> std::io::Result<()> {
        for name in names {
            let (from, to) = (made.repository.join(name), made.path.join(name));
            // A link could lead to anything of the user's.
            let is_within = from.canonicalize().is_ok_and(|path| path == from);
            let Some(mut file) = Some(&from).filter(|_| is_within).and_then(|from| open_regular(from)) else {
                continue;
            };
            if let Some(above) = to.parent() {
                std::fs::create_dir_all(above)?;
            }
            let permissions = file.metadata()?.permissions();
            match std::fs::File::create_new(&to) {
                Ok(mut copy) => {
                    copy.set_permissions(permissions)?;
                    std::io::copy(&mut file, &mut copy)?;
                }
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// What would be lost with a working tree. `copied` are the files that were copied into it: those that are unchanged are in the
    /// repository still.
    ///
    /// # Errors
    /// It is no working tree, or git does not answer.
    pub async fn left_in(&self, path: &Path, copied: &[String]) -> Result<WorktreeLeft, Objection> {
        let root = self.root(path).await?;
        let trees = self.trees(&root).await?;
        let repository = trees.first().map_or(root.clone(), |main| main.path.clone());
        let here = trees.iter().find(|tree| tree.path == root).cloned().unwrap_or_default();
        let mut left = WorktreeLeft { branch: here.branch.clone(), repository, ..WorktreeLeft::default() };
        if root == left.repository || here.path != root {
            left.reasons.push(format!("{} is the repository itself", root.display()));
        }
        if let Some(why) = here.locked {
            left.reasons.push(if why.is_empty() { "it is locked".to_owned() } else { format!("it is locked: {why}") });
        }
        let look = async |words: &[&str]| {
            self.lines(&root, words).await.map_err(|it| refusal("git does not say what is there", &it))
        };
        let directory = look(&["rev-parse", "--absolute-git-dir"]).await?;
        let directory = PathBuf::from(OsStr::from_bytes(directory.trim_ascii_end()));
        let under_way = UNDER_WAY.iter().find(|(name, _)| directory.join(name).symlink_metadata().is_ok());
        left.reasons.extend(under_way.map(|(_, what)| format!("{what} is under way")));
        let index = look(&["ls-files", "-v", "--stage", "-z"]).await?;
        left.read_index(&index, &root);
        let status =
            ["status", "--porcelain", "-z", "--untracked-files=normal", "--ignored", "--ignore-submodules=all"];
        left.read_status(&look(&status).await?);
        let is_copy = |name: &String| copied.contains(name) && is_same(&root.join(name), &left.repository.join(name));
        left.ignored.retain(|name| !is_copy(name));
        if self.says(&root, &["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).await {
            left.reasons.extend(self.lost_commits(&root, here.branch.as_deref()).await?);
        }
        Ok(left)
    }

    /// Removes a working tree in which nothing would be lost but what git ignores. Its branch stays.
    ///
    /// # Errors
    /// git refuses, as something has come there meanwhile.
    pub async fn remove_worktree(&self, path: &Path, left: &WorktreeLeft) -> Result<(), Objection> {
        let path = path.to_string_lossy();
        let removed = self.lines(&left.repository, &["worktree", "remove", "--", &path]).await;
        removed.map(drop).map_err(|trouble| refusal("git did not remove it", &trouble))
    }

    /// Commits that would be lost: those that no other branch has and that were not pushed, and those that only the log of this working
    /// tree knows.
    async fn lost_commits(&self, root: &Path, branch: Option<&str>) -> Result<Vec<String>, Objection> {
        let failed = |trouble: GitError| refusal("git does not say where its commits are", &trouble);
        let mut reasons = Vec::new();
        let own = branch.map(|branch| format!("--exclude={}", escaped(branch)));
        let mut words = vec!["rev-list", "--count", "HEAD", "--not", "--remotes"];
        words.extend(own.as_deref());
        words.push("--branches");
        let missing = text(&self.lines(root, &words).await.map_err(failed)?).trim().to_owned();
        if missing != "0" {
            let (commits, have) = if missing == "1" { ("commit", "is") } else { ("commits", "are") };
            reasons.push(format!("{missing} {commits} {have} on no other branch and not pushed"));
        }
        // Its log goes with it, that of its branch does not.
        let logged = |of: String| async move {
            self.lines(root, &["rev-list", "--walk-reflogs", &of, "--"]).await.map(|it| text(&it))
        };
        let here = logged("HEAD".to_owned()).await.unwrap_or_default();
        let kept = match branch {
            Some(branch) => logged(format!("refs/heads/{branch}")).await.unwrap_or_default(),
            None => String::new(),
        };
        let kept: BTreeSet<&str> = kept.lines().collect();
        let known: BTreeSet<&str> = here.lines().filter(|hash| !kept.contains(hash)).collect();
        if !known.is_empty() {
            let not: Vec<String> = kept.iter().map(|hash| format!("^{hash}")).collect();
            let mut words = vec!["rev-list", "--count"];
            words.extend(known);
            words.extend(not.iter().map(String::as_str));
            words.extend(["^HEAD", "--not", "--branches", "--remotes", "--tags"]);
            let count = text(&self.lines(root, &words).await.map_err(failed)?).trim().to_owned();
            if count != "0" {
                let commits = if count == "1" { "commit is" } else { "commits are" };
                reasons.push(format!("{count} earlier {commits} only in its log (`git reflog` there)"));
            }
        }
        Ok(reasons)
    }

    /// The branch of a remote that a new branch of that name would follow.
    async fn remote_of(&self, root: &Path, branch: &str) -> Result<Option<String>, Objection> {
        let words = ["for-each-ref", "--format=%(refname:lstrip=2)", "refs/remotes/"];
        let all =
            self.lines(root, &words).await.map_err(|trouble| refusal("git does not list its branches", &trouble))?;
        let all = text(&all);
        let is_it = |name: &&str| name.split_once('/').is_some_and(|(_, of)| of == branch);
        let found: Vec<&str> = all.lines().filter(is_it).collect();
        match found[..] {
            [] => Ok(None),
            [one] => Ok(Some(one.to_owned())),
            _ => Err(Objection::new(
                format!("several remotes have a branch {branch}: {}", listed(&found)),
                format!("`git branch {branch} {}` chooses one", found[0]),
            )),
        }
    }

    async fn trees(&self, root: &Path) -> Result<Vec<Listed>, Objection> {
        let printed = self.lines(root, &["worktree", "list", "--porcelain"]).await;
        let printed = printed.map_err(|trouble| refusal("git does not list the working trees", &trouble))?;
        let mut trees: Vec<Listed> = Vec::new();
        for line in printed.split(|byte| *byte == b'\n') {
            let (word, value) = line.split_at(line.iter().position(|byte| *byte == b' ').unwrap_or(line.len()));
            let value = value.get(1..).unwrap_or_default();
            match (word, trees.last_mut()) {
                (b"worktree", _) => trees.push(Listed { path: OsStr::from_bytes(value).into(), ..Listed::default() }),
                (b"branch", Some(tree)) => tree.branch = text(value).strip_prefix("refs/heads/").map(str::to_owned),
                (b"locked", Some(tree)) => tree.locked = Some(harmless(&text(value))),
                _ => {}
            }
        }
        Ok(trees)
    }

    async fn root(&self, around: &Path) -> Result<PathBuf, Objection> {
        root_around(around).await.map_err(|_| {
            Objection::new(format!("{} is in no git repository", around.display()), "name a directory of one with `-C`")
        })
    }

    /// Whether a command that prints nothing says yes.
    async fn says(&self, root: &Path, words: &[&str]) -> bool {
        self.lines(root, words).await.is_ok()
    }

    async fn lines(&self, root: &Path, words: &[&str]) -> Result<Vec<u8>, GitError> {
        let mut command = self.harmless(root).await?;
        command.args(words);
        let printed = self.run(&mut command, LIST, DEADLINE).await?;
        match printed.is_cut {
            true => Err(GitError::Refused("its list is too long to be read".to_owned())),
            false => Ok(printed.bytes),
        }
    }

    /// A command in the repository itself that runs nothing which is named there.
    async fn harmless(&self, root: &Path) -> Result<Command, GitError> {
        let mut asked = self.in_real(root);
        asked.args(["config", "--show-scope", "--name-only", "-z", "--get-regexp", r"^filter\..*\."]);
        let printed = self.output(&mut asked, NAMES, DEADLINE).await?.0.bytes;
        let mut words = printed.split(|byte| *byte == 0).map(OsStr::from_bytes);
        let mut command = self.in_real(root);
        command.args(HARMLESS);
        let mut count = 0_usize;
        while let (Some(scope), Some(name)) = (words.next(), words.next()) {
            if scope == "local" || scope == "worktree" {
                command.env(format!("GIT_CONFIG_KEY_{count}"), name).env(format!("GIT_CONFIG_VALUE_{count}"), "");
                count += 1;
            }
        }
        command.env("GIT_CONFIG_COUNT", count.to_string());
        Ok(command)
    }
}

impl WorktreeLeft {
    /// The repository that the working tree belongs to.
    pub fn repository(&self) -> &Path {
        &self.repository
    }

    /// The first names of what git ignores.
    pub fn ignored_in_short(&self) -> String {
        listed(&self.ignored)
    }

    /// Submodules, and files that the index hides from the status.
    fn read_index(&mut self, printed: &[u8], root: &Path) {
        let (mut modules, mut hidden) = (Vec::new(), Vec::new());
        for entry in printed.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
            let Some(tab) = entry.iter().position(|byte| *byte == b'\t') else { continue };
            let (facts, name) = (text(&entry[..tab]), &entry[tab + 1..]);
            let (tag, mode) = facts.split_once(' ').unwrap_or_default();
            let is_hidden = tag == "S" || tag.starts_with(|c: char| c.is_ascii_lowercase());
            if mode.starts_with("160000") {
                modules.push(harmless(&text(name)));
            } else if is_hidden && root.join(OsStr::from_bytes(name)).symlink_metadata().is_ok() {
                hidden.push(harmless(&text(name)));
            }
        }
        if !modules.is_empty() {
            self.reasons.push(format!("it has submodules: {}", listed(&modules)));
        }
        if !hidden.is_empty() {
            self.reasons.push(format!("changes to these are hidden from git: {}", listed(&hidden)));
        }
    }

    fn read_status(&mut self, printed: &[u8]) {
        let (mut changed, mut untracked) = (Vec::new(), Vec::new());
        let mut entries = printed.split(|byte| *byte == 0).filter(|entry| entry.len() > 3);
        while let Some(entry) = entries.next() {
            let name = harmless(&text(&entry[3..]));
            match &entry[..2] {
                b"!!" => self.ignored.push(name),
                b"??" => untracked.push(name),
                word => {
                    // What was renamed has its old name behind it.
                    if word.contains(&b'R') || word.contains(&b'C') {
                        let _ = entries.next();
                    }
                    changed.push(name);
                }
            }
        }
        for (what, names) in [("changed", changed), ("new", untracked)] {
            if !names.is_empty() {
                self.reasons.push(format!("{what} and not committed: {}", listed(&names)));
            }
        }
    }
}

/// Where the working tree of a branch is made: beside the repository, or in a directory for all of them.
fn place_of(repository: &Path, branch: &str, place: Option<&Path>) -> Result<PathBuf, Objection> {
    let name = repository.file_name().unwrap_or_default().to_string_lossy();
    let above = place.or(repository.parent()).unwrap_or(repository);
    let path = above.join(format!("{name}-{}", branch.replace('/', "-")));
    match path.symlink_metadata() {
        Ok(_) => Err(Objection::new(
            format!("{} is there already, and is no working tree of {branch}", path.display()),
            "move it away, or name another branch",
        )),
        Err(_) => Ok(path),
    }
}

/// Whether two regular files hold the same.
fn is_same(one: &Path, other: &Path) -> bool {
    let read = |path: &Path| {
        let mut bytes = Vec::new();
        open_regular(path)?.take(LIST as u64).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    };
    read(one).is_some_and(|bytes| bytes.len() < LIST && read(other).as_ref() == Some(&bytes))
}

/// The first names of a list, and how many there are more.
fn listed(names: &[impl AsRef<str>]) -> String {
    let first: Vec<&str> = names.iter().take(LISTED).map(AsRef::as_ref).collect();
    match names.len().saturating_sub(LISTED) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

/// A branch as a pattern that means it alone.
fn escaped(branch: &str) -> String {
    branch.chars().flat_map(|c| ['\\'].into_iter().filter(move |_| "*?[\\".contains(c)).chain([c])).collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn refusal(what: &str, trouble: &GitError) -> Objection {
    Objection { what: format!("{what}: {trouble}"), hint: None }
}
