//! A program as the file's records: one of the runtime's operations for each node.

use super::codes::{activation_code, dot_code};
use super::error::PackError;
use super::kept;
use super::tensor::{Orientation, Packed, layout_of_reals, pack_tensor, pack_vector};
use crate::program::{
    ByteActivation, Clip, Element, Operation, Program, ProgramInput, ProgramNode, QuantTensor, Read, RealActivation,
    Unsupported,
};
use crate::proof::{Proof, Quantity};
use crate::spatial::Shape;
use bytemuck::Zeroable;
use tamis_runtime::raw::{
    BlockRecord, InputRecord, Layout, NONE, OpRecord, TensorRecord, ValueRecord, activation, claim, element,
    input_kind, op, perspective_order,
};

/// The name of the tensor that says of each node its zero point and the float value that it stands for.
pub const VALUES: &str = "graph.values";
/// The name of the tensor that says of which channels a value is, where they are not all of its layer.
pub const KEPT: &str = "graph.kept";
/// What the name of a node's units ends in; the i-th tensor of such a name is node i's.
pub const UNIT: &str = ".unit";

/// The unit of a list of features that have no values, by FORMAT.md.
const NO_UNIT: f32 = 0.0;
/// The most operations of a file, by FORMAT.md.
const MAX_OPS: usize = 4096;

/// Everything between header and metadata, before places are known.
pub struct Records<'p> {
    pub input: InputRecord,
    pub blocks: Vec<BlockRecord>,
    pub tensors: Vec<Packed<'p>>,
    pub values: Vec<ValueRecord>,
    pub ops: Vec<OpRecord>,
}

/// The records of a program. The proof decides the claims.
///
/// # Errors
/// As [`super::pack`].
pub fn records<'p>(program: &'p Program, proof: &Proof) -> Result<Records<'p>, PackError> {
    if program.nodes.is_empty() || program.nodes.len() > MAX_OPS {
        let what = format!("a network of {} operations, 1 to {MAX_OPS} are allowed", program.nodes.len());
        return Err(PackError::from(Unsupported { layer: program.name.clone(), what, instead: "merge layers" }));
    }
    let input = input(program);
    let first = value_record(program.element(0), program.zero(0), program.shape(0))?;
    let records = Records { input, blocks: Vec::new(), tensors: Vec::new(), values: vec![first], ops: Vec::new() };
    let mut writer = Writer { program, proof, records };
    writer.transformer()?;
    writer.notes(0)?;
    for (index, node) in program.nodes.iter().enumerate() {
        writer.node(node)?;
        writer.notes(index + 1)?;
    }
    if program.keeps_units {
        let facts = program.nodes.iter().flat_map(|node| {
            let layer = node.value.layer.and_then(|layer| i32::try_from(layer).ok()).unwrap_or(-1);
            [node.value.zero.to_le_bytes(), layer.to_le_bytes()]
        });
        writer.add(pack_vector(VALUES, element::I32, &facts.collect::<Vec<_>>())?)?;
        let kept: Vec<[u8; 4]> = kept::words(program).into_iter().map(i32::to_le_bytes).collect();
        if !kept.is_empty() {
            writer.add(pack_vector(KEPT, element::I32, &kept)?)?;
        }
    }
    let mut records = writer.records;
    records.input.output = records.ops.len() as u32;
    Ok(records)
}

/// A value without its place.
fn value_record(element: Element, zero: i32, shape: Shape) -> Result<ValueRecord, PackError> {
    let Ok(zero) = i16::try_from(zero) else {
        let what = format!("a zero point of {zero}, i16 holds them");
        return Err(PackError::from(Unsupported { layer: shape.to_string(), what, instead: "use other ranges" }));
    };
    let beyond = [shape.height, shape.width].map(|size| u16::try_from(size.wrapping_sub(1)));
    let [Ok(down), Ok(across)] = beyond else {
        let what = format!("a value of {shape}, height and width of up to 65536 are allowed");
        return Err(PackError::from(Unsupported { layer: shape.to_string(), what, instead: "use a smaller map" }));
    };
    let (element, len) = (element.code() as u16, shape.len() as u32);
    Ok(ValueRecord { element, zero, len, place: NONE, extent: [down, across] })
}

fn input(program: &Program) -> InputRecord {
    let common = InputRecord {
        bucket_count: program.buckets() as u32,
        king_table: NONE,
        bucket_table: NONE,
        output_unit: program.output_unit(),
        ..InputRecord::zeroed()
    };
    match program.input {
        ProgramInput::Dense { shape, element, unit, .. } => {
            let (size, element) = (shape.len() as u32, element.code());
            InputRecord { kind: input_kind::DENSE, size, element, unit, ..common }
        }
        ProgramInput::Sparse { features, max_active, exact, unit } => InputRecord {
            kind: input_kind::SPARSE,
            size: features as u32,
            max_active: max_active as u32,
            element: if unit.is_some() { element::I16 } else { 0 },
            unit: unit.unwrap_or(NO_UNIT),
            exact: u32::from(exact),
            ..common
        },
        ProgramInput::Features { features, perspectives, max_active, set, other_first, .. } => InputRecord {
            kind: input_kind::FEATURES,
            size: features as u32,
            perspectives: perspectives as u32,
            hidden: program.width() as u32,
            max_active: max_active as u32,
            feature_set: set,
            order: if other_first { perspective_order::OTHER_FIRST } else { perspective_order::OWN_FIRST },
            ..common
        },
    }
}

pub(super) struct Writer<'p, 'a> {
    pub(super) program: &'p Program,
    proof: &'a Proof,
    records: Records<'p>,
}

impl<'p> Writer<'p, '_> {
    fn transformer(&mut self) -> Result<(), PackError> {
        let Some(transformer) = &self.program.transformer else { return Ok(()) };
        let fits = self.proof.fits(&transformer.rows.name, Quantity::Accumulator);
        let claims = if fits { claim::ACCUMULATOR_FITS } else { 0 };
        let mut first_feature = 0;
        for rows in std::iter::once(&transformer.rows).chain(&transformer.further) {
            let weights = self.add(pack_tensor(rows, Layout::Rows, Orientation::InputRows, 0)?)?;
            let bias = Some(&transformer.bias).filter(|_| first_feature == 0);
            let bias = self.optional(bias)?;
            let count = rows.inputs as u32;
            let block = BlockRecord { first_feature, feature_count: count, weights, bias, claims, reserved: [0; 3] };
            first_feature += count;
            self.records.blocks.push(block);
        }
        if let Some(tables) = &transformer.tables {
            let kings = tables.kings.map(|bucket| [bucket]);
            self.records.input.king_table = self.add(pack_vector("king_table", element::U8, &kings)?)?;
            let buckets: Vec<[u8; 1]> = tables.buckets.iter().map(|bucket| [*bucket]).collect();
            self.records.input.bucket_table = self.add(pack_vector("bucket_table", element::U8, &buckets)?)?;
            self.records.input.counted = tables.counted;
        }
        Ok(())
    }

    /// The tensors that no operation reads and that stand behind so many nodes.
    fn notes(&mut self, behind: usize) -> Result<(), PackError> {
        for note in self.program.notes.iter().filter(|note| note.behind == behind) {
            let orientation = if note.by_input { Orientation::InputRows } else { Orientation::OutputRows };
            self.add(pack_tensor(&note.tensor, Layout::Rows, orientation, 0)?)?;
        }
        Ok(())
    }

    fn node(&mut self, node: &'p ProgramNode) -> Result<(), PackError> {
        let mut record = self.operation(node)?;
        let part = |read: Read| read.part.unwrap_or((0, self.program.len(read.value)));
        let first = node.reads[0];
        let (start, len) = part(first);
        (record.input, record.input_start, record.input_len) = (first.value as u32, start as u32, len as u32);
        if let Some(second) = node.reads.get(1) {
            (record.second, record.second_start) = (second.value as u32, part(*second).0 as u32);
        }
        record.output = self.records.values.len() as u32;
        self.records.ops.push(record);
        self.records.values.push(value_record(node.value.element, node.value.zero, node.value.shape)?);
        if self.program.keeps_units {
            let units: Vec<[u8; 4]> = node.value.units.iter().map(|unit| unit.to_le_bytes()).collect();
            self.add(pack_vector(&format!("{}{UNIT}", node.name), element::F32, &units)?)?;
        }
        Ok(())
    }

    /// The record of a node with its tensors, without the values that it reads and writes.
    fn operation(&mut self, node: &'p ProgramNode) -> Result<OpRecord, PackError> {
        let real = node.value.element == Element::F32;
        let kind = |kind| OpRecord { kind, ..blank() };
        let with = |kind, params| OpRecord { kind, params, ..blank() };
        let zero = node.value.zero as u32;
        Ok(match &node.op {
            Operation::ActivateDot { weights, clip, max } => {
                let is_square = *clip == Clip::Screlu;
                let weights = self.dot_weights(weights, is_square.then_some(*max))?;
                OpRecord { weights, activation: dot_code(*clip), ..with(op::ACTIVATE_DOT, [*max as u32, 0, 0, 0]) }
            }
            Operation::WideHead { weights, bias, clip, max, pre, factor, divisor } => {
                let weights = self.tensor(weights, Layout::Rows, Orientation::OutputRows)?;
                let bias = self.tensor(bias, Layout::Rows, Orientation::OutputRows)?;
                let params = [max, pre, factor, divisor].map(|param| *param as u32);
                OpRecord { weights, bias, activation: dot_code(*clip), ..with(op::WIDE_HEAD, params) }
            }
            Operation::RoundedDot { weights, bias, max } => {
                let (weights, bias) = self.affine(weights, bias.as_ref(), Layout::Rows, Orientation::OutputRows)?;
                let params = [*max as u32, 0, 0, 0];
                OpRecord { weights, bias, activation: activation::SCRELU, ..with(op::ROUNDED_DOT, params) }
            }
            Operation::Rescale { bias, pre, factor, divisor } => {
                let bias = self.tensor(bias, Layout::Rows, Orientation::OutputRows)?;
                OpRecord { bias, ..with(op::RESCALE, [*pre as u32, *factor as u32, *divisor as u32, 0]) }
            }
            Operation::ActivateF32 { activation, max, inverse, left_out } => {
                let (code, _) = match activation {
                    RealActivation::Relu => activation_code(RealActivation::Crelu),
                    clipped => activation_code(*clipped),
                };
                OpRecord {
                    activation: code,
                    ..with(op::ACTIVATE_F32, [*max as u32, inverse.to_bits(), *left_out as u32, 0])
                }
            }
            Operation::PairwiseU8 { max, shift, is_rounded, left_out } => {
                let kind = if *is_rounded { op::PAIRWISE_ROUNDED } else { op::PAIRWISE_U8 };
                let params = [*max as u32, *shift, *left_out as u32, 0];
                OpRecord { activation: activation::PAIRWISE_CRELU, ..with(kind, params) }
            }
            Operation::ClipU8 { max, shift, left_out } => OpRecord {
                activation: activation::CRELU,
                ..with(op::CLIP_U8, [*max as u32, *shift, *left_out as u32, 0])
            },
            Operation::Psqt { digits, bits } => with(op::PSQT, [*digits as u32, bits % op::DIGIT_BITS, 0, 0]),
            Operation::FeatureSums { digits, bits, sides, is_bucketed } => {
                let banks = if *is_bucketed { self.program.buckets() as u32 } else { 1 };
                with(op::FEATURE_SUMS, [*digits as u32, bits % op::DIGIT_BITS, sides.code(), banks])
            }
            Operation::ActivateU8 { form, max, clip_shift, square_shift } => {
                let code = match form {
                    ByteActivation::Clip => activation::SHIFT_CLIP,
                    ByteActivation::Square => activation::SHIFT_SQUARE,
                    ByteActivation::Both => activation::SQUARE_AND_CLIP,
                };
                let params = [*max as u32, *clip_shift, *square_shift, 0];
                OpRecord { activation: code, ..with(op::ACTIVATE_U8, params) }
            }
            Operation::Affine { weights, bias } => {
                let bytes = self.program.element(node.read(0)) != Element::I16;
                let layout = if bytes { Layout::K4 } else { Layout::Rows };
                let (weights, bias) = self.affine(weights, bias.as_ref(), layout, Orientation::OutputRows)?;
                OpRecord { weights, bias, ..kind(if bytes { op::AFFINE_I8 } else { op::AFFINE_I16 }) }
            }
            Operation::AffineI32 { clip, is_dual, max, shift, weights, bias } => {
                let (code, max) = match clip {
                    _ if *is_dual => (activation::DUAL_CRELU, *max),
                    Clip::Identity => (activation::IDENTITY, 0),
                    Clip::Relu => (activation::RELU, 0),
                    Clip::Crelu => (activation::CRELU, *max),
                    Clip::Screlu => (activation::SCRELU, *max),
                    Clip::Sqrrelu => (activation::SQRRELU, *max),
                };
                let (weights, bias) = self.affine(weights, bias.as_ref(), Layout::Rows, Orientation::OutputRows)?;
                OpRecord { weights, bias, activation: code, ..with(op::AFFINE_I32, [max as u32, *shift, 0, 0]) }
            }
            Operation::AffineF32 { weights, bias } => {
                let layout = layout_of_reals(node.value.len() as u32, weights.inputs as u32);
                let (weights, bias) = self.affine(weights, bias.as_ref(), layout, Orientation::OutputRows)?;
                OpRecord { weights, bias, ..kind(op::AFFINE_F32) }
            }
            Operation::SparseAffine { weights, bias } => {
                let (weights, bias) = self.affine(weights, bias.as_ref(), Layout::Rows, Orientation::InputRows)?;
                OpRecord { weights, bias, ..kind(op::SPARSE_AFFINE) }
            }
            Operation::SparseRows { table, requantisation } => {
                let weights = self.tensor(table, Layout::Rows, Orientation::InputRows)?;
                let (multiplier, shift) = requantisation.unwrap_or((0, 0));
                OpRecord { weights, ..with(op::SPARSE_ROWS, [multiplier as u32, shift, 0, 0]) }
            }
            Operation::FmTerm { width } => with(op::FM_TERM, [*width as u32, 0, 0, 0]),
            Operation::BiInteraction { width } => with(op::BI_INTERACTION, [*width as u32, 0, 0, 0]),
            Operation::InnerProducts { width } => with(op::INNER_PRODUCTS, [*width as u32, 0, 0, 0]),
            Operation::Concat { runs: 1 } => kind(op::CONCAT),
            Operation::Concat { runs } => with(op::CONCAT, [*runs as u32, 0, 0, 0]),
            Operation::Multiply => kind(op::MULTIPLY_F32),
            Operation::Add => kind(if real { op::ADD_F32 } else { op::ADD_I32 }),
            Operation::Requantise { multipliers, shifts, low, high } => {
                let bytes: Vec<[u8; 4]> = multipliers.iter().map(|multiplier| multiplier.to_le_bytes()).collect();
                let name = format!("{}.multipliers", node.name);
                let multipliers = self.add(pack_vector(&name, element::I32, &bytes)?)?;
                let bytes: Vec<[u8; 1]> = shifts.iter().map(|shift| [*shift]).collect();
                let shifts = self.add(pack_vector(&format!("{}.shifts", node.name), element::U8, &bytes)?)?;
                OpRecord { multipliers, shifts, ..with(op::REQUANTISE, [*low as u32, *high as u32, zero, 0]) }
            }
            Operation::Lookup { table } => {
                let bytes: Vec<[u8; 1]> = table.iter().map(|entry| [*entry as u8]).collect();
                let name = format!("{}.table", node.name);
                let weights = self.add(pack_vector(&name, node.value.element.code(), &bytes)?)?;
                OpRecord { weights, ..kind(op::LOOKUP) }
            }
            Operation::Trees { features, thresholds, leaves } => {
                let [multipliers, weights, bias] = [features, thresholds, leaves];
                let multipliers = self.tensor(multipliers, Layout::Rows, Orientation::OutputRows)?;
                let weights = self.tensor(weights, Layout::Rows, Orientation::OutputRows)?;
                let bias = self.tensor(bias, Layout::Rows, Orientation::OutputRows)?;
                let params = [features.outputs as u32, features.inputs as u32, 0, 0];
                OpRecord { multipliers, weights, bias, ..with(op::TREES, params) }
            }
            Operation::ToF32 { factor, zero } => with(op::TO_F32, [factor.to_bits(), *zero as u32, 0, 0]),
            Operation::Dequantise { factor, bias } => {
                let bias = self.optional(bias.as_ref())?;
                OpRecord { bias, ..with(op::DEQUANTISE, [factor.to_bits(), 0, 0, 0]) }
            }
            Operation::Quantise { inverse, low, high } => {
                with(op::QUANTISE, [inverse.to_bits(), *low as u32, *high as u32, zero])
            }
            Operation::Activation(function) => {
                let (code, parameter) = activation_code(*function);
                OpRecord { activation: code, ..with(op::ACTIVATION_F32, [parameter, 0, 0, 0]) }
            }
            Operation::Scale(factor) => with(op::SCALE_F32, [factor.to_bits(), 0, 0, 0]),
            _ => self.maps(node)?,
        })
    }

    /// Weights and, if there is one, the bias.
    fn affine(
        &mut self,
        weights: &'p QuantTensor,
        bias: Option<&'p QuantTensor>,
        layout: Layout,
        orientation: Orientation,
    ) -> Result<(u32, u32), PackError> {
        let weights = self.tensor(weights, layout, orientation)?;
        Ok((weights, self.optional(bias)?))
    }

    pub(super) fn optional(&mut self, tensor: Option<&'p QuantTensor>) -> Result<u32, PackError> {
        tensor.map_or(Ok(NONE), |tensor| self.tensor(tensor, Layout::Rows, Orientation::OutputRows))
    }

    /// Weights behind accumulators. squared_up_to: the clip of SCReLU, whose short form needs products that fit i16.
    fn dot_weights(&mut self, weights: &'p QuantTensor, squared_up_to: Option<i32>) -> Result<u32, PackError> {
        let largest = weights.integers().iter().map(|weight| i64::from(*weight).abs()).fold(0, i64::max);
        let fits = squared_up_to.is_some_and(|max| largest * i64::from(max) <= i64::from(i16::MAX));
        let claims = self.sum_claim(weights) | if fits { claim::PRODUCT_FITS_I16 } else { 0 };
        let packed = pack_tensor(weights, Layout::Rows, Orientation::OutputRows, claims)?;
        self.add(packed)
    }

    pub(super) fn tensor(
        &mut self,
        tensor: &'p QuantTensor,
        layout: Layout,
        orientation: Orientation,
    ) -> Result<u32, PackError> {
        let mut packed = pack_tensor(tensor, layout, orientation, self.sum_claim(tensor))?;
        if layout == Layout::K4 && packed.quads_fit() {
            packed.record.claims |= claim::QUADS_FIT_I16;
        }
        self.add(packed)
    }

    /// What is proved of the sums over a tensor.
    pub(super) fn sum_claim(&self, tensor: &QuantTensor) -> u32 {
        let is_sum = |quantity| matches!(quantity, Quantity::Sum);
        let bounded = self.proof.checks.iter().any(|check| is_sum(check.quantity) && check.tensor == tensor.name);
        if bounded && self.proof.fits(&tensor.name, Quantity::Sum) { claim::SUM_FITS } else { 0 }
    }

    /// Appends a tensor; its name must be new and a line of text, since people find tensors by name. The same tensor
    /// again is not written again.
    pub(super) fn add(&mut self, packed: Packed<'p>) -> Result<u32, PackError> {
        if let Some(index) = self.records.tensors.iter().position(|other| other.name == packed.name) {
            let unplaced = |record: &TensorRecord| TensorRecord { offset_bytes: 0, ..*record };
            let other = &self.records.tensors[index];
            if unplaced(&other.record) == unplaced(&packed.record) && other.bytes() == packed.bytes() {
                return Ok(index as u32);
            }
            return Err(PackError::NameTaken { tensor: packed.name });
        }
        if packed.name.chars().any(char::is_control) {
            let (layer, what) = (packed.name.escape_debug().to_string(), "a name of several lines".to_owned());
            return Err(PackError::from(Unsupported { layer, what, instead: "rename the layer" }));
        }
        self.records.tensors.push(packed);
        Ok(self.records.tensors.len() as u32 - 1)
    }
}

/// An operation without tensors.
pub(super) fn blank() -> OpRecord {
    OpRecord { second: NONE, weights: NONE, bias: NONE, multipliers: NONE, shifts: NONE, ..OpRecord::zeroed() }
}
