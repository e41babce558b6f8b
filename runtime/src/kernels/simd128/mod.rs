//! SIMD of WebAssembly: vectors of 128 bits, for modules that are built with `simd128`.
//!
//! A module with these instructions is refused by an engine without them, so that the build decides, not the machine.
//! Nothing here needs the relaxed instructions, whose results may depend on the machine.
//! `bytes` has the products of bytes.

mod bytes;

use super::vector::{Reals, Simd, WordFilter, chunk_views, sparse, tier};
use bytemuck::{cast_mut, cast_ref};
use bytes::{Bytes, Signed, Unsigned};
use core::arch::wasm32::*;

tier!(
    /// The tier.
    KERNELS = "simd128", module table, features #[target_feature(enable = "simd128")],
    vectors(simd Simd128),
    reals(reals Simd128, columns Simd128),
    dots(simd Simd128),
    narrow_bytes(simd Simd128, u7 Bytes, paired Bytes, u8 Unsigned, any all_bytes::affine_any),
    all_bytes(simd Simd128, u7 Bytes, paired Bytes, u8 Unsigned, i8 Signed),
    convolutions(simd Simd128, tile Signed::new(), filter WordFilter::new(Simd128::new())),
    batches(u7 Bytes, u8 Unsigned, i8 Signed)
);

/// The instruction set.
#[derive(Clone, Copy)]
struct Simd128(());

impl Simd128 {
    const fn new() -> Self {
        Self(())
    }
}

#[inline(always)]
fn load_128<T, const N: usize>(x: &[T; N]) -> v128 {
    const { assert!(size_of::<[T; N]>() == 16) };
    // SAFETY: the array has 16 bytes.
    unsafe { v128_load(x.as_ptr().cast()) }
}

#[inline(always)]
fn store_128<T, const N: usize>(out: &mut [T; N], x: v128) {
    const { assert!(size_of::<[T; N]>() == 16) };
    // SAFETY: the array has 16 bytes, which are integers or reals of any bits.
    unsafe { v128_store(out.as_mut_ptr().cast(), x) }
}

impl Simd for Simd128 {
    type I16 = v128;
    type I32 = v128;

    chunk_views!(8);

    #[inline(always)]
    fn load(self, x: &[i16; 8]) -> v128 {
        load_128(x)
    }
    #[inline(always)]
    fn store(self, out: &mut [i16; 8], x: v128) {
        store_128(out, x);
    }
    #[inline(always)]
    fn load_bytes(self, x: &[i8; 8]) -> v128 {
        // SAFETY: the array has 8 bytes.
        unsafe { i16x8_load_extend_i8x8(x.as_ptr()) }
    }
    #[inline(always)]
    fn splat(self, x: i16) -> v128 {
        i16x8_splat(x)
    }
    #[inline(always)]
    fn add(self, a: v128, b: v128) -> v128 {
        i16x8_add(a, b)
    }
    #[inline(always)]
    fn sub(self, a: v128, b: v128) -> v128 {
        i16x8_sub(a, b)
    }
    #[inline(always)]
    fn min(self, a: v128, b: v128) -> v128 {
        i16x8_min(a, b)
    }
    #[inline(always)]
    fn max(self, a: v128, b: v128) -> v128 {
        i16x8_max(a, b)
    }
    #[inline(always)]
    fn xor(self, a: v128, b: v128) -> v128 {
        v128_xor(a, b)
    }
    #[inline(always)]
    fn or(self, a: v128, b: v128) -> v128 {
        v128_or(a, b)
    }
    #[inline(always)]
    fn mul_low(self, a: v128, b: v128) -> v128 {
        i16x8_mul(a, b)
    }
    #[inline(always)]
    fn mul_high(self, a: v128, b: v128) -> v128 {
        // Products in 32 bits; the odd i16 of both vectors are their high halves, in order.
        let (low, high) = (i32x4_extmul_low_i16x8(a, b), i32x4_extmul_high_i16x8(a, b));
        i16x8_shuffle::<1, 3, 5, 7, 9, 11, 13, 15>(low, high)
    }
    #[inline(always)]
    fn mul_round(self, a: v128, b: v128) -> v128 {
        i16x8_q15mulr_sat(a, b)
    }
    #[inline(always)]
    fn shift_left(self, x: v128, n: u32) -> v128 {
        i16x8_shl(x, n)
    }
    #[inline(always)]
    fn shift_right(self, x: v128, n: u32) -> v128 {
        u16x8_shr(x, n)
    }
    #[inline(always)]
    fn mul_add_pairs(self, a: v128, b: v128) -> v128 {
        i32x4_dot_i16x8(a, b)
    }
    #[inline(always)]
    fn store_bytes(self, out: &mut [u8; 16], low: v128, high: v128) {
        store_128(out, u8x16_narrow_i16x8(low, high));
    }

    #[inline(always)]
    fn zero32(self) -> v128 {
        i32x4_splat(0)
    }
    #[inline(always)]
    fn load32(self, x: &[i32; 4]) -> v128 {
        load_128(x)
    }
    #[inline(always)]
    fn store32(self, out: &mut [i32; 4], x: v128) {
        store_128(out, x);
    }
    #[inline(always)]
    fn splat32(self, x: i32) -> v128 {
        i32x4_splat(x)
    }
    #[inline(always)]
    fn add32(self, a: v128, b: v128) -> v128 {
        i32x4_add(a, b)
    }
    #[inline(always)]
    fn min32(self, a: v128, b: v128) -> v128 {
        i32x4_min(a, b)
    }
    #[inline(always)]
    fn max32(self, a: v128, b: v128) -> v128 {
        i32x4_max(a, b)
    }
    #[inline(always)]
    fn sum32(self, x: v128) -> i32 {
        let two = i32x4_add(x, i32x4_shuffle::<2, 3, 0, 1>(x, x));
        i32x4_extract_lane::<0>(two).wrapping_add(i32x4_extract_lane::<1>(two))
    }
    #[inline(always)]
    fn mul_high32(self, a: v128, b: v128) -> v128 {
        let (low, high) = (i64x2_extmul_low_i32x4(a, b), i64x2_extmul_high_i32x4(a, b));
        i32x4_shuffle::<1, 3, 5, 7>(low, high)
    }
    #[inline(always)]
    fn widen32(self, x: &[u8; 4]) -> v128 {
        u32x4_extend_low_u16x8(u16x8_extend_low_u8x16(u32x4_splat(u32::from_le_bytes(*x))))
    }
    /// There is no shift by a count for each lane.
    #[inline(always)]
    fn power_of_two32(self, n: v128) -> v128 {
        i32x4(
            1i32.wrapping_shl(u32x4_extract_lane::<0>(n)),
            1i32.wrapping_shl(u32x4_extract_lane::<1>(n)),
            1i32.wrapping_shl(u32x4_extract_lane::<2>(n)),
            1i32.wrapping_shl(u32x4_extract_lane::<3>(n)),
        )
    }
    #[inline(always)]
    fn shift_right32(self, x: v128, n: v128) -> v128 {
        i32x4(
            i32x4_extract_lane::<0>(x).wrapping_shr(u32x4_extract_lane::<0>(n)),
            i32x4_extract_lane::<1>(x).wrapping_shr(u32x4_extract_lane::<1>(n)),
            i32x4_extract_lane::<2>(x).wrapping_shr(u32x4_extract_lane::<2>(n)),
            i32x4_extract_lane::<3>(x).wrapping_shr(u32x4_extract_lane::<3>(n)),
        )
    }
    #[inline(always)]
    fn upper_halves32(self, x: v128) -> v128 {
        i32x4_shr(x, 16)
    }
    #[inline(always)]
    fn store_low_bytes32(self, out: &mut [u8; 4], x: v128) {
        let bytes = u8x16_shuffle::<0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12>(x, x);
        *out = u32x4_extract_lane::<0>(bytes).to_le_bytes();
    }

    #[inline(always)]
    fn nonzero_groups(self, x: &[u8; 16]) -> u32 {
        u32::from(i32x4_bitmask(i32x4_ne(load_128(x), i32x4_splat(0))))
    }
    type Group = u16;
    #[inline(always)]
    unsafe fn list(self, x: &[[u8; 16]], out: *mut u16) -> sparse::Found {
        // SAFETY: the caller's.
        unsafe { sparse::list_by_bits(self, x, out) }
    }
}

impl Reals for Simd128 {
    /// Lanes 0 to 3 and 4 to 7.
    type F32 = [v128; 2];

    #[inline(always)]
    fn load(self, x: &[f32; 8]) -> Self::F32 {
        cast_ref::<_, [[f32; 4]; 2]>(x).each_ref().map(load_128)
    }
    #[inline(always)]
    fn store(self, out: &mut [f32; 8], x: Self::F32) {
        let [low, high] = cast_mut::<_, [[f32; 4]; 2]>(out);
        store_128(low, x[0]);
        store_128(high, x[1]);
    }
    #[inline(always)]
    fn splat(self, x: f32) -> Self::F32 {
        [f32x4_splat(x); 2]
    }
    #[inline(always)]
    fn add(self, a: Self::F32, b: Self::F32) -> Self::F32 {
        [f32x4_add(a[0], b[0]), f32x4_add(a[1], b[1])]
    }
    #[inline(always)]
    fn mul(self, a: Self::F32, b: Self::F32) -> Self::F32 {
        [f32x4_mul(a[0], b[0]), f32x4_mul(a[1], b[1])]
    }
    /// A maximum would keep a NaN; a comparison is false for it and for zeros of either sign, and clears all bits.
    #[inline(always)]
    fn relu(self, x: Self::F32) -> Self::F32 {
        x.map(|x| v128_and(x, f32x4_gt(x, f32x4_splat(0.0))))
    }
    #[inline(always)]
    fn crelu(self, x: Self::F32) -> Self::F32 {
        self.relu(x).map(|x| f32x4_pmin(x, f32x4_splat(1.0)))
    }
    #[inline(always)]
    fn from_i32(self, x: &[i32; 8]) -> Self::F32 {
        cast_ref::<_, [[i32; 4]; 2]>(x).each_ref().map(|x| f32x4_convert_i32x4(load_128(x)))
    }
    #[inline(always)]
    fn from_clipped(self, x: &[i16; 8], max: i16) -> Self::F32 {
        let clipped = i16x8_min(i16x8_max(load_128(x), i16x8_splat(0)), i16x8_splat(max));
        [i32x4_extend_low_i16x8(clipped), i32x4_extend_high_i16x8(clipped)].map(|x| f32x4_convert_i32x4(x))
    }
    /// The first step adds a row's two vectors. Halves of two rows side by side make the second step one addition, and
    /// neighbours of four rows the last.
    #[inline(always)]
    fn reduce(self, x: [Self::F32; 8]) -> Self::F32 {
        let fours = |[low, high]: Self::F32| f32x4_add(low, high);
        let twos = |a, b| {
            let (a, b) = (fours(a), fours(b));
            f32x4_add(i64x2_shuffle::<0, 2>(a, b), i64x2_shuffle::<1, 3>(a, b))
        };
        let ones = |a, b| f32x4_add(i32x4_shuffle::<0, 2, 4, 6>(a, b), i32x4_shuffle::<1, 3, 5, 7>(a, b));
        [ones(twos(x[0], x[1]), twos(x[2], x[3])), ones(twos(x[4], x[5]), twos(x[6], x[7]))]
    }
}
