//! Byte products of VNNI: `vpdpbusd` multiplies four u8 by four i8 and adds all products to an i32 lane, without
//! saturation: exact for every u8. Signed inputs are moved up by 128 to be unsigned; what that adds, 128 times the sum
//! of the weights, is summed along and taken away.

use super::bytes::{four_groups, load_512, one_sum_a_row_512};
use super::compute;
use crate::kernels::vector::{Dense, LaneProducts};
use core::arch::x86_64::*;

/// u8 by i8.
#[derive(Clone, Copy)]
pub(super) struct Unsigned(());

impl Unsigned {
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
    #[inline]
    pub(super) fn new() -> Self {
        Self(())
    }
}

impl Dense for Unsigned {
    const ANY_U8: bool = true;
    load_512!();
    one_sum_a_row_512!();

    #[inline(always)]
    fn mac(self, sums: __m512i, x: u32, w: __m512i) -> __m512i {
        compute!(_mm512_dpbusd_epi32(sums, _mm512_set1_epi32(x as i32), w))
    }
    const HAS_GROUPS: bool = true;
    #[inline(always)]
    unsafe fn mac_groups(self, sums: __m512i, x: *const u8, w: __m512i) -> __m512i {
        // SAFETY: the caller vouches for sixteen bytes; the instruction set as in `compute`.
        unsafe { _mm512_dpbusd_epi32(sums, four_groups(x), w) }
    }
}

impl LaneProducts for Unsigned {
    #[inline(always)]
    fn mac_lanes(self, sums: __m512i, x: __m512i, w: __m512i) -> __m512i {
        compute!(_mm512_dpbusd_epi32(sums, x, w))
    }
}

/// i8 by i8.
#[derive(Clone, Copy)]
pub(super) struct Signed(());

impl Signed {
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
    #[inline]
    pub(super) fn new() -> Self {
        Self(())
    }
}

impl Dense for Signed {
    const ANY_U8: bool = true;
    load_512!();
    /// Of the moved inputs, and of the weights times 128.
    type Sums = [__m512i; 2];

    #[inline(always)]
    fn zero(self) -> Self::Sums {
        compute!([_mm512_setzero_si512(); 2])
    }
    #[inline(always)]
    fn mac(self, sums: Self::Sums, x: u32, w: __m512i) -> Self::Sums {
        compute!({
            let moved = _mm512_set1_epi32((x ^ 0x8080_8080) as i32);
            let excess = _mm512_set1_epi32(0x8080_8080_u32 as i32);
            [_mm512_dpbusd_epi32(sums[0], moved, w), _mm512_dpbusd_epi32(sums[1], excess, w)]
        })
    }
    #[inline(always)]
    fn add(self, a: Self::Sums, b: Self::Sums) -> Self::Sums {
        compute!([_mm512_add_epi32(a[0], b[0]), _mm512_add_epi32(a[1], b[1])])
    }
    #[inline(always)]
    fn rows(self, sums: Self::Sums) -> [i32; 16] {
        let mut rows = [0; 16];
        // SAFETY: the array has 64 bytes; the instruction set as in `compute`.
        unsafe { _mm512_storeu_si512(rows.as_mut_ptr().cast(), _mm512_sub_epi32(sums[0], sums[1])) };
        rows
    }
}
