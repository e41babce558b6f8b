//! Values one behind the other.

use super::encoding::Wish;
use super::form::{Form, Whole};
use super::{Activations, Element, GraphQuantError, Lowering, Operation, Value};
use crate::spatial::Shape;

impl Lowering<'_> {
    /// Values one behind the other, as reals.
    pub(super) fn joined_real(&mut self, value: Value, parts: &[Value]) -> Result<usize, GraphQuantError> {
        let mut places = Vec::with_capacity(parts.len());
        for part in parts {
            places.push(self.real(*part)?);
        }
        Ok(self.chain(value, &places, Element::F32, &[1.0], parts))
    }

    /// Values one behind the other, as integers of one element and without zero points; over reals where there is no
    /// such element.
    pub(super) fn join(&mut self, value: Value, parts: &[Value], wish: Wish) -> Result<Whole, GraphQuantError> {
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
            units.extend((0..self.lengths[*part]).map(|index| whole.unit(index)));
        }
        let at = self.chain(value, &places, element, &units, parts);
        Ok(Whole { at, units, zero: 0 })
    }

    /// Appends concatenations, two values at a time.
    fn chain(&mut self, value: Value, places: &[usize], element: Element, units: &[f64], parts: &[Value]) -> usize {
        let mut total: Option<(usize, usize)> = None;
        for (number, (at, part)) in places.iter().zip(parts).enumerate() {
            let len = self.lengths[*part];
            total = Some(match total {
                None => (*at, len),
                Some((before, had)) => {
                    let last = number + 1 == places.len();
                    let uniform = units.len() == 1;
                    let mut made = self.made(value, element, if uniform { units } else { &[] }, 0);
                    made.shape = Shape::vector(had + len);
                    if !uniform {
                        made.units = units.iter().take(made.len()).map(|unit| *unit as f32).collect();
                    }
                    made.layer = last.then_some(value);
                    let draft = self.draft(value, "joined", &[before, *at], Operation::Concat { runs: 1 }, made);
                    (self.push(draft), had + len)
                }
            });
        }
        let (at, _) = total.unwrap_or_else(|| unreachable!("a join has parts"));
        at
    }
}
