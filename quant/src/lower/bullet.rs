//! Feature networks: the transformer, what its accumulators become, and the tail of reals.

use super::{Builder, Value, activation_code, blank};
use crate::arch::{Activation, ElementType, InputKind};
use crate::pack::error::PackError;
use crate::pack::tensor::{Orientation, layout_of_reals, pack_tensor, pack_vector};
use crate::proof::Quantity;
use crate::quantise::{IntegerActivation, IntegerHead, QuantLayer, head, sum_factor};
use tamis_runtime::format::{BlockRecord, Layout, MAX_RESCALE_FACTOR, OpRecord, activation, claim, element, op};

impl<'n> Builder<'n> {
    /// Feature transformer, then the layers behind it.
    pub(super) fn features(&mut self) -> Result<(), PackError> {
        let net = self.net;
        let accumulators = self.transformer()?;
        let (Some(second), Some(activation)) = (net.layers.get(1), IntegerActivation::of(&net.arch)) else {
            return Err(self.unsupported(0, "a feature transformer alone", "add a layer behind it"));
        };
        match (activation.activation, second.weights.element) {
            (Activation::Crelu | Activation::Screlu | Activation::Sqrrelu, ElementType::I16) => {
                let sum = self.activate_dot(accumulators, activation, second)?;
                match head(&net.arch) {
                    Some(head) => self.rescale(sum, head, second),
                    None => {
                        let real = self.dequantise(sum, activation, second)?;
                        self.tail(real)
                    }
                }
            }
            (
                Activation::Crelu | Activation::Screlu | Activation::Sqrrelu | Activation::PairwiseCrelu,
                ElementType::F32,
            ) => {
                let inverse = (1.0 / f64::from(activation.qa)) as f32;
                let params = [activation.clip as u32, inverse.to_bits(), 0, 0];
                let code = activation_code(activation.activation);
                let record = OpRecord { kind: op::ACTIVATE_F32, activation: code, params, ..blank() };
                let real = self.push(element::F32, net.arch.layer_inputs(1) as u32, accumulators, record);
                let sum = self.affine_f32(1, real)?;
                self.tail(sum)
            }
            (Activation::PairwiseCrelu, ElementType::I8) => {
                let products = self.products(accumulators, activation)?;
                let weights = self.tensor(1, &second.weights, Layout::K4, self.sum_claim(1))?;
                let record = OpRecord { kind: op::AFFINE_I8, weights, ..blank() };
                let sum = self.push(element::I32, self.outputs(1), products, record);
                let real = self.dequantise(sum, activation, second)?;
                self.tail(real)
            }
            (activation, element) => Err(self.unsupported(
                1,
                format!("{} weights behind {}", element.word(), activation.word()),
                "use i16 or f32 weights behind crelu, screlu and sqrrelu, i8 or f32 behind pairwise-crelu",
            )),
        }
    }

    fn transformer(&mut self) -> Result<Value, PackError> {
        let net = self.net;
        let Some(first) = net.layers.first() else {
            return Err(self.unsupported(0, "no layer", "add one"));
        };
        if !matches!(first.weights.element, ElementType::I16 | ElementType::I8)
            || first.bias.element != ElementType::I16
        {
            return Err(self.unsupported(
                0,
                "a feature transformer that is not i16 or i8 with an i16 bias",
                "store it so",
            ));
        }
        let weights = self.add(pack_tensor(&first.weights, Layout::Rows, Orientation::InputRows, 1, 0)?)?;
        let bias = self.add(pack_tensor(&first.bias, Layout::Rows, Orientation::OutputRows, 1, 0)?)?;
        let fits = self.proof.fits(&first.weights.name, Quantity::Accumulator);
        self.program.blocks.push(BlockRecord {
            first_feature: 0,
            feature_count: first.weights.inputs as u32,
            weights,
            bias,
            claims: if fits { claim::ACCUMULATOR_FITS } else { 0 },
            reserved: [0; 3],
        });
        if net.arch.input.kind == InputKind::Chess {
            let table = net.arch.king_table().map(|bucket| [bucket]);
            self.program.input.king_table = self.add(pack_vector("king_table", element::U8, &table)?)?;
            let table = net.arch.piece_count_table().map(|bucket| [bucket]);
            self.program.input.bucket_table = self.add(pack_vector("bucket_table", element::U8, &table)?)?;
        }
        let len = self.program.values.first().map_or(0, |value| value.len);
        Ok(Value { index: 0, start: 0, len })
    }

    /// Accumulators to the second layer's sums.
    fn activate_dot(
        &mut self,
        accumulators: Value,
        activation: IntegerActivation,
        second: &'n QuantLayer,
    ) -> Result<Value, PackError> {
        let max = activation.clip;
        let largest = second.weights.integers().iter().map(|weight| i64::from(*weight).abs()).max().unwrap_or(0);
        let short = activation.activation == Activation::Screlu && largest * i64::from(max) <= i64::from(i16::MAX);
        let claims = self.sum_claim(1) | if short { claim::PRODUCT_FITS_I16 } else { 0 };
        let weights = self.tensor(1, &second.weights, Layout::Rows, claims)?;
        let code = activation_code(activation.activation);
        let params = [max as u32, 0, 0, 0];
        let record = OpRecord { kind: op::ACTIVATE_DOT, weights, activation: code, params, ..blank() };
        Ok(self.push(element::I32, self.outputs(1), accumulators, record))
    }

    /// Sums to the network's integers.
    fn rescale(&mut self, sum: Value, head: IntegerHead, second: &'n QuantLayer) -> Result<(), PackError> {
        if second.bias.element == ElementType::I8 {
            return Err(self.unsupported(1, "an i8 bias in an integer head", "store the bias as i16 or i32"));
        }
        if head.factor > MAX_RESCALE_FACTOR {
            return Err(self.unsupported(
                1,
                format!("an output scale of {} in an integer head", head.factor),
                "use one of at most 1073741824",
            ));
        }
        let bias = self.tensor(1, &second.bias, Layout::Rows, 0)?;
        let params = [head.pre_divisor, head.factor, head.divisor, 0].map(|param| param as u32);
        self.push(element::I32, sum.len, sum, OpRecord { kind: op::RESCALE, bias, params, ..blank() });
        Ok(())
    }

    /// Accumulators to bytes, in pairs.
    fn products(&mut self, accumulators: Value, activation: IntegerActivation) -> Result<Value, PackError> {
        let (clip, shift) = (activation.clip, activation.product_shift);
        if (i64::from(clip) * i64::from(clip)) >> shift > i64::from(u8::MAX) {
            return Err(self.unsupported(
                0,
                format!("a product of {clip}·{clip} >> {shift}, which leaves u8,"),
                "raise `product_shift`, or lower the scale",
            ));
        }
        let params = [clip as u32, shift, 0, 0];
        let record = OpRecord { kind: op::PAIRWISE_U8, activation: activation::PAIRWISE_CRELU, params, ..blank() };
        Ok(self.push(element::U8, self.net.arch.layer_inputs(1) as u32, accumulators, record))
    }

    /// Sums to reals, with the second layer's bias.
    fn dequantise(
        &mut self,
        sum: Value,
        activation: IntegerActivation,
        second: &'n QuantLayer,
    ) -> Result<Value, PackError> {
        if second.bias.element != ElementType::F32 {
            return Err(self.unsupported(1, "an integer bias in front of a real tail", "store the bias as f32"));
        }
        let bias = self.tensor(1, &second.bias, Layout::Rows, 0)?;
        let params = [sum_factor(activation, second).to_bits(), 0, 0, 0];
        Ok(self.push(element::F32, sum.len, sum, OpRecord { kind: op::DEQUANTISE, bias, params, ..blank() }))
    }

    fn affine_f32(&mut self, index: usize, input: Value) -> Result<Value, PackError> {
        let net = self.net;
        let Some(layer) = net.layers.get(index) else { return Ok(input) };
        if layer.weights.element != ElementType::F32 || layer.bias.element != ElementType::F32 {
            return Err(self.unsupported(
                index,
                "integer weights or bias in a real tail",
                "store weights and bias as f32",
            ));
        }
        let weights = self.tensor(index, &layer.weights, layout_of_reals(self.outputs(index), input.len), 0)?;
        let bias = self.tensor(index, &layer.bias, Layout::Rows, 0)?;
        let record = OpRecord { kind: op::AFFINE_F32, weights, bias, ..blank() };
        Ok(self.push(element::F32, self.outputs(index), input, record))
    }

    /// The real layers behind the second one's sums; skips are added at the end, then the output's scale.
    fn tail(&mut self, mut sum: Value) -> Result<(), PackError> {
        let net = self.net;
        let mut skips: Vec<Value> = Vec::new();
        for (index, layer) in net.arch.layers.iter().enumerate().skip(1) {
            let active = net.arch.active_outputs(index) as u32;
            if layer.skip > 0 {
                skips.push(Value { start: sum.start + active, len: layer.skip as u32, ..sum });
            }
            let mut next = Value { len: active, ..sum };
            if layer.activation != Activation::Identity {
                let len = net.arch.activated_width(index) as u32;
                let record =
                    OpRecord { kind: op::ACTIVATION_F32, activation: activation_code(layer.activation), ..blank() };
                next = self.push(element::F32, len, next, record);
            }
            sum = if index + 1 < net.layers.len() { self.affine_f32(index + 1, next)? } else { next };
        }
        for skip in skips {
            let record = OpRecord { kind: op::ADD_F32, second: skip.index, second_start: skip.start, ..blank() };
            sum = self.push(element::F32, sum.len, sum, record);
        }
        let params = [(net.arch.output.scale as f32).to_bits(), 0, 0, 0];
        self.push(element::F32, sum.len, sum, OpRecord { kind: op::SCALE_F32, params, ..blank() });
        Ok(())
    }
}
