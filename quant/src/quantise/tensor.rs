//! A whole tensor under bullet's element rule: all of it at once if it fits, and the first value by name if it does
//! not.

use super::element::{fault, quantise_element, range};
use super::error::QuantiseError;
use crate::arch::{ElementType, Rounding, TensorSpec};
use crate::program::{QuantTensor, Values};

/// Quantises one tensor by its entry in the description. values: canonical order, `o + outputs·i`.
///
/// # Errors
/// [`QuantiseError::OutOfRange`] or [`QuantiseError::NotFinite`] for the first value that does not fit.
pub fn quantise_tensor(
    spec: &TensorSpec,
    outputs: usize,
    inputs: usize,
    values: &[f32],
) -> Result<QuantTensor, QuantiseError> {
    let name = spec.name.clone();
    let stored = match (spec.r#type, spec.scale) {
        (ElementType::F32, _) => {
            if let Some(index) = values.iter().position(|value| !value.is_finite()) {
                let value = values.get(index).copied().unwrap_or(f32::NAN);
                return Err(QuantiseError::NotFinite {
                    tensor: name,
                    index,
                    output: index % outputs,
                    input: index / outputs,
                    value,
                });
            }
            Values::F32(values.to_vec())
        }
        (element, Some(scale)) => {
            let (low, high) = range(element);
            match quantise_all(values, scale, spec.rounding, low, high) {
                Some(integers) => Values::Int(integers),
                None => {
                    let fits = |value: &f32| quantise_element(*value, scale, spec.rounding, low, high).is_some();
                    let index = values.iter().position(|value| !fits(value)).unwrap_or(values.len());
                    return Err(fault(spec, scale, outputs, index, values));
                }
            }
        }
        (_, None) => return Err(QuantiseError::NoScale { tensor: name }),
    };
    Ok(QuantTensor { name, element: spec.r#type, scale: spec.scale, banks: 1, outputs, inputs, values: stored })
}

/// [`quantise_element`] of every value; `None` if one of them has none.
///
/// Millions of times the rule itself is slow: its rounding is a call where the target has no instruction for it, as
/// baseline x86-64 has not, and a way out at every element keeps the compiler from working on several. So this asks
/// once, at the end, and rounds by an addition:
///
/// ```text
/// p = value · scale       the rule's product, in f64
/// n = p + 1.5·2⁵²         to the nearest integer, a half to the even one: no bit of the sum is worth less than 1
/// r = p − n               exact: the bits of p behind the point
/// nearest:   n, but of p's two neighbours the outer one where r is ±½
/// truncate:  n, but the inner one where n is beyond p
/// ```
///
/// The rounded product is in `low..=high` exactly where p is between `low` and `high` widened by what rounding takes
/// off: ½ (itself excluded, since halves go away from zero), or 1 (itself excluded). NaN is not between anything.
fn quantise_all(values: &[f32], scale: i32, rounding: Rounding, low: i32, high: i32) -> Option<Vec<i32>> {
    match rounding {
        Rounding::Nearest => convert(values, scale, low, high, 0.5, |p, n, r| {
            n.wrapping_add(((r == 0.5) & (p > 0.0)).into()).wrapping_sub(((r == -0.5) & (p < 0.0)).into())
        }),
        Rounding::Truncate => convert(values, scale, low, high, 1.0, |p, n, r| {
            n.wrapping_sub(((r < 0.0) & (p > 0.0)).into()).wrapping_add(((r > 0.0) & (p < 0.0)).into())
        }),
    }
}

/// 1.5·2⁵²: what |p| < 2³² is added to it has the exponent of 2⁵², and p's integer, in two's complement, in its low
/// bits.
const TO_INTEGER: f64 = 6_755_399_441_055_744.0;

/// The loop of [`quantise_all`]; `correct` has p, n and r. Integers of values that do not fit mean nothing, and are not
/// seen.
fn convert(
    values: &[f32],
    scale: i32,
    low: i32,
    high: i32,
    slack: f64,
    correct: impl Fn(f64, i32, f64) -> i32,
) -> Option<Vec<i32>> {
    let (scale, above, below) = (f64::from(scale), f64::from(low) - slack, f64::from(high) + slack);
    let mut fits = true;
    let element = |value: &f32| {
        let product = f64::from(*value) * scale;
        fits &= (product > above) & (product < below);
        let sum = product + TO_INTEGER;
        correct(product, sum.to_bits() as i32, product - (sum - TO_INTEGER))
    };
    let integers = values.iter().map(element).collect();
    fits.then_some(integers)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUNDINGS: [Rounding; 2] = [Rounding::Nearest, Rounding::Truncate];
    const TYPES: [ElementType; 3] = [ElementType::I8, ElementType::I16, ElementType::I32];

    /// The whole tensor as the rule has it, one element after the other.
    fn by_the_rule(values: &[f32], scale: i32, rounding: Rounding, low: i32, high: i32) -> Option<Vec<i32>> {
        values.iter().map(|value| quantise_element(*value, scale, rounding, low, high)).collect()
    }

    #[track_caller]
    fn agree(values: &[f32], scale: i32) {
        for rounding in ROUNDINGS {
            for (low, high) in TYPES.map(range) {
                let found = quantise_all(values, scale, rounding, low, high);
                assert_eq!(found, by_the_rule(values, scale, rounding, low, high), "{values:?} · {scale} {rounding:?}");
            }
        }
    }

    /// Every power of two with the neighbours of every short significand: halves, integers and what lies next to them.
    #[test]
    fn one_value_at_a_time_is_the_rule() {
        for scale in [1, 2, 3, 64, 255, 256, 16_320, 32_767, (1 << 24) + 1, i32::MAX] {
            for exponent in 0..=255_u32 {
                for top in 0..64_u32 {
                    let centre = exponent << 23 | top << 17;
                    for bits in [centre.wrapping_sub(1), centre, centre + 1] {
                        let value = f32::from_bits(bits & 0x7FFF_FFFF);
                        agree(&[value], scale);
                        agree(&[-value], scale);
                    }
                }
            }
        }
    }

    /// Around every half-integer and every integer of the product in i16 and one beyond, at the scales in use.
    #[test]
    fn every_integer_of_i16_and_every_half_is_the_rule() {
        for scale in [64, 255, 16_320] {
            for twice in -65_540..=65_540_i32 {
                let near = (f64::from(twice) / 2.0 / f64::from(scale)) as f32;
                let values = [near.next_down(), near, near.next_up()];
                for (rounding, value) in
                    ROUNDINGS.into_iter().flat_map(|rounding| values.map(|value| (rounding, value)))
                {
                    let found = quantise_all(&[value], scale, rounding, -32_768, 32_767);
                    assert_eq!(found, by_the_rule(&[value], scale, rounding, -32_768, 32_767), "{value} · {scale}");
                }
            }
        }
    }

    /// One that does not fit is found wherever it stands: in a vector's lanes, in the rest behind them, first and last.
    #[test]
    fn the_first_that_does_not_fit_is_named() {
        for len in [1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33] {
            agree(&(0..len).map(|index| index as f32 / 3.0).collect::<Vec<f32>>(), 5);
            for place in 0..len {
                for stray in [1000.0, -1000.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX] {
                    let mut values = vec![0.25; len];
                    values[place..].fill(stray);
                    agree(&values, 255);
                }
            }
        }
        let spec = TensorSpec {
            name: "w".to_owned(),
            r#type: ElementType::I16,
            scale: Some(255),
            rounding: Rounding::Nearest,
            transposed: false,
        };
        let mut values = vec![0.25; 40];
        (values[21], values[33]) = (-129.0, 128.6);
        let message = quantise_tensor(&spec, 4, 10, &values).unwrap_err().to_string();
        assert_eq!(
            message,
            "tensor `w`, index 21 (output 1, input 5): -129 · 255 = -32895 leaves i16 (-32768 to 32767), so |value| \
             must \
             stay below 128.500000; one more value of this tensor leaves it too; clip the weights in training, or \
             lower the scale"
        );
        values[20] = f32::NAN;
        let message = quantise_tensor(&spec, 4, 10, &values).unwrap_err().to_string();
        assert!(
            message.starts_with("tensor `w`, index 20 (output 0, input 5): NaN is not a finite number"),
            "{message}"
        );
    }
}
