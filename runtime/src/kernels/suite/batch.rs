//! Batches: dense layers on several inputs, and real numbers stored as bytes.

use super::dense::{COLS, MOST_COLS, MOST_ROWS, ROWS, WEIGHTS};
use super::{Mismatch, PATTERNS, RANDOM_SHAPES, Random, same};
use crate::format::Layout;
use crate::kernels::{AffineI8, Tier, scalar};
use core::array::from_fn;

/// Inputs of the longest batch: whole tiles, a pair and a single one.
const MOST: usize = 27;
/// Columns of the widest layer here.
const WIDEST: usize = 260;

pub(super) fn check(tier: &Tier, random: &mut Random) -> Result<(), Mismatch> {
    const { assert!(WIDEST <= MOST_COLS) };
    // Every number of inputs, and with it every tile, comes with every row of shapes.
    let mut count = 0;
    for pattern in 0..PATTERNS {
        for rows in ROWS {
            for cols in COLS {
                count = count % MOST + 1;
                layers(tier, rows, cols, count, pattern, random)?;
            }
        }
        for _ in 0..RANDOM_SHAPES {
            let rows = 1 + random.below(MOST_ROWS);
            let cols = 1 + random.below((WEIGHTS / (rows + 3) / 4 * 4 - 4).min(WIDEST) - 1);
            layers(tier, rows, cols, 1 + random.below(MOST), pattern, random)?;
        }
    }
    stored(tier, random)
}

/// Each input as if it were alone, u8 of any value, u8 up to 127, i8.
fn layers(
    tier: &Tier,
    rows: usize,
    cols: usize,
    count: usize,
    pattern: u32,
    random: &mut Random,
) -> Result<(), Mismatch> {
    let stride = rows.next_multiple_of(4);
    let (mut w, mut bias) = ([0i8; WEIGHTS], [0i32; MOST_ROWS]);
    for row in 0..rows {
        bias[row] = random.i32(pattern);
        for col in 0..cols {
            w[Layout::K4.offset(stride, row, col)] = random.i16(pattern) as i8;
        }
    }
    let mut any = [[0u8; WIDEST]; MOST];
    for x in any[..count].iter_mut().flat_map(|x| &mut x[..cols]) {
        *x = random.i16(pattern) as u8;
    }
    let low = any.map(|x| x.map(|x| x & 127));
    let one_u8: AffineI8<u8> = scalar::KERNELS.affine_u8.call;
    let one_i8 = scalar::KERNELS.affine_i8.call;
    for (x, is_signed) in [(&any, false), (&low, false), (&any, true)] {
        let bias = if random.below(4) == 0 { &[] } else { &bias[..rows] };
        let x: [&[u8]; MOST] = from_fn(|index| &x[index][..cols]);
        let mut found = [[7; MOST_ROWS]; MOST];
        let mut out = found.each_mut().map(|out| &mut out[..rows]);
        let (operation, call) = if is_signed {
            ("batch.affine_i8", tier.batch.affine_i8)
        } else {
            ("batch.affine_u8", tier.batch.affine_u8)
        };
        call(&x[..count], &w, stride, bias, &mut out[..count]);
        for (x, found) in x.iter().zip(&found).take(count) {
            let mut expected = [0; MOST_ROWS];
            if is_signed {
                one_i8(bytemuck::cast_slice(x), &w, stride, bias, &mut expected[..rows]);
            } else {
                one_u8(x, &w, stride, bias, &mut expected[..rows]);
            }
            same(operation, cols, &found[..rows], &expected[..rows])?;
        }
    }
    Ok(())
}

/// Units in use and at the ends of f32, zero points in and beyond the type, numbers at halves of the unit, beside them
/// and anywhere.
fn stored(tier: &Tier, random: &mut Random) -> Result<(), Mismatch> {
    const LONGEST: usize = 67;
    let truth = &scalar::BATCH;
    let units = [1.0, 1.0 / 255.0, 0.1, 3.0, 7e-39, 1e-45, 1e37, 0.999_999_94];
    let kinds = [
        ("batch.store_u8", tier.batch.store_u8, truth.store_u8, [0, 128, 255, -1, 300]),
        ("batch.store_i8", tier.batch.store_i8, truth.store_i8, [0, -128, 127, 128, -129]),
    ];
    for unit in units.into_iter().chain(from_fn::<f32, 16, _>(|_| f32::from_bits(random.next() % 0x7f00_0000 + 1))) {
        for (operation, call, true_call, zeros) in kinds {
            for zero in zeros {
                let mut x = [0f32; LONGEST];
                for (index, x) in x.iter_mut().enumerate() {
                    let half = (random.below(1100) as f32 - 550.0) / 2.0 * unit;
                    let near = |step: i32| f32::from_bits(half.to_bits().wrapping_add_signed(step));
                    *x = match index % 5 {
                        0 => half,
                        1 => near(1),
                        2 => near(-1),
                        3 => random.f32(index as u32 % 4),
                        _ => f32::from_bits(random.next()),
                    };
                    if !x.is_finite() {
                        *x = f32::MAX;
                    }
                }
                let len = 1 + random.below(LONGEST);
                let (mut found, mut expected) = ([7; LONGEST], [7; LONGEST]);
                let is_finite = call(&x[..len], unit, zero, &mut found[..len]);
                true_call(&x[..len], unit, zero, &mut expected[..len]);
                same(operation, len, &found, &expected)?;
                same(operation, len, &[is_finite], &[true])?;
                for odd in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                    x[random.below(len)] = odd;
                    same(operation, len, &[call(&x[..len], unit, zero, &mut found[..len])], &[false])?;
                }
            }
        }
    }
    Ok(())
}
