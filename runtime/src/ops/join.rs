//! Two values into one: end to end, or added.

use super::{typed, typed_mut};
use crate::built::MAPS;
use crate::format::op;

/// One value of a CONCAT in runs, with room before each, and behind it up to the next.
pub(super) fn spread(mut x: &[u8], runs: usize, skipped: usize, mut out: &mut [u8]) {
    let (len, step) = (x.len() / runs.max(1), out.len() / runs.max(1));
    // Not `chunks`, whose check for 0 stays in the smallest images.
    for _ in 0..runs {
        let (Some((now, later)), Some((room, rest))) = (x.split_at_checked(len), out.split_at_mut_checked(step)) else {
            return;
        };
        room.iter_mut().skip(skipped).zip(now).for_each(|(out, x)| *out = *x);
        (x, out) = (later, rest);
    }
}

/// CONCAT, ADD_I32 or ADD_F32; `out` holds the first value in its first `end` bytes, or as many in so many runs.
pub(super) fn run(kind: u32, (end, runs): (usize, usize), second: &[u8], out: &mut [u8]) {
    match kind {
        op::CONCAT if MAPS && runs > 1 => spread(second, runs, end / runs, out),
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
