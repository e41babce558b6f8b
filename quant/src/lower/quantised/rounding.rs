//! Sums that become bytes.

use super::{Lowering, unsupported};
use crate::program::{Element, Rounding};
use crate::quantised::{Clamp, QuantisedError, QuantisedNode, Quantity, Sums, Weights, fit};
use crate::remark::Remark;

/// Scales from here on are not rounded to bytes by anybody.
const MOST: f32 = (1u32 << 30) as f32;

/// How far from their zero point elements lie, for want of examples.
const LIKELY: f64 = 32.0;

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
        sums: &[Sums],
        clamp: Clamp,
    ) -> Result<Rounding, QuantisedError> {
        let zero = node.makes.zero_point;
        let results = i64::from(clamp.low) - i64::from(zero)..=i64::from(clamp.high) - i64::from(zero);
        let mut rounding = Rounding { multipliers: Vec::new(), shifts: Vec::new(), low: clamp.low, high: clamp.high };
        for (scale, sums) in scales.iter().zip(sums) {
            if !(*scale >= 0.0 && *scale < MOST) {
                let what = format!("a factor of {scale:e} between sums and bytes");
                return Err(unsupported(&node.name, what, "use scales that are nearer to one another"));
            }
            let fitted = fit(*scale, *sums, results.clone());
            rounding.multipliers.push(fitted.multiplier.multiplier);
            rounding.shifts.push(fitted.multiplier.shift as u8);
            self.differing.0 = self.differing.0.saturating_add(fitted.differing);
            self.differing.1 = self.differing.1.saturating_add(sums.low.abs_diff(sums.high));
        }
        Ok(rounding)
    }

    /// Says of how many sums there were no integers that do what an f32 does.
    pub(super) fn remark_differing(&mut self) {
        let (differing, sums) = self.differing;
        if differing > 0 {
            let text = format!(
                "{differing} of the {sums} sums that its layers can have lie on halves, or so near that f32 cannot \
                 tell, \
                 and become a byte that differs by 1 from that of engines that multiply in f32"
            );
            self.remarks.push(Remark::Decided(text));
        }
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
        let mut sums = vec![Sums { low: 0, high: 0, centre: 0, width: 1.0 }; outputs];
        for column in weights.weights.values.chunks_exact(outputs) {
            for (sums, weight) in sums.iter_mut().zip(column) {
                let products = [low * i64::from(*weight), high * i64::from(*weight)];
                sums.low += products[0].min(products[1]);
                sums.high += products[0].max(products[1]);
                sums.width += f64::from(*weight).powi(2);
            }
        }
        for (sums, bias) in sums.iter_mut().zip(&weights.bias) {
            let bias = i64::from(*bias);
            let width = LIKELY * sums.width.sqrt();
            *sums = Sums { low: sums.low + bias, high: sums.high + bias, centre: bias, width };
        }
        let scale = |of_weights: &f32| from.scale * of_weights / node.makes.scale;
        let scales: Vec<f32> = weights.scales.iter().map(scale).collect();
        self.fitted(node, &scales, &sums, weights.clamp).map(Some)
    }
}
