//! `demo`: checkpoint to verified model, on the two networks that come with the program, in memory and in plain words.

mod embedded;
mod text;

use crate::error::{CliError, Explain};
use crate::facts::{self, ProofFacts};
use crate::output::{Output, Report};
use crate::seal::seal;
use crate::status::Status;
use embedded::{EMBEDDED, Embedded};
use serde::Serialize;
use std::io::{self, Write};
use tamis_quant::arch::Architecture;
use tamis_quant::float::{Example, example};
use tamis_quant::import::{Checkpoint, read_bytes};
use tamis_quant::pack::{Provenance, unpack};
use tamis_quant::positions::Position;
use tamis_quant::quantise::{QuantNet, quantise};
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
    checksum: String,
    proof: ProofFacts,
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
    let net = quantise(&checkpoint.net).explain()?;
    let origin = Provenance { source: checkpoint.source.clone(), source_hash: checkpoint.bytes_hash };
    let sealed = seal(&net.lower().explain()?, &net.arch.name, &origin, false, output)?;
    let model = Model::parse(sealed.container.as_ref()).explain()?;
    let reference = Reference::parse(embedded.reference).explain()?;
    let truth = Truth { checkpoint: Some(&checkpoint), reference: Some(&reference), positions: &[] };
    let case = Case::of_layers(model, &truth).explain()?;
    let verification = case.verify(&Gates::default(), &mut |_, _| ()).explain()?;
    let parameters: usize = facts::of_net(&net).iter().map(|tensor| tensor.rows * tensor.cols).sum();
    Ok(Shown {
        network: arch.name.clone(),
        architecture: facts::one_line(&arch),
        checkpoint: checkpoint.source.clone(),
        checkpoint_len_bytes: embedded.checkpoint.len(),
        float_len_bytes: parameters * size_of::<f32>(),
        len_bytes: model.bytes().len(),
        checksum: format!("{:016x}", sealed.checksum),
        proof: ProofFacts::of(&sealed.proof),
        comes_back: unpack(&model).explain()? == net,
        evaluations: evaluate(embedded.fens, &checkpoint, &net, model)?,
        verification,
    })
}

fn evaluate(
    fens: &[&'static str],
    checkpoint: &Checkpoint,
    net: &QuantNet,
    model: Model<'_>,
) -> Result<Vec<Evaluation>, CliError> {
    let float = checkpoint.net.to_f64();
    let unit = f64::from(model.input().output_unit);
    let mut runner = Runner::new(model, kernels::best());
    let mut evaluations = Vec::with_capacity(fens.len());
    for fen in fens {
        let example: Example = example(&net.arch, &Position::from_fen(fen).explain()?).explain()?;
        let integer = runner.evaluate(&net.arch, &example).explain()?.to_reals(unit);
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
