//! Agents that are started and closed from the dashboard.

use std::process::Command;

use super::World;
use crate::support::private_tmux::{pass, wait_or_tell, wait_until};

impl World {
    /// A dashboard that can start parrots, over a repository.
    fn with_repository() -> Self {
        let world = Self::with_parrot();
        let home = world.directory.path();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/support/parrot.sh");
        let config = format!("[new.starts]\nparrot = [\"parrot\", \"{script}\"]\n");
        std::fs::write(home.join("fleetwatch/config.toml"), config).unwrap();
        std::fs::create_dir_all(home.join("shop/docs")).unwrap();
        let git = |words: &[&str]| {
            let who = ["-c", "user.name=n", "-c", "user.email=n@example.org"];
            assert!(
                Command::new("git").arg("-C").arg(home.join("shop")).args(who).args(words).status().unwrap().success()
            );
        };
        git(&["init", "-q", "-b", "main"]);
        git(&["commit", "-q", "--allow-empty", "-m", "first"]);
        world.open_with(&format!("PATH={}:$PATH", home.display()));
        world.wait("1 ready");
        world
    }

    fn selected(&self) -> String {
        self.screen().lines().find(|line| line.starts_with('›')).unwrap_or_default().to_owned()
    }
}

#[test]
fn one_line_starts_an_agent_with_its_worktree_and_prompt_and_its_row_is_selected() {
    let world = World::with_repository();
    let shop = world.directory.path().join("shop").canonicalize().unwrap();
    world.press("o");
    world.wait("start an agent or a task");
    world.type_text("par");
    world.wait("› parrot");
    world.press("Tab");
    world.wait_without("› par ");
    world.type_text(&format!("-C {}", &shop.display().to_string()[..shop.display().to_string().len() - 2]));
    world.wait("shop/");
    world.press("Tab");
    // What is wrong is said in the box, and the line stays.
    world.type_text(" --worktree main x");
    world.press("Enter");
    world.wait("main is checked out in the repository itself");
    (0..6).for_each(|_| world.press("BSpace"));
    world.type_text("fix Fix the login");
    world.press("Enter");
    world.wait_without("start an agent or a task");
    wait_until("the new row", || world.selected().contains("fix"));
    world.watched.wait_for_text("fix:", "● heard Fix the login");
    let is_listed = || world.fleetwatch(&["list"]).1.lines().any(|row| row.contains("fix") && !row.contains("working"));
    wait_or_tell("its answer in the list", is_listed, || world.screen());
    // It is closed after a question, and its worktree after another.
    world.wait("heard Fix the login");
    wait_until("an agent that is ready", || !world.selected().contains("working"));
    world.press("K");
    world.wait("close fix?");
    world.wait("It is asked to end.");
    world.confirm();
    world.wait("remove the worktree");
    world.wait("Its branch fix stays.");
    pass(std::time::Duration::from_millis(600));
    world.confirm();
    wait_until("the worktree to go", || !shop.with_file_name("shop-fix").exists());
    world.wait("was removed");
    let sessions = world.watched.run(&["list-sessions", "-F", "#{session_name}"]);
    assert_eq!(sessions, "birds\n");
}

#[test]
fn a_task_is_started_by_its_command_line_and_killed_with_the_same_key() {
    let world = World::with_repository();
    world.press("o");
    world.wait("start an agent or a task");
    world.type_text("!sleep 4711");
    world.press("Enter");
    wait_until("the new row", || world.selected().contains("sleep"));
    world.press("K");
    world.wait("kill sleep?");
    world.confirm();
    world.wait("sleep was killed");
}
