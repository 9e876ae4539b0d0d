//! Packs recordings into one archive and unpacks them again.
//!
//!     cargo run --release --example recordings -- pack DIRECTORY ARCHIVE [NAME…]
//!     cargo run --release --example recordings -- unpack ARCHIVE DIRECTORY
//!     cargo run --release --example recordings -- list ARCHIVE
//!
//! `pack` takes every `*.cast` below DIRECTORY, or only the named ones (`claude-2.1.197/idle`, without extension).
//! `list` prints a checksum (64-bit FNV-1a), the size in bytes and the name of each recording.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

use fleetwatch::hash::fnv;
use fleetwatch::recording::Archive;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["pack", directory, archive, ref names @ ..] => pack(Path::new(directory), Path::new(archive), names),
        ["unpack", archive, directory] => unpack(Path::new(archive), Path::new(directory)),
        ["list", archive] => list(Path::new(archive)),
        _ => Err("usage: pack DIRECTORY ARCHIVE [NAME…] | unpack ARCHIVE DIRECTORY | list ARCHIVE".into()),
    }
}

fn pack(directory: &Path, archive: &Path, names: &[&str]) -> Result<(), Box<dyn Error>> {
    let mut recordings = BTreeMap::new();
    if names.is_empty() {
        collect(directory, directory, &mut recordings)?;
    }
    for name in names {
        recordings.insert((*name).to_owned(), std::fs::read(directory.join(format!("{name}.cast")))?);
    }
    let packed = Archive::pack(&recordings)?;
    std::fs::write(archive, &packed)?;
    println!("{} recordings, {} bytes", recordings.len(), packed.len());
    Ok(())
}

fn collect(root: &Path, directory: &Path, recordings: &mut BTreeMap<String, Vec<u8>>) -> Result<(), Box<dyn Error>> {
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(root, &path, recordings)?;
        } else if path.extension().is_some_and(|e| e == "cast") {
            let name = path.strip_prefix(root)?.with_extension("");
            let name = name.to_str().ok_or("a name is not UTF-8")?.to_owned();
            recordings.insert(name, std::fs::read(&path)?);
        }
    }
    Ok(())
}

fn unpack(archive: &Path, directory: &Path) -> Result<(), Box<dyn Error>> {
    let archive = Archive::open(archive)?;
    for name in archive.names() {
        let path = directory.join(format!("{name}.cast"));
        std::fs::create_dir_all(path.parent().unwrap_or(directory))?;
        std::fs::write(path, archive.bytes(name).unwrap_or_default())?;
    }
    Ok(())
}

fn list(archive: &Path) -> Result<(), Box<dyn Error>> {
    let archive = Archive::open(archive)?;
    for name in archive.names() {
        let bytes = archive.bytes(name).unwrap_or_default();
        println!("{:016x} {:>6} {name}", fnv(bytes), bytes.len());
    }
    Ok(())
}
