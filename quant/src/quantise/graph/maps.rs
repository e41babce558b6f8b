//! Networks over maps: ranges and units by what they do to the logits.
//!
//! A range that cuts off a tail has finer steps, and the tail may be the signal; channels with units of their own have
//! finer steps, and what mixes them coarser weights. Which of a few ways is best for a network is measured: each is
//! fitted to every second calibration sample and measured on the others, since samples that gave a range cannot show
//! what it cuts off. The best one is then fitted to all.

use super::balance::{self, Balance};
use super::equalise::Measure;
use super::error::GraphQuantError;
use super::fit::{Known, Way, fitted};
use super::options::Options;
use super::refine::Truth;
use super::sixteen::{self, Widened};
use crate::calibrate::{Method, calibrate};
use crate::graph::Sample;
use crate::parallel;
use crate::program::Program;

/// With fewer samples neither half of them says much about units of channels.
const LEAST_SAMPLES: usize = 32;

/// Patches of all samples that a layer's products are taken over.
const PATCHES: usize = 12_000;
/// The same where ways are compared: enough to tell them apart.
const TRIAL_PATCHES: usize = 12_000;

/// Units of channels that are tried.
const BALANCES: [Balance; 4] = [
    Balance { apart: 1.0, mixed: 0.0, reach: 1.0 },
    Balance { apart: 1.0, mixed: 0.5, reach: 1.0 },
    Balance { apart: 1.0, mixed: 0.5, reach: 1.25 },
    Balance { apart: 1.0, mixed: 1.0, reach: 1.25 },
];

/// The network, and the maps that were put into 16 bits because they gain most. step: (done, to do so far).
pub(super) fn quantise(
    known: &Known<'_>,
    samples: &[Sample],
    options: &Options,
    step: &(dyn Fn(usize, usize) + Sync),
) -> Result<(Program, Vec<Widened>), GraphQuantError> {
    let choice = choose(known, samples, options, step)?;
    let (mut options, mut widened) = (options.clone(), Vec::new());
    if let Some(budget) = options.sixteen_budget.filter(|_| !samples.is_empty()) {
        widened = sixteen::choose(known, samples, &options, choice, budget, step)?;
        options.sixteen.extend(widened.iter().map(|widened| widened.layer.clone()));
    }
    let truth = Truth::of(known.graph, samples)?;
    Ok((fitted(known, samples, &truth, &options, choice, PATCHES)?, widened))
}

/// The way with the least error.
fn choose(
    known: &Known<'_>,
    samples: &[Sample],
    options: &Options,
    step: &(dyn Fn(usize, usize) + Sync),
) -> Result<Way, GraphQuantError> {
    let method = options.method;
    let mut ways = vec![Way { method, balance: None }];
    if method == Method::MeanSquare && !samples.is_empty() {
        ways.push(Way { method: Method::MinMax, balance: None });
    }
    let is_enough = samples.len() >= LEAST_SAMPLES;
    let balances = BALANCES.into_iter().filter(|_| options.equalise && is_enough);
    for balance in balances {
        if !balance::channels(known.graph, known.calibration, options, balance).of.is_empty() {
            ways.push(Way { method, balance: Some(balance) });
        }
    }
    if ways.len() == 1 {
        return Ok(ways[0]);
    }
    let every_second = |first: usize| samples.iter().skip(first).step_by(2).cloned().collect::<Vec<Sample>>();
    let (seen, unseen) =
        if is_enough { (every_second(0), every_second(1)) } else { (samples.to_vec(), samples.to_vec()) };
    let fault = |(index, error)| GraphQuantError::Sample { index: 2 * index, error };
    let half = calibrate(known.graph, &seen).map_err(fault)?;
    let known = Known { calibration: &half, ..*known };
    let (truth, measure) = (Truth::of(known.graph, &seen)?, Measure::new(known.graph, &unseen)?);
    let count = ways.len();
    let done = std::sync::atomic::AtomicUsize::new(0);
    let errors = parallel::map(count, |way| {
        let error = fitted(&known, &seen, &truth, options, ways[way], TRIAL_PATCHES)
            .and_then(|program| measure.error(&program));
        step(done.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1, count + 1);
        error
    });
    let mut best = (f64::INFINITY, ways[0]);
    for (error, way) in errors.into_iter().zip(ways) {
        let error = error?;
        if error < best.0 {
            best = (error, way);
        }
    }
    Ok(best.1)
}
