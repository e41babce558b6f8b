//! The factor between a sum and narrower integers.

/// A factor as a multiplier of 30 to 31 bits and a shift: `factor ≈ multiplier · 2^−shift`, relative error below 2⁻³¹.
/// Factors too small for a shift of 62 lose bits, down to 0; `None` above 2³⁰.
pub fn requantisation(factor: f64) -> Option<(i32, u32)> {
    if factor == 0.0 {
        return Some((0, 1));
    }
    if !factor.is_finite() || factor < 0.0 || factor >= f64::from(1 << 30) {
        return None;
    }
    let mut shift = 0i32;
    let mut scaled = factor;
    while scaled < f64::from(1 << 30) {
        scaled *= 2.0;
        shift += 1;
    }
    if scaled.round() >= 2_147_483_648.0 {
        scaled /= 2.0;
        shift -= 1;
    }
    while shift > 62 {
        scaled /= 2.0;
        shift -= 1;
    }
    (shift >= 1).then_some((scaled.round() as i32, shift as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_survives_as_multiplier_and_shift() {
        for factor in [1e-9, 3.7e-5, 0.25, 0.5, 0.999_999_999_9, 1.0, 1.5, 1000.0, 1e9] {
            let (multiplier, shift) = requantisation(factor).unwrap();
            let back = f64::from(multiplier) / (1u64 << shift) as f64;
            assert!((back / factor - 1.0).abs() < 1.0 / f64::from(1u32 << 30), "{factor} {multiplier} {shift}");
            assert!((1..=62).contains(&shift) && multiplier >= 1);
        }
        assert_eq!(requantisation(0.0), Some((0, 1)));
        assert_eq!(requantisation(1e-30), Some((0, 62)));
        assert_eq!(requantisation(2e9), None);
        assert_eq!(requantisation(f64::NAN), None);
    }
}
