//! Which panes are shown and how large, by keys and by dragging what lies between them.

use ratatui::layout::Position;

use crate::fleet::View;
use crate::status::Status;
use crate::ui::action::Action;
use crate::ui::layout::{Divider, Shown};
use crate::ui::{Topic, Ui};

/// Columns that one key moves the divider between the panes.
const COLUMNS: i32 = 4;

impl Ui {
    /// Does what an action says of the layout.
    pub(super) fn lay_out(&mut self, action: Action, view: &View<'_>) {
        match action {
            Action::Layout => {
                self.panes.shown = self.panes.shown.next();
                let told = self.panes.shown.words().to_owned();
                self.notify_about(Topic::Layout, Status::Ready, told, view.now);
            }
            Action::Taller => self.nudge(Divider::Level, 1),
            Action::Lower => self.nudge(Divider::Level, -1),
            Action::Wider => self.nudge(Divider::Upright, COLUMNS),
            Action::Narrower => self.nudge(Divider::Upright, -COLUMNS),
            _ => {}
        }
    }

    /// The divider that the mouse can take hold of at a place: the titles of the panes, or the column between them.
    pub(super) fn divider_at(&self, at: Position) -> Option<Divider> {
        let regions = &self.drawn.regions;
        if !self.overlays.is_empty() || self.panes.shown == Shown::Table || !regions.lower.contains(at) {
            return None;
        }
        if !regions.right.is_empty() && at.x + 1 == regions.right.x {
            return Some(Divider::Upright);
        }
        (at.y == regions.lower.y).then_some(Divider::Level)
    }

    /// Moves the divider that the mouse holds.
    pub(super) fn drag(&mut self, at: Position) {
        let regions = self.drawn.regions;
        match self.dragged {
            Some(Divider::Level) => {
                let all = regions.table.height + regions.lower.height;
                self.panes.put(Divider::Level, at.y.saturating_sub(regions.table.y), all);
            }
            Some(Divider::Upright) => {
                self.panes.put(Divider::Upright, at.x.saturating_sub(regions.lower.x), regions.lower.width);
            }
            None => {}
        }
    }

    /// Moves a divider by cells, from where it was put or else from where the last frame had it.
    fn nudge(&mut self, divider: Divider, cells: i32) {
        let regions = &self.drawn.regions;
        let (before, all, other) = match divider {
            Divider::Level => {
                let all = regions.table.height + regions.lower.height;
                (self.panes.table_rows(all).unwrap_or(regions.table.height), all, regions.lower)
            }
            Divider::Upright => {
                let all = regions.lower.width;
                (self.panes.left_columns(all).unwrap_or(regions.left.width), all, regions.right)
            }
        };
        // A divider that is not on the frame is not moved.
        if !other.is_empty() {
            let moved = (i32::from(before) + cells).clamp(0, i32::from(all));
            self.panes.put(divider, u16::try_from(moved).unwrap_or(before), all);
        }
    }
}
