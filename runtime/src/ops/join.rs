//! Two values into one: end to end, or added.

use super::{typed, typed_mut};
use crate::format::op;

/// CONCAT, ADD_I32 or ADD_F32; `out` holds the first value in its first `end` bytes.
pub(super) fn run(kind: u32, end: usize, second: &[u8], out: &mut [u8]) {
    match kind {
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
