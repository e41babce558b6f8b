//! bullet's element rule: one product in f64, one rounding, and no silent clamping.

use super::QuantiseError;
use crate::arch::{ElementType, Rounding, TensorSpec};

/// `round(scale · value)` or its truncation; `None` if the result, or NaN, leaves `low..=high`.
///
/// The product of an f32 and a multiplier below 2²⁹ is exact in f64, so this is a single rounding.
///
/// ```
/// use tamis_quant::{arch::Rounding, quantise::quantise_element};
/// assert_eq!(quantise_element(0.0999, 255, Rounding::Nearest, -32768, 32767), Some(25));
/// assert_eq!(quantise_element(-1.999, 64, Rounding::Truncate, -128, 127), Some(-127));
/// assert_eq!(quantise_element(2.0, 64, Rounding::Nearest, -128, 127), None);
/// ```
pub fn quantise_element(value: f32, scale: i32, rounding: Rounding, low: i32, high: i32) -> Option<i32> {
    let rounded = round(f64::from(value) * f64::from(scale), rounding);
    (rounded >= f64::from(low) && rounded <= f64::from(high)).then_some(rounded as i32)
}

/// Half away from zero, or toward zero.
pub(crate) fn round(product: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::Nearest => product.round(),
        Rounding::Truncate => product.trunc(),
    }
}

/// Least and greatest value of a stored integer type; everything for f32.
pub(crate) const fn range(element: ElementType) -> (i32, i32) {
    element.range()
}

/// The error for the value at `index`, which does not fit.
pub(super) fn fault(spec: &TensorSpec, scale: i32, outputs: usize, index: usize, values: &[f32]) -> QuantiseError {
    let value = values.get(index).copied().unwrap_or(f32::NAN);
    let (tensor, output, input) = (spec.name.clone(), index % outputs, index / outputs);
    if !value.is_finite() {
        return QuantiseError::NotFinite { tensor, index, output, input, value };
    }
    let (low, high) = range(spec.r#type);
    let fits = |value: &&f32| quantise_element(**value, scale, spec.rounding, low, high).is_none();
    let others = values.iter().skip(index + 1).filter(fits).count();
    let slack = if spec.rounding == Rounding::Nearest { 0.5 } else { 1.0 };
    QuantiseError::OutOfRange {
        tensor,
        index,
        output,
        input,
        value,
        scale: f64::from(scale),
        product: f64::from(value) * f64::from(scale),
        element: spec.r#type.word(),
        low,
        high,
        limit: (f64::from(high) + slack) / f64::from(scale),
        others,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_go_away_from_zero_and_truncation_toward_it() {
        for (value, nearest, truncated) in
            [(0.5, 1, 0), (-0.5, -1, 0), (1.5, 2, 1), (-1.5, -2, -1), (-0.0, 0, 0), (0.49, 0, 0)]
        {
            assert_eq!(quantise_element(value, 1, Rounding::Nearest, -128, 127), Some(nearest));
            assert_eq!(quantise_element(value, 1, Rounding::Truncate, -128, 127), Some(truncated));
        }
    }

    #[test]
    fn both_ends_of_the_type_fit_and_one_beyond_does_not() {
        for (value, fits) in
            [(-128.0, true), (-128.5, false), (127.0, true), (127.5, false), (f32::NAN, false), (f32::INFINITY, false)]
        {
            assert_eq!(quantise_element(value, 1, Rounding::Nearest, -128, 127).is_some(), fits, "{value}");
        }
    }
}
