use clap::CommandFactory;

use super::Cli;

#[test]
fn the_description_of_the_command_line_has_no_contradictions() {
    Cli::command().debug_assert();
}

#[test]
fn every_command_says_what_it_is_for() {
    for command in Cli::command().get_subcommands().filter(|command| !command.is_hide_set()) {
        assert!(command.get_about().is_some(), "{} has no description", command.get_name());
        for argument in command.get_arguments() {
            assert!(argument.get_help().is_some(), "{} {} has no help", command.get_name(), argument.get_id());
        }
    }
}

#[test]
fn the_configuration_takes_every_theme_of_the_dashboard() {
    assert_eq!(crate::ui::Theme::names().collect::<Vec<_>>(), crate::config::THEMES);
}
