//! The products of convolutions: inputs are i16 without their zero point, weights are widened to i16 once for all
//! pixels of a tile, and two `vpmaddwd` multiply four inputs by the weights of eight outputs.

use super::finish::PairsFinish;
use super::{Avx2, compute};
use crate::kernels::vector::tile::Tile;
use core::arch::x86_64::*;

/// i16 by i8.
#[derive(Clone, Copy)]
pub(super) struct Pairs(Avx2);

impl Pairs {
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    #[inline]
    pub(super) fn new() -> Self {
        Self(Avx2::new())
    }
}

impl Tile for Pairs {
    type Input = i16;
    const ROWS: usize = 8;
    const VECTORS: usize = 1;
    const SUMS: usize = 4;
    const SIX: bool = true;
    const FETCHES: bool = true;
    /// Of outputs 0 to 3 and 4 to 7, four i16 each.
    type Weights = [__m256i; 2];
    /// Two i32 each.
    type Sums = [__m256i; 2];
    type Rows = [i32; 8];
    type Finish = PairsFinish;

    #[inline(always)]
    fn zero(self) -> Self::Sums {
        compute!([_mm256_setzero_si256(); 2])
    }
    #[inline(always)]
    unsafe fn load(self, w: *const i8) -> Self::Weights {
        // SAFETY: the caller vouches for 32 bytes; AVX2 as in `compute`.
        unsafe {
            [_mm256_cvtepi8_epi16(_mm_loadu_si128(w.cast())), _mm256_cvtepi8_epi16(_mm_loadu_si128(w.add(16).cast()))]
        }
    }
    #[inline(always)]
    fn merge(self, a: Self::Sums, b: Self::Sums) -> Self::Sums {
        compute!([_mm256_add_epi32(a[0], b[0]), _mm256_add_epi32(a[1], b[1])])
    }
    /// Four rows are the one part of eight.
    #[inline(always)]
    unsafe fn load_part(self, w: *const i8, _: usize) -> Self::Weights {
        // SAFETY: the caller vouches for 16 bytes; AVX2 as in `compute`.
        unsafe { [_mm256_cvtepi8_epi16(_mm_loadu_si128(w.cast())), _mm256_setzero_si256()] }
    }
    #[inline(always)]
    unsafe fn mac(self, sums: Self::Sums, x: *const i16, w: Self::Weights) -> Self::Sums {
        // SAFETY: the caller vouches for four i16; AVX2 as in `compute`.
        unsafe {
            let x = _mm256_set1_epi64x(x.cast::<i64>().read_unaligned());
            [
                _mm256_add_epi32(sums[0], _mm256_madd_epi16(x, w[0])),
                _mm256_add_epi32(sums[1], _mm256_madd_epi16(x, w[1])),
            ]
        }
    }
    #[inline(always)]
    fn rows(self, sums: Self::Sums) -> [i32; 8] {
        let mut rows = [0; 8];
        // Horizontal addition works in halves: rows 0 1 4 5, 2 3 6 7.
        // SAFETY: the array has 32 bytes; AVX2 as in `compute`.
        unsafe {
            let both = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_hadd_epi32(sums[0], sums[1]));
            _mm256_storeu_si256(rows.as_mut_ptr().cast(), both);
        }
        rows
    }
}
