//! `fleetwatch new` and `close` end to end: agents in windows and worktrees of their own, and what is left of those that could not be started.

use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

use crate::support::copy_shell;
use crate::support::private_tmux::{PrivateTmux, wait_until};

/// A server of the test's own, a home with a small agent in its `PATH`, and a repository.
struct World {
    tmux: PrivateTmux,
    home: tempfile::TempDir,
}

impl World {
    fn new(more: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let (bin, profiles) = (home.path().join("bin"), home.path().join("fleetwatch/profiles"));
        std::fs::create_dir_all(&bin).unwrap();
        std::fs::create_dir_all(&profiles).unwrap();
        copy_shell("/bin/bash", bin.join("parrot"));
        std::fs::write(profiles.join("parrot.toml"), include_str!("../support/parrot.toml")).unwrap();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/support/parrot.sh");
        let config = format!(
            r#"[new]
copy = [".env"]
{more}
[new.starts]
parrot = ["parrot", "{script}"]
guarded = ["parrot", "-c", "printf 'Allow the start?\n> 1. Yes\n  2. No\n'; read -rsn1; printf '\\033[3A\\033[J'; . {script}"]
broken = ["parrot", "-c", "echo no such model >&2; exit 3"]
absent = ["no-such-parrot"]
"#
        );
        std::fs::write(home.path().join("fleetwatch/config.toml"), config).unwrap();
        let world = Self { tmux: PrivateTmux::unstarted(), home };
        std::fs::create_dir(world.path("shop")).unwrap();
        world.git("shop", &["init", "-q", "-b", "main"]);
        std::fs::write(world.path("shop/.gitignore"), ".env\n").unwrap();
        std::fs::write(world.path("shop/.env"), "secret").unwrap();
        world.commit("shop", "first");
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().canonicalize().unwrap().join(name)
    }

    fn git(&self, directory: &str, words: &[&str]) -> String {
        let mut command = Command::new("git");
        command.env("HOME", self.home.path()).env("GIT_CONFIG_NOSYSTEM", "1").arg("-C").arg(self.path(directory));
        let who = ["-c", "user.name=n", "-c", "user.email=n@example.org", "-c", "protocol.file.allow=always"];
        let output = command.args(who).args(words).output().unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn commit(&self, directory: &str, message: &str) {
        self.git(directory, &["add", "."]);
        self.git(directory, &["commit", "-q", "--allow-empty", "-m", message]);
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fleetwatch"));
        command.env_remove("TMUX").env_remove("TMUX_PANE").stdin(Stdio::null());
        command.env("XDG_CONFIG_HOME", self.home.path()).env("XDG_STATE_HOME", self.path("state"));
        let path = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", self.path("bin").display()));
        command.args(["-L", self.tmux.name()]).args(words).current_dir(self.path("shop"));
        command
    }

    fn spawn(&self, words: &[&str]) -> Child {
        self.command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    fn output(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    /// Runs a command that must succeed; gives what it printed.
    fn run(&self, words: &[&str]) -> String {
        let output = self.output(words);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{words:?}: {errors}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Runs a command that must say no; gives what it said.
    fn refused(&self, words: &[&str]) -> String {
        let output = self.output(words);
        assert!(matches!(output.status.code(), Some(1 | 2)), "{words:?}: {output:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    fn sessions(&self) -> String {
        String::from_utf8_lossy(&self.tmux.output(&["list-sessions", "-F", "#{session_name}"]).stdout).into_owned()
    }

    /// The worktrees of the repository beside itself.
    fn worktrees(&self) -> usize {
        self.git("shop", &["worktree", "list", "--porcelain"]).matches("worktree ").count() - 1
    }
}

#[test]
fn one_command_makes_a_worktree_starts_an_agent_and_has_it_answer() {
    let world = World::new("");
    let said = world.run(&["new", "parrot", "--worktree", "fix", "Fix", "the login"]);
    assert!(said.contains("fix runs in fix, in the new worktree ") && said.ends_with("accepted\n"), "{said}");
    world.tmux.wait_for_text("fix:", "● heard Fix the login");
    assert_eq!(std::fs::read_to_string(world.path("shop-fix/.env")).unwrap(), "secret");
    let place = world.tmux.run(&["display-message", "-p", "-t", "fix:", "#{pane_current_path} #{window_name}"]);
    assert_eq!(place.trim(), format!("{} parrot", world.path("shop-fix").display()));
    // The last one again, in the same worktree; with a session of another name, as that one is taken.
    let again: Value = serde_json::from_str(&world.run(&["new", "--worktree", "fix", "--json"])).unwrap();
    assert_eq!((&again["name"], &again["outcome"]), (&Value::from("fix-2"), &Value::from("started")));
    assert_eq!(again["worktree"], world.path("shop-fix").display().to_string());
    assert_eq!(world.worktrees(), 1);
    // In a session that is there, and a task by its command line.
    let said = world.run(&["new", "parrot", "--session", "fix"]);
    assert!(said.starts_with("fix:1 runs in fix, in "), "{said}");
    let said = world.run(&["new", "-C", "..", "!sleep 4711"]);
    assert!(said.starts_with("sleep runs in tasks: "), "{said}");
    assert!(world.run(&["tasks"]).contains("sleep 4711"));
    assert!(world.run(&["history"]).contains("ran fix: parrot "));
}

#[test]
fn the_prompt_waits_behind_what_the_agent_asks_at_its_start() {
    let world = World::new("");
    let said = world.path("said");
    let errors = std::fs::File::create(&said).unwrap();
    let mut new = world.command(&["new", "guarded", "Fix it"]);
    let mut new = new.stdout(Stdio::piped()).stderr(errors).spawn().unwrap();
    wait_until("the server", || world.tmux.server_pid().is_some());
    let asks = || std::fs::read_to_string(&said).unwrap().contains("shop needs you before it takes the prompt");
    wait_until("the question", || asks() && world.run(&["list"]).contains("trust"));
    assert!(new.try_wait().unwrap().is_none(), "it waits");
    assert!(world.tmux.screen("shop:").contains("> 1. Yes"));
    world.tmux.run(&["send-keys", "-t", "shop:", "1"]);
    world.tmux.wait_for_text("shop:", "● heard Fix it");
    assert!(new.wait_with_output().unwrap().status.success());
    // Whoever gives up leaves the prompt in the queue.
    let said = world.refused(&["new", "guarded", "--timeout", "4", "Later"]);
    assert!(said.contains("shop-2 is not ready yet") && said.contains("stays in the queue"), "{said}");
    assert!(world.run(&["queue"]).contains("Later"));
}

#[test]
fn what_cannot_be_started_is_said_and_nothing_is_left() {
    let world = World::new("");
    let long = "x".repeat(70);
    for (words, why) in [
        (&["nobody"][..], "no agent is called `nobody`"),
        (&["absent"], "absent is not installed: there is no program `no-such-parrot`"),
        (&["parrot", "-C", "/no/such"], "/no/such: No such file"),
        (&["parrot", "-C", ".gitignore"], "is not a directory"),
        (&["parrot", "-C", "/", "--worktree", "fix"], "is in no git repository"),
        (&["parrot", "--worktree", "main"], "main is checked out in the repository itself"),
        (&["parrot", "--worktree", "a b"], "is no name for a branch"),
        (&["parrot", "--session", "a.b"], "cannot be the name of a session"),
        (&["parrot", "--session", &long], "cannot be the name of a session"),
        (&["broken", "--worktree", "fix", "Fix it"], "broken ended at once: no such model"),
        (&["parrot", "a\u{1b}b"], "control"),
        (&["!"], "a task needs a command"),
        (&["!make", "--worktree", "fix"], "a task gets no working tree"),
    ] {
        // Now and then tmux does not hear how a program ended.
        let said = world.refused(&[&["new"], words].concat()).replace(" with code 3:", ":");
        assert!(said.contains(why), "{words:?}: {said}");
        assert_eq!((world.sessions().as_str(), world.worktrees()), ("", 0), "{words:?}");
        assert_eq!(world.git("shop", &["branch", "--format=%(refname:short)"]), "main\n", "{words:?}");
    }
    std::fs::create_dir(world.path("shop-taken")).unwrap();
    assert!(world.refused(&["new", "parrot", "--worktree", "taken"]).contains("is there already"));
    world.run(&["run", "build", "--", "sleep", "4711"]);
    let said = world.refused(&["new", "parrot", "--session", "tasks", "--worktree", "fix"]);
    assert!(said.contains("tasks is a session of tasks") && world.worktrees() == 0, "{said}");
    assert!(world.run(&["queue"]).is_empty());
}

#[test]
fn without_a_history_no_prompt_can_wait() {
    let world = World::new("[history]\nenabled = false");
    assert!(world.refused(&["new", "parrot", "Fix it"]).contains("no prompt can wait without a history"));
    assert_eq!(world.sessions(), "");
    assert!(world.run(&["new", "parrot"]).starts_with("shop runs in shop"));
}

#[test]
fn twenty_agents_start_at_once_and_each_gets_its_prompt() {
    const AGENTS: usize = 20;
    let world = World::new("");
    let start = |number: usize| {
        let (branch, prompt) = (format!("b{}", number / 2), format!("prompt {number} of it"));
        match number % 2 {
            0 => world.spawn(&["new", "parrot", &prompt]),
            _ => world.spawn(&["new", "parrot", "--worktree", &branch, &prompt]),
        }
    };
    let started: Vec<Child> = (0..AGENTS).map(start).collect();
    for (number, child) in started.into_iter().enumerate() {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{number}: {output:?}");
    }
    let panes = world.tmux.run(&["list-panes", "-a", "-F", "#{pane_id}"]);
    assert_eq!((panes.lines().count(), world.worktrees()), (AGENTS, AGENTS / 2));
    let screens = || panes.lines().map(|pane| world.tmux.screen(pane)).collect::<Vec<_>>();
    wait_until("all answers", || screens().iter().all(|screen| screen.matches("● heard prompt").count() == 1));
    let all = screens().join("\n");
    assert!((0..AGENTS).all(|number| all.contains(&format!("● heard prompt {number} of it"))), "{all}");
    assert!(world.run(&["queue"]).is_empty());
}

#[test]
fn an_agent_is_asked_to_end_and_one_that_is_busy_is_left_alone() {
    let world = World::new("");
    world.run(&["new", "parrot"]);
    world.tmux.wait_for_text("shop:", "❯");
    assert_eq!(world.run(&["close", "shop"]), "shop ended\n");
    assert_eq!(world.sessions(), "");
    world.run(&["new", "parrot", "ask make build"]);
    world.tmux.wait_for_text("shop:", "Allow make build?");
    let said = world.refused(&["close", "shop"]);
    assert!(said.contains("shop was not closed") && world.sessions() == "shop\n", "{said}");
    assert_eq!(world.run(&["close", "shop", "--force"]), "shop was killed\n");
    assert_eq!(world.sessions(), "");
    // A shell that it was started from stays.
    let shell = format!(
        "{} {}; exec cat",
        world.path("bin/parrot").display(),
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/support/parrot.sh")
    );
    world.tmux.new_session("mine", &["bash", "--norc", "-c", &format!("set +m; {shell}")]);
    world.tmux.wait_for_text("mine:", "❯");
    assert_eq!(world.run(&["close", "mine"]), "mine ended\n");
    assert_eq!(world.sessions(), "mine\n");
}

#[test]
fn close_removes_a_worktree_only_where_nothing_would_be_lost() {
    let world = World::new("");
    world.git("shop", &["clone", "-q", ".", "../lib"]);
    let tree = |name: &str| world.path("shop-fix").join(name);
    let spoil = |how: &str| match how {
        "dirty" => std::fs::write(tree(".gitignore"), "").unwrap(),
        "untracked" => std::fs::write(tree("new"), "").unwrap(),
        "ignored" => std::fs::write(tree(".env"), "another").unwrap(),
        "unpushed" => world.commit("shop-fix", "second"),
        "detached" => {
            world.git("shop-fix", &["checkout", "-q", "--detach"]);
            world.commit("shop-fix", "third");
        }
        "locked" => drop(world.git("shop", &["worktree", "lock", "../shop-fix"])),
        _ => drop(world.git("shop-fix", &["submodule", "--quiet", "add", "../lib", "lib"])),
    };
    for (how, why) in [
        ("dirty", "changed and not committed: .gitignore"),
        ("untracked", "new and not committed: new"),
        ("ignored", "git ignores .env there"),
        ("unpushed", "1 commit is on no other branch and not pushed"),
        ("detached", "1 commit is on no other branch and not pushed"),
        ("locked", "it is locked"),
        ("submodule", "it has submodules: lib"),
    ] {
        world.run(&["new", "parrot", "--worktree", "fix"]);
        world.tmux.wait_for_text("fix:", "❯");
        spoil(how);
        let before = world.git("shop-fix", &["rev-parse", "HEAD"]);
        let said = world.refused(&["close", "fix", "--remove-worktree"]);
        assert!(said.contains(why), "{how}: {said}");
        assert_eq!((world.sessions().as_str(), world.git("shop-fix", &["rev-parse", "HEAD"])), ("", before), "{how}");
        if how == "locked" {
            world.git("shop", &["worktree", "unlock", "../shop-fix"]);
        }
        world.git("shop", &["worktree", "remove", "--force", "../shop-fix"]);
        world.git("shop", &["branch", "-D", "fix"]);
    }
    world.run(&["new", "parrot", "--worktree", "fix"]);
    world.tmux.wait_for_text("fix:", "❯");
    let said = world.run(&["close", "fix", "--remove-worktree"]);
    assert!(said.ends_with("was removed; its branch stays\n") && !world.path("shop-fix").exists(), "{said}");
    world.git("shop", &["rev-parse", "--verify", "fix"]);
}
