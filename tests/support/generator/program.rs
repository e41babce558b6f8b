//! A network that grows, and what all operations choose alike: which value is read and how much of it, tensors,
//! activations.

use super::Choices;
use super::weights::Weights;
use crate::draft::{Draft, blank};
use bytemuck::cast_slice;
use tamis_runtime::raw::{
    Layout, MAX_RESCALE_FACTOR, OpRecord, ValueRecord, claim, element, input_kind, op, quads_fit,
};

/// Lengths: around the widths of vectors and of blocks, and small ones most.
pub(super) const LENS: [u32; 25] =
    [1, 2, 3, 4, 5, 7, 8, 9, 1, 2, 3, 4, 8, 12, 15, 16, 17, 31, 32, 33, 63, 64, 65, 96, 129];

/// Values that are longer are not read any more.
const LONGEST: u32 = 300;

/// A network that grows.
pub(super) struct Program<'c, 'b> {
    pub draft: Draft,
    pub choices: &'c mut Choices<'b>,
}

/// What an operation reads.
#[derive(Debug, Clone, Copy)]
pub(super) struct Read {
    pub value: u32,
    pub start: u32,
    pub len: u32,
    pub element: u32,
}

/// One more operation, or false if there is nothing that it takes.
type Grow = fn(&mut Program<'_, '_>) -> bool;

/// All kinds but those on accumulators and lists; a few that make what others need more than once.
const OPERATIONS: [Grow; 35] = [
    |p| p.convolution(op::CONVOLUTION),
    |p| p.convolution(op::CONVOLUTION),
    |p| p.convolution(op::TRANSPOSED_CONVOLUTION),
    |p| p.pool(),
    |p| p.pool(),
    |p| p.elementwise(),
    |p| p.moved(),
    |p| p.pad(),
    |p| p.resize(),
    |p| p.affine_i8(),
    |p| p.requantise(),
    |p| p.affine_f32(),
    |p| p.dequantise(),
    |p| p.activation_f32(),
    |p| p.rescale(),
    |p| p.scale_f32(),
    |p| p.add(op::ADD_F32, element::F32),
    |p| p.add(op::MULTIPLY_F32, element::F32),
    |p| p.add(op::ADD_I32, element::I32),
    |p| p.interact(op::FM_TERM),
    |p| p.interact(op::BI_INTERACTION),
    |p| p.interact(op::INNER_PRODUCTS),
    |p| p.concat(),
    |p| p.concat(),
    |p| p.lookup(),
    |p| p.affine_i16(),
    |p| p.affine_i16(),
    |p| p.affine_i32(),
    |p| p.trees(),
    |p| p.bytes_to_f32(),
    |p| p.quantise(),
    |p| p.quantise(),
    |p| p.activate_u8(),
    |p| p.requantise(),
    |p| p.affine_i8(),
];

impl Program<'_, '_> {
    pub fn has_accumulators(&self) -> bool {
        self.draft.input.kind == input_kind::FEATURES
    }

    /// Whether the input is a list, which no operation on maps reads.
    pub fn is_list(&self) -> bool {
        self.draft.input.kind != input_kind::DENSE
    }

    /// One more operation. Something always fits: what reads the input.
    pub fn grow(&mut self) {
        if !self.of_input(4) {
            let first = self.choices.below(OPERATIONS.len());
            let mut all = OPERATIONS.iter().cycle().skip(first).take(OPERATIONS.len());
            if !all.any(|grow| grow(self)) {
                self.of_input(1);
            }
        }
    }

    /// An operation on accumulators or a list, the first one or every `often`-th.
    fn of_input(&mut self, often: usize) -> bool {
        if !self.draft.ops.is_empty() && !self.choices.one_in(often) {
            return false;
        }
        match self.draft.input.kind {
            input_kind::FEATURES => self.on_accumulators(),
            input_kind::SPARSE => self.on_list(),
            _ => return false,
        }
        true
    }

    /// The last value is made one that may come out, and all get their places.
    pub fn finish(mut self) -> Draft {
        let last = self.whole(self.draft.values.len() as u32 - 1);
        let done = match last.element {
            _ if self.draft.ops.is_empty() => false,
            element::I32 | element::F32 => true,
            element::I16 => self.affine_i16_on(last),
            _ => self.affine_i8_on(last),
        };
        if !done {
            self.grow();
            return self.finish();
        }
        self.spare_tensor();
        self.place();
        self.draft
    }

    pub fn value(&self, index: u32) -> ValueRecord {
        self.draft.values[index as usize]
    }

    pub fn whole(&self, value: u32) -> Read {
        let record = self.value(value);
        Read { value, start: 0, len: record.len, element: record.element() }
    }

    pub fn last(&self) -> Read {
        self.whole(self.draft.values.len() as u32 - 1)
    }

    /// A value of one of these elements, the last one most often, whole or in part.
    pub fn read(&mut self, elements: &[u32]) -> Option<Read> {
        let first = u32::from(self.draft.input.kind != input_kind::DENSE);
        let fits = |value: &u32| {
            let record = self.value(*value);
            elements.contains(&record.element()) && record.len <= LONGEST
        };
        let all: Vec<u32> = (first..self.draft.values.len() as u32).filter(fits).collect();
        let last = *all.last()?;
        let value = if self.choices.one_in(3) { self.choices.pick(&all) } else { last };
        let whole = self.whole(value);
        Some(if self.choices.one_in(4) { self.part(whole) } else { whole })
    }

    /// A part of a value, often a single element.
    pub fn part(&mut self, whole: Read) -> Read {
        let len = if self.choices.one_in(2) { 1 } else { 1 + self.below(whole.len) };
        Read { start: self.below(whole.len - len + 1), len, ..whole }
    }

    pub fn below(&mut self, limit: u32) -> u32 {
        self.choices.below(limit as usize) as u32
    }

    /// Appends an operation; its value gets a place when all are there.
    pub fn push(&mut self, read: Read, element: u32, len: u32, record: OpRecord) -> bool {
        let output = self.draft.values.len() as u32;
        let (zero, extent) = (self.zero(element), self.extent(len));
        self.draft.values.push(ValueRecord { element: element as u16, zero, len, place: 0, extent });
        let Read { value: input, start: input_start, len: input_len, .. } = read;
        self.draft.ops.push(OpRecord { input, input_start, input_len, output, ..record });
        self.draft.input.output = output;
        true
    }

    /// Weights of any size that their element has.
    pub fn weights(&mut self, element: u32, layout: Layout, rows: u32, cols: u32) -> u32 {
        let [low, high, ordinary] = range_of(element);
        self.tensor(element, layout, rows, cols, low, high, ordinary)
    }

    /// A vector of any size that its element has, or none.
    pub fn bias(&mut self, element: u32, rows: u32) -> u32 {
        if self.choices.one_in(3) { u32::MAX } else { self.weights(element, Layout::Rows, rows, 1) }
    }

    /// Integers from `low` to `high`, or reals; a bank for all buckets or one for each; now and then a tensor that is
    /// there.
    #[expect(clippy::too_many_arguments, reason = "a record and the ends of what it holds")]
    pub fn tensor(
        &mut self,
        element: u32,
        layout: Layout,
        rows: u32,
        cols: u32,
        low: i64,
        high: i64,
        ordinary: i64,
    ) -> u32 {
        let is_any = [low, high, ordinary] == range_of(element);
        let same = self.draft.tensors.iter().position(|(record, _)| {
            let shape = (u32::from(record.element), record.layout, record.rows, record.cols);
            shape == (element, layout.code(), rows, cols)
        });
        if let Some(same) = same
            && is_any
            && element != element::U8
            && self.choices.one_in(4)
        {
            return same as u32;
        }
        let buckets = self.draft.input.bucket_count;
        let banks = if self.choices.one_in(2) { buckets } else { 1 };
        self.filled(element, layout, (banks, rows, cols), low, high, ordinary)
    }

    /// The same, of so many banks, and never one that is there.
    pub fn filled(
        &mut self,
        element: u32,
        layout: Layout,
        (banks, rows, cols): (u32, u32, u32),
        low: i64,
        high: i64,
        ordinary: i64,
    ) -> u32 {
        let mut weights = Weights::new(self.choices);
        let shape = (banks as usize, rows as usize, cols as usize);
        let mut integer = || weights.integer(low, high, ordinary);
        let index = match element {
            element::U8 | element::I8 => self.draft.tensor(element, layout, shape, || [integer() as u8]),
            element::I16 => self.draft.tensor(element, layout, shape, || (integer() as i16).to_le_bytes()),
            element::I32 => self.draft.tensor(element, layout, shape, || (integer() as i32).to_le_bytes()),
            _ => self.draft.tensor(element, layout, shape, || weights.real().to_le_bytes()),
        };
        self.claim(index, layout);
        index
    }

    /// Any claims, true or false, but of the one that is checked only the true one.
    fn claim(&mut self, index: u32, layout: Layout) {
        let claims = if self.choices.one_in(2) { self.below(claim::ALL + 1) } else { 0 };
        let (record, bytes) = &mut self.draft.tensors[index as usize];
        let is_k4 = layout == Layout::K4 && u32::from(record.element) == element::I8;
        let bank_len = bytes.len() / record.banks as usize;
        let holds = || bytes.chunks(bank_len).all(|bank| quads_fit(cast_slice(bank), record.stride as usize));
        let is_true = is_k4 && holds();
        // The one that selects kernels is set more often than the dice say.
        let quads = claim::QUADS_FIT_I16;
        record.claims = match (is_k4, is_true) {
            (true, true) => claims | if claims % 2 == 0 { quads } else { 0 },
            (true, false) => claims & !quads,
            _ => claims,
        };
    }

    /// Now and then a tensor that no record names.
    fn spare_tensor(&mut self) {
        if self.choices.one_in(8) {
            let element = self.choices.pick(&[element::U8, element::I8, element::I16, element::I32, element::F32]);
            let layout = self.choices.pick(&[Layout::Rows, Layout::K4, Layout::Columns]);
            let (rows, cols) = (self.choices.pick(&LENS), self.choices.pick(&LENS));
            self.weights(element, layout, rows, cols);
        }
    }

    /// A factor: an ordinary one, or any that is finite.
    pub fn factor(&mut self) -> u32 {
        let ordinary = [1.0, 0.5, 1.0 / 4096.0, 400.0, -3.0, 1e-6, 127.0];
        let real = if self.choices.one_in(3) {
            Weights::new(self.choices).real()
        } else {
            self.choices.pick::<f32>(&ordinary)
        };
        real.to_bits()
    }

    /// The largest clip of accumulators, the smallest, or one that networks have.
    pub fn clip(&mut self) -> u32 {
        self.choices.pick(&[255, 127, 1, 32_767, 181, 1000])
    }

    pub fn rescale(&mut self) -> bool {
        match self.read(&[element::I32]) {
            Some(read) => self.rescale_on(read),
            None => false,
        }
    }

    pub fn rescale_on(&mut self, read: Read) -> bool {
        let (bias, [pre, factor, divisor]) = self.head_numbers(read.len);
        let record = OpRecord { bias, params: [pre, factor, divisor, 0], ..blank(op::RESCALE) };
        self.push(read, element::I32, read.len, record)
    }

    /// The bias of an integer head, its first divisor, its factor and its last divisor.
    pub fn head_numbers(&mut self, rows: u32) -> (u32, [u32; 3]) {
        let element = self.choices.pick(&[element::I16, element::I32]);
        let bias = self.weights(element, Layout::Rows, rows, 1);
        let pre = self.choices.pick(&[1, 255, 3, i32::MAX as u32]);
        let factor = self.choices.pick(&[400, 1, 1023, MAX_RESCALE_FACTOR as u32]);
        let divisor = self.choices.pick(&[64, 255 * 64, 1, 7, i32::MAX as u32]);
        (bias, [pre, factor, divisor])
    }
}

/// The least and the largest of an element, and what is ordinary.
pub(super) fn range_of(element: u32) -> [i64; 3] {
    match element {
        element::U8 => [0, 255, 127],
        element::I8 => [-128, 127, 64],
        element::I16 => [-32_768, 32_767, 300],
        _ => [i32::MIN.into(), i32::MAX.into(), 10_000],
    }
}
