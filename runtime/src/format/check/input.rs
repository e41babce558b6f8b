//! The input: what goes in, its feature blocks, the tables of a chess network.

use super::general::GENERAL;
use super::{MAX_LEN, field, require};
use crate::format::records::{claim, element, feature_set, input_kind, perspective_order};
use crate::format::{Layout, Model, NONE, ParseError};

/// The input record, its tables and the feature blocks.
pub(in crate::format) fn input(model: &Model<'_>) -> Result<(), ParseError> {
    let input = model.input();
    let at = |holds, place, found: u32, expected| require(holds, place, 0, found.into(), expected);
    at(input.reserved == 0, "input.reserved", input.reserved, "0")?;
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
            at(input.exact == 0, "input.exact", input.exact, "0 for features")?;
            blocks(model)?;
        }
        input_kind::DENSE => {
            at(input.perspectives == 0, "input.perspectives", input.perspectives, "0 for dense")?;
            at(input.hidden == 0, "input.hidden", input.hidden, "0 for dense")?;
            at(input.max_active == 0, "input.max_active", input.max_active, "0 for dense")?;
            at(
                [element::U8, element::I8, element::F32].contains(&input.element),
                "input.element",
                input.element,
                "1 u8, 2 i8 or 5 f32",
            )?;
            at(input.unit.is_finite() && input.unit > 0.0, "input.unit", input.unit.to_bits(), "a positive number")?;
            let is_real = input.element == element::F32;
            at(
                GENERAL || !is_real,
                "input.element",
                input.element,
                "1 or 2: this build leaves out the feature `general`",
            )?;
            at(!is_real || input.unit == 1.0, "input.unit", input.unit.to_bits(), "1.0 for f32")?;
            at(input.exact == 0, "input.exact", input.exact, "0 for dense")?;
            at(model.blocks().is_empty(), "header.block_count", model.header().block_count, "0 for dense")?;
        }
        input_kind::SPARSE => {
            at(GENERAL, "input.kind", input.kind, "1 or 2: this build leaves out the feature `general`")?;
            sparse(model)?;
        }
        kind => return Err(field("input.kind", 0, kind.into(), "1 features, 2 dense or 3 sparse")),
    }
    tables(model)
}

/// A list of features, with values or without.
fn sparse(model: &Model<'_>) -> Result<(), ParseError> {
    let input = model.input();
    let at = |holds, place, found: u32, expected| require(holds, place, 0, found.into(), expected);
    at(input.perspectives == 0, "input.perspectives", input.perspectives, "0 for sparse")?;
    at(input.hidden == 0, "input.hidden", input.hidden, "0 for sparse")?;
    at((1..=1 << 16).contains(&input.max_active), "input.max_active", input.max_active, "1 to 65536")?;
    at(input.bucket_count == 1, "input.bucket_count", input.bucket_count, "1 for sparse")?;
    at(input.bucket_table == NONE, "input.bucket_table", input.bucket_table, "none for sparse")?;
    let has_values = input.element == element::I16;
    at(has_values || input.element == 0, "input.element", input.element, "3 i16, or 0 without values")?;
    let unit = input.unit.to_bits();
    if has_values {
        at(input.unit.is_finite() && input.unit > 0.0, "input.unit", unit, "a positive number")?;
    } else {
        at(unit == 0, "input.unit", unit, "0 without values")?;
    }
    at(input.exact <= 1, "input.exact", input.exact, "0 or 1")?;
    // A list of distinct features that is longer than there are features does not exist.
    let reachable = input.exact == 0 || input.max_active <= input.size;
    at(reachable, "input.max_active", input.max_active, "at most the number of features where it is exact")?;
    at(model.blocks().is_empty(), "header.block_count", model.header().block_count, "0 for sparse")
}

/// King and bucket tables: the right shape, and only buckets that exist.
fn tables(model: &Model<'_>) -> Result<(), ParseError> {
    let input = model.input();
    let per_bucket = feature_set::per_king_bucket(input.feature_set);
    let chess = per_bucket.is_some();
    let known = chess || input.feature_set == feature_set::CUSTOM;
    require(known, "input.feature_set", 0, input.feature_set.into(), "0 to 5")?;
    require(
        !chess || input.kind == input_kind::FEATURES,
        "input.feature_set",
        0,
        input.feature_set.into(),
        "0 for dense and sparse",
    )?;
    let king_buckets = per_bucket.map_or(0, |per_bucket| input.size / per_bucket);
    if let Some(per_bucket) = per_bucket {
        let whole = input.size.is_multiple_of(per_bucket);
        require(whole, "input.size", 0, input.size.into(), "a multiple of the feature set's 768, 704 or 640")?;
        require(input.king_table != NONE, "input.king_table", 0, input.king_table.into(), "a tensor of 64 u8")?;
    } else {
        require(input.king_table == NONE, "input.king_table", 0, input.king_table.into(), "none without chess")?;
    }
    for (name, index, len, limit) in [
        ("input.king_table", input.king_table, feature_set::KING_TABLE_LEN, king_buckets),
        ("input.bucket_table", input.bucket_table, feature_set::BUCKET_TABLE_LEN, input.bucket_count),
    ] {
        if index == NONE {
            continue;
        }
        let tensor = model.tensor(index).filter(|tensor| {
            let record = tensor.record;
            record.element as u32 == element::U8
                && record.banks == 1
                && record.rows as usize == len
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

/// A word that is not zero, for the message.
fn first_set(words: &[u32]) -> u64 {
    words.iter().find(|word| **word != 0).map_or(0, |word| u64::from(*word))
}
