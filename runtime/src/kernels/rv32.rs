//! The blocks of the blocked tier on RISC-V of 32 bits, by hand: eight sums and four inputs stay in registers, a weight
//! is loaded with its sign, multiplied and added. Compilers take the loads of a block apart and spill what they hold.

use super::micro::words::{PLACES, Sums};
use core::arch::asm;

/// Rows of a block.
pub(super) const ROWS: usize = 8;

/// One row of a group: four weights at an offset from {w}, inputs in {x0} to {x3}.
macro_rules! row {
    ($a:literal, $b:literal, $c:literal, $d:literal, $sum:literal) => {
        concat!(
            "lb {t}, ",
            $a,
            "({w})\n mul {t}, {t}, {x0}\n add ",
            $sum,
            ", ",
            $sum,
            ", {t}\n",
            "lb {t}, ",
            $b,
            "({w})\n mul {t}, {t}, {x1}\n add ",
            $sum,
            ", ",
            $sum,
            ", {t}\n",
            "lb {t}, ",
            $c,
            "({w})\n mul {t}, {t}, {x2}\n add ",
            $sum,
            ", ",
            $sum,
            ", {t}\n",
            "lb {t}, ",
            $d,
            "({w})\n mul {t}, {t}, {x3}\n add ",
            $sum,
            ", ",
            $sum,
            ", {t}\n",
        )
    };
}

macro_rules! functions {
    ($kind:ty, $load:literal, $block:ident, $one:ident) => {
        /// `sums[r] += Σ x[k]·w[r,k]`.
        ///
        /// # Safety
        /// As [`super::micro::dense::Blocks::block`].
        pub(super) unsafe fn $block(x: *const $kind, w: *const i8, stride_bytes: usize, groups: usize, sums: *mut i32) {
            // SAFETY: the caller vouches for the sums, whose rows and a group's weights are those of a block.
            let [s0, s1, s2, s3, s4, s5, s6, s7] = unsafe { &mut *sums.cast::<[i32; ROWS]>() };
            if groups == 0 {
                return;
            }
            // SAFETY: the loop reads four inputs and a block's weights of each of `groups` groups, for which the caller
            // vouches, and writes no memory.
            unsafe {
                asm!(
                    "2:",
                    concat!($load, " {x0}, 0({x})"),
                    concat!($load, " {x1}, 1({x})"),
                    concat!($load, " {x2}, 2({x})"),
                    concat!($load, " {x3}, 3({x})"),
                    "addi {x}, {x}, 4",
                    row!("0", "1", "2", "3", "{s0}"),
                    row!("4", "5", "6", "7", "{s1}"),
                    row!("8", "9", "10", "11", "{s2}"),
                    row!("12", "13", "14", "15", "{s3}"),
                    row!("16", "17", "18", "19", "{s4}"),
                    row!("20", "21", "22", "23", "{s5}"),
                    row!("24", "25", "26", "27", "{s6}"),
                    row!("28", "29", "30", "31", "{s7}"),
                    "add {w}, {w}, {stride}",
                    "bne {x}, {end}, 2b",
                    x = inout(reg) x => _, end = in(reg) x.add(4 * groups),
                    w = inout(reg) w => _, stride = in(reg) stride_bytes,
                    x0 = out(reg) _, x1 = out(reg) _, x2 = out(reg) _, x3 = out(reg) _, t = out(reg) _,
                    s0 = inout(reg) *s0, s1 = inout(reg) *s1, s2 = inout(reg) *s2, s3 = inout(reg) *s3,
                    s4 = inout(reg) *s4, s5 = inout(reg) *s5, s6 = inout(reg) *s6, s7 = inout(reg) *s7,
                    options(readonly, nostack)
                );
            }
        }

        /// The same for one row, returned.
        ///
        /// # Safety
        /// As [`super::micro::dense::Blocks::one`].
        pub(super) unsafe fn $one(x: *const $kind, w: *const i8, stride_bytes: usize, groups: usize) -> i32 {
            let mut sum = 0;
            if groups == 0 {
                return sum;
            }
            // SAFETY: as above, for one row.
            unsafe {
                asm!(
                    "2:",
                    concat!($load, " {x0}, 0({x})"),
                    concat!($load, " {x1}, 1({x})"),
                    concat!($load, " {x2}, 2({x})"),
                    concat!($load, " {x3}, 3({x})"),
                    "addi {x}, {x}, 4",
                    row!("0", "1", "2", "3", "{sum}"),
                    "add {w}, {w}, {stride}",
                    "bne {x}, {end}, 2b",
                    x = inout(reg) x => _, end = in(reg) x.add(4 * groups),
                    w = inout(reg) w => _, stride = in(reg) stride_bytes,
                    x0 = out(reg) _, x1 = out(reg) _, x2 = out(reg) _, x3 = out(reg) _, t = out(reg) _,
                    sum = inout(reg) sum,
                    options(readonly, nostack)
                );
            }
            sum
        }
    };
}
functions!(u8, "lbu", block_u8, one_u8);
functions!(i8, "lb", block_i8, one_i8);

/// Tiles of four places.
pub(super) struct Places;

/// An input of four places, at offsets from {x}, and its weight, at one from {w}.
macro_rules! input {
    ($a:literal, $b:literal, $c:literal, $d:literal, $weight:literal) => {
        concat!(
            "lb {t}, ",
            $weight,
            "({w})\n",
            "lw {x0}, ",
            $a,
            "({x})\n lw {x1}, ",
            $b,
            "({x})\n lw {x2}, ",
            $c,
            "({x})\n lw {x3}, ",
            $d,
            "({x})\n",
            "mul {x0}, {x0}, {t}\n mul {x1}, {x1}, {t}\n mul {x2}, {x2}, {t}\n mul {x3}, {x3}, {t}\n",
            "add {s0}, {s0}, {x0}\n add {s1}, {s1}, {x1}\n add {s2}, {s2}, {x2}\n add {s3}, {s3}, {x3}\n",
        )
    };
}

impl Sums for Places {
    #[inline(always)]
    unsafe fn add(sums: &mut [i32; PLACES], x: *const u32, w: *const i8, stride_bytes: usize, groups: usize) {
        let [s0, s1, s2, s3] = sums;
        // SAFETY: the loop reads four inputs of four places and four weights of each of `groups` groups, at least one,
        // for which the caller vouches, and writes no memory.
        unsafe {
            asm!(
                "2:",
                input!("0", "4", "8", "12", "0"),
                input!("16", "20", "24", "28", "1"),
                input!("32", "36", "40", "44", "2"),
                input!("48", "52", "56", "60", "3"),
                "addi {x}, {x}, 64",
                "add {w}, {w}, {stride}",
                "bne {x}, {end}, 2b",
                x = inout(reg) x => _, end = in(reg) x.add(4 * PLACES * groups),
                w = inout(reg) w => _, stride = in(reg) stride_bytes,
                x0 = out(reg) _, x1 = out(reg) _, x2 = out(reg) _, x3 = out(reg) _, t = out(reg) _,
                s0 = inout(reg) *s0, s1 = inout(reg) *s1, s2 = inout(reg) *s2, s3 = inout(reg) *s3,
                options(readonly, nostack)
            );
        }
    }
}
