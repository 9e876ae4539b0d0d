//! A keymap's file: lists of `{ on, run, desc }`, one list for each context.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use crokey::KeyCombination;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use super::{Binding, Context, Keymap, show};
use crate::ui::action::Action;

/// Why a keymap is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct KeymapError {
    /// What is wrong.
    pub what: String,
    /// The bytes of the text that it is about.
    pub at: Range<usize>,
    /// What to write instead.
    pub hint: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    on: Spanned<Keys>,
    run: Spanned<String>,
    desc: Option<String>,
}

/// One key or several. It is read by hand because serde's own choice between shapes forgets the places.
enum Keys {
    One(String),
    Several(Vec<Spanned<String>>),
}

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(KeysVisitor)
    }
}

struct KeysVisitor;

impl<'de> Visitor<'de> for KeysVisitor {
    type Value = Keys;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key or a list of keys")
    }

    fn visit_str<E>(self, key: &str) -> Result<Keys, E> {
        Ok(Keys::One(key.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Keys, A::Error> {
        let mut keys = Vec::new();
        while let Some(key) = list.next_element()? {
            keys.push(key);
        }
        Ok(Keys::Several(keys))
    }
}

/// What a key is bound to when the operator wants it to do nothing.
const NOTHING: &str = "none";

pub(super) fn read(text: &str) -> Result<Keymap, KeymapError> {
    let file: BTreeMap<Context, Vec<Entry>> = toml::from_str(text).map_err(|error| KeymapError {
        what: error.message().to_owned(),
        at: error.span().unwrap_or(0..0),
        hint: "a keymap is a list for each part of the dashboard (fleet, composer, dialog, …), of entries like \
               { on = \"j\", run = \"down\", desc = \"one terminal down\" }"
            .to_owned(),
    })?;
    let mut keymap = Keymap::default();
    for (context, entries) in file {
        let bindings = entries.into_iter().map(binding).collect::<Result<Vec<_>, _>>()?;
        refuse_conflicts(&bindings)?;
        let bindings = bindings.into_iter().map(|(binding, _)| binding).collect();
        keymap.bindings.insert(context, bindings);
    }
    Ok(keymap)
}

/// A binding, and for each of its keys the place in the text.
type Placed = (Binding, Vec<Range<usize>>);

fn binding(entry: Entry) -> Result<Placed, KeymapError> {
    let name = entry.run.as_ref().as_str();
    let action = Action::by_name(name);
    if action.is_none() && name != NOTHING {
        return Err(KeymapError {
            what: format!("there is no action {name:?}"),
            at: entry.run.span(),
            hint: near(name),
        });
    }
    let whole = entry.on.span();
    let keys: Vec<(String, Range<usize>)> = match entry.on.into_inner() {
        Keys::One(key) => vec![(key, whole)],
        Keys::Several(keys) => keys.into_iter().map(|key| (key.as_ref().clone(), key.span())).collect(),
    };
    let places = keys.iter().map(|(_, at)| at.clone()).collect();
    let keys = keys.iter().map(|(text, at)| key(text, at)).collect::<Result<Vec<_>, _>>()?;
    let description = entry.desc.or(action.map(|action| action.description().to_owned())).unwrap_or_default();
    Ok((Binding { keys, action, description }, places))
}

fn key(text: &str, at: &Range<usize>) -> Result<KeyCombination, KeymapError> {
    let error = || KeymapError {
        what: format!("{text:?} is no key"),
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

fn refuse_conflicts(bindings: &[Placed]) -> Result<(), KeymapError> {
    let mut bound: Vec<(KeyCombination, &Binding)> = Vec::new();
    for (binding, places) in bindings {
        for (&key, at) in binding.keys.iter().zip(places) {
            if let Some((_, first)) = bound.iter().find(|(other, _)| *other == key) {
                let action = first.action.map_or(NOTHING, Action::name);
                return Err(KeymapError {
                    what: format!("the key {} is bound twice", show(key)),
                    at: at.clone(),
                    hint: format!("it already runs {action:?} here; take one of the two away"),
                });
            }
            bound.push((key, binding));
        }
    }
    Ok(())
}

/// The actions that a misspelt one may have meant.
fn near(name: &str) -> String {
    let shared = |action: &Action| action.name().split('-').any(|word| name.contains(word) || word.starts_with(name));
    let near: Vec<&str> = Action::ALL.iter().filter(|action| shared(action)).map(|action| action.name()).collect();
    let names = if near.is_empty() { Action::ALL.iter().map(|action| action.name()).collect() } else { near };
    format!("actions are named {}", names.join(", "))
}
