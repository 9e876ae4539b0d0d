//! The demo's tmux server and its directory.

use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail, ensure};

use super::alive;
use super::scenes::{SCENES, Scene};
use crate::config::Config;
use crate::fleet::{ServerId, Socket};

/// The name of a player while its pane shows a shell.
pub(super) const SHELL: &str = "bash";

/// A running demo. Dropping it removes the server and the directory; when this process is killed, the players do.
#[derive(Debug)]
pub struct Demo {
    directory: PathBuf,
    server: String,
}

impl Demo {
    /// Starts the server and all players.
    ///
    /// # Errors
    /// tmux is missing or too old, or the directory for temporary files cannot be written.
    pub fn start() -> anyhow::Result<Self> {
        // From here on, dropping it cleans up.
        let demo = Self::claim()?;
        let program = std::env::current_exe().context("the program's own path is not known")?;
        for name in SCENES.iter().map(|scene| scene.tool).chain([SHELL]) {
            let link = self::program(&demo.directory, name);
            if !link.exists() {
                symlink(&program, &link).context("the demo's programs cannot be linked")?;
            }
        }
        alive::listen(&demo.directory).context("the demo's socket cannot be opened")?;
        for scene in SCENES {
            demo.open(scene)?;
        }
        Ok(demo)
    }

    /// Takes a name that nobody has, by making the directory of that name.
    fn claim() -> anyhow::Result<Self> {
        let mut tries = (0..100).map(|n| format!("{}{}-{n}", alive::PREFIX, std::process::id()));
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
        Ok(Self { directory, server })
    }

    /// The demo's tmux server.
    pub fn server(&self) -> ServerId {
        ServerId { host: None, socket: Socket::Name(self.server.clone()) }
    }

    /// A configuration that gives the panes their names and versions, as a user's would, and a history of its own.
    ///
    /// # Errors
    /// Never, unless the scenes hold what a configuration refuses.
    pub fn config(&self) -> anyhow::Result<Config> {
        let rules: String = SCENES
            .iter()
            .map(|scene| {
                let Scene { session, .. } = scene;
                format!(
                    "[[terminal]]\nsession = \"{session}\"\nname = \"{session}\"\nversion = \"{}\"\n",
                    scene.version()
                )
            })
            .collect();
        let mut config = Config::parse(&rules, Path::new("demo.toml"))?;
        // What happens in a demo is no part of the user's history, and goes with its directory.
        config.history.path = Some(self.directory.join("history.db"));
        Ok(config)
    }

    /// Opens the pane of a scene, as large as its recording's terminal was.
    fn open(&self, scene: &Scene) -> anyhow::Result<()> {
        let size = scene.recording()?.header.size;
        let (columns, rows) = (size.columns.to_string(), size.rows.to_string());
        let home = self.directory.join("home").join(scene.session);
        std::fs::create_dir_all(&home).context("the demo's directory cannot be written")?;
        let mut tmux = self.tmux();
        tmux.args(["-f", "/dev/null", "new-session", "-d", "-x", &columns, "-y", &rows]);
        tmux.args(["-s", scene.session, "-n", scene.window, "-c"]).arg(&home);
        tmux.arg(program(&self.directory, scene.tool)).args(words(scene.session, &self.directory, &self.server));
        // A window of a fixed size stays so when somebody attaches with a terminal of another size.
        let target = format!("={}:", scene.session);
        tmux.args([";", "resize-window", "-t", &target, "-x", &columns, "-y", &rows]);
        run(tmux)
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
        alive::remove(&self.directory, &self.server);
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
    alive::sweep(&sweep.directory, &sweep.server, sweep.socket.as_deref());
}

fn run(mut tmux: Command) -> anyhow::Result<()> {
    let output = tmux.stdin(Stdio::null()).output().context("tmux cannot be started")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "tmux said no to the demo: {}", said.trim());
    Ok(())
}
