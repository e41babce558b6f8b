//! Examples of a file: which network, which outputs, and how good they are.

use super::evaluator::{Evaluator, GraphContainer};
use super::{BLOCK, Evaluations, OfAll, Value, up_to_a_fault};
use crate::cli::Eval;
use crate::error::{CliError, Explain};
use crate::examples::{TakenBy, Which, bytes_as_reals, read_inputs, read_labels_of, sample_of, unfit};
use crate::files;
use crate::model_file::ModelFile;
use crate::network::{self, Import, refuse_options};
use crate::output::Output;
use crate::progress;
use std::path::Path;
use tamis_quant::pack::unpack_program;
use tamis_quant::score::{Summary, summarise};

/// Evaluates a container on the runtime, a checkpoint in double precision.
///
/// # Errors
/// [`CliError`] naming file and line or record.
pub fn run(args: &Eval, inputs: &Path, output: &Output) -> Result<Evaluations, CliError> {
    if !files::is_container(&args.model) {
        // What is not there is no checkpoint that an option would not fit.
        args.model.metadata().map_err(|error| CliError::io("read", &args.model, &error))?;
        if args.tier.is_some() {
            return Err(CliError::usage("--tier is for a container; a checkpoint is evaluated in double precision")
                .help("leave --tier out"));
        }
        if let Some(arch) = network::layers(&args.network)? {
            return Err(no_vectors(&args.model, &arch.name));
        }
        if args.raw {
            let message = format!("{}: --raw is for a container; a checkpoint has no integers", args.model.display());
            return Err(CliError::usage(message).help("leave it out"));
        }
        let (graph, import) = network::read_graph(&args.model, &args.network)?;
        let name = graph.name.clone();
        let which = Which::of(&args.arrays, args.skip, args.limit)?;
        return evaluate(args, (inputs, which), &graph, output)?.finish(args, name, None, Some(import));
    }
    if args.float || args.network.arch.is_some() {
        return Err(CliError::usage(format!("{}: a container, which has no full precision", args.model.display()))
            .help("give the checkpoint that it was made from, or leave --float and --arch out"));
    }
    refuse_options(&args.network, &[], &format!("{} is a container, which says all of it", args.model.display()))?;
    let tier = crate::commands::tier(args.tier.as_deref())?;
    let file = ModelFile::read(&args.model)?;
    let model = file.model()?;
    let graph = unpack_program(&model).explain_at(&args.model)?;
    if graph.has_accumulators() {
        return Err(no_vectors(&args.model, &graph.name));
    }
    let name = graph.name.clone();
    let which = Which::of(&args.arrays, args.skip, args.limit)?;
    let which = which.for_container(&graph.input, TakenBy::Container);
    let mut container = GraphContainer::new(model, tier, graph).explain_at(&args.model)?;
    if args.raw {
        container = container.with_integers(args.logits).ok_or_else(|| {
            let message = format!("{}: --raw shows integers, and these are real numbers", args.model.display());
            CliError::usage(message).help("leave it out, or add --logits for what the last softmax or sigmoid reads")
        })?;
    }
    evaluate(args, (inputs, which), &container, output)?.finish(args, name, Some(tier.name), None)
}

fn no_vectors(path: &Path, name: &str) -> CliError {
    CliError::usage(format!("{}: network `{name}` takes no vectors", path.display()))
        .help("--fen, --fens or --positions evaluate a chess network")
}

/// Outputs as they are printed, and the summary.
struct Evaluated {
    values: Vec<Vec<Value>>,
    summary: Option<Summary>,
    remark: Option<String>,
}

impl Evaluated {
    fn finish(
        self,
        args: &Eval,
        network: String,
        tier: Option<&'static str>,
        import: Option<Import>,
    ) -> Result<Evaluations, CliError> {
        let Self { values, summary, remark } = self;
        let summary = summary.map(OfAll::Labels);
        Ok(Evaluations { import, summary, remark, ..Evaluations::new(&args.model, &network, tier, values) })
    }
}

fn evaluate(
    args: &Eval,
    (path, which): (&Path, Which<'_>),
    evaluator: &dyn Evaluator,
    output: &Output,
) -> Result<Evaluated, CliError> {
    let inputs = read_inputs(path, which)?;
    let labels = match &args.labels {
        Some(path) => Some(read_labels_of(path, which)?),
        None => inputs.labels().map(|labels| labels.iter().skip(which.skip).copied().collect()),
    };
    if which.skip > 0 && which.skip >= inputs.len() {
        let message = format!("{}: no examples are left of {}", path.display(), inputs.len());
        return Err(CliError::usage(message).help("pass over fewer"));
    }
    let input = evaluator.input();
    let bar = progress::bar(output, "evaluating", inputs.len());
    let (mut values, mut scores) = (Vec::new(), Vec::new());
    let indices: Vec<usize> = (which.skip..inputs.len()).collect();
    for block in indices.chunks(BLOCK) {
        let samples = block.iter().map(|index| sample_of(&inputs, *index, path, which, input));
        let (samples, unread) = up_to_a_fault(samples);
        for (index, evaluation) in block.iter().zip(evaluator.evaluate(&samples)) {
            let evaluation = evaluation.map_err(|why| unfit(path, &inputs.place(*index), &why, which.advice(input)))?;
            let reals = if args.logits { &evaluation.scores } else { &evaluation.outputs };
            values.push(match evaluation.integers {
                Some(integers) => integers.into_iter().map(Value::Int).collect(),
                None => reals.iter().copied().map(Value::Exact).collect(),
            });
            if labels.is_some() {
                scores.push(evaluation.scores);
            }
        }
        unread.map_or(Ok(()), Err)?;
        bar.inc(block.len() as u64);
    }
    bar.finish_and_clear();
    let labelled = args.labels.as_deref().unwrap_or(path);
    let summary = labels.map(|labels| summarise(&scores, &labels).explain_at(labelled)).transpose()?;
    Ok(Evaluated { values, summary, remark: bytes_as_reals(&inputs, path, input) })
}

/// `correct 9 of 10, auc 0.93, logloss 0.31`
pub fn summary_text(summary: &Summary) -> String {
    let Summary { count, correct, auc, logloss } = summary;
    let mut text = format!("correct {correct} of {count}");
    for (name, value) in [("auc", auc), ("logloss", logloss)] {
        if let Some(value) = value {
            text.push_str(&format!(", {name} {value:.6}"));
        }
    }
    text
}
