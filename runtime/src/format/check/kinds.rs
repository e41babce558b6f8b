//! What each kind of operation demands of elements, lengths, tensors and parameters: which kinds there are, the dense integer
//! layers, and what all kinds share.

use super::Refused;
use super::ops::Operation;
use crate::built::{ACCUMULATORS, GENERAL, REALS};
use crate::format::records::{claim, element, input_kind, op};
use crate::format::{Layout, NONE, Tensor, quads_fit};

impl<'a> Operation<'_, '_, 'a> {
    /// The demands of the operation's own kind.
    pub(super) fn kind(&self) -> Result<(), Refused> {
        let kind = self.record.kind;
        let (is_built, feature) = match kind {
            op::AFFINE_I8 => return self.affine_i8(),
            op::REQUANTISE => return self.requantise(),
            op::ACTIVATE_DOT | op::RESCALE | op::PAIRWISE_U8 => (ACCUMULATORS, "accumulators"),
            op::ACTIVATE_F32 | op::DEQUANTISE..=op::SCALE_F32 => (REALS, "reals"),
            op::SPARSE_AFFINE..=op::ACTIVATE_U8 => (GENERAL, "general"),
            other => return Err(self.fault("op.kind", other, "a kind that is defined")),
        };
        if !is_built {
            return Err(self.checker.missing("op.kind", kind, feature));
        }
        match kind {
            op::ACTIVATE_DOT | op::RESCALE | op::PAIRWISE_U8 if ACCUMULATORS => self.on_accumulators(),
            op::ACTIVATE_F32 | op::DEQUANTISE..=op::SCALE_F32 if REALS => self.on_reals(),
            _ if GENERAL => self.general(),
            _ => Ok(()),
        }
    }

    fn affine_i8(&self) -> Result<(), Refused> {
        let (record, from, to) = (self.record, self.input.element, self.output.element);
        self.need(from == element::U8 || from == element::I8, "op.input", from, "a value of u8 or i8");
        self.need(to == element::I32, "op.output", to, "a value of i32");
        let (m, n) = (self.output.len, record.input_len);
        let weights = self.tensor(record.weights, "op.weights", &[element::I8], Layout::K4, m, n)?;
        self.quads(&weights);
        self.optional(record.bias, "op.bias", element::I32, m)?;
        self.no_tensors(&[record.multipliers, record.shifts]);
        self.activation(0);
        self.zeros(&record.params);
        Ok(())
    }

    fn requantise(&self) -> Result<(), Refused> {
        let (record, m) = (self.record, self.output.len);
        let (from, to) = (self.input.element, self.output.element);
        let [low, high, zero, unused] = record.params;
        self.need(from == element::I32, "op.input", from, "a value of i32");
        self.same_len();
        self.no_tensors(&[record.weights, record.bias]);
        self.activation(0);
        let multipliers = self.tensor(record.multipliers, "op.multipliers", &[element::I32], Layout::Rows, m, 1)?;
        let shifts = self.tensor(record.shifts, "op.shifts", &[element::U8], Layout::Rows, m, 1)?;
        let words: &[i32] = bytemuck::try_cast_slice(multipliers.data).unwrap_or(&[-1]);
        let positive = words.iter().all(|word| *word >= 0);
        self.need(positive, "op.multipliers", record.multipliers, "multipliers of 0 to 2^31 − 1");
        let few = shifts.data.iter().all(|shift| (1..=62).contains(shift));
        self.need(few, "op.shifts", record.shifts, "shifts of 1 to 62");
        self.need((element::U8..=element::I32).contains(&to), "op.output", to, "a value of u8, i8, i16 or i32");
        self.clamps(low, high, to, "op.params[0]");
        if !GENERAL && to == element::I16 {
            return Err(self.checker.missing("op.output", to, "general"));
        }
        if !GENERAL && zero != 0 {
            return Err(self.checker.missing("op.params[2]", zero, "general"));
        }
        self.zero_point(zero, "op.params[2]");
        self.need(zero == 0 || to != element::I32, "op.params[2]", zero, "the zero point 0 of i32");
        self.zeros(&[unused]);
        Ok(())
    }

    /// The claim by which a kernel takes a form that could otherwise wrap: the only one that is checked here, because not all
    /// tiers have the form, and a file must give the same numbers on all of them.
    fn quads(&self, weights: &Tensor<'_>) {
        let claims = weights.record.claims;
        let banks = weights.record.banks.max(1) as usize;
        let fits = claims & claim::QUADS_FIT_I16 == 0
            || (0..banks).all(|bank| quads_fit(weights.bank(bank), weights.stride()));
        self.need(
            fits,
            "tensor.claims",
            claims,
            "bit 8 only where every four weights of one sign sum up to at most 258",
        );
    }

    pub(super) fn elements(&self, from: u32, to: u32) {
        self.need(
            self.input.element == from,
            "op.input",
            self.input.element,
            "a value of the operation's input element",
        );
        self.need(
            self.output.element == to,
            "op.output",
            self.output.element,
            "a value of the operation's output element",
        );
    }

    pub(super) fn same_len(&self) {
        let len = self.record.input_len;
        self.need(len == self.output.len, "op.input_len", len, "the output's length");
    }

    pub(super) fn tensor(
        &self,
        index: u32,
        name: &'static str,
        elements: &[u32],
        layout: Layout,
        rows: u32,
        cols: u32,
    ) -> Result<Tensor<'a>, Refused> {
        let tensor = self.model.tensor(index).ok_or_else(|| self.fault(name, index, "a tensor that exists"))?;
        let record = tensor.record;
        let known = elements.contains(&record.element.into());
        self.need(known, name, record.element.into(), "a tensor of the operation's element");
        self.need(tensor.layout == layout, name, record.layout.into(), "a tensor in the operation's layout");
        self.need(record.rows == rows, name, record.rows, "a row an output");
        self.need(record.cols == cols, name, record.cols, "a column an input, one for a vector");
        Ok(tensor)
    }

    pub(super) fn optional(&self, index: u32, name: &'static str, element: u32, rows: u32) -> Result<(), Refused> {
        if index != NONE {
            self.tensor(index, name, &[element], Layout::Rows, rows, 1)?;
        }
        Ok(())
    }

    pub(super) fn no_tensors(&self, indices: &[u32]) {
        for index in indices {
            self.need(*index == NONE, "op: an unused tensor", *index, "none");
        }
    }

    pub(super) fn activation(&self, code: u32) {
        self.need(self.record.activation == code, "op.activation", self.record.activation, "the kind's only one, or 0");
    }

    pub(super) fn zeros(&self, params: &[u32]) {
        for param in params {
            self.need(*param == 0, "op.params", *param, "0 where unused");
        }
    }

    /// Two integers that fit an element, in order.
    pub(super) fn clamps(&self, low: u32, high: u32, to: u32, place: &'static str) {
        let (low, high) = (low as i32, high as i32);
        let (least, most) = match to {
            element::U8 => (0, 255),
            element::I8 => (-128, 127),
            element::I16 => (-32_768, 32_767),
            _ => (i32::MIN, i32::MAX),
        };
        let fits = least <= low && low <= high && high <= most;
        self.need(fits, place, low as u32, "clamps that fit the output's element");
    }

    pub(super) fn zero_point(&self, zero: u32, place: &'static str) {
        let fits = (zero as i32).unsigned_abs() <= op::MAX_ZERO.unsigned_abs();
        self.need(fits, place, zero, "a zero point of −32768 to 32768");
    }

    /// The input of a network is read by those operations that know its kind: accumulators and lists do not lie in memory as the
    /// values that operations write do.
    pub(super) fn input_is_known(&self) {
        let (record, input) = (self.record, self.model.input());
        let (first, second) = (record.input == 0, record.second == 0);
        let fits = match input.kind {
            input_kind::FEATURES => {
                let reads = [op::ACTIVATE_DOT, op::ACTIVATE_F32, op::PAIRWISE_U8, op::CLIP_U8, op::PSQT];
                !second && (!first || reads.contains(&record.kind))
            }
            input_kind::SPARSE => {
                let reads = [op::SPARSE_AFFINE, op::SPARSE_ROWS, op::TREES].contains(&record.kind);
                let whole = record.input_start == 0 && record.input_len == input.max_active;
                !second && (!first || (reads && whole))
            }
            _ => true,
        };
        self.need(fits, "op.input", record.input, "the network's input only where the kind takes it, and then whole");
    }

    /// How many elements are read of the second value; none where there is no second value.
    pub(super) fn second_len(&self) -> Result<Option<u32>, Refused> {
        let record = self.record;
        match record.kind {
            op::ADD_F32 | op::ADD_I32 => Ok(Some(self.output.len)),
            op::CONCAT => {
                let rest = self.output.len.checked_sub(record.input_len).filter(|rest| *rest >= 1);
                let few = || self.fault("op.input_len", record.input_len, "fewer than the output's elements");
                rest.map(Some).ok_or_else(few)
            }
            _ => {
                self.need(record.second == NONE, "op.second", record.second, "none");
                self.need(record.second_start == 0, "op.second_start", record.second_start, "0");
                Ok(None)
            }
        }
    }
}
