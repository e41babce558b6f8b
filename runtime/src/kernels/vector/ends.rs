//! The end of a convolution: from sums to what is written, a vector of channels at a time.
//!
//! Where all shifts are at least 33 the high word of a product is enough, as in `requantise`; other shifts, and sums of
//! two products, where a second map's elements are added, are rounded in 64 bits. The zero point is added to the
//! rounded value. What belongs to a channel is laid out for a block of channels before its pixels pass.

use super::band::Scratch;
use super::{IS_COMPACT, Simd};
use crate::format::element;
use crate::kernels::maps::{Layer, Map};
use crate::sure::bias_at;
use crate::workspace::{range, rest, rest_mut, typed, typed_mut};
use core::mem::take;

/// Channels of a block.
pub(super) const BLOCK: usize = 256;
/// A vector may begin at the last of them, and two do where one of sums is half as long.
const ROOM: usize = 32;
/// Smallest shift of which the low word is not needed.
const HIGH_WORD_ONLY: i32 = crate::num::HIGH_WORD_ONLY as i32;

/// The numbers of a block of channels.
pub(super) type Room = Scratch<i32, { NUMBERS * (BLOCK + ROOM) }>;
/// Numbers a channel.
const NUMBERS: usize = 5;

/// A block of channels.
pub(super) struct Ends<'l> {
    layer: &'l Layer<'l>,
    second: Option<(Map, &'l [u8])>,
    is_high_word_only: bool,
    /// Whether it is that, and bytes are written.
    pub is_bytes: bool,
    bias: &'l mut [i32],
    multipliers: &'l mut [i32],
    /// What rounds, in units of the high word.
    halves: &'l mut [i32],
    shifts: &'l mut [i32],
    /// Multipliers of the second map.
    others: &'l mut [i32],
}

/// What ends the sums of a vector of channels.
#[derive(Clone, Copy)]
pub(super) struct End<S: Simd> {
    bias: S::I32,
    multipliers: S::I32,
    halves: S::I32,
    shifts: S::I32,
    zero: S::I32,
    low: S::I32,
    high: S::I32,
}

impl<S: Simd> End<S> {
    /// Of sums without their biases; below 2³⁰ in magnitude, since every shift is one at least.
    #[inline(always)]
    fn round(&self, s: S, sums: S::I32) -> S::I32 {
        let product = s.mul_high32(s.add32(sums, self.bias), self.multipliers);
        s.shift_right32(s.add32(product, self.halves), self.shifts)
    }

    /// The bytes of such sums, as i32.
    #[inline(always)]
    pub fn bytes(&self, s: S, sums: S::I32) -> S::I32 {
        let rounded = self.round(s, sums);
        s.add32(s.min32(s.max32(rounded, self.low), self.high), self.zero)
    }
}

/// What ends the sums of some channels, a number each: see [`End`].
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "only there does a tier end a tile its own way"))]
pub(in crate::kernels) struct Numbers<'e> {
    pub bias: &'e [i32],
    pub multipliers: &'e [i32],
    pub halves: &'e [i32],
    /// Of whole products, 33 to 63.
    pub shifts: &'e [i32],
    pub range: ByteRange,
}

/// The bytes that an output may be: `clamp(x + zero, low, high)`.
#[derive(Clone, Copy)]
pub(in crate::kernels) struct ByteRange {
    pub zero: i32,
    pub low: i32,
    pub high: i32,
}

impl ByteRange {
    /// The range moved to where i8 holds it, and what turns its bytes back: instructions for bytes with a sign clip
    /// both kinds then.
    #[inline(always)]
    #[allow(dead_code, reason = "not every target packs with saturation")]
    pub const fn signed(&self) -> (Self, u8) {
        let moved = if self.high > i8::MAX as i32 { 128 } else { 0 };
        (Self { zero: self.zero - moved, low: self.low - moved, high: self.high - moved }, moved as u8)
    }

    /// A vector whose numbers are below 2³⁰ in magnitude.
    #[inline(always)]
    pub fn clip<S: Simd>(&self, s: S, x: S::I32) -> S::I32 {
        let x = s.max32(x, s.splat32(self.low - self.zero));
        s.add32(s.min32(x, s.splat32(self.high - self.zero)), s.splat32(self.zero))
    }
}

impl<'l> Ends<'l> {
    /// Channels `first..first + count`, at most [`BLOCK`]; behind the last channel of all it goes on with channel 0.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    pub fn new<S: Simd>(
        s: S,
        layer: &'l Layer<'l>,
        second: Option<(Map, &'l [u8])>,
        (first, count): (usize, usize),
        room: &'l mut Room,
    ) -> Self {
        // Whole lines of the cache.
        let each = (count.min(BLOCK) + ROOM).next_multiple_of(16);
        let mut room = room.filled(NUMBERS * each, 0);
        let [bias, multipliers, halves, shifts, others] = [(); NUMBERS].map(|()| cut(&mut room, each));
        let (all, rounding) = (layer.to.channels.max(1), &layer.rounding);
        let is_bytes = matches!(layer.to.element, element::U8 | element::I8);
        let mut ends = Self {
            layer,
            second,
            is_high_word_only: second.is_none(),
            is_bytes,
            bias,
            multipliers,
            halves,
            shifts,
            others,
        };
        let done =
            if IS_COMPACT || second.is_some() || first + count > all { 0 } else { ends.vectors(s, first, count) };
        for index in done..count.min(BLOCK) {
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
        ends.is_bytes &= ends.is_high_word_only;
        ends
    }

    /// As many of the channels as whole vectors have; says how many.
    #[inline(always)]
    fn vectors<S: Simd>(&mut self, s: S, first: usize, count: usize) -> usize {
        let (layer, lanes) = (self.layer, S::LANES / 2);
        let end = first + count.min(BLOCK) / lanes * lanes;
        let rounding = &layer.rounding;
        let has_bias = layer.bias.len() >= end;
        if rounding.multipliers.len() < end || rounding.shifts.len() < end || !(has_bias || layer.bias.is_empty()) {
            return 0;
        }
        let mut least = s.splat32(HIGH_WORD_ONLY);
        let multipliers = S::chunks32(range(rounding.multipliers, first..end)).0;
        let shifts = S::narrow_byte_chunks(range(rounding.shifts, first..end)).0;
        let biases = S::chunks32(if has_bias { range(layer.bias, first..end) } else { &[] }).0;
        let mut done = 0;
        for (multipliers, shifts) in multipliers.iter().zip(shifts) {
            let shift = s.widen32(shifts);
            least = s.min32(least, shift);
            let half = s.power_of_two32(s.add32(shift, s.splat32(-HIGH_WORD_ONLY)));
            put(s, self.multipliers, done, s.load32(multipliers));
            put(s, self.halves, done, half);
            put(s, self.shifts, done, shift);
            if let Some(bias) = biases.get(done / lanes) {
                put(s, self.bias, done, s.load32(bias));
            }
            done += lanes;
        }
        let mut all = S::Chunk32::default();
        s.store32(&mut all, least);
        for least in all.as_ref() {
            self.is_high_word_only &= *least == HIGH_WORD_ONLY;
        }
        done
    }

    /// Takes sums off the biases from the block's `at` on.
    #[inline(always)]
    pub fn take_off(&mut self, at: usize, sums: &[i32]) {
        for (bias, sum) in self.bias.iter_mut().skip(at).zip(sums) {
            *bias = bias.wrapping_sub(*sum);
        }
    }

    /// What ends a vector of channels from the block's `at` on, where bytes are written and the high word is enough.
    #[inline(always)]
    pub fn end<S: Simd>(&self, s: S, at: usize) -> End<S> {
        let ByteRange { zero, low, high } = self.range();
        End {
            bias: load(s, self.bias, at),
            multipliers: load(s, self.multipliers, at),
            halves: load(s, self.halves, at),
            shifts: s.add32(load(s, self.shifts, at), s.splat32(-32)),
            zero: s.splat32(zero),
            low: s.splat32(low - zero),
            high: s.splat32(high - zero),
        }
    }

    /// What ends `count` channels from the block's `at` on, with the same condition.
    #[inline(always)]
    pub fn numbers(&self, at: usize, count: usize) -> Numbers<'_> {
        let [bias, multipliers, halves, shifts] =
            [&self.bias, &self.multipliers, &self.halves, &self.shifts].map(|all| range(all, at..at + count));
        Numbers { bias, multipliers, halves, shifts, range: self.range() }
    }

    /// The bytes that are written.
    #[inline(always)]
    pub const fn range(&self) -> ByteRange {
        ByteRange { zero: self.layer.to.zero, low: self.layer.rounding.low, high: self.layer.rounding.high }
    }

    /// Writes the first `n` bytes of the sums of some pixels, without their biases, which lie `pitch` elements of `out`
    /// apart, the first at `start`. `end`: what ends their vector of channels, where [`Self::is_bytes`].
    #[inline(always)]
    pub fn pixels<S: Simd>(
        &self,
        s: S,
        end: &End<S>,
        sums: &[S::Chunk32],
        n: usize,
        out: &mut [u8],
        (start, pitch): (usize, usize),
    ) {
        let range = self.range();
        let (fours, rest) = sums.as_chunks::<4>();
        let mut start = start;
        let is_whole =
            S::STORES_FOUR && n == S::LANES / 2 && start + sums.len().saturating_sub(1) * pitch + n <= out.len();
        if is_whole {
            let first = out.as_mut_ptr().wrapping_add(start);
            let place = |pixel: usize| first.wrapping_add(pixel * pitch).cast();
            for (index, four) in fours.iter().enumerate() {
                let mut rounded = [s.zero32(); 4];
                for (rounded, sums) in rounded.iter_mut().zip(four) {
                    *rounded = end.round(s, s.load32(sums));
                }
                let places = [0, 1, 2, 3].map(|pixel| place(4 * index + pixel));
                // SAFETY: a vector of bytes lies within `out` at the last place, and so at those before it.
                unsafe { s.store_four(places, rounded, &range) };
            }
            for (index, sums) in rest.iter().enumerate() {
                let bytes = place(4 * fours.len() + index).cast::<S::NarrowByteChunk>();
                // SAFETY: as above.
                s.store_low_bytes32(unsafe { &mut *bytes }, end.bytes(s, s.load32(sums)));
            }
            return;
        }
        for sums in sums {
            store_bytes(s, end.bytes(s, s.load32(sums)), rest_mut(out, start), n);
            start += pitch;
        }
    }

    /// Writes `n` sums, without their biases, of channels from the block's `at` on, to elements of `out` from `start`.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    pub fn write<S: Simd>(&self, s: S, sums: S::I32, (at, n): (usize, usize), out: &mut [u8], start: usize) {
        let to = &self.layer.to;
        if to.element == element::I32 {
            let sums = s.add32(sums, load(s, self.bias, at));
            return store(s, sums, rest_mut(typed_mut::<i32>(out), start), n, |y| y);
        }
        let y = if self.is_high_word_only {
            self.end(s, at).bytes(s, sums)
        } else {
            let sums = s.add32(sums, load(s, self.bias, at));
            let (multipliers, shifts) = (load(s, self.multipliers, at), load(s, self.shifts, at));
            let [low, high] = [self.layer.rounding.low - to.zero, self.layer.rounding.high - to.zero];
            let mut others = S::Chunk32::default();
            if let Some((map, bytes)) = self.second {
                widen(&map, bytes, start, others.as_mut());
            }
            // Behind the last channel nothing is shifted.
            let shifts = s.max32(shifts, s.splat32(1));
            let others = [s.load32(&others), load(s, self.others, at)];
            s.add32(s.round_sums32([sums, multipliers], others, shifts, low, high), s.splat32(to.zero))
        };
        if to.element == element::I16 {
            return store(s, y, rest_mut(typed_mut::<i16>(out), start), n, |y| y as i16);
        }
        store_bytes(s, y, rest_mut(out, start), n);
    }
}

/// The first `n` of a vector of bytes.
#[inline(always)]
pub(super) fn store_bytes<S: Simd>(s: S, y: S::I32, out: &mut [u8], n: usize) {
    if n == S::LANES / 2
        && let Some(out) = S::narrow_byte_chunks_mut(out).0.first_mut()
    {
        return s.store_low_bytes32(out, y);
    }
    let mut bytes = [0; 16];
    if let Some(bytes) = S::narrow_byte_chunks_mut(&mut bytes).0.first_mut() {
        s.store_low_bytes32(bytes, y);
    }
    if !IS_COMPACT
        && n == 8
        && let (Some(out), Some(bytes)) = (out.first_chunk_mut::<8>(), bytes.first_chunk::<8>())
    {
        *out = *bytes;
        return;
    }
    for (out, byte) in out.iter_mut().zip(bytes).take(n) {
        *out = byte;
    }
}

/// The first `len` of what is left of a block's numbers.
#[inline(always)]
fn cut<'l>(room: &mut &'l mut [i32], len: usize) -> &'l mut [i32] {
    let Some((first, rest)) = take(room).split_at_mut_checked(len) else { return &mut [] };
    *room = rest;
    first
}

/// Stores a vector of a block's numbers.
#[inline(always)]
fn put<S: Simd>(s: S, all: &mut [i32], at: usize, x: S::I32) {
    if let Some(first) = S::chunks32_mut(rest_mut(all, at)).0.first_mut() {
        s.store32(first, x);
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
fn load<S: Simd>(s: S, all: &[i32], at: usize) -> S::I32 {
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
