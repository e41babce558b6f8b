//! From operators of ONNX to a graph of reals.
//!
//! Each value keeps the shape that the model gives it, and how its elements lie in memory: see [`layout`]. Where all
//! inputs are batches of N examples, the graph is that of one of them: every operator is asked to leave the first axis
//! alone, and where one does not, the model is lowered a second time as a whole.

mod binary;
mod call;
mod convolution;
mod dense;
mod elementwise;
mod fold;
mod join;
mod layout;
mod pool;
mod ports;
mod quantised;
mod reshape;
mod resize;
mod slices;
mod softmax;
mod window;

pub use ports::Port;
pub(super) use ports::input_dims;

use super::error::OnnxError;
use super::tensor::{Element, Literal, MAX_LEN, MAX_RANK};
use super::types::{Model, TensorProto};
use crate::graph::{Graph, GraphError, Input, Node, Op, Shape, Value};
use call::{Call, Entry};
use fold::fold;
use layout::Tensor;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// The most numbers of weights, constants and so on of a graph, which bounds what a small file can ask for by reading
/// the same tensor again and again.
const MAX_NUMBERS: usize = 1 << 27;

/// Examples in a batch of a model that is lowered as a whole.
const ALONE: usize = 1;

/// A graph, and where the model's inputs and outputs are in its.
#[derive(Debug)]
pub(super) struct Lowered {
    pub(super) graph: Graph,
    pub(super) inputs: Vec<Port>,
    pub(super) outputs: Vec<Port>,
}

/// A graph that is being made.
#[derive(Debug)]
struct Lowering<'m, 'a> {
    model: &'m Model<'a>,
    folder: Option<&'m Path>,
    /// Examples in a batch, where the graph is that of one of them.
    batch: Option<usize>,
    initializers: HashMap<&'a str, &'m TensorProto<'a>>,
    entries: HashMap<&'a str, Entry>,
    nodes: Vec<Node>,
    /// Of every value of the graph.
    shapes: Vec<Shape>,
    names: HashSet<String>,
    /// Weights, constants and so on until now.
    numbers: usize,
    /// The name of the node that is being lowered, and its place for errors.
    name: String,
    place: String,
}

/// Lowers a checked model; `batch` is the number of examples in a batch where the graph is to be that of one of them.
pub(super) fn lower<'m>(
    model: &'m Model<'_>,
    folder: Option<&'m Path>,
    name: &str,
    batch: Option<usize>,
) -> Result<Lowered, OnnxError> {
    let graph = &model.graph;
    let initializers = graph.initializers.iter().map(|tensor| (tensor.name, tensor)).collect();
    let mut lowering = Lowering {
        model,
        folder,
        batch,
        initializers,
        entries: HashMap::new(),
        nodes: Vec::new(),
        shapes: Vec::new(),
        names: HashSet::new(),
        numbers: 0,
        name: String::new(),
        place: String::new(),
    };
    let read_by_nodes = graph.nodes.iter().flat_map(|node| node.inputs.iter().copied());
    let is_read: HashSet<&str> = read_by_nodes.chain(graph.outputs.iter().map(|output| output.name)).collect();
    let inputs = lowering.open_inputs()?;
    for node in &graph.nodes {
        let name = if node.name.is_empty() { node.outputs.first().copied().unwrap_or("") } else { node.name };
        name.clone_into(&mut lowering.name);
        lowering.place = node.place();
        let inputs = node.inputs.iter().map(|name| lowering.entry(name)).collect::<Result<_, _>>()?;
        let call = Call { node, opset: model.opset, inputs };
        let made = match fold(&call)? {
            Some(known) => {
                lowering.count(known.iter().map(|literal| literal.values.len()).sum())?;
                known.into_iter().map(Entry::known).collect()
            }
            None => lowering.call(&call)?,
        };
        if made.iter().any(|entry| entry.dims().len() > MAX_RANK) {
            return Err(call.unsupported(format!("a value of more than {MAX_RANK} axes")));
        }
        // Masks and indices stand in many files and are seldom read.
        let mut others = node.outputs.iter().skip(made.len());
        if let Some(output) = others.find(|output| !output.is_empty() && is_read.contains(**output)) {
            return Err(call.unsupported(format!("its output `{output}`")));
        }
        lowering.entries.extend(node.outputs.iter().copied().zip(made));
    }
    let outputs = lowering.close_outputs()?;
    let input = Input::Dense { shape: lowering.shapes[0] };
    Ok(Lowered { graph: Graph { name: name.to_owned(), input, nodes: lowering.nodes }, inputs, outputs })
}

impl<'a> Lowering<'_, 'a> {
    /// What a name stands for; the empty name is nothing. Tensors of the file are decoded when they are first read.
    fn entry(&mut self, name: &'a str) -> Result<Option<Entry>, OnnxError> {
        if name.is_empty() {
            return Ok(None);
        }
        if let Some(entry) = self.entries.get(name) {
            return Ok(Some(entry.clone()));
        }
        let undefined = || OnnxError::Undefined { reader: self.place.clone(), value: name.to_owned() };
        let tensor = self.initializers.get(name).ok_or_else(undefined)?;
        let entry = Entry::known(tensor.literal(self.folder)?);
        self.entries.insert(name, entry.clone());
        Ok(Some(entry))
    }

    /// Lowers one node.
    fn call(&mut self, call: &Call<'_, '_>) -> Result<Vec<Entry>, OnnxError> {
        let made = match call.operator() {
            "Conv" => self.convolution(call)?,
            "ConvTranspose" => self.transposed_convolution(call)?,
            "ConvInteger" => self.integer_convolution(call)?,
            "QLinearConv" => self.quantised_convolution(call)?,
            "Gemm" => self.gemm(call)?,
            "MatMul" => self.matmul(call)?,
            "MatMulInteger" => self.integer_matmul(call)?,
            "QLinearMatMul" => self.quantised_matmul(call)?,
            "BatchNormalization" => self.batch_normalization(call)?,
            "PRelu" => self.prelu(call)?,
            "Softmax" | "LogSoftmax" => self.softmax(call)?,
            "Add" | "Sub" | "Mul" | "Div" | "Max" | "Min" | "Sum" => self.binary(call)?,
            "MaxPool" | "AveragePool" => self.pool(call)?,
            "GlobalAveragePool" | "GlobalMaxPool" | "ReduceMean" | "ReduceMax" => self.reduce(call)?,
            "Concat" => self.concat(call)?,
            "Split" => return self.split(call),
            "Slice" => self.slice(call)?,
            "Pad" => self.pad(call)?,
            "Reshape" | "Flatten" | "Squeeze" | "Unsqueeze" => self.reshape(call)?,
            "Transpose" => self.transpose(call)?,
            "Shape" => return Ok(vec![Entry::known(shape_of(call)?)]),
            "Identity" => call.made(0)?.clone(),
            "Dropout" => self.dropout(call)?,
            "Cast" => self.cast(call)?,
            "Resize" => self.resize(call)?,
            "QuantizeLinear" => self.quantize(call)?,
            "DequantizeLinear" => self.dequantize(call)?,
            _ => self.elementwise(call)?,
        };
        Ok(vec![Entry::Made(made)])
    }

    /// Adds a node, which gets the name of the model's node and what it does beside that.
    fn push(&mut self, what: &str, reads: &[Value], op: Op) -> Result<Value, OnnxError> {
        let shapes: Vec<Shape> = reads.iter().map(|read| self.shapes[*read]).collect();
        let fits = op.shape(&shapes, 0).filter(|shape| !shape.is_empty());
        let Some(made) = fits else {
            let found = shapes.iter().map(Shape::to_string).collect::<Vec<_>>().join(" and ");
            let expected = format!("values that {what} fits");
            return Err(OnnxError::Shapes { node: self.place.clone(), found, expected });
        };
        if made.len() > MAX_LEN {
            return Err(GraphError::Len { value: format!("what {} makes", self.place), found: made.len() }.into());
        }
        self.count(op.parameter_count())?;
        let base = if self.name.is_empty() { what.to_owned() } else { self.name.clone() };
        let mut name = base.clone();
        let mut number = 1;
        while !self.names.insert(name.clone()) {
            name = if number == 1 { format!("{base}.{what}") } else { format!("{base}.{what}{number}") };
            number += 1;
        }
        self.nodes.push(Node { name, reads: reads.to_vec(), op });
        self.shapes.push(made);
        Ok(self.shapes.len() - 1)
    }

    /// Adds to the numbers of the graph, and refuses too many.
    fn count(&mut self, more: usize) -> Result<(), OnnxError> {
        self.numbers = self.numbers.saturating_add(more);
        if self.numbers <= MAX_NUMBERS {
            return Ok(());
        }
        let what = format!("a network of more than {MAX_NUMBERS} numbers");
        Err(OnnxError::Feature { place: self.place.clone(), what })
    }

    /// An error where the first axis of a batch would be worked on.
    fn together(&self) -> OnnxError {
        OnnxError::Batch { node: self.place.clone(), batch: self.batch.unwrap_or(ALONE) }
    }

    /// Refuses the first axis where it is a batch.
    fn not_batch(&self, axis: usize) -> Result<(), OnnxError> {
        if axis == 0 && self.batch.is_some() { Err(self.together()) } else { Ok(()) }
    }

    fn dropout(&self, call: &Call<'_, '_>) -> Result<Tensor, OnnxError> {
        if call.scalar(2)?.is_some_and(|training| training != 0.0) {
            return Err(call.unsupported("training"));
        }
        Ok(call.made(0)?.clone())
    }

    /// Reals stay what they are, in whatever precision; integers as inputs, too, become reals.
    fn cast(&self, call: &Call<'_, '_>) -> Result<Tensor, OnnxError> {
        let x = call.made(0)?;
        let code = call.int("to", 0)?;
        match Element::of_code(code) {
            Some(element) if element.is_real() || element == x.element => Ok(Tensor { element, ..x.clone() }),
            _ => Err(call.unsupported(format!("a cast to the type with the code {code}"))),
        }
    }
}

/// The sizes of a computed value, which are constants; `start` and `end` came with version 15.
fn shape_of(call: &Call<'_, '_>) -> Result<Literal, OnnxError> {
    let dims = &call.made(0)?.dims;
    let rank = dims.len() as i64;
    let end = |name, default| -> Result<usize, OnnxError> {
        let at = call.int(name, default)?;
        Ok((if at < 0 { at.saturating_add(rank) } else { at }).clamp(0, rank) as usize)
    };
    let (start, end) = (end("start", 0)?, end("end", rank)?);
    // From an axis to one before it there is none.
    let sizes = if start < end { &dims[start..end] } else { &[] };
    Ok(Literal::list(Element::I64, sizes.iter().map(|size| *size as f64).collect()))
}
