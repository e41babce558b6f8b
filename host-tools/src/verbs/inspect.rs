//! `inspect`: what is in a container, and whether what it claims still follows from its weights.

use crate::cli::Inspect;
use crate::error::{CliError, Explain};
use crate::facts::{self, Disagreement, OperationFacts, OrderFacts, ProofFacts, TensorFacts};
use crate::files::ModelFile;
use crate::output::Report;
use crate::seal::{sign, unproved_warning};
use crate::status::Status;
use crate::table;
use serde::Serialize;
use std::io::{self, Write};
use tamis_quant::pack::unpack;
use tamis_quant::proof::prove;
use tamis_quant::verify::accuracy::unit;
use tamis_quant::verify::claims;

/// Everything about a container.
#[derive(Debug, Serialize)]
pub struct Inspection {
    file: String,
    len_bytes: usize,
    format_version: u32,
    network: String,
    architecture: String,
    /// The architecture description, canonical TOML.
    description: String,
    source: String,
    source_hash: String,
    checksum: String,
    /// The same on every tier and board.
    signature: String,
    /// The tier that computed it.
    tier: &'static str,
    workspace_len_bytes: usize,
    max_active: u32,
    output_buckets: u32,
    /// The real value of one unit of the output.
    output_unit: f32,
    /// Its name where it has one.
    #[serde(skip)]
    centipawns: bool,
    /// The order of the neurons, where it is not the trainer's.
    permutation: Option<OrderFacts>,
    tensors: Vec<TensorFacts>,
    operations: Vec<OperationFacts>,
    proof: ProofFacts,
    /// Claims on which the file and its weights disagree. One that is stored is a fault; one that is not is only missed speed.
    disagreements: Vec<Disagreement>,
}

/// Reads, takes apart, proves again.
///
/// # Errors
/// [`CliError`] naming the file.
pub fn run(args: &Inspect) -> Result<Inspection, CliError> {
    let tier = super::tier(args.tier.as_deref())?;
    let file = ModelFile::read(&args.model)?;
    let model = file.model()?;
    let people = model.people().explain_at(&args.model)?;
    let net = unpack(&model).explain_at(&args.model)?;
    let proof = prove(&net);
    Ok(Inspection {
        file: args.model.display().to_string(),
        len_bytes: model.bytes().len(),
        format_version: model.header().version,
        network: people.name.to_owned(),
        architecture: facts::one_line(&net.arch),
        description: people.description.to_owned(),
        source: people.source.to_owned(),
        source_hash: format!("{:016x}", people.source_hash),
        checksum: format!("{:016x}", model.header().checksum()),
        signature: format!("{:016x}", sign(model, tier)?),
        tier: tier.name,
        workspace_len_bytes: model.workspace_len_bytes(),
        max_active: model.input().max_active,
        output_buckets: model.input().bucket_count,
        output_unit: model.input().output_unit,
        centipawns: unit(&net.arch) == "centipawns",
        permutation: net.permutation.as_ref().map(OrderFacts::of),
        tensors: facts::of_model(&model, &people, &net),
        operations: facts::operations(&model, &people),
        disagreements: facts::disagreements(&claims(&model, &net, &proof).explain_at(&args.model)?),
        proof: ProofFacts::of(&proof),
    })
}

impl Report for Inspection {
    const SCHEMA: Option<&'static str> = Some("tamis-inspect-1");

    fn status(&self) -> Status {
        if self.disagreements.iter().any(|disagreement| disagreement.stored) {
            Status::GateFailed
        } else {
            Status::Fine
        }
    }

    fn warnings(&self) -> Vec<String> {
        let mut warnings = unproved_warning(self.proof.holds);
        let lies = self.disagreements.iter().filter(|disagreement| disagreement.stored);
        warnings.extend(lies.map(|disagreement| format!("{}: {disagreement}", self.file)));
        warnings
    }

    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}: {}", self.network, self.architecture)?;
        writeln!(out, "  file       {}, container version {}", self.file, self.format_version)?;
        writeln!(out, "  length     {} bytes", self.len_bytes)?;
        writeln!(out, "  source     {} (FNV-1a {})", self.source, self.source_hash)?;
        writeln!(out, "  checksum   {}", self.checksum)?;
        writeln!(out, "  signature  {} (computed on tier {})", self.signature, self.tier)?;
        writeln!(out, "  workspace  {} bytes", self.workspace_len_bytes)?;
        if self.max_active > 0 {
            writeln!(out, "  features   at most {} active in a perspective", self.max_active)?;
        }
        writeln!(out, "  buckets    {}", self.output_buckets)?;
        self.permutation.iter().try_for_each(|order| order.print(out))?;
        match (self.centipawns, self.output_unit) {
            (true, 1.0) => writeln!(out, "  unit       one output unit is 1 centipawn\n")?,
            (true, unit) => writeln!(out, "  unit       one output unit is {unit} centipawns\n")?,
            (false, unit) => writeln!(out, "  unit       one output unit is {unit}\n")?,
        }
        facts::print(out, &self.tensors)?;
        writeln!(out)?;
        let mut rows = vec![OperationFacts::heading()];
        rows.extend(self.operations.iter().map(OperationFacts::row));
        table::print(out, &rows)?;
        writeln!(out)?;
        self.proof.print(out)?;
        if self.disagreements.is_empty() {
            writeln!(out, "  the claims in the file are those that its weights prove")?;
        }
        let mut missed = self.disagreements.iter().filter(|disagreement| !disagreement.stored);
        missed.try_for_each(|disagreement| writeln!(out, "  note: {disagreement}"))?;
        writeln!(out, "\ndescription:")?;
        self.description.lines().try_for_each(|line| writeln!(out, "{}", format!("  {line}").trim_end()))
    }
}
