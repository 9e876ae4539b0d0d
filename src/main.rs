//! The program. Everything that it does is in the library, see src/lib.rs.

use std::process::ExitCode;

fn main() -> ExitCode {
    fleetwatch::cli::run()
}
