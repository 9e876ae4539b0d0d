//! The scores of many recordings, added up.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::recording::score::tasks::{TaskField, TaskScore, TaskSpell};
use crate::recording::score::{Delay, Score, Spell, Tally};
use crate::recording::truth::Field;
use crate::time::Span;

/// One scored recording.
#[derive(Clone, Debug)]
pub struct Scored {
    pub path: String,
    pub name: String,
    /// Agent and version.
    pub version: String,
    pub score: Score,
    /// What the screen alone scores, where the recording holds records that were read beside it.
    pub alone: Option<Tallies>,
    /// What is said of it as of a task, when it shows a shell.
    pub tasks: Option<TaskScore>,
}

/// All scored recordings, with the fields whose wrong spells are of interest.
pub struct Report {
    pub scored: Vec<Scored>,
    fields: Vec<Field>,
}

/// A wrong spell and where it is.
pub struct Wrong<'a> {
    pub scored: &'a Scored,
    pub spell: Spell,
}

/// What the delays of one field come to.
pub struct DelaySummary {
    pub changes: usize,
    /// Changes that the state did not follow before the truth changed again.
    pub missed: usize,
    pub median: Option<Span>,
    pub p95: Option<Span>,
}

/// The tallies of all fields.
pub type Tallies = [Tally; Field::ALL.len()];
/// How many recordings, their time, and their tallies.
pub type Sums = (usize, Span, Tallies);

impl Report {
    /// A report whose wrong spells are those of `fields`, or of all fields if that is empty.
    pub fn new(scored: Vec<Scored>, fields: &[Field]) -> Self {
        Self { scored, fields: if fields.is_empty() { Field::ALL.to_vec() } else { fields.to_vec() } }
    }

    /// Recordings, their time and tallies by agent version.
    pub fn versions(&self) -> BTreeMap<&str, Sums> {
        sums(self.scored.iter().map(|one| (one, &one.score.tallies)))
    }

    /// The same of the recordings that hold records, with these and by the screen alone.
    pub fn with_records(&self) -> impl Iterator<Item = (&str, Sums, Tallies)> {
        let recorded = || self.scored.iter().filter_map(|one| Some((one, one.alone.as_ref()?)));
        let (with, alone) = (sums(recorded().map(|(one, _)| (one, &one.score.tallies))), sums(recorded()));
        with.into_iter().zip(alone).map(|((version, with), (_, (.., alone)))| (version, with, alone))
    }

    /// Recordings, their time and tallies, all together.
    pub fn total(&self) -> Sums {
        let mut total = (0, Span::ZERO, Tallies::default());
        for (count, time, tallies) in self.versions().into_values() {
            total.0 += count;
            total.1 = Span::from_millis(total.1.as_millis() + time.as_millis());
            total.2.iter_mut().zip(tallies).for_each(|(sum, tally)| sum.add(tally));
        }
        total
    }

    /// Labelled milliseconds, over all fields, that are left out because they are doubted.
    pub fn doubted_ms(&self) -> u64 {
        self.scored.iter().map(|one| one.score.doubted_ms).sum()
    }

    /// The wrong spells of the chosen fields, longest first.
    pub fn wrong(&self) -> Vec<Wrong<'_>> {
        let spells =
            self.scored.iter().flat_map(|one| one.score.spells.iter().map(move |s| Wrong { scored: one, spell: *s }));
        let mut wrong: Vec<Wrong> = spells.filter(|wrong| self.fields.contains(&wrong.spell.field)).collect();
        wrong.sort_by(|a, b| {
            let key = |w: &Wrong| (std::cmp::Reverse(w.spell.length()), w.spell.from, w.spell.field);
            key(a).cmp(&key(b)).then_with(|| a.scored.path.cmp(&b.scored.path))
        });
        wrong
    }

    /// Judged milliseconds of phase, by truth and answer.
    pub fn phases(&self) -> BTreeMap<(&'static str, &'static str), u64> {
        let mut phases = BTreeMap::new();
        for (pair, ms) in self.scored.iter().flat_map(|one| &one.score.phases) {
            *phases.entry(*pair).or_default() += ms;
        }
        phases
    }

    /// The delays of a field.
    pub fn delays(&self, field: Field) -> DelaySummary {
        let of_field = |delay: &&Delay| delay.field == field;
        let delays: Vec<Option<Span>> =
            self.scored.iter().flat_map(|one| one.score.delays.iter().filter(of_field)).map(|d| d.delay).collect();
        let mut followed: Vec<Span> = delays.iter().flatten().copied().collect();
        followed.sort_unstable();
        // The nearest rank: the smallest delay that so many percent of all do not exceed.
        let rank = |percent: usize| followed.get((followed.len() * percent).div_ceil(100).saturating_sub(1)).copied();
        DelaySummary { changes: delays.len(), missed: delays.len() - followed.len(), median: rank(50), p95: rank(95) }
    }

    /// How many recordings are scored as tasks, and their tallies by field.
    pub fn tasks(&self) -> (usize, [Tally; TaskField::ALL.len()]) {
        let mut sums = [Tally::default(); TaskField::ALL.len()];
        let scores: Vec<&TaskScore> = self.scored.iter().filter_map(|one| one.tasks.as_ref()).collect();
        for score in &scores {
            sums.iter_mut().zip(score.tallies).for_each(|(sum, tally)| sum.add(tally));
        }
        (scores.len(), sums)
    }

    /// Where what is said of tasks is wrong, with the recording.
    pub fn wrong_tasks(&self) -> impl Iterator<Item = (&Scored, &TaskSpell)> {
        self.scored
            .iter()
            .flat_map(|one| one.tasks.iter().flat_map(|tasks| &tasks.spells).map(move |spell| (one, spell)))
    }

    fn tasks_json(&self) -> Value {
        let (count, tallies) = self.tasks();
        let fields =
            TaskField::ALL.iter().zip(tallies).map(|(field, tally)| (field.word().to_owned(), tally_json(tally)));
        let wrong: Vec<Value> = self
            .wrong_tasks()
            .map(|(one, spell)| {
                json!({
                    "path": one.path,
                    "field": spell.field.word(),
                    "from": spell.from.as_secs(),
                    "to": spell.to.as_secs(),
                    "truth": spell.truth,
                    "answer": spell.answer,
                })
            })
            .collect();
        json!({ "recordings": count, "fields": Value::Object(fields.collect()), "wrong": wrong })
    }

    /// What scores less than a limit, in words.
    pub fn below(&self, limit: f64) -> Vec<String> {
        let mut low = Vec::new();
        for (field, tally) in TaskField::ALL.iter().zip(self.tasks().1) {
            if let Some(percent) = tally.percent().filter(|percent| *percent < limit) {
                low.push(format!("tasks {field} scores {percent:.3} %"));
            }
        }
        for (version, (_, _, tallies)) in self.versions() {
            for (field, tally) in Field::ALL.iter().copied().zip(tallies) {
                if let Some(percent) = tally.percent().filter(|percent| *percent < limit) {
                    low.push(format!("{version} {} scores {percent:.3} %", field.word()));
                }
            }
        }
        low
    }

    /// The report as one JSON object.
    pub fn json(&self, worst: usize) -> String {
        let group = |(count, time, tallies): Sums| json!({ "recordings": count, "seconds": time.as_secs(), "fields": fields_json(&tallies) });
        let versions: Map<String, Value> =
            self.versions().into_iter().map(|(name, sums)| (name.to_owned(), group(sums))).collect();
        let records: Map<String, Value> = self
            .with_records()
            .map(|(name, sums, alone)| {
                let mut version = group(sums);
                version["screen_alone"] = fields_json(&alone);
                (name.to_owned(), version)
            })
            .collect();
        let recordings: Vec<Value> = self.scored.iter().map(recording_json).collect();
        let wrong: Vec<Value> = self.wrong().iter().take(worst).map(wrong_json).collect();
        let phases: Vec<Value> = self
            .phases()
            .into_iter()
            .map(|((truth, answer), ms)| json!({ "truth": truth, "answer": answer, "seconds": seconds(ms) }))
            .collect();
        let delays: Map<String, Value> = Field::ALL
            .iter()
            .copied()
            .map(|field| (field.word().to_owned(), delay_json(&self.delays(field))))
            .collect();
        let mut text = json!({
            "total": group(self.total()),
            "doubted_seconds": seconds(self.doubted_ms()),
            "versions": versions,
            "with_records": records,
            "recordings": recordings,
            "worst": wrong,
            "phases": phases,
            "delays": delays,
            "tasks": self.tasks_json(),
        })
        .to_string();
        text.push('\n');
        text
    }
}

/// Tallies of recordings, added up by agent version.
fn sums<'a>(tallies: impl Iterator<Item = (&'a Scored, &'a Tallies)>) -> BTreeMap<&'a str, Sums> {
    let mut versions: BTreeMap<&str, Sums> = BTreeMap::new();
    for (one, of_one) in tallies {
        let (count, time, tallies) = versions.entry(&one.version).or_default();
        *count += 1;
        *time = Span::from_millis(time.as_millis() + one.score.duration.as_millis());
        tallies.iter_mut().zip(of_one).for_each(|(sum, tally)| sum.add(*tally));
    }
    versions
}

fn recording_json(one: &Scored) -> Value {
    json!({
        "path": one.path,
        "version": one.version,
        "seconds": one.score.duration.as_secs(),
        "fields": fields_json(&one.score.tallies),
    })
}

fn fields_json(tallies: &Tallies) -> Value {
    let fields = Field::ALL.iter().copied().zip(tallies);
    Value::Object(fields.map(|(field, tally)| (field.word().to_owned(), tally_json(*tally))).collect())
}

fn tally_json(tally: Tally) -> Value {
    json!({
        "judged_seconds": seconds(tally.judged_ms),
        "right_seconds": seconds(tally.right_ms),
        "percent": tally.percent(),
    })
}

fn wrong_json(wrong: &Wrong) -> Value {
    json!({
        "path": wrong.scored.path,
        "version": wrong.scored.version,
        "field": wrong.spell.field.word(),
        "from": wrong.spell.from.as_secs(),
        "to": wrong.spell.to.as_secs(),
        "truth": wrong.spell.truth,
        "answer": wrong.spell.answer,
    })
}

fn delay_json(delays: &DelaySummary) -> Value {
    json!({
        "changes": delays.changes,
        "missed": delays.missed,
        "median_seconds": delays.median.map(Span::as_secs),
        "p95_seconds": delays.p95.map(Span::as_secs),
    })
}

fn seconds(ms: u64) -> f64 {
    Span::from_millis(ms).as_secs()
}
