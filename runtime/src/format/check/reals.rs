//! What the operations on reals demand.

use super::ops::Operation;
use super::{Kind, Refused};
use crate::built::{ACCUMULATORS, GENERAL};
use crate::format::Layout;
use crate::format::records::{activation, element, op};

/// Upper limit of a clip of accumulators.
const I16_MAX: u32 = i16::MAX as u32;

impl Operation<'_, '_> {
    /// The demands of kinds 3 and 6 to 10.
    pub(super) fn on_reals(&self) -> Result<(), Refused> {
        let record = self.record;
        let [p0, p1, p2, p3] = record.params;
        let (n, m) = (record.input_len, self.output.len);
        match record.kind {
            op::ACTIVATE_F32 if ACCUMULATORS => {
                self.accumulators()?;
                self.elements(element::I16, element::F32)?;
                self.no_tensors(&[record.weights, record.bias, record.multipliers, record.shifts])?;
                let halves = record.activation == activation::PAIRWISE_CRELU;
                let known = [activation::CRELU, activation::SCRELU, activation::SQRRELU, activation::PAIRWISE_CRELU];
                let is_known = known.contains(&record.activation);
                self.need(is_known, "op.activation", record.activation, "CReLU, SCReLU, SqrReLU or pairwise")?;
                self.activated(halves, 0)?;
                self.need((1..=I16_MAX).contains(&p0), "op.params[0]", p0, "a clip of 1 to 32767")?;
                self.finite(p1, "op.params[1]")?;
                self.zeros(&[p2, p3])?;
                return Ok(());
            }
            // Who has no accumulators cannot read them.
            op::ACTIVATE_F32 => return Err(self.checker.missing("op.kind", record.kind, Kind::Accumulators)),
            op::DEQUANTISE => {
                self.elements(element::I32, element::F32)?;
                self.same_len()?;
                self.optional(record.bias, "op.bias", element::F32, m)?;
                self.no_tensors(&[record.weights, record.multipliers, record.shifts])?;
                self.activation(0)?;
                self.finite(p0, "op.params[0]")?;
            }
            op::AFFINE_F32 => {
                self.elements(element::F32, element::F32)?;
                self.tensor(record.weights, "op.weights", &[element::F32], &[Layout::Rows, Layout::Columns], m, n)?;
                self.optional(record.bias, "op.bias", element::F32, m)?;
                self.no_tensors(&[record.multipliers, record.shifts])?;
                self.activation(0)?;
                self.zeros(&[p0])?;
            }
            op::ACTIVATION_F32 => {
                self.elements(element::F32, element::F32)?;
                self.no_tensors(&[record.weights, record.bias, record.multipliers, record.shifts])?;
                if record.activation > activation::DUAL_CRELU && !GENERAL {
                    return Err(self.checker.missing("op.activation", record.activation, Kind::General));
                }
                let fits = match record.activation {
                    activation::PAIRWISE_CRELU => Some(n) == m.checked_mul(2),
                    activation::DUAL_CRELU => n.checked_mul(2) == Some(m),
                    activation::IDENTITY..=activation::SOFTMAX => n == m,
                    other => return Err(self.fault("op.activation", other, "a code that is defined")),
                };
                self.need(fits, "op.input_len", n, "a length that the activation turns into the output's")?;
                if record.activation == activation::LEAKY_RELU {
                    self.finite(p0, "op.params[0]")?;
                } else {
                    self.zeros(&[p0])?;
                }
            }
            _ => {
                self.elements(element::F32, element::F32)?;
                self.same_len()?;
                self.no_tensors(&[record.weights, record.bias, record.multipliers, record.shifts])?;
                self.activation(0)?;
                if record.kind == op::SCALE_F32 {
                    self.finite(p0, "op.params[0]")?;
                } else {
                    self.zeros(&[p0])?;
                }
            }
        }
        self.zeros(&[p1, p2, p3])
    }

    pub(super) fn finite(&self, bits: u32, place: &'static str) -> Result<(), Refused> {
        self.need(f32::from_bits(bits).is_finite(), place, bits, "a finite f32")
    }
}
