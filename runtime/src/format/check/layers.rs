//! What the dense integer layers demand, which run in every build: AFFINE_I8 and REQUANTISE.

use super::ops::Operation;
use super::rules::{A, B, C, D, E, F, NOTHING, Rule, words};
use super::{Kind, Refused};
use crate::built::GENERAL;
use crate::format::records::{claim, element};
use crate::format::{Layout, NONE, OpRecord, TensorRecord, quads_fit};
use bytemuck::cast_slice;
use core::mem::offset_of;

const U8: i8 = element::U8 as i8;
const I32: i8 = element::I32 as i8;
/// What the rules of a layer know: the output's length, and the input's.
const ROWS: i8 = A;
const COLS: i8 = B;
/// The elements of both.
const FROM: i8 = C;
const TO: i8 = D;
/// And of a tensor its element and its layout.
const ELEMENT: i8 = E;
const LAYOUT: i8 = F;

const fn unused_tensor(offset_bytes: usize) -> Rule {
    Rule::new(offset_bytes, NOTHING, 0, "op: an unused tensor", "none")
}
const fn unused_param(index: usize) -> Rule {
    Rule::new(offset_of!(OpRecord, params) + 4 * index, 0, 0, "op.params", "0 where unused")
}
const NO_ACTIVATION: Rule =
    Rule::new(offset_of!(OpRecord, activation), 0, 0, "op.activation", "the kind's only one, or 0");

/// What a dense integer layer demands of its values and of the record, and of its tensors.
struct Layer {
    record: &'static [Rule],
    tensors: [Slot; 2],
}

/// A tensor of a dense layer, a row an output.
struct Slot {
    /// Which word of the record numbers it.
    word: u8,
    is_optional: bool,
    name: &'static str,
    tensor: [Rule; 4],
}

impl Slot {
    const fn new(offset_bytes: usize, name: &'static str, element: u32, layout: Layout, cols: i8) -> Self {
        Self {
            word: (offset_bytes / 4) as u8,
            // A layer without biases names none; all else must be there.
            is_optional: offset_bytes == offset_of!(OpRecord, bias),
            name,
            tensor: [
                Rule::known(ELEMENT, element as i8, 0, name, "a tensor of the operation's element"),
                Rule::known(LAYOUT, layout.code() as i8, 0, name, "a tensor in the operation's layout"),
                Rule::new(offset_of!(TensorRecord, rows), ROWS, 0, name, "a row an output"),
                Rule::new(offset_of!(TensorRecord, cols), cols, 0, name, "a column an input, one for a vector"),
            ],
        }
    }
}

static AFFINE_I8: Layer = Layer {
    record: &[
        Rule::known(FROM, U8, 1, "op.input", "a value of u8 or i8"),
        Rule::known(TO, I32, 0, "op.output", "a value of i32"),
        unused_tensor(offset_of!(OpRecord, multipliers)),
        unused_tensor(offset_of!(OpRecord, shifts)),
        NO_ACTIVATION,
        unused_param(0),
        unused_param(1),
        unused_param(2),
        unused_param(3),
    ],
    tensors: [
        Slot::new(offset_of!(OpRecord, weights), "op.weights", element::I8, Layout::K4, COLS),
        Slot::new(offset_of!(OpRecord, bias), "op.bias", element::I32, Layout::Rows, 1),
    ],
};
static REQUANTISE: Layer = Layer {
    record: &[
        Rule::known(FROM, I32, 0, "op.input", "a value of i32"),
        Rule::known(TO, U8, 2, "op.output", "a value of u8, i8, i16 or i32"),
        Rule::new(offset_of!(OpRecord, input_len), ROWS, 0, "op.input_len", "the output's length"),
        unused_tensor(offset_of!(OpRecord, weights)),
        unused_tensor(offset_of!(OpRecord, bias)),
        NO_ACTIVATION,
        unused_param(3),
    ],
    tensors: [
        Slot::new(offset_of!(OpRecord, multipliers), "op.multipliers", element::I32, Layout::Rows, 1),
        Slot::new(offset_of!(OpRecord, shifts), "op.shifts", element::U8, Layout::Rows, 1),
    ],
};

impl Operation<'_, '_, '_> {
    /// The claim by which a kernel takes a form that could otherwise wrap: the only one that is checked here, because not all
    /// tiers have the form, and a file must give the same numbers on all of them.
    pub(super) fn affine_i8(&self) -> Result<(), Refused> {
        self.layer(&AFFINE_I8)?;
        let Some(weights) = self.model.tensors().get(self.record.weights as usize) else { return Ok(()) };
        let (claims, stride) = (weights.claims, weights.stride as usize);
        // Not 0, as the loader knows and the compiler does not.
        let bank_len = (stride * ((weights.cols as usize + 3) & !3)).max(1);
        let fits = claims & claim::QUADS_FIT_I16 == 0
            || cast_slice(self.model.data(self.record.weights)).chunks(bank_len).all(|bank| quads_fit(bank, stride));
        self.need(
            fits,
            "tensor.claims",
            claims,
            "bit 8 only where every four weights of one sign sum up to at most 258",
        )
    }

    pub(super) fn requantise(&self) -> Result<(), Refused> {
        self.layer(&REQUANTISE)?;
        let (record, to) = (self.record, self.output.element);
        let [low, high, zero, _] = record.params;
        let (words, _) = self.model.data(record.multipliers).as_chunks::<4>();
        let positive = words.iter().all(|[.., top]| *top < 128);
        self.need(positive, "op.multipliers", record.multipliers, "multipliers of 0 to 2^31 − 1")?;
        let few = self.model.data(record.shifts).iter().all(|shift| (1..=62).contains(shift));
        self.need(few, "op.shifts", record.shifts, "shifts of 1 to 62")?;
        self.clamps(low, high, to, "op.params[0]")?;
        if GENERAL {
            self.zero_point(zero, "op.params[2]")?;
            return self.need(zero == 0 || to != element::I32, "op.params[2]", zero, "the zero point 0 of i32");
        }
        if zero != 0 || to == element::I16 {
            return Err(self.checker.missing("op.params[2]", zero, Kind::General));
        }
        Ok(())
    }

    #[inline(never)]
    fn layer(&self, layer: &Layer) -> Result<(), Refused> {
        let (checker, record) = (self.checker, words(self.record));
        checker.know(ROWS, self.output.len);
        checker.know(COLS, self.record.input_len);
        checker.know(FROM, self.input.element);
        checker.know(TO, self.output.element);
        checker.rules(record, layer.record)?;
        for slot in &layer.tensors {
            let index = record.get(usize::from(slot.word)).copied().unwrap_or(NONE);
            if index == NONE && slot.is_optional {
                continue;
            }
            let Some(tensor) = self.model.tensors().get(index as usize) else {
                return Err(self.fault(slot.name, index, "a tensor that exists"));
            };
            checker.know(ELEMENT, tensor.element.into());
            checker.know(LAYOUT, tensor.layout.into());
            checker.rules(words(tensor), &slot.tensor)?;
        }
        Ok(())
    }
}
