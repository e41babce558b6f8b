//! The NNUE input stage: feature indices and the accumulators' storage. After it comes an ordinary list of operations.
//!
//! The runtime knows no rules of any game. [`chess`] needs only pieces, squares and kings.

mod accumulator;
mod cache;
pub mod chess;
mod stack;

pub use accumulator::AccumulatorPair;
pub use cache::RefreshCache;
pub use stack::{Change, Stack};
