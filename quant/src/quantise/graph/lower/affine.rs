//! Linear layers: weights and biases in integers that provably fit.
//!
//! With x = (q − zero)·u an element of the input, a row computes `Σ w·u·(q − zero) + b`. Its weights get a unit v of
//! their own, an f32: the largest becomes the largest integer, unless the row's sums would leave i32, when the unit is
//! widened until they do not. The sums' unit is u·v. Where the inputs have a unit each, the weights w·u get the unit.

use super::form::{Form, Sum, Whole};
use super::{Element, GraphQuantError, Lowering, Node, Operation, Value};
use crate::arch::ElementType;
use crate::float::Matrix;
use crate::program::{QuantTensor, Values};
use crate::quantise::graph::options::{Granularity, WeightBits};

/// The largest magnitude of a bias in units of its sums: half of i32 is left to the weights.
pub(super) const BIAS_MAX: f64 = (1u32 << 30) as f64;
/// How much of i32 a row's sums may use: the rest is left to the correction of its bias.
const FULL: f64 = 0.95;
/// How often a unit is widened before the sums are left to the proof to refuse.
const ATTEMPTS: usize = 12;

/// A layer in integers, and what they stand for.
pub(super) struct Integers {
    pub weights: QuantTensor,
    pub bias: QuantTensor,
    /// (1,) or one an output.
    pub units: Vec<f64>,
}

impl Lowering<'_> {
    pub(super) fn linear(
        &mut self,
        value: Value,
        node: &Node,
        weights: &Matrix<f64>,
        bias: &[f64],
    ) -> Result<Form, GraphQuantError> {
        let whole = self.whole(node.reads[0], super::Wish::Any)?;
        let wide = self.element(whole.at) == Element::I16;
        let limit = if wide { self.options.weight_bits.limit() } else { WeightBits::Eight.limit() };
        let read = if whole.units.len() == 1 {
            Weights { real: weights.clone(), input_unit: whole.units[0] }
        } else {
            Weights { real: fold(weights, &whole), input_unit: 1.0 }
        };
        self.fitting(value, node, &read, bias, (whole.zero, limit), |weights, bias| {
            (Operation::Affine { weights, bias: Some(bias) }, whole.at)
        })
    }

    pub(super) fn linear_f32(
        &mut self,
        value: Value,
        node: &Node,
        weights: &Matrix<f64>,
        bias: &[f64],
    ) -> Result<Form, GraphQuantError> {
        let at = self.real(node.reads[0])?;
        let (weights, bias) = tensors_f32(&node.name, weights, bias);
        Ok(Form::Real(self.push_real(value, "out", &[at], Operation::AffineF32 { weights, bias: Some(bias) })))
    }

    /// The widest integers whose sums fit, as the operation that `make` makes of them and of the value it reads.
    pub(super) fn fitting(
        &mut self,
        value: Value,
        node: &Node,
        weights: &Weights,
        bias: &[f64],
        (zero, limit): (i32, i32),
        make: impl Fn(QuantTensor, QuantTensor) -> (Operation, usize),
    ) -> Result<Form, GraphQuantError> {
        let mut wider = vec![1.0; weights.real.outputs];
        let mut attempt = 0;
        loop {
            let integers = integers(&node.name, weights, bias, zero, limit, self.options.weights, &wider);
            let units = integers.units.clone();
            let made = self.made(value, Element::I32, &units, 0);
            let (op, at) = make(integers.weights, integers.bias);
            let draft = self.draft(value, "sums", &[at], op, made);
            let (span, checks) = self.checks(&draft);
            let mut fits = true;
            for check in checks.iter().filter(|check| check.fraction() > FULL) {
                fits = false;
                if let Some(wider) = wider.get_mut(check.row) {
                    *wider *= check.fraction() / FULL * 1.01;
                }
            }
            attempt += 1;
            if fits || attempt == ATTEMPTS {
                let unit = |row: usize| if units.len() == 1 { units[0] } else { units[row] };
                let reach = |row: usize| {
                    let (low, high) = span.at(row);
                    unit(row) * (low.abs().max(high.abs()) as f64)
                };
                let magnitude = (0..weights.real.outputs).map(reach).fold(0.0, f64::max);
                let at = self.push(draft);
                return Ok(Form::Sum(Sum { at, units, relu: false, cap: None, magnitude }));
            }
        }
    }
}

/// A layer's weights, and the unit of all that they read.
pub(super) struct Weights {
    pub real: Matrix<f64>,
    pub input_unit: f64,
}

/// Weights times the units of what they read.
fn fold(weights: &Matrix<f64>, whole: &Whole) -> Matrix<f64> {
    let outputs = weights.outputs.max(1);
    let values = weights.values.iter().enumerate().map(|(index, weight)| weight * whole.unit(index / outputs));
    Matrix { values: values.collect(), ..*weights }
}

/// Rounds weights and biases to units at which the largest weight is `limit`, times `wider`, a factor a row.
pub(super) fn integers(
    name: &str,
    Weights { real: weights, input_unit }: &Weights,
    bias: &[f64],
    zero: i32,
    limit: i32,
    granularity: Granularity,
    wider: &[f64],
) -> Integers {
    let outputs = weights.outputs;
    let mut largest = vec![0f64; outputs];
    for column in weights.values.chunks(outputs.max(1)) {
        largest.iter_mut().zip(column).for_each(|(largest, weight)| *largest = largest.max(weight.abs()));
    }
    let unit = |((largest, bias), wider): ((&f64, &f64), &f64)| {
        (largest / f64::from(limit) * wider).max(bias.abs() / (input_unit * BIAS_MAX))
    };
    let mut units: Vec<f64> = largest.iter().zip(bias).zip(wider).map(unit).collect();
    if granularity == Granularity::PerTensor {
        units = vec![units.iter().copied().fold(0.0, f64::max)];
    }
    // An f32, since the file holds it; without weight and bias any unit will do.
    for unit in &mut units {
        *unit = f64::from(*unit as f32);
        if !(*unit as f32).is_normal() {
            *unit = 1.0;
        }
    }
    let unit = |row: usize| if units.len() == 1 { units[0] } else { units[row] };
    let limit_real = f64::from(limit);
    let mut sums = vec![0i64; outputs];
    let mut rounded = Vec::with_capacity(weights.values.len());
    for column in weights.values.chunks(outputs.max(1)) {
        for (row, weight) in column.iter().enumerate() {
            let integer = (weight / unit(row)).round().clamp(-limit_real, limit_real) as i32;
            if let Some(sum) = sums.get_mut(row) {
                *sum += i64::from(integer);
            }
            rounded.push(integer);
        }
    }
    let bias = bias.iter().zip(&sums).enumerate().map(|(row, (bias, sum))| {
        let own = (bias / (input_unit * unit(row))).round();
        (own - f64::from(zero) * *sum as f64).clamp(f64::from(i32::MIN), f64::from(i32::MAX)) as i32
    });
    let element = if limit <= WeightBits::Eight.limit() { ElementType::I8 } else { ElementType::I16 };
    let bias = Values::Int(bias.collect());
    Integers {
        weights: tensor(format!("{name}.weight"), element, outputs, weights.inputs, Values::Int(rounded)),
        bias: tensor(format!("{name}.bias"), ElementType::I32, outputs, 1, bias),
        units: units.iter().map(|unit| input_unit * unit).collect(),
    }
}

pub(super) fn tensor(name: String, element: ElementType, outputs: usize, inputs: usize, values: Values) -> QuantTensor {
    QuantTensor { name, element, scale: None, banks: 1, outputs, inputs, values }
}

/// A layer's tensors as f32.
pub(super) fn tensors_f32(name: &str, weights: &Matrix<f64>, bias: &[f64]) -> (QuantTensor, QuantTensor) {
    let reals = |values: &[f64]| Values::F32(values.iter().map(|value| *value as f32).collect());
    let (outputs, inputs) = (weights.outputs, weights.inputs);
    let element = ElementType::F32;
    (
        tensor(format!("{name}.weight"), element, outputs, inputs, reals(&weights.values)),
        tensor(format!("{name}.bias"), element, outputs, 1, reals(bias)),
    )
}
