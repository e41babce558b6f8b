//! A multiplier and a shift that give what an engine's f32 gives.
//!
//! An engine makes of a sum the nearest integer to `f32(sum) · scale`, rounded to f32 before, of two as near the even
//! one. That is a staircase: step `k` begins at the least sum whose result is `k` or more. The runtime's
//! `(sum · multiplier + 2^(shift − 1)) >> shift` is one, too, and begins its step `k` where
//! `sum · multiplier ≥ (2k − 1) · 2^(shift − 1)`. So every step bounds the multiplier from both sides, and any number
//! within all bounds gives the same integer for every sum. With 31 bits there nearly always is one; where sums lie on
//! halves, as with scales that are powers of two, there is none, and the one that differs most seldom is taken.

use super::types::Multiplier;
use std::ops::RangeInclusive;

/// The longest shift of the runtime.
const MAX_SHIFT: u32 = 62;

/// Integers in place of a scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fitted {
    /// What sums are multiplied by.
    pub multiplier: Multiplier,
    /// Sums whose result is another than the engine's, by 1.
    pub differing: u64,
}

/// What sums can be, and where most of them are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sums {
    /// The least.
    pub low: i64,
    /// The greatest.
    pub high: i64,
    /// Around which they lie.
    pub centre: i64,
    /// How far from there, above 0.
    pub width: f64,
}

/// The integers for a scale, an f32 from 0 on and below 2^30. Where sums can leave i32, and wrap, they can be any.
#[must_use]
pub fn fit(scale: f32, sums: Sums, results: RangeInclusive<i64>) -> Fitted {
    let holds = sums.low >= i32::MIN.into() && sums.high <= i32::MAX.into();
    let ends = if holds { [sums.low, sums.high] } else { [i32::MIN.into(), i32::MAX.into()] };
    let near = nearest(scale);
    let steps: Vec<Step> = (results.start() + 1..=*results.end())
        .map(|result| Step { result, first: first_of(scale, result, ends) })
        .collect();
    let bounds: Vec<(i128, i128)> = steps.iter().map(|step| step.bounds(near.shift, ends)).collect();
    let least = bounds.iter().map(|bounds| bounds.0).fold(0, i128::max);
    let most = bounds.iter().map(|bounds| bounds.1).fold(i32::MAX.into(), i128::min);
    let with = |multiplier: i128| Multiplier { multiplier: multiplier as i32, ..near };
    if least <= most {
        return Fitted { multiplier: with(i128::from(near.multiplier).clamp(least, most)), differing: 0 };
    }
    let differing = |multiplier: Multiplier| {
        steps.iter().map(move |step| (step.first, step.first.abs_diff(step.found(multiplier, ends))))
    };
    // How often something differs: far from the centre seldom.
    let weight = |sum: i64| 1.0 / (1.0 + ((sum - sums.centre) as f64 / sums.width).powi(2));
    let often =
        |multiplier: Multiplier| -> f64 { differing(multiplier).map(|(sum, count)| weight(sum) * count as f64).sum() };
    let within = |multiplier: &i128| (0..=i128::from(i32::MAX)).contains(multiplier);
    let others = bounds.iter().flat_map(|bounds| [bounds.0, bounds.1]).filter(within).map(with);
    let best = others
        .map(|other| (often(other), other))
        .fold((often(near), near), |best, other| if other.0 < best.0 { other } else { best });
    Fitted { multiplier: best.1, differing: differing(best.1).map(|(_, count)| count).sum() }
}

/// The multiplier nearest to a scale, with as many bits as the runtime's shifts leave it.
fn nearest(scale: f32) -> Multiplier {
    let real = f64::from(scale);
    match Multiplier::of(real) {
        Some(multiplier) if multiplier.multiplier > 0 => multiplier,
        _ => Multiplier { multiplier: (real * (1u64 << MAX_SHIFT) as f64).round() as i32, shift: MAX_SHIFT },
    }
}

/// What the engine makes of a sum.
fn engine(scale: f32, sum: i64) -> i64 {
    (sum as f32 * scale).round_ties_even() as i64
}

/// The least sum whose result is `result` or more; one beyond the greatest where none is.
fn first_of(scale: f32, result: i64, [mut low, high]: [i64; 2]) -> i64 {
    let mut beyond = high + 1;
    while low < beyond {
        let middle = low + (beyond - low) / 2;
        if engine(scale, middle) >= result { beyond = middle } else { low = middle + 1 }
    }
    low
}

/// Where a result begins.
struct Step {
    result: i64,
    first: i64,
}

impl Step {
    /// `(2k − 1) · 2^(shift − 1)`
    const fn middle(&self, shift: u32) -> i128 {
        (2 * self.result as i128 - 1) << (shift - 1)
    }

    /// The least and the greatest multiplier with which this step begins where the engine's does.
    fn bounds(&self, shift: u32, [low, high]: [i64; 2]) -> (i128, i128) {
        let middle = self.middle(shift);
        let (mut least, mut most) = (0, i128::from(i32::MAX));
        if self.first <= high {
            // first · multiplier ≥ middle
            let sum = i128::from(self.first);
            match sum {
                1.. => least = least.max(ceiling(middle, sum)),
                0 => {}
                _ => most = most.min(floor(-middle, -sum)),
            }
        }
        if self.first > low {
            // (first − 1) · multiplier < middle
            let sum = i128::from(self.first - 1);
            match sum {
                1.. => most = most.min(ceiling(middle, sum) - 1),
                0 => {}
                _ => least = least.max(floor(-middle, -sum) + 1),
            }
        }
        (least, most)
    }

    /// Where it begins with a multiplier.
    fn found(&self, Multiplier { multiplier, shift }: Multiplier, [low, high]: [i64; 2]) -> i64 {
        let middle = self.middle(shift);
        let beyond = i128::from(high) + 1;
        let first = match multiplier {
            0 if middle <= 0 => low.into(),
            0 => beyond,
            _ => ceiling(middle, multiplier.into()),
        };
        first.clamp(low.into(), beyond) as i64
    }
}

const fn floor(a: i128, b: i128) -> i128 {
    a.div_euclid(b)
}

const fn ceiling(a: i128, b: i128) -> i128 {
    -(-a).div_euclid(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differing(scale: f32, fitted: Fitted, sums: Sums, results: RangeInclusive<i64>) -> u64 {
        let clamp = |result: i64| result.clamp(*results.start(), *results.end());
        let difference = |sum: i64| {
            let (found, expected) = (fitted.multiplier.apply(sum as i32), engine(scale, sum));
            clamp(found).abs_diff(clamp(expected))
        };
        (sums.low..=sums.high).map(difference).sum()
    }

    const fn sums(low: i64, high: i64) -> Sums {
        Sums { low, high, centre: 0, width: 1000.0 }
    }

    /// Every sum of a range, scales from far below 1 to above it.
    #[test]
    fn nearly_every_sum_becomes_what_the_engine_makes_of_it() {
        let (mut state, mut exact, mut most) = (1u64, 0, 0);
        for case in 0..300 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let scale = (1.0 + (state >> 41) as f32 / 8_388_608.0) * 2f32.powi(case % 22 - 20);
            let (sums, results) = (sums(-70_000, 90_000), -100..=155);
            let fitted = fit(scale, sums, results.clone());
            assert_eq!(differing(scale, fitted, sums, results), fitted.differing, "{scale:e}: {fitted:?}");
            exact += u32::from(fitted.differing == 0);
            most = most.max(fitted.differing);
        }
        assert!(exact > 200 && most < 40, "{exact} of 300 scales are exact, {most} sums differ at most");
    }

    /// Of odd multiples of 1/2 every second one goes up: no multiplier does that, and what differs is counted.
    #[test]
    fn halves_are_counted() {
        for scale in [0.5f32, 0.25, 1.0 / 1024.0, 1.5] {
            let (sums, results) = (sums(-3000, 3000), -128..=127);
            let fitted = fit(scale, sums, results.clone());
            assert!(fitted.differing > 0, "{scale}");
            assert_eq!(differing(scale, fitted, sums, results), fitted.differing, "{scale}");
        }
        // A whole number has no halves.
        assert_eq!(fit(1.0, sums(-3000, 3000), -128..=127).differing, 0);
    }

    #[test]
    fn scales_of_dead_channels_give_zeros() {
        let fitted = fit(1e-15, sums(-40_000, 40_000), -128..=127);
        assert_eq!((fitted.differing, fitted.multiplier.shift), (0, 62));
        assert_eq!(fitted.multiplier.apply(40_000), 0);
        // Of sums of this size f32 holds every 128th, so that each of the twelve steps may begin so much elsewhere.
        let large = fit(3e-9, sums(-2_000_000_000, 2_000_000_000), -128..=127);
        assert_eq!(large.multiplier.apply(2_000_000_000), 6);
        assert!(large.differing <= 12 * 128, "{large:?}");
    }
}
