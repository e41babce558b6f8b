//! What a container claims to be proved, against what its weights prove.
//!
//! A claim lets the runtime take a shorter form, so a false one gives wrong numbers. Packing the same network again, from
//! the proof derived now, writes the claims that are true; the two files' bits are compared record by record.

use serde::Serialize;
use tamis_runtime::format::{Model, People, claim};

/// The claims and their words.
const CLAIMS: [(u32, &str); 3] = [
    (claim::ACCUMULATOR_FITS, "accumulator-fits"),
    (claim::SUM_FITS, "sum-fits"),
    (claim::PRODUCT_FITS_I16, "product-fits-i16"),
];

/// A claim that is stored and not true, or true and not stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Disagreement {
    /// A tensor's name, or a feature block's number.
    pub place: String,
    /// The claim.
    pub claim: &'static str,
    /// Whether the file makes it.
    pub stored: bool,
    /// Whether the weights prove it.
    pub derived: bool,
}

impl std::fmt::Display for Disagreement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { place, claim, stored, .. } = self;
        if *stored {
            write!(f, "{place}: the file claims `{claim}`, which its weights do not prove; do not trust its numbers")
        } else {
            write!(f, "{place}: the weights prove `{claim}`, which the file does not claim; pack it again")
        }
    }
}

/// Every claim on which two containers of the same network disagree.
pub fn disagreements(stored: &Model<'_>, derived: &Model<'_>, people: &People<'_>) -> Vec<Disagreement> {
    let mut found = Vec::new();
    for (index, (left, right)) in stored.blocks().iter().zip(derived.blocks()).enumerate() {
        compare(&mut found, || format!("feature block {index}"), left.claims, right.claims);
    }
    let names = people.tensor_names.lines().chain(std::iter::repeat("?"));
    for ((left, right), name) in stored.tensors().iter().zip(derived.tensors()).zip(names) {
        compare(&mut found, || format!("tensor `{name}`"), left.claims, right.claims);
    }
    found
}

fn compare(found: &mut Vec<Disagreement>, place: impl Fn() -> String, stored: u32, derived: u32) {
    for (bit, claim) in CLAIMS {
        let (stored, derived) = (stored & bit != 0, derived & bit != 0);
        if stored != derived {
            found.push(Disagreement { place: place(), claim, stored, derived });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CLAIMS, claim, compare};

    #[test]
    fn every_claim_has_a_word() {
        assert_eq!(CLAIMS.iter().fold(0, |bits, (bit, _)| bits | bit), claim::ALL);
    }

    #[test]
    fn both_directions_are_told_apart() {
        let mut found = Vec::new();
        compare(&mut found, || "x".to_owned(), claim::SUM_FITS, claim::PRODUCT_FITS_I16);
        let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert!(texts[0].starts_with("x: the file claims `sum-fits`"), "{texts:?}");
        assert!(texts[1].starts_with("x: the weights prove `product-fits-i16`"), "{texts:?}");
    }
}
