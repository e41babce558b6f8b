//! Bias correction: rounding weights and activations shifts the mean of a layer's sums; its bias can take the shift
//! back.
//!
//! Layer by layer, in order, so that a layer sees what the corrected ones before it make.

use super::error::GraphQuantError;
use crate::graph::{Graph, Sample, SampleError};
use crate::integer::IntegerModel;
use crate::parallel;
use crate::program::{Element, Operation, Program, Values};

/// Samples beyond these change a mean by less than a rounding error.
const MAX_SAMPLES: usize = 512;
/// Samples whose values are held at once.
const AHEAD: usize = 64;

/// Adds to every integer bias the mean of float sum minus integer sum over the samples.
pub(super) fn biases(graph: &Graph, samples: &[Sample], quantised: &mut Program) -> Result<(), GraphQuantError> {
    let samples = samples.get(..MAX_SAMPLES.min(samples.len())).unwrap_or(samples);
    if samples.is_empty() {
        return Ok(());
    }
    let fault = |(index, error): (usize, SampleError)| GraphQuantError::Sample { index, error };
    let truth = float_means(graph, samples).map_err(fault)?;
    for index in 0..quantised.nodes.len() {
        let Some(node) = quantised.nodes.get(index) else { break };
        let is_sum = matches!(node.op, Operation::Affine { .. } | Operation::SparseAffine { .. });
        let is_affine = is_sum && node.value.element == Element::I32;
        let Some(truth) = node.value.layer.and_then(|layer| truth.get(layer)).filter(|_| is_affine) else { continue };
        let means = integer_means(quantised, index, samples).map_err(fault)?;
        let value = node.value.clone();
        let Some(Operation::Affine { bias: Some(bias), .. } | Operation::SparseAffine { bias: Some(bias), .. }) =
            quantised.nodes.get_mut(index).map(|node| &mut node.op)
        else {
            continue;
        };
        let Values::Int(bias) = &mut bias.values else { continue };
        for (row, ((bias, truth), mean)) in bias.iter_mut().zip(truth).zip(&means).enumerate() {
            let shift = (truth / value.unit(row) - mean).round();
            // A conversion saturates; a bias at the end of i32 leaves no room for sums, which the proof says.
            *bias = bias.saturating_add(shift as i32);
        }
    }
    Ok(())
}

/// The mean of every element of every float value.
fn float_means(graph: &Graph, samples: &[Sample]) -> Result<Vec<Vec<f64>>, (usize, SampleError)> {
    let mut means: Vec<Vec<f64>> = Vec::new();
    let trace = |index: usize| graph.trace(&samples[index]).map_err(|error| (index, error));
    parallel::in_order(samples.len(), AHEAD, trace, |_, values| {
        means.resize(values.len(), Vec::new());
        means.iter_mut().zip(values).for_each(|(means, values)| add(means, values.iter().copied()));
        Ok(())
    })?;
    means.iter_mut().flatten().for_each(|sum| *sum /= samples.len() as f64);
    Ok(means)
}

/// The mean of every integer that a node makes.
fn integer_means(graph: &Program, node: usize, samples: &[Sample]) -> Result<Vec<f64>, (usize, SampleError)> {
    let model = IntegerModel::new(graph);
    let mut means = Vec::new();
    let made = |index: usize| {
        let input = graph.input.quantise(&samples[index]).map_err(|error| (index, error))?;
        Ok(model.trace_first(&input, node + 1).pop())
    };
    parallel::in_order(samples.len(), AHEAD, made, |_, made| {
        let made = made.as_ref().unwrap_or_else(|| unreachable!("a trace has its input"));
        add(&mut means, made.integers().iter().copied().map(f64::from));
        Ok(())
    })?;
    means.iter_mut().for_each(|sum| *sum /= samples.len() as f64);
    Ok(means)
}

fn add(sums: &mut Vec<f64>, values: impl ExactSizeIterator<Item = f64>) {
    sums.resize(values.len().max(sums.len()), 0.0);
    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
}
