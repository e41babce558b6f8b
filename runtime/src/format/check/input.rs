//! The input: what goes in, its feature blocks, the tables of a chess network.

use super::{Checker, MAX_LEN, Refused};
use crate::built::{ACCUMULATORS, GENERAL};
use crate::format::records::{claim, element, feature_set, input_kind, perspective_order};
use crate::format::{Layout, NONE, Tensor};

/// The largest finite f32. Bits up to these, but for 0, are those of the positive numbers.
const LARGEST: u32 = f32::MAX.to_bits();

impl Checker<'_, '_> {
    /// The input record, its tables and the feature blocks.
    pub(super) fn input(&self) -> Result<(), Refused> {
        let input = self.model.input();
        self.need(input.reserved == 0, "input.reserved", input.reserved, "0");
        let ordered = input.order == perspective_order::OWN_FIRST
            || (input.order == perspective_order::OTHER_FIRST && input.perspectives == 2);
        self.need(ordered, "input.order", input.order, "0, or 1 with two perspectives");
        let buckets = input.bucket_count;
        self.need((1..=256).contains(&buckets), "input.bucket_count", buckets, "1 to 256");
        self.need((1..=MAX_LEN).contains(&input.size), "input.size", input.size, "1 to 2^24");
        self.positive("input.output_unit", input.output_unit);
        match input.kind {
            input_kind::FEATURES if ACCUMULATORS => self.features()?,
            input_kind::FEATURES => return Err(self.missing("input.kind", input.kind, "accumulators")),
            input_kind::DENSE => self.dense()?,
            input_kind::SPARSE if GENERAL => self.sparse(),
            input_kind::SPARSE => return Err(self.missing("input.kind", input.kind, "general")),
            kind => return Err(self.fault("input.kind", kind, "1 features, 2 dense or 3 sparse")),
        }
        self.so_far()?;
        self.tables()
    }

    fn positive(&self, place: &'static str, unit: f32) {
        let bits = unit.to_bits();
        self.need((1..=LARGEST).contains(&bits), place, bits, "a positive number");
    }

    /// Lists of features, an accumulator a perspective.
    fn features(&self) -> Result<(), Refused> {
        let input = self.model.input();
        self.need((1..=2).contains(&input.perspectives), "input.perspectives", input.perspectives, "1 or 2");
        self.need((1..=1 << 20).contains(&input.hidden), "input.hidden", input.hidden, "1 to 2^20");
        self.need((1..=1 << 16).contains(&input.max_active), "input.max_active", input.max_active, "1 to 65536");
        self.need(input.element == 0, "input.element", input.element, "0 for features");
        self.need(input.unit.to_bits() == 0, "input.unit", input.unit.to_bits(), "0 for features");
        self.need(input.exact == 0, "input.exact", input.exact, "0 for features");
        self.blocks()
    }

    /// A vector.
    fn dense(&self) -> Result<(), Refused> {
        let input = self.model.input();
        self.need(input.perspectives == 0, "input.perspectives", input.perspectives, "0 for dense");
        self.need(input.hidden == 0, "input.hidden", input.hidden, "0 for dense");
        self.need(input.max_active == 0, "input.max_active", input.max_active, "0 for dense");
        let known = [element::U8, element::I8, element::F32].contains(&input.element);
        self.need(known, "input.element", input.element, "1 u8, 2 i8 or 5 f32");
        self.positive("input.unit", input.unit);
        let is_real = input.element == element::F32;
        if is_real && !GENERAL {
            return Err(self.missing("input.element", input.element, "general"));
        }
        let unit = input.unit.to_bits();
        self.need(!is_real || unit == 1f32.to_bits(), "input.unit", unit, "1.0 for f32");
        self.need(input.exact == 0, "input.exact", input.exact, "0 for dense");
        self.need(self.model.blocks().is_empty(), "header.block_count", self.model.header().block_count, "0 for dense");
        Ok(())
    }

    /// A list of features, with values or without.
    fn sparse(&self) {
        let input = self.model.input();
        self.need(input.perspectives == 0, "input.perspectives", input.perspectives, "0 for sparse");
        self.need(input.hidden == 0, "input.hidden", input.hidden, "0 for sparse");
        self.need((1..=1 << 16).contains(&input.max_active), "input.max_active", input.max_active, "1 to 65536");
        self.need(input.bucket_count == 1, "input.bucket_count", input.bucket_count, "1 for sparse");
        self.need(input.bucket_table == NONE, "input.bucket_table", input.bucket_table, "none for sparse");
        let has_values = input.element == element::I16;
        self.need(has_values || input.element == 0, "input.element", input.element, "3 i16, or 0 without values");
        if has_values {
            self.positive("input.unit", input.unit);
        } else {
            self.need(input.unit.to_bits() == 0, "input.unit", input.unit.to_bits(), "0 without values");
        }
        self.need(input.exact <= 1, "input.exact", input.exact, "0 or 1");
        // A list of distinct features that is longer than there are features does not exist.
        let reachable = input.exact == 0 || input.max_active <= input.size;
        let most = "at most the number of features where it is exact";
        self.need(reachable, "input.max_active", input.max_active, most);
        self.need(
            self.model.blocks().is_empty(),
            "header.block_count",
            self.model.header().block_count,
            "0 for sparse",
        );
    }

    /// King and bucket tables: the right shape, and only buckets that exist.
    fn tables(&self) -> Result<(), Refused> {
        let input = self.model.input();
        let set = input.feature_set;
        let per_bucket =
            feature_set::per_king_bucket(set).filter(|_| ACCUMULATORS && input.kind == input_kind::FEATURES);
        if let Some(per_bucket) = per_bucket {
            let whole = input.size.is_multiple_of(per_bucket);
            self.need(whole, "input.size", input.size, "a multiple of the feature set's 768, 704 or 640");
            self.need(input.king_table != NONE, "input.king_table", input.king_table, "a tensor of 64 u8");
            let king_buckets = input.size / per_bucket;
            self.table("input.king_table", input.king_table, feature_set::KING_TABLE_LEN, king_buckets)?;
        } else {
            self.need(set <= feature_set::NO_KINGS, "input.feature_set", set, "0 to 5");
            self.need(set == feature_set::CUSTOM, "input.feature_set", set, "0 for dense and sparse");
            self.need(input.king_table == NONE, "input.king_table", input.king_table, "none without chess");
        }
        self.so_far()?;
        self.table("input.bucket_table", input.bucket_table, feature_set::BUCKET_TABLE_LEN, input.bucket_count)
    }

    /// A table of `len` bytes, each below `limit`; or none.
    fn table(&self, name: &'static str, index: u32, len: usize, limit: u32) -> Result<(), Refused> {
        if index == NONE {
            return Ok(());
        }
        let tensor = self.vector(index, element::U8, len);
        let tensor = tensor.ok_or_else(|| self.fault(name, index, "a vector of u8, 64 squares or 33 piece counts"))?;
        let beyond = tensor.data.iter().find(|bucket| u32::from(**bucket) >= limit);
        self.need(beyond.is_none(), name, beyond.map_or(0, |bucket| (*bucket).into()), "buckets that exist");
        Ok(())
    }

    /// A tensor that is one bank of one column.
    fn vector(&self, index: u32, element: u32, rows: usize) -> Option<Tensor<'_>> {
        self.model.tensor(index).filter(|tensor| {
            let record = tensor.record;
            u32::from(record.element) == element
                && record.banks == 1
                && record.rows as usize == rows
                && record.cols == 1
                && tensor.layout == Layout::Rows
        })
    }

    /// Blocks cover all features in order; their rows are as wide as the accumulator.
    fn blocks(&self) -> Result<(), Refused> {
        let input = self.model.input();
        let mut next = 0u32;
        self.need(!self.model.blocks().is_empty(), "header.block_count", 0, "at least 1 for features");
        for (index, block) in self.model.blocks().iter().enumerate() {
            self.at(index);
            let set = block.reserved.iter().find(|word| **word != 0).copied();
            self.need(set.is_none(), "block.reserved", set.unwrap_or(0), "0");
            let known = block.claims & !claim::ACCUMULATOR_FITS == 0;
            self.need(known, "block.claims", block.claims, "only bits that are defined");
            self.need(
                block.first_feature == next,
                "block.first_feature",
                block.first_feature,
                "the end of the block before",
            );
            let end = next.checked_add(block.feature_count).filter(|_| block.feature_count > 0);
            next = end.ok_or_else(|| self.fault("block.feature_count", block.feature_count, "at least 1"))?;
            let weights = self.model.tensor(block.weights).filter(|tensor| {
                let record = tensor.record;
                let narrow = record.element as u32 == element::I16 || record.element as u32 == element::I8;
                narrow
                    && tensor.layout == Layout::Rows
                    && record.banks == 1
                    && record.rows == block.feature_count
                    && record.cols == input.hidden
            });
            self.need(
                weights.is_some(),
                "block.weights",
                block.weights,
                "a tensor of i16 or i8, a row a feature, a column a hidden unit",
            );
            let bias = self.vector(block.bias, element::I16, input.hidden as usize);
            self.need(
                if index == 0 { bias.is_some() } else { block.bias == NONE },
                "block.bias",
                block.bias,
                "a vector of i16 in the first block, none in others",
            );
        }
        self.at(0);
        self.need(next == input.size, "input.size", input.size, "the number of features in all blocks");
        Ok(())
    }
}
