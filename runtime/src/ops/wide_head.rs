//! WIDE_HEAD: the integer head of engines behind a dot product in 64 bits.

use super::{Banks, Bias, Kind, Places, Running, typed_mut};
use crate::format::{Model, OpRecord, activation};
use crate::kernels::{Tier, WideDot};
use crate::num;
use crate::workspace::range;

/// A dot in 64 bits, and what is made of its sums. The divisors are not made ready: that would take more room than any
/// other kind needs, in every build.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WideHead<'a> {
    pub(super) dot: WideDot,
    pub(super) max: i16,
    pub(super) weights: Banks<'a, i16>,
    pub(super) bias: Bias<'a>,
    pub(super) pre: i32,
    pub(super) factor: i32,
    pub(super) divisor: i32,
}

impl<'a> Kind<'a> for WideHead<'a> {
    fn resolve(model: &Model<'a>, kernels: &Tier, record: &OpRecord) -> Option<Self> {
        let is_plain = record.activation == activation::CRELU;
        let [max, pre, factor, divisor] = record.params.map(|param| param as i32);
        Some(Self {
            dot: if is_plain { kernels.wide_dot_crelu.call } else { kernels.wide_dot_screlu.call },
            max: max as i16,
            weights: Banks::new(model.tensor(record.weights)),
            bias: Bias::of(model.tensor(record.bias)),
            pre,
            factor,
            divisor,
        })
    }

    fn run(&self, on: &Running<'_, '_>, at: &Places, workspace: &mut [u8]) {
        let (first, second, out) = at.accumulators(on, workspace);
        let bank = self.weights.bank(on.bucket);
        for (row, y) in typed_mut::<i32>(out).iter_mut().enumerate() {
            let start = row * self.weights.stride;
            let w = range(bank, start..start + first.len() + second.len());
            let (sum, bias) = ((self.dot)(first, second, w, self.max), self.bias.get(on.bucket, row));
            *y = num::rescale_wide(sum, self.pre, bias, self.factor, self.divisor);
        }
    }
}
