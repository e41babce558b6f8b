//! Mixed precision: which layers should stay f32, found by measuring.
//!
//! Greedy: of all layers that are still integers, the one whose return to f32 lowers the error of the logits most for
//! the bytes it costs, again and again, until the budget is met or spent.

use super::equalise::Measure;
use super::error::GraphQuantError;
use super::options::Options;
use super::{Quantised, quantise_calibrated};
use crate::calibrate::calibrate;
use crate::graph::{Graph, Op, Sample};
use crate::program::Program;
use crate::removal::Removed;

/// When a search ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Budget {
    /// As accurate as so many bytes of parameters allow.
    SizeLenBytes(usize),
    /// So few bytes as a signal-to-noise ratio of the logits, in decibels on calibration samples, allows.
    SqnrDb(f64),
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The options with the layers to keep.
    pub options: Options,
    /// The network.
    pub graph: Program,
    /// What was taken out of it because it has no effect.
    pub removed: Removed,
    /// Of the logits on calibration samples; `None` without error.
    pub sqnr_db: Option<f64>,
    /// Layers in the order in which they were chosen.
    pub kept: Vec<String>,
}

/// Searches; `step` is called before each measurement with (done, at most to do).
///
/// # Errors
/// As `quantise_graph`. A budget that cannot be met is no error: the result says what was reached.
pub fn search_mixed(
    graph: &Graph,
    samples: &[Sample],
    options: &Options,
    budget: Budget,
    step: &mut dyn FnMut(usize, usize),
) -> Result<Found, GraphQuantError> {
    graph.check()?;
    let calibration = calibrate(graph, samples).map_err(|(index, error)| GraphQuantError::Sample { index, error })?;
    let measure = Measure::new(graph, samples)?;
    let quantise = |options: &Options| {
        let quantised = quantise_calibrated(graph, samples, &calibration, options, &|_, _| ())?;
        let error = measure.error(&quantised.program)?;
        Ok::<_, GraphQuantError>((quantised, error))
    };
    let has_weights = |op: &Op| matches!(op, Op::Linear { .. } | Op::SparseLinear { .. } | Op::Embed { .. });
    let layers: Vec<&String> = graph.nodes.iter().filter(|node| has_weights(&node.op)).map(|node| &node.name).collect();
    let (mut best, mut error) = quantise(options)?;
    let (mut options, mut kept) = (options.clone(), Vec::new());
    let (mut done, most) = (0, layers.len() * (layers.len() + 1) / 2);
    let signal = measure.signal();
    let sqnr_db = |error: f64| (error > 0.0 && signal > 0.0).then(|| 10.0 * libm::log10(signal / error));
    loop {
        if let Budget::SqnrDb(wanted) = budget
            && sqnr_db(error).is_none_or(|found| found >= wanted)
        {
            break;
        }
        let mut chosen: Option<(f64, Options, Quantised, f64, String)> = None;
        for name in layers.iter().filter(|name| !options.keep_f32.contains(**name)) {
            step(done, most);
            done += 1;
            let mut tried = options.clone();
            tried.keep_f32.insert((*name).clone());
            let (quantised, found) = quantise(&tried)?;
            let len_bytes = quantised.program.parameter_len_bytes();
            if matches!(budget, Budget::SizeLenBytes(limit) if len_bytes > limit) || found >= error {
                continue;
            }
            let cost = len_bytes.saturating_sub(best.program.parameter_len_bytes()).max(1);
            let gain = (error - found) / cost as f64;
            if chosen.as_ref().is_none_or(|(best, ..)| gain > *best) {
                chosen = Some((gain, tried, quantised, found, (*name).clone()));
            }
        }
        let Some((_, tried, quantised, found, name)) = chosen else { break };
        (options, best, error) = (tried, quantised, found);
        kept.push(name);
    }
    Ok(Found { options, graph: best.program, removed: best.removed, sqnr_db: sqnr_db(error), kept })
}
