//! The version of a running agent, from the path or the package of its executable (SPEC §3).
//!
//! Nothing is run to find it: agents are installed as packages with their version in a file, or in a directory that is
//! named after it. This works only for processes of this machine.

use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

use crate::profile::ProcessInfo;

/// Bytes of a package's metadata that are read.
const METADATA: u64 = 256 << 10;

/// Directories above a script in which its package may be.
const LEVELS: usize = 5;

/// Versions by process, so that a package's file is read once for each process and not at each poll.
#[derive(Debug, Default)]
pub struct VersionCache {
    known: HashMap<(u32, Vec<String>), Option<String>>,
}

impl VersionCache {
    /// The version of a process of this machine. Reads a few small files for a new process.
    pub fn version_of(&mut self, process: &ProcessInfo) -> Option<String> {
        let key = (process.pid, process.arguments.clone());
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        // Processes come and go; those that still run are read again.
        if self.known.len() >= 1024 {
            self.known.clear();
        }
        let version = candidates(process).iter().find_map(|path| version_of_file(path));
        self.known.insert(key, version.clone());
        version
    }
}

/// The version in a path itself: `…/versions/2.1.329/…`, `…/Cellar/codex/0.58.0/…`.
pub fn version_in_path(path: &Path) -> Option<String> {
    let parts: Vec<&str> = path.components().filter_map(|part| part.as_os_str().to_str()).collect();
    let after = |name: &str, distance: usize| {
        let at = parts.iter().position(|part| *part == name)?;
        parts.get(at + distance).and_then(|part| as_version(part))
    };
    after("versions", 1).or_else(|| after("Cellar", 2))
}

/// A text as a version of at least two numbers, without a package's platform behind it.
fn as_version(text: &str) -> Option<String> {
    let text = text.trim().trim_start_matches('v');
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+' | '_');
    let mut numbers = text.split(['.', '-', '+']);
    let numeric = |part: Option<&str>| part.is_some_and(|part| part.parse::<u64>().is_ok());
    if text.len() > 40 || !text.chars().all(plain) || !numeric(numbers.next()) || !numeric(numbers.next()) {
        return None;
    }
    let platforms = ["-linux", "-darwin", "-win32"];
    let end = platforms.iter().filter_map(|platform| text.find(platform)).min().unwrap_or(text.len());
    Some(text[..end].to_owned())
}

/// The files that a process may be running, most likely first, links resolved.
fn candidates(process: &ProcessInfo) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut add = |path: PathBuf| {
        if let Ok(path) = path.canonicalize()
            && !found.contains(&path)
        {
            found.push(path);
        }
    };
    let directory = PathBuf::from(format!("/proc/{}", process.pid));
    let cwd = std::fs::read_link(directory.join("cwd")).unwrap_or_default();
    // Words other than the program and an interpreter's script may be paths of something else.
    let executable = process.executable.as_deref().map(Path::new);
    let mut words = process.arguments.iter().filter(|word| !word.starts_with('-'));
    let program = words.next();
    let script = words.next().filter(|_| program.is_some_and(|program| is_interpreter(program)));
    script.into_iter().chain(program).filter(|word| word.contains('/')).for_each(|word| add(cwd.join(word)));
    // A program that has renamed itself hides its script, but the shell that started it left its path behind.
    let environment = environment(process.pid);
    let own_name = process.arguments.first().and_then(|word| word.split_whitespace().next()).unwrap_or_default();
    if let Some(started) = variable(&environment, "_").map(PathBuf::from)
        && started.file_name().is_some_and(|name| name == own_name)
    {
        add(started);
    }
    if !own_name.is_empty() && !own_name.contains('/') {
        let path = variable(&environment, "PATH").unwrap_or_default();
        let in_path = std::env::split_paths(&path).map(|place| place.join(own_name)).find(|path| path.is_file());
        in_path.into_iter().for_each(&mut add);
    }
    // An interpreter's own version is not the agent's.
    let own = executable.filter(|path| !path.to_str().is_some_and(is_interpreter));
    own.into_iter().for_each(|path| add(path.to_owned()));
    found
}

fn is_interpreter(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or_default();
    matches!(name, "node" | "nodejs" | "bun" | "deno" | "uv" | "pipx") || name.starts_with("python")
}

/// The variables that a process was started with, as `/proc` has them; empty if they may not be read.
pub(super) fn environment(process: u32) -> Vec<u8> {
    read_some(&PathBuf::from(format!("/proc/{process}/environ"))).unwrap_or_default()
}

/// The last value of a variable among them.
pub(super) fn variable(environment: &[u8], name: &str) -> Option<OsString> {
    let mut pairs = environment.split(|&byte| byte == 0).rev();
    let value = pairs.find_map(|pair| pair.strip_prefix(name.as_bytes())?.strip_prefix(b"="))?;
    Some(OsString::from_vec(value.to_vec()))
}

/// The version of the package that a file belongs to.
fn version_of_file(path: &Path) -> Option<String> {
    version_in_path(path).or_else(|| node_package(path)).or_else(|| python_package(path))
}

/// The version in the nearest `package.json`: that of the package that a path below `node_modules` names, else that of a
/// directory above the file which installs programs.
fn node_package(path: &Path) -> Option<String> {
    let read = |directory: &Path| {
        serde_json::from_slice::<serde_json::Value>(&read_some(&directory.join("package.json"))?).ok()
    };
    let json = match package_directory(path) {
        Some(directory) => read(&directory)?,
        None => path.ancestors().skip(1).take(LEVELS).find_map(read).filter(|json| json.get("bin").is_some())?,
    };
    as_version(json.get("version")?.as_str()?)
}

/// `…/node_modules/NAME` or `…/node_modules/@SCOPE/NAME` for a path below it; the innermost when they are nested.
fn package_directory(path: &Path) -> Option<PathBuf> {
    let parts: Vec<Component<'_>> = path.components().collect();
    let modules = parts.iter().rposition(|part| part.as_os_str() == "node_modules")?;
    let scoped = parts.get(modules + 1)?.as_os_str().to_str().is_some_and(|name| name.starts_with('@'));
    let end = modules + if scoped { 3 } else { 2 };
    (end < parts.len()).then(|| parts[..end].iter().collect())
}

/// The version in the name of the `*.dist-info` directory whose entry points name the script, for a script in the
/// `bin` of a Python environment.
fn python_package(path: &Path) -> Option<String> {
    let script = path.file_name()?.to_str()?;
    let environment = path.parent().filter(|bin| bin.ends_with("bin"))?.parent()?;
    let pythons = std::fs::read_dir(environment.join("lib")).ok()?.flatten();
    let sites = pythons.map(|python| python.path().join("site-packages")).filter(|site| site.is_dir()).take(4);
    sites.flat_map(|site| std::fs::read_dir(site).into_iter().flatten().flatten().take(2000)).find_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let (_, version) = name.strip_suffix(".dist-info")?.split_once('-')?;
        let points = String::from_utf8(read_some(&entry.path().join("entry_points.txt"))?).ok()?;
        let named = points.lines().any(|line| line.split_once('=').is_some_and(|(point, _)| point.trim() == script));
        named.then(|| as_version(version)).flatten()
    })
}

fn read_some(path: &Path) -> Option<Vec<u8>> {
    super::proc::read_some(path, METADATA)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn a_path_may_tell_the_version() {
        let version = |path: &str| version_in_path(Path::new(path));
        assert_eq!(version("/home/x/.local/share/claude/versions/2.1.329").as_deref(), Some("2.1.329"));
        assert_eq!(version("/opt/homebrew/Cellar/codex/0.58.0/bin/codex").as_deref(), Some("0.58.0"));
        assert_eq!(version("/home/versions/x/2.1.329"), None);
        assert_eq!(version("/usr/bin/node"), None);
    }

    #[test]
    fn versions_are_checked_and_rid_of_platforms() {
        assert_eq!(as_version("0.169.0-linux-x64").as_deref(), Some("0.169.0"));
        assert_eq!(as_version("0.58.0-alpha.3").as_deref(), Some("0.58.0-alpha.3"));
        for bad in ["", "latest", "2", "2.x", "1.0 \u{1b}[31m", "1.0/..", &"1.".repeat(40)] {
            assert_eq!(as_version(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_package_of_a_linked_script_is_found() {
        let root = tempfile::tempdir().unwrap();
        let package = root.path().join("lib/node_modules/@anthropic-ai/claude-code");
        file(&package.join("cli.js"), "");
        file(&package.join("package.json"), r#"{"name": "x", "version": "2.1.197"}"#);
        file(&package.join("vendor/ripgrep/package.json"), r#"{"version": "9.9.9"}"#);
        file(&package.join("vendor/ripgrep/rg"), "");
        std::fs::create_dir_all(root.path().join("bin")).unwrap();
        let link = root.path().join("bin/claude");
        std::os::unix::fs::symlink(package.join("cli.js"), &link).unwrap();

        let words = vec!["node".to_owned(), "--no-warnings".to_owned(), link.to_str().unwrap().to_owned()];
        let process = ProcessInfo { pid: u32::MAX, arguments: words, ..ProcessInfo::default() };
        let mut cache = VersionCache::default();
        assert_eq!(cache.version_of(&process).as_deref(), Some("2.1.197"));
        // A running process keeps its version when the package is updated under it; a new one has the new version.
        file(&package.join("package.json"), r#"{"version": "2.1.198"}"#);
        assert_eq!(cache.version_of(&process).as_deref(), Some("2.1.197"));
        let later = ProcessInfo { pid: u32::MAX - 1, ..process };
        assert_eq!(cache.version_of(&later).as_deref(), Some("2.1.198"));
        assert_eq!(version_of_file(&package.join("vendor/ripgrep/rg")).as_deref(), Some("2.1.198"));
    }

    #[test]
    fn the_version_of_an_interpreter_is_not_that_of_the_agent_in_it() {
        let root = tempfile::tempdir().unwrap();
        let (node, agent) = (root.path().join("node_modules/node"), root.path().join("node_modules/agent"));
        file(&node.join("package.json"), r#"{"version": "22.23.3"}"#);
        file(&agent.join("package.json"), r#"{"version": "2.1.0"}"#);
        let version = |program: PathBuf| {
            file(&program, "");
            let executable = program.to_str().map(str::to_owned);
            let renamed = vec!["agent-of-another-name".to_owned()];
            let process = ProcessInfo { pid: u32::MAX, executable, arguments: renamed, ..ProcessInfo::default() };
            VersionCache::default().version_of(&process)
        };
        assert_eq!(version(node.join("bin/node")), None);
        assert_eq!(version(agent.join("bin/agent")).as_deref(), Some("2.1.0"));
    }

    #[test]
    fn a_python_script_is_found_by_its_entry_point() {
        let root = tempfile::tempdir().unwrap();
        let site = root.path().join("lib/python3.12/site-packages");
        file(&root.path().join("bin/aider"), "");
        file(&site.join("aiderlike-1.0.0.dist-info/entry_points.txt"), "[console_scripts]\nother = x:main\n");
        file(
            &site.join("aider_chat-0.86.2.dist-info/entry_points.txt"),
            "[console_scripts]\naider = aider.main:main\n",
        );
        assert_eq!(version_of_file(&root.path().join("bin/aider")).as_deref(), Some("0.86.2"));
    }
}
