//! From layers to operations: what the runtime does for each kind of layer, in which order, with which tensors.

use super::error::PackError;
use super::head::{DEFAULT_PRODUCT_SHIFT, head};
use super::tensor::{Orientation, Packed, pack_tensor, pack_vector};
use crate::arch::{Activation, DenseType, ElementType, InputKind};
use crate::proof::{Proof, Quantity};
use crate::quantise::{QuantNet, QuantTensor, input_unit, requantisation};
use bytemuck::Zeroable;
use tamis_runtime::format::{
    BlockRecord, InputRecord, Layout, NONE, OpRecord, ValueRecord, activation, claim, element, feature_set, input_kind,
    op, perspective_order,
};

/// Everything between header and people's section, before places are known.
pub struct Program {
    pub input: InputRecord,
    pub blocks: Vec<BlockRecord>,
    pub tensors: Vec<Packed>,
    pub values: Vec<ValueRecord>,
    pub ops: Vec<OpRecord>,
}

/// Builds the program of a network. The proof decides the claims.
pub fn build(net: &QuantNet, proof: &Proof) -> Result<Program, PackError> {
    let mut builder = Builder { net, proof, program: empty(net) };
    if net.arch.input.kind == InputKind::Dense {
        builder.dense()?
    } else {
        builder.features()?
    }
    let mut program = builder.program;
    program.input.output = program.ops.len() as u32;
    Ok(program)
}

/// The code of an activation in the file.
pub(super) fn activation_code(word: Activation) -> u32 {
    match word {
        Activation::Identity => activation::IDENTITY,
        Activation::Relu => activation::RELU,
        Activation::Crelu => activation::CRELU,
        Activation::Screlu => activation::SCRELU,
        Activation::Sqrrelu => activation::SQRRELU,
        Activation::PairwiseCrelu => activation::PAIRWISE_CRELU,
        Activation::DualCrelu => activation::DUAL_CRELU,
    }
}

fn empty(net: &QuantNet) -> Program {
    let arch = &net.arch;
    let dense = arch.input.kind == InputKind::Dense;
    let input = InputRecord {
        kind: if dense { input_kind::DENSE } else { input_kind::FEATURES },
        size: arch.feature_count() as u32,
        perspectives: if dense { 0 } else { arch.perspectives() as u32 },
        hidden: if dense { 0 } else { arch.layers.first().map_or(0, |layer| layer.outputs as u32) },
        max_active: if dense { 0 } else { arch.max_active() as u32 },
        bucket_count: arch.bucket_count() as u32,
        feature_set: match (arch.input.kind, arch.input.mirrored) {
            (InputKind::Chess, false) => feature_set::CHESS,
            (InputKind::Chess, true) => feature_set::CHESS_MIRRORED,
            _ => feature_set::CUSTOM,
        },
        king_table: NONE,
        bucket_table: NONE,
        element: match (dense, arch.input.r#type) {
            (true, Some(DenseType::I8)) => element::I8,
            (true, _) => element::U8,
            (false, _) => 0,
        },
        unit: if dense { input_unit(arch) as f32 } else { 0.0 },
        output: 0,
        output_unit: 1.0,
        order: if arch.input.other_first { perspective_order::OTHER_FIRST } else { perspective_order::OWN_FIRST },
        reserved: [0; 2],
    };
    let (code, len) =
        if dense { (input.element, input.size) } else { (element::I16, input.perspectives * input.hidden) };
    let first = ValueRecord { element: code, len, offset_bytes: NONE, reserved: 0 };
    Program { input, blocks: Vec::new(), tensors: Vec::new(), values: vec![first], ops: Vec::new() }
}

/// A value that has been computed.
#[derive(Clone, Copy)]
struct Value {
    index: u32,
    start: u32,
    len: u32,
}

struct Builder<'n> {
    net: &'n QuantNet,
    proof: &'n Proof,
    program: Program,
}

impl Builder<'_> {
    fn unsupported(&self, layer: usize, what: impl Into<String>, instead: &'static str) -> PackError {
        let layer = self.net.arch.layers.get(layer).map_or_else(String::new, |layer| layer.name.clone());
        PackError::Unsupported { layer, what: what.into(), instead }
    }

    fn add(&mut self, packed: Option<Packed>) -> Result<u32, PackError> {
        let packed = packed.ok_or(PackError::TooLarge { len_bytes: usize::MAX })?;
        self.program.tensors.push(packed);
        Ok(self.program.tensors.len() as u32 - 1)
    }

    /// A tensor of layer `index`, with the layer's output buckets as banks.
    fn tensor(&mut self, index: usize, tensor: &QuantTensor, layout: Layout, claims: u32) -> Result<u32, PackError> {
        let bucketed = self.net.arch.layers.get(index).is_some_and(|layer| layer.bucketed);
        let banks = if bucketed { self.net.arch.bucket_count() } else { 1 };
        self.add(pack_tensor(tensor, layout, Orientation::OutputRows, banks, claims))
    }

    /// Appends an operation that writes a new value of `len` elements.
    fn push(&mut self, element: u32, len: u32, input: Value, record: OpRecord) -> Value {
        let index = self.program.values.len() as u32;
        self.program.values.push(ValueRecord { element, len, offset_bytes: NONE, reserved: 0 });
        self.program.ops.push(OpRecord {
            input: input.index,
            input_start: input.start,
            input_len: input.len,
            output: index,
            ..record
        });
        Value { index, start: 0, len }
    }

    /// Feature transformer, then the layers behind it.
    fn features(&mut self) -> Result<(), PackError> {
        let net = self.net;
        let accumulators = self.transformer()?;
        let Some(second) = net.layers.get(1) else {
            return Err(self.unsupported(0, "a feature transformer alone", "add a layer behind it"));
        };
        let activation = net.arch.layers.first().map_or(Activation::Identity, |layer| layer.activation);
        let qa = net.layers.first().and_then(|layer| layer.weights.scale).unwrap_or(1);
        let max = if activation == Activation::Sqrrelu { i32::from(i16::MAX) } else { qa };
        if max > i32::from(i16::MAX) {
            return Err(self.unsupported(
                0,
                format!("scale {qa} as a clip of i16 accumulators"),
                "use a scale of at most 32767",
            ));
        }
        match (activation, second.weights.element) {
            (Activation::Crelu | Activation::Screlu | Activation::Sqrrelu, ElementType::I16) => {
                let sum = self.activate_dot(accumulators, activation, max)?;
                match head(net) {
                    Some(head) => {
                        let bias = self.tensor(1, &second.bias, Layout::Rows, 0)?;
                        let params = [head.pre_divisor, head.factor, head.divisor, 0].map(|param| param as u32);
                        let record = OpRecord { kind: op::RESCALE, bias, params, ..blank() };
                        self.push(element::I32, sum.len, sum, record);
                        Ok(())
                    }
                    None => {
                        let squared = activation != Activation::Crelu;
                        let unit = f64::from(qa).powi(if squared { 2 } else { 1 })
                            * f64::from(second.weights.scale.unwrap_or(1));
                        let real = self.dequantise(sum, 1.0 / unit)?;
                        self.tail(real)
                    }
                }
            }
            (
                Activation::Crelu | Activation::Screlu | Activation::Sqrrelu | Activation::PairwiseCrelu,
                ElementType::F32,
            ) => {
                let len = net.arch.layer_inputs(1) as u32;
                let clip = if activation == Activation::Sqrrelu { i16::MAX as u32 } else { qa as u32 };
                let inverse = (1.0 / f64::from(qa)) as f32;
                let params = [clip, inverse.to_bits(), 0, 0];
                let record =
                    OpRecord { kind: op::ACTIVATE_F32, activation: activation_code(activation), params, ..blank() };
                let real = self.push(element::F32, len, accumulators, record);
                let sum = self.affine_f32(1, real)?;
                self.tail(sum)
            }
            (Activation::PairwiseCrelu, ElementType::I8) => {
                let shift =
                    net.arch.layers.first().and_then(|layer| layer.product_shift).unwrap_or(DEFAULT_PRODUCT_SHIFT);
                let len = net.arch.layer_inputs(1) as u32;
                let params = [qa as u32, shift, 0, 0];
                let record =
                    OpRecord { kind: op::PAIRWISE_U8, activation: activation::PAIRWISE_CRELU, params, ..blank() };
                let products = self.push(element::U8, len, accumulators, record);
                let weights = self.tensor(1, &second.weights, Layout::K4, self.sum_claim(1))?;
                let outputs = net.arch.layers.get(1).map_or(0, |layer| layer.outputs as u32);
                let sum =
                    self.push(element::I32, outputs, products, OpRecord { kind: op::AFFINE_I8, weights, ..blank() });
                let unit = f64::from(qa) * f64::from(qa) * f64::from(second.weights.scale.unwrap_or(1))
                    / f64::from(1u32 << shift.min(31));
                let real = self.dequantise(sum, 1.0 / unit)?;
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
        let weights = self.add(pack_tensor(&first.weights, Layout::Rows, Orientation::InputRows, 1, 0))?;
        let bias = self.add(pack_tensor(&first.bias, Layout::Rows, Orientation::OutputRows, 1, 0))?;
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
            self.program.input.king_table = self.add(pack_vector("king_table", element::U8, 1, &table))?;
            let table = net.arch.piece_count_table().map(|bucket| [bucket]);
            self.program.input.bucket_table = self.add(pack_vector("bucket_table", element::U8, 1, &table))?;
        }
        let len = self.program.values.first().map_or(0, |value| value.len);
        Ok(Value { index: 0, start: 0, len })
    }

    fn activate_dot(&mut self, accumulators: Value, activation: Activation, max: i32) -> Result<Value, PackError> {
        let net = self.net;
        let Some(second) = net.layers.get(1) else { return Ok(accumulators) };
        let largest = second.weights.integers().iter().map(|weight| i64::from(*weight).abs()).max().unwrap_or(0);
        let short = activation == Activation::Screlu && largest * i64::from(max) <= i64::from(i16::MAX);
        let claims = self.sum_claim(1) | if short { claim::PRODUCT_FITS_I16 } else { 0 };
        let weights = self.tensor(1, &second.weights, Layout::Rows, claims)?;
        let outputs = net.arch.layers.get(1).map_or(0, |layer| layer.outputs as u32);
        let params = [max as u32, 0, 0, 0];
        let record =
            OpRecord { kind: op::ACTIVATE_DOT, weights, activation: activation_code(activation), params, ..blank() };
        Ok(self.push(element::I32, outputs, accumulators, record))
    }

    fn sum_claim(&self, index: usize) -> u32 {
        let fits = self.net.layers.get(index).is_some_and(|layer| self.proof.fits(&layer.weights.name, Quantity::Sum));
        if fits { claim::SUM_FITS } else { 0 }
    }

    /// Sums to reals, with the second layer's bias.
    fn dequantise(&mut self, sum: Value, factor: f64) -> Result<Value, PackError> {
        let net = self.net;
        let Some(second) = net.layers.get(1) else { return Ok(sum) };
        if second.bias.element != ElementType::F32 {
            return Err(self.unsupported(1, "an integer bias in front of a real tail", "store the bias as f32"));
        }
        let bias = self.tensor(1, &second.bias, Layout::Rows, 0)?;
        let params = [(factor as f32).to_bits(), 0, 0, 0];
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
        let weights = self.tensor(index, &layer.weights, Layout::Rows, 0)?;
        let bias = self.tensor(index, &layer.bias, Layout::Rows, 0)?;
        let outputs = net.arch.layers.get(index).map_or(0, |layer| layer.outputs as u32);
        Ok(self.push(element::F32, outputs, input, OpRecord { kind: op::AFFINE_F32, weights, bias, ..blank() }))
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
            if skip.len != sum.len {
                return Err(self.unsupported(
                    1,
                    format!("{} outputs that skip to {} outputs", skip.len, sum.len),
                    "skip as many as come out",
                ));
            }
            let record = OpRecord { kind: op::ADD_F32, second: skip.index, second_start: skip.start, ..blank() };
            sum = self.push(element::F32, sum.len, sum, record);
        }
        let params = [(net.arch.output.scale as f32).to_bits(), 0, 0, 0];
        self.push(element::F32, sum.len, sum, OpRecord { kind: op::SCALE_F32, params, ..blank() });
        Ok(())
    }

    /// Dense int8 layers: affine, requantise, and again.
    fn dense(&mut self) -> Result<(), PackError> {
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
                        format!("a factor of {factor} between sum and output"),
                        "raise `activation_max`",
                    )
                })?;
                multipliers.push(multiplier.to_le_bytes());
                shifts.push([shift as u8]);
            }
            let name = &layer.weights.name;
            let units: Vec<[u8; 4]> = scales.weight_units.iter().map(|unit| unit.to_le_bytes()).collect();
            let multipliers = self.add(pack_vector(&format!("{name}.multipliers"), element::I32, 1, &multipliers))?;
            let shifts = self.add(pack_vector(&format!("{name}.shifts"), element::U8, 1, &shifts))?;
            self.add(pack_vector(&format!("{name}.units"), element::F32, 1, &units))?;
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
            self.program.input.output_unit = scales.output_unit as f32;
        }
        Ok(())
    }
}

/// An operation without tensors.
fn blank() -> OpRecord {
    OpRecord { second: NONE, weights: NONE, bias: NONE, multipliers: NONE, shifts: NONE, ..OpRecord::zeroed() }
}
