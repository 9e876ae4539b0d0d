//! Embeds the profiles of `config/profiles`, so that a new agent is a file in that folder and no line of code; and says in
//! `--version` which commit a release was built from.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let commit = commit().map(|commit| format!(" ({commit})")).unwrap_or_default();
    println!("cargo::rustc-env=FLEETWATCH_VERSION={}{commit}", env!("CARGO_PKG_VERSION"));
    embed_profiles()
}

/// The commit, as whoever builds names it, as `cargo package` noted it, or as git knows it.
fn commit() -> Option<String> {
    println!("cargo::rerun-if-env-changed=FLEETWATCH_COMMIT");
    println!("cargo::rerun-if-changed=build.rs");
    // A commit would otherwise compile every developer's build again.
    if env::var("PROFILE").ok()? != "release" {
        return None;
    }
    env::var("FLEETWATCH_COMMIT").ok().or_else(packaged_commit).or_else(checked_out_commit).map(|commit| {
        let is_hash = |c: &char| c.is_ascii_alphanumeric();
        commit.chars().filter(is_hash).take(12).collect()
    })
}

fn packaged_commit() -> Option<String> {
    let note = fs::read_to_string(".cargo_vcs_info.json").ok()?;
    note.split_once("\"sha1\": \"")?.1.split('"').next().map(str::to_owned)
}

fn checked_out_commit() -> Option<String> {
    // Not that of a repository around an unpacked archive.
    if !Path::new(".git").exists() {
        return None;
    }
    let git = |words: &[&str]| {
        let output = Command::new("git").args(words).output().ok().filter(|output| output.status.success())?;
        Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
    };
    println!("cargo::rerun-if-changed={}", git(&["rev-parse", "--git-path", "logs/HEAD"])?);
    git(&["rev-parse", "HEAD"])
}

fn embed_profiles() -> io::Result<()> {
    let folder = Path::new("config/profiles");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".toml") {
            names.push(name);
        }
    }
    names.sort();
    let mut list = "&[\n".to_owned();
    for name in names {
        // Found from the package when the crate is compiled, so that a folder that was moved with its builds compiles.
        let path = format!("/{}/{name}", folder.display());
        let _ = writeln!(list, "({name:?}, include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {path:?}))),");
    }
    list += "]\n";
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    fs::write(Path::new(&out).join("profiles.rs"), list)
}
