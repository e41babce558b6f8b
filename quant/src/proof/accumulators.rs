//! Feature accumulators: bias plus the most extreme choice of feature rows.

use super::board::Board;
use super::extremes::extremes;
use super::{Check, Proof, Quantity, Witness};
use crate::program::{Lists, Program, ProgramInput, Transformer};

/// Bounds of every hidden unit: `(low, high)`, exact over all lists that the program admits. Nothing of a program
/// without.
pub fn ranges(program: &Program) -> Vec<(i64, i64)> {
    let Some((transformer, max_active)) = parts(program) else { return Vec::new() };
    let (rows, units) = (transformer.rows.integers(), transformer.rows.outputs);
    let extremes = match board(transformer, max_active) {
        Some(board) => board.extremes(units, row_of(rows, units)),
        None => extremes(rows, units, max_active),
    };
    let biases = transformer.bias.integers().iter().copied().map(i64::from);
    extremes.into_iter().zip(biases).map(|((low, high), bias)| (bias + low, bias + high)).collect()
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
    let mut worst = Proof::default();
    worst.add(checks.collect(), |check| Some(witness(transformer, max_active, check)));
    proof.violations.append(&mut worst.violations);
    proof.checks.extend(worst.checks.into_iter().reduce(|a, b| if b.fraction() > a.fraction() { b } else { a }));
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
        Lists::Board { per_bucket, buckets } => Some(Board { per_bucket, buckets, active }),
        Lists::Distinct => None,
    }
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
        let (list, sum) = board.witness(units, row_of(rows, units), check.row, upward);
        return Witness::Features { lists: [list, Vec::new()], value: bias + sum };
    }
    let column = rows.iter().skip(check.row).step_by(units);
    let mut features: Vec<(i32, u32)> = column.zip(0u32..).map(|(weight, feature)| (*weight, feature)).collect();
    features.sort_by_key(|(weight, feature)| (if upward { -*weight } else { *weight }, *feature));
    features.retain(|(weight, _)| if upward { *weight > 0 } else { *weight < 0 });
    features.truncate(max_active);
    let mut list: Vec<u32> = features.iter().map(|(_, feature)| *feature).collect();
    list.sort_unstable();
    let value = bias + features.iter().map(|(weight, _)| i64::from(*weight)).sum::<i64>();
    Witness::Features { lists: [list, Vec::new()], value }
}
