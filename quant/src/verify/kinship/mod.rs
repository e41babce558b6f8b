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
