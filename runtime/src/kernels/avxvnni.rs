//! AVX-VNNI: AVX2, and byte dot products in the VEX encoding, for processors without AVX-512.
//!
//! `vpdpbusd` multiplies four u8 by four i8 and adds all products to an i32 lane, without saturation: exact for every
//! u8. Signed inputs are moved up by 128 to be unsigned; what that adds, 128 times the sum of the weights, is summed
//! along and taken away.

use super::avx2::{self, Avx2, compute, load_256, one_sum_a_row, two_groups};
use super::vector::{ByteFilter, ByteTile, Dense, LaneProducts, tier};
use core::arch::x86_64::*;

tier!(
    /// The tier.
    KERNELS = "avxvnni" over avx2::KERNELS, module table,
    features #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,avxvnni")],
    narrow_bytes(simd Avx2, u7 Unsigned, paired Unsigned, u8 Unsigned, any all_bytes::affine_any),
    all_bytes(simd Avx2, u7 Unsigned, paired Unsigned, u8 Unsigned, i8 Signed),
    convolutions(
        simd Avx2, tile ByteTile::<_, u8, 2, 8>::new(Unsigned::new()),
        filter ByteFilter::<_, _, u8>::new(Avx2::new(), Unsigned::new())
    ),
    single_places(simd Avx2, tile ByteTile::<_, u8, 2, 8>::new(Unsigned::new()))
);

/// u8 by i8.
#[derive(Clone, Copy)]
struct Unsigned(());

impl Unsigned {
    #[target_feature(enable = "avx2,avxvnni")]
    #[inline]
    fn new() -> Self {
        Self(())
    }
}

impl Dense for Unsigned {
    const ANY_U8: bool = true;
    load_256!();
    one_sum_a_row!();

    #[inline(always)]
    fn mac(self, sums: __m256i, x: u32, w: __m256i) -> __m256i {
        compute!(_mm256_dpbusd_avx_epi32(sums, _mm256_set1_epi32(x as i32), w))
    }

    const HAS_GROUPS: bool = true;
    #[inline(always)]
    unsafe fn mac_groups(self, sums: __m256i, x: *const u8, w: __m256i) -> __m256i {
        // SAFETY: the caller vouches for eight bytes; the instruction set as in `compute`.
        unsafe { _mm256_dpbusd_avx_epi32(sums, two_groups(x), w) }
    }
}

impl LaneProducts for Unsigned {
    #[inline(always)]
    fn mac_lanes(self, sums: __m256i, x: __m256i, w: __m256i) -> __m256i {
        compute!(_mm256_dpbusd_avx_epi32(sums, x, w))
    }
}

/// i8 by i8.
#[derive(Clone, Copy)]
struct Signed(());

impl Signed {
    #[target_feature(enable = "avx2,avxvnni")]
    #[inline]
    fn new() -> Self {
        Self(())
    }
}

impl Dense for Signed {
    const ANY_U8: bool = true;
    load_256!();
    /// Of the moved inputs, and of the weights times 128.
    type Sums = [__m256i; 2];

    #[inline(always)]
    fn zero(self) -> Self::Sums {
        compute!([_mm256_setzero_si256(); 2])
    }
    #[inline(always)]
    fn mac(self, sums: Self::Sums, x: u32, w: __m256i) -> Self::Sums {
        compute!({
            let moved = _mm256_set1_epi32((x ^ 0x8080_8080) as i32);
            let excess = _mm256_set1_epi32(0x8080_8080_u32 as i32);
            [_mm256_dpbusd_avx_epi32(sums[0], moved, w), _mm256_dpbusd_avx_epi32(sums[1], excess, w)]
        })
    }
    #[inline(always)]
    fn add(self, a: Self::Sums, b: Self::Sums) -> Self::Sums {
        compute!([_mm256_add_epi32(a[0], b[0]), _mm256_add_epi32(a[1], b[1])])
    }
    #[inline(always)]
    fn rows(self, sums: Self::Sums) -> [i32; 8] {
        let mut rows = [0; 8];
        // SAFETY: the array has 32 bytes; the instruction set as in `compute`.
        unsafe { _mm256_storeu_si256(rows.as_mut_ptr().cast(), _mm256_sub_epi32(sums[0], sums[1])) };
        rows
    }
}
