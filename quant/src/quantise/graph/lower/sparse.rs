//! Layers that read the list of features: sums of rows, and rows.

use super::affine::{Weights, tensor, tensors_f32};
use super::form::{Form, Whole};
use super::{Element, GraphQuantError, Lowering, Node, Op, Operation, ProgramInput, ProgramValue, Value};
use crate::arch::ElementType;
use crate::float::Matrix;
use crate::program::{QuantTensor, Values};
use crate::proof::{Before, bound};
use crate::quantise::graph::options::WeightBits;
use crate::quantise::requantisation;
use crate::spatial::Shape;

/// The largest magnitude of a feature's i16 value.
const VALUE_MAX: f64 = 32_768.0;
/// Room for what rounding adds to a bound.
const SLACK: f64 = 0.99;

/// What a feature stands for that is listed without a value.
pub(super) const WITHOUT_VALUE: f32 = 1.0;

impl Lowering<'_> {
    pub(super) fn sparse_linear(
        &mut self,
        value: Value,
        node: &Node,
        (weights, bias): (&Matrix<f64>, &[f64]),
        keep: bool,
    ) -> Result<Form, GraphQuantError> {
        if keep {
            let (weights, bias) = tensors_f32(&node.name, weights, bias);
            return Ok(Form::Real(self.push_real(
                value,
                "out",
                &[0],
                Operation::SparseAffine { weights, bias: Some(bias) },
            )));
        }
        let input_unit = f64::from(self.value_unit().unwrap_or(WITHOUT_VALUE));
        let read = Weights { real: weights.clone(), input_unit };
        // Rows of features cost memory, not time: i16, whatever the dense layers have.
        let limit = WeightBits::Sixteen.limit();
        self.fitting(value, node, &read, bias, (0, limit), |weights, bias| {
            (Operation::SparseAffine { weights, bias: Some(bias) }, 0)
        })
    }

    /// The real value of a 1 in features' values.
    fn value_unit(&self) -> Option<f32> {
        match self.input {
            ProgramInput::Sparse { unit, .. } => unit,
            ProgramInput::Dense { .. } | ProgramInput::Features { .. } => None,
        }
    }

    /// Rows of i16, so fine as the products of all that read them allow.
    pub(super) fn embed(
        &mut self,
        value: Value,
        node: &Node,
        table: &Matrix<f64>,
        keep: bool,
    ) -> Result<Form, GraphQuantError> {
        if keep {
            let (table, _) = tensors_f32(&node.name, table, &[]);
            let table = QuantTensor { name: format!("{}.table", node.name), ..table };
            let op = Operation::SparseRows { table, requantisation: None };
            return Ok(Form::Real(self.push_real(value, "rows", &[0], op)));
        }
        let largest = table.values.iter().fold(0f64, |largest, e| largest.max(e.abs()));
        let mut limit = f64::from(i16::MAX);
        loop {
            let (draft, unit) = self.rows(value, node, table, largest, limit)?;
            let over = self.interactions_over(value, &draft);
            if over <= 1.0 || limit <= 1.0 {
                return Ok(Form::Whole(Whole { at: self.push(draft), units: vec![unit], zero: 0 }));
            }
            // Products grow with the square of their factors.
            limit = (limit / over.sqrt() * SLACK).floor().max(1.0);
        }
    }

    /// The operation with rows of at most `limit`, and the rows' unit.
    fn rows(
        &self,
        value: Value,
        node: &Node,
        table: &Matrix<f64>,
        largest: f64,
        limit: f64,
    ) -> Result<(super::ProgramNode, f64), GraphQuantError> {
        let normal = |unit: f64| {
            let unit = unit as f32;
            if unit.is_normal() { f64::from(unit) } else { 1.0 }
        };
        let stored = if self.value_unit().is_some() { f64::from(i16::MAX) } else { limit };
        let table_unit = normal(largest / stored);
        let (unit, requantisation) = match self.value_unit() {
            None => (table_unit, None),
            Some(value_unit) => {
                // The largest value times the largest weight stays within the limit.
                let unit = normal(f64::from(value_unit) * table_unit * VALUE_MAX * f64::from(i16::MAX) / limit);
                let factor = f64::from(value_unit) * table_unit / unit;
                let made = requantisation(factor);
                (
                    unit,
                    Some(made.ok_or_else(|| self.unsupported(value, format!("a factor of {factor:e}"), "scale it"))?),
                )
            }
        };
        let round = |e: &f64| (e / table_unit).round().clamp(-stored, stored) as i32;
        let values = Values::Int(table.values.iter().map(round).collect());
        let table = tensor(format!("{}.table", node.name), ElementType::I16, table.outputs, table.inputs, values);
        let made = self.made(value, Element::I16, &[unit], 0);
        Ok((self.draft(value, "rows", &[0], Operation::SparseRows { table, requantisation }, made), unit))
    }

    /// How far the sums of the interactions that read these rows leave i32: 1 is just within.
    fn interactions_over(&self, value: Value, rows: &super::ProgramNode) -> f64 {
        let mut nodes = self.nodes.clone();
        let mut spans = self.spans.clone();
        let (span, _) = self.checks(rows);
        nodes.push(rows.clone());
        spans.push(span);
        let mut worst: f64 = 0.0;
        for reader in self.readers(value) {
            let (op, len) = match reader.op {
                Op::FmTerm { width } => (Operation::FmTerm { width }, 1),
                Op::BiInteraction { width } => (Operation::BiInteraction { width }, width),
                Op::InnerProducts { width } => (Operation::InnerProducts { width }, 1),
                _ => continue,
            };
            let made = ProgramValue {
                element: Element::I32,
                shape: Shape::vector(len),
                units: vec![1.0],
                zero: 0,
                layer: None,
                kept: None,
            };
            let draft = self.draft(value, "pairs", &[nodes.len()], op, made);
            let spans: Vec<_> = spans.iter().collect();
            let before = Before { input: &self.input, nodes: &nodes, spans: &spans, bucket: 0, buckets: 1 };
            let (_, checks) = bound(&before, &draft);
            worst = checks.iter().map(|check| check.fraction()).fold(worst, f64::max);
        }
        worst
    }
}
