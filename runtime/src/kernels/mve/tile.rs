//! A tile of four places by pairs of outputs: VMLADAVA on sixteen inputs of a place and their weights.
//!
//! A group of a place is the word of its four bytes, those of the four places lie side by side, and VLD4 takes four
//! groups apart: a vector a place. A gathering load fetches the weights of the same four groups, a stride apart. Eight
//! sums stay in the registers that VMLADAVA can add to: 17 instructions for 128 products. Bytes without a sign become
//! such with one by an exclusive or, and the zero point stays in the inputs: the tile takes it off its biases.

use crate::kernels::micro::finish::Bytes;
use crate::kernels::micro::tile::{Rows, Tile};
use core::arch::asm;
use core::mem::offset_of;

pub(super) struct Places;

impl Tile for Places {
    const PLACES: usize = 4;
    const GROUP: usize = 4;
    const FOLDS_ZERO: bool = true;

    #[inline(always)]
    unsafe fn spread(x: *const u8, groups: usize, is_signed: bool, _: i16, out: *mut u32) {
        let flip: u32 = if is_signed { 0 } else { 0x8080_8080 };
        // SAFETY: tail predication keeps the loop to `groups` words of both, for which the caller vouches.
        unsafe {
            asm!(
                // q1: where four groups go
                "movs r0, #0",
                "vidup.u32 q1, r0, #4",
                "vdup.32 q2, {flip}",
                "wlstp.32 lr, {groups}, 3f",
                "2:",
                "vldrb.u8 q0, [{x}], #16",
                "veor q0, q0, q2",
                "vstrw.32 q0, [{out}, q1, uxtw #2]",
                "add {out}, {out}, #64",
                "letp lr, 2b",
                "3:",
                x = inout(reg) x => _, out = inout(reg) out => _, groups = in(reg) groups, flip = in(reg) flip,
                out("r0") _, out("lr") _, out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d4") _, out("d5") _,
                options(nostack)
            );
        }
    }

    #[inline(always)]
    unsafe fn rows(rows: &Rows) {
        // SAFETY: the caller's.
        unsafe { rows_of_four(rows) }
    }
}

/// Four groups of the four places, from r1.
macro_rules! inputs {
    () => {
        "vld40.32 {{q0, q1, q2, q3}}, [r1]\n vld41.32 {{q0, q1, q2, q3}}, [r1]\n\
         vld42.32 {{q0, q1, q2, q3}}, [r1]\n vld43.32 {{q0, q1, q2, q3}}, [r1]!"
    };
}
/// Their products with the weights of two outputs.
macro_rules! products {
    () => {
        "vmladava.s8 r0, q0, q4\n vmladava.s8 r2, q1, q4\n vmladava.s8 r4, q2, q4\n vmladava.s8 r6, q3, q4\n\
         vmladava.s8 r8, q0, q5\n vmladava.s8 r10, q1, q5\n vmladava.s8 r12, q2, q5\n vmladava.s8 lr, q3, q5"
    };
}
/// Rounds and writes the sums of an output: its multiplier in r0, its shift in r2, the zero point in r1.
macro_rules! round {
    ($sums:literal) => {
        concat!(
            "vdup.32 q2, r0\n vmulh.s32 ",
            $sums,
            ", ",
            $sums,
            ", q2\n rsb r2, r2, #32\n",
            "vrshl.s32 ",
            $sums,
            ", r2\n vadd.i32 ",
            $sums,
            ", ",
            $sums,
            ", r1\n",
            "vmax.s32 ",
            $sums,
            ", ",
            $sums,
            ", q4\n vmin.s32 ",
            $sums,
            ", ",
            $sums,
            ", q5\n",
            "vstrb.32 ",
            $sums,
            ", [r9, q3]",
        )
    };
}

/// Where the assembly finds them.
const _: () = {
    assert!(offset_of!(Rows, bias) == 12 && offset_of!(Rows, sums) == 16 && offset_of!(Rows, bytes) == 20);
    assert!(offset_of!(Rows, groups) == 24 && offset_of!(Rows, outputs) == 28);
    assert!(offset_of!(Bytes, out) == 8 && offset_of!(Bytes, step) == 12 && offset_of!(Bytes, low) == 20);
};

/// [`Tile::rows`]. r1: inputs · r3: four strides · r5, r9: vectors of groups, and groups behind them · q6: addresses of
/// weights · q7: those of the first output. On the stack places' elements from the first place on, both ends as
/// vectors, the output and the record. The second output of the last pair may be none: its weights are zeros of the
/// layout, its sums are not rounded.
///
/// # Safety
/// As there. Behind the last group of inputs three more can be read.
#[inline(never)]
unsafe fn rows_of_four(rows: *const Rows) {
    // SAFETY: what the record points to is there, as the caller vouches; every register but the operands is put
    // back, and so is the stack.
    unsafe {
        asm!(
            "push {{r4-r11, lr}}",
            "vpush {{d8-d15}}",
            "sub sp, sp, #60",
            "movs r4, #0",
            "vidup.u32 q7, r4, #1",
            "ldr r1, [r0, #20]",
            "cmp r1, #0",
            "beq 2f",
            "ldr r2, [r1, #12]",
            "vmul.i32 q3, q7, r2",
            "ldrd r2, r3, [r1, #20]",
            "vdup.32 q4, r2",
            "vdup.32 q5, r3",
            "vstrw.32 q3, [sp, #0]",
            "vstrw.32 q4, [sp, #16]",
            "vstrw.32 q5, [sp, #32]",
            "2:",
            "ldrd r1, r2, [r0, #4]",
            "vmul.i32 q7, q7, r2",
            "vadd.i32 q7, q7, r1",
            "movs r11, #0",
            "strd r11, r0, [sp, #48]",
            "1:",
            "ldrd r11, r7, [sp, #48]",
            "ldr r1, [r7]",
            "ldr r3, [r7, #8]",
            "ldr r5, [r7, #24]",
            "lsl r9, r11, #2",
            "vadd.i32 q6, q7, r9",
            "lsls r3, r3, #2",
            "and r9, r5, #3",
            "movs r0, #0",
            "movs r2, #0",
            "movs r4, #0",
            "movs r6, #0",
            "mov r8, r0",
            "mov r10, r0",
            "mov r12, r0",
            "mov lr, r0",
            "lsrs r5, r5, #2",
            "beq 3f",
            "2:",
            inputs!(),
            "vldrw.u32 q4, [q6]",
            "vldrw.u32 q5, [q6, #4]",
            "vadd.i32 q6, q6, r3",
            products!(),
            "subs r5, r5, #1",
            "bne 2b",
            "3:",
            "cmp r9, #0",
            "beq 4f",
            inputs!(),
            "vctp.32 r9",
            "vpstt",
            "vldrwt.u32 q4, [q6]",
            "vldrwt.u32 q5, [q6, #4]",
            products!(),
            "4:",
            "vmov d0, r0, r2",
            "vmov d1, r4, r6",
            "vmov d2, r8, r10",
            "vmov d3, r12, lr",
            "ldrd r1, r3, [r7, #12]",
            "add r3, r3, r11, lsl #4",
            "cbz r1, 5f",
            "add r1, r1, r11, lsl #2",
            "ldrd r0, r2, [r1]",
            "vadd.i32 q0, q0, r0",
            "vadd.i32 q1, q1, r2",
            "b 6f",
            "5:",
            "vldrw.u32 q2, [r3]",
            "vldrw.u32 q3, [r3, #16]",
            "vadd.i32 q0, q0, q2",
            "vadd.i32 q1, q1, q3",
            "6:",
            "ldr r1, [r7, #20]",
            "cmp r1, #0",
            "beq 7f",
            "vldrw.u32 q3, [sp, #0]",
            "vldrw.u32 q4, [sp, #16]",
            "vldrw.u32 q5, [sp, #32]",
            "ldrd r3, r5, [r1]",
            "ldr r9, [r1, #8]",
            "ldr r1, [r1, #16]",
            "add r3, r3, r11, lsl #2",
            "add r5, r5, r11",
            "add r9, r9, r11",
            "asrs r1, r1, #1",
            "ldr r0, [r3]",
            "ldrb r2, [r5]",
            round!("q0"),
            "add r11, r11, #1",
            "ldr r4, [r7, #28]",
            "cmp r11, r4",
            "beq 9f",
            "ldr r0, [r3, #4]",
            "ldrb r2, [r5, #1]",
            "adds r9, r9, #1",
            round!("q1"),
            "add r11, r11, #1",
            "8:",
            "str r11, [sp, #48]",
            "cmp r11, r4",
            "blo 1b",
            "9:",
            "add sp, sp, #60",
            "vpop {{d8-d15}}",
            "b 20f",
            "7:",
            "vstrw.32 q0, [r3]",
            "vstrw.32 q1, [r3, #16]",
            "ldr r4, [r7, #28]",
            "add r11, r11, #2",
            "b 8b",
            "20:",
            "pop {{r4-r11, lr}}",
            inout("r0") rows => _, out("r1") _, out("r2") _, out("r3") _, out("r12") _,
            out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d4") _, out("d5") _, out("d6") _, out("d7") _,
        );
    }
}
