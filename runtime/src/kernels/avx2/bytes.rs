//! Byte products of AVX2: `vpmaddubsw` multiplies u8 by i8 and adds neighbours *with saturation* in i16.
//!
//! With inputs up to 127 nothing saturates (2 · 127 · 128 < 2¹⁵), so that form is exact and `vpmaddwd` with ones widens
//! the pairs into i32 ([`Narrow`]). Where four weights of a row fit the claim, two of those sums are added in i16 first
//! ([`Paired`]). All other bytes are widened to i16 before they are multiplied ([`Wide`]).

use super::{Avx2, compute};
use crate::kernels::vector::Dense;
use core::arch::x86_64::*;

/// Loads of weights, which all byte products of 256 bits share.
macro_rules! load_256 {
    () => {
        const ROWS: usize = 8;
        type Weights = __m256i;
        type Rows = [i32; 8];

        #[inline(always)]
        unsafe fn load(self, w: *const i8) -> __m256i {
            // SAFETY: the caller vouches for 32 bytes; the instruction set as in `compute`.
            unsafe { _mm256_loadu_si256(w.cast()) }
        }
        #[inline(always)]
        unsafe fn load_part(self, w: *const i8, rows: usize) -> __m256i {
            // SAFETY: only lanes below `rows` are read, for which the caller vouches; the instruction set as in
            // `compute`.
            unsafe {
                let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
                _mm256_maskload_epi32(w.cast(), _mm256_cmpgt_epi32(_mm256_set1_epi32(rows as i32), lanes))
            }
        }
    };
}
#[cfg(feature = "avxvnni")]
pub(in crate::kernels) use load_256;

/// u8 up to 127 by i8.
#[derive(Clone, Copy)]
pub(super) struct Narrow(Avx2);

impl Narrow {
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    #[inline]
    pub(super) fn new() -> Self {
        Self(Avx2::new())
    }
}

/// One i32 a row.
macro_rules! one_sum_a_row {
    () => {
        type Sums = __m256i;

        #[inline(always)]
        fn zero(self) -> __m256i {
            compute!(_mm256_setzero_si256())
        }
        #[inline(always)]
        fn add(self, a: __m256i, b: __m256i) -> __m256i {
            compute!(_mm256_add_epi32(a, b))
        }
        #[inline(always)]
        fn rows(self, sums: __m256i) -> [i32; 8] {
            let mut rows = [0; 8];
            // SAFETY: the array has 32 bytes; the instruction set as in `compute`.
            unsafe { _mm256_storeu_si256(rows.as_mut_ptr().cast(), sums) };
            rows
        }
    };
}
#[cfg(feature = "avxvnni")]
pub(in crate::kernels) use one_sum_a_row;

impl Dense for Narrow {
    const ANY_U8: bool = false;
    const FETCHES: bool = true;
    load_256!();
    one_sum_a_row!();

    #[inline(always)]
    fn all_below_128(self, x: &[u8]) -> bool {
        let (vectors, rest) = x.as_chunks::<32>();
        let mut others = 0;
        for byte in rest {
            others |= byte;
        }
        // SAFETY: a vector has 32 bytes; the instruction set as in `compute`.
        unsafe {
            let mut union = _mm256_setzero_si256();
            for vector in vectors {
                union = _mm256_or_si256(union, _mm256_loadu_si256(vector.as_ptr().cast()));
            }
            _mm256_movemask_epi8(union) == 0 && others < 128
        }
    }
    #[inline(always)]
    fn mac(self, sums: __m256i, x: u32, w: __m256i) -> __m256i {
        compute!({
            let pairs = _mm256_maddubs_epi16(_mm256_set1_epi32(x as i32), w);
            _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)))
        })
    }

    const HAS_GROUPS: bool = true;
    #[inline(always)]
    unsafe fn mac_groups(self, sums: __m256i, x: *const u8, w: __m256i) -> __m256i {
        // SAFETY: the caller vouches for eight bytes; the instruction set as in `compute`.
        unsafe {
            let pairs = _mm256_maddubs_epi16(two_groups(x), w);
            _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)))
        }
    }
}

/// Four inputs in each lane of the low half, the next four in each of the high one.
///
/// # Safety
/// Eight bytes can be read from `x`.
#[target_feature(enable = "avx2")]
#[inline]
pub(in crate::kernels) unsafe fn two_groups(x: *const u8) -> __m256i {
    // SAFETY: the caller's.
    let eight = unsafe { x.cast::<i64>().read_unaligned() };
    _mm256_permutevar8x32_epi32(_mm256_set1_epi64x(eight), _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1))
}

/// The same where the sums of two groups' pairs fit i16.
#[derive(Clone, Copy)]
pub(super) struct Paired(Narrow);

impl Paired {
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    #[inline]
    pub(super) fn new() -> Self {
        Self(Narrow::new())
    }
}

impl Dense for Paired {
    const ANY_U8: bool = false;
    const FETCHES: bool = true;
    load_256!();
    one_sum_a_row!();

    #[inline(always)]
    fn mac(self, sums: __m256i, x: u32, w: __m256i) -> __m256i {
        self.0.mac(sums, x, w)
    }
    #[inline(always)]
    fn mac2(self, sums: __m256i, x: [u32; 2], w: [__m256i; 2]) -> __m256i {
        compute!({
            let first = _mm256_maddubs_epi16(_mm256_set1_epi32(x[0] as i32), w[0]);
            let second = _mm256_maddubs_epi16(_mm256_set1_epi32(x[1] as i32), w[1]);
            let both = _mm256_add_epi16(first, second);
            _mm256_add_epi32(sums, _mm256_madd_epi16(both, _mm256_set1_epi16(1)))
        })
    }

    const HAS_GROUPS: bool = true;
    #[inline(always)]
    unsafe fn mac_groups(self, sums: __m256i, x: *const u8, w: __m256i) -> __m256i {
        // SAFETY: the caller's.
        unsafe { self.0.mac_groups(sums, x, w) }
    }
}

/// Any byte, signed or not, by i8, widened to i16.
#[derive(Clone, Copy)]
pub(in crate::kernels) struct Wide<const SIGNED: bool>(());

impl<const SIGNED: bool> Wide<SIGNED> {
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    #[inline]
    pub(in crate::kernels) fn new() -> Self {
        Self(())
    }
}

impl<const SIGNED: bool> Dense for Wide<SIGNED> {
    const ANY_U8: bool = true;
    const FETCHES: bool = true;
    load_256!();
    /// Rows 0 to 3 and rows 4 to 7, two i32 each.
    type Sums = [__m256i; 2];

    #[inline(always)]
    fn zero(self) -> Self::Sums {
        compute!([_mm256_setzero_si256(); 2])
    }
    #[inline(always)]
    fn mac(self, sums: Self::Sums, x: u32, w: __m256i) -> Self::Sums {
        compute!({
            let four = _mm_cvtsi32_si128(x as i32);
            let wide = if SIGNED { _mm_cvtepi8_epi16(four) } else { _mm_cvtepu8_epi16(four) };
            let x = _mm256_broadcastq_epi64(wide);
            let low = _mm256_cvtepi8_epi16(_mm256_castsi256_si128(w));
            let high = _mm256_cvtepi8_epi16(_mm256_extracti128_si256::<1>(w));
            [
                _mm256_add_epi32(sums[0], _mm256_madd_epi16(x, low)),
                _mm256_add_epi32(sums[1], _mm256_madd_epi16(x, high)),
            ]
        })
    }
    #[inline(always)]
    fn add(self, a: Self::Sums, b: Self::Sums) -> Self::Sums {
        compute!([_mm256_add_epi32(a[0], b[0]), _mm256_add_epi32(a[1], b[1])])
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
