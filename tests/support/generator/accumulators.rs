//! Operations on accumulators: kinds 1, 3, 4, 24, 25, 35 to 37 and 39.

use super::program::Program;
use crate::draft::blank;
use tamis_runtime::raw::{Layout, OpRecord, activation, element, op};

impl Program<'_, '_> {
    pub fn on_accumulators(&mut self) {
        let done = match self.choices.below(10) {
            8 => self.wide_head(),
            9 => self.feature_sums(),
            0 | 1 => false,
            6 => {
                let rows = self.choices.pick(&[1, 2, 8, 3, 1, 16, 33]);
                self.rounded_dot(rows)
            }
            2 => self.activate_f32(),
            3 => self.pairwise_u8(),
            7 => self.pairwise_rounded(),
            4 => self.clip_u8(),
            _ => self.psqt(),
        };
        if !done {
            let rows = self.choices.pick(&[1, 2, 8, 3, 1, 16, 33]);
            self.activate_dot(rows);
        }
    }

    pub fn activate_dot(&mut self, rows: u32) -> bool {
        let read = self.whole(0);
        let activation = self.choices.pick(&[activation::SCRELU, activation::CRELU, activation::SQRRELU]);
        let max = if activation == activation::SQRRELU { 32_767 } else { self.clip() };
        let weights = self.weights(element::I16, Layout::Rows, rows, read.len);
        let record = OpRecord { activation, weights, params: [max, 0, 0, 0], ..blank(op::ACTIVATE_DOT) };
        self.push(read, element::I32, rows, record)
    }

    pub fn rounded_dot(&mut self, rows: u32) -> bool {
        let (read, activation, max) = (self.whole(0), activation::SCRELU, self.clip());
        let weights = self.weights(element::I16, Layout::Rows, rows, read.len);
        let bias = self.bias(element::I32, rows);
        let record = OpRecord { activation, weights, bias, params: [max, 0, 0, 0], ..blank(op::ROUNDED_DOT) };
        self.push(read, element::I32, rows, record)
    }

    fn wide_head(&mut self) -> bool {
        let (read, rows) = (self.whole(0), self.choices.pick(&[1, 1, 2, 3, 8]));
        let activation = self.choices.pick(&[activation::SCRELU, activation::CRELU, activation::SQRRELU]);
        let max = if activation == activation::SQRRELU { 32_767 } else { self.clip() };
        let weights = self.weights(element::I16, Layout::Rows, rows, read.len);
        let (bias, [pre, factor, divisor]) = self.head_numbers(rows);
        let params = [max, pre, factor, divisor];
        self.push(read, element::I32, rows, OpRecord { activation, weights, bias, params, ..blank(op::WIDE_HEAD) })
    }

    fn activate_f32(&mut self) -> bool {
        let read = self.whole(0);
        let codes = [activation::CRELU, activation::SCRELU, activation::SQRRELU, activation::PAIRWISE_CRELU];
        let activation = self.choices.pick(&codes);
        let is_paired = activation == activation::PAIRWISE_CRELU;
        let Some(out) = self.left_out(is_paired) else { return false };
        let params = [self.clip(), self.factor(), out, 0];
        let used = self.draft.input.perspectives * (self.draft.input.hidden - out);
        let len = if is_paired { used / 2 } else { used };
        self.push(read, element::F32, len, OpRecord { activation, params, ..blank(op::ACTIVATE_F32) })
    }

    /// The last elements that are left out, often none, so that as many are used as a half asks for.
    fn left_out(&mut self, is_even: bool) -> Option<u32> {
        let hidden = self.draft.input.hidden;
        let out = if self.choices.one_in(2) { self.below(hidden) } else { 0 };
        let out = if is_even && !(hidden - out).is_multiple_of(2) { out + 1 } else { out };
        (out < hidden).then_some(out)
    }

    fn pairwise_u8(&mut self) -> bool {
        let Some(out) = self.left_out(true) else { return false };
        // Up to 127, up to 255, and almost nothing.
        let clip = self.choices.pick(&[[255, 9], [255, 8], [127, 7], [15, 0], [32_767, 23], [1000, 31]]);
        self.pairs(op::PAIRWISE_U8, out, clip)
    }

    fn pairwise_rounded(&mut self) -> bool {
        let Some(out) = self.left_out(true) else { return false };
        // Up to 127, up to 255, half a byte and almost nothing.
        let clip = self.choices.pick(&[[255, 9], [1020, 13], [2040, 15], [255, 8], [2890, 15], [15, 4], [1, 15]]);
        self.pairs(op::PAIRWISE_ROUNDED, out, clip)
    }

    fn pairs(&mut self, kind: u32, out: u32, [max, shift]: [u32; 2]) -> bool {
        let len = self.draft.input.perspectives * (self.draft.input.hidden - out) / 2;
        let (read, activation) = (self.whole(0), activation::PAIRWISE_CRELU);
        let record = OpRecord { activation, params: [max, shift, out, 0], ..blank(kind) };
        self.push(read, element::U8, len, record)
    }

    fn clip_u8(&mut self) -> bool {
        let Some(out) = self.left_out(false) else { return false };
        let [max, shift] = self.choices.pick(&[[127, 0], [255, 0], [255, 1], [32_767, 7], [32_767, 15], [1, 0]]);
        let len = self.draft.input.perspectives * (self.draft.input.hidden - out);
        let (read, activation) = (self.whole(0), activation::CRELU);
        self.push(read, element::U8, len, OpRecord { activation, params: [max, shift, out, 0], ..blank(op::CLIP_U8) })
    }

    fn feature_sums(&mut self) -> bool {
        let input = &self.draft.input;
        let (hidden, perspectives, buckets) = (input.hidden, input.perspectives, input.bucket_count);
        let (rows, banks) = (self.choices.pick(&[1, 1, 3, 2, 8]), self.choices.pick(&[1, buckets]));
        let most = (hidden / (banks * rows)).min(op::MAX_DIGITS);
        if most == 0 {
            return false;
        }
        let digits = 1 + self.below(most);
        let bits = self.choices.pick(&[0, 0, 8, 1, 9]);
        let sides = if perspectives == 2 { self.below(4) } else { 0 };
        let read = self.whole(0);
        let params = [digits, bits, sides, banks];
        self.push(read, element::I32, rows, OpRecord { params, ..blank(op::FEATURE_SUMS) })
    }

    fn psqt(&mut self) -> bool {
        let input = &self.draft.input;
        let most = (input.hidden / input.bucket_count).min(op::MAX_DIGITS);
        if input.perspectives != 2 || most == 0 {
            return false;
        }
        let digits = 1 + self.below(most);
        let bits = self.choices.pick(&[0, 0, 7, 1, 9]);
        let read = self.whole(0);
        self.push(read, element::I32, 1, OpRecord { params: [digits, bits, 0, 0], ..blank(op::PSQT) })
    }
}
