//! A graph's container against its checkpoint, on examples.

use super::text;
use crate::cli::Verify;
use crate::error::{CliError, Explain};
use crate::examples::{Examples, Which, read_inputs};
use crate::files;
use crate::network::{Import, read_graph};
use crate::status::Status;
use crate::table::{self, row};
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;
use tamis_quant::data::{Outputs, classes};
use tamis_quant::graph::Sample;
use tamis_quant::pack::unpack_graph;
use tamis_quant::score::ScoreError;
use tamis_quant::verify::graph::{
    Agreement, GraphReport, Predictions, check_origin, verify_graph, verify_graph_outputs,
};
use tamis_quant::verify::{Gates, Reference, ReferenceError};
use tamis_runtime::format::Model;

/// The library's report, and what it was held against.
#[derive(Debug, Serialize)]
pub struct VerifiedGraph {
    schema: &'static str,
    #[serde(flatten)]
    truth: Truth,
    inputs: String,
    #[serde(flatten)]
    pub report: GraphReport,
}

/// Full precision: the checkpoint, evaluated here, or what another framework computed.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Truth {
    Checkpoint { checkpoint: String, import: Import },
    Reference { reference: String },
}

/// Reads checkpoint and examples, measures.
///
/// # Errors
/// [`CliError`] naming the file; findings are in the report, not errors.
pub fn run(args: &Verify, model: Model<'_>, gates: &Gates) -> Result<VerifiedGraph, CliError> {
    if let Some(page) = &args.html {
        let message = format!("{}: pages are made of networks of layers only", page.display());
        return Err(CliError::usage(message).help("--json has all figures of a graph"));
    }
    if let (None, Some(reference)) = (&args.truth.checkpoint, &args.truth.reference) {
        return against_reference(args, model, gates, reference);
    }
    let (Some(checkpoint), Some(inputs)) = (&args.truth.checkpoint, &args.inputs) else {
        let message = format!("{}: a graph is verified against its checkpoint, on examples", args.model.display());
        return Err(CliError::usage(message).help(
            "give --checkpoint C and --inputs FILE, and --labels FILE if there are any; or, alone, --reference FILE of batches with \
             logits",
        ));
    };
    let (graph, import) = read_graph(checkpoint, &args.network)?;
    check_origin(&model, &graph).explain_at(&args.model)?;
    let which = Which { array: args.array.as_deref(), skip: args.skip, limit: args.limit };
    let examples = Examples::read(inputs, which, &graph)?;
    let labels = examples.classes(inputs, args.labels.as_deref(), which, &graph)?;
    let report = verify_graph(model, &graph, &examples.samples, labels.as_deref(), gates).explain_at(&args.model)?;
    Ok(VerifiedGraph {
        schema: "tamis-verify-graph-1",
        truth: Truth::Checkpoint { checkpoint: checkpoint.display().to_string(), import },
        inputs: inputs.display().to_string(),
        report,
    })
}

/// The reference's own inputs, or its batches, are the examples, its outputs the truth.
fn against_reference(args: &Verify, model: Model<'_>, gates: &Gates, path: &Path) -> Result<VerifiedGraph, CliError> {
    let (samples, outputs, labels) = match framework_reference(path, args.limit)? {
        Some(reference) => {
            let samples = reference.inputs.into_iter().map(Sample::Dense).collect();
            let outputs = Outputs { columns: reference.outputs_per_example, values: reference.outputs };
            let labels = (!reference.labels.is_empty())
                .then(|| reference.labels.iter().map(|label| usize::from(*label)).collect::<Vec<usize>>());
            (samples, outputs, labels)
        }
        None => read_batches(args, &model, path)?,
    };
    // One logit tells two classes apart.
    let most = outputs.columns.max(2);
    let beyond = labels.iter().flatten().copied().enumerate().find(|(_, class)| *class >= most);
    if let Some((index, class)) = beyond {
        let class = u32::try_from(class).unwrap_or(u32::MAX);
        return Err(ScoreError::NoSuchClass { index, class, classes: most }).explain_at(path);
    }
    let report = verify_graph_outputs(model, &outputs, &samples, labels.as_deref(), gates).explain_at(path)?;
    Ok(VerifiedGraph {
        schema: "tamis-verify-graph-1",
        truth: Truth::Reference { reference: path.display().to_string() },
        inputs: path.display().to_string(),
        report,
    })
}

/// What a training framework computed, if the file is such a reference and brings its inputs along.
fn framework_reference(path: &Path, limit: Option<usize>) -> Result<Option<Reference>, CliError> {
    let len = std::fs::metadata(path).map_or(u64::MAX, |metadata| metadata.len());
    if len > files::MAX_REFERENCE_LEN_BYTES {
        return Ok(None);
    }
    match Reference::parse(&files::read(path, "a reference, safetensors", files::MAX_REFERENCE_LEN_BYTES)?) {
        Err(ReferenceError::NotSafetensors(_) | ReferenceError::Format { .. }) => Ok(None),
        Err(error) => Err(error).explain_at(path),
        Ok(_) => {
            let reference = super::read_reference(path, limit.unwrap_or(usize::MAX))?;
            Ok((!reference.inputs.is_empty()).then_some(reference))
        }
    }
}

type Batches = (Vec<Sample>, Outputs, Option<Vec<usize>>);

/// Samples, logits and classes of a file of batches.
fn read_batches(args: &Verify, model: &Model<'_>, path: &Path) -> Result<Batches, CliError> {
    let inputs = read_inputs(path, Which { limit: args.limit, ..Which::default() })?;
    let Some(outputs) = inputs.outputs() else {
        let message = format!("{}: no logits of examples; expected batches with `batch.N.logits`", path.display());
        return Err(CliError::new(Status::Malformed, message)
            .help("a network's own checkpoint is given with --checkpoint C and --inputs FILE"));
    };
    let input = unpack_graph(model).explain_at(&args.model)?.input.to_float();
    let samples = (0..inputs.len()).map(|index| inputs.sample(index, input).explain_at(path));
    let samples = samples.collect::<Result<Vec<_>, _>>()?;
    let labels = inputs.labels().map(|labels| classes(labels).explain_at(path)).transpose()?;
    let labels = labels.map(|labels| labels.into_iter().map(|class| class as usize).collect());
    Ok((samples, outputs.clone(), labels))
}

impl VerifiedGraph {
    /// The report as text, question by question.
    ///
    /// # Errors
    /// The writer's.
    pub fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let report = &self.report;
        let verdict = if report.passed { "passed" } else { "FAILED" };
        let accuracy = &report.accuracy;
        writeln!(out, "{}: {verdict}, on {} examples", report.network, accuracy.samples)?;
        match &self.truth {
            Truth::Checkpoint { checkpoint, import } => {
                writeln!(out, "  checkpoint  {checkpoint} ({})", import.source())?
            }
            Truth::Reference { reference } => writeln!(out, "  reference   {reference}")?,
        }
        writeln!(out, "  examples    {}", self.inputs)?;
        text::print_runtime_and_proof(out, &report.runtime, &report.proof)?;

        writeln!(out, "\n3. How far is the integer model from full precision?")?;
        let logits = &accuracy.logits;
        let sqnr = logits.sqnr_db.map_or("no error".to_owned(), |db| format!("{db:.2} dB"));
        writeln!(
            out,
            "  raw scores  signal to noise {sqnr}, rms {:.6}, largest {:.6}, 99.9 % {:.6}, bias {:+.6}, cosine {:.6}",
            logits.rms, logits.max, logits.p99_9, logits.mean, logits.cosine
        )?;
        writeln!(out, "  top-1       {}", interval(&accuracy.top1, "alike"))?;
        if let Some(predictions) = &accuracy.predictions {
            print_predictions(out, predictions)?;
        }
        if accuracy.layers.is_empty() {
            return text::print_gates(out, &report.gates);
        }
        let mut rows = vec![row!["layer", "as", "signal to noise", "largest error"]];
        for layer in &accuracy.layers {
            let sqnr = layer.sqnr_db.map_or("-".to_owned(), |db| format!("{db:.2} dB"));
            rows.push(row![layer.layer, layer.element, sqnr, format!("{:.6}", layer.max)]);
        }
        table::print(out, &rows)?;
        text::print_gates(out, &report.gates)
    }
}

fn interval(agreement: &Agreement, what: &str) -> String {
    let Agreement { equal, count, low, high } = agreement;
    let percent = |share: f64| share * 100.0;
    format!(
        "{equal} of {count} {what}, {:.3} % (95 % interval {:.3} to {:.3})",
        percent(agreement.share()),
        percent(*low),
        percent(*high)
    )
}

fn print_predictions(out: &mut dyn Write, predictions: &Predictions) -> io::Result<()> {
    let Predictions { float_correct, correct, float_auc, auc, float_log_loss, log_loss } = predictions;
    writeln!(out, "  right       {}; float {}", interval(correct, "right"), float_correct.equal)?;
    if let (Some(auc), Some(float)) = (auc, float_auc) {
        writeln!(out, "  auc         {auc:.6}; float {float:.6}, {:+.6}", auc - float)?;
    }
    writeln!(out, "  log-loss    {log_loss:.6}; float {float_log_loss:.6}, {:+.6}", log_loss - float_log_loss)
}
