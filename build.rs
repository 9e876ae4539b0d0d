//! Embeds the profiles of `config/profiles`: a new agent is a file in that folder, and no line of code.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
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
