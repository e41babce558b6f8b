//! What commands take about files of examples.

use clap::Args;

/// Which array of a file holds the examples, how they lie, and what their bytes stand for.
#[derive(Debug, Clone, Args)]
pub struct Arrays {
    /// The array of the examples, in a file of several
    ///
    /// `inputs`, or the only one that can be, unless it is given.
    #[arg(long, value_name = "NAME")]
    pub array: Option<String>,
    /// Real value of a step of an array of bytes (u8, i8): a byte b is the number (b - Z) * U
    ///
    /// Without it bytes are the numbers that they are, and for a container whose input has their type the integers of
    /// that input. `quantise` gives the container's input the same unit and zero.
    #[arg(hide_short_help = true, long, value_name = "U")]
    pub input_unit: Option<f64>,
    /// The byte that stands for 0
    #[arg(
        hide_short_help = true,
        long,
        value_name = "Z",
        requires = "input_unit",
        default_value_t = 0,
        allow_negative_numbers = true,
        value_parser = clap::value_parser!(i32).range(-128..=255)
    )]
    pub input_zero: i32,
    /// The examples are (channels, height, width), as PyTorch has them, and are put in order: (height, width, channels)
    #[arg(hide_short_help = true, long)]
    pub channels_first: bool,
}
