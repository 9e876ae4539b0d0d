//! The screens that one single poll leaves to the next one: a pane in which nothing was printed since is not captured again.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::task::spawn_blocking;

use crate::fleet::{Capture, PaneId, PaneReport, ServerId, TerminalKey};
use crate::history::runtime_file;
use crate::ids::ServerInstance;
use crate::poll::plan::CaptureMoment;
use crate::private::{self, Lock};
use crate::screen::{KeptScreen, Screen};
use crate::tmux::{CapturedPane, Listing};

/// A file that another build has written is not read: it may have read the screens otherwise.
const FORMAT: &str = concat!(env!("CARGO_PKG_VERSION"), " screens 1");

/// The captures of one server's panes, each by its pane and the process in it, and the file that keeps them.
#[derive(Debug, Default)]
pub(super) struct KeptCaptures {
    server: ServerId,
    /// `None` where nothing is kept.
    history: Option<PathBuf>,
    instance: ServerInstance,
    captures: BTreeMap<(PaneId, u32), KeptCapture>,
    /// Whether the file says less than is known now.
    is_behind: bool,
}

#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct KeptCapture {
    moment: CaptureMoment,
    screen: KeptScreen,
    /// The screen of the file, until it is reported.
    #[serde(skip)]
    read: Option<Screen>,
}

impl KeptCaptures {
    /// What is kept of a server. Where no file is, or it is not as it should be, that is nothing, and all is captured.
    pub(super) fn read(server: ServerId, history: Option<PathBuf>) -> Self {
        let path = history.as_deref().and_then(|history| runtime_file(&server, Some(history), "screens", false));
        let read = path.and_then(|path| private::read_secret(&path).ok());
        let content: Option<(String, ServerInstance, _)> = read.and_then(|read| postcard::from_bytes(&read).ok());
        let content = content.filter(|(format, ..)| format == FORMAT).unwrap_or_default();
        let (_, instance, mut captures): (_, _, BTreeMap<_, KeptCapture>) = content;
        captures.retain(|_, kept| {
            kept.read = kept.screen.whole().map(Arc::unwrap_or_clone);
            kept.read.is_some()
        });
        Self { server, history, instance, captures, is_behind: false }
    }

    /// Forgets what the panes of a listing no longer show.
    pub(super) fn compare(&mut self, listing: &Listing) {
        let is_known = self.instance.word().is_some() && self.instance == listing.instance;
        self.instance = listing.instance.clone();
        let panes: BTreeMap<_, _> = listing.panes.iter().map(|pane| ((pane.id, pane.pid), pane)).collect();
        self.captures.retain(|key, kept| is_known && panes.get(key).is_some_and(|pane| kept.moment.lasts(pane)));
    }

    /// Whether a pane of the listing that was compared still shows what is kept.
    pub(super) fn shows(&self, pane: PaneId) -> bool {
        self.captures.range((pane, 0)..=(pane, u32::MAX)).next().is_some()
    }

    /// The captures of some panes of a listing, as if they were captured now.
    pub(super) fn take(&mut self, listing: &Listing, panes: &[PaneId]) -> Listing {
        let mut captures = Vec::new();
        for pane in listing.panes.iter().filter(|pane| panes.contains(&pane.id)) {
            let screen = self.captures.get_mut(&(pane.id, pane.pid)).and_then(|kept| kept.read.take());
            captures.extend(screen.map(|screen| CapturedPane { pane: Arc::clone(pane), screen: Some(screen) }));
        }
        Listing { clock: listing.clock, captures, ..Listing::default() }
    }

    /// Takes up what was captured, where it is kept; must be called within the runtime.
    pub(super) fn keep<'a>(
        &mut self,
        panes: &[PaneReport],
        captured_at: impl Fn(&TerminalKey) -> Option<&'a CaptureMoment>,
    ) {
        if self.history.is_none() {
            return;
        }
        let mut fresh = Vec::new();
        for pane in panes {
            if let (Capture::Fresh(screen), Some(moment)) = (&pane.capture, captured_at(&pane.key)) {
                let screen = KeptScreen::from(Arc::clone(screen));
                fresh.push(screen.clone());
                let kept = KeptCapture { moment: moment.clone(), screen, read: None };
                self.captures.insert((pane.key.pane, pane.key.pid), kept);
                self.is_behind = true;
            }
        }
        // Meanwhile tmux captures the next ones.
        spawn_blocking(move || fresh.iter().for_each(KeptScreen::pack));
    }

    /// Writes the file.
    ///
    /// # Errors
    /// There is no private directory for it, or no room; the next poll captures all panes then.
    pub(super) fn write(&self) -> io::Result<()> {
        let Some(history) = self.history.as_deref().filter(|_| self.is_behind) else { return Ok(()) };
        let path = runtime_file(&self.server, Some(history), "screens", true);
        let path = path.ok_or_else(|| io::Error::other("there is no private directory for them"))?;
        // Two that write at the same time would mix what they write.
        let Some(_turn) = Lock::try_take(&path)? else { return Ok(()) };
        self.captures.values().for_each(|kept| kept.screen.pack());
        let content = postcard::to_allocvec(&(FORMAT, &self.instance, &self.captures)).map_err(io::Error::other)?;
        private::replace(&path, &content)
    }
}
