//! NEON of AArch64: vectors of 128 bits, without and with the dot-product instructions. `bytes` has the products of
//! bytes, `reals` the vocabulary of f32.

mod bytes;
mod reals;

use super::vector::{ByteFilter, ByteTile, Simd, WordFilter, chunk_views, sparse, tier};
use bytes::{Bytes, Dots, MovedBytes, MovedDots};
use core::arch::aarch64::*;

tier!(
    /// The tier of every processor with NEON.
    KERNELS = "neon", module table, features #[target_feature(enable = "neon")],
    vectors(simd Neon),
    reals(reals Neon, columns Neon),
    dots(simd Neon),
    narrow_bytes(simd Neon, u7 Bytes<true>, paired Bytes<true>, u8 MovedBytes, any all_bytes::affine_any),
    all_bytes(simd Neon, u7 Bytes<true>, paired Bytes<true>, u8 MovedBytes, i8 Bytes<false>),
    convolutions(
        simd Neon, tile ByteTile::<_, i8, 2, 8>::new(Bytes::<false>::new()),
        filter WordFilter::new(Neon::new())
    ),
    single_places(simd Neon, tile ByteTile::<_, i8, 2, 8>::new(Bytes::<false>::new())),
    batches(u7 Bytes<true>, u8 MovedBytes, i8 Bytes<false>)
);

tier!(
    /// The tier of processors with dot products.
    DOTPROD = "neon+dotprod" over super::KERNELS, module dotprod_table,
    features #[target_feature(enable = "neon,dotprod")],
    narrow_bytes(simd Neon, u7 Dots, paired Dots, u8 MovedDots, any all_bytes::affine_any),
    all_bytes(simd Neon, u7 Dots, paired Dots, u8 MovedDots, i8 Dots),
    convolutions(
        simd Neon, tile ByteTile::<_, i8, 2, 16>::new(Dots::new()),
        filter ByteFilter::<_, _, i8>::new(Neon::new(), Dots::new())
    ),
    single_places(simd Neon, tile ByteTile::<_, i8, 2, 16>::new(Dots::new()))
);

/// Calls of intrinsics that only compute.
macro_rules! compute {
    ($expression:expr) => {
        // SAFETY: a value of this type is made only inside functions that enable the instruction set.
        unsafe { $expression }
    };
}
use compute;

/// The instruction set.
#[derive(Clone, Copy)]
struct Neon(());

impl Neon {
    #[target_feature(enable = "neon")]
    #[inline]
    fn new() -> Self {
        Self(())
    }
}

impl Simd for Neon {
    type I16 = int16x8_t;
    type I32 = int32x4_t;

    chunk_views!(8);

    #[inline(always)]
    fn load(self, x: &[i16; 8]) -> int16x8_t {
        // SAFETY: the array has 16 bytes; NEON as in `compute`.
        unsafe { vld1q_s16(x.as_ptr()) }
    }
    #[inline(always)]
    fn store(self, out: &mut [i16; 8], x: int16x8_t) {
        // SAFETY: the array has 16 bytes; NEON as in `compute`.
        unsafe { vst1q_s16(out.as_mut_ptr(), x) }
    }
    #[inline(always)]
    fn load_bytes(self, x: &[i8; 8]) -> int16x8_t {
        // SAFETY: the array has 8 bytes; NEON as in `compute`.
        unsafe { vmovl_s8(vld1_s8(x.as_ptr())) }
    }
    #[inline(always)]
    fn splat(self, x: i16) -> int16x8_t {
        compute!(vdupq_n_s16(x))
    }
    #[inline(always)]
    fn add(self, a: int16x8_t, b: int16x8_t) -> int16x8_t {
        compute!(vaddq_s16(a, b))
    }
    #[inline(always)]
    fn sub(self, a: int16x8_t, b: int16x8_t) -> int16x8_t {
        compute!(vsubq_s16(a, b))
    }
    #[inline(always)]
    fn min(self, a: int16x8_t, b: int16x8_t) -> int16x8_t {
        compute!(vminq_s16(a, b))
    }
    #[inline(always)]
    fn max(self, a: int16x8_t, b: int16x8_t) -> int16x8_t {
        compute!(vmaxq_s16(a, b))
    }
    #[inline(always)]
    fn xor(self, a: int16x8_t, b: int16x8_t) -> int16x8_t {
        compute!(veorq_s16(a, b))
    }
    #[inline(always)]
    fn or(self, a: int16x8_t, b: int16x8_t) -> int16x8_t {
        compute!(vorrq_s16(a, b))
    }
    #[inline(always)]
    fn mul_low(self, a: int16x8_t, b: int16x8_t) -> int16x8_t {
        compute!(vmulq_s16(a, b))
    }
    #[inline(always)]
    fn mul_high(self, a: int16x8_t, b: int16x8_t) -> int16x8_t {
        // Products in 32 bits; the odd i16 of both vectors are their high halves, in order.
        compute!({
            let low = vmull_s16(vget_low_s16(a), vget_low_s16(b));
            vuzp2q_s16(vreinterpretq_s16_s32(low), vreinterpretq_s16_s32(vmull_high_s16(a, b)))
        })
    }
    #[inline(always)]
    fn mul_round(self, a: int16x8_t, b: int16x8_t) -> int16x8_t {
        compute!(vqrdmulhq_s16(a, b))
    }
    #[inline(always)]
    fn shift_left(self, x: int16x8_t, n: u32) -> int16x8_t {
        compute!(vshlq_s16(x, vdupq_n_s16(n as i16)))
    }
    #[inline(always)]
    fn shift_right(self, x: int16x8_t, n: u32) -> int16x8_t {
        // A shift to the left by a negative count.
        compute!(vreinterpretq_s16_u16(vshlq_u16(vreinterpretq_u16_s16(x), vdupq_n_s16(-(n as i16)))))
    }
    #[inline(always)]
    fn mul_add_pairs(self, a: int16x8_t, b: int16x8_t) -> int32x4_t {
        compute!(vpaddq_s32(vmull_s16(vget_low_s16(a), vget_low_s16(b)), vmull_high_s16(a, b)))
    }
    /// Products four apart, not neighbours, share a lane.
    #[inline(always)]
    fn add_products(self, sums: int32x4_t, a: int16x8_t, b: int16x8_t) -> int32x4_t {
        compute!(vmlal_high_s16(vmlal_s16(sums, vget_low_s16(a), vget_low_s16(b)), a, b))
    }
    #[inline(always)]
    fn store_bytes(self, out: &mut [u8; 16], low: int16x8_t, high: int16x8_t) {
        // SAFETY: the array has 16 bytes; NEON as in `compute`.
        unsafe { vst1q_u8(out.as_mut_ptr(), vqmovun_high_s16(vqmovun_s16(low), high)) }
    }

    #[inline(always)]
    fn zero32(self) -> int32x4_t {
        compute!(vdupq_n_s32(0))
    }
    #[inline(always)]
    fn load32(self, x: &[i32; 4]) -> int32x4_t {
        // SAFETY: the array has 16 bytes; NEON as in `compute`.
        unsafe { vld1q_s32(x.as_ptr()) }
    }
    #[inline(always)]
    fn store32(self, out: &mut [i32; 4], x: int32x4_t) {
        // SAFETY: the array has 16 bytes; NEON as in `compute`.
        unsafe { vst1q_s32(out.as_mut_ptr(), x) }
    }
    #[inline(always)]
    fn splat32(self, x: i32) -> int32x4_t {
        compute!(vdupq_n_s32(x))
    }
    #[inline(always)]
    fn add32(self, a: int32x4_t, b: int32x4_t) -> int32x4_t {
        compute!(vaddq_s32(a, b))
    }
    #[inline(always)]
    fn min32(self, a: int32x4_t, b: int32x4_t) -> int32x4_t {
        compute!(vminq_s32(a, b))
    }
    #[inline(always)]
    fn max32(self, a: int32x4_t, b: int32x4_t) -> int32x4_t {
        compute!(vmaxq_s32(a, b))
    }
    #[inline(always)]
    fn sum32(self, x: int32x4_t) -> i32 {
        compute!(vaddvq_s32(x))
    }
    #[inline(always)]
    fn mul_high32(self, a: int32x4_t, b: int32x4_t) -> int32x4_t {
        compute!({
            let low = vmull_s32(vget_low_s32(a), vget_low_s32(b));
            vuzp2q_s32(vreinterpretq_s32_s64(low), vreinterpretq_s32_s64(vmull_high_s32(a, b)))
        })
    }
    #[inline(always)]
    fn round_sums32(self, a: [int32x4_t; 2], c: [int32x4_t; 2], n: int32x4_t, low: i32, high: i32) -> int32x4_t {
        compute!({
            let n = vnegq_s32(n);
            let left = vmull_s32(vget_low_s32(a[0]), vget_low_s32(a[1]));
            let left = vmlal_s32(left, vget_low_s32(c[0]), vget_low_s32(c[1]));
            let right = vmlal_high_s32(vmull_high_s32(a[0], a[1]), c[0], c[1]);
            let left = vrshlq_s64(left, vmovl_s32(vget_low_s32(n)));
            // What i32 does not hold lies beyond the limits too.
            let sums = vqmovn_high_s64(vqmovn_s64(left), vrshlq_s64(right, vmovl_high_s32(n)));
            vminq_s32(vmaxq_s32(sums, vdupq_n_s32(low)), vdupq_n_s32(high))
        })
    }
    #[inline(always)]
    fn widen32(self, x: &[u8; 4]) -> int32x4_t {
        compute!({
            let bytes = vreinterpret_u8_u32(vdup_n_u32(u32::from_le_bytes(*x)));
            vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(vmovl_u8(bytes))))
        })
    }
    #[inline(always)]
    fn power_of_two32(self, n: int32x4_t) -> int32x4_t {
        compute!(vshlq_s32(vdupq_n_s32(1), n))
    }
    #[inline(always)]
    fn shift_right32(self, x: int32x4_t, n: int32x4_t) -> int32x4_t {
        compute!(vshlq_s32(x, vnegq_s32(n)))
    }
    #[inline(always)]
    fn store_low_bytes32(self, out: &mut [u8; 4], x: int32x4_t) {
        let bytes = compute!({
            let halves = vmovn_s32(x);
            vget_lane_u32::<0>(vreinterpret_u32_s8(vmovn_s16(vcombine_s16(halves, halves))))
        });
        *out = bytes.to_le_bytes();
    }

    #[inline(always)]
    fn store_clamped(self, out: &mut [[u8; 4]; 4], x: [int32x4_t; 4], low: u8, high: u8) {
        // SAFETY: the arrays have 16 bytes; NEON as in `compute`.
        unsafe {
            // What saturation cuts off is beyond the clamp anyway.
            let halves = [vqmovn_high_s32(vqmovn_s32(x[0]), x[1]), vqmovn_high_s32(vqmovn_s32(x[2]), x[3])];
            let bytes = vqmovun_high_s16(vqmovun_s16(halves[0]), halves[1]);
            let bytes = vminq_u8(vmaxq_u8(bytes, vdupq_n_u8(low)), vdupq_n_u8(high));
            vst1q_u8(out.as_mut_ptr().cast(), bytes);
        }
    }

    #[inline(always)]
    fn nonzero_groups(self, x: &[u8; 16]) -> u32 {
        // SAFETY: both arrays have 16 bytes; NEON as in `compute`.
        unsafe {
            let groups = vreinterpretq_u32_u8(vld1q_u8(x.as_ptr()));
            let bits = vld1q_u32([1, 2, 4, 8].as_ptr());
            vaddvq_u32(vbicq_u32(bits, vceqzq_u32(groups)))
        }
    }
    type Group = u16;
    #[inline(always)]
    unsafe fn list(self, x: &[[u8; 16]], out: *mut u16) -> sparse::Found {
        // SAFETY: the caller's.
        unsafe { sparse::list_by_bits(self, x, out) }
    }
}
