//! The f32 kernels: equal bits, not equal within something.

use super::{Mismatch, PATTERNS, Random, same};
use crate::features::IS_SMALL;
use crate::format::{Layout, activation};
use crate::kernels::{Dequantisation, RealLayer, TAIL_WIDTH, Tier, scalar};
use crate::sure::sure;

/// The longest vector.
const LONGEST: usize = 67;
const LENGTHS: [usize; 14] = [0, 1, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, LONGEST];
/// Rows around tiles of eight, sixteen and 32, and those that take two kinds of tiles.
const ROWS: [usize; 11] = [1, 2, 7, 8, 9, 16, 17, 24, 32, 33, 48];
/// Columns around eight lanes.
const COLS: [usize; 11] = [1, 2, 3, 7, 8, 9, 16, 20, 32, 33, LONGEST];
/// As many rows as there can be, each of the most columns, padded.
const WEIGHTS: usize = 80 * 48;

pub(super) fn check(tier: &Tier, random: &mut Random) -> Result<(), Mismatch> {
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
    // Firmware runs single steps.
    if !IS_SMALL {
        for pattern in 0..PATTERNS {
            for inputs in [1, 7, 8, 16, 20, TAIL_WIDTH] {
                for hidden in [1, 8, 9, 16, 32, TAIL_WIDTH] {
                    tail(tier, inputs, hidden, pattern, random)?;
                }
            }
        }
    }
    Ok(())
}

fn elementwise(tier: &Tier, len: usize, pattern: u32, random: &mut Random) -> Result<(), Mismatch> {
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

fn affine(tier: &Tier, rows: usize, cols: usize, pattern: u32, random: &mut Random) -> Result<(), Mismatch> {
    let truth = &scalar::KERNELS;
    let (mut x, mut w, mut bias) = ([0f32; LONGEST], [0f32; WEIGHTS], [0f32; 64]);
    for x in &mut x {
        *x = random.f32(pattern);
    }
    for bias in &mut bias {
        *bias = random.f32(pattern);
    }
    for w in &mut w {
        *w = random.f32(pattern);
    }
    for (name, stride, found_by, expected_by) in [
        ("affine_f32", row_stride(cols), tier.affine_f32, truth.affine_f32),
        ("affine_f32_columns", column_stride(rows), tier.affine_f32_columns, truth.affine_f32_columns),
    ] {
        for bias in [&bias[..rows], &[]] {
            for code in activation::IDENTITY..=activation::SQRRELU {
                let (mut found, mut expected) = ([0f32; 64], [0f32; 64]);
                (found_by.call)(&x[..cols], &w, stride, bias, code, &mut found[..rows]);
                (expected_by.call)(&x[..cols], &w, stride, bias, code, &mut expected[..rows]);
                same(name, cols, &found.map(f32::to_bits), &expected.map(f32::to_bits))?;
            }
        }
    }
    Ok(())
}

const fn row_stride(cols: usize) -> usize {
    cols.next_multiple_of(16)
}

/// As a file has it.
const fn column_stride(rows: usize) -> usize {
    if rows > 16 { rows.next_multiple_of(16) } else { rows.next_power_of_two() }
}

/// Sums of nothing but −0, which are +0 in the definition, since it begins with +0.
fn zeros(tier: &Tier, rows: usize, cols: usize) -> Result<(), Mismatch> {
    let (x, w) = ([0f32; LONGEST], [-1f32; WEIGHTS]);
    for (name, stride, affine) in [
        ("affine_f32", row_stride(cols), tier.affine_f32),
        ("affine_f32_columns", column_stride(rows), tier.affine_f32_columns),
    ] {
        let mut found = [1f32; 64];
        (affine.call)(&x[..cols], &w, stride, &[], activation::IDENTITY, &mut found[..rows]);
        same(name, cols, &found.map(f32::to_bits)[..rows], &[0u32; 64][..rows])?;
    }
    Ok(())
}

/// Sums, a hidden layer in either layout, and one output or three, or the hidden layer alone.
fn tail(tier: &Tier, inputs: usize, hidden: usize, pattern: u32, random: &mut Random) -> Result<(), Mismatch> {
    let truth = &scalar::KERNELS;
    let (mut sums, mut bias) = ([0i32; TAIL_WIDTH], [0f32; TAIL_WIDTH]);
    let mut weights = [[0f32; TAIL_WIDTH * TAIL_WIDTH]; 2];
    sums.iter_mut().for_each(|sum| *sum = random.i32(pattern) >> 8);
    bias.iter_mut().for_each(|bias| *bias = random.f32(0));
    weights.as_flattened_mut().iter_mut().for_each(|weight| *weight = random.f32(pattern));
    // Every activation at every place, with biases and without.
    let code = |turn: usize| activation::IDENTITY + turn as u32 % activation::SQRRELU;
    for case in 0..10 {
        let layout = if case % 2 == 0 { Layout::Columns } else { Layout::Rows };
        let outputs = if case < 8 { 1 } else { 3 };
        let biases = if case % 3 == 2 { &[] } else { &bias[..inputs] };
        let first = Dequantisation { factor: 1.0 / 512.0, bias: biases, activation: code(case) };
        let layer = |layout: Layout, weights, (rows, cols): (usize, usize), activation| RealLayer {
            layout,
            weights,
            stride: sure(layout.stride(rows, cols, size_of::<f32>())),
            bias: if case % 5 == 4 { &[] } else { &bias[..rows] },
            activation,
            outputs: rows,
        };
        let [one, two] = &weights;
        let layers = [
            layer(layout, one, (hidden, inputs), code(case / 2 + case)),
            layer(Layout::Rows, two, (outputs, hidden), if case < 5 { activation::IDENTITY } else { code(case) }),
        ];
        for (layers, outputs) in [(&layers[..], outputs), (&layers[..1], hidden)] {
            let (mut found, mut expected) = ([0f32; TAIL_WIDTH], [0f32; TAIL_WIDTH]);
            (tier.tail_f32.call)(&sums[..inputs], &first, layers, 400.0, &mut found[..outputs]);
            (truth.tail_f32.call)(&sums[..inputs], &first, layers, 400.0, &mut expected[..outputs]);
            same("tail_f32", inputs, &found.map(f32::to_bits), &expected.map(f32::to_bits))?;
        }
    }
    Ok(())
}
