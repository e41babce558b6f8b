//! A proof that no accumulator leaves its type, or a witness that one does.
//!
//! Everything follows from the integers alone:
//! - a feature accumulator starts at its bias and adds at most `max_active` distinct rows: its extremes are the bias plus the
//!   largest positive, or the most negative, weights of that hidden unit;
//! - a sum over activations lies between the sum of its negative and the sum of its positive contributions, each activation
//!   at the extreme of its range; so does every partial sum, whatever the order;
//! - the result of the integer head follows from the sum by division, addition and multiplication in 64 bits.

mod accumulator;
mod report;
mod sum;
mod witness;

pub use report::{Check, Proof, Quantity, Violation, Witness};

use crate::arch::InputKind;
use crate::quantise::QuantNet;

/// Derives every bound of a network, and a witness for the worst row of every tensor that exceeds its type.
///
/// ```
/// # fn show(net: &tamis_quant::quantise::QuantNet) {
/// let proof = tamis_quant::proof::prove(net);
/// for check in &proof.checks {
///     println!("{} uses {:.3} of its type", check.tensor, check.fraction());
/// }
/// assert_eq!(proof.holds(), proof.violations.is_empty());
/// # }
/// ```
pub fn prove(net: &QuantNet) -> Proof {
    let mut proof = Proof::default();
    let sparse = net.arch.input.kind != InputKind::Dense;
    let ranges = sparse.then(|| accumulator::check(net, &mut proof));
    sum::check(net, ranges.as_deref(), &mut proof);
    proof
}

/// The bias and the extreme sums of every hidden unit: `(low, high)`, in the order of the hidden units.
pub use accumulator::ranges as accumulator_ranges;
/// Evaluates a sum's witness in 64 bits.
pub use witness::{accumulate, contribution};
