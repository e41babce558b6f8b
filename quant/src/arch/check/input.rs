//! The input and the output buckets: which keys a kind of input has, and tables of the right length.

use super::{Refusal, size_range};
use crate::arch::error::{Cause, Place};
use crate::arch::shape::PIECE_LETTERS;
use crate::arch::types::{Architecture, DenseType, Input, InputKind};
use tamis_runtime::raw::feature_set::{BUCKET_TABLE_LEN, SIDE_COUNTS};

/// The most features or dense inputs.
const MAX_SIZE: usize = 1 << 24;
/// The most features active at once; a chess board has 32 pieces.
const MAX_ACTIVE: usize = 1 << 16;
const MAX_PIECES: usize = 32;
/// A bucket is one byte in every table.
const MAX_BUCKETS: usize = 256;

fn at(key: &'static str) -> impl Fn(Cause) -> Refusal {
    move |cause| (Place::Table("input", key), cause)
}

fn forbid<T>(value: Option<T>, key: &'static str, why: &'static str) -> Result<(), Refusal> {
    match value {
        Some(_) => Err(at(key)(Cause::Meaningless { why })),
        None => Ok(()),
    }
}

fn need<T: Copy>(value: Option<T>, key: &'static str, why: &'static str) -> Result<T, Refusal> {
    value.ok_or_else(|| at(key)(Cause::Missing { why }))
}

impl Architecture {
    pub(super) fn check_input(&self) -> Result<(), Refusal> {
        let input = &self.input;
        match input.kind {
            InputKind::Chess => {
                forbid(input.size, "size", "a chess network has 768 features a king bucket, 704 with merged kings")?;
                forbid_dense(input)?;
                size_range(input.max_active.unwrap_or(MAX_PIECES), 1, MAX_PIECES).map_err(at("max_active"))?;
                check_perspectives(input.perspectives.unwrap_or(2))?;
                let one = input.perspectives == Some(1);
                forbid((one && input.other_first).then_some(()), "other_first", "there is one perspective only")?;
                check_king_buckets(input)
            }
            InputKind::Features => {
                let size = need(input.size, "size", "say how many features there are")?;
                size_range(size, 1, MAX_SIZE).map_err(at("size"))?;
                let active = need(input.max_active, "max_active", "say how many features can be active at once")?;
                size_range(active, 1, MAX_ACTIVE.min(size)).map_err(at("max_active"))?;
                let why = "write 1 for one list of features, 2 for a list each of the side to move and of the other";
                check_perspectives(need(input.perspectives, "perspectives", why)?)?;
                forbid_dense(input)?;
                forbid_chess(input)
            }
            InputKind::Dense => {
                let size = need(input.size, "size", "say how many elements the input vector has")?;
                size_range(size, 1, MAX_SIZE).map_err(at("size"))?;
                let _: DenseType = need(input.r#type, "type", "write \"u7\" (never negative) or \"i8\"")?;
                let max = need(input.max, "max", "say which real input becomes 127")?;
                if !(max.is_finite() && max > 0.0) {
                    return Err(at("max")(Cause::NotPositive { found: max }));
                }
                forbid(input.perspectives, "perspectives", "a dense input is one vector")?;
                forbid(input.max_active, "max_active", "a dense input has no features")?;
                forbid_chess(input)
            }
        }
    }

    pub(super) fn check_buckets(&self) -> Result<(), Refusal> {
        let Some(buckets) = &self.buckets else { return Ok(()) };
        let at = |key| move |cause| (Place::Table("buckets", key), cause);
        if self.input.kind == InputKind::Dense {
            let why = "a dense network's caller has no way to name an output bucket";
            return Err(at("count")(Cause::Meaningless { why }));
        }
        size_range(buckets.count, 1, MAX_BUCKETS).map_err(at("count"))?;
        let given = [
            ("by_piece_count", buckets.by_piece_count.is_some()),
            ("counted", buckets.counted.is_some()),
            ("by_side_counts", buckets.by_side_counts.is_some()),
        ];
        if let Some((key, _)) = given.into_iter().find(|(_, is_given)| *is_given && self.input.kind != InputKind::Chess)
        {
            let why = "only a chess network counts pieces; other callers name the bucket themselves";
            return Err(at(key)(Cause::Meaningless { why }));
        }
        if let Some(letters) = &buckets.counted {
            let is_kind = |(index, letter): (usize, char)| {
                PIECE_LETTERS.contains(letter) && !letters.chars().take(index).any(|before| before == letter)
            };
            if letters.is_empty() || !letters.chars().enumerate().all(is_kind) {
                let why = "it names the kinds that are counted by letters of PNBRQK, each once";
                return Err(at("counted")(Cause::Meaningless { why }));
            }
            if buckets.by_piece_count.is_none() && buckets.by_side_counts.is_none() {
                let why = "the bucket of each count is not said: add by_piece_count or by_side_counts";
                return Err(at("counted")(Cause::Meaningless { why }));
            }
        }
        if buckets.by_piece_count.is_some() && buckets.by_side_counts.is_some() {
            let why = "by_piece_count is there already, and a bucket follows from one of the two";
            return Err(at("by_side_counts")(Cause::Meaningless { why }));
        }
        let counts = "33, one for each number of pieces from 0 to 32";
        let pairs = "289, one for each pair of 0 to 16 pieces of the side to move and 0 to 16 of the other";
        for (key, table, len, expected) in [
            ("by_piece_count", &buckets.by_piece_count, BUCKET_TABLE_LEN, counts),
            ("by_side_counts", &buckets.by_side_counts, SIDE_COUNTS * SIDE_COUNTS, pairs),
        ] {
            let Some(table) = table else { continue };
            if table.len() != len {
                return Err(at(key)(Cause::TableLength { found: table.len(), expected }));
            }
            if let Some(index) = table.iter().position(|&bucket| usize::from(bucket) >= buckets.count) {
                return Err(at(key)(Cause::NoSuchBucket { index, found: table[index], count: buckets.count }));
            }
        }
        Ok(())
    }
}

fn check_perspectives(found: usize) -> Result<(), Refusal> {
    size_range(found, 1, 2).map_err(at("perspectives"))
}

fn forbid_dense(input: &Input) -> Result<(), Refusal> {
    forbid(input.r#type, "type", "only a dense input has an element type")?;
    forbid(input.max, "max", "only a dense input is scaled")
}

fn forbid_chess(input: &Input) -> Result<(), Refusal> {
    forbid(input.king_buckets.as_ref(), "king_buckets", "only a chess network knows kings")?;
    forbid(input.other_first.then_some(()), "other_first", "only a chess network knows whose side is whose")?;
    forbid(input.merged_kings.then_some(()), "merged_kings", "only a chess network has planes for kings")?;
    forbid(input.mirrored.then_some(()), "mirrored", "only a chess network has a board to mirror")
}

/// 64 entries, or 32 of a mirrored board; 64 of a mirrored board only if its wings are alike.
fn check_king_buckets(input: &Input) -> Result<(), Refusal> {
    let Some(table) = &input.king_buckets else { return Ok(()) };
    let at = at("king_buckets");
    match (table.len(), input.mirrored) {
        (64, false) | (32, true) => Ok(()),
        (64, true) => {
            let differs = |&square: &usize| table[square] != table[square ^ 7];
            match (0..64).filter(|square| square & 7 < 4).find(differs) {
                Some(square) => Err(at(Cause::NotMirrored {
                    square: square_name(square),
                    found: table[square],
                    mirror: square_name(square ^ 7),
                    mirror_found: table[square ^ 7],
                })),
                None => Ok(()),
            }
        }
        (found, true) => Err(at(Cause::TableLength { found, expected: "32 (files a to d) or 64" })),
        (32, false) => {
            let expected = "64; 32 (files a to d) are for a network with `mirrored = true`";
            Err(at(Cause::TableLength { found: 32, expected }))
        }
        (found, false) => Err(at(Cause::TableLength { found, expected: "64, one for each square" })),
    }
}

fn square_name(square: usize) -> String {
    let letters = ["a", "b", "c", "d", "e", "f", "g", "h"];
    format!("{}{}", letters[square & 7], square / 8 + 1)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{SMALL, refused, spoiled};
    use crate::arch::Architecture;

    fn with_input(lines: &str) -> String {
        spoiled("kind = \"chess\"\nperspectives = 2", lines)
    }

    #[test]
    fn keys_belong_to_kinds() {
        for (lines, expected) in [
            ("kind = \"chess\"\nsize = 768", "input.size: has no meaning here"),
            ("kind = \"chess\"\nmax = 1.0", "input.max: has no meaning here"),
            ("kind = \"chess\"\nmax_active = 33", "input.max_active: 33 is outside 1 to 32"),
            ("kind = \"chess\"\nperspectives = 3", "input.perspectives: 3 is outside 1 to 2"),
            ("kind = \"features\"", "input.size: is missing"),
            ("kind = \"features\"\nsize = 9", "input.max_active: is missing"),
            ("kind = \"features\"\nsize = 9\nmax_active = 10", "input.max_active: 10 is outside 1 to 9"),
            ("kind = \"features\"\nsize = 9\nmax_active = 3", "input.perspectives: is missing"),
            (
                "kind = \"features\"\nsize = 9\nmax_active = 3\nperspectives = 2\nmirrored = true",
                "input.mirrored: has no",
            ),
            ("kind = \"features\"\nsize = 99999999\nmax_active = 3", "input.size: 99999999 is outside"),
            ("kind = \"dense\"\nsize = 9", "input.type: is missing"),
            ("kind = \"dense\"\nsize = 9\ntype = \"u7\"", "input.max: is missing"),
            ("kind = \"dense\"\nsize = 9\ntype = \"u7\"\nmax = 0", "input.max: 0 is not a finite"),
            ("kind = \"dense\"\nsize = 9\ntype = \"u7\"\nmax = nan", "input.max: NaN is not a finite"),
            ("kind = \"dense\"\nsize = 9\ntype = \"u7\"\nmax = inf", "input.max: inf is not a finite"),
            ("kind = \"dense\"\nsize = 9\ntype = \"u7\"\nmax = 1\nperspectives = 1", "input.perspectives: has no"),
        ] {
            let message = with_input(lines);
            assert!(message.starts_with(expected), "{lines}: {message}");
        }
    }

    #[test]
    fn king_tables_have_64_entries_or_32_when_mirrored() {
        let table = |mirrored: bool, buckets: &[u8]| {
            format!("kind = \"chess\"\nmirrored = {mirrored}\nking_buckets = {buckets:?}")
        };
        for (mirrored, buckets) in [(false, &[0; 64][..]), (true, &[0; 32]), (true, &[0; 64])] {
            let text = SMALL.replace("kind = \"chess\"", &table(mirrored, buckets));
            Architecture::from_toml(&text, "x").unwrap();
        }
        for (mirrored, len) in [(false, 32), (false, 0), (false, 65), (true, 31), (true, 0)] {
            let message = with_input(&table(mirrored, &vec![0; len]));
            assert!(message.starts_with(&format!("input.king_buckets: has {len} entries")), "{message}");
        }
        let mut uneven = [0; 64];
        uneven[13] = 1; // f2
        let message = with_input(&table(true, &uneven));
        assert!(message.contains("square c2 has bucket 0 and its mirror image f2 has 1"), "{message}");
        assert!(with_input("kind = \"chess\"\nking_buckets = [256]").contains("256"));
    }

    #[test]
    fn bucket_tables_name_existing_buckets() {
        let with = |lines: &str| refused(&format!("{SMALL}[buckets]\n{lines}"));
        assert!(with("count = 0").starts_with("buckets.count: 0 is outside 1 to 256"));
        assert!(with("count = 257").starts_with("buckets.count: 257 is outside"));
        assert!(with("count = 2\nby_piece_count = [0]").starts_with("buckets.by_piece_count: has 1 entries"));
        let mut table = [0; 33];
        table[32] = 2;
        let message = with(&format!("count = 2\nby_piece_count = {table:?}"));
        assert_eq!(message, "buckets.by_piece_count: entry 32 is bucket 2, but there are 2 (0 to 1)");
        let table = format!("by_piece_count = {:?}", [0; 33]);
        for (lines, word) in [
            ("counted = \"P\"", "buckets.counted: has no meaning here: the bucket of each count is not said"),
            ("counted = \"\"", "letters of PNBRQK"),
            ("counted = \"p\"", "letters of PNBRQK"),
            ("counted = \"PP\"", "letters of PNBRQK"),
            ("by_side_counts = [0]", "buckets.by_side_counts: has 1 entries"),
            (&format!("{table}\nby_side_counts = {:?}", vec![0; 289]), "buckets.by_side_counts: has no meaning here"),
        ] {
            let message = with(&format!("count = 2\n{lines}"));
            assert!(message.contains(word), "{message}");
        }
    }
}
