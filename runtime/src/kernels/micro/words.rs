//! Tiles and filters of processors without products of halves: inputs are spread to words, without their zero point,
//! and those of four places for the same weight lie side by side.

use super::filters::{Filter, Run, Taps};
use super::finish::Bytes;
use super::target::{Rows, Tile};
use crate::num::HIGH_WORD_ONLY;
use crate::num::mul_high;

/// Places of a tile.
pub(in crate::kernels) const PLACES: usize = 4;
/// Inputs of a group.
const GROUP: usize = 4;

/// The products of a tile with one output's weights.
pub(in crate::kernels) trait Sums {
    /// `sums[place] += Σ x[k, place]·w[k]` modulo 2³².
    ///
    /// # Safety
    /// `groups` groups, at least one, of four inputs of four places can be read at `x`, and of four weights at `w` and
    /// every `stride_bytes` behind it; both are multiples of four.
    unsafe fn add(sums: &mut [i32; PLACES], x: *const u32, w: *const i8, stride_bytes: usize, groups: usize);
}

/// [`Tile`] and [`Filter`] by a target's [`Sums`].
pub(in crate::kernels) struct Words<S>(core::marker::PhantomData<S>);

impl<S: Sums> Tile for Words<S> {
    const PLACES: usize = PLACES;
    const GROUP: usize = GROUP * PLACES;

    #[inline(always)]
    unsafe fn spread(x: *const u8, groups: usize, is_signed: bool, minus_zero: i16, out: *mut u32) {
        for index in 0..GROUP * groups {
            // SAFETY: the caller vouches for `groups` groups of both.
            unsafe {
                let byte = x.add(index).read();
                let value = if is_signed { i32::from(byte as i8) } else { i32::from(byte) } + i32::from(minus_zero);
                out.add(PLACES * index).write(value as u32);
            }
        }
    }

    #[inline(always)]
    unsafe fn rows(rows: &Rows) {
        for output in 0..rows.outputs {
            // SAFETY: the caller vouches for all that is pointed to; biases and bytes where they are not null.
            unsafe {
                let kept = &mut *rows.sums.cast::<[i32; PLACES]>().add(output);
                let mut sums = if rows.bias.is_null() { *kept } else { [*rows.bias.add(output); PLACES] };
                S::add(&mut sums, rows.x, rows.w.add(4 * output), rows.stride_bytes, rows.groups);
                match rows.bytes.as_ref() {
                    None => *kept = sums,
                    Some(bytes) => {
                        let less = u32::from(*bytes.shifts.add(output)).wrapping_sub(HIGH_WORD_ONLY);
                        let (multiplier, out) = (*bytes.multipliers.add(output), bytes.out.add(output));
                        for (place, sum) in sums.into_iter().enumerate() {
                            out.add(place * bytes.step).write(round(sum, multiplier, less, bytes));
                        }
                    }
                }
            }
        }
    }
}

/// A sum's byte.
#[inline(always)]
fn round(sum: i32, multiplier: i32, less: u32, bytes: &Bytes) -> u8 {
    (((mul_high(sum, multiplier) >> (less & 31)) + bytes.half) >> 1).max(bytes.low).min(bytes.high) as u8
}

impl<S: Sums> Filter for Words<S> {
    const HAS_NINE: bool = false;
    const WORDS: usize = 4;

    #[inline(always)]
    fn spread(weights: [i8; 4], out: &mut [u32]) {
        out.iter_mut().zip(weights).for_each(|(out, weight)| *out = i32::from(weight) as u32);
    }

    #[inline(always)]
    unsafe fn sum(taps: &Taps, is_signed: bool) {
        // SAFETY: the caller's.
        unsafe { if is_signed { filter::<i8>(taps) } else { filter::<u8>(taps) } }
    }

    #[inline(always)]
    unsafe fn nine(_: &Run, _: bool) {
        debug_assert!(false, "a window of nine taps, which this target has no way for");
    }
}

/// [`Filter::sum`].
///
/// # Safety
/// As there.
#[inline(never)]
unsafe fn filter<T: Copy + Into<i32>>(taps: &Taps) {
    let minus_zero = i32::from(taps.minus_zero);
    for place in 0..taps.places {
        // SAFETY: the caller vouches for all that is pointed to.
        unsafe {
            let mut sums = *taps.bias.cast::<[i32; 4]>();
            let (mut x, mut w) = (taps.x.add(place * taps.next), taps.w.cast::<[i32; 4]>());
            for _ in 0..taps.down {
                for _ in 0..taps.across {
                    let (pixel, weights) = (x.cast::<[T; 4]>().read(), w.read());
                    for ((sum, x), w) in sums.iter_mut().zip(pixel).zip(weights) {
                        *sum = sum.wrapping_add((x.into() + minus_zero).wrapping_mul(w));
                    }
                    (x, w) = (x.wrapping_add(taps.step), w.wrapping_add(1));
                }
                (x, w) = (x.wrapping_offset(taps.skip), w.wrapping_add(taps.skip_weights / 4));
            }
            match taps.bytes.as_ref() {
                None => *taps.sums.cast::<[i32; 4]>().add(place) = sums,
                Some(bytes) => {
                    let out = bytes.out.add(place * bytes.step);
                    for (channel, (sum, less)) in sums.into_iter().zip(taps.less).enumerate() {
                        out.add(channel).write(round(sum, *bytes.multipliers.add(channel), less, bytes));
                    }
                }
            }
        }
    }
}

/// [`Sums`] of processors without a way of their own: Cortex-M3, and hosts that test this tier.
#[cfg(not(any(cortex_m = "thumb1", rv32im)))]
pub(in crate::kernels) struct Plain;

#[cfg(not(any(cortex_m = "thumb1", rv32im)))]
impl Sums for Plain {
    #[inline(always)]
    unsafe fn add(sums: &mut [i32; PLACES], x: *const u32, w: *const i8, stride_bytes: usize, groups: usize) {
        let mut sum = *sums;
        for group in 0..groups {
            // SAFETY: the caller vouches for `groups` groups of both.
            let (x, w) = unsafe {
                (
                    x.cast::<[[i32; PLACES]; GROUP]>().add(group).read(),
                    w.add(stride_bytes * group).cast::<[i8; GROUP]>().read(),
                )
            };
            for (x, w) in x.into_iter().zip(w) {
                for (sum, x) in sum.iter_mut().zip(x) {
                    *sum = sum.wrapping_add(x.wrapping_mul(w.into()));
                }
            }
        }
        *sums = sum;
    }
}
