//! Reads git repositories in which agents work.
//!
//! Such a repository cannot be trusted: an agent that may only write files there must not be able to make a program run
//! outside its sandbox. Git runs programs that a repository's own configuration names (filters, a file system monitor, external
//! differences, hooks, transports of a partial clone). So only names are resolved in the repository itself, which runs none of
//! them; whatever reads commits, the index or files does so with an empty repository of ours in place of the real one's
//! configuration, on the real objects and the real index. Nothing is written there.
//!
//! The price is that settings of the repository do not hold: what a filter such as Git LFS keeps elsewhere counts as changed
//! once its file was touched. [`worktree`] alone changes a repository, when its operator starts or closes an agent.

mod watch;
mod worktree;

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;
use tokio::sync::{OnceCell, Semaphore};
use tokio::time::timeout;

pub use watch::{GitDirectory, GitWatch};
pub use worktree::{Worktree, WorktreeLeft};

use crate::private::{self, state_directory};
use crate::repository::{GitError, GitFacts, Printed, WorkingTreeDiff, read_counts, read_names};
use crate::screen::harmless;
use crate::time::Timestamp;

/// How long one command of git may take: in a large repository it reads every file's time.
const DEADLINE: Duration = Duration::from_secs(5);
/// Bytes of a difference that are read, and of names of untracked files.
const PATCH: usize = 1 << 20;
const NAMES: usize = 64 << 10;
/// The untracked files whose text is read for a difference, and from how many bytes on it is left out.
const NEW_FILES: usize = 32;
const NEW_FILE: usize = 16 << 10;
/// Bytes of anything else that git prints.
const LINES: usize = 16 << 10;
const COUNTS: usize = 4 << 20;
/// Repositories that are read at the same time.
const AT_ONCE: usize = 2;
static TURNS: Semaphore = Semaphore::const_new(AT_ONCE);

/// What stands for the commit before the first one: the empty tree, which git knows by itself.
const EMPTY_SHA1: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
const EMPTY_SHA256: &str = "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321";

/// The configuration of the repository of ours: what is large is not compared line by line, and no hook is found.
const CONFIG: &str = "[core]\n\tbare = false\n\tbigFileThreshold = 8m\n\thooksPath = /dev/null\n\tfsmonitor = false\n";
/// What it has more for long hashes.
const LONG_HASHES: &str = "[extensions]\n\tobjectFormat = sha256\n";

/// The environment of each command. What is missing is not fetched; the last one holds for versions that do not know the one
/// before.
const QUIET: [(&str, &str); 6] = [
    ("LC_ALL", "C"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_PAGER", "cat"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
];
/// What keeps all configuration away but ours.
const ALONE: [(&str, &str); 3] =
    [("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_ATTR_NOSYSTEM", "1")];

/// Resolves the names of a repository. It ends with an error where there is no commit or no upstream, and has reported
/// the rest by then.
const RESOLVE: [&str; 7] = [
    "rev-parse",
    "--show-toplevel",
    "--absolute-git-dir",
    "--git-common-dir",
    "--show-object-format",
    "HEAD",
    "@{upstream}",
];
const BRANCH: [&str; 3] = ["symbolic-ref", "--quiet", "HEAD"];
/// What differs from a commit, without files that were only touched.
const DIFFERING: [&str; 6] =
    ["diff-index", "--no-ext-diff", "--no-textconv", "--no-renames", "--no-color", "--ignore-submodules=all"];
const UNTRACKED: [&str; 6] =
    ["ls-files", "--others", "--directory", "--no-empty-directory", "--exclude-standard", "-z"];
const COUNTED: [&str; 2] = ["--numstat", "-z"];
const PATCHED: [&str; 1] = ["--patch"];

/// The `git` command, and the empty repositories with which it reads others.
#[derive(Clone, Debug)]
pub struct Git {
    program: PathBuf,
    /// Directories in which git finds its own programs: none that depends on where it is started.
    path: OsString,
    /// The empty repository for each length of hashes.
    sha1: PathBuf,
    sha256: PathBuf,
    /// The user's own patterns of files to ignore.
    ignored: Option<PathBuf>,
}

/// A repository, as far as its names are known.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Repository {
    root: PathBuf,
    directory: PathBuf,
    /// What all of its linked working trees have in common.
    common: PathBuf,
    is_sha256: bool,
    head: Option<String>,
    upstream: Option<String>,
}

/// How far two commits are apart: ahead and behind.
type Apart = Option<(u64, u64)>;

/// The commits by which that was found out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Distance {
    of: (Option<String>, Option<String>),
    apart: Apart,
}

impl Repository {
    /// Reads what [`RESOLVE`] printed in a top-level directory, and what it complained of.
    fn read(root: &Path, printed: &[u8], refusal: Option<String>) -> Result<Self, GitError> {
        let mut lines = printed.split(|byte| *byte == b'\n').map(|line| PathBuf::from(OsStr::from_bytes(line)));
        let [top, directory, common, format, head, upstream] =
            std::array::from_fn(|_| lines.next().unwrap_or_default());
        let format = format.to_str().filter(|format| matches!(*format, "sha1" | "sha256"));
        let Some(format) = format else { return Err(refused(refusal)) };
        // A configuration may name any directory as the working tree.
        if top != root {
            return Err(GitError::Refused(format!("{} is not its working tree", harmless(&root.to_string_lossy()))));
        }
        let hash = |line: PathBuf| {
            let is_hash = |hash: &str| hash.len() >= 40 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
            line.to_str().filter(|hash| is_hash(hash)).map(str::to_owned)
        };
        Ok(Self {
            root: root.to_owned(),
            directory,
            common: root.join(common),
            is_sha256: format == "sha256",
            head: hash(head),
            upstream: hash(upstream),
        })
    }

    /// The directory of its first working tree.
    fn main(&self) -> &Path {
        let is_inside = self.common.file_name().is_some_and(|name| name == ".git");
        self.common.parent().filter(|_| is_inside).unwrap_or(&self.common)
    }

    /// What is known of it at a time, by what was printed.
    fn facts(
        &self,
        branch: Option<Printed>,
        apart: Apart,
        counted: Option<Printed>,
        untracked: Option<Printed>,
        at: Timestamp,
    ) -> GitFacts {
        let branch = branch.map(|printed| harmless(String::from_utf8_lossy(&printed.bytes).trim()));
        let (ahead, behind) = apart.unzip();
        let mut facts = GitFacts {
            root: harmless(&self.root.to_string_lossy()),
            repository: harmless(&self.main().to_string_lossy()),
            branch: branch.map(|name| name.strip_prefix("refs/heads/").unwrap_or(&name).to_owned()),
            head: self.head.clone(),
            ahead,
            behind,
            untracked: untracked.map(|printed| read_names(&printed.bytes).len() as u64),
            at,
            ..GitFacts::default()
        };
        if let Some(counted) = counted.filter(|printed| !printed.is_cut) {
            facts.count_changes(&counted.bytes);
        }
        facts
    }
}

impl Git {
    /// Git as this process uses it, looked for until it is found.
    ///
    /// # Errors
    /// There is none, or no private place for what it needs.
    pub async fn of_process() -> Result<&'static Self, GitError> {
        static GIT: OnceCell<Git> = OnceCell::const_new();
        GIT.get_or_try_init(Self::find).await
    }

    async fn find() -> Result<Self, GitError> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let own = state_directory().ok_or_else(|| GitError::Unusable("there is no home directory".to_owned()))?;
        // Another process may be making them, and be stopped meanwhile.
        let found = tokio::task::spawn_blocking(move || Self::new(&path, &own.join("git"))).await;
        let mut git = found.map_err(|error| GitError::Unusable(error.to_string()))??;
        git.ignored = git.ignored_by_user().await;
        Ok(git)
    }

    /// Git of a search path, with its repositories in a directory of ours.
    pub fn new(path: &OsStr, own: &Path) -> Result<Self, GitError> {
        let directories: Vec<PathBuf> = std::env::split_paths(path).filter(|it| it.is_absolute()).collect();
        let program = directories.iter().map(|directory| directory.join("git")).find(|program| program.is_file());
        let program = program.ok_or_else(|| GitError::Unusable("there is no git command in the PATH".to_owned()))?;
        let path = std::env::join_paths(directories).unwrap_or_default();
        let (sha1, sha256) = (own.join("sha1"), own.join("sha256"));
        // Of several processes that start at once, one makes them.
        let alone = private::make_directory(own).and_then(|()| private::locked(&own.join("lock")));
        alone
            .and_then(|_alone| {
                make_repository(&sha1, &format!("{CONFIG}\trepositoryFormatVersion = 0\n"))?;
                make_repository(&sha256, &format!("{CONFIG}\trepositoryFormatVersion = 1\n{LONG_HASHES}"))
            })
            .map_err(|error| GitError::Unusable(format!("{} cannot be made: {error}", own.display())))?;
        Ok(Self { program, path, sha1, sha256, ignored: None })
    }

    /// What is known of the repository around a directory at a time.
    ///
    /// # Errors
    /// There is none, or git does not answer.
    pub async fn facts_around(&self, directory: &Path, at: Timestamp) -> Result<GitFacts, GitError> {
        self.facts(&root_around(directory).await?, &mut Distance::default(), at).await
    }

    /// Reads the facts of a repository. Of its distance to the upstream only what is new is counted.
    async fn facts(&self, root: &Path, distance: &mut Distance, at: Timestamp) -> Result<GitFacts, GitError> {
        let _turn = TURNS.acquire().await;
        let it = self.resolve(root, DEADLINE).await?;
        let branch = self.run(self.in_real(root).args(BRANCH), LINES, DEADLINE).await.ok();
        let of = (it.head.clone(), it.upstream.clone());
        if distance.of != of {
            *distance = Distance { apart: self.apart(&it).await, of };
        }
        let counted = self.differing(&it, &COUNTED, COUNTS, DEADLINE).await.ok();
        let untracked = self.untracked(&it, DEADLINE).await.ok();
        Ok(it.facts(branch, distance.apart, counted, untracked, at))
    }

    /// How the working tree around a directory differs from the commit that is checked out.
    ///
    /// # Errors
    /// There is none, or git does not answer.
    pub async fn difference(&self, directory: &Path) -> Result<WorkingTreeDiff, GitError> {
        let it = self.resolve(&root_around(directory).await?, DEADLINE).await?;
        let patch = self.differing(&it, &PATCHED, PATCH, DEADLINE).await?;
        let untracked = self.untracked(&it, DEADLINE).await?;
        let contents = timeout(DEADLINE, new_files(it.root, untracked.bytes.clone())).await;
        Ok(WorkingTreeDiff::read(&patch, &untracked, &contents.unwrap_or_default()))
    }

    /// Resolves the names of a repository, in that repository.
    async fn resolve(&self, root: &Path, deadline: Duration) -> Result<Repository, GitError> {
        let (printed, refusal) = self.output(self.in_real(root).args(RESOLVE), LINES, deadline).await?;
        Repository::read(root, &printed.bytes, refusal)
    }

    async fn apart(&self, it: &Repository) -> Apart {
        let (head, upstream) = (it.head.as_ref()?, it.upstream.as_ref()?);
        let mut command = self.beside(it);
        command.args(["rev-list", "--left-right", "--count", &format!("{head}...{upstream}"), "--"]);
        read_counts(&self.run(&mut command, LINES, DEADLINE).await.ok()?.bytes)
    }

    async fn differing(
        &self,
        it: &Repository,
        form: &[&str],
        limit: usize,
        deadline: Duration,
    ) -> Result<Printed, GitError> {
        let empty = if it.is_sha256 { EMPTY_SHA256 } else { EMPTY_SHA1 };
        let mut command = self.beside(it);
        command.args(DIFFERING).args(form).args([it.head.as_deref().unwrap_or(empty), "--"]);
        self.run(&mut command, limit, deadline).await
    }

    async fn untracked(&self, it: &Repository, deadline: Duration) -> Result<Printed, GitError> {
        let mut command = self.beside(it);
        command.args(UNTRACKED);
        let own = it.common.join("info/exclude");
        for patterns in [Some(own), self.ignored.clone()].into_iter().flatten().filter(|path| path.is_file()) {
            let mut option = OsString::from("--exclude-from=");
            option.push(patterns);
            command.arg(option);
        }
        self.run(&mut command, NAMES, deadline).await
    }

    /// The file with the patterns that the user wants ignored everywhere, by the user's own configuration.
    async fn ignored_by_user(&self) -> Option<PathBuf> {
        let mut command = self.anywhere(&self.sha1);
        own_home(&mut command).args(["config", "--global", "--type=path", "core.excludesFile"]);
        let printed = self.run(&mut command, LINES, DEADLINE).await.ok();
        let printed = printed.map(|printed| PathBuf::from(OsString::from_vec(printed.bytes.trim_ascii().to_vec())));
        let usual = || Some(directories::BaseDirs::new()?.config_dir().join("git/ignore"));
        printed.filter(|path| path.is_absolute()).or_else(usual)
    }

    /// A command that reads no repository unless it is given one, started in a directory of fleetwatch's.
    fn anywhere(&self, own: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.env_clear().env("PATH", &self.path).current_dir(own);
        command.envs(QUIET).arg("--no-pager");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        command
    }

    /// A command in the repository itself, which must touch neither commits nor files. Whether the directory is to be trusted at
    /// all is said by the user's own configuration.
    fn in_real(&self, root: &Path) -> Command {
        let mut command = self.anywhere(&self.sha1);
        own_home(&mut command).arg("-C").arg(root);
        command
    }

    /// A command on the commits, the index and the files of a repository, without any configuration but ours.
    fn beside(&self, it: &Repository) -> Command {
        let own = if it.is_sha256 { &self.sha256 } else { &self.sha1 };
        let mut command = self.anywhere(own);
        command.envs(ALONE).env("HOME", own).env("XDG_CONFIG_HOME", own);
        command.env("GIT_DIR", own).env("GIT_WORK_TREE", &it.root);
        command.env("GIT_INDEX_FILE", it.directory.join("index"));
        command.env("GIT_OBJECT_DIRECTORY", it.common.join("objects"));
        command.env("GIT_SHALLOW_FILE", it.common.join("shallow"));
        command.arg("-C").arg(&it.root);
        command
    }

    async fn run(&self, command: &mut Command, limit: usize, deadline: Duration) -> Result<Printed, GitError> {
        match self.output(command, limit, deadline).await? {
            (printed, None) => Ok(printed),
            (_, refusal) => Err(refused(refusal)),
        }
    }

    /// Runs a command. Returns its output up to a limit, or its complaint when it fails.
    async fn output(
        &self,
        command: &mut Command,
        limit: usize,
        deadline: Duration,
    ) -> Result<(Printed, Option<String>), GitError> {
        let mut child = command
            .spawn()
            .map_err(|error| GitError::Unusable(format!("{} cannot be started: {error}", self.program.display())))?;
        let (out, errors) = (child.stdout.take(), child.stderr.take());
        let ended = timeout(deadline, async {
            let (bytes, complaint) = tokio::join!(up_to(out, limit), up_to(errors, LINES));
            let is_cut = bytes.len() >= limit;
            // What is not read is not waited for: dropping the child kills it.
            let has_failed = !is_cut && !child.wait().await.is_ok_and(|status| status.success());
            (Printed { bytes, is_cut }, has_failed.then(|| String::from_utf8_lossy(&complaint).into_owned()))
        });
        ended.await.map_err(|_| GitError::Late(deadline.as_secs()))
    }
}

/// What git may find of the user's own configuration.
fn own_home(command: &mut Command) -> &mut Command {
    let own = ["HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL"];
    command.envs(own.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?))))
}

/// Reads up to a limit, and nothing beyond it.
async fn up_to(pipe: Option<impl AsyncRead + Unpin>, limit: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        let _ = pipe.take(limit as u64).read_to_end(&mut bytes).await;
    }
    bytes
}

/// The beginnings of the first untracked files, by their names below the top-level directory.
async fn new_files(root: PathBuf, names: Vec<u8>) -> Vec<Option<Printed>> {
    let begins = move |name: &[u8]| {
        let mut bytes = Vec::new();
        let file = private::open_regular(&root.join(OsStr::from_bytes(name)))?;
        file.take(NEW_FILE as u64).read_to_end(&mut bytes).ok()?;
        Some(Printed { is_cut: bytes.len() >= NEW_FILE, bytes })
    };
    let read = move || names.split(|byte| *byte == 0).take(NEW_FILES).map(begins).collect();
    tokio::task::spawn_blocking(read).await.unwrap_or_default()
}

/// What git said, without what stands before it in each message.
fn refused(complaint: Option<String>) -> GitError {
    let complaint = complaint.unwrap_or_default();
    let said = complaint.lines().find(|line| !line.trim().is_empty()).unwrap_or("its answer makes no sense");
    let said = said.trim().trim_start_matches("fatal: ").trim_start_matches("error: ");
    match said.starts_with("not a git repository") {
        true => GitError::NoRepository,
        false => GitError::Refused(harmless(said)),
    }
}

/// The top-level directory of the working tree around a directory, links resolved. Waits for the disk.
pub fn root_of(directory: &Path) -> Option<PathBuf> {
    let directory = directory.canonicalize().ok()?;
    directory.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok()).map(Path::to_owned)
}

async fn root_around(directory: &Path) -> Result<PathBuf, GitError> {
    let directory = directory.to_owned();
    let root = tokio::task::spawn_blocking(move || root_of(&directory)).await;
    root.ok().flatten().ok_or(GitError::NoRepository)
}

/// Makes a repository without anything in it, or puts one right.
fn make_repository(path: &Path, config: &str) -> std::io::Result<()> {
    for directory in ["objects", "refs"] {
        private::make_directory(&path.join(directory))?;
    }
    private::check_directory(path)?;
    for (name, content) in [("HEAD", "ref: refs/heads/none\n"), ("config", config)] {
        let file = path.join(name);
        if std::fs::read(&file).ok().as_deref() != Some(content.as_bytes()) {
            private::replace(&file, content.as_bytes())?;
        }
    }
    Ok(())
}
