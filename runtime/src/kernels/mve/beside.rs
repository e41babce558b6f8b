//! Sums of a tile with a second map's elements beside them, four places at a time.
//!
//! Both products have 64 bits, and their sum is rounded at a shift of at most 32: low words are added, and what they
//! carry, wherever a sum is less than what went into it, goes to the high ones. Then the low word gives the last bits and
//! the high one, saturated, those above.

use crate::kernels::micro::finish::FourBeside;
use core::arch::asm;
use core::mem::offset_of;

/// Where the assembly finds them.
const _: () = {
    assert!(
        offset_of!(FourBeside, minus_zero) == 0
            && offset_of!(FourBeside, one) == 4
            && offset_of!(FourBeside, zero) == 8
    );
    assert!(
        offset_of!(FourBeside, sums) == 12 && offset_of!(FourBeside, others) == 16 && offset_of!(FourBeside, out) == 20
    );
    assert!(offset_of!(FourBeside, multipliers) == 24 && offset_of!(FourBeside, of_others) == 28);
    assert!(
        offset_of!(FourBeside, shifts) == 32
            && offset_of!(FourBeside, step) == 36
            && offset_of!(FourBeside, outputs) == 40
    );
    assert!(offset_of!(FourBeside, low) == 44 && offset_of!(FourBeside, high) == 48);
};

macro_rules! function {
    ($name:ident, $load:literal) => {
        /// r4: zero point · r5: sums · r6, r7: the second map and what is written · r8, r9: multipliers · r10: shifts ·
        /// r11: what is added to the second map's elements · r12: one · q6: least value · q7: places. On the stack the
        /// greatest value.
        ///
        /// # Safety
        /// All that the record speaks of can be read and written.
        #[inline(never)]
        unsafe fn $name(four: *const FourBeside) {
            // SAFETY: what the record points to is there, as the caller vouches; every register but the operands is put
            // back, and so is the stack. VPR is no clobber that could be named, and nobody keeps it across a call.
            unsafe {
                asm!(
                    "push {{r4-r11, lr}}",
                    "vpush {{d8-d15}}",
                    "sub sp, sp, #20",
                    "ldrd r1, lr, [r0, #36]",
                    "movs r2, #0",
                    "vidup.u32 q7, r2, #1",
                    "vmul.i32 q7, q7, r1",
                    "ldrd r1, r2, [r0, #44]",
                    "vdup.32 q6, r1",
                    "vdup.32 q0, r2",
                    "vstrw.32 q0, [sp]",
                    "ldm r0, {{r1, r2, r4, r5, r6, r7, r8, r9, r10}}",
                    "mov r11, r1",
                    "mov r12, r2",
                    "dls lr, lr",
                    "2:",
                    "ldr r0, [r8], #4",
                    "ldr r1, [r9], #4",
                    "ldrb r2, [r10], #1",
                    "vdup.32 q2, r0",
                    "vdup.32 q3, r1",
                    "vldrw.u32 q0, [r5], #16",
                    concat!($load, " q1, [r6, q7]"),
                    "vadd.i32 q1, q1, r11",
                    "vmul.i32 q4, q0, q2",
                    "vmulh.s32 q0, q0, q2",
                    "vmul.i32 q5, q1, q3",
                    "vmulh.s32 q1, q1, q3",
                    "vadd.i32 q0, q0, q1",
                    "vadd.i32 q5, q4, q5",
                    "vcmp.u32 hi, q4, q5",
                    "vpst",
                    "vaddt.i32 q0, q0, r12",
                    // Half of a bit.
                    "subs r3, r2, #1",
                    "lsl r3, r12, r3",
                    "vdup.32 q4, r3",
                    "vadd.i32 q5, q5, q4",
                    "vcmp.u32 hi, q4, q5",
                    "vpst",
                    "vaddt.i32 q0, q0, r12",
                    "rsb r3, r2, #32",
                    "rsbs r2, r2, #0",
                    "vshl.u32 q5, r2",
                    "vqshl.s32 q0, r3",
                    // Below the least i32 that adds bits to it, which a byte's ends do not see.
                    "vorr q0, q0, q5",
                    "vqadd.s32 q0, q0, r4",
                    "vldrw.u32 q3, [sp]",
                    "vmax.s32 q0, q0, q6",
                    "vmin.s32 q0, q0, q3",
                    "vstrb.32 q0, [r7, q7]",
                    "adds r6, #1",
                    "adds r7, #1",
                    "le lr, 2b",
                    "add sp, sp, #20",
                    "vpop {{d8-d15}}",
                    "pop {{r4-r11, lr}}",
                    inout("r0") four => _, out("r1") _, out("r2") _, out("r3") _, out("r12") _,
                    out("d0") _, out("d1") _, out("d2") _, out("d3") _,
                    out("d4") _, out("d5") _, out("d6") _, out("d7") _,
                );
            }
        }
    };
}
function!(of_i8, "vldrb.s32");
function!(of_u8, "vldrb.u32");

/// [`crate::kernels::micro::tile::Tile::beside`].
///
/// # Safety
/// As there.
#[inline(always)]
pub(super) unsafe fn beside(four: &FourBeside) {
    // SAFETY: the caller's.
    unsafe { if four.is_signed { of_i8(four) } else { of_u8(four) } }
}
