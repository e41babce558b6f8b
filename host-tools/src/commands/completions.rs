//! `completions`: what a shell needs to complete the command line.

use crate::cli::Cli;
use crate::output::Report;
use clap::CommandFactory;
use clap_complete::Shell;
use serde::Serialize;
use std::io::{self, Write};

const NAME: &str = "host-tools";

/// A shell's script.
#[derive(Debug, Serialize)]
pub struct Completions {
    shell: String,
    script: String,
}

/// Generates it.
pub fn run(shell: Shell) -> Completions {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), NAME, &mut script);
    let mut script = String::from_utf8_lossy(&script).into_owned();
    if shell == Shell::Bash {
        // The generator takes the hyphen in the program's name for the border of a command, in half of the places.
        script = script.replace(&NAME.replace('-', "__subcmd__"), &NAME.replace('-', "__"));
    }
    Completions { shell: shell.to_string(), script }
}

impl Report for Completions {
    const SCHEMA: Option<&'static str> = Some("tamis-completions-1");

    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(self.script.as_bytes())
    }
}
