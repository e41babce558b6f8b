//! A quantised graph as safetensors: its integers and reals in training order, for whoever wants to look at them with
//! other tools.

use super::error::PackError;
use super::kept;
use super::records::{KEPT, UNIT, VALUES};
use crate::arch::ElementType;
use crate::graph::description::{DESCRIPTION_KEY, Description};
use crate::program::{Element, Operation, Program, ProgramNode, QuantTensor, Values};
use safetensors::tensor::{Dtype, SafeTensorError, TensorView, serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The metadata's key of the description where the tensors are not those that it names: no importer takes integers for
/// weights.
pub const QUANTISED_KEY: &str = "tamis.quantised";

/// What the JSON header of safetensors keeps for itself.
const METADATA: &str = "__metadata__";

/// The bytes of a safetensors file with every tensor of a graph under its own name, as it is stored; the description in
/// the metadata.
///
/// | tensor | shape | type |
/// |---|---|---|
/// | weights | (out, in) | I8, I16, F32 |
/// | tables | (features, width) | I8, I16, F32 |
/// | biases | (out,) | I32, F32 |
/// | parts of trees | (trees, nodes) | I32, thresholds also F32 |
/// | `<node>.multipliers`, `<node>.shifts` | (len,) | I32, U8 |
/// | `<node>.table` of a function | (256,) | U8, I8 |
/// | `<node>.unit` | (1,) or (len,) | F32: the real value of a 1 |
/// | `graph.values` | (nodes, 2) | I32: the integer that stands for 0; the value of the float graph, −1 for none |
/// | `graph.kept` | (words,) | I32: of which channels values are, as in the container, where some are not all of theirs |
///
/// A network that is reals throughout has the tensors of its description and nothing else, so that the file is a
/// checkpoint, which [`crate::import::tensors::import`] reads. Equal graphs give equal bytes.
///
/// # Errors
/// [`PackError::NameTaken`] if two tensors have one name, or one has the name that safetensors keep for themselves;
/// [`PackError::Contents`] if a tensor is not whole.
pub fn export_graph(graph: &Program) -> Result<Vec<u8>, PackError> {
    let mut arrays = Arrays::default();
    for node in &graph.nodes {
        arrays.node(node)?;
    }
    let key = if arrays.are_of(&graph.description) {
        DESCRIPTION_KEY
    } else {
        arrays.values(graph)?;
        QUANTISED_KEY
    };
    let fault = |error: SafeTensorError| PackError::Description(error.to_string());
    let views = arrays.0.iter().map(|(name, Array { dtype, shape, bytes })| {
        Ok((name, TensorView::new(*dtype, shape.clone(), bytes).map_err(fault)?))
    });
    let views = views.collect::<Result<Vec<_>, PackError>>()?;
    // One key, so that the order of a hash map does not reach the file.
    let metadata = HashMap::from([(key.to_owned(), graph.description.clone())]);
    serialize(views, Some(metadata)).map_err(fault)
}

/// A tensor as safetensors have it: rows one behind the other, little-endian.
struct Array {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

#[derive(Default)]
struct Arrays(BTreeMap<String, Array>);

impl Arrays {
    /// What a node's operation reads.
    fn node(&mut self, node: &ProgramNode) -> Result<(), PackError> {
        match &node.op {
            Operation::Affine { weights, bias }
            | Operation::AffineF32 { weights, bias }
            | Operation::SparseAffine { weights, bias } => {
                self.tensor(weights, vec![weights.outputs, weights.inputs])?;
                bias.iter().try_for_each(|bias| self.tensor(bias, vec![bias.outputs]))
            }
            // Training order is a feature's row behind the other.
            Operation::SparseRows { table, .. } => {
                let bytes = bytes(table, 0..table.outputs * table.inputs)?;
                self.add(&table.name, dtype(table), vec![table.inputs, table.outputs], bytes)
            }
            Operation::Trees { features, thresholds, leaves } => [features, thresholds, leaves]
                .into_iter()
                .try_for_each(|part| self.tensor(part, vec![part.outputs, part.inputs])),
            Operation::Requantise { multipliers, shifts, .. } => {
                let bytes = multipliers.iter().flat_map(|multiplier| multiplier.to_le_bytes()).collect();
                self.add(&format!("{}.multipliers", node.name), Dtype::I32, vec![multipliers.len()], bytes)?;
                self.add(&format!("{}.shifts", node.name), Dtype::U8, vec![shifts.len()], shifts.clone())
            }
            Operation::Lookup { table } => {
                let dtype = if node.value.element == Element::I8 { Dtype::I8 } else { Dtype::U8 };
                let bytes = table.iter().map(|entry| *entry as u8).collect();
                self.add(&format!("{}.table", node.name), dtype, vec![table.len()], bytes)
            }
            _ => Ok(()),
        }
    }

    /// What the integers of every value stand for.
    fn values(&mut self, graph: &Program) -> Result<(), PackError> {
        for node in &graph.nodes {
            let bytes = node.value.units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
            self.add(&format!("{}{UNIT}", node.name), Dtype::F32, vec![node.value.units.len()], bytes)?;
        }
        let facts = graph.nodes.iter().flat_map(|node| {
            let layer = node.value.layer.and_then(|layer| i32::try_from(layer).ok()).unwrap_or(-1);
            [node.value.zero, layer]
        });
        let bytes = facts.flat_map(i32::to_le_bytes).collect();
        self.add(VALUES, Dtype::I32, vec![graph.nodes.len(), 2], bytes)?;
        let words = kept::words(graph);
        if words.is_empty() {
            return Ok(());
        }
        let bytes = words.iter().copied().flat_map(i32::to_le_bytes).collect();
        self.add(KEPT, Dtype::I32, vec![words.len()], bytes)
    }

    /// Whether they are reals, and those that a description names.
    fn are_of(&self, description: &str) -> bool {
        let named = Description::from_toml(description, "description").map(|description| description.tensor_names());
        let found: BTreeSet<&String> = self.0.keys().collect();
        self.0.values().all(|array| array.dtype == Dtype::F32)
            && named.is_ok_and(|named| named.iter().collect::<BTreeSet<_>>() == found)
    }

    /// A tensor whose rows are outputs.
    fn tensor(&mut self, tensor: &QuantTensor, shape: Vec<usize>) -> Result<(), PackError> {
        let (outputs, inputs) = (tensor.outputs, tensor.inputs);
        let rows = (0..outputs).flat_map(|output| (0..inputs).map(move |input| output + outputs * input));
        let bytes = bytes(tensor, rows)?;
        self.add(&tensor.name, dtype(tensor), shape, bytes)
    }

    fn add(&mut self, name: &str, dtype: Dtype, shape: Vec<usize>, bytes: Vec<u8>) -> Result<(), PackError> {
        let taken = self.0.insert(name.to_owned(), Array { dtype, shape, bytes }).is_some();
        if taken || name == METADATA {
            return Err(PackError::NameTaken { tensor: name.to_owned() });
        }
        Ok(())
    }
}

fn dtype(tensor: &QuantTensor) -> Dtype {
    match (&tensor.values, tensor.element) {
        (Values::F32(_), _) => Dtype::F32,
        (Values::Int(_), ElementType::I8) => Dtype::I8,
        (Values::Int(_), ElementType::I16) => Dtype::I16,
        (Values::Int(_), _) => Dtype::I32,
    }
}

/// The elements at these places of training order, as they are stored.
fn bytes(tensor: &QuantTensor, places: impl Iterator<Item = usize>) -> Result<Vec<u8>, PackError> {
    let mut bytes = Vec::new();
    for place in places {
        let (value, len) = match (&tensor.values, tensor.element) {
            (Values::F32(values), _) => (values.get(place).map(|value| value.to_le_bytes()), 4),
            // The low bytes of an integer that fits are the integer.
            (Values::Int(values), ElementType::I8) => (values.get(place).map(|value| value.to_le_bytes()), 1),
            (Values::Int(values), ElementType::I16) => (values.get(place).map(|value| value.to_le_bytes()), 2),
            (Values::Int(values), _) => (values.get(place).map(|value| value.to_le_bytes()), 4),
        };
        let value: [u8; 4] = value.ok_or_else(|| PackError::Contents {
            tensor: tensor.name.clone(),
            outputs: tensor.outputs,
            inputs: tensor.inputs,
        })?;
        bytes.extend(value.iter().take(len));
    }
    Ok(bytes)
}
