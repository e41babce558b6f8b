//! The exponential function and what is made of it, in f32: not a library's, whose last bits differ from machine to
//! machine, but a written-out sequence of operations that are each rounded by themselves. FORMAT.md, section 6.1,
//! states the same sequence.
//!
//! `exp(x) = 2^k · e^r` with `k` the integer nearest to `x / ln 2`, so that |r| ≤ ½ ln 2 < 0.347, where seven terms of
//! the series are enough: the eighth is below `0.347^8 / 8! < 2^-27`, a sixteenth of a unit in the last place of a
//! result near 1.

/// 1 / ln 2.
const LOG2_E: f32 = f32::from_bits(0x3FB8_AA3B);
/// 1.5 · 2²³: numbers of that size have no fraction, so adding it and taking it away again rounds to an integer.
const ROUNDER: f32 = f32::from_bits(0x4B40_0000);
/// ln 2 without its last bits: fifteen bits, so that its product with `k`, which has eight, is exact.
const LN_2_HIGH: f32 = f32::from_bits(0x3F31_7200);
/// The rest of ln 2.
const LN_2_LOW: f32 = f32::from_bits(0x35BF_BE8E);
/// 1/7!, 1/6!, … 1/2!.
const FACTORIALS: [f32; 6] = [
    f32::from_bits(0x3950_0D01),
    f32::from_bits(0x3AB6_0B61),
    f32::from_bits(0x3C08_8889),
    f32::from_bits(0x3D2A_AAAB),
    f32::from_bits(0x3E2A_AAAB),
    f32::from_bits(0x3F00_0000),
];
/// Above, the result is beyond the largest f32.
const HIGHEST: f32 = 89.0;
/// Below, it is less than half the smallest subnormal.
const LOWEST: f32 = -104.0;
/// Up to here tanh is a quotient of polynomials; beyond, `1 − 2 / (e^2x + 1)` loses nothing that matters.
const TANH_SMALL: f32 = 0.625;

/// `e^x`, within a unit in the last place of the true value; subnormals included, NaN for NaN.
///
/// ```
/// use tamis_runtime::raw::num::exp;
/// assert_eq!((exp(0.0), exp(1.0), exp(f32::NEG_INFINITY)), (1.0, core::f32::consts::E, 0.0));
/// ```
// On hosts in the loops around it; firmware and pages would hold it once for each.
#[cfg_attr(not(short_ways), inline(never))]
pub fn exp(x: f32) -> f32 {
    if x > HIGHEST {
        return f32::INFINITY;
    }
    if x < LOWEST {
        return 0.0;
    }
    let k = (x * LOG2_E + ROUNDER) - ROUNDER;
    let r = (x - k * LN_2_HIGH) - k * LN_2_LOW;
    let [mut q, others @ ..] = FACTORIALS;
    for c in others {
        q = q * r + c;
    }
    let power = ((r * r) * q + r) + 1.0;
    // In two steps, because 2^k itself need not be a normal number: k is −150 to 128.
    let k = k as i32;
    let half = k >> 1;
    (power * power_of_two(half)) * power_of_two(k - half)
}

/// 2^n; n is −126 to 127.
const fn power_of_two(n: i32) -> f32 {
    f32::from_bits(((n + 127) as u32) << 23)
}

/// `1 / (1 + e^−x)`, within 2.5 units in the last place; 0 from about −89 downward, NaN for NaN.
///
/// ```
/// use tamis_runtime::raw::num::sigmoid;
/// assert_eq!((sigmoid(0.0), sigmoid(100.0), sigmoid(-100.0)), (0.5, 1.0, 0.0));
/// ```
pub fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

/// The hyperbolic tangent, within 3 units in the last place and odd to the last bit; NaN for NaN.
///
/// Near 0 the fifth convergent of `x / (1 + x² / (3 + x² / (5 + x² / (7 + …))))`, which keeps the relative error small
/// where `1 − 2 / (e^2x + 1)` would be a difference of two numbers near 1.
///
/// ```
/// use tamis_runtime::raw::num::tanh;
/// assert_eq!((tanh(0.0), tanh(20.0), tanh(-20.0), tanh(1e-30)), (0.0, 1.0, -1.0, 1e-30));
/// ```
pub fn tanh(x: f32) -> f32 {
    let magnitude = x.abs();
    if magnitude <= TANH_SMALL {
        let u = x * x;
        return (x * ((u + 105.0) * u + 945.0)) / ((15.0 * u + 420.0) * u + 945.0);
    }
    (1.0 - 2.0 / (exp(magnitude + magnitude) + 1.0)).copysign(x)
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;

    /// Units in the last place between an f32 and the true value.
    fn ulps(found: f32, truth: f64) -> f64 {
        let power_of_two = f32::from_bits((truth as f32).to_bits() & 0x7F80_0000);
        let unit = f64::from(power_of_two) / f64::from(1 << 23);
        (f64::from(found) - truth).abs() / unit.max(f64::from(f32::from_bits(1)))
    }

    /// A hundred thousand numbers, evenly spaced, in `from..=to`.
    fn between(from: f32, to: f32) -> impl Iterator<Item = f32> {
        (0..=100_000).map(move |step| from + (to - from) * (step as f32 / 100_000.0))
    }

    fn worst(x: impl Iterator<Item = f32>, function: fn(f32) -> f32, truth: fn(f64) -> f64) -> f64 {
        x.map(|x| ulps(function(x), truth(f64::from(x)))).fold(0.0, f64::max)
    }

    #[test]
    fn constants_are_what_they_are_called() {
        assert_eq!(LOG2_E, core::f32::consts::LOG2_E);
        let ln_2 = f64::from(LN_2_HIGH) + f64::from(LN_2_LOW);
        assert!((ln_2 - core::f64::consts::LN_2).abs() < 1e-13);
        assert_eq!(LN_2_HIGH.to_bits() & 0x1FF, 0, "nine zeros at the end leave fifteen bits");
        let mut factorial = 1.0;
        for (index, reciprocal) in FACTORIALS.iter().rev().enumerate() {
            factorial *= (index + 2) as f64;
            assert_eq!(*reciprocal, (1.0 / factorial) as f32);
        }
    }

    #[test]
    fn functions_are_near_the_truth() {
        let truth = |x: f64| x.exp();
        for (from, to) in [(-87.0, 88.7), (-1.0, 1.0), (-104.0, -87.0), (-0.01, 0.01)] {
            let found = worst(between(from, to), exp, truth);
            assert!(found <= 1.0, "exp from {from} to {to}: {found} units");
        }
        let truth = |x: f64| 1.0 / (1.0 + (-x).exp());
        for (from, to) in [(-20.0, 20.0), (-80.0, 0.0), (-0.5, 0.5)] {
            let found = worst(between(from, to), sigmoid, truth);
            assert!(found <= 2.5, "sigmoid from {from} to {to}: {found} units");
        }
        for (from, to) in [(-10.0, 10.0), (-0.7, 0.7), (0.62, 0.63), (-0.001, 0.001)] {
            let found = worst(between(from, to), tanh, f64::tanh);
            assert!(found <= 3.0, "tanh from {from} to {to}: {found} units");
        }
        // Every magnitude down to the subnormals.
        let all = (0..0x7F80_0000u32).step_by(9973).map(f32::from_bits).filter(|x| *x < 80.0);
        assert!(worst(all.clone().filter(|x| *x > 1e-36), tanh, f64::tanh) <= 3.0);
        assert!(worst(all.map(|x| -x), exp, f64::exp) <= 1.0);
    }

    #[test]
    fn ends_are_reached() {
        // ln of the largest f32 lies between these two, ln of half the smallest between the others.
        let (below, above) = (f32::from_bits(0x42B1_7217), f32::from_bits(0x42B1_7219));
        assert!(exp(below).is_finite() && exp(above) == f32::INFINITY);
        assert_eq!((exp(89.0), exp(89.1), exp(f32::INFINITY)), (f32::INFINITY, f32::INFINITY, f32::INFINITY));
        assert_eq!((exp(-103.0).to_bits(), exp(-104.0).to_bits(), exp(-104.1).to_bits()), (1, 0, 0));
        assert_eq!((exp(0.0), exp(-0.0)), (1.0, 1.0));
        assert!(exp(f32::NAN).is_nan() && sigmoid(f32::NAN).is_nan() && tanh(f32::NAN).is_nan());
        assert_eq!((sigmoid(f32::INFINITY), sigmoid(f32::NEG_INFINITY).to_bits()), (1.0, 0));
        assert_eq!((tanh(f32::INFINITY), tanh(f32::NEG_INFINITY), tanh(-0.0).to_bits()), (1.0, -1.0, 1 << 31));
    }

    /// Monotony is no promise of rounding, but the seams between the pieces must not show.
    #[test]
    fn tanh_is_odd_and_has_no_seam() {
        for x in between(0.0, 12.0) {
            assert_eq!(tanh(-x).to_bits(), (-tanh(x)).to_bits());
            assert!(tanh(x) <= 1.0);
        }
        let (below, above) = (tanh(TANH_SMALL), tanh(TANH_SMALL + 1e-6));
        assert!(below <= above && above - below < 1e-6);
    }
}
