//! Cortex-M52, M55 and M85: Helium, vectors of 16 bytes, with the scalar DSP of [`super::dsp`] for the rest.
//!
//! | module | what |
//! |---|---|
//! | `accumulate` | update, update_both |
//! | `tile` | convolve, two places by four outputs at a time |
//! | `beside` | its end where a second map is added |
//! | `filter`, `apart` | depthwise, two by two outputs at a time, and how four channels are laid apart for it |
//!
//! VMLADAVA multiplies sixteen bytes by sixteen bytes and adds all products to one register, so it wants sixteen inputs
//! of one row side by side, where K4 has four, and the next four a stride further. A gathering load fetches them: four
//! addresses, a stride apart, in one vector; the rows of a block differ by an offset in the instruction, so one
//! addition moves all of them to the next sixteen inputs. A block of eight rows keeps its sums in the eight registers
//! that VMLADAVA can add to.

mod accumulate;
mod apart;
mod beside;
mod filter;
mod tile;

use super::maps::{Layer, Map};
use super::micro::dense::{Blocks, affine};
use super::{Kernel, Tier, blocked, dsp, micro};
use crate::num::HIGH_WORD_ONLY;
use accumulate::{update, update_both};
use core::arch::asm;

const NAME: &str = "mve";

/// The tier.
pub(super) static KERNELS: Tier = Tier {
    name: NAME,
    #[cfg(short_ways)]
    move_dots: crate::kernels::MoveDots::NONE,
    #[cfg(short_ways)]
    chain: None,
    #[cfg(batches)]
    batch: crate::kernels::scalar::BATCH,
    update_i16: Kernel::new(update::<i16>, NAME),
    update_i8: Kernel::new(update::<i8>, NAME),
    update_both_i16: Kernel::new(update_both::<i16>, NAME),
    update_both_i8: Kernel::new(update_both::<i8>, NAME),
    // Plain loops, of which the compiler makes vectors.
    dot_crelu: blocked::KERNELS.dot_crelu,
    dot_screlu: blocked::KERNELS.dot_screlu,
    dot_screlu_short: blocked::KERNELS.dot_screlu_short,
    dot_sqrrelu: blocked::KERNELS.dot_sqrrelu,
    dot_screlu_rounded: blocked::KERNELS.dot_screlu_rounded,
    affine_u7: Kernel::new(affine_u7, NAME),
    affine_u7_paired: Kernel::new(affine_u7, NAME),
    affine_u8_paired: Kernel::new(affine_u8_paired, NAME),
    affine_u7_sparse: Kernel::new(affine_u7, NAME),
    affine_i8: Kernel::new(affine_i8, NAME),
    requantise_u8: Kernel::new(requantise_u8, NAME),
    requantise_i8: Kernel::new(requantise_i8, NAME),
    requantise_i32: Kernel::new(requantise_i32, NAME),
    convolve: Kernel::new(convolve, NAME),
    depthwise: Kernel::new(filter::depthwise, NAME),
    ..dsp::KERNELS
}
.of_build();

/// As signed bytes, which they are up to 127.
fn affine_u7(x: &[u8], w: &[i8], stride: usize, bias: &[i32], out: &mut [i32]) {
    affine::<Rows, i8>(bytemuck::cast_slice(x), w, stride, bias, out);
}

/// As signed bytes where all are up to 127; other inputs take the kernel of [`super::dsp`].
fn affine_u8_paired(x: &[u8], w: &[i8], stride: usize, bias: &[i32], out: &mut [i32]) {
    let affine =
        if x.iter().fold(0, |union, byte| union | byte) < 128 { affine_u7 } else { dsp::KERNELS.affine_u8.call };
    affine(x, w, stride, bias, out);
}

fn affine_i8(x: &[i8], w: &[i8], stride: usize, bias: &[i32], out: &mut [i32]) {
    affine::<Rows, i8>(x, w, stride, bias, out);
}

fn convolve(layer: &Layer<'_>, x: &[u8], second: Option<(Map, &[u8])>, out: &mut [u8]) {
    micro::tile::convolve::<tile::Places>(layer, x, second, out);
}

struct Rows;

/// Sixteen inputs from r1 and their weights of eight rows, whose addresses are in q2, a block of four groups being r3
/// long.
macro_rules! sixteen {
    () => {
        concat!(
            "vldrb.u8 q0, [r1], #16\n",
            sixteen!("#0", "r0"),
            sixteen!("#4", "r2"),
            sixteen!("#8", "r4"),
            sixteen!("#12", "r6"),
            sixteen!("#16", "r8"),
            sixteen!("#20", "r10"),
            sixteen!("#24", "r12"),
            sixteen!("#28", "lr"),
            "vadd.i32 q2, q2, r3",
        )
    };
    ($offset:literal, $sum:literal) => {
        concat!("vldrw.u32 q1, [q2, ", $offset, "]\n vmladava.s8 ", $sum, ", q0, q1\n")
    };
}

/// The weights of two rows for the inputs of the begun sixteen: lanes beyond them are neither read nor multiplied.
macro_rules! some {
    ($first:literal, $sum:literal, $second:literal, $other:literal) => {
        concat!(
            "vpstttt\n",
            "vldrwt.u32 q1, [q2, ",
            $first,
            "]\n vmladavat.s8 ",
            $sum,
            ", q0, q1\n",
            "vldrwt.u32 q1, [q2, ",
            $second,
            "]\n vmladavat.s8 ",
            $other,
            ", q0, q1\n",
        )
    };
}

impl Blocks<i8> for Rows {
    const ROWS: usize = 8;

    /// Four times sixteen inputs a round, then sixteen, then the groups that are left. All registers are taken, so they
    /// are saved here.
    #[inline(never)]
    unsafe fn block(x: *const i8, w: *const i8, stride_bytes: usize, groups: usize, sums: *mut i32) {
        // SAFETY: the loops read four inputs and a block's weights of each of `groups` groups; sums are read and
        // written at `sums`; the caller vouches for all three. Every register but the operands is put back, and so is
        // the stack. VPR is written and cannot be named as a clobber: this stays a function of its own, across whose
        // call nobody keeps it.
        unsafe {
            asm!(
                "push {{r4-r12, lr}}",
                // q2: the addresses of four groups
                "movs r4, #0",
                "vidup.u32 q3, r4, #1",
                "vmul.i32 q3, q3, r2",
                "vadd.i32 q2, q3, r1",
                "mov r1, r0",
                "and r7, r3, #3",
                "lsr r5, r3, #2",
                "lsl r3, r2, #2",
                "ldm r12, {{r0, r2, r4, r6, r8, r10, r12, lr}}",
                "subs r5, r5, #4",
                "blo 3f",
                "2:",
                sixteen!(),
                sixteen!(),
                sixteen!(),
                sixteen!(),
                "subs r5, r5, #4",
                "bhs 2b",
                "3:",
                "adds r5, r5, #4",
                "beq 4f",
                "6:",
                sixteen!(),
                "subs r5, r5, #1",
                "bne 6b",
                "4:",
                "cmp r7, #0",
                "beq 5f",
                "lsl r7, r7, #2",
                "vctp.8 r7",
                "vpst",
                "vldrbt.u8 q0, [r1]",
                some!("#0", "r0", "#4", "r2"),
                some!("#8", "r4", "#12", "r6"),
                some!("#16", "r8", "#20", "r10"),
                some!("#24", "r12", "#28", "lr"),
                "5:",
                "ldr r1, [sp, #32]",
                "stm r1, {{r0, r2, r4, r6, r8, r10, r12, lr}}",
                "pop {{r4-r12, lr}}",
                inout("r0") x => _, inout("r1") w => _, inout("r2") stride_bytes => _, inout("r3") groups => _,
                in("r12") sums,
                out("d0") _, out("d1") _, out("d2") _, out("d3") _,
                    out("d4") _, out("d5") _, out("d6") _, out("d7") _,
            );
        }
    }

    #[inline(always)]
    unsafe fn one(mut sum: i32, x: *const i8, w: *const i8, stride_bytes: usize, groups: usize) -> i32 {
        // SAFETY: as above, for one row; nothing is written.
        unsafe {
            asm!(
                "vidup.u32 q3, r0, #1",
                "vmul.i32 q3, q3, {stride}",
                "vadd.i32 q2, q3, {w}",
                "lsl {stride}, {stride}, #2",
                "wlstp.8 lr, {len}, 3f",
                "2:",
                "vldrb.u8 q0, [{x}], #16",
                "vldrw.u32 q1, [q2]",
                "vmladava.s8 r2, q0, q1",
                "vadd.i32 q2, q2, {stride}",
                "letp lr, 2b",
                "3:",
                x = inout(reg) x => _, w = in(reg) w, stride = inout(reg) stride_bytes => _, len = in(reg) groups * 4,
                inout("r0") 0 => _, inout("r2") sum, out("lr") _,
                out("d0") _, out("d1") _, out("d2") _, out("d3") _,
                    out("d4") _, out("d5") _, out("d6") _, out("d7") _,
                options(readonly, nostack)
            );
        }
        sum
    }
}

/// Four sums a round: the high word of the product, rounded at the shift, which lies above it, as `micro::requantise`
/// explains. Where a shift is too small for that, both words are taken of all of them: half of a bit is added to the
/// word that it lies in, with what is carried, and what a shift by more than a word leaves of a word is its sign or
/// nothing, as VSHL does it. A value whose sign is not that of what lies above it has left its 32 bits.
macro_rules! requantise {
    ($name:ident, $kind:ty, $store:literal) => {
        fn $name(x: &[i32], multipliers: &[i32], shifts: &[u8], low: i32, high: i32, out: &mut [$kind]) {
            let len = out.len();
            if x.len() < len || multipliers.len() < len || shifts.len() < len {
                return;
            }
            let mut least = HIGH_WORD_ONLY;
            // SAFETY: all slices hold `len` elements, and tail predication keeps the loop from reading or writing more.
            unsafe {
                asm!(
                    "vdup.32 q2, {low}",
                    "vdup.32 q3, {high}",
                    "wlstp.32 lr, {len}, 3f",
                    "2:",
                    "vldrw.u32 q0, [{x}], #16",
                    "vldrw.u32 q1, [{m}], #16",
                    "vmulh.s32 q0, q0, q1",
                    "vldrb.u32 q1, [r0], #4",
                    "vminv.u32 {least}, q1",
                    "vneg.s32 q1, q1",
                    "vadd.i32 q1, q1, {word}",
                    "vrshl.s32 q0, q0, q1",
                    "vmax.s32 q0, q0, q2",
                    "vmin.s32 q0, q0, q3",
                    $store,
                    "letp lr, 2b",
                    "3:",
                    low = in(reg) low, high = in(reg) high, len = in(reg) len, word = in(reg) 32,
                    x = inout(reg) x.as_ptr() => _, m = inout(reg) multipliers.as_ptr() => _,
                    least = inout(reg) least,
                    // Loads and stores that widen or narrow take a low register.
                    inout("r0") shifts.as_ptr() => _, inout("r1") out.as_mut_ptr() => _, out("lr") _,
                    out("d0") _, out("d1") _, out("d2") _, out("d3") _,
                    out("d4") _, out("d5") _, out("d6") _, out("d7") _,
                    options(nostack)
                );
            }
            if least < HIGH_WORD_ONLY {
                by_both_words(x, multipliers, shifts, low, high, out);
            }
            #[inline(never)]
            fn by_both_words(
                x: &[i32],
                multipliers: &[i32],
                shifts: &[u8],
                low: i32,
                high: i32,
                out: &mut [$kind],
            ) {
                // SAFETY: as above; the caller has compared the lengths.
                unsafe {
                    asm!(
                        "vdup.32 q6, {low}",
                        "vdup.32 q7, {high}",
                        "wlstp.32 lr, {len}, 3f",
                        "2:",
                        "vldrw.u32 q0, [{x}], #16",
                        "vldrw.u32 q1, [{m}], #16",
                        "vldrb.u32 q2, [r0], #4",
                        "vmulh.s32 q3, q0, q1",
                        "vmul.i32 q0, q0, q1",
                        // Half of a bit in the low word, and in the high one.
                        "vmov.i32 q1, #1",
                        "vsub.i32 q4, q2, {one}",
                        "vshl.u32 q5, q1, q4",
                        "vadd.i32 q0, q0, q5",
                        "vpt.u32 hi, q5, q0",
                        "vaddt.i32 q3, q3, {one}",
                        "vsub.i32 q4, q4, {word}",
                        "vshl.u32 q1, q1, q4",
                        "vadd.i32 q3, q3, q1",
                        // The value, from both words, and what lies above it.
                        "vneg.s32 q2, q2",
                        "vshl.u32 q0, q0, q2",
                        "vshl.s32 q1, q3, q2",
                        "vadd.i32 q2, q2, {word}",
                        "vshl.s32 q3, q3, q2",
                        "vorr q0, q0, q3",
                        "vshr.s32 q3, q0, #31",
                        "vpttt.i32 ne, q1, q3",
                        "vshrt.s32 q1, q1, #31",
                        "vmvnt.i32 q0, #0x80000000",
                        "veort q0, q0, q1",
                        "vmax.s32 q0, q0, q6",
                        "vmin.s32 q0, q0, q7",
                        $store,
                        "letp lr, 2b",
                        "3:",
                        low = in(reg) low, high = in(reg) high, len = in(reg) out.len(), word = in(reg) 32,
                        one = in(reg) 1, x = inout(reg) x.as_ptr() => _, m = inout(reg) multipliers.as_ptr() => _,
                        inout("r0") shifts.as_ptr() => _, inout("r1") out.as_mut_ptr() => _, out("lr") _,
                        out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d4") _, out("d5") _,
                        out("d6") _, out("d7") _, out("d8") _, out("d9") _, out("d10") _, out("d11") _,
                        out("d12") _, out("d13") _, out("d14") _, out("d15") _,
                        options(nostack)
                    );
                }
            }
        }
    };
}
requantise!(requantise_u8, u8, "vstrb.32 q0, [r1], #4");
requantise!(requantise_i8, i8, "vstrb.32 q0, [r1], #4");
requantise!(requantise_i32, i32, "vstrw.32 q0, [r1], #16");
