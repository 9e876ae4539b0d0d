//! What the targets share: recordings as seeds, and a fleet that was fed with one.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use fleetwatch::fleet::{
    Capture, Declared, Fleet, Input, PaneId, PaneLocation, PaneReport, PollResult, ServerId, ServerReport, Settings,
    TerminalKey,
};
use fleetwatch::hash::fnv;
use fleetwatch::profile::{Profile, ProfileSet, Program};
use fleetwatch::recording::{Archive, Player, Recording};
use fleetwatch::screen::{PaneFacts, Screen};
use fleetwatch::time::{Span, Timestamp};

/// The built-in profiles.
pub static PROFILES: LazyLock<Arc<ProfileSet>> = LazyLock::new(|| Arc::new(ProfileSet::builtin()));

/// Some time.
pub const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);

/// The repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Writes seeds into the directory that `FLEETWATCH_SEEDS` names, which scripts/fuzz sets: libFuzzer reads them right after.
/// Longer ones than this are left out: no input becomes longer than the longest seed, and long inputs are slow.
pub fn seed(longest: usize, seeds: impl FnOnce() -> Vec<Vec<u8>>) {
    let Some(directory) = std::env::var_os("FLEETWATCH_SEEDS").map(PathBuf::from) else { return };
    let seeds: Vec<_> = seeds().into_iter().filter(|seed| seed.len() <= longest).collect();
    assert!(!seeds.is_empty(), "no seed is short enough");
    for seed in seeds {
        let name = format!("{:016x}", fnv(&seed));
        std::fs::write(directory.join(name), seed).expect("a seed is written");
    }
}

/// Every `step`th recording of the repository's archive.
pub fn recordings(step: usize) -> Vec<Recording> {
    let archive = Archive::open(&root().join("recordings/recordings.zst")).expect("the archive is there");
    let names = archive.names().step_by(step);
    names.map(|name| archive.recording(name).expect("it can be read")).collect()
}

/// The profile of a number, with its place among all.
pub fn profile(number: u8) -> Arc<Profile> {
    let count = PROFILES.profiles().count();
    PROFILES.profiles().nth(usize::from(number) % count).cloned().expect("there are some")
}

/// The number of the profile that reads a recording.
pub fn profile_of(recording: &Recording) -> Option<u8> {
    let header = &recording.header;
    let selected = PROFILES.select(header.tool.as_deref()?, header.version.as_deref(), false)?;
    let place = PROFILES.profiles().position(|profile| profile.id() == selected.profile.id())?;
    u8::try_from(place).ok()
}

/// The one terminal of [`Watched`].
pub fn terminal() -> TerminalKey {
    TerminalKey { server: ServerId::default(), pane: PaneId(1), pid: 7, instance: Default::default() }
}

/// A fleet with one terminal.
pub struct Watched {
    pub fleet: Fleet,
    pub now: Timestamp,
    program: Program,
}

impl Watched {
    pub fn new(program: Program) -> Self {
        Self { fleet: Fleet::new(Settings::default(), Arc::clone(&PROFILES)), now: NOW, program }
    }

    /// One that has seen all of a recording.
    pub fn of(recording: &Recording) -> Self {
        let header = &recording.header;
        let tool = header.tool.as_deref().unwrap_or("claude");
        let mut watched = Self::new(Program::agent(tool, header.version.as_deref()));
        for frame in Player::new(recording) {
            watched.poll(frame.facts, frame.screen, Span::from_millis(500));
        }
        watched
    }

    /// Polls after some time, during which its timers ran.
    pub fn poll(&mut self, facts: PaneFacts, screen: Arc<Screen>, later: Span) {
        let at = self.now + later;
        for _ in 0..20 {
            let Some(due) = self.fleet.poll_timeout().filter(|due| *due < at) else { break };
            self.now = due.max(self.now.next());
            self.fleet.handle(Input::TimePassed, self.now);
            while self.fleet.poll_effect().is_some() {}
        }
        self.now = at.max(self.now.next());
        let place = PaneLocation { session: "work".to_owned(), window_name: "api".to_owned(), ..Default::default() };
        let report = PaneReport {
            key: terminal(),
            place: place.into(),
            cwd: Some("/src/api".to_owned()),
            facts,
            program: self.program.clone(),
            capture: Capture::Fresh(screen),
            declared: Some(Declared { name: Some("api".to_owned()), ..Declared::default() }),
            record: None,
            git: None,
            agent_process: None,
            printed_until: None,
        };
        let outcome = PollResult::Listed(vec![report]);
        self.fleet.handle(Input::Server(ServerReport::new(ServerId::default(), self.now, outcome)), self.now);
        while self.fleet.poll_effect().is_some() {}
    }
}

/// A file that changes with each input, in memory where the system has such a place.
pub fn scratch(name: &str) -> PathBuf {
    let memory = Path::new("/dev/shm");
    let directory = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    let own = directory.join(format!("fleetwatch-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&own).expect("a directory is made");
    own.join(name)
}
