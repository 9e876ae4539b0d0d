//! How well what fleetwatch says of recordings agrees with the truth in them (SPEC §13). Tests judge by it as well.

/// Declares the fields that are judged, with their names in the truth of a recording.
macro_rules! fields {
    ($(#[$meta:meta])* $name:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
        pub enum $name { $(#[serde(rename = $word)] $variant),+ }

        impl $name {
            /// All of them, in order.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            /// Its name in the truth of a recording.
            pub const fn word(self) -> &'static str {
                match self { $($name::$variant => $word),+ }
            }

            /// The one with a name.
            pub fn of_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|field| field.word() == word)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.word())
            }
        }
    };
}

pub mod score;
pub mod truth;
