//! The products of convolutions without VNNI, as AVX2 has them and twice as wide: inputs are i16 without their zero
//! point, weights are widened to i16 once for all pixels of a tile, and two `vpmaddwd` multiply four inputs by the
//! weights of sixteen outputs.

use super::{Bw, compute};
use crate::kernels::vector::tile::Tile;
use core::arch::x86_64::*;

/// i16 by i8.
#[derive(Clone, Copy)]
pub(super) struct Pairs(Bw);

impl Pairs {
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    #[inline]
    pub(super) fn new() -> Self {
        Self(Bw::new())
    }
}

impl Tile for Pairs {
    type Input = i16;
    const ROWS: usize = 16;
    const VECTORS: usize = 1;
    const SUMS: usize = 8;
    /// Of outputs 0 to 7 and 8 to 15, four i16 each.
    type Weights = [__m512i; 2];
    /// Two i32 each.
    type Sums = [__m512i; 2];
    type Rows = [i32; 16];
    type Finish = ();

    #[inline(always)]
    fn zero(self) -> Self::Sums {
        compute!([_mm512_setzero_si512(); 2])
    }
    #[inline(always)]
    unsafe fn load(self, w: *const i8) -> Self::Weights {
        // SAFETY: the caller vouches for 64 bytes; the instruction set as in `compute`.
        unsafe {
            [
                _mm512_cvtepi8_epi16(_mm256_loadu_si256(w.cast())),
                _mm512_cvtepi8_epi16(_mm256_loadu_si256(w.add(32).cast())),
            ]
        }
    }
    #[inline(always)]
    fn merge(self, a: Self::Sums, b: Self::Sums) -> Self::Sums {
        compute!([_mm512_add_epi32(a[0], b[0]), _mm512_add_epi32(a[1], b[1])])
    }
    #[inline(always)]
    unsafe fn load_part(self, w: *const i8, rows: usize) -> Self::Weights {
        // SAFETY: only lanes below `rows` are read, for which the caller vouches; the instruction set as in `compute`.
        unsafe { widen(_mm512_maskz_loadu_epi32(((1u32 << rows) - 1) as u16, w.cast())) }
    }
    #[inline(always)]
    unsafe fn mac(self, sums: Self::Sums, x: *const i16, w: Self::Weights) -> Self::Sums {
        // SAFETY: the caller vouches for four i16; the instruction set as in `compute`.
        unsafe {
            let x = _mm512_set1_epi64(x.cast::<i64>().read_unaligned());
            [
                _mm512_add_epi32(sums[0], _mm512_madd_epi16(x, w[0])),
                _mm512_add_epi32(sums[1], _mm512_madd_epi16(x, w[1])),
            ]
        }
    }
    #[inline(always)]
    fn rows(self, sums: Self::Sums) -> [i32; 16] {
        compute!(whole_rows(sums))
    }
}

/// The weights of rows 0 to 7 and 8 to 15, widened.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn widen(w: __m512i) -> [__m512i; 2] {
    [_mm512_cvtepi8_epi16(_mm512_castsi512_si256(w)), _mm512_cvtepi8_epi16(_mm512_extracti64x4_epi64::<1>(w))]
}

/// Neighbouring lanes of rows 0 to 7 and 8 to 15, added.
#[target_feature(enable = "avx512f")]
#[inline]
fn whole_rows(sums: [__m512i; 2]) -> [i32; 16] {
    let even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    let odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
    let even = _mm512_permutex2var_epi32(sums[0], even, sums[1]);
    let odd = _mm512_permutex2var_epi32(sums[0], odd, sums[1]);
    let mut rows = [0; 16];
    // SAFETY: the array has 64 bytes.
    unsafe { _mm512_storeu_si512(rows.as_mut_ptr().cast(), _mm512_add_epi32(even, odd)) };
    rows
}
