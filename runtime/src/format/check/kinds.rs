//! What each kind of operation demands of elements, lengths, tensors and parameters: which kinds there are, the dense integer
//! layers, and what all kinds share.

use super::Refused;
use super::ops::Operation;
use super::rules::{FIRST, NOTHING, ONE, Rule, SECOND, ZERO, words};
use crate::built::{ACCUMULATORS, GENERAL, REALS};
use crate::format::records::{claim, element, input_kind, op};
use crate::format::{Layout, NONE, OpRecord, Tensor, ValueRecord, quads_fit};
use bytemuck::cast_slice;
use core::mem::offset_of;

const fn element_of(from: u8, bits: u8, place: &'static str, expected: &'static str) -> [Rule; 1] {
    [Rule::new(offset_of!(ValueRecord, element), from, bits, place, expected)]
}
const fn unused_tensor(offset_bytes: usize) -> Rule {
    Rule::new(offset_bytes, NOTHING, 0, "op: an unused tensor", "none")
}
const fn unused_param(index: usize) -> Rule {
    Rule::new(offset_of!(OpRecord, params) + 4 * index, ZERO, 0, "op.params", "0 where unused")
}
const NO_ACTIVATION: Rule =
    Rule::new(offset_of!(OpRecord, activation), ZERO, 0, "op.activation", "the kind's only one, or 0");

/// What a dense integer layer demands of its values, of the record, and of its tensors.
struct Dense {
    input: [Rule; 1],
    output: [Rule; 1],
    record: &'static [Rule],
    tensors: [Slot; 2],
}

/// A tensor of a dense layer, a row an output.
struct Slot {
    /// Which word of the record numbers it.
    word: usize,
    name: &'static str,
    element: u32,
    /// A column an input, in `K4`; otherwise one, in `Rows`.
    is_matrix: bool,
    is_optional: bool,
}

const AFFINE_I8: Dense = Dense {
    input: element_of(ONE, 1, "op.input", "a value of u8 or i8"),
    output: element_of(FIRST, 0, "op.output", "a value of i32"),
    record: &[
        unused_tensor(offset_of!(OpRecord, multipliers)),
        unused_tensor(offset_of!(OpRecord, shifts)),
        NO_ACTIVATION,
        unused_param(0),
        unused_param(1),
        unused_param(2),
        unused_param(3),
    ],
    tensors: [
        Slot {
            word: offset_of!(OpRecord, weights) / 4,
            name: "op.weights",
            element: element::I8,
            is_matrix: true,
            is_optional: false,
        },
        Slot {
            word: offset_of!(OpRecord, bias) / 4,
            name: "op.bias",
            element: element::I32,
            is_matrix: false,
            is_optional: true,
        },
    ],
};
const REQUANTISE: Dense = Dense {
    input: element_of(FIRST, 0, "op.input", "a value of i32"),
    output: element_of(ONE, 2, "op.output", "a value of u8, i8, i16 or i32"),
    record: &[
        Rule::new(offset_of!(OpRecord, input_len), SECOND, 0, "op.input_len", "the output's length"),
        unused_tensor(offset_of!(OpRecord, weights)),
        unused_tensor(offset_of!(OpRecord, bias)),
        NO_ACTIVATION,
        unused_param(3),
    ],
    tensors: [
        Slot {
            word: offset_of!(OpRecord, multipliers) / 4,
            name: "op.multipliers",
            element: element::I32,
            is_matrix: false,
            is_optional: false,
        },
        Slot {
            word: offset_of!(OpRecord, shifts) / 4,
            name: "op.shifts",
            element: element::U8,
            is_matrix: false,
            is_optional: false,
        },
    ],
};

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

    #[inline(never)]
    fn dense(&self, layer: &Dense) -> Result<(), Refused> {
        let (record, rows) = (words(self.record), self.output.len);
        self.checker.rules(words(self.input), &layer.input, element::I32, 0)?;
        self.checker.rules(words(self.output), &layer.output, element::I32, 0)?;
        self.checker.rules(record, layer.record, 0, rows)?;
        for slot in &layer.tensors {
            let index = record.get(slot.word).copied().unwrap_or(NONE);
            if index != NONE || !slot.is_optional {
                let (layout, cols) =
                    if slot.is_matrix { (Layout::K4, self.record.input_len) } else { (Layout::Rows, 1) };
                self.tensor(index, slot.name, &[slot.element], layout, rows, cols)?;
            }
        }
        Ok(())
    }

    /// The claim by which a kernel takes a form that could otherwise wrap: the only one that is checked here, because not all
    /// tiers have the form, and a file must give the same numbers on all of them.
    fn affine_i8(&self) -> Result<(), Refused> {
        self.dense(&AFFINE_I8)?;
        let Some(weights) = self.model.tensor(self.record.weights) else { return Ok(()) };
        let claims = weights.record.claims;
        let banks = if claims & claim::QUADS_FIT_I16 == 0 { 0 } else { weights.record.banks };
        let fits = (0..banks as usize).all(|bank| quads_fit(cast_slice(weights.bank_bytes(bank)), weights.stride()));
        self.need(
            fits,
            "tensor.claims",
            claims,
            "bit 8 only where every four weights of one sign sum up to at most 258",
        )
    }

    fn requantise(&self) -> Result<(), Refused> {
        self.dense(&REQUANTISE)?;
        let (record, to) = (self.record, self.output.element);
        let [low, high, zero, _] = record.params;
        let (words, _) = self.data(record.multipliers).as_chunks::<4>();
        let positive = words.iter().all(|[.., top]| *top < 128);
        self.need(positive, "op.multipliers", record.multipliers, "multipliers of 0 to 2^31 − 1")?;
        let few = self.data(record.shifts).iter().all(|shift| (1..=62).contains(shift));
        self.need(few, "op.shifts", record.shifts, "shifts of 1 to 62")?;
        self.clamps(low, high, to, "op.params[0]")?;
        if GENERAL {
            self.zero_point(zero, "op.params[2]")?;
            return self.need(zero == 0 || to != element::I32, "op.params[2]", zero, "the zero point 0 of i32");
        }
        if zero != 0 || to == element::I16 {
            return Err(self.checker.missing("op.params[2]", zero, "general"));
        }
        Ok(())
    }

    fn data(&self, index: u32) -> &'a [u8] {
        self.model.tensor(index).map_or(&[], |tensor| tensor.data)
    }

    pub(super) fn elements(&self, from: u32, to: u32) -> Result<(), Refused> {
        self.need(
            self.input.element == from,
            "op.input",
            self.input.element,
            "a value of the operation's input element",
        )?;
        self.need(
            self.output.element == to,
            "op.output",
            self.output.element,
            "a value of the operation's output element",
        )
    }

    pub(super) fn same_len(&self) -> Result<(), Refused> {
        let len = self.record.input_len;
        self.need(len == self.output.len, "op.input_len", len, "the output's length")
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
        self.need(known, name, record.element.into(), "a tensor of the operation's element")?;
        self.need(tensor.layout == layout, name, record.layout.into(), "a tensor in the operation's layout")?;
        self.need(record.rows == rows, name, record.rows, "a row an output")?;
        self.need(record.cols == cols, name, record.cols, "a column an input, one for a vector")?;
        Ok(tensor)
    }

    pub(super) fn optional(&self, index: u32, name: &'static str, element: u32, rows: u32) -> Result<(), Refused> {
        if index != NONE {
            self.tensor(index, name, &[element], Layout::Rows, rows, 1)?;
        }
        Ok(())
    }

    pub(super) fn no_tensors(&self, indices: &[u32]) -> Result<(), Refused> {
        for index in indices {
            self.need(*index == NONE, "op: an unused tensor", *index, "none")?;
        }
        Ok(())
    }

    pub(super) fn activation(&self, code: u32) -> Result<(), Refused> {
        self.need(self.record.activation == code, "op.activation", self.record.activation, "the kind's only one, or 0")
    }

    pub(super) fn zeros(&self, params: &[u32]) -> Result<(), Refused> {
        for param in params {
            self.need(*param == 0, "op.params", *param, "0 where unused")?;
        }
        Ok(())
    }

    /// Two integers that fit an element, in order.
    pub(super) fn clamps(&self, low: u32, high: u32, to: u32, place: &'static str) -> Result<(), Refused> {
        let (low, high) = (low as i32, high as i32);
        let (least, most) = match to {
            element::U8 => (0, 255),
            element::I8 => (-128, 127),
            element::I16 => (-32_768, 32_767),
            _ => (i32::MIN, i32::MAX),
        };
        let fits = least <= low && low <= high && high <= most;
        self.need(fits, place, low as u32, "clamps that fit the output's element")
    }

    pub(super) fn zero_point(&self, zero: u32, place: &'static str) -> Result<(), Refused> {
        let fits = (zero as i32).unsigned_abs() <= op::MAX_ZERO.unsigned_abs();
        self.need(fits, place, zero, "a zero point of −32768 to 32768")
    }

    /// The input of a network is read by those operations that know its kind: accumulators and lists do not lie in memory as the
    /// values that operations write do.
    pub(super) fn input_is_known(&self) -> Result<(), Refused> {
        let (record, input) = (self.record, self.model.input());
        let (first, second) = (record.input == 0, record.second == 0);
        let fits = match input.kind {
            input_kind::FEATURES if ACCUMULATORS => {
                let reads = [op::ACTIVATE_DOT, op::ACTIVATE_F32, op::PAIRWISE_U8, op::CLIP_U8, op::PSQT];
                !second && (!first || reads.contains(&record.kind))
            }
            input_kind::SPARSE if GENERAL => {
                let reads = [op::SPARSE_AFFINE, op::SPARSE_ROWS, op::TREES].contains(&record.kind);
                let whole = record.input_start == 0 && record.input_len == input.max_active;
                !second && (!first || (reads && whole))
            }
            _ => true,
        };
        self.need(fits, "op.input", record.input, "the network's input only where the kind takes it, and then whole")
    }

    /// How many elements are read of the second value; none where there is no second value.
    pub(super) fn second_len(&self) -> Result<Option<u32>, Refused> {
        let record = self.record;
        match record.kind {
            op::ADD_F32 | op::ADD_I32 if REALS => Ok(Some(self.output.len)),
            op::CONCAT if GENERAL => {
                let rest = self.output.len.checked_sub(record.input_len).filter(|rest| *rest >= 1);
                let few = || self.fault("op.input_len", record.input_len, "fewer than the output's elements");
                rest.map(Some).ok_or_else(few)
            }
            _ => {
                self.need(record.second == NONE, "op.second", record.second, "none")?;
                self.need(record.second_start == 0, "op.second_start", record.second_start, "0")?;
                Ok(None)
            }
        }
    }
}
