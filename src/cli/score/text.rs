//! The report for people.

use std::fmt::Write;

use super::report::{Report, Tallies};
use crate::recording::score::Tally;
use crate::recording::score::tasks::TaskField;
use crate::recording::truth::Field;
use crate::screen::harmless;
use crate::state::Phase;
use crate::time::Span;

/// The report as text: scores by agent version, confused phases, delays, and the longest wrong spells.
pub fn print(report: &Report, worst: usize, recordings: bool) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = versions(&mut out, report);
    let _ = with_records(&mut out, report);
    if recordings {
        let _ = each_recording(&mut out, report);
    }
    if report.doubted_ms() > 0 {
        let seconds = Span::from_millis(report.doubted_ms()).as_secs();
        let _ = writeln!(out, "\n{seconds:.1} labelled seconds, over all fields, are doubted and left out.");
    }
    let _ = phases(&mut out, report);
    let _ = delays(&mut out, report);
    let _ = wrong(&mut out, report, worst);
    let _ = tasks(&mut out, report, worst);
    out
}

fn versions(out: &mut String, report: &Report) -> std::fmt::Result {
    writeln!(out, "{:<24}{:>5}{:>8}{}", "PERCENT RIGHT", "N", "MINUTES", heads())?;
    for (version, (count, time, tallies)) in report.versions() {
        writeln!(out, "{version:<24}{count:>5}{:>8.1}{}", time.as_secs() / 60.0, cells(&tallies))?;
    }
    let (count, time, tallies) = report.total();
    writeln!(out, "{:<24}{count:>5}{:>8.1}{}", "all", time.as_secs() / 60.0, cells(&tallies))
}

/// What records bring, in the recordings that hold some.
fn with_records(out: &mut String, report: &Report) -> std::fmt::Result {
    let mut versions = report.with_records().peekable();
    if versions.peek().is_some() {
        writeln!(out, "\n{:<24}{:>5}{:>8}{}", "WITH RECORDS", "N", "MINUTES", heads())?;
    }
    for (version, (count, time, tallies), alone) in versions {
        writeln!(out, "{version:<24}{count:>5}{:>8.1}{}", time.as_secs() / 60.0, cells(&tallies))?;
        writeln!(out, "{:<37}{}", "  its screen alone", cells(&alone))?;
    }
    Ok(())
}

fn each_recording(out: &mut String, report: &Report) -> std::fmt::Result {
    writeln!(out, "\n{:<60}{:>7}{}", "RECORDING", "SECONDS", heads())?;
    for one in &report.scored {
        let name = format!("{}/{}", one.version, one.name);
        writeln!(out, "{name:<60}{:>7.1}{}", one.score.duration.as_secs(), cells(&one.score.tallies))?;
    }
    Ok(())
}

fn tasks(out: &mut String, report: &Report, worst: usize) -> std::fmt::Result {
    let (count, tallies) = report.tasks();
    if count == 0 {
        return Ok(());
    }
    write!(out, "\nTASKS IN {count} RECORDINGS")?;
    for (field, tally) in TaskField::ALL.iter().zip(tallies) {
        write!(out, "   {field} {}", percent(tally))?;
    }
    writeln!(out)?;
    for (one, spell) in report.wrong_tasks().take(worst) {
        let (from, to) = (spell.from.as_secs(), spell.to.as_secs());
        let (truth, answer) = (harmless(&spell.truth), harmless(&spell.answer));
        writeln!(out, "{from:>8.3} – {to:>8.3}  {}  {}: {truth}, not {answer}", one.name, spell.field)?;
    }
    Ok(())
}

fn phases(out: &mut String, report: &Report) -> std::fmt::Result {
    let phases = report.phases();
    writeln!(
        out,
        "\n{:<24}{}",
        "PHASE, SECONDS",
        Phase::ALL.iter().map(|p| format!("{:>12}", p.word())).collect::<String>()
    )?;
    for truth in Phase::ALL {
        write!(out, "{:<24}", format!("truth {truth}"))?;
        for answer in Phase::ALL {
            let ms = phases.get(&(truth.word(), answer.word())).copied().unwrap_or(0);
            write!(out, "{:>12.1}", Span::from_millis(ms).as_secs())?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn delays(out: &mut String, report: &Report) -> std::fmt::Result {
    writeln!(out, "\n{:<24}{:>12}{:>12}{:>12}{:>12}", "DELAY, SECONDS", "changes", "missed", "median", "p95")?;
    for &field in Field::ALL {
        let delays = report.delays(field);
        if delays.changes == 0 {
            continue;
        }
        let seconds = |span: Option<Span>| span.map_or("–".to_owned(), |span| format!("{:.3}", span.as_secs()));
        let (median, p95) = (seconds(delays.median), seconds(delays.p95));
        writeln!(out, "{:<24}{:>12}{:>12}{median:>12}{p95:>12}", field.word(), delays.changes, delays.missed)?;
    }
    Ok(())
}

fn wrong(out: &mut String, report: &Report, worst: usize) -> std::fmt::Result {
    let wrong = report.wrong();
    let total: u64 = wrong.iter().map(|w| w.spell.length().as_millis()).sum();
    let total = Span::from_millis(total).as_secs();
    writeln!(out, "\n{} wrong spells, {total:.1} s; the {} longest:", wrong.len(), worst.min(wrong.len()))?;
    if wrong.is_empty() || worst == 0 {
        return Ok(());
    }
    writeln!(
        out,
        "{:>8} {:>9} {:>9}  {:<16}{:<15}{:<15}RECORDING",
        "SECONDS", "FROM", "TO", "FIELD", "TRUTH", "ANSWER"
    )?;
    for wrong in wrong.iter().take(worst) {
        let spell = wrong.spell;
        writeln!(
            out,
            "{:>8.3} {:>9.3} {:>9.3}  {:<16}{:<15}{:<15}{}",
            spell.length().as_secs(),
            spell.from.as_secs(),
            spell.to.as_secs(),
            spell.field.word(),
            spell.truth,
            spell.answer,
            harmless(&wrong.scored.path)
        )?;
    }
    Ok(())
}

fn heads() -> String {
    ["available", "accepting", "editing", "posture", "phase", "blocked", "result"].map(|h| format!("{h:>11}")).concat()
}

fn cells(tallies: &Tallies) -> String {
    tallies.iter().map(|tally| format!("{:>11}", percent(*tally))).collect()
}

/// Percent with two digits, rounded down, so that only what is wholly right shows as 100.
fn percent(tally: Tally) -> String {
    if tally.judged_ms == 0 {
        return "–".to_owned();
    }
    let hundredths = u128::from(tally.right_ms) * 10_000 / u128::from(tally.judged_ms);
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}
