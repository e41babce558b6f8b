//! `completions`: what a shell needs to complete the command line.

use crate::cli::Cli;
use crate::output::Report;
use clap::CommandFactory;
use clap_complete::Shell;
use serde::Serialize;
use std::io::{self, Write};

/// A shell's script.
#[derive(Debug, Serialize)]
pub struct Completions {
    shell: String,
    script: String,
}

/// Generates it.
pub fn run(shell: Shell) -> Completions {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "host-tools", &mut script);
    Completions { shell: shell.to_string(), script: String::from_utf8_lossy(&script).into_owned() }
}

impl Report for Completions {
    const SCHEMA: Option<&'static str> = Some("tamis-completions-1");

    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(self.script.as_bytes())
    }
}
