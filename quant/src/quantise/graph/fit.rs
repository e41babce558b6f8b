//! A network over maps by one way of finding ranges and units, fitted to samples.

use super::balance::{self, Balance};
use super::error::GraphQuantError;
use super::lower::{Channels, lower};
use super::options::Options;
use super::refine::{self, Truth};
use crate::calibrate::{Calibration, Method};
use crate::graph::{Graph, Sample};
use crate::program::Program;

/// A way to find ranges and units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Way {
    pub method: Method,
    pub balance: Option<Balance>,
}

/// What samples say, and the units that dense layers have chosen.
pub(super) struct Known<'k> {
    pub graph: &'k Graph,
    pub calibration: &'k Calibration,
    pub dense: &'k Channels,
}

/// A network in integers with its weights rounded and its biases corrected on samples.
pub(super) fn fitted(
    known: &Known<'_>,
    samples: &[Sample],
    truth: &Truth,
    options: &Options,
    choice: Way,
    patches: usize,
) -> Result<Program, GraphQuantError> {
    let Known { graph, calibration, dense } = *known;
    let mut channels = dense.clone();
    if let Some(balance) = choice.balance {
        channels.of.extend(balance::channels(graph, calibration, options, balance).of);
    }
    let options = Options { method: choice.method, ..options.clone() };
    let mut program = lower(graph, calibration, &options, &channels)?;
    refine::layers(graph, samples, truth, &mut program, &options, patches)?;
    Ok(program)
}
