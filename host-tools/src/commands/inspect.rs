//! `inspect`: what is in a container, or in that of a `.nnue` file, and whether what it claims still follows from its
//! weights.

use crate::cli::Inspect;
use crate::divide::DivideReport;
use crate::error::{CliError, Explain};
use crate::model_file::ModelFile;
use crate::output::Report;
use crate::packed::{sign, unproved_warning};
use crate::report::{self, Disagreement, EngineReport, OperationReport, OrderReport, ProofReport, TensorReport};
use crate::status::Status;
use crate::table;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};
use tamis_quant::pack::{self, PackError};
use tamis_quant::proof::{Proof, prove};
use tamis_quant::verify::accuracy::unit;
use tamis_quant::verify::{ClaimCheck, claims};
use tamis_runtime::Plan;
use tamis_runtime::format::Model;

/// Everything about a container.
#[derive(Debug, Serialize)]
pub struct Inspection {
    file: String,
    /// Of the file.
    len_bytes: usize,
    /// Of the container, which is another where the file is a `.nnue` file.
    container_len_bytes: usize,
    format_version: u32,
    network: String,
    architecture: String,
    /// The architecture description, canonical TOML.
    description: String,
    source: String,
    source_hash: String,
    /// The text in the header of the `.nnue` file, where it is one.
    text: Option<String>,
    /// How the value is made of its two parts, of networks of the Stockfish family.
    divide: Option<DivideReport>,
    checksum: String,
    /// The same on every tier and board.
    signature: String,
    /// The tier that computed it.
    tier: &'static str,
    /// Scratch memory of one evaluation, the outputs among it.
    workspace_len_bytes: usize,
    /// The same where every value lies whole and apart.
    whole_workspace_len_bytes: usize,
    output_len_bytes: usize,
    /// Scratch memory of one evaluation whose outputs lie elsewhere, `Plan::run_into`.
    beside_outputs_len_bytes: usize,
    #[serde(skip)]
    is_mostly_outputs: bool,
    /// Whether some outputs can be computed without the others, `Plan::run_rows`.
    computes_rows: bool,
    max_active: u32,
    output_buckets: u32,
    /// The real value of one unit of the output.
    output_unit: f32,
    #[serde(skip)]
    unit: UnitName,
    /// What an engine is built for, of networks that the engine interface takes.
    engine: Option<EngineReport>,
    /// The order of the neurons, where it is not the trainer's.
    permutation: Option<OrderReport>,
    tensors: Vec<TensorReport>,
    operations: Vec<OperationReport>,
    proof: ProofReport,
    /// Claims on which the file and its weights disagree. One that is stored is a fault; one that is not is only missed
    /// speed.
    disagreements: Vec<Disagreement>,
}

/// Reads, takes apart, proves again.
///
/// # Errors
/// [`CliError`] naming the file.
pub fn run(args: &Inspect) -> Result<Inspection, CliError> {
    let tier = super::tier(args.tier.as_deref())?;
    let file = ModelFile::read_or_pack(&args.model, args.divide.rule)?;
    let model = file.model()?;
    let divide = file.divide(&model, args.divide.rule)?;
    let metadata = model.metadata().explain_at(&args.model)?;
    let contents = Derived::of(&model).explain_at(&args.model)?;
    Ok(Inspection {
        file: args.model.display().to_string(),
        len_bytes: file.len_bytes(),
        container_len_bytes: model.bytes().len(),
        format_version: model.header().version,
        network: metadata.name.to_owned(),
        architecture: contents.architecture,
        description: metadata.description.to_owned(),
        source: metadata.source.to_owned(),
        source_hash: format!("{:016x}", metadata.source_hash),
        text: contents.text,
        divide,
        checksum: format!("{:016x}", model.header().checksum()),
        signature: format!("{:016x}", sign(model, tier)?),
        tier: tier.name,
        workspace_len_bytes: model.workspace_len_bytes(),
        whole_workspace_len_bytes: pack::whole_workspace_len_bytes(&model).explain_at(&args.model)?,
        output_len_bytes: report::output_len_bytes(&model),
        is_mostly_outputs: report::is_mostly_outputs(&model),
        beside_outputs_len_bytes: report::beside_outputs_len_bytes(&model),
        computes_rows: Plan::new(model, tier).computes_rows(),
        max_active: model.input().max_active,
        output_buckets: model.input().bucket_count,
        output_unit: model.input().output_unit,
        unit: contents.unit,
        engine: EngineReport::of(&model),
        permutation: contents.permutation,
        tensors: report::of_model(&model, &metadata, |name| contents.scales.get(name).copied()),
        operations: report::operations(&model, &metadata),
        disagreements: report::disagreements(&contents.claims),
        proof: ProofReport::of(&contents.proof),
    })
}

/// What the output's unit is called.
#[derive(Debug, Clone, Copy)]
enum UnitName {
    Centipawns,
    /// Of the Stockfish family: its own, from which engines make centipawns by the material on the board.
    Internal,
    Nameless,
}

/// What follows from a container's tensors, of whichever kind of network.
struct Derived {
    architecture: String,
    unit: UnitName,
    /// That a `.nnue` file carries.
    text: Option<String>,
    permutation: Option<OrderReport>,
    /// Multipliers of tensors, where one number made the integers.
    scales: BTreeMap<String, i32>,
    proof: Proof,
    claims: Vec<ClaimCheck>,
}

impl Derived {
    fn of(model: &Model<'_>) -> Result<Self, PackError> {
        let (mut permutation, mut text) = (None, None);
        let mut scales = BTreeMap::new();
        let contents = pack::Contents::of(model)?;
        let program = contents.lower()?;
        let (architecture, unit) = match &contents {
            pack::Contents::Graph(program) => (report::graph_in_one_line(program), UnitName::Nameless),
            pack::Contents::Family(net) => {
                text = Some(String::from_utf8_lossy(&program.header).into_owned());
                (net.shape.to_string(), UnitName::Internal)
            }
            pack::Contents::Bullet(net) => {
                let tensors = net.layers.iter().chain(&net.psqt).flat_map(|layer| [&layer.weights, &layer.bias]);
                scales = tensors.filter_map(|tensor| Some((tensor.name.clone(), tensor.scale?))).collect();
                permutation = net.permutation.as_ref().map(OrderReport::of);
                let is_centipawns = unit(&net.arch) == "centipawns";
                let name = if is_centipawns { UnitName::Centipawns } else { UnitName::Nameless };
                (report::one_line(&net.arch), name)
            }
        };
        let proof = prove(&program);
        let claims = claims(model, &program, &proof)?;
        Ok(Self { architecture, unit, text, permutation, scales, proof, claims })
    }
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
        unproved_warning(self.proof.holds)
    }

    fn failures(&self) -> Vec<String> {
        let lies = self.disagreements.iter().filter(|disagreement| disagreement.stored);
        lies.map(|disagreement| format!("{}: {disagreement}", self.file)).collect()
    }

    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}: {}", self.network, self.architecture)?;
        writeln!(out, "  file       {}, container version {}", self.file, self.format_version)?;
        let as_container = match self.container_len_bytes {
            same if same == self.len_bytes => String::new(),
            other => format!(", as a container {other} bytes"),
        };
        writeln!(out, "  length     {} bytes{as_container}", self.len_bytes)?;
        writeln!(out, "  source     {} (FNV-1a {})", self.source, self.source_hash)?;
        if let Some(text) = &self.text {
            writeln!(out, "  text       {}", text.escape_debug())?;
        }
        if let Some(divide) = &self.divide {
            writeln!(out, "  divide     {divide}")?;
        }
        writeln!(out, "  checksum   {}", self.checksum)?;
        writeln!(out, "  signature  {} (computed on tier {})", self.signature, self.tier)?;
        let (all, outputs, beside) = (self.workspace_len_bytes, self.output_len_bytes, self.beside_outputs_len_bytes);
        let elsewhere =
            if self.is_mostly_outputs { format!("; {beside} where those lie elsewhere") } else { String::new() };
        let saved = report::saved(all, self.whole_workspace_len_bytes);
        writeln!(out, "  workspace  {all} bytes, {outputs} of them the outputs{elsewhere}{saved}")?;
        if self.computes_rows && self.output_len_bytes > size_of::<i32>() {
            writeln!(out, "  rows       some outputs can be computed without the others (run_rows)")?;
        }
        if self.max_active > 0 {
            writeln!(out, "  features   at most {} active in a perspective", self.max_active)?;
        }
        writeln!(out, "  buckets    {}", self.output_buckets)?;
        if let Some(engine) = &self.engine {
            writeln!(out, "  engine     {engine}")?;
        }
        self.permutation.iter().try_for_each(|order| order.print(out))?;
        let name = match (self.unit, self.output_unit) {
            (UnitName::Centipawns, 1.0) => " centipawn",
            (UnitName::Centipawns, _) => " centipawns",
            (UnitName::Internal, _) => " of the family's internal units, not centipawns",
            (UnitName::Nameless, _) => "",
        };
        writeln!(out, "  unit       one output unit is {}{name}\n", self.output_unit)?;
        writeln!(out, "description:")?;
        self.description.lines().try_for_each(|line| writeln!(out, "{}", format!("  {line}").trim_end()))?;
        writeln!(out)?;
        report::print(out, &self.tensors)?;
        writeln!(out)?;
        let mut rows = vec![OperationReport::heading()];
        rows.extend(self.operations.iter().map(OperationReport::row));
        table::print(out, &rows)?;
        writeln!(out)?;
        self.proof.print(out)?;
        if self.disagreements.is_empty() {
            writeln!(out, "  the claims in the file are those that its weights prove")?;
        }
        let mut missed = self.disagreements.iter().filter(|disagreement| !disagreement.stored);
        missed.try_for_each(|disagreement| writeln!(out, "  note: {disagreement}"))
    }
}
