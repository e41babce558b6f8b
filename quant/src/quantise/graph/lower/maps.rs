//! Maps: convolutions and what ends in one rounding with them.
//!
//! A convolution's sums are no values of the runtime: what reads them first decides their rounding. Until then they are
//! [`Pending`]; a ReLU or clip behind them becomes the ends of the rounding, a sum with another map an addend in it.

use super::affine::{BIAS_MAX, tensor};
use super::encoding::{Encoding, Wish};
use super::form::{Form, Pending, Sum, Whole, Work};
use super::{Element, GraphQuantError, Lowering, Node, Operation, Value};
use crate::arch::ElementType;
use crate::graph::{Activation, Binary, Op};
use crate::program::{Convolution, Pairing, Rounding, Values};
use crate::quantise::graph::options::{Granularity, WeightBits};
use crate::quantise::requantisation;
use crate::spatial::Window;

/// A convolution's parts, whatever node it comes from.
struct Source<'g> {
    window: Window,
    groups: usize,
    transposed: bool,
    /// Element (output, column).
    weight: Box<dyn Fn(usize, usize) -> f64 + 'g>,
    columns: usize,
    bias: &'g [f64],
    /// Channels that an output reads.
    inputs: usize,
}

impl<'g> Lowering<'g> {
    /// Whether a dense layer reads a map pixel by pixel.
    pub(super) fn is_by_pixel(&self, node: &Node) -> bool {
        let read = self.shapes[node.reads[0]];
        matches!(&node.op, Op::Linear { weights, .. } if weights.inputs != read.len())
    }

    pub(super) fn convolution(&mut self, value: Value, node: &Node) -> Result<Form, GraphQuantError> {
        self.refuse_what_maps_lack(value, node)?;
        let read = self.whole(node.reads[0], Wish::Any)?;
        if self.shapes[value].is_vector() && self.ends_here(value) {
            return self.logits(value, &read);
        }
        Ok(Form::Pending(Pending { work: Work::Convolution { of: value, read, beside: None }, low: None, high: None }))
    }

    /// Options that no convolution has.
    fn refuse_what_maps_lack(&self, value: Value, node: &Node) -> Result<(), GraphQuantError> {
        let kept = self.options.keep_f32.contains(&node.name);
        let lacks = [
            (kept, "a convolution that is kept in f32", "leave its name out, or keep its map in 16 bits"),
            (self.options.weight_bits == WeightBits::Sixteen, "16-bit weights of a convolution", "take 8 bits"),
            (
                self.options.weights == Granularity::PerTensor,
                "one unit for all channels of a convolution",
                "take a unit a channel",
            ),
        ];
        match lacks.into_iter().find(|(is_asked, ..)| *is_asked) {
            Some((_, what, instead)) => Err(self.unsupported(value, what, instead)),
            None => Ok(()),
        }
    }

    /// Whether nothing but what ends a network reads a value.
    fn ends_here(&self, value: Value) -> bool {
        let ends = |node: &&Node| matches!(node.op, Op::Activation(Activation::Softmax | Activation::Sigmoid));
        self.is_output(value) || (!self.readers(value).is_empty() && self.readers(value).iter().all(ends))
    }

    /// A convolution of one pixel at the end, whose sums stay i32.
    fn logits(&mut self, value: Value, read: &Whole) -> Result<Form, GraphQuantError> {
        let (mut convolution, units) = self.integers(value, read)?;
        convolution.rounding = None;
        let made = self.made(value, Element::I32, &units, 0);
        let draft = self.draft(value, "sums", &[read.at], Operation::Convolution(convolution), made);
        let at = self.push(draft);
        let reach = |channel: usize| {
            let (low, high) = self.spans[at].at(channel);
            units[channel] * low.abs().max(high.abs()) as f64
        };
        let magnitude = (0..units.len()).map(reach).fold(0.0, f64::max);
        Ok(Form::Sum(Sum { at, units, relu: false, cap: None, magnitude }))
    }

    /// A clip behind something that is not rounded yet.
    pub(super) fn clipped(pending: &Pending, activation: Activation) -> Option<Pending> {
        let (low, high) = match activation {
            Activation::Relu => (Some(0.0), None),
            Activation::Crelu => (Some(0.0), Some(1.0)),
            Activation::Clip { low, high } => (low.is_finite().then_some(low), high.is_finite().then_some(high)),
            _ => return None,
        };
        let tighter = |had: Option<f64>, new: Option<f64>, which: fn(f64, f64) -> f64| match (had, new) {
            (Some(had), Some(new)) => Some(which(had, new)),
            (had, new) => had.or(new),
        };
        // Clips of other places than 0 have to hold the order in which they come.
        Some(Pending {
            low: tighter(pending.low, low, f64::max),
            high: tighter(pending.high, high, f64::min),
            ..pending.clone()
        })
    }

    /// The sum of maps: on the sums of a convolution that nothing else reads, else by itself.
    pub(super) fn sum_of_maps(&mut self, value: Value, reads: &[Value], sign: f64) -> Result<Form, GraphQuantError> {
        let fusable = |this: &Self, read: Value| match this.form(read) {
            Form::Pending(Pending { work: Work::Convolution { of, beside: None, .. }, low: None, high: None }) => {
                this.shapes[*of] == this.shapes[value]
                    && this.graph.nodes.iter().filter(|node| node.reads.contains(&read)).count() == 1
            }
            _ => false,
        };
        let [a, b] = *reads else {
            return Err(self.unsupported(value, "a sum of more than two maps", "add two at a time"));
        };
        // The later one, so that what the other has read need not be kept.
        let order = if fusable(self, b) && sign > 0.0 { Some((b, a)) } else { fusable(self, a).then_some((a, b)) };
        if let Some((own, other)) = order.filter(|_| sign > 0.0 && a != b && self.shapes[a] == self.shapes[b]) {
            let beside = self.whole(other, Wish::OneUnit)?;
            if let Form::Pending(pending) = self.form(own).clone()
                && let Work::Convolution { of, read, .. } = pending.work
            {
                let work = Work::Convolution { of, read, beside: Some(beside) };
                return Ok(Form::Pending(Pending { work, low: None, high: None }));
            }
        }
        let (a, b) = (self.whole(a, Wish::OneUnit)?, self.whole(b, Wish::OneUnit)?);
        Ok(Form::Pending(Pending { work: Work::Sum { a, b, sign }, low: None, high: None }))
    }

    pub(super) fn binary(&mut self, value: Value, node: &Node, binary: Binary) -> Result<Form, GraphQuantError> {
        let made = self.shapes[value];
        let fits = node.reads.iter().all(|read| {
            let shape = self.shapes[*read];
            shape == made || (shape.is_vector() && shape.channels == made.channels)
        });
        if !fits {
            return Err(self.unsupported(value, "maps that are repeated along one axis", "repeat a pixel, or nothing"));
        }
        match binary {
            Binary::Add => self.sum_of_maps(value, &node.reads, 1.0),
            Binary::Sub => self.sum_of_maps(value, &node.reads, -1.0),
            Binary::Mul => {
                let reads = [node.reads[0], node.reads[1]];
                let (a, b) = (self.whole(reads[0], Wish::OneUnit)?, self.whole(reads[1], Wish::OneUnit)?);
                if self.element(a.at) == Element::I16 || self.element(b.at) == Element::I16 {
                    return Err(self.unsupported(value, "a product of 16-bit maps", "multiply maps of bytes"));
                }
                Ok(Form::Pending(Pending { work: Work::Product { a, b }, low: None, high: None }))
            }
            other => Err(self.unsupported(value, format!("{other:?} of two values"), "keep it in the trainer")),
        }
    }

    /// Rounds what is pending to an encoding.
    pub(super) fn round(
        &mut self,
        value: Value,
        pending: &Pending,
        encoding: Encoding,
    ) -> Result<Whole, GraphQuantError> {
        let Encoding { element, unit, zero, low, high } = encoding;
        let unit = f64::from(unit);
        let end = |end: f64| (end / unit).round() + f64::from(zero);
        // Conversions saturate.
        let low = pending.low.map_or(low, |least| low.max(end(least) as i32));
        let high = pending.high.map_or(high, |most| high.min(end(most) as i32)).max(low);
        let units = self.units_of_map(value, pending, unit);
        let made = self.made(value, element, &units, zero);
        let (op, reads) = match &pending.work {
            Work::Convolution { of, read, beside } => {
                let (mut convolution, sums) = self.integers(*of, read)?;
                let unit = |channel: usize| units[channel % units.len()];
                let own: Vec<f64> = sums.iter().enumerate().map(|(channel, sum)| sum / unit(channel)).collect();
                let other = beside.as_ref().map(|beside| beside.units[0] / units[0]);
                let (multipliers, shifts) = self.factors(value, &own, other)?;
                convolution.rounding = Some(Rounding { multipliers, shifts, low, high });
                let reads: Vec<usize> =
                    std::iter::once(read.at).chain(beside.as_ref().map(|beside| beside.at)).collect();
                (Operation::Convolution(convolution), reads)
            }
            Work::Sum { a, b, sign } => {
                let (multipliers, shifts) = self.factors(value, &[a.units[0] / unit], Some(b.units[0] / unit))?;
                let (multipliers, shift) = ([multipliers[0], *sign as i32 * multipliers[1]], u32::from(shifts[0]));
                (Operation::Elementwise { pairing: Pairing::Sum, multipliers, shift, low, high }, vec![a.at, b.at])
            }
            Work::Product { a, b } => {
                let (multipliers, shifts) = self.factors(value, &[a.units[0] * b.units[0] / unit], None)?;
                let (multipliers, shift) = ([multipliers[0], 0], u32::from(shifts[0]));
                (Operation::Elementwise { pairing: Pairing::Product, multipliers, shift, low, high }, vec![a.at, b.at])
            }
        };
        let draft = self.draft(value, element.word(), &reads, op, made);
        let units = units.iter().map(|unit| f64::from(*unit as f32)).collect();
        Ok(Whole { at: self.push(draft), units, zero })
    }

    /// One unit, or one a channel where a convolution's map is balanced and nothing is added to it.
    fn units_of_map(&self, value: Value, pending: &Pending, unit: f64) -> Vec<f64> {
        match (self.channels.of.get(&value), &pending.work) {
            (Some(factors), Work::Convolution { beside: None, .. }) => {
                factors.iter().map(|factor| f64::from((unit * factor) as f32)).collect()
            }
            _ => vec![unit],
        }
    }

    /// Factors as multipliers with one shift a channel; a second map's multipliers stand behind.
    fn factors(&self, value: Value, own: &[f64], other: Option<f64>) -> Result<(Vec<i32>, Vec<u8>), GraphQuantError> {
        let of = |factor: f64| {
            requantisation(factor).ok_or_else(|| {
                let what = format!("a factor of {factor:e} between a sum and its integers");
                self.unsupported(value, what, "scale the network's weights down")
            })
        };
        let (mut multipliers, mut shifts, mut beside) = (Vec::new(), Vec::new(), Vec::new());
        for factor in own {
            let (multiplier, shift) = of(*factor)?;
            let Some(other) = other else {
                multipliers.push(multiplier);
                shifts.push(shift as u8);
                continue;
            };
            // One shift for both: that of the larger factor.
            let (_, least) = of(other)?;
            let shift = if multiplier == 0 { least } else { shift.min(least) };
            let at = |factor: f64| (factor * (1u64 << shift) as f64).round().min(f64::from(i32::MAX)) as i32;
            multipliers.push(at(*factor));
            beside.push(at(other));
            shifts.push(shift as u8);
        }
        multipliers.extend(beside);
        Ok((multipliers, shifts))
    }

    /// A window as the file has it: without padding that no place reaches.
    pub(super) fn window(&self, value: Value, window: Window, transposed: bool) -> Result<Window, GraphQuantError> {
        let sizes = |value: Value| [self.shapes[value].height, self.shapes[value].width];
        let (from, to) = (sizes(self.graph.nodes[value - 1].reads[0]), sizes(value));
        let (first, places) = if transposed { (to, from) } else { (from, to) };
        let fits = (0..2).all(|axis| {
            let last = (places[axis] - 1) * window.stride[axis];
            window.before[axis] < window.reach(axis) && last < first[axis] + window.before[axis]
        });
        if !fits {
            return Err(self.unsupported(value, "windows that lie in the padding alone", "pad less than a window"));
        }
        Ok(if transposed { Window { after: [0, 0], ..window } } else { window.trimmed(from, to) })
    }

    fn source(&self, value: Value) -> Option<Source<'g>> {
        let node = self.graph.nodes.get(value.checked_sub(1)?)?;
        let channels = self.shapes[node.reads[0]].channels;
        let matrix = |weights: &'g crate::float::Matrix<f64>| -> Box<dyn Fn(usize, usize) -> f64 + 'g> {
            Box::new(move |output, column| weights.at(output, column))
        };
        Some(match &node.op {
            Op::Convolution { window, groups, weights, bias } => Source {
                window: *window,
                groups: *groups,
                transposed: false,
                weight: matrix(weights),
                columns: weights.inputs,
                bias,
                inputs: channels / groups,
            },
            Op::TransposedConvolution { window, groups, weights, bias, .. } => Source {
                window: *window,
                groups: *groups,
                transposed: true,
                weight: matrix(weights),
                columns: weights.inputs,
                bias,
                inputs: channels / groups,
            },
            Op::Linear { weights, bias } => Source {
                window: Window::of([1, 1]),
                groups: 1,
                transposed: false,
                weight: matrix(weights),
                columns: weights.inputs,
                bias,
                inputs: channels,
            },
            Op::PerChannel { factors, offsets } => Source {
                window: Window::of([1, 1]),
                groups: factors.len(),
                transposed: false,
                weight: Box::new(move |output, _| factors[output]),
                columns: 1,
                bias: offsets,
                inputs: 1,
            },
            _ => return None,
        })
    }

    /// Weights to nearest in a unit a channel, and the units of the sums.
    fn integers(&self, value: Value, read: &Whole) -> Result<(Convolution, Vec<f64>), GraphQuantError> {
        let Some(source) = self.source(value) else {
            return Err(self.unsupported(value, "sums of no convolution", "use a convolution"));
        };
        let (outputs, columns) = (source.bias.len(), source.columns);
        // Of inputs with a unit each the weights take up what their units are of the largest.
        let input_unit = read.units.iter().copied().fold(0.0, f64::max);
        let in_group = outputs / source.groups;
        let real = |output: usize, column: usize| {
            let channel = output / in_group * source.inputs + column % source.inputs;
            (source.weight)(output, column) * (read.unit(channel) / input_unit)
        };
        let unit = |output: usize| {
            let largest = (0..columns).map(|column| real(output, column).abs()).fold(0.0, f64::max);
            // A bias has to fit beside the products.
            let unit = (largest / 127.0).max(source.bias[output].abs() / (input_unit * BIAS_MAX)) as f32;
            if unit.is_normal() { f64::from(unit) } else { 1.0 }
        };
        let units: Vec<f64> = (0..outputs).map(unit).collect();
        let integer =
            |column: usize, output: usize| (real(output, column) / units[output]).round().clamp(-127.0, 127.0) as i32;
        let weights = (0..columns).flat_map(|column| (0..outputs).map(move |output| (column, output)));
        let weights = weights.map(|(column, output)| integer(column, output)).collect();
        let bias = (0..outputs).map(|output| (source.bias[output] / (input_unit * units[output])).round() as i32);
        let name = self.name(value);
        let convolution = Convolution {
            window: self.window(value, source.window, source.transposed)?,
            transposed: source.transposed,
            groups: source.groups,
            weights: tensor(format!("{name}.weight"), ElementType::I8, outputs, columns, Values::Int(weights)),
            bias: Some(tensor(format!("{name}.bias"), ElementType::I32, outputs, 1, Values::Int(bias.collect()))),
            rounding: None,
        };
        Ok((convolution, units.iter().map(|unit| unit * input_unit).collect()))
    }

    /// A value in given integers: rounded to them, or brought to them from those that it has.
    pub(super) fn in_encoding(&mut self, value: Value, encoding: Encoding) -> Result<Whole, GraphQuantError> {
        let had = self.wholes.iter().find(|(known, ..)| *known == value).map(|(.., whole)| whole.clone());
        let whole = match (self.form(value).clone(), had) {
            (Form::Pending(pending), None) => {
                let whole = self.round(value, &pending, encoding)?;
                self.wholes.push((value, Wish::Any, whole.clone()));
                return Ok(whole);
            }
            // A convolution is done once.
            (Form::Pending(_), Some(had)) => had,
            _ => self.whole(value, Wish::OneUnit)?,
        };
        let same = (self.element(whole.at), whole.zero, whole.units[0])
            == (encoding.element, encoding.zero, f64::from(encoding.unit));
        if same {
            return Ok(whole);
        }
        self.round(value, &Pending::of_integers(whole), encoding)
    }

    /// The integers of a map: signed bytes with a zero point, or i16 where the options name the layer, or the
    /// convolution whose clip it is.
    pub(super) fn encoding_of_map(&self, value: Value, pending: &Pending) -> Result<Encoding, GraphQuantError> {
        let named = |value: Value| self.options.sixteen.contains(self.name(value));
        let is_source = matches!(&pending.work, Work::Convolution { of, .. } if named(*of));
        if is_source || named(value) {
            return self.encoding(value, Wish::Plain(Element::I16));
        }
        self.encoding_of_bytes(value)
    }
}
