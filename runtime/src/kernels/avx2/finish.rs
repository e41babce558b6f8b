//! The end of convolutions: sums of two i32 an output are rounded without a lane for each output first.

use super::{compute, mul_even32};
use crate::kernels::vector::ByteRange;
use crate::kernels::vector::finish::{Finish, Numbers};
use crate::kernels::vector::tile::Tile;
use core::arch::x86_64::*;

/// What rounds the sums of eight outputs without a lane for each first: both i32 of an output are added in its lane of
/// 64 bits, where the multiplication reads its factor, and the high words of outputs 4 to 7 are put between those of
/// outputs 0 to 3. In this order, 0 4 1 5 2 6 3 7, they are shifted and narrowed; bytes are put in order in the end.
#[derive(Clone, Copy)]
pub(super) struct PairsFinish {
    /// Of outputs 0 to 3 and 4 to 7, in the lower half of each one's lane; the upper half is zero.
    biases: [__m256i; 2],
    /// The same; the upper half is not read.
    multipliers: [__m256i; 2],
    /// In the order of high words.
    halves: __m256i,
    shifts: __m256i,
    to_bytes: ToBytes,
}

/// What integers become bytes by.
#[derive(Clone, Copy)]
pub(super) struct ToBytes {
    /// In lanes of i16, and of bytes.
    zero: __m256i,
    low: __m256i,
    high: __m256i,
    /// What bytes are turned by in the end.
    flip: __m256i,
}

impl ToBytes {
    #[target_feature(enable = "avx2")]
    #[inline]
    pub fn of(range: &ByteRange) -> Self {
        let (range, flip) = range.signed();
        Self {
            zero: _mm256_set1_epi16(range.zero as i16),
            low: _mm256_set1_epi8(range.low as i8),
            high: _mm256_set1_epi8(range.high as i8),
            flip: _mm256_set1_epi8(flip as i8),
        }
    }

    /// The bytes of four vectors. What saturation cuts off is beyond the range anyway. Packing works in halves of 128
    /// bits: the low half gets four bytes of each vector, one vector after the other, and the high one the other four.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub fn pack(&self, x: [__m256i; 4]) -> __m256i {
        let first = _mm256_adds_epi16(_mm256_packs_epi32(x[0], x[1]), self.zero);
        let second = _mm256_adds_epi16(_mm256_packs_epi32(x[2], x[3]), self.zero);
        let bytes = _mm256_max_epi8(_mm256_packs_epi16(first, second), self.low);
        _mm256_xor_si256(_mm256_min_epi8(bytes, self.high), self.flip)
    }
}

impl<T: Tile<Sums = [__m256i; 2]>> Finish<T, T::Sums> for PairsFinish {
    const IS_THERE: bool = true;
    #[inline(always)]
    fn of(_: T, numbers: &Numbers<'_>) -> Option<Self> {
        compute!(Self::of_eight(numbers))
    }
    #[inline(always)]
    fn begin(&self, _: [__m256i; 2]) -> [__m256i; 2] {
        self.biases
    }
    #[inline(always)]
    unsafe fn write<const PIXELS: usize>(&self, _: T, sums: [[__m256i; 2]; PIXELS], out: *mut u8, pitch: usize) {
        // SAFETY: the caller's; AVX2 as in `compute`.
        unsafe {
            let mut rounded = [_mm256_setzero_si256(); PIXELS];
            for (rounded, sums) in rounded.iter_mut().zip(sums) {
                *rounded = self.round(sums);
            }
            for (index, four) in rounded.chunks(4).enumerate() {
                self.write_four(four, out.wrapping_add(4 * index * pitch), pitch);
            }
        }
    }
}

impl PairsFinish {
    #[target_feature(enable = "avx2")]
    #[inline]
    fn of_eight(numbers: &Numbers<'_>) -> Option<Self> {
        let (bias, multipliers) = (numbers.bias.first_chunk()?, numbers.multipliers.first_chunk()?);
        let (halves, shifts) = (numbers.halves.first_chunk()?, numbers.shifts.first_chunk()?);
        // SAFETY: arrays of eight i32.
        let load = |all: &[i32; 8]| unsafe { _mm256_loadu_si256(all.as_ptr().cast()) };
        let in_order = |all| _mm256_permutevar8x32_epi32(load(all), _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
        let apart = |all| {
            let all = load(all);
            [
                _mm256_cvtepu32_epi64(_mm256_castsi256_si128(all)),
                _mm256_cvtepu32_epi64(_mm256_extracti128_si256::<1>(all)),
            ]
        };
        Some(Self {
            biases: apart(bias),
            multipliers: apart(multipliers),
            halves: in_order(halves),
            shifts: _mm256_sub_epi32(in_order(shifts), _mm256_set1_epi32(32)),
            to_bytes: ToBytes::of(&numbers.range),
        })
    }

    /// Below 2³⁰ in magnitude, as every shift is one at least.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn round(&self, sums: [__m256i; 2]) -> __m256i {
        let products = [0, 1].map(|half| {
            let sum = _mm256_add_epi32(sums[half], _mm256_srli_epi64::<32>(sums[half]));
            mul_even32(sum, self.multipliers[half])
        });
        let high_words = _mm256_blend_epi32::<0b1010_1010>(_mm256_srli_epi64::<32>(products[0]), products[1]);
        _mm256_srav_epi32(_mm256_add_epi32(high_words, self.halves), self.shifts)
    }

    /// Writes the bytes of one to four pixels.
    ///
    /// # Safety
    /// Eight bytes can be written to every pixel's place.
    #[target_feature(enable = "avx2")]
    #[inline]
    unsafe fn write_four(&self, rounded: &[__m256i], out: *mut u8, pitch: usize) {
        // Where there are fewer, the first ones again, which takes nothing. The halves of a pixel are put side by side.
        let last = rounded.len() - 1;
        let other = if last < 2 { 0 } else { 2 };
        let four = [0, 1.min(last), other, (other + 1).min(last)];
        let bytes = self.to_bytes.pack(four.map(|pixel| rounded[pixel]));
        let bytes = _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
        let bytes = _mm256_shuffle_epi8(
            bytes,
            _mm256_setr_epi8(
                0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15, 0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13,
                15,
            ),
        );
        let halves = [_mm256_castsi256_si128(bytes), _mm256_extracti128_si256::<1>(bytes)];
        for pixel in 0..rounded.len().min(4) {
            let (half, place) = (halves[pixel / 2], out.wrapping_add(pixel * pitch));
            // SAFETY: the caller's.
            unsafe {
                if pixel % 2 == 0 {
                    _mm_storel_epi64(place.cast(), half);
                } else {
                    _mm_storeh_pd(place.cast(), _mm_castsi128_pd(half));
                }
            }
        }
    }
}
