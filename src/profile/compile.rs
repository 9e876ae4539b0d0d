//! From the written rules to compiled ones, with every name and pattern checked.

mod kind;
mod source;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use regex::{Regex, RegexSet};
use toml::Spanned;

pub(super) use kind::{Kind, Kinds, RowKind, StyleTest};
use kind::{Names, row_kind, style_test};
pub use source::ProfileError;
use source::SourceText;

use super::classification::Family;
use super::input::{PasteLimit, RefusedInputs, Special, TakenAs};
use super::rules::{
    ComposerData, ComposerTest, CursorData, InputData, OptionsData, ProfileData, Region, RuleData, Signal, ToolData,
    ToolFile, TurnData,
};
use super::version::Version;
use crate::agent_record::AgentRecordSource;
use crate::dialog::Manner;
use crate::time::Span;

#[derive(Clone, Debug)]
pub(super) struct ComposerRules {
    pub prompt: Kind,
    pub command: Option<Kind>,
    pub continuation: Option<Kind>,
    pub above: Option<Kind>,
    pub above_cut: Option<Kind>,
    pub below: Option<Kind>,
    pub foot: Vec<Kind>,
    pub rows_below: usize,
    pub ghost: Vec<StyleTest>,
    pub placeholders: Vec<String>,
    pub cursor: Option<CursorData>,
    pub cursor_inside: bool,
    pub only_when_idle: bool,
    pub paste: Option<PasteLimit>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct TurnRules {
    pub prompts: Kinds,
    pub commands: Kinds,
    pub chrome: Kinds,
    pub stop_offers: Kinds,
    pub tools: Vec<Kind>,
    pub answers: Vec<Kind>,
    pub temporal: Temporal,
}

/// What a profile says of an agent's behaviour over time (SPEC §5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Temporal {
    /// How long work goes on after its last trace.
    pub linger: Span,
    /// Whether a growing turn is work by itself.
    pub growth: bool,
    /// Whether a turn ends well only with a completion row.
    pub completion_row: bool,
    /// Whether work that goes without an answer was stopped.
    pub stops_silently: bool,
    /// Whether no recording shows this version: what looks ready must stand still before it counts as ready. That is not
    /// the profile's to say, but follows from how it was selected.
    pub cautious: bool,
}

#[derive(Clone, Debug)]
pub(super) struct ScreenRule {
    pub id: String,
    pub gives: Signal,
    pub region: Region,
    pub last: Option<usize>,
    pub rows: Vec<Kind>,
    pub none: Kinds,
    pub not_after: Kinds,
    pub title: Option<Regex>,
    pub cursor: Option<CursorData>,
    pub composer: Option<ComposerTest>,
    pub prompt: Option<Kind>,
    pub excerpt: Option<Kind>,
    pub question: Option<Kind>,
    pub note: Option<Kind>,
    pub scrolls_from: Option<usize>,
    pub behind: bool,
    pub by_either: bool,
    pub manner: Option<Manner>,
    pub ticks: bool,
    pub status_row: bool,
}

/// The versions that a profile reads, as written in its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versions {
    /// The first one.
    pub min: String,
    /// The first one that it no longer reads.
    pub max: Option<String>,
    /// Recorded versions; `None` when the file does not say.
    pub recorded: Option<Vec<String>>,
}

/// A profile that is ready to read screens.
#[derive(Clone, Debug)]
pub struct Profile {
    pub(super) id: String,
    pub(super) tool: String,
    pub(super) options: OptionsData,
    pub(super) versions: Versions,
    pub(super) banner: Option<Regex>,
    pub(super) families: BTreeMap<Family, String>,
    pub(super) rows: Vec<RowKind>,
    pub(super) patterns: RegexSet,
    pub(super) composer: Option<ComposerRules>,
    pub(super) turn: TurnRules,
    pub(super) rules: Vec<ScreenRule>,
    /// Other ways in which the agent draws itself.
    pub(super) surfaces: Vec<Profile>,
}

/// A tool, as its file describes it.
#[derive(Clone, Debug)]
pub(super) struct Tool {
    pub data: ToolData,
    pub executables: Vec<Regex>,
    pub scripts: Vec<Regex>,
    pub signature: Vec<Regex>,
    pub input: RefusedInputs,
    pub records: Arc<[AgentRecordSource]>,
}

/// A profile as written. Compiling its patterns takes milliseconds, and is left until it is needed.
#[derive(Clone, Debug)]
pub(super) struct Written {
    pub id: String,
    pub min: Version,
    pub max: Option<Version>,
    /// The versions that recordings show; `None` when the file does not say.
    recorded: Option<Vec<Version>>,
    tool: String,
    options: OptionsData,
    file: Arc<str>,
    text: Arc<str>,
    data: ProfileData,
    surfaces: Vec<Written>,
}

impl Written {
    /// Whether recordings show how the agent looks at a version.
    pub fn is_recorded(&self, version: &Version) -> bool {
        self.recorded.as_ref().is_none_or(|all| all.iter().any(|v| v <= version) && all.iter().any(|v| version <= v))
    }

    /// Compiles the profile.
    ///
    /// # Errors
    /// The first name or pattern that is wrong, with its place.
    pub(super) fn compile(&self) -> Result<Profile, ProfileError> {
        profile(&SourceText { file: &self.file, text: &self.text }, self)
    }
}

/// Reads one file: its tools, of which only the first has profiles. `file` names it in errors.
///
/// # Errors
/// It is not TOML of this form; patterns and names of rows are checked by [`Written::compile`].
pub(super) fn read(file: &str, text: &str) -> Result<Vec<(Tool, Vec<Written>)>, ProfileError> {
    let source = SourceText { file, text };
    let parsed: ToolFile =
        toml::from_str(text).map_err(|error| source.error(error.span().unwrap_or(0..0), error.message().to_owned()))?;
    let mut records: Vec<AgentRecordSource> = Vec::new();
    for record in parsed.records {
        let (span, mut record) = (record.span(), record.into_inner());
        if let Some(like) = record.like.take() {
            let other = records.iter().find(|other| other.name() == like);
            let other = other.ok_or_else(|| source.error(span.clone(), format!("there is no `{like}` before it")))?;
            record.take_facts_of(other);
        }
        if let Some(fault) = record.fault() {
            return Err(source.error(span, fault.to_owned()));
        }
        records.push(record);
    }
    let (shared_file, shared_text): (Arc<str>, Arc<str>) = (file.into(), text.into());
    let mut inherited: BTreeMap<String, ProfileData> = BTreeMap::new();
    let mut profiles = Vec::new();
    for data in parsed.profiles {
        let data = inherit(&source, data, &inherited)?;
        let id = data.id.as_ref().clone();
        if inherited.insert(id.clone(), data.clone()).is_some() {
            return Err(source.error(data.id.span(), format!("there are two profiles called `{id}`")));
        }
        profiles.push(Written {
            id,
            min: source.version(&data.min)?,
            max: data.max.as_ref().map(|max| source.version(max)).transpose()?,
            recorded: data.recorded.as_ref().map(|all| all.iter().map(|v| source.version(v)).collect()).transpose()?,
            tool: parsed.tool.name.as_ref().clone(),
            options: parsed.tool.options.clone(),
            file: Arc::clone(&shared_file),
            text: Arc::clone(&shared_text),
            data,
            surfaces: Vec::new(),
        });
    }
    let (surfaces, mut profiles): (Vec<Written>, Vec<Written>) = profiles.into_iter().partition(|it| it.data.surface);
    for profile in &mut profiles {
        let has = |surface: &&Written| profile.max.as_ref().is_none_or(|max| *max > surface.min);
        profile.surfaces = surfaces.iter().filter(has).cloned().collect();
    }
    let known = tool(&source, parsed.tool, records.into())?;
    let others = parsed.without_profile.into_iter().map(|data| Ok((tool(&source, data, Arc::default())?, Vec::new())));
    std::iter::once(Ok((known, profiles))).chain(others).collect()
}

fn tool(source: &SourceText<'_>, data: ToolData, records: Arc<[AgentRecordSource]>) -> Result<Tool, ProfileError> {
    let patterns = |written: &[Spanned<String>]| {
        written.iter().map(|pattern| source.regex(pattern.span(), pattern.as_ref())).collect::<Result<Vec<_>, _>>()
    };
    let (executables, scripts) = (patterns(&data.executables)?, patterns(&data.scripts)?);
    let signature = patterns(&data.signature)?;
    let input = data.input.iter().map(|data| special(source, data)).collect::<Result<_, _>>()?;
    Ok(Tool { data, executables, scripts, signature, input: RefusedInputs::new(input), records })
}

fn special(source: &SourceText<'_>, data: &InputData) -> Result<Special, ProfileError> {
    let InputData { text, taken, prompt, pad } = data;
    if taken.is_none() && pad.is_empty() {
        let message = "say what becomes of such a text: `taken` or `pad`".to_owned();
        return Err(source.error(text.span(), message));
    }
    let text = source.regex(text.span(), text.as_ref())?;
    let taken_as = if taken.is_none() || *prompt { TakenAs::Prompt } else { TakenAs::Command };
    Ok(Special { text, taken: taken.clone(), taken_as, pad: pad.clone() })
}

/// Adds what only the extended profile says.
fn inherit(
    source: &SourceText<'_>,
    mut data: ProfileData,
    written: &BTreeMap<String, ProfileData>,
) -> Result<ProfileData, ProfileError> {
    let Some(extends) = &data.extends else { return Ok(data) };
    let parent = written.get(extends.as_ref()).ok_or_else(|| {
        source.error(extends.span(), format!("no profile above this one is called `{}`", extends.as_ref()))
    })?;
    for (name, row) in &parent.rows {
        data.rows.entry(name.clone()).or_insert_with(|| row.clone());
    }
    for (family, name) in &parent.families {
        data.families.entry(*family).or_insert_with(|| name.clone());
    }
    if let Some(name) = data.without.iter().find(|name| parent.rules.iter().all(|rule| rule.as_ref().id != **name)) {
        return Err(source.error(data.id.span(), format!("`{}` has no rule called `{name}`", extends.as_ref())));
    }
    let replaced = |id: &String| data.without.contains(id) || data.rules.iter().any(|rule| rule.as_ref().id == *id);
    let kept: Vec<_> = parent.rules.iter().filter(|rule| !replaced(&rule.as_ref().id)).cloned().collect();
    data.rules.extend(kept);
    data.composer = merged(data.composer, parent.composer.clone(), ComposerData::or);
    data.turn = merged(data.turn, parent.turn.clone(), TurnData::or);
    data.banner = data.banner.or_else(|| parent.banner.clone());
    Ok(data)
}

/// A table merged with the extended profile's. Errors point to the extending one.
fn merged<T>(own: Option<Spanned<T>>, other: Option<Spanned<T>>, or: fn(T, T) -> T) -> Option<Spanned<T>> {
    match (own, other) {
        (Some(own), Some(other)) => Some(Spanned::new(own.span(), or(own.into_inner(), other.into_inner()))),
        (own, other) => own.or(other),
    }
}

fn profile(source: &SourceText<'_>, written: &Written) -> Result<Profile, ProfileError> {
    let data = &written.data;
    if data.rows.len() > 128 {
        return Err(source.error(data.id.span(), "a profile has room for 128 kinds of rows".to_owned()));
    }
    let rows = data.rows.iter().map(|(name, row)| row_kind(source, name, row)).collect::<Result<Vec<_>, _>>()?;
    let patterns = RegexSet::new(rows.iter().map(|row| row.pattern.as_str()))
        .map_err(|error| source.error(data.id.span(), format!("the rows' patterns are too large together: {error}")))?;
    let names = Names { source, rows: &rows };
    let composer = data.composer.as_ref().map(|c| composer(&names, c.span(), c.as_ref())).transpose()?;
    let turn = data.turn.as_ref().map(|t| turn(&names, t.span(), t.as_ref())).transpose()?.unwrap_or_default();
    let rules = data.rules.iter().map(|r| rule(&names, r.span(), r.as_ref())).collect::<Result<_, _>>()?;
    Ok(Profile {
        id: written.id.clone(),
        tool: written.tool.clone(),
        options: written.options.clone(),
        versions: Versions {
            min: data.min.as_ref().clone(),
            max: data.max.as_ref().map(|max| max.as_ref().clone()),
            recorded: data.recorded.as_ref().map(|all| all.iter().map(|v| v.as_ref().clone()).collect()),
        },
        banner: data.banner.as_ref().map(|banner| source.regex(banner.span(), banner.as_ref())).transpose()?,
        families: data.families.clone(),
        rows,
        patterns,
        composer,
        turn,
        rules,
        surfaces: written.surfaces.iter().map(Written::compile).collect::<Result<_, _>>()?,
    })
}

fn composer(names: &Names<'_>, span: Range<usize>, data: &ComposerData) -> Result<ComposerRules, ProfileError> {
    let optional = |name: &Option<String>| name.as_deref().map(|name| names.kind(&span, name)).transpose();
    let missing = |key: &str| names.source.error(span.clone(), format!("the composer needs `{key}`"));
    Ok(ComposerRules {
        prompt: optional(&data.prompt)?.ok_or_else(|| missing("prompt"))?,
        command: optional(&data.command)?,
        continuation: optional(&data.continuation)?,
        above: optional(&data.above)?,
        above_cut: optional(&data.above_cut)?,
        below: optional(&data.below)?,
        foot: names.kinds(&span, data.foot.iter().flatten())?,
        rows_below: data.rows_below.ok_or_else(|| missing("rows_below"))?,
        ghost: data
            .ghost
            .iter()
            .flatten()
            .map(|style| style_test(names.source, span.clone(), style, None))
            .collect::<Result<_, _>>()?,
        placeholders: data.placeholders.clone().unwrap_or_default(),
        cursor: data.cursor,
        cursor_inside: data.cursor_inside.unwrap_or_default(),
        only_when_idle: data.only_when_idle.unwrap_or_default(),
        paste: data.paste,
    })
}

fn turn(names: &Names<'_>, span: Range<usize>, data: &TurnData) -> Result<TurnRules, ProfileError> {
    let set = |kinds: &Option<Vec<String>>| -> Result<Kinds, ProfileError> {
        Ok(names.kinds(&span, kinds.iter().flatten())?.into_iter().collect())
    };
    Ok(TurnRules {
        prompts: set(&data.prompts)?,
        commands: set(&data.commands)?,
        chrome: set(&data.chrome)?,
        stop_offers: set(&data.stop_offers)?,
        tools: names.kinds(&span, data.tools.iter().flatten())?,
        answers: names.kinds(&span, data.answers.iter().flatten())?,
        temporal: Temporal {
            linger: Span::from_millis(data.linger_ms.unwrap_or_default()),
            growth: data.growth.unwrap_or_default(),
            completion_row: data.completion_row.unwrap_or_default(),
            stops_silently: data.stops_silently.unwrap_or_default(),
            cautious: false,
        },
    })
}

fn rule(names: &Names<'_>, span: Range<usize>, data: &RuleData) -> Result<ScreenRule, ProfileError> {
    if data.rows.is_empty() && data.title.is_none() && data.composer.is_none() && data.prompt.is_none() {
        let message = format!("rule `{}` asks for nothing: give it rows, a title, a composer or a prompt", data.id);
        return Err(names.source.error(span, message));
    }
    let optional = |name: &Option<String>| name.as_deref().map(|name| names.kind(&span, name)).transpose();
    Ok(ScreenRule {
        id: data.id.clone(),
        gives: data.gives,
        region: data.region,
        last: data.last,
        rows: names.kinds(&span, &data.rows)?,
        none: names.kinds(&span, &data.none)?.into_iter().collect(),
        not_after: names.kinds(&span, &data.not_after)?.into_iter().collect(),
        title: data.title.as_deref().map(|title| names.source.regex(span.clone(), title)).transpose()?,
        cursor: data.cursor,
        composer: data.composer,
        prompt: optional(&data.prompt)?,
        excerpt: optional(&data.excerpt)?,
        question: optional(&data.question)?,
        note: optional(&data.note)?,
        behind: data.behind,
        by_either: data.by_either,
        manner: data.manner,
        scrolls_from: data.scrolls_from,
        ticks: data.ticks,
        status_row: data.status_row,
    })
}

impl Profile {
    /// The profile's name, such as `claude_code/2.1.62`.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The tool that it reads.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The versions that it reads.
    pub fn versions(&self) -> &Versions {
        &self.versions
    }

    /// The most of one paste that the agent takes as a part of the prompt.
    pub fn paste_limit(&self) -> Option<PasteLimit> {
        self.composer.as_ref().and_then(|composer| composer.paste)
    }

    /// The agent's behaviour over time, for a version that recordings show.
    pub fn temporal(&self) -> Temporal {
        self.turn.temporal
    }

    /// The public name of a family of screens (SPEC §6).
    pub fn family(&self, family: Family) -> Option<&str> {
        self.families.get(&family).map(String::as_str)
    }
}
