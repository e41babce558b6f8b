//! What operations work with: tensors cut into banks.

use crate::format::{Layout, Model, Tensor, TensorRecord, element, part};
use crate::sure::{bias_at, sure};
use crate::workspace::range;
use bytemuck::AnyBitPattern;

/// A tensor's elements, cut into output buckets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Banks<'a, T> {
    all: &'a [T],
    /// Elements of a bank.
    len: usize,
    /// Elements from a bank to the next; 0 where one bank serves all buckets.
    step: usize,
    pub stride: usize,
}

impl<'a, T: AnyBitPattern> Banks<'a, T> {
    const NONE: Self = Self { all: &[], len: 0, step: 0, stride: 0 };

    pub fn new(tensor: Option<Tensor<'a>>) -> Self {
        let Some(tensor) = tensor else { return Self::NONE };
        let (all, len) = (sure(bytemuck::try_cast_slice(tensor.data).ok()), tensor.bank_len());
        Self { all, len, step: if tensor.record.banks <= 1 { 0 } else { len }, stride: tensor.stride() }
    }

    #[inline]
    pub fn bank(&self, bucket: usize) -> &'a [T] {
        if self.step == 0 { self.all } else { self.start(bucket, self.len) }
    }

    /// The elements of a tensor that has one bank for all buckets.
    #[cfg(short_ways)]
    pub fn only(&self) -> Option<&'a [T]> {
        (self.step == 0).then_some(self.all)
    }

    /// The bias of a row of a bank: 0 in layers without biases.
    #[cfg_attr(short_ways, inline(always))]
    pub fn bias(&self, bucket: usize, row: usize) -> T
    where
        T: Default,
    {
        bias_at(self.all, bucket.wrapping_mul(self.step).wrapping_add(row))
    }

    /// The first elements of a bank, which may be padded.
    #[inline]
    pub fn start(&self, bucket: usize, len: usize) -> &'a [T] {
        let start = bucket.wrapping_mul(self.step);
        range(self.all, start..start.wrapping_add(len))
    }

    /// A bank, where it is there.
    #[cfg(short_ways)]
    #[inline(always)]
    pub fn whole(&self, bucket: usize) -> Option<&'a [T]> {
        self.found(bucket, self.len)
    }

    /// The same, where they are there.
    #[cfg(short_ways)]
    #[inline(always)]
    pub fn found(&self, bucket: usize, len: usize) -> Option<&'a [T]> {
        // In two steps, so that no sum is made that could be too large, each with an end of its own: two conditions of
        // one end are made to one, which takes longer.
        let Some(rest) = self.all.get(bucket.wrapping_mul(self.step)..) else { return missing() };
        rest.get(..len)
    }
}

/// The bytes of one bank of a tensor; none where there is no such tensor. For what is run once.
#[inline(always)]
pub(super) fn bank_bytes<'a>(model: &Model<'a>, tensor: u32, bucket: usize) -> &'a [u8] {
    // By the parts of a model and not the whole, whose address would hold all of the plan around it in memory.
    bank(model.bytes(), model.tensors(), tensor, bucket)
}

#[inline(never)]
fn bank<'a>(bytes: &'a [u8], tensors: &[TensorRecord], index: u32, bucket: usize) -> &'a [u8] {
    let Some(record) = tensors.get(index as usize) else { return &[] };
    let data = part(bytes, record.offset_bytes as usize, record.len_bytes as usize);
    if record.banks <= 1 {
        return data;
    }
    let layout = if record.layout == Layout::K4.code() { Layout::K4 } else { Layout::Rows };
    let len = Tensor { record, layout, data }.bank_len() << element::shift(record.element.into());
    let bank = data.get(bucket.wrapping_mul(len)..).and_then(|rest| rest.get(..len));
    let Some(bank) = bank else { return &[] };
    bank
}

/// No bank where the loader promised one.
#[cfg(short_ways)]
#[cold]
#[inline(never)]
fn missing<'a, T>() -> Option<&'a [T]> {
    debug_assert!(false, "a bank that is not there");
    None
}

/// A tensor whose element its record says.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Elements<'a> {
    None,
    I8(Banks<'a, i8>),
    I16(Banks<'a, i16>),
    I32(Banks<'a, i32>),
    F32(Banks<'a, f32>),
}

impl<'a> Elements<'a> {
    pub fn new(tensor: Option<Tensor<'a>>) -> Self {
        let Some(tensor) = tensor else { return Self::None };
        match u32::from(tensor.record.element) {
            element::I8 => Self::I8(Banks::new(Some(tensor))),
            element::I16 => Self::I16(Banks::new(Some(tensor))),
            element::I32 => Self::I32(Banks::new(Some(tensor))),
            element::F32 => Self::F32(Banks::new(Some(tensor))),
            _ => Self::None,
        }
    }

    pub fn i32s(&self, bucket: usize) -> &'a [i32] {
        if let Self::I32(banks) = self { banks.bank(bucket) } else { &[] }
    }

    pub fn f32s(&self, bucket: usize) -> &'a [f32] {
        if let Self::F32(banks) = self { banks.bank(bucket) } else { &[] }
    }
}
