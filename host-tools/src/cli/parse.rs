//! From words to [`Cli`].

use super::Cli;
use clap::{Arg, ArgAction, Command, CommandFactory, FromArgMatches};
use std::ffi::OsString;

/// The command line.
///
/// # Errors
/// clap's own refusal, which is also how it answers `--help` and `--version`.
pub fn parse() -> Result<Cli, clap::Error> {
    parsed(std::env::args_os())
}

/// The same of arguments that somebody else gives, without the program's name.
///
/// # Errors
/// As [`parse`].
pub fn parse_from<A: Into<OsString>>(arguments: impl IntoIterator<Item = A>) -> Result<Cli, clap::Error> {
    let name = OsString::from("host-tools");
    parsed(std::iter::once(name).chain(arguments.into_iter().map(Into::into)))
}

fn parsed(arguments: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let mut command = with_negative_numbers(Cli::command());
    let mut matches = command.try_get_matches_from_mut(arguments)?;
    Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
}

/// What is behind an option is its value, a negative number, too: whoever reads it says that it has to be above 0.
fn with_negative_numbers(command: Command) -> Command {
    let negative = |argument: Arg| match argument.get_action() {
        ArgAction::Set | ArgAction::Append if !argument.is_positional() => argument.allow_negative_numbers(true),
        _ => argument,
    };
    command.mut_args(negative).mut_subcommands(with_negative_numbers)
}
