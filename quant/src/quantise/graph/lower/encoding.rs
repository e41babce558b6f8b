//! Which integers a value becomes when it is read: element, unit, zero point, clamp; and getting it there.

use super::form::{Form, Sum, Whole, power_of_two_unit};
use super::{Activations, Element, GraphQuantError, Lowering, Op, QuantOp, Value};
use crate::calibrate::{Method, Range, Target};
use crate::quantise::requantisation;

/// i16 have bits to spare: half of them wait for values beyond those that calibration saw.
const HEADROOM: f64 = 2.0;

/// What a reader wants.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Wish {
    /// Integers as the options say; of what is integers already, those.
    Any,
    /// The same, of a value of which no more than ± this matters.
    Capped(f64),
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
    fn with_zero(element: Element, range: Range) -> Self {
        let (low, high) = element.range();
        let encoding = Self::new(element, range.high - range.low, 0, low, high, 255);
        let below = (-range.low / f64::from(encoding.unit)).round().clamp(0.0, 255.0) as i32;
        Self { zero: low + below, ..encoding }
    }
}

impl Lowering<'_> {
    /// The range of a float value; an error names it if nothing was seen.
    fn range(&self, value: Value, target: Target) -> Result<Range, GraphQuantError> {
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

    fn is_never_negative(&self, value: Value) -> bool {
        let relu = self.form(value).sum().is_some_and(|sum| sum.relu);
        relu || self.calibration.values.get(value).is_some_and(|seen| seen.low >= 0.0)
    }

    /// The input's integers: without a zero point, which the file could not hold.
    pub(super) fn input_encoding(&self) -> Result<Encoding, GraphQuantError> {
        let range = match self.options.input_range {
            Some((low, high)) => Range { low: low.min(0.0), high: high.max(0.0) },
            None => self.range(0, Target { steps: 127, symmetric: false })?,
        };
        let full = matches!(self.options.activations, Activations::U8 | Activations::I8);
        Ok(match (range.low < 0.0, full) {
            (true, _) => Encoding::signed(Element::I8, range.magnitude(), 127),
            (false, true) => Encoding::new(Element::U8, range.high, 0, 0, 255, 255),
            (false, false) => Encoding::new(Element::U8, range.high, 0, 0, 127, 127),
        })
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

    /// The magnitude of i16 activations: with weights of as many bits, of which a row's mean is a quarter of the largest, the sums
    /// of the widest layer that reads them fit i32. Weights give way where a row needs more.
    fn activation_limit(&self, value: Value) -> i32 {
        let all = f64::from(i16::MAX);
        if self.options.weight_bits.limit() < i32::from(i16::MAX) {
            return i16::MAX.into();
        }
        let inputs = self.readers(value).into_iter().map(|node| match &node.op {
            Op::Linear { weights, .. } => weights.inputs,
            _ => self.lengths.get(value).copied().unwrap_or(1),
        });
        let inputs = inputs.max().unwrap_or(1).max(1);
        (2f64.powi(33) / inputs as f64).sqrt().min(all) as i32
    }

    /// A value as integers.
    pub(super) fn whole(&mut self, value: Value, wish: Wish) -> Result<Whole, GraphQuantError> {
        if let Some((_, _, whole)) = self.wholes.iter().find(|(known, with, _)| *known == value && *with == wish) {
            return Ok(whole.clone());
        }
        let whole = match self.form(value).clone() {
            Form::Whole(whole) if self.grants(&whole, wish) => whole,
            Form::Sum(sum) => self.requantise(value, &sum, self.encoding(value, wish)?)?,
            Form::Joined(parts) => self.join(value, &parts, wish)?,
            _ => {
                let at = self.real(value)?;
                self.quantise(value, at, self.encoding(value, wish)?)
            }
        };
        self.wholes.push((value, wish, whole.clone()));
        Ok(whole)
    }

    /// Whether integers that are there serve a reader.
    fn grants(&self, whole: &Whole, wish: Wish) -> bool {
        let element = self.element(whole.at);
        match wish {
            Wish::Any | Wish::Capped(_) => true,
            Wish::Plain(wanted) => element == wanted && whole.zero == 0,
            Wish::Factor(limit) => {
                let magnitude = self.spans.get(whole.at).map_or(i64::MAX, crate::proof::graph::Span::magnitude);
                matches!(element, Element::I8 | Element::I16)
                    && whole.zero == 0
                    && whole.units.len() == 1
                    && magnitude <= i64::from(limit)
            }
        }
    }

    fn requantise(&mut self, value: Value, sum: &Sum, encoding: Encoding) -> Result<Whole, GraphQuantError> {
        let unit = f64::from(encoding.unit);
        let units: Vec<f64> = match self.channels.of.get(&value) {
            Some(factors) => factors.iter().map(|factor| f64::from((unit * factor) as f32)).collect(),
            None => vec![unit],
        };
        let low = if sum.relu { encoding.low.max(encoding.zero) } else { encoding.low };
        let at = self.push_requantise(value, sum, &units, Encoding { low, ..encoding })?;
        Ok(Whole { at, units, zero: encoding.zero })
    }

    /// Appends the operation that brings a sum to other units.
    fn push_requantise(
        &mut self,
        value: Value,
        sum: &Sum,
        units: &[f64],
        encoding: Encoding,
    ) -> Result<usize, GraphQuantError> {
        let len = self.lengths.get(value).copied().unwrap_or(0);
        let (mut multipliers, mut shifts) = (Vec::with_capacity(len), Vec::with_capacity(len));
        for element in 0..len {
            let unit = units.get(element).or(units.first()).copied().unwrap_or(1.0);
            let factor = sum.unit(element) / unit;
            let (multiplier, shift) = requantisation(factor).ok_or_else(|| {
                let what = format!("a factor of {factor:e} between a sum and its integers");
                self.unsupported(value, what, "scale the network's weights down, or keep the layer in f32")
            })?;
            multipliers.push(multiplier);
            shifts.push(shift as u8);
        }
        let made = self.made(value, encoding.element, units, encoding.zero);
        let op = QuantOp::Requantise { multipliers, shifts, low: encoding.low, high: encoding.high };
        let step = if encoding.element == Element::I32 { "total" } else { encoding.element.word() };
        let draft = self.draft(value, step, &[sum.at], op, made);
        Ok(self.push(draft))
    }

    /// Appends the operation that makes reals integers.
    fn quantise(&mut self, value: Value, at: usize, encoding: Encoding) -> Whole {
        let Encoding { element, unit, zero, low, high } = encoding;
        let made = self.made(value, element, &[f64::from(unit)], zero);
        let op = QuantOp::Quantise { inverse: (1.0 / f64::from(unit)) as f32, low, high };
        let draft = self.draft(value, element.word(), &[at], op, made);
        Whole { at: self.push(draft), units: vec![f64::from(unit)], zero }
    }

    /// A sum in i32 of one unit, negative values gone where they count as 0.
    pub(super) fn uniform_sum(&mut self, value: Value) -> Result<usize, GraphQuantError> {
        let Form::Sum(sum) = self.form(value).clone() else { return self.real(value) };
        // What was scaled since it was made has a unit that its own value does not know.
        if sum.units.len() == 1 && !sum.relu && self.unit_of(sum.at) == sum.unit(0) {
            return Ok(sum.at);
        }
        let coarsest = sum.units.iter().copied().fold(0.0, f64::max);
        self.push_total(value, &sum, power_of_two_unit(sum.magnitude, coarsest))
    }

    /// A sum in i32 of this unit.
    pub(super) fn sum_in_unit(&mut self, value: Value, unit: f64) -> Result<usize, GraphQuantError> {
        let Form::Sum(sum) = self.form(value).clone() else { return self.real(value) };
        if sum.units == [unit] && !sum.relu {
            return Ok(sum.at);
        }
        self.push_total(value, &sum, unit)
    }

    fn push_total(&mut self, value: Value, sum: &Sum, unit: f64) -> Result<usize, GraphQuantError> {
        let low = if sum.relu { 0 } else { i32::MIN };
        let encoding = Encoding { element: Element::I32, unit: unit as f32, zero: 0, low, high: i32::MAX };
        self.push_requantise(value, sum, &[unit], encoding)
    }

    /// A value as reals.
    pub(super) fn real(&mut self, value: Value) -> Result<usize, GraphQuantError> {
        if let Some((_, at)) = self.reals.iter().find(|(known, _)| *known == value) {
            return Ok(*at);
        }
        let at = match self.form(value).clone() {
            Form::Real(at) => at,
            Form::Sum(_) => {
                let at = self.uniform_sum(value)?;
                let unit = self.unit_of(at);
                self.push_real(value, "real", &[at], QuantOp::Dequantise { factor: unit as f32 })
            }
            Form::Whole(whole) if whole.units.len() == 1 => {
                let op = QuantOp::ToF32 { factor: whole.unit(0) as f32, zero: whole.zero };
                self.push_real(value, "real", &[whole.at], op)
            }
            Form::Joined(parts) => self.joined_real(value, &parts)?,
            Form::Whole(_) => {
                return Err(self.unsupported(value, "reals of integers with several units", "leave equalisation out"));
            }
            Form::List => return Err(self.unsupported(value, "a list of features as a vector", "embed it")),
        };
        self.reals.push((value, at));
        Ok(at)
    }

    fn unit_of(&self, at: usize) -> f64 {
        at.checked_sub(1).and_then(|node| self.nodes.get(node)).map_or(1.0, |node| node.value.unit(0))
    }

    /// Values one behind the other, as reals.
    pub(super) fn joined_real(&mut self, value: Value, parts: &[Value]) -> Result<usize, GraphQuantError> {
        let mut places = Vec::with_capacity(parts.len());
        for part in parts {
            places.push(self.real(*part)?);
        }
        Ok(self.chain(value, &places, Element::F32, &[1.0], parts))
    }

    /// Values one behind the other, as integers of one element and without zero points; over reals where there is no such element.
    fn join(&mut self, value: Value, parts: &[Value], wish: Wish) -> Result<Whole, GraphQuantError> {
        let elements: Vec<Option<Element>> = parts
            .iter()
            .map(|part| match self.form(*part) {
                Form::Whole(whole) => Some(self.element(whole.at)),
                _ => None,
            })
            .collect();
        let wide = self.options.activations == Activations::I16 || elements.contains(&Some(Element::I16));
        let element = match wish {
            Wish::Plain(element) => element,
            Wish::Factor(_) => Element::I16,
            _ if wide => Element::I16,
            _ if parts.iter().all(|part| self.is_never_negative(*part)) => Element::U8,
            _ => Element::I8,
        };
        let fits = |part: &Value| match self.form(*part) {
            Form::Whole(whole) => self.grants(whole, Wish::Plain(element)),
            _ => true,
        };
        if !parts.iter().all(fits) || matches!(wish, Wish::Factor(_)) {
            let at = self.joined_real(value, parts)?;
            return Ok(self.quantise(value, at, self.encoding(value, wish)?));
        }
        let (mut places, mut units) = (Vec::new(), Vec::new());
        for part in parts {
            let whole = self.whole(*part, Wish::Plain(element))?;
            places.push(whole.at);
            units.extend((0..self.lengths.get(*part).copied().unwrap_or(0)).map(|index| whole.unit(index)));
        }
        let at = self.chain(value, &places, element, &units, parts);
        Ok(Whole { at, units, zero: 0 })
    }

    /// Appends concatenations, two values at a time.
    fn chain(&mut self, value: Value, places: &[usize], element: Element, units: &[f64], parts: &[Value]) -> usize {
        let mut total: Option<(usize, usize)> = None;
        for (number, (at, part)) in places.iter().zip(parts).enumerate() {
            let len = self.lengths.get(*part).copied().unwrap_or(0);
            total = Some(match total {
                None => (*at, len),
                Some((before, had)) => {
                    let last = number + 1 == places.len();
                    let uniform = units.len() == 1;
                    let mut made = self.made(value, element, if uniform { units } else { &[] }, 0);
                    made.len = had + len;
                    if !uniform {
                        made.units = units.iter().take(made.len).map(|unit| *unit as f32).collect();
                    }
                    made.layer = last.then_some(value);
                    let draft = self.draft(value, "joined", &[before, *at], QuantOp::Concat, made);
                    (self.push(draft), had + len)
                }
            });
        }
        total.map_or(0, |(at, _)| at)
    }
}
