//! What networks of the Stockfish family take of their accumulators besides pairs: plain clips, and the piece-square
//! part. The first is a loop over a few hundred elements, which the compiler turns into vectors.

use super::accumulators::without;
use super::{Kind, Places, Running, typed_mut};
use crate::format::{Model, OpRecord, feature_sums, op};
use crate::kernels::Tier;
use crate::num;
use crate::sure::at;

/// CLIP_U8.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClipU8 {
    max: i16,
    shift: u32,
    left_out: usize,
}

impl Kind<'_> for ClipU8 {
    fn resolve(_: &Model<'_>, _: &Tier, record: &OpRecord) -> Option<Self> {
        let [max, shift, left_out, _] = record.params;
        Some(Self { max: max as i16, shift, left_out: left_out as usize })
    }

    fn run(&self, on: &Running<'_, '_>, at: &Places, workspace: &mut [u8]) {
        let (first, second, out) = at.accumulators(on, workspace);
        let (first, second) = (without(first, self.left_out), without(second, self.left_out));
        let (low, high) = out.split_at_mut(first.len().min(out.len()));
        clip(first, self.max, self.shift, low);
        clip(second, self.max, self.shift, high);
    }
}

/// PSQT.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Psqt {
    digits: usize,
    bits: u32,
}

impl Kind<'_> for Psqt {
    fn resolve(_: &Model<'_>, _: &Tier, record: &OpRecord) -> Option<Self> {
        let [digits, bits, ..] = record.params;
        Some(Self { digits: digits as usize, bits: if bits == 0 { op::DIGIT_BITS } else { bits } })
    }

    fn run(&self, on: &Running<'_, '_>, at: &Places, workspace: &mut [u8]) {
        let (first, second, out) = at.accumulators(on, workspace);
        let buckets = on.model.input().bucket_count as usize;
        let [first, second] = [first, second].map(|side| number(side, (self.digits, self.bits), buckets, on.bucket));
        if let [out] = typed_mut::<i32>(out) {
            *out = ((first - second) / 2) as i32;
        }
    }
}

/// FEATURE_SUMS.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FeatureSums {
    digits: usize,
    bits: u32,
    sides: u32,
    is_bucketed: bool,
}

impl Kind<'_> for FeatureSums {
    fn resolve(_: &Model<'_>, _: &Tier, record: &OpRecord) -> Option<Self> {
        let [digits, bits, sides, banks] = record.params;
        let bits = if bits == 0 { op::DIGIT_BITS } else { bits };
        Some(Self { digits: digits as usize, bits, sides, is_bucketed: banks > 1 })
    }

    fn run(&self, on: &Running<'_, '_>, at: &Places, workspace: &mut [u8]) {
        let (first, second, out) = at.accumulators(on, workspace);
        let out = typed_mut::<i32>(out);
        let (bucket, banks) =
            if self.is_bucketed { (on.bucket, on.model.input().bucket_count as usize) } else { (0, 1) };
        let (start, step) = (bucket * out.len(), banks * out.len());
        for (row, y) in out.iter_mut().enumerate() {
            let sum = |side| number(side, (self.digits, self.bits), step, start + row);
            *y = match self.sides {
                feature_sums::FIRST => sum(first),
                feature_sums::SECOND => sum(second),
                feature_sums::FIRST_LESS_SECOND => sum(first) - sum(second),
                _ => sum(second) - sum(first),
            } as i32;
        }
    }
}

/// `out[i] = clamp(x[i], 0, max) >> shift`.
fn clip(x: &[i16], max: i16, shift: u32, out: &mut [u8]) {
    for (out, x) in out.iter_mut().zip(x) {
        *out = (num::clip(*x, max) >> shift) as u8;
    }
}

/// The number at `place` of so many that the last elements are the digits of, the lowest digits of all first.
fn number(accumulator: &[i16], (digits, bits): (usize, u32), numbers: usize, place: usize) -> i64 {
    let rows = accumulator.rchunks_exact(numbers.max(1)).take(digits);
    rows.fold(0, |sum, row| (sum << bits) + i64::from(at(row, place)))
}
