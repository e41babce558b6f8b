//! What a container claims to be proved, against what its integers prove.
//!
//! A claim lets the runtime take a shorter form, so a false one gives wrong numbers. Packing the same network again,
//! from a proof derived now, writes the claims that are true; the two files' bits are compared tensor by tensor.

use crate::pack::{PackError, Provenance, pack};
use crate::program::Program;
use crate::proof::Proof;
use crate::run::AlignedBytes;
use serde::Serialize;
use std::collections::BTreeMap;
use tamis_runtime::format::Model;
use tamis_runtime::raw::claim;

/// The claims of one tensor; those of a feature block stand with its weights.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ClaimCheck {
    /// Tensor.
    pub tensor: String,
    /// The bits in the file, see [`claim`].
    pub stored: u32,
    /// The bits that follow from the integers.
    pub derived: u32,
    /// Whether the file claims nothing that does not follow.
    pub holds: bool,
}

/// The words for the claims, a bit each.
pub const CLAIM_WORDS: [(u32, &str); 4] = [
    (claim::ACCUMULATOR_FITS, "accumulators fit i16"),
    (claim::SUM_FITS, "sums fit i32"),
    (claim::PRODUCT_FITS_I16, "products fit i16"),
    (claim::QUADS_FIT_I16, "four products fit i16"),
];

/// Every tensor that either claims something or could. `program` and `proof` are those of the model.
///
/// # Errors
/// As [`pack`] and [`Model::metadata`]: what cannot be packed again has no claims that follow.
pub fn claims(model: &Model<'_>, program: &Program, proof: &Proof) -> Result<Vec<ClaimCheck>, PackError> {
    against(model, &pack(program, proof, &Provenance::default())?)
}

/// What a container claims against what the same network claims when it is packed again.
fn against(model: &Model<'_>, again: &[u8]) -> Result<Vec<ClaimCheck>, PackError> {
    let again = AlignedBytes::copy_of(again);
    let derived = bits(&Model::parse(again.as_ref())?)?;
    let mut both: BTreeMap<String, (u32, u32)> =
        bits(model)?.into_iter().map(|(tensor, stored)| (tensor, (stored, 0))).collect();
    for (tensor, derived) in derived {
        both.entry(tensor).or_default().1 = derived;
    }
    let check = |(tensor, (stored, derived))| ClaimCheck { tensor, stored, derived, holds: stored & !derived == 0 };
    Ok(both.into_iter().map(check).filter(|check| check.stored | check.derived != 0).collect())
}

/// The claims of every tensor by its name; a tensor without one has its number.
fn bits(model: &Model<'_>) -> Result<BTreeMap<String, u32>, PackError> {
    let names: Vec<&str> = model.metadata()?.tensor_names.lines().collect();
    let name = |index: usize| names.get(index).map_or_else(|| format!("tensor {index}"), |name| (*name).to_owned());
    let mut bits = BTreeMap::new();
    for (index, record) in model.tensors().iter().enumerate() {
        *bits.entry(name(index)).or_default() |= record.claims;
    }
    for block in model.blocks() {
        *bits.entry(name(block.weights as usize)).or_default() |= block.claims;
    }
    Ok(bits)
}

/// The words for a set of claims.
pub fn claim_words(bits: u32) -> String {
    let words: Vec<&str> = CLAIM_WORDS.iter().filter(|(bit, _)| bits & bit != 0).map(|(_, word)| *word).collect();
    if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::{CLAIM_WORDS, claim};

    #[test]
    fn every_claim_has_a_word() {
        assert_eq!(CLAIM_WORDS.iter().fold(0, |bits, (bit, _)| bits | bit), claim::ALL);
    }
}
