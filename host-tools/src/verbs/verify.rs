//! `verify`: three questions about a container, and which fact of a description is wrong.

mod graph;
mod nnue;
mod text;

pub use text::deviation;

use crate::cli::Verify;
use crate::divide::refuse_elsewhere;
use crate::error::{CliError, Explain};
use crate::files::{self, ModelFile, Sink};
use crate::output::{Output, Report};
use crate::progress;
use crate::status::Status;
use graph::VerifiedGraph;
use nnue::VerifiedNnue;
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;
use tamis_quant::import::{Checkpoint, read_checkpoint};
use tamis_quant::pack::{is_graph, is_nnue};
use tamis_quant::positions::{Position, records};
use tamis_quant::verify::{self, GateResult, Gates, Reference, Truth, VerifyError, to_html};

/// What was found, of either kind of network.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Verified {
    /// The library's report, and where its page went.
    Layers {
        #[serde(flatten)]
        report: Box<verify::Report>,
        html: Option<String>,
    },
    /// Of a graph.
    Graph(Box<VerifiedGraph>),
    /// Of a network of the Stockfish family.
    Nnue(Box<VerifiedNnue>),
}

/// Reads everything, measures, writes the page.
///
/// # Errors
/// [`CliError`] naming the file; findings are in the report, not errors.
pub fn run(args: &Verify, output: &Output) -> Result<Verified, CliError> {
    let Verify { truth, positions, gates, .. } = args;
    let arch = args.network.arch.as_deref().map(Path::new);
    let files = [&truth.checkpoint, &truth.reference, positions, gates, &args.inputs, &args.labels];
    let files = files.into_iter().flatten().chain([&args.model]).map(|path| path.as_path());
    let inputs: Vec<&Path> = files.chain(arch).collect();
    let page = args.html.as_deref().map(|path| Sink::check_path(path, args.force, &inputs)).transpose()?;
    let file = ModelFile::read(&args.model)?;
    let model = file.model()?;
    let gates = args.gates.as_deref().map_or(Ok(Gates::default()), read_gates)?;
    if is_nnue(&model) {
        return nnue::run(args, model, &gates, output).map(|verified| Verified::Nnue(Box::new(verified)));
    }
    refuse_elsewhere(args.divide.rule, &args.model)?;
    if truth.checkpoint.is_none() && truth.reference.is_none() {
        return Err(CliError::usage(format!("{}: nothing to hold the container against", args.model.display()))
            .help("give --checkpoint C, --reference FILE or both; a network of the Stockfish family needs neither"));
    }
    if is_graph(&model) {
        return graph::run(args, model, &gates).map(|verified| Verified::Graph(Box::new(verified)));
    }
    if let Some(inputs) = &args.inputs {
        let message = format!("{}: examples are for graphs, and the container holds layers", inputs.display());
        return Err(CliError::usage(message).help("give --positions, or a --reference with inputs of its own"));
    }
    let checkpoint = match (&args.truth.checkpoint, arch) {
        (Some(path), Some(arch)) => Some(read_truth(path, arch)?),
        (Some(path), None) => {
            let message = format!("{}: a checkpoint of layers needs its description", path.display());
            return Err(CliError::usage(message).help("add --arch A.toml"));
        }
        (None, Some(arch)) => {
            let message = format!("{}: describes a checkpoint, and none is given", arch.display());
            return Err(CliError::usage(message).help("add --checkpoint C"));
        }
        (None, None) => None,
    };
    let limit = args.limit.unwrap_or(usize::MAX);
    let reference = args.truth.reference.as_deref().map(|path| read_reference(path, limit)).transpose()?;
    let positions = args.positions.as_deref().map_or(Ok(Vec::new()), |path| read_positions(path, args.limit))?;
    let truth = Truth { checkpoint: checkpoint.as_ref(), reference: reference.as_ref(), positions: &positions };

    let bar = progress::bar(output, "verifying", 0);
    let mut step = |done, total| {
        bar.set_length(total);
        bar.set_position(done);
    };
    let report = match verify::verify(model, &truth, &gates, &mut step) {
        Err(nothing @ VerifyError::NoExamples) => return Err(nothing_to_run(&nothing, args)),
        report => report.explain_at(&args.model)?,
    };
    bar.finish_and_clear();
    if let Some(page) = page {
        page.write(to_html(&report).as_bytes())?;
    }
    Ok(Verified::Layers { report: Box::new(report), html: args.html.as_deref().map(|path| path.display().to_string()) })
}

/// The model has no part in it.
fn nothing_to_run(error: &VerifyError, args: &Verify) -> CliError {
    match &args.positions {
        _ if args.limit == Some(0) => {
            CliError::usage("--limit 0: no examples are left to run").help("give a limit of 1 or more")
        }
        Some(path) => CliError::usage(format!("{}: holds no positions", path.display())),
        None => CliError::usage(error.to_string()),
    }
}

fn read_truth(path: &Path, arch: &Path) -> Result<Checkpoint, CliError> {
    let arch = files::read_arch(arch)?;
    if files::is_container(path) {
        return Err(CliError::usage(format!(
            "{}: is a container; --checkpoint takes what it was made from",
            path.display()
        ))
        .help("give the checkpoint's folder, weights.bin or raw.bin"));
    }
    read_checkpoint(path, &arch).explain()
}

fn read_gates(path: &Path) -> Result<Gates, CliError> {
    Gates::from_toml(&files::read_text(path, "gates, TOML", files::MAX_TOML_LEN_BYTES)?).explain_at(path)
}

fn read_positions(path: &Path, limit: Option<usize>) -> Result<Vec<Position>, CliError> {
    let bytes = files::read_records(path, limit)?;
    records(&bytes).explain_at(path)?.map(|position| position.explain_at(path)).collect()
}

/// The first `limit` examples of a reference.
fn read_reference(path: &Path, limit: usize) -> Result<Reference, CliError> {
    let bytes = files::read(path, "a reference, safetensors", files::MAX_REFERENCE_LEN_BYTES)?;
    let mut reference = Reference::parse(&bytes).explain_at(path)?;
    reference.positions.truncate(limit);
    reference.inputs.truncate(limit);
    reference.labels.truncate(limit);
    reference.outputs.truncate(limit.saturating_mul(reference.outputs_per_example));
    Ok(reference)
}

impl Verified {
    fn judged(&self) -> (&[GateResult], bool) {
        match self {
            Self::Layers { report, .. } => (&report.gates, report.passed),
            Self::Graph(verified) => (&verified.report.gates, verified.report.passed),
            Self::Nnue(verified) => (&verified.report.gates, verified.report.passed),
        }
    }
}

impl Report for Verified {
    const SCHEMA: Option<&'static str> = None;

    fn status(&self) -> Status {
        if self.judged().1 { Status::Fine } else { Status::GateFailed }
    }

    fn warnings(&self) -> Vec<String> {
        let failed = self.judged().0.iter().filter(|gate| !gate.passed);
        let gates = failed.map(|gate| format!("gate {}: found {}, wanted {}", gate.gate, gate.found, gate.limit));
        let others = if let Self::Nnue(verified) = self { verified.failures() } else { Vec::new() };
        gates.chain(others).collect()
    }

    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Layers { report, html } => {
                text::print(out, report)?;
                html.iter().try_for_each(|path| writeln!(out, "\nthe same with pictures: {path}"))
            }
            Self::Graph(verified) => verified.print(out),
            Self::Nnue(verified) => verified.print(out),
        }
    }
}
