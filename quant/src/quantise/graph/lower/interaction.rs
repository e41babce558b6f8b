//! Products of embeddings.

use super::encoding::Wish;
use super::form::{Form, Sum};
use super::{Element, GraphQuantError, Lowering, Node, Op, Operation, Value};

impl Lowering<'_> {
    pub(super) fn interaction(
        &mut self,
        value: Value,
        node: &Node,
        width: usize,
        keep: bool,
    ) -> Result<Form, GraphQuantError> {
        let first = node.reads[0];
        let op = match node.op {
            Op::FmTerm { .. } => Operation::FmTerm { width },
            Op::BiInteraction { .. } => Operation::BiInteraction { width },
            _ => Operation::InnerProducts { width },
        };
        if keep || matches!(self.form(first), Form::Real(_)) {
            let at = self.real(first)?;
            return Ok(Form::Real(self.push_real(value, "out", &[at], op)));
        }
        // Rows of a table are so fine as these products allow; anything else is brought there.
        let whole = match self.form(first) {
            Form::Whole(whole) if whole.zero == 0 && whole.units.len() == 1 && self.is_rows(whole.at) => whole.clone(),
            _ => self.whole(first, Wish::Factor(self.factor_limit(first, width)))?,
        };
        let unit = f64::from((whole.unit(0) * whole.unit(0)) as f32);
        if !(unit as f32).is_normal() {
            return Err(self.unsupported(value, format!("products in units of {unit:e}"), "keep the layer in f32"));
        }
        let made = self.made(value, Element::I32, &[unit], 0);
        let draft = self.draft(value, "sums", &[whole.at], op, made);
        let (span, _) = self.checks(&draft);
        let at = self.push(draft);
        let magnitude = span.magnitude() as f64 * unit;
        Ok(Form::Sum(Sum { at, units: vec![unit], relu: false, cap: None, magnitude }))
    }

    fn is_rows(&self, at: usize) -> bool {
        let node = at.checked_sub(1).and_then(|node| self.nodes.get(node));
        node.is_some_and(|node| matches!(node.op, Operation::SparseRows { .. }))
    }

    /// The magnitude of factors at which the sum over all pairs of slots fits i32, whatever they are.
    fn factor_limit(&self, value: Value, width: usize) -> i32 {
        let slots = self.lengths[value] / width.max(1);
        let products = (slots * slots.saturating_sub(1) / 2 * width).max(1);
        (f64::from(i32::MAX) / products as f64).sqrt().min(f64::from(i16::MAX)) as i32
    }
}
