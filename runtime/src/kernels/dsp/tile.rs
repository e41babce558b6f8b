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
/// Rounds a sum but for its last place: its multiplier in r11, its shift less 33 in lr, half in r9.
macro_rules! round {
    ($sum:literal) => {
        concat!(
            "smmul ", $sum, ", ", $sum, ", r11\n asr ", $sum, ", ", $sum, ", lr\n add ", $sum, ", ", $sum, ", r9\n",
        )
    };
}
/// Shifts that out and clamps the sum to the ends in r10 and r11; SSAT does both where those are of a byte with a sign.
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
    assert!(offset_of!(Rows, x) == 0 && offset_of!(Rows, stride_bytes) == 8 && offset_of!(Rows, bias) == 12);
    assert!(offset_of!(Rows, sums) == 16 && offset_of!(Rows, bytes) == 20 && offset_of!(Rows, groups) == 24);
    assert!(offset_of!(Rows, outputs) == 28 && offset_of!(Bytes, half) == 16 && offset_of!(Bytes, is_all) == 28);
};

/// [`Tile::rows`]: four groups a round, then two, then one. r0: inputs · r1: weights · r2: stride · r3, r12: a word of
/// weights · r4 to r7: sums · r8 to r11: inputs · lr: half of the weights. On the stack, from its begin: the output's
/// weights and bias; its multiplier, shift and byte, from place to place of these, half and whether the ends are those
/// of all bytes; the inputs, the end of the rounds and theirs; outputs that are left, and the end of the sums; the
/// record of bytes.
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
            "sub sp, sp, #56",
            "ldm r0, {{r1, r3, r4, r5, r6, r7, r8, r9}}",
            "mov r2, r4",
            "strd r3, r5, [sp]",
            "bic r10, r8, #3",
            "add r10, r1, r10, lsl #5",
            "add r11, r1, r8, lsl #5",
            "add r12, sp, #32",
            "stm r12, {{r1, r10, r11}}",
            "add r6, r6, r9, lsl #4",
            "strd r9, r6, [sp, #44]",
            "str r7, [sp, #52]",
            "str r7, [sp, #8]",
            "cbz r7, 1f",
            "ldm r7, {{r0, r1, r3, r4, r5}}",
            "ldr r6, [r7, #28]",
            "add r12, sp, #8",
            "stm r12, {{r0, r1, r3, r4, r5, r6}}",
            // An output: its sums from biases or memory.
            "1:",
            "ldrd r1, r3, [sp]",
            "ldr r0, [sp, #32]",
            "add r12, r1, #4",
            "cbz r3, 6f",
            "ldr r4, [r3], #4",
            "strd r12, r3, [sp]",
            "mov r5, r4",
            "mov r6, r4",
            "mov r7, r4",
            "b 7f",
            "6:",
            "str r12, [sp]",
            "ldrd r3, r4, [sp, #44]",
            "sub r4, r4, r3, lsl #4",
            "ldm r4, {{r4-r7}}",
            "7:",
            "ldr lr, [sp, #36]",
            "cmp r0, lr",
            "beq 3f",
            "2:",
            two!(),
            two!(),
            "ldr lr, [sp, #36]",
            "cmp r0, lr",
            "bne 2b",
            "3:",
            "ldr lr, [sp, #40]",
            "subs lr, lr, r0",
            "beq 5f",
            "cmp lr, #64",
            "blo 4f",
            // No flag changes.
            two!(),
            "beq 5f",
            "4:",
            "ldr r3, [r1]",
            half!("r3"),
            half!("r3", "ror #8"),
            // To bytes or memory.
            "5:",
            "add r12, sp, #8",
            "ldm r12, {{r0, r1, r3, r8, r9, r10}}",
            "cmp r0, #0",
            "beq 6f",
            "ldr r11, [r0], #4",
            "ldrb lr, [r1], #1",
            "sub lr, lr, #33",
            round!("r4"),
            round!("r5"),
            round!("r6"),
            round!("r7"),
            "cmp r10, #0",
            "beq 8f",
            "ssat r4, #8, r4, asr #1",
            "ssat r5, #8, r5, asr #1",
            "ssat r6, #8, r6, asr #1",
            "ssat r7, #8, r7, asr #1",
            "7:",
            "add lr, r3, r8, lsl #1",
            "strb r5, [r3, r8]",
            "strb r6, [lr]",
            "strb r7, [lr, r8]",
            "strb r4, [r3], #1",
            "stm r12, {{r0, r1, r3}}",
            "9:",
            "ldr r3, [sp, #44]",
            "subs r3, r3, #1",
            "str r3, [sp, #44]",
            "bne 1b",
            "add sp, sp, #56",
            "b 20f",
            "6:",
            "ldrd r3, r12, [sp, #44]",
            "sub r12, r12, r3, lsl #4",
            "stm r12, {{r4-r7}}",
            "b 9b",
            "8:",
            "ldr r10, [sp, #52]",
            "ldrd r10, r11, [r10, #20]",
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
