//! Dense layers on i16.

use super::{Mismatch, PATTERNS, RANDOM_SHAPES, Random, same};
use crate::format::Layout;
use crate::kernels::{Tier, scalar};

const MOST_ROWS: usize = 21;
const MOST_COLS: usize = 200;
/// The longest row is padded to a multiple of 32 i16.
const WEIGHTS: usize = MOST_ROWS * 224;
/// Outputs around the four rows that pass together.
const ROWS: [usize; 7] = [1, 3, 4, 5, 8, 9, MOST_ROWS];
/// Inputs around vectors of 8, 16 and 32.
const COLS: [usize; 14] = [1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 65, 127, MOST_COLS];

pub(super) fn check(tier: &Tier, random: &mut Random) -> Result<(), Mismatch> {
    for pattern in 0..PATTERNS {
        for rows in ROWS {
            for cols in COLS {
                every(tier, rows, cols, pattern, random)?;
            }
        }
        for _ in 0..RANDOM_SHAPES {
            let (rows, cols) = (1 + random.below(MOST_ROWS), 1 + random.below(MOST_COLS));
            every(tier, rows, cols, pattern, random)?;
        }
    }
    Ok(())
}

fn every(tier: &Tier, rows: usize, cols: usize, pattern: u32, random: &mut Random) -> Result<(), Mismatch> {
    let truth = &scalar::KERNELS;
    let (mut x, mut w, mut bytes) = ([0i16; MOST_COLS], [0i16; WEIGHTS], [0i8; WEIGHTS]);
    let mut bias = [0i32; MOST_ROWS];
    x.iter_mut().chain(&mut w).for_each(|value| *value = random.i16(pattern));
    bytes.iter_mut().for_each(|value| *value = random.i16(pattern) as i8);
    bias.iter_mut().for_each(|value| *value = random.i32(pattern));
    let x = &x[..cols];
    // What lies behind a row's columns is not zero here, so that a kernel that reads it shows.
    let stride = Layout::Rows.stride(rows, cols, 2).unwrap_or(cols);
    let mut sums = [[0i32; MOST_ROWS]; 2];
    for bias in [&bias[..rows], &[]] {
        let [found, expected] = &mut sums;
        (tier.affine_i16.call)(x, &w, stride, bias, &mut found[..rows]);
        (truth.affine_i16.call)(x, &w, stride, bias, &mut expected[..rows]);
        same("affine_i16", cols, &found[..rows], &expected[..rows])?;
        (tier.affine_i16_i8.call)(x, &bytes, stride, bias, &mut found[..rows]);
        (truth.affine_i16_i8.call)(x, &bytes, stride, bias, &mut expected[..rows]);
        same("affine_i16_i8", cols, &found[..rows], &expected[..rows])?;
    }
    Ok(())
}
