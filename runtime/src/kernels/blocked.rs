//! The tier of processors without vectors: plain loops over blocks of rows, for the registers and the code that they
//! have.
//!
//! The blocks of Cortex-M0+ (`thumb1`) and RISC-V (`rv32`) are written by hand: compilers keep too much of a block in
//! memory.

use super::maps::{Layer, Map};
use super::micro::accumulate::{update, update_both};
use super::micro::dense::{Blocks, affine};
use super::micro::dot::{Plain, Product, dot};
use super::micro::requantise::{both_words, requantise};
use super::micro::words::Words;
use super::micro::{filters, tile};
use super::{Kernel, Tier, scalar};

const NAME: &str = "blocked";

/// The tier.
pub(super) static KERNELS: Tier = Tier {
    name: NAME,
    #[cfg(short_ways)]
    move_dots: super::MoveDots::NONE,
    #[cfg(short_ways)]
    chains: None,
    #[cfg(batches)]
    batch: scalar::BATCH,
    update_i16: Kernel::new(update::<i16, i16>, NAME),
    update_i8: Kernel::new(update::<i16, i8>, NAME),
    update_both_i16: Kernel::new(update_both::<i16, i16>, NAME),
    update_both_i8: Kernel::new(update_both::<i16, i8>, NAME),
    dot_crelu: Kernel::new(dot_crelu, NAME),
    dot_screlu: Kernel::new(dot_screlu, NAME),
    dot_screlu_short: Kernel::new(dot_screlu_short, NAME),
    dot_sqrrelu: Kernel::new(dot_screlu, NAME),
    dot_screlu_rounded: Kernel::new(dot_screlu_rounded, NAME),
    affine_u8: Kernel::new(affine_u8, NAME),
    affine_u7: Kernel::new(affine_u8, NAME),
    affine_u7_paired: Kernel::new(affine_u8, NAME),
    affine_u8_paired: Kernel::new(affine_u8, NAME),
    affine_u7_sparse: Kernel::new(affine_u8, NAME),
    affine_i8: Kernel::new(affine_i8, NAME),
    requantise_u8: Kernel::new(requantise_u8, NAME),
    requantise_i8: Kernel::new(requantise_i8, NAME),
    requantise_i32: Kernel::new(requantise_i32, NAME),
    convolve: Kernel::new(convolve, NAME),
    depthwise: Kernel::new(depthwise, NAME),
    ..scalar::KERNELS
}
.of_build();

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

fn requantise_u8(x: &[i32], multipliers: &[i32], shifts: &[u8], low: i32, high: i32, zero: i32, out: &mut [u8]) {
    requantise(x, multipliers, shifts, low, high, zero, out, |value| value as u8, both_words);
}

fn requantise_i8(x: &[i32], multipliers: &[i32], shifts: &[u8], low: i32, high: i32, zero: i32, out: &mut [i8]) {
    requantise(x, multipliers, shifts, low, high, zero, out, |value| value as i8, both_words);
}

fn requantise_i32(x: &[i32], multipliers: &[i32], shifts: &[u8], low: i32, high: i32, zero: i32, out: &mut [i32]) {
    requantise(x, multipliers, shifts, low, high, zero, out, |value| value, both_words);
}

fn convolve(layer: &Layer<'_>, x: &[u8], second: Option<(Map, &[u8])>, out: &mut [u8]) {
    tile::convolve::<Words<Places>>(layer, x, second, out);
}

fn depthwise(layer: &Layer<'_>, x: &[u8], second: Option<(Map, &[u8])>, out: &mut [u8]) {
    filters::depthwise::<Words<Places>>(layer, x, second, out);
}

#[cfg(not(any(cortex_m = "thumb1", rv32im)))]
use super::micro::words::Plain as Places;
#[cfg(rv32im)]
use super::rv32::Places;
#[cfg(cortex_m = "thumb1")]
use super::thumb1::Places;

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
            #[cfg(cortex_m = "thumb1")]
            const WORDS: usize = block::WORDS;

            #[inline(always)]
            unsafe fn block(x: *const $kind, w: *const i8, stride_bytes: usize, groups: usize, sums: *mut i32) {
                // SAFETY: as the caller vouches.
                #[cfg(cortex_m = "thumb1")]
                unsafe {
                    block::block(x.cast(), w, stride_bytes, groups, sums)
                }
                // SAFETY: as the caller vouches.
                #[cfg(not(cortex_m = "thumb1"))]
                unsafe {
                    block::$block(x, w, stride_bytes, groups, sums)
                }
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
