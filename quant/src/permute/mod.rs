//! Choosing an order of the neurons in which more activations are zero side by side.
//!
//! A sparse first layer visits its inputs four bytes at a time and passes over four zeros. Which neurons share a group
//! of four is free ([`crate::quantised::Permutation`]), so those that are live on the same positions are put together:
//!
//! ```text
//! for each pair of neurons: the set of (position, perspective) on which its product is not zero
//! greedily:  the rarest pair that is left, then three times the pair that adds least to the union
//! then:      exchange two pairs wherever that lowers the number of live groups, over and over, within a budget
//! ```
//!
//! Every second position chooses, the others measure, so that the share is not flattered by the positions that made it.
//! All of it is integer counting in a fixed order: the same network and positions give the same order on every host.

mod activity;
mod choose;
mod error;

pub use error::PermuteError;

use self::activity::Activity;
use self::choose::choose;
use crate::float::{Example, example};
use crate::integer::IntegerModel;
use crate::positions::Position;
use crate::program::GraphInput;
use crate::quantised::{Permutation, QuantNet, reorderable_pairs};

/// The value that the first operation makes: products of the accumulators' halves.
const PRODUCTS: usize = 1;

/// An order of the neurons, and what it is good for.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The order.
    pub permutation: Permutation,
    /// Positions that chose it: the first, third, fifth … that were given.
    pub chosen_on: usize,
    /// Positions on which the shares were measured: the others.
    pub measured_on: usize,
    /// Share of groups of four activations that are not all zero, in the trainer's order.
    pub live_before: f64,
    /// The same in the new order.
    pub live_after: f64,
}

/// Refuses a network for which the order of the neurons makes no difference, or would change its outputs.
///
/// # Errors
/// [`PermuteError::NoUse`].
pub fn check(net: &QuantNet) -> Result<(), PermuteError> {
    pairs(net).map(|_| ())
}

/// Chooses an order on some positions; the network is left as it is. To use it, put it into [`QuantNet::permutation`].
///
/// # Errors
/// [`PermuteError`] if the order makes no difference to the network, or if there are fewer than two positions.
pub fn permute(net: &QuantNet, positions: &[Position]) -> Result<Choice, PermuteError> {
    let pairs = pairs(net)?;
    if positions.len() < 2 {
        return Err(PermuteError::TooFewPositions { found: positions.len() });
    }
    let (choosing, measuring): (Vec<_>, Vec<_>) = positions.iter().enumerate().partition(|(index, _)| index % 2 == 0);
    // Pairs are numbered as the trainer has them.
    let program = QuantNet { permutation: None, ..net.clone() }.lower()?;
    let model = IntegerModel::new(&program);
    let watch = |part: &[(usize, &Position)]| -> Result<Activity, PermuteError> {
        let mut activity = Activity::new(pairs, net.arch.perspectives(), part.len());
        for (sample, (index, position)) in part.iter().enumerate() {
            match example(&net.arch, position) {
                Ok(Example::Features { lists, bucket }) => {
                    let input = GraphInput::Features { lists, bucket };
                    activity.record(sample, model.trace_first(&input, 1)[PRODUCTS].integers());
                }
                Ok(Example::Dense(_)) => {}
                Err(error) => return Err(PermuteError::Position { index: *index, error }),
            }
        }
        Ok(activity)
    };
    let order = choose(&watch(&choosing)?);
    let measured = watch(&measuring)?;
    let trained: Vec<u32> = (0..pairs as u32).collect();
    let permutation = order.iter().map(|pair| *pair as i32).collect::<Vec<_>>();
    Ok(Choice {
        permutation: Permutation::new(&permutation)?,
        chosen_on: choosing.len(),
        measured_on: measuring.len(),
        live_before: measured.share(&trained),
        live_after: measured.share(&order),
    })
}

fn pairs(net: &QuantNet) -> Result<usize, PermuteError> {
    reorderable_pairs(&net.arch).ok_or_else(|| PermuteError::no_use(net))
}
