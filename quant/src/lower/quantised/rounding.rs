//! Sums that become bytes.

use super::{Lowering, unsupported};
use crate::import::Remark;
use crate::program::{Element, Rounding};
use crate::quantised::{Clamp, QuantisedError, QuantisedNode, Quantity, Weights, fit};
use std::ops::RangeInclusive;

/// Scales from here on are not rounded to bytes by anybody.
const MOST: f32 = (1u32 << 30) as f32;

/// What elements are above or below their zero point, the zero of padding among them.
pub(super) fn reach(of: Quantity) -> [i64; 2] {
    let (low, high) = of.element.range();
    let zero = i64::from(of.zero_point);
    [(i64::from(low) - zero).min(0), (i64::from(high) - zero).max(0)]
}

impl Lowering<'_> {
    /// Multiplier and shift for sums of this range times an f32, held to what an engine makes of them.
    pub(super) fn fitted(
        &mut self,
        node: &QuantisedNode,
        scales: &[f32],
        sums: &[RangeInclusive<i64>],
        clamp: Clamp,
    ) -> Result<Rounding, QuantisedError> {
        let zero = node.makes.zero_point;
        let results = i64::from(clamp.low) - i64::from(zero)..=i64::from(clamp.high) - i64::from(zero);
        let mut rounding = Rounding { multipliers: Vec::new(), shifts: Vec::new(), low: clamp.low, high: clamp.high };
        let (mut differing, mut channels) = (0u64, 0);
        for (scale, sums) in scales.iter().zip(sums) {
            if !(*scale >= 0.0 && *scale < MOST) {
                let what = format!("a factor of {scale:e} between sums and bytes");
                return Err(unsupported(&node.name, what, "use scales that are nearer to one another"));
            }
            // What can wrap can be anything.
            let holds = *sums.start() >= i32::MIN.into() && *sums.end() <= i32::MAX.into();
            let sums = if holds { sums.clone() } else { i32::MIN.into()..=i32::MAX.into() };
            let fitted = fit(*scale, sums, results.clone());
            rounding.multipliers.push(fitted.multiplier.multiplier);
            rounding.shifts.push(fitted.multiplier.shift as u8);
            differing = differing.saturating_add(fitted.differing);
            channels += u64::from(fitted.differing > 0);
        }
        if differing > 0 {
            let text = format!(
                "`{}`: {differing} of the sums that {channels} of its channels can have lie on halves, and become an \
                 integer that differs by 1 from that of engines that round to even numbers",
                node.name
            );
            self.remarks.push(Remark::Decided(text));
        }
        Ok(rounding)
    }

    /// The rounding of a layer's sums; none where they stay i32.
    pub(super) fn weighed(
        &mut self,
        node: &QuantisedNode,
        from: Quantity,
        weights: &Weights,
    ) -> Result<Option<Rounding>, QuantisedError> {
        if node.makes.element == Element::I32 {
            return Ok(None);
        }
        let [low, high] = reach(from);
        let outputs = weights.weights.outputs;
        let mut ends = vec![(0i64, 0i64); outputs];
        for column in weights.weights.values.chunks_exact(outputs) {
            for ((least, most), weight) in ends.iter_mut().zip(column) {
                let products = [low * i64::from(*weight), high * i64::from(*weight)];
                *least += products[0].min(products[1]);
                *most += products[0].max(products[1]);
            }
        }
        let scale = |of_weights: &f32| from.scale * of_weights / node.makes.scale;
        let scales: Vec<f32> = weights.scales.iter().map(scale).collect();
        let sums: Vec<RangeInclusive<i64>> = ends
            .iter()
            .zip(&weights.bias)
            .map(|((low, high), bias)| low + i64::from(*bias)..=high + i64::from(*bias))
            .collect();
        self.fitted(node, &scales, &sums, weights.clamp).map(Some)
    }
}
