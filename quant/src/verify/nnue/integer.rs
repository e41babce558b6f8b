//! The integer model of the family: every value that the runtime computes, in plain loops over the file's own tensors.
//!
//! The features come from the family's rules and not through the container's numbering, and the accumulators are summed in the file's
//! order, so that a row in the wrong place shows; the digits alone are the container's.

use crate::stockfish::order::{digit, digit_columns, digits};
use crate::stockfish::{
    ACTIVATION_MAX, Affine, Board, Division, Head, Net, OUTPUT_SCALE, PAIRWISE_FIRST, PSQT_BUCKETS, Stack,
    WEIGHT_SHIFT, accumulator,
};
use crate::verify::integer::{Computed, push};
use tamis_runtime::num;

/// A network of the family as a plain function.
#[derive(Debug)]
pub struct NnueModel<'n> {
    net: &'n Net,
    digits: usize,
}

impl<'n> NnueModel<'n> {
    /// Wraps a network.
    #[must_use]
    pub fn new(net: &'n Net) -> Self {
        Self { net, digits: digits(&net.transformer) }
    }

    /// Every value on the way to the output, the accumulators first.
    #[must_use]
    pub fn trace(&self, board: &Board) -> Vec<Computed> {
        let (net, shape) = (self.net, self.net.shape);
        let mut values = Vec::new();
        let active = [board.to_move(), board.to_move().other()].map(|side| board.active(shape.features, side));
        let own = active.each_ref().map(|active| accumulator(net, active));
        let columns = active.each_ref().map(|active| self.columns(active));
        let [a, b] = [0, 1].map(|side| [own[side].as_slice(), &columns[side]].concat());
        push(&mut values, "accumulators".to_owned(), &[a, b].concat());
        let bucket = if net.stacks.len() > 1 { (board.count() - 1) / PSQT_DIVISOR } else { 0 };
        let Some(stack) = net.stacks.get(bucket) else { return values };
        let inputs: Vec<u8> = own.iter().flat_map(|own| first_inputs(shape.head, own)).collect();
        push(&mut values, "ft activations".to_owned(), &inputs);
        let psqt = net.transformer.psqt.as_ref().map(|psqt| {
            let sum = |active: &Vec<usize>| -> i64 {
                let value = |row: &usize| psqt.values.get(row * PSQT_BUCKETS + bucket).copied().unwrap_or(0);
                active.iter().map(|row| i64::from(value(row))).sum()
            };
            ((sum(&active[0]) - sum(&active[1])) / 2) as i32
        });
        if let Some(psqt) = psqt {
            push(&mut values, "psqt".to_owned(), &[psqt]);
        }
        let (mut sum, skipping) = layers(&mut values, shape.head, stack, &inputs);
        if let Some(skipping) = skipping {
            let scaled = i64::from(skipping) * i64::from(600 * OUTPUT_SCALE);
            let skip = (scaled / i64::from(ACTIVATION_MAX << WEIGHT_SHIFT)) as i32;
            push(&mut values, "skip".to_owned(), &[skip]);
            sum = sum.wrapping_add(skip);
            push(&mut values, "positional".to_owned(), &[sum]);
        }
        let output = match (psqt, net.division) {
            (None, _) => sum / OUTPUT_SCALE,
            (Some(psqt), Division::Once) => {
                sum = sum.wrapping_add(psqt);
                push(&mut values, "positional and psqt".to_owned(), &[sum]);
                sum / OUTPUT_SCALE
            }
            (Some(psqt), Division::Twice) => {
                let parts = [sum, psqt].map(|part| part / OUTPUT_SCALE);
                push(&mut values, "positional, divided".to_owned(), &parts[..1]);
                push(&mut values, "psqt, divided".to_owned(), &parts[1..]);
                parts[0] + parts[1]
            }
        };
        push(&mut values, "output".to_owned(), &[output]);
        values
    }

    /// What follows the file's accumulator: zeros, then the digits of a perspective's piece-square values, the lowest of all buckets first.
    fn columns(&self, active: &[usize]) -> Vec<i16> {
        let values = self.net.transformer.psqt.as_ref().map_or(&[][..], |psqt| &psqt.values);
        let column = |place: usize, bucket: usize| {
            let value = |row: &usize| values.get(row * PSQT_BUCKETS + bucket).copied().unwrap_or(0);
            let digit = |row: &usize| digit(value(row), place as u32, self.digits as u32) as i16;
            active.iter().map(digit).fold(0, i16::wrapping_add)
        };
        let zeros = digit_columns(self.digits) - self.digits * PSQT_BUCKETS;
        let columns = (0..self.digits).flat_map(|place| (0..PSQT_BUCKETS).map(move |bucket| column(place, bucket)));
        std::iter::repeat_n(0, zeros).chain(columns).collect()
    }
}

/// Men of an output bucket.
const PSQT_DIVISOR: usize = 4;

fn first_inputs(head: Head, accumulator: &[i16]) -> Vec<u8> {
    let clip = |sum: &i16| i32::from(num::clip(*sum, ACTIVATION_MAX as i16));
    match head {
        Head::Clipped { .. } => accumulator.iter().map(|sum| clip(sum) as u8).collect(),
        Head::Pairwise { .. } => {
            let (first, second) = accumulator.split_at(accumulator.len() / 2);
            first.iter().zip(second).map(|(a, b)| (clip(a) * clip(b) / (ACTIVATION_MAX + 1)) as u8).collect()
        }
    }
}

/// The layers of a stack: the last sum, and that of the neuron that skips.
fn layers(values: &mut Vec<Computed>, head: Head, stack: &Stack, inputs: &[u8]) -> (i32, Option<i32>) {
    let clip = |sum: &i32| num::shift_clip(*sum, WEIGHT_SHIFT, ACTIVATION_MAX) as u8;
    let square = |sum: &i32| num::shift_square(*sum, 2 * WEIGHT_SHIFT + 7, ACTIVATION_MAX) as u8;
    let first = affine(values, "fc0", &stack.first, inputs);
    let read = if matches!(head, Head::Clipped { .. }) { first.len() } else { PAIRWISE_FIRST };
    let (read, rest) = first.split_at(read.min(first.len()));
    let mut activations: Vec<u8> = Vec::new();
    if head == (Head::Pairwise { squares: true }) {
        activations.extend(read.iter().map(square));
    }
    activations.extend(read.iter().map(clip));
    push(values, "fc0 activations".to_owned(), &activations);
    let second: Vec<u8> = affine(values, "fc1", &stack.second, &activations).iter().map(clip).collect();
    push(values, "fc1 activations".to_owned(), &second);
    let last = affine(values, "fc2", &stack.output, &second);
    (last.first().copied().unwrap_or(0), rest.first().copied())
}

fn affine(values: &mut Vec<Computed>, name: &str, layer: &Affine, inputs: &[u8]) -> Vec<i32> {
    let sum = |(output, bias): (usize, &i32)| {
        let products =
            layer.row(output).iter().zip(inputs).map(|(weight, input)| i32::from(*weight) * i32::from(*input));
        products.fold(*bias, i32::wrapping_add)
    };
    let sums: Vec<i32> = layer.biases.iter().enumerate().map(sum).collect();
    push(values, format!("{name} sums"), &sums);
    sums
}
