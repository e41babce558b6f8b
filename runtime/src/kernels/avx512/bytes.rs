//! Byte products without VNNI, as AVX2 has them ([`crate::kernels::avx2`]) and twice as wide: `vpmaddubsw` is exact
//! for inputs up to 127 ([`Narrow`]), and two of its sums are added in i16 first where the weights' claim holds
//! ([`Paired`]). All other bytes are AVX2's.

use super::{Bw, compute};
use crate::kernels::vector::Dense;
use core::arch::x86_64::*;

/// Loads of weights, which all byte products of 512 bits share.
macro_rules! load_512 {
    () => {
        const ROWS: usize = 16;
        type Weights = __m512i;
        type Rows = [i32; 16];

        #[inline(always)]
        unsafe fn load(self, w: *const i8) -> __m512i {
            // SAFETY: the caller vouches for 64 bytes; the instruction set as in `compute`.
            unsafe { _mm512_loadu_si512(w.cast()) }
        }
        #[inline(always)]
        unsafe fn load_part(self, w: *const i8, rows: usize) -> __m512i {
            // SAFETY: only lanes below `rows` are read, for which the caller vouches; the instruction set as in
            // `compute`.
            unsafe { _mm512_maskz_loadu_epi32(((1u32 << rows) - 1) as u16, w.cast()) }
        }
    };
}
pub(super) use load_512;

/// One i32 a row.
macro_rules! one_sum_a_row_512 {
    () => {
        type Sums = __m512i;

        #[inline(always)]
        fn zero(self) -> __m512i {
            compute!(_mm512_setzero_si512())
        }
        #[inline(always)]
        fn add(self, a: __m512i, b: __m512i) -> __m512i {
            compute!(_mm512_add_epi32(a, b))
        }
        #[inline(always)]
        fn rows(self, sums: __m512i) -> [i32; 16] {
            let mut rows = [0; 16];
            // SAFETY: the array has 64 bytes; the instruction set as in `compute`.
            unsafe { _mm512_storeu_si512(rows.as_mut_ptr().cast(), sums) };
            rows
        }
    };
}
pub(super) use one_sum_a_row_512;

/// The first four inputs in all lanes of the first quarter, the next four in the second, and so on.
///
/// # Safety
/// Sixteen bytes can be read from `x`.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) unsafe fn four_groups(x: *const u8) -> __m512i {
    // SAFETY: the caller's.
    let four = unsafe { _mm_loadu_si128(x.cast()) };
    let each = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    _mm512_permutexvar_epi32(each, _mm512_broadcast_i32x4(four))
}

/// u8 up to 127 by i8.
#[derive(Clone, Copy)]
pub(super) struct Narrow(Bw);

impl Narrow {
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    #[inline]
    pub(super) fn new() -> Self {
        Self(Bw::new())
    }
}

impl Dense for Narrow {
    const ANY_U8: bool = false;
    load_512!();
    one_sum_a_row_512!();

    #[inline(always)]
    fn all_below_128(self, x: &[u8]) -> bool {
        let (vectors, rest) = x.as_chunks::<64>();
        let mut others = 0;
        for byte in rest {
            others |= byte;
        }
        // SAFETY: a vector has 64 bytes; the instruction set as in `compute`.
        unsafe {
            let mut union = _mm512_setzero_si512();
            for vector in vectors {
                union = _mm512_or_si512(union, _mm512_loadu_si512(vector.as_ptr().cast()));
            }
            _mm512_movepi8_mask(union) == 0 && others < 128
        }
    }
    #[inline(always)]
    fn mac(self, sums: __m512i, x: u32, w: __m512i) -> __m512i {
        compute!({
            let pairs = _mm512_maddubs_epi16(_mm512_set1_epi32(x as i32), w);
            _mm512_add_epi32(sums, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)))
        })
    }

    const HAS_GROUPS: bool = true;
    #[inline(always)]
    unsafe fn mac_groups(self, sums: __m512i, x: *const u8, w: __m512i) -> __m512i {
        // SAFETY: the caller vouches for sixteen bytes; the instruction set as in `compute`.
        unsafe {
            let pairs = _mm512_maddubs_epi16(four_groups(x), w);
            _mm512_add_epi32(sums, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)))
        }
    }
}

/// The same where the sums of two groups' pairs fit i16.
#[derive(Clone, Copy)]
pub(super) struct Paired(Narrow);

impl Paired {
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    #[inline]
    pub(super) fn new() -> Self {
        Self(Narrow::new())
    }
}

impl Dense for Paired {
    const ANY_U8: bool = false;
    load_512!();
    one_sum_a_row_512!();

    #[inline(always)]
    fn mac(self, sums: __m512i, x: u32, w: __m512i) -> __m512i {
        self.0.mac(sums, x, w)
    }
    #[inline(always)]
    fn mac2(self, sums: __m512i, x: [u32; 2], w: [__m512i; 2]) -> __m512i {
        compute!({
            let first = _mm512_maddubs_epi16(_mm512_set1_epi32(x[0] as i32), w[0]);
            let second = _mm512_maddubs_epi16(_mm512_set1_epi32(x[1] as i32), w[1]);
            let both = _mm512_add_epi16(first, second);
            _mm512_add_epi32(sums, _mm512_madd_epi16(both, _mm512_set1_epi16(1)))
        })
    }

    const HAS_GROUPS: bool = true;
    #[inline(always)]
    unsafe fn mac_groups(self, sums: __m512i, x: *const u8, w: __m512i) -> __m512i {
        // SAFETY: the caller's.
        unsafe { self.0.mac_groups(sums, x, w) }
    }
}
