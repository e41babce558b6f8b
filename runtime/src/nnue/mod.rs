//! The NNUE input stage for programs that number their features themselves: the accumulators' storage. After it comes
//! an ordinary list of operations.
//!
//! The runtime knows no rules of any game. An engine of chess has [`crate::engine`], which finds the features too.

mod accumulator;
mod cache;
mod lists;
mod stack;

pub use accumulator::AccumulatorPair;
pub use cache::RefreshCache;
pub use stack::{Change, Stack};
