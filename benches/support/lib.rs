//! What the benchmarks measure and how: cases, networks, the clock, the series.
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

mod accumulators;
mod c_engine;
mod case;
mod clock;
mod dense;
mod evaluations;
mod layers;
mod limits;
mod maps;
mod nets;
mod play;
mod random;
mod series;
mod threats;
mod trainer;

pub use accumulators::accumulators;
pub use case::{Case, Cases, PORTABLE, measure};
pub use clock::{ThreadTime, pin, processor_time};
pub use dense::{dense, tails};
pub use evaluations::evaluations;
pub use layers::{batches, layers, perceptrons};
pub use limits::limits;
pub use maps::maps;
pub use nets::{four_mebibytes, king_buckets, king_buckets_container, reference};
pub use random::Random;
pub use series::{Figure, series};
pub use threats::{Position, lines, threat_evaluations};
pub use trainer::trainer;

/// Plies of a game whose accumulators are kept.
pub const PLIES: usize = 32;
/// Features that come and go, taken four at a time, over and over.
pub(crate) const FEATURES: usize = 8192;
/// Features of a network without king buckets.
pub(crate) const CHESS: usize = 768;

/// [`FEATURES`] seeded feature numbers.
pub(crate) fn features() -> Vec<u32> {
    Random::new(7).vector(FEATURES, 0, CHESS as i32 - 1, |value| value as u32)
}

/// `$run::<WIDTH>` with the arguments, for every width.
macro_rules! widths {
    ($run:ident $arguments:tt, $($width:literal)*) => {
        $($run::<$width> $arguments;)*
    };
}
pub(crate) use widths;
