//! Values: vectors of a known element and length, at places within the workspace.

use super::{MAX_LEN, field, require};
use crate::format::records::{element, input_kind};
use crate::format::{ALIGNMENT, MAX_WORKSPACE_LEN_BYTES, Model, NONE, ParseError, ValueRecord};
use core::ops::Range;

/// Value 0 is the input; the others lie in the workspace.
pub(in crate::format) fn values(model: &Model<'_>) -> Result<(), ParseError> {
    let input = model.input();
    let (element_code, len) = match input.kind {
        input_kind::FEATURES => (element::I16, input.perspectives * input.hidden),
        input_kind::SPARSE => (element::I16, input.max_active),
        _ => (input.element, input.size),
    };
    let Some((first, others)) = model.values().split_first() else {
        return Err(field("header.value_count", 0, 0, "at least 1"));
    };
    require(first.element == element_code, "value.element", 0, first.element.into(), "the input's element")?;
    require(first.len == len, "value.len", 0, first.len.into(), "the input's length")?;
    require(first.offset_bytes == NONE, "value.offset_bytes", 0, first.offset_bytes.into(), "none for the input")?;
    require(first.reserved == 0, "value.reserved", 0, first.reserved.into(), "0")?;
    require(
        model.header().workspace_len_bytes <= MAX_WORKSPACE_LEN_BYTES,
        "header.workspace_len_bytes",
        0,
        model.header().workspace_len_bytes.into(),
        "at most 2^26",
    )?;
    let mut workspace = 0;
    for (index, value) in others.iter().enumerate() {
        let index = index + 1;
        require(value.reserved == 0, "value.reserved", index, value.reserved.into(), "0")?;
        require((1..=MAX_LEN).contains(&value.len), "value.len", index, value.len.into(), "1 to 2^24")?;
        require(
            (value.offset_bytes as usize).is_multiple_of(ALIGNMENT),
            "value.offset_bytes",
            index,
            value.offset_bytes.into(),
            "a multiple of 64",
        )?;
        let end = place(value).map(|range| range.end);
        require(
            end.is_some_and(|end| end <= model.workspace_len_bytes()),
            "value.len",
            index,
            value.len.into(),
            "a value that ends within the workspace",
        )?;
        workspace = workspace.max(end.unwrap_or(0));
    }
    require(
        workspace.checked_next_multiple_of(ALIGNMENT) == Some(model.workspace_len_bytes()),
        "header.workspace_len_bytes",
        0,
        model.header().workspace_len_bytes.into(),
        "the end of the last place, rounded up to 64",
    )
}

/// Where a value lies in the workspace; `None` if the numbers overflow or the element is unknown.
fn place(value: &ValueRecord) -> Option<Range<usize>> {
    let len = (value.len as usize).checked_mul(element::len_bytes(value.element)?)?;
    let start = value.offset_bytes as usize;
    Some(start..start.checked_add(len)?)
}

/// Whether two values share no byte of the workspace.
pub(super) fn are_apart(a: &ValueRecord, b: &ValueRecord) -> bool {
    matches!((place(a), place(b)), (Some(a), Some(b)) if a.end <= b.start || b.end <= a.start)
}
