//! Which maps pay for 16 bits.
//!
//! Greedy: of all maps of bytes the one that brings the logits closest to full precision, again and again, until a
//! budget is spent or nothing gains. A map is tried by fitting the network to a few samples and measuring it on others.

use super::equalise::Measure;
use super::error::GraphQuantError;
use super::fit::{Known, Way, fitted};
use super::options::{Options, SixteenBudget};
use super::refine::Truth;
use crate::graph::{Sample, Value};
use crate::pack::workspace_len_bytes;
use crate::parallel;
use crate::program::{Convolution, Element, Operation, Pairing, Program};
use crate::proof::prove;
use crate::removal::remove_channels;
use serde::Serialize;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Samples that the network is fitted to at a trial, and as many others on which it is measured.
const SAMPLES: usize = 32;
/// Patches that a layer's products are taken over at a trial.
const PATCHES: usize = 1500;
/// Maps that are tried again behind the first choice: those that gained most by themselves.
const AGAIN: usize = 8;
/// A map that gains less is not worth its bytes, in decibels.
const LEAST_GAIN_DB: f64 = 0.1;

/// A map that was chosen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Widened {
    /// The layer that makes it.
    pub layer: String,
    /// What it gained, in decibels of signal to noise of the logits, beside those before it.
    pub gain_db: f64,
}

/// The maps that gain most, in the order in which they were chosen.
pub(super) fn choose(
    known: &Known<'_>,
    samples: &[Sample],
    options: &Options,
    choice: Way,
    budget: SixteenBudget,
    step: &(dyn Fn(usize, usize) + Sync),
) -> Result<Vec<Widened>, GraphQuantError> {
    let apart = samples.len() >= 2 * SAMPLES;
    let pick = |first: usize| {
        let every = (samples.len() / SAMPLES).max(1);
        samples.iter().skip(if apart { first } else { 0 }).step_by(every).take(SAMPLES).cloned().collect::<Vec<_>>()
    };
    let (seen, unseen) = (pick(0), pick(1));
    let (truth, measure) = (Truth::of(known.graph, &seen)?, Measure::new(known.graph, &unseen)?);
    let tried = |options: &Options| -> Result<(Program, f64), GraphQuantError> {
        let program = fitted(known, &seen, &truth, options, choice, PATCHES)?;
        let error = measure.error(&program)?;
        Ok((program, error))
    };
    let (first, mut error) = tried(options)?;
    let mut candidates = maps(&first);
    let (mut options, mut chosen) = (options.clone(), Vec::new());
    let (done, mut most) = (AtomicUsize::new(0), candidates.len());
    while chosen.len() < budget.maps && !candidates.is_empty() {
        let errors = parallel::map(candidates.len(), |index| {
            let mut wider = options.clone();
            wider.sixteen.insert(known.graph.nodes[candidates[index] - 1].name.clone());
            let found = tried(&wider).ok().filter(|(program, _)| fits(program, budget)).map(|(_, error)| error);
            step(done.fetch_add(1, Ordering::Relaxed) + 1, most + 1);
            found
        });
        let mut order: Vec<(f64, Value)> =
            errors.into_iter().zip(&candidates).filter_map(|(error, value)| Some((error?, *value))).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let Some((found, value)) = order.first().copied() else { break };
        let gain_db = 10.0 * libm::log10(error / found);
        if gain_db.is_nan() || gain_db < LEAST_GAIN_DB {
            break;
        }
        let layer = known.graph.nodes[value - 1].name.clone();
        options.sixteen.insert(layer.clone());
        chosen.push(Widened { layer, gain_db });
        error = found;
        candidates = order.into_iter().skip(1).take(AGAIN).map(|(_, value)| value).collect();
        if chosen.len() < budget.maps {
            most += candidates.len();
        }
    }
    Ok(chosen)
}

/// The values of the graph whose maps of bytes are made by a rounding.
fn maps(program: &Program) -> Vec<Value> {
    let is_rounded = |op: &Operation| {
        matches!(op, Operation::Convolution(Convolution { rounding: Some(_), .. }))
            || matches!(op, Operation::Elementwise { pairing: Pairing::Sum, .. })
    };
    let nodes = program.nodes.iter().filter(|node| is_rounded(&node.op) && node.value.element != Element::I16);
    let mut values: Vec<Value> = nodes.filter_map(|node| node.value.layer).filter(|layer| *layer > 0).collect();
    values.dedup();
    values
}

/// Whether a network keeps within a budget, without what will be taken out of it.
fn fits(program: &Program, budget: SixteenBudget) -> bool {
    if budget.workspace_len_bytes.is_none() && budget.macs_percent.is_none() {
        return true;
    }
    let (program, _) = remove_channels(program.clone());
    let in_time = budget.macs_percent.is_none_or(|percent| {
        let is_wide = |value: usize| program.element(value) == Element::I16;
        let wide: u64 =
            program.nodes.iter().filter(|node| is_wide(node.read(0))).map(|node| program.macs_of(node)).sum();
        wide as f64 <= percent / 100.0 * program.macs() as f64
    });
    in_time
        && budget
            .workspace_len_bytes
            .is_none_or(|most| workspace_len_bytes(&program, &prove(&program)).is_ok_and(|needed| needed <= most))
}
