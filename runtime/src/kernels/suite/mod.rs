//! The one suite: every operation of a tier against the definition, tolerance 0.
//!
//! It is library code, `no_std` and without allocation, so that a board or an emulator runs the very checks that `cargo
//! test` runs; it wants about 50 KiB of stack where it is optimised. Lengths stand on, below and above every tile in
//! use: vectors of 8, 16 and 32 i16, tiles of eight of them, 1, 2, 4 and 8 vectors of 4, 8 and 16 rows, rounds of eight
//! to 32 columns, lists of 1024 inputs; and at random places. Values are random or sit at the ends of their range,
//! where saturation, sign and wrap show.

mod accumulators;
#[cfg(batches)]
mod batch;
#[cfg(short_ways)]
mod chain;
mod dense;
mod dense16;
mod maps;
mod reals;

use super::Tier;
use crate::features::{CONVOLUTIONS, GENERAL, REALS};

/// Where a tier left the definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Mismatch {
    /// The operation, as [`Tier::operations`] names it.
    pub operation: &'static str,
    /// Length, or columns of a dense layer.
    pub len: usize,
    /// Index of the first differing output.
    pub index: usize,
}

/// Kinds of values, see [`Random::i16`].
const PATTERNS: u32 = 4;
/// Random shapes that are tried beside the chosen ones.
const RANDOM_SHAPES: u32 = 24;

/// Runs every operation of `tier` that this build has against the definition.
///
/// # Errors
/// The first [`Mismatch`].
///
/// ```
/// use tamis_runtime::{kernels::tiers, testing::suite};
/// for tier in tiers() {
///     assert_eq!(suite::check(tier), Ok(()), "{}", tier.name);
/// }
/// ```
pub fn check(tier: &Tier) -> Result<(), Mismatch> {
    let mut random = Random(1);
    accumulators::check(tier, &mut random)?;
    dense::check(tier, &mut random)?;
    #[cfg(batches)]
    batch::check(tier, &mut random)?;
    #[cfg(short_ways)]
    chain::check(tier, &mut random)?;
    if REALS {
        reals::check(tier, &mut random)?;
    }
    if GENERAL {
        dense16::check(tier, &mut random)?;
    }
    if CONVOLUTIONS {
        maps::check(tier, &mut random)?;
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

    /// 0 to `limit − 1`.
    fn below(&mut self, limit: usize) -> usize {
        self.next() as usize % limit
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

#[cfg(test)]
mod tests {
    /// Kernels are safe functions: a stride whose product with the groups or rows wraps must not let a load through.
    #[test]
    fn strides_that_wrap_read_nothing() {
        let (x, reals) = ([1u8; 64], [1f32; 8]);
        for tier in crate::kernels::tiers().filter(|tier| tier.name != "scalar") {
            for stride in [6, 4, 3, 2].map(|shift| (usize::MAX >> shift) + 1) {
                let calls = [
                    tier.affine_u8.call,
                    tier.affine_u7.call,
                    tier.affine_u7_paired.call,
                    tier.affine_u8_paired.call,
                    tier.affine_u7_sparse.call,
                ];
                for call in calls {
                    let mut out = [7; 16];
                    call(&x, &[1; 16], stride, &[], &mut out);
                    assert_eq!(out, [0; 16], "{}, {stride}", tier.name);
                }
                let mut out = [7; 16];
                (tier.affine_i8.call)(&[1; 64], &[1; 16], stride, &[], &mut out);
                assert_eq!(out, [0; 16], "{}, {stride}", tier.name);
                #[cfg(batches)]
                for call in [tier.batch.affine_u8, tier.batch.affine_i8].into_iter().filter(|_| tier.name != "blocked")
                {
                    let mut outs = [[7; 16]; 2];
                    let [first, second] = &mut outs;
                    call(&[&x, &x], &[1; 16], stride, &[], &mut [first, second]);
                    assert_eq!(outs, [[0; 16]; 2], "{}, {stride}", tier.name);
                }
                // A tier may take the definition's kernels of reals and i16, which look at every index, and a build may
                // lack them.
                if !["scalar", "absent"].contains(&tier.affine_i16.from.name()) {
                    let mut out = [7; 16];
                    (tier.affine_i16.call)(&[1; 64], &[1; 16], stride, &[], &mut out);
                    assert_eq!(out, [0; 16], "{}, {stride}", tier.name);
                }
            }
            // No inputs, and so no weights, whatever the stride.
            let mut out = [7; 5];
            (tier.affine_i8.call)(&[], &[], usize::MAX & !3, &[], &mut out);
            assert_eq!(out, [0; 5], "{}", tier.name);
            if tier.affine_f32.from.name() == "scalar" {
                continue;
            }
            // Seven times this is just beyond the largest number.
            let mut out = [7.0; 8];
            (tier.affine_f32.call)(&reals, &[1.0; 64], usize::MAX / 7 + 1, &[], 0, &mut out);
            assert_eq!(out, [7.0; 8], "{}", tier.name);
            (tier.affine_f32_columns.call)(&reals, &[1.0; 64], usize::MAX & !15, &[], 0, &mut out);
            assert_eq!(out, [7.0; 8], "{}", tier.name);
        }
    }

    #[test]
    fn every_tier_passes() {
        for tier in crate::kernels::tiers() {
            assert_eq!(super::check(tier), Ok(()), "{}", tier.name);
        }
    }
}
