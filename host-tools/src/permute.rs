//! `--permute`: another order of the neurons, chosen on positions, for `quantise` and `pack`.

use crate::cli::{Form, Permute};
use crate::error::{CliError, Explain};
use crate::files::sample_positions;
use crate::output::Output;
use crate::progress;
use crate::report::PermutationReport;
use std::path::Path;
use tamis_quant::permute::{check, permute};
use tamis_quant::quantised::QuantNet;

/// Refuses what no network allows, before anything is read.
///
/// # Errors
/// [`CliError`] if a bare file is to be written.
pub fn check_form(args: &Permute, form: Form) -> Result<(), CliError> {
    if args.positions.is_some() && form == Form::Bare {
        return Err(CliError::usage(
            "--permute and --form bare: a bare file has the trainer's order of neurons, and nowhere to say another",
        )
        .help("write a container, which `host-tools unpack` turns into the trainer's bytes whatever its order is"));
    }
    Ok(())
}

/// Gives the network the order that suits the positions, if any were given. `source` is the network's file.
///
/// # Errors
/// [`CliError`] naming the file that is at fault.
pub fn apply(
    net: &mut QuantNet,
    args: &Permute,
    source: &Path,
    output: &Output,
) -> Result<Option<PermutationReport>, CliError> {
    let Some(path) = &args.positions else { return Ok(None) };
    check(net).explain_at(source)?;
    let positions = sample_positions(path, args.limit)?;
    let spinner = progress::spinner(output, "permuting");
    let choice = permute(net, &positions).explain_at(path)?;
    spinner.finish_and_clear();
    let facts = PermutationReport::of(&choice);
    net.permutation = Some(choice.permutation);
    Ok(Some(facts))
}
