//! A command for a program that is no shell: arguments in, its report as data out.

use crate::cli;
use crate::commands;
use crate::error::CliError;
use crate::output::{Captured, Output};
use crate::status::Status;
use std::ffi::OsString;

/// What a command said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The exit status: 0, or 1 where a gate failed.
    pub status: u8,
    /// The object that `--json` prints.
    pub json: String,
    /// What it warns of.
    pub warnings: Vec<String>,
}

/// Why a command was not done; nothing is half-written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The exit status, 1 to 5.
    pub status: u8,
    /// Which file and place, what was found, what was expected.
    pub message: String,
    /// The next step, where there is one.
    pub help: Option<String>,
}

/// Does what `host-tools ARGUMENTS --json` does, and prints nothing. Files named `-` are still the process's own
/// streams.
///
/// ```
/// let answer = host_tools::answer(["tiers"]).expect("every machine has tiers");
/// assert!(answer.status == 0 && answer.json.contains("scalar"));
/// let refused = host_tools::answer(["inspect", "no-such-file.bin"]).expect_err("there is none");
/// assert_eq!(refused.status, 4);
/// assert!(refused.message.contains("no-such-file.bin") && refused.help.is_some());
/// ```
///
/// # Errors
/// [`Refused`], with the status and the words of the command line.
pub fn answer<A: Into<OsString>>(arguments: impl IntoIterator<Item = A>) -> Result<Answer, Refused> {
    let cli = match cli::parse_from(arguments) {
        Ok(cli) => cli,
        // Help and version, which are asked for and no refusal.
        Err(words) if words.exit_code() == 0 => {
            let json = words.render().to_string();
            return Ok(Answer { status: Status::Fine.number(), json, warnings: Vec::new() });
        }
        Err(words) => return Err(of_arguments(words)),
    };
    let captured = Captured::default();
    let status = commands::run(cli, &Output::into(&captured)).map_err(of_command)?;
    Ok(Answer { status: status.number(), json: captured.json.take(), warnings: captured.warnings.take() })
}

/// clap's words.
fn of_arguments(refused: clap::Error) -> Refused {
    let text = refused.render().to_string();
    let (message, help) = match text.trim_end().split_once("\n\n") {
        Some((message, help)) => (message.to_owned(), Some(help.to_owned())),
        None => (text.trim_end().to_owned(), None),
    };
    let message = message.strip_prefix("error: ").map(str::to_owned).unwrap_or(message);
    Refused { status: Status::Usage.number(), message, help }
}

fn of_command(error: CliError) -> Refused {
    let (status, message, help) = error.into_parts();
    Refused { status: status.number(), message, help }
}
