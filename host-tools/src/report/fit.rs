//! What fitting to positions was good for.

use crate::table::{self, row};
use serde::Serialize;
use std::io::{self, Write};
use tamis_quant::quantise::fit::Fit;
use tamis_quant::quantise::scales::Bound;
use tamis_quant::quantised::{QuantNet, head};
use tamis_quant::verify::simulate::Part;
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
    /// Of the held-out positions, evenly taken, those whose error was taken apart.
    split: usize,
    /// What the roundings of each part of the network do alone, on those.
    causes: Vec<CauseOfError>,
    /// Of products: `rounded`, `cut` or `exact`.
    products: &'static str,
    /// Of the first layer's weights and of those behind it.
    scales: Vec<i32>,
    /// How much of their types weights, accumulators and sums can use; 1 is all.
    bounds: Vec<Bound>,
}

/// A part of the network, before and after.
#[derive(Debug, Clone, Serialize)]
struct CauseOfError {
    cause: Part,
    before: ErrorStats,
    after: ErrorStats,
}

/// How many positions were taken apart, and the parts before and after.
type Split = (usize, Vec<(Part, ErrorStats)>, Vec<(Part, ErrorStats)>);

impl FitReport {
    /// Of what came of it, and the network that did.
    pub fn of(fit: &Fit, net: &QuantNet, (split, parts_before, parts_after): Split) -> Self {
        let Fit { fitted, sweeps, moved, weights, is_cut_short, targets, before, after, bounds } = fit;
        let order = |values: &[f64]| -> Vec<bool> { values.windows(2).map(|pair| pair[0] < pair[1]).collect() };
        let truth = order(targets);
        let differing = |values: &[f64]| order(values).iter().zip(&truth).filter(|(a, b)| a != b).count();
        let causes = parts_before.into_iter().zip(parts_after).map(|((cause, before), (other, after))| {
            assert!(cause == other, "fitting changes no form");
            CauseOfError { cause, before, after }
        });
        let first = &net.arch.layers[0];
        let products = match head(&net.arch) {
            Some(head) if head.is_rounded => "rounded",
            None if first.product_rounded => "rounded",
            None if first.product_shift.is_some() => "cut",
            _ => "exact",
        };
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
            split,
            causes: causes.collect(),
            products,
            scales: net.layers.iter().filter_map(|layer| layer.weights.scale).collect(),
            bounds: bounds.clone(),
        }
    }

    /// Some lines and a table.
    ///
    /// # Errors
    /// The writer's.
    pub fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self { fitted, held_out, sweeps, moved, weights, before, after, reordered, split, .. } = self;
        let early = if self.is_cut_short { ", ended by --fit-seconds" } else { "" };
        writeln!(
            out,
            "  fitted     {moved} of {weights} integers moved, {sweeps} sweeps over {fitted} positions{early}"
        )?;
        let scales = self.scales.iter().map(i32::to_string).collect::<Vec<_>>().join(" and ");
        write!(out, "             scales {scales}, {} products", self.products)?;
        if let Some(bound) = self.bounds.iter().max_by(|a, b| a.fraction.total_cmp(&b.fraction)) {
            let percent = 100.0 * bound.fraction;
            write!(out, "; the fullest is the {} of `{}`, {percent:.1} % of its type", bound.quantity, bound.tensor)?;
        }
        let pairs = held_out.saturating_sub(1).max(1) as f64;
        let [was, is] = reordered.map(|count| 100.0 * count as f64 / pairs);
        writeln!(
            out,
            "\n             on {held_out} others, where {is:.2} % of pairs change order (before {was:.2} %):"
        )?;
        writeln!(out)?;
        let digits = if before.max >= 1.0 { 2 } else { 5 };
        let number = |value: f64| format!("{value:.digits$}");
        let of = |stats: &ErrorStats| [stats.mean, stats.sd, stats.p99_9, stats.max].map(number);
        let mut rows = vec![row!["error", "mean", "sd", "p99.9", "max", "before: mean", "sd", "p99.9", "max"]];
        let mut add = |name: &str, after: &ErrorStats, before: &ErrorStats| {
            let ([a, b, c, d], [e, f, g, h]) = (of(after), of(before));
            rows.push(row![name, a, b, c, d, e, f, g, h]);
        };
        add("all", after, before);
        for CauseOfError { cause, before, after } in &self.causes {
            add(&format!("{} alone", cause.words()), after, before);
        }
        table::print(out, &rows)?;
        if split < held_out {
            writeln!(out, "  (the parts on {split} of them)")?;
        }
        Ok(())
    }
}
