//! What a container claims to be proved, against what its weights prove, a line a disagreement.

use serde::Serialize;
use tamis_quant::verify::ClaimCheck;
use tamis_runtime::raw::claim;

/// A claim that is stored and not true, a fault, or true and not stored, which only costs speed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Disagreement {
    /// The tensor.
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
            write!(
                f,
                "{place}: the weights prove `{claim}`, which the file does not claim; packed again, it may run faster"
            )
        }
    }
}

/// Every claim on which the file and its weights disagree.
pub fn disagreements(checks: &[ClaimCheck]) -> Vec<Disagreement> {
    let mut found = Vec::new();
    for ClaimCheck { tensor, stored, derived, .. } in checks {
        for (bit, claim) in claim::WORDS {
            let (stored, derived) = (stored & bit != 0, derived & bit != 0);
            if stored != derived {
                found.push(Disagreement { place: format!("tensor `{tensor}`"), claim, stored, derived });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{ClaimCheck, claim, disagreements};

    #[test]
    fn every_claim_has_a_word() {
        assert_eq!(claim::WORDS.iter().fold(0, |bits, (bit, _)| bits | bit), claim::ALL);
    }

    #[test]
    fn both_directions_are_told_apart() {
        let (stored, derived) = (claim::SUM_FITS, claim::PRODUCT_FITS_I16);
        let found = disagreements(&[ClaimCheck { tensor: "x".to_owned(), stored, derived, holds: false }]);
        let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert!(texts[0].starts_with("tensor `x`: the file claims `sum-fits`"), "{texts:?}");
        assert!(texts[1].starts_with("tensor `x`: the weights prove `product-fits-i16`"), "{texts:?}");
    }
}
