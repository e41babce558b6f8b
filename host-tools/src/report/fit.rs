//! What fitting to positions was good for.

use serde::Serialize;
use std::io::{self, Write};
use tamis_quant::quantise::fit::Fit;
use tamis_quant::verify::stats::{ErrorStats, compare};

/// Integers that were moved by what they do to the outputs.
#[derive(Debug, Clone, Serialize)]
pub struct FitReport {
    /// Positions that were fitted to.
    fitted: usize,
    /// Other positions, on which the errors were measured.
    held_out: usize,
    /// Visits of every neuron.
    sweeps: usize,
    /// Integers that are not what rounding made of them.
    moved: usize,
    /// Of all.
    weights: usize,
    /// Whether `--fit-seconds` ended it.
    is_cut_short: bool,
    /// Against the float network, before.
    before: ErrorStats,
    /// The same after.
    after: ErrorStats,
    /// Pairs of held-out positions, each with the next, whose order is another than the float network's: before and
    /// after.
    reordered: [usize; 2],
}

impl FitReport {
    /// Of what came of it.
    pub fn of(fit: &Fit) -> Self {
        let Fit { fitted, sweeps, moved, weights, is_cut_short, targets, before, after } = fit;
        let order = |values: &[f64]| -> Vec<bool> { values.windows(2).map(|pair| pair[0] < pair[1]).collect() };
        let truth = order(targets);
        let differing = |values: &[f64]| order(values).iter().zip(&truth).filter(|(a, b)| a != b).count();
        Self {
            fitted: *fitted,
            held_out: targets.len(),
            sweeps: *sweeps,
            moved: *moved,
            weights: *weights,
            is_cut_short: *is_cut_short,
            before: compare(before, targets),
            after: compare(after, targets),
            reordered: [before, after].map(|values| differing(values)),
        }
    }

    /// Two lines.
    ///
    /// # Errors
    /// The writer's.
    pub fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self { fitted, held_out, sweeps, moved, weights, before, after, .. } = self;
        let error = |of: &ErrorStats| format!("{:+.2} ± {:.2}, at most {:.1}", of.mean, of.sd, of.max);
        let early = if self.is_cut_short { ", ended by --fit-seconds" } else { "" };
        writeln!(
            out,
            "  fitted     {moved} of {weights} integers moved, {sweeps} sweeps over {fitted} positions{early}"
        )?;
        writeln!(out, "             on {held_out} others: error {} (before {})", error(after), error(before))
    }
}
