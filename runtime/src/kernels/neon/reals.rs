//! Reals in NEON: eight lanes are two vectors.

use super::{Neon, compute};
use crate::kernels::vector::Reals;
use core::arch::aarch64::*;

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
