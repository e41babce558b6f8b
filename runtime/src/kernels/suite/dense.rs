//! Dense layers on bytes.

use super::{Mismatch, PATTERNS, RANDOM_SHAPES, Random, same};
use crate::format::{Layout, claim};
use crate::kernels::{Tier, scalar};

/// Most outputs: eight vectors of sixteen rows, and some.
pub(super) const MOST_ROWS: usize = 180;
/// Most inputs: a list of groups, and some.
pub(super) const MOST_COLS: usize = 1096;
/// Most weights.
pub(super) const WEIGHTS: usize = 24_576;
/// Outputs around tiles of 1, 2, 4 and 8 vectors of 4, 8 and 16 rows.
pub(super) const ROWS: [usize; 20] =
    [1, 3, 4, 5, 8, 10, 12, 16, 17, 31, 32, 33, 36, 60, 64, 65, 68, 128, 132, MOST_ROWS];
/// Inputs around groups, pairs of groups and rounds of chains.
pub(super) const COLS: [usize; 14] = [1, 3, 4, 5, 7, 8, 9, 12, 16, 31, 32, 33, 64, 67];
/// (outputs, inputs) behind accumulators: whole lists, and those that the lists do not take.
const SPARSE: [(usize, usize); 12] = [
    (16, 1024),
    (16, 512),
    (16, 64),
    (8, 256),
    (32, 256),
    (64, 128),
    (4, 128),
    (15, 1024),
    (20, 512),
    (16, 1088),
    (16, 100),
    (1, 32),
];

pub(super) fn check(tier: &Tier, random: &mut Random) -> Result<(), Mismatch> {
    for pattern in 0..PATTERNS {
        for rows in ROWS {
            for cols in COLS {
                every(tier, rows, cols, pattern, random)?;
            }
        }
        for (rows, cols) in SPARSE {
            every(tier, rows, cols, pattern, random)?;
        }
        for _ in 0..RANDOM_SHAPES {
            let rows = 1 + random.below(MOST_ROWS);
            let cols = 1 + random.below(WEIGHTS / (rows + 3) / 4 * 4 - 4).min(MOST_COLS - 1);
            every(tier, rows, cols, pattern, random)?;
        }
    }
    Ok(())
}

fn every(tier: &Tier, rows: usize, cols: usize, pattern: u32, random: &mut Random) -> Result<(), Mismatch> {
    let truth = &scalar::KERNELS;
    let (mut x, mut bias) = ([0u8; MOST_COLS], [0i32; MOST_ROWS]);
    for x in &mut x[..cols] {
        *x = random.i16(pattern) as u8;
    }
    for bias in &mut bias[..rows] {
        *bias = random.i32(pattern);
    }
    let mut w = [0i8; WEIGHTS];
    let stride = rows.next_multiple_of(4);
    let mut fill = |w: &mut [i8; WEIGHTS], limit: i16| {
        for row in 0..rows {
            for col in 0..cols {
                w[Layout::K4.offset(stride, row, col)] = (random.i16(pattern) as i8).clamp(-limit as i8, limit as i8);
            }
        }
    };
    fill(&mut w, 127);
    // The clamp keeps −128 out; every value of a byte must be right.
    w[Layout::K4.offset(stride, rows - 1, cols - 1)] = i8::MIN;
    let (x, signed) = (&x[..cols], bytemuck::cast_slice(&x[..cols]));
    let narrow = x_below_128(x);
    let thin = thinned(x);
    let mut sums = [[0i32; MOST_ROWS]; 2];
    for bias in [&bias[..rows], &[]] {
        let (narrow, thin) = (&narrow[..cols], &thin[..cols]);
        let cases = [
            ("affine_u8", tier.affine_u8.call, x),
            ("affine_u8", tier.affine_u8.call, narrow),
            ("affine_u7", tier.affine_u7.call, narrow),
            ("affine_u7_sparse", tier.affine_u7_sparse.call, narrow),
            ("affine_u7_sparse", tier.affine_u7_sparse.call, thin),
        ];
        for (operation, call, x) in cases {
            let [found, expected] = &mut sums;
            call(x, &w, stride, bias, &mut found[..rows]);
            (truth.affine_u8.call)(x, &w, stride, bias, &mut expected[..rows]);
            same(operation, cols, &found[..rows], &expected[..rows])?;
        }
        let [found, expected] = &mut sums;
        (tier.affine_i8.call)(signed, &w, stride, bias, &mut found[..rows]);
        (truth.affine_i8.call)(signed, &w, stride, bias, &mut expected[..rows]);
        same("affine_i8", cols, &found[..rows], &expected[..rows])?;
    }
    // Four weights of one sign at the limit of the claim: 64 + 64 + 64 + 66 = 258.
    fill(&mut w, (claim::QUAD_LIMIT / 4) as i16);
    w[Layout::K4.offset(stride, 0, 0)] = if w[0] < 0 { -66 } else { 66 };
    let [found, expected] = &mut sums;
    (tier.affine_u7_paired.call)(&narrow[..cols], &w, stride, &bias[..rows], &mut found[..rows]);
    (truth.affine_u7_paired.call)(&narrow[..cols], &w, stride, &bias[..rows], &mut expected[..rows]);
    same("affine_u7_paired", cols, &found[..rows], &expected[..rows])?;
    for x in [&narrow[..cols], x] {
        (tier.affine_u8_paired.call)(x, &w, stride, &bias[..rows], &mut found[..rows]);
        (truth.affine_u8_paired.call)(x, &w, stride, &bias[..rows], &mut expected[..rows]);
        same("affine_u8_paired", cols, &found[..rows], &expected[..rows])?;
    }
    Ok(())
}

/// The same inputs without their top bits: what most layers hand on.
fn x_below_128(x: &[u8]) -> [u8; MOST_COLS] {
    let mut narrow = [0; MOST_COLS];
    for (narrow, x) in narrow.iter_mut().zip(x) {
        *narrow = x & 127;
    }
    narrow
}

/// The same inputs with three quarters of the groups zero.
fn thinned(x: &[u8]) -> [u8; MOST_COLS] {
    let mut thin = x_below_128(x);
    for (group, bytes) in thin.chunks_mut(4).enumerate() {
        if group % 4 != 1 && group % 7 != 0 {
            bytes.fill(0);
        }
    }
    thin
}
