//! What the operations on reals demand.

use super::ops::Operation;
use super::{Kind, Refused};
use crate::features::{ACCUMULATORS, GENERAL_OR_CONVOLUTIONS};
use crate::format::Layout;
use crate::format::records::{activation, element};

/// Upper limit of a clip of accumulators.
const I16_MAX: u32 = i16::MAX as u32;

impl Operation<'_, '_> {
    pub(super) fn activate_f32(&self) -> Result<(), Refused> {
        let record = self.record;
        if !ACCUMULATORS {
            // Who has no accumulators cannot read them.
            return Err(self.checker.missing("op.kind", record.kind, Kind::Accumulators));
        }
        let [clip, inverse, left_out, p3] = record.params;
        self.accumulators()?;
        self.elements(element::I16, element::F32)?;
        self.no_tensors(&[record.weights, record.bias, record.multipliers, record.shifts])?;
        let halves = record.activation == activation::PAIRWISE_CRELU;
        let known = [activation::CRELU, activation::SCRELU, activation::SQRRELU, activation::PAIRWISE_CRELU];
        let is_known = known.contains(&record.activation);
        self.need(is_known, "op.activation", record.activation, "CReLU, SCReLU, SqrReLU or pairwise")?;
        self.activated(halves, left_out)?;
        self.need((1..=I16_MAX).contains(&clip), "op.params[0]", clip, "a clip of 1 to 32767")?;
        self.finite(inverse, "op.params[1]")?;
        self.zeros(&[p3])
    }

    pub(super) fn dequantise(&self) -> Result<(), Refused> {
        let record = self.record;
        let [factor, rest @ ..] = record.params;
        self.elements(element::I32, element::F32)?;
        self.same_len()?;
        self.optional(record.bias, "op.bias", element::F32, self.output.len)?;
        self.no_tensors(&[record.weights, record.multipliers, record.shifts])?;
        self.activation(0)?;
        self.finite(factor, "op.params[0]")?;
        self.zeros(&rest)
    }

    pub(super) fn affine_f32(&self) -> Result<(), Refused> {
        let record = self.record;
        let (n, m) = (record.input_len, self.output.len);
        self.elements(element::F32, element::F32)?;
        self.tensor(record.weights, "op.weights", &[element::F32], &[Layout::Rows, Layout::Columns], m, n)?;
        self.optional(record.bias, "op.bias", element::F32, m)?;
        self.no_tensors(&[record.multipliers, record.shifts])?;
        self.activation(0)?;
        self.zeros(&record.params)
    }

    pub(super) fn activation_f32(&self) -> Result<(), Refused> {
        let record = self.record;
        let ([alpha, rest @ ..], (n, m)) = (record.params, (record.input_len, self.output.len));
        self.elements(element::F32, element::F32)?;
        self.no_tensors(&[record.weights, record.bias, record.multipliers, record.shifts])?;
        if record.activation > activation::DUAL_CRELU && !GENERAL_OR_CONVOLUTIONS {
            return Err(self.checker.missing("op.activation", record.activation, Kind::General));
        }
        let fits = match record.activation {
            activation::PAIRWISE_CRELU => Some(n) == m.checked_mul(2),
            activation::DUAL_CRELU => n.checked_mul(2) == Some(m),
            activation::IDENTITY..=activation::SOFTMAX | activation::HARD_SWISH => n == m,
            other => return Err(self.fault("op.activation", other, "a code that is defined")),
        };
        self.need(fits, "op.input_len", n, "a length that the activation turns into the output's")?;
        if record.activation == activation::LEAKY_RELU {
            self.finite(alpha, "op.params[0]")?;
        } else {
            self.zeros(&[alpha])?;
        }
        self.zeros(&rest)
    }

    pub(super) fn add_f32(&self) -> Result<(), Refused> {
        self.reals_alone()?;
        self.zeros(&self.record.params)
    }

    pub(super) fn scale_f32(&self) -> Result<(), Refused> {
        let [factor, rest @ ..] = self.record.params;
        self.reals_alone()?;
        self.finite(factor, "op.params[0]")?;
        self.zeros(&rest)
    }

    /// As many reals as are read, and no tensor.
    fn reals_alone(&self) -> Result<(), Refused> {
        let record = self.record;
        self.elements(element::F32, element::F32)?;
        self.same_len()?;
        self.no_tensors(&[record.weights, record.bias, record.multipliers, record.shifts])?;
        self.activation(0)
    }

    pub(super) fn finite(&self, bits: u32, place: &'static str) -> Result<(), Refused> {
        self.need(f32::from_bits(bits).is_finite(), place, bits, "a finite f32")
    }
}
