//! The JSON of `_meta`, field by field, before anything is checked. What is not needed is not read.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};

/// `_meta` as it is written.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RawMeta {
    pub matrix_name: String,
    pub format_class_name: String,
    pub row_type: i64,
    pub row: i64,
    pub col: i64,
    pub part_metas: Pairs<RawPart>,
}

/// One of its `partMetas`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RawPart {
    pub part_id: Option<i64>,
    pub start_row: i64,
    pub end_row: i64,
    pub start_col: i64,
    pub end_col: i64,
    pub save_row_num: i64,
    pub save_col_num: i64,
    pub save_col_elem_num: i64,
    pub file_name: String,
    pub offset: i64,
    pub length: i64,
    pub row_metas: Pairs<RawRow>,
}

/// One of their `rowMetas`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RawRow {
    pub row_id: i64,
    pub element_num: i64,
}

/// An object whose keys are ids, in the order in which they are written.
pub(super) struct Pairs<T>(pub Vec<(String, T)>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Pairs<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Collect<T> {
            type Value = Pairs<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with ids as keys")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<T>, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(Collect(PhantomData))
    }
}
