//! Graphs, against their checkpoint or against what another framework computed.

use super::origin::difference;
use super::{Case, Special};
use crate::data;
use crate::graph::description::{Described, DescribedOp, Description};
use crate::graph::{Activation, Graph, Sample};
use crate::pack::unpack_graph;
use crate::program::{GraphInput, Program};
use crate::verify::accuracy::Outputs;
use crate::verify::comparison::Full;
use crate::verify::error::VerifyError;
use crate::verify::report::TruthInfo;
use crate::verify::simulate::Simulation;
use crate::verify::split::{Examples, Split};
use tamis_runtime::format::Model;

/// Whether a container can have been made from a graph.
///
/// # Errors
/// [`VerifyError::OtherNetwork`], or a container that cannot be taken apart.
pub fn check_origin(model: &Model<'_>, graph: &Graph) -> Result<(), VerifyError> {
    match difference(graph, &unpack_graph(model)?) {
        Some(what) => Err(VerifyError::OtherNetwork { what }),
        None => Ok(()),
    }
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
        check_origin(&model, graph)?;
        let program = unpack_graph(&model)?;
        let value = program.standing_for(graph.logits());
        let inputs = inputs(&program, samples)?;
        let outputs = Outputs::logits("checkpoint");
        // What rounds several things at once is not taken apart.
        let is_of_maps = program.nodes.iter().any(|node| node.op.is_of_maps());
        let simulation = (!is_of_maps).then(|| Simulation::of_graph(graph, &program, value)).transpose()?;
        let split = simulation.map(|simulation| Split { simulation, examples: Examples::Samples(samples) });
        let case = Self::of_samples(model, program, (inputs, value), Full::Graph { graph, samples }, outputs, labels);
        Ok(Self { split, ..case })
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
        Ok(Self::of_samples(model, program, (inputs, value), full, Outputs::logits("reference"), labels))
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
            unit: "output units",
            model,
            program,
            inputs,
            value,
            full,
            outputs,
            labels: labels.map(<[usize]>::to_vec),
            split: None,
            special: Special::Nothing,
        }
    }
}

fn inputs(program: &Program, samples: &[Sample]) -> Result<Vec<GraphInput>, VerifyError> {
    let input = |(index, sample): (usize, &Sample)| {
        program.input.quantise(sample).map_err(|error| VerifyError::Sample { index, error })
    };
    samples.iter().enumerate().map(input).collect()
}

/// The value that stands for what the float graph has before its last sigmoid or softmax, as the container's
/// description has it.
fn logits_of(program: &Program) -> Result<usize, VerifyError> {
    let description = Description::from_toml(&program.description, "description")
        .map_err(|error| crate::pack::PackError::Description(error.to_string()))?;
    let nodes = &description.nodes;
    let logits = match nodes.last() {
        Some(Described {
            op: DescribedOp::Activation(Activation::Sigmoid | Activation::Softmax | Activation::LogSoftmax),
            reads,
            ..
        }) => reads[0],
        _ => nodes.len(),
    };
    Ok(program.standing_for(logits))
}
