//! The runtime of commands that wait for something.

use anyhow::Context as _;

use super::Failure;

/// Runs a command that polls tmux servers; the others start no runtime.
pub(super) fn wait_for<T>(command: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.context("the runtime cannot be started")?.block_on(command)
}

/// The same in one thread, for commands that wait for no keys: memory that is allocated in one thread and freed in another
/// is not reused.
pub(super) fn wait_in_one_thread<T>(command: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.context("the runtime cannot be started")?.block_on(command)
}
