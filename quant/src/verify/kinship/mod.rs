//! A container's float graph beside a checkpoint's: which value of the one is which of the other.
//!
//! A container carries the description of the graph that it was made from, and integers that stand for its weights. The
//! checkpoint may be the same network in another form: other names, another order of branches, a dense layer where the
//! other has a convolution of one pixel, a flattening more. Values are matched from the input on by what makes them.

mod matching;
mod weights;

use crate::graph::description::Description;
use crate::graph::{Graph, Op, Value, Window};
use crate::program::Program;
use crate::verify::error::VerifyError;
pub(super) use weights::{biases_of, cosine, weights_of};

/// The least cosine between the weights of a layer and what its integers stand for. Integers that were rounded from the
/// weights lie far above it, whatever they were rounded to, those of another training near 0.
pub(super) const LEAST_COSINE: f64 = 0.5;

/// What a container has in common with a checkpoint.
#[derive(Debug, Clone)]
pub(super) struct Kinship {
    /// By the value of the container's graph: that of the checkpoint's, if it has one.
    values: Vec<Option<Value>>,
    /// The layers of both that have weights, in the container's order.
    pub layers: Vec<Layer>,
    /// Nodes of the checkpoint whose window slides otherwise than the container's, and how that does.
    pub windows: Vec<(usize, Window)>,
}

/// A layer of both.
#[derive(Debug, Clone)]
pub(super) struct Layer {
    /// The checkpoint's node.
    pub node: usize,
    /// What the container's integers stand for, in the order of the checkpoint's matrix; none where it is kept
    /// otherwise, or has fewer channels.
    pub weights: Option<Vec<f64>>,
    /// (outputs,), the same of the bias; zeros where it has none.
    pub bias: Option<Vec<f64>>,
}

impl Kinship {
    /// Finds it.
    ///
    /// # Errors
    /// [`VerifyError::OtherNetwork`]: inputs, layers or outputs that do not fit one another.
    pub fn of(graph: &Graph, program: &Program) -> Result<Self, VerifyError> {
        let other = |what| VerifyError::OtherNetwork { what };
        let own = Description::from_toml(&program.description, "description");
        let own = own.map_err(|_| other("their descriptions"))?.skeleton();
        if !matching::same_input(own.input, graph.input) {
            return Err(other("their inputs"));
        }
        let lengths = own.lengths();
        let fits = |layer: usize, len: usize| lengths.get(layer).is_some_and(|own| len <= *own);
        if program.nodes.iter().any(|node| node.value.layer.is_some_and(|layer| !fits(layer, node.value.len()))) {
            return Err(other("their layers"));
        }
        let tensors = program.to_tensors();
        let values = matching::values(&own, graph, &tensors).ok_or_else(|| other("their layers"))?;
        let (mut layers, mut windows) = (Vec::new(), Vec::new());
        for (index, node) in own.nodes.iter().enumerate() {
            let Some(at) = values[index + 1].and_then(|value| value.checked_sub(1)) else { continue };
            let given = &graph.nodes[at].op;
            if let (Some(found), Some(window)) = (window(&node.op), window(given))
                && (found.before, found.after) != (window.before, window.after)
            {
                windows.push((at, found));
            }
            if let (Some(matrix), false) = (weights_of(given), matching::is_transparent(&node.op)) {
                let weights = weights::in_order(&tensors, &node.name).filter(|found| found.len() == matrix.len());
                let bias = biases_of(given).and_then(|given| weights::bias(&tensors, &node.name, given.len()));
                layers.push(Layer { node: at, weights, bias });
            }
        }
        Ok(Self { values, layers, windows })
    }

    /// The program with its values numbered as the checkpoint's graph has them; what that does not have stands for
    /// nothing.
    pub fn carried(&self, program: Program) -> Program {
        let mut program = program;
        for node in &mut program.nodes {
            node.value.layer = node.value.layer.and_then(|layer| self.values.get(layer).copied().flatten());
        }
        program
    }

    /// The layers whose integers stand for other weights than the checkpoint's, by their nodes, and how many could be
    /// compared.
    pub fn other_weights(&self, graph: &Graph) -> (Vec<usize>, usize) {
        let (mut others, mut compared) = (Vec::new(), 0);
        for layer in &self.layers {
            let Some(weights) = &layer.weights else { continue };
            let Some(cosine) = weights_of(&graph.nodes[layer.node].op).and_then(|truth| cosine(weights, truth)) else {
                continue;
            };
            compared += 1;
            if cosine < LEAST_COSINE {
                others.push(layer.node);
            }
        }
        (others, compared)
    }
}

/// How an operation's window slides.
fn window(op: &Op) -> Option<Window> {
    match op {
        Op::Convolution { window, .. } | Op::Pool { window, .. } => Some(*window),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::float::Matrix;
    use crate::graph::{Activation, Input, Node, Sample, Shape};
    use crate::quantise::graph::{Options, quantise_graph};

    fn node(name: &str, reads: &[Value], op: Op) -> Node {
        Node { name: name.to_owned(), reads: reads.to_vec(), op }
    }

    fn matrix(outputs: usize, inputs: usize, seed: usize) -> Matrix<f64> {
        let values = (0..outputs * inputs).map(|at| ((at * 7 + seed * 5) % 11) as f64 / 5.0 - 1.0).collect();
        Matrix::new(outputs, inputs, values).unwrap()
    }

    /// Two convolutions of one pixel that read the same map, their sum, and a dense layer: `forms` says how it is put.
    fn graph(seed: usize, is_other_form: bool) -> Graph {
        let pixel = |seed| Op::Convolution {
            window: Window::of([1, 1]),
            groups: 1,
            weights: matrix(2, 2, seed),
            bias: vec![0.5, -0.25],
        };
        let (a, b) = (node("a", &[0], pixel(seed)), node("b", &[0], pixel(seed + 1)));
        let relu = Op::Activation(Activation::Relu);
        let dense = Op::Linear { weights: matrix(3, 8, seed + 2), bias: vec![0.0; 3] };
        let nodes = if is_other_form {
            // Branches the other way round, no flattening, and one branch as a dense layer of every pixel.
            let b = node("second", &[0], Op::Linear { weights: matrix(2, 2, seed + 1), bias: vec![0.5, -0.25] });
            let a = Node { name: "first".to_owned(), ..a };
            let ends = [node("sum", &[2, 1], Op::Add), node("cut", &[3], relu), node("dense", &[4], dense)];
            [b, a].into_iter().chain(ends).collect()
        } else {
            let ends = [
                node("add", &[1, 2], Op::Add),
                node("relu", &[3], relu),
                node("flat", &[4], Op::Flatten),
                node("fc", &[5], dense),
            ];
            [a, b].into_iter().chain(ends).collect()
        };
        let graph = Graph { name: "x".to_owned(), input: Input::Dense { shape: Shape::map(2, 2, 2) }, nodes };
        graph.check().unwrap();
        graph
    }

    fn quantised(graph: &Graph) -> Program {
        let sample = |seed: usize| Sample::Dense((0..8).map(|at| ((at * 3 + seed) % 7) as f64 / 7.0).collect());
        quantise_graph(graph, &[sample(0), sample(2), sample(5)], &Options::default()).unwrap()
    }

    #[test]
    fn another_form_of_the_network_is_the_network() {
        let program = quantised(&graph(1, false));
        let other = graph(1, true);
        let kinship = Kinship::of(&other, &program).unwrap();
        // a, b, add, relu, flat and fc of the container's.
        assert_eq!(kinship.values, [Some(0), Some(2), Some(1), Some(3), Some(4), Some(4), Some(5)]);
        assert_eq!(kinship.other_weights(&other), (vec![], 3));
        let logits = program.standing_for(6);
        assert_eq!(kinship.carried(program.clone()).standing_for(other.logits()), logits);
    }

    #[test]
    fn other_layers_are_refused_and_other_weights_are_named() {
        let program = quantised(&graph(1, false));
        let refused = |graph: &Graph| Kinship::of(graph, &program).unwrap_err();
        let what = |error: VerifyError| match error {
            VerifyError::OtherNetwork { what } => what,
            other => panic!("{other}"),
        };
        let mut leaky = graph(1, true);
        leaky.nodes[3].op = Op::Activation(Activation::LeakyRelu { alpha: 0.1 });
        assert_eq!(what(refused(&leaky)), "their layers");
        let mut wider = graph(1, false);
        wider.input = Input::Dense { shape: Shape::map(3, 2, 2) };
        wider.nodes[5].op = Op::Linear { weights: matrix(3, 12, 3), bias: vec![0.0; 3] };
        assert_eq!(what(refused(&wider)), "their inputs");
        let mut others = graph(1, false);
        if let Op::Linear { weights, .. } = &mut others.nodes[5].op {
            weights.values.iter_mut().for_each(|weight| *weight = -*weight);
        }
        assert_eq!(Kinship::of(&others, &program).unwrap().other_weights(&others), (vec![5], 3));
    }
}
