//! Integer heads: divided twice or once, rounded, or with sums of 64 bits.

use super::{Lowering, dot_clip};
use crate::arch::ElementType;
use crate::program::{Element, Operation, QuantTensor, Read, Unsupported, Values, requantisation};
use crate::proof::leaves_i32;
use crate::quantised::{IntegerActivation, IntegerHead, QuantLayer};
use tamis_runtime::raw::{MAX_RESCALE_FACTOR, op};

impl Lowering<'_> {
    /// Whether the second layer's sums have to be of 64 bits: what cannot be proved of 32.
    pub(super) fn is_wide(&self, activation: IntegerActivation, weights: &QuantTensor) -> bool {
        weights.inputs <= op::WIDE_INPUTS as usize
            && leaves_i32(&self.program, weights, dot_clip(activation), activation.clip)
    }

    /// Accumulators to the network's integers, with sums of 64 bits on the way.
    pub(super) fn wide_head(
        &mut self,
        accumulators: Read,
        activation: IntegerActivation,
        weights: QuantTensor,
        head: IntegerHead,
    ) -> Result<(), Unsupported> {
        let (clip, max) = (dot_clip(activation), activation.clip);
        let (bias, [pre, factor, divisor]) = self.head(1, head)?;
        let op = Operation::WideHead { weights, bias, clip, max, pre, factor, divisor };
        self.push(1, "head", accumulators, op, Element::I32, self.outputs(1));
        Ok(())
    }

    /// Accumulators to the network's integers: rounded products, and their sums rounded once.
    pub(super) fn rounded(
        &mut self,
        accumulators: Read,
        activation: IntegerActivation,
        second: &QuantLayer,
        head: IntegerHead,
    ) -> Result<(), Unsupported> {
        let outputs = self.outputs(1);
        let Some((multiplier, shift)) = requantisation(f64::from(head.factor) / f64::from(head.divisor)) else {
            let what = format!("an output scale of {} behind sums of scale {}", head.factor, head.divisor);
            return Err(self.unsupported(1, what, "use a lower one"));
        };
        let (weights, bias) = (self.dot_weights(second)?, Some(self.tensor(1, &second.bias)));
        let op = Operation::RoundedDot { weights, bias, max: activation.clip };
        let sums = self.push(1, "sums", accumulators, op, Element::I32, outputs);
        let op = Operation::Requantise {
            multipliers: vec![multiplier; outputs],
            shifts: vec![shift as u8; outputs],
            low: i32::MIN,
            high: i32::MAX,
        };
        self.push(1, "head", Read::whole(sums), op, Element::I32, outputs);
        Ok(())
    }

    /// The sums of layer `index` to the network's integers.
    pub(super) fn rescale(&mut self, index: usize, sums: usize, head: IntegerHead) -> Result<(), Unsupported> {
        let (bias, [pre, factor, divisor]) = self.head(index, head)?;
        let op = Operation::Rescale { bias, pre, factor, divisor };
        self.push(index, "head", Read::whole(sums), op, Element::I32, self.outputs(index));
        Ok(())
    }

    /// The bias of layer `index` as a head adds it, and the head's first divisor, factor and last divisor.
    fn head(&self, index: usize, head: IntegerHead) -> Result<(QuantTensor, [i32; 3]), Unsupported> {
        let bias = &self.net.layers[index].bias;
        if bias.element == ElementType::I8 {
            return Err(self.unsupported(index, "an i8 bias in an integer head", "store the bias as i16 or i32"));
        }
        if head.factor > MAX_RESCALE_FACTOR {
            let what = format!("an output scale of {} in an integer head", head.factor);
            return Err(self.unsupported(index, what, "use one of at most 1073741824"));
        }
        let mut bias = self.tensor(index, bias);
        if head.bias_factor > 1 {
            let product = |bias: &i32| bias.checked_mul(head.bias_factor);
            let Some(products) = bias.integers().iter().map(product).collect() else {
                let what = format!("a bias that leaves i32 times {}", head.bias_factor);
                return Err(self.unsupported(index, what, "leave `divide` out, or use a lower scale"));
            };
            (bias.values, bias.element) = (Values::Int(products), ElementType::I32);
            bias.scale = Some(head.divisor);
        }
        Ok((bias, [head.pre_divisor, head.factor, head.divisor]))
    }
}
