//! Which integers a value becomes when it is read: element, unit, zero point, clamp.

use super::{Activations, Element, GraphQuantError, Lowering, Op, Value};
use crate::calibrate::{Method, Range, Target};
use crate::quantise::graph::options::InputEncoding;

/// i16 have bits to spare: half of them wait for values beyond those that calibration saw.
const HEADROOM: f64 = 2.0;

/// What a reader wants.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Wish {
    /// Integers as the options say; of what is integers already, those.
    Any,
    /// The same, of a value of which no more than ± this matters.
    Capped(f64),
    /// The same, of one unit.
    OneUnit,
    /// This element, with a zero point of 0.
    Plain(Element),
    /// i16 of at most this magnitude, of one unit.
    Factor(i32),
}

/// How reals become integers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Encoding {
    pub element: Element,
    pub unit: f32,
    pub zero: i32,
    pub low: i32,
    pub high: i32,
}

impl Encoding {
    /// Steps of `extent` from `low` on.
    fn new(element: Element, extent: f64, zero: i32, low: i32, high: i32, steps: i32) -> Self {
        let unit = (extent / f64::from(steps)) as f32;
        // Of a value that is always 0 any unit will do.
        let unit = if unit.is_normal() { unit } else { 1.0 };
        Self { element, unit, zero, low, high }
    }

    /// Bytes or i16 around 0.
    fn signed(element: Element, magnitude: f64, limit: i32) -> Self {
        Self::new(element, magnitude, 0, -limit, limit, limit)
    }

    /// Bytes with a zero point.
    pub(super) fn with_zero(element: Element, range: Range) -> Self {
        let (low, high) = element.range();
        let encoding = Self::new(element, range.high - range.low, 0, low, high, 255);
        let below = (-range.low / f64::from(encoding.unit)).round().clamp(0.0, 255.0) as i32;
        Self { zero: low + below, ..encoding }
    }
}

impl Lowering<'_> {
    /// The integers of maps, as the options say.
    pub(super) fn encoding_of_bytes(&self, value: Value) -> Result<Encoding, GraphQuantError> {
        let byte = Target { steps: 255, symmetric: false };
        match self.options.maps {
            Activations::I8 => Ok(Encoding::with_zero(Element::I8, self.range(value, byte)?)),
            Activations::U8 => Ok(Encoding::with_zero(Element::U8, self.range(value, byte)?)),
            Activations::U7 if self.is_never_negative(value) => self.encoding(value, Wish::Plain(Element::U8)),
            Activations::U7 => self.encoding(value, Wish::Plain(Element::I8)),
            Activations::I16 => self.encoding(value, Wish::Plain(Element::I16)),
        }
    }

    /// The range of a float value; an error names it if nothing was seen.
    pub(super) fn range(&self, value: Value, target: Target) -> Result<Range, GraphQuantError> {
        if let Some((low, high)) = value.checked_sub(1).and_then(|_| self.options.ranges.get(self.name(value))) {
            return Ok(Range { low: low.min(0.0), high: high.max(0.0) });
        }
        let seen = self.calibration.values.get(value).filter(|seen| !seen.is_empty());
        let not_calibrated = || {
            let value = if value == 0 { "the input".to_owned() } else { format!("layer `{}`", self.name(value)) };
            GraphQuantError::NotCalibrated { value }
        };
        let seen = seen.ok_or_else(not_calibrated)?;
        Ok(match self.channels.of.get(&value) {
            // Channels of their own have their ranges in the factors.
            Some(_) => seen.range(Method::MinMax, target),
            None => seen.range(self.options.method, target),
        })
    }

    pub(super) fn is_never_negative(&self, value: Value) -> bool {
        let relu = self.form(value).sum().is_some_and(|sum| sum.relu);
        relu || self.calibration.values.get(value).is_some_and(|seen| seen.low >= 0.0)
    }

    /// The input's integers: without a zero point unless all that reads it takes it off, or activations have one.
    pub(super) fn input_encoding(&self) -> Result<Encoding, GraphQuantError> {
        if let Some(InputEncoding { is_signed, unit, zero }) = self.options.input_encoding {
            let element = if is_signed { Element::I8 } else { Element::U8 };
            let (low, high) = element.range();
            return Ok(Encoding { element, unit: unit as f32, zero, low, high });
        }
        let range = match self.options.input_range {
            Some((low, high)) => Range { low: low.min(0.0), high: high.max(0.0) },
            None => self.range(0, Target { steps: 127, symmetric: false })?,
        };
        // Maps are read by operations that know of a zero point.
        let is_signed = self.options.activations == Activations::I8 && range.low < 0.0;
        if is_signed || self.readers(0).iter().all(|node| self.knows_zero(node)) {
            return Ok(Encoding::with_zero(Element::I8, range));
        }
        let full = matches!(self.options.activations, Activations::U8 | Activations::I8);
        Ok(match (range.low < 0.0, full) {
            (true, _) => Encoding::signed(Element::I8, range.magnitude(), 127),
            (false, true) => Encoding::new(Element::U8, range.high, 0, 0, 255, 255),
            (false, false) => Encoding::new(Element::U8, range.high, 0, 0, 127, 127),
        })
    }

    /// Whether a node is lowered to an operation that takes zero points off.
    fn knows_zero(&self, node: &crate::graph::Node) -> bool {
        matches!(
            node.op,
            Op::Convolution { .. } | Op::TransposedConvolution { .. } | Op::PerChannel { .. } | Op::Pool { .. }
        ) || self.is_by_pixel(node)
    }

    pub(super) fn encoding(&self, value: Value, wish: Wish) -> Result<Encoding, GraphQuantError> {
        let signed = Target { steps: 127, symmetric: true };
        let byte = Target { steps: 255, symmetric: false };
        let cap = |range: Range| match wish {
            Wish::Capped(end) => Range { low: range.low.max(-end), high: range.high.min(end) },
            _ => range,
        };
        let wide = |limit: i32| -> Result<Encoding, GraphQuantError> {
            let target = Target { steps: limit.unsigned_abs(), symmetric: true };
            Ok(Encoding::signed(Element::I16, HEADROOM * self.range(value, target)?.magnitude(), limit))
        };
        let unsigned = self.is_never_negative(value);
        match (wish, self.options.activations) {
            (Wish::Factor(limit), _) => wide(limit),
            (Wish::Plain(Element::I16), _) => wide(self.activation_limit(value)),
            (Wish::Plain(Element::U8), _) => {
                let range = self.range(value, Target { steps: 127, symmetric: false })?;
                Ok(Encoding::new(Element::U8, range.high, 0, 0, 127, 127))
            }
            (Wish::Plain(_), _) => Ok(Encoding::signed(Element::I8, self.range(value, signed)?.magnitude(), 127)),
            (_, Activations::I16) => wide(self.activation_limit(value)),
            (_, Activations::U7) if unsigned => {
                let range = cap(self.range(value, Target { steps: 127, symmetric: false })?);
                Ok(Encoding::new(Element::U8, range.high, 0, 0, 127, 127))
            }
            (_, Activations::U7) => Ok(Encoding::signed(Element::I8, cap(self.range(value, signed)?).magnitude(), 127)),
            (_, Activations::U8) => Ok(Encoding::with_zero(Element::U8, cap(self.range(value, byte)?))),
            (_, Activations::I8) => Ok(Encoding::with_zero(Element::I8, cap(self.range(value, byte)?))),
        }
    }

    /// The magnitude of i16 activations: with weights of as many bits, of which a row's mean is a quarter of the
    /// largest, the sums of the widest layer that reads them fit i32. Weights give way where a row needs more.
    fn activation_limit(&self, value: Value) -> i32 {
        let all = f64::from(i16::MAX);
        if self.options.weight_bits.limit() < i32::from(i16::MAX) {
            return i16::MAX.into();
        }
        let inputs = self.readers(value).into_iter().map(|node| match &node.op {
            Op::Linear { weights, .. } => weights.inputs,
            _ => self.lengths[value],
        });
        let inputs = inputs.fold(1, usize::max);
        (2f64.powi(33) / inputs as f64).sqrt().min(all) as i32
    }
}
