//! The blocks of the blocked tier on Cortex-M0+, by hand: Thumb-1 computes in eight registers, and the other five only
//! add and move.
//!
//! The four inputs of a group, its weights' word of a row and one byte of it take six of the eight, pointers the rest;
//! the four sums, the stride and the end lie in the high registers, where an addition reaches them. A byte is cut out
//! of its word by two shifts, the outer two by one: fifteen instructions for four products, load included. Inputs are
//! words before, unpacked once for all blocks, so that one instruction loads those of a group. A row alone
//! has registers for the offsets that loads of signed bytes want, and takes both factors from memory.

use super::micro::words::{PLACES, Sums};
use core::arch::naked_asm;

/// Rows of a block.
pub(super) const ROWS: usize = 4;
/// Words that it takes for a group of inputs: one each.
pub(super) const WORDS: usize = 4;

/// One row of a group: its word at an offset from r1, inputs in r2 to r5, its sum in a high register.
macro_rules! row {
    ($offset:literal, $sum:literal) => {
        concat!(
            "ldr r6, [r1, ",
            $offset,
            "]\n",
            "sxtb r0, r6\n muls r0, r2, r0\n add ",
            $sum,
            ", r0\n",
            "lsls r0, r6, #16\n asrs r0, r0, #24\n muls r0, r3, r0\n add ",
            $sum,
            ", r0\n",
            "lsls r0, r6, #8\n asrs r0, r0, #24\n muls r0, r4, r0\n add ",
            $sum,
            ", r0\n",
            "asrs r6, r6, #24\n muls r6, r5, r6\n add ",
            $sum,
            ", r6",
        )
    };
}
/// `sums[r] += Σ x[k]·w[r,k]`, inputs as words.
///
/// # Safety
/// As [`super::micro::dense::Blocks::block`].
#[unsafe(naked)]
pub(super) unsafe extern "C" fn block(x: *const u32, w: *const i8, stride_bytes: usize, groups: usize, sums: *mut i32) {
    naked_asm!(
        "push {{r4-r7, lr}}",
        "mov r4, r8",
        "mov r5, r9",
        "mov r6, r10",
        "mov r7, r11",
        "push {{r4-r7}}",
        // r7: x · r1: w · r12: stride · lr: end of x · r8 to r11: sums
        "mov r7, r0",
        "mov r12, r2",
        "lsls r3, r3, #4",
        "adds r3, r3, r0",
        "mov lr, r3",
        "ldr r0, [sp, #36]",
        "ldm r0!, {{r2-r5}}",
        "mov r8, r2",
        "mov r9, r3",
        "mov r10, r4",
        "mov r11, r5",
        "cmp r7, lr",
        "beq 3f",
        "2:",
        "ldm r7!, {{r2-r5}}",
        row!("#0", "r8"),
        row!("#4", "r9"),
        row!("#8", "r10"),
        row!("#12", "r11"),
        "add r1, r12",
        "cmp r7, lr",
        "bne 2b",
        "3:",
        "mov r2, r8",
        "mov r3, r9",
        "mov r4, r10",
        "mov r5, r11",
        "ldr r0, [sp, #36]",
        "stm r0!, {{r2-r5}}",
        "pop {{r4-r7}}",
        "mov r8, r4",
        "mov r9, r5",
        "mov r10, r6",
        "mov r11, r7",
        "pop {{r4-r7, pc}}",
    )
}

macro_rules! functions {
    ($kind:ty, $one:ident [$($first:literal),*] [$x1:literal, $x2:literal, $x3:literal]) => {
        /// The same for one row and inputs as they are, returned.
        ///
        /// # Safety
        /// As [`super::micro::dense::Blocks::one`].
        #[unsafe(naked)]
        pub(super) unsafe extern "C" fn $one(
            x: *const $kind, w: *const i8, stride_bytes: usize, groups: usize,
        ) -> i32 {
            naked_asm!(
                "push {{r4-r7, lr}}",
                // r0: x · r1: w · r12: stride · lr: end of x · r2, r3: factors · r4: sum · r5 to r7: 1, 2, 3
                "mov r12, r2",
                "lsls r3, r3, #2",
                "adds r3, r3, r0",
                "mov lr, r3",
                "movs r4, #0",
                "movs r5, #1",
                "movs r6, #2",
                "movs r7, #3",
                "cmp r0, lr",
                "beq 3f",
                "2:",
                $($first,)*
                "ldrb r3, [r1]",
                "sxtb r3, r3",
                "muls r2, r3, r2",
                "adds r4, r4, r2",
                $x1,
                "ldrsb r3, [r1, r5]",
                "muls r2, r3, r2",
                "adds r4, r4, r2",
                $x2,
                "ldrsb r3, [r1, r6]",
                "muls r2, r3, r2",
                "adds r4, r4, r2",
                $x3,
                "ldrsb r3, [r1, r7]",
                "muls r2, r3, r2",
                "adds r4, r4, r2",
                "adds r0, #4",
                "add r1, r12",
                "cmp r0, lr",
                "bne 2b",
                "3:",
                "movs r0, r4",
                "pop {{r4-r7, pc}}",
            )
        }
    };
}
functions!(u8, one_u8 ["ldrb r2, [r0]"] ["ldrb r2, [r0, #1]", "ldrb r2, [r0, #2]", "ldrb r2, [r0, #3]"]);
functions!(
    i8,
    one_i8 ["ldrb r2, [r0]", "sxtb r2, r2"] ["ldrsb r2, [r0, r5]", "ldrsb r2, [r0, r6]", "ldrsb r2, [r0, r7]"]
);

/// Tiles of four places.
pub(super) struct Places;

impl Sums for Places {
    #[inline(always)]
    unsafe fn add(sums: &mut [i32; PLACES], x: *const u32, w: *const i8, stride_bytes: usize, groups: usize) {
        // SAFETY: the caller's.
        unsafe { add_places(sums.as_mut_ptr(), x, w, stride_bytes, groups) }
    }
}

/// An input of four places, whose weight is in r4 as soon as the given instructions have cut it out of r5.
macro_rules! input {
    ($cut:literal) => {
        concat!(
            $cut,
            "\n ldm r7!, {{r0-r3}}\n",
            "muls r0, r4, r0\n add r8, r0\n muls r1, r4, r1\n add r9, r1\n",
            "muls r2, r4, r2\n add r10, r2\n muls r3, r4, r3\n add r11, r3",
        )
    };
}

/// [`Sums::add`]: eleven instructions for the four products of a weight, and six for what a word of weights takes. r5:
/// a word of weights · r6, r7: weights and inputs · r8 to r11: sums · r12: stride · lr: end of the inputs.
///
/// # Safety
/// As there.
#[unsafe(naked)]
unsafe extern "C" fn add_places(sums: *mut i32, x: *const u32, w: *const i8, stride_bytes: usize, groups: usize) {
    naked_asm!(
        "push {{r0, r4-r7, lr}}",
        "mov r4, r8",
        "mov r5, r9",
        "mov r6, r10",
        "mov r7, r11",
        "push {{r4-r7}}",
        "mov r12, r3",
        "ldm r0!, {{r4-r7}}",
        "mov r8, r4",
        "mov r9, r5",
        "mov r10, r6",
        "mov r11, r7",
        "ldr r3, [sp, #40]",
        "lsls r3, r3, #6",
        "adds r3, r3, r1",
        "mov lr, r3",
        "mov r6, r2",
        "mov r7, r1",
        "2:",
        "ldr r5, [r6]",
        "add r6, r12",
        input!("sxtb r4, r5"),
        input!("lsls r4, r5, #16\n asrs r4, r4, #24"),
        input!("lsls r4, r5, #8\n asrs r4, r4, #24"),
        input!("asrs r4, r5, #24"),
        "cmp r7, lr",
        "bne 2b",
        "ldr r0, [sp, #16]",
        "mov r4, r8",
        "mov r5, r9",
        "mov r6, r10",
        "mov r7, r11",
        "stm r0!, {{r4-r7}}",
        "pop {{r4-r7}}",
        "mov r8, r4",
        "mov r9, r5",
        "mov r10, r6",
        "mov r11, r7",
        "pop {{r0, r4-r7, pc}}",
    )
}
