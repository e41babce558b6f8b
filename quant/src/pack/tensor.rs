//! One tensor in the file, through the runtime's layouts: first its record, then, when the file has a place for it, its
//! bytes.

use super::error::PackError;
use crate::arch::ElementType;
use crate::program::{QuantTensor, Values};
use tamis_runtime::raw::{Layout, TensorRecord, element, quads_fit};

/// A tensor ready to be placed.
#[derive(Debug, Clone)]
pub struct Packed<'n> {
    /// Name for people.
    pub name: String,
    /// Its record; `offset_bytes` is set when the file is put together.
    pub record: TensorRecord,
    contents: Contents<'n>,
}

#[derive(Debug, Clone)]
enum Contents<'n> {
    /// A tensor of the network, which is not copied before it goes to the file: a large one's copy costs as much as its
    /// quantisation.
    Network(&'n QuantTensor, Orientation),
    /// What only the container has so, as it lies in the file.
    Ready(Vec<u8>),
}

/// Which way a matrix lies in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Orientation {
    /// A row an output: dense layers and heads, a bank an output bucket.
    OutputRows,
    /// A row an input: feature transformers.
    InputRows,
}

/// How the weights of a layer of reals lie. In columns, rows fill vectors without shuffles; where there are many
/// columns, a kernel that takes a few rows at a time would read a little of every cache line, again and again.
pub fn layout_of_reals(outputs: u32, inputs: u32) -> Layout {
    if outputs.is_multiple_of(8) && inputs <= 64 { Layout::Columns } else { Layout::Rows }
}

/// Packs a tensor of the network.
///
/// # Errors
/// [`PackError::Contents`] if the tensor has fewer elements than its shape says, [`PackError::TooLarge`].
pub fn pack_tensor(
    tensor: &QuantTensor,
    layout: Layout,
    orientation: Orientation,
    claims: u32,
) -> Result<Packed<'_>, PackError> {
    let banks = tensor.banks;
    let (outputs, inputs) = (tensor.outputs / banks.max(1), tensor.inputs);
    let (rows, cols) = match orientation {
        Orientation::OutputRows => (outputs, inputs),
        Orientation::InputRows => (inputs, outputs),
    };
    let (code, size) = match (&tensor.values, tensor.element) {
        (Values::Int(_), ElementType::I8) => (element::I8, 1),
        (Values::Int(_), ElementType::I16) => (element::I16, 2),
        (Values::Int(_), _) => (element::I32, 4),
        (Values::F32(_), _) => (element::F32, 4),
    };
    let record = record(Shape { layout, banks, rows, cols }, code, size, claims)?;
    let found = match &tensor.values {
        Values::Int(values) => values.len(),
        Values::F32(values) => values.len(),
    };
    // The elements behind `banks · outputs` in each column, if the division left any, belong to no bank.
    let last = (banks * outputs).checked_sub(1).zip(inputs.checked_sub(1));
    if last.is_some_and(|(output, input)| output + tensor.outputs * input >= found) {
        let (name, outputs) = (tensor.name.clone(), tensor.outputs);
        return Err(PackError::Contents { tensor: name, outputs, inputs });
    }
    Ok(Packed { name: tensor.name.clone(), record, contents: Contents::Network(tensor, orientation) })
}

/// Packs a vector that only the container has: a table, multipliers, shifts, units.
///
/// # Errors
/// [`PackError::TooLarge`].
pub fn pack_vector<const SIZE: usize>(
    name: &str,
    code: u32,
    values: &[[u8; SIZE]],
) -> Result<Packed<'static>, PackError> {
    // One column of an element's size: the stride is one element, so the elements lie side by side.
    let record = record(Shape { layout: Layout::Rows, banks: 1, rows: values.len(), cols: 1 }, code, SIZE, 0)?;
    Ok(Packed { name: name.to_owned(), record, contents: Contents::Ready(values.as_flattened().to_vec()) })
}

impl Packed<'_> {
    /// The tensor as it lies in the file.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.record.len_bytes as usize];
        self.write(&mut bytes);
        bytes
    }

    /// Whether [`quads_fit`] holds for every bank of bytes in `K4`.
    pub fn quads_fit(&self) -> bool {
        let bytes = self.bytes();
        let weights: &[i8] = bytemuck::cast_slice(&bytes);
        let bank_len = (weights.len() / self.record.banks.max(1) as usize).max(1);
        weights.chunks(bank_len).all(|bank| quads_fit(bank, self.record.stride as usize))
    }

    /// Writes the tensor to its place, `record.len_bytes` zeros; padding within rows stays zero.
    pub fn write(&self, place: &mut [u8]) {
        match &self.contents {
            Contents::Ready(bytes) => place.iter_mut().zip(bytes).for_each(|(place, byte)| *place = *byte),
            Contents::Network(tensor, orientation) => match (&tensor.values, tensor.element) {
                (Values::Int(values), ElementType::I8) => {
                    self.write_elements(place, tensor.outputs, *orientation, values, |value| {
                        (value as i8).to_le_bytes()
                    });
                }
                (Values::Int(values), ElementType::I16) => {
                    self.write_elements(place, tensor.outputs, *orientation, values, |value| {
                        (value as i16).to_le_bytes()
                    });
                }
                (Values::Int(values), _) => {
                    self.write_elements(place, tensor.outputs, *orientation, values, i32::to_le_bytes);
                }
                (Values::F32(values), _) => {
                    self.write_elements(place, tensor.outputs, *orientation, values, f32::to_le_bytes);
                }
            },
        }
    }

    /// values: training order, `training_rows` a column.
    fn write_elements<T: Copy, const SIZE: usize>(
        &self,
        place: &mut [u8],
        training_rows: usize,
        orientation: Orientation,
        values: &[T],
        bytes: impl Fn(T) -> [u8; SIZE],
    ) {
        let [banks, rows, cols, stride] =
            [self.record.banks, self.record.rows, self.record.cols, self.record.stride].map(|field| field as usize);
        let Some(layout) = Layout::from_code(self.record.layout) else { return };
        let (slots, _) = place.as_chunks_mut::<SIZE>();
        if orientation == Orientation::InputRows && layout == Layout::Rows {
            // A feature's weights lie in a row here as there: most of a large network, and only the width changes.
            for (slots, row) in slots.chunks_mut(stride.max(1)).zip(values.chunks(training_rows.max(1))) {
                slots.iter_mut().zip(row).for_each(|(slot, value)| *slot = bytes(*value));
            }
            return;
        }
        let bank_len = slots.len() / banks.max(1);
        for bank in 0..banks {
            for row in 0..rows {
                for col in 0..cols {
                    let index = match orientation {
                        Orientation::OutputRows => bank * rows + row + training_rows * col,
                        Orientation::InputRows => col + training_rows * row,
                    };
                    let slot = slots.get_mut(bank * bank_len + layout.offset(stride, row, col));
                    // The record was made for this tensor, so both are there.
                    if let (Some(slot), Some(value)) = (slot, values.get(index)) {
                        *slot = bytes(*value);
                    }
                }
            }
        }
    }
}

struct Shape {
    layout: Layout,
    banks: usize,
    rows: usize,
    cols: usize,
}

/// The record without its place; [`PackError::TooLarge`] if a number leaves its field.
fn record(shape: Shape, code: u32, size: usize, claims: u32) -> Result<TensorRecord, PackError> {
    let Shape { layout, banks, rows, cols } = shape;
    let record = || {
        let stride = layout.stride(rows, cols, size)?;
        let len = layout.bank_len(rows, cols, stride)?.checked_mul(banks)?.checked_mul(size)?;
        Some(TensorRecord {
            element: u16::try_from(code).ok()?,
            layout: layout.code(),
            banks: u32::try_from(banks).ok()?,
            rows: u32::try_from(rows).ok()?,
            cols: u32::try_from(cols).ok()?,
            stride: u32::try_from(stride).ok()?,
            offset_bytes: 0,
            len_bytes: u32::try_from(len).ok()?,
            claims,
        })
    };
    record().ok_or(PackError::TooLarge { len_bytes: usize::MAX })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 6 × 5, every element another, within the element type and of both signs.
    fn tensor(element: ElementType) -> QuantTensor {
        let integers = (0..30).map(|index| if element == ElementType::I8 { index - 15 } else { index * 21 - 300 });
        let values = match element {
            ElementType::F32 => Values::F32(integers.map(|value| value as f32 / 8.0).collect()),
            _ => Values::Int(integers.collect()),
        };
        QuantTensor { name: "w".to_owned(), element, scale: None, banks: 1, outputs: 6, inputs: 5, values }
    }

    fn bytes_of_element(tensor: &QuantTensor, index: usize) -> Vec<u8> {
        match (&tensor.values, tensor.element) {
            (Values::Int(values), ElementType::I8) => (values[index] as i8).to_le_bytes().to_vec(),
            (Values::Int(values), ElementType::I16) => (values[index] as i16).to_le_bytes().to_vec(),
            (Values::Int(values), _) => values[index].to_le_bytes().to_vec(),
            (Values::F32(values), _) => values[index].to_le_bytes().to_vec(),
        }
    }

    /// Every element is where the layout says, and the rest is zero.
    #[test]
    fn elements_go_where_the_layout_says() {
        for element in [ElementType::I8, ElementType::I16, ElementType::I32, ElementType::F32] {
            for (layout, orientation, banks) in [
                (Layout::Rows, Orientation::InputRows, 1),
                (Layout::Rows, Orientation::OutputRows, 1),
                (Layout::Rows, Orientation::OutputRows, 3),
                (Layout::K4, Orientation::OutputRows, 1),
                (Layout::K4, Orientation::OutputRows, 2),
                (Layout::Columns, Orientation::OutputRows, 1),
                (Layout::Columns, Orientation::OutputRows, 3),
            ] {
                let tensor = QuantTensor { banks, ..tensor(element) };
                let packed = pack_tensor(&tensor, layout, orientation, 0).unwrap();
                let size = bytes_of_element(&tensor, 0).len();
                let stride = packed.record.stride as usize;
                let mut expected = vec![0; packed.record.len_bytes as usize];
                let bank_len = expected.len() / size / banks;
                for output in 0..6 {
                    for input in 0..5 {
                        let (bank, row, col) = match orientation {
                            Orientation::OutputRows => (output / (6 / banks), output % (6 / banks), input),
                            Orientation::InputRows => (0, input, output),
                        };
                        let at = (bank * bank_len + layout.offset(stride, row, col)) * size;
                        expected[at..at + size].copy_from_slice(&bytes_of_element(&tensor, output + 6 * input));
                    }
                }
                let mut found = vec![0; expected.len()];
                packed.write(&mut found);
                assert_eq!(found, expected, "{element:?} {layout:?} {orientation:?} {banks}");
            }
        }
    }

    #[test]
    fn a_tensor_that_is_not_whole_is_refused() {
        for orientation in [Orientation::InputRows, Orientation::OutputRows] {
            let mut tensor = tensor(ElementType::I16);
            tensor.values = Values::Int(vec![1; 29]);
            let error = pack_tensor(&tensor, Layout::Rows, orientation, 0).unwrap_err();
            assert_eq!(error, PackError::Contents { tensor: "w".to_owned(), outputs: 6, inputs: 5 });
        }
    }
}
