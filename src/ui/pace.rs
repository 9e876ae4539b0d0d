//! How long things last for who looks at them, where several parts of the screen have to agree.

use crate::record;
use crate::repository;
use crate::time::Span;

/// How long after the last key the table stays as the operator left it: rows keep their places, and the view its first row. Then
/// the most urgent come first again without exception.
pub const HOLD: Span = Span::from_secs(5);
/// What any process did or saw is in the history after this time.
pub const RECORDED: Span = record::SAME_CHANGE;
/// What the operator sees as one: moments that are no further apart.
pub const AT_ONCE: Span = Span::from_secs(2);
/// How often the history is asked for what is new, and asked again after it could not be read.
pub const REFRESH: Span = Span::from_secs(2);
/// How often what costs a program or a long query is repeated.
pub const REREAD: Span = repository::REREAD;
