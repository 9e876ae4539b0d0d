//! What users write: the configuration, a keymap, a theme, a profile.
#![no_main]

use fleetwatch::config::{Config, DEFAULT_TEXT};
use fleetwatch::profile::ProfileSet;
use fleetwatch::screen::{PaneFacts, Screen};
use fleetwatch::ui::{Context, Keymap, Theme};
use fleetwatch_fuzz::{root, scratch, seed};
use libfuzzer_sys::fuzz_target;

fn seeds() -> Vec<Vec<u8>> {
    let read = |path: std::path::PathBuf| std::fs::read(path).expect("it is there");
    let folder = |name: &str| {
        let files = std::fs::read_dir(root().join(name)).expect("a folder");
        files.map(|file| read(file.expect("a file").path())).collect::<Vec<_>>()
    };
    let of = |kind: u8, text: Vec<u8>| [vec![kind], text].concat();
    // Piece by piece, as what is wrong in one ends the reading; also with what is commented out.
    let pieces = |kind, text: &str| text.split("\n\n").map(|piece| of(kind, piece.into())).collect::<Vec<_>>();
    let keymap = String::from_utf8(read(root().join("config/keymap.toml"))).expect("text");
    let mut seeds =
        [pieces(0, DEFAULT_TEXT), pieces(0, &DEFAULT_TEXT.replace("\n# ", "\n")), pieces(1, &keymap)].concat();
    seeds.extend(folder("config/themes").into_iter().map(|text| of(2, text)));
    seeds.extend(folder("config/profiles").into_iter().map(|text| of(3, text)));
    seeds.extend(["parrot.toml", "scout.toml"].map(|name| of(3, read(root().join("tests/it/support").join(name)))));
    seeds
}

fuzz_target!(init: seed(4096, seeds), |data: &[u8]| {
    let Some((kind, text)) = data.split_first() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    match kind % 4 {
        0 => {
            let path = scratch("config.toml");
            std::fs::write(&path, text).expect("it is written");
            match Config::load(&path) {
                Ok(config) => drop(config.notices()),
                Err(error) => drop(error.to_string()),
            }
        }
        1 => match Keymap::parse(text) {
            Ok(keymap) => {
                let keymap = Keymap::shipped().overlaid(keymap);
                Context::all().for_each(|context| assert!(keymap.bindings(context).count() < 1 << 20));
            }
            Err(error) => drop(error.to_string()),
        },
        2 => match Theme::parse(text) {
            Ok(theme) => drop(theme.frames(true)),
            Err(error) => drop(error.to_string()),
        },
        _ => {
            let checked = ProfileSet::check("own.toml", text);
            let mut set = ProfileSet::default();
            if let (Ok(_), Ok(())) = (&checked, set.add("own.toml", text)) {
                let screen = Screen::from_capture(b"> hello\n- an answer\n? what\n> 1. yes\n  2. no\n", 40, 10);
                for profile in set.profiles() {
                    profile.read(&screen, &PaneFacts::default());
                }
            }
        }
    }
});
