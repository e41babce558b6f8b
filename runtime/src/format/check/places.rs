//! Places: every byte of the file belongs to a record, a tensor, the people's section or to padding that is zero.

use super::{field, require};
use crate::format::records::{claim, element};
use crate::format::{ALIGNMENT, Layout, Model, ParseError, TensorRecord};

/// Tensors follow the tables, the people's section follows the tensors, each at the next multiple of 64, and the gaps are zero.
pub(in crate::format) fn places(model: &Model<'_>, tables_end: usize) -> Result<(), ParseError> {
    require(model.header().reserved == 0, "header.reserved", 0, model.header().reserved.into(), "0")?;
    let mut end = tables_end;
    for (index, record) in model.tensors().iter().enumerate() {
        let start = next_place(model, end)?;
        require(
            record.offset_bytes as usize == start,
            "tensor.offset_bytes",
            index,
            record.offset_bytes.into(),
            "the next free multiple of 64",
        )?;
        tensor(model, index, record)?;
        end = start.checked_add(record.len_bytes as usize).filter(|end| *end <= model.bytes().len()).ok_or(field(
            "tensor.len_bytes",
            index,
            record.len_bytes.into(),
            "a tensor that ends within the file",
        ))?;
        row_padding(model, index, record)?;
    }
    let start = next_place(model, end)?;
    let header = model.header();
    require(
        header.people_offset_bytes as usize == start,
        "header.people_offset_bytes",
        0,
        header.people_offset_bytes.into(),
        "the next free multiple of 64",
    )?;
    end = start.checked_add(header.people_len_bytes as usize).filter(|end| *end <= model.bytes().len()).ok_or(
        field("header.people_len_bytes", 0, header.people_len_bytes.into(), "a section that ends within the file"),
    )?;
    let file_end = next_place(model, end)?;
    require(
        file_end == model.bytes().len(),
        "header.len_bytes",
        0,
        model.bytes().len() as u64,
        "no bytes behind the people's section",
    )
}

/// The next multiple of 64, after checking that the bytes up to it are zero.
fn next_place(model: &Model<'_>, end: usize) -> Result<usize, ParseError> {
    let next = end
        .checked_next_multiple_of(ALIGNMENT)
        .filter(|next| *next <= model.bytes().len())
        .ok_or(ParseError::Length { found: model.bytes().len(), expected: end })?;
    zeros(model.bytes(), end, next)?;
    Ok(next)
}

fn zeros(bytes: &[u8], start: usize, end: usize) -> Result<(), ParseError> {
    let gap = bytes.get(start..end).unwrap_or(&[]);
    // A matrix may have a gap a row. They are zero in every file but a damaged one, so all of a gap is taken at once, and a byte
    // that is not zero is looked for only if there is one.
    if gap.iter().fold(0, |any, byte| any | byte) == 0 {
        return Ok(());
    }
    match gap.iter().position(|byte| *byte != 0) {
        Some(at) => Err(ParseError::Padding { offset_bytes: start + at, found: gap.get(at).copied().unwrap_or(0) }),
        None => Ok(()),
    }
}

/// Shape, layout, stride and length belong together.
fn tensor(model: &Model<'_>, index: usize, record: &TensorRecord) -> Result<(), ParseError> {
    let size = element::len_bytes(record.element.into()).ok_or(field(
        "tensor.element",
        index,
        record.element.into(),
        "1 u8, 2 i8, 3 i16, 4 i32 or 5 f32",
    ))?;
    let layout = Layout::from_code(record.layout).ok_or(field(
        "tensor.layout",
        index,
        record.layout.into(),
        "1 Rows or 2 K4",
    ))?;
    let (banks, rows, cols) = (record.banks as usize, record.rows as usize, record.cols as usize);
    require(
        banks == 1 || (banks > 1 && record.banks == model.input().bucket_count),
        "tensor.banks",
        index,
        record.banks.into(),
        "1 or the number of output buckets",
    )?;
    require(rows > 0, "tensor.rows", index, record.rows.into(), "at least 1")?;
    require(cols > 0, "tensor.cols", index, record.cols.into(), "at least 1")?;
    require(
        layout.stride(rows, cols, size) == Some(record.stride as usize),
        "tensor.stride",
        index,
        record.stride.into(),
        "the stride of this layout and shape",
    )?;
    let len = layout
        .bank_len(rows, cols, record.stride as usize)
        .and_then(|len| len.checked_mul(banks))
        .and_then(|len| len.checked_mul(size));
    require(
        len == Some(record.len_bytes as usize),
        "tensor.len_bytes",
        index,
        record.len_bytes.into(),
        "banks · rows · stride · element size",
    )?;
    require(
        record.claims & !claim::ALL == 0,
        "tensor.claims",
        index,
        record.claims.into(),
        "only bits that are defined",
    )
}

/// Padding within rows is zero, and f32 elements are finite.
fn row_padding(model: &Model<'_>, index: usize, record: &TensorRecord) -> Result<(), ParseError> {
    let Some(tensor) = model.tensor(index as u32) else { return Ok(()) };
    let start = record.offset_bytes as usize;
    if record.element as u32 == element::F32 {
        let values: &[f32] = bytemuck::try_cast_slice(tensor.data).unwrap_or(&[]);
        // As with gaps: all at once, then one by one.
        let finite = values.iter().fold(true, |finite, value| finite & value.is_finite());
        if !finite && let Some(at) = values.iter().position(|value| !value.is_finite()) {
            return Err(field(
                "tensor: an f32 element",
                index,
                at as u64,
                "a finite number (found: the element's index)",
            ));
        }
    }
    let size = tensor.element_len_bytes();
    let (rows, cols, stride) = (record.rows as usize, record.cols as usize, record.stride as usize);
    match tensor.layout {
        Layout::Rows if stride > cols => {
            for row in 0..rows * record.banks as usize {
                zeros(model.bytes(), start + (row * stride + cols) * size, start + (row + 1) * stride * size)?;
            }
        }
        Layout::Rows => {}
        Layout::K4 => {
            let bank_len = tensor.data.len() / record.banks as usize;
            // Padding is at most three columns of every row, and at most three rows: a small part of a large matrix.
            let first_row = if cols.is_multiple_of(4) { rows } else { 0 };
            for bank in 0..record.banks as usize {
                for row in first_row..stride {
                    let first_col = if row < rows { cols } else { 0 };
                    for col in first_col..cols.next_multiple_of(4) {
                        let at = start + bank * bank_len + tensor.layout.offset(stride, row, col) * size;
                        zeros(model.bytes(), at, at + size)?;
                    }
                }
            }
        }
    }
    Ok(())
}
