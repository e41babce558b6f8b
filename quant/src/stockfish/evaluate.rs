//! What a network says of a position: the family's arithmetic as plain loops over the file's own tensors.
//!
//! Integers are exact where a trained network keeps them in range. Where one does not, they wrap at 16 bits in the
//! accumulators and at 32 after them, as the vector instructions of the engines do.

use super::board::Board;
use super::division::{OUTPUT_SCALE, Parts};
use super::net::{
    ACTIVATION_MAX, Affine, FeatureSet, Head, Net, PAIRWISE_FIRST, PSQT_BUCKETS, Stack, WEIGHT_SHIFT, WIDE_SHIFT,
    WIDE_SKIP,
};

/// What every bucket says of a position, for the side to move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evaluation {
    /// One a bucket, whether the position belongs to it or not.
    pub buckets: Vec<Parts>,
    /// The position's bucket.
    pub bucket: usize,
    /// What the network says: the [`value`](super::Division::value) of the position's bucket by the network's rule.
    pub value: i32,
}

/// Evaluates a position.
///
/// # Panics
/// If the lengths in the network are not those of its shape, as they are in every one that was read.
#[must_use]
pub fn evaluate(net: &Net, board: &Board) -> Evaluation {
    let sides = [board.to_move(), board.to_move().other()];
    let active = sides.map(|side| board.active(net.shape.features, side));
    let activations: Vec<u8> = active
        .iter()
        .map(|active| accumulator(net, active))
        .flat_map(|accumulator| activations(net.shape.features, net.shape.head, &accumulator))
        .collect();
    let bucket = match net.stacks.len() {
        1 => 0,
        _ => (board.count() - 1) / 4,
    };
    let parts = |(bucket, stack): (usize, &Stack)| Parts {
        psqt: psqt(net, &active[0], bucket).wrapping_sub(psqt(net, &active[1], bucket)) / 2,
        positional: positional(net.shape.head, stack, &activations),
    };
    let buckets: Vec<Parts> = net.stacks.iter().enumerate().map(parts).collect();
    let value = net.division.value(buckets[bucket]);
    Evaluation { buckets, bucket, value }
}

/// The accumulator of a perspective with these features.
#[must_use]
pub fn accumulator(net: &Net, active: &[usize]) -> Vec<i16> {
    let width = net.shape.width;
    let mut sums = net.transformer.biases.values.clone();
    for &feature in active {
        if let Some((row, _)) = net.transformer.relation(net.shape.features, feature, width) {
            sums.iter_mut().zip(row).for_each(|(sum, &weight)| *sum = sum.wrapping_add(weight.into()));
            continue;
        }
        let row = &net.transformer.weights.values[feature * width..(feature + 1) * width];
        for (sum, &weight) in sums.iter_mut().zip(row) {
            *sum = sum.wrapping_add(weight);
        }
    }
    sums
}

/// The PSQT sum of a perspective in a bucket.
fn psqt(net: &Net, active: &[usize], bucket: usize) -> i32 {
    let Some(psqt) = &net.transformer.psqt else { return 0 };
    let value = |&feature: &usize| match net.transformer.relation(net.shape.features, feature, net.shape.width) {
        Some((_, values)) => values[bucket],
        None => psqt.values[feature * PSQT_BUCKETS + bucket],
    };
    active.iter().map(value).fold(0, i32::wrapping_add)
}

/// The first layer's inputs that come from one perspective.
fn activations(features: FeatureSet, head: Head, accumulator: &[i16]) -> Vec<u8> {
    let clip = |&sum: &i16| i32::from(sum).clamp(0, features.clip());
    match head {
        Head::Clipped { .. } => accumulator.iter().map(|sum| clip(sum) as u8).collect(),
        Head::Pairwise { .. } | Head::Wide => {
            let (low, high) = accumulator.split_at(accumulator.len() / 2);
            let product = |(low, high)| (clip(low) * clip(high)) >> features.product_shift();
            low.iter().zip(high).map(|pair| product(pair) as u8).collect()
        }
    }
}

/// What the layers of a bucket make of the first layer's inputs.
fn positional(head: Head, stack: &Stack, inputs: &[u8]) -> i32 {
    let first = sums(&stack.first, inputs);
    let (second_inputs, skipped): (Vec<u8>, i32) = match head {
        Head::Clipped { .. } => (first.iter().map(|&sum| clipped(sum)).collect(), 0),
        Head::Pairwise { squares } => {
            let (read, skipping) = first.split_at(PAIRWISE_FIRST);
            let squares = read.iter().filter(|_| squares).map(|&sum| squared(sum));
            let inputs = squares.chain(read.iter().map(|&sum| clipped(sum))).collect();
            (inputs, skipping[0])
        }
        Head::Wide => return wide(stack, &first),
    };
    let second: Vec<u8> = sums(&stack.second, &second_inputs).into_iter().map(clipped).collect();
    let output = sums(&stack.output, &second)[0];
    output.wrapping_add(skip(skipped))
}

/// What the layers of a [`Head::Wide`] make of the first one's sums.
fn wide(stack: &Stack, first: &[i32]) -> i32 {
    let both = |sums: &[i32], shift: u32| -> Vec<u8> {
        let squares = sums.iter().map(|&sum| squared_by(sum, 2 * shift + 7));
        squares.chain(sums.iter().map(|&sum| (sum >> shift).clamp(0, ACTIVATION_MAX) as u8)).collect()
    };
    let mut activations = both(first, WIDE_SHIFT);
    let second = sums(&stack.second, &activations);
    activations.extend(both(&second, WEIGHT_SHIFT));
    let output = sums(&stack.output, &activations)[0];
    let skipped = first[WIDE_SKIP].wrapping_sub(first[WIDE_SKIP + 1]);
    let scaled = i64::from(output.wrapping_add(skipped)) * i64::from(600 * OUTPUT_SCALE);
    (scaled / (2 * 64 * 128)) as i32
}

/// `bias[o] + Σ_i weight[o][i] * x[i]`
fn sums(layer: &Affine, inputs: &[u8]) -> Vec<i32> {
    let sum = |(output, &bias): (usize, &i32)| {
        let products =
            layer.row(output).iter().zip(inputs).map(|(&weight, &input)| i32::from(weight) * i32::from(input));
        products.fold(bias, i32::wrapping_add)
    };
    layer.biases.iter().enumerate().map(sum).collect()
}

fn clipped(sum: i32) -> u8 {
    (sum >> WEIGHT_SHIFT).clamp(0, ACTIVATION_MAX) as u8
}

/// The square in units of an activation: twice the shift of a sum, and 7 bits for 1/127 squared.
fn squared(sum: i32) -> u8 {
    squared_by(sum, 2 * WEIGHT_SHIFT + 7)
}

fn squared_by(sum: i32, shift: u32) -> u8 {
    let square = i64::from(sum) * i64::from(sum);
    (square >> shift).min(i64::from(ACTIVATION_MAX)) as u8
}

/// The skipping neuron's share: its sum is in units of 1/(127 * 64), the result's of 1/(600 * 16). The product is
/// exact; the family's engines, in 32 bits, leave it open where it does not fit.
fn skip(sum: i32) -> i32 {
    (i64::from(sum) * i64::from(600 * OUTPUT_SCALE) / i64::from(ACTIVATION_MAX << WEIGHT_SHIFT)) as i32
}

#[cfg(test)]
mod tests;
