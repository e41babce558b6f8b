//! Feature accumulators: bias plus the most extreme choice of feature rows.

use super::board::Board;
use super::extremes::extremes;
use super::{Check, Proof, Quantity, Witness};
use crate::program::{Lists, Program, ProgramInput, QuantTensor, Transformer};

/// Bounds of every hidden unit: `(low, high)`, exact over all lists that the program admits. Nothing of a program
/// without.
pub fn ranges(program: &Program) -> Vec<(i64, i64)> {
    let Some((transformer, max_active)) = parts(program) else { return Vec::new() };
    let (rows, units) = (transformer.rows.integers(), transformer.rows.outputs);
    let mut ends = match board(transformer, max_active) {
        Some(board) => board.extremes(units, row_of(rows, units)),
        None => extremes(rows, units, max_active),
    };
    for (block, most) in further(transformer) {
        for (end, (low, high)) in ends.iter_mut().zip(extremes(block.integers(), units, most)) {
            *end = (end.0 + low, end.1 + high);
        }
    }
    let biases = transformer.bias.integers().iter().copied().map(i64::from);
    ends.into_iter().zip(biases).map(|((low, high), bias)| (bias + low, bias + high)).collect()
}

/// The same as checks: one line is enough for thousands of hidden units, the one with the least head-room.
pub(super) fn check(program: &Program, proof: &mut Proof) -> Vec<(i64, i64)> {
    let ranges = ranges(program);
    let Some((transformer, max_active)) = parts(program) else { return ranges };
    let checks = ranges.iter().enumerate().map(|(row, (low, high))| Check {
        tensor: transformer.rows.name.clone(),
        quantity: Quantity::Accumulator,
        row,
        bucket: None,
        low: *low,
        high: *high,
    });
    // What may wrap is looked at apart from what may not.
    let (wrapping, exact): (Vec<Check>, Vec<Check>) = checks.partition(|check| check.row < transformer.wraps);
    let mut checks = Vec::new();
    for (checked, list) in [(wrapping, &mut proof.wraps), (exact, &mut proof.violations)] {
        let mut worst = Proof::default();
        worst.add(checked, |check| Some(witness(transformer, max_active, check)));
        list.append(&mut worst.violations);
        checks.extend(worst.checks);
    }
    proof.checks.extend(checks.into_iter().reduce(|a, b| if b.fraction() > a.fraction() { b } else { a }));
    ranges
}

fn parts(program: &Program) -> Option<(&Transformer, usize)> {
    match (&program.transformer, program.input) {
        (Some(transformer), ProgramInput::Features { max_active, .. }) => Some((transformer, max_active)),
        _ => None,
    }
}

/// The board that the lists are of, if they are.
pub(super) fn board(transformer: &Transformer, active: usize) -> Option<Board> {
    match transformer.lists {
        Lists::Board { per_bucket, buckets, further } => {
            Some(Board { per_bucket, buckets, active: active - further.iter().sum::<usize>() })
        }
        Lists::Distinct => None,
    }
}

/// The further blocks, and how many features of each come together at most.
fn further(transformer: &Transformer) -> impl Iterator<Item = (&QuantTensor, usize)> {
    let most = match transformer.lists {
        Lists::Board { further, .. } => further,
        Lists::Distinct => [0; 2],
    };
    transformer.further.iter().zip(most)
}

fn row_of(rows: &[i32], units: usize) -> impl Fn(usize, &mut [i32]) + '_ {
    move |feature, row| row.copy_from_slice(&rows[feature * units..(feature + 1) * units])
}

/// The feature list that reaches the worse end of the row.
fn witness(transformer: &Transformer, max_active: usize, check: &Check) -> Witness {
    let (rows, units) = (transformer.rows.integers(), transformer.rows.outputs);
    let bias = i64::from(transformer.bias.integers()[check.row]);
    let upward = check.high > check.quantity.limits().1;
    if let Some(board) = board(transformer, max_active) {
        let (mut list, mut sum) = board.witness(units, row_of(rows, units), check.row, upward);
        let mut first = transformer.rows.inputs as u32;
        for (block, most) in further(transformer) {
            let (of_block, sum_of_block) = furthest(block, check.row, upward, most);
            list.extend(of_block.into_iter().map(|row| first + row));
            sum += sum_of_block;
            first += block.inputs as u32;
        }
        return Witness::Features { lists: [list, Vec::new()], value: bias + sum };
    }
    let (list, sum) = furthest(&transformer.rows, check.row, upward, max_active);
    Witness::Features { lists: [list, Vec::new()], value: bias + sum }
}

/// At most so many rows of a tensor that take one element furthest, and their sum.
fn furthest(tensor: &QuantTensor, element: usize, upward: bool, most: usize) -> (Vec<u32>, i64) {
    let column = tensor.integers().iter().skip(element).step_by(tensor.outputs);
    let mut features: Vec<(i32, u32)> = column.zip(0u32..).map(|(weight, feature)| (*weight, feature)).collect();
    features.sort_by_key(|(weight, feature)| (if upward { -*weight } else { *weight }, *feature));
    features.retain(|(weight, _)| if upward { *weight > 0 } else { *weight < 0 });
    features.truncate(most);
    let mut list: Vec<u32> = features.iter().map(|(_, feature)| *feature).collect();
    list.sort_unstable();
    (list, features.iter().map(|(weight, _)| i64::from(*weight)).sum())
}
