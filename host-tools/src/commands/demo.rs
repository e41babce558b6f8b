//! `demo`: checkpoint to verified model, on the two networks that come with the program, in memory and in plain words.

mod embedded;
mod text;

use crate::error::{CliError, Explain};
use crate::output::{Output, Report};
use crate::packed::{PackOptions, prove_and_pack};
use crate::report::{self, ProofReport};
use crate::status::Status;
use embedded::{EMBEDDED, Embedded};
use serde::Serialize;
use std::io::{self, Write};
use tamis_quant::arch::Architecture;
use tamis_quant::data::Outputs;
use tamis_quant::float::{Example, example};
use tamis_quant::graph::Sample;
use tamis_quant::import::importers::dense_graph;
use tamis_quant::import::{Checkpoint, read_bytes};
use tamis_quant::pack::{Provenance, unpack_program};
use tamis_quant::positions::Position;
use tamis_quant::quantise::graph::{Options, quantise_graph};
use tamis_quant::quantise::scales::{Rows, Scales, quantise_by_proof};
use tamis_quant::run::Runner;
use tamis_quant::verify::{self, Case, Gates, Reference, Truth};
use tamis_runtime::format::Model;
use tamis_runtime::kernels;

/// What was done to each network.
#[derive(Debug, Serialize)]
pub struct Demo {
    networks: Vec<Shown>,
}

/// One network's way.
#[derive(Debug, Serialize)]
struct Shown {
    network: String,
    architecture: String,
    checkpoint: String,
    checkpoint_len_bytes: usize,
    /// The parameters as f32.
    float_len_bytes: usize,
    len_bytes: usize,
    /// How the scales of a chess network were chosen.
    scales: Option<Scales>,
    checksum: String,
    proof: ProofReport,
    /// Whether the container, taken apart, gives the integers that went in.
    comes_back: bool,
    /// A few positions of a chess network.
    evaluations: Vec<Evaluation>,
    /// All three questions, against the checkpoint and the training framework's outputs.
    verification: verify::Report,
}

#[derive(Debug, Serialize)]
struct Evaluation {
    fen: &'static str,
    integer: f64,
    /// In double precision, from the checkpoint.
    float: f64,
}

/// Does all of it.
///
/// # Errors
/// [`CliError`]; none with the networks that come with the program.
pub fn run(output: &Output) -> Result<Demo, CliError> {
    let networks = EMBEDDED.iter().map(|embedded| show(embedded, output));
    Ok(Demo { networks: networks.collect::<Result<_, _>>()? })
}

fn show(embedded: &Embedded, output: &Output) -> Result<Shown, CliError> {
    let arch = Architecture::from_toml(embedded.arch, embedded.arch_name).explain()?;
    let checkpoint = read_bytes(embedded.checkpoint, &arch, embedded.checkpoint_name).explain()?;
    let (program, scales) = if arch.input.is_sparse() {
        let (net, scales) = quantise_by_proof(&checkpoint.net, Rows::WhereExact).explain()?;
        (net.lower().explain()?, Some(scales))
    } else {
        let (graph, ranges) = dense_graph(&checkpoint.net).explain()?;
        (quantise_graph(&graph, &[], &Options::default().with_ranges(ranges)).explain()?, None)
    };
    let origin = Provenance { source: checkpoint.source.clone(), source_hash: checkpoint.bytes_hash };
    let packed = prove_and_pack(&program, &arch.name, &origin, PackOptions::default(), output)?;
    let model = Model::parse(packed.container.as_ref()).explain()?;
    let parameters: usize = program.tensors().map(|tensor| tensor.outputs * tensor.inputs).sum();
    Ok(Shown {
        network: arch.name.clone(),
        architecture: report::one_line(&arch),
        checkpoint: checkpoint.source.clone(),
        checkpoint_len_bytes: embedded.checkpoint.len(),
        float_len_bytes: parameters * size_of::<f32>(),
        len_bytes: model.bytes().len(),
        scales,
        checksum: format!("{:016x}", packed.checksum),
        proof: ProofReport::of(&packed.proof),
        comes_back: unpack_program(&model).explain()? == program,
        evaluations: evaluate(embedded.fens, &checkpoint, model)?,
        verification: verified(embedded, &checkpoint, model)?,
    })
}

/// Against what the training framework computed, and a network of positions against its checkpoint, too.
fn verified(embedded: &Embedded, checkpoint: &Checkpoint, model: Model<'_>) -> Result<verify::Report, CliError> {
    let reference = Reference::parse(embedded.reference).explain()?;
    let case = if checkpoint.net.arch.input.is_sparse() {
        let truth = Truth { checkpoint: Some(checkpoint), reference: Some(&reference), positions: &[] };
        Case::of_layers(model, &truth).explain()?
    } else {
        let samples: Vec<Sample> = reference.inputs.iter().cloned().map(Sample::Dense).collect();
        let labels: Vec<usize> = reference.labels.iter().map(|label| usize::from(*label)).collect();
        let outputs = Outputs { columns: reference.outputs_per_example, values: reference.outputs };
        let mut case = Case::of_outputs(model, &outputs, &samples, Some(&labels)).explain()?;
        case.truth.reference = reference.metadata;
        case
    };
    case.verify(&Gates::default(), &mut |_, _| ()).explain()
}

fn evaluate(fens: &[&'static str], checkpoint: &Checkpoint, model: Model<'_>) -> Result<Vec<Evaluation>, CliError> {
    let float = checkpoint.net.to_f64();
    let unit = f64::from(model.input().output_unit);
    let mut runner = Runner::new(model, kernels::best());
    let mut evaluations = Vec::with_capacity(fens.len());
    for fen in fens {
        let example: Example = example(&checkpoint.net.arch, &Position::from_fen(fen).explain()?).explain()?;
        let integer = runner.evaluate(&example).explain()?.to_reals(unit);
        let real = float.evaluate(&example).explain()?;
        if let ([integer, ..], [float, ..]) = (integer.as_slice(), real.as_slice()) {
            evaluations.push(Evaluation { fen, integer: *integer, float: *float });
        }
    }
    Ok(evaluations)
}

impl Report for Demo {
    const SCHEMA: Option<&'static str> = Some("tamis-demo-1");

    fn status(&self) -> Status {
        let fine = self.networks.iter().all(|shown| shown.comes_back && shown.verification.passed);
        if fine { Status::Fine } else { Status::GateFailed }
    }

    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        text::print(out, self)
    }
}
