//! `host-tools`: from a training checkpoint to a checked `quantised.bin`, on the command line.
//!
//! What was typed is [`cli`]; what it does is a file a command in [`commands`]; what it says goes through [`output`],
//! what goes wrong through [`error`], and every ending is one of [`status::Status`].
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod bare;
mod cli;
mod codegen;
mod commands;
mod constant;
mod divide;
mod error;
mod examples;
mod files;
mod fit;
mod footprint;
mod model_file;
mod network;
mod nnue;
mod output;
mod permute;
mod progress;
mod report;
mod screen;
mod seal;
mod status;
mod table;
mod written;

use std::process::ExitCode;

fn main() -> ExitCode {
    let status = match cli::parse() {
        Ok(cli) => {
            let output = output::Output::new(&cli.common);
            commands::run(cli, &output).unwrap_or_else(|error| output.fail(&error))
        }
        Err(refused) => output::refuse(&refused),
    };
    status.into()
}
