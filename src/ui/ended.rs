//! The tmux servers that have ended, what ended with them, and the line that says so.

use jiff::tz::TimeZone;

use super::{Item, text, times};
use crate::fleet::{ServerHealth, ServerId, View};
use crate::time::{Span, Timestamp};

/// What is done about a server that has ended.
pub const STILL_LOOKING: &str = "still looking for it";

/// The servers that have ended, and when. Mostly none: a frame must not look for the server of every row.
pub struct EndedServers<'a>(Vec<(&'a ServerId, Timestamp)>);

impl<'a> EndedServers<'a> {
    /// Those of a view.
    pub fn of(view: &View<'a>) -> Self {
        let down = view.servers.iter().filter(|server| matches!(server.health, ServerHealth::NoServer(_)));
        Self(down.filter_map(|server| Some((&server.id, server.ended_at?))).collect())
    }

    /// Whether a terminal or task ended because its server did.
    pub fn took(&self, item: Item<'_>) -> bool {
        self.0.iter().any(|(server, at)| **server == item.key().server && item.went_on_until(*at))
    }

    /// Tells of ended agents: which, since when, what they had and who waited there, in as many words as fit; `None` where none
    /// of them is shown.
    pub fn told(&self, view: &View<'_>, zone: &TimeZone, in_place: fn(&str) -> String, cells: usize) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        let items = Item::all(view);
        let shown = self.0.iter().filter(|(server, _)| items.iter().any(|item| item.key().server == **server));
        let shown: Vec<&(&ServerId, Timestamp)> = shown.collect();
        let is_there = |item: &&Item<'_>| shown.iter().any(|(server, _)| **server == item.key().server);
        let count = items.iter().filter(is_there).count();
        let waited = items.iter().filter(|item| self.took(**item) && item.waited_before());
        let mut waited: Vec<&str> = waited.map(|item| item.id()).collect();
        waited.sort_unstable();
        let clock = |at| match view.now.since(at) >= Span::DAY {
            true => times::day_and_clock(at, zone),
            false => times::clock(at, zone),
        };
        let oldest = shown.iter().map(|(_, at)| *at).min()?;
        let list = |word: &dyn Fn(&(&ServerId, Timestamp)) -> String| {
            shown.iter().map(|server| word(server)).collect::<Vec<_>>().join(", ")
        };
        let (long, looking) = match shown[..] {
            [(server, at)] => (format!("tmux server {server} gone since {}", clock(*at)), STILL_LOOKING),
            _ => {
                let each = list(&|(server, at)| format!("{server} since {}", clock(*at)));
                (format!("tmux servers gone: {each}"), "still looking for them")
            }
        };
        let short = format!("{}: tmux gone since {}", list(&|(server, _)| server.to_string()), clock(oldest));
        let had = text::counted(count, "terminal");
        let [names, number, few] = match waited.len() {
            0 => [String::new(), String::new(), format!(" with {had}")],
            many => [
                format!("; {} waited for you", waited.join(", ")),
                format!("; {many} waited for you"),
                format!("; of {had} {many} waited"),
            ],
        };
        let forms = [
            format!("{long} with {had}{names}; {looking}"),
            format!("{long} with {had}{number}; {looking}"),
            format!("{short}{few}; {looking}"),
            format!("{short}; {looking}"),
        ];
        let mut forms = forms.into_iter().map(|form| in_place(&form));
        Some(forms.find(|form| text::width(form) <= cells).unwrap_or(short))
    }
}
