//! The f32 kernels: equal bits, not equal within something.

use super::{Mismatch, PATTERNS, Random, same};
use crate::format::activation;
use crate::kernels::{Kernels, scalar};

/// The longest vector.
const LONGEST: usize = 67;
const LENGTHS: [usize; 14] = [0, 1, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, LONGEST];
/// Rows around tiles of eight.
const ROWS: [usize; 9] = [1, 2, 7, 8, 9, 16, 17, 32, 33];
/// Columns around eight lanes.
const COLS: [usize; 11] = [1, 2, 3, 7, 8, 9, 16, 20, 32, 33, LONGEST];
/// Rows of 80 elements, 33 of them.
const WEIGHTS: usize = 80 * 33;

pub(super) fn check(tier: &Kernels, random: &mut Random) -> Result<(), Mismatch> {
    for pattern in 0..PATTERNS {
        for len in LENGTHS {
            elementwise(tier, len, pattern, random)?;
        }
        for rows in ROWS {
            for cols in COLS {
                affine(tier, rows, cols, pattern, random)?;
            }
        }
    }
    for rows in ROWS {
        for cols in COLS {
            zeros(tier, rows, cols)?;
        }
    }
    Ok(())
}

fn elementwise(tier: &Kernels, len: usize, pattern: u32, random: &mut Random) -> Result<(), Mismatch> {
    let truth = &scalar::KERNELS;
    let (mut reals, mut sums, mut bias) = ([0f32; LONGEST], [0i32; LONGEST], [0f32; LONGEST]);
    for index in 0..LONGEST {
        (reals[index], sums[index]) = (random.f32(pattern), random.i32(pattern));
        bias[index] = random.f32(pattern);
    }
    // What no clamp may let through, and what the ends of a clamp are.
    let hard = [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, 1.0, f32::MIN_POSITIVE / 2.0];
    for (real, hard) in reals.iter_mut().skip(pattern as usize).step_by(3).zip(hard) {
        *real = hard;
    }
    let even = len - len % 2;
    for code in activation::IDENTITY..=activation::DUAL_CRELU {
        let (read, written) = match code {
            activation::PAIRWISE_CRELU => (even, even / 2),
            activation::DUAL_CRELU => (len, 2 * len),
            _ => (len, len),
        };
        let (mut found, mut expected) = ([0f32; 2 * LONGEST], [0f32; 2 * LONGEST]);
        (tier.activation_f32.call)(&reals[..read], code, &mut found[..written]);
        (truth.activation_f32.call)(&reals[..read], code, &mut expected[..written]);
        same("activation_f32", len, &found.map(f32::to_bits), &expected.map(f32::to_bits))?;
    }
    for bias in [&bias[..len], &[]] {
        for code in activation::IDENTITY..=activation::SQRRELU {
            let (mut found, mut expected) = ([0f32; LONGEST], [0f32; LONGEST]);
            (tier.dequantise_f32.call)(&sums[..len], 1.0 / 8_193.0, bias, code, &mut found[..len]);
            (truth.dequantise_f32.call)(&sums[..len], 1.0 / 8_193.0, bias, code, &mut expected[..len]);
            same("dequantise_f32", len, &found.map(f32::to_bits), &expected.map(f32::to_bits))?;
        }
    }
    Ok(())
}

fn affine(tier: &Kernels, rows: usize, cols: usize, pattern: u32, random: &mut Random) -> Result<(), Mismatch> {
    let truth = &scalar::KERNELS;
    let (mut x, mut w, mut bias) = ([0f32; LONGEST], [0f32; WEIGHTS], [0f32; 64]);
    for x in &mut x {
        *x = random.f32(pattern);
    }
    for bias in &mut bias {
        *bias = random.f32(pattern);
    }
    let stride = cols.next_multiple_of(16);
    for row in 0..rows {
        for col in 0..cols {
            w[row * stride + col] = random.f32(pattern);
        }
    }
    for bias in [&bias[..rows], &[]] {
        for code in activation::IDENTITY..=activation::SQRRELU {
            let (mut found, mut expected) = ([0f32; 64], [0f32; 64]);
            (tier.affine_f32.call)(&x[..cols], &w, stride, bias, code, &mut found[..rows]);
            (truth.affine_f32.call)(&x[..cols], &w, stride, bias, code, &mut expected[..rows]);
            same("affine_f32", cols, &found.map(f32::to_bits), &expected.map(f32::to_bits))?;
        }
    }
    Ok(())
}

/// Sums of nothing but −0, which are +0 in the definition, since it begins with +0.
fn zeros(tier: &Kernels, rows: usize, cols: usize) -> Result<(), Mismatch> {
    let (x, w) = ([0f32; LONGEST], [-1f32; WEIGHTS]);
    let mut found = [1f32; 64];
    (tier.affine_f32.call)(&x[..cols], &w, cols.next_multiple_of(16), &[], activation::IDENTITY, &mut found[..rows]);
    same("affine_f32", cols, &found.map(f32::to_bits)[..rows], &[0u32; 64][..rows])
}
