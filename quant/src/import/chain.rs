//! Chains of dense layers: their sizes and activations without their weights, and the nodes that they become.
//!
//! A chain is written as `784:relu128:linear10`: the number of inputs, then a layer a part, its activation and its
//! number of outputs. The slope of a leaky ReLU, 0.01 unless it is given, stands behind the size: `leaky9@0.2`.

use crate::arch::suggest::{advice, other_operation};
use crate::float::Matrix;
use crate::graph::{Activation, Graph, Input, Node, Op, Shape};
use std::fmt;
use thiserror::Error;

/// The most layers.
const MAX_LAYERS: usize = 1024;
/// The most weights and biases of a chain.
pub(super) const MAX_PARAMETERS: usize = 100_000_000;
/// The words of activations.
const ACTIVATIONS: [&str; 7] = ["linear", "relu", "crelu", "leaky", "sigmoid", "tanh", "softmax"];
/// The slope of a leaky ReLU that is not given, as lattice-fann has it.
const DEFAULT_ALPHA: f32 = 0.01;

/// Sizes and activations of dense layers, each of which reads the one before. At least one layer, no size 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Chain {
    layers: Vec<ChainLayer>,
}

/// A dense layer without its weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChainLayer {
    /// Number of inputs.
    pub inputs: usize,
    /// Number of outputs.
    pub outputs: usize,
    /// What its sums go through; nothing for a linear layer.
    pub activation: Option<Activation>,
}

/// Layers that are no chain.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ChainError {
    /// Not a layer's text.
    #[error("architecture `{text}`, part {index} (`{part}`): {why}; write it as 784:relu128:linear10")]
    Part {
        /// All of it, or its beginning.
        text: String,
        /// Which part, from 0.
        index: usize,
        /// It, or its beginning.
        part: String,
        /// What is wrong with it.
        why: String,
    },
    /// An activation of the field that no chain has.
    #[error("architecture `{text}`, part {index} (`{part}`): `{word}` is not supported; there are {known}")]
    NotSupported {
        /// All of it, or its beginning.
        text: String,
        /// Which part, from 0.
        index: usize,
        /// It, or its beginning.
        part: String,
        /// What it is called.
        word: String,
        /// What there is.
        known: String,
    },
    /// No layer, or too many.
    #[error("{found} layers, expected 1 to {MAX_LAYERS}")]
    Count {
        /// How many.
        found: usize,
    },
    /// A layer without inputs or outputs.
    #[error("layer {index} has {inputs} inputs and {outputs} outputs, expected at least 1 of both")]
    Size {
        /// Which layer, from 0.
        index: usize,
        /// Its inputs.
        inputs: usize,
        /// Its outputs.
        outputs: usize,
    },
    /// A layer that reads more or less than the one before makes.
    #[error("layer {index} reads {found} elements, the layer before makes {expected}")]
    Chain {
        /// Which layer, from 0.
        index: usize,
        /// What it reads.
        found: usize,
        /// What the layer before makes.
        expected: usize,
    },
    /// Too large.
    #[error("more than {MAX_PARAMETERS} weights and biases up to layer {index}")]
    Parameters {
        /// The layer with which they are too many, from 0.
        index: usize,
    },
}

impl Chain {
    /// A chain of these layers.
    ///
    /// # Errors
    /// [`ChainError`] if there are none or too many, if one is empty, or if one does not fit the one before.
    pub fn new(layers: Vec<ChainLayer>) -> Result<Self, ChainError> {
        if !(1..=MAX_LAYERS).contains(&layers.len()) {
            return Err(ChainError::Count { found: layers.len() });
        }
        let (mut parameters, mut before) = (0usize, None);
        for (index, &ChainLayer { inputs, outputs, .. }) in layers.iter().enumerate() {
            if inputs == 0 || outputs == 0 {
                return Err(ChainError::Size { index, inputs, outputs });
            }
            if let Some(expected) = before.filter(|before| *before != inputs) {
                return Err(ChainError::Chain { index, found: inputs, expected });
            }
            before = Some(outputs);
            parameters = parameters.saturating_add(inputs.saturating_add(1).saturating_mul(outputs));
            if parameters > MAX_PARAMETERS {
                return Err(ChainError::Parameters { index });
            }
        }
        Ok(Self { layers })
    }

    /// A chain from its text.
    ///
    /// # Errors
    /// [`ChainError::Part`] with the part that is wrong, and those of [`Chain::new`].
    pub fn from_text(text: &str) -> Result<Self, ChainError> {
        let part_error = |index, part: &str, why| ChainError::Part { text: short(text), index, part: short(part), why };
        let (mut inputs, mut layers) = (None, Vec::new());
        for (index, part) in text.split(':').enumerate().take(MAX_LAYERS + 2) {
            match inputs {
                None => inputs = Some(size(part).map_err(|why| part_error(index, part, why))?),
                Some(before) => {
                    let (word, _) = part.split_at(part.find(|c: char| c.is_ascii_digit()).unwrap_or(part.len()));
                    if let Some(known) = other_operation(word, &ACTIVATIONS) {
                        let (text, part, word) = (short(text), short(part), short(word));
                        return Err(ChainError::NotSupported { text, index, part, word, known });
                    }
                    let (activation, outputs) = layer(part).map_err(|why| part_error(index, part, why))?;
                    layers.push(ChainLayer { inputs: before, outputs, activation });
                    inputs = Some(outputs);
                }
            }
        }
        Self::new(layers)
    }

    /// The layers, in the order in which they are computed.
    #[must_use]
    pub fn layers(&self) -> &[ChainLayer] {
        &self.layers
    }

    /// The number of weights and biases.
    #[must_use]
    pub fn parameters(&self) -> usize {
        self.layers.iter().map(|layer| (layer.inputs + 1) * layer.outputs).sum()
    }

    /// The graph with these parameters: for each layer its weights, row by row, one an output, then its biases. The
    /// layers are called `layer0`, `layer1`, …, their activations `layer0.relu` and so on. Nothing if there are more or
    /// fewer.
    pub(super) fn graph(&self, name: &str, parameters: &[f32]) -> Option<Graph> {
        let (mut rest, mut nodes) = (parameters, Vec::new());
        for (index, layer) in self.layers.iter().enumerate() {
            let (weights, after) = rest.split_at_checked(layer.inputs * layer.outputs)?;
            let (bias, after) = after.split_at_checked(layer.outputs)?;
            let layer_name = format!("layer{index}");
            let weights = from_rows(layer.outputs, layer.inputs, weights);
            let bias = bias.iter().copied().map(f64::from).collect();
            push(&mut nodes, layer_name.clone(), Op::Linear { weights, bias });
            if let Some(activation) = layer.activation {
                push(&mut nodes, activation_name(&layer_name, activation), Op::Activation(activation));
            }
            rest = after;
        }
        let input = Input::Dense { shape: Shape::vector(self.layers.first()?.inputs) };
        rest.is_empty().then(|| Graph { name: name.to_owned(), input, nodes })
    }
}

impl fmt::Display for Chain {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.layers.first().map_or(0, |layer| layer.inputs))?;
        for layer in &self.layers {
            let word = layer.activation.map_or("linear", word);
            write!(formatter, ":{word}{}", layer.outputs)?;
            if let Some(Activation::LeakyRelu { alpha }) = layer.activation {
                write!(formatter, "@{}", alpha as f32)?;
            }
        }
        Ok(())
    }
}

/// An activation from a word: `relu`, `leaky`, `leaky@0.2`, `sigmoid`, `tanh`, `softmax`; `Some(None)` for `linear`,
/// which is none.
#[must_use]
pub fn activation_from_word(text: &str) -> Option<Option<Activation>> {
    let (name, alpha) = text.split_once('@').map_or((text, None), |(name, alpha)| (name, Some(alpha)));
    let activation = match (name, alpha) {
        ("leaky", None) => Activation::LeakyRelu { alpha: f64::from(DEFAULT_ALPHA) },
        ("leaky", Some(alpha)) => {
            let alpha = alpha.parse::<f32>().ok().filter(|alpha| alpha.is_finite())?;
            Activation::LeakyRelu { alpha: f64::from(alpha) }
        }
        (_, Some(_)) => return None,
        ("linear", None) => return Some(None),
        ("relu", None) => Activation::Relu,
        ("crelu", None) => Activation::Crelu,
        ("sigmoid", None) => Activation::Sigmoid,
        ("tanh", None) => Activation::Tanh,
        ("softmax", None) => Activation::Softmax,
        _ => return None,
    };
    Some(Some(activation))
}

/// The name of the node that applies an activation behind a layer: `layer1.relu`.
pub(super) fn activation_name(layer: &str, activation: Activation) -> String {
    format!("{layer}.{}", word(activation))
}

/// Appends a node that reads what the last one made.
pub(super) fn push(nodes: &mut Vec<Node>, name: String, op: Op) {
    let reads = vec![nodes.len()];
    nodes.push(Node { name, reads, op });
}

/// The matrix whose rows, one an output, stand one behind the other. `rows` has `outputs · inputs` elements.
pub(super) fn from_rows(outputs: usize, inputs: usize, rows: &[f32]) -> Matrix<f64> {
    let column = |input| rows.iter().skip(input).step_by(inputs.max(1)).copied().map(f64::from);
    Matrix { outputs, inputs, values: (0..inputs).flat_map(column).collect() }
}

fn word(activation: Activation) -> &'static str {
    match activation {
        Activation::LeakyRelu { .. } => "leaky",
        other => other.word(),
    }
}

/// `relu128` or `leaky9@0.2`.
fn layer(part: &str) -> Result<(Option<Activation>, usize), String> {
    let digits = part.find(|c: char| c.is_ascii_digit()).ok_or("a layer has a number of outputs")?;
    let (name, rest) = part.split_at(digits);
    let (outputs, alpha) = rest.split_once('@').map_or((rest, None), |(size, alpha)| (size, Some(alpha)));
    let words = alpha.map_or(name.to_owned(), |alpha| format!("{name}@{alpha}"));
    let activation = activation_from_word(&words).ok_or_else(|| match alpha {
        Some(_) => "only leaky has a slope behind `@`, a number".to_owned(),
        None => format!("no activation; {}", advice(name, &ACTIVATIONS)),
    })?;
    Ok((activation, size(outputs)?))
}

fn size(text: &str) -> Result<usize, String> {
    let digits_only = text.bytes().all(|byte| byte.is_ascii_digit());
    let size = text.parse().ok().filter(|size| digits_only && (1..=MAX_PARAMETERS).contains(size));
    size.ok_or_else(|| format!("`{}` is no size, 1 to {MAX_PARAMETERS}", short(text)))
}

/// What is shown of a text that somebody handed in.
pub(super) fn short(text: &str) -> String {
    const SHOWN: usize = 64;
    if text.chars().count() <= SHOWN { text.to_owned() } else { text.chars().take(SHOWN).chain(['…']).collect() }
}

#[cfg(test)]
mod tests {
    use super::{Chain, ChainError, ChainLayer, activation_from_word};
    use crate::graph::{Activation, Sample};

    #[test]
    fn a_text_is_a_chain_and_back() {
        let chain = Chain::from_text("5:leaky9@0.2:tanh3:linear4").unwrap();
        assert_eq!(chain.parameters(), 5 * 9 + 9 + 9 * 3 + 3 + 3 * 4 + 4);
        let alpha = f64::from(0.2f32);
        assert_eq!(chain.layers()[0].activation, Some(Activation::LeakyRelu { alpha }));
        assert_eq!(chain.to_string(), "5:leaky9@0.2:tanh3:linear4");
        assert_eq!(Chain::from_text(&chain.to_string()).unwrap(), chain);
        let default = Chain::from_text("1:leaky1").unwrap();
        assert_eq!(default.to_string(), "1:leaky1@0.01");
        assert_eq!(activation_from_word("linear"), Some(None));
    }

    #[test]
    fn errors_name_the_part() {
        for (text, words) in [
            ("", "part 0 (``): `` is no size"),
            ("relu4", "part 0 (`relu4`)"),
            ("4:8", "part 1 (`8`): no activation; expected one of `linear`"),
            ("4:rellu8", "part 1 (`rellu8`): no activation; did you mean `relu`?"),
            ("4:relu", "part 1 (`relu`): a layer has a number of outputs"),
            ("4:relu8:gelu2", "part 2 (`gelu2`): `gelu` is not supported; there are `linear`"),
            ("4:relu8@0.1", "part 1 (`relu8@0.1`): only leaky has a slope"),
            ("4:leaky8@inf", "only leaky has a slope"),
            ("4:relu0", "`0` is no size"),
            ("4:relu+8", "no activation; did you mean `relu`?"),
            ("4:relu99999999999999999999", "is no size"),
            ("4", "0 layers"),
            ("100000:relu100000", "more than 100000000 weights"),
        ] {
            let error = Chain::from_text(text).unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
        let layer = |inputs, outputs| ChainLayer { inputs, outputs, activation: None };
        let error = Chain::new(vec![layer(2, 3), layer(4, 1)]).unwrap_err();
        assert_eq!(error, ChainError::Chain { index: 1, found: 4, expected: 3 });
        assert_eq!(
            Chain::from_text(&format!("1{}", ":relu1".repeat(3000))).unwrap_err(),
            ChainError::Count { found: 1025 }
        );
    }

    #[test]
    fn parameters_are_weights_by_rows_then_biases() {
        let chain = Chain::from_text("2:relu2:linear1").unwrap();
        // Rows (1, 2) and (3, −4), biases 0.5 and 1; row (1, 10), bias −1.
        let parameters = [1.0, 2.0, 3.0, -4.0, 0.5, 1.0, 1.0, 10.0, -1.0];
        let graph = chain.graph("x", &parameters).unwrap();
        graph.check().unwrap();
        assert_eq!(
            graph.nodes.iter().map(|node| node.name.as_str()).collect::<Vec<_>>(),
            ["layer0", "layer0.relu", "layer1"]
        );
        assert_eq!(graph.evaluate(&Sample::Dense(vec![1.0, 1.0])).unwrap(), [3.5 + 10.0 * 0.0 - 1.0]);
        assert_eq!(graph.evaluate(&Sample::Dense(vec![1.0, 0.0])).unwrap(), [1.5 + 10.0 * 4.0 - 1.0]);
        assert!(chain.graph("x", &parameters[1..]).is_none() && chain.graph("x", &[parameters; 2].concat()).is_none());
    }
}
