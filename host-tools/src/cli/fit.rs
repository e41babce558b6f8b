//! Weights moved by what they do to the outputs, for `quantise`.

use clap::Args;
use std::path::PathBuf;

/// Positions to fit to.
#[derive(Debug, Clone, Args)]
pub struct Fit {
    /// Fit the integers to these positions
    ///
    /// They are moved towards the float network's outputs there. BulletFormat or lines of FEN; scores in it are not
    /// read. Every second position is fitted to, the others measure what came of it. For networks of accumulators with
    /// one layer of i16 behind them, or with pairs, a layer of i8 and reals, which are moved too; the scales and the
    /// form of the file stay.
    #[arg(id = "fit", long = "fit", value_name = "POSITIONS")]
    pub positions: Option<PathBuf>,
    /// Take the first N positions
    #[arg(
        id = "fit-limit",
        long = "fit-limit",
        hide_short_help = true,
        value_name = "N",
        requires = "fit",
        default_value_t = 200_000,
        value_parser = clap::value_parser!(u32).range(1000..=4_000_000)
    )]
    pub limit: u32,
    /// Visit every neuron N times at most
    #[arg(
        id = "fit-sweeps",
        long = "fit-sweeps",
        hide_short_help = true,
        value_name = "N",
        requires = "fit",
        default_value_t = 8,
        value_parser = clap::value_parser!(u32).range(1..=100)
    )]
    pub sweeps: u32,
    /// End after N seconds, wherever fitting is; what comes out then depends on the machine
    #[arg(
        id = "fit-seconds",
        long = "fit-seconds",
        hide_short_help = true,
        value_name = "N",
        requires = "fit",
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub seconds: Option<u32>,
}
