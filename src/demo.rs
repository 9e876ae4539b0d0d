//! A fleet to look at without any agent: recorded sessions, played in the panes of a private tmux server.
//!
//! Each pane runs this very program under the agent's name (a link to it in a private directory), so that everything
//! from the process table to the screen is as it would be. The players hold a connection to the [`Demo`]; when it
//! ends, however it ends, they remove the server and the directory.

mod alive;
mod player;
mod scenes;
mod stage;

pub use player::{Play, play};
pub use scenes::{SCENES, Scene};
pub use stage::{Demo, Sweep, sweep};
