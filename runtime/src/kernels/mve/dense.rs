//! Dense layers on bytes, a block of eight outputs at a time.
//!
//! VMLADAVA multiplies sixteen bytes by sixteen bytes and adds all products to one register, so it wants sixteen inputs
//! of one row side by side, where K4 has four, and the next four a stride further. A gathering load fetches them: four
//! addresses, a stride apart, in one vector; the rows of a block differ by an offset in the instruction, so one
//! addition moves all of them to the next sixteen inputs. A block of eight rows keeps its sums in the eight registers
//! that VMLADAVA can add to.

use crate::kernels::dsp;
use crate::kernels::micro::dense::{Blocks, Several, affine};
use core::arch::asm;
use core::mem::offset_of;

/// As signed bytes, which they are up to 127.
pub(super) fn affine_u7(x: &[u8], w: &[i8], stride: usize, bias: &[i32], out: &mut [i32]) {
    affine::<Rows, i8>(bytemuck::cast_slice(x), w, stride, bias, out);
}

/// As signed bytes where all are up to 127; other inputs take the kernel of [`crate::kernels::dsp`].
pub(super) fn affine_u8_paired(x: &[u8], w: &[i8], stride: usize, bias: &[i32], out: &mut [i32]) {
    let affine =
        if x.iter().fold(0, |union, byte| union | byte) < 128 { affine_u7 } else { dsp::KERNELS.affine_u8.call };
    affine(x, w, stride, bias, out);
}

pub(super) fn affine_i8(x: &[i8], w: &[i8], stride: usize, bias: &[i32], out: &mut [i32]) {
    affine::<Rows, i8>(x, w, stride, bias, out);
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

    /// One of several.
    #[inline(always)]
    unsafe fn block(x: *const i8, w: *const i8, stride_bytes: usize, groups: usize, sums: *mut i32) {
        // SAFETY: the caller's.
        unsafe { Self::blocks(&Several { x, w, stride_bytes, groups, starts: sums, sums, blocks: 1 }) }
    }

    const HAS_BLOCKS: bool = true;

    /// Four times sixteen inputs a round, then sixteen, then the groups that are left. q2: addresses of four groups'
    /// weights · r1: inputs · r3: four strides · r5: vectors of groups · r9, r11: sums and starts. On the stack:
    /// inputs, vectors of groups, bytes of the groups behind them, the end of the sums, and bytes from a block's
    /// weights behind its last vector to the next block's. All registers are taken, so they are saved here.
    #[inline(never)]
    unsafe fn blocks(several: &Several<i8>) {
        const {
            assert!(offset_of!(Several<i8>, x) == 0 && offset_of!(Several<i8>, w) == 4);
            assert!(offset_of!(Several<i8>, stride_bytes) == 8 && offset_of!(Several<i8>, groups) == 12);
            assert!(offset_of!(Several<i8>, starts) == 16 && offset_of!(Several<i8>, sums) == 20);
            assert!(offset_of!(Several<i8>, blocks) == 24);
        }
        // SAFETY: the loops read four inputs and a block's weights of each of `groups` groups; starts are read and sums
        // written, eight a block; the caller vouches for all of them. Every register but the operands is put back, and
        // so is the stack. VPR is written and cannot be named as a clobber: this stays a function of its own, across
        // whose call nobody keeps it.
        unsafe {
            asm!(
                "push {{r4-r11, lr}}",
                "sub sp, sp, #20",
                "ldrd r1, r2, [r0]",
                "ldrd r3, r4, [r0, #8]",
                "ldrd r11, r9, [r0, #16]",
                "ldr r6, [r0, #24]",
                "add r6, r9, r6, lsl #5",
                "lsrs r5, r4, #2",
                "and r4, r4, #3",
                "lsls r4, r4, #2",
                "strd r1, r5, [sp]",
                "strd r4, r6, [sp, #8]",
                "movs r0, #0",
                "vidup.u32 q2, r0, #1",
                "vmul.i32 q2, q2, r3",
                "vadd.i32 q2, q2, r2",
                "lsls r3, r3, #2",
                "movs r0, #32",
                "mls r0, r5, r3, r0",
                "str r0, [sp, #16]",
                "1:",
                "ldrd r1, r5, [sp]",
                "ldm r11!, {{r0, r2, r4, r6, r8, r10, r12, lr}}",
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
                "ldrd r5, r7, [sp, #8]",
                "cbz r5, 5f",
                "vctp.8 r5",
                "vpst",
                "vldrbt.u8 q0, [r1]",
                some!("#0", "r0", "#4", "r2"),
                some!("#8", "r4", "#12", "r6"),
                some!("#16", "r8", "#20", "r10"),
                some!("#24", "r12", "#28", "lr"),
                "5:",
                "stm r9!, {{r0, r2, r4, r6, r8, r10, r12, lr}}",
                "ldr r5, [sp, #16]",
                "vadd.i32 q2, q2, r5",
                "cmp r9, r7",
                "bne 1b",
                "add sp, sp, #20",
                "pop {{r4-r11, lr}}",
                inout("r0") core::ptr::from_ref(several) => _, out("r1") _, out("r2") _, out("r3") _, out("r12") _,
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
