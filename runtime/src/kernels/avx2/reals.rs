//! Reals in AVX2: eight lanes are one vector.

use super::{Avx2, compute};
use crate::kernels::vector::Reals;
use core::arch::x86_64::*;

impl Reals for Avx2 {
    type F32 = __m256;

    #[inline(always)]
    fn load(self, x: &[f32; 8]) -> __m256 {
        // SAFETY: the array has 32 bytes; AVX2 as in `compute`.
        unsafe { _mm256_loadu_ps(x.as_ptr()) }
    }
    #[inline(always)]
    fn store(self, out: &mut [f32; 8], x: __m256) {
        // SAFETY: the array has 32 bytes; AVX2 as in `compute`.
        unsafe { _mm256_storeu_ps(out.as_mut_ptr(), x) }
    }
    #[inline(always)]
    fn splat(self, x: f32) -> __m256 {
        compute!(_mm256_set1_ps(x))
    }
    #[inline(always)]
    fn add(self, a: __m256, b: __m256) -> __m256 {
        compute!(_mm256_add_ps(a, b))
    }
    #[inline(always)]
    fn mul(self, a: __m256, b: __m256) -> __m256 {
        compute!(_mm256_mul_ps(a, b))
    }
    /// MAXPS gives its second operand for a NaN and for zeros of either sign.
    #[inline(always)]
    fn relu(self, x: __m256) -> __m256 {
        compute!(_mm256_max_ps(x, _mm256_setzero_ps()))
    }
    #[inline(always)]
    fn crelu(self, x: __m256) -> __m256 {
        compute!(_mm256_min_ps(_mm256_max_ps(x, _mm256_setzero_ps()), _mm256_set1_ps(1.0)))
    }
    #[inline(always)]
    fn from_i32(self, x: &[i32; 8]) -> __m256 {
        // SAFETY: the array has 32 bytes; AVX2 as in `compute`.
        unsafe { _mm256_cvtepi32_ps(_mm256_loadu_si256(x.as_ptr().cast())) }
    }
    #[inline(always)]
    fn from_clipped(self, x: &[i16; 8], max: i16) -> __m256 {
        // SAFETY: the array has 16 bytes; AVX2 as in `compute`.
        unsafe {
            let x = _mm_loadu_si128(x.as_ptr().cast());
            let clipped = _mm_min_epi16(_mm_max_epi16(x, _mm_setzero_si128()), _mm_set1_epi16(max));
            _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(clipped))
        }
    }
    /// Two vectors become one in every step, `a` in one half of the lanes and `b` in the other: a blend and a shuffle
    /// put the two operands of every addition opposite each other, whichever comes first, and blends, unlike shuffles,
    /// run on every port.
    #[inline(always)]
    fn reduce(self, x: [__m256; 8]) -> __m256 {
        compute!({
            // Lanes four apart: of `a` in the low half, of `b` in the high one.
            let fours = |a, b| _mm256_add_ps(_mm256_blend_ps::<0xF0>(a, b), _mm256_permute2f128_ps::<0x21>(a, b));
            // Two apart: in each half two lanes of `a`, two of `b`.
            let twos = |a, b| _mm256_add_ps(_mm256_blend_ps::<0xCC>(a, b), _mm256_shuffle_ps::<0b01_00_11_10>(a, b));
            let even = twos(fours(x[0], x[4]), fours(x[2], x[6]));
            let odd = twos(fours(x[1], x[5]), fours(x[3], x[7]));
            // Neighbours: lane 0 of `even` meets lane 1, and lane 1 of `odd` lane 0.
            let swapped = _mm256_permute_ps::<0b10_11_00_01>(_mm256_blend_ps::<0xAA>(odd, even));
            _mm256_add_ps(_mm256_blend_ps::<0xAA>(even, odd), swapped)
        })
    }
    #[inline(always)]
    fn reduce_one(self, x: __m256) -> f32 {
        compute!({
            let fours = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps::<1>(x));
            let twos = _mm_add_ps(fours, _mm_movehl_ps(fours, fours));
            _mm_cvtss_f32(_mm_add_ss(twos, _mm_movehdup_ps(twos)))
        })
    }
    const TILE: usize = 4;
}
