//! From layers and matrices to a graph.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::error::AngelError;
use super::graph_json::{Description, Layer, LayerKind, Transfer};
use super::input;
use super::matrix::Matrix;
use super::options::Options;
use super::tensors::Tensors;
use crate::graph::{Activation, Axis, Graph, Input, Node, Op, Value};
use crate::import::Remark;

/// Builds the network of a description. `decider` is where the description is from, for messages.
///
/// # Errors
/// [`AngelError`] that names the layer or the matrix.
pub fn build(
    name: &str,
    description: &Description,
    matrices: &BTreeMap<String, Matrix>,
    options: &Options,
    decider: &str,
) -> Result<(Graph, Vec<Remark>), AngelError> {
    let layers = in_order(&description.layers)?;
    let mut tensors = Tensors::new(matrices, decider);
    let mut remarks = Vec::new();
    let input = input::choose(description, &layers, &mut tensors, options, &mut remarks)?;
    let mut network = AngelNetwork { tensors, nodes: Vec::new(), made: HashMap::new(), input };
    for layer in layers {
        network.add(layer)?;
    }
    remarks.extend(network.tensors.remarks());
    let graph = Graph { name: name.to_owned(), input, nodes: network.nodes };
    graph.check()?;
    Ok((graph, remarks))
}

/// The layers that the loss needs, each behind those that it reads, the loss last.
fn in_order(layers: &[Layer]) -> Result<Vec<&Layer>, AngelError> {
    let mut by_name: HashMap<&str, &Layer> = HashMap::new();
    for layer in layers {
        if by_name.insert(&layer.name, layer).is_some() {
            return Err(layer.wrong("a name that another layer has", "names that differ"));
        }
    }
    let losses: Vec<&Layer> = layers.iter().filter(|layer| matches!(layer.kind, LayerKind::Loss(_))).collect();
    let [loss] = losses[..] else {
        let why = format!("{} loss layers, expected 1, which says what the output is", losses.len());
        return Err(AngelError::Json { file: "graph.json", why });
    };
    let mut needed = vec![loss];
    let mut seen = HashSet::from([loss.name.as_str()]);
    let mut next = 0;
    while let Some(layer) = needed.get(next).copied() {
        next += 1;
        for read in &layer.reads {
            let Some(source) = by_name.get(read.as_str()) else {
                let found = format!("the input layer `{}`, which is not there", super::shown(read.as_bytes()));
                return Err(layer.wrong(found, "the name of a layer"));
            };
            if seen.insert(read) {
                needed.push(source);
            }
        }
    }
    let mut placed: HashSet<&str> = HashSet::new();
    let mut order = Vec::new();
    while order.len() < needed.len() {
        let before = order.len();
        for layer in needed.iter().rev() {
            if !placed.contains(layer.name.as_str()) && layer.reads.iter().all(|read| placed.contains(read.as_str())) {
                placed.insert(&layer.name);
                order.push(*layer);
            }
        }
        if order.len() == before {
            return Err(loss.wrong("input layers in a circle", "layers that read what is before them"));
        }
    }
    Ok(order)
}

/// A value of a layer that was built.
#[derive(Clone, Copy)]
struct Made {
    value: Value,
    len: usize,
    /// Elements of one embedding.
    width: Option<usize>,
}

struct AngelNetwork<'a> {
    tensors: Tensors<'a>,
    nodes: Vec<Node>,
    made: HashMap<&'a str, Made>,
    input: Input,
}

impl<'a> AngelNetwork<'a> {
    fn add(&mut self, layer: &'a Layer) -> Result<(), AngelError> {
        let reads: Vec<Made> = layer.reads.iter().filter_map(|read| self.made.get(read.as_str()).copied()).collect();
        let read = reads.first().copied().unwrap_or(Made { value: 0, len: 0, width: None });
        let width = || {
            let expected = "an Embedding as its input layer";
            read.width.ok_or_else(|| layer.wrong("an input layer that is none of embeddings", expected))
        };
        let name = layer.name.as_str();
        let many = || reads.iter().map(|made| made.value).collect::<Vec<Value>>();
        let plain = |value: Value, len: usize| Made { value, len, width: None };
        let made = match &layer.kind {
            LayerKind::Input(transfer) => {
                let (value, len) = self.input_layer(name)?;
                plain(self.transfer(name, value, *transfer), len)
            }
            LayerKind::Embedding(factors) => {
                let tensor = format!("{name}_embedding");
                let saved = self.tensors.matrix(&tensor)?.values.ids().len();
                let table = self.tensors.outputs_by_inputs(&tensor, factors.unwrap_or(saved).max(1))?;
                self.same_features(&tensor, table.inputs)?;
                let width = table.outputs;
                let slots = match self.input {
                    Input::Sparse { max_active, .. } => max_active,
                    Input::Dense { .. } => 0,
                };
                let value = self.push(name, &[0], Op::Embed { table });
                Made { value, len: slots.saturating_mul(width), width: Some(width) }
            }
            LayerKind::FullyConnected(parts) => {
                let mut made = plain(read.value, read.len);
                for (name, transfer) in parts {
                    let bias = self.tensors.bias(&format!("{name}_bias"))?;
                    let len = bias.len();
                    let weights = self.tensors.flattened(&format!("{name}_weight"), made.len, len)?;
                    let value = self.push(name, &[made.value], Op::Linear { weights, bias });
                    made = plain(self.transfer(name, value, *transfer), len);
                }
                made
            }
            LayerKind::FmTerm => plain(self.push(name, &[read.value], Op::FmTerm { width: width()? }), 1),
            LayerKind::BiInteraction => {
                let width = width()?;
                plain(self.push(name, &[read.value], Op::BiInteraction { width }), width)
            }
            LayerKind::InnerProducts => {
                let width = width()?;
                let slots = read.len / width.max(1);
                let len = slots.saturating_mul(slots.saturating_sub(1)) / 2;
                plain(self.push(name, &[read.value], Op::InnerProducts { width }), len)
            }
            LayerKind::Concat => {
                let len = reads.iter().fold(0_usize, |sum, made| sum.saturating_add(made.len));
                plain(self.push(name, &many(), Op::Concat { axis: Axis::Channels }), len)
            }
            LayerKind::Sum => plain(self.push(name, &many(), Op::Add), read.len),
            LayerKind::Loss(None) => read,
            LayerKind::Loss(Some(activation)) => {
                plain(self.push(name, &[read.value], Op::Activation(*activation)), read.len)
            }
        };
        self.made.insert(name, made);
        Ok(())
    }

    /// `W x + b` of the example: of features a row for each output, of a vector row 0 with an output after the other.
    fn input_layer(&mut self, name: &str) -> Result<(Value, usize), AngelError> {
        let bias = self.tensors.bias(&format!("{name}_bias"))?;
        let (tensor, outputs) = (format!("{name}_weight"), bias.len());
        let op = match self.input {
            Input::Dense { shape } => {
                let weights = self.tensors.flattened(&tensor, shape.len(), outputs)?;
                Op::Linear { weights, bias }
            }
            Input::Sparse { .. } => {
                let weights = self.tensors.outputs_by_inputs(&tensor, outputs)?;
                self.same_features(&tensor, weights.inputs)?;
                Op::SparseLinear { weights, bias }
            }
        };
        Ok((self.push(name, &[0], op), outputs))
    }

    fn same_features(&self, tensor: &str, found: usize) -> Result<(), AngelError> {
        match self.input {
            Input::Sparse { features, .. } if features != found => {
                Err(self.tensors.shape(tensor, format!("{found} columns"), format!("{features}, one for each feature")))
            }
            _ => Ok(()),
        }
    }

    fn transfer(&mut self, name: &str, mut value: Value, transfer: Transfer) -> Value {
        if let Some(activation) = transfer.activation {
            let word = match activation {
                Activation::LeakyRelu { .. } => "leakyrelu",
                other => other.word(),
            };
            value = self.push(&format!("{name}_{word}"), &[value], Op::Activation(activation));
        }
        match transfer.keep {
            Some(keep) => self.push(&format!("{name}_keep"), &[value], Op::Scale(keep)),
            None => value,
        }
    }

    fn push(&mut self, name: &str, reads: &[Value], op: Op) -> Value {
        self.nodes.push(Node { name: name.to_owned(), reads: reads.to_vec(), op });
        self.nodes.len()
    }
}
