//! Keymaps: which key does what in which part of the dashboard, as data.

use std::collections::BTreeMap;
use std::ops::Range;

use crokey::{KeyCombination, OneToThree};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use serde::Deserialize;
use toml::Spanned;

use super::Action;
use crate::pattern::nearest;
use crate::present::objection::TextFault;

/// The part of the dashboard that has the keyboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Context {
    /// The table and the panes around it.
    Fleet,
    /// The prompt that is being written.
    Composer,
    /// The dialog of an agent.
    Dialog,
    /// The text that answers a dialog or a task.
    Answer,
    /// Why a terminal is said to be what it is.
    Explanation,
    /// One terminal: what happened to it, and what it showed then.
    Drill,
    /// What was done on a day.
    Today,
    /// The text that is being searched for.
    Search,
    /// The list of keys.
    Help,
    /// The filter while it is typed.
    Filter,
    /// The name of a terminal or its label while it is typed.
    Naming,
    /// A question before something happens.
    Confirm,
    /// What is to be started, while it is typed.
    Start,
    /// A list of which one is chosen; typing narrows it down.
    Menu,
    /// The list of the table's columns.
    Columns,
    /// What became of what was sent to several terminals.
    Outcomes,
    /// Every key goes to a terminal.
    Raw,
}

/// Every context with what the help calls it, in the order of the help.
const CONTEXTS: [(Context, &str); 17] = [
    (Context::Fleet, "fleet"),
    (Context::Filter, "typing a filter"),
    (Context::Naming, "writing a name or a label"),
    (Context::Dialog, "answering a dialog"),
    (Context::Answer, "typing an answer"),
    (Context::Composer, "writing a prompt in the composer"),
    (Context::Explanation, "reading an explanation"),
    (Context::Drill, "one terminal"),
    (Context::Today, "the day, hour by hour"),
    (Context::Search, "typing what to search for"),
    (Context::Start, "writing what is to be started"),
    (Context::Menu, "choosing from a list"),
    (Context::Columns, "choosing the columns"),
    (Context::Outcomes, "the outcomes of what was sent to several"),
    (Context::Raw, "every key goes to a terminal"),
    (Context::Confirm, "a question before something happens"),
    (Context::Help, "this list"),
];

impl Context {
    /// Every context, in the order of the help.
    pub fn all() -> impl Iterator<Item = Self> {
        CONTEXTS.iter().map(|(context, _)| *context)
    }

    /// What the help calls it.
    pub fn title(self) -> &'static str {
        CONTEXTS.iter().find(|(context, _)| *context == self).map_or("", |(_, title)| title)
    }
}

/// Keys that do one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    pub keys: Vec<KeyCombination>,
    /// `None` takes the keys' meaning away.
    pub action: Option<Action>,
    pub description: String,
}

/// All bindings, by context and in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keymap {
    bindings: BTreeMap<Context, Vec<Binding>>,
}

impl Keymap {
    /// The text of the keymap that is compiled in.
    pub const SHIPPED: &str = include_str!("../../config/keymap.toml");

    /// The keymap that is compiled in. A test reads it, so that it is never empty.
    pub fn shipped() -> Self {
        Self::parse(Self::SHIPPED).unwrap_or_default()
    }

    /// Reads and checks a keymap's file.
    ///
    /// # Errors
    /// Unknown keys, actions and contexts, and a key that is bound twice in one context, with their place in the text.
    pub fn parse(text: &str) -> Result<Self, TextFault> {
        read(text)
    }

    /// This keymap with the bindings of another laid over it: a key that both bind does what the other says.
    pub fn overlaid(mut self, other: Keymap) -> Self {
        for (context, theirs) in other.bindings {
            let ours = self.bindings.entry(context).or_default();
            for binding in ours.iter_mut() {
                binding.keys.retain(|key| theirs.iter().all(|other| !other.keys.contains(key)));
            }
            ours.retain(|binding| !binding.keys.is_empty());
            // The operator's own come first, so that footer and help show them where an action has several keys.
            ours.splice(0..0, theirs);
        }
        self
    }

    /// What a key does in a context.
    pub fn action(&self, context: Context, key: KeyEvent) -> Option<Action> {
        let key = plain(key);
        self.bindings(context).find(|binding| binding.keys.contains(&key))?.action
    }

    /// A key as it is written for people.
    pub fn name_of(key: KeyEvent) -> String {
        show(plain(key))
    }

    /// The bindings of a context that do something.
    pub fn bindings(&self, context: Context) -> impl Iterator<Item = &Binding> {
        self.bindings.get(&context).into_iter().flatten().filter(|binding| binding.action.is_some())
    }

    /// The first key of an action, as the footer writes it.
    pub fn key_for(&self, context: Context, action: Action) -> Option<String> {
        let binding = self.bindings(context).find(|binding| binding.action == Some(action))?;
        binding.keys.first().map(|key| show(*key))
    }
}

/// A key as the operator's keyboard names it: `G`, `ctrl-c`, `enter`, `↓`.
pub fn show(key: KeyCombination) -> String {
    let OneToThree::One(code) = key.codes else { return key.to_string() };
    let name = match code {
        KeyCode::Char(' ') => "space".to_owned(),
        KeyCode::Char(c) => c.to_string(),
        KeyCode::Up => "↑".to_owned(),
        KeyCode::Down => "↓".to_owned(),
        KeyCode::Left => "←".to_owned(),
        KeyCode::Right => "→".to_owned(),
        KeyCode::PageUp => "pgup".to_owned(),
        KeyCode::PageDown => "pgdn".to_owned(),
        KeyCode::F(n) => format!("f{n}"),
        KeyCode::BackTab => "tab".to_owned(),
        other => other.to_string().to_lowercase(),
    };
    let shift_shows = !matches!(code, KeyCode::Char(c) if c.is_uppercase());
    let modifiers = [
        (KeyModifiers::CONTROL, "ctrl-", true),
        (KeyModifiers::ALT, "alt-", true),
        (KeyModifiers::SHIFT, "shift-", shift_shows),
        (KeyModifiers::SUPER, "cmd-", true),
    ];
    let shown = modifiers.iter().filter(|(modifier, _, shows)| *shows && key.modifiers.contains(*modifier));
    shown.map(|(_, word, _)| *word).chain([name.as_str()]).collect()
}

/// A key event without what terminals report differently: shift on characters that need it anyway.
fn plain(key: KeyEvent) -> KeyCombination {
    let mut modifiers =
        key.modifiers & (KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SHIFT | KeyModifiers::SUPER);
    if matches!(key.code, KeyCode::Char(c) if !c.is_alphabetic()) {
        modifiers -= KeyModifiers::SHIFT;
    }
    let code = match key.code {
        KeyCode::Char(c) if modifiers.contains(KeyModifiers::CONTROL) => KeyCode::Char(control_character(c)),
        code => code,
    };
    KeyCombination::one_key(code, modifiers).normalized()
}

/// The character pressed with control: terminals send `\\`, `]`, `^` and `_` as bytes that are read as digits.
pub(super) fn control_character(c: char) -> char {
    match c {
        '4' => '\\',
        '5' => ']',
        '6' => '^',
        '7' => '_',
        other => other,
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenBinding {
    on: Spanned<Keys>,
    run: Spanned<String>,
    desc: Option<String>,
}

/// One key or several.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a key or a list of keys")]
enum Keys {
    One(String),
    Several(Vec<String>),
}

/// What a key is bound to when the operator wants it to do nothing.
const NOTHING: &str = "none";

fn read(text: &str) -> Result<Keymap, TextFault> {
    let file: BTreeMap<Context, Vec<WrittenBinding>> = toml::from_str(text).map_err(|error| TextFault {
        what: error.message().to_owned(),
        at: error.span().unwrap_or(0..0),
        hint: "a keymap is a list for each part of the dashboard (fleet, composer, dialog, …), of entries like \
               { on = \"j\", run = \"down\", desc = \"one terminal down\" }"
            .to_owned(),
    })?;
    let mut keymap = Keymap::default();
    for (context, entries) in file {
        let bindings = keymap.bindings.entry(context).or_default();
        for entry in entries {
            bindings.push(binding(entry, bindings)?);
        }
    }
    Ok(keymap)
}

/// A binding whose keys none of those before it has.
fn binding(entry: WrittenBinding, before: &[Binding]) -> Result<Binding, TextFault> {
    let name = entry.run.as_ref().as_str();
    let action = Action::by_name(name);
    if action.is_none() && name != NOTHING {
        return Err(TextFault { what: format!("there is no action {name:?}"), at: entry.run.span(), hint: near(name) });
    }
    let at = entry.on.span();
    let written = match entry.on.into_inner() {
        Keys::One(key) => vec![key],
        Keys::Several(keys) => keys,
    };
    let description = entry.desc.or(action.map(|action| action.description().to_owned())).unwrap_or_default();
    let mut binding = Binding { keys: Vec::new(), action, description };
    for text in written {
        let key = key(&text, &at)?;
        if let Some(first) = before.iter().chain([&binding]).find(|other| other.keys.contains(&key)) {
            let action = first.action.map_or(NOTHING, Action::name);
            return Err(TextFault {
                what: format!("the key {} is bound twice", show(key)),
                at,
                hint: format!("it already runs {action:?} here; remove one of the two"),
            });
        }
        binding.keys.push(key);
    }
    Ok(binding)
}

fn key(text: &str, at: &Range<usize>) -> Result<KeyCombination, TextFault> {
    let error = || TextFault {
        what: format!("{text:?} is not a key"),
        at: at.clone(),
        hint: "a key is written like `j`, `G`, `?`, `ctrl-c`, `alt-enter`, `pagedown`, `space`".to_owned(),
    };
    let key = crokey::parse(text).map_err(|_| error())?;
    if !key.is_ansi_compatible() {
        return Err(error());
    }
    // The parser reads everything as lower case, but a lone `G` is what the operator sees on the keyboard.
    match text.chars().next_back() {
        Some(c) if c.is_ascii_uppercase() && (text.len() == 1 || text.ends_with(&format!("-{c}"))) => {
            crokey::parse(&format!("shift-{text}")).map(KeyCombination::normalized).map_err(|_| error())
        }
        _ => Ok(key.normalized()),
    }
}

/// The action that a misspelt one may have meant, and where all of them are.
fn near(name: &str) -> String {
    let meant = nearest(name, Action::ALL.iter().map(|action| action.name()));
    let meant = meant.map(|action| format!("did you mean {action}? ")).unwrap_or_default();
    format!("{meant}`fleetwatch config keymap` prints all actions")
}

#[cfg(test)]
mod tests;
