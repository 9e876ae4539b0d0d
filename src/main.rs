fn main() -> std::process::ExitCode {
    fleetwatch::cli::run()
}
