//! What each kind of operation demands of elements, lengths, tensors and parameters: which kinds there are, and what
//! the kinds of several families share.

use super::ops::Operation;
use super::{Checker, Kind, Refused};
use crate::features::{
    ACCUMULATORS, ALWAYS, CONVOLUTIONS, GENERAL, GENERAL_OR_CONVOLUTIONS, GENERAL_OR_MAPS, IS_SMALL, MAPS, REALS,
    TELLS_MAPS,
};
use crate::format::op;
use crate::format::records::{element, input_kind};
use crate::format::{Layout, NONE, Tensor, Words};
use crate::operations::operations;

/// Where a kind may read the network's input, besides a vector, which all of them can.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reads {
    Values,
    Accumulators,
    List,
    /// Not for this build to say: it has no such kind, and will say that.
    Unknown,
}

/// How much a kind reads of a second value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Second {
    Absent,
    /// As many elements as it writes.
    Output,
    /// What is left of those that it writes.
    Rest,
    /// All of the value.
    All,
    /// The same where there is one.
    Optional,
    /// Not for this build to say: it has no such kind, and will say that.
    Unknown,
}

/// Makes what the loader asks of the table.
macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $word:literal, if $built:ident else $missing:ident,
        $reads:ident, $second:ident, $demands:ident, $work:ty;)*) => {
        /// What a kind of operation needs that not every build has, by its code. What every build has is no kind to
        /// look up.
        const MISSING: [Kind; LAST as usize + 1] = {
            let mut missing = [Kind::Field; LAST as usize + 1];
            $(if op::$name <= LAST { missing[op::$name as usize] = Kind::$missing; })*
            missing
        };

        /// The last kind that this build tells from one that is not defined.
        const LAST: u32 = {
            let mut last = 0;
            $(if (TELLS_MAPS || op::$name < op::CONVOLUTION) && op::$name > last { last = op::$name; })*
            last
        };

        /// Whether it is one of the dense layers of integers, which every build has.
        const fn is_everywhere(kind: u32) -> bool {
            match kind {
                $(op::$name => matches!(Kind::$missing, Kind::Field),)*
                _ => false,
            }
        }

        const fn reads(kind: u32) -> Reads {
            match kind {
                $(op::$name if $built => Reads::$reads,)*
                // As below.
                _ if IS_SMALL => Reads::Values,
                _ => Reads::Unknown,
            }
        }

        const fn second(kind: u32) -> Second {
            match kind {
                $(op::$name if $built => Second::$second,)*
                // Firmware without maps refuses a second value first: it has a handful of kinds, and no room for one
                // more word.
                _ if !TELLS_MAPS => Second::Absent,
                _ => Second::Unknown,
            }
        }

        impl Operation<'_, '_> {
            /// The demands of the operation's own kind.
            pub(super) fn kind(&self) -> Result<(), Refused> {
                match self.record.kind {
                    // One arm for those, because two of the same call take the room of two.
                    kind if is_everywhere(kind) => self.dense(),
                    $(op::$name if $built => self.$demands(),)*
                    other => Err(self.is_missing(other)),
                }
            }
        }
    };
}

operations!(kinds);

impl<'a> Operation<'_, 'a> {
    /// A kind that there is not, or that this build does not have.
    fn is_missing(&self, kind: u32) -> Refused {
        let missing = MISSING.get(kind as usize).copied().unwrap_or(Kind::Field);
        let expected = if missing == Kind::Field { "a kind that is defined" } else { "" };
        self.checker.refuse(Words::new("op.kind", expected), kind, missing)
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
                !second && (!first || matches!(reads(record.kind), Reads::Accumulators | Reads::Unknown))
            }
            input_kind::SPARSE if GENERAL => {
                let whole = record.input_start == 0 && record.input_len == input.max_active;
                !second && (!first || matches!((reads(record.kind), whole), (Reads::List, true) | (Reads::Unknown, _)))
            }
            _ => true,
        };
        self.need(fits, "op.input", record.input, "the network's input only where the kind takes it, and then whole")
    }

    /// How many elements are read of the second value; none where there is no second value.
    pub(super) fn second_len(&self) -> Result<Option<u32>, Refused> {
        let record = self.record;
        match second(record.kind) {
            Second::Output => return Ok(Some(self.output.len)),
            Second::Rest => {
                let rest = self.output.len.checked_sub(record.input_len).filter(|rest| *rest >= 1);
                let few = || self.fault("op.input_len", record.input_len, "fewer than the output's elements");
                return rest.map(Some).ok_or_else(few);
            }
            Second::All => return Ok(Some(self.checker.value(record.second).len)),
            Second::Optional if record.second != NONE => return Ok(Some(self.checker.value(record.second).len)),
            Second::Unknown => return Ok(None),
            Second::Optional => {}
            Second::Absent => self.need(record.second == NONE, "op.second", record.second, "none")?,
        }
        self.need(record.second_start == 0, "op.second_start", record.second_start, "0")?;
        Ok(None)
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
