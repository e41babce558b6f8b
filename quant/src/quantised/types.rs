//! The nodes of a network of integers.

use crate::float::Matrix;
use crate::program::Element;
use crate::remark::Remark;
use crate::spatial::{Axis, Coordinates, Move, Shape, Window};

/// A network of integers: a list of nodes, each of which reads values that stand before it.
#[derive(Debug, Clone, PartialEq)]
pub struct QuantisedGraph {
    /// What reports call the network.
    pub name: String,
    /// What goes in, by name: values 0 and on.
    pub inputs: Vec<(String, Quantity)>,
    /// Node `i` makes value `inputs.len() + i`.
    pub nodes: Vec<QuantisedNode>,
    /// The value that comes out.
    pub output: usize,
    /// What a person should know.
    pub remarks: Vec<Remark>,
}

/// What a value is: `real = scale · (stored − zero point)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantity {
    /// Height, width, channels.
    pub shape: Shape,
    /// Bytes, mostly; i32 of sums that are not rounded; f32 in front of [`QuantisedOp::Quantise`] and
    /// behind [`QuantisedOp::Dequantise`].
    pub element: Element,
    /// Above 0; 1 of reals.
    pub scale: f32,
    /// In the range of the elements; 0 of reals.
    pub zero_point: i32,
}

/// One operation, with the values that it reads.
#[derive(Debug, Clone, PartialEq)]
pub struct QuantisedNode {
    /// Unique in the network.
    pub name: String,
    /// The values that it reads.
    pub reads: Vec<usize>,
    /// What it makes.
    pub makes: Quantity,
    /// How.
    pub op: QuantisedOp,
    /// The value of the network of reals that it stands for, as [`without_roundings`](super::without_roundings) and
    /// [`read_reals`](crate::import::tflite::read_reals) number them, where there is one.
    pub layer: Option<usize>,
}

/// A real number above 0 as `multiplier · 2^−shift`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Multiplier {
    /// 2^30 to 2^31 − 1, or 0 where the number is below 2^−32.
    pub multiplier: i32,
    /// 1 to 62.
    pub shift: u32,
}

/// The least and the greatest stored value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clamp {
    /// At least the least of the element.
    pub low: i32,
    /// At most its greatest.
    pub high: i32,
}

/// Weights with what becomes of the sums: `Σ (x − zero point of x) · w + bias`, times a multiplier an output, rounded
/// once, halves upwards, then the zero point of what is made added and clamped.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// (m, taps · c / groups), columns by tap, then by input, as those of [`crate::graph::Op::Convolution`].
    pub weights: Matrix<i8>,
    /// (m,)
    pub bias: Vec<i32>,
    /// (m,), the weights' own scales.
    pub scales: Vec<f32>,
    /// (m,)
    pub multipliers: Vec<Multiplier>,
    /// Of what is made.
    pub clamp: Clamp,
}

/// What a node computes. x is what it reads as stored, z a zero point.
#[derive(Debug, Clone, PartialEq)]
pub enum QuantisedOp {
    /// (h, w, c) → (h', w', m); padding counts as the zero point.
    Convolution {
        /// How the kernel slides.
        window: Window,
        /// Of inputs and of outputs.
        groups: usize,
        /// What is summed.
        weights: Weights,
    },
    /// (h, w, c) → (h', w', m), the transpose of a convolution.
    TransposedConvolution {
        /// How the kernel lies; `after` has no meaning here.
        window: Window,
        /// What is summed.
        weights: Weights,
    },
    /// Rows of as many elements as the weights have inputs → as many rows of outputs.
    Linear(Weights),
    /// Two values, repeated along axes of size 1: `(a · (x − z_a) + b · (y − z_b) + 2^(shift − 1)) >> shift`, then
    /// the zero point and the clamp. A difference has `b` below 0.
    Sum {
        /// TFLite's: |a| and |b| are below 2^21, the greater at least 2^20; ONNX's have 10 bits more.
        a: i32,
        /// Of the second.
        b: i32,
        /// 1 to 62.
        shift: u32,
        /// Of what is made.
        clamp: Clamp,
    },
    /// Two values, repeated along axes of size 1: `(x − z_a) · (y − z_b)` times the multiplier.
    Product {
        /// Rounded once, halves upwards.
        multiplier: Multiplier,
        /// Of what is made.
        clamp: Clamp,
    },
    /// The greater of two, as stored.
    Maximum,
    /// The smaller of two, as stored.
    Minimum,
    /// The greatest of a window, as stored; padding does not count.
    MaxPool {
        /// How it slides.
        window: Window,
        /// Of what is made.
        clamp: Clamp,
    },
    /// The mean of a window's stored values, padding left out, rounded to the nearest, halves away from 0.
    AveragePool {
        /// How it slides.
        window: Window,
        /// Of what is made.
        clamp: Clamp,
    },
    /// `Σ (x − z)` over whole axes, times the multiplier, in which the count is, then the zero point.
    Mean {
        /// Height, width, channels.
        over: [bool; 3],
        /// Rounded once, halves upwards.
        multiplier: Multiplier,
    },
    /// One byte for each: at `x` modulo 256.
    Table(Box<[i16; 256]>),
    /// `e^(factor · (x − m)) / Σ`, m the greatest of the pixel, over its channels; the scale of what is made is that
    /// of all softmaxes, 1/256 for int8 and 1/65536 for int16, its zero point the least
    /// stored value.
    Softmax {
        /// β times the scale of what is read.
        factor: f32,
    },
    /// `(x − z)` times the multiplier, then the zero point: to another scale of integers.
    Requantise {
        /// Rounded twice: the product to multiples of 2^31, halves upwards, then what is left of the shift, halves away
        /// from 0.
        multiplier: Multiplier,
    },
    /// Reals to integers: to the nearest of `x / scale`, then the zero point.
    Quantise,
    /// Integers to reals: `scale · (x − z)` in f32.
    Dequantise,
    /// Bytes that are moved.
    Moved {
        /// How.
        by: Move,
        /// What padding holds.
        fill: i32,
    },
    /// One behind the other.
    Concat(Axis),
    /// The pixel that is nearest, of another size.
    ResizeNearest(Coordinates),
    /// The mean of the four around, of another size.
    ResizeBilinear(Coordinates),
    /// These numbers, as stored.
    Constant(Vec<i32>),
}

impl Multiplier {
    /// The nearest to a real number: 31 bits of it, halves away from zero, none below 2^−32. None of a number that is
    /// not finite, below 0, or 2^30 and more.
    #[must_use]
    pub fn of(real: f64) -> Option<Self> {
        if !(real.is_finite() && real >= 0.0) {
            return None;
        }
        let (mantissa, mut exponent) = libm::frexp(real);
        let mut multiplier = (mantissa * f64::from(1u32 << 31)).round() as i64;
        if multiplier == 1 << 31 {
            (multiplier, exponent) = (multiplier / 2, exponent + 1);
        }
        if exponent < -31 {
            return Some(Self { multiplier: 0, shift: 31 });
        }
        let shift = u32::try_from(31 - exponent).ok().filter(|shift| *shift > 0)?;
        Some(Self { multiplier: i32::try_from(multiplier).ok()?, shift })
    }

    /// `(value · multiplier + 2^(shift − 1)) >> shift`
    #[must_use]
    pub const fn apply(self, value: i32) -> i64 {
        (value as i64 * self.multiplier as i64 + (1 << (self.shift - 1))) >> self.shift
    }
}

impl Clamp {
    /// A value within.
    #[must_use]
    pub fn apply(self, value: i64) -> i32 {
        let clamped = value.clamp(self.low.into(), self.high.into());
        i32::try_from(clamped).unwrap_or(self.low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multipliers_are_mantissa_and_exponent() {
        assert_eq!(Multiplier::of(1.0), Some(Multiplier { multiplier: 1 << 30, shift: 30 }));
        assert_eq!(Multiplier::of(0.75), Some(Multiplier { multiplier: 3 << 29, shift: 31 }));
        // A mantissa that rounds up to 1.
        assert_eq!(Multiplier::of(1.0 - f64::EPSILON), Some(Multiplier { multiplier: 1 << 30, shift: 30 }));
        let least = Multiplier::of(2f64.powi(-32)).unwrap();
        assert_eq!((least.multiplier, least.shift), (1 << 30, 62));
        assert_eq!(Multiplier::of(2f64.powi(-33)).unwrap().multiplier, 0);
        assert_eq!(Multiplier::of(2f64.powi(31)), None);
        assert_eq!(Multiplier::of(f64::NAN), None);
        let half = Multiplier::of(0.5).unwrap();
        assert_eq!([3, -3, 1, -1].map(|value| half.apply(value)), [2, -1, 1, 0], "halves go up");
    }
}
