//! The integer model beside full precision, example by example.

use super::error::VerifyError;
use super::layers::{LayerError, Noise};
use crate::float::{Example, Net};
use crate::graph::{Graph, Sample, SampleError};
use crate::integer::Data;
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

/// What was seen so far.
pub(super) struct Comparison<'c> {
    program: &'c Program,
    full: &'c Full<'c>,
    /// The value that is compared.
    value: usize,
    examples: usize,
    integer: Vec<f64>,
    truth: Vec<f64>,
    /// (nodes,)
    noise: Vec<Noise>,
}

/// Both, of all examples.
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
    pub layers: Vec<LayerError>,
}

impl<'c> Comparison<'c> {
    /// Of a program's value, by its number.
    pub fn new(program: &'c Program, value: usize, full: &'c Full<'c>) -> Self {
        let noise = vec![Noise::default(); program.nodes.len()];
        Self { program, full, value, examples: 0, integer: Vec::new(), truth: Vec::new(), noise }
    }

    /// The next example. values: all of the program, the input first.
    ///
    /// # Errors
    /// [`SampleError`] if the float graph refuses the sample.
    pub fn take(&mut self, values: &[Data]) -> Result<(), SampleError> {
        let node = &self.program.nodes[self.value - 1];
        self.integer.extend(values[self.value].to_reals(&node.value));
        match self.full {
            Full::Outputs(outputs) => {
                self.truth.extend(&outputs[self.truth.len()..self.integer.len()]);
            }
            Full::Graph { graph, samples } => {
                let reals = graph.trace(&samples[self.examples])?;
                let shapes = graph.shapes();
                for ((node, data), noise) in self.program.nodes.iter().zip(&values[1..]).zip(&mut self.noise) {
                    // A container may have left out channels that say nothing.
                    let fitting = node.value.layer.filter(|layer| node.value.is_part_of(shapes[*layer]));
                    if let Some(layer) = fitting {
                        let truth = node.value.pick(&reals[layer], shapes[layer]);
                        noise.add(data.to_reals(&node.value).into_iter().zip(truth));
                    }
                }
                self.truth.extend(&reals[graph.logits()]);
            }
        }
        self.examples += 1;
        Ok(())
    }

    /// Whether a value is on the way to what its layer becomes: a part of a sum, or what is rounded behind it.
    fn is_on_the_way(&self, value: usize) -> bool {
        let layer = self.program.nodes[value - 1].value.layer;
        let goes_on =
            |node: &ProgramNode| node.value.layer == layer && node.reads.iter().any(|read| read.value == value);
        self.program.nodes.iter().any(goes_on)
    }

    /// All of it.
    pub fn finish(self) -> Compared {
        let layers = match self.full {
            Full::Outputs(_) => Vec::new(),
            Full::Graph { graph, .. } => {
                let of_node = |(index, noise): (usize, &Noise)| {
                    let made = &self.program.nodes[index].value;
                    let name = &graph.nodes[made.layer?.checked_sub(1)?].name;
                    (!noise.is_empty() && !self.is_on_the_way(index + 1))
                        .then(|| noise.of_layer(name.clone(), made.element.word()))
                };
                self.noise.iter().enumerate().filter_map(of_node).collect()
            }
        };
        let outputs = self.program.len(self.value);
        Compared { examples: self.examples, integer: self.integer, truth: self.truth, outputs, layers }
    }
}

/// The float network's outputs on every example.
pub(super) fn evaluate_all(net: &Net<f64>, examples: &[Example]) -> Result<Vec<f64>, VerifyError> {
    let mut outputs = Vec::new();
    for (index, example) in examples.iter().enumerate() {
        outputs.extend(net.evaluate(example).map_err(|error| VerifyError::Example { index, error })?);
    }
    Ok(outputs)
}
