//! Roundings of what was pending.

use super::Building;
use super::grid::Rows;
use super::integers::whole;
use super::pending::{Pending, Work};
use crate::float::Matrix;
use crate::program::Element;
use crate::quantised::{Clamp, Multiplier, QuantisedError, QuantisedOp, Quantity, Weights, tables};
use crate::remark::Remark;
use crate::spatial::Window;

/// Bits of the greater multiplier of a sum of two.
const SUM_BITS: i32 = 30;

impl Building<'_> {
    /// What is pending as the integers of a quantity.
    pub(super) fn emit(&mut self, pending: Pending, to: Quantity) -> Result<usize, QuantisedError> {
        let Pending { name, work, shape, low, high, moves } = pending;
        let made = Quantity { shape, ..to };
        let clamp = clamp(made, low, high);
        let refused = |what: &str| QuantisedError::Unsupported {
            node: name.clone(),
            what: what.to_owned(),
            instead: "use scales that are nearer to one another",
        };
        let (reads, op) = match work {
            Work::Weights { read, from, window, groups, rows } => {
                let found = self.weighted(&name, (read, from), made, (window, groups, rows), clamp);
                found.ok_or_else(|| refused("a factor of 2^30 and more between sums and bytes"))?
            }
            Work::Sum { a, b, sign } => {
                let [one, other] = [a.1, b.1].map(|is| f64::from(is.scale) / f64::from(made.scale));
                let shift = SUM_BITS - libm::frexp(one.max(other)).1;
                if !(1..=62).contains(&shift) {
                    return Err(refused("Add of values whose scales are as far from its own"));
                }
                let scaled = |factor: f64| (factor * (1u64 << shift) as f64).round() as i32;
                let op = QuantisedOp::Sum { a: scaled(one), b: scaled(sign * other), shift: shift as u32, clamp };
                (vec![a.0, b.0], op)
            }
            Work::Product { a, b } => {
                let real = f64::from(a.1.scale) * f64::from(b.1.scale) / f64::from(made.scale);
                let multiplier = Multiplier::of(real).ok_or_else(|| refused("Mul with a factor of 2^30 and more"))?;
                (vec![a.0, b.0], QuantisedOp::Product { multiplier, clamp })
            }
            Work::Mean { read, from, window, counts_padding } => {
                return self.mean(&name, (read, from, window, counts_padding), made, clamp, &moves);
            }
            Work::Function { read, from, activation } => {
                let function = |x: f64| activation.apply(&[x])[0].max(low).min(high);
                (vec![read], QuantisedOp::Table(tables::even(from, made, function)))
            }
            Work::Joined { parts, axis } => {
                let mut reads = Vec::new();
                for (at, from) in parts {
                    let each = Quantity { shape: from.shape, ..made };
                    let is_same = (from.scale, from.zero_point) == (to.scale, to.zero_point) && clamp == whole(to);
                    let table = tables::even(from, each, |x| x.max(low).min(high));
                    reads.push(if is_same && from.element == to.element {
                        at
                    } else {
                        self.push(&name, vec![at], each, QuantisedOp::Table(table))
                    });
                }
                (reads, QuantisedOp::Concat(axis))
            }
        };
        let at = self.push(&name, reads, made, op);
        Ok(self.all_moved(&name, at, made, &moves).0)
    }

    /// Sums that come out as they are, where all channels have one unit.
    pub(super) fn sums(&mut self, name: &str, pending: Pending) -> Result<usize, QuantisedError> {
        let refused = |what: &str| QuantisedError::Unsupported {
            node: name.to_owned(),
            what: what.to_owned(),
            instead: "quantise what the network makes",
        };
        let is_plain = pending.low == f64::NEG_INFINITY && pending.high == f64::INFINITY;
        let Work::Weights { read, from, window, groups, rows } = pending.work else {
            return Err(refused("an output of float32 that no layer with weights makes"));
        };
        if !is_plain || rows.steps.iter().any(|step| *step != rows.steps[0]) {
            return Err(refused("an output of float32 whose channels have several scales, or a clip"));
        }
        let scale = from.scale * rows.steps[0];
        let made = Quantity { shape: pending.shape, element: Element::I32, scale, zero_point: 0 };
        let clamp = Clamp { low: i32::MIN, high: i32::MAX };
        let found = self.weighted(name, (read, from), made, (window, groups, rows), clamp);
        let (reads, op) = found.ok_or_else(|| refused("sums of this scale"))?;
        let at = self.push(name, reads, made, op);
        Ok(self.all_moved(name, at, made, &pending.moves).0)
    }

    /// A layer with weights, and what it reads.
    fn weighted(
        &mut self,
        name: &str,
        (read, from): (usize, Quantity),
        made: Quantity,
        (window, groups, rows): (Option<(Window, bool)>, usize, Rows),
        clamp: Clamp,
    ) -> Option<(Vec<usize>, QuantisedOp)> {
        let (read, weights) = match groups {
            1 => self.narrowed(name, (read, from), window.is_some(), &rows),
            _ => (read, rows.weights.map(|weight| weight as i8)),
        };
        let Rows { bias, steps, bias_rounded, .. } = rows;
        if bias_rounded {
            let text =
                format!("`{name}`: its bias is no whole number of the steps of its sums, and was rounded to them");
            self.remarks.push(Remark::Decided(text));
        }
        let multiplier = |step: &f32| Multiplier::of(f64::from(from.scale) * f64::from(*step) / f64::from(made.scale));
        let multipliers = steps.iter().map(multiplier).collect::<Option<Vec<_>>>()?;
        let weights = Weights { weights, bias, scales: steps, multipliers, clamp };
        let op = match window {
            None => QuantisedOp::Linear(weights),
            Some((window, true)) => QuantisedOp::TransposedConvolution { window, weights },
            Some((window, false)) => QuantisedOp::Convolution { window, groups, weights },
        };
        Some((vec![read], op))
    }

    /// The mean of a window: over a whole map, as a convolution of ones where there is no padding or padding counts,
    /// else as a pool of stored values.
    fn mean(
        &mut self,
        name: &str,
        (read, from, window, counts_padding): (usize, Quantity, Window, bool),
        made: Quantity,
        clamp: Clamp,
        moves: &[(crate::spatial::Move, crate::spatial::Shape)],
    ) -> Result<usize, QuantisedError> {
        let is_padded = window.before != [0, 0] || window.after != [0, 0];
        let size = [from.shape.height, from.shape.width];
        let channels = from.shape.channels;
        let at = if !is_padded && window.kernel == size && window.dilation == [1, 1] && clamp == whole(made) {
            let real = f64::from(from.scale) / f64::from(made.scale) / window.taps() as f64;
            let multiplier = Multiplier::of(real).unwrap_or(Multiplier { multiplier: 0, shift: 31 });
            self.push(name, vec![read], made, QuantisedOp::Mean { over: [true, true, false], multiplier })
        } else if !is_padded || counts_padding {
            let step = 1.0 / window.taps() as f32;
            let weights =
                Matrix { outputs: channels, inputs: window.taps(), values: vec![1; channels * window.taps()] };
            let rows = Rows { weights, bias: vec![0; channels], steps: vec![step; channels], bias_rounded: false };
            let found = self.weighted(name, (read, from), made, (Some((window, false)), channels, rows), clamp);
            let (reads, op) = found.ok_or_else(|| QuantisedError::Unsupported {
                node: name.to_owned(),
                what: "AveragePool with a factor of 2^30 and more".to_owned(),
                instead: "use scales that are nearer to one another",
            })?;
            self.push(name, reads, made, op)
        } else {
            // The first rounding is off by at most half a step of the input; the second may carry what that is over.
            let most = (0.5 * f64::from(from.scale) / f64::from(made.scale)).ceil().max(1.0);
            let text = format!(
                "`{name}`: means over padding are rounded to a step of their input first, halves away from 0: integers \
                 may differ by {most}"
            );
            self.remarks.push(Remark::Decided(text));
            let mean = Quantity { shape: made.shape, ..from };
            let at = self.push(name, vec![read], mean, QuantisedOp::AveragePool { window, clamp: whole(from) });
            let (low, high) = (f64::from(clamp.low), f64::from(clamp.high));
            let real = |end: f64| (end - f64::from(made.zero_point)) * f64::from(made.scale);
            let table = tables::even(mean, made, |x| x.max(real(low)).min(real(high)));
            self.push(name, vec![at], made, QuantisedOp::Table(table))
        };
        Ok(self.all_moved(name, at, made, moves).0)
    }
}

/// A clip of reals as one of integers.
fn clamp(to: Quantity, low: f64, high: f64) -> Clamp {
    let Clamp { low: least, high: most } = whole(to);
    let at = |real: f64| {
        let stored = (real / f64::from(to.scale)).round_ties_even() + f64::from(to.zero_point);
        stored.clamp(f64::from(least), f64::from(most)) as i32
    };
    let low = at(low);
    Clamp { low, high: at(high).max(low) }
}
