//! `host-tools`: from a training checkpoint to a checked `quantised.bin`, on the command line, and for programs that
//! want what a command says as data.
//!
//! What was typed is `cli`; what it does is a file a command in `commands`; what it says goes through `output`, what
//! goes wrong through `error`, and every ending is one of `status`. [`run`] is the program; [`answer`] is the same
//! without streams: the Python package calls it, so that both doors have one set of options and one set of messages.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod answer;
mod bare;
mod calls;
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
mod needs;
mod network;
mod nnue;
mod output;
mod packed;
mod permute;
mod progress;
mod report;
mod screen;
mod status;
mod table;
mod written;

pub use answer::{Answer, Refused, answer};

use std::process::ExitCode;

/// The program: reads its arguments, does what they say, prints, and gives the exit status.
pub fn run() -> ExitCode {
    let status = match cli::parse() {
        Ok(cli) => {
            let output = output::Output::new(&cli.common);
            commands::run(cli, &output).unwrap_or_else(|error| output.fail(&error))
        }
        Err(refused) => output::refuse(&refused),
    };
    status.into()
}
