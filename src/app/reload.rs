//! Configuration, keymap, theme and profiles are reloaded when their files change, or when the operator asks for it, each
//! separately: if one has an error, the old version stays in force, and the error is shown with its place and what to do.

use std::sync::Arc;

use super::App;
use super::appearance::{self, profiles, stamps, tell_what_left};
use crate::clock;
use crate::config::{self, Config};
use crate::ids::ServerId;
use crate::poll;
use crate::status::Status;
use crate::ui::{Theme, Topic, UiOptions};

impl App {
    /// Reads the files again if they have changed.
    pub(super) fn follow_files(&mut self) {
        if self.watch.is_due(&self.config.ui.theme) {
            self.reload();
            self.want_frame(super::FRAME);
        }
    }

    /// Reads configuration, profiles, keymap and theme again.
    pub(super) fn reload(&mut self) {
        let before = stamps(&self.watch.source, &self.config.ui.theme);
        let (config, profiles, appearance) =
            (self.config.clone(), self.engine.settings().profiles.clone(), self.ui.options().clone());
        let mut later = Vec::new();
        let mut faults: Vec<(Topic, String)> = Vec::new();
        // Profiles first: whoever watches anew does so with them.
        if let Err((what, hint)) = self.reload_profiles() {
            faults.push((Topic::Profiles, format!("{what} ({hint})")));
        }
        match self.reload_config() {
            Ok(tables) => later = tables,
            Err(fault) => faults.push((Topic::Config, fault)),
        }
        let directories = self.watch.source.directories();
        let (options, wrong) = appearance::options_again(&self.config.ui, &directories, self.ui.options());
        self.ui.set_options(UiOptions { templates: self.config.templates.clone(), ..options });
        let wrong = wrong.into_iter().flatten();
        faults.extend(wrong.map(|(topic, fault)| (topic, format!("{fault} ({})", fault.hint))));
        // Also what is wrong is read once, and again when it has changed.
        self.watch.note(before, &self.config.ui.theme);
        let changed = config != self.config
            || !Arc::ptr_eq(&profiles, &self.engine.settings().profiles)
            || appearance != *self.ui.options();
        self.tell_of_reload(changed, &later, faults);
    }

    /// Shows everything in a theme that is compiled in, until the configuration is read again.
    pub(super) fn show_in(&mut self, name: &str) {
        let Some(theme) = Theme::shipped(name) else { return };
        self.ui.set_options(UiOptions { theme, ..self.ui.options().clone() });
        let message = format!("theme {name}, until the dashboard ends; `theme = \"{name}\"` in [ui] keeps it");
        self.ui.notify_about(Topic::Theme, Status::Finished, message, clock::now());
    }

    /// Tells all that is wrong, each file for itself, and what holds now.
    fn tell_of_reload(&mut self, changed: bool, later: &[&str], faults: Vec<(Topic, String)>) {
        [Topic::Files, Topic::Config, Topic::Left, Topic::Keymap, Topic::Theme, Topic::Profiles]
            .iter()
            .for_each(|topic| self.ui.retire(topic));
        let now = clock::now();
        if changed || faults.is_empty() {
            let later = match later {
                [] => String::new(),
                later => format!("; {} takes effect at the next start", later.join(" and ")),
            };
            let candidates = &self.watch.source.candidates;
            let misnamed = config::misnamed(candidates).into_iter().next();
            let misnamed = misnamed.filter(|_| !candidates.iter().any(|path| path.exists()));
            let (status, message) = match misnamed {
                None => (Status::Finished, format!("configuration reloaded{later}")),
                Some(path) => (Status::Stalled, config::not_read(&path)),
            };
            self.ui.notify_about(Topic::Files, status, message, now);
        }
        let but = if changed { "left as it was" } else { "nothing was changed" };
        for (topic, fault) in faults {
            self.ui.notify_about(topic, Status::Failed, format!("{but}: {fault}"), now);
        }
    }

    /// Takes over the profiles, if their files have changed.
    fn reload_profiles(&mut self) -> Result<(), (String, String)> {
        let files = profiles(&stamps(&self.watch.source, &self.config.ui.theme));
        if files == self.watch.profiles {
            return Ok(());
        }
        let profiles = Arc::new((self.watch.source.profiles)()?);
        self.watch.profiles = files;
        self.engine.set_profiles(&profiles).map_err(|error| (error.to_string(), error.hint()))
    }

    /// Takes over the whole configuration or nothing of it. Returns the tables that hold from the next start only.
    fn reload_config(&mut self) -> Result<Vec<&'static str>, String> {
        let read = (self.watch.source.read)();
        let (config, servers) = read.map_err(|error| format!("{error} ({})", error.hint))?;
        let watches = |config: &Config| {
            (config.watch.clone(), config.transports.clone(), config.rules.clone(), config.records.clone())
        };
        if watches(&config) != watches(&self.config) || !is_same(&servers, &self.engine.servers()) {
            let watched = self.engine.set_servers(poll::Settings::new(&config), &servers);
            watched.map_err(|error| format!("{error} ({})", error.hint()))?;
        }
        self.engine.set_config(&config);
        self.tty.use_mouse(config.ui.mouse).map_err(|error| error.to_string())?;
        let later = [
            ("[tracker]", config.tracker != self.config.tracker),
            ("[history]", config.history != self.config.history),
        ];
        // What does not hold yet stays what it was, so that it is reported again.
        let (tracker, history) = (self.config.tracker.clone(), self.config.history.clone());
        self.config = Config { tracker, history, ..config };
        tell_what_left(&mut self.ui, &self.config);
        Ok(later.into_iter().filter(|(_, changed)| *changed).map(|(table, _)| table).collect())
    }
}

/// Whether both name the same servers, in whichever order they were found.
fn is_same(some: &[ServerId], others: &[ServerId]) -> bool {
    some.len() == others.len() && some.iter().all(|server| others.contains(server))
}
