//! Dense integer layers and what stands between them: kinds 5, 11, 20, 26, 34, and the additions.

use super::program::{LENS, Program, Read, range_of};
use crate::draft::blank;
use tamis_runtime::raw::{Layout, OpRecord, activation, element, op};

impl Program<'_, '_> {
    pub fn affine_i8(&mut self) -> bool {
        let read = self.read(&[element::U8, element::I8]);
        read.is_some_and(|read| self.affine_i8_on(read))
    }

    pub fn affine_i8_on(&mut self, read: Read) -> bool {
        let rows = self.choices.pick(&LENS);
        self.affine_i8_of(read, rows)
    }

    pub fn affine_i8_of(&mut self, read: Read, rows: u32) -> bool {
        let weights = self.weights(element::I8, Layout::K4, rows, read.len);
        let bias = self.bias(element::I32, rows);
        self.push(read, element::I32, rows, OpRecord { weights, bias, ..blank(op::AFFINE_I8) })
    }

    pub fn affine_i16(&mut self) -> bool {
        let read = self.read(&[element::I16]);
        read.is_some_and(|read| self.affine_i16_on(read))
    }

    pub fn affine_i16_on(&mut self, read: Read) -> bool {
        let rows = self.choices.pick(&LENS);
        let element = self.choices.pick(&[element::I8, element::I16]);
        let weights = self.weights(element, Layout::Rows, rows, read.len);
        let bias = self.bias(element::I32, rows);
        self.push(read, element::I32, rows, OpRecord { weights, bias, ..blank(op::AFFINE_I16) })
    }

    pub fn affine_i32(&mut self) -> bool {
        let Some(read) = self.read(&[element::I32]) else { return false };
        let rows = self.choices.pick(&LENS);
        let (activation, max) = self.choices.pick(&[
            (activation::IDENTITY, 0),
            (activation::RELU, 0),
            (activation::CRELU, 127),
            (activation::CRELU, 32_767),
            (activation::SCRELU, 64),
            (activation::SCRELU, 32_767),
            (activation::SQRRELU, 32_767),
            (activation::DUAL_CRELU, 1),
            (activation::DUAL_CRELU, 255),
            (activation::DUAL_CRELU, 32_767),
        ]);
        let cols = if activation == activation::DUAL_CRELU { 2 * read.len } else { read.len };
        let element = self.choices.pick(&[element::I8, element::I16, element::I32]);
        let weights = self.weights(element, Layout::Rows, rows, cols);
        let bias = self.bias(element::I32, rows);
        let params = [max, self.choices.pick(&[0, 6, 12, 31]), 0, 0];
        self.push(read, element::I32, rows, OpRecord { weights, bias, activation, params, ..blank(op::AFFINE_I32) })
    }

    pub fn requantise(&mut self) -> bool {
        let read = self.read(&[element::I32]);
        read.is_some_and(|read| self.requantise_on(read))
    }

    pub fn requantise_on(&mut self, read: Read) -> bool {
        let element = self.choices.pick(&[element::U8, element::U8, element::I8, element::I16, element::I32]);
        self.requantise_to(element, read)
    }

    pub fn requantise_to(&mut self, element: u32, read: Read) -> bool {
        let clamps = self.clamps(element);
        let ordinary = self.choices.pick(&[1 << 30, 1 << 20]);
        let shifts = self.choices.pick(&[[30, 40], [1, 62], [18, 24], [1, 1], [62, 62]]);
        self.requantise_within(element, read, clamps, ([0, i32::MAX.into(), ordinary], shifts))
    }

    /// By multipliers and shifts of these ranges.
    pub fn requantise_within(
        &mut self,
        element: u32,
        read: Read,
        [low, high, zero]: [i32; 3],
        ([lowest, highest, ordinary], [least, most]): ([i64; 3], [i64; 2]),
    ) -> bool {
        let zero = if element == element::I32 { 0 } else { zero };
        let multipliers = self.tensor(element::I32, Layout::Rows, read.len, 1, lowest, highest, ordinary);
        let shifts = self.tensor(element::U8, Layout::Rows, read.len, 1, least, most, 6);
        let params = [low as u32, high as u32, zero as u32, 0];
        self.push(read, element, read.len, OpRecord { multipliers, shifts, params, ..blank(op::REQUANTISE) })
    }

    /// Two clamps of an element and a zero point.
    pub fn clamps(&mut self, element: u32) -> [i32; 3] {
        let [least, most, _] = range_of(element).map(|end| end as i32);
        let narrow = [0.max(least), 127.min(most)];
        let [low, high] = self.choices.pick(&[narrow, [least, most], [least, least], [most, most], [1, 100]]);
        let zero = self.choices.pick(&[0, 0, 0, 77, -5, 32_768, -32_768]);
        [low, high, zero]
    }

    pub fn activate_u8(&mut self) -> bool {
        let Some(read) = self.read(&[element::I32]) else { return false };
        let codes = [activation::SHIFT_CLIP, activation::SHIFT_SQUARE, activation::SQUARE_AND_CLIP];
        let activation = self.choices.pick(&codes);
        let (clips, squares) = (activation != activation::SHIFT_SQUARE, activation != activation::SHIFT_CLIP);
        let max = self.choices.pick(&[127, 255, 1]);
        let clip_shift = if clips { self.choices.pick(&[6, 0, 31]) } else { 0 };
        let square_shift = if squares { self.choices.pick(&[19, 0, 62]) } else { 0 };
        let len = if clips && squares { 2 * read.len } else { read.len };
        let params = [max, clip_shift, square_shift, 0];
        self.push(read, element::U8, len, OpRecord { activation, params, ..blank(op::ACTIVATE_U8) })
    }

    /// A second value of the same element with room for `len`, perhaps the same one.
    fn second(&mut self, element: u32, len: u32) -> Option<Read> {
        let read = self.read(&[element])?;
        let whole = self.whole(read.value);
        let room = whole.len.checked_sub(len)?;
        Some(Read { start: self.below(room + 1), len, ..whole })
    }

    /// ADD_F32, MULTIPLY_F32 or ADD_I32.
    pub fn add(&mut self, kind: u32, element: u32) -> bool {
        let Some(first) = self.read(&[element]) else { return false };
        let Some(second) = self.second(element, first.len) else { return false };
        let record = OpRecord { second: second.value, second_start: second.start, ..blank(kind) };
        self.push(first, element, first.len, record)
    }

    pub fn concat(&mut self) -> bool {
        let all = [element::U8, element::I8, element::I16, element::I32, element::F32];
        let Some(first) = self.read(&all) else { return false };
        let Some(second) = self.read(&[first.element]) else { return false };
        let divides = |runs: &u32| first.len.is_multiple_of(*runs) && second.len.is_multiple_of(*runs);
        let runs: Vec<u32> = [0, 0, 1, 2, 3, 4, 8].into_iter().filter(|runs| divides(&(*runs).max(1))).collect();
        let params = [self.choices.pick(&runs), 0, 0, 0];
        let record = OpRecord { second: second.value, second_start: second.start, params, ..blank(op::CONCAT) };
        self.push(first, first.element, first.len + second.len, record)
    }
}
