//! A tile of four places: SMLAD on inputs that are halves already.
//!
//! A group of a place is two words of halves, its inputs 0 and 2, and 1 and 3, which are what SXTB16 makes of a word of
//! weights, and of that word turned by a byte. Words of the four places lie side by side, so that one instruction loads
//! what the halves of a row's weights meet: 27 instructions for 32 products, weights included. UXTAB16 and SXTAB16 add
//! what takes the zero point off to both halves while they spread them. Sums stay in registers from bias to byte.

use crate::kernels::micro::finish::Bytes;
use crate::kernels::micro::tile::{Rows, Tile};
use core::arch::asm;
use core::mem::offset_of;

pub(super) struct Places;

/// Half of a word of weights, which meets the next words of the places.
macro_rules! half {
    ($w:literal $(, $turned:literal)?) => {
        concat!(
            "sxtb16 lr, ", $w, $(", ", $turned,)? "\n ldm r0!, {{r8-r11}}\n",
            "smlad r4, lr, r8, r4\n smlad r5, lr, r9, r5\n smlad r6, lr, r10, r6\n smlad r7, lr, r11, r7\n",
        )
    };
}
/// Two groups.
macro_rules! two {
    () => {
        concat!(
            "ldr r3, [r1]\n ldr r12, [r1, r2]\n add r1, r1, r2, lsl #1\n",
            half!("r3"),
            half!("r3", "ror #8"),
            half!("r12"),
            half!("r12", "ror #8"),
        )
    };
}
/// Rounds a sum: its multiplier in r0, its shift less 33 in r1, half in r9.
macro_rules! round {
    ($sum:literal) => {
        concat!(
            "smmul ",
            $sum,
            ", ",
            $sum,
            ", r0\n asr ",
            $sum,
            ", ",
            $sum,
            ", r1\n",
            "add ",
            $sum,
            ", ",
            $sum,
            ", r9\n asr ",
            $sum,
            ", ",
            $sum,
            ", #1\n",
        )
    };
}
/// Clamps it to the ends in r10 and r11.
macro_rules! clamp {
    ($sum:literal) => {
        concat!(
            "cmp ",
            $sum,
            ", r10\n it lt\n movlt ",
            $sum,
            ", r10\n",
            "cmp ",
            $sum,
            ", r11\n it gt\n movgt ",
            $sum,
            ", r11\n",
        )
    };
}

macro_rules! spread {
    ($spread:literal, $x:ident, $groups:ident, $both:ident, $out:ident) => {
        asm!(
            "2:",
            "ldr {word}, [{x}], #4",
            concat!($spread, " {even}, {both}, {word}"),
            concat!($spread, " {word}, {both}, {word}, ror #8"),
            "str {even}, [{out}], #16",
            "str {word}, [{out}], #16",
            "subs {groups}, {groups}, #1",
            "bne 2b",
            x = inout(reg) $x => _, groups = inout(reg) $groups => _, both = in(reg) $both, out = inout(reg) $out => _,
            word = out(reg) _, even = out(reg) _, options(nostack)
        )
    };
}

impl Tile for Places {
    const PLACES: usize = 4;
    const GROUP: usize = 8;

    #[inline(always)]
    unsafe fn spread(x: *const u8, groups: usize, is_signed: bool, minus_zero: i16, out: *mut u32) {
        let both = u32::from(minus_zero as u16) * 0x1_0001;
        if groups == 0 {
            return;
        }
        // SAFETY: the loops read a word, which need not be aligned, and write two of the place's for each of `groups`
        // groups, for which the caller vouches.
        unsafe {
            if is_signed {
                spread!("sxtab16", x, groups, both, out);
            } else {
                spread!("uxtab16", x, groups, both, out);
            }
        }
    }

    #[inline(always)]
    unsafe fn rows(rows: &Rows) {
        // SAFETY: the caller's.
        unsafe { rows_of_four(rows) }
    }
}

/// Where the assembly finds them.
const _: () = {
    assert!(offset_of!(Rows, bias) == 12 && offset_of!(Rows, sums) == 16 && offset_of!(Rows, bytes) == 20);
    assert!(offset_of!(Rows, groups) == 24 && offset_of!(Rows, outputs) == 28 && offset_of!(Bytes, is_all) == 28);
};

/// [`Tile::rows`]: four groups a round, then one by one. r0: inputs · r1: weights · r2: stride · r3, r12: a word of
/// weights · r4 to r7: sums · r8 to r11: inputs · lr: half of the weights. On the stack the output, the end of the
/// rounds and of the inputs, and the record.
///
/// # Safety
/// As there.
#[inline(never)]
unsafe fn rows_of_four(rows: *const Rows) {
    // SAFETY: what the record points to is there, as the caller vouches; every register but the operands is put
    // back, and so is the stack.
    unsafe {
        asm!(
            "push {{r4-r11, lr}}",
            "ldr r1, [r0]",
            "ldr r2, [r0, #24]",
            "movs r4, #0",
            "bic r5, r2, #3",
            "add r5, r1, r5, lsl #5",
            "add r6, r1, r2, lsl #5",
            "mov r7, r0",
            "push {{r4-r7}}",
            // An output: its sums from biases or memory.
            "1:",
            "ldrd r12, lr, [sp]",
            "ldr r3, [sp, #12]",
            "ldrd r4, r5, [r3, #12]",
            "ldm r3, {{r0-r2}}",
            "cbz r4, 6f",
            "ldr r4, [r4, r12, lsl #2]",
            "mov r5, r4",
            "mov r6, r4",
            "mov r7, r4",
            "b 7f",
            "6:",
            "add r9, r5, r12, lsl #4",
            "ldm r9, {{r4-r7}}",
            "7:",
            "add r1, r1, r12, lsl #2",
            "cmp r0, lr",
            "beq 3f",
            "2:",
            two!(),
            two!(),
            "ldr lr, [sp, #4]",
            "cmp r0, lr",
            "bne 2b",
            "3:",
            "ldr lr, [sp, #8]",
            "cmp r0, lr",
            "beq 5f",
            "4:",
            "ldr r3, [r1]",
            "add r1, r1, r2",
            half!("r3"),
            half!("r3", "ror #8"),
            "ldr lr, [sp, #8]",
            "cmp r0, lr",
            "bne 4b",
            // To bytes or memory.
            "5:",
            "ldr r12, [sp]",
            "ldr lr, [sp, #12]",
            "ldr r3, [lr, #20]",
            "cmp r3, #0",
            "beq 6f",
            "ldr lr, [r3, #28]",
            "ldm r3, {{r0, r1, r2, r8, r9, r10, r11}}",
            "ldr r0, [r0, r12, lsl #2]",
            "ldrb r1, [r1, r12]",
            "add r2, r2, r12",
            "subs r1, r1, #33",
            round!("r4"),
            round!("r5"),
            round!("r6"),
            round!("r7"),
            "cmp lr, #0",
            "beq 8f",
            "ssat r4, #8, r4",
            "ssat r5, #8, r5",
            "ssat r6, #8, r6",
            "ssat r7, #8, r7",
            "7:",
            "strb r4, [r2]",
            "strb r5, [r2, r8]",
            "add r2, r2, r8, lsl #1",
            "strb r6, [r2]",
            "strb r7, [r2, r8]",
            "9:",
            "ldr lr, [sp, #12]",
            "adds r12, r12, #1",
            "ldr r3, [lr, #28]",
            "str r12, [sp]",
            "cmp r12, r3",
            "bne 1b",
            "add sp, sp, #16",
            "b 20f",
            "6:",
            "ldr r3, [lr, #16]",
            "add r3, r3, r12, lsl #4",
            "stm r3, {{r4-r7}}",
            "b 9b",
            "8:",
            clamp!("r4"),
            clamp!("r5"),
            clamp!("r6"),
            clamp!("r7"),
            "b 7b",
            "20:",
            "pop {{r4-r11, lr}}",
            inout("r0") rows => _, out("r1") _, out("r2") _, out("r3") _, out("r12") _,
        );
    }
}
