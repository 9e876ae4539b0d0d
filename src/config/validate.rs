//! From the file's words to checked values, or to the place where they are wrong.

mod syntax;
mod tell;

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};

use super::file::{
    File, HistoryTable, RecordsTable, ServerTable, TaskTable, TemplateTable, TerminalTable, TrackerTable, UiTable,
    WatchTable,
};
use super::rules::BadTemplate;
use super::rules::Patterns;
use super::{
    BACKGROUND_MINUTES, Config, ConfigError, Field, RecordsConfig, Rules, Template, TerminalRule, UiConfig,
    WatchConfig, has_theme,
};
use crate::fleet::{Declared, ServerId, Socket};
use crate::history;
use crate::pattern::Pattern;
use crate::time::Span;
use crate::{tmux, tracker};

/// Milliseconds of a day.
const DAY: u64 = 24 * 3600 * 1000;

/// The themes that there are. The dashboard owns them; a test holds the two lists together.
pub const THEMES: &[&str] = &["dark", "light", "high-contrast", "no-colour"];

/// Checks a configuration's text.
///
/// # Errors
/// The first fault, with its place.
pub(super) fn parse(text: &str, path: &Path) -> Result<Config, ConfigError> {
    let file: File = toml::from_str(text).map_err(|error| syntax::explain(&error, text, path))?;
    // The same text a second time, for the places of its values: the tables above stay plain values that way.
    let document = DeTable::parse(text).map_err(|error| syntax::explain(&error, text, path))?;
    Source { path, text, root: document.get_ref() }.config(&file)
}

/// The text that is checked, with the places of its values.
struct Source<'a> {
    path: &'a Path,
    text: &'a str,
    root: &'a DeTable<'a>,
}

/// A step from a table to a value in it.
#[derive(Clone, Copy, Debug)]
enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

impl Source<'_> {
    fn config(&self, file: &File) -> Result<Config, ConfigError> {
        Ok(Config {
            watch: self.watch(&file.watch)?,
            servers: self.servers(&file.server)?,
            rules: self.rules(file)?,
            tracker: self.tracker(&file.tracker)?,
            history: self.history(&file.history)?,
            records: self.records(&file.records)?,
            templates: self.templates(&file.template)?,
            ui: self.ui(&file.ui)?,
            notify: self.notify(&file.notify)?,
            follow_up: self.follow_ups(&file.follow_up)?,
        })
    }

    fn watch(&self, table: &WatchTable) -> Result<WatchConfig, ConfigError> {
        let default = WatchConfig::default();
        let milliseconds = |key, value: Option<i64>, default: Span, least, most| {
            self.whole("watch", key, value, default.as_millis(), least, most).map(Span::from_millis)
        };
        let watch = WatchConfig {
            tick: milliseconds("tick_ms", table.tick_ms, default.tick, 50, 60_000)?,
            fastest_tick: milliseconds("fastest_tick_ms", table.fastest_tick_ms, default.fastest_tick, 50, 60_000)?,
            slowest_tick: milliseconds("slowest_tick_ms", table.slowest_tick_ms, default.slowest_tick, 50, 60_000)?,
            timeout: milliseconds("timeout_ms", table.timeout_ms, default.timeout, 100, 60_000)?,
            background: table.background.unwrap_or(default.background),
            background_idle: self
                .whole("watch", "background_minutes", table.background_minutes, BACKGROUND_MINUTES, 1, 7 * 24 * 60)
                .map(|minutes| Span::from_secs(minutes * 60))?,
        };
        if watch.fastest_tick > watch.tick || watch.tick > watch.slowest_tick {
            let key = if table.tick_ms.is_some() {
                "tick_ms"
            } else if table.fastest_tick_ms.is_some() {
                "fastest_tick_ms"
            } else {
                "slowest_tick_ms"
            };
            let what = format!(
                "the ticks are out of order: fastest {} ms, normal {} ms, slowest {} ms",
                watch.fastest_tick.as_millis(),
                watch.tick.as_millis(),
                watch.slowest_tick.as_millis()
            );
            let hint = "choose fastest_tick_ms <= tick_ms <= slowest_tick_ms; a key that is left out has its default";
            return Err(self.fault(&[Step::Key("watch"), Step::Key(key)], what, hint));
        }
        Ok(watch)
    }

    fn servers(&self, tables: &[ServerTable]) -> Result<Vec<ServerId>, ConfigError> {
        let mut servers = Vec::new();
        for (index, table) in tables.iter().enumerate() {
            let at = |key| [Step::Key("server"), Step::Index(index), Step::Key(key)];
            for (key, value) in [("socket", &table.socket), ("path", &table.path), ("host", &table.host)] {
                self.word(&at(key), key, value.as_deref())?;
            }
            let socket = match (&table.socket, &table.path) {
                (Some(_), Some(_)) => {
                    let hint = "keep `socket` for a name as in `tmux -L`, or `path` for a path as in `tmux -S`";
                    return Err(self.fault(&at("path"), "a server has `socket` and `path`".to_owned(), hint));
                }
                (Some(name), None) if name.contains('/') => {
                    let hint = format!("write it as a path: path = \"{name}\"");
                    return Err(self.fault(&at("socket"), format!("`{name}` is a path, not a socket's name"), hint));
                }
                (Some(name), None) if name == "default" => Socket::Default,
                (Some(name), None) => Socket::Name(name.clone()),
                (None, Some(path)) if !path.starts_with('/') => {
                    let hint = "write the whole path of the socket, from `/` on";
                    return Err(self.fault(&at("path"), format!("`{path}` is not an absolute path"), hint));
                }
                (None, Some(path)) => Socket::Path(PathBuf::from(path)),
                (None, None) => Socket::Default,
            };
            let server = ServerId { host: table.host.clone(), socket };
            if let Err(error) = tmux::check_name(&server) {
                // A socket's name that is right here may be wrong on a host.
                let key = match error {
                    tmux::Error::BadName { what: "host", .. } => "host",
                    _ if table.path.is_some() => "path",
                    _ => "socket",
                };
                return Err(self.fault(&at(key), error.to_string(), error.hint()));
            }
            if servers.contains(&server) {
                let hint = "remove one of the two [[server]] tables";
                let step = [Step::Key("server"), Step::Index(index)];
                return Err(self.fault(&step, format!("the server `{server}` is named twice"), hint));
            }
            servers.push(server);
        }
        Ok(servers)
    }

    fn rules(&self, file: &File) -> Result<Rules, ConfigError> {
        let mut ignored = Vec::new();
        for (index, text) in file.watch.ignore.iter().enumerate() {
            ignored.push(self.pattern(&[Step::Key("watch"), Step::Key("ignore"), Step::Index(index)], text)?);
        }
        let ignore = Patterns::new(ignored).map_err(|error| {
            let hint = "use fewer or shorter patterns";
            self.fault(&[Step::Key("watch"), Step::Key("ignore")], format!("cannot be compiled: {error}"), hint)
        })?;
        let (terminals, tasks) = (self.terminals(&file.terminal)?, self.tasks(&file.task)?);
        Ok(Rules { discover: file.watch.discover.unwrap_or(Rules::default().discover), ignore, terminals, tasks })
    }

    fn terminals(&self, tables: &[TerminalTable]) -> Result<Vec<TerminalRule>, ConfigError> {
        let mut names: HashMap<&str, usize> = HashMap::new();
        let mut rules = Vec::new();
        for (index, table) in tables.iter().enumerate() {
            let at = |key| [Step::Key("terminal"), Step::Index(index), Step::Key(key)];
            let pattern =
                |key, text: &Option<String>| text.as_deref().map(|text| self.pattern(&at(key), text)).transpose();
            let rule = TerminalRule {
                session: pattern("session", &table.session)?,
                window: pattern("window", &table.window)?,
                pane: pattern("pane", &table.pane)?,
                socket: pattern("socket", &table.socket)?,
                host: pattern("host", &table.host)?,
                declared: Declared {
                    name: table.name.clone(),
                    tool: table.tool.clone(),
                    version: table.version.clone(),
                    label: table.label.clone(),
                    ..Declared::default()
                },
                pin: table.pin,
                mute: table.mute,
            };
            let words =
                [("name", &table.name), ("tool", &table.tool), ("version", &table.version), ("label", &table.label)];
            for (key, value) in words {
                self.word(&at(key), key, value.as_deref())?;
            }
            if let Some(name) = table.name.as_deref() {
                if name.contains(':') || name.starts_with(['%', '-']) {
                    let hint = "a name has no `:` and begins with neither `%` nor `-`, so that it can be told from a \
                                tmux target and from an option";
                    return Err(self.fault(&at("name"), format!("`{name}` cannot be a terminal's name"), hint));
                }
                if let Some(first) = names.insert(name, index) {
                    let line = self.line_of(&[Step::Key("terminal"), Step::Index(first), Step::Key("name")]);
                    let hint = format!("give each terminal its own name; the first `{name}` is on line {line}");
                    return Err(self.fault(&at("name"), format!("the name `{name}` is given twice"), hint));
                }
            }
            if rule.session.is_none() && rule.window.is_none() && rule.pane.is_none() {
                let what = "a terminal that names no pane".to_owned();
                let hint = "give it `session`, `window` or `pane`; session = \"*\" means every pane";
                return Err(self.fault(&[Step::Key("terminal"), Step::Index(index)], what, hint));
            }
            rules.push(rule);
        }
        Ok(rules)
    }

    fn tracker(&self, table: &TrackerTable) -> Result<tracker::Settings, ConfigError> {
        let default = tracker::Settings::default();
        let seconds = |key, value, default, least, most| self.seconds("tracker", key, value, default, least, most);
        let whole = |key, value, default, least, most| self.whole("tracker", key, value, default, least, most);
        Ok(tracker::Settings {
            settle: seconds(
                "completion_stability_seconds",
                table.completion_stability_seconds,
                default.settle,
                0.1,
                60.0,
            )?,
            no_reaction: seconds("no_reaction_seconds", table.no_reaction_seconds, default.no_reaction, 1.0, 600.0)?,
            retraction: seconds("retraction_seconds", table.retraction_seconds, default.retraction, 0.0, 600.0)?,
            unknown_to_stalled: seconds(
                "unknown_to_stalled_timeout_seconds",
                table.unknown_to_stalled_timeout_seconds,
                default.unknown_to_stalled,
                1.0,
                3600.0,
            )?,
            stale_active_recovery: seconds(
                "stale_active_recovery_seconds",
                table.stale_active_recovery_seconds,
                default.stale_active_recovery,
                1.0,
                600.0,
            )?,
            final_stable_active_recovery: seconds(
                "final_stable_active_recovery_seconds",
                table.final_stable_active_recovery_seconds,
                default.final_stable_active_recovery,
                1.0,
                3600.0,
            )?,
            stable: seconds("stable_seconds", table.stable_seconds, default.stable, 0.0, 600.0)?,
            failed_probes: u32::try_from(whole(
                "failed_probes",
                table.failed_probes,
                u64::from(default.failed_probes),
                1,
                100,
            )?)
            .unwrap_or(default.failed_probes),
            failed_probe_time: seconds(
                "failed_probe_seconds",
                table.failed_probe_seconds,
                default.failed_probe_time,
                0.1,
                600.0,
            )?,
            doubt: default.doubt,
            unrecorded_rest: default.unrecorded_rest,
            kept_transitions: usize::try_from(whole(
                "kept_transitions",
                table.kept_transitions,
                default.kept_transitions as u64,
                1,
                100_000,
            )?)
            .unwrap_or(default.kept_transitions),
        })
    }

    fn history(&self, table: &HistoryTable) -> Result<history::Settings, ConfigError> {
        let default = history::Settings::default();
        let at = [Step::Key("history"), Step::Key("path")];
        self.word(&at, "path", table.path.as_deref())?;
        let path = table.path.as_deref().map(PathBuf::from);
        if path.as_deref().is_some_and(Path::is_relative) {
            let what = format!("`{}` is not an absolute path", path.unwrap_or_default().display());
            return Err(self.fault(&at, what, "write the whole path of the file, from `/` on"));
        }
        let days = self.whole("history", "keep_days", table.keep_days, default.keep.as_millis() / DAY, 1, 36_500)?;
        let mib = self.whole("history", "max_mib", table.max_mib, default.max_bytes >> 20, 1, 1 << 20)?;
        Ok(history::Settings {
            enabled: table.enabled.unwrap_or(default.enabled),
            keep: Span::from_millis(days * DAY),
            max_bytes: mib << 20,
            path,
        })
    }

    fn records(&self, table: &RecordsTable) -> Result<RecordsConfig, ConfigError> {
        let patterns = |key, texts: &[String]| {
            let pattern = |(index, text): (usize, &String)| {
                self.pattern(&[Step::Key("records"), Step::Key(key), Step::Index(index)], text)
            };
            texts.iter().enumerate().map(pattern).collect::<Result<Vec<_>, _>>()
        };
        let is_path = |text: &&String| text.starts_with(['/', '*', '{', '[']) || text.is_empty();
        if let Some((index, text)) = table.except_directories.iter().enumerate().find(|(_, text)| !is_path(text)) {
            let at = [Step::Key("records"), Step::Key("except_directories"), Step::Index(index)];
            let hint = "write the whole path of the directory, from `/` on";
            return Err(self.fault(&at, format!("`{text}` matches no directory"), hint));
        }
        Ok(RecordsConfig {
            enabled: table.enabled.unwrap_or(true),
            except: patterns("except", &table.except)?,
            except_directories: patterns("except_directories", &table.except_directories)?,
        })
    }

    /// A whole number of a table, within bounds.
    fn whole(
        &self,
        table: &str,
        key: &str,
        value: Option<i64>,
        default: u64,
        least: u64,
        most: u64,
    ) -> Result<u64, ConfigError> {
        let Some(value) = value else { return Ok(default) };
        u64::try_from(value).ok().filter(|value| (least..=most).contains(value)).ok_or_else(|| {
            let at = [Step::Key(table), Step::Key(key)];
            self.out_of_range(&at, key, &value.to_string(), &format!("{least} to {most}"))
        })
    }

    /// A number of seconds of a table, within bounds.
    fn seconds(
        &self,
        table: &str,
        key: &str,
        value: Option<f64>,
        default: Span,
        least: f64,
        most: f64,
    ) -> Result<Span, ConfigError> {
        self.seconds_of(&[Step::Key(table), Step::Key(key)], (key, value, default, least, most))
    }

    /// The same for a value anywhere: its key, the value, the default, the least and the most.
    fn seconds_of(
        &self,
        at: &[Step<'_>],
        (key, value, default, least, most): (&str, Option<f64>, Span, f64, f64),
    ) -> Result<Span, ConfigError> {
        let Some(value) = value else { return Ok(default) };
        // The comparison is false for NaN as well, which TOML can write.
        if !(least..=most).contains(&value) {
            return Err(self.out_of_range(at, key, &value.to_string(), &format!("{least} to {most} seconds")));
        }
        // The bounds above keep the product far inside of what the integer holds.
        Ok(Span::from_millis((value * 1000.0).round() as u64))
    }

    fn out_of_range(&self, at: &[Step<'_>], key: &str, value: &str, range: &str) -> ConfigError {
        self.fault(at, format!("`{key}` is out of range: {value}"), format!("`{key}` takes {range}"))
    }

    fn pattern(&self, at: &[Step<'_>], text: &str) -> Result<Pattern, ConfigError> {
        if text.is_empty() {
            return Err(self.fault(at, "an empty pattern matches nothing".to_owned(), "write `*` for everything"));
        }
        Pattern::new(text).map_err(|error| {
            let hint = "patterns are globs: `*` any text, `?` one character, `[ab]` one of these, `{a,b}` either; \
                        `\\\\` in front takes one literally";
            self.fault(at, format!("bad pattern `{text}`: {}", error.kind()), hint)
        })
    }

    /// Refuses an empty text and control characters where a name is wanted.
    fn word(&self, at: &[Step<'_>], key: &str, value: Option<&str>) -> Result<(), ConfigError> {
        match value {
            Some("") => Err(self.fault(at, format!("`{key}` is empty"), "write a value, or leave the key out")),
            Some(text) if text.chars().any(char::is_control) => Err(self.fault(
                at,
                format!("`{key}` has a control character in it"),
                "write it in printable characters",
            )),
            _ => Ok(()),
        }
    }

    fn fault(&self, at: &[Step<'_>], what: String, hint: impl Into<String>) -> ConfigError {
        ConfigError::at(self.path, self.text, self.span(at), what, hint.into())
    }

    fn line_of(&self, at: &[Step<'_>]) -> usize {
        ConfigError::at(self.path, self.text, self.span(at), String::new(), String::new())
            .position
            .map_or(0, |position| position.line)
    }

    /// The bytes of a value, or of the nearest table around it that the file has.
    fn span(&self, steps: &[Step<'_>]) -> Option<Range<usize>> {
        let (first, rest) = steps.split_first()?;
        let Step::Key(key) = first else { return None };
        let mut value = self.root.get(*key)?;
        for step in rest {
            let inner = match (step, value.get_ref()) {
                (Step::Key(key), DeValue::Table(table)) => table.get(*key),
                (Step::Index(index), DeValue::Array(array)) => array.get(*index),
                _ => None,
            };
            match inner {
                Some(inner) => value = inner,
                None => break,
            }
        }
        Some(value.span())
    }

    fn ui(&self, table: &UiTable) -> Result<UiConfig, ConfigError> {
        let default = UiConfig::default();
        let is_known = |theme: &str| THEMES.contains(&theme) || has_theme(self.path, theme);
        if let Some(theme) = table.theme.as_deref().filter(|theme| !is_known(theme)) {
            let hint = syntax::suggestion(theme, THEMES, "themes");
            return Err(self.fault(&[Step::Key("ui"), Step::Key("theme")], format!("unknown theme `{theme}`"), hint));
        }
        Ok(UiConfig {
            theme: table.theme.clone().unwrap_or(default.theme),
            unicode: table.unicode.unwrap_or(default.unicode),
            motion: table.motion.unwrap_or(default.motion),
            mouse: table.mouse.unwrap_or(default.mouse),
            confirm: table.confirm.unwrap_or(default.confirm),
        })
    }

    fn tasks(&self, tables: &[TaskTable]) -> Result<Vec<TerminalRule>, ConfigError> {
        let mut rules = Vec::new();
        for (index, table) in tables.iter().enumerate() {
            let at = |key| [Step::Key("task"), Step::Index(index), Step::Key(key)];
            let pattern =
                |key, text: &Option<String>| text.as_deref().map(|text| self.pattern(&at(key), text)).transpose();
            let rule = TerminalRule {
                session: pattern("session", &table.session)?,
                window: pattern("window", &table.window)?,
                socket: pattern("socket", &table.socket)?,
                host: pattern("host", &table.host)?,
                ..TerminalRule::default()
            };
            if rule.session.is_none() && rule.window.is_none() {
                let what = "a task that names no session and no window".to_owned();
                let hint = "give it `session` or `window`, such as session = \"builds*\"";
                return Err(self.fault(&[Step::Key("task"), Step::Index(index)], what, hint));
            }
            rules.push(rule);
        }
        Ok(rules)
    }

    fn templates(&self, tables: &[TemplateTable]) -> Result<Vec<Template>, ConfigError> {
        tables.iter().enumerate().map(|(index, table)| self.template(index, table)).collect()
    }

    fn template(&self, index: usize, table: &TemplateTable) -> Result<Template, ConfigError> {
        let at = |key| [Step::Key("template"), Step::Index(index), Step::Key(key)];
        for (key, value) in [("name", &table.name), ("text", &table.text)] {
            if value.is_none() {
                let hint = "a template is a `name` to choose it by, and the `text` that it begins a prompt with";
                return Err(self.fault(&at(key), format!("a template has no `{key}`"), hint));
            }
        }
        let (name, text) = (table.name.as_deref().unwrap_or_default(), table.text.as_deref().unwrap_or_default());
        self.word(&at("name"), "name", Some(name))?;
        if let Some(c) = text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
            let what = format!("the text of a template has the control character U+{:04X}", u32::from(c));
            return Err(self.fault(&at("text"), what, "no prompt may contain it; take it out"));
        }
        Template::parse(name, text).map_err(|bad| {
            let known: Vec<&str> = Field::ALL.iter().map(|field| field.word()).collect();
            match bad {
                BadTemplate::Field(field) => {
                    let hint = syntax::suggestion(&field, &known, "fields");
                    self.fault(&at("text"), format!("no terminal has a field `{field}`"), hint)
                }
                BadTemplate::Brace => {
                    let hint = "a field is written `{name}`, a brace `{{` or `}}`";
                    self.fault(&at("text"), "a brace stands alone in the text of a template".to_owned(), hint)
                }
            }
        })
    }
}
