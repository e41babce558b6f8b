//! `--fit`: integers moved towards the float network's outputs on positions, for `quantise`.

use crate::cli::Fit;
use crate::error::{CliError, Explain};
use crate::files::PositionFile;
use crate::output::Output;
use crate::progress;
use crate::report::FitReport;
use std::cell::Cell;
use tamis_quant::float::{Example, Net, example};
use tamis_quant::quantise::fit::{self, FitError, Limits, Progress, held_out};
use tamis_quant::quantised::QuantNet;
use tamis_quant::verify::simulate::error_by_part;

/// Positions whose error is taken apart, of those that were held out: each part is another pass in real numbers.
const SPLIT: usize = 4096;
/// From which time on it is said beforehand.
const LONG_SECONDS: f64 = 30.0;

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
    let before = net.clone();
    let found = fitted(net, real, &examples, args, output).explain_at(path)?;
    let sample: Vec<Example> = evenly(held_out(&examples).collect(), SPLIT).into_iter().cloned().collect();
    let parts = |of: &QuantNet| error_by_part(real, of, &sample).explain();
    let split = (sample.len(), parts(&before)?, parts(net)?);
    Ok(Some(FitReport::of(&found, net, split)))
}

/// Fits, with a bar, and a note of how long it will take where that is long.
fn fitted(
    net: &mut QuantNet,
    real: &Net<f32>,
    examples: &[Example],
    args: &Fit,
    output: &Output,
) -> Result<fit::Fit, FitError> {
    let bar = progress::bar(output, "fitting", 0);
    let is_said = Cell::new(false);
    let step = |Progress { visited, most, expected_seconds }: Progress| {
        bar.set_length(most as u64);
        bar.set_position(visited as u64);
        if !is_said.replace(true) && expected_seconds >= LONG_SECONDS {
            let (count, sweeps) = (examples.len(), args.sweeps);
            let (time, end) = (minutes(expected_seconds), "--fit-seconds N ends it earlier");
            bar.suspend(|| {
                output.note(&format!("fitting to {count} positions in {sweeps} sweeps takes {time} at most; {end}"))
            });
        }
    };
    let limits =
        Limits { sweeps: usize::try_from(args.sweeps).unwrap_or(usize::MAX), seconds: args.seconds.map(f64::from) };
    let found = fit::fit(net, real, examples, limits, &step)?;
    bar.finish_and_clear();
    Ok(found)
}

/// At most `count` of them, evenly taken.
fn evenly<T>(all: Vec<T>, count: usize) -> Vec<T> {
    let stride = all.len().div_ceil(count).max(1);
    all.into_iter().step_by(stride).collect()
}

fn minutes(seconds: f64) -> String {
    match seconds {
        ..100.0 => format!("about {seconds:.0} seconds"),
        _ => format!("about {:.0} minutes", seconds / 60.0),
    }
}
