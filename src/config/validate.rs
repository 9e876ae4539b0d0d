//! Turns the values of the file into checked ones, or says where they are wrong.
//!
//! [`RULES`] says what each value must be, independent of the others. Once all values have passed these rules, what is
//! left to check is whether they fit together.

mod left;
mod servers;
mod syntax;

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use serde::Deserialize as _;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{ConfigError, ValueProblem, suggestion};
use super::file::{
    ConfigFile, FollowUpTable, HistoryTable, NotifyTable, ServerTable, TaskTable, TemplateTable, TrackerTable,
    WatchTable,
};
use super::{Config, NewConfig, Rules, TerminalRule, Ticks, UiConfig, WatchConfig, theme_file};
use crate::address::{Network, WebAddress};
use crate::follow_up::FollowUpRule;
use crate::history;
use crate::notify::{COMMAND_DEADLINE, Means, NotifyRule, Occasion, QuietHours, Webhook, WebhookShape};
use crate::pattern::Pattern;
use crate::present::template::{Field, Template, TemplateError};
use crate::state::unfit_name;
use crate::time::Span;
use crate::tracker;

/// Milliseconds of a day.
const DAY: u64 = 24 * 3600 * 1000;

/// The default of the shortest time between two notices of a rule.
const DISTANCE: Span = Span::from_secs(5);
/// The default of how many minutes a message is kept for an agent that is not there.
const KEEP_MINUTES: u64 = 60;

/// The built-in themes. The dashboard owns them; a test compares the two lists.
pub const THEMES: &[&str] = &["dark", "light", "high-contrast", "colour-blind", "no-colour"];

fn fault(what: impl Into<String>, hint: impl Into<String>) -> Option<ValueProblem> {
    Some((what.into(), hint.into()))
}

/// What a value must be. Its type has been checked before.
enum Rule {
    /// A whole number from one to another.
    Whole(i64, i64),
    /// A number of seconds from one to another.
    Seconds(f64, f64),
    /// A printable text that is not empty.
    Word,
    Glob,
    /// One of the words of a type.
    OneOf(fn() -> Vec<&'static str>),
    /// A text in which this finds no fault.
    Text(fn(&str) -> Option<ValueProblem>),
    /// The same of a list of texts.
    List(fn(&[&str]) -> Option<ValueProblem>),
}

/// The rule for each of these keys. Unless it is for lists, it is for each item of a list.
const RULES: &[(&str, &[&str], Rule)] = &[
    ("watch", &["ignore"], Rule::Glob),
    ("watch", &["tick_ms", "fastest_tick_ms", "slowest_tick_ms"], Rule::Whole(50, 60_000)),
    ("watch", &["timeout_ms"], Rule::Whole(100, 60_000)),
    ("watch", &["background_minutes"], Rule::Whole(1, 7 * 24 * 60)),
    ("server", &["socket", "path", "host", "hosts"], Rule::Word),
    ("server", &["hosts"], Rule::Text(no_host_name)),
    ("transport", &["hosts"], Rule::Glob),
    ("transport", &["command", "terminal"], Rule::List(no_command)),
    ("terminal", &["session", "window", "pane", "socket", "host"], Rule::Glob),
    ("terminal", &["name", "tool", "version", "label"], Rule::Word),
    ("terminal", &["name"], Rule::Text(no_terminal_name)),
    ("task", &["session", "window", "socket", "host"], Rule::Glob),
    ("tracker", &["completion_stability_seconds"], Rule::Seconds(0.1, 60.0)),
    ("tracker", &["no_reaction_seconds", "stale_active_recovery_seconds"], Rule::Seconds(1.0, 600.0)),
    ("tracker", &["retraction_seconds", "stable_seconds"], Rule::Seconds(0.0, 600.0)),
    ("tracker", &["unknown_to_stalled_timeout_seconds"], Rule::Seconds(1.0, 3600.0)),
    ("tracker", &["final_stable_active_recovery_seconds"], Rule::Seconds(1.0, 3600.0)),
    ("tracker", &["failed_probes"], Rule::Whole(1, 100)),
    ("tracker", &["failed_probe_seconds"], Rule::Seconds(0.1, 600.0)),
    ("tracker", &["kept_transitions"], Rule::Whole(1, 100_000)),
    ("history", &["keep_days"], Rule::Whole(1, 36_500)),
    ("history", &["max_mib"], Rule::Whole(1, 1 << 20)),
    ("history", &["path"], Rule::Word),
    ("history", &["path"], Rule::Text(no_whole_path)),
    ("records", &["except_directories"], Rule::Text(no_directory)),
    ("records", &["except", "except_directories"], Rule::Glob),
    ("template", &["name"], Rule::Word),
    ("template", &["text"], Rule::Text(no_template)),
    ("notify", &["on"], Rule::OneOf(Occasion::words)),
    ("notify", &["by"], Rule::OneOf(Means::words)),
    ("notify", &["terminal"], Rule::Glob),
    ("notify", &["command"], Rule::List(no_command)),
    ("notify", &["command_seconds"], Rule::Seconds(0.1, 600.0)),
    ("notify", &["command_environment"], Rule::List(no_variables)),
    ("notify", &["webhook"], Rule::Text(no_webhook)),
    ("notify", &["webhook_shape"], Rule::OneOf(WebhookShape::words)),
    ("notify", &["webhook_secret", "webhook_token"], Rule::Text(|name| no_variables(&[name]))),
    ("notify", &["quiet_hours"], Rule::Text(no_quiet_hours)),
    ("notify", &["minimum_distance_seconds"], Rule::Seconds(0.0, 86_400.0)),
    ("serve", &["private_networks"], Rule::Text(no_network)),
    ("new", &["worktrees"], Rule::Text(no_whole_path)),
    ("new", &["copy"], Rule::Text(no_name_below)),
    ("follow_up", &["on"], Rule::OneOf(Occasion::words)),
    ("follow_up", &["from"], Rule::Glob),
    ("follow_up", &["to"], Rule::Word),
    ("follow_up", &["to"], Rule::Text(no_agent_name)),
    ("follow_up", &["template"], Rule::Text(no_message)),
    ("follow_up", &["keep_minutes"], Rule::Whole(1, 7 * 24 * 60)),
];

impl Rule {
    /// The first fault in the value of a key, and its place.
    fn check(&self, key: &str, value: &Spanned<DeValue<'_>>) -> Option<(Range<usize>, ValueProblem)> {
        let found = match (self, value.get_ref()) {
            (Rule::List(find), DeValue::Array(items)) => {
                find(&items.iter().filter_map(|item| item.get_ref().as_str()).collect::<Vec<_>>())
            }
            (_, DeValue::Array(items)) => return items.iter().find_map(|item| self.check(key, item)),
            (Rule::Whole(least, most), value) => {
                let number = value.as_integer().and_then(|it| i64::from_str_radix(it.as_str(), it.radix()).ok());
                let out = number.filter(|number| !(least..=most).contains(&number));
                out.and_then(|number| out_of_range(key, &number.to_string(), &format!("{least} to {most}")))
            }
            (Rule::Seconds(least, most), value) => {
                let whole = value.as_integer().map(|it| it.as_str());
                let number = value.as_float().map(|it| it.as_str()).or(whole).and_then(|it| it.parse::<f64>().ok());
                // No range contains NaN, which TOML can write.
                let out = number.filter(|number| !(least..=most).contains(&number));
                out.and_then(|number| out_of_range(key, &number.to_string(), &format!("{least} to {most} seconds")))
            }
            (rule, DeValue::String(text)) => rule.check_text(key, text),
            _ => None,
        };
        found.map(|fault| (value.span(), fault))
    }

    fn check_text(&self, key: &str, text: &str) -> Option<ValueProblem> {
        match self {
            Rule::Word if text.is_empty() => fault(format!("`{key}` is empty"), "write a value, or leave the key out"),
            Rule::Word if text.chars().any(char::is_control) => {
                fault(format!("`{key}` has a control character in it"), "write it in printable characters")
            }
            Rule::Glob if text.is_empty() => fault("an empty pattern matches nothing", "write `*` for everything"),
            Rule::Glob => Pattern::new(text).err().and_then(|error| {
                let hint = "patterns are globs: `*` any text, `?` one character, `[ab]` one of these, `{a,b}` either; \
                            `\\\\` in front takes one literally";
                fault(format!("bad pattern `{text}`: {}", error.kind()), hint)
            }),
            Rule::OneOf(words) if !words().contains(&text) => {
                fault(format!("`{key}` does not know `{text}`"), suggestion(text, &words(), "it takes"))
            }
            Rule::Text(find) => find(text),
            _ => None,
        }
    }
}

fn out_of_range(key: &str, value: &str, range: &str) -> Option<ValueProblem> {
    fault(format!("`{key}` is out of range: {value}"), format!("`{key}` takes {range}"))
}

fn no_terminal_name(name: &str) -> Option<ValueProblem> {
    unfit_name(name).and_then(|hint| fault(format!("`{name}` cannot be a terminal's name"), hint))
}

fn no_whole_path(path: &str) -> Option<ValueProblem> {
    let is_relative = Path::new(path).is_relative();
    let hint = "write the whole path of the file, from `/` on";
    if is_relative { fault(format!("`{path}` is not an absolute path"), hint) } else { None }
}

fn no_name_below(name: &str) -> Option<ValueProblem> {
    let is_plain = |part| matches!(part, Component::Normal(_));
    let is_below = !name.is_empty() && Path::new(name).components().all(is_plain);
    let hint = "write its name below the repository, such as copy = [\".env\"]";
    if is_below { None } else { fault(format!("`{name}` is not the name of a file in the repository"), hint) }
}

fn no_directory(pattern: &str) -> Option<ValueProblem> {
    let may_match = pattern.starts_with(['/', '*', '{', '[']) || pattern.is_empty();
    let hint = "write the whole path of the directory, from `/` on";
    if may_match { None } else { fault(format!("`{pattern}` matches no directory"), hint) }
}

fn no_template(text: &str) -> Option<ValueProblem> {
    if let Some(c) = unsendable(text) {
        let what = format!("the text of a template has the control character U+{:04X}", u32::from(c));
        return fault(what, "no prompt may contain it; take it out");
    }
    Template::parse("", text).err().map(|fault| match fault {
        TemplateError::Brace => {
            let what = "there is a single brace in the text of a template";
            (what.to_owned(), "a field is written `{name}`, a brace `{{` or `}}`".to_owned())
        }
        TemplateError::Field(field) => {
            (format!("no terminal has a field `{field}`"), suggestion(&field, &Field::words(), "fields"))
        }
    })
}

fn no_message(template: &str) -> Option<ValueProblem> {
    let what = format!("`template` has the character {:?} in it", unsendable(template)?);
    fault(what, "only newlines and tabs can be sent to an agent")
}

/// The first character that no prompt can hold.
fn unsendable(text: &str) -> Option<char> {
    text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t'))
}

/// Refuses only what no argument can hold: the program and its arguments go to the system as they are.
fn no_command(words: &[&str]) -> Option<ValueProblem> {
    match words.first() {
        Some(&"") => fault("the program's name is empty", "begin with the name of a program"),
        _ if words.iter().any(|word| word.contains('\0')) => fault("an argument has a NUL in it", "write it without"),
        _ => None,
    }
}

fn no_variables(names: &[&str]) -> Option<ValueProblem> {
    let odd = names.iter().find(|name| name.is_empty() || name.contains(['=', '\0', '$', '*', ' ']))?;
    let hint = "write names only, such as command_environment = [\"NTFY_TOKEN\"]";
    fault(format!("`{odd}` is not the name of an environment variable"), hint)
}

fn no_webhook(url: &str) -> Option<ValueProblem> {
    let hint =
        "write the whole address, such as webhook = \"https://ntfy.sh/my-topic\"; without https only on this machine";
    match WebAddress::parse(url).map(|address| address.is_private()) {
        Ok(true) => None,
        Ok(false) => fault("what is posted there is not encrypted".to_owned(), hint),
        // The address may be a secret.
        Err(_) => fault("this is not an address to post to".to_owned(), hint),
    }
}

fn no_network(text: &str) -> Option<ValueProblem> {
    let hint = "write an address and how many bits of it are the network's: private_networks = [\"10.9.0.0/24\"]";
    if text.parse::<Network>().is_ok() { None } else { fault(format!("`{text}` is not a network"), hint) }
}

fn no_quiet_hours(text: &str) -> Option<ValueProblem> {
    let hint = "write the beginning and the end, such as quiet_hours = \"22:00-07:00\"";
    if QuietHours::parse(text).is_some() { None } else { fault(format!("`{text}` is not a part of a day"), hint) }
}

fn no_host_name(name: &str) -> Option<ValueProblem> {
    let hint = "write the name of each host: hosts = [\"box-2\", \"box-3\"]";
    // `[fe80::1]` is an address.
    let is_pattern = name.contains(['*', '?', '{']) || name.contains('[') && !name.contains(':');
    if is_pattern { fault(format!("`{name}` is a pattern"), hint) } else { None }
}

fn no_agent_name(name: &str) -> Option<ValueProblem> {
    let hint = "`to` is the name of one agent, as `fleetwatch list` shows it";
    if name.contains(['*', '?', '[', '{']) { fault(format!("`{name}` is a pattern"), hint) } else { None }
}

impl Config {
    /// Checks a text; `path` is the name that errors give it.
    ///
    /// # Errors
    /// The first fault in the text, with its line and column.
    pub fn parse(text: &str, path: &Path) -> Result<Self, ConfigError> {
        let explain = |error: toml::de::Error| syntax::explain(&error, text, path);
        let mut document = DeTable::parse(text).map_err(explain)?;
        let left = left::taken_out(document.get_mut());
        let source = ConfigText { path, text, root: document.get_ref() };
        // Before serde gives the values their types: its errors say less.
        source.check_values()?;
        let file = ConfigFile::deserialize(toml::Deserializer::from(document.clone())).map_err(explain)?;
        let left = left.into_iter().map(|(span, what, hint)| ConfigError::at(path, text, Some(span), what, hint));
        Ok(Self { left: left.collect(), ..source.config(file)? })
    }
}

/// The text that is checked, with the places of its values.
struct ConfigText<'a> {
    path: &'a Path,
    text: &'a str,
    root: &'a DeTable<'a>,
}

/// A table, its index if it is in a list, and a key in it; `None` is the table itself.
type ValuePlace<'a> = (&'a str, Option<usize>, Option<&'a str>);

impl ConfigText<'_> {
    /// Checks every value by [`RULES`].
    fn check_values(&self) -> Result<(), ConfigError> {
        for (table, keys, rule) in RULES {
            let tables = match self.root.get(*table).map(Spanned::get_ref) {
                Some(DeValue::Table(table)) => vec![table],
                Some(DeValue::Array(tables)) => tables.iter().filter_map(|table| table.get_ref().as_table()).collect(),
                _ => continue,
            };
            let values = tables.iter().flat_map(|table| keys.iter().filter_map(|key| Some((key, table.get(*key)?))));
            for (key, value) in values {
                if let Some((span, (what, hint))) = rule.check(key, value) {
                    return Err(ConfigError::at(self.path, self.text, Some(span), what, hint));
                }
            }
        }
        Ok(())
    }

    fn config(&self, file: ConfigFile) -> Result<Config, ConfigError> {
        Ok(Config {
            watch: self.watch(&file.watch)?,
            every_server: file.server.iter().any(ServerTable::is_every),
            servers: self.servers(&file.server)?,
            transports: self.transports(file.transport)?,
            rules: Rules {
                discover: file.watch.discover.unwrap_or(Rules::default().discover),
                ignore: file.watch.ignore,
                terminals: self.terminals(file.terminal)?,
                tasks: self.tasks(file.task)?,
            },
            tracker: tracker_settings(&file.tracker),
            history: history_settings(file.history),
            records: file.records,
            templates: self.templates(&file.template)?,
            ui: self.ui(file.ui)?,
            notify: file.notify.into_iter().enumerate().map(|it| self.notify_rule(it)).collect::<Result<_, _>>()?,
            private_networks: file.serve.private_networks.iter().filter_map(|text| text.parse().ok()).collect(),
            left: Vec::new(),
            new: self.new_agents(file.new)?,
            follow_up: file.follow_up.into_iter().enumerate().map(|it| self.follow_up(it)).collect::<Result<_, _>>()?,
        })
    }

    fn watch(&self, table: &WatchTable) -> Result<WatchConfig, ConfigError> {
        let default = WatchConfig::default();
        let ticks = Ticks {
            usual: milliseconds(table.tick_ms, default.ticks.usual),
            shortest: milliseconds(table.fastest_tick_ms, default.ticks.shortest),
            longest: milliseconds(table.slowest_tick_ms, default.ticks.longest),
        };
        if ticks.shortest > ticks.usual || ticks.usual > ticks.longest {
            let given = [("tick_ms", table.tick_ms), ("fastest_tick_ms", table.fastest_tick_ms)];
            let key = given.iter().find(|(_, given)| given.is_some()).map_or("slowest_tick_ms", |(key, _)| key);
            let what = format!(
                "the ticks are out of order: fastest {} ms, normal {} ms, slowest {} ms",
                ticks.shortest.as_millis(),
                ticks.usual.as_millis(),
                ticks.longest.as_millis()
            );
            let hint = "choose fastest_tick_ms <= tick_ms <= slowest_tick_ms; a key that is left out has its default";
            return Err(self.fault(("watch", None, Some(key)), what, hint));
        }
        Ok(WatchConfig {
            ticks,
            timeout: milliseconds(table.timeout_ms, default.timeout),
            background: table.background.unwrap_or(default.background),
            background_idle: milliseconds(table.background_minutes.map(|it| it * 60_000), default.background_idle),
            git: table.git.unwrap_or(default.git),
        })
    }

    fn terminals(&self, rules: Vec<TerminalRule>) -> Result<Vec<TerminalRule>, ConfigError> {
        let mut names: HashMap<&str, usize> = HashMap::new();
        for (index, rule) in rules.iter().enumerate() {
            if let Some(name) = &rule.name
                && let Some(first) = names.insert(name, index)
            {
                let first = self.fault(("terminal", Some(first), Some("name")), "", "").position;
                let line = first.map_or(0, |position| position.line);
                let hint = format!("give each terminal its own name; the first `{name}` is on line {line}");
                let at = ("terminal", Some(index), Some("name"));
                return Err(self.fault(at, format!("the name `{name}` is given twice"), hint));
            }
            if rule.session.is_none() && rule.window.is_none() && rule.pane.is_none() {
                let hint = "give it `session`, `window` or `pane`; session = \"*\" means every pane";
                return Err(self.fault(("terminal", Some(index), None), "a terminal that names no pane", hint));
            }
        }
        Ok(rules)
    }

    fn tasks(&self, tables: Vec<TaskTable>) -> Result<Vec<TerminalRule>, ConfigError> {
        if let Some(index) = tables.iter().position(|table| table.session.is_none() && table.window.is_none()) {
            let hint = "give it `session` or `window`, such as session = \"builds*\"";
            return Err(self.fault(("task", Some(index), None), "a task that names no session and no window", hint));
        }
        let rule = |TaskTable { session, window, socket, host }| TerminalRule {
            session,
            window,
            socket,
            host,
            ..TerminalRule::default()
        };
        Ok(tables.into_iter().map(rule).collect())
    }

    fn templates(&self, tables: &[TemplateTable]) -> Result<Vec<Template>, ConfigError> {
        let mut templates = Vec::new();
        for (index, table) in tables.iter().enumerate() {
            let (Some(name), Some(text)) = (&table.name, &table.text) else {
                let key = if table.name.is_none() { "name" } else { "text" };
                let hint = "a template is a `name` to choose it by, and the `text` that it begins a prompt with";
                return Err(self.fault(("template", Some(index), None), format!("a template has no `{key}`"), hint));
            };
            templates.extend(Template::parse(name, text));
        }
        Ok(templates)
    }

    fn ui(&self, ui: UiConfig) -> Result<UiConfig, ConfigError> {
        let theme = ui.theme.as_str();
        let is_own = theme_file(theme).is_some_and(|own| self.path.with_file_name("").join(own).is_file());
        if !THEMES.contains(&theme) && !is_own {
            let hint = suggestion(theme, THEMES, "themes");
            return Err(self.fault(("ui", None, Some("theme")), format!("unknown theme `{theme}`"), hint));
        }
        Ok(ui)
    }

    fn notify_rule(&self, (index, table): (usize, NotifyTable)) -> Result<NotifyRule, ConfigError> {
        let at = |key| ("notify", Some(index), Some(key));
        let (on, mut by) = (table.on, table.by);
        if by.contains(&Means::Command) && table.command.is_empty() {
            let hint = "write it as a list: command = [\"notify-send\", \"fleetwatch\"]";
            return Err(self.fault(at("by"), "a rule uses `command` but has none", hint));
        }
        if !table.command.is_empty() {
            by.insert(Means::Command);
        }
        if by.contains(&Means::Webhook) && table.webhook.is_none() {
            let hint = "name where it is posted: webhook = \"https://ntfy.sh/my-topic\"";
            return Err(self.fault(at("by"), "a rule uses `webhook` but has none", hint));
        }
        let webhook = table.webhook.map(|url| Webhook {
            url,
            shape: table.webhook_shape.unwrap_or(WebhookShape::Json),
            secret: table.webhook_secret,
            token: table.webhook_token,
        });
        if webhook.is_some() {
            by.insert(Means::Webhook);
        }
        for (key, is_empty, words) in [("on", on.is_empty(), Occasion::words()), ("by", by.is_empty(), Means::words())]
        {
            if is_empty {
                let hint = format!("`{key}` is a list of these: {}", words.join(", "));
                return Err(self.fault(at(key), format!("a rule without `{key}` announces nothing"), hint));
            }
        }
        Ok(NotifyRule {
            on,
            terminal: table.terminal,
            by,
            command: table.command,
            command_deadline: seconds(table.command_seconds, COMMAND_DEADLINE),
            command_environment: table.command_environment,
            webhook,
            quiet_hours: table.quiet_hours.as_deref().and_then(QuietHours::parse),
            minimum_distance: seconds(table.minimum_distance_seconds, DISTANCE),
        })
    }

    fn follow_up(&self, (index, table): (usize, FollowUpTable)) -> Result<FollowUpRule, ConfigError> {
        let on = table.on;
        let missing = match (&table.from, &table.to) {
            _ if on.is_empty() => "on",
            (None, _) => "from",
            _ => "to",
        };
        let (Some(from), Some(to), false) = (table.from, table.to, on.is_empty()) else {
            let hint = "write what is told to whom: on = [\"exited\"], from = \"build-*\", to = \"lead\"";
            return Err(self.fault(("follow_up", Some(index), None), format!("a follow-up without `{missing}`"), hint));
        };
        Ok(FollowUpRule {
            on,
            from,
            to,
            template: table.template,
            keep: Span::from_secs(whole(table.keep_minutes, KEEP_MINUTES) * 60),
        })
    }

    fn new_agents(&self, new: NewConfig) -> Result<NewConfig, ConfigError> {
        for (name, words) in &new.starts {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let is_word = name.chars().all(|c| c.is_alphanumeric() || "._-".contains(c)) && !name.starts_with('-');
            let hint = "write the program and its arguments: claude = [\"claude\", \"--model\", \"opus\"]";
            let found = match words[..] {
                _ if name.is_empty() || !is_word => fault(
                    format!("`{name}` cannot be the name of an agent"),
                    "a name has letters, digits, `.`, `_` and `-`",
                ),
                [] => fault(format!("`{name}` has no program"), hint),
                _ => no_command(&words),
            };
            if let Some((what, hint)) = found {
                return Err(self.fault(("new", None, Some("starts")), what, hint));
            }
        }
        Ok(new)
    }

    fn fault(&self, at: ValuePlace<'_>, what: impl Into<String>, hint: impl Into<String>) -> ConfigError {
        ConfigError::at(self.path, self.text, self.span(at), what.into(), hint.into())
    }

    /// The bytes of a value, or of the table around it where the file does not have it.
    fn span(&self, (table, index, key): ValuePlace<'_>) -> Option<Range<usize>> {
        let table = self.root.get(table)?;
        let table = index.and_then(|index| table.get_ref().as_array()?.get(index)).unwrap_or(table);
        let value = key.and_then(|key| table.get_ref().as_table()?.get(key));
        Some(value.unwrap_or(table).span())
    }
}

fn tracker_settings(table: &TrackerTable) -> tracker::Settings {
    let default = tracker::Settings::default();
    tracker::Settings {
        settle: seconds(table.completion_stability_seconds, default.settle),
        no_reaction: seconds(table.no_reaction_seconds, default.no_reaction),
        retraction: seconds(table.retraction_seconds, default.retraction),
        unknown_to_stalled: seconds(table.unknown_to_stalled_timeout_seconds, default.unknown_to_stalled),
        stale_active_recovery: seconds(table.stale_active_recovery_seconds, default.stale_active_recovery),
        final_stable_active_recovery: seconds(
            table.final_stable_active_recovery_seconds,
            default.final_stable_active_recovery,
        ),
        stable: seconds(table.stable_seconds, default.stable),
        failed_probes: whole(table.failed_probes, default.failed_probes),
        failed_probe_time: seconds(table.failed_probe_seconds, default.failed_probe_time),
        kept_transitions: whole(table.kept_transitions, default.kept_transitions),
        ..default
    }
}

fn history_settings(table: HistoryTable) -> history::Settings {
    let default = history::Settings::default();
    history::Settings {
        enabled: table.enabled.unwrap_or(default.enabled),
        keep: Span::from_millis(whole(table.keep_days, default.keep.as_millis() / DAY) * DAY),
        max_bytes: whole(table.max_mib, default.max_bytes >> 20) << 20,
        path: table.path.map(PathBuf::from),
    }
}

fn whole<T: TryFrom<i64>>(value: Option<i64>, default: T) -> T {
    value.and_then(|value| T::try_from(value).ok()).unwrap_or(default)
}

fn milliseconds(value: Option<i64>, default: Duration) -> Duration {
    value.and_then(|value| u64::try_from(value).ok()).map_or(default, Duration::from_millis)
}

fn seconds(value: Option<f64>, default: Span) -> Span {
    value.map_or(default, |seconds| Span::from_millis((seconds * 1000.0).round() as u64))
}
