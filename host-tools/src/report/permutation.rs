//! What another order of the neurons is good for.

use serde::Serialize;
use std::io::{self, Write};
use tamis_quant::permute::Choice;
use tamis_quant::quantised::Permutation;

/// An order that has just been chosen.
#[derive(Debug, Clone, Serialize)]
pub struct PermutationReport {
    #[serde(flatten)]
    order: OrderReport,
    /// Positions that chose the order.
    chosen_on: usize,
    /// Other positions, on which the shares were measured.
    measured_on: usize,
    /// Share of groups of four first-layer inputs that are not all zero, in the trainer's order.
    nonzero_blocks_before: f64,
    /// The same in the order that was chosen.
    nonzero_blocks_after: f64,
}

/// An order, as a file has it.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct OrderReport {
    /// Pairs of neurons.
    pairs: usize,
    /// Those of them that do not stand where the trainer has them.
    moved: usize,
}

impl PermutationReport {
    /// Of a choice.
    pub fn of(choice: &Choice) -> Self {
        Self {
            order: OrderReport::of(&choice.permutation),
            chosen_on: choice.chosen_on,
            measured_on: choice.measured_on,
            nonzero_blocks_before: choice.live_before,
            nonzero_blocks_after: choice.live_after,
        }
    }

    /// A line.
    ///
    /// # Errors
    /// The writer's.
    pub fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "  neurons permuted: non-zero four-blocks {:.1} % -> {:.1} % on {} positions, chosen on {} others",
            100.0 * self.nonzero_blocks_before,
            100.0 * self.nonzero_blocks_after,
            self.measured_on,
            self.chosen_on
        )
    }
}

impl OrderReport {
    /// Of a permutation.
    pub fn of(permutation: &Permutation) -> Self {
        Self { pairs: permutation.order().len(), moved: permutation.moved() }
    }

    /// A line.
    ///
    /// # Errors
    /// The writer's.
    pub fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self { pairs, moved } = self;
        writeln!(out, "  neurons    permuted: {moved} of {pairs} pairs do not stand where the trainer has them")
    }
}
