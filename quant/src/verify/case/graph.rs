//! Graphs, against their checkpoint or against what another framework computed.

use super::Case;
use super::particulars::{Nothing, Particulars};
use crate::data;
use crate::graph::{Graph, Sample};
use crate::import::importers::QUANTISED_SOURCE;
use crate::pack::unpack_graph;
use crate::program::{GraphInput, Program};
use crate::verify::accuracy::{Against, Outputs};
use crate::verify::comparison::Full;
use crate::verify::error::VerifyError;
use crate::verify::kinship::Kinship;
use crate::verify::mistakes::Found;
use crate::verify::mistakes::graph::{Measured, Reading, Suspects};
use crate::verify::report::TruthInfo;
use crate::verify::scores::logits_of;
use crate::verify::simulate::Simulation;
use crate::verify::split::{Examples, Split};
use tamis_runtime::format::Model;

/// Whether a container can have been made from a graph: its layers and its weights.
///
/// # Errors
/// [`VerifyError::OtherNetwork`], or a container that cannot be taken apart.
pub fn check_origin(model: &Model<'_>, graph: &Graph) -> Result<(), VerifyError> {
    let (others, _) = Kinship::of(graph, &unpack_graph(model)?)?.other_weights(graph);
    if others.is_empty() { Ok(()) } else { Err(VerifyError::OtherNetwork { what: "their weights" }) }
}

/// Whether a container has the inputs, layers and outputs of a graph, in whatever form that was read; weights are not
/// looked at.
///
/// # Errors
/// [`VerifyError::OtherNetwork`], or a container that cannot be taken apart.
pub fn check_layers(model: &Model<'_>, graph: &Graph) -> Result<(), VerifyError> {
    Kinship::of(graph, &unpack_graph(model)?).map(|_| ())
}

impl<'a> Case<'a> {
    /// A graph's container and the graph in double precision. labels: a class a sample.
    ///
    /// # Errors
    /// [`VerifyError`]: a container or samples of another network.
    pub fn of_graph(
        model: Model<'a>,
        graph: &'a Graph,
        samples: &'a [Sample],
        labels: Option<&[usize]>,
    ) -> Result<Self, VerifyError> {
        let unpacked = unpack_graph(&model)?;
        let kinship = Kinship::of(graph, &unpacked)?;
        let program = kinship.carried(unpacked);
        let value = program.scores_of(graph).ok_or(VerifyError::OtherNetwork { what: "their scores" })?;
        let inputs = inputs(&program, samples)?;
        let outputs = Outputs::logits(Against::Checkpoint);
        // In another form of the network the operations need not be those that the container was made from.
        let simulation = Simulation::of_graph(graph, &program, value).ok();
        let split = simulation.map(|simulation| Split { simulation, examples: Examples::Samples(samples) });
        let case = Self::of_samples(model, program, (inputs, value), Full::Graph { graph, samples }, outputs, labels);
        let labels = labels.map(<[usize]>::to_vec);
        let is_given = model.metadata().is_ok_and(|metadata| metadata.source.ends_with(QUANTISED_SOURCE));
        let suspects = Suspects { graph, kinship, samples, labels, readings: Vec::new(), is_given };
        Ok(Self { split, particulars: Box::new(suspects), ..case })
    }

    /// The same with other ways to read the checkpoint, which are tried where it and the container disagree; of other
    /// cases nothing.
    #[must_use]
    pub fn with_readings(mut self, readings: Vec<Reading>) -> Self {
        self.particulars.take(readings);
        self
    }

    /// A graph's container and what another framework computed before the last sigmoid or softmax. Without layers: the
    /// framework's are not known. labels: a class a sample.
    ///
    /// # Errors
    /// [`VerifyError`]: a container, samples or outputs of another network.
    pub fn of_outputs(
        model: Model<'a>,
        outputs: &data::Outputs,
        samples: &[Sample],
        labels: Option<&[usize]>,
    ) -> Result<Self, VerifyError> {
        let program = unpack_graph(&model)?;
        let value = logits_of(&program)?;
        let (expected, found) = (program.len(value), outputs.values.len());
        if outputs.columns != expected || samples.len().checked_mul(expected) != Some(found) {
            return Err(VerifyError::Outputs { found, samples: samples.len(), expected });
        }
        let inputs = inputs(&program, samples)?;
        let full = Full::Outputs(outputs.values.clone());
        Ok(Self::of_samples(model, program, (inputs, value), full, Outputs::logits(Against::Reference), labels))
    }

    fn of_samples(
        model: Model<'a>,
        program: Program,
        (inputs, value): (Vec<GraphInput>, usize),
        full: Full<'a>,
        outputs: Outputs,
        labels: Option<&[usize]>,
    ) -> Self {
        Self {
            truth: TruthInfo { examples: inputs.len(), ..TruthInfo::default() },
            network: program.name.clone(),
            model,
            program,
            inputs,
            value,
            full,
            outputs,
            labels: labels.map(<[usize]>::to_vec),
            split: None,
            particulars: Box::new(Nothing),
            allows_constants: false,
        }
    }
}

impl Particulars for Suspects<'_> {
    fn take(&mut self, readings: Vec<Reading>) {
        self.readings = readings;
    }

    fn mistakes(&self, measured: Measured<'_>) -> Result<Option<Found>, VerifyError> {
        Ok(Some(self.find(measured)))
    }
}

fn inputs(program: &Program, samples: &[Sample]) -> Result<Vec<GraphInput>, VerifyError> {
    let input = |(index, sample): (usize, &Sample)| {
        program.input.quantise(sample).map_err(|error| VerifyError::Sample { index, error })
    };
    samples.iter().enumerate().map(input).collect()
}
