//! Dense networks: affine, requantise, and again.

use super::{Builder, Value, blank};
use crate::pack::error::PackError;
use crate::pack::tensor::pack_vector;
use crate::quantise::{OUTPUT_UNIT, requantisation};
use tamis_runtime::format::{Layout, OpRecord, element, op};

impl Builder<'_> {
    /// Dense int8 layers: affine, requantise, and again.
    pub(super) fn dense(&mut self) -> Result<(), PackError> {
        let net = self.net;
        let mut value = Value { index: 0, start: 0, len: net.arch.feature_count() as u32 };
        for (index, layer) in net.layers.iter().enumerate() {
            let Some(scales) = &layer.dense else {
                return Err(self.unsupported(
                    index,
                    "a dense layer without int8 scales",
                    "use i8 weights and i32 biases",
                ));
            };
            let outputs = layer.weights.outputs as u32;
            let weights = self.tensor(index, &layer.weights, Layout::K4, self.sum_claim(index))?;
            let bias = self.tensor(index, &layer.bias, Layout::Rows, 0)?;
            let sum =
                self.push(element::I32, outputs, value, OpRecord { kind: op::AFFINE_I8, weights, bias, ..blank() });
            let (mut multipliers, mut shifts) = (Vec::new(), Vec::new());
            for output in 0..layer.weights.outputs {
                let factor = scales.factor(output);
                let (multiplier, shift) = requantisation(factor).ok_or_else(|| {
                    self.unsupported(
                        index,
                        format!("a factor of {factor:e} between sum and output"),
                        "raise `activation_max`, or scale the last layer's weights down",
                    )
                })?;
                multipliers.push(multiplier.to_le_bytes());
                shifts.push([shift as u8]);
            }
            let name = &layer.weights.name;
            let units: Vec<[u8; 4]> = scales.weight_units.iter().map(|unit| unit.to_le_bytes()).collect();
            let multipliers = self.add(pack_vector(&format!("{name}.multipliers"), element::I32, &multipliers)?)?;
            let shifts = self.add(pack_vector(&format!("{name}.shifts"), element::U8, &shifts)?)?;
            self.add(pack_vector(&format!("{name}.units"), element::F32, &units)?)?;
            let code = match (scales.low, scales.high) {
                (0, 127) => element::U8,
                (-127, 127) => element::I8,
                _ => element::I32,
            };
            let params = [scales.low as u32, scales.high as u32, 0, 0];
            value = self.push(
                code,
                outputs,
                sum,
                OpRecord { kind: op::REQUANTISE, multipliers, shifts, params, ..blank() },
            );
        }
        self.program.input.output_unit = (OUTPUT_UNIT * f64::from(net.arch.output.scale)) as f32;
        Ok(())
    }
}
