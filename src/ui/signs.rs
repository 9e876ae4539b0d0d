//! The signs that rows have beside the glyphs of their states.

/// What stands behind a result whose turn fleetwatch itself began.
pub const SENT_MARK: &str = "›";
/// What stands behind a result that was inferred from the screen.
pub const INFERRED_MARK: &str = "~";
/// Stands for the time of rest of a screen that still moves.
pub const MOVES: &str = "~";
/// What stands behind a result that the operator has not seen yet.
pub const UNSEEN_MARK: &str = "●";

/// Stands for a running task, whose progress nobody knows.
pub const RUNS: &str = "▶";
/// What stands before the glyph of a terminal that is marked or muted.
pub const MARKED: &str = "■";
/// What stands behind the name of a terminal that is pinned.
pub const PINNED: &str = "↑";
/// See [`MARKED`].
pub const MUTED: &str = "z";
/// What stands before what a terminal does that a prompt was begun for.
pub const DRAFTED: &str = "✎";
