//! Reals and the way to them and back: kinds 6 to 8, 10, 22 and 23.

use super::program::{LENS, Program, Read};
use crate::draft::blank;
use tamis_runtime::raw::{Layout, OpRecord, activation, element, op};

impl Program<'_, '_> {
    pub fn dequantise(&mut self) -> bool {
        let read = self.read(&[element::I32]);
        read.is_some_and(|read| self.dequantise_on(read))
    }

    pub fn dequantise_on(&mut self, read: Read) -> bool {
        let (bias, factor) = (self.bias(element::F32, read.len), self.factor());
        let record = OpRecord { bias, params: [factor, 0, 0, 0], ..blank(op::DEQUANTISE) };
        self.push(read, element::F32, read.len, record)
    }

    pub fn affine_f32(&mut self) -> bool {
        let read = self.read(&[element::F32]);
        read.is_some_and(|read| self.affine_f32_on(read))
    }

    pub fn affine_f32_on(&mut self, read: Read) -> bool {
        let rows = self.choices.pick(&LENS);
        let layout = self.choices.pick(&[Layout::Rows, Layout::Columns]);
        let weights = self.weights(element::F32, layout, rows, read.len);
        let bias = self.bias(element::F32, rows);
        self.push(read, element::F32, rows, OpRecord { weights, bias, ..blank(op::AFFINE_F32) })
    }

    pub fn activation_f32(&mut self) -> bool {
        let Some(read) = self.read(&[element::F32]) else { return false };
        let code = match 1 + self.below(activation::SOFTMAX + 1) {
            beyond if beyond > activation::SOFTMAX => activation::HARD_SWISH,
            code => code,
        };
        self.activation_f32_on(read, code)
    }

    /// Of an odd number of elements pairs leave the last one out; of a single one there is none.
    pub fn activation_f32_on(&mut self, read: Read, code: u32) -> bool {
        let is_paired = code == activation::PAIRWISE_CRELU;
        let read = if is_paired { Read { len: read.len & !1, ..read } } else { read };
        let len = match code {
            activation::PAIRWISE_CRELU if read.len == 0 => return false,
            activation::PAIRWISE_CRELU => read.len / 2,
            activation::DUAL_CRELU => 2 * read.len,
            _ => read.len,
        };
        let alpha = if code == activation::LEAKY_RELU { self.factor() } else { 0 };
        let record = OpRecord { activation: code, params: [alpha, 0, 0, 0], ..blank(op::ACTIVATION_F32) };
        self.push(read, element::F32, len, record)
    }

    pub fn scale_f32(&mut self) -> bool {
        let read = self.read(&[element::F32]);
        read.is_some_and(|read| self.scale_f32_on(read))
    }

    pub fn scale_f32_on(&mut self, read: Read) -> bool {
        let params = [self.factor(), 0, 0, 0];
        self.push(read, element::F32, read.len, OpRecord { params, ..blank(op::SCALE_F32) })
    }

    pub fn bytes_to_f32(&mut self) -> bool {
        let Some(read) = self.read(&[element::U8, element::I8, element::I16]) else { return false };
        let zero: i32 = self.choices.pick(&[0, 128, -32_768, 32_768]);
        let params = [self.factor(), zero as u32, 0, 0];
        self.push(read, element::F32, read.len, OpRecord { params, ..blank(op::TO_F32) })
    }

    pub fn quantise(&mut self) -> bool {
        let Some(read) = self.read(&[element::F32]) else { return false };
        let element = self.choices.pick(&[element::U8, element::I8, element::I16]);
        let inverse = self.factor();
        let [low, high, zero] = self.clamps(element).map(|number| number as u32);
        let params = [inverse, low, high, zero];
        self.push(read, element, read.len, OpRecord { params, ..blank(op::QUANTISE) })
    }
}
