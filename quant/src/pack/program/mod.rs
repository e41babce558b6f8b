//! From layers to operations: what the runtime does for each kind of layer, in which order, with which tensors.

mod dense;
mod features;
mod graph;
mod nnue;

pub use graph::{UNIT, VALUES, build_graph};
pub use nnue::{BIAS, PADDING, ROWS, STACK, UNUSED, build_nnue, divided};

use super::error::PackError;
use super::tensor::{Orientation, Packed, pack_tensor, pack_vector};
use crate::arch::{Activation, DenseType, InputKind};
use crate::proof::{Proof, Quantity};
use crate::quantise::{QuantNet, QuantTensor, input_unit, permutation_name, reorderable_pairs};
use bytemuck::Zeroable;
use tamis_runtime::format::{
    BlockRecord, InputRecord, Layout, NONE, OpRecord, ValueRecord, activation, claim, element, feature_set, input_kind,
    perspective_order,
};

/// Everything between header and people's section, before places are known.
pub struct Program<'n> {
    pub input: InputRecord,
    pub blocks: Vec<BlockRecord>,
    pub tensors: Vec<Packed<'n>>,
    pub values: Vec<ValueRecord>,
    pub ops: Vec<OpRecord>,
}

/// Builds the program of a network. The proof decides the claims.
///
/// net: in the file's order, see [`QuantNet::in_file_order`].
pub fn build<'n>(net: &'n QuantNet, proof: &'n Proof) -> Result<Program<'n>, PackError> {
    let mut builder = Builder { net, proof, program: empty(net) };
    if net.arch.input.kind == InputKind::Dense {
        builder.dense()?
    } else {
        builder.features()?
    }
    builder.permutation()?;
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

fn empty(net: &QuantNet) -> Program<'_> {
    let arch = &net.arch;
    let dense = arch.input.kind == InputKind::Dense;
    let input = InputRecord {
        kind: if dense { input_kind::DENSE } else { input_kind::FEATURES },
        size: arch.feature_count() as u32,
        perspectives: if dense { 0 } else { arch.perspectives() as u32 },
        hidden: if dense { 0 } else { arch.layers.first().map_or(0, |layer| layer.outputs as u32) },
        max_active: if dense { 0 } else { arch.max_active() as u32 },
        bucket_count: arch.bucket_count() as u32,
        feature_set: match (arch.input.kind, arch.input.merged_kings, arch.input.mirrored) {
            (InputKind::Chess, false, false) => feature_set::CHESS,
            (InputKind::Chess, false, true) => feature_set::CHESS_MIRRORED,
            (InputKind::Chess, true, false) => feature_set::MERGED,
            (InputKind::Chess, true, true) => feature_set::MERGED_MIRRORED,
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
        exact: 0,
        reserved: 0,
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

impl Program<'_> {
    /// Appends an operation that writes a new value of `len` elements.
    fn push(&mut self, element: u32, len: u32, input: Value, record: OpRecord) -> Value {
        let index = self.values.len() as u32;
        self.values.push(ValueRecord { element, len, offset_bytes: NONE, reserved: 0 });
        let Value { index: input, start: input_start, len: input_len } = input;
        self.ops.push(OpRecord { input, input_start, input_len, output: index, ..record });
        Value { index, start: 0, len }
    }
}

struct Builder<'n> {
    net: &'n QuantNet,
    proof: &'n Proof,
    program: Program<'n>,
}

impl<'n> Builder<'n> {
    fn unsupported(&self, layer: usize, what: impl Into<String>, instead: &'static str) -> PackError {
        let layer = self.net.arch.layers.get(layer).map_or_else(String::new, |layer| layer.name.clone());
        PackError::Unsupported { layer, what: what.into(), instead }
    }

    /// Appends a tensor; its name must be new, since people find tensors by name.
    fn add(&mut self, packed: Packed<'n>) -> Result<u32, PackError> {
        if self.program.tensors.iter().any(|other| other.name == packed.name) {
            return Err(PackError::NameTaken { tensor: packed.name });
        }
        self.program.tensors.push(packed);
        Ok(self.program.tensors.len() as u32 - 1)
    }

    /// The order of the neurons, for people and for `unpack`: no record names the tensor.
    fn permutation(&mut self) -> Result<(), PackError> {
        let Some(permutation) = &self.net.permutation else { return Ok(()) };
        if reorderable_pairs(&self.net.arch) != Some(permutation.order().len()) {
            let what = format!("a permutation of {} pairs of neurons", permutation.order().len());
            return Err(self.unsupported(0, what, "permute what i8 weights read behind pairwise-crelu, or nothing"));
        }
        let order: Vec<[u8; 4]> = permutation.order().iter().map(|pair| pair.to_le_bytes()).collect();
        self.add(pack_vector(&permutation_name(&self.net.arch), element::I32, &order)?)?;
        Ok(())
    }

    /// A tensor of layer `index`, with the layer's output buckets as banks.
    fn tensor(&mut self, index: usize, tensor: &'n QuantTensor, layout: Layout, claims: u32) -> Result<u32, PackError> {
        let bucketed = self.net.arch.layers.get(index).is_some_and(|layer| layer.bucketed);
        let banks = if bucketed { self.net.arch.bucket_count() } else { 1 };
        let mut packed = pack_tensor(tensor, layout, Orientation::OutputRows, banks, claims)?;
        if layout == Layout::K4 && packed.quads_fit() {
            packed.record.claims |= claim::QUADS_FIT_I16;
        }
        self.add(packed)
    }

    /// Appends an operation that writes a new value of `len` elements.
    fn push(&mut self, element: u32, len: u32, input: Value, record: OpRecord) -> Value {
        self.program.push(element, len, input, record)
    }

    /// Outputs of layer `index`, of one bucket.
    fn outputs(&self, index: usize) -> u32 {
        self.net.arch.layers.get(index).map_or(0, |layer| layer.outputs as u32)
    }

    /// What is proved of layer `index`'s sums.
    fn sum_claim(&self, index: usize) -> u32 {
        let fits = self.net.layers.get(index).is_some_and(|layer| self.proof.fits(&layer.weights.name, Quantity::Sum));
        if fits { claim::SUM_FITS } else { 0 }
    }
}

/// An operation without tensors.
fn blank() -> OpRecord {
    OpRecord { second: NONE, weights: NONE, bias: NONE, multipliers: NONE, shifts: NONE, ..OpRecord::zeroed() }
}
