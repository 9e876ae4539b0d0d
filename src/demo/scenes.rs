//! Who plays what in the demo.

use crate::recording::{Archive, Recording, RecordingError};
use crate::time::Span;

/// The recordings of the demo, as `examples/recordings.rs` packs them.
const ARCHIVE: &[u8] = include_bytes!("../../recordings/demo.zst");

/// One pane of the demo. Times are milliseconds of the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scene {
    /// The session, which is also the terminal's name.
    pub session: &'static str,
    pub window: &'static str,
    /// The agent as its processes are named.
    pub tool: &'static str,
    /// The recording's name in the archive.
    pub recording: &'static str,
    /// Where the play begins when the demo opens, so that the panes differ.
    enters: u64,
    /// Where it begins again, every other time: just before a prompt is submitted.
    repeats: u64,
    /// Where it stands still for that many milliseconds, or until somebody answers.
    waits: Option<(u64, u64)>,
    /// How long it stands still at the end, or until somebody submits a prompt.
    rests: u64,
}

/// A minute in milliseconds.
const MINUTE: u64 = 60_000;

/// All panes: one waits for an approval, one for the answer to a question, one fails, one finishes, one exits, one was
/// interrupted, and the others work or are ready.
pub const SCENES: &[Scene] = &[
    Scene {
        session: "shop-api",
        window: "agent",
        tool: "claude",
        recording: "claude-2.1.197/tool-bash-approval-accepted",
        enters: 12_300,
        repeats: 10_900,
        waits: Some((14_000, 10 * MINUTE)),
        rests: MINUTE,
    },
    Scene {
        session: "billing",
        window: "agent",
        tool: "codex",
        recording: "codex-0.169.0/question-tool",
        enters: 8_600,
        repeats: 7_800,
        waits: Some((11_000, 8 * MINUTE)),
        rests: MINUTE,
    },
    Scene {
        session: "infra",
        window: "agent",
        tool: "claude",
        recording: "claude-2.1.329/api-error-500-gives-up",
        enters: 12_500,
        repeats: 10_400,
        waits: None,
        rests: 20 * MINUTE,
    },
    Scene {
        session: "docs",
        window: "agent",
        tool: "gemini",
        recording: "gemini-0.61.0/simple-success",
        enters: 6_700,
        repeats: 6_700,
        waits: None,
        rests: 5 * MINUTE,
    },
    Scene {
        session: "search",
        window: "agent",
        tool: "claude",
        recording: "claude-2.1.197/slow-stream-success",
        enters: 7_400,
        repeats: 6_500,
        waits: None,
        rests: 4_000,
    },
    Scene {
        session: "ingest",
        window: "agent",
        tool: "opencode",
        recording: "opencode-1.18.33/slow-stream-success",
        enters: 21_000,
        repeats: 14_200,
        waits: None,
        rests: 6_000,
    },
    Scene {
        session: "web",
        window: "agent",
        tool: "pi",
        recording: "pi-0.73.1/simple-success",
        enters: 8_500,
        repeats: 6_100,
        waits: None,
        rests: 15 * MINUTE,
    },
    Scene {
        session: "legacy",
        window: "agent",
        tool: "codex",
        recording: "codex-0.169.0/exit-ctrl-c",
        enters: 10_500,
        repeats: 9_500,
        waits: None,
        rests: 15 * MINUTE,
    },
    Scene {
        session: "mobile",
        window: "agent",
        tool: "copilot",
        recording: "copilot-1.0.102/slow-stream-success",
        enters: 21_500,
        repeats: 18_300,
        waits: None,
        rests: 2 * MINUTE,
    },
    Scene {
        session: "payments",
        window: "agent",
        tool: "qwen",
        recording: "qwen-0.24.4/interrupted-streaming",
        enters: 33_000,
        repeats: 26_100,
        waits: None,
        rests: 7 * MINUTE,
    },
    Scene {
        session: "notebooks",
        window: "agent",
        tool: "aider",
        recording: "aider-0.86.2/simple-success",
        enters: 37_000,
        repeats: 30_000,
        waits: None,
        rests: 9 * MINUTE,
    },
    Scene {
        session: "gateway",
        window: "agent",
        tool: "codex",
        recording: "codex-0.169.0/auto-tools",
        enters: 12_000,
        repeats: 8_600,
        waits: None,
        rests: 5_000,
    },
];

impl Scene {
    /// The scene that is played in a session.
    pub fn of(session: &str) -> Option<&'static Scene> {
        SCENES.iter().find(|scene| scene.session == session)
    }

    /// The scene's recording.
    ///
    /// # Errors
    /// The archive in the program is broken.
    pub fn recording(&self) -> Result<Recording, RecordingError> {
        Archive::parse("demo", ARCHIVE)?.recording(self.recording)
    }

    /// The agent's version, which the name of the recording's directory tells.
    pub fn version(&self) -> &'static str {
        let directory = self.recording.split('/').next().unwrap_or_default();
        directory.split_once('-').map_or("", |(_, version)| version)
    }

    /// Where the play begins when the demo opens.
    pub fn enters(&self) -> Span {
        Span::from_millis(self.enters)
    }

    /// Where it begins every other time.
    pub fn repeats(&self) -> Span {
        Span::from_millis(self.repeats)
    }

    /// Where and how long it waits for an answer.
    pub fn waits(&self) -> Option<(Span, Span)> {
        self.waits.map(|(at, length)| (Span::from_millis(at), Span::from_millis(length)))
    }

    /// How long it rests at the end.
    pub fn rests(&self) -> Span {
        Span::from_millis(self.rests)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::{EventKind, Player};

    #[test]
    fn every_scene_can_be_played() {
        assert_eq!(SCENES.len(), 12);
        for scene in SCENES {
            let recording = scene.recording().unwrap();
            let tag = (scene.tool, scene.version());
            assert_eq!((recording.header.tool.as_deref().unwrap(), recording.header.version.as_deref().unwrap()), tag);
            let (end, at) = (recording.duration(), scene.waits().map_or(scene.enters(), |(at, _)| at));
            assert!(scene.repeats() <= scene.enters() && scene.enters() <= at && at < end, "{}", scene.session);
            assert!(Player::new(&recording).any(|frame| frame.at <= scene.repeats()), "{}", scene.session);
            let resized = recording.events.iter().any(|event| matches!(event.kind, EventKind::Resize(_)));
            assert!(!resized, "{}: a pane of the demo keeps its size", scene.session);
            assert_eq!(Scene::of(scene.session), Some(scene));
        }
    }
}
