//! How the players of a demo learn that it has ended, even if it was killed.
//!
//! The demo listens on a socket in its directory and never says anything. The kernel closes a connection when the
//! process behind it is gone, and a player that reads the end of it cleans up.

use std::io::Read;
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The name that begins every demo's directory and server.
pub(super) const PREFIX: &str = "fleetwatch-demo-";

/// The socket of a demo.
pub(super) fn socket(directory: &Path) -> PathBuf {
    directory.join("alive")
}

/// Lets players connect for as long as this process lives.
pub(super) fn listen(directory: &Path) -> std::io::Result<()> {
    let listener = UnixListener::bind(socket(directory))?;
    std::thread::spawn(move || {
        // The connections are held until the process ends, which is all that they are for.
        let mut players: Vec<UnixStream> = Vec::new();
        for stream in listener.incoming().flatten() {
            // A player connects anew whenever it changes its name; what it left is forgotten.
            players.retain(|player| !is_closed(player));
            players.push(stream);
        }
    });
    Ok(())
}

/// Whether a player has gone. It never writes, so that there is nothing to read from one that is there.
fn is_closed(player: &UnixStream) -> bool {
    player.set_nonblocking(true).is_ok() && matches!((&mut &*player).read(&mut [0]), Ok(0))
}

/// Removes the demo's server, and with it this process, and its directory as soon as the demo has ended.
pub(super) fn end_with(directory: PathBuf, server: String) {
    let stream = UnixStream::connect(socket(&directory));
    std::thread::spawn(move || {
        if let Ok(mut stream) = stream {
            // Nothing is ever said; this waits for the end.
            while stream.read(&mut [0]).is_err_and(|error| error.kind() == std::io::ErrorKind::Interrupted) {}
        }
        // The server takes this process with it. A process in a group of its own outlives both.
        if let (Some(directory), Ok(program)) = (claim(&directory), std::env::current_exe()) {
            let mut sweeper = Command::new(program);
            sweeper.args(["__sweep", &server]).arg(directory).args(socket_of_server()).process_group(0);
            let _ = sweeper.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        }
        // The end of the server ends this process. Ending it from here while it plays could fail half-way, so that is
        // only for a server that does not end.
        std::thread::sleep(std::time::Duration::from_secs(10));
        std::process::exit(0);
    });
}

/// Removes a demo, unless somebody else does it already.
pub(super) fn remove(directory: &Path, server: &str) {
    if let Some(directory) = claim(directory) {
        sweep(&directory, server, None);
    }
}

/// Takes a demo's directory for removal. It works only once: the directory has another name from then on.
fn claim(directory: &Path) -> Option<PathBuf> {
    let claimed = directory.with_extension("ended");
    (is_demo(directory) && std::fs::rename(directory, &claimed).is_ok()).then_some(claimed)
}

/// The socket of the tmux server that this process runs in, as tmux tells every process in its panes.
fn socket_of_server() -> Option<PathBuf> {
    let told = std::env::var("TMUX").ok()?;
    told.split(',').next().map(PathBuf::from)
}

/// Removes the server, its socket (which tmux leaves behind) and the claimed directory of a demo. The server tells
/// where its socket is; `socket` is for one that is gone already.
pub(super) fn sweep(directory: &Path, server: &str, socket: Option<&Path>) {
    if !is_demo(directory) || !is_demo(Path::new(server)) {
        return;
    }
    let mut tmux = Command::new("tmux");
    tmux.args(["-L", server, "display-message", "-p", "#{socket_path}", ";", "kill-server"]);
    let told = tmux.stdin(Stdio::null()).output().map(|output| output.stdout).unwrap_or_default();
    let told = PathBuf::from(String::from_utf8_lossy(&told).trim_end());
    for socket in [Some(told.as_path()), socket].into_iter().flatten() {
        if socket.file_name().is_some_and(|name| name == server) {
            let _ = std::fs::remove_file(socket);
        }
    }
    let _ = std::fs::remove_dir_all(directory);
}

/// Whether a path is called as demos are; nothing else is ever removed.
fn is_demo(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(PREFIX))
}
