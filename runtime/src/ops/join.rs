//! Two values into one: end to end, added, or multiplied.

use super::{Kind, Place, Places, Running, typed, typed_mut};
use crate::features::MAPS;
use crate::format::{Model, OpRecord, op};
use crate::kernels::Tier;

/// CONCAT, ADD_I32, ADD_F32 and MULTIPLY_F32.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Join {
    kind: u32,
    second: Place,
    reads_input: bool,
    runs: usize,
}

impl Kind<'_> for Join {
    fn resolve(model: &Model<'_>, _: &Tier, record: &OpRecord) -> Option<Self> {
        let is_concat = record.kind == op::CONCAT;
        let written = model.values().get(record.output as usize)?.len;
        let len = if is_concat { written.saturating_sub(record.input_len) } else { written };
        let second = Place::of(model, record.second, record.second_start, len);
        let runs = if is_concat { record.params[0].max(1) as usize } else { 1 };
        Some(Self { kind: record.kind, second, reads_input: record.second == 0, runs })
    }

    /// First one value, then the other: three places cannot be borrowed at once where two of them may be the same.
    fn run(&self, on: &Running<'_, '_>, at: &Places, workspace: &mut [u8]) {
        let (x, out) = at.bytes(on, workspace);
        let end = x.len().min(out.len());
        if MAPS && self.runs > 1 {
            spread(x, self.runs, 0, out);
        } else {
            out.iter_mut().zip(x).for_each(|(out, x)| *out = *x);
        }
        let (second, out) = at.bytes_of(self.second, self.reads_input, on, workspace);
        add_second(self.kind, (end, self.runs), second, out);
    }
}

/// One value of a CONCAT in runs, with room before each, and behind it up to the next.
fn spread(mut x: &[u8], runs: usize, skipped: usize, mut out: &mut [u8]) {
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

/// CONCAT, ADD_I32, ADD_F32 or MULTIPLY_F32; `out` holds the first value in its first `end` bytes, or as many in so
/// many runs.
fn add_second(kind: u32, (end, runs): (usize, usize), second: &[u8], out: &mut [u8]) {
    match kind {
        op::CONCAT if MAPS && runs > 1 => spread(second, runs, end / runs, out),
        op::CONCAT => out.iter_mut().skip(end).zip(second).for_each(|(out, second)| *out = *second),
        op::ADD_I32 => {
            for (sum, second) in typed_mut::<i32>(out).iter_mut().zip(typed::<i32>(second)) {
                *sum = sum.wrapping_add(*second);
            }
        }
        op::MULTIPLY_F32 => {
            for (product, second) in typed_mut::<f32>(out).iter_mut().zip(typed::<f32>(second)) {
                *product *= second;
            }
        }
        _ => {
            for (sum, second) in typed_mut::<f32>(out).iter_mut().zip(typed::<f32>(second)) {
                *sum += second;
            }
        }
    }
}
