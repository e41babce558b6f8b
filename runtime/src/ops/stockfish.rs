//! What networks of the Stockfish family do besides pairing and dense layers: plain clips of accumulators, the
//! piece-square part, and clipped and squared sums.
//!
//! All are loops without branches over a few dozen elements, the first over a few hundred, which the compiler turns
//! into vectors.

use super::{General, typed_mut};
use crate::exec::without;
use crate::format::{activation, op};
use crate::num;

/// One of the operations on accumulators, in the network's order.
pub(super) fn run(
    work: &General<'_>,
    (first, second): (&[i16], &[i16]),
    buckets: usize,
    bucket: usize,
    out: &mut [u8],
) {
    match *work {
        General::ClipU8 { max, shift, left_out } => {
            let (first, second) = (without(first, left_out), without(second, left_out));
            let (low, high) = out.split_at_mut(first.len().min(out.len()));
            clip(first, max, shift, low);
            clip(second, max, shift, high);
        }
        General::Psqt { digits } => {
            let [first, second] = [first, second].map(|side| piece_squares(side, digits, buckets, bucket));
            if let [out] = typed_mut::<i32>(out) {
                *out = ((first - second) / 2) as i32;
            }
        }
        _ => {}
    }
}

/// `out[i] = clamp(x[i], 0, max) >> shift`.
fn clip(x: &[i16], max: i16, shift: u32, out: &mut [u8]) {
    for (out, x) in out.iter_mut().zip(x) {
        *out = (num::clip(*x, max) >> shift) as u8;
    }
}

/// The number of one bucket that the last elements are the digits of, the lowest digits of all buckets first.
fn piece_squares(accumulator: &[i16], digits: usize, buckets: usize, bucket: usize) -> i64 {
    let rows = accumulator.rchunks_exact(buckets.max(1)).take(digits);
    rows.fold(0, |sum, row| (sum << op::DIGIT_BITS) + row.get(bucket).map_or(0, |digit| i64::from(*digit)))
}

/// ACTIVATE_U8.
pub(super) fn activate(code: u32, max: i32, clip_shift: u32, square_shift: u32, x: &[i32], out: &mut [u8]) {
    let squares = match code {
        activation::SHIFT_CLIP => 0,
        _ => x.len().min(out.len()),
    };
    let (squared, clipped) = out.split_at_mut(squares);
    for (out, x) in squared.iter_mut().zip(x) {
        *out = num::shift_square(*x, square_shift, max) as u8;
    }
    for (out, x) in clipped.iter_mut().zip(x) {
        *out = num::shift_clip(*x, clip_shift, max) as u8;
    }
}
