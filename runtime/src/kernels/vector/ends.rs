//! The end of a convolution: from sums to what is written, a vector of channels at a time.
//!
//! Where all shifts are at least 33 the high word of a product is enough, as in `requantise`; other shifts, and sums of
//! two products, where a second map's elements are added, are rounded in 64 bits. The zero point is added to the
//! rounded value. What belongs to a channel is laid out for a block of channels before its pixels pass.

use super::Simd;
use crate::format::element;
use crate::kernels::maps::{Layer, Map};
use crate::sure::bias_at;
use crate::workspace::{rest, rest_mut, typed, typed_mut};

/// Channels of a block.
pub(super) const BLOCK: usize = 256;
/// A vector may begin at the last of them.
const ROOM: usize = BLOCK + 32;
/// Smallest shift of which the low word is not needed.
const HIGH_WORD_ONLY: i32 = 33;

/// A block of channels.
pub(super) struct Ends<'l> {
    layer: &'l Layer<'l>,
    second: Option<(Map, &'l [u8])>,
    is_high_word_only: bool,
    pub bias: [i32; ROOM],
    multipliers: [i32; ROOM],
    /// Of the second map.
    others: [i32; ROOM],
    /// What rounds, in units of the high word.
    halves: [i32; ROOM],
    shifts: [i32; ROOM],
}

impl<'l> Ends<'l> {
    /// Channels `first..first + count`, at most [`BLOCK`]; behind the last channel of all it goes on with channel 0.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    pub fn new(layer: &'l Layer<'l>, second: Option<(Map, &'l [u8])>, first: usize, count: usize) -> Self {
        let none = [0; ROOM];
        let mut ends = Self {
            layer,
            second,
            is_high_word_only: second.is_none(),
            bias: none,
            multipliers: none,
            others: none,
            halves: none,
            shifts: none,
        };
        let (all, rounding) = (layer.to.channels.max(1), &layer.rounding);
        for index in 0..count.min(BLOCK) {
            let channel = (first + index) % all;
            ends.bias[index] = bias_at(layer.bias, channel);
            let (Some(multiplier), Some(shift)) = (rounding.multipliers.get(channel), rounding.shifts.get(channel))
            else {
                // Sums that are written as they are.
                continue;
            };
            let shift = i32::from(*shift);
            ends.is_high_word_only &= shift >= HIGH_WORD_ONLY;
            ends.multipliers[index] = *multiplier;
            ends.halves[index] = 1 << ((shift - HIGH_WORD_ONLY) & 31);
            ends.shifts[index] = shift;
            if second.is_some() {
                ends.others[index] = bias_at(rounding.multipliers, all + channel);
            }
        }
        ends
    }

    /// Writes `n` sums, without their biases, of channels from the block's `at` on, to elements of `out` from `start`.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    pub fn write<S: Simd>(&self, s: S, sums: S::I32, (at, n): (usize, usize), out: &mut [u8], start: usize) {
        let sums = s.add32(sums, load(s, &self.bias, at));
        let to = &self.layer.to;
        if to.element == element::I32 {
            return store(s, sums, rest_mut(typed_mut::<i32>(out), start), n, |y| y);
        }
        let (multipliers, shifts) = (load(s, &self.multipliers, at), load(s, &self.shifts, at));
        let [low, high] = [self.layer.rounding.low - to.zero, self.layer.rounding.high - to.zero];
        let rounded = if self.is_high_word_only {
            let product = s.add32(s.mul_high32(sums, multipliers), load(s, &self.halves, at));
            let rounded = s.shift_right32(product, s.add32(shifts, s.splat32(-32)));
            s.min32(s.max32(rounded, s.splat32(low)), s.splat32(high))
        } else {
            let mut others = S::Chunk32::default();
            if let Some((map, bytes)) = self.second {
                widen(&map, bytes, start, others.as_mut());
            }
            // Behind the last channel nothing is shifted.
            let shifts = s.max32(shifts, s.splat32(1));
            s.round_sums32([sums, multipliers], [s.load32(&others), load(s, &self.others, at)], shifts, low, high)
        };
        let y = s.add32(rounded, s.splat32(to.zero));
        if to.element == element::I16 {
            return store(s, y, rest_mut(typed_mut::<i16>(out), start), n, |y| y as i16);
        }
        let out = rest_mut(out, start);
        if n == S::LANES / 2
            && let Some(out) = S::narrow_byte_chunks_mut(out).0.first_mut()
        {
            return s.store_low_bytes32(out, y);
        }
        let mut bytes = [0; 16];
        if let Some(bytes) = S::narrow_byte_chunks_mut(&mut bytes).0.first_mut() {
            s.store_low_bytes32(bytes, y);
        }
        for (out, byte) in out.iter_mut().zip(bytes).take(n) {
            *out = byte;
        }
    }
}

/// The first `n` of a vector, narrowed.
#[inline(always)]
fn store<S: Simd, T>(s: S, y: S::I32, out: &mut [T], n: usize, narrow: fn(i32) -> T) {
    let mut array = S::Chunk32::default();
    s.store32(&mut array, y);
    for (out, y) in out.iter_mut().zip(array.as_ref()).take(n) {
        *out = narrow(*y);
    }
}

/// A vector of a block's array.
#[inline(always)]
fn load<S: Simd>(s: S, all: &[i32; ROOM], at: usize) -> S::I32 {
    match S::chunks32(rest(all, at)).0 {
        [first, ..] => s.load32(first),
        [] => s.zero32(),
    }
}

/// Elements of a map without their zero point; where the map ends what `out` held.
#[inline(always)]
fn widen(map: &Map, bytes: &[u8], start: usize, out: &mut [i32]) {
    match map.element {
        element::U8 => each(rest(bytes, start), map.zero, out),
        element::I8 => each(rest(typed::<i8>(bytes), start), map.zero, out),
        _ => each(rest(typed::<i16>(bytes), start), map.zero, out),
    }
}

#[inline(always)]
fn each<T: Copy + Into<i32>>(x: &[T], zero: i32, out: &mut [i32]) {
    for (out, x) in out.iter_mut().zip(x) {
        *out = (*x).into() - zero;
    }
}
