//! ONNX models, operator sets 9 to 21, as graphs of reals.
//!
//! ```text
//! bytes --protobuf, model--> messages --check--> sound messages --fold, lower--> Graph --tidy--> Graph
//! ```
//!
//! The reader of the wire format is written by hand over a slice: it copies nothing, compares every length with what
//! holds it, and recurses only as deep as the messages of a tensor in an attribute are. External data is read from the
//! model's own folder alone.
//!
//! - **Layout.** Maps N, C, H, W become 1, H, W, C, channels last; what N, C, W holds has a height of 1; N, F is a
//!   vector. An input that the model transposes or reshapes first stays as the model has it. [`Port`] says for every
//!   input and output how its axes lie, and [`Port::places`] reorders elements.
//! - **Several inputs** are laid end to end in one dense input, in the order of the model, and so are several outputs.
//! - **Batches.** An open first axis is a batch of 1. A model whose inputs are batches of N becomes the graph of one
//!   example where no operator works on the examples together; else the graph is that of the whole batch, or the model
//!   is refused.
//! - **Quantised models** become graphs of reals that are rounded where the model rounds: QuantizeLinear is
//!   [`Op::Quantise`](crate::graph::Op::Quantise), and DequantizeLinear a factor and an offset.
//! - An operator that is not supported is refused by its name.

mod check;
mod error;
mod external;
mod lower;
mod model;
mod protobuf;
mod tensor;
#[cfg(test)]
mod tests;
mod tidy;
mod types;
#[cfg(test)]
mod writer;

pub use error::OnnxError;
pub use lower::Port;

use super::{Imported, Ranges, Remark, fnv1a_64};
use crate::program::Element;
use lower::{Lowered, lower};
use std::path::Path;
use types::Model;

/// A model as a graph, and where its inputs and outputs are in the graph's.
#[derive(Debug, Clone, PartialEq)]
pub struct OnnxModel {
    /// The graph.
    pub imported: Imported,
    /// The model's inputs, end to end in the graph's.
    pub inputs: Vec<Port>,
    /// The model's outputs, end to end in the graph's.
    pub outputs: Vec<Port>,
    /// What the model's inputs are of, where they all are bytes of one type; the graph has them as reals.
    pub given: Option<Element>,
    /// The first input of integers that are no bytes.
    pub wide: Option<String>,
}

/// Whether a file's first bytes are those of an ONNX model: field 1 is the version of the format, and behind it comes
/// a text, the graph or the operators' sets.
#[must_use]
pub fn is_onnx(start: &[u8]) -> bool {
    matches!(start, [8, 3..=20, 0x12 | 0x1A | 0x22 | 0x3A | 0x42, ..])
}

/// Reads a model as a graph of reals called `name`; `folder` is where the model lies, for external data.
///
/// # Errors
/// [`OnnxError`] if the bytes are no sound model, or one that is not supported.
pub fn read_onnx(bytes: &[u8], folder: Option<&Path>, name: &str) -> Result<Imported, OnnxError> {
    read_onnx_model(bytes, folder, name).map(|model| model.imported)
}

/// The same with an epsilon for all normalizations in place of the model's, if one is given.
///
/// # Errors
/// As [`read_onnx`].
pub fn read_onnx_with(
    bytes: &[u8],
    folder: Option<&Path>,
    name: &str,
    epsilon: Option<f64>,
) -> Result<Imported, OnnxError> {
    let model = Model { epsilon, ..model::model(bytes)? };
    imported(bytes, &model, folder, name).map(|model| model.imported)
}

/// The same, with where the model's inputs and outputs are.
///
/// # Errors
/// As [`read_onnx`].
pub fn read_onnx_model(bytes: &[u8], folder: Option<&Path>, name: &str) -> Result<OnnxModel, OnnxError> {
    imported(bytes, &model::model(bytes)?, folder, name)
}

fn imported(bytes: &[u8], model: &Model<'_>, folder: Option<&Path>, name: &str) -> Result<OnnxModel, OnnxError> {
    check::check(model)?;
    let batch = batch(model)?;
    let lowered = match lower(model, folder, name, batch) {
        // Not of one example: then of the batch as a whole.
        Err(OnnxError::Batch { .. }) if batch.is_some() => (lower(model, folder, name, None)?, None),
        lowered => (lowered?, batch),
    };
    let (Lowered { mut graph, inputs, outputs }, batch) = lowered;
    tidy::tidy(&mut graph);
    graph.check()?;
    let remarks = remarks(&inputs, &outputs, batch);
    let source = "ONNX model".to_owned();
    let imported = Imported { graph, source, bytes_hash: fnv1a_64(bytes), remarks, ranges: Ranges::default() };
    let (given, wide) = (given(model, &inputs), wide(model));
    Ok(OnnxModel { imported, inputs, outputs, given, wide })
}

/// The bytes that go in.
fn given(model: &Model<'_>, ports: &[Port]) -> Option<Element> {
    let of = |port: &Port| {
        let input = model.graph.inputs.iter().find(|input| input.name == port.name)?;
        match tensor::Element::of_code(input.data_type)? {
            tensor::Element::U8 => Some(Element::U8),
            tensor::Element::I8 => Some(Element::I8),
            _ => None,
        }
    };
    let first = of(ports.first()?)?;
    ports.iter().all(|port| of(port) == Some(first)).then_some(first)
}

/// The first input of integers of 16 bits or more.
fn wide(model: &Model<'_>) -> Option<String> {
    use tensor::Element::{I16, I32, I64, U16, U32, U64};
    let is_wide = |code| matches!(tensor::Element::of_code(code), Some(I16 | I32 | I64 | U16 | U32 | U64));
    model.graph.inputs.iter().find(|input| is_wide(input.data_type)).map(|input| input.name.to_owned())
}

/// The first axis of every input, where it is one size above 1 and there are other axes.
fn batch(model: &Model<'_>) -> Result<Option<usize>, OnnxError> {
    let mut batch = None;
    for input in &model.graph.inputs {
        if model.graph.initializers.iter().any(|tensor| tensor.name == input.name) {
            continue;
        }
        let dims = lower::input_dims(input)?;
        match (dims.len(), dims.first()) {
            (2.., Some(first)) if *first > 1 && batch.is_none_or(|batch| batch == *first) => batch = Some(*first),
            _ => return Ok(None),
        }
    }
    Ok(batch)
}

fn remarks(inputs: &[Port], outputs: &[Port], batch: Option<usize>) -> Vec<Remark> {
    let mut remarks = Vec::new();
    if let Some(batch) = batch {
        remarks.push(Remark::Decided(format!(
            "the model's {batch} examples of a batch are each worked on by itself; the network is that of one"
        )));
    }
    for (what, ports) in [("input", inputs), ("output", outputs)] {
        for Port { name, dims, order, offset, len } in ports {
            let is_moved = order.windows(2).any(|pair| pair[0] > pair[1]);
            if is_moved && dims.iter().filter(|size| **size != 1).count() > 1 {
                let last = |place: usize| if place == 0 { 0 } else { place % (order.len() - 1) + 1 };
                let is_usual = order.iter().enumerate().all(|(place, axis)| *axis == last(place));
                let how =
                    if is_usual { "channels last".to_owned() } else { format!("its axes in the order {order:?}") };
                let sizes: Vec<usize> = order.iter().map(|axis| dims[*axis]).collect();
                remarks.push(Remark::Decided(format!(
                    "the {what} `{name}`, {dims:?} in the model, has {how}, as {sizes:?}"
                )));
            }
            if ports.len() > 1 {
                remarks.push(Remark::Decided(format!(
                    "the {what} `{name}` is elements {offset} to {} of the network's",
                    offset + len - 1
                )));
            }
        }
    }
    remarks
}
