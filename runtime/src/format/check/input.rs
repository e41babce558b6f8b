//! The input: what goes in, its feature blocks, the tables of a chess network.

use super::rules::{A, AT_MOST, B, C, D, NOTHING, Rule, Table};
use super::{Checker, Kind, MAX_LEN_BITS, Refused};
use crate::features::{ACCUMULATORS, GENERAL};
use crate::format::records::{claim, element, feature_set, input_kind, perspective_order};
use crate::format::{InputRecord, Layout, NONE};
use core::mem::offset_of;

/// The bits of the largest number in f32; those of the smaller positive ones are from 1 on.
const LARGEST: i8 = A;
/// The last order that there may be.
const LAST_ORDER: i8 = B;
/// Of a vector its element, and its unit as it must be; and the number of blocks.
const ELEMENT: i8 = B;
const UNIT: i8 = C;
const BLOCK_COUNT: i8 = D;
/// Of every input. An order that is not 0 wants two perspectives.
pub(super) const ANY: [Rule; 5] = [
    Rule::new(offset_of!(InputRecord, bucket_count), 1, 8, "input.bucket_count", "1 to 256"),
    Rule::new(offset_of!(InputRecord, size), 1, MAX_LEN_BITS, "input.size", "1 to 2^24"),
    Rule::new(offset_of!(InputRecord, output_unit), 1, 31, "input.output_unit", "a positive number"),
    Rule::new(offset_of!(InputRecord, output_unit), LARGEST, AT_MOST, "input.output_unit", "a positive number"),
    Rule::new(offset_of!(InputRecord, order), LAST_ORDER, AT_MOST, "input.order", "0, or 1 with two perspectives"),
];
/// Of lists of features, an accumulator a perspective.
pub(super) const FEATURES: [Rule; 6] = [
    Rule::new(offset_of!(InputRecord, perspectives), 1, 1, "input.perspectives", "1 or 2"),
    Rule::new(offset_of!(InputRecord, hidden), 1, 20, "input.hidden", "1 to 2^20"),
    Rule::new(offset_of!(InputRecord, max_active), 1, 16, "input.max_active", "1 to 65536"),
    Rule::new(offset_of!(InputRecord, element), 0, 0, "input.element", "0 for features"),
    Rule::new(offset_of!(InputRecord, unit), 0, 0, "input.unit", "0 for features"),
    Rule::new(offset_of!(InputRecord, exact), 0, 0, "input.exact", "0 for features"),
];
/// Of whatever has no board.
pub(super) const NO_BOARD: [Rule; 4] = [
    Rule::new(
        offset_of!(InputRecord, feature_set),
        feature_set::LAST as i8,
        AT_MOST,
        "input.feature_set",
        "0, or the code of a feature set",
    ),
    Rule::new(offset_of!(InputRecord, feature_set), 0, 0, "input.feature_set", "0 for dense and sparse"),
    Rule::new(offset_of!(InputRecord, king_table), NOTHING, 0, "input.king_table", "none without chess"),
    Rule::new(offset_of!(InputRecord, counted), 0, 0, "input.counted", "0 without chess"),
];
/// Of a vector. Its element is known with f32 as 1, its unit as 1.0 where it must be that.
pub(super) const DENSE: [Rule; 14] = [
    Rule::new(offset_of!(InputRecord, perspectives), 0, 0, "input.perspectives", "0 for dense"),
    Rule::new(offset_of!(InputRecord, hidden), 0, 0, "input.hidden", "0 for dense"),
    Rule::new(offset_of!(InputRecord, max_active), 0, 0, "input.max_active", "0 for dense"),
    Rule::new(offset_of!(InputRecord, unit), 1, 31, "input.unit", "a positive number"),
    Rule::new(offset_of!(InputRecord, unit), LARGEST, AT_MOST, "input.unit", "a positive number"),
    Rule::new(offset_of!(InputRecord, exact), 0, 0, "input.exact", "0 for dense"),
    Rule::known(ELEMENT, 1, 1, "input.element", "1 u8, 2 i8 or 5 f32"),
    Rule::new(offset_of!(InputRecord, element), WIDEST, AT_MOST, "input.element", "").of(Kind::General),
    Rule::new(offset_of!(InputRecord, unit), UNIT, 0, "input.unit", "1.0 for f32"),
    Rule::known(BLOCK_COUNT, 0, 0, "header.block_count", "0 for dense"),
    // All of them, since a table holds no table.
    NO_BOARD[0],
    NO_BOARD[1],
    NO_BOARD[2],
    NO_BOARD[3],
];
/// The last of the elements that a vector has in this build.
const WIDEST: i8 = (if GENERAL { element::F32 } else { element::I8 }) as i8;
/// Of a list of features, with values or without.
pub(super) const SPARSE: [Rule; 6] = [
    Rule::new(offset_of!(InputRecord, perspectives), 0, 0, "input.perspectives", "0 for sparse"),
    Rule::new(offset_of!(InputRecord, hidden), 0, 0, "input.hidden", "0 for sparse"),
    Rule::new(offset_of!(InputRecord, max_active), 1, 16, "input.max_active", "1 to 65536"),
    Rule::new(offset_of!(InputRecord, bucket_count), 1, 0, "input.bucket_count", "1 for sparse"),
    Rule::new(offset_of!(InputRecord, bucket_table), NOTHING, 0, "input.bucket_table", "none for sparse"),
    Rule::new(offset_of!(InputRecord, exact), 0, 1, "input.exact", "0 or 1"),
];

impl Checker<'_> {
    /// The input record, its tables and the feature blocks.
    pub(super) fn input(&self) -> Result<(), Refused> {
        let input = self.model.input();
        self.turn(0, input);
        self.know(LARGEST, f32::MAX.to_bits());
        self.know(
            LAST_ORDER,
            if input.perspectives == 2 { perspective_order::OTHER_FIRST } else { perspective_order::OWN_FIRST },
        );
        self.rules(Table::ANY)?;
        match input.kind {
            input_kind::FEATURES if ACCUMULATORS => {
                self.rules(Table::FEATURES)?;
                self.blocks()?;
            }
            input_kind::FEATURES => return Err(self.missing("input.kind", input.kind, Kind::Accumulators)),
            input_kind::DENSE => self.dense()?,
            input_kind::SPARSE if GENERAL => self.sparse()?,
            input_kind::SPARSE => return Err(self.missing("input.kind", input.kind, Kind::General)),
            kind => return Err(self.fault("input.kind", kind, "1 features, 2 dense or 3 sparse")),
        }
        self.tables()
    }

    fn dense(&self) -> Result<(), Refused> {
        let input = self.model.input();
        let is_real = input.element == element::F32;
        self.know(ELEMENT, if is_real { element::U8 } else { input.element });
        self.know(UNIT, if is_real && GENERAL { 1f32.to_bits() } else { input.unit.to_bits() });
        self.know(BLOCK_COUNT, self.model.header().block_count);
        self.rules(Table::DENSE)
    }

    fn sparse(&self) -> Result<(), Refused> {
        let input = self.model.input();
        self.rules(Table::SPARSE)?;
        let (has_values, unit) = (input.element == element::I16, input.unit.to_bits());
        self.need(has_values || input.element == 0, "input.element", input.element, "3 i16, or 0 without values")?;
        if has_values {
            self.need(input.unit.is_finite() && input.unit > 0.0, "input.unit", unit, "a positive number")?;
        } else {
            self.need(unit == 0, "input.unit", unit, "0 without values")?;
        }
        // A list of distinct features that is longer than there are features does not exist.
        let reachable = input.exact == 0 || input.max_active <= input.size;
        let most = "at most the number of features where it is exact";
        self.need(reachable, "input.max_active", input.max_active, most)?;
        let blocks = self.model.header().block_count;
        self.need(blocks == 0, "header.block_count", blocks, "0 for sparse")?;
        self.rules(Table::NO_BOARD)
    }

    /// King and bucket tables: the right shape, and only buckets that exist.
    fn tables(&self) -> Result<(), Refused> {
        let input = self.model.input();
        let set = input.feature_set;
        let per_bucket =
            feature_set::per_king_bucket(set).filter(|_| ACCUMULATORS && input.kind == input_kind::FEATURES);
        if let Some(per_bucket) = per_bucket {
            let (relations, size) = (feature_set::relation_count(set), input.size);
            if relations > 0 && !GENERAL {
                return Err(self.missing("input.feature_set", set, Kind::General));
            }
            let pieces = size.saturating_sub(relations);
            let whole = size >= relations && pieces.is_multiple_of(per_bucket);
            self.need(whole, "input.size", input.size, "a multiple of the features of a king bucket")?;
            self.need(input.king_table != NONE, "input.king_table", input.king_table, "a tensor of 64 u8")?;
            let king_buckets = pieces / per_bucket;
            self.table("input.king_table", input.king_table, feature_set::KING_TABLE_LEN, king_buckets)?;
            let by_sides = feature_set::COUNTED_BY_SIDES;
            let fits = input.counted < 2 * by_sides && (input.counted == 0 || input.bucket_table != NONE);
            self.need(fits, "input.counted", input.counted, "0, or up to 127 with a bucket table")?;
            if input.counted >= by_sides {
                let len = feature_set::SIDE_COUNTS * feature_set::SIDE_COUNTS;
                return self.table("input.bucket_table", input.bucket_table, len, input.bucket_count);
            }
        } else if ACCUMULATORS && input.kind == input_kind::FEATURES {
            self.rules(Table::NO_BOARD)?;
        }
        self.table("input.bucket_table", input.bucket_table, feature_set::BUCKET_TABLE_LEN, input.bucket_count)
    }

    /// A table of `len` bytes, each below `limit`; or none.
    fn table(&self, name: &'static str, index: u32, len: usize, limit: u32) -> Result<(), Refused> {
        if index == NONE {
            return Ok(());
        }
        let fits = self.is_vector(index, element::U8, len);
        self.need(fits, name, index, "a vector of u8, 64 squares, 33 counts or 289 pairs of them")?;
        let beyond = self.model.data(index).iter().find(|bucket| u32::from(**bucket) >= limit);
        self.need_none(beyond.map(|bucket| (*bucket).into()), name, "buckets that exist")
    }

    /// Whether it is a tensor of one bank and one column.
    fn is_vector(&self, index: u32, element: u32, rows: usize) -> bool {
        self.model.tensors().get(index as usize).is_some_and(|record| {
            u32::from(record.element) == element
                && record.layout == Layout::Rows.code()
                && record.banks == 1
                && record.rows as usize == rows
                && record.cols == 1
        })
    }

    /// Blocks cover all features in order; their rows are as wide as the accumulator.
    fn blocks(&self) -> Result<(), Refused> {
        let input = self.model.input();
        let mut next = 0u32;
        self.need(!self.model.blocks().is_empty(), "header.block_count", 0, "at least 1 for features")?;
        for (index, block) in self.model.blocks().iter().enumerate() {
            self.turn(index, block);
            self.need_none(block.reserved.iter().find(|word| **word != 0).copied(), "block.reserved", "0")?;
            let known = block.claims & !claim::ACCUMULATOR_FITS == 0;
            self.need(known, "block.claims", block.claims, "only bits that are defined")?;
            self.need(
                block.first_feature == next,
                "block.first_feature",
                block.first_feature,
                "the end of the block before",
            )?;
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
            )?;
            let has_bias = self.is_vector(block.bias, element::I16, input.hidden as usize);
            self.need(
                if index == 0 { has_bias } else { block.bias == NONE },
                "block.bias",
                block.bias,
                "a vector of i16 in the first block, none in others",
            )?;
        }
        self.turn(0, input);
        self.need(next == input.size, "input.size", input.size, "the number of features in all blocks")
    }
}
