//! A proof that no accumulator leaves its type, or a witness that one does.
//!
//! Everything follows from the integers alone:
//! - a feature accumulator starts at its bias and adds at most `max_active` distinct rows: its extremes are the bias plus the
//!   largest positive, or the most negative, weights of that hidden unit;
//! - a sum over activations lies between the sum of its negative and the sum of its positive contributions, each activation
//!   at the extreme of its range; so does every partial sum, whatever the order;
//! - the result of the integer head follows from the sum by division, addition and multiplication in 64 bits.

mod accumulator;
mod board;
mod extremes;
pub mod graph;
mod nnue;
mod report;
mod sum;
mod witness;

pub use nnue::prove_nnue;
pub use report::{Check, Proof, Quantity, Violation, Witness};

use crate::arch::InputKind;
use crate::quantise::QuantNet;

/// Derives every bound of a network, and a witness for the worst row of every tensor that exceeds its type.
///
/// ```
/// use tamis_quant::arch::Architecture;
/// use tamis_quant::import::read_bare;
/// use tamis_quant::proof::{Quantity, prove};
/// use tamis_quant::quantise::{QuantNet, Values};
///
/// let arch = Architecture::from_toml(include_str!("../../../tests/vectors/tiny.toml"), "tiny.toml")?;
/// let mut net = QuantNet::from_bare(read_bare(include_bytes!("../../../tests/vectors/tiny.bare.bin"), &arch)?)?;
/// let proof = prove(&net);
/// assert!(proof.holds());
/// // Hidden unit 1: −3, and of −20, 30, 200, 120 those that are positive.
/// assert_eq!((proof.checks[0].row, proof.checks[0].low, proof.checks[0].high), (1, -23, 347));
///
/// net.tensor_mut("l0w").unwrap().values = Values::Int(vec![30_000; 8]);
/// let violation = &prove(&net).violations[0];
/// assert_eq!((violation.check.quantity, violation.check.high), (Quantity::Accumulator, 120_005));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn prove(net: &QuantNet) -> Proof {
    let mut proof = Proof::default();
    let sparse = net.arch.input.kind != InputKind::Dense;
    let ranges = sparse.then(|| accumulator::check(net, &mut proof));
    sum::check(net, ranges.as_deref(), &mut proof);
    proof
}

pub use accumulator::ranges as accumulator_ranges;
pub use witness::{accumulate, contribution};
