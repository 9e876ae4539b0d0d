//! All recordings with their frames and what their profiles read from them. Many tests ask for that, so it is done once.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use crate::scoring::score::in_parallel;
use fleetwatch::profile::{Classification, Profile, ProfileSet};
use fleetwatch::recording::{Archive, Frame, Player, Recording};

/// One that was played.
pub struct Played {
    /// Its name in the archive, with its folder.
    pub name: &'static str,
    pub recording: Recording,
    pub frames: Vec<Frame>,
    pub read: Option<Read>,
}

/// What the profile of a recorded version reads.
pub struct Read {
    pub profile: Arc<Profile>,
    /// One for each frame.
    pub readings: Vec<Classification>,
}

pub fn archive() -> &'static Archive {
    static ARCHIVE: OnceLock<Archive> = OnceLock::new();
    ARCHIVE.get_or_init(|| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("recordings/recordings.zst");
        Archive::open(&path).expect("the archive can be read")
    })
}

/// All of them, in the archive's order.
pub fn played() -> &'static [Played] {
    static PLAYED: OnceLock<Vec<Played>> = OnceLock::new();
    PLAYED.get_or_init(|| {
        let profiles = ProfileSet::builtin();
        let names: Vec<&'static str> = archive().names().collect();
        in_parallel(&names, |name| play(name, &profiles))
    })
}

fn play(name: &'static str, profiles: &ProfileSet) -> Played {
    let recording = archive().recording(name).expect("a recording can be read");
    let frames: Vec<Frame> = Player::new(&recording).collect();
    let (tool, version) = (recording.header.tool.as_deref(), recording.header.version.as_deref());
    let selected = tool.and_then(|tool| profiles.select(tool, version, false));
    let read = selected.map(|selected| {
        let profile = selected.profile;
        let readings = frames.iter().map(|frame| profile.read(&frame.screen, &frame.facts)).collect();
        Read { profile, readings }
    });
    Played { name, recording, frames, read }
}

impl Played {
    /// Its frames with what was read from them; none of a program that has no profile.
    pub fn readings(&self) -> impl Iterator<Item = (&Frame, &Classification)> {
        self.frames.iter().zip(self.read.iter().flat_map(|read| &read.readings))
    }

    /// Those on which something was printed that was not there before.
    pub fn distinct(&self) -> impl Iterator<Item = (&Frame, &Classification)> {
        let mut seen = HashSet::new();
        self.readings().filter(move |(frame, _)| frame.printed && seen.insert((&frame.screen, &frame.facts.title)))
    }
}
