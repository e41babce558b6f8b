//! What the machine can do at most: its clock, its caches, its multipliers. A kernel's time means something beside
//! these.

#[cfg(target_arch = "x86_64")]
mod vectors;

use crate::{Cases, PORTABLE};
use std::hint::black_box;

/// The clock twice, then bandwidths and multiplications where the instructions for them are known.
///
/// Each chain waits for its own result. A processor may fold an addition of a constant while it renames registers;
/// these operands lie in registers, which none folds today. Where the two clocks disagree, the one with the multiplier
/// is right.
pub fn limits(cases: &mut Cases) {
    let [one, two] = black_box([0x9E37_79B9_7F4A_7C15_u64, 0xBF58_476D_1CE4_E5B9]);
    cases.single("clock-add-xor", "20-cycles", PORTABLE, 20, || {
        let mut x = black_box(1_u64);
        move |iterations| {
            for _ in 0..iterations {
                x = black_box((0..10).fold(x, |x, _| x.wrapping_add(one) ^ two));
            }
        }
    });
    // A multiplication takes three cycles and the exclusive or one, on every x86-64 processor since 2011 and most
    // others.
    cases.single("clock-multiply-xor", "40-cycles", PORTABLE, 40, || {
        let mut x = black_box(1_u64);
        move |iterations| {
            for _ in 0..iterations {
                x = black_box((0..10).fold(x, |x, _| x.wrapping_mul(one) ^ two));
            }
        }
    });
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(simd) = pulp::x86::V3::try_new() {
            vectors::limits(simd, cases);
        }
        if let Some(simd) = pulp::x86::V4::try_new() {
            vectors::limits(simd, cases);
        }
    }
}
