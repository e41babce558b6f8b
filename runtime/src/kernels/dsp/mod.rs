//! Cortex-M4, M7 and M33: the DSP extension, two products of 16 bits an instruction.
//!
//! SXTB16 spreads bytes 0 and 2 of a word over two halves, and, with a rotation by eight, bytes 1 and 3; SMLAD
//! multiplies halves by halves and adds both products to a sum, modulo 2³². So a word of K4, four weights of a row,
//! costs two spreads and two multiplications, and its four inputs are spread once for all rows. SMLAD sets a sticky
//! flag where a sum wraps; nothing reads it.

mod filter;
mod pairs;
mod tile;

use super::maps::{Layer, Map};
use super::micro::accumulate::{update, update_both};
use super::micro::dense::{Blocks, affine};
use super::micro::dot::{Product, dot};
use super::micro::filters;
use super::micro::requantise::requantise;
use super::{Kernel, Tier, blocked, micro};
use core::arch::asm;
use pairs::{Clip, Pair};

const NAME: &str = "dsp";

/// The tier.
pub(super) static KERNELS: Tier = Tier {
    name: NAME,
    #[cfg(short_ways)]
    move_dots: crate::kernels::MoveDots::NONE,
    #[cfg(short_ways)]
    chains: None,
    #[cfg(batches)]
    batch: crate::kernels::scalar::BATCH,
    update_i16: Kernel::new(update::<Pair, i16>, NAME),
    update_both_i16: Kernel::new(update_both::<Pair, i16>, NAME),
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
    ..blocked::KERNELS
}
.of_build();

fn dot_crelu(first: &[i16], second: &[i16], w: &[i16], max: i16) -> i32 {
    dot(Clip::new(max), Product::Crelu, first, second, w, max)
}

fn dot_screlu(first: &[i16], second: &[i16], w: &[i16], max: i16) -> i32 {
    dot(Clip::new(max), Product::Screlu, first, second, w, max)
}

fn dot_screlu_short(first: &[i16], second: &[i16], w: &[i16], max: i16) -> i32 {
    dot(Clip::new(max), Product::ScreluShort, first, second, w, max)
}

fn dot_screlu_rounded(first: &[i16], second: &[i16], w: &[i16], max: i16) -> i32 {
    dot(Clip::new(max), Product::ScreluRounded, first, second, w, max)
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

/// What [`micro::requantise::both_words`] is, by shifts that may be of a whole word, where nothing is left but the
/// sign.
#[inline(always)]
fn both_words(x: i32, multiplier: i32, shift: u32) -> i32 {
    let value;
    // SAFETY: registers alone.
    unsafe {
        asm!(
            "sub {low}, {shift}, #1",
            "lsl {low}, {one}, {low}",
            "mov {high}, #0",
            "smlal {low}, {high}, {x}, {multiplier}",
            "rsb {x}, {shift}, #32",
            "lsl {x}, {high}, {x}",
            "lsr {low}, {low}, {shift}",
            "orr {x}, {x}, {low}",
            "asr {high}, {high}, {shift}",
            "cmp {high}, {x}, asr #31",
            "itt ne",
            "mvnne {x}, #0x80000000",
            "eorne {x}, {x}, {high}, asr #31",
            x = inout(reg) x => value, multiplier = in(reg) multiplier, shift = in(reg) shift, one = in(reg) 1,
            low = out(reg) _, high = out(reg) _,
            options(pure, nomem, nostack)
        );
    }
    value
}

fn convolve(layer: &Layer<'_>, x: &[u8], second: Option<(Map, &[u8])>, out: &mut [u8]) {
    micro::tile::convolve::<tile::Places>(layer, x, second, out);
}

fn depthwise(layer: &Layer<'_>, x: &[u8], second: Option<(Map, &[u8])>, out: &mut [u8]) {
    filters::depthwise::<filter::Four>(layer, x, second, out);
}

pub(super) struct Rows;

/// A group of a block: halves of inputs from r0, the weights of four rows from r1, a stride in r2, sums in r4 to r7;
/// the inputs in r12 and lr, r3 and r8 to r11 for weights.
macro_rules! group {
    () => {
        concat!(
            "ldm r0!, {{r12, lr}}\n ldm r1, {{r8-r11}}\n add r1, r1, r2\n",
            group!(row "r8", "r4"),
            group!(row "r9", "r5"),
            group!(row "r10", "r6"),
            group!(row "r11", "r7"),
        )
    };
    (row $weights:literal, $sum:literal) => {
        concat!(
            "sxtb16 r3, ", $weights, "\n sxtb16 ", $weights, ", ", $weights, ", ror #8\n",
            "smlad ", $sum, ", r3, r12, ", $sum, "\n smlad ", $sum, ", ", $weights, ", lr, ", $sum, "\n",
        )
    };
}

/// [`Blocks::block`] of unpacked inputs. The block takes all fourteen registers, more than the compiler gives away, so
/// it saves them itself. Eight groups a round, then one by one; where the rounds and the inputs end lies on the stack.
///
/// # Safety
/// As there.
#[inline(never)]
unsafe fn block(x: *const u32, w: *const i8, stride_bytes: usize, groups: usize, sums: *mut i32) {
    // SAFETY: the loops read the two words and a block's weights of each of `groups` groups; sums are read and written
    // at `sums`; the caller vouches for all three. Every register but the operands is put back, and so is the stack.
    unsafe {
        asm!(
            "push {{r4-r12, lr}}",
            "ldm r12, {{r4-r7}}",
            "add lr, r0, r3, lsl #3",
            "bic r3, r3, #7",
            "add r3, r0, r3, lsl #3",
            "push {{r3, lr}}",
            "b 3f",
            "2:",
            group!(),
            group!(),
            group!(),
            group!(),
            group!(),
            group!(),
            group!(),
            group!(),
            "ldr r3, [sp]",
            "3:",
            "cmp r0, r3",
            "bne 2b",
            "ldr r3, [sp, #4]",
            "b 5f",
            "4:",
            group!(),
            "ldr r3, [sp, #4]",
            "5:",
            "cmp r0, r3",
            "bne 4b",
            "ldr r12, [sp, #40]",
            "stm r12, {{r4-r7}}",
            "add sp, sp, #8",
            "pop {{r4-r12, lr}}",
            inout("r0") x => _,
            inout("r1") w => _,
            in("r2") stride_bytes,
            inout("r3") groups => _,
            in("r12") sums,
        );
    }
}

/// Two groups of one row, or one.
macro_rules! one {
    ($spread:literal, two) => {
        concat!(
            "ldr {w0}, [{w}]\n ldr {w2}, [{w}, {stride}]\n add {w}, {w}, {stride}, lsl #1\n",
            one!($spread, "{w0}"),
            one!($spread, "{w2}"),
        )
    };
    ($spread:literal, one) => {
        concat!("ldr {w0}, [{w}]\n add {w}, {w}, {stride}\n", one!($spread, "{w0}"))
    };
    ($spread:literal, $weights:literal) => {
        concat!(
            "ldr {x0}, [{x}], #4\n",
            $spread,
            " {x1}, {x0}, ror #8\n sxtb16 {w1}, ",
            $weights,
            ", ror #8\n",
            $spread,
            " {x0}, {x0}\n sxtb16 ",
            $weights,
            ", ",
            $weights,
            "\n",
            "smlad {sum}, {x1}, {w1}, {sum}\n smlad {sum}, {x0}, ",
            $weights,
            ", {sum}\n",
        )
    };
}

macro_rules! functions {
    ($kind:ty, $spread:literal) => {
        impl Blocks<$kind> for Rows {
            const ROWS: usize = 4;
            const WORDS: usize = 2;

            #[inline(always)]
            unsafe fn spread(x: *const $kind, groups: usize, out: *mut u32) {
                if groups == 0 {
                    return;
                }
                // SAFETY: the loop reads a word, which need not be aligned, and writes two for each of `groups` groups,
                // for which the caller vouches.
                unsafe {
                    asm!(
                        "2:",
                        "ldr {word}, [{x}], #4",
                        concat!($spread, " {even}, {word}"),
                        concat!($spread, " {word}, {word}, ror #8"),
                        "strd {even}, {word}, [{out}], #8",
                        "subs {groups}, {groups}, #1",
                        "bne 2b",
                        x = inout(reg) x => _, groups = inout(reg) groups => _, out = inout(reg) out => _,
                        word = out(reg) _, even = out(reg) _, options(nostack)
                    );
                }
            }

            #[inline(always)]
            unsafe fn block(x: *const $kind, w: *const i8, stride_bytes: usize, groups: usize, sums: *mut i32) {
                // SAFETY: the caller's.
                unsafe { block(x.cast(), w, stride_bytes, groups, sums) }
            }

            #[inline(always)]
            unsafe fn one(mut sum: i32, x: *const $kind, w: *const i8, stride_bytes: usize, groups: usize) -> i32 {
                // SAFETY: the loops read four inputs and a row's four weights of each of `groups` groups, for which the
                // caller vouches, and write no memory.
                unsafe {
                    asm!(
                        "subs {groups}, {groups}, #4",
                        "blo 3f",
                        "2:",
                        one!($spread, two),
                        one!($spread, two),
                        "subs {groups}, {groups}, #4",
                        "bhs 2b",
                        "3:",
                        "adds {groups}, {groups}, #4",
                        "beq 5f",
                        "4:",
                        one!($spread, one),
                        "subs {groups}, {groups}, #1",
                        "bne 4b",
                        "5:",
                        x = inout(reg) x => _, groups = inout(reg) groups => _,
                        w = inout(reg) w => _, stride = in(reg) stride_bytes,
                        x0 = out(reg) _, x1 = out(reg) _, w0 = out(reg) _, w1 = out(reg) _, w2 = out(reg) _,
                        sum = inout(reg) sum,
                        options(readonly, nostack)
                    );
                }
                sum
            }
        }
    };
}
functions!(u8, "uxtb16");
functions!(i8, "sxtb16");
