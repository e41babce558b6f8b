//! REQUANTISE: sums to narrow integers.

use super::operands::bank_bytes;
use super::{Banks, Bytes, Kind, Places, Running, typed, typed_mut};
use crate::features::GENERAL;
use crate::format::{Model, OpRecord, ValueRecord, element};
use crate::kernels::Tier;
use crate::num;
use crate::sure::{at, sure};
use crate::workspace::range_mut;

/// Sums that are requantised at once, on the stack.
const BLOCK: usize = 64;

/// REQUANTISE.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Requantise<'a> {
    /// A tier's kernel does all of it: the output is not i16.
    Plain(Requantisation<'a>),
    /// To i16.
    Wide(Requantisation<'a>),
}

impl<'a> Kind<'a> for Requantise<'a> {
    fn resolve(model: &Model<'a>, _: &Tier, record: &OpRecord) -> Option<Self> {
        let operands = Requantisation::resolve(model, record);
        Some(if Requantisation::is_plain(model, record) { Self::Plain(operands) } else { Self::Wide(operands) })
    }

    fn run(&self, on: &Running<'_, '_>, at: &Places, workspace: &mut [u8]) {
        if let Self::Plain(plain) = self
            && GENERAL
            && at.is_in_place()
        {
            return plain.run_in_place(on.kernels, on.bucket, range_mut(workspace, at.write.range()));
        }
        let (x, out) = at.bytes(on, workspace);
        match self {
            Self::Plain(plain) => plain.run(on.kernels, on.bucket, x, out),
            Self::Wide(operands) if GENERAL => operands.run_wide(on.kernels, on.bucket, typed(x), typed_mut(out)),
            Self::Wide(_) => debug_assert!(false, "to i16, which the loader refuses in this build"),
        }
    }

    fn run_once(on: &Running<'_, 'a>, record: &OpRecord, workspace: &mut [u8]) {
        let (model, kernels) = (on.model, on.kernels);
        if GENERAL && let (Some(work), Some(at)) = (Self::resolve(model, kernels, record), on.places(record)) {
            return work.run(on, &at, workspace);
        }
        if let Some(bytes) = on.bytes(record, workspace) {
            Self::run_on_bytes(on, record, bytes);
        }
    }
}

impl Requantise<'_> {
    /// To one of u8, i8 and i32, straight from the record.
    #[inline(always)]
    pub fn run_on_bytes(on: &Running<'_, '_>, record: &OpRecord, (output, x, out): Bytes<'_>) {
        let (model, kernels) = (on.model, on.kernels);
        let (multipliers, shifts) =
            (bank_bytes(model, record.multipliers, on.bucket), bank_bytes(model, record.shifts, on.bucket));
        let [low, high, zero, ..] = record.params.map(|param| param as i32);
        let zero = if GENERAL { zero } else { 0 };
        let (sums, multipliers) = (typed(x), typed(multipliers));
        match output.element() {
            element::U8 => (kernels.requantise_u8.call)(sums, multipliers, shifts, low, high, zero, out),
            element::I8 => (kernels.requantise_i8.call)(sums, multipliers, shifts, low, high, zero, typed_mut(out)),
            _ => (kernels.requantise_i32.call)(sums, multipliers, shifts, low, high, zero, typed_mut(out)),
        }
    }
}

/// Multipliers, shifts, clamps and zero point.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Requantisation<'a> {
    pub multipliers: Banks<'a, i32>,
    pub shifts: Banks<'a, u8>,
    pub low: i32,
    pub high: i32,
    pub zero: i32,
    pub element: u32,
}

impl<'a> Requantisation<'a> {
    fn resolve(model: &Model<'a>, record: &OpRecord) -> Self {
        let [low, high, zero, ..] = record.params.map(|param| param as i32);
        Self {
            multipliers: Banks::new(model.tensor(record.multipliers)),
            shifts: Banks::new(model.tensor(record.shifts)),
            low,
            high,
            zero,
            element: sure(model.values().get(record.output as usize).map(ValueRecord::element)),
        }
    }

    /// Whether a tier's kernel does all of it.
    pub fn is_plain(model: &Model<'_>, record: &OpRecord) -> bool {
        let to = sure(model.values().get(record.output as usize).map(ValueRecord::element));
        !GENERAL || to != element::I16
    }

    /// Of a single sum, to i32, where there is no zero point.
    #[inline(always)]
    pub fn one(&self, x: i32, bucket: usize) -> i32 {
        let (multiplier, shift) = (at(self.multipliers.bank(bucket), 0), at(self.shifts.bank(bucket), 0));
        num::requantise(x, multiplier, u32::from(shift), self.low, self.high)
    }

    /// x: the bytes of (n,) i32 · out: those of (n,).
    #[inline(always)]
    pub fn run(&self, kernels: &Tier, bucket: usize, x: &[u8], out: &mut [u8]) {
        let Self { low, high, zero, .. } = *self;
        let (x, multipliers, shifts) = (typed(x), self.multipliers.bank(bucket), self.shifts.bank(bucket));
        match self.element {
            element::U8 => (kernels.requantise_u8.call)(x, multipliers, shifts, low, high, zero, out),
            element::I8 => (kernels.requantise_i8.call)(x, multipliers, shifts, low, high, zero, typed_mut(out)),
            _ => (kernels.requantise_i32.call)(x, multipliers, shifts, low, high, zero, typed_mut(out)),
        }
    }
}

impl Requantisation<'_> {
    /// The same to i32 where the sums lie: a block of them at a time is copied, and written over. sums: (n,) i32
    pub fn run_in_place(&self, kernels: &Tier, bucket: usize, sums: &mut [u8]) {
        debug_assert_eq!(self.element, element::I32);
        let (multipliers, shifts) = (self.multipliers.bank(bucket), self.shifts.bank(bucket));
        let mut copy = [0; BLOCK];
        let blocks = typed_mut::<i32>(sums).chunks_mut(BLOCK);
        for ((out, multipliers), shifts) in blocks.zip(multipliers.chunks(BLOCK)).zip(shifts.chunks(BLOCK)) {
            let copy = range_mut(&mut copy, 0..out.len());
            copy.iter_mut().zip(&*out).for_each(|(copy, sum)| *copy = *sum);
            (kernels.requantise_i32.call)(copy, multipliers, shifts, self.low, self.high, self.zero, out);
        }
    }

    /// To i16, by the kernel to i32, a block at a time.
    fn run_wide(&self, kernels: &Tier, bucket: usize, x: &[i32], out: &mut [i16]) {
        let (multipliers, shifts) = (self.multipliers.bank(bucket), self.shifts.bank(bucket));
        let mut words = [0; BLOCK];
        let blocks = x.chunks(BLOCK).zip(multipliers.chunks(BLOCK)).zip(shifts.chunks(BLOCK));
        for (out, ((x, multipliers), shifts)) in out.chunks_mut(BLOCK).zip(blocks) {
            let words = range_mut(&mut words, 0..x.len());
            (kernels.requantise_i32.call)(x, multipliers, shifts, self.low, self.high, self.zero, words);
            out.iter_mut().zip(words).for_each(|(out, word)| *out = *word as i16);
        }
    }
}
