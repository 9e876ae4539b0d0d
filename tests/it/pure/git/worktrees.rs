//! Worktrees: made and found, and removed only where nothing would be lost.

use std::fs;
use std::path::Path;

use fleetwatch::git::{Git, WorktreeLeft};

use super::{Bench, block_on};

impl Bench {
    fn worktree(&self, branch: &str) -> Result<fleetwatch::git::Worktree, String> {
        block_on(self.git.worktree(&self.path("shop"), branch, None)).map_err(|why| why.to_string())
    }

    fn left(&self, path: &Path) -> WorktreeLeft {
        block_on(self.git.left_in(path, &[".env".to_owned()])).unwrap()
    }

    /// Why a worktree is not removed; git itself is asked to remove it where nothing would be lost.
    fn closes(&self, name: &str) -> Vec<String> {
        let path = self.path(name);
        let left = self.left(&path);
        if left.reasons.is_empty() && left.ignored.is_empty() {
            block_on(self.git.remove_worktree(&path, &left)).unwrap();
            assert!(!path.exists());
        }
        left.reasons.into_iter().chain(left.ignored).collect()
    }
}

fn shop() -> Bench {
    let bench = Bench::new();
    bench.repository("shop", &[]);
    bench
}

#[test]
fn a_worktree_is_made_for_a_new_branch_and_found_again() {
    let bench = shop();
    let made = bench.worktree("fix/login").unwrap();
    assert!(made.is_new);
    assert_eq!(made.path, bench.path("shop-fix-login"));
    assert!(made.path.join("file").exists());
    let found = bench.worktree("fix/login").unwrap();
    assert_eq!((found.path, found.is_new), (made.path.clone(), false));
    // From within it as well.
    let found = block_on(bench.git.worktree(&made.path, "fix/login", None)).unwrap();
    assert_eq!(found.path, made.path);
    let elsewhere = bench.path("trees");
    let made = block_on(bench.git.worktree(&bench.path("shop"), "docs", Some(&elsewhere))).unwrap();
    assert_eq!(made.path, elsewhere.join("shop-docs"));
    // What was made and never used goes with its branch.
    block_on(bench.git.unmake(&made));
    assert!(!made.path.exists() && !bench.user("shop", &["rev-parse", "--verify", "docs"]).status.success());
}

#[test]
fn an_existing_branch_is_checked_out_and_one_of_a_remote_followed() {
    let bench = shop();
    bench.done("shop", &["branch", "old"]);
    assert!(bench.worktree("old").unwrap().is_new);
    bench.done("", &["clone", "-q", "shop", "clone"]);
    let made = block_on(bench.git.worktree(&bench.path("clone"), "old", None)).unwrap();
    let upstream = bench.user("clone-old", &["rev-parse", "--abbrev-ref", "old@{upstream}"]);
    assert_eq!(String::from_utf8_lossy(&upstream.stdout).trim(), "origin/old");
    // A branch that was there before stays.
    block_on(bench.git.unmake(&bench.worktree("old").unwrap()));
    assert!(bench.path("shop-old").exists() && made.is_new);
}

#[test]
fn what_is_in_the_way_is_refused_and_nothing_is_left() {
    let bench = shop();
    fs::create_dir(bench.path("shop-there")).unwrap();
    fs::write(bench.path("shop-there/mine"), "").unwrap();
    for (branch, why) in [
        ("main", "main is checked out in the repository itself"),
        ("there", "is there already"),
        ("-b", "is no name for a branch"),
        ("a..b", "is no name for a branch"),
        ("@{-1}", "is no name for a branch"),
        ("", "is no name for a branch"),
        ("main/x", "git made no working tree"),
    ] {
        let refused = bench.worktree(branch).unwrap_err();
        assert!(refused.contains(why), "{branch}: {refused}");
    }
    assert!(bench.path("shop-there/mine").exists());
    let listed = bench.user("shop", &["worktree", "list"]);
    assert_eq!(String::from_utf8_lossy(&listed.stdout).lines().count(), 1);
    let branches = bench.user("shop", &["branch", "--format=%(refname:short)"]);
    assert_eq!(String::from_utf8_lossy(&branches.stdout), "main\n");
    fs::create_dir(bench.path("none")).unwrap();
    let refused = block_on(bench.git.worktree(&bench.path("none"), "x", None)).unwrap_err();
    assert!(refused.to_string().contains("is in no git repository"));
    // One that somebody removed by hand is known to git still.
    let gone = bench.worktree("gone").unwrap();
    fs::remove_dir_all(&gone.path).unwrap();
    assert!(bench.worktree("gone").unwrap_err().contains("is gone"));
}

#[test]
fn nothing_that_the_repository_names_is_run() {
    let bench = shop();
    let ran = bench.path("ran");
    let program = format!("touch {}", ran.display());
    let hook = bench.path("shop/.git/hooks/post-checkout");
    fs::write(&hook, format!("#!/bin/sh\n{program}\n")).unwrap();
    fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    for key in ["filter.evil.smudge", "filter.evil.clean", "filter.evil.process", "core.fsmonitor", "filter.a=b.smudge"]
    {
        bench.done("shop", &["config", key, &program]);
    }
    fs::write(bench.path("shop/.gitattributes"), "* filter=evil\n").unwrap();
    bench
        .done("shop", &["-c", "filter.evil.clean=", "-c", "filter.evil.process=", "-c", "core.fsmonitor=", "add", "."]);
    let off =
        ["-c", "filter.evil.clean=", "-c", "filter.evil.process=", "-c", "core.fsmonitor=", "-c", "core.hooksPath=/"];
    bench.done("shop", &[&off[..], &["commit", "-qm", "attributes"]].concat());
    let _ = fs::remove_file(&ran);
    let made = bench.worktree("fix").unwrap();
    assert_eq!(fs::read_to_string(made.path.join("file")).unwrap(), "one\ntwo\nthree\n");
    fs::write(made.path.join("file"), "changed").unwrap();
    assert_eq!(bench.left(&made.path).reasons, ["changed and not committed: file"]);
    fs::write(made.path.join("file"), "one\ntwo\nthree\n").unwrap();
    assert!(bench.closes("shop-fix").is_empty());
    assert!(!ran.exists());
}

#[test]
fn a_clean_worktree_whose_commits_are_elsewhere_is_removed_and_its_branch_stays() {
    let bench = shop();
    bench.worktree("fix").unwrap();
    assert!(bench.closes("shop-fix").is_empty());
    assert!(bench.user("shop", &["rev-parse", "--verify", "fix"]).status.success());
    // Merged, or pushed.
    bench.worktree("fix").unwrap();
    bench.done("shop-fix", &["commit", "-q", "--allow-empty", "-m", "second"]);
    bench.done("shop-fix", &["commit", "-q", "--allow-empty", "-m", "third"]);
    assert_eq!(bench.closes("shop-fix"), ["2 commits are on no other branch and not pushed"]);
    bench.done("shop", &["merge", "-q", "fix"]);
    assert!(bench.closes("shop-fix").is_empty());
    bench.done("", &["clone", "-q", "--bare", "shop", "remote"]);
    bench.done("shop", &["remote", "add", "origin", bench.path("remote").to_str().unwrap()]);
    bench.worktree("fix").unwrap();
    bench.done("shop-fix", &["commit", "-q", "--allow-empty", "-m", "fourth"]);
    assert_eq!(bench.closes("shop-fix"), ["1 commit is on no other branch and not pushed"]);
    bench.done("shop-fix", &["push", "-q", "origin", "fix"]);
    assert!(bench.closes("shop-fix").is_empty());
}

#[test]
fn what_would_be_lost_is_said() {
    let bench = shop();
    fs::write(bench.path("shop/.gitignore"), ".env\ntarget\n").unwrap();
    bench.done("shop", &["add", "."]);
    bench.done("shop", &["commit", "-qm", "ignore"]);
    fs::write(bench.path("shop/.env"), "secret").unwrap();
    let made = bench.worktree("fix").unwrap();
    Git::copy_into(&made, &[".env".to_owned(), "missing".to_owned()]).unwrap();
    let at = |name: &str| made.path.join(name);
    assert_eq!(fs::read_to_string(at(".env")).unwrap(), "secret");
    let reasons = || bench.left(&made.path).reasons;
    assert!(reasons().is_empty() && bench.left(&made.path).ignored.is_empty());
    // Files: changed, new, staged, removed, ignored, hidden.
    fs::write(at("file"), "changed").unwrap();
    fs::write(at("new"), "").unwrap();
    assert_eq!(reasons(), ["changed and not committed: file", "new and not committed: new"]);
    bench.done("shop-fix", &["add", "new"]);
    bench.done("shop-fix", &["checkout", "-q", "file"]);
    assert_eq!(reasons(), ["changed and not committed: new"]);
    bench.done("shop-fix", &["rm", "-qf", "new"]);
    fs::write(at(".env"), "another secret").unwrap();
    fs::create_dir(at("target")).unwrap();
    fs::write(at("target/out"), "").unwrap();
    assert!(reasons().is_empty());
    assert_eq!(bench.left(&made.path).ignored, [".env", "target/"]);
    fs::remove_dir_all(at("target")).unwrap();
    fs::write(at(".env"), "secret").unwrap();
    for (flag, back) in [("--assume-unchanged", "--no-assume-unchanged"), ("--skip-worktree", "--no-skip-worktree")] {
        bench.done("shop-fix", &["update-index", flag, "file"]);
        fs::write(at("file"), "hidden").unwrap();
        assert_eq!(reasons(), ["changes to these are hidden from git: file"]);
        bench.done("shop-fix", &["update-index", back, "file"]);
        bench.done("shop-fix", &["checkout", "-q", "file"]);
    }
    // Locked.
    bench.done("shop", &["worktree", "lock", "--reason", "on a stick", "../shop-fix"]);
    assert_eq!(reasons(), ["it is locked: on a stick"]);
    bench.done("shop", &["worktree", "unlock", "../shop-fix"]);
    // Detached, with a commit of its own, and one that only its log knows.
    bench.done("shop-fix", &["checkout", "-q", "--detach"]);
    assert!(reasons().is_empty());
    bench.done("shop-fix", &["commit", "-q", "--allow-empty", "-m", "alone"]);
    assert_eq!(reasons(), ["1 commit is on no other branch and not pushed"]);
    bench.done("shop-fix", &["checkout", "-q", "fix"]);
    assert_eq!(reasons(), ["1 earlier commit is only in its log (`git reflog` there)"]);
    bench.done("shop", &["branch", "kept", "fix@{0}"]);
    bench.done("shop-fix", &["branch", "-f", "kept", "HEAD@{1}"]);
    assert!(reasons().is_empty());
    // What was amended is in the log of the branch, which stays.
    bench.done("shop-fix", &["commit", "-q", "--allow-empty", "-m", "first try"]);
    bench.done("shop-fix", &["commit", "-q", "--allow-empty", "--amend", "-m", "second try"]);
    bench.done("shop", &["branch", "-f", "kept", "fix"]);
    assert_eq!(reasons(), ["1 earlier commit is only in its log (`git reflog` there)"], "the detached one");
    bench.done("shop-fix", &["tag", "t", "HEAD@{3}"]);
    // Under way.
    bench.done("shop-fix", &["bisect", "start"]);
    assert!(reasons().contains(&"a bisect is under way".to_owned()), "{:?}", reasons());
    bench.done("shop-fix", &["bisect", "reset"]);
    // The repository itself is none.
    assert!(bench.left(&bench.path("shop")).reasons[0].ends_with("is the repository itself"));
}

#[test]
fn a_worktree_with_submodules_stays() {
    let bench = shop();
    bench.repository("lib", &[]);
    let lib = bench.path("lib").display().to_string();
    bench.done("shop", &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &lib, "lib"]);
    bench.done("shop", &["commit", "-qm", "lib"]);
    let made = bench.worktree("fix").unwrap();
    assert_eq!(bench.closes("shop-fix"), ["it has submodules: lib"]);
    assert!(made.path.exists());
}

#[test]
fn files_are_copied_only_from_within_the_repository_and_over_nothing() {
    let bench = shop();
    fs::write(bench.path("secret"), "secret").unwrap();
    std::os::unix::fs::symlink(bench.path("secret"), bench.path("shop/.env")).unwrap();
    fs::write(bench.path("shop/file"), "mine").unwrap();
    let made = bench.worktree("fix").unwrap();
    Git::copy_into(&made, &[".env".to_owned(), "file".to_owned()]).unwrap();
    assert!(!made.path.join(".env").exists());
    assert_eq!(fs::read_to_string(made.path.join("file")).unwrap(), "one\ntwo\nthree\n");
}
