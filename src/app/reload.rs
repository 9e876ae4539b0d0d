//! Configuration, keymap and theme are read again when their files change, or when the operator asks for it. What is
//! wrong changes nothing: the old ones hold, and the fault is told with its place.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::time::Instant;

use super::{App, look};
use crate::config::{Config, ConfigError};
use crate::feed;
use crate::fleet::{Input, ServerId};
use crate::ui::{Meaning, Options};

/// How often the files are looked at.
const EVERY: Duration = Duration::from_secs(1);

/// What is to be shown, by a configuration as it stands in the files now.
pub type Reading = Result<(Config, Vec<ServerId>), ConfigError>;

/// How the configuration is read, and where it may be.
#[derive(Clone)]
pub struct Source {
    read: Arc<dyn Fn() -> Reading + Send + Sync>,
    candidates: Vec<PathBuf>,
}

impl Source {
    /// A source that reads what the candidates say.
    pub fn new(candidates: Vec<PathBuf>, read: impl Fn() -> Reading + Send + Sync + 'static) -> Self {
        Self { read: Arc::new(read), candidates }
    }

    /// Where the operator's own `keymap.toml` and `themes/` may be: beside the candidates, in their order.
    pub(super) fn directories(&self) -> Vec<PathBuf> {
        look::beside(&self.candidates)
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("candidates", &self.candidates).finish_non_exhaustive()
    }
}

/// When a file was changed and how long it is; `None` when there is none.
type Stamp = Option<(SystemTime, u64)>;

/// The files as they were when they were last read.
pub(super) struct Watch {
    source: Source,
    read: Vec<Stamp>,
    /// What the files were in the last look, if that was another than what was read: they are read when they stand
    /// still, and not while an editor writes them.
    changing: Option<Vec<Stamp>>,
    next: Instant,
}

impl Watch {
    /// Watches the files that have just been read.
    pub(super) fn new(source: Source, theme: &str) -> Self {
        let read = stamps(&source, theme);
        Self { source, read, changing: None, next: Instant::now() + EVERY }
    }

    /// Whether the files have changed and now stand still.
    fn is_due(&mut self, theme: &str) -> bool {
        let now = Instant::now();
        if now < self.next {
            return false;
        }
        self.next = now + EVERY;
        let stamps = stamps(&self.source, theme);
        if stamps == self.read {
            self.changing = None;
            return false;
        }
        let stands_still = self.changing.as_ref() == Some(&stamps);
        self.changing = Some(stamps);
        stands_still
    }
}

fn stamps(source: &Source, theme: &str) -> Vec<Stamp> {
    let own = [PathBuf::from("keymap.toml"), PathBuf::from("themes").join(format!("{theme}.toml"))];
    let beside = source.directories();
    let beside = beside.iter().flat_map(|directory| own.iter().map(|name| directory.join(name)));
    let stamp = |path: PathBuf| {
        let metadata = std::fs::metadata(path).ok()?;
        Some((metadata.modified().ok()?, metadata.len()))
    };
    source.candidates.iter().cloned().chain(beside).map(stamp).collect()
}

impl App {
    /// Reads the files again if they have changed.
    pub(super) fn follow_files(&mut self) {
        if self.watch.is_due(&self.config.ui.theme) {
            self.reload();
        }
    }

    /// Reads configuration, keymap and theme again.
    pub(super) fn reload(&mut self) {
        let told = match self.try_reload() {
            Ok(told) => (Meaning::Finished, told),
            Err(fault) => (Meaning::Failed, format!("nothing was changed: {fault}")),
        };
        // Also what is wrong is read once, and again when it has changed.
        self.watch.read = stamps(&self.watch.source, &self.config.ui.theme);
        self.watch.changing = None;
        self.ui.notify(told.0, told.1, feed::now());
    }

    /// Takes over everything or nothing. Returns what to tell, else what is wrong and where.
    fn try_reload(&mut self) -> Result<String, String> {
        let (config, servers) = (self.watch.source.read)().map_err(|error| error.to_string())?;
        let look = look::options(&config.ui, &self.watch.source.directories()).map_err(|error| error.to_string())?;
        let options = Options { templates: config.templates.clone(), ..look };
        if config.watch != self.config.watch || config.rules != self.config.rules || servers != self.servers() {
            self.watch_anew(&config, &servers).map_err(|error| error.to_string())?;
        }
        self.ui.look_like(options);
        self.outside.obey(&config);
        self.tty.use_mouse(config.ui.mouse).map_err(|error| error.to_string())?;
        let later = [
            ("[tracker]", config.tracker != self.config.tracker),
            ("[history]", config.history != self.config.history),
        ];
        let later: Vec<&str> = later.into_iter().filter(|(_, changed)| *changed).map(|(table, _)| table).collect();
        // What does not hold yet stays what it was, so that it is told again.
        let (tracker, history) = (self.config.tracker.clone(), self.config.history.clone());
        self.config = Config { tracker, history, ..config };
        Ok(match later.as_slice() {
            [] => "the configuration was read again".to_owned(),
            later => format!("the configuration was read again; {} holds from the next start", later.join(" and ")),
        })
    }

    fn servers(&self) -> Vec<ServerId> {
        self.pollers.iter().map(|(server, _)| server.clone()).collect()
    }

    /// Looks at servers by other rules from now on. Those that are watched no longer leave the fleet.
    fn watch_anew(&mut self, config: &Config, servers: &[ServerId]) -> Result<(), crate::tmux::Error> {
        let settings = feed::Settings { keeper: self.feed.keeper.clone(), ..feed::Settings::new(config) };
        let mut pollers = Vec::new();
        for server in servers {
            let library = Arc::clone(&self.library);
            let poller = feed::spawn(settings.clone(), library, server.clone(), self.reports.clone())?;
            pollers.push((server.clone(), poller));
        }
        self.actors.obey(&settings);
        self.feed = settings;
        let before = std::mem::replace(&mut self.pollers, pollers);
        for (server, poller) in before.into_iter().filter(|(server, _)| !servers.contains(server)) {
            if poller.has_tended() {
                let (feed, server) = (self.feed.clone(), server.clone());
                drop(poller);
                tokio::spawn(async move { feed::release(&feed, &server).await });
            }
            self.take(Input::Unwatched { server });
        }
        Ok(())
    }
}
