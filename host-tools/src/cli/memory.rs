//! How much memory a network may need.

use clap::Args;

/// Of `quantise` and `pack`.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct Memory {
    /// The most bytes of workspace that the network may need
    ///
    /// Where values that lie whole need more, operations on maps write over what they read, row by row, or hand on a
    /// few rows at a time. Every bit stays what it is, and nothing is computed twice.
    #[arg(hide_short_help = true, long, value_name = "BYTES")]
    pub ram: Option<usize>,
}
