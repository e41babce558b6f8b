//! Whether a description fits together, tried on a graph of its sizes without numbers.

use super::error::Cause;
use super::types::{Described, DescribedOp, Description};
use crate::arch::suggest::printable;
use crate::float::Matrix;
use crate::graph::{Axis, Forest, Graph, GraphError, Input, Node, Op};
use std::collections::HashSet;

/// The most elements of a value, so that sizes can be multiplied.
pub(super) const MAX_LEN: usize = 1 << 24;
/// The most nodes.
pub(super) const MAX_NODES: usize = 4096;
/// The longest name, in bytes.
const MAX_NAME_LEN_BYTES: usize = 256;
/// The name by which nodes read the input, unless a node before them has it.
pub(super) const INPUT: &str = "input";
/// The name by which they always can.
pub(super) const ALWAYS_INPUT: &str = "$input";

/// What is wrong, and of which node.
pub(super) type Refusal = (Option<usize>, Cause);

impl Description {
    /// Whether names can be written, tensors have one place each, and the nodes fit together.
    pub(super) fn check(&self) -> Result<(), Refusal> {
        if self.name.len() > MAX_NAME_LEN_BYTES || self.name.chars().any(char::is_control) {
            let expected = "at most 256 bytes without control characters";
            return Err((None, Cause::Name { found: printable(&self.name), what: "a network's name", expected }));
        }
        match self.input {
            Input::Dense { shape } => size("[input]", "size", shape.len()).map_err(|cause| (None, cause))?,
            Input::Sparse { features, max_active, .. } => {
                size("[input]", "features", features).map_err(|cause| (None, cause))?;
                size("[input]", "max_active", max_active).map_err(|cause| (None, cause))?;
            }
        }
        if self.nodes.len() > MAX_NODES {
            let (found, expected) = (self.nodes.len().to_string(), format!("at most {MAX_NODES}"));
            return Err((None, Cause::Range { place: "the file".to_owned(), key: "[[node]]", found, expected }));
        }
        let mut tensors = HashSet::new();
        let mut outputs = 0;
        for (index, node) in self.nodes.iter().enumerate() {
            let at = |cause| (Some(index), cause);
            node.check().map_err(at)?;
            outputs += if let DescribedOp::Linear { outputs, .. } = node.op { outputs } else { 0 };
            size("all layers together", "outputs", outputs.max(1)).map_err(at)?;
            for tensor in node.tensors() {
                if tensor.is_empty() || tensor.len() > 2 * MAX_NAME_LEN_BYTES || tensor.chars().any(char::is_control) {
                    let expected = "1 to 512 bytes without control characters";
                    return Err(at(Cause::Name { found: printable(&tensor), what: "a tensor's name", expected }));
                }
                if !tensors.insert(tensor.clone()) {
                    return Err(at(Cause::TensorTwice { node: node.name.clone(), tensor: printable(&tensor) }));
                }
            }
        }
        self.skeleton().check().map_err(|error| {
            let place = match &error {
                GraphError::NameTaken { name }
                | GraphError::Reads { name, .. }
                | GraphError::Shape { name, .. }
                | GraphError::NotFinite { name, .. } => self.nodes.iter().rposition(|node| node.name == *name),
                _ => None,
            };
            (place, Cause::Graph(error))
        })
    }

    /// The graph with matrices of the right sizes and no values, which is all that [`Graph::lengths`] and
    /// [`Graph::check`] look at.
    pub(super) fn skeleton(&self) -> Graph {
        let mut graph = Graph { name: self.name.clone(), input: self.input, nodes: Vec::new() };
        for node in &self.nodes {
            let shapes = graph.shapes();
            let inputs = node.reads.first().and_then(|read| shapes.get(*read)).map_or(0, |shape| shape.len());
            let matrix = |outputs| Matrix { outputs, inputs, values: Vec::new() };
            let op = match &node.op {
                DescribedOp::Linear { sparse, outputs, .. } => {
                    let (weights, bias) = (matrix(*outputs), vec![0.0; *outputs]);
                    if *sparse { Op::SparseLinear { weights, bias } } else { Op::Linear { weights, bias } }
                }
                DescribedOp::Embed { width, .. } => Op::Embed { table: matrix(*width) },
                DescribedOp::FmTerm { width } => Op::FmTerm { width: *width },
                DescribedOp::BiInteraction { width } => Op::BiInteraction { width: *width },
                DescribedOp::InnerProducts { width } => Op::InnerProducts { width: *width },
                DescribedOp::Concat => Op::Concat { axis: Axis::Channels },
                DescribedOp::Add => Op::Add,
                DescribedOp::Scale(factor) => Op::Scale(*factor),
                DescribedOp::Activation(activation) => Op::Activation(*activation),
                DescribedOp::Flatten => Op::Flatten,
                DescribedOp::Trees { rate, .. } => Op::Trees(Forest { rate: *rate, trees: Vec::new() }),
            };
            let node = Node { name: node.name.clone(), reads: node.reads.clone(), op };
            graph.nodes.push(node);
        }
        graph
    }
}

impl Described {
    fn check(&self) -> Result<(), Cause> {
        let fits = !self.name.is_empty() && self.name.len() <= MAX_NAME_LEN_BYTES && self.name != ALWAYS_INPUT;
        if !fits || self.name.chars().any(char::is_control) {
            let expected = "1 to 256 bytes without control characters, and not `$input`, which is what goes in";
            return Err(Cause::Name { found: printable(&self.name), what: "a node's name", expected });
        }
        let place = format!("node `{}`", self.name);
        match self.op {
            DescribedOp::Linear { outputs, .. } => size(&place, "outputs", outputs),
            DescribedOp::Embed { width, .. }
            | DescribedOp::FmTerm { width }
            | DescribedOp::BiInteraction { width }
            | DescribedOp::InnerProducts { width } => size(&place, "width", width),
            DescribedOp::Trees { trees, slots, .. } => {
                size(&place, "trees", trees.max(1))?;
                size(&place, "slots", if trees == 0 { slots.max(1) } else { slots })
            }
            _ => Ok(()),
        }
    }
}

fn size(place: &str, key: &'static str, found: usize) -> Result<(), Cause> {
    if (1..=MAX_LEN).contains(&found) {
        return Ok(());
    }
    let expected = format!("1 to {MAX_LEN}");
    Err(Cause::Range { place: place.to_owned(), key, found: found.to_string(), expected })
}
