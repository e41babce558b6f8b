//! `--fit`: integers moved towards the float network's outputs on positions, for `quantise`.

use crate::cli::Fit;
use crate::error::{CliError, Explain};
use crate::files::PositionFile;
use crate::output::Output;
use crate::progress;
use crate::report::FitReport;
use tamis_quant::float::{Example, Net, example};
use tamis_quant::quantise::fit::{Limits, fit};
use tamis_quant::quantised::QuantNet;

/// What a container says it was made of, where its integers are no longer those of that file.
pub fn source(source: &str) -> String {
    format!("{source}, fitted")
}

/// Fits the network to the positions, if any were given.
///
/// # Errors
/// [`CliError`] naming the file that is at fault.
pub fn apply(net: &mut QuantNet, real: &Net<f32>, args: &Fit, output: &Output) -> Result<Option<FitReport>, CliError> {
    let Some(path) = &args.positions else { return Ok(None) };
    let limit = usize::try_from(args.limit).unwrap_or(usize::MAX);
    let file = PositionFile::read(path, Some(limit))?;
    let spinner = progress::spinner(output, "reading positions");
    let mut examples: Vec<Example> = Vec::with_capacity(file.count_at_most(limit));
    for position in file.positions()?.take(limit) {
        examples.push(example(&real.arch, &position?).explain_at(path)?);
    }
    spinner.finish_and_clear();
    let bar = progress::bar(output, "fitting", 0);
    let step = |done: usize, most: usize| {
        bar.set_length(most as u64);
        bar.set_position(done as u64);
    };
    let limits =
        Limits { sweeps: usize::try_from(args.sweeps).unwrap_or(usize::MAX), seconds: args.seconds.map(f64::from) };
    let found = fit(net, real, &examples, limits, &step).explain_at(path)?;
    bar.finish_and_clear();
    Ok(Some(FitReport::of(&found)))
}
