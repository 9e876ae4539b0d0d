//! One way for a line that is being typed to go on.

/// A way to go on, and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The whole line then.
    pub line: String,
    /// What is added to it.
    pub text: String,
    pub note: String,
}
