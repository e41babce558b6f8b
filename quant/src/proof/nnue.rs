//! The bounds of a network of the Stockfish family.
//!
//! Accumulators are bounded over what a board can hold, see [`super::board`]. The layers behind them read 0 to 127, or 126 where the
//! bytes are products; what they add up to is bounded by the weights' signs. The last sums are put together exactly.

use super::board::Board;
use super::{Check, Proof, Quantity, Witness};
use crate::stockfish::order::{digit, digit_columns, digits};
use crate::stockfish::{ACTIVATION_MAX, Affine, Division, Head, Net, OUTPUT_SCALE, PSQT_BUCKETS, WEIGHT_SHIFT};

/// The largest product, `127 · 127 >> 7`.
const PRODUCT_MAX: i64 = 126;
const MAX: i64 = ACTIVATION_MAX as i64;

/// Derives every bound, and a witness for the worst row of every tensor that exceeds its type. Rows and features are the container's.
pub fn prove_nnue(net: &Net) -> Proof {
    let mut proof = Proof::default();
    let psqt = accumulators(net, &mut proof);
    let reach = if matches!(net.shape.head, Head::Pairwise { .. }) { PRODUCT_MAX } else { MAX };
    let layer = |index: usize| net.stacks.iter().map(move |stack| stack.layers()[index]);
    let first = sums(&mut proof, "fc0", layer(0), reach);
    sums(&mut proof, "fc1", layer(1), MAX);
    let last = sums(&mut proof, "fc2", layer(2), MAX);
    let results = last.iter().enumerate().map(|(bucket, [low, high])| {
        // The neuron that skips is the last of the first layer.
        let skip = match net.shape.head {
            Head::Clipped { .. } => [0, 0],
            Head::Pairwise { .. } => {
                let outputs = first.len() / last.len().max(1);
                let sum = first.get(bucket * outputs + outputs.saturating_sub(1)).copied().unwrap_or_default();
                sum.map(|sum| sum * i64::from(600 * OUTPUT_SCALE) / i64::from(ACTIVATION_MAX << WEIGHT_SHIFT))
            }
        };
        let half = psqt.get(bucket).copied().unwrap_or(0);
        let [low, high] = [low + skip[0], high + skip[1]];
        let [low, high] = match net.division {
            // Two sixteenths of i32 are added at the end: it is enough that each part fits.
            Division::Twice if net.transformer.psqt.is_some() => [low.min(-half), high.max(half)],
            _ => [low - half, high + half],
        };
        let bucket = (last.len() > 1).then_some(bucket);
        Check {
            tensor: "fc2.weight".to_owned(),
            quantity: Quantity::Result,
            row: bucket.unwrap_or(0),
            bucket,
            low,
            high,
        }
    });
    let results = results.collect();
    proof.add(results, |_| None);
    proof
}

/// Bounds every column of the transformer; gives the most that half the difference of two perspectives' piece-square parts can be, of
/// each bucket.
fn accumulators(net: &Net, proof: &mut Proof) -> Vec<i64> {
    let (set, width) = (net.shape.features, net.shape.width);
    let count = digits(&net.transformer);
    let psqt = net.transformer.psqt.as_ref().map_or(&[][..], |psqt| &psqt.values);
    let weights = &net.transformer.weights.values;
    let board = Board { per_bucket: set.per_king_bucket(), buckets: set.king_buckets(), active: set.max_active() };
    let cols = width + digit_columns(count);
    let row = |feature: usize, row: &mut [i32]| {
        let at = set.row_of(feature);
        let (own, columns) = row.split_at_mut(width);
        let (_, columns) = columns.split_at_mut(columns.len() - count * PSQT_BUCKETS);
        let values = weights.get(at * width..).unwrap_or_default();
        own.iter_mut().zip(values).for_each(|(own, value)| *own = i32::from(*value));
        let values = psqt.get(at * PSQT_BUCKETS..).unwrap_or_default();
        for (place, columns) in columns.chunks_mut(PSQT_BUCKETS).enumerate() {
            columns
                .iter_mut()
                .zip(values)
                .for_each(|(column, value)| *column = digit(*value, place as u32, count as u32));
        }
    };
    let bias = |col: usize| net.transformer.biases.values.get(col).map_or(0, |bias| i64::from(*bias));
    let bounds = board.extremes(cols, row);
    let checks = bounds.iter().enumerate().map(|(col, (low, high))| Check {
        tensor: "ft.weight".to_owned(),
        quantity: Quantity::Accumulator,
        row: col,
        bucket: None,
        low: bias(col) + low,
        high: bias(col) + high,
    });
    let mut worst = Proof::default();
    worst.add(checks.collect(), |check| {
        let upward = check.high > check.quantity.limits().1;
        let (list, sum) = board.witness(cols, row, check.row, upward);
        Some(Witness::Features { lists: [list, Vec::new()], value: bias(check.row) + sum })
    });
    proof.violations.append(&mut worst.violations);
    proof.checks.extend(worst.checks.into_iter().reduce(|a, b| if b.fraction() > a.fraction() { b } else { a }));
    let part = |bucket: usize| {
        let of_digit = |place: usize| {
            let (low, high) =
                bounds.get(cols - count * PSQT_BUCKETS + place * PSQT_BUCKETS + bucket).copied().unwrap_or_default();
            (high - low) << (10 * place)
        };
        (0..count).map(of_digit).sum::<i64>() / 2
    };
    (0..PSQT_BUCKETS).map(part).collect()
}

/// Bounds the sums of one layer of every stack; gives `[low, high]` of each row, stack after stack.
fn sums<'n>(
    proof: &mut Proof,
    name: &str,
    stacks: impl ExactSizeIterator<Item = &'n Affine>,
    reach: i64,
) -> Vec<[i64; 2]> {
    let tensor = format!("{name}.weight");
    let bucketed = stacks.len() > 1;
    let layers: Vec<&Affine> = stacks.collect();
    let bounds = |layer: &&Affine| -> Vec<[i64; 2]> {
        let bound = |output: usize| {
            let bias = layer.biases.get(output).map_or(0, |bias| i64::from(*bias));
            let weights = layer.row(output).iter().map(|weight| i64::from(*weight) * reach);
            weights.fold([bias; 2], |[low, high], product| [low + product.min(0), high + product.max(0)])
        };
        (0..layer.outputs).map(bound).collect()
    };
    let rows: Vec<Vec<[i64; 2]>> = layers.iter().map(bounds).collect();
    let checks = rows.iter().enumerate().flat_map(|(bucket, rows)| {
        let tensor = &tensor;
        let first = bucket * rows.len();
        rows.iter().enumerate().map(move |(row, [low, high])| Check {
            tensor: tensor.clone(),
            quantity: Quantity::Sum,
            row: first + row,
            bucket: bucketed.then_some(bucket),
            low: *low,
            high: *high,
        })
    });
    let checks = checks.collect();
    proof.add(checks, |check| {
        let outputs = layers.first().map_or(1, |layer| layer.outputs.max(1));
        let layer = layers.get(check.row / outputs)?;
        let upward = check.high > check.quantity.limits().1;
        let end = |weight: &i8| if (*weight > 0) == upward { reach as i32 } else { 0 };
        let values = layer.row(check.row % outputs).iter().map(end).collect();
        Some(Witness::Activations { values, value: if upward { check.high } else { check.low } })
    });
    rows.concat()
}
