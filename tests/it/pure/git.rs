//! Git on real repositories, also on those that an agent has prepared.

mod worktrees;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use fleetwatch::git::Git;
use fleetwatch::repository::{DiffLineKind, GitError, GitFacts};
use fleetwatch::time::Timestamp;

/// A directory for repositories, and git as it is used on them.
struct Bench {
    home: tempfile::TempDir,
    git: Git,
}

impl Bench {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let git = Git::new(&std::env::var_os("PATH").unwrap(), &home.path().join("own")).unwrap();
        Self { home, git }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().canonicalize().unwrap().join(name)
    }

    /// Runs git as its user does.
    fn user(&self, repository: &str, words: &[&str]) -> Output {
        let home = self.home.path();
        let mut command = Command::new("git");
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", home);
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "n").env(format!("GIT_{who}_EMAIL"), "n@example.org");
        }
        command.args(["-C", self.path(repository).to_str().unwrap()]).args(words).output().unwrap()
    }

    fn done(&self, repository: &str, words: &[&str]) {
        let output = self.user(repository, words);
        assert!(output.status.success(), "{words:?}: {output:?}");
    }

    /// A repository with one commit.
    fn repository(&self, name: &str, options: &[&str]) -> PathBuf {
        let path = self.path(name);
        fs::create_dir(&path).unwrap();
        self.done(name, &[&["init", "-q", "-b", "main"], options].concat());
        fs::write(path.join("file"), "one\ntwo\nthree\n").unwrap();
        self.done(name, &["add", "file"]);
        self.done(name, &["commit", "-qm", "first"]);
        path
    }

    fn facts(&self, directory: &Path) -> Result<GitFacts, GitError> {
        block_on(self.git.facts_around(directory, Timestamp::default()))
    }

    fn words(&self, directory: &Path) -> String {
        self.facts(directory).unwrap().words()
    }

    fn difference(&self, directory: &Path) -> Result<Vec<String>, GitError> {
        let diff = block_on(self.git.difference(directory))?;
        let is_content = |kind| matches!(kind, DiffLineKind::File | DiffLineKind::Added | DiffLineKind::Removed);
        Ok(diff.lines.into_iter().filter(|line| is_content(line.kind)).map(|line| line.text).collect())
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// Everything below a directory, with its content and when it was changed.
fn everything(directory: &Path) -> BTreeMap<PathBuf, (i64, i64, Vec<u8>)> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let data = path.symlink_metadata().unwrap();
        let bytes = if data.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
        if data.is_dir() {
            found.extend(everything(&path));
        }
        found.insert(path, (data.mtime(), data.mtime_nsec(), bytes));
    }
    found
}

#[test]
fn the_facts_of_a_repository_in_each_of_its_forms() {
    let bench = Bench::new();
    for (name, options) in [("sha1", vec![]), ("sha256", vec!["--object-format=sha256"])] {
        let path = bench.repository(name, &options);
        assert_eq!((bench.words(&path).as_str(), bench.difference(&path).unwrap().len()), ("main", 0));
        fs::write(path.join("file"), "one\ntwo\n3\nfour\n").unwrap();
        fs::create_dir(path.join("new")).unwrap();
        fs::write(path.join("new/file"), "x").unwrap();
        fs::write(path.join(".git/info/exclude"), "ignored\n").unwrap();
        fs::write(path.join("ignored"), "x").unwrap();
        let facts = bench.facts(&path.join("new")).unwrap();
        assert_eq!((facts.words().as_str(), facts.changed, facts.untracked), ("main* +2 -1", Some(1), Some(1)));
        assert_eq!(facts.root, path.to_str().unwrap());
        fs::write(path.join("fresh"), "a\nb").unwrap();
        symlink("fresh", path.join("link")).unwrap();
        fs::write(path.join("long"), "long\n".repeat(9000)).unwrap();
        let difference = ["file", "-three", "+3", "+four", "fresh", "+a", "+b", "untracked"];
        assert_eq!(bench.difference(&path).unwrap()[..8], difference);
        let others = ["? link", "? long  (16 KiB or more)", "? new/"];
        assert_eq!(bench.difference(&path).unwrap()[8..], others);
        for name in ["fresh", "link", "long"] {
            fs::remove_file(path.join(name)).unwrap();
        }
        bench.done(name, &["checkout", "-q", "--detach"]);
        assert_eq!(bench.words(&path), format!("@{}* +2 -1", &facts.head.unwrap()[..7]));
        // A working tree beside it has its own branch, index and files.
        let beside = format!("{name}-beside");
        bench.done(name, &["worktree", "add", "-q", "-b", "side", &format!("../{beside}")]);
        fs::write(bench.path(&beside).join("file"), "one\n").unwrap();
        assert_eq!(bench.words(&bench.path(&beside)), "side* -2");
        // Both are of one repository.
        let both = [&path, &bench.path(&beside)].map(|tree| bench.facts(tree).unwrap());
        assert_eq!(both[1].root, bench.path(&beside).to_str().unwrap());
        assert!(both.iter().all(|facts| facts.repository == path.to_str().unwrap()), "{both:?}");
    }
    let unborn = bench.path("unborn");
    fs::create_dir(&unborn).unwrap();
    bench.done("unborn", &["init", "-q", "-b", "main"]);
    assert_eq!(bench.words(&unborn), "main");
    fs::write(unborn.join("a"), "1\n2\n").unwrap();
    bench.done("unborn", &["add", "a"]);
    assert_eq!((bench.words(&unborn).as_str(), bench.facts(&unborn).unwrap().head), ("main* +2", None));
}

#[test]
fn how_far_a_branch_is_from_its_upstream() {
    let bench = Bench::new();
    let origin = bench.repository("origin", &[]);
    let url = format!("file://{}", origin.display());
    bench.done(".", &["clone", "-q", "--depth=1", &url, "clone"]);
    let clone = bench.path("clone");
    assert_eq!((bench.facts(&clone).unwrap().ahead, bench.words(&clone).as_str()), (Some(0), "main"));
    bench.done("origin", &["commit", "-q", "--allow-empty", "-m", "theirs"]);
    for message in ["1", "2"] {
        bench.done("clone", &["commit", "-q", "--allow-empty", "-m", message]);
    }
    bench.done("clone", &["fetch", "-q"]);
    assert_eq!(bench.words(&clone), "main ↑2 ↓1");
    bench.done("clone", &["reset", "-q", "--hard", "origin/main"]);
    assert_eq!(bench.words(&clone), "main");
    // A submodule is a repository of its own, and no change of the one around it.
    bench.done("clone", &["-c", "protocol.file.allow=always", "submodule", "add", "-q", &url, "inner"]);
    fs::write(clone.join("inner/file"), "one\n").unwrap();
    assert_eq!(bench.words(&clone.join("inner")), "main* -2");
    assert_eq!(bench.words(&clone), "main* +3", "its names are new here");
}

#[test]
fn where_there_is_nothing_to_tell_it_is_said_why() {
    let bench = Bench::new();
    let plain = bench.path("plain");
    fs::create_dir(&plain).unwrap();
    assert_eq!(bench.difference(&plain), Err(GitError::NoRepository));
    fs::create_dir(plain.join(".git")).unwrap();
    assert_eq!(bench.difference(&plain), Err(GitError::NoRepository));
    bench.done(".", &["init", "-q", "--bare", "bare"]);
    assert_eq!(bench.difference(&bench.path("bare")), Err(GitError::NoRepository));
    let moved = bench.repository("moved", &[]);
    bench.done("moved", &["config", "core.worktree", "/"]);
    assert!(matches!(bench.difference(&moved), Err(GitError::Refused(_))));
    assert!(bench.facts(&moved).is_err());
    // Nobody can give a file away but root.
    let theirs = bench.repository("theirs", &[]);
    if std::os::unix::fs::chown(&theirs, Some(65_534), None).is_ok() {
        let why = bench.difference(&theirs).unwrap_err().to_string();
        assert!(why.starts_with("git refused: detected dubious ownership"), "{why}");
        assert!(bench.facts(&theirs).is_err());
    }
    let missing = Git::new(OsStr::new("bin:."), &bench.path("own")).unwrap_err();
    assert_eq!(missing.to_string(), "there is no git command in the PATH");
}

#[test]
fn what_takes_too_long_is_given_up_and_what_is_too_much_is_cut() {
    let bench = Bench::new();
    let path = bench.repository("slow", &[]);
    fs::write(path.join("file"), "one\n").unwrap();
    // Git waits for somebody to write into a pipe.
    rustix::fs::mkfifoat(rustix::fs::CWD, path.join(".gitignore"), rustix::fs::Mode::RWXU).unwrap();
    let facts = bench.facts(&path).unwrap();
    assert_eq!((facts.words().as_str(), facts.untracked), ("main* -2", None));
    fs::remove_file(path.join(".gitignore")).unwrap();
    fs::write(path.join("file"), "0123456789abcde\n".repeat(100_000)).unwrap();
    (0..4000).for_each(|nth| fs::write(path.join(format!("untracked-{nth:0100}")), "").unwrap());
    let diff = block_on(bench.git.difference(&path)).unwrap();
    let notes = diff.lines.iter().filter(|line| line.text.starts_with('…'));
    let notes: Vec<&str> = notes.map(|line| line.text.as_str()).collect();
    assert_eq!(notes, ["… more differs than the 1 MiB that are shown", "… more is untracked than these 590"]);
    assert!(bench.facts(&path).unwrap().untracked > Some(500));
}

/// Whatever an agent writes into its repository, none of its programs is run, nothing is fetched and nothing is written.
#[test]
fn no_trap_in_a_repository_is_sprung() {
    let bench = Bench::new();
    let path = bench.repository("trapped", &[]);
    let (trap, sprung) = (bench.path("trap"), bench.path("sprung"));
    fs::write(&trap, format!("#!/bin/sh\necho \"$0 $@\" >>{}\n", sprung.display())).unwrap();
    fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).unwrap();
    let hooks = path.join(".git/hooks");
    let names = ["post-index-change", "reference-transaction", "pre-auto-gc", "post-checkout", "fsmonitor-watchman"];
    for name in names {
        fs::copy(&trap, hooks.join(name)).unwrap();
    }
    fs::write(path.join(".gitattributes"), "* filter=trap diff=trap merge=trap\nother filter=process\n").unwrap();
    fs::write(path.join(".git/info/attributes"), "* filter=trap diff=trap\n").unwrap();
    fs::write(path.join("other"), "one\n").unwrap();
    bench.done("trapped", &["add", "."]);
    bench.done("trapped", &["commit", "-qm", "second"]);
    // A submodule brings a configuration of its own.
    let inner = bench.repository("trapped/inner", &[]);
    bench.done("trapped", &["-c", "advice.addEmbeddedRepo=false", "add", "inner"]);
    let program = trap.to_str().unwrap();
    let settings = |repository: &str| {
        for (key, value) in [
            ("core.fsmonitor", program),
            ("core.pager", program),
            ("core.editor", program),
            ("core.sshCommand", program),
            ("core.gitProxy", program),
            ("core.askPass", program),
            ("core.alternateRefsCommand", program),
            ("credential.helper", program),
            ("gpg.program", program),
            ("diff.external", program),
            ("diff.trap.command", program),
            ("diff.trap.textconv", program),
            ("merge.trap.driver", program),
            ("filter.trap.clean", program),
            ("filter.trap.smudge", program),
            ("filter.trap.required", "true"),
            ("filter.process.process", program),
            ("pager.diff-index", program),
            ("pager.rev-parse", program),
            ("alias.rev-parse", &format!("!{program}")),
            ("alias.diff-index", &format!("!{program}")),
            ("submodule.inner.update", &format!("!{program}")),
            ("submodule.recurse", "true"),
            ("diff.submodule", "diff"),
            ("status.submoduleSummary", "true"),
            ("core.repositoryFormatVersion", "1"),
            ("extensions.partialClone", "origin"),
            ("remote.origin.promisor", "true"),
            ("remote.origin.url", &format!("ext::{program}")),
            ("remote.origin.uploadPack", program),
            ("remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"),
            ("protocol.allow", "always"),
            ("branch.main.remote", "origin"),
            ("branch.main.merge", "refs/heads/main"),
        ] {
            bench.done(repository, &["config", key, value]);
        }
    };
    bench.done("trapped", &["update-ref", "refs/remotes/origin/main", "HEAD~1"]);
    fs::write(path.join("file"), "one\nzwei\nthree\n").unwrap();
    fs::write(path.join("other"), "two\n").unwrap();
    fs::write(inner.join("file"), "1\n").unwrap();
    settings("trapped");
    settings("trapped/inner");
    let lost = String::from_utf8(bench.user("trapped", &["rev-parse", "HEAD~1:file"]).stdout).unwrap();

    // The traps are armed: git as its user runs it falls into them.
    for words in [&["status"][..], &["diff", "HEAD"], &["ls-files", "--others", "--exclude-standard"]] {
        bench.user("trapped", words);
        assert!(sprung.exists(), "{words:?}");
        fs::remove_file(&sprung).unwrap();
    }
    for is_lost in [false, true] {
        if is_lost {
            // What a partial clone lacks is fetched by git when it is needed.
            fs::remove_file(path.join(".git/objects").join(&lost[..2]).join(lost[2..].trim())).unwrap();
            bench.user("trapped", &["cat-file", "-p", lost.trim()]);
            assert!(fs::remove_file(&sprung).is_ok(), "nothing was fetched");
        }
        let before = everything(&path);
        let facts = bench.facts(&path).unwrap();
        // What differs is not known then.
        let words = if is_lost { "main ↑1" } else { "main* ↑1 +2 -2" };
        assert_eq!((facts.words().as_str(), facts.ahead), (words, Some(1)));
        assert_eq!(bench.difference(&path).is_ok(), !is_lost);
        assert_eq!(bench.words(&inner).split(' ').next(), Some("main*"));
        let after = everything(&path);
        let changed: Vec<_> =
            before.keys().chain(after.keys()).filter(|it| before.get(*it) != after.get(*it)).collect();
        assert!(changed.is_empty(), "written: {changed:?}");
        assert!(!sprung.exists(), "{}", fs::read_to_string(&sprung).unwrap());
    }
}
