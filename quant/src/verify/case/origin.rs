//! Whether a container can have been made from a checkpoint, before one is measured against the other.

use crate::graph::Graph;
use crate::graph::description::{Described, Description, Tensor};
use crate::program::{Program, ProgramValue};
use crate::spatial::Shape;

/// The least cosine between the weights of a layer and what its integers stand for. Integers that were rounded from the
/// weights lie far above it, whatever they were rounded to, those of another training near 0.
const LEAST_COSINE: f64 = 0.5;

/// What shows that a quantised graph was made from another network, if anything does. Names of the network and of its
/// nodes do not: they depend on the form of the checkpoint, and on its path.
pub fn difference(graph: &Graph, quantised: &Program) -> Option<&'static str> {
    // A node of the container stands for a value of the graph; with another graph it would be measured against
    // anything.
    let shapes = graph.shapes();
    let fits = |layer: usize, value: &ProgramValue| {
        let len = |shape: &Shape| match &value.kept {
            None => (shape.len() == value.len()).then_some(()),
            Some(kept) => {
                let has_all = kept.iter().all(|channel| *channel < shape.channels);
                (has_all && shape.pixels() * kept.len() == value.len()).then_some(())
            }
        };
        shapes.get(layer).and_then(len).is_some()
    };
    if quantised.nodes.iter().any(|node| node.value.layer.is_some_and(|layer| !fits(layer, &node.value))) {
        return Some("their layers");
    }
    let Ok((description, tensors)) = Description::of(graph) else { return Some("their descriptions") };
    let Ok(own) = Description::from_toml(&quantised.description, "description") else {
        return Some("their descriptions");
    };
    if own.input != description.input {
        return Some("their inputs");
    }
    if own.nodes.len() != description.nodes.len() || own.nodes.iter().zip(&description.nodes).any(|(a, b)| !alike(a, b))
    {
        return Some("their layers");
    }
    let found = quantised.to_tensors();
    let is_other = |name: &String, truth: &Tensor| {
        let found = found.get(name).filter(|found| found.shape.len() >= 2 && found.shape == truth.shape);
        found.and_then(|found| cosine(&found.values, &truth.values)).is_some_and(|cosine| cosine < LEAST_COSINE)
    };
    tensors.iter().any(|(name, truth)| is_other(name, truth)).then_some("their weights")
}

/// Whether nodes do the same, whatever they and their tensors are called.
fn alike(a: &Described, b: &Described) -> bool {
    a.reads == b.reads && a.op.nameless() == b.op.nameless()
}

/// `Σ ab / √(Σ a² · Σ b²)`; none where one of them is all zeros.
fn cosine(a: &[f64], b: &[f64]) -> Option<f64> {
    let sum = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let length = sum(a, a).sqrt() * sum(b, b).sqrt();
    (length > 0.0).then(|| sum(a, b) / length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::float::Matrix;
    use crate::graph::{Activation, Input, Node, Op, Sample, Shape};
    use crate::quantise::graph::{Options, quantise_graph};

    fn graph(weights: [f64; 4], function: Activation) -> Graph {
        let weights = Matrix::new(2, 2, weights.to_vec()).unwrap();
        let node = |name: &str, read, op| Node { name: name.to_owned(), reads: vec![read], op };
        Graph {
            name: "small".to_owned(),
            input: Input::Dense { shape: Shape::vector(2) },
            nodes: vec![
                node("l", 0, Op::Linear { weights, bias: vec![0.5; 2] }),
                node("f", 1, Op::Activation(function)),
            ],
        }
    }

    #[test]
    fn names_are_no_difference_and_everything_else_is() {
        let own = graph([1.0, -0.5, 0.25, 0.75], Activation::Relu);
        let samples = [Sample::Dense(vec![1.0, 0.5]), Sample::Dense(vec![0.0, 1.0])];
        let quantised = quantise_graph(&own, &samples, &Options::default()).unwrap();
        let mut renamed = own.clone();
        renamed.name = "other".to_owned();
        renamed.nodes[0].name = "m".to_owned();
        assert_eq!((difference(&own, &quantised), difference(&renamed, &quantised)), (None, None));
        let leaky = graph([1.0, -0.5, 0.25, 0.75], Activation::LeakyRelu { alpha: 0.1 });
        assert_eq!(difference(&leaky, &quantised), Some("their layers"));
        let trained_again = graph([-0.5, 1.0, 0.75, -0.25], Activation::Relu);
        assert_eq!(difference(&trained_again, &quantised), Some("their weights"));
        let mut wider = own;
        wider.input = Input::Dense { shape: Shape::vector(3) };
        wider.nodes[0].op = Op::Linear { weights: Matrix::new(2, 3, vec![1.0; 6]).unwrap(), bias: vec![0.0; 2] };
        assert_eq!(difference(&wider, &quantised), Some("their inputs"));
    }
}
