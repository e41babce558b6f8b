//! What each kind of operation demands of elements, lengths, tensors and parameters: which kinds there are, and what
//! the kinds of several families share.

use super::ops::Operation;
use super::{Checker, Kind, Refused};
use crate::built::{ACCUMULATORS, GENERAL, MAPS, REALS, TELLS_MAPS};
use crate::format::records::{element, input_kind, op};
use crate::format::{Layout, NONE, Tensor, Words};

/// The feature that a kind of operation needs, by its code; [`Kind::Field`] where there is no such kind. AFFINE_I8 and
/// REQUANTISE run in every build and are not looked up. A new kind goes behind the last, here RESIZE.
const FEATURES: [Kind; LAST as usize + 1] = {
    let mut features = [Kind::General; LAST as usize + 1];
    features[0] = Kind::Field;
    let mut kind = op::ACTIVATE_DOT;
    while kind <= op::SCALE_F32 {
        let on_accumulators = matches!(kind, op::ACTIVATE_DOT | op::RESCALE | op::PAIRWISE_U8);
        features[kind as usize] = if on_accumulators { Kind::Accumulators } else { Kind::Reals };
        kind += 1;
    }
    kind = op::CONVOLUTION;
    while kind <= LAST {
        features[kind as usize] = Kind::Maps;
        kind += 1;
    }
    features
};

/// The last kind that this build tells from one that is not defined.
const LAST: u32 = if TELLS_MAPS { op::RESIZE } else { op::ACTIVATE_U8 };

/// The kinds of `general` that networks of maps need too, and that their builds have without it.
const BESIDE_MAPS: [u32; 3] = [op::CONCAT, op::LOOKUP, op::AFFINE_I16];

impl<'a> Operation<'_, 'a> {
    /// The demands of the operation's own kind.
    pub(super) fn kind(&self) -> Result<(), Refused> {
        let kind = self.record.kind;
        if kind == op::AFFINE_I8 || kind == op::REQUANTISE {
            return self.dense();
        }
        let feature = FEATURES.get(kind as usize).copied().unwrap_or(Kind::Field);
        let is_built = match feature {
            Kind::Accumulators => ACCUMULATORS,
            Kind::Reals => REALS,
            Kind::General => GENERAL || MAPS && BESIDE_MAPS.contains(&kind),
            Kind::Maps => MAPS,
            _ => false,
        };
        if !is_built {
            let expected = if feature == Kind::Field { "a kind that is defined" } else { "" };
            return Err(self.checker.refuse(Words::new("op.kind", expected), kind, feature));
        }
        match kind {
            op::ACTIVATE_DOT | op::RESCALE | op::PAIRWISE_U8 if ACCUMULATORS => self.on_accumulators(),
            op::ACTIVATE_F32 | op::DEQUANTISE..=op::SCALE_F32 if REALS => self.on_reals(),
            op::CONVOLUTION..=op::RESIZE if MAPS => self.maps(),
            _ if GENERAL || MAPS => self.general(),
            _ => Ok(()),
        }
    }

    pub(super) fn elements(&self, from: u32, to: u32) -> Result<(), Refused> {
        self.need(
            self.input.element() == from,
            "op.input",
            self.input.element(),
            "a value of the operation's input element",
        )?;
        self.need(
            self.output.element() == to,
            "op.output",
            self.output.element(),
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
        layouts: &[Layout],
        rows: u32,
        cols: u32,
    ) -> Result<Tensor<'a>, Refused> {
        let tensor = self.model.tensor(index).ok_or_else(|| self.fault(name, index, "a tensor that exists"))?;
        let record = tensor.record;
        let known = elements.contains(&record.element.into());
        self.need(known, name, record.element.into(), "a tensor of the operation's element")?;
        self.need(layouts.contains(&tensor.layout), name, record.layout.into(), "a tensor in the operation's layout")?;
        self.need(record.rows == rows, name, record.rows, "a row an output")?;
        self.need(record.cols == cols, name, record.cols, "a column an input, one for a vector")?;
        Ok(tensor)
    }

    pub(super) fn optional(&self, index: u32, name: &'static str, element: u32, rows: u32) -> Result<(), Refused> {
        if index != NONE {
            self.tensor(index, name, &[element], &[Layout::Rows], rows, 1)?;
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

    pub(super) fn clamps(&self, low: u32, high: u32, to: u32, place: &'static str) -> Result<(), Refused> {
        self.checker.clamps(low, high, to, place)
    }

    pub(super) fn zero_point(&self, zero: u32, place: &'static str) -> Result<(), Refused> {
        self.checker.zero_point(zero, place)
    }

    /// The input of a network is read by those operations that know its kind: accumulators and lists do not lie in
    /// memory as the values that operations write do.
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
            op::CONVOLUTION | op::TRANSPOSED_CONVOLUTION if MAPS && record.second == NONE => {
                self.need(record.second_start == 0, "op.second_start", record.second_start, "0")?;
                Ok(None)
            }
            op::CONVOLUTION | op::TRANSPOSED_CONVOLUTION | op::ELEMENTWISE if MAPS => {
                Ok(Some(self.checker.value(record.second).len))
            }
            op::CONCAT if GENERAL || MAPS => {
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

impl Checker<'_> {
    /// Two integers that fit an element, in order.
    pub(super) fn clamps(&self, low: u32, high: u32, to: u32, place: &'static str) -> Result<(), Refused> {
        let (low, high) = (low as i32, high as i32);
        // What is left of a number that fits when its digits are shifted out: nothing but a sign, where there is one.
        let sign = i32::from(to != element::U8);
        let digits = (8 << element::shift(to)) - sign;
        let fits = low <= high && low >> digits >= -sign && high >> digits <= 0;
        self.need(fits, place, low as u32, "clamps that fit the output's element")
    }

    pub(super) fn zero_point(&self, zero: u32, place: &'static str) -> Result<(), Refused> {
        let fits = (zero as i32).unsigned_abs() <= op::MAX_ZERO.unsigned_abs();
        self.need(fits, place, zero, "a zero point of −32768 to 32768")
    }
}
