//! How the screen of a terminal is read, for `explain`.

use std::sync::Arc;

use serde_json::{Value, json};

use super::objection::Objection;
use crate::fleet::{Fleet, Terminal, TerminalKey};
use crate::profile::{Classification, DialogProjection, Explanation, ProfileSet, Program, Selected};
use crate::screen::Screen;
use crate::state::{ProcessState, State};

/// A terminal's screen with the profile that reads it.
pub struct ReadScreen {
    pub screen: Arc<Screen>,
    pub selected: Selected,
    pub reading: Classification,
    pub explanation: Explanation,
    pub projection: DialogProjection,
}

impl ReadScreen {
    /// The reading with the state, the record and the timers.
    pub fn json(&self, fleet: &Fleet, key: &TerminalKey, state: &State) -> Value {
        let Self { selected, reading, .. } = self;
        json!({
            "explanation": self.explanation,
            // What the state does not repeat.
            "reading": {
                "profile": selected.profile.id(),
                "preset": selected.profile.versions().min,
                "selection": selected.selection.word(),
                "recorded": selected.recorded,
                "output_family": family(self),
                "phase": reading.phase,
                "surface": reading.surface,
                "assessment": reading.assessment,
                "background_work": reading.background_work,
                "banner_version": reading.banner_version,
                "doubt": reading.doubt,
                "evidence": reading.evidence,
            },
            "projection": self.projection,
            "record": fleet.recorded_turn(key),
            "state": state,
            "timers": fleet.timers(key),
        })
    }
}

/// Reads a terminal's screen with the profile that fits it.
///
/// # Errors
/// No known agent runs there, or its screen could not be captured.
pub fn read(terminal: &Terminal, profiles: &ProfileSet) -> Result<ReadScreen, Objection> {
    let id = &terminal.state.terminal.id;
    let Program::Agent { tool, version, .. } = program(terminal) else {
        let command = &terminal.facts.command;
        return Err(Objection::new(
            format!("{id} runs no known agent, but `{command}`: its screen is not read"),
            "`tool` of a [[terminal]] in the configuration says which agent it is",
        ));
    };
    let Some(screen) = terminal.screen() else {
        return Err(Objection::new(format!("the screen of {id} could not be read"), "try again"));
    };
    let configured = terminal.declared.version.is_some();
    let Some(selected) = profiles.select(&tool, version.as_deref(), configured) else {
        return Err(Objection::new(
            format!("there is no profile for `{tool}`"),
            "`fleetwatch profiles list` lists the known agents",
        ));
    };
    let (reading, explanation) = selected.profile.explain(&screen, &terminal.facts);
    let projection = selected.profile.project(&screen, &terminal.facts);
    Ok(ReadScreen { screen, selected, reading, explanation, projection })
}

/// The program in a terminal, from its state.
pub fn program(terminal: &Terminal) -> Program {
    let facts = &terminal.state.terminal;
    match terminal.state.diagnostics.process_state {
        ProcessState::TuiUp | ProcessState::UnsupportedTool => {
            let (version, through) = (facts.observed_tool_version.clone(), facts.through.clone());
            Program::Agent { tool: facts.tool.clone(), version, through }
        }
        _ => Program::Other { command: terminal.facts.command.clone() },
    }
}

/// The public name of the family of screens that the reading belongs to (SPEC §6).
fn family(read: &ReadScreen) -> Option<&str> {
    read.reading.family.and_then(|family| read.selected.profile.family(family))
}
