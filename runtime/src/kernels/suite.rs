//! The one suite: every operation of a tier against the definition, tolerance 0.
//!
//! It is library code, `no_std` and without allocation, so that a board under emulation runs the very checks that
//! `cargo test` runs. Lengths stand on, below and above every vector width in use (4, 8, 16, 32, 64); values are random
//! or sit at the ends of their range, where saturation, sign and wrap show.

use super::{Kernels, scalar};
use crate::format::{Layout, activation};

/// The longest vector that is tried.
const LONGEST: usize = 131;
const LENGTHS: [usize; 21] = [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 63, 64, 65, 128, LONGEST];
/// Dense layers: rows and columns are tried in all pairs.
const SHAPES: [usize; 9] = [1, 3, 4, 5, 8, 10, 16, 31, 33];
const WEIGHTS: usize = 36 * 64;
/// Clips in use (QA 127, 181, 255, 256, 362) and the two ends.
const CLIPS: [i16; 7] = [1, 127, 181, 255, 256, 362, i16::MAX];

/// Where a tier left the definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Mismatch {
    /// The operation, as [`Kernels::operations`] names it.
    pub operation: &'static str,
    /// Length, or columns of a dense layer.
    pub len: usize,
    /// Index of the first differing output.
    pub index: usize,
}

/// Runs every operation of `tier` against the definition.
///
/// # Errors
/// The first [`Mismatch`].
///
/// ```
/// use tamis_runtime::kernels::{TIERS, suite};
/// for tier in TIERS {
///     assert_eq!(suite::check(tier), Ok(()), "{}", tier.name);
/// }
/// ```
pub fn check(tier: &Kernels) -> Result<(), Mismatch> {
    let mut random = Random(1);
    for len in LENGTHS {
        for pattern in 0..4 {
            accumulators(tier, len, pattern, &mut random)?;
            activations(tier, len, pattern, &mut random)?;
            requantisation(tier, len, pattern, &mut random)?;
        }
    }
    for rows in SHAPES {
        for cols in SHAPES {
            for pattern in 0..4 {
                dense(tier, rows, cols, pattern, &mut random)?;
            }
        }
    }
    Ok(())
}

fn accumulators(tier: &Kernels, len: usize, pattern: u32, random: &mut Random) -> Result<(), Mismatch> {
    let truth = &scalar::KERNELS;
    let (mut a, mut b, mut c) = ([0i16; LONGEST], [0i16; LONGEST], [0i16; LONGEST]);
    let mut narrow = [0i8; LONGEST];
    for index in 0..LONGEST {
        (a[index], b[index], c[index]) = (random.i16(pattern), random.i16(pattern), random.i16(pattern));
        narrow[index] = random.i16(pattern) as i8;
    }
    let pairs =
        [("add_i16", tier.add_i16.call, truth.add_i16.call), ("sub_i16", tier.sub_i16.call, truth.sub_i16.call)];
    for (operation, tried, defined) in pairs {
        let (mut found, mut expected) = (a, a);
        tried(&mut found[..len], &b[..len]);
        defined(&mut expected[..len], &b[..len]);
        same(operation, len, &found, &expected)?;
    }
    let pairs = [("add_i8", tier.add_i8.call, truth.add_i8.call), ("sub_i8", tier.sub_i8.call, truth.sub_i8.call)];
    for (operation, tried, defined) in pairs {
        let (mut found, mut expected) = (a, a);
        tried(&mut found[..len], &narrow[..len]);
        defined(&mut expected[..len], &narrow[..len]);
        same(operation, len, &found, &expected)?;
    }
    let (mut found, mut expected) = ([0i16; LONGEST], [0i16; LONGEST]);
    (tier.move_i16.call)(&mut found[..len], &a[..len], &b[..len], &c[..len]);
    (truth.move_i16.call)(&mut expected[..len], &a[..len], &b[..len], &c[..len]);
    same("move_i16", len, &found, &expected)?;
    for max in CLIPS {
        let dots = [
            ("dot_crelu", tier.dot_crelu.call, truth.dot_crelu.call),
            ("dot_screlu", tier.dot_screlu.call, truth.dot_screlu.call),
            ("dot_screlu_short", tier.dot_screlu_short.call, truth.dot_screlu_short.call),
            ("dot_sqrrelu", tier.dot_sqrrelu.call, truth.dot_sqrrelu.call),
        ];
        for (operation, tried, defined) in dots {
            let max = if operation == "dot_sqrrelu" { i16::MAX } else { max };
            same(operation, len, &[tried(&a[..len], &b[..len], max)], &[defined(&a[..len], &b[..len], max)])?;
        }
    }
    Ok(())
}

fn activations(tier: &Kernels, len: usize, pattern: u32, random: &mut Random) -> Result<(), Mismatch> {
    let truth = &scalar::KERNELS;
    let mut x = [0i16; LONGEST];
    let mut reals = [0f32; LONGEST];
    for index in 0..LONGEST {
        x[index] = random.i16(pattern);
        reals[index] = random.f32(pattern);
    }
    let even = len - len % 2;
    for (max, shift) in [(127, 6), (127, 7), (255, 8), (255, 9), (255, 10), (362, 10), (i16::MAX, 22)] {
        let (mut found, mut expected) = ([0u8; LONGEST], [0u8; LONGEST]);
        (tier.pairwise_u8.call)(&x[..even], max, shift, &mut found[..even / 2]);
        (truth.pairwise_u8.call)(&x[..even], max, shift, &mut expected[..even / 2]);
        same("pairwise_u8", len, &found, &expected)?;
    }
    for code in [activation::CRELU, activation::SCRELU, activation::SQRRELU, activation::PAIRWISE_CRELU] {
        let (read, written) = if code == activation::PAIRWISE_CRELU { (even, even / 2) } else { (len, len) };
        for max in CLIPS {
            let (mut found, mut expected) = ([0f32; LONGEST], [0f32; LONGEST]);
            let inverse = 1.0 / f32::from(max);
            (tier.activate_f32.call)(&x[..read], code, max, inverse, &mut found[..written]);
            (truth.activate_f32.call)(&x[..read], code, max, inverse, &mut expected[..written]);
            same("activate_f32", len, &found.map(f32::to_bits), &expected.map(f32::to_bits))?;
        }
    }
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
    Ok(())
}

fn requantisation(tier: &Kernels, len: usize, pattern: u32, random: &mut Random) -> Result<(), Mismatch> {
    let truth = &scalar::KERNELS;
    let (mut x, mut multipliers, mut shifts) = ([0i32; LONGEST], [0i32; LONGEST], [0u8; LONGEST]);
    for index in 0..LONGEST {
        x[index] = random.i32(pattern);
        multipliers[index] = random.i32(pattern) & i32::MAX;
        shifts[index] = 1 + (random.next() % 62) as u8;
    }
    let (x, multipliers, shifts) = (&x[..len], &multipliers[..len], &shifts[..len]);
    let (mut found, mut expected) = ([0u8; LONGEST], [0u8; LONGEST]);
    (tier.requantise_u8.call)(x, multipliers, shifts, 0, 127, &mut found[..len]);
    (truth.requantise_u8.call)(x, multipliers, shifts, 0, 127, &mut expected[..len]);
    same("requantise_u8", len, &found, &expected)?;
    let (mut found, mut expected) = ([0i8; LONGEST], [0i8; LONGEST]);
    (tier.requantise_i8.call)(x, multipliers, shifts, -127, 127, &mut found[..len]);
    (truth.requantise_i8.call)(x, multipliers, shifts, -127, 127, &mut expected[..len]);
    same("requantise_i8", len, &found, &expected)?;
    let (mut found, mut expected) = ([0i32; LONGEST], [0i32; LONGEST]);
    (tier.requantise_i32.call)(x, multipliers, shifts, i32::MIN, i32::MAX, &mut found[..len]);
    (truth.requantise_i32.call)(x, multipliers, shifts, i32::MIN, i32::MAX, &mut expected[..len]);
    same("requantise_i32", len, &found, &expected)
}

fn dense(tier: &Kernels, rows: usize, cols: usize, pattern: u32, random: &mut Random) -> Result<(), Mismatch> {
    let truth = &scalar::KERNELS;
    let (mut x, mut signed, mut bias) = ([0u8; 64], [0i8; 64], [0i32; 64]);
    for index in 0..64 {
        x[index] = random.i16(pattern) as u8;
        signed[index] = random.i16(pattern) as i8;
        bias[index] = random.i32(pattern);
    }
    let mut w = [0i8; WEIGHTS];
    let stride = rows.next_multiple_of(4);
    for row in 0..rows {
        for col in 0..cols {
            w[Layout::K4.offset(stride, row, col)] = random.i16(pattern) as i8;
        }
    }
    for bias in [&bias[..rows], &[]] {
        let (mut found, mut expected) = ([0i32; 64], [0i32; 64]);
        (tier.affine_u8.call)(&x[..cols], &w, stride, bias, &mut found[..rows]);
        (truth.affine_u8.call)(&x[..cols], &w, stride, bias, &mut expected[..rows]);
        same("affine_u8", cols, &found, &expected)?;
        (tier.affine_i8.call)(&signed[..cols], &w, stride, bias, &mut found[..rows]);
        (truth.affine_i8.call)(&signed[..cols], &w, stride, bias, &mut expected[..rows]);
        same("affine_i8", cols, &found, &expected)?;
    }
    let (mut x, mut w, mut bias) = ([0f32; 64], [0f32; WEIGHTS], [0f32; 64]);
    for (x, bias) in x.iter_mut().zip(&mut bias) {
        (*x, *bias) = (random.f32(pattern), random.f32(pattern));
    }
    let stride = cols.next_multiple_of(16);
    for row in 0..rows {
        for col in 0..cols {
            w[row * stride + col] = random.f32(pattern);
        }
    }
    for bias in [&bias[..rows], &[]] {
        let (mut found, mut expected) = ([0f32; 64], [0f32; 64]);
        (tier.affine_f32.call)(&x[..cols], &w, stride, bias, &mut found[..rows]);
        (truth.affine_f32.call)(&x[..cols], &w, stride, bias, &mut expected[..rows]);
        same("affine_f32", cols, &found.map(f32::to_bits), &expected.map(f32::to_bits))?;
    }
    Ok(())
}

fn same<T: PartialEq>(operation: &'static str, len: usize, found: &[T], expected: &[T]) -> Result<(), Mismatch> {
    match found.iter().zip(expected).position(|(found, expected)| found != expected) {
        Some(index) => Err(Mismatch { operation, len, index }),
        None => Ok(()),
    }
}

/// Numerical Recipes' 64-bit congruential generator, high bits; any generator does.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 32) as u32
    }

    /// Pattern 0: any value · 1: near the clips in use · 2: the ends of i16 · 3: the ends of i8.
    fn i16(&mut self, pattern: u32) -> i16 {
        let any = self.next();
        match pattern {
            0 => any as i16,
            1 => (any % 1025) as i16 - 512,
            2 => [i16::MIN, i16::MAX, 0, -1][(any % 4) as usize],
            _ => [-128, 127, 255, -127][(any % 4) as usize],
        }
    }

    fn i32(&mut self, pattern: u32) -> i32 {
        let any = self.next() as i32;
        match pattern {
            0 => any,
            1 => any % 100_000,
            2 => [i32::MIN, i32::MAX, 0, -1][(any & 3) as usize],
            _ => any >> 16,
        }
    }

    /// Ordinary numbers, both zeros, numbers near 1 and numbers so large that squares overflow.
    fn f32(&mut self, pattern: u32) -> f32 {
        let any = self.next();
        let unit = (any as i32) as f32 / 2_147_483_648.0;
        match pattern {
            0 => unit * 4.0,
            1 => unit * 1e-3,
            2 => [0.0, -0.0, 1.0, -1.0][(any % 4) as usize],
            _ => unit * 1e30,
        }
    }
}
