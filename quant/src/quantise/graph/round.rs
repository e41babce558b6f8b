//! Rounding weights for what they read: a weight that is rounded up lets others be rounded down.
//!
//! To nearest is best for each weight by itself. What counts is the error of a row's sum, `Σ (q − w)·x`, whose mean
//! square over the samples is `(q − w)ᵀ H (q − w)` with `H = Σ x·xᵀ`. The weights of a row are rounded one after the
//! other, and the error that each leaves is spread over those behind it so that this form is least for what is left
//! (Frantar and others, GPTQ, 2022):
//!
//! ```text
//! U = the upper triangle with UᵀU = H⁻¹
//! for each input i:    q_i = round(w_i)    e = (w_i − q_i) / U[i,i]    w_k ← w_k − e·U[i,k] for k > i
//! ```

use super::error::GraphQuantError;
use crate::graph::{Graph, Op, Sample};
use crate::integer::IntegerModel;
use crate::parallel;
use crate::program::{Operation, Program, Values};

/// Samples beyond these say little more about which inputs go together.
const MAX_SAMPLES: usize = 512;
/// Wider layers stay as they are: the time grows with the cube of their inputs.
const MAX_INPUTS: usize = 1024;
/// What is added to the diagonal of H, as a part of its mean: inputs that the samples never show keep their own
/// rounding.
const DAMPING: f64 = 0.01;

/// Rounds the weights of every linear layer anew, in order, so that a layer sees what those before it make.
pub(super) fn weights(graph: &Graph, samples: &[Sample], quantised: &mut Program) -> Result<(), GraphQuantError> {
    let samples = samples.get(..MAX_SAMPLES.min(samples.len())).unwrap_or(samples);
    if samples.is_empty() {
        return Ok(());
    }
    for index in 0..quantised.nodes.len() {
        if let Some(rounded) = layer(graph, samples, quantised, index)?
            && let Some(Operation::Affine { weights, bias: Some(bias) }) =
                quantised.nodes.get_mut(index).map(|node| &mut node.op)
            && let (Values::Int(weights), Values::Int(bias)) = (&mut weights.values, &mut bias.values)
        {
            (*weights, *bias) = (rounded.weights, rounded.bias);
        }
    }
    Ok(())
}

/// A layer in integers, in training order.
struct Rounded {
    weights: Vec<i32>,
    bias: Vec<i32>,
}

/// A layer's weights and biases; `None` where there is nothing to round.
fn layer(
    graph: &Graph,
    samples: &[Sample],
    quantised: &Program,
    index: usize,
) -> Result<Option<Rounded>, GraphQuantError> {
    let Some(node) = quantised.nodes.get(index) else { return Ok(None) };
    let Operation::Affine { weights, bias: Some(bias) } = &node.op else { return Ok(None) };
    let source = node.value.layer.and_then(|layer| graph.nodes.get(layer.checked_sub(1)?));
    let Some(Op::Linear { weights: real, .. }) = source.map(|source| &source.op) else { return Ok(None) };
    let (outputs, inputs) = (weights.outputs, weights.inputs);
    if inputs > MAX_INPUTS || (real.outputs, real.inputs) != (outputs, inputs) {
        return Ok(None);
    }
    let read = node.read(0);
    let zero = quantised.zero(read);
    let form = products(quantised, samples, read, inputs, zero)?;
    let Some(upper) = inverse_root(form, inputs) else { return Ok(None) };
    let limit = f64::from(weights.integers().iter().map(|weight| weight.abs()).fold(0, i32::max));
    let left: Vec<f64> = real
        .values
        .iter()
        .enumerate()
        .map(|(at, weight)| weight * quantised.unit_of(read, at / outputs) / node.value.unit(at % outputs))
        .collect();
    let rounded = rounded_rows(left, outputs, inputs, &upper, limit);
    // The bias holds what the zero point takes off; it follows the weights.
    let mut bias = bias.integers().to_vec();
    for (before, after) in weights.integers().chunks(outputs).zip(rounded.chunks(outputs)) {
        for (bias, (before, after)) in bias.iter_mut().zip(before.iter().zip(after)) {
            *bias = bias.saturating_add(zero * (before - after));
        }
    }
    Ok(Some(Rounded { weights: rounded, bias }))
}

/// Rounds weights, (outputs, inputs) column after column, in the order of the inputs. upper: of the inputs.
pub(super) fn rounded_rows(left: Vec<f64>, outputs: usize, inputs: usize, upper: &[f64], limit: f64) -> Vec<i32> {
    // A row knows nothing of the others.
    let pieces = parallel::map(outputs.div_ceil(ROWS), |piece| {
        let rows = piece * ROWS..outputs.min((piece + 1) * ROWS);
        let columns = left.chunks(outputs).flat_map(|column| column[rows.clone()].iter().copied());
        rounded_piece(columns.collect(), rows.len(), inputs, upper, limit)
    });
    let mut rounded = vec![0; left.len()];
    for (piece, made) in pieces.iter().enumerate() {
        let (start, rows) = (piece * ROWS, made.len() / inputs.max(1));
        for (column, made) in rounded.chunks_mut(outputs).zip(made.chunks(rows.max(1))) {
            column[start..start + rows].copy_from_slice(made);
        }
    }
    rounded
}

/// Rows that are rounded together.
const ROWS: usize = 16;

fn rounded_piece(mut left: Vec<f64>, outputs: usize, inputs: usize, upper: &[f64], limit: f64) -> Vec<i32> {
    let mut rounded = Vec::with_capacity(left.len());
    let mut errors = vec![0f64; outputs];
    for input in 0..inputs {
        let pivot = upper[input * inputs + input];
        for (row, error) in errors.iter_mut().enumerate() {
            let weight = left[row + outputs * input];
            let integer = weight.round().clamp(-limit, limit);
            *error = (weight - integer) / pivot;
            rounded.push(integer as i32);
        }
        for behind in input + 1..inputs {
            let factor = upper[input * inputs + behind];
            let column = &mut left[outputs * behind..][..outputs];
            column.iter_mut().zip(&errors).for_each(|(weight, error)| *weight -= error * factor);
        }
    }
    rounded
}

/// `Σ x·xᵀ` over the samples, (n, n), of the integers less their zero point.
fn products(
    quantised: &Program,
    samples: &[Sample],
    read: usize,
    inputs: usize,
    zero: i32,
) -> Result<Vec<f64>, GraphQuantError> {
    let model = IntegerModel::new(quantised);
    let present = parallel::map(samples.len(), |index| {
        let input = quantised.input.quantise(&samples[index]);
        let input = input.map_err(|error| GraphQuantError::Sample { index, error })?;
        let values = model.trace_first(&input, read);
        let x = values[values.len() - 1].integers();
        Ok(x.iter().map(|x| f64::from(x - zero)).enumerate().filter(|(_, x)| *x != 0.0).collect())
    });
    let present: Vec<Vec<(usize, f64)>> = present.into_iter().collect::<Result<_, GraphQuantError>>()?;
    // A piece of rows at a time, each of which goes through all samples in their order.
    let piece = |piece: usize| {
        let rows = piece * ROWS..inputs.min((piece + 1) * ROWS);
        let mut form = vec![0f64; rows.len() * inputs];
        for present in &present {
            let first = present.partition_point(|(row, _)| *row < rows.start);
            for (row, a) in present[first..].iter().take_while(|(row, _)| *row < rows.end) {
                let row = &mut form[(row - rows.start) * inputs..][..inputs];
                present.iter().for_each(|(column, b)| row[*column] += a * b);
            }
        }
        form
    };
    Ok(parallel::map(inputs.div_ceil(ROWS), piece).concat())
}

/// The upper triangle U with `UᵀU = (H + damping)⁻¹`; `None` if H is 0.
///
/// With `J` the reversal of rows and columns and `JHJ = LLᵀ`, `H = (JLJ)(JLJ)ᵀ`, where `JLJ` is an upper triangle R; so
/// `H⁻¹ = R⁻ᵀR⁻¹`, and U is `R⁻¹`.
pub(super) fn inverse_root(mut form: Vec<f64>, n: usize) -> Option<Vec<f64>> {
    let mean = (0..n).map(|i| form[i * n + i]).sum::<f64>() / n.max(1) as f64;
    if mean <= 0.0 {
        return None;
    }
    for i in 0..n {
        form[i * n + i] += DAMPING * mean;
    }
    // R in place, from the last column on: H = R·Rᵀ.
    for j in (0..n).rev() {
        let (above, from_j) = form.split_at_mut(j * n);
        let row_j = &mut from_j[..n];
        let pivot = (row_j[j] - row_j[j + 1..].iter().map(|r| r * r).sum::<f64>()).sqrt();
        if !pivot.is_normal() {
            return None;
        }
        row_j[j] = pivot;
        for row_i in above.chunks_mut(n) {
            let dot: f64 = row_i[j + 1..].iter().zip(&row_j[j + 1..]).map(|(a, b)| a * b).sum();
            row_i[j] = (row_i[j] - dot) / pivot;
        }
    }
    // R⁻¹, a row at a time from the last: row i of R⁻¹ is (e_i − Σ_{k>i} R[i,k]·row k) / R[i,i].
    let mut inverse = vec![0f64; n * n];
    for i in (0..n).rev() {
        let (above, behind) = inverse.split_at_mut((i + 1) * n);
        let row = &mut above[i * n..];
        row[i] = 1.0;
        for k in i + 1..n {
            let factor = form[i * n + k];
            let row_k = &behind[(k - i - 1) * n..][..n];
            row[k..].iter_mut().zip(&row_k[k..]).for_each(|(a, b)| *a -= factor * b);
        }
        let pivot = form[i * n + i];
        row[i..].iter_mut().for_each(|a| *a /= pivot);
    }
    Some(inverse)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// UᵀU times the damped form is 1.
    #[test]
    fn the_root_of_the_inverse_is_one() {
        let n = 5;
        let x = |k: usize, i: usize| ((k * 7 + i * 3) % 11) as f64 - 4.0;
        let form: Vec<f64> = (0..n * n).map(|at| (0..9).map(|k| x(k, at / n) * x(k, at % n)).sum::<f64>()).collect();
        let mean = (0..n).map(|i| form[i * n + i]).sum::<f64>() / n as f64;
        let upper = inverse_root(form.clone(), n).unwrap();
        for i in 0..n {
            assert!((0..i).all(|k| upper[i * n + k] == 0.0), "upper triangle");
            for j in 0..n {
                let inverse = |a: usize, b: usize| (0..n).map(|k| upper[k * n + a] * upper[k * n + b]).sum::<f64>();
                let damped = |a: usize, b: usize| form[a * n + b] + if a == b { DAMPING * mean } else { 0.0 };
                let one: f64 = (0..n).map(|k| inverse(i, k) * damped(k, j)).sum();
                assert!((one - f64::from(u8::from(i == j))).abs() < 1e-9, "{i} {j}: {one}");
            }
        }
        assert!(inverse_root(vec![0.0; 4], 2).is_none());
    }
}
