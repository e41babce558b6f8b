//! Chains of operations that a plan runs as one step, and chains that look like them and must not be: the next
//! operation reads a part, something else reads what lies between, another operation stands between.

use super::program::{LENS, Program, Read};
use tamis_runtime::raw::{activation, element};

/// Rows of the dot of a head: one most often.
const ROWS: [u32; 5] = [1, 1, 2, 3, 8];

impl Program<'_, '_> {
    /// ACTIVATE_DOT and RESCALE of one of its rows, or of all; or ROUNDED_DOT and REQUANTISE.
    pub fn head(&mut self) {
        let rows = self.choices.pick(&ROWS);
        let is_rounded = self.choices.one_in(2);
        let _ = if is_rounded { self.rounded_dot(rows) } else { self.activate_dot(rows) };
        let dot = self.last();
        let start = self.below(rows);
        let read = if self.choices.one_in(4) { dot } else { Read { start, len: 1, ..dot } };
        if is_rounded {
            let element = self.choices.pick(&[element::I32, element::I32, element::I32, element::U8]);
            self.requantise_to(element, read);
        } else {
            self.rescale_on(read);
        }
    }

    /// AFFINE_I8 and REQUANTISE, several of them, or a tail of reals.
    pub fn chain(&mut self) {
        let first = self.draft.values.len() as u32;
        let is_built = match self.choices.below(4) {
            0 | 1 => self.tail(),
            2 => self.layer(),
            _ => self.layers(),
        };
        if !is_built {
            return self.grow();
        }
        if self.choices.one_in(4) {
            let between = first + self.below(self.draft.values.len() as u32 - first);
            self.read_again(between);
        }
    }

    fn layer(&mut self) -> bool {
        if !self.affine_i8() {
            return false;
        }
        let read = self.link();
        self.requantise_on(read)
    }

    /// Layers of bytes one behind the other, rounded as the quantiser rounds them: by large shifts.
    fn layers(&mut self) -> bool {
        // Some of whole vectors, and with few rows at their end, as most networks are.
        let is_whole = self.choices.one_in(3);
        let rows = |program: &mut Self| match is_whole {
            true => 16 * (1 + program.below(5)),
            false => program.choices.pick(&LENS),
        };
        let Some(mut read) = self.read(&[element::U8, element::I8]) else { return false };
        if is_whole && read.len >= 8 {
            read.len -= read.len % 8;
        }
        let first = rows(self);
        if !self.affine_i8_of(read, first) {
            return false;
        }
        for _ in 0..1 + self.choices.below(3) {
            let read = self.link();
            let clamps = if self.choices.one_in(4) { self.clamps(element::U8) } else { [0, 127, 0] };
            // One scale for all outputs, or one for each.
            let (multiplier, shift) = ((1 << 30) + i64::from(self.below(1 << 30)), 33 + i64::from(self.below(12)));
            let scales = match is_whole || self.choices.one_in(3) {
                true => ([multiplier; 3], [shift; 2]),
                false => ([0, i32::MAX.into(), 1 << 30], [33, 44]),
            };
            if !(read.element == element::I32 && self.requantise_within(element::U8, read, clamps, scales)) {
                break;
            }
            let read = self.link();
            if read.element != element::U8 || self.choices.one_in(8) {
                break;
            }
            let next = if is_whole && !self.choices.one_in(4) { 1 + self.below(4) } else { rows(self) };
            self.affine_i8_of(read, next);
        }
        true
    }

    fn tail(&mut self) -> bool {
        if !self.dequantise() {
            return false;
        }
        self.activate();
        for _ in 0..1 + self.choices.below(2) {
            let read = self.link();
            self.affine_f32_on(read);
            self.activate();
        }
        if self.choices.one_in(2) {
            let read = self.link();
            self.scale_f32_on(read);
        }
        true
    }

    /// An activation that fused steps have, mostly, or none.
    fn activate(&mut self) {
        if self.choices.one_in(2) {
            let read = self.link();
            let code = self.choices.pick(&[
                activation::CRELU,
                activation::SCRELU,
                activation::RELU,
                activation::SQRRELU,
                activation::IDENTITY,
                activation::SIGMOID,
                activation::HARD_SWISH,
                activation::DUAL_CRELU,
            ]);
            self.activation_f32_on(read, code);
        }
    }

    /// What the last operation wrote, whole or in part, behind another operation now and then.
    fn link(&mut self) -> Read {
        let last = self.last();
        if self.choices.one_in(16) {
            self.grow();
        }
        if self.choices.one_in(6) { self.part(last) } else { last }
    }

    /// One more operation on a value.
    fn read_again(&mut self, value: u32) {
        let whole = self.whole(value);
        let read = if self.choices.one_in(2) { self.part(whole) } else { whole };
        match read.element {
            element::F32 => self.scale_f32_on(read),
            element::I32 => self.dequantise_on(read),
            element::I16 => self.affine_i16_on(read),
            _ => self.affine_i8_on(read),
        };
    }
}
