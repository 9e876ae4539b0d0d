//! What a person or a script is shown, in words and documents. Pure, directly above the core: the three faces draw, print and serve
//! what is here, and none of them imports another.

pub mod document;
pub mod sentence;
