//! Two values into one: end to end, or added.

use super::{typed, typed_mut};
use crate::built::MAPS;
use crate::format::op;

/// The first value of a CONCAT in runs, each with the room for the second one's behind it.
pub(super) fn spread(x: &[u8], runs: usize, out: &mut [u8]) {
    let (len, step) = (x.len() / runs.max(1), out.len() / runs.max(1));
    for (out, x) in out.chunks_mut(step.max(1)).zip(x.chunks(len.max(1))) {
        out.iter_mut().zip(x).for_each(|(out, x)| *out = *x);
    }
}

/// CONCAT, ADD_I32 or ADD_F32; `out` holds the first value in its first `end` bytes, or as many in so many runs.
pub(super) fn run(kind: u32, (end, runs): (usize, usize), second: &[u8], out: &mut [u8]) {
    match kind {
        op::CONCAT if MAPS && runs > 1 => {
            let (len, step, skipped) = (second.len() / runs, out.len() / runs, end / runs);
            for (out, second) in out.chunks_mut(step.max(1)).zip(second.chunks(len.max(1))) {
                out.iter_mut().skip(skipped).zip(second).for_each(|(out, second)| *out = *second);
            }
        }
        op::CONCAT => out.iter_mut().skip(end).zip(second).for_each(|(out, second)| *out = *second),
        op::ADD_I32 => {
            for (sum, second) in typed_mut::<i32>(out).iter_mut().zip(typed::<i32>(second)) {
                *sum = sum.wrapping_add(*second);
            }
        }
        _ => {
            for (sum, second) in typed_mut::<f32>(out).iter_mut().zip(typed::<f32>(second)) {
                *sum += second;
            }
        }
    }
}
