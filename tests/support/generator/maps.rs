//! Maps: kinds 27 to 33, over windows of every form that fits.

use super::program::{Program, Read};
use crate::draft::blank;
use tamis_runtime::raw::{Layout, NONE, OpRecord, ValueRecord, WindowRecord, activation, element, op};

/// Elements of a map that is made.
const LONGEST: u32 = 300;
const NARROW: [u32; 3] = [element::U8, element::I8, element::I16];

/// Height, width and channels.
fn axes(value: &ValueRecord) -> [u32; 3] {
    let [height, width] = value.pixels();
    [height, width, value.len / height / width]
}

impl Program<'_, '_> {
    /// Pixels that divide a length, often one.
    pub(super) fn extent(&mut self, len: u32) -> [u16; 2] {
        if self.choices.one_in(3) {
            return [0; 2];
        }
        let mut pick = |len: u32| {
            let divisors: Vec<u32> = (1..=len.min(40)).filter(|size| len.is_multiple_of(*size)).collect();
            self.choices.pick(&divisors)
        };
        let height = pick(len);
        let width = pick(len / height);
        [height as u16 - 1, width as u16 - 1]
    }

    /// A zero point that an element holds.
    pub(super) fn zero(&mut self, element: u32) -> i16 {
        match element {
            element::U8 => self.choices.pick(&[0, 128, 255, 3]),
            element::I8 => self.choices.pick(&[0, -128, 127, -3]),
            element::I16 => self.choices.pick(&[0, 0, 0, 1000, -32_768]),
            _ => 0,
        }
    }

    /// A whole value of bytes or i16.
    fn map(&mut self) -> Option<(Read, ValueRecord)> {
        let read = self.read(&NARROW)?;
        let whole = self.whole(read.value);
        Some((whole, self.value(read.value)))
    }

    /// Appends an operation that makes a map of this shape.
    fn push_map(
        &mut self,
        read: Read,
        element: u32,
        [height, width, channels]: [u32; 3],
        zero: i16,
        record: OpRecord,
    ) -> bool {
        self.push(read, element, height * width * channels, record);
        if let Some(value) = self.draft.values.last_mut() {
            (value.zero, value.extent) = (zero, [height as u16 - 1, width as u16 - 1]);
        }
        true
    }

    /// A window over an axis, and how many places it has.
    fn along(&mut self, size: u32, transposed: bool, most: u32) -> Option<([u8; 4], u32)> {
        let (kernel, stride) = (self.choices.pick(&[1, 2, 3, 3, 4, 5, 10]), self.choices.pick(&[1, 1, 2, 3]));
        let dilation = self.choices.pick(&[1, 1, 1, 2, 3]);
        let reach = (kernel - 1) * dilation;
        let before = self.below(reach + 1);
        let places = if transposed {
            // The last pixel's window begins in the output or in the padding before it.
            let least = ((size - 1) * stride + 1).saturating_sub(before).max(1);
            least + self.below(reach + 2)
        } else {
            let fitting = (size + before - 1) / stride + 1;
            1 + self.below(fitting.min(most))
        };
        let bytes = [kernel, stride, dilation, before].map(|number| number as u8);
        (places <= most).then_some((bytes, places))
    }

    fn window(&mut self, from: [u32; 3], transposed: bool) -> Option<([u32; 2], [u32; 2])> {
        // Dense layers between maps are one tap of a pixel.
        if from[0] * from[1] == 1 && !transposed && self.choices.one_in(2) {
            let record = WindowRecord { kernel: [1; 2], stride: [1; 2], dilation: [1; 2], before: [0; 2] };
            return Some((record.words(), [1; 2]));
        }
        let (down, height) = self.along(from[0], transposed, 24)?;
        let (across, width) = self.along(from[1], transposed, 24)?;
        let pair = |index: usize| [down[index], across[index]];
        let record = WindowRecord { kernel: pair(0), stride: pair(1), dilation: pair(2), before: pair(3) };
        Some((record.words(), [height, width]))
    }

    fn ends(&mut self, element: u32) -> [u32; 2] {
        let [low, high] = match element {
            element::U8 => self.choices.pick(&[[0, 255], [0, 127], [3, 3]]),
            element::I8 => self.choices.pick(&[[-128, 127], [-127, 127], [0, 127]]),
            _ => self.choices.pick(&[[-32_768, 32_767], [-128, 127], [0, 5000]]),
        };
        [low as u32, high as u32]
    }

    /// Multipliers and shifts, ordinary ones and any.
    fn rounding(&mut self, multipliers: u32, shifts: u32) -> (u32, u32) {
        let multipliers = self.filled(
            element::I32,
            Layout::Rows,
            (1, multipliers, 1),
            i64::from(i32::MIN),
            i64::from(i32::MAX),
            1 << 30,
        );
        let (low, high) = self.choices.pick(&[(33, 45), (1, 62), (31, 40)]);
        (multipliers, self.filled(element::U8, Layout::Rows, (1, shifts, 1), low, high, high))
    }

    pub(super) fn convolution(&mut self, kind: u32) -> bool {
        let Some((read, value)) = self.map() else { return false };
        self.convolution_on(kind, read, value)
    }

    fn convolution_on(&mut self, kind: u32, read: Read, value: ValueRecord) -> bool {
        if value.element() == element::I16 && value.zero != 0 {
            return false;
        }
        let from = axes(&value);
        let Some((window, [height, width])) = self.window(from, kind == op::TRANSPOSED_CONVOLUTION) else {
            return false;
        };
        let taps = (window[0] & 255) * (window[0] >> 8 & 255);
        let groups: Vec<u32> = (1..=from[2]).filter(|groups| from[2].is_multiple_of(*groups)).collect();
        let groups = if self.choices.one_in(2) { 1 } else { self.choices.pick(&groups) };
        let is_depthwise = kind == op::CONVOLUTION && groups == from[2] && groups > 1 && self.choices.one_in(2);
        let outputs = if is_depthwise { groups } else { groups * self.choices.pick(&[1, 2, 3, 5, 66]) };
        if height * width * outputs > LONGEST || taps * from[2] / groups > 400 {
            return false;
        }
        let shape = if groups == outputs && groups == from[2] && groups > 1 && kind == op::CONVOLUTION {
            (1, taps, outputs)
        } else {
            (1, outputs, taps * from[2] / groups)
        };
        let may_be_k4 = kind == op::CONVOLUTION && groups == 1 && value.element() != element::I16;
        let layout = if may_be_k4 && self.choices.one_in(2) { Layout::K4 } else { Layout::Rows };
        let weights = self.filled(element::I8, layout, shape, -128, 127, 64);
        let bias = if self.choices.one_in(3) {
            NONE
        } else {
            self.filled(element::I32, Layout::Rows, (1, outputs, 1), i64::from(i32::MIN), i64::from(i32::MAX), 10_000)
        };
        let [first, last] = window;
        let record = OpRecord { weights, bias, params: [first, last, 0, 0], ..blank(kind) };
        let to = [height, width, outputs];
        if self.choices.one_in(8) {
            return self.push_map(read, element::I32, to, 0, record);
        }
        let element = self.choices.pick(&NARROW);
        let second = if self.choices.one_in(2) { self.alike(to) } else { None };
        let (multipliers, shifts) = self.rounding(if second.is_some() { 2 * outputs } else { outputs }, outputs);
        let ([low, high], zero) = (self.ends(element), self.zero(element));
        let params = [first, last, low, high];
        let second = second.unwrap_or(NONE);
        self.push_map(read, element, to, zero, OpRecord { multipliers, shifts, params, second, ..record })
    }

    /// A value of this shape.
    fn alike(&mut self, shape: [u32; 3]) -> Option<u32> {
        let fits = |value: &u32| {
            let record = self.value(*value);
            NARROW.contains(&record.element()) && axes(&record) == shape && (*value > 0 || !self.is_list())
        };
        let all: Vec<u32> = (0..self.draft.values.len() as u32).filter(fits).collect();
        if all.is_empty() { None } else { Some(self.choices.pick(&all)) }
    }

    pub(super) fn pool(&mut self) -> bool {
        let Some((read, value)) = self.map() else { return false };
        self.pool_on(read, value)
    }

    fn pool_on(&mut self, read: Read, value: ValueRecord) -> bool {
        let from = axes(&value);
        let Some(([first, last], [height, width])) = self.window(from, false) else { return false };
        let to = [height, width, from[2]];
        if to.iter().product::<u32>() > LONGEST {
            return false;
        }
        let code = self.choices.pick(&[activation::MAX, activation::MEAN, activation::SUM]);
        let record = OpRecord { activation: code, params: [first, last, 0, 0], ..blank(op::POOL) };
        if code == activation::SUM {
            let narrow = value.element() != element::I16 && self.choices.one_in(2);
            return self.push_map(read, if narrow { element::I16 } else { element::I32 }, to, 0, record);
        }
        let [low, high] = self.ends(value.element());
        let params = [first, last, low, high];
        self.push_map(read, value.element(), to, value.zero, OpRecord { params, ..record })
    }

    pub(super) fn elementwise(&mut self) -> bool {
        let Some((read, value)) = self.map() else { return false };
        self.elementwise_on(read, value)
    }

    fn elementwise_on(&mut self, mut read: Read, mut value: ValueRecord) -> bool {
        let shape = axes(&value);
        let other = if self.choices.one_in(2) { [1, 1, shape[2]] } else { shape };
        let Some(mut second) = self.alike(other) else { return false };
        if self.choices.one_in(4) {
            (read, second) = (self.whole(second), read.value);
            value = self.value(read.value);
        }
        let beside = self.value(second);
        let bytes = value.element() != element::I16 && beside.element() != element::I16;
        let same = (value.element, value.zero) == (beside.element, beside.zero);
        let code = match self.choices.below(4) {
            0 if same => activation::MAX,
            1 if same => activation::MIN,
            2 if bytes => activation::PRODUCT,
            _ => activation::SUM,
        };
        let record = OpRecord { activation: code, second, ..blank(op::ELEMENTWISE) };
        if code == activation::MAX || code == activation::MIN {
            let [low, high] = self.ends(value.element());
            return self.push_map(
                read,
                value.element(),
                shape,
                value.zero,
                OpRecord { params: [0, 0, low, high], ..record },
            );
        }
        let (multipliers, shifts) = self.rounding(2, 1);
        let element = self.choices.pick(&NARROW);
        let ([low, high], zero) = (self.ends(element), self.zero(element));
        self.push_map(read, element, shape, zero, OpRecord { multipliers, shifts, params: [0, 0, low, high], ..record })
    }

    pub(super) fn moved(&mut self) -> bool {
        let Some((read, value)) = self.map() else { return false };
        let [height, width, channels] = axes(&value);
        let steps = [width * channels, channels, 1];
        let mut order = [0, 1, 2];
        order.swap(0, self.choices.below(3));
        order.swap(1, 1 + self.choices.below(2));
        let (mut start, mut to, mut by) = (0, [1; 3], [0u32; 3]);
        for (place, axis) in order.into_iter().enumerate() {
            let size = [height, width, channels][axis];
            let step = 1 + self.below(3);
            let first = self.below(size);
            let count = 1 + self.below((size - 1 - first) / step + 1);
            let backwards = self.choices.one_in(4);
            let from = if backwards { first + (count - 1) * step } else { first };
            start += from * steps[axis];
            to[place] = count;
            let stride = (step * steps[axis]) as i32;
            by[place] = if backwards { -stride } else { stride } as u32;
        }
        let record = OpRecord { params: [start, by[0], by[1], by[2]], ..blank(op::MOVE) };
        self.push_map(read, value.element(), to, value.zero, record)
    }

    pub(super) fn pad(&mut self) -> bool {
        let Some((read, value)) = self.map() else { return false };
        let [height, width, channels] = axes(&value);
        let (above, left) = (self.below(3), self.below(3));
        let to = [height + above + self.below(2), width + left + self.below(2), channels];
        if to.iter().product::<u32>() > LONGEST {
            return false;
        }
        let record = OpRecord { params: [above, left, 0, 0], ..blank(op::PAD) };
        self.push_map(read, value.element(), to, value.zero, record)
    }

    pub(super) fn resize(&mut self) -> bool {
        let Some((read, value)) = self.map() else { return false };
        let to = [1 + self.below(6), 1 + self.below(6), axes(&value)[2]];
        self.resize_to(read, value, to)
    }

    /// Several operations that go row by row, each on what the one before wrote.
    pub(super) fn rows(&mut self) {
        let Some((read, value)) = self.map() else { return };
        let (width, channels) = (1 + self.below(3), axes(&value)[2]);
        // As tall as fits.
        let height = (8 + self.below(24)).min(LONGEST / (width * channels)).max(1);
        self.resize_to(read, value, [height, width, channels]);
        let count = self.choices.pick(&[2, 3, 4, 6, 20]);
        for _ in 0..count {
            self.row_by_row();
        }
    }

    /// One of them on the last value, if that is a map of several rows; of one row it is made again.
    fn row_by_row(&mut self) {
        const TRIES: usize = 12;
        let read = self.last();
        let value = self.value(read.value);
        if !NARROW.contains(&read.element) || value.extent[0] == 0 {
            return;
        }
        for _ in 0..TRIES {
            let (values, ops, output) = (self.draft.values.len(), self.draft.ops.len(), self.draft.input.output);
            let is_made = match self.choices.below(5) {
                0 => self.pool_on(read, value),
                1 => self.elementwise_on(read, value),
                _ => self.convolution_on(op::CONVOLUTION, read, value),
            };
            // Integers of 32 bits are read by no map.
            let goes_on = |made: &ValueRecord| made.extent[0] > 2 && NARROW.contains(&made.element());
            if is_made && goes_on(&self.draft.values[values]) {
                return;
            }
            self.draft.values.truncate(values);
            self.draft.ops.truncate(ops);
            self.draft.input.output = output;
        }
    }

    /// Dense layers between maps: convolutions of a pixel, each on what the one before wrote.
    pub(super) fn pixels(&mut self) {
        let Some((read, value)) = self.map() else { return };
        self.resize_to(read, value, [1, 1, axes(&value)[2]]);
        let count = self.choices.pick(&[1, 2, 3, 6]);
        for _ in 0..count {
            let read = self.last();
            if NARROW.contains(&read.element) {
                self.convolution_on(op::CONVOLUTION, read, self.value(read.value));
            }
        }
    }

    fn resize_to(&mut self, read: Read, value: ValueRecord, to: [u32; 3]) -> bool {
        let from = axes(&value);
        if to.iter().product::<u32>() > LONGEST {
            return false;
        }
        let mut taps = Vec::new();
        for (axis, places) in [to[0], to[1]].into_iter().enumerate() {
            for _ in 0..places {
                let pair = [self.below(from[axis]), self.below(from[axis])];
                taps.extend([pair[0], pair[1], self.choices.pick(&[0, 1024, 512, 1, 700])]);
            }
        }
        let mut numbers = taps.iter();
        let shape = (1, taps.len(), 1);
        let multipliers =
            self.draft.tensor(element::I32, Layout::Rows, shape, || numbers.next().unwrap().to_le_bytes());
        self.push_map(read, value.element(), to, value.zero, OpRecord { multipliers, ..blank(op::RESIZE) })
    }
}
