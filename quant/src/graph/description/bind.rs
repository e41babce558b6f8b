//! Tensors into a description, and a graph apart again.

use super::error::{Cause, DescriptionError, TensorsError};
use super::tensor::{Tensor, Tensors};
use super::types::{Described, DescribedOp, Description, Order, TREE_PARTS};
use crate::arch::suggest::{advice, printable};
use crate::float::Matrix;
use crate::graph::{Axis, Forest, Graph, Node, Op, Tree};
use std::collections::HashSet;

/// A part of a tree as numbers.
type PartOf<'f> = dyn Fn(&Tree) -> Vec<f64> + 'f;

impl Description {
    /// The graph that these tensors make; each is needed once.
    ///
    /// # Errors
    /// [`TensorsError::Unfit`] with every tensor that is missing, superfluous or of another shape; the others for
    /// numbers that make no network.
    pub fn bind(&self, mut tensors: Tensors) -> Result<Graph, TensorsError> {
        let mut graph = self.skeleton();
        let inputs: Vec<usize> = {
            let lengths = graph.lengths();
            self.nodes.iter().map(|node| node.reads.first().map_or(0, |read| lengths[*read])).collect()
        };
        let wanted: HashSet<String> = self.tensor_names().into_iter().collect();
        let superfluous: Vec<&String> = tensors.keys().filter(|name| !wanted.contains(*name)).collect();
        let mut problems = Vec::new();
        for (node, inputs) in self.nodes.iter().zip(&inputs) {
            for (tensor, shape, other) in node.shapes(*inputs) {
                problems.extend(problem(&tensors, &superfluous, &node.name, (&tensor, &shape), other));
            }
        }
        problems.extend(superfluous.iter().map(|name| format!("  `{}` is used by no node", printable(name))));
        if !problems.is_empty() {
            const SHOWN: usize = 20;
            let more = problems.len().saturating_sub(SHOWN);
            problems.truncate(SHOWN);
            if more > 0 {
                problems.push(format!("  and {more} more"));
            }
            return Err(TensorsError::Unfit { description: printable(&self.name), problems });
        }
        for ((node, described), inputs) in graph.nodes.iter_mut().zip(&self.nodes).zip(&inputs) {
            fill(&mut node.op, described, *inputs, &mut tensors)?;
        }
        graph.check()?;
        Ok(graph)
    }

    /// A graph's description and its tensors; [`Description::bind`] puts them together again.
    ///
    /// # Errors
    /// [`DescriptionError`] if a name cannot be written, or if the graph is not one that [`Graph::check`] accepts.
    pub fn of(graph: &Graph) -> Result<(Self, Tensors), DescriptionError> {
        let refused = |cause: Cause| DescriptionError {
            origin: format!("network `{}`", printable(&graph.name)),
            line: None,
            cause: Box::new(cause),
        };
        graph.check().map_err(|error| refused(Cause::Graph(error)))?;
        let mut tensors = Tensors::new();
        let mut describe = |node: &Node| -> Result<Described, DescriptionError> {
            let mut put = |part: &str, shape: Vec<usize>, values: Vec<f64>| {
                let name = Described::default_tensor(&node.name, part);
                tensors.insert(name.clone(), Tensor { shape, values });
                name
            };
            let op = match &node.op {
                Op::Linear { weights, bias } | Op::SparseLinear { weights, bias } => DescribedOp::Linear {
                    sparse: matches!(node.op, Op::SparseLinear { .. }),
                    outputs: weights.outputs,
                    weights: put("weight", vec![weights.outputs, weights.inputs], rows(weights)),
                    bias: Some(put("bias", vec![bias.len()], bias.clone())),
                    order: Order::OutIn,
                },
                Op::Embed { table } => DescribedOp::Embed {
                    width: table.outputs,
                    table: put("table", vec![table.inputs, table.outputs], table.values.clone()),
                    order: Order::InOut,
                },
                Op::FmTerm { width } => DescribedOp::FmTerm { width: *width },
                Op::BiInteraction { width } => DescribedOp::BiInteraction { width: *width },
                Op::InnerProducts { width } => DescribedOp::InnerProducts { width: *width },
                Op::Concat { axis: Axis::Channels } => DescribedOp::Concat,
                Op::Add => DescribedOp::Add,
                Op::Scale(factor) => DescribedOp::Scale(*factor),
                Op::Activation(activation) => DescribedOp::Activation(*activation),
                Op::Flatten => DescribedOp::Flatten,
                Op::Trees(forest) => {
                    let slots = forest.trees.first().map_or(0, |tree| tree.leaves.len());
                    let feature = |feature: &Option<u32>| feature.map_or(-1.0, f64::from);
                    let parts: [&PartOf; 3] = [
                        &|tree| tree.features.iter().map(feature).collect(),
                        &|tree| tree.thresholds.clone(),
                        &|tree| tree.leaves.clone(),
                    ];
                    for (name, part) in TREE_PARTS.iter().zip(parts) {
                        put(name, vec![forest.trees.len(), slots], forest.trees.iter().flat_map(part).collect());
                    }
                    DescribedOp::Trees { rate: forest.rate, trees: forest.trees.len(), slots }
                }
                _ => {
                    let (value, known) = (node.name.clone(), "dense and sparse layers".to_owned());
                    return Err(refused(Cause::UnsupportedValue { value, known }));
                }
            };
            Ok(Described { name: node.name.clone(), reads: node.reads.clone(), op })
        };
        let nodes: Vec<Described> = graph.nodes.iter().map(&mut describe).collect::<Result<_, _>>()?;
        let description = Self { name: graph.name.clone(), input: graph.input, nodes };
        description.check().map_err(|(_, cause)| refused(cause))?;
        Ok((description, tensors))
    }
}

impl Described {
    /// Every tensor that it needs, its shape, and the order that would make another one of it.
    fn shapes(&self, inputs: usize) -> Vec<(String, Vec<usize>, Option<Order>)> {
        let matrix = |outputs: usize, order: Order| match order {
            Order::OutIn => vec![outputs, inputs],
            Order::InOut => vec![inputs, outputs],
        };
        match &self.op {
            DescribedOp::Linear { outputs, weights, bias, order, .. } => {
                let weights = (weights.clone(), matrix(*outputs, *order), Some(order.other()));
                let bias = bias.iter().map(|bias| (bias.clone(), vec![*outputs], None));
                std::iter::once(weights).chain(bias).collect()
            }
            DescribedOp::Embed { width, table, order } => {
                vec![(table.clone(), matrix(*width, *order), Some(order.other()))]
            }
            DescribedOp::Trees { trees, slots, .. } => {
                self.tensors().into_iter().map(|name| (name, vec![*trees, *slots], None)).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// A line about a tensor that is missing, and perhaps one of the superfluous ones, or of another shape.
fn problem(
    tensors: &Tensors,
    superfluous: &[&String],
    node: &str,
    (name, shape): (&str, &[usize]),
    other: Option<Order>,
) -> Option<String> {
    let (shown, node, expected) = (printable(name), printable(node), Tensor::shape_text(shape));
    let Some(tensor) = tensors.get(name) else {
        let near = advice(name, superfluous);
        let near = if near.starts_with("did you mean") { format!("; {near}") } else { String::new() };
        return Some(format!("  `{shown}` {expected} of node `{node}` is missing{near}"));
    };
    if tensor.has_shape(shape) {
        return None;
    }
    let turned: Vec<usize> = shape.iter().rev().copied().collect();
    let hint = match other {
        Some(order) if tensor.has_shape(&turned) => format!("; `order = \"{}\"` would fit", order.word()),
        _ => String::new(),
    };
    let found = Tensor::shape_text(&tensor.shape);
    Some(format!("  `{shown}` of node `{node}` has the shape {found}, expected {expected}{hint}"))
}

/// Moves the numbers of a node from tensors that were found to fit.
fn fill(op: &mut Op, described: &Described, inputs: usize, tensors: &mut Tensors) -> Result<(), TensorsError> {
    let mut take = |name: &str| tensors.remove(name).map(|tensor| tensor.values).unwrap_or_default();
    match (op, &described.op) {
        (
            Op::Linear { weights: matrix, bias: vector } | Op::SparseLinear { weights: matrix, bias: vector },
            DescribedOp::Linear { outputs, weights, bias, order, .. },
        ) => {
            *matrix = columns(take(weights), *outputs, inputs, *order);
            if let Some(bias) = bias {
                *vector = take(bias);
            }
        }
        (Op::Embed { table: matrix }, DescribedOp::Embed { width, table, order }) => {
            *matrix = columns(take(table), *width, inputs, *order);
        }
        (Op::Trees(forest), DescribedOp::Trees { slots, trees, .. }) => {
            let [features, thresholds, leaves] =
                TREE_PARTS.map(|part| take(&Described::default_tensor(&described.name, part)));
            *forest = Forest { rate: forest.rate, trees: Vec::with_capacity(*trees) };
            let slots = (*slots).max(1);
            let parts = features.chunks(slots).zip(thresholds.chunks(slots)).zip(leaves.chunks(slots));
            for (at, ((features, thresholds), leaves)) in parts.enumerate() {
                let feature = |(index, found): (usize, &f64)| match *found {
                    -1.0 => Ok(None),
                    whole if whole.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&whole) => {
                        Ok(Some(whole as u32))
                    }
                    found => {
                        let tensor = Described::default_tensor(&described.name, TREE_PARTS[0]);
                        Err(TensorsError::Feature { tensor, index: at * slots + index, found })
                    }
                };
                let features = features.iter().enumerate().map(feature).collect::<Result<_, _>>()?;
                forest.trees.push(Tree { features, thresholds: thresholds.to_vec(), leaves: leaves.to_vec() });
            }
        }
        _ => {}
    }
    Ok(())
}

/// A matrix from a file's order.
fn columns(values: Vec<f64>, outputs: usize, inputs: usize, order: Order) -> Matrix<f64> {
    match order {
        Order::InOut => Matrix { outputs, inputs, values },
        Order::OutIn => {
            let columns = (0..inputs).flat_map(|input| values.iter().skip(input).step_by(inputs).copied());
            Matrix { outputs, inputs, values: columns.collect() }
        }
    }
}

/// Its values a row after the other: what [`Order::OutIn`] says.
fn rows(matrix: &Matrix<f64>) -> Vec<f64> {
    (0..matrix.outputs).flat_map(|output| (0..matrix.inputs).map(move |input| matrix.at(output, input))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(shape: &[usize], values: &[f64]) -> Tensor {
        Tensor { shape: shape.to_vec(), values: values.to_vec() }
    }

    #[test]
    fn every_tensor_that_does_not_fit_is_named() {
        let text = "graph = 1\nname = \"x\"\n[input]\nkind = \"dense\"\nsize = 3\n[[node]]\nname = \"a\"\nop = \"linear\"\n\
                    outputs = 2\n[[node]]\nname = \"b\"\nop = \"linear\"\noutputs = 1\n";
        let description = Description::from_toml(text, "x").unwrap();
        let tensors = Tensors::from([
            ("a.weight".to_owned(), tensor(&[3, 2], &[1.0, 4.0, 2.0, 5.0, 3.0, 6.0])),
            ("a.bias".to_owned(), tensor(&[1, 2], &[0.5, -0.5])),
            ("b.weigth".to_owned(), tensor(&[2], &[1.0, 10.0])),
            ("b.bias".to_owned(), tensor(&[2], &[1.0, 2.0])),
        ]);
        let message = description.bind(tensors.clone()).unwrap_err().to_string();
        for words in [
            "`a.weight` of node `a` has the shape (3, 2), expected (2, 3); `order = \"in-out\"` would fit",
            "`b.weight` (1, 2) of node `b` is missing; did you mean `b.weigth`?",
            "`b.bias` of node `b` has the shape (2,), expected (1,)",
            "`b.weigth` is used by no node",
        ] {
            assert!(message.contains(words), "{words}\n{message}");
        }
        assert_eq!(message.lines().count(), 5);

        let text = text
            .replace("outputs = 2", "outputs = 2\norder = \"in-out\"")
            .replace("outputs = 1", "outputs = 1\nweights = \"b.weigth\"\nbias = false");
        let description = Description::from_toml(&text, "x").unwrap();
        let mut tensors = tensors;
        tensors.remove("b.bias");
        let graph = description.bind(tensors).unwrap();
        // (1 2 3; 4 5 6) · (1, 1, 2) + bias = (9.5, 20.5)
        let outputs = graph.evaluate(&crate::graph::Sample::Dense(vec![1.0, 1.0, 2.0])).unwrap();
        assert_eq!(outputs, [9.5 + 10.0 * 20.5]);
    }

    #[test]
    fn features_of_trees_are_whole_numbers() {
        let text = "graph = 1\nname = \"x\"\n[input]\nkind = \"dense\"\nsize = 3\n[[node]]\nname = \"t\"\nop = \"trees\"\nrate = 0.1\n\
                    trees = 1\nslots = 3\n";
        let description = Description::from_toml(text, "x").unwrap();
        let with = |first: f64| {
            let three = tensor(&[1, 3], &[0.0, 1.0, 2.0]);
            let features = tensor(&[1, 3], &[first, -1.0, -1.0]);
            let names = ["t.features", "t.thresholds", "t.leaves"].map(str::to_owned);
            description.bind(names.into_iter().zip([features, three.clone(), three]).collect())
        };
        assert!(with(2.0).is_ok());
        for (feature, words) in
            [(0.5, "index 0: 0.5 is no feature"), (-2.0, "-2 is no feature"), (3.0, "a tree's feature")]
        {
            let message = with(feature).unwrap_err().to_string();
            assert!(message.contains(words), "{message}");
        }
    }
}
