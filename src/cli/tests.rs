use clap::{Command, CommandFactory};

use super::{Cli, shell};

#[test]
fn the_description_of_the_command_line_has_no_contradictions() {
    Cli::command().debug_assert();
}

#[test]
fn every_command_says_what_it_is_for() {
    fn check(command: &Command) {
        assert!(command.get_about().is_some(), "{} has no description", command.get_name());
        for argument in command.get_arguments() {
            assert!(argument.get_help().is_some(), "{} {} has no help", command.get_name(), argument.get_id());
        }
        command.get_subcommands().filter(|command| !command.is_hide_set()).for_each(check);
    }
    check(&Cli::command());
}

#[test]
fn every_command_has_an_example_that_can_be_typed() {
    for command in Cli::command().get_subcommands().filter(|command| !command.is_hide_set()) {
        let example = command.get_before_help().map(ToString::to_string).unwrap_or_default();
        let words = example.strip_prefix("Example: ").and_then(shlex::split).unwrap_or_default();
        assert_eq!(words.get(1).map(String::as_str), Some(command.get_name()), "{example:?}");
        if let Err(error) = shell::with_help(Cli::command()).try_get_matches_from(&words) {
            panic!("{example}: {error}");
        }
    }
}

#[test]
fn the_help_fits_one_screen_and_names_every_command() {
    let asked = shell::with_help(Cli::command().term_width(80)).try_get_matches_from(["fleetwatch", "--help"]);
    let help = asked.unwrap_err().to_string();
    assert!(help.lines().count() <= 45, "{} lines:\n{help}", help.lines().count());
    for command in Cli::command().get_subcommands().filter(|command| !command.is_hide_set()) {
        let mut listed = help.split("Options:").next().unwrap_or_default().split([' ', ',', '\n']);
        assert!(listed.any(|word| word == command.get_name()), "{}", command.get_name());
    }
}

#[test]
fn the_configuration_takes_every_theme_of_the_dashboard() {
    assert_eq!(crate::ui::Theme::names().collect::<Vec<_>>(), crate::config::THEMES);
}
