//! Maps whose elements are as they were: pools, maps one behind the other, and the same integers at other places.

use super::encoding::Wish;
use super::form::{Form, Whole};
use super::read::all_equal;
use super::{Element, GraphQuantError, Lowering, Node, Operation, Value};
use crate::graph::{Axis, Pooling};
use crate::program::PoolKind;
use crate::spatial::{Shape, Window};

impl Lowering<'_> {
    /// A maximum or a mean; where a sum fits i16 and its window has no padding, the sum.
    pub(super) fn pool(
        &mut self,
        value: Value,
        node: &Node,
        window: Window,
        kind: Pooling,
    ) -> Result<Form, GraphQuantError> {
        let read = self.whole(node.reads[0], Wish::Any)?;
        let element = self.element(read.at);
        let whole = read.units.clone();
        let mean: Vec<f64> = whole.iter().map(|unit| unit / window.taps() as f64).collect();
        let (low, high) = element.range();
        let taps = window.taps();
        let is_padded = window.before != [0, 0] || window.after != [0, 0];
        let reach = i64::from((low - read.zero).abs().max((high - read.zero).abs())) * taps as i64;
        let sums_fit = element != Element::I16 && reach <= i64::from(i16::MAX);
        let (kind, made, units, zero) = match kind {
            Pooling::Max => (PoolKind::Max, element, whole, read.zero),
            // What is left out of the sum is left to the next multiplier: nothing is rounded.
            Pooling::Average if !is_padded && sums_fit => (PoolKind::Sum, Element::I16, mean, 0),
            Pooling::AverageWithPadding if sums_fit => (PoolKind::Sum, Element::I16, mean, 0),
            Pooling::Average => (PoolKind::Mean, element, whole, read.zero),
            Pooling::AverageWithPadding => {
                return Err(self.unsupported(value, "a mean with padding of so many pixels", "use a smaller window"));
            }
        };
        let (low, high) = if kind == PoolKind::Sum { (0, 0) } else { (low, high) };
        let window = self.window(value, window, false)?;
        let op = Operation::Pool { window, kind, low, high };
        let made = self.made(value, made, &units, zero);
        let draft = self.draft(value, "pool", &[read.at], op, made);
        let units = units.into_iter().map(|unit| f64::from(unit as f32)).collect();
        Ok(Form::Whole(Whole { at: self.push(draft), units, zero }))
    }

    /// Maps one behind the other, in the integers that the longest of them would have.
    pub(super) fn joined_maps(&mut self, value: Value, parts: &[Value], axis: Axis) -> Result<Form, GraphQuantError> {
        let encoding = self.encoding_of_bytes(value)?;
        let (mut total, mut shape) = (None, self.shapes[parts[0]]);
        for (number, part) in parts.iter().enumerate() {
            let whole = self.in_encoding(*part, encoding)?;
            let Some(before) = total else {
                total = Some(whole.at);
                continue;
            };
            let mut axes = shape.axes();
            axes[axis.index()] += self.shapes[*part].axes()[axis.index()];
            shape = Shape::of_axes(axes);
            let runs = axes[..axis.index()].iter().product();
            let mut made = self.made(value, encoding.element, &[f64::from(encoding.unit)], encoding.zero);
            (made.shape, made.layer) = (shape, (number + 1 == parts.len()).then_some(value));
            let draft = self.draft(value, "joined", &[before, whole.at], Operation::Concat { runs }, made);
            total = Some(self.push(draft));
        }
        let at = total.unwrap_or_else(|| unreachable!("a join has parts"));
        Ok(Form::Whole(Whole { at, units: vec![f64::from(encoding.unit)], zero: encoding.zero }))
    }

    /// The same integers at other places: of what is read an operation makes the value's shape.
    pub(super) fn moved(&mut self, value: Value, read: Value, op: Operation) -> Result<Form, GraphQuantError> {
        // Who reads what was moved out of a join may want one unit, which then comes over reals only.
        let wish = if matches!(self.form(read), Form::Joined(_)) { Wish::OneUnit } else { Wish::Any };
        let mut whole = self.whole(read, wish)?;
        if let Operation::Move { start, steps } = &op {
            whole = match moved_units(&whole, self.shapes[value], *start, *steps) {
                Some(units) => Whole { units, ..whole },
                None => self.whole(read, Wish::OneUnit)?,
            };
        }
        let made = self.made(value, self.element(whole.at), &whole.units, whole.zero);
        let draft = self.draft(value, "moved", &[whole.at], op, made);
        Ok(Form::Whole(Whole { at: self.push(draft), ..whole }))
    }
}

/// The unit of each channel of a shape whose element (y, x, c) is what was read at
/// `start + y·steps[0] + x·steps[1] + c·steps[2]`: one for all where they are equal. None where pixels differ in it.
fn moved_units(read: &Whole, shape: Shape, start: usize, steps: [i32; 3]) -> Option<Vec<f64>> {
    if read.units.len() == 1 {
        return Some(read.units.clone());
    }
    let [down, along, between] = steps.map(|step| step as isize);
    let unit = |pixel: isize, channel: usize| read.unit((start as isize + pixel + channel as isize * between) as usize);
    let pixels = (0..shape.height as isize).flat_map(|y| (0..shape.width as isize).map(move |x| y * down + x * along));
    let mut units: Option<Vec<f64>> = None;
    for pixel in pixels {
        let found = (0..shape.channels).map(|channel| unit(pixel, channel)).collect();
        if *units.get_or_insert_with(|| Vec::clone(&found)) != found {
            return None;
        }
    }
    units.map(|units| all_equal(&units).unwrap_or(units))
}
