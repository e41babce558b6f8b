//! `host-tools`: from a training checkpoint to a checked `quantised.bin`, on the command line.
//!
//! What was typed is [`cli`]; what it does is a file a verb in [`verbs`]; what it says goes through [`output`], what
//! goes wrong through [`error`], and every ending is one of [`status::Status`].
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod bare;
mod cli;
mod codegen;
mod constant;
mod divide;
mod error;
mod examples;
mod facts;
mod files;
mod model_file;
mod network;
mod nnue;
mod output;
mod permute;
mod progress;
mod screen;
mod seal;
mod status;
mod table;
mod verbs;
mod written;

use std::process::ExitCode;

fn main() -> ExitCode {
    let status = match cli::parse() {
        Ok(cli) => {
            let output = output::Output::new(&cli.common);
            verbs::run(cli, &output).unwrap_or_else(|error| output.fail(&error))
        }
        Err(refused) => output::refuse(&refused),
    };
    status.into()
}
