//! Places: every byte of the file belongs to a record, a tensor, the people's section or to padding that is zero.

use super::records::{claim, element, feature_set, input_kind, perspective_order};
use super::{ALIGNMENT, Layout, Model, NONE, ParseError, TensorRecord};

/// The most features, and the most elements of a vector: what a caller may have to allocate is bounded by this.
pub(super) const MAX_LEN: u32 = 1 << 24;

/// Shorthand for the error that names a record's field.
pub(super) fn field(place: &'static str, index: usize, found: u64, expected: &'static str) -> ParseError {
    ParseError::Field { place, index, found, expected }
}

/// Refuses a field that is not what it must be.
pub(super) fn require(
    holds: bool,
    place: &'static str,
    index: usize,
    found: u64,
    expected: &'static str,
) -> Result<(), ParseError> {
    if holds { Ok(()) } else { Err(field(place, index, found, expected)) }
}

/// A word that is not zero, for the message.
fn first_set(words: &[u32]) -> u64 {
    words.iter().find(|word| **word != 0).map_or(0, |word| u64::from(*word))
}

/// Tensors follow the tables, the people's section follows the tensors, each at the next multiple of 64, and the gaps are zero.
pub(super) fn places(model: &Model<'_>, tables_end: usize) -> Result<(), ParseError> {
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
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
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
            for bank in 0..record.banks as usize {
                for row in 0..stride {
                    for col in 0..cols.next_multiple_of(4) {
                        if row >= rows || col >= cols {
                            let at = start + bank * bank_len + tensor.layout.offset(stride, row, col) * size;
                            zeros(model.bytes(), at, at + size)?;
                        }
                    }
                }
            }
        }
    }
    Ok(())
}

/// The input record, its tables and the feature blocks.
pub(super) fn input(model: &Model<'_>) -> Result<(), ParseError> {
    let input = model.input();
    let at = |holds, place, found: u32, expected| require(holds, place, 0, found.into(), expected);
    require(input.reserved == [0; 2], "input.reserved", 0, first_set(&input.reserved), "0")?;
    let ordered = input.order == perspective_order::OWN_FIRST
        || (input.order == perspective_order::OTHER_FIRST && input.perspectives == 2);
    at(ordered, "input.order", input.order, "0, or 1 with two perspectives")?;
    at((1..=256).contains(&input.bucket_count), "input.bucket_count", input.bucket_count, "1 to 256")?;
    at((1..=MAX_LEN).contains(&input.size), "input.size", input.size, "1 to 2^24")?;
    at(
        input.output_unit.is_finite() && input.output_unit > 0.0,
        "input.output_unit",
        input.output_unit.to_bits(),
        "a positive number",
    )?;
    match input.kind {
        input_kind::FEATURES => {
            at(input.perspectives == 1 || input.perspectives == 2, "input.perspectives", input.perspectives, "1 or 2")?;
            at((1..=1 << 20).contains(&input.hidden), "input.hidden", input.hidden, "1 to 2^20")?;
            at((1..=1 << 16).contains(&input.max_active), "input.max_active", input.max_active, "1 to 65536")?;
            at(input.element == 0, "input.element", input.element, "0 for features")?;
            at(input.unit.to_bits() == 0, "input.unit", input.unit.to_bits(), "0 for features")?;
            blocks(model)?;
        }
        input_kind::DENSE => {
            at(input.perspectives == 0, "input.perspectives", input.perspectives, "0 for dense")?;
            at(input.hidden == 0, "input.hidden", input.hidden, "0 for dense")?;
            at(input.max_active == 0, "input.max_active", input.max_active, "0 for dense")?;
            at(
                input.element == element::U8 || input.element == element::I8,
                "input.element",
                input.element,
                "1 u8 or 2 i8",
            )?;
            at(input.unit.is_finite() && input.unit > 0.0, "input.unit", input.unit.to_bits(), "a positive number")?;
            at(model.blocks().is_empty(), "header.block_count", model.header().block_count, "0 for dense")?;
        }
        kind => return Err(field("input.kind", 0, kind.into(), "1 features or 2 dense")),
    }
    tables(model)
}

/// King and bucket tables: the right shape, and only buckets that exist.
fn tables(model: &Model<'_>) -> Result<(), ParseError> {
    let input = model.input();
    let chess = input.feature_set == feature_set::CHESS || input.feature_set == feature_set::CHESS_MIRRORED;
    require(
        chess || input.feature_set == feature_set::CUSTOM,
        "input.feature_set",
        0,
        input.feature_set.into(),
        "0, 1 or 2",
    )?;
    require(
        !chess || input.kind == input_kind::FEATURES,
        "input.feature_set",
        0,
        input.feature_set.into(),
        "0 for dense",
    )?;
    let king_buckets = input.size / 768;
    if chess {
        require(input.size.is_multiple_of(768), "input.size", 0, input.size.into(), "a multiple of 768")?;
        require(input.king_table != NONE, "input.king_table", 0, input.king_table.into(), "a tensor of 64 u8")?;
    } else {
        require(input.king_table == NONE, "input.king_table", 0, input.king_table.into(), "none without chess")?;
    }
    for (name, index, len, limit) in [
        ("input.king_table", input.king_table, 64, king_buckets),
        ("input.bucket_table", input.bucket_table, 33, input.bucket_count),
    ] {
        if index == NONE {
            continue;
        }
        let tensor = model.tensor(index).filter(|tensor| {
            let record = tensor.record;
            record.element as u32 == element::U8
                && record.banks == 1
                && record.rows == len
                && record.cols == 1
                && tensor.layout == Layout::Rows
        });
        let tensor = tensor.ok_or(field(name, 0, index.into(), "a vector of u8, 64 squares or 33 piece counts"))?;
        if let Some(found) = tensor.data.iter().find(|bucket| u32::from(**bucket) >= limit) {
            return Err(field(name, 0, u64::from(*found), "buckets that exist"));
        }
    }
    Ok(())
}

/// Blocks cover all features in order; their rows are as wide as the accumulator.
fn blocks(model: &Model<'_>) -> Result<(), ParseError> {
    let input = model.input();
    let mut next = 0u32;
    require(!model.blocks().is_empty(), "header.block_count", 0, 0, "at least 1 for features")?;
    for (index, block) in model.blocks().iter().enumerate() {
        require(block.reserved == [0; 3], "block.reserved", index, first_set(&block.reserved), "0")?;
        require(
            block.claims & !claim::ACCUMULATOR_FITS == 0,
            "block.claims",
            index,
            block.claims.into(),
            "only bits that are defined",
        )?;
        require(
            block.first_feature == next,
            "block.first_feature",
            index,
            block.first_feature.into(),
            "the end of the block before",
        )?;
        next = next.checked_add(block.feature_count).filter(|_| block.feature_count > 0).ok_or(field(
            "block.feature_count",
            index,
            block.feature_count.into(),
            "at least 1",
        ))?;
        let weights = model.tensor(block.weights).filter(|tensor| {
            let record = tensor.record;
            let narrow = record.element as u32 == element::I16 || record.element as u32 == element::I8;
            narrow
                && tensor.layout == Layout::Rows
                && record.banks == 1
                && record.rows == block.feature_count
                && record.cols == input.hidden
        });
        require(
            weights.is_some(),
            "block.weights",
            index,
            block.weights.into(),
            "a tensor of i16 or i8, a row a feature, a column a hidden unit",
        )?;
        let bias = model.tensor(block.bias).filter(|tensor| {
            let record = tensor.record;
            record.element as u32 == element::I16
                && tensor.layout == Layout::Rows
                && record.banks == 1
                && record.rows == input.hidden
                && record.cols == 1
        });
        require(
            if index == 0 { bias.is_some() } else { block.bias == NONE },
            "block.bias",
            index,
            block.bias.into(),
            "a vector of i16 in the first block, none in others",
        )?;
    }
    require(next == input.size, "input.size", 0, input.size.into(), "the number of features in all blocks")
}
