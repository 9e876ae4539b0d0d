//! What a person or a script is shown, in words and documents. Pure, directly above the core: the three faces draw, print and serve
//! what is here, and none of them imports another.

pub mod answer;
pub mod arrangement;
pub mod columns;
pub mod dialog_shown;
pub mod document;
pub mod events;
pub mod explanation;
pub mod filter;
pub mod flags;
pub mod item;
pub mod objection;
pub mod sentence;
pub mod target;
pub mod template;
pub mod text;
pub mod times;
pub mod totals;
