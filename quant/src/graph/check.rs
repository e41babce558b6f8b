//! What has to hold of a graph before anything else looks at it.

use super::node::{Activation, Fill, Graph, Input, Node, Op};
use super::shapes::Numbers;
use crate::float::Matrix;
use std::collections::HashSet;
use thiserror::Error;

/// The most elements of a value: more is a mistake, and memory.
const MAX_LEN: usize = 1 << 24;

/// A graph that is none.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum GraphError {
    /// No nodes.
    #[error("no layers")]
    Empty,
    /// Two nodes of one name.
    #[error("two layers are called `{name}`")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// A node that reads what is not there before it, or too few or too many values.
    #[error("layer `{name}` reads {found}, expected {expected}")]
    Reads {
        /// Of the node.
        name: String,
        /// What it reads.
        found: String,
        /// What such a node reads.
        expected: String,
    },
    /// A tensor whose shape does not fit.
    #[error("layer `{name}`: {tensor} has the shape {found}, expected {expected}")]
    Shape {
        /// Of the node.
        name: String,
        /// Of the tensor.
        tensor: &'static str,
        /// Its shape.
        found: String,
        /// What the node needs.
        expected: String,
    },
    /// NaN or an infinity among the parameters.
    #[error("layer `{name}`: {place} of {tensor} is {value}; a trained network has finite numbers only")]
    NotFinite {
        /// Of the node.
        name: String,
        /// Of the tensor.
        tensor: &'static str,
        /// Which element, from 0: of a vector by its number, of a matrix by output and input, or feature.
        place: String,
        /// What it is.
        value: f64,
    },
    /// A value of no elements or of too many.
    #[error("{value} has {found} elements, expected 1 to {MAX_LEN}")]
    Len {
        /// What it is of.
        value: String,
        /// Elements.
        found: usize,
    },
}

impl Graph {
    /// Whether every node fits what it reads, every number is finite and every name is there once.
    ///
    /// # Errors
    /// [`GraphError`], the first that is found.
    pub fn check(&self) -> Result<(), GraphError> {
        self.check_with(Numbers::There)
    }

    /// The same of a graph whose numbers need not be there.
    pub(crate) fn check_with(&self, numbers: Numbers) -> Result<(), GraphError> {
        let input = match self.input {
            Input::Dense { shape } => shape.len(),
            Input::Sparse { features, max_active, .. } => {
                in_range("the list of active features", max_active)?;
                features
            }
        };
        in_range("the input", input)?;
        if self.nodes.is_empty() {
            return Err(GraphError::Empty);
        }
        let shapes = self.shapes_with(numbers);
        let lengths: Vec<usize> = shapes.iter().map(|shape| shape.len()).collect();
        let mut names = HashSet::new();
        for (index, node) in self.nodes.iter().enumerate() {
            if !names.insert(node.name.as_str()) {
                return Err(GraphError::NameTaken { name: node.name.clone() });
            }
            self.check_reads(index, node)?;
            self.check_shapes(node, &lengths, numbers)?;
            check_finite(node)?;
            if lengths[index + 1] == 0 {
                let (found, expected) = self.describe_reads(node, &shapes);
                return Err(GraphError::Reads { name: node.name.clone(), found, expected });
            }
            in_range(&format!("what layer `{}` makes", node.name), lengths[index + 1])?;
        }
        Ok(())
    }

    fn check_reads(&self, index: usize, node: &Node) -> Result<(), GraphError> {
        let reads = |found: String, expected: &str| {
            Err(GraphError::Reads { name: node.name.clone(), found, expected: expected.to_owned() })
        };
        if let Some(read) = node.reads.iter().find(|read| **read > index) {
            return reads(format!("value {read}"), &format!("a value before it, 0 to {index}"));
        }
        let (fits, expected) = match (&node.op, node.reads.len()) {
            (Op::Concat { .. } | Op::Add, found) => (found >= 2, "2 or more"),
            (Op::Binary(_), found) => (found == 2, "2"),
            (Op::Constant { .. }, found) => (found == 0, "none"),
            (_, found) => (found == 1, "1"),
        };
        if !fits {
            return reads(format!("{} values", node.reads.len()), expected);
        }
        let sparse = matches!(self.input, Input::Sparse { .. });
        let reads_input = node.reads.contains(&0);
        match &node.op {
            Op::SparseLinear { .. } | Op::Embed { .. } if !(sparse && reads_input) => {
                reads("a vector".to_owned(), "the list of active features")
            }
            Op::Trees(_) if !reads_input => reads("a value of another layer".to_owned(), "the input"),
            Op::SparseLinear { .. } | Op::Embed { .. } | Op::Trees(_) => Ok(()),
            _ if sparse && reads_input => reads("the list of active features".to_owned(), "a vector"),
            _ => Ok(()),
        }
    }

    fn check_shapes(&self, node: &Node, lengths: &[usize], numbers: Numbers) -> Result<(), GraphError> {
        let shape = |tensor, found: (usize, usize), expected: (usize, usize)| {
            if found == expected {
                return Ok(());
            }
            let text = |(rows, cols)| format!("({rows}, {cols})");
            let (found, expected) = (text(found), text(expected));
            Err(GraphError::Shape { name: node.name.clone(), tensor, found, expected })
        };
        // What is read stands before the node, as `check_reads` has found; a constant reads nothing.
        let read = |value: usize| lengths[value];
        let inputs = match node.reads[..] {
            [first, ..] => read(first),
            [] => 0,
        };
        match &node.op {
            // Pixel by pixel, or all at once, which `shapes` decides.
            Op::Linear { weights, bias }
            | Op::Convolution { weights, bias, .. }
            | Op::TransposedConvolution { weights, bias, .. } => {
                if numbers.fit(bias.len(), weights.outputs) {
                    return Ok(());
                }
                shape("the bias", (bias.len(), 1), (weights.outputs, 1))
            }
            Op::SparseLinear { weights, bias } => {
                shape("the weight", (weights.outputs, weights.inputs), (weights.outputs, inputs))?;
                if numbers.fit(bias.len(), weights.outputs) {
                    return Ok(());
                }
                shape("the bias", (bias.len(), 1), (weights.outputs, 1))
            }
            Op::Embed { table } => shape("the table", (table.outputs, table.inputs), (table.outputs, inputs)),
            Op::FmTerm { width } | Op::BiInteraction { width } | Op::InnerProducts { width } => {
                let width = (*width).max(1);
                shape("what it reads", (inputs / width, inputs % width), (inputs / width, 0))
            }
            Op::Add => node.reads.iter().try_for_each(|value| shape("what it reads", (read(*value), 1), (inputs, 1))),
            Op::Trees(forest) => {
                let Some(first) = forest.trees.first() else { return Ok(()) };
                let nodes = first.features.len();
                let mut sizes = forest
                    .trees
                    .iter()
                    .flat_map(|tree| [tree.features.len(), tree.thresholds.len(), tree.leaves.len()]);
                sizes.try_for_each(|found| shape("a tree", (found, 1), (nodes.max(1), 1)))?;
                let features = forest.trees.iter().flat_map(|tree| tree.features.iter().flatten());
                match features.max().map(|feature| *feature as usize) {
                    Some(largest) if largest >= inputs => shape("a tree's feature", (largest, 1), (inputs - 1, 1)),
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }
}

fn in_range(value: &str, found: usize) -> Result<(), GraphError> {
    if (1..=MAX_LEN).contains(&found) { Ok(()) } else { Err(GraphError::Len { value: value.to_owned(), found }) }
}

fn check_finite(node: &Node) -> Result<(), GraphError> {
    let finite_at = |tensor, values: &[f64], place: &dyn Fn(usize) -> String| {
        let found = values.iter().position(|value| !value.is_finite());
        found.map_or(Ok(()), |index| {
            let (name, place, value) = (node.name.clone(), place(index), values[index]);
            Err(GraphError::NotFinite { name, tensor, place, value })
        })
    };
    let finite = |tensor, values: &[f64]| finite_at(tensor, values, &|index| format!("element {index}"));
    let finite_matrix = |tensor, matrix: &Matrix<f64>| {
        let outputs = matrix.outputs.max(1);
        finite_at(tensor, &matrix.values, &|index| format!("output {}, input {}", index % outputs, index / outputs))
    };
    match &node.op {
        Op::Linear { weights, bias }
        | Op::SparseLinear { weights, bias }
        | Op::Convolution { weights, bias, .. }
        | Op::TransposedConvolution { weights, bias, .. } => {
            finite_matrix("the weight", weights)?;
            finite("the bias", bias)
        }
        Op::PerChannel { factors, offsets } => {
            finite("the factors", factors)?;
            finite("the offsets", offsets)
        }
        Op::Quantise { scales, zero_points, .. } => {
            finite("the scales", scales)?;
            finite("the zero points", zero_points)
        }
        Op::PRelu { slopes } => finite("the slopes", slopes),
        Op::Constant { values, .. } => finite("the value", values),
        Op::Pad { fill: Fill::Value(value), .. } => finite("the padding", &[*value]),
        Op::Activation(Activation::HardSigmoid { alpha, beta }) => finite("the factor", &[*alpha, *beta]),
        Op::Embed { table } => finite_matrix("the table", table),
        Op::Scale(factor)
        | Op::Activation(Activation::LeakyRelu { alpha: factor } | Activation::Elu { alpha: factor }) => {
            finite("the factor", &[*factor])
        }
        Op::Trees(forest) => {
            finite("the rate", &[forest.rate])?;
            forest.trees.iter().try_for_each(|tree| {
                finite("the thresholds", &tree.thresholds)?;
                finite("the leaves", &tree.leaves)
            })
        }
        _ => Ok(()),
    }
}
