//! What has to hold of a model before its operators are looked at.

use super::error::OnnxError;
use super::model::is_onnx_domain;
use super::types::{Model, NodeProto};
use std::collections::HashSet;

/// The oldest version of the operators that is read.
pub(super) const FIRST_OPSET: i64 = 9;
/// The newest.
pub(super) const LAST_OPSET: i64 = 21;

/// The most nodes, since a few passes over a graph take time that grows with their square.
const MAX_NODES: usize = 1 << 14;

/// Whether every value is made once and before it is read, every tensor is what its fields say, and the operators are
/// ONNX's own, of a version that is known.
pub(super) fn check(model: &Model<'_>) -> Result<(), OnnxError> {
    let found = model.opset;
    if !(FIRST_OPSET..=LAST_OPSET).contains(&found) {
        return Err(OnnxError::Opset { found, first: FIRST_OPSET, last: LAST_OPSET });
    }
    let graph = &model.graph;
    for (what, is_missing) in [("every node", graph.nodes.is_empty()), ("every output", graph.outputs.is_empty())] {
        if is_missing {
            return Err(OnnxError::Missing { what: what.to_owned() });
        }
    }
    if graph.nodes.len() > MAX_NODES {
        let what = format!("a graph of {} nodes, more than {MAX_NODES},", graph.nodes.len());
        return Err(OnnxError::Feature { place: "the graph".to_owned(), what });
    }
    let twice = |what: &str, name: &str| OnnxError::Twice { what: format!("{what} `{name}`") };
    let mut known = HashSet::new();
    for tensor in &graph.initializers {
        tensor.check()?;
        if !known.insert(tensor.name) {
            return Err(twice("the initializer", tensor.name));
        }
    }
    let mut inputs = HashSet::new();
    for input in &graph.inputs {
        if !inputs.insert(input.name) {
            return Err(twice("the input", input.name));
        }
        // An initializer may be the default of an input.
        known.insert(input.name);
    }
    let made: HashSet<&str> = graph.nodes.iter().flat_map(|node| &node.outputs).copied().collect();
    for node in &graph.nodes {
        check_node(node)?;
        if let Some(value) = node.inputs.iter().find(|value| !value.is_empty() && !known.contains(**value)) {
            let (reader, value) = (node.place(), (*value).to_owned());
            let is_made = made.contains(value.as_str());
            return Err(if is_made {
                OnnxError::Later { reader, value }
            } else {
                OnnxError::Undefined { reader, value }
            });
        }
        for value in node.outputs.iter().filter(|value| !value.is_empty()) {
            if !known.insert(value) {
                return Err(twice("the value", value));
            }
        }
    }
    for (index, output) in graph.outputs.iter().enumerate() {
        if !known.contains(output.name) {
            return Err(OnnxError::Undefined { reader: format!("output {index}"), value: output.name.to_owned() });
        }
    }
    Ok(())
}

fn check_node(node: &NodeProto<'_>) -> Result<(), OnnxError> {
    if !is_onnx_domain(node.domain) {
        // QLinearAdd, QGemm and the like.
        let instead = if node.operator.starts_with('Q') {
            "; write the model with QuantizeLinear and DequantizeLinear around ONNX's own operators"
        } else {
            ""
        };
        return Err(OnnxError::Domain { node: node.place(), domain: node.domain.to_owned(), instead });
    }
    if node.outputs.iter().all(|output| output.is_empty()) {
        return Err(OnnxError::Missing { what: format!("every output of {}", node.place()) });
    }
    let mut names = HashSet::new();
    match node.attributes.iter().find(|attribute| !names.insert(attribute.name)) {
        Some(attribute) => {
            Err(OnnxError::Twice { what: format!("the attribute `{}` of {}", attribute.name, node.place()) })
        }
        None => Ok(()),
    }
}
