//! The demo's tmux server and its directory.

use std::io::{ErrorKind, Read};
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail, ensure};

use super::{SCENES, Scene};
use crate::config::Config;
use crate::fleet::{ServerId, Socket};
use crate::private;
use crate::tmux::DEMO;

/// The name of a player while its pane shows a shell.
pub(super) const SHELL: &str = "bash";

/// The file of a demo's history in its directory.
const HISTORY: &str = "history.db";

/// Where the demo that is a server's keeps its history: who shares it follows the demo's dashboard. `None` for any other server.
pub fn history_of(server: &ServerId) -> Option<PathBuf> {
    let Socket::Name(name) = &server.socket else { return None };
    let is_demo = server.host.is_none() && name.starts_with(DEMO) && !name.contains('/');
    let directory = Some(std::env::temp_dir().join(&**name)).filter(|_| is_demo)?;
    private::check_directory(&directory).is_ok().then(|| directory.join(HISTORY))
}

/// Removes what a command has kept of a demo that ended before it.
pub fn leave(server: &ServerId) {
    let (Some(history), Socket::Name(name)) = (history_of(server), &server.socket) else { return };
    let Some(directory) = history.parent().filter(|directory| !private::is_listened(&socket(directory))) else {
        // It runs, whether or not its server answers.
        return;
    };
    let mut tmux = Command::new("tmux");
    let asked = tmux.args(["-L", name, "has-session"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if asked.is_ok_and(|status| !status.success())
        && let Some(directory) = claim(directory)
    {
        sweep_away(&directory, name, None);
    }
}

/// A running demo. Dropping it removes the server and the directory; when this process is killed, the players do.
#[derive(Debug)]
pub struct Demo {
    directory: PathBuf,
    server: String,
    /// The server's socket, which stays behind where somebody ends the server.
    socket: Option<PathBuf>,
}

impl Demo {
    /// Starts the server and all players.
    ///
    /// # Errors
    /// tmux is missing or too old, or the directory for temporary files cannot be written.
    pub fn start() -> anyhow::Result<Self> {
        // From here on, dropping it cleans up.
        let mut demo = Self::claim()?;
        let program = std::env::current_exe().context("the program's own path is not known")?;
        for name in SCENES.iter().map(|scene| scene.tool).chain([SHELL]) {
            let link = self::program(&demo.directory, name);
            if !link.exists() {
                symlink(&program, &link).context("the demo's programs cannot be linked")?;
            }
        }
        listen(&demo.directory).context("the demo's socket cannot be opened")?;
        for scene in SCENES {
            demo.open(scene)?;
        }
        let printed = demo.tmux().args(["display-message", "-p", "#{socket_path}"]).stdin(Stdio::null()).output();
        demo.socket = printed.ok().map(|it| PathBuf::from(String::from_utf8_lossy(&it.stdout).trim_end()));
        Ok(demo)
    }

    /// Takes a name that nobody has, by making the directory of that name.
    fn claim() -> anyhow::Result<Self> {
        let mut tries = (0..100).map(|n| format!("{}{}-{n}", DEMO, std::process::id()));
        let (server, directory) = loop {
            let server = tries.next().context("the directory for temporary files is full of old demos")?;
            let directory = std::env::temp_dir().join(&server);
            // Only the user may look inside, and a directory that somebody else prepared is never used.
            match std::fs::DirBuilder::new().mode(0o700).create(&directory) {
                Ok(()) => break (server, directory),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => bail!("the demo's directory {} cannot be made: {error}", directory.display()),
            }
        };
        Ok(Self { directory, server, socket: None })
    }

    /// The demo's tmux server.
    pub fn server(&self) -> ServerId {
        ServerId { host: None, socket: Socket::Name(self.server.as_str().into()) }
    }

    /// The default configuration with a history of its own. Commands without a configuration read screens in the same way, so
    /// they follow the dashboard and say what it says.
    pub fn config(&self) -> Config {
        let mut config = Config::default();
        // What happens in a demo is no part of the user's history, and goes with its directory.
        config.history.path = Some(self.directory.join(HISTORY));
        config
    }

    /// Opens the pane of a scene, as large as its recording's terminal was.
    fn open(&self, scene: &Scene) -> anyhow::Result<()> {
        let size = scene.recording()?.header.size;
        let (columns, rows) = (size.columns.to_string(), size.rows.to_string());
        let home = self.directory.join("home").join(scene.session);
        std::fs::create_dir_all(&home).context("the demo's directory cannot be written")?;
        if let Some(branch) = scene.branch {
            make_repository(&home, branch).context("the demo's directory cannot be written")?;
        }
        let mut tmux = self.tmux();
        tmux.args(["-f", "/dev/null", "new-session", "-d", "-x", &columns, "-y", &rows]);
        tmux.args(["-s", scene.session, "-n", "agent", "-c"]).arg(&home);
        tmux.arg(program(&self.directory, scene.tool)).args(words(scene.session, &self.directory, &self.server));
        // A window of a fixed size stays so when somebody attaches with a terminal of another size.
        let target = format!("={}:", scene.session);
        tmux.args([";", "resize-window", "-t", &target, "-x", &columns, "-y", &rows]);
        run(tmux)
    }

    /// What waits, in a thread of its own, until the server has ended.
    pub fn ended(&self) -> impl FnOnce() + Send + 'static {
        let mut tmux = self.tmux();
        // Nobody ever signals this channel.
        tmux.args(["wait-for", "ended"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        move || drop(tmux.status())
    }

    fn tmux(&self) -> Command {
        let mut tmux = Command::new("tmux");
        // The demo's server is nobody's child: not even of the server that the operator sits in.
        tmux.args(["-u", "-L", &self.server]).env_remove("TMUX").env_remove("TMUX_PANE");
        tmux
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        // Whoever else removes it does so alone.
        if let Some(directory) = claim(&self.directory) {
            sweep_away(&directory, &self.server, self.socket.as_deref());
        }
    }
}

/// The program that plays under a name.
pub(super) fn program(directory: &Path, name: &str) -> PathBuf {
    directory.join(name)
}

/// The words behind the program by which a pane is played.
pub(super) fn words(session: &str, directory: &Path, server: &str) -> Vec<std::ffi::OsString> {
    let mut words: Vec<std::ffi::OsString> = ["__play", session, "--server", server, "--stage"].map(Into::into).into();
    words.push(directory.into());
    words
}

/// What the last player of a demo leaves to a process of its own: removing the demo.
#[derive(Clone, Debug, clap::Args)]
pub struct Sweep {
    pub server: String,
    pub directory: PathBuf,
    pub socket: Option<PathBuf>,
}

/// Removes what is left of a demo.
pub fn sweep(sweep: &Sweep) {
    sweep_away(&sweep.directory, &sweep.server, sweep.socket.as_deref());
}

/// Makes a repository with a commit and a change. Without git there is none.
fn make_repository(directory: &Path, branch: &str) -> std::io::Result<()> {
    const BEFORE: &str = "def total(lines):\n    return sum(line.price for line in lines)\n";
    const AFTER: &str = "def total(lines):\n    return round(sum(line.price * line.count for line in lines), 2)\n\n\n\
                         def is_empty(lines):\n    return not lines\n";
    let git = |words: &[&str]| {
        let mut git = Command::new("git");
        // Nobody's settings, hooks and templates are any part of it.
        git.env_clear().envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        git.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
        git.args(["-c", "user.name=demo", "-c", "user.email=demo@example.org"]).args(words).current_dir(directory);
        git.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()
    };
    std::fs::write(directory.join("orders.py"), BEFORE)?;
    for words in
        [&["init", "-q", "-b", branch][..], &["add", "."], &["commit", "-q", "-m", "Add up the prices of orders"]]
    {
        let _ = git(words);
    }
    std::fs::write(directory.join("orders.py"), AFTER)?;
    std::fs::write(directory.join("NOTES.md"), "Counts are taken into account now.\n")
}

fn run(mut tmux: Command) -> anyhow::Result<()> {
    let output = tmux.stdin(Stdio::null()).output().context("tmux cannot be started")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "tmux refused the demo: {}", said.trim());
    Ok(())
}

// How the players of a demo learn that it has ended, even if it was killed.
//
// The demo listens on a socket in its directory and never says anything. The kernel closes a connection when the
// process behind it is gone, and a player that reads the end of it cleans up.

/// The server of a demo that runs now. Anybody may make a directory beside those of demos, and what is named is typed: nothing
/// but numbers stands behind the [`DEMO`].
pub fn running() -> Option<String> {
    let is_numbered = |name: &str| {
        name.strip_prefix(DEMO).is_some_and(|it| it.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-'))
    };
    let names =
        std::fs::read_dir(std::env::temp_dir()).ok()?.flatten().filter_map(|it| it.file_name().into_string().ok());
    let mut numbered = names.filter(|name| is_numbered(name));
    numbered.find(|name| private::is_listened(&socket(&std::env::temp_dir().join(name))))
}

/// The socket of a demo.
fn socket(directory: &Path) -> PathBuf {
    directory.join("alive")
}

/// Lets players connect for as long as this process lives.
fn listen(directory: &Path) -> std::io::Result<()> {
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

/// Takes a demo's directory for removal. It works only once: the directory has another name from then on, which no other process
/// gives it, as one may come while what another has claimed is still being removed.
fn claim(directory: &Path) -> Option<PathBuf> {
    let claimed = directory.with_extension(format!("ended-{}", std::process::id()));
    (is_demo(directory) && std::fs::rename(directory, &claimed).is_ok()).then_some(claimed)
}

/// The socket of the tmux server that this process runs in, as tmux names it to every process in its panes.
fn socket_of_server() -> Option<PathBuf> {
    let printed = std::env::var("TMUX").ok()?;
    printed.split(',').next().map(PathBuf::from)
}

/// Removes the server of a demo, its socket, which tmux leaves behind, and its directory. The server tells where its socket is;
/// `socket` is for a server that is gone.
fn sweep_away(directory: &Path, server: &str, socket: Option<&Path>) {
    if !is_demo(directory) || !is_demo(Path::new(server)) {
        return;
    }
    let mut tmux = Command::new("tmux");
    tmux.args(["-L", server, "display-message", "-p", "#{socket_path}", ";", "kill-server"]);
    let printed = tmux.stdin(Stdio::null()).output().map(|output| output.stdout).unwrap_or_default();
    let printed = PathBuf::from(String::from_utf8_lossy(&printed).trim_end());
    for socket in [Some(printed.as_path()), socket].into_iter().flatten() {
        if socket.file_name().is_some_and(|name| name == server) {
            let _ = std::fs::remove_file(socket);
        }
    }
    let _ = std::fs::remove_dir_all(directory);
}

/// Whether a path is called as demos are; nothing else is ever removed.
fn is_demo(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(DEMO))
}
