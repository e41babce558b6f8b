//! Scales and rows of networks of accumulators, for `quantise`.

use super::Form;
use clap::{Args, ValueEnum};

/// Where scales come from.
#[derive(Debug, Clone, Args)]
pub struct Scaling {
    /// Scales: as described, or finer
    ///
    /// `proof`, the default into a container, is for networks of accumulators: the scales with the least expected error
    /// that the overflow proof allows, with products that are rounded where the network's form has them. `trainer`, the
    /// default of the bare form, keeps the description's.
    #[arg(long, value_enum)]
    pub scales: Option<Scales>,
    /// First layer's rows in memory
    ///
    /// Without it they are bytes where the scales that were chosen make every weight one, which changes no value; with
    /// `--scales trainer` they are what the description says.
    #[arg(long, hide_short_help = true, value_enum)]
    pub rows: Option<Rows>,
    /// Expected error that `--rows i8` may have, mean and deviation together, in units of the output; if it is not
    /// given, that of the description's scales
    #[arg(long, hide_short_help = true, value_name = "ERROR", requires = "rows")]
    pub rows_limit: Option<f64>,
}

/// Where scales come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Scales {
    /// As the description says
    Trainer,
    /// Chosen, with the form of the head; a container only
    Proof,
}

/// What the rows of accumulators are stored as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Rows {
    /// As the description says
    Described,
    /// As bytes, half the memory, at scales that make every weight one
    I8,
}

impl Scaling {
    /// Where the scales of a network of accumulators come from: a container holds whatever was chosen, while the bare
    /// form's reader has the trainer's scales in its source.
    #[must_use]
    pub fn of(&self, form: Form) -> Scales {
        match (self.scales, form) {
            (Some(typed), _) => typed,
            (None, Form::Container) => Scales::Proof,
            (None, Form::Bare) => Scales::Trainer,
        }
    }
}
