//! Places two at a time by four outputs: VMLADAVA on sixteen inputs of a place and their weights.
//!
//! The inputs of a place lie side by side; where they do in the map, and are bytes with a sign, they are read there. A
//! gathering load fetches the weights of the same four groups, a stride apart. Eight sums stay in the registers that
//! VMLADAVA can add to: 17 instructions for 128 products. They become vectors of four outputs, so that multipliers,
//! shifts and bytes are loaded and stored as they lie. Bytes without a sign become such with one by an addition of 128,
//! and the zero point stays in the inputs: the tile takes it off its biases.

use super::beside::beside;
use crate::kernels::micro::finish::{Bytes, FourBeside};
use crate::kernels::micro::target::{Rows, SPREAD, Tile};
use core::arch::asm;
use core::mem::offset_of;

pub(super) struct Places;

impl Tile for Places {
    const PLACES: usize = 4;
    const GROUP: usize = 4;
    const PLACE: usize = SPREAD / 4;
    const NEXT: usize = 1;
    const READS_PIXELS: bool = true;
    const FOLDS_ZERO: bool = true;

    const SPREADS_BYTES: bool = true;

    #[inline(always)]
    unsafe fn spread(x: *const u8, groups: usize, is_signed: bool, _: i16, out: *mut u32) {
        // SAFETY: the caller's.
        unsafe { Self::spread_bytes(x, 4 * groups, is_signed, out.cast()) };
    }

    #[inline(always)]
    unsafe fn spread_bytes(x: *const u8, len: usize, is_signed: bool, out: *mut u8) {
        let flip: u32 = if is_signed { 0 } else { 0x80 };
        // SAFETY: tail predication keeps the loop to `len` bytes of both, for which the caller vouches.
        unsafe {
            asm!(
                "wlstp.8 lr, {len}, 3f",
                "2:",
                "vldrb.u8 q0, [{x}], #16",
                "vadd.i8 q0, q0, {flip}",
                "vstrb.8 q0, [{out}], #16",
                "letp lr, 2b",
                "3:",
                x = inout(reg) x => _, out = inout(reg) out => _, len = in(reg) len, flip = in(reg) flip,
                out("lr") _, out("d0") _, out("d1") _,
                options(nostack)
            );
        }
    }

    #[inline(always)]
    unsafe fn rows(rows: &Rows) {
        for first in (0..rows.places).step_by(2) {
            // SAFETY: the caller's.
            unsafe { rows_of_two(rows, first) };
        }
    }

    const HAS_BESIDE: bool = true;

    #[inline(always)]
    unsafe fn beside(four: &FourBeside) {
        // SAFETY: the caller's.
        unsafe { beside(four) }
    }
}

/// Sixteen inputs of two places and their weights of four outputs.
macro_rules! operands {
    () => {
        "vldrb.u8 q0, [r1], #16\n vldrb.u8 q1, [r7], #16\n vldrw.u32 q2, [q6]\n vldrw.u32 q3, [q6, #4]\n\
         vldrw.u32 q4, [q6, #8]\n vldrw.u32 q5, [q6, #12]"
    };
}
/// Those of the groups that are left: what lies behind them is not read, and counts as 0.
macro_rules! last_operands {
    () => {
        "vctp.32 r9\n vpstttt\n vldrbt.u8 q0, [r1]\n vldrbt.u8 q1, [r7]\n\
         vldrwt.u32 q2, [q6]\n vldrwt.u32 q3, [q6, #4]\n vpstt\n vldrwt.u32 q4, [q6, #8]\n vldrwt.u32 q5, [q6, #12]"
    };
}
/// Their products, added to sums or as such.
macro_rules! products {
    ($multiply:literal) => {
        concat!(
            $multiply,
            " r0, q0, q2\n",
            $multiply,
            " r2, q0, q3\n",
            $multiply,
            " r4, q0, q4\n",
            $multiply,
            " r6, q0, q5\n",
            $multiply,
            " r8, q1, q2\n",
            $multiply,
            " r10, q1, q3\n",
            $multiply,
            " r12, q1, q4\n",
            $multiply,
            " lr, q1, q5",
        )
    };
}

/// Where the assembly finds them.
const _: () = {
    assert!(offset_of!(Rows, x) == 0 && offset_of!(Rows, w) == 4 && offset_of!(Rows, stride_bytes) == 8);
    assert!(offset_of!(Rows, bias) == 12 && offset_of!(Rows, sums) == 16 && offset_of!(Rows, bytes) == 20);
    assert!(offset_of!(Rows, groups) == 24 && offset_of!(Rows, outputs) == 28 && offset_of!(Rows, place_bytes) == 32);
    assert!(offset_of!(Bytes, multipliers) == 0 && offset_of!(Bytes, shifts) == 4 && offset_of!(Bytes, out) == 8);
    assert!(offset_of!(Bytes, step) == 12 && offset_of!(Bytes, half) == 16 && offset_of!(Bytes, low) == 20);
    assert!(offset_of!(Bytes, high) == 24);
};

/// [`Tile::rows`] of places `first` and the next, outputs four by four. r1, r7: inputs of both · r3: four strides · r5,
/// r9: vectors of groups, and groups behind them · q6: addresses of weights · q7: 32 · sums of the first place in r0,
/// r2, r4, r6, of the second in r8, r10, r12, lr. On the stack, from its begin: bytes from the weights behind the last
/// vector of an output to those of four outputs on; biases, multipliers, shifts and the first place's bytes; from place
/// to place of these, the zero point and both ends; both places' inputs; vectors of groups, and groups behind them;
/// outputs that are left, and the end of the sums. Weights of outputs behind the last are those of the stride, a
/// multiple of four, and their sums are not rounded.
///
/// # Safety
/// As there.
#[inline(never)]
unsafe fn rows_of_two(rows: *const Rows, first: usize) {
    // SAFETY: what the record points to is there, as the caller vouches; loads and stores of outputs and of the last
    // inputs are kept to them by predication; every register but the operands is put back, and so is the stack. VPR is
    // written and cannot be named as a clobber: this stays a function of its own, across whose call nobody keeps it.
    unsafe {
        asm!(
            "push {{r4-r11, lr}}",
            "vpush {{d8-d15}}",
            "sub sp, sp, #60",
            "ldr r2, [r0, #32]",
            "ldr r3, [r0]",
            "mla r3, r1, r2, r3",
            "adds r4, r3, r2",
            "strd r3, r4, [sp, #36]",
            "ldr r3, [r0, #12]",
            "str r3, [sp, #4]",
            "ldrd r2, r4, [r0, #24]",
            "lsrs r3, r2, #2",
            "and r2, r2, #3",
            "strd r3, r2, [sp, #44]",
            "ldr r2, [r0, #16]",
            "add r2, r2, r4, lsl #4",
            "add r2, r2, r1, lsl #2",
            "strd r4, r2, [sp, #52]",
            "ldr r2, [r0, #20]",
            "str r2, [sp, #8]",
            "cbz r2, 1f",
            "ldm r2, {{r3-r9}}",
            "mla r5, r1, r6, r5",
            "asrs r7, r7, #1",
            "add r10, sp, #8",
            "stm r10, {{r3-r9}}",
            "1:",
            "ldrd r5, r3, [r0, #4]",
            "movs r4, #0",
            "vidup.u32 q6, r4, #1",
            "vmul.i32 q6, q6, r3",
            "vadd.i32 q6, q6, r5",
            "lsls r3, r3, #2",
            "ldr r4, [sp, #44]",
            "movs r5, #16",
            "mls r5, r4, r3, r5",
            "str r5, [sp]",
            "vmov.i32 q7, #32",
            // Four outputs.
            "1:",
            "ldrd r1, r7, [sp, #36]",
            "ldrd r5, r9, [sp, #44]",
            "subs r5, r5, #1",
            "blt 4f",
            // No flag changes.
            operands!(),
            "vadd.i32 q6, q6, r3",
            products!("vmladav.s8"),
            "beq 3f",
            // The others two a round, the first of an odd number in the middle of one.
            "tst r5, #1",
            "bne 8f",
            "2:",
            operands!(),
            "vadd.i32 q6, q6, r3",
            products!("vmladava.s8"),
            "8:",
            operands!(),
            "vadd.i32 q6, q6, r3",
            products!("vmladava.s8"),
            "subs r5, r5, #2",
            "bgt 2b",
            "3:",
            "cmp r9, #0",
            "beq 5f",
            last_operands!(),
            products!("vmladava.s8"),
            // To vectors of four outputs, a place each, and their biases or sums.
            "5:",
            "vmov d0, r0, r2",
            "vmov d1, r4, r6",
            "vmov d2, r8, r10",
            "vmov d3, r12, lr",
            "add r11, sp, #4",
            "ldm r11, {{r0, r1, r2, r4, r5, r6, r7, r8}}",
            "ldr lr, [sp, #52]",
            "vctp.32 lr",
            "cbz r0, 60f",
            "vpst",
            "vldrwt.u32 q2, [r0], #16",
            "vadd.i32 q0, q0, q2",
            "vadd.i32 q1, q1, q2",
            "9:",
            "cbz r1, 70f",
            // To bytes.
            "vpstt",
            "vldrwt.u32 q3, [r1], #16",
            "vldrbt.u32 q4, [r2], #4",
            "vsub.i32 q4, q7, q4",
            "vmulh.s32 q0, q0, q3",
            "vmulh.s32 q1, q1, q3",
            "vrshl.s32 q0, q0, q4",
            "vrshl.s32 q1, q1, q4",
            "vadd.i32 q0, q0, r6",
            "vadd.i32 q1, q1, r6",
            "vdup.32 q2, r7",
            "vdup.32 q3, r8",
            "vmax.s32 q0, q0, q2",
            "vmax.s32 q1, q1, q2",
            "vmin.s32 q0, q0, q3",
            "vmin.s32 q1, q1, q3",
            "adds r5, r4, r5",
            "vpstt",
            "vstrbt.32 q0, [r4], #4",
            "vstrbt.32 q1, [r5]",
            "stm r11, {{r0, r1, r2, r4}}",
            "8:",
            "ldr r11, [sp]",
            "vadd.i32 q6, q6, r11",
            "subs lr, lr, #4",
            "str lr, [sp, #52]",
            "bgt 1b",
            "b 20f",
            "60: b 6f",
            "70: b 7f",
            // No whole vector of groups.
            "4:",
            last_operands!(),
            products!("vmladav.s8"),
            "b 5b",
            // Sums from memory.
            "6:",
            "ldr r12, [sp, #56]",
            "sub r12, r12, lr, lsl #4",
            "add r9, r12, #4",
            "mov r10, #0",
            "vidup.u32 q4, r10, #4",
            "vpstt",
            "vldrwt.u32 q2, [r12, q4, uxtw #2]",
            "vldrwt.u32 q3, [r9, q4, uxtw #2]",
            "vadd.i32 q0, q0, q2",
            "vadd.i32 q1, q1, q3",
            "b 9b",
            // To memory.
            "7:",
            "str r0, [sp, #4]",
            "ldr r12, [sp, #56]",
            "sub r12, r12, lr, lsl #4",
            "add r9, r12, #4",
            "mov r10, #0",
            "vidup.u32 q4, r10, #4",
            "vpstt",
            "vstrwt.32 q0, [r12, q4, uxtw #2]",
            "vstrwt.32 q1, [r9, q4, uxtw #2]",
            "b 8b",
            "20:",
            "add sp, sp, #60",
            "vpop {{d8-d15}}",
            "pop {{r4-r11, lr}}",
            inout("r0") rows => _, inout("r1") first => _, out("r2") _, out("r3") _, out("r12") _,
            out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d4") _, out("d5") _, out("d6") _, out("d7") _,
        );
    }
}
