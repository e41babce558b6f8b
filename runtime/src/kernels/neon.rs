//! NEON of AArch64: vectors of 128 bits, without and with the dot-product instructions.
//!
//! Byte products without them: `smull` multiplies eight i8 by eight i8 into i16, `sadalp` adds neighbours into i32,
//! exact for every i8 ([`Bytes`]). With inputs up to 127 the products of two groups are added in i16 first, since 2 ·
//! 127 · 128 < 2¹⁵. With them: `sdot` multiplies four i8 by four i8 and adds all products to an i32 lane ([`Dots`]).
//!
//! Both multiply i8 only. Inputs above 127 are moved down by 128 to be signed; what that takes away, 128 times the sum
//! of the weights, is summed along and given back.

use super::vector::{Dense, Reals, Simd, chunk_views, sparse, tier};
use core::arch::aarch64::*;
use core::arch::asm;

tier!(
    /// The tier of every processor with NEON.
    KERNELS = "neon", module table, features #[target_feature(enable = "neon")],
    simd Neon, reals Neon, columns Neon, u7 Bytes<true>, paired Bytes<true>, u8 MovedBytes, i8 Bytes<false>
);

tier!(
    /// The tier of processors with dot products.
    DOTPROD = "neon+dotprod", module dotprod_table, features #[target_feature(enable = "neon,dotprod")],
    simd Neon, reals Neon, columns Neon, u7 Dots, paired Dots, u8 MovedDots, i8 Dots
);

/// Calls of intrinsics that only compute.
macro_rules! compute {
    ($expression:expr) => {
        // SAFETY: a value of this type is made only inside functions that enable the instruction set.
        unsafe { $expression }
    };
}

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

impl Reals for Neon {
    /// Lanes 0 to 3 and 4 to 7.
    type F32 = [float32x4_t; 2];

    #[inline(always)]
    fn load(self, x: &[f32; 8]) -> Self::F32 {
        // SAFETY: the array has twice 16 bytes; NEON as in `compute`.
        unsafe { [vld1q_f32(x.as_ptr()), vld1q_f32(x.as_ptr().add(4))] }
    }
    #[inline(always)]
    fn store(self, out: &mut [f32; 8], x: Self::F32) {
        // SAFETY: the array has twice 16 bytes; NEON as in `compute`.
        unsafe {
            vst1q_f32(out.as_mut_ptr(), x[0]);
            vst1q_f32(out.as_mut_ptr().add(4), x[1]);
        }
    }
    #[inline(always)]
    fn splat(self, x: f32) -> Self::F32 {
        compute!([vdupq_n_f32(x); 2])
    }
    #[inline(always)]
    fn add(self, a: Self::F32, b: Self::F32) -> Self::F32 {
        compute!([vaddq_f32(a[0], b[0]), vaddq_f32(a[1], b[1])])
    }
    #[inline(always)]
    fn mul(self, a: Self::F32, b: Self::F32) -> Self::F32 {
        compute!([vmulq_f32(a[0], b[0]), vmulq_f32(a[1], b[1])])
    }
    /// FMAX would keep a NaN; a comparison is false for it and for zeros of either sign, and clears all bits.
    #[inline(always)]
    fn relu(self, x: Self::F32) -> Self::F32 {
        let four = |x| compute!(vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(x), vcgtzq_f32(x))));
        [four(x[0]), four(x[1])]
    }
    #[inline(always)]
    fn crelu(self, x: Self::F32) -> Self::F32 {
        let [low, high] = self.relu(x);
        compute!([vminq_f32(low, vdupq_n_f32(1.0)), vminq_f32(high, vdupq_n_f32(1.0))])
    }
    #[inline(always)]
    fn from_i32(self, x: &[i32; 8]) -> Self::F32 {
        // SAFETY: the array has twice 16 bytes; NEON as in `compute`.
        unsafe { [vcvtq_f32_s32(vld1q_s32(x.as_ptr())), vcvtq_f32_s32(vld1q_s32(x.as_ptr().add(4)))] }
    }
    #[inline(always)]
    fn from_clipped(self, x: &[i16; 8], max: i16) -> Self::F32 {
        // SAFETY: the array has 16 bytes; NEON as in `compute`.
        unsafe {
            let clipped = vminq_s16(vmaxq_s16(vld1q_s16(x.as_ptr()), vdupq_n_s16(0)), vdupq_n_s16(max));
            [vcvtq_f32_s32(vmovl_s16(vget_low_s16(clipped))), vcvtq_f32_s32(vmovl_high_s16(clipped))]
        }
    }
    /// The first step adds a row's two vectors. Halves of two rows side by side make the second step one addition; the
    /// last adds neighbours, of four rows at a time.
    #[inline(always)]
    fn reduce(self, x: [Self::F32; 8]) -> Self::F32 {
        compute!({
            let fours = |[low, high]: Self::F32| vreinterpretq_f64_f32(vaddq_f32(low, high));
            let twos = |a, b| {
                let (a, b) = (fours(a), fours(b));
                vaddq_f32(vreinterpretq_f32_f64(vzip1q_f64(a, b)), vreinterpretq_f32_f64(vzip2q_f64(a, b)))
            };
            [vpaddq_f32(twos(x[0], x[1]), twos(x[2], x[3])), vpaddq_f32(twos(x[4], x[5]), twos(x[6], x[7]))]
        })
    }
}

/// Loads of weights, which all byte products have alike.
macro_rules! load_128 {
    () => {
        const ROWS: usize = 4;
        type Weights = int8x16_t;
        type Rows = [i32; 4];

        #[inline(always)]
        unsafe fn load(self, w: *const i8) -> int8x16_t {
            // SAFETY: the caller vouches for 16 bytes; the instruction set as in `compute`.
            unsafe { vld1q_s8(w) }
        }
        /// The multiple of four below four is no row.
        #[inline(always)]
        unsafe fn load_part(self, _: *const i8, _: usize) -> int8x16_t {
            compute!(vdupq_n_s8(0))
        }
    };
}

/// Four inputs in every lane of 32 bits.
#[inline(always)]
fn broadcast(x: u32) -> int8x16_t {
    // SAFETY: only what multiplies bytes calls this, and a value of its type is made only inside functions with NEON.
    unsafe { vreinterpretq_s8_u32(vdupq_n_u32(x)) }
}

/// The same with halves that the compiler cannot know to be equal. Where it knows, it multiplies high halves by the low
/// one, and needs an instruction to bring each down that `smull2` would not.
#[inline(always)]
fn broadcast_halves(x: u32) -> int8x16_t {
    let mut x = broadcast(x);
    // SAFETY: no instruction; the register is read and written as it is.
    unsafe { asm!("// {x:v}", x = inout(vreg) x, options(pure, nomem, nostack, preserves_flags)) };
    x
}

#[inline(always)]
fn rows(sums: int32x4_t) -> [i32; 4] {
    let mut rows = [0; 4];
    // SAFETY: the array has 16 bytes; NEON as in `broadcast`.
    unsafe { vst1q_s32(rows.as_mut_ptr(), sums) };
    rows
}

/// i8 by i8; with `BELOW_128` inputs are 0 to 127, and two groups share the additions into i32.
#[derive(Clone, Copy)]
struct Bytes<const BELOW_128: bool>(());

impl<const BELOW_128: bool> Bytes<BELOW_128> {
    #[target_feature(enable = "neon")]
    #[inline]
    fn new() -> Self {
        Self(())
    }
}

impl<const BELOW_128: bool> Dense for Bytes<BELOW_128> {
    const ANY_U8: bool = false;
    load_128!();
    /// Rows 0 and 1 and rows 2 and 3, two i32 each.
    type Sums = [int32x4_t; 2];

    #[inline(always)]
    fn zero(self) -> Self::Sums {
        compute!([vdupq_n_s32(0); 2])
    }
    #[inline(always)]
    fn mac(self, sums: Self::Sums, x: u32, w: int8x16_t) -> Self::Sums {
        let x = broadcast_halves(x);
        compute!({
            let low = vmull_s8(vget_low_s8(x), vget_low_s8(w));
            [vpadalq_s16(sums[0], low), vpadalq_s16(sums[1], vmull_high_s8(x, w))]
        })
    }
    #[inline(always)]
    fn mac2(self, sums: Self::Sums, x: [u32; 2], w: [int8x16_t; 2]) -> Self::Sums {
        if !BELOW_128 {
            return self.mac(self.mac(sums, x[0], w[0]), x[1], w[1]);
        }
        let (x0, x1) = (broadcast_halves(x[0]), broadcast_halves(x[1]));
        compute!({
            let low = vmull_s8(vget_low_s8(x0), vget_low_s8(w[0]));
            let low = vmlal_s8(low, vget_low_s8(x1), vget_low_s8(w[1]));
            let high = vmlal_high_s8(vmull_high_s8(x0, w[0]), x1, w[1]);
            [vpadalq_s16(sums[0], low), vpadalq_s16(sums[1], high)]
        })
    }
    #[inline(always)]
    fn add(self, a: Self::Sums, b: Self::Sums) -> Self::Sums {
        compute!([vaddq_s32(a[0], b[0]), vaddq_s32(a[1], b[1])])
    }
    #[inline(always)]
    fn rows(self, sums: Self::Sums) -> [i32; 4] {
        rows(compute!(vpaddq_s32(sums[0], sums[1])))
    }
}

/// Takes 128 from each of four inputs, as bytes.
const MOVE: u32 = 0x8080_8080;
/// Two to this power is what was taken.
const MOVE_BITS: i32 = 7;

/// Any u8 by i8.
#[derive(Clone, Copy)]
struct MovedBytes(Bytes<false>);

impl MovedBytes {
    #[target_feature(enable = "neon")]
    #[inline]
    fn new() -> Self {
        Self(Bytes::new())
    }
}

impl Dense for MovedBytes {
    const ANY_U8: bool = true;
    load_128!();
    /// Of the moved inputs' products, and of the weights alone.
    type Sums = ([int32x4_t; 2], int32x4_t);

    #[inline(always)]
    fn zero(self) -> Self::Sums {
        (self.0.zero(), compute!(vdupq_n_s32(0)))
    }
    #[inline(always)]
    fn mac(self, sums: Self::Sums, x: u32, w: int8x16_t) -> Self::Sums {
        (self.0.mac(sums.0, x ^ MOVE, w), compute!(vpadalq_s16(sums.1, vpaddlq_s8(w))))
    }
    #[inline(always)]
    fn add(self, a: Self::Sums, b: Self::Sums) -> Self::Sums {
        (self.0.add(a.0, b.0), compute!(vaddq_s32(a.1, b.1)))
    }
    #[inline(always)]
    fn rows(self, sums: Self::Sums) -> [i32; 4] {
        rows(compute!(vaddq_s32(vpaddq_s32(sums.0[0], sums.0[1]), vshlq_n_s32::<MOVE_BITS>(sums.1))))
    }
}

/// i8 by i8 by dot products.
#[derive(Clone, Copy)]
struct Dots(());

impl Dots {
    #[target_feature(enable = "neon,dotprod")]
    #[inline]
    fn new() -> Self {
        Self(())
    }

    /// `sums[i] + Σ_j x[4i + j]·w[4i + j]`. As assembly, because the intrinsic is not stable in Rust; in a function of
    /// its own, because the assembler takes the instruction only where its feature is enabled.
    #[target_feature(enable = "neon,dotprod")]
    #[inline]
    fn dot(mut sums: int32x4_t, x: int8x16_t, w: int8x16_t) -> int32x4_t {
        // SAFETY: reads and writes these three registers only; the function enables the instruction.
        unsafe {
            asm!(
                "sdot {sums:v}.4s, {x:v}.16b, {w:v}.16b",
                sums = inout(vreg) sums, x = in(vreg) x, w = in(vreg) w,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        sums
    }
}

impl Dense for Dots {
    const ANY_U8: bool = false;
    load_128!();
    type Sums = int32x4_t;

    #[inline(always)]
    fn zero(self) -> int32x4_t {
        compute!(vdupq_n_s32(0))
    }
    #[inline(always)]
    fn mac(self, sums: int32x4_t, x: u32, w: int8x16_t) -> int32x4_t {
        compute!(Self::dot(sums, broadcast(x), w))
    }
    #[inline(always)]
    fn add(self, a: int32x4_t, b: int32x4_t) -> int32x4_t {
        compute!(vaddq_s32(a, b))
    }
    #[inline(always)]
    fn rows(self, sums: int32x4_t) -> [i32; 4] {
        rows(sums)
    }
}

/// Any u8 by i8 by dot products.
#[derive(Clone, Copy)]
struct MovedDots(Dots);

impl MovedDots {
    #[target_feature(enable = "neon,dotprod")]
    #[inline]
    fn new() -> Self {
        Self(Dots::new())
    }
}

impl Dense for MovedDots {
    const ANY_U8: bool = true;
    load_128!();
    /// Of the moved inputs' products, and of the weights alone.
    type Sums = [int32x4_t; 2];

    #[inline(always)]
    fn zero(self) -> Self::Sums {
        [self.0.zero(); 2]
    }
    #[inline(always)]
    fn mac(self, sums: Self::Sums, x: u32, w: int8x16_t) -> Self::Sums {
        [self.0.mac(sums[0], x ^ MOVE, w), compute!(Dots::dot(sums[1], vdupq_n_s8(1), w))]
    }
    #[inline(always)]
    fn add(self, a: Self::Sums, b: Self::Sums) -> Self::Sums {
        [self.0.add(a[0], b[0]), self.0.add(a[1], b[1])]
    }
    #[inline(always)]
    fn rows(self, sums: Self::Sums) -> [i32; 4] {
        rows(compute!(vaddq_s32(sums[0], vshlq_n_s32::<MOVE_BITS>(sums[1]))))
    }
}
