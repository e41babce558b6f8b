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

/// To another scale, as LiteRT's reference kernel has it.
pub(crate) fn requantised(from: Quantity, to: Quantity, multiplier: Multiplier) -> Box<[i16; 256]> {
    table(from, to, |stored| twice_rounded(stored - from.zero_point, multiplier) + i64::from(to.zero_point))
}

/// How many bytes become another one where the second rounding of [`requantised`] has halves upwards, as LiteRT's
/// kernels have them in whole vectors.
pub(crate) fn differing_in_vectors(from: Quantity, to: Quantity, by: Multiplier) -> usize {
    let right = by.shift.saturating_sub(31);
    let upwards = |x: i32| {
        let high = twice_rounded(x, Multiplier { shift: by.shift.min(31), ..by });
        if right == 0 { high } else { (high + (1 << (right - 1))) >> right }
    };
    let made = table(from, to, |stored| upwards(stored - from.zero_point) + i64::from(to.zero_point));
    made.iter().zip(requantised(from, to, by).iter()).filter(|(one, other)| one != other).count()
}

/// Slopes that XNNPACK takes; others are left to LiteRT's own kernels.
const SLOPES: std::ops::RangeInclusive<f32> = 1.0 / 256.0..=128.0;
/// The steepest that falls.
const STEEPEST_FALL: f32 = -127.996_09;

/// Two slopes, of what lies above the zero point and below it: in 1/256, as XNNPACK has them, `((x − z) · m + 128) >>
/// 8`, or where it does not take them rounded twice, as in LiteRT's reference kernels. `None` of slopes that are no
/// numbers or 2^30 and more.
pub(crate) fn slopes(from: Quantity, to: Quantity, below: f32) -> Option<Box<[i16; 256]>> {
    let above = from.scale / to.scale;
    let takes = |slope: f32| SLOPES.contains(&slope.abs()) && slope >= STEEPEST_FALL;
    if !takes(above) || !takes(above * below) {
        let falling = below < 0.0;
        let real = f64::from(from.scale * below.abs() / to.scale);
        let (above, below) = (Multiplier::of(above.into())?, Multiplier::of(real)?);
        return Some(table(from, to, |stored| {
            let x = stored - from.zero_point;
            let by = if x >= 0 { above } else { below };
            twice_rounded(if x < 0 && falling { -x } else { x }, by) + i64::from(to.zero_point)
        }));
    }
    let step = |slope: f32| f64::from(256.0 * slope).round_ties_even() as i64;
    let (above, below) = (step(above), step(above * below));
    Some(table(from, to, |stored| {
        let x = i64::from(stored - from.zero_point);
        let slope = if x >= 0 { above } else { below };
        ((x * slope + 128) >> 8) + i64::from(to.zero_point)
    }))
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

    const fn of(element: Element, scale: f32, zero_point: i32) -> Quantity {
        Quantity { shape: Shape::vector(1), element, scale, zero_point }
    }

    /// What LiteRT's interpreter makes of these bytes: a slope of 0.0036 is less than XNNPACK takes, and as a slope of
    /// 1/256 would be 4, or 6, from −29 on.
    #[test]
    fn slopes_that_are_too_flat_are_rounded_twice() {
        let (from, to) = (of(Element::I8, 0.03, 100), of(Element::I8, 0.025, 5));
        for (slope, steeper) in [(0.003, 4), (-0.003, 6)] {
            let table = slopes(from, to, slope).unwrap();
            let at = |stored: i8| i32::from(table[usize::from(stored.cast_unsigned())]);
            assert_eq!([-128, -60, -40, -39].map(at), [steeper; 4]);
            assert_eq!([-38, -37, -30, 0, 99, 100].map(at), [5; 6]);
            assert_eq!([101, 127].map(at), [6, 37]);
        }
    }

    /// The same of its reference kernel for what has another scale, which rounds all that is no whole vector.
    #[test]
    fn bytes_of_another_scale_are_rounded_twice() {
        let (from, to) = (of(Element::I8, 0.03, 60), of(Element::U8, 0.25, 140));
        let multiplier = Multiplier::of(f64::from(from.scale) / f64::from(to.scale)).unwrap();
        let table = requantised(from, to, multiplier);
        let stored: [i8; 9] = [-128, -110, -91, -57, -20, 3, 44, 127, 90];
        let found = stored.map(|stored| table[usize::from(stored.cast_unsigned())]);
        assert_eq!(found, [117, 120, 122, 126, 130, 133, 138, 148, 144]);
        assert!(differing_in_vectors(from, to, multiplier) > 0);
        let same = of(Element::U8, 0.03, 188);
        assert_eq!(differing_in_vectors(from, same, Multiplier::of(1.0).unwrap()), 0);
    }

    /// What is beyond all integers is the greatest that is stored, wherever the zero point lies.
    #[test]
    fn what_is_too_large_is_the_greatest() {
        let of = |zero_point| of(Element::I8, 2.0, zero_point);
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
