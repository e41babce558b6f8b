//! One tensor's bytes in the file, through the runtime's layouts.

use super::error::PackError;
use crate::arch::ElementType;
use crate::quantise::{QuantTensor, Values};
use tamis_runtime::format::{Layout, TensorRecord, element, quads_fit};

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

impl Packed {
    /// Whether [`tamis_runtime::format::quads_fit`] holds for every bank.
    pub fn quads_fit(&self) -> bool {
        let weights: &[i8] = bytemuck::cast_slice(&self.bytes);
        let bank_len = (weights.len() / self.record.banks.max(1) as usize).max(1);
        weights.chunks(bank_len).all(|bank| quads_fit(bank, self.record.stride as usize))
    }
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
///
/// # Errors
/// [`PackError::Contents`] if the tensor has fewer elements than its shape says, [`PackError::TooLarge`].
pub fn pack_tensor(
    tensor: &QuantTensor,
    layout: Layout,
    orientation: Orientation,
    banks: usize,
    claims: u32,
) -> Result<Packed, PackError> {
    let (outputs, inputs) = (tensor.outputs / banks.max(1), tensor.inputs);
    let (rows, cols) = match orientation {
        Orientation::OutputRows => (outputs, inputs),
        Orientation::InputRows => (inputs, outputs),
    };
    let training_rows = tensor.outputs;
    let index = move |bank: usize, row: usize, col: usize| match orientation {
        Orientation::OutputRows => bank * outputs + row + training_rows * col,
        Orientation::InputRows => col + training_rows * row,
    };
    let shape = Shape { layout, banks, rows, cols };
    let name = &tensor.name;
    let packed = match (&tensor.values, tensor.element) {
        (Values::Int(values), ElementType::I8) => shape
            .pack(name, element::I8, claims, |b, r, c| values.get(index(b, r, c)).map(|v| (*v as i8).to_le_bytes())),
        (Values::Int(values), ElementType::I16) => shape
            .pack(name, element::I16, claims, |b, r, c| values.get(index(b, r, c)).map(|v| (*v as i16).to_le_bytes())),
        (Values::Int(values), _) => {
            shape.pack(name, element::I32, claims, |b, r, c| values.get(index(b, r, c)).map(|v| v.to_le_bytes()))
        }
        (Values::F32(values), _) => {
            shape.pack(name, element::F32, claims, |b, r, c| values.get(index(b, r, c)).map(|v| v.to_le_bytes()))
        }
    };
    packed?.ok_or_else(|| PackError::Contents { tensor: name.clone(), outputs: tensor.outputs, inputs })
}

/// Packs a vector that only the container has: a table, multipliers, shifts, units.
///
/// # Errors
/// [`PackError::TooLarge`].
pub fn pack_vector<const SIZE: usize>(name: &str, code: u32, values: &[[u8; SIZE]]) -> Result<Packed, PackError> {
    let shape = Shape { layout: Layout::Rows, banks: 1, rows: values.len(), cols: 1 };
    let packed = shape.pack(name, code, 0, |_, row, _| values.get(row).copied())?;
    packed.ok_or_else(|| PackError::Contents { tensor: name.to_owned(), outputs: values.len(), inputs: 1 })
}

struct Shape {
    layout: Layout,
    banks: usize,
    rows: usize,
    cols: usize,
}

impl Shape {
    /// The record and the bytes; nothing if `value` has nothing for an element. The length is checked before memory is taken.
    fn pack<const SIZE: usize>(
        &self,
        name: &str,
        code: u32,
        claims: u32,
        value: impl Fn(usize, usize, usize) -> Option<[u8; SIZE]>,
    ) -> Result<Option<Packed>, PackError> {
        let too_large = PackError::TooLarge { len_bytes: usize::MAX };
        let Some((record, bank_len)) = self.record(code, SIZE, claims) else { return Err(too_large) };
        let Self { layout, banks, rows, cols } = *self;
        let mut bytes = vec![0; record.len_bytes as usize];
        let (slots, _) = bytes.as_chunks_mut::<SIZE>();
        for bank in 0..banks {
            for row in 0..rows {
                for col in 0..cols {
                    let place = bank * bank_len + layout.offset(record.stride as usize, row, col);
                    let (Some(slot), Some(value)) = (slots.get_mut(place), value(bank, row, col)) else {
                        return Ok(None);
                    };
                    *slot = value;
                }
            }
        }
        Ok(Some(Packed { name: name.to_owned(), record, bytes }))
    }

    /// The record without its place, and the elements of a bank; `None` if a number leaves its field.
    fn record(&self, code: u32, size: usize, claims: u32) -> Option<(TensorRecord, usize)> {
        let Self { layout, banks, rows, cols } = *self;
        let stride = layout.stride(rows, cols, size)?;
        let bank_len = layout.bank_len(rows, cols, stride)?;
        let len = bank_len.checked_mul(banks)?.checked_mul(size)?;
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
        Some((record, bank_len))
    }
}
