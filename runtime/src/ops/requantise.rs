//! REQUANTISE: sums to narrow integers.

use super::{Banks, Kind, Places, Running, typed, typed_mut};
use crate::features::GENERAL;
use crate::format::{Model, OpRecord, ValueRecord, element};
use crate::kernels::Tier;
use crate::num;
use crate::sure::{at, sure};
use crate::workspace::range_mut;
use bytemuck::Pod;

/// Sums that are requantised at once, on the stack.
const BLOCK: usize = 64;

/// REQUANTISE.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Requantise<'a> {
    /// A tier's kernel does all of it: there is no zero point, and the output is not i16.
    Plain(Requantisation<'a>),
    /// With a zero point.
    Shifted(Requantisation<'a>, i32),
}

impl<'a> Kind<'a> for Requantise<'a> {
    fn resolve(model: &Model<'a>, _: &Tier, record: &OpRecord) -> Option<Self> {
        let operands = Requantisation::resolve(model, record);
        let is_plain = Requantisation::is_plain(model, record);
        Some(if is_plain { Self::Plain(operands) } else { Self::Shifted(operands, record.params[2] as i32) })
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
            Self::Shifted(operands, zero) if GENERAL => {
                shifted(on.kernels, operands, *zero, on.bucket, typed(x), out);
            }
            Self::Shifted(..) => debug_assert!(false, "a zero point, which the loader refuses in this build"),
        }
    }
}

/// Multipliers, shifts and clamps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Requantisation<'a> {
    pub multipliers: Banks<'a, i32>,
    pub shifts: Banks<'a, u8>,
    pub low: i32,
    pub high: i32,
    pub element: u32,
}

impl<'a> Requantisation<'a> {
    fn resolve(model: &Model<'a>, record: &OpRecord) -> Self {
        let [low, high, ..] = record.params.map(|param| param as i32);
        Self {
            multipliers: Banks::new(model.tensor(record.multipliers)),
            shifts: Banks::new(model.tensor(record.shifts)),
            low,
            high,
            element: sure(model.values().get(record.output as usize).map(ValueRecord::element)),
        }
    }

    /// Whether a tier's kernel does all of it.
    pub fn is_plain(model: &Model<'_>, record: &OpRecord) -> bool {
        let to = sure(model.values().get(record.output as usize).map(ValueRecord::element));
        !GENERAL || (record.params[2] == 0 && to != element::I16)
    }

    /// Of a single sum, to i32.
    #[inline(always)]
    pub fn one(&self, x: i32, bucket: usize) -> i32 {
        let (multiplier, shift) = (at(self.multipliers.bank(bucket), 0), at(self.shifts.bank(bucket), 0));
        num::requantise(x, multiplier, u32::from(shift), self.low, self.high)
    }

    /// x: the bytes of (n,) i32 · out: those of (n,).
    #[inline(always)]
    pub fn run(&self, kernels: &Tier, bucket: usize, x: &[u8], out: &mut [u8]) {
        let x = typed(x);
        let (multipliers, shifts) = (self.multipliers.bank(bucket), self.shifts.bank(bucket));
        match self.element {
            element::U8 => (kernels.requantise_u8.call)(x, multipliers, shifts, self.low, self.high, out),
            element::I8 => (kernels.requantise_i8.call)(x, multipliers, shifts, self.low, self.high, typed_mut(out)),
            _ => (kernels.requantise_i32.call)(x, multipliers, shifts, self.low, self.high, typed_mut(out)),
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
            (kernels.requantise_i32.call)(copy, multipliers, shifts, self.low, self.high, out);
        }
    }
}

/// With a zero point, or to i16: the tier's kernel to i32 with clamps that leave room for the zero point, which is
/// added behind it. `clamp(r, low − zero, high − zero) + zero` is `clamp(r + zero, low, high)`.
fn shifted(kernels: &Tier, operands: &Requantisation<'_>, zero: i32, bucket: usize, x: &[i32], out: &mut [u8]) {
    let (multipliers, shifts) = (operands.multipliers.bank(bucket), operands.shifts.bank(bucket));
    let (low, high) = (operands.low.wrapping_sub(zero), operands.high.wrapping_sub(zero));
    let mut sums = [0; BLOCK];
    let blocks = x.chunks(BLOCK).zip(multipliers.chunks(BLOCK)).zip(shifts.chunks(BLOCK));
    let mut each = |((x, multipliers), shifts): ((&[i32], &[i32]), &[u8]), take: &mut dyn FnMut(&[i32])| {
        let sums = range_mut(&mut sums, 0..x.len());
        (kernels.requantise_i32.call)(x, multipliers, shifts, low, high, sums);
        take(sums);
    };
    match operands.element {
        element::I16 => {
            let out = typed_mut::<i16>(out).chunks_mut(BLOCK);
            blocks.zip(out).for_each(|(block, out)| each(block, &mut |sums| narrow(sums, zero, out, |y| y as i16)));
        }
        _ => {
            let out = out.chunks_mut(BLOCK);
            blocks.zip(out).for_each(|(block, out)| each(block, &mut |sums| narrow(sums, zero, out, |y| y as u8)));
        }
    }
}

fn narrow<T: Pod>(sums: &[i32], zero: i32, out: &mut [T], narrow: impl Fn(i32) -> T) {
    out.iter_mut().zip(sums).for_each(|(out, sum)| *out = narrow(sum.wrapping_add(zero)));
}
