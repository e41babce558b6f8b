//! Tensors into a description.

use super::error::TensorsError;
use super::fold::fold_normalizations;
use super::order::{KernelSizes, Order};
use super::skeleton::Skeleton;
use super::tensor::Tensors;
use super::types::{Described, DescribedOp, Description, Kernel, TREE_PARTS};
use crate::float::Matrix;
use crate::graph::shapes::Numbers;
use crate::graph::{Forest, Graph, Op, Shape, Tree};
use std::collections::HashSet;
use tamis_batches::printable;

/// The last part of a tensor's name that PyTorch's normalizations count their steps in; no network computes with it.
const STEPS_PART: &str = "num_batches_tracked";

impl Description {
    /// The graph that these tensors make; each is needed once. A normalization becomes part of the layer before it, or
    /// a node of factors and offsets where something else reads that layer. What PyTorch calls `num_batches_tracked` is
    /// passed over.
    ///
    /// # Errors
    /// [`TensorsError::Unfit`] with every tensor that is missing, superfluous or of another shape; the others for
    /// numbers that make no network.
    pub fn bind(&self, mut tensors: Tensors) -> Result<Graph, TensorsError> {
        let Skeleton { shapes, .. } = Skeleton::of(self, Numbers::Absent);
        let reads: Vec<Shape> = {
            let of = |node: &Described| node.reads.first().map_or(Shape::map(0, 0, 0), |read| shapes[*read]);
            self.nodes.iter().map(of).collect()
        };
        let wanted: HashSet<String> = self.tensor_names().into_iter().collect();
        let is_count = |name: &str| name.rsplit('.').next() == Some(STEPS_PART);
        let superfluous: Vec<&String> =
            tensors.keys().filter(|name| !wanted.contains(*name) && !is_count(name)).collect();
        let mut problems = Vec::new();
        for (node, read) in self.nodes.iter().zip(&reads) {
            let needs = node.needs(*read);
            problems.extend(needs.iter().filter_map(|need| need.problem(&tensors, &superfluous, &node.name)));
        }
        let count = problems.len() + superfluous.len();
        if count > 0 {
            const SHOWN: usize = 20;
            let used_by_none = |name: &&String| format!("  `{}` is used by no node", printable(name));
            problems.extend(superfluous.iter().take(SHOWN).map(used_by_none));
            problems.truncate(SHOWN);
            let more = count.saturating_sub(SHOWN);
            if more > 0 {
                problems.push(format!("  and {more} more"));
            }
            return Err(TensorsError::Unfit { description: printable(&self.name), problems });
        }
        // Only now that tensors are as large as the description says.
        let Skeleton { mut graph, .. } = Skeleton::of(self, Numbers::There);
        for ((node, described), read) in graph.nodes.iter_mut().zip(&self.nodes).zip(&reads) {
            fill(&mut node.op, described, *read, &mut tensors)?;
        }
        // Before numbers are worked with, so that the place of one that is not finite is that in its file.
        graph.check()?;
        self.order_columns(&mut graph, &shapes);
        fold_normalizations(&mut graph, &self.nodes);
        graph.check()?;
        Ok(graph)
    }
}

/// Moves the numbers of a node from tensors that were found to fit.
fn fill(op: &mut Op, described: &Described, read: Shape, tensors: &mut Tensors) -> Result<(), TensorsError> {
    let mut take = |name: &str| -> Vec<f64> {
        let tensor = tensors
            .remove(name)
            .unwrap_or_else(|| unreachable!("`{name}` is there: what is missing was refused before"));
        tensor.values
    };
    match (op, &described.op) {
        (
            Op::Linear { weights: matrix, bias: vector } | Op::SparseLinear { weights: matrix, bias: vector },
            DescribedOp::Linear { outputs, weights, bias, order, each_pixel, .. },
        ) => {
            let inputs = if *each_pixel { read.channels } else { read.len() };
            *matrix = columns(take(weights), *outputs, inputs, *order);
            if let Some(bias) = bias {
                *vector = take(bias);
            }
        }
        (Op::Embed { table: matrix }, DescribedOp::Embed { width, table, order }) => {
            *matrix = columns(take(table), *width, read.len(), *order);
        }
        (
            Op::Convolution { weights: matrix, bias: vector, .. }
            | Op::TransposedConvolution { weights: matrix, bias: vector, .. },
            DescribedOp::Convolution(kernel) | DescribedOp::TransposedConvolution { kernel, .. },
        ) => {
            *matrix = kernel_columns(&take(&kernel.weights), kernel, KernelSizes::of(kernel, read));
            if let Some(bias) = &kernel.bias {
                *vector = take(bias);
            }
        }
        (Op::PerChannel { factors, offsets }, DescribedOp::PerChannel { weights, bias }) => {
            *factors = take(weights);
            if let Some(bias) = bias {
                *offsets = take(bias);
            }
        }
        (
            Op::PerChannel { factors, offsets },
            DescribedOp::BatchNormalization { weights, bias, mean, variance, epsilon },
        ) => {
            let deviations = take(variance).into_iter().map(|variance| (variance + epsilon).sqrt());
            let weights = weights.as_deref().map(&mut take).unwrap_or_else(|| factors.clone());
            let bias = bias.as_deref().map(&mut take).unwrap_or_else(|| offsets.clone());
            *factors = weights.iter().zip(deviations).map(|(weight, deviation)| weight / deviation).collect();
            let means = take(mean);
            let offset = |((bias, mean), factor): ((f64, f64), &f64)| bias - mean * factor;
            *offsets = bias.into_iter().zip(means).zip(factors.iter()).map(offset).collect();
        }
        (Op::PRelu { slopes }, DescribedOp::PRelu { weights }) => {
            let found = take(weights);
            *slopes = if found.len() == 1 { vec![found[0]; read.channels] } else { found };
        }
        (Op::Constant { values, .. }, DescribedOp::Constant { values: tensor, .. }) => *values = take(tensor),
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

/// A kernel from a file's order.
fn kernel_columns(values: &[f64], kernel: &Kernel, sizes: KernelSizes) -> Matrix<f64> {
    let columns = (0..sizes.taps()).flat_map(|tap| (0..sizes.group_inputs()).map(move |input| (tap, input)));
    let places = columns
        .flat_map(|(tap, input)| (0..sizes.outputs).map(move |output| sizes.place(kernel.order, output, tap, input)));
    let values = places.map(|place| values[place]).collect();
    Matrix { outputs: sizes.outputs, inputs: sizes.taps() * sizes.group_inputs(), values }
}

#[cfg(test)]
mod tests {
    use super::super::tensor::Tensor;
    use super::*;

    fn tensor(shape: &[usize], values: &[f64]) -> Tensor {
        Tensor { shape: shape.to_vec(), values: values.to_vec() }
    }

    #[test]
    fn every_tensor_that_does_not_fit_is_named() {
        let text = "graph = 1\nname = \"x\"\n[input]\nkind = \"dense\"\nsize = 3\n\
             [[node]]\nname = \"a\"\nop = \"linear\"\n\
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
        let text = "graph = 1\nname = \"x\"\n[input]\nkind = \"dense\"\nsize = 3\n\
             [[node]]\nname = \"t\"\nop = \"trees\"\nrate = 0.1\n\
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
