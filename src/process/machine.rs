//! This machine, and whether another process of fleetwatch still runs on it.

use std::fs;
use std::process::Command;
use std::sync::OnceLock;

/// The program's name as the system shows it.
const NAME: &str = "fleetwatch";

/// The machine's own name, in letters, digits and `. _ -` only.
pub fn machine() -> &'static str {
    static MACHINE: OnceLock<String> = OnceLock::new();
    MACHINE.get_or_init(|| {
        let linux = fs::read_to_string("/proc/sys/kernel/hostname").ok();
        let name = linux.or_else(|| said("uname", &["-n"])).unwrap_or_default();
        let plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let name: String = name.trim().chars().filter(plain).collect();
        if name.is_empty() { "here".to_owned() } else { name }
    })
}

/// Whether a process of fleetwatch has this id: an id that another program has by now is none.
pub fn is_fleetwatch(pid: u32) -> bool {
    if pid == std::process::id() {
        return true;
    }
    let linux = fs::read_to_string(format!("/proc/{pid}/comm"));
    let name = match linux {
        Ok(name) => Some(name),
        Err(_) if fs::exists("/proc/self/comm").unwrap_or(false) => None,
        Err(_) => said("ps", &["-o", "comm=", "-p", &pid.to_string()]),
    };
    name.is_some_and(|name| name.trim().rsplit('/').next() == Some(NAME))
}

fn said(program: &str, words: &[&str]) -> Option<String> {
    let output = Command::new(program).args(words).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}
