//! Functions of one byte as tables of 256.

use super::types::{Clamp, Multiplier, Quantity};

/// A table of a function from a byte as it is stored to one: at its number modulo 256.
pub(crate) fn table(from: Quantity, to: Quantity, function: impl Fn(i32) -> i64) -> Box<[i16; 256]> {
    let mut table = Box::new([0; 256]);
    let ((first, last), (low, high)) = (from.element.range(), to.element.range());
    for stored in first.max(-128)..=last.min(255) {
        table[usize::from(stored as u8)] = function(stored).clamp(low.into(), high.into()) as i16;
    }
    table
}

/// A function of reals, rounded once, halves away from zero.
pub(crate) fn real(from: Quantity, to: Quantity, function: impl Fn(f64) -> f64) -> Box<[i16; 256]> {
    table(from, to, |stored| {
        let y = function(f64::from(from.scale) * f64::from(stored - from.zero_point));
        // As far as i64 reaches, which is beyond what is stored.
        ((y / f64::from(to.scale)).round() as i64).saturating_add(i64::from(to.zero_point))
    })
}

/// A function of what lies above the zero point, to another scale as LiteRT's kernels have it, and cut to stored ends.
pub(crate) fn rescaled(
    from: Quantity,
    to: Quantity,
    multiplier: Multiplier,
    clamp: Clamp,
    function: impl Fn(i32) -> i32,
) -> Box<[i16; 256]> {
    table(from, to, |stored| {
        let y = twice_rounded(function(stored - from.zero_point), multiplier);
        clamp.apply(y + i64::from(to.zero_point)).into()
    })
}

/// `x · multiplier · 2^−shift`: the product's high 32 bits, then what is left of the shift, halves away from zero each
/// time.
fn twice_rounded(x: i32, by: Multiplier) -> i64 {
    let (left, right) = (31u32.saturating_sub(by.shift), by.shift.saturating_sub(31));
    let x = (i64::from(x) << left).clamp(i32::MIN.into(), i32::MAX.into());
    let product = x * i64::from(by.multiplier);
    let nudge = if product >= 0 { 1 << 30 } else { 1 - (1 << 30) };
    shifted((product + nudge) / (1 << 31), right as i32)
}

/// Two slopes in 1/256, as XNNPACK has them: `((x − z) · m + 128) >> 8`.
pub(crate) fn slopes(from: Quantity, to: Quantity, below: f32) -> Box<[i16; 256]> {
    let scale = from.scale / to.scale;
    let step = |slope: f32| f64::from(256.0 * slope).round_ties_even() as i64;
    let (above, below) = (step(scale), step(scale * below));
    table(from, to, |stored| {
        let x = i64::from(stored - from.zero_point);
        let slope = if x >= 0 { above } else { below };
        ((x * slope + 128) >> 8) + i64::from(to.zero_point)
    })
}

/// `x · relu6(x + 3) / 6` as LiteRT's kernels have it, in 16 bits.
pub(crate) fn hard_swish(from: Quantity, to: Quantity) -> Box<[i16; 256]> {
    let fine = f64::from((1.0f32 / 128.0) * from.scale);
    let (out_multiplier, out_exponent) = multiplier16(fine / f64::from(to.scale));
    let (relu_multiplier, relu_exponent) = multiplier16(fine / f64::from(3.0f32 / 32768.0));
    table(from, to, |stored| {
        let x = saturated((i64::from(stored) - i64::from(from.zero_point)) << 7);
        let product = high(x, out_multiplier);
        let mut relu = x;
        if relu_exponent > 0 {
            relu = saturated(relu << (relu_exponent - 1));
        }
        relu = high(relu, relu_multiplier);
        if relu_exponent > 0 {
            relu = saturated(relu << 1);
        }
        if relu_exponent < 0 {
            relu = shifted(relu, -relu_exponent);
        }
        // To 0 … 2^15, where 2^15 is 1.
        let relu = (relu + (1 << 15)) >> 1;
        let made = saturated((relu * product) / (1 << 15));
        shifted(made, -out_exponent) + i64::from(to.zero_point)
    })
}

/// Fifteen bits of mantissa, and the exponent.
fn multiplier16(real: f64) -> (i64, i32) {
    let (mantissa, mut exponent) = libm::frexp(real);
    let mut wide = (mantissa * f64::from(1u32 << 31)).round() as i64;
    if wide == 1 << 31 {
        (wide, exponent) = (1 << 30, exponent + 1);
    }
    (((wide + (1 << 15)) >> 16).min(i16::MAX.into()), exponent)
}

fn saturated(value: i64) -> i64 {
    value.clamp(i16::MIN.into(), i16::MAX.into())
}

/// Twice the product, its high 16 bits, halves away from zero as gemmlowp's nudge has them.
fn high(a: i64, b: i64) -> i64 {
    let product = a * b;
    let nudge = if product >= 0 { 1 << 14 } else { 1 - (1 << 14) };
    saturated((product + nudge) / (1 << 15))
}

/// Divided by a power of two, halves away from zero.
fn shifted(value: i64, by: i32) -> i64 {
    if by <= 0 {
        return saturated(value << (-by).min(16));
    }
    let by = by.min(32);
    let mask = (1i64 << by) - 1;
    let threshold = (mask >> 1) + i64::from(value < 0);
    (value >> by) + i64::from((value & mask) > threshold)
}

/// A function of reals, rounded once, halves to the even number, as ONNX has it.
pub(crate) fn even(from: Quantity, to: Quantity, function: impl Fn(f64) -> f64) -> Box<[i16; 256]> {
    table(from, to, |stored| {
        let y = function(f64::from(from.scale) * f64::from(stored - from.zero_point));
        ((y / f64::from(to.scale)).round_ties_even() as i64).saturating_add(to.zero_point.into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Element;
    use crate::spatial::Shape;

    /// What is beyond all integers is the greatest that is stored, wherever the zero point lies.
    #[test]
    fn what_is_too_large_is_the_greatest() {
        let of = |zero_point| Quantity { shape: Shape::vector(1), element: Element::I8, scale: 2.0, zero_point };
        for zero_point in [-128, 0, 127] {
            let table = real(of(0), of(zero_point), |x| if x > 0.0 { (x * x).exp() } else { -(x * x).exp() });
            assert_eq!([table[127], table[128]], [127, -128], "{zero_point}");
        }
    }

    /// 0.03 by 0.1, in f32: LiteRT's RELU and ABS make these of what lies so far above the zero point; rounded once,
    /// the first six would be one less.
    #[test]
    fn two_roundings_are_two() {
        let multiplier = Multiplier { multiplier: 1_288_490_112, shift: 32 };
        let found = [1, 5, 8, 11, 15, 18, 2, 3, 4, 10].map(|x| twice_rounded(x, multiplier));
        assert_eq!(found, [1, 2, 3, 4, 5, 6, 1, 1, 1, 3]);
        let doubled = Multiplier { multiplier: 1 << 30, shift: 29 };
        assert_eq!([0, 1, 100, -100].map(|x| twice_rounded(x, doubled)), [0, 2, 200, -200]);
    }
}
