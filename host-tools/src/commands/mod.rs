//! One command a file: arguments in, a report out. Only [`run`] prints.

mod batches;
mod codegen;
mod completions;
mod demo;
mod describe;
mod eval;
mod export;
mod inspect;
mod man;
mod pack;
mod quantise;
mod tiers;
mod unpack;
mod verify;

use crate::cli::{Cli, Command};
use crate::error::CliError;
use crate::output::Output;
use crate::status::Status;
use std::path::Path;
use tamis_quant::parallel::with_threads;
use tamis_runtime::kernels::{self, Tier};

/// Does what was asked for and prints the report.
///
/// # Errors
/// [`CliError`], with nothing half-written.
pub fn run(cli: Cli, output: &Output) -> Result<Status, CliError> {
    with_threads(cli.common.threads, || of_command(cli.command, output))
}

fn of_command(command: Command, output: &Output) -> Result<Status, CliError> {
    match command {
        Command::Quantise(args) => {
            let output = output.beside(&args.target.out)?;
            output.report(&quantise::run(&args, &output)?)
        }
        Command::Pack(args) => {
            let output = output.beside(&args.target.out)?;
            output.report(&pack::run(&args, &output)?)
        }
        Command::Unpack(args) => {
            let output = output.beside(&args.target.out)?;
            output.report(&unpack::run(&args)?)
        }
        Command::Inspect(args) => output.report(&inspect::run(&args)?),
        Command::Eval(args) => output.report(&eval::run(&args, output)?),
        Command::Export(args) => {
            let output = output.beside(&args.target.out)?;
            output.report(&export::run(&args)?)
        }
        Command::Describe(args) => {
            let stdout = Path::new("-");
            let file = [&args.out, &args.tensors].into_iter().flatten().find(|file| **file == stdout);
            let output = output.beside(file.map_or(Path::new(""), |file| file.as_path()))?;
            output.report(&describe::run(&args)?)
        }
        Command::Codegen(args) => output.report(&codegen::run(&args)?),
        Command::Verify(args) => {
            let stdout = Path::new("-");
            let file = [&args.html, &args.partial].into_iter().flatten().find(|file| **file == stdout);
            let output = output.beside(file.map_or(Path::new(""), |file| file.as_path()))?;
            output.report(&verify::run(&args, &output)?)
        }
        Command::Batches(args) => {
            let picture = args.svg.as_deref().filter(|svg| *svg == Path::new("-"));
            let output = output.beside(picture.unwrap_or(&args.target.out))?;
            output.report(&batches::run(&args, &output)?)
        }
        Command::Tiers => output.report(&tiers::run()),
        Command::Demo => output.report(&demo::run(output)?),
        Command::Completions { shell } => output.report(&completions::run(shell)),
        Command::Man { out, force } => output.report(&man::run(out.as_deref(), force)?),
    }
}

/// The tier with this name, or the default one.
fn tier(name: Option<&str>) -> Result<&'static Tier, CliError> {
    let Some(name) = name else { return Ok(kernels::best()) };
    kernels::by_name(name).ok_or_else(|| {
        let names: Vec<&str> = kernels::tiers().map(|tier| tier.name).collect();
        CliError::usage(format!("--tier {name}: this machine has no such tier, it has {}", names.join(", ")))
            .help("`host-tools tiers` shows what each of them computes")
    })
}
