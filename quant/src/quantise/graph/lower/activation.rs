//! Activations: ReLU and CReLU as a clamp of what comes next, others as tables between bytes, in f32 at the end.

use super::encoding::Wish;
use super::form::Pending;
use super::form::{Form, Sum, Whole};
use super::{Element, GraphQuantError, Lowering, Node, Operation, Value};
use crate::graph::Activation;
use crate::program::RealActivation;

impl Lowering<'_> {
    pub(super) fn activation(
        &mut self,
        value: Value,
        node: &Node,
        activation: Activation,
        keep: bool,
    ) -> Result<Form, GraphQuantError> {
        let first = node.reads[0];
        let of_all = matches!(activation, Activation::Softmax | Activation::LogSoftmax);
        if of_all && !self.shapes[value].is_vector() {
            return Err(self.unsupported(value, "a softmax of every pixel", "end before it"));
        }
        match (self.form(first).clone(), activation) {
            (Form::Sum(sum), Activation::Relu) if !keep => Ok(Form::Sum(Sum { relu: true, ..sum })),
            (Form::Sum(sum), Activation::Crelu) if !keep => {
                Ok(Form::Sum(Sum { relu: true, cap: Some(sum.cap.into_iter().fold(1.0, f64::min)), ..sum }))
            }
            (Form::Pending(pending), activation) if !keep && Self::clipped(&pending, activation).is_some() => {
                let pending = self.done_once(first, pending)?;
                Ok(Self::clipped(&pending, activation).map_or(Form::Pending(pending), Form::Pending))
            }
            (form, activation) if !keep && self.is_tabled(value, activation) && !matches!(form, Form::Real(_)) => {
                self.lookup(value, first, activation)
            }
            _ => {
                let at = self.real(first)?;
                Ok(Form::Real(self.push_activation(value, at, activation)?))
            }
        }
    }

    /// What a clip of a value ends: its own rounding, or, where something else reads the value too, another one of its
    /// integers. A convolution is done once, and its weights and biases are refined for what it makes.
    fn done_once(&mut self, value: Value, pending: Pending) -> Result<Pending, GraphQuantError> {
        let readers = self.graph.nodes.iter().filter(|node| node.reads.contains(&value)).count();
        if !pending.is_of_a_convolution() || (readers == 1 && !self.is_output(value)) {
            return Ok(pending);
        }
        let whole = self.whole(value, Wish::Any)?;
        Ok(Pending::of_integers(whole))
    }

    /// In f32, parameters included: the file holds them so.
    fn push_activation(&mut self, value: Value, at: usize, activation: Activation) -> Result<usize, GraphQuantError> {
        let held = match activation {
            Activation::Relu => RealActivation::Relu,
            Activation::Crelu => RealActivation::Crelu,
            Activation::LeakyRelu { alpha } => RealActivation::LeakyRelu { alpha: alpha as f32 },
            Activation::Sigmoid => RealActivation::Sigmoid,
            Activation::Tanh => RealActivation::Tanh,
            Activation::Softmax => RealActivation::Softmax,
            other => return Err(self.unsupported(value, format!("`{}` in f32", other.word()), "end before it")),
        };
        Ok(self.push_real(value, "out", &[at], Operation::Activation(held)))
    }

    /// A table of all 256 bytes; over reals where what is read is no bytes of one unit.
    fn lookup(&mut self, value: Value, first: Value, activation: Activation) -> Result<Form, GraphQuantError> {
        let wish = match activation {
            // Beyond, the function is nearer to its end than half a step of a byte.
            Activation::Sigmoid => Wish::Capped(6.0),
            Activation::Tanh => Wish::Capped(3.5),
            _ => Wish::Any,
        };
        let whole = self.whole(first, wish)?;
        let bytes = matches!(self.element(whole.at), Element::U8 | Element::I8);
        if !bytes || whole.units.len() != 1 {
            let at = self.real(first)?;
            return Ok(Form::Real(self.push_activation(value, at, activation)?));
        }
        let encoding = self.encoding(value, Wish::Any)?;
        let signed = self.element(whole.at) == Element::I8;
        let entry = |byte: u8| {
            let x = if signed { i32::from(byte as i8) } else { i32::from(byte) };
            let real = (f64::from(x) - f64::from(whole.zero)) * whole.unit(0);
            let y = activation.apply(&[real])[0];
            let integer = (y / f64::from(encoding.unit)).round() + f64::from(encoding.zero);
            integer.clamp(f64::from(encoding.low), f64::from(encoding.high)) as i32
        };
        let unit = f64::from(encoding.unit);
        let made = self.made(value, encoding.element, &[unit], encoding.zero);
        let op = Operation::Lookup { table: (0..=255).map(entry).collect() };
        let draft = self.draft(value, "table", &[whole.at], op, made);
        Ok(Form::Whole(Whole { at: self.push(draft), units: vec![unit], zero: encoding.zero }))
    }
}
