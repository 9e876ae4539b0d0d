//! Hosts of a test's own, reached by the real `ssh` and `sshd` through a proxy command, without a port and without a key
//! or a setting of the user's.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Where `sshd` may be; it is in no user's PATH.
const SSHD: [&str; 3] = ["/usr/sbin/sshd", "/usr/local/sbin/sshd", "/sbin/sshd"];

/// A directory with a key, a false `ssh` that is the real one with a configuration of its own, and its hosts.
pub struct Hosts {
    home: tempfile::TempDir,
    names: Vec<String>,
}

impl Hosts {
    /// Hosts that all have the same address, port and user, and lie behind proxies of their own: each has a directory
    /// for sockets of tmux to itself.
    pub fn behind_one_address(names: &[&str]) -> Self {
        let sshd = SSHD.iter().find(|path| Path::new(path).exists());
        let sshd = sshd.expect("sshd is installed: `apt-get install openssh-server`");
        let home = tempfile::tempdir().expect("a directory");
        let hosts = Self { home, names: names.iter().map(|&name| name.to_owned()).collect() };
        let key = hosts.path("key");
        let made = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(&key).status();
        assert!(made.expect("ssh-keygen").success());
        if user() == "0" {
            // sshd of the superuser wants it, as the system's own service makes it.
            let _ = fs::create_dir_all("/run/sshd");
        }
        let mut config = String::new();
        for name in names {
            hosts.redirect(name, name);
            let server = hosts.path(&format!("{name}.sshd"));
            // Its own process answers for the whole connection, as nobody else logs in than who runs the tests.
            let (pids, server) = (hosts.path(&format!("{name}.pids")), server.display());
            let command = format!("sh -c 'echo $$ >> {}; exec {sshd} -i -f {server}'", pids.display());
            config.push_str(&format!("Host {name}\n  ProxyCommand {command}\n"));
        }
        config.push_str(&format!(
            "Host *\n  HostName 192.0.2.7\n  Port 2222\n  IdentityFile {}\n  IdentitiesOnly yes\n  IdentityAgent none\n  \
             UserKnownHostsFile /dev/null\n  GlobalKnownHostsFile /dev/null\n  StrictHostKeyChecking no\n",
            key.display()
        ));
        fs::write(hosts.path("config"), config).expect("a file");
        for (program, option) in [("ssh", ""), ("lone-ssh", "-o ControlPath=none")] {
            let (ssh, config) = (which("ssh"), hosts.path("config"));
            let script = format!("#!/bin/sh\nexec {} -F {} {option} \"$@\"\n", ssh.display(), config.display());
            fs::write(hosts.path(program), script).expect("a file");
            fs::set_permissions(hosts.path(program), fs::Permissions::from_mode(0o755)).expect("a program");
        }
        fs::create_dir(hosts.path("run")).expect("a directory");
        hosts
    }

    /// Sends a signal to the servers of all connections that a host ever had: to end them as a network that breaks does, or
    /// to stop them.
    pub fn signal(&self, name: &str, signal: &str) {
        let pids = fs::read_to_string(self.path(&format!("{name}.pids"))).unwrap_or_default();
        for pid in pids.lines() {
            let _ = Command::new("kill").args(["-s", signal, pid]).stderr(Stdio::null()).status();
        }
    }

    /// How often a host was connected to.
    pub fn connections(&self, name: &str) -> usize {
        fs::read_to_string(self.path(&format!("{name}.pids"))).unwrap_or_default().lines().count()
    }

    /// Has a host listen on this machine's own addresses as well, and returns its port and its server.
    pub fn listen(&self, name: &str) -> (u16, Child) {
        let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
        let sshd = SSHD.iter().find(|path| Path::new(path).exists()).expect("sshd is installed");
        let mut command = Command::new(sshd);
        command.args(["-D", "-o", &format!("Port={port}"), "-f"]).arg(self.path(&format!("{name}.sshd")));
        command.args(["-o", "ListenAddress=127.0.0.1", "-o", "ListenAddress=::1"]);
        let server = command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().expect("sshd runs");
        (port, server)
    }

    /// From the next connection on, a host runs every command by a shell command of its own, as a login's start-up files do.
    pub fn log_in_by(&self, name: &str, command: &str) {
        let before = fs::read_to_string(self.path(&format!("{name}.sshd"))).expect("a file");
        let config =
            before.split("ForceCommand").next().expect("a part").to_owned() + &format!("ForceCommand {command}\n");
        fs::write(self.path(&format!("{name}.sshd")), config).expect("a file");
    }

    /// Adds to what `ssh` is configured to do with a host.
    pub fn configure(&self, name: &str, options: &str) {
        let config = fs::read_to_string(self.path("config")).expect("a file");
        fs::write(self.path("config"), format!("Host {name}\n  {options}\n{config}")).expect("a file");
    }

    /// From the next connection on, `name` leads to the machine that is otherwise called `machine`.
    pub fn redirect(&self, name: &str, machine: &str) {
        let sockets = self.sockets(machine);
        fs::create_dir_all(&sockets).expect("a directory");
        let config = format!(
            "HostKey {key}\nAuthorizedKeysFile {key}.pub\nStrictModes no\nUsePAM no\nPidFile none\nPermitRootLogin yes\n\
             SetEnv TMUX_TMPDIR={sockets}\n",
            key = self.path("key").display(),
            sockets = sockets.display()
        );
        fs::write(self.path(&format!("{name}.sshd")), config).expect("a file");
    }

    fn sockets(&self, machine: &str) -> PathBuf {
        self.path(&format!("{machine}.tmux"))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// The `ssh` that knows the hosts.
    pub fn ssh(&self) -> PathBuf {
        self.path("ssh")
    }

    /// The same, which connects anew with each call.
    pub fn lone_ssh(&self) -> PathBuf {
        self.path("lone-ssh")
    }

    /// `fleetwatch` with these hosts, and a home of its own.
    pub fn fleetwatch(&self, config: &str, words: &[&str]) -> Command {
        fs::write(self.path("config.toml"), config).expect("a file");
        let mut command = Command::new(env!("CARGO_BIN_EXE_fleetwatch"));
        let path = std::env::var("PATH").expect("a PATH");
        command.env("PATH", format!("{}:{path}", self.home.path().display())).env("XDG_RUNTIME_DIR", self.path("run"));
        for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "HOME"] {
            command.env(name, self.home.path());
        }
        command.env_remove("TMUX").env_remove("TMUX_PANE").stdin(Stdio::null());
        command.arg("--config").arg(self.path("config.toml")).args(words);
        command
    }

    /// What a command of fleetwatch printed, and whether it succeeded.
    pub fn run(&self, config: &str, words: &[&str]) -> (String, String, bool) {
        let output = self.fleetwatch(config, words).output().expect("fleetwatch runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&output.stdout), text(&output.stderr), output.status.success())
    }

    /// Runs tmux on a machine, past ssh, and returns what it printed.
    pub fn tmux(&self, machine: &str, words: &[&str]) -> String {
        let mut command = Command::new("tmux");
        command
            .env_remove("TMUX")
            .env_remove("TMUX_PANE")
            .env("TMUX_TMPDIR", self.sockets(machine))
            .stdin(Stdio::null());
        let output = command.args(["-u", "-L", "default"]).args(words).output().expect("tmux is installed");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Ends the connection to a host, as a network that breaks does.
    pub fn disconnect(&self, name: &str) {
        let sockets = fs::read_dir(self.path("run")).expect("a directory").flatten().map(|entry| entry.path());
        for socket in sockets {
            let mut command = Command::new(self.ssh());
            command.args(["-O", "exit", "-S"]).arg(&socket).arg(name).stdin(Stdio::null()).stderr(Stdio::null());
            let _ = command.status();
        }
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for name in self.names.clone() {
            self.signal(&name, "CONT");
            self.disconnect(&name);
            self.signal(&name, "KILL");
            self.tmux(&name, &["kill-server"]);
        }
    }
}

fn which(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").expect("a PATH");
    let found = std::env::split_paths(&path).map(|directory| directory.join(program)).find(|path| path.is_file());
    found.expect("an ssh client")
}

fn user() -> String {
    let output = Command::new("id").arg("-u").output().expect("id");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
