//! The tier of processors without vectors: plain loops over blocks of rows, for the registers and the code that they
//! have.
//!
//! The blocks of Cortex-M0+ (`thumb1`) and RISC-V (`rv32`) are written by hand: compilers keep too much of a block in
//! memory.

use super::micro::accumulate::{update, update_both};
use super::micro::dense::{Blocks, affine};
use super::micro::dot::{Plain, Product, dot};
use super::micro::requantise::requantise;
use super::{Kernel, Tier, scalar, stubs};
use crate::features::ACCUMULATORS;

const NAME: &str = "blocked";

/// The tier.
pub(super) static KERNELS: Tier = Tier {
    name: NAME,
    #[cfg(short_ways)]
    move_dots: super::MoveDots::NONE,
    update_i16: Kernel::of(ACCUMULATORS, update::<i16, i16>, stubs::update, NAME),
    update_i8: Kernel::of(ACCUMULATORS, update::<i16, i8>, stubs::update, NAME),
    update_both_i16: Kernel::of(ACCUMULATORS, update_both::<i16, i16>, stubs::update_both, NAME),
    update_both_i8: Kernel::of(ACCUMULATORS, update_both::<i16, i8>, stubs::update_both, NAME),
    dot_crelu: Kernel::of(ACCUMULATORS, dot_crelu, stubs::dot, NAME),
    dot_screlu: Kernel::of(ACCUMULATORS, dot_screlu, stubs::dot, NAME),
    dot_screlu_short: Kernel::of(ACCUMULATORS, dot_screlu_short, stubs::dot, NAME),
    dot_sqrrelu: Kernel::of(ACCUMULATORS, dot_screlu, stubs::dot, NAME),
    dot_screlu_rounded: Kernel::of(ACCUMULATORS, dot_screlu_rounded, stubs::dot, NAME),
    affine_u8: Kernel::new(affine_u8, NAME),
    affine_u7: Kernel::new(affine_u8, NAME),
    affine_u7_paired: Kernel::new(affine_u8, NAME),
    affine_u8_paired: Kernel::new(affine_u8, NAME),
    affine_u7_sparse: Kernel::new(affine_u8, NAME),
    affine_i8: Kernel::new(affine_i8, NAME),
    requantise_u8: Kernel::new(requantise_u8, NAME),
    requantise_i8: Kernel::new(requantise_i8, NAME),
    requantise_i32: Kernel::new(requantise_i32, NAME),
    ..scalar::KERNELS
};

fn dot_crelu(first: &[i16], second: &[i16], w: &[i16], max: i16) -> i32 {
    dot(Plain { max }, Product::Crelu, first, second, w, max)
}

fn dot_screlu(first: &[i16], second: &[i16], w: &[i16], max: i16) -> i32 {
    dot(Plain { max }, Product::Screlu, first, second, w, max)
}

fn dot_screlu_short(first: &[i16], second: &[i16], w: &[i16], max: i16) -> i32 {
    dot(Plain { max }, Product::ScreluShort, first, second, w, max)
}

fn dot_screlu_rounded(first: &[i16], second: &[i16], w: &[i16], max: i16) -> i32 {
    dot(Plain { max }, Product::ScreluRounded, first, second, w, max)
}

fn affine_u8(x: &[u8], w: &[i8], stride: usize, bias: &[i32], out: &mut [i32]) {
    affine::<Rows, u8>(x, w, stride, bias, out);
}

fn affine_i8(x: &[i8], w: &[i8], stride: usize, bias: &[i32], out: &mut [i32]) {
    affine::<Rows, i8>(x, w, stride, bias, out);
}

fn requantise_u8(x: &[i32], multipliers: &[i32], shifts: &[u8], low: i32, high: i32, out: &mut [u8]) {
    requantise(x, multipliers, shifts, low, high, out, |value| value as u8, mul_high);
}

fn requantise_i8(x: &[i32], multipliers: &[i32], shifts: &[u8], low: i32, high: i32, out: &mut [i8]) {
    requantise(x, multipliers, shifts, low, high, out, |value| value as i8, mul_high);
}

fn requantise_i32(x: &[i32], multipliers: &[i32], shifts: &[u8], low: i32, high: i32, out: &mut [i32]) {
    requantise(x, multipliers, shifts, low, high, out, |value| value, mul_high);
}

/// The high word of a product of which the second factor is not negative.
#[inline(always)]
fn mul_high(x: i32, multiplier: i32) -> i32 {
    if !cfg!(cortex_m = "thumb1") {
        return ((i64::from(x) * i64::from(multiplier)) >> 32) as i32;
    }
    // The processor multiplies to 32 bits; four products of halves fit those, carries and all, and take half the time
    // of the compiler's 64-bit multiplication.
    let (low, high) = (x as u32 & 0xFFFF, x >> 16);
    let (by_low, by_high) = (multiplier as u32 & 0xFFFF, multiplier >> 16);
    let (ll, lh) = (low * by_low, low.wrapping_mul(by_high as u32));
    let (hl, hh) = (high * by_low as i32, high * by_high);
    let middle = (ll >> 16) + (lh & 0xFFFF) + (hl as u32 & 0xFFFF);
    hh.wrapping_add((lh >> 16) as i32).wrapping_add(hl >> 16).wrapping_add((middle >> 16) as i32)
}

/// The blocks of this target.
struct Rows;

#[cfg(rv32im)]
use super::rv32 as block;
#[cfg(cortex_m = "thumb1")]
use super::thumb1 as block;
#[cfg(not(any(cortex_m = "thumb1", rv32im)))]
use portable as block;

macro_rules! blocks {
    ($kind:ty, $block:ident, $one:ident) => {
        impl Blocks<$kind> for Rows {
            const ROWS: usize = block::ROWS;

            #[inline(always)]
            unsafe fn block(x: *const $kind, w: *const i8, stride_bytes: usize, groups: usize, sums: *mut i32) {
                // SAFETY: as the caller vouches.
                unsafe { block::$block(x, w, stride_bytes, groups, sums) }
            }
            #[inline(always)]
            unsafe fn one(sum: i32, x: *const $kind, w: *const i8, stride_bytes: usize, groups: usize) -> i32 {
                // SAFETY: as the caller vouches.
                sum.wrapping_add(unsafe { block::$one(x, w, stride_bytes, groups) })
            }
        }
    };
}
blocks!(u8, block_u8, one_u8);
blocks!(i8, block_i8, one_i8);

/// For processors without a block of their own: Cortex-M3, and hosts that test this tier.
#[cfg(not(any(cortex_m = "thumb1", rv32im)))]
mod portable {
    pub const ROWS: usize = 4;

    macro_rules! functions {
        ($kind:ty, $block:ident, $one:ident) => {
            /// # Safety
            /// As [`super::Blocks::block`].
            pub unsafe fn $block(x: *const $kind, w: *const i8, stride_bytes: usize, groups: usize, sums: *mut i32) {
                // SAFETY: the caller vouches for inputs, weights and sums.
                unsafe {
                    let sums = &mut *sums.cast::<[i32; ROWS]>();
                    *sums = rows(*sums, x, w, stride_bytes, groups);
                }
            }
            /// # Safety
            /// As [`super::Blocks::one`].
            pub unsafe fn $one(x: *const $kind, w: *const i8, stride_bytes: usize, groups: usize) -> i32 {
                // SAFETY: the caller vouches for inputs and weights.
                let [sum] = unsafe { rows([0], x, w, stride_bytes, groups) };
                sum
            }
        };
    }
    functions!(u8, block_u8, one_u8);
    functions!(i8, block_i8, one_i8);

    /// # Safety
    /// As [`super::Blocks::block`], with `N` rows.
    #[inline(always)]
    unsafe fn rows<T: Copy + Into<i32>, const N: usize>(
        mut sums: [i32; N],
        x: *const T,
        w: *const i8,
        stride_bytes: usize,
        groups: usize,
    ) -> [i32; N] {
        for group in 0..groups {
            // SAFETY: the caller vouches for `groups` groups of four inputs, and of four weights a row; bytes need no
            // alignment.
            let (x, w) = unsafe {
                (x.add(4 * group).cast::<[T; 4]>().read(), w.add(stride_bytes * group).cast::<[[i8; 4]; N]>().read())
            };
            for (sum, w) in sums.iter_mut().zip(w) {
                for (x, w) in x.iter().zip(w) {
                    *sum = sum.wrapping_add((*x).into() * i32::from(w));
                }
            }
        }
        sums
    }
}
