//! The integer model beside full precision, example by example.

use super::error::VerifyError;
use super::layers::{LayerNoise, Noise};
use crate::float::{Example, Net};
use crate::graph::{Graph, Sample, SampleError};
use crate::integer::Data;
use crate::parallel;
use crate::program::{Program, ProgramNode};

/// Full precision, as far as it is known.
#[derive(Debug, Clone)]
pub(super) enum Full<'a> {
    /// The outputs alone. (examples, outputs)
    Outputs(Vec<f64>),
    /// A float graph, of which a program's values say which of its values they stand for.
    Graph {
        /// The graph.
        graph: &'a Graph,
        /// A sample an example.
        samples: &'a [Sample],
    },
}

/// A program beside full precision, of which any example can be asked for, on any thread.
#[derive(Clone, Copy)]
pub(super) struct Beside<'c> {
    program: &'c Program,
    full: &'c Full<'c>,
    /// The value that is compared.
    value: usize,
}

/// One example in integers and in full precision.
pub(super) struct BesideExample {
    /// (outputs,)
    integer: Vec<f64>,
    /// (outputs,)
    truth: Vec<f64>,
    /// Of each node that stands for a value of the float graph: its number, its reals and those of the graph.
    nodes: Vec<(usize, Vec<(f64, f64)>)>,
}

/// Numbers that are held until they are added up, at most, unless one example has more.
const MOST_NUMBERS: usize = 1 << 21;
/// Examples that wait, at most.
const MOST_EXAMPLES: usize = 256;

impl<'c> Beside<'c> {
    /// Of a program's value, by its number.
    pub const fn new(program: &'c Program, value: usize, full: &'c Full<'c>) -> Self {
        Self { program, full, value }
    }

    /// Examples that may be made before those in front of them are taken.
    pub fn ahead(&self) -> usize {
        let numbers: usize = (0..=self.program.nodes.len()).map(|value| self.program.len(value)).sum();
        (MOST_NUMBERS / numbers.max(1)).clamp(1, MOST_EXAMPLES)
    }

    /// An example. values: all of the program, the input first.
    ///
    /// # Errors
    /// [`SampleError`] if the float graph refuses the sample.
    pub fn example(&self, index: usize, values: &[Data]) -> Result<BesideExample, SampleError> {
        let node = &self.program.nodes[self.value - 1];
        let integer = values[self.value].to_reals(&node.value);
        let mut nodes = Vec::new();
        let truth = match self.full {
            Full::Outputs(outputs) => outputs[index * integer.len()..][..integer.len()].to_vec(),
            Full::Graph { graph, samples } => {
                let reals = graph.trace(&samples[index])?;
                let shapes = graph.shapes();
                for (number, (node, data)) in self.program.nodes.iter().zip(&values[1..]).enumerate() {
                    // A container may have left out channels that say nothing.
                    let fitting = node.value.layer.filter(|layer| node.value.is_part_of(shapes[*layer]));
                    if let Some(layer) = fitting {
                        let truth = node.value.pick(&reals[layer], shapes[layer]);
                        nodes.push((number, data.to_reals(&node.value).into_iter().zip(truth).collect()));
                    }
                }
                reals[graph.logits()].clone()
            }
        };
        finite("full precision", &truth)?;
        finite("the container", &integer)?;
        Ok(BesideExample { integer, truth, nodes })
    }
}

/// Statistics of what is no number say nothing, and some say that all is well.
fn finite(side: &'static str, outputs: &[f64]) -> Result<(), SampleError> {
    match outputs.iter().position(|value| !value.is_finite()) {
        Some(output) => Err(SampleError::NoNumber { side, output, value: outputs[output] }),
        None => Ok(()),
    }
}

/// What was seen so far.
pub(super) struct Comparison<'c> {
    beside: Beside<'c>,
    examples: usize,
    integer: Vec<f64>,
    truth: Vec<f64>,
    /// (nodes,)
    noise: Vec<Noise>,
}

/// Both, of all examples.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Compared {
    /// How many.
    pub examples: usize,
    /// (examples, outputs) of the integer model.
    pub integer: Vec<f64>,
    /// (examples, outputs) in full precision.
    pub truth: Vec<f64>,
    /// Outputs of one example.
    pub outputs: usize,
    /// Every layer that has integers of its own.
    pub layers: Vec<LayerNoise>,
}

impl Compared {
    /// Adds further examples of the same network.
    pub fn join(&mut self, other: Self) {
        self.examples += other.examples;
        self.integer.extend(other.integer);
        self.truth.extend(other.truth);
        for (own, other) in self.layers.iter_mut().zip(&other.layers) {
            own.noise.join(&other.noise);
        }
    }
}

impl<'c> Comparison<'c> {
    /// Of nothing yet.
    pub fn new(beside: Beside<'c>) -> Self {
        let noise = vec![Noise::default(); beside.program.nodes.len()];
        Self { beside, examples: 0, integer: Vec::new(), truth: Vec::new(), noise }
    }

    /// The next example, as [`Beside::example`] has it.
    pub fn take(&mut self, example: &BesideExample) {
        self.integer.extend_from_slice(&example.integer);
        self.truth.extend_from_slice(&example.truth);
        for (node, pairs) in &example.nodes {
            self.noise[*node].add(pairs.iter().copied());
        }
        self.examples += 1;
    }

    /// Whether a value is on the way to what its layer becomes: a part of a sum, or what is rounded behind it.
    fn is_on_the_way(&self, value: usize) -> bool {
        let layer = self.beside.program.nodes[value - 1].value.layer;
        let goes_on =
            |node: &ProgramNode| node.value.layer == layer && node.reads.iter().any(|read| read.value == value);
        self.beside.program.nodes.iter().any(goes_on)
    }

    /// All of it.
    pub fn finish(self) -> Compared {
        let layers = match self.beside.full {
            Full::Outputs(_) => Vec::new(),
            Full::Graph { graph, .. } => {
                let of_node = |(index, noise): (usize, &Noise)| {
                    let made = &self.beside.program.nodes[index].value;
                    let name = &graph.nodes[made.layer?.checked_sub(1)?].name;
                    (!noise.is_empty() && !self.is_on_the_way(index + 1)).then(|| LayerNoise {
                        layer: name.clone(),
                        element: made.element,
                        noise: *noise,
                    })
                };
                self.noise.iter().enumerate().filter_map(of_node).collect()
            }
        };
        let outputs = self.beside.program.len(self.beside.value);
        Compared { examples: self.examples, integer: self.integer, truth: self.truth, outputs, layers }
    }
}

/// Examples of a piece of work.
const EXAMPLES: usize = 64;

/// The float network's outputs on every example.
pub(super) fn evaluate_all(net: &Net<f64>, examples: &[Example]) -> Result<Vec<f64>, VerifyError> {
    parallel::gather(examples.len(), EXAMPLES, |range| {
        let mut outputs = Vec::new();
        for index in range {
            outputs.extend(net.evaluate(&examples[index]).map_err(|error| VerifyError::Example { index, error })?);
        }
        Ok(outputs)
    })
}
