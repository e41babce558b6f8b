//! A quantised graph as operations: one of the runtime's for each node.

use super::{Program, blank};
use crate::graph::Activation;
use crate::pack::error::PackError;
use crate::pack::tensor::{Orientation, Packed, layout_of_reals, pack_tensor, pack_vector};
use crate::proof::{Proof, Quantity};
use crate::quantise::QuantTensor;
use crate::quantise::graph::{Element, QuantGraph, QuantInput, QuantNode, QuantOp};
use tamis_runtime::format::{
    InputRecord, Layout, NONE, OpRecord, ValueRecord, activation, claim, element, input_kind, op,
};

/// The name of the tensor that says of each node its zero point and the float value that it stands for.
pub const VALUES: &str = "graph.values";
/// What the name of a node's units ends in; the i-th tensor of such a name is node i's.
pub const UNIT: &str = ".unit";

/// The most operations of a file, by FORMAT.md.
const MAX_OPS: usize = 4096;

/// Builds the program of a graph. The proof decides the claims.
pub fn build_graph<'g>(graph: &'g QuantGraph, proof: &Proof) -> Result<Program<'g>, PackError> {
    let input = input(graph);
    let first = ValueRecord {
        element: if input.kind == input_kind::SPARSE { element::I16 } else { input.element },
        len: graph.len(0) as u32,
        offset_bytes: NONE,
        reserved: 0,
    };
    let program = Program { input, blocks: Vec::new(), tensors: Vec::new(), values: vec![first], ops: Vec::new() };
    let mut builder = GraphBuilder { graph, proof, program };
    if graph.nodes.is_empty() || graph.nodes.len() > MAX_OPS {
        let what = format!("a network of {} operations, 1 to {MAX_OPS} are allowed", graph.nodes.len());
        return Err(PackError::Unsupported { layer: graph.name.clone(), what, instead: "merge layers" });
    }
    for node in &graph.nodes {
        builder.node(node)?;
    }
    let facts = graph.nodes.iter().flat_map(|node| {
        let layer = node.value.layer.and_then(|layer| i32::try_from(layer).ok()).unwrap_or(-1);
        [node.value.zero.to_le_bytes(), layer.to_le_bytes()]
    });
    builder.add(pack_vector(VALUES, element::I32, &facts.collect::<Vec<_>>())?)?;
    let mut program = builder.program;
    program.input.output = program.ops.len() as u32;
    Ok(program)
}

fn input(graph: &QuantGraph) -> InputRecord {
    let common = InputRecord {
        kind: input_kind::DENSE,
        size: 0,
        perspectives: 0,
        hidden: 0,
        max_active: 0,
        bucket_count: 1,
        feature_set: 0,
        king_table: NONE,
        bucket_table: NONE,
        element: 0,
        unit: 0.0,
        output: 0,
        output_unit: graph.output_unit(),
        order: 0,
        exact: 0,
        reserved: 0,
    };
    match graph.input {
        QuantInput::Dense { len, element, unit } => {
            InputRecord { size: len as u32, element: element.code(), unit, ..common }
        }
        QuantInput::Sparse { features, max_active, exact, unit } => InputRecord {
            kind: input_kind::SPARSE,
            size: features as u32,
            max_active: max_active as u32,
            element: if unit.is_some() { element::I16 } else { 0 },
            unit: unit.unwrap_or(0.0),
            exact: u32::from(exact),
            ..common
        },
    }
}

struct GraphBuilder<'g, 'p> {
    graph: &'g QuantGraph,
    proof: &'p Proof,
    program: Program<'g>,
}

impl<'g> GraphBuilder<'g, '_> {
    fn node(&mut self, node: &'g QuantNode) -> Result<(), PackError> {
        let mut record = self.operation(node)?;
        let value = |place: usize| node.reads.get(place).copied().unwrap_or(0);
        record.input = value(0) as u32;
        record.input_len = self.graph.len(value(0)) as u32;
        if matches!(node.op, QuantOp::Concat | QuantOp::Add) {
            record.second = value(1) as u32;
        }
        record.output = self.program.values.len() as u32;
        self.program.ops.push(record);
        let (element, len) = (node.value.element.code(), node.value.len as u32);
        self.program.values.push(ValueRecord { element, len, offset_bytes: NONE, reserved: 0 });
        let units: Vec<[u8; 4]> = node.value.units.iter().map(|unit| unit.to_le_bytes()).collect();
        self.add(pack_vector(&format!("{}{UNIT}", node.name), element::F32, &units)?)?;
        Ok(())
    }

    /// The record of a node with its tensors, without the values that it reads and writes.
    fn operation(&mut self, node: &'g QuantNode) -> Result<OpRecord, PackError> {
        let real = node.value.element == Element::F32;
        let kind = |kind| OpRecord { kind, ..blank() };
        let with = |kind, params| OpRecord { kind, params, ..blank() };
        let zero = node.value.zero as u32;
        Ok(match &node.op {
            QuantOp::Affine { weights, bias } => {
                let bytes = node.reads.first().is_none_or(|value| self.graph.element(*value) != Element::I16);
                let layout = if bytes { Layout::K4 } else { Layout::Rows };
                let weights = self.tensor(weights, layout, Orientation::OutputRows)?;
                let bias = self.tensor(bias, Layout::Rows, Orientation::OutputRows)?;
                OpRecord { weights, bias, ..kind(if bytes { op::AFFINE_I8 } else { op::AFFINE_I16 }) }
            }
            QuantOp::AffineF32 { weights, bias } => {
                let layout = layout_of_reals(weights.outputs as u32, weights.inputs as u32);
                let weights = self.tensor(weights, layout, Orientation::OutputRows)?;
                let bias = self.tensor(bias, Layout::Rows, Orientation::OutputRows)?;
                OpRecord { weights, bias, ..kind(op::AFFINE_F32) }
            }
            QuantOp::SparseAffine { weights, bias } => {
                let weights = self.tensor(weights, Layout::Rows, Orientation::InputRows)?;
                let bias = self.tensor(bias, Layout::Rows, Orientation::OutputRows)?;
                OpRecord { weights, bias, ..kind(op::SPARSE_AFFINE) }
            }
            QuantOp::SparseRows { table, requantisation } => {
                let weights = self.tensor(table, Layout::Rows, Orientation::InputRows)?;
                let (multiplier, shift) = requantisation.unwrap_or((0, 0));
                OpRecord { weights, ..with(op::SPARSE_ROWS, [multiplier as u32, shift, 0, 0]) }
            }
            QuantOp::FmTerm { width } => with(op::FM_TERM, [*width as u32, 0, 0, 0]),
            QuantOp::BiInteraction { width } => with(op::BI_INTERACTION, [*width as u32, 0, 0, 0]),
            QuantOp::InnerProducts { width } => with(op::INNER_PRODUCTS, [*width as u32, 0, 0, 0]),
            QuantOp::Concat => kind(op::CONCAT),
            QuantOp::Add => kind(if real { op::ADD_F32 } else { op::ADD_I32 }),
            QuantOp::Requantise { multipliers, shifts, low, high } => {
                let bytes: Vec<[u8; 4]> = multipliers.iter().map(|multiplier| multiplier.to_le_bytes()).collect();
                let name = format!("{}.multipliers", node.name);
                let multipliers = self.add(pack_vector(&name, element::I32, &bytes)?)?;
                let bytes: Vec<[u8; 1]> = shifts.iter().map(|shift| [*shift]).collect();
                let shifts = self.add(pack_vector(&format!("{}.shifts", node.name), element::U8, &bytes)?)?;
                OpRecord { multipliers, shifts, ..with(op::REQUANTISE, [*low as u32, *high as u32, zero, 0]) }
            }
            QuantOp::Lookup { table } => {
                let bytes: Vec<[u8; 1]> = table.iter().map(|entry| [*entry as u8]).collect();
                let name = format!("{}.table", node.name);
                let weights = self.add(pack_vector(&name, node.value.element.code(), &bytes)?)?;
                OpRecord { weights, ..kind(op::LOOKUP) }
            }
            QuantOp::Trees { features, thresholds, leaves } => {
                let [multipliers, weights, bias] = [features, thresholds, leaves];
                let multipliers = self.tensor(multipliers, Layout::Rows, Orientation::OutputRows)?;
                let weights = self.tensor(weights, Layout::Rows, Orientation::OutputRows)?;
                let bias = self.tensor(bias, Layout::Rows, Orientation::OutputRows)?;
                let params = [features.outputs as u32, features.inputs as u32, 0, 0];
                OpRecord { multipliers, weights, bias, ..with(op::TREES, params) }
            }
            QuantOp::ToF32 { factor, zero } => with(op::TO_F32, [factor.to_bits(), *zero as u32, 0, 0]),
            QuantOp::Dequantise { factor } => with(op::DEQUANTISE, [factor.to_bits(), 0, 0, 0]),
            QuantOp::Quantise { inverse, low, high } => {
                with(op::QUANTISE, [inverse.to_bits(), *low as u32, *high as u32, zero])
            }
            QuantOp::Activation(function) => {
                let (code, parameter) = activation_code(*function);
                OpRecord { activation: code, ..with(op::ACTIVATION_F32, [parameter, 0, 0, 0]) }
            }
            QuantOp::Scale(factor) => with(op::SCALE_F32, [factor.to_bits(), 0, 0, 0]),
        })
    }

    fn tensor(&mut self, tensor: &'g QuantTensor, layout: Layout, orientation: Orientation) -> Result<u32, PackError> {
        let bounded = self.proof.checks.iter().any(|check| check.tensor == tensor.name);
        let claims = if bounded && self.proof.fits(&tensor.name, Quantity::Sum) { claim::SUM_FITS } else { 0 };
        let mut packed = pack_tensor(tensor, layout, orientation, 1, claims)?;
        if layout == Layout::K4 && packed.quads_fit() {
            packed.record.claims |= claim::QUADS_FIT_I16;
        }
        self.add(packed)
    }

    /// Appends a tensor; its name must be new and a line of text, since people find tensors by name.
    fn add(&mut self, packed: Packed<'g>) -> Result<u32, PackError> {
        if self.program.tensors.iter().any(|other| other.name == packed.name) {
            return Err(PackError::NameTaken { tensor: packed.name });
        }
        if packed.name.chars().any(char::is_control) {
            let (layer, what) = (packed.name.escape_debug().to_string(), "a name of several lines".to_owned());
            return Err(PackError::Unsupported { layer, what, instead: "rename the layer" });
        }
        self.program.tensors.push(packed);
        Ok(self.program.tensors.len() as u32 - 1)
    }
}

/// The code of an activation and its parameter.
fn activation_code(function: Activation) -> (u32, u32) {
    match function {
        Activation::Relu => (activation::RELU, 0),
        Activation::LeakyRelu { alpha } => (activation::LEAKY_RELU, (alpha as f32).to_bits()),
        Activation::Sigmoid => (activation::SIGMOID, 0),
        Activation::Tanh => (activation::TANH, 0),
        Activation::Softmax => (activation::SOFTMAX, 0),
    }
}
