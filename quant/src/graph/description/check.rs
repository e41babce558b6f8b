//! Whether a description fits together.

use super::error::Cause;
use super::sizes::{range, size};
use super::skeleton::Skeleton;
use super::types::{Described, DescribedOp, Description, Kernel};
use crate::graph::shapes::Numbers;
use crate::graph::{Activation, GraphError, Input, Value, Window};
use std::collections::HashSet;
use tamis_batches::printable;

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
        check_input(self.input).map_err(|cause| (None, cause))?;
        check_count(self.nodes.len()).map_err(|cause| (None, cause))?;
        let mut tensors = HashSet::new();
        let mut skeleton = Skeleton::new(&self.name, self.input, Numbers::Absent);
        for (index, node) in self.nodes.iter().enumerate() {
            let at = |cause| (Some(index), cause);
            skeleton.push(node).map_err(at)?;
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
        skeleton.check()?;
        for (index, node) in self.nodes.iter().enumerate() {
            if let DescribedOp::Flatten { channels_first: true } = node.op {
                self.dense_readers(index + 1).map_err(|reader| {
                    let reader =
                        reader.map_or_else(|| "the output".to_owned(), |reader| self.nodes[reader].name.clone());
                    (Some(index), Cause::ChannelsFirst { node: node.name.clone(), reader })
                })?;
            }
        }
        Ok(())
    }

    /// The dense layers that read a value, through functions of single elements and constant factors.
    ///
    /// # Errors
    /// The node that does something else with it; none where it is the network's output.
    pub(super) fn dense_readers(&self, value: Value) -> Result<Vec<usize>, Option<usize>> {
        let (mut values, mut readers) = (vec![value], Vec::new());
        while let Some(value) = values.pop() {
            if value == self.nodes.len() {
                return Err(None);
            }
            for (index, node) in self.nodes.iter().enumerate().skip(value) {
                if !node.reads.contains(&value) {
                    continue;
                }
                match node.op {
                    DescribedOp::Linear { sparse: false, .. } => readers.push(index),
                    DescribedOp::Activation(Activation::Softmax | Activation::LogSoftmax) => return Err(Some(index)),
                    DescribedOp::Activation(_) | DescribedOp::Scale(_) => values.push(index + 1),
                    _ => return Err(Some(index)),
                }
            }
        }
        Ok(readers)
    }
}

impl Skeleton {
    /// Whether the nodes fit together.
    pub(super) fn check(&self) -> Result<(), Refusal> {
        self.graph.check_with(self.numbers).map_err(|error| {
            let place = match &error {
                GraphError::NameTaken { name }
                | GraphError::Reads { name, .. }
                | GraphError::Shape { name, .. }
                | GraphError::NotFinite { name, .. } => self.graph.nodes.iter().rposition(|node| node.name == *name),
                _ => None,
            };
            (place, Cause::Graph(error))
        })
    }
}

/// Whether the sizes of an input are in their ranges.
pub(super) fn check_input(input: Input) -> Result<(), Cause> {
    match input {
        Input::Dense { shape } if shape.is_vector() => size("[input]", "size", shape.len()),
        Input::Dense { shape } => {
            shape.axes().into_iter().chain([shape.len()]).try_for_each(|len| size("[input]", "shape", len))
        }
        Input::Sparse { features, max_active, .. } => {
            size("[input]", "features", features)?;
            size("[input]", "max_active", max_active)
        }
    }
}

/// Whether there are not too many nodes.
pub(super) fn check_count(nodes: usize) -> Result<(), Cause> {
    if nodes <= MAX_NODES {
        return Ok(());
    }
    let (found, expected) = (nodes.to_string(), format!("at most {MAX_NODES}"));
    Err(Cause::Range { place: "the file".to_owned(), key: "[[node]]", found, expected })
}

impl Described {
    /// Whether its name can be one, and its sizes are in their ranges.
    pub(super) fn check(&self) -> Result<(), Cause> {
        let fits = !self.name.is_empty() && self.name.len() <= MAX_NAME_LEN_BYTES && self.name != ALWAYS_INPUT;
        if !fits || self.name.chars().any(char::is_control) {
            let expected = "1 to 256 bytes without control characters, and not `$input`, which is what goes in";
            return Err(Cause::Name { found: printable(&self.name), what: "a node's name", expected });
        }
        let place = format!("node `{}`", self.name);
        let all = |key, sizes: &[usize]| sizes.iter().try_for_each(|len| size(&place, key, *len));
        let at_most = |key, sizes: &[usize]| sizes.iter().try_for_each(|len| size(&place, key, (*len).max(1)));
        let window = |window: &Window| {
            all("kernel", &window.kernel)?;
            all("kernel", &[window.taps()])?;
            all("stride", &window.stride)?;
            all("dilation", &window.dilation)?;
            at_most("padding", &window.before)?;
            at_most("padding", &window.after)
        };
        let kernel = |kernel: &Kernel| {
            window(&kernel.window)?;
            all("outputs", &[kernel.outputs])?;
            all("groups", &[kernel.groups])
        };
        match &self.op {
            DescribedOp::Linear { outputs, .. } => all("outputs", &[*outputs]),
            DescribedOp::Embed { width, .. }
            | DescribedOp::FmTerm { width }
            | DescribedOp::BiInteraction { width }
            | DescribedOp::InnerProducts { width } => all("width", &[*width]),
            DescribedOp::Constant { shape, .. } | DescribedOp::Reshape(shape) => {
                all("shape", &shape.axes())?;
                all("shape", &[shape.len()])
            }
            DescribedOp::BatchNormalization { epsilon, .. } => {
                let fits = epsilon.is_finite() && *epsilon >= 0.0;
                fits.then_some(()).ok_or_else(|| range(&place, "epsilon", epsilon, "a number from 0 on"))
            }
            DescribedOp::Activation(Activation::Clip { low, high }) => {
                let fits = low <= high;
                fits.then_some(()).ok_or_else(|| range(&place, "low", low, "a number up to `high`"))
            }
            DescribedOp::Slice { start, size, step } => {
                at_most("start", start)?;
                all("size", size)?;
                all("step", step)
            }
            DescribedOp::Pad { before, after, .. } => {
                at_most("before", before)?;
                at_most("after", after)
            }
            DescribedOp::Resize { size, .. } => all("size", size),
            DescribedOp::Convolution(described) => kernel(described),
            DescribedOp::TransposedConvolution { kernel: described, size } => {
                kernel(described)?;
                all("size", size)
            }
            DescribedOp::Pool { window: described, .. } => window(described),
            DescribedOp::Trees { trees, slots, .. } => {
                at_most("trees", &[*trees])?;
                if *trees == 0 { at_most("slots", &[*slots]) } else { all("slots", &[*slots]) }
            }
            _ => Ok(()),
        }
    }
}
