//! Sums of a dense layer clipped, squared, or both, to bytes: a few dozen, in loops without branches.

use super::{Kind, Places, Running, typed};
use crate::format::{Model, OpRecord, activation};
use crate::kernels::Tier;
use crate::num;

/// ACTIVATE_U8.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ActivateU8 {
    code: u32,
    max: i32,
    clip_shift: u32,
    square_shift: u32,
}

impl Kind<'_> for ActivateU8 {
    fn resolve(_: &Model<'_>, _: &Tier, record: &OpRecord) -> Option<Self> {
        let [max, clip_shift, square_shift, _] = record.params;
        Some(Self { code: record.activation, max: max as i32, clip_shift, square_shift })
    }

    fn run(&self, on: &Running<'_, '_>, at: &Places, workspace: &mut [u8]) {
        let (x, out) = at.bytes(on, workspace);
        activate(self.code, self.max, self.clip_shift, self.square_shift, typed(x), out);
    }
}

fn activate(code: u32, max: i32, clip_shift: u32, square_shift: u32, x: &[i32], out: &mut [u8]) {
    let squares = match code {
        activation::SHIFT_CLIP => 0,
        _ => x.len().min(out.len()),
    };
    let (squared, clipped) = out.split_at_mut(squares);
    if are_squares_narrow(square_shift, max) {
        let square = |x: i32| {
            let x = x.clamp(i16::MIN.into(), i16::MAX.into());
            ((x * x) >> square_shift).min(max) as u8
        };
        in_eights(x, squared, |x, out| squares_of_eight(x, square_shift - HALF, max as i16, out), square);
    } else {
        squared.iter_mut().zip(x).for_each(|(out, x)| *out = num::shift_square(*x, square_shift, max) as u8);
    }
    let clip = |x: i32| num::shift_clip(x, clip_shift, max) as u8;
    in_eights(x, clipped, |x, out| clips_of_eight(x, clip_shift, max as i16, out), clip);
}

/// Whether eight at a time are worth code of their own. What every x86-64 has lacks minima and products of 32 bits, so
/// that a loop over single sums becomes a long one; other machines have them, and their loop is the plain one.
const TAKES_EIGHTS: bool = cfg!(all(short_ways, target_arch = "x86_64"));
/// As many numbers of 16 bits as a vector of every x86-64 holds.
const EIGHT: usize = 8;
/// Bits of half a square.
const HALF: u32 = i16::BITS;

/// Whether squares of 16 bits, and the upper halves of those, tell all: what leaves 16 bits has a square that is
/// shifted to `max` or beyond, as the greatest that does not has. Where room is short, they never are.
const fn are_squares_narrow(shift: u32, max: i32) -> bool {
    const GREATEST: i32 = i16::MAX as i32;
    cfg!(short_ways) && HALF <= shift && shift < 2 * HALF && (GREATEST * GREATEST) >> shift >= max
}

/// `min(x² >> (HALF + shift), max)` where squares are narrow. Each step is a loop of its own, which compilers make one
/// instruction of: cut to 16 bits, the upper half of a product, a shift, a minimum. What is written, not returned,
/// stays together; returned bytes they put into a register one by one.
#[inline(always)]
fn squares_of_eight(x: &[i32; EIGHT], shift: u32, max: i16, out: &mut [u8; EIGHT]) {
    let mut narrow = narrow(x, 0);
    for x in &mut narrow {
        *x = ((i32::from(*x) * i32::from(*x)) >> HALF) as i16;
    }
    for x in &mut narrow {
        *x = (*x >> (shift % HALF)).min(max);
    }
    write(&narrow, out);
}

/// `clamp(x >> shift, 0, max)`.
#[inline(always)]
fn clips_of_eight(x: &[i32; EIGHT], shift: u32, max: i16, out: &mut [u8; EIGHT]) {
    let mut narrow = narrow(x, shift);
    for x in &mut narrow {
        *x = (*x).max(0).min(max);
    }
    write(&narrow, out);
}

#[inline(always)]
fn narrow(x: &[i32; EIGHT], shift: u32) -> [i16; EIGHT] {
    let mut narrow = [0; EIGHT];
    for (narrow, x) in narrow.iter_mut().zip(x) {
        *narrow = (*x >> (shift % i32::BITS)).clamp(i16::MIN.into(), i16::MAX.into()) as i16;
    }
    narrow
}

#[inline(always)]
fn write(x: &[i16; EIGHT], out: &mut [u8; EIGHT]) {
    for (out, x) in out.iter_mut().zip(x) {
        *out = *x as u8;
    }
}

/// All of `x`, eight at a time. The last eight are taken whole, some of them once more, so that none is left over for
/// `one`, unless they are fewer altogether; without [`TAKES_EIGHTS`] there is `one` alone.
#[inline(always)]
fn in_eights(x: &[i32], out: &mut [u8], eight: impl Fn(&[i32; EIGHT], &mut [u8; EIGHT]), one: impl Fn(i32) -> u8) {
    if TAKES_EIGHTS && x.len() == out.len() {
        let (eights, rest) = x.as_chunks();
        for (out, x) in out.as_chunks_mut().0.iter_mut().zip(eights) {
            eight(x, out);
        }
        if rest.is_empty() {
            return;
        }
        if let (Some(out), Some(x)) = (out.last_chunk_mut(), x.last_chunk()) {
            eight(x, out);
            return;
        }
    }
    for (out, x) in out.iter_mut().zip(x) {
        *out = one(*x);
    }
}

#[cfg(test)]
mod tests {
    use super::activate;
    use crate::format::activation;
    use crate::num;

    /// Sums at every corner of a square that leaves 16 bits and 32, in lengths with and without a rest, and shifts on
    /// both sides of what narrow squares allow.
    #[test]
    fn squares_and_clips_are_those_of_single_sums() {
        let corners = [0, 1, 8191, 8192, 32767, 32768, 46340, 46341, 1 << 30, i32::MAX];
        let sums: [i32; 23] = core::array::from_fn(|at| {
            let corner: i32 = corners[at % corners.len()];
            if at % 2 == 0 { corner } else { -corner - i32::from(at % 3 == 0) }
        });
        for (shift, max) in
            [(0, 127), (0, 255), (19, 127), (22, 255), (23, 127), (24, 127), (31, 1), (40, 127), (62, 1)]
        {
            for len in 0..=sums.len() {
                let x = &sums[..len];
                let mut found = [0; 2 * 23];
                let found = &mut found[..2 * len];
                activate(activation::SQUARE_AND_CLIP, max, shift.min(31), shift, x, found);
                let squares = x.iter().map(|x| num::shift_square(*x, shift, max) as u8);
                let clips = x.iter().map(|x| num::shift_clip(*x, shift.min(31), max) as u8);
                assert!(squares.chain(clips).eq(found.iter().copied()), "{len} sums, {shift} and {max}");
            }
        }
    }
}
