//! fleetwatch shows the true state of every coding agent in tmux.
//!
//! `docs/contract.md` says what the names and values mean (the code cites it as `SPEC §n`); `docs/architecture.md` says why
//! the code is built this way.
//!
//! # Reading order
//!
//! From the ground up: a module imports only from modules above it in this list, and `tests/it/pure/floors.rs` enforces that.
//!
//! | floor | module | what it is |
//! |---|---|---|
//! | 0 | [`time`] | time as a number that somebody else read from a clock |
//! | 0 | [`ids`] | hosts, servers, sessions, windows and panes by their names and ids |
//! | 0 | [`pattern`] | globs of names, and texts with placeholders |
//! | 0 | [`address`] | addresses and networks, and whether a connection is private |
//! | 0 | [`hash`] | a hash that is the same in every run and build, and hashes as text |
//! | 0 | [`screen`] | one capture as rows of styled cells, and the facts of its pane |
//! | 0 | [`repository`] | what git says about a repository: its branch, its changes, a diff |
//! | 0 | [`state`] | the words of the contract as types: everything that is said about a terminal |
//! | 0 | [`agent_record`] | what agents write about their own sessions, read by rules |
//! | 0 | [`status`] | what an agent or a task is to a person: one word, its urgency, and what a transition changed |
//! | 0 | [`dialog`] | a dialog on a screen: its options, and the keys that choose one |
//! | 0 | [`profile`] | rules as data, and the small engine that reads a screen with them |
//! | 0 | [`tracker`] | one terminal over time: a state machine without a clock |
//! | 0 | [`task`] | windows that run no agent: what each poll of them says happened |
//! | 0 | [`fleet`] | all terminals: inputs in, effects and a view out |
//! | 0 | [`notify`] | which notices go out, when and how |
//! | 0 | [`follow_up`] | what agents hear about other terminals, when, and whether it arrived |
//! | 0 | [`operation`] | what is done to a terminal, and its outcome |
//! | 0 | [`record`] | what happened and what was done, as it is kept and read back |
//! | 0 | [`present`] | what a person or a script is shown: rows, columns, filter, sentences, documents, events |
//! | 1 | [`ui`] | the view to a frame, a key to an action; no tokio, no tmux, no clock |
//! | 1 | [`clock`] | the clock that a process reads its times from |
//! | 1 | [`private`] | this user's directories, and private files in them, whole or absent |
//! | 1 | [`tmux`] | the only place that knows tmux: commands, quoting, listing, capture, paste, keys |
//! | 1 | [`process`] | what runs in a pane |
//! | 1 | [`recording`] | recordings in and out, their replay and their score |
//! | 1 | [`history`] | what happened and what was sent, in a file that survives crashes |
//! | 1 | [`token`] | who may ask over HTTP |
//! | 1 | [`git`] | reads repositories that agents work in, without running any program of theirs |
//! | 1 | [`config`] | the configuration file and the chosen task sessions in, checked values out |
//! | 2 | [`sender`] | performs operations: records each, does it, and records its outcome |
//! | 2 | [`poll`] | pollers that turn tmux, processes and time into the fleet's inputs |
//! | 2 | [`owner`] | one process polls each server, acts for it, and tells the others |
//! | 2 | [`launch`] | what operators start: agents and tasks in windows of tmux, and working trees for them |
//! | 2 | [`delivery`] | what goes out: bells, notices, commands, follow-ups |
//! | 2 | [`engine`] | the one loop: what is polled, sent and delivered goes into the fleet, and what to show or print comes out |
//! | 3 | [`serve`] | the fleet over HTTP: who may ask, what is answered, and the event stream |
//! | 3 | [`app`] | the dashboard: the terminal, its keys, and what they ask for |
//! | 3 | [`demo`] | recorded sessions that play in their own tmux server |
//! | 3 | [`cli`] | the command line; `main` calls it |
//!
//! # Data flow
//!
//! ```text
//! tmux servers (local, ssh)               keys, mouse
//!     │ one short tmux a tick                  │
//!     ▼                                        ▼
//!   poll, owner ──▶ engine ── fleet (pure) ──View, Update──▶ app, cli, serve
//!                     │  ▲                                  │
//!                     │  └─────── Input, Operation ◀────────┘
//!                     └──Effect──▶ history, delivery
//! ```
//!
//! Everything that can happen is a [`fleet::Input`] with its time; everything to do or announce is a
//! [`fleet::Effect`]. Replaying a recording and watching a server run the same code from the fleet on down.
//!
//! # What must stay true
//!
//! - The core (floor 0) knows no clock, no runtime, no tmux, no file and no terminal. The same inputs with the same
//!   times give the same states.
//! - Only [`tmux`] builds tmux commands, only its quoting touches what users typed, and no shell reads that.
//! - What comes from a pane reaches the operator's terminal as cells and harmless text, never as a control sequence.
//! - Watching leaves no trace in the user's tmux: no client is attached, no option, hook or buffer set, no window
//!   resized. Declared task sessions are the one exception: a hook counts their bells, and their windows stay open when
//!   their programs end, as long as a process watches. Sending uses one buffer and deletes it.
//! - One slow, dead or hostile pane, server or host degrades its own rows, never the others.
//! - Agents are data: adding one or following its next release touches `config/profiles` and `recordings`, not `src`.
//! - What is not known is `unknown`. It is never rounded to ready, and a result is never made up.

pub mod address;
pub mod agent_record;
pub mod app;
pub mod cli;
pub mod clock;
pub mod config;
pub mod delivery;
pub mod demo;
pub mod dialog;
pub mod engine;
pub mod fleet;
pub mod follow_up;
pub mod git;
pub mod hash;
pub mod history;
pub mod ids;
pub mod launch;
pub mod notify;
pub mod operation;
pub mod owner;
pub mod pattern;
pub mod poll;
pub mod present;
pub mod private;
pub mod process;
pub mod profile;
pub mod record;
pub mod recording;
pub mod repository;
pub mod screen;
pub mod sender;
pub mod serve;
pub mod state;
pub mod status;
pub mod task;
pub mod time;
pub mod tmux;
pub mod token;
pub mod tracker;
pub mod ui;
