//! Getting a value to the form in which it is read: narrow integers, i32 of one unit, reals.

use super::encoding::{Encoding, Wish};
use super::form::{Form, Sum, Whole, power_of_two_unit};
use super::{Element, GraphQuantError, Lowering, Operation, Value};
use crate::quantise::requantisation;

/// The unit that outputs have wherever it suits them: then those of two networks compare.
const OUTPUT_UNIT: f64 = 1.0 / 65536.0;
/// What has at most 30 bits in that unit.
const OUTPUT_MAGNITUDE: f64 = OUTPUT_UNIT * (1u32 << 30) as f64;
/// A step of 16 units of a sum is still below what its inputs' roundings add to it.
const FINEST_SUM: f64 = OUTPUT_UNIT / 16.0;

impl Lowering<'_> {
    /// A value as integers.
    pub(super) fn whole(&mut self, value: Value, wish: Wish) -> Result<Whole, GraphQuantError> {
        if let Some((_, _, whole)) = self.wholes.iter().find(|(known, with, _)| *known == value && *with == wish) {
            return Ok(whole.clone());
        }
        if wish == Wish::OneUnit {
            let whole = self.in_one_unit(value)?;
            self.wholes.push((value, wish, whole.clone()));
            return Ok(whole);
        }
        let whole = match self.form(value).clone() {
            Form::Whole(whole) if self.grants(&whole, wish) => whole,
            Form::Sum(sum) => self.requantise(value, &sum, self.encoding(value, wish)?)?,
            Form::Pending(pending) => {
                let encoding = if wish == Wish::Any {
                    self.encoding_of_map(value, &pending)?
                } else {
                    self.encoding(value, wish)?
                };
                match self.wholes.iter().find(|(known, ..)| *known == value) {
                    Some(_) => self.in_encoding(value, encoding)?,
                    None => self.round(value, &pending, encoding)?,
                }
            }
            Form::Joined(parts) => self.join(value, &parts, wish)?,
            _ => {
                let at = self.real(value)?;
                self.quantise(value, at, self.encoding(value, wish)?)
            }
        };
        self.wholes.push((value, wish, whole.clone()));
        Ok(whole)
    }

    /// What is integers already in those, if all of them have one unit; else over reals.
    fn in_one_unit(&mut self, value: Value) -> Result<Whole, GraphQuantError> {
        let whole = self.whole(value, Wish::Any)?;
        if let Some(units) = all_equal(&whole.units) {
            return Ok(Whole { units, ..whole });
        }
        let at = self.real(value)?;
        Ok(self.quantise(value, at, self.encoding(value, Wish::Any)?))
    }

    /// Whether integers that are there serve a reader.
    pub(super) fn grants(&self, whole: &Whole, wish: Wish) -> bool {
        let element = self.element(whole.at);
        match wish {
            Wish::Any | Wish::Capped(_) => true,
            Wish::OneUnit => whole.units.len() == 1,
            Wish::Plain(wanted) => element == wanted && whole.zero == 0,
            Wish::Factor(limit) => {
                let magnitude = self.spans.get(whole.at).map_or(i64::MAX, crate::proof::Span::magnitude);
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
        // Channels with units of their own are never capped.
        let high = sum.capped(units[0], encoding.zero, encoding.high);
        let at = self.push_requantise(value, sum, &units, Encoding { low, high, ..encoding })?;
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
        let len = self.lengths[value];
        let (mut multipliers, mut shifts) = (Vec::with_capacity(len), Vec::with_capacity(len));
        for element in 0..len {
            let unit = if units.len() == 1 { units[0] } else { units[element] };
            let factor = sum.unit(element) / unit;
            let (multiplier, shift) = requantisation(factor).ok_or_else(|| {
                let what = format!("a factor of {factor:e} between a sum and its integers");
                self.unsupported(value, what, "scale the network's weights down, or keep the layer in f32")
            })?;
            multipliers.push(multiplier);
            shifts.push(shift as u8);
        }
        let made = self.made(value, encoding.element, units, encoding.zero);
        let op = Operation::Requantise { multipliers, shifts, low: encoding.low, high: encoding.high };
        let step = if encoding.element == Element::I32 { "total" } else { encoding.element.word() };
        let draft = self.draft(value, step, &[sum.at], op, made);
        Ok(self.push(draft))
    }

    /// Appends the operation that makes reals integers.
    pub(super) fn quantise(&mut self, value: Value, at: usize, encoding: Encoding) -> Whole {
        let Encoding { element, unit, zero, low, high } = encoding;
        let made = self.made(value, element, &[f64::from(unit)], zero);
        let op = Operation::Quantise { inverse: (1.0 / f64::from(unit)) as f32, low, high };
        let draft = self.draft(value, element.word(), &[at], op, made);
        Whole { at: self.push(draft), units: vec![f64::from(unit)], zero }
    }

    /// A sum in i32 of one unit, negative values gone where they count as 0.
    pub(super) fn uniform_sum(&mut self, value: Value) -> Result<usize, GraphQuantError> {
        let Form::Sum(sum) = self.form(value).clone() else { return self.real(value) };
        // What was scaled since it was made has a unit that its own value does not know, which holds it as an f32.
        if sum.units.len() == 1 && !sum.relu && self.unit_of(sum.at) == f64::from(sum.unit(0) as f32) {
            return Ok(sum.at);
        }
        let coarsest = sum.units.iter().copied().fold(0.0, f64::max);
        self.push_total(value, &sum, power_of_two_unit(sum.magnitude, coarsest))
    }

    /// The network's output: in 1/65536 where that is fine and wide enough, as [`uniform_sum`](Self::uniform_sum) else.
    pub(super) fn output_sum(&mut self, value: Value, sum: &Sum) -> Result<usize, GraphQuantError> {
        let finest = sum.units.iter().copied().fold(f64::INFINITY, f64::min);
        if sum.magnitude <= OUTPUT_MAGNITUDE && finest >= FINEST_SUM {
            self.sum_in_unit(value, OUTPUT_UNIT)
        } else {
            self.uniform_sum(value)
        }
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
        let high = sum.capped(unit, 0, i32::MAX);
        let encoding = Encoding { element: Element::I32, unit: unit as f32, zero: 0, low, high };
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
                self.push_real(value, "real", &[at], Operation::Dequantise { factor: unit as f32, bias: None })
            }
            Form::Whole(whole) if whole.units.len() == 1 => {
                let op = Operation::ToF32 { factor: whole.unit(0) as f32, zero: whole.zero };
                self.push_real(value, "real", &[whole.at], op)
            }
            Form::Joined(parts) => self.joined_real(value, &parts)?,
            Form::Pending(_) => {
                let whole = self.whole(value, Wish::Any)?;
                let op = Operation::ToF32 { factor: whole.unit(0) as f32, zero: whole.zero };
                self.push_real(value, "real", &[whole.at], op)
            }
            Form::Whole(_) => {
                return Err(self.unsupported(value, "reals of integers with several units", "leave equalisation out"));
            }
            Form::List => return Err(self.unsupported(value, "a list of features as a vector", "embed it")),
        };
        self.reals.push((value, at));
        Ok(at)
    }

    /// The unit of a sum.
    fn unit_of(&self, at: usize) -> f64 {
        let node = at.checked_sub(1).unwrap_or_else(|| unreachable!("the input is no sum"));
        self.nodes[node].value.unit(0)
    }
}

/// Units as one, if they are.
pub(super) fn all_equal(units: &[f64]) -> Option<Vec<f64>> {
    units.iter().all(|unit| *unit == units[0]).then(|| vec![units[0]])
}
