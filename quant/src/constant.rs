//! What is the same everywhere and so says nothing: weights that were never trained, layers and outputs that no example
//! changes, examples that are all alike. A network of zeros passes every comparison with itself.
//!
//! Biases are often all zeros, and the factors of normalizations all ones: neither is looked at.

use crate::graph::{Graph, Op, Sample, SampleError};
use crate::program::{Operation, Program, QuantTensor, Values};

/// A tensor of fewer elements may be what it is by chance.
const LEAST_ELEMENTS: usize = 4;
/// Examples that are looked at, evenly taken: what none of them changes is constant.
const LOOKED_AT: usize = 32;

/// The layers of a graph whose weights are one number.
#[must_use]
pub fn constant_weights(graph: &Graph) -> Vec<String> {
    let is_constant = |op: &Op| match op {
        Op::Linear { weights, .. }
        | Op::SparseLinear { weights, .. }
        | Op::Convolution { weights, .. }
        | Op::TransposedConvolution { weights, .. }
        | Op::Embed { table: weights } => is_one_number(&weights.values),
        _ => false,
    };
    let found = graph.nodes.iter().filter(|node| is_constant(&node.op));
    found.map(|node| format!("the weights of `{}` are one number", node.name)).collect()
}

/// The tensors of a program whose weights are one integer, or one real number. A single column is not looked at: each
/// row of it may have been given a unit of its own.
#[must_use]
pub fn constant_tensors(program: &Program) -> Vec<String> {
    let rows = program
        .transformer
        .iter()
        .flat_map(|transformer| std::iter::once(&transformer.rows).chain(&transformer.further));
    let weights = program.nodes.iter().filter_map(|node| match &node.op {
        Operation::ActivateDot { weights, .. }
        | Operation::RoundedDot { weights, .. }
        | Operation::WideHead { weights, .. }
        | Operation::Affine { weights, .. }
        | Operation::AffineF32 { weights, .. }
        | Operation::SparseAffine { weights, .. }
        | Operation::SparseRows { table: weights, .. } => Some(weights),
        Operation::Convolution(op) => Some(&op.weights),
        _ => None,
    });
    let is_constant = |tensor: &&QuantTensor| {
        tensor.inputs > 1
            && match &tensor.values {
                Values::Int(values) => is_one_number(values),
                Values::F32(values) => is_one_number(values),
            }
    };
    let found = rows.chain(weights).filter(is_constant);
    found.map(|tensor| format!("the weights `{}` are one number", tensor.name)).collect()
}

/// What of a graph the examples leave as it is: all of themselves, the layers that are the same for all, the output.
/// Nothing can be said of a single example.
///
/// # Errors
/// Which example does not fit, and why.
pub fn constant_values(graph: &Graph, samples: &[Sample]) -> Result<Vec<String>, (usize, SampleError)> {
    if samples.len() < 2 {
        return Ok(Vec::new());
    }
    if samples.windows(2).all(|pair| pair[0] == pair[1]) {
        return Ok(vec![format!("all {} examples are the same", samples.len())]);
    }
    let mut first: Option<Vec<Vec<f64>>> = None;
    let mut is_constant = vec![true; graph.nodes.len() + 1];
    for index in (0..samples.len()).step_by(samples.len().div_ceil(LOOKED_AT).max(1)) {
        let values = graph.trace(&samples[index]).map_err(|error| (index, error))?;
        let Some(first) = &first else {
            first = Some(values);
            continue;
        };
        for ((is_constant, value), first) in is_constant.iter_mut().zip(&values).zip(first) {
            *is_constant &= value == first;
        }
    }
    // What is made of constants alone is one: the examples have no part in it.
    let mut is_given = vec![false];
    for node in &graph.nodes {
        let is_made = !node.reads.is_empty() && node.reads.iter().all(|read| is_given[*read]);
        is_given.push(is_made || matches!(node.op, Op::Constant { .. }));
    }
    let is_made_of_examples = |index: usize| !graph.nodes[index].reads.is_empty() && !is_given[index + 1];
    let mut found: Vec<String> = (0..graph.nodes.len())
        .filter(|index| is_constant[index + 1] && is_made_of_examples(*index))
        .map(|index| format!("`{}` makes the same of every example", graph.nodes[index].name))
        .collect();
    // What is behind it follows from it.
    found.truncate(1);
    Ok(found)
}

/// Whether outputs, so many an example, are the same for all of several examples.
#[must_use]
pub fn are_constant(values: &[f64], outputs: usize) -> bool {
    let mut rows = values.chunks(outputs.max(1));
    let first = rows.next();
    values.len() > outputs && rows.all(|row| Some(row) == first)
}

fn is_one_number<T: PartialEq>(values: &[T]) -> bool {
    values.len() >= LEAST_ELEMENTS && values.windows(2).all(|pair| pair[0] == pair[1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::float::Matrix;
    use crate::graph::{Activation, Input, Node, Shape};

    fn graph(weights: [f64; 4], bias: [f64; 2]) -> Graph {
        let weights = Matrix::new(2, 2, weights.to_vec()).unwrap();
        let node = |name: &str, read, op| Node { name: name.to_owned(), reads: vec![read], op };
        Graph {
            name: "small".to_owned(),
            input: Input::Dense { shape: Shape::vector(2) },
            nodes: vec![
                node("l", 0, Op::Linear { weights, bias: bias.to_vec() }),
                node("f", 1, Op::Activation(Activation::Relu)),
            ],
        }
    }

    #[test]
    fn one_number_is_found_and_biases_of_zeros_are_not() {
        assert_eq!(constant_weights(&graph([0.0; 4], [1.0, 2.0])), ["the weights of `l` are one number"]);
        assert!(constant_weights(&graph([0.0, 0.0, 0.0, 0.1], [0.0; 2])).is_empty());
    }

    #[test]
    fn what_is_made_of_constants_alone_is_no_finding() {
        let samples = [Sample::Dense(vec![0.5, 1.0]), Sample::Dense(vec![1.0, 0.25])];
        let mut shaped = graph([1.0, 2.0, 3.0, 4.0], [0.0; 2]);
        let node = |name: &str, reads: &[usize], op| Node { name: name.to_owned(), reads: reads.to_vec(), op };
        let shape = Shape::vector(2);
        shaped.nodes.push(node("c", &[], Op::Constant { shape, values: vec![1.0, 2.0] }));
        shaped.nodes.push(node("r", &[3], Op::Reshape(shape)));
        shaped.nodes.push(node("a", &[2, 4], Op::Add));
        assert!(constant_values(&shaped, &samples).unwrap().is_empty());
    }

    #[test]
    fn layers_that_nothing_changes_are_named_once() {
        let samples = [Sample::Dense(vec![0.5, 1.0]), Sample::Dense(vec![1.0, 0.25])];
        let dead = graph([1.0, 2.0, 3.0, 4.0], [-100.0, -100.0]);
        assert_eq!(constant_values(&dead, &samples).unwrap(), ["`f` makes the same of every example"]);
        let zeros = graph([0.0; 4], [1.0, 2.0]);
        assert_eq!(constant_values(&zeros, &samples).unwrap(), ["`l` makes the same of every example"]);
        let alive = graph([1.0, 2.0, 3.0, 4.0], [0.0, -100.0]);
        assert!(constant_values(&alive, &samples).unwrap().is_empty(), "a single channel");
        let same = [samples[0].clone(), samples[0].clone()];
        assert_eq!(constant_values(&alive, &same).unwrap(), ["all 2 examples are the same"]);
        assert!(constant_values(&alive, &same[..1]).unwrap().is_empty());
        assert!(are_constant(&[1.0, 2.0, 1.0, 2.0], 2) && !are_constant(&[1.0, 2.0, 1.0, 2.5], 2));
        assert!(!are_constant(&[1.0, 2.0], 2), "one example");
    }
}
