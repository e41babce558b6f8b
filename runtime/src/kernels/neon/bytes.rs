//! Byte products of NEON.
//!
//! Without dot products: `smull` multiplies eight i8 by eight i8 into i16, `sadalp` adds neighbours into i32, exact for
//! every i8 ([`Bytes`]). With inputs up to 127 the products of two groups are added in i16 first, since 2 · 127 · 128 <
//! 2¹⁵. With them: `sdot` multiplies four i8 by four i8 and adds all products to an i32 lane ([`Dots`]).
//!
//! Both multiply i8 only. Inputs above 127 are moved down by 128 to be signed; what that takes away, 128 times the sum
//! of the weights, is summed along and given back.

use super::compute;
use crate::kernels::vector::{Dense, LaneProducts};
use core::arch::aarch64::*;
use core::arch::asm;

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
pub(super) struct Bytes<const BELOW_128: bool>(());

impl<const BELOW_128: bool> Bytes<BELOW_128> {
    #[target_feature(enable = "neon")]
    #[inline]
    pub(super) fn new() -> Self {
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
    /// A lane a row.
    #[inline(always)]
    fn mac_ones(self, sums: Self::Sums, w: int8x16_t) -> Self::Sums {
        [compute!(vpadalq_s16(sums[0], vpaddlq_s8(w))), sums[1]]
    }
    #[inline(always)]
    fn ones_rows(self, sums: Self::Sums) -> [i32; 4] {
        rows(sums[0])
    }
}

/// Takes 128 from each of four inputs, as bytes.
const MOVE: u32 = 0x8080_8080;
/// Two to this power is what was taken.
const MOVE_BITS: i32 = 7;

/// Any u8 by i8.
#[derive(Clone, Copy)]
pub(super) struct MovedBytes(Bytes<false>);

impl MovedBytes {
    #[target_feature(enable = "neon")]
    #[inline]
    pub(super) fn new() -> Self {
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
pub(super) struct Dots(());

impl Dots {
    #[target_feature(enable = "neon,dotprod")]
    #[inline]
    pub(super) fn new() -> Self {
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

impl LaneProducts for Dots {
    #[inline(always)]
    fn mac_lanes(self, sums: int32x4_t, x: int8x16_t, w: int8x16_t) -> int32x4_t {
        compute!(Self::dot(sums, x, w))
    }
}

/// Any u8 by i8 by dot products.
#[derive(Clone, Copy)]
pub(super) struct MovedDots(Dots);

impl MovedDots {
    #[target_feature(enable = "neon,dotprod")]
    #[inline]
    pub(super) fn new() -> Self {
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
