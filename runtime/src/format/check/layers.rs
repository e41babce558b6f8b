//! What the dense integer layers demand, which run in every build: AFFINE_I8 and REQUANTISE.

use super::ops::{Operation, TO};
use super::rules::{A, B, C, E, F, NOTHING, Rule, Table, word};
use super::{Checker, Kind, Refused};
use crate::features::GENERAL;
use crate::format::op;
use crate::format::records::{claim, element};
use crate::format::{Layout, NONE, OpRecord, TensorRecord, Words, quads_fit};
use bytemuck::cast_slice;
use core::mem::offset_of;

const U8: i8 = element::U8 as i8;
const I32: i8 = element::I32 as i8;
/// What the rules of a layer know: the output's length, and the input's.
const ROWS: i8 = A;
const COLS: i8 = B;
/// The input's element; the output's is known as [`TO`].
const FROM: i8 = C;
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

/// Of the record of AFFINE_I8, and of its values.
pub(super) const AFFINE_I8: [Rule; 9] = [
    Rule::known(FROM, U8, 1, "op.input", "a value of u8 or i8"),
    Rule::known(TO, I32, 0, "op.output", "a value of i32"),
    unused_tensor(offset_of!(OpRecord, multipliers)),
    unused_tensor(offset_of!(OpRecord, shifts)),
    NO_ACTIVATION,
    unused_param(0),
    unused_param(1),
    unused_param(2),
    unused_param(3),
];
/// Of the record of REQUANTISE, and of its values.
pub(super) const REQUANTISE: [Rule; 7] = [
    Rule::known(FROM, I32, 0, "op.input", "a value of i32"),
    Rule::known(TO, U8, 2, "op.output", "a value of u8, i8, i16 or i32"),
    Rule::new(offset_of!(OpRecord, input_len), ROWS, 0, "op.input_len", "the output's length"),
    unused_tensor(offset_of!(OpRecord, weights)),
    unused_tensor(offset_of!(OpRecord, bias)),
    NO_ACTIVATION,
    unused_param(3),
];
/// Of their tensors.
pub(super) const WEIGHTS: [Rule; 4] = tensor("op.weights", element::I8, Layout::K4, COLS);
pub(super) const BIAS: [Rule; 4] = tensor("op.bias", element::I32, Layout::Rows, 1);
pub(super) const MULTIPLIERS: [Rule; 4] = tensor("op.multipliers", element::I32, Layout::Rows, 1);
pub(super) const SHIFTS: [Rule; 4] = tensor("op.shifts", element::U8, Layout::Rows, 1);

const fn tensor(name: &'static str, element: u32, layout: Layout, cols: i8) -> [Rule; 4] {
    [
        Rule::known(ELEMENT, element as i8, 0, name, "a tensor of the operation's element"),
        Rule::known(LAYOUT, layout.code() as i8, 0, name, "a tensor in the operation's layout"),
        Rule::new(offset_of!(TensorRecord, rows), ROWS, 0, name, "a row an output"),
        Rule::new(offset_of!(TensorRecord, cols), cols, 0, name, "a column an input, one for a vector"),
    ]
}

/// The tables of a dense integer layer.
struct Layer {
    record: Table,
    tensors: [Slot; 2],
}

/// A tensor of a dense layer, a row an output.
struct Slot {
    /// Which word of the record numbers it.
    word: i8,
    is_optional: bool,
    table: Table,
    missing: Words,
}

impl Slot {
    const fn new(offset_bytes: usize, name: &'static str, table: Table) -> Self {
        Self {
            word: word(offset_bytes),
            // A layer without biases names none; all else must be there.
            is_optional: offset_bytes == offset_of!(OpRecord, bias),
            table,
            missing: Words::new(name, "a tensor that exists"),
        }
    }
}

/// Of AFFINE_I8 and of REQUANTISE.
static LAYERS: [Layer; 2] = [
    Layer {
        record: Table::AFFINE_I8,
        tensors: [
            Slot::new(offset_of!(OpRecord, weights), "op.weights", Table::WEIGHTS),
            Slot::new(offset_of!(OpRecord, bias), "op.bias", Table::BIAS),
        ],
    },
    Layer {
        record: Table::REQUANTISE,
        tensors: [
            Slot::new(offset_of!(OpRecord, multipliers), "op.multipliers", Table::MULTIPLIERS),
            Slot::new(offset_of!(OpRecord, shifts), "op.shifts", Table::SHIFTS),
        ],
    },
];

impl Operation<'_, '_> {
    #[inline(always)]
    pub(super) fn dense(&self) -> Result<(), Refused> {
        let (checker, record) = (self.checker, self.record);
        let is_affine = record.kind == op::AFFINE_I8;
        checker.know(ROWS, self.output.len);
        checker.know(COLS, record.input_len);
        checker.know(FROM, self.input.element());
        checker.layer(record, &LAYERS[usize::from(!is_affine)])?;
        if is_affine { checker.quads(record) } else { checker.requantisation(record) }
    }
}

impl<'a> Checker<'a> {
    /// Holds the record to which the checker has turned, and its tensors, to the tables of a layer.
    fn layer(&self, record: &'a OpRecord, layer: &Layer) -> Result<(), Refused> {
        self.rules(layer.record)?;
        for slot in &layer.tensors {
            self.turn(self.index.get(), record);
            let index = self.number(slot.word);
            if index == NONE && slot.is_optional {
                continue;
            }
            let Some(tensor) = self.model.tensors().get(index as usize) else {
                return Err(self.refuse(slot.missing, index, Kind::Field));
            };
            self.know(ELEMENT, tensor.element.into());
            self.know(LAYOUT, tensor.layout.into());
            // The fault is the operation's, whatever record it shows in.
            self.turn(self.index.get(), tensor);
            self.rules(slot.table)?;
        }
        Ok(())
    }

    /// The claim by which a kernel takes a form that could otherwise wrap: the only one that is checked here, because
    /// not all tiers have the form, and a file must give the same numbers on all of them.
    fn quads(&self, record: &OpRecord) -> Result<(), Refused> {
        let Some(weights) = self.model.tensors().get(record.weights as usize) else { return Ok(()) };
        let (claims, stride) = (weights.claims, weights.stride as usize);
        // Not 0, as the loader knows and the compiler does not.
        let bank_len = (stride * ((weights.cols as usize + 3) & !3)).max(1);
        let fits = claims & claim::QUADS_FIT_I16 == 0
            || cast_slice(self.model.data(record.weights)).chunks(bank_len).all(|bank| quads_fit(bank, stride));
        self.need(
            fits,
            "tensor.claims",
            claims,
            "bit 8 only where every four weights of one sign sum up to at most 258",
        )
    }

    /// Multipliers, shifts, clamps and zero point of a requantisation.
    fn requantisation(&self, record: &OpRecord) -> Result<(), Refused> {
        let (words, _) = self.model.data(record.multipliers).as_chunks::<4>();
        let positive = words.iter().all(|[.., top]| *top < 128);
        self.need(positive, "op.multipliers", record.multipliers, "multipliers of 0 to 2^31 − 1")?;
        let few = self.model.data(record.shifts).iter().all(|shift| (1..=62).contains(shift));
        self.need(few, "op.shifts", record.shifts, "shifts of 1 to 62")?;
        let ([low, high, zero, _], to) = (record.params, self.left(TO));
        self.clamps(low, high, to, "op.params[0]")?;
        if GENERAL {
            self.zero_point(zero, "op.params[2]")?;
            return self.need(zero == 0 || to != element::I32, "op.params[2]", zero, "the zero point 0 of i32");
        }
        if zero != 0 || to == element::I16 {
            return Err(self.missing("op.params[2]", zero, Kind::General));
        }
        Ok(())
    }
}
