//! One tensor's bytes in the file, through the runtime's layouts.

use crate::arch::ElementType;
use crate::quantise::{QuantTensor, Values};
use tamis_runtime::format::{Layout, TensorRecord, element};

/// A tensor ready to be placed.
#[derive(Debug, Clone)]
pub struct Packed {
    /// Name for people.
    pub name: String,
    /// Its record; `offset_bytes` is set when the file is put together.
    pub record: TensorRecord,
    /// Its bytes, padding within rows included.
    pub bytes: Vec<u8>,
}

/// Which way a matrix lies in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Orientation {
    /// A row an output: dense layers and heads, a bank an output bucket.
    OutputRows,
    /// A row an input: feature transformers.
    InputRows,
}

/// Packs a tensor of the network. `banks`: output buckets that own rows of it.
pub fn pack_tensor(
    tensor: &QuantTensor,
    layout: Layout,
    orientation: Orientation,
    banks: usize,
    claims: u32,
) -> Option<Packed> {
    let (outputs, inputs) = (tensor.outputs / banks.max(1), tensor.inputs);
    let (rows, cols) = match orientation {
        Orientation::OutputRows => (outputs, inputs),
        Orientation::InputRows => (inputs, outputs),
    };
    let (rows_of_training, orientation_rows) = (tensor.outputs, orientation);
    let index = move |bank: usize, row: usize, col: usize| match orientation_rows {
        Orientation::OutputRows => bank * outputs + row + rows_of_training * col,
        Orientation::InputRows => col + rows_of_training * row,
    };
    let shape = Shape { layout, banks, rows, cols };
    match (&tensor.values, tensor.element) {
        (Values::Int(values), ElementType::I8) => shape.pack(&tensor.name, element::I8, claims, |b, r, c| {
            values.get(index(b, r, c)).map(|v| (*v as i8).to_le_bytes())
        }),
        (Values::Int(values), ElementType::I16) => shape.pack(&tensor.name, element::I16, claims, |b, r, c| {
            values.get(index(b, r, c)).map(|v| (*v as i16).to_le_bytes())
        }),
        (Values::Int(values), _) => shape
            .pack(&tensor.name, element::I32, claims, |b, r, c| values.get(index(b, r, c)).map(|v| v.to_le_bytes())),
        (Values::F32(values), _) => shape
            .pack(&tensor.name, element::F32, claims, |b, r, c| values.get(index(b, r, c)).map(|v| v.to_le_bytes())),
    }
}

/// Packs a vector that only the container has: a table, multipliers, shifts, units.
pub fn pack_vector<const SIZE: usize>(name: &str, code: u32, banks: usize, values: &[[u8; SIZE]]) -> Option<Packed> {
    let rows = values.len() / banks.max(1);
    let shape = Shape { layout: Layout::Rows, banks, rows, cols: 1 };
    shape.pack(name, code, 0, |bank, row, _| values.get(bank * rows + row).copied())
}

struct Shape {
    layout: Layout,
    banks: usize,
    rows: usize,
    cols: usize,
}

impl Shape {
    fn pack<const SIZE: usize>(
        &self,
        name: &str,
        code: u32,
        claims: u32,
        value: impl Fn(usize, usize, usize) -> Option<[u8; SIZE]>,
    ) -> Option<Packed> {
        let Self { layout, banks, rows, cols } = *self;
        let stride = layout.stride(rows, cols, SIZE)?;
        let bank_len = layout.bank_len(rows, cols, stride)?;
        let len = bank_len.checked_mul(banks)?.checked_mul(SIZE)?;
        let mut bytes = vec![0; len];
        let (slots, _) = bytes.as_chunks_mut::<SIZE>();
        for bank in 0..banks {
            let slots = slots.get_mut(bank * bank_len..(bank + 1) * bank_len)?;
            for row in 0..rows {
                for col in 0..cols {
                    *slots.get_mut(layout.offset(stride, row, col))? = value(bank, row, col)?;
                }
            }
        }
        let record = TensorRecord {
            element: u16::try_from(code).ok()?,
            layout: layout.code(),
            banks: u32::try_from(banks).ok()?,
            rows: u32::try_from(rows).ok()?,
            cols: u32::try_from(cols).ok()?,
            stride: u32::try_from(stride).ok()?,
            offset_bytes: 0,
            len_bytes: u32::try_from(len).ok()?,
            claims,
        };
        Some(Packed { name: name.to_owned(), record, bytes })
    }
}
