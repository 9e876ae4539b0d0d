//! `install.sh`, run by a real shell against a release on loopback.

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/install.sh");
const PACKAGE: &str = "fleetwatch-0.1.0-x86_64-unknown-linux-gnu.tar.gz";

/// A file server, which notes what it was asked for.
struct Release {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Release {
    fn serve(files: HashMap<String, Vec<u8>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let head: Vec<String> =
                    BufReader::new(&stream).lines().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
                let Some(name) = head.first().and_then(|line| line.split(' ').nth(1)) else { continue };
                let name = name.trim_start_matches('/').to_owned();
                let (status, body) = match files.get(&name) {
                    Some(body) => ("200 OK", body.as_slice()),
                    None => ("404 Not Found", &[][..]),
                };
                noted.lock().unwrap().push(name);
                let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
                let _ = stream.write_all(&[head.as_bytes(), body].concat());
            }
        });
        Self { address, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// An archive with a program that says its version, as `scripts/package` packs it.
fn package(folder: &Path) -> Vec<u8> {
    let name = PACKAGE.trim_end_matches(".tar.gz");
    fs::create_dir_all(folder.join(name)).unwrap();
    program(&folder.join(name).join("fleetwatch"), "echo 'fleetwatch 0.1.0 (0123456789ab)'");
    let packed = Command::new("tar").args(["-czf", PACKAGE, name]).current_dir(folder).status().unwrap();
    assert!(packed.success());
    fs::read(folder.join(PACKAGE)).unwrap()
}

fn program(path: &Path, script: &str) {
    fs::write(path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn sums(file: &Path) -> String {
    let output = Command::new("sha256sum").arg(file).output().unwrap();
    let sum = String::from_utf8(output.stdout).unwrap();
    let others = "0".repeat(64);
    format!(
        "{others}  fleetwatch-0.1.0.crate\n{}  {PACKAGE}\n{others}  fleetwatch-0.1.0-aarch64-apple-darwin.tar.gz\n",
        sum.split(' ').next().unwrap()
    )
}

struct World {
    folder: tempfile::TempDir,
    package: Vec<u8>,
    sums: String,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "bin", "tmp"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let package = package(folder.path());
        let sums = sums(&folder.path().join(PACKAGE));
        let world = Self { folder, package, sums };
        world.runs_on("Linux", "x86_64");
        world
    }

    /// What `uname` says.
    fn runs_on(&self, system: &str, machine: &str) {
        let script = format!("case $1 in -s) echo {system} ;; -m) echo {machine} ;; esac");
        program(&self.folder.path().join("bin/uname"), &script);
    }

    fn release(&self) -> Release {
        let files = [("SHA256SUMS", self.sums.clone().into_bytes()), (PACKAGE, self.package.clone())];
        Release::serve(files.map(|(name, body)| (name.to_owned(), body)).into())
    }

    fn install(&self, release: &Release) -> Output {
        let path = |name: &str| self.folder.path().join(name);
        Command::new("sh")
            .arg(SCRIPT)
            .env_clear()
            .env("HOME", path("home"))
            .env("TMPDIR", path("tmp"))
            .env("PATH", format!("{}:{}", path("bin").display(), std::env::var("PATH").unwrap()))
            .env("FLEETWATCH_RELEASES", format!("http://{}", release.address))
            .output()
            .unwrap()
    }

    fn installed(&self) -> PathBuf {
        self.folder.path().join("home/.local/bin/fleetwatch")
    }

    /// Every file that the script could have left.
    fn left(&self) -> Vec<String> {
        let output =
            Command::new("find").args(["home", "tmp", "-type", "f"]).current_dir(self.folder.path()).output().unwrap();
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
    }
}

fn error(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn it_installs_the_package_of_this_system_and_nothing_else() {
    let world = World::new();
    let release = world.release();
    for _ in 0..2 {
        let output = world.install(&release);
        assert!(output.status.success(), "{output:?}");
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.contains("fleetwatch 0.1.0 (0123456789ab) is in "), "{said}");
        assert!(said.contains("/.local/bin:$PATH\""), "{said}");
    }
    assert_eq!(world.left(), ["home/.local/bin/fleetwatch"]);
    assert_eq!(release.asked(), ["SHA256SUMS", PACKAGE, "SHA256SUMS", PACKAGE]);
    assert_eq!(fs::metadata(world.installed()).unwrap().permissions().mode() & 0o777, 0o755);
}

#[test]
fn a_package_with_another_checksum_is_refused() {
    let mut world = World::new();
    assert!(world.install(&world.release()).status.success());
    let before = fs::read(world.installed()).unwrap();
    let at = world.package.len() - 9;
    world.package[at] ^= 1;
    let error = error(&world.install(&world.release()));
    assert!(error.contains("is not the file that SHA256SUMS names; nothing was installed"), "{error}");
    assert_eq!(fs::read(world.installed()).unwrap(), before);
    assert_eq!(world.left(), ["home/.local/bin/fleetwatch"]);
}

#[test]
fn an_unknown_system_is_refused_before_anything_is_fetched() {
    let world = World::new();
    let release = world.release();
    for (system, machine) in [("Linux", "riscv64"), ("FreeBSD", "amd64"), ("Darwin", "ppc")] {
        world.runs_on(system, machine);
        let error = error(&world.install(&release));
        assert!(error.contains(&format!("there is no package for {system} on {machine}")), "{error}");
    }
    assert!(release.asked().is_empty());
    assert!(world.left().is_empty());
}

#[test]
fn a_release_without_the_package_is_refused() {
    let mut world = World::new();
    world.runs_on("Linux", "aarch64");
    let missing = error(&world.install(&world.release()));
    assert!(missing.contains("the release has no package for aarch64-unknown-linux-gnu"), "{missing}");
    // A name that leads elsewhere is none.
    world.runs_on("Linux", "x86_64");
    world.sums = world.sums.replace("fleetwatch-0.1.0-x86", "fleetwatch-../../0.1.0-x86");
    let odd = error(&world.install(&world.release()));
    assert!(odd.contains("the release has no package for x86_64-unknown-linux-gnu"), "{odd}");
    assert!(world.left().is_empty());
}

#[test]
fn a_release_that_cannot_be_fetched_is_named() {
    let world = World::new();
    let release = Release::serve(HashMap::new());
    let error = error(&world.install(&release));
    assert!(error.contains(&format!("http://{}/SHA256SUMS cannot be fetched", release.address)), "{error}");
    assert!(world.left().is_empty());
}
