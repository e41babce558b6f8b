//! From sums to what the next layer reads, four at a time.

use crate::num::{HIGH_WORD_ONLY, around_zero};
use core::arch::asm;

/// The bit of FPSCR that says that a vector's lane was saturated.
const SATURATED: u32 = 1 << 27;

/// Four sums a round: the high word of the product, rounded at the shift, which lies above it, as `micro::requantise`
/// explains. Where a shift is too small for that, sums are shifted up until it is large enough, which changes nothing
/// as long as they keep to 32 bits; the processor notes if one did not. Then both words are taken of all of them: half
/// of a bit is added to the word that it lies in, with what is carried, and what a shift by more than a word leaves of
/// a word is its sign or nothing, as VSHL does it. A value whose sign is not that of what lies above it has left its 32
/// bits. The first shift says which way is tried first.
macro_rules! requantise {
    ($name:ident, $kind:ty, $store:literal) => {
        pub(super) fn $name(
            x: &[i32],
            multipliers: &[i32],
            shifts: &[u8],
            low: i32,
            high: i32,
            zero: i32,
            out: &mut [$kind],
        ) {
            let len = out.len();
            let (low, high, zero) = around_zero(low, high, zero);
            if x.len() < len || multipliers.len() < len || shifts.len() < len {
                return;
            }
            if shifts.first().is_some_and(|first| u32::from(*first) < HIGH_WORD_ONLY) {
                return shifted_up(x, multipliers, shifts, low, high, zero, out);
            }
            let mut least = HIGH_WORD_ONLY;
            // SAFETY: all slices hold `len` elements, and tail predication keeps the loop from reading or writing more.
            unsafe {
                asm!(
                    "vdup.32 q2, {low}",
                    "vdup.32 q3, {high}",
                    "vmov.i32 q4, #32",
                    "wlstp.32 lr, {len}, 3f",
                    "2:",
                    "vldrw.u32 q0, [{x}], #16",
                    "vldrw.u32 q1, [{m}], #16",
                    "vmulh.s32 q0, q0, q1",
                    "vldrb.u32 q1, [r0], #4",
                    "vminv.u32 {least}, q1",
                    "vsub.i32 q1, q4, q1",
                    "vrshl.s32 q0, q0, q1",
                    "vmax.s32 q0, q0, q2",
                    "vmin.s32 q0, q0, q3",
                    "vadd.i32 q0, q0, {zero}",
                    $store,
                    "letp lr, 2b",
                    "3:",
                    low = in(reg) low, high = in(reg) high, zero = in(reg) zero, len = in(reg) len,
                    x = inout(reg) x.as_ptr() => _, m = inout(reg) multipliers.as_ptr() => _,
                    least = inout(reg) least,
                    // Loads and stores that widen or narrow take a low register.
                    inout("r0") shifts.as_ptr() => _, inout("r1") out.as_mut_ptr() => _, out("lr") _,
                    out("d0") _, out("d1") _, out("d2") _, out("d3") _,
                    out("d4") _, out("d5") _, out("d6") _, out("d7") _, out("d8") _, out("d9") _,
                    options(nostack)
                );
            }
            if least < HIGH_WORD_ONLY {
                shifted_up(x, multipliers, shifts, low, high, zero, out);
            }
            #[inline(never)]
            fn shifted_up(
                x: &[i32],
                multipliers: &[i32],
                shifts: &[u8],
                low: i32,
                high: i32,
                zero: i32,
                out: &mut [$kind],
            ) {
                let mut state: u32;
                // SAFETY: as above; the caller has compared the lengths. Of FPSCR no bit but the one for saturation
                // changes, which nothing else reads.
                unsafe {
                    asm!(
                        "vmrs {state}, fpscr",
                        "bic {state}, {state}, #{saturated}",
                        "vmsr fpscr, {state}",
                        "vdup.32 q2, {low}",
                        "vdup.32 q3, {high}",
                        "vmov.i32 q5, #32",
                        "vmvn.i32 q6, #0",
                        "wlstp.32 lr, {len}, 3f",
                        "2:",
                        "vldrw.u32 q0, [{x}], #16",
                        "vldrw.u32 q1, [{m}], #16",
                        "vldrb.u32 q4, [r0], #4",
                        "vsub.i32 q4, q5, q4",
                        // By how much it is less than 33, and what is left to shift down: one at least.
                        "vmax.s32 q7, q4, q6",
                        "vmin.s32 q4, q4, q6",
                        "vsub.i32 q7, q7, q6",
                        "vqshl.s32 q0, q0, q7",
                        "vmulh.s32 q0, q0, q1",
                        "vrshl.s32 q0, q0, q4",
                        "vmax.s32 q0, q0, q2",
                        "vmin.s32 q0, q0, q3",
                        "vadd.i32 q0, q0, {zero}",
                        $store,
                        "letp lr, 2b",
                        "3:",
                        "vmrs {state}, fpscr",
                        state = out(reg) state, saturated = const SATURATED,
                        low = in(reg) low, high = in(reg) high, zero = in(reg) zero, len = in(reg) out.len(),
                        x = inout(reg) x.as_ptr() => _, m = inout(reg) multipliers.as_ptr() => _,
                        inout("r0") shifts.as_ptr() => _, inout("r1") out.as_mut_ptr() => _, out("lr") _,
                        out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d4") _, out("d5") _,
                        out("d6") _, out("d7") _, out("d8") _, out("d9") _, out("d10") _, out("d11") _,
                        out("d12") _, out("d13") _, out("d14") _, out("d15") _,
                        options(nostack)
                    );
                }
                if state & SATURATED != 0 {
                    by_both_words(x, multipliers, shifts, low, high, zero, out);
                }
            }
            #[inline(never)]
            fn by_both_words(
                x: &[i32],
                multipliers: &[i32],
                shifts: &[u8],
                low: i32,
                high: i32,
                zero: i32,
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
                        "vadd.i32 q0, q0, {zero}",
                        $store,
                        "letp lr, 2b",
                        "3:",
                        low = in(reg) low, high = in(reg) high, zero = in(reg) zero, len = in(reg) out.len(),
                        word = in(reg) 32, one = in(reg) 1,
                        x = inout(reg) x.as_ptr() => _, m = inout(reg) multipliers.as_ptr() => _,
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
