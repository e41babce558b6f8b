//! What the overflow proof says, the worst row of every sum of every output bucket.

use crate::table::{self, row};
use serde::Serialize;
use std::io::{self, Write};
use tamis_quant::proof::{Check, Proof};
use tamis_quant::verify::ProofSummary;

/// A proof, or why there is none.
#[derive(Debug, Clone, Serialize)]
pub struct ProofReport {
    /// Whether nothing can leave its type, but for what `wraps` says.
    pub holds: bool,
    /// The bounds.
    pub bounds: Vec<BoundReport>,
    /// What leaves its type: tensor, row, bound and witness, a sentence each.
    pub violations: Vec<String>,
    /// Accumulators that can leave i16 where the network's own arithmetic wraps there too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub wraps: Vec<String>,
}

/// The bound of the worst row among those of one tensor, quantity and output bucket.
#[derive(Debug, Clone, Serialize)]
pub struct BoundReport {
    /// Weight tensor.
    pub tensor: String,
    /// `accumulator`, `sum` or `result`.
    pub quantity: String,
    /// The type that holds it.
    pub element: &'static str,
    /// Output bucket, where the layer has them.
    pub bucket: Option<usize>,
    /// The row.
    pub row: usize,
    /// The least value that it can reach.
    pub low: i64,
    /// The greatest.
    pub high: i64,
    /// The part of the type that the bound uses; above 1 it does not fit.
    pub uses: f64,
}

impl ProofReport {
    /// Of a proof.
    pub fn of(proof: &Proof) -> Self {
        Self {
            holds: proof.holds(),
            bounds: worst(proof.checks.iter().map(BoundReport::of_check)),
            violations: proof.violations.iter().map(ToString::to_string).collect(),
            wraps: proof.wraps.iter().map(ToString::to_string).collect(),
        }
    }

    /// Of a verification's summary.
    pub fn of_summary(summary: &ProofSummary) -> Self {
        let bounds = summary.bounds.iter().map(|bound| BoundReport {
            tensor: bound.tensor.clone(),
            quantity: bound.quantity.clone(),
            element: bound.r#type,
            bucket: bound.bucket,
            row: bound.row,
            low: bound.low,
            high: bound.high,
            uses: bound.fraction,
        });
        let (violations, wraps) = (summary.violations.clone(), summary.wraps.clone());
        Self { holds: summary.holds, bounds: worst(bounds), violations, wraps }
    }

    /// Prints the bounds as a table, and what follows from them.
    ///
    /// # Errors
    /// The writer's.
    pub fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut rows = vec![row!["bound of", "quantity", "bucket", "row", "low", "high", "type", "uses"]];
        for bound in &self.bounds {
            let bucket = bound.bucket.map_or("-".to_owned(), |bucket| bucket.to_string());
            let uses = format!("{:.3}", bound.uses);
            rows.push(row![
                bound.tensor,
                bound.quantity,
                bucket,
                bound.row,
                bound.low,
                bound.high,
                bound.element,
                uses
            ]);
        }
        table::print(out, &rows)?;
        for wraps in &self.wraps {
            writeln!(out, "  not excluded, and wraps as in the network's engine: {wraps}")?;
        }
        if self.holds && !self.wraps.is_empty() {
            return writeln!(out, "  proved: no other accumulator, no sum and no result can leave its type");
        }
        if self.holds {
            return writeln!(out, "  proved: no accumulator, sum or result can leave its type");
        }
        self.violations.iter().try_for_each(|violation| writeln!(out, "  NOT proved: {violation}"))
    }
}

/// Of the bounds of one tensor, quantity and output bucket the one that uses most of its type.
fn worst(bounds: impl Iterator<Item = BoundReport>) -> Vec<BoundReport> {
    let mut worst: Vec<BoundReport> = Vec::new();
    for bound in bounds {
        match worst.iter_mut().find(|known| known.place() == bound.place()) {
            Some(known) if bound.uses > known.uses => *known = bound,
            Some(_) => {}
            None => worst.push(bound),
        }
    }
    worst
}

impl BoundReport {
    fn of_check(check: &Check) -> Self {
        Self {
            tensor: check.tensor.clone(),
            quantity: check.quantity.to_string(),
            element: check.quantity.type_word(),
            bucket: check.bucket,
            row: check.row,
            low: check.low,
            high: check.high,
            uses: check.fraction(),
        }
    }

    fn place(&self) -> (&str, &str, Option<usize>) {
        (&self.tensor, &self.quantity, self.bucket)
    }
}
