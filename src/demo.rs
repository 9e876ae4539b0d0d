//! A fleet to try without any agent: recorded sessions, played in the panes of a private tmux server.
//!
//! Each pane runs this very program under the agent's name (a link to it in a private directory), so that everything
//! from the process table to the screen is as it would be. The players hold a connection to the [`Demo`]; when it
//! ends, however it ends, they remove the server and the directory.

mod player;
mod stage;

use crate::recording::{Archive, Recording, RecordingError};
use crate::time::Span;

pub use player::{Play, play};
pub use stage::{Demo, Sweep, history_of, leave, running, sweep};

// Who plays what in the demo.

/// The recordings of the demo, as `examples/recordings.rs` packs them.
const ARCHIVE: &[u8] = include_bytes!("../recordings/demo.zst");

/// One pane of the demo. Times are those of the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scene {
    /// The session, which is also the terminal's name.
    pub session: &'static str,
    /// The agent as its processes are named.
    pub tool: &'static str,
    /// The agent's version, and what happens: with the agent the recording's name in the archive.
    recording: &'static str,
    /// Where the play begins when the demo opens, so that the panes differ.
    enters: Span,
    /// Where it begins again, every other time: just before a prompt is submitted.
    repeats: Span,
    /// The dialog that it stands still at.
    waits: Option<Wait>,
    /// How long it stands still at the end, or until somebody submits a prompt.
    rests: Span,
    /// What it goes on with where somebody says no or interrupts it.
    refused: Option<RefusedEnding>,
    /// The branch of its repository with changes; without one it has no repository.
    pub branch: Option<&'static str>,
}

/// Where a scene stands still until somebody answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wait {
    from: Span,
    /// When it was answered as it was recorded.
    until: Span,
}

/// The same session, refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RefusedEnding {
    /// As that of the scene.
    recording: &'static str,
    /// Where it begins: just before the refusal.
    at: Span,
    /// The digit of the dialog's plain no. Escape always refuses.
    digit: u8,
}

/// A row of [`SCENES`], with its times in milliseconds.
const fn scene(
    session: &'static str,
    tool: &'static str,
    recording: &'static str,
    enters: u64,
    repeats: u64,
    waits: Option<(u64, u64)>,
    rests: u64,
) -> Scene {
    let waits = match waits {
        Some((from, until)) => Some(Wait { from: Span::from_millis(from), until: Span::from_millis(until) }),
        None => None,
    };
    let (enters, repeats, rests) = (Span::from_millis(enters), Span::from_millis(repeats), Span::from_millis(rests));
    Scene { session, tool, recording, enters, repeats, waits, rests, refused: None, branch: None }
}

/// A minute in milliseconds.
const MINUTE: u64 = 60_000;

/// All panes: two wait for an approval, one for the answer to a question, one fails, one finishes, one exits, one was
/// interrupted, and the others work or are ready.
pub const SCENES: &[Scene] = &[
    scene("shop-api", "claude", "2.1.330/run-approved", 7_800, 5_000, Some((8_100, 13_400)), MINUTE)
        .refused("2.1.330/run-denied", 13_200, b'4')
        .on("empty-build"),
    scene("pricing", "claude", "2.1.330/write-approved", 5_900, 4_700, Some((7_800, 13_100)), MINUTE)
        .refused("2.1.330/write-denied", 13_200, b'3')
        .on("vat"),
    scene("billing", "codex", "0.169.0/question-tool", 8_600, 7_800, Some((11_000, 16_180)), MINUTE),
    scene("infra", "claude", "2.1.329/api-error-500-gives-up", 12_500, 10_400, None, 20 * MINUTE),
    scene("docs", "gemini", "0.61.0/simple-success", 6_700, 6_700, None, 5 * MINUTE),
    scene("search", "claude", "2.1.330/explain-finished", 20_000, 4_500, None, 20_000)
        .refused("2.1.330/explain-interrupted", 14_000, b'\x1b')
        .on("main"),
    scene("ingest", "opencode", "1.18.33/slow-stream-success", 21_000, 14_200, None, 12_000),
    scene("web", "pi", "0.73.1/simple-success", 8_500, 6_100, None, 15 * MINUTE),
    scene("legacy", "codex", "0.169.0/exit-ctrl-c", 10_500, 9_500, None, 15 * MINUTE),
    scene("mobile", "copilot", "1.0.102/slow-stream-success", 21_500, 18_300, None, 2 * MINUTE),
    scene("payments", "qwen", "0.24.4/interrupted-streaming", 33_000, 26_100, None, 7 * MINUTE),
    scene("notebooks", "aider", "0.86.2/simple-success", 37_000, 30_000, None, 9 * MINUTE),
    scene("gateway", "codex", "0.169.0/auto-tools", 12_000, 8_600, None, 11_000),
];

impl Scene {
    const fn refused(self, recording: &'static str, at: u64, digit: u8) -> Self {
        Self { refused: Some(RefusedEnding { recording, at: Span::from_millis(at), digit }), ..self }
    }

    const fn on(self, branch: &'static str) -> Self {
        Self { branch: Some(branch), ..self }
    }

    /// The scene that is played in a session.
    pub fn of(session: &str) -> Option<&'static Scene> {
        SCENES.iter().find(|scene| scene.session == session)
    }

    /// The scene's recording.
    pub fn recording(&self) -> Result<Recording, RecordingError> {
        self.named(self.recording)
    }

    fn named(&self, recording: &str) -> Result<Recording, RecordingError> {
        Archive::parse("demo", ARCHIVE)?.recording(&format!("{}-{recording}", self.tool))
    }
}

#[cfg(test)]
mod scenes_tests {
    use super::*;
    use crate::recording::{EventKind, Player};

    #[test]
    fn every_scene_can_be_played() {
        assert_eq!(SCENES.len(), 13);
        for scene in SCENES {
            let recording = scene.recording().unwrap();
            let tag = (scene.tool, scene.recording.split('/').next().unwrap());
            assert_eq!((recording.header.tool.as_deref().unwrap(), recording.header.version.as_deref().unwrap()), tag);
            let (end, at) = (recording.duration(), scene.waits.map_or(scene.enters, |wait| wait.from));
            assert!(scene.repeats <= scene.enters && scene.enters <= at && at < end, "{}", scene.session);
            assert!(Player::new(&recording).any(|frame| frame.at <= scene.repeats), "{}", scene.session);
            let resized = recording.events.iter().any(|event| matches!(event.kind, EventKind::Resize(_)));
            assert!(!resized, "{}: a pane of the demo keeps its size", scene.session);
            assert_eq!(Scene::of(scene.session), Some(scene));
            if let Some(wait) = scene.waits {
                // An answer takes effect at once, not after the pause in the recording.
                let is_key = |kind: &EventKind| matches!(kind, EventKind::Input(_));
                let key = recording.events.iter().find(|event| event.at >= wait.from && is_key(&event.kind));
                let answered = key.map_or(wait.until, |key| key.at);
                let is_reaction = |kind: &EventKind| matches!(kind, EventKind::Output(_));
                let reaction = recording.events.iter().find(|event| event.at > answered && is_reaction(&event.kind));
                let reacts = reaction.is_some_and(|event| event.at < wait.until + Span::from_secs(1));
                assert!(reacts, "{}: {:?}", scene.session, reaction.map(|event| event.at));
            }
            if let Some(RefusedEnding { recording: name, at, .. }) = scene.refused {
                let refused = scene.named(name).unwrap();
                assert!(at < refused.duration() && refused.header.size == recording.header.size, "{name}");
            }
        }
    }
}
