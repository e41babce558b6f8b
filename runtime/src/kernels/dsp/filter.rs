//! The taps of four filters: two channels in a word of halves, a product of 16 bits an instruction.
//!
//! UXTAB16 and SXTAB16 spread four neighbouring channels of a pixel over two words, those of the weights were spread
//! before, and SMLABB and SMLATT multiply the halves that belong together: eight instructions for four products. Rows
//! of three taps, which most windows have, are written out.

use crate::kernels::micro::filters::{Filter, Run, Taps};
use core::arch::asm;

pub(super) struct Four;

/// A tap, at an offset from r0: its weights from r1, sums in r4 to r7, what is added to both halves in r3.
macro_rules! tap {
    ($spread:literal, $x:literal) => {
        concat!(
            "ldr r9, ",
            $x,
            "\n ldrd r10, r11, [r1], #8\n",
            $spread,
            " r8, r3, r9\n ",
            $spread,
            " r9, r3, r9, ror #8\n",
            "smlabb r4, r8, r10, r4\n smlabb r5, r9, r11, r5\n smlatt r6, r8, r10, r6\n smlatt r7, r9, r11, r7\n",
        )
    };
}

/// Rounds a channel: its multiplier at an offset from r2, its shift less 33 in a register, half in r1.
macro_rules! round {
    ($sum:literal, $multiplier:literal, $less:literal) => {
        concat!(
            "ldr r3, [r2, ",
            $multiplier,
            "]\n smmul ",
            $sum,
            ", ",
            $sum,
            ", r3\n",
            "asr ",
            $sum,
            ", ",
            $sum,
            ", ",
            $less,
            "\n add ",
            $sum,
            ", ",
            $sum,
            ", r1\n",
        )
    };
}
/// Shifts its last place out and clamps it to the ends in r8 and r9; SSAT does both where those are of a byte with a
/// sign.
macro_rules! clamp {
    ($sum:literal) => {
        concat!(
            "asr ",
            $sum,
            ", ",
            $sum,
            ", #1\n",
            "cmp ",
            $sum,
            ", r8\n it lt\n movlt ",
            $sum,
            ", r8\n",
            "cmp ",
            $sum,
            ", r9\n it gt\n movgt ",
            $sum,
            ", r9\n",
        )
    };
}

macro_rules! function {
    ($name:ident, $spread:literal) => {
        /// [`Filter::sum`]. r0: inputs · r1: weights · r2: from tap to tap · lr: rows that are left · r12: the record,
        /// or taps of a row that are left. On the stack the record, places that are left, their sums and their inputs.
        ///
        /// # Safety
        /// As there.
        #[inline(never)]
        unsafe fn $name(taps: *const Taps) {
            // SAFETY: what the record points to is there, as the caller vouches; every register but the operands is put
            // back, and so is the stack.
            unsafe {
            asm!(
                "push {{r4-r11, lr}}",
                "ldr r10, [r0, #40]",
                "ldr r11, [r0, #36]",
                "ldr r3, [r0, #48]",
                "cbz r3, 2f",
                "ldr r11, [r3, #8]",
                "2:",
                "ldr r12, [r0]",
                "push {{r0, r10, r11, r12}}",
                "ldrsh r3, [r0, #28]",
                "ldr r2, [r0, #16]",
                "pkhbt r3, r3, r3, lsl #16",
                "1:",
                "ldr r12, [sp]",
                "ldr r4, [r12, #32]",
                "ldm r4, {{r4-r7}}",
                "ldm r12, {{r0, r1, r8, r12}}",
                "mov lr, r8",
                "ldr r0, [sp, #12]",
                "cmp r12, #3",
                "bne 3f",
                "2:",
                tap!($spread, "[r0]"),
                tap!($spread, "[r0, r2]"),
                "add r0, r0, r2, lsl #1",
                tap!($spread, "[r0]"),
                "add r0, r0, r2",
                "ldr r12, [sp]",
                "subs lr, lr, #1",
                "ldrd r8, r9, [r12, #20]",
                "add r0, r0, r8",
                "add r1, r1, r9, lsl #2",
                "bne 2b",
                "b 5f",
                "3:",
                "ldr r12, [sp]",
                "ldr r12, [r12, #12]",
                "4:",
                tap!($spread, "[r0]"),
                "add r0, r0, r2",
                "subs r12, r12, #1",
                "bne 4b",
                "ldr r12, [sp]",
                "subs lr, lr, #1",
                "ldrd r8, r9, [r12, #20]",
                "add r0, r0, r8",
                "add r1, r1, r9, lsl #2",
                "bne 3b",
                // To bytes or memory.
                "5:",
                "ldr r3, [r12, #48]",
                "cmp r3, #0",
                "beq 6f",
                "ldr lr, [r3, #28]",
                "ldr r0, [sp, #8]",
                "ldr r2, [r3]",
                "add r12, r12, #52",
                "ldm r12, {{r8-r11}}",
                "ldrd r12, r1, [r3, #12]",
                round!("r4", "#0", "r8"),
                round!("r5", "#4", "r9"),
                round!("r6", "#8", "r10"),
                round!("r7", "#12", "r11"),
                "cmp lr, #0",
                "beq 8f",
                "ssat r4, #8, r4, asr #1",
                "ssat r5, #8, r5, asr #1",
                "ssat r6, #8, r6, asr #1",
                "ssat r7, #8, r7, asr #1",
                "7:",
                "strb r4, [r0]",
                "strb r5, [r0, #1]",
                "strb r6, [r0, #2]",
                "strb r7, [r0, #3]",
                "add r0, r0, r12",
                "9:",
                "ldr r12, [sp]",
                "ldr r1, [sp, #4]",
                "ldr r4, [r12, #44]",
                "ldr r5, [sp, #12]",
                "str r0, [sp, #8]",
                "add r5, r5, r4",
                "str r5, [sp, #12]",
                "ldrsh r3, [r12, #28]",
                "ldr r2, [r12, #16]",
                "pkhbt r3, r3, r3, lsl #16",
                "subs r1, r1, #1",
                "str r1, [sp, #4]",
                "bne 1b",
                "add sp, sp, #16",
                "b 20f",
                "6:",
                "ldr r0, [sp, #8]",
                "stm r0!, {{r4-r7}}",
                "b 9b",
                "8:",
                "ldr r3, [sp]",
                "ldr r3, [r3, #48]",
                "ldrd r8, r9, [r3, #20]",
                clamp!("r4"),
                clamp!("r5"),
                clamp!("r6"),
                clamp!("r7"),
                "b 7b",
                "20:",
                "pop {{r4-r11, lr}}",
                inout("r0") taps => _, out("r1") _, out("r2") _, out("r3") _, out("r12") _,
            );
            }
        }
    };
}
/// Rounds four sums by what comes next from r1.
macro_rules! each {
    ($operation:literal, [$a:literal, $b:literal, $c:literal, $d:literal]) => {
        concat!(
            $operation, " r4, ", $a, "\n", $operation, " r5, ", $b, "\n", $operation, " r6, ", $c, "\n", $operation,
            " r7, ", $d, "\n",
        )
    };
}

macro_rules! nine {
    ($name:ident, $spread:literal) => {
        /// [`Filter::nine`]. r0: inputs · r1: filters · r2: from tap to tap · lr: from row to row · r12: what is
        /// written. On the stack the inputs of the place, the filters, from place to place of what is read and of what
        /// is written, and places that are left.
        ///
        /// # Safety
        /// As there.
        #[inline(never)]
        unsafe fn $name(run: *const Run) {
            // SAFETY: what the record points to is there, as the caller vouches; every register but the operands is put
            // back, and so is the stack.
            unsafe {
            asm!(
                "push {{r4-r11, lr}}",
                "ldr r6, [r0, #32]",
                "ldm r0, {{r0, r1, r2, r3, r4, r5, r12, lr}}",
                "push {{r0, r1, r4, r5, r6}}",
                "pkhbt r3, r3, r3, lsl #16",
                "1:",
                "ldm r1!, {{r4-r7}}",
                tap!($spread, "[r0]"),
                tap!($spread, "[r0, r2]"),
                tap!($spread, "[r0, r2, lsl #1]"),
                "add r0, r0, lr",
                tap!($spread, "[r0]"),
                tap!($spread, "[r0, r2]"),
                tap!($spread, "[r0, r2, lsl #1]"),
                "add r0, r0, lr",
                tap!($spread, "[r0]"),
                tap!($spread, "[r0, r2]"),
                tap!($spread, "[r0, r2, lsl #1]"),
                "ldm r1!, {{r8-r11}}",
                each!("smmul", ["r4, r8", "r5, r9", "r6, r10", "r7, r11"]),
                "ldm r1!, {{r8-r11}}",
                each!("asr", ["r4, r8", "r5, r9", "r6, r10", "r7, r11"]),
                "ldm r1!, {{r8, r9}}",
                each!("add", ["r4, r8", "r5, r8", "r6, r8", "r7, r8"]),
                "cmp r9, #0",
                "beq 8f",
                "ssat r4, #8, r4, asr #1",
                "ssat r5, #8, r5, asr #1",
                "ssat r6, #8, r6, asr #1",
                "ssat r7, #8, r7, asr #1",
                "7:",
                "strb r4, [r12]",
                "strb r5, [r12, #1]",
                "strb r6, [r12, #2]",
                "strb r7, [r12, #3]",
                "ldm sp, {{r0, r1, r4, r5, r6}}",
                "add r0, r0, r4",
                "add r12, r12, r6",
                "str r0, [sp]",
                "subs r5, r5, #1",
                "str r5, [sp, #12]",
                "bne 1b",
                "add sp, sp, #20",
                "b 20f",
                "8:",
                "ldm r1, {{r8, r9}}",
                clamp!("r4"),
                clamp!("r5"),
                clamp!("r6"),
                clamp!("r7"),
                "b 7b",
                "20:",
                "pop {{r4-r11, lr}}",
                inout("r0") run => _, out("r1") _, out("r2") _, out("r3") _, out("r12") _,
            );
            }
        }
    };
}
nine!(nine_u8, "uxtab16");
nine!(nine_i8, "sxtab16");
function!(sum_u8, "uxtab16");
function!(sum_i8, "sxtab16");

impl Filter for Four {
    const HAS_NINE: bool = true;
    const WORDS: usize = 2;

    #[inline(always)]
    fn spread([a, b, c, d]: [i8; 4], out: &mut [u32]) {
        let both = |low: i8, high: i8| u32::from(i16::from(low) as u16) | u32::from(i16::from(high) as u16) << 16;
        if let [even, odd] = out {
            (*even, *odd) = (both(a, c), both(b, d));
        }
    }

    #[inline(always)]
    unsafe fn sum(taps: &Taps, is_signed: bool) {
        // SAFETY: the caller's.
        unsafe { if is_signed { sum_i8(taps) } else { sum_u8(taps) } }
    }

    #[inline(always)]
    unsafe fn nine(run: &Run, is_signed: bool) {
        // SAFETY: the caller's.
        unsafe { if is_signed { nine_i8(run) } else { nine_u8(run) } }
    }
}
