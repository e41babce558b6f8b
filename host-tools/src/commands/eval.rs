//! `eval`: the value of positions for the side to move, or the outputs for examples, a line each.
//!
//! Of positions an integer where the head is integer, four decimals else; of examples as many digits as read back as
//! the same number; several outputs side by side.

mod buckets;
mod evaluator;
mod examples;
pub mod lists;
mod nnue;
mod source;

use crate::bare::container_of;
use crate::cli::Eval;
use crate::divide::{DivideReport, refuse_elsewhere};
use crate::error::{CliError, Explain};
use crate::examples::{refuse_no_limit, refuse_without_examples};
use crate::files;
use crate::model_file::ModelFile;
use crate::network::{Import, refuse_beside_layers, refuse_options};
use crate::nnue::refuse_for_checkpoint;
use crate::output::{Output, Report};
use crate::progress;
use buckets::BucketValues;
use lists::Scores;
use serde::Serialize;
use source::Source;
use std::io::{self, Write};
use std::path::Path;
use tamis_quant::arch::Architecture;
use tamis_quant::float::{EvalError, Example, example};
use tamis_quant::import::read_checkpoint;
use tamis_quant::parallel;
use tamis_quant::positions::Position;
use tamis_quant::run::{Outputs, Runner};
use tamis_quant::score::Summary;
use tamis_runtime::raw::input_kind;

/// The values.
#[derive(Debug, Serialize)]
pub struct Evaluations {
    file: String,
    network: String,
    /// The tier; none in double precision.
    tier: Option<&'static str>,
    /// The outputs of each position or example, in their order.
    values: Vec<Vec<Value>>,
    /// The two parts of each value, of networks of the Stockfish family.
    #[serde(skip_serializing_if = "Option::is_none")]
    parts: Option<Vec<buckets::Parts>>,
    /// How each value is made of its two parts, of networks of the Stockfish family.
    #[serde(skip_serializing_if = "Option::is_none")]
    divide: Option<DivideReport>,
    /// Every output bucket of each position, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    buckets: Option<Vec<Vec<BucketValues>>>,
    /// What lists of features, or positions, say that they are worth.
    #[serde(skip_serializing_if = "Option::is_none")]
    scores: Option<Scores>,
    /// What reading the checkpoint was about; of examples only.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    import: Option<Import>,
    /// What can be said of all of them; nothing where neither labels nor scores stand beside them.
    summary: Option<OfAll>,
    /// Whether the text shows the parts beside the values.
    #[serde(skip)]
    shows_parts: bool,
    /// How the examples were read, if that is to be known.
    #[serde(skip)]
    remark: Option<String>,
}

/// How good the outputs are.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum OfAll {
    /// By the labels.
    Labels(Summary),
    /// By scores, which make no answer right or wrong.
    Scores { count: usize, correct: Option<usize>, mean_difference: f64, correlation: Option<f64> },
}

impl From<Scores> for OfAll {
    fn from(scores: Scores) -> Self {
        let Scores { count, mean_difference, correlation } = scores;
        Self::Scores { count, correct: None, mean_difference, correlation }
    }
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// An integer.
    Int(i32),
    /// Printed with four decimals.
    Real(f64),
    /// Printed with all digits.
    Exact(f64),
}

/// Reads network and positions, evaluates.
///
/// # Errors
/// [`CliError`] naming file and line or record.
pub fn run(args: &Eval, output: &Output) -> Result<Evaluations, CliError> {
    if let Some(inputs) = &args.positions.inputs {
        refuse_no_limit(args.limit, "examples")?;
        refuse_elsewhere(args.divide.rule, &args.model)?;
        return examples::run(args, inputs, output);
    }
    let more = [
        ("--labels", args.labels.is_some()),
        ("--logits", args.logits),
        ("--raw", args.raw),
        ("--skip", args.skip.is_some()),
    ];
    refuse_without_examples(&args.arrays, &more, "--inputs FILE")?;
    match (&args.network.arch, args.float) {
        (Some(arch), true) => {
            refuse_elsewhere(args.divide.rule, &args.model)?;
            in_reals(args, Path::new(arch), output)
        }
        (arch, false) => in_integers(args, arch.as_deref().map(Path::new), output),
        (None, true) => {
            refuse_for_checkpoint(&args.model)?;
            Err(CliError::usage("--float needs the description of the checkpoint").help("add --arch A.toml"))
        }
    }
}

impl Evaluations {
    /// Values alone.
    fn new(file: &Path, network: &str, tier: Option<&'static str>, values: Vec<Vec<Value>>) -> Self {
        let (file, network) = (file.display().to_string(), network.to_owned());
        Self {
            file,
            network,
            tier,
            values,
            parts: None,
            divide: None,
            buckets: None,
            scores: None,
            import: None,
            summary: None,
            shows_parts: false,
            remark: None,
        }
    }
}

fn in_integers(args: &Eval, arch: Option<&Path>, output: &Output) -> Result<Evaluations, CliError> {
    let tier = super::tier(args.tier.as_deref())?;
    let file = match arch {
        Some(arch) => {
            refuse_elsewhere(args.divide.rule, &args.model)?;
            refuse_beside_layers(&args.network)?;
            let (container, len_bytes) = container_of(&args.model, arch)?;
            ModelFile::made_of(&args.model, &container, len_bytes)
        }
        None => {
            let file = ModelFile::read_or_pack(&args.model, args.divide.rule)?;
            refuse_options(
                &args.network,
                &[],
                &format!("{} holds integers, which say all of it", args.model.display()),
            )?;
            file
        }
    };
    let model = file.model()?;
    if let Some(divide) = file.divide(&model, args.divide.rule)? {
        return nnue::run(args, model, divide, tier, output);
    }
    if args.parts {
        return Err(CliError::usage("--parts: only values of networks of the Stockfish family have two parts")
            .help("leave it out"));
    }
    if model.input().kind != input_kind::FEATURES {
        let given = if args.positions.feature_lists.is_some() { "lists of features" } else { "positions" };
        return Err(CliError::usage(format!("{}: a graph takes examples, not {given}", args.model.display()))
            .help("--inputs FILE gives them"));
    }
    let metadata = model.metadata().explain_at(&args.model)?;
    let arch =
        Architecture::from_toml(metadata.description, &format!("{}: description", args.model.display())).explain()?;
    let unit = f64::from(model.input().output_unit);
    let runner = || Runner::new(model, tier);
    evaluate(args, &arch, Some(tier.name), output, |examples| {
        parallel::map_with(examples.len(), runner, |runner, index| {
            Ok(match runner.evaluate(&examples[index]).explain()? {
                Outputs::I32(values) if unit == 1.0 => values.into_iter().map(Value::Int).collect(),
                reals => reals.to_reals(unit).into_iter().map(Value::Real).collect(),
            })
        })
    })
}

fn in_reals(args: &Eval, arch: &Path, output: &Output) -> Result<Evaluations, CliError> {
    if files::is_container(&args.model) {
        let message = format!("{}: is a container; --float evaluates what it was made from", args.model.display());
        return Err(CliError::usage(message).help("leave --float and --arch out, or give the checkpoint"));
    }
    refuse_beside_layers(&args.network)?;
    let arch = files::read_arch(arch)?;
    let net = read_checkpoint(&args.model, &arch).explain()?.net.to_f64();
    evaluate(args, &arch, None, output, |examples| {
        parallel::map(examples.len(), |index| {
            Ok(net.evaluate(&examples[index]).explain()?.into_iter().map(Value::Real).collect())
        })
    })
}

/// Evaluates what was asked for with a network of bullet's: positions, or lists of features.
fn evaluate(
    args: &Eval,
    arch: &Architecture,
    tier: Option<&'static str>,
    output: &Output,
    of_examples: impl Fn(&[Example]) -> Vec<Result<Vec<Value>, CliError>>,
) -> Result<Evaluations, CliError> {
    let (mut tables, mut values) = (Vec::new(), Vec::new());
    let mut with_buckets = |examples: &[Example]| {
        if args.buckets {
            for example in examples {
                tables.push(every_bucket(arch, example, &of_examples)?);
            }
        }
        for made in of_examples(examples) {
            values.push(made?);
        }
        Ok(())
    };
    let mut worth: Vec<Option<f64>> = Vec::new();
    match &args.positions.feature_lists {
        Some(path) => {
            let lines = lists::read(path, arch, args.limit)?;
            let examples: Vec<Example> = lines.iter().map(|line| line.example.clone()).collect();
            examples.chunks(BLOCK).try_for_each(with_buckets)?;
            worth.extend(lines.iter().map(|line| line.score));
        }
        None => {
            in_blocks(args, output, |positions| {
                let examples = positions.iter().map(|position| to_example(arch, position));
                let (examples, unfit) = up_to_a_fault(examples);
                with_buckets(&examples)?;
                worth.extend(positions.iter().map(score_of));
                unfit.map_or(Ok(()), Err)
            })?;
        }
    }
    let buckets = args.buckets.then_some(tables);
    let scores = Scores::of(&worth, &values);
    Ok(Evaluations {
        buckets,
        scores,
        summary: scores.map(OfAll::from),
        ..Evaluations::new(&args.model, &arch.name, tier, values)
    })
}

/// The same example under each output bucket.
fn every_bucket(
    arch: &Architecture,
    example: &Example,
    of_examples: &impl Fn(&[Example]) -> Vec<Result<Vec<Value>, CliError>>,
) -> Result<Vec<BucketValues>, CliError> {
    let Example::Features { lists, bucket: used } = example else { return Ok(Vec::new()) };
    let of_bucket = |bucket: usize| Example::Features { lists: lists.clone(), bucket };
    let examples: Vec<Example> = (0..arch.bucket_count()).map(of_bucket).collect();
    let made = of_examples(&examples).into_iter().enumerate();
    made.map(|(bucket, values)| Ok(BucketValues { bucket, used: bucket == *used, values: values?, parts: None }))
        .collect()
}

/// Positions or examples that are evaluated side by side.
const BLOCK: usize = 1024;

/// What comes before the first fault, and that fault, if there is one: what was printed before it, was right.
fn up_to_a_fault<T>(made: impl Iterator<Item = Result<T, CliError>>) -> (Vec<T>, Option<CliError>) {
    let mut good = Vec::new();
    for one in made {
        match one {
            Ok(one) => good.push(one),
            Err(fault) => return (good, Some(fault)),
        }
    }
    (good, None)
}

/// Evaluates the positions that were asked for, a block after the other.
fn in_blocks(
    args: &Eval,
    output: &Output,
    mut evaluate: impl FnMut(&[Position]) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let source = Source::read(&args.positions, args.limit)?;
    let count = source.count_at_most(args.limit.unwrap_or(usize::MAX));
    let bar = progress::bar(output, "evaluating", count);
    let mut positions = source.positions()?.take(count);
    loop {
        let (block, unread) = up_to_a_fault(positions.by_ref().take(BLOCK));
        evaluate(&block)?;
        unread.map_or(Ok(()), Err)?;
        bar.inc(block.len() as u64);
        if block.len() < BLOCK {
            break;
        }
    }
    bar.finish_and_clear();
    Ok(())
}

/// What a position says that it is worth for the side to move.
fn score_of(position: &Position) -> Option<f64> {
    position.score.map(f64::from)
}

fn to_example(arch: &Architecture, position: &Position) -> Result<Example, CliError> {
    match example(arch, position) {
        Err(EvalError::NotChess) => Err(CliError::usage(format!(
            "network `{}`: its input is no chess board, so it has no positions",
            arch.name
        ))
        .help("--feature-lists FILE gives lists of features, --inputs FILE examples of vectors")),
        other => other.explain(),
    }
}

impl Report for Evaluations {
    const SCHEMA: Option<&'static str> = Some("tamis-eval-1");

    fn warnings(&self) -> Vec<String> {
        let of_import = self.import.as_ref().map_or_else(Vec::new, |import| import.warnings(&self.file));
        of_import.into_iter().chain(self.remark.clone()).collect()
    }

    fn summary(&self) -> Option<String> {
        let of_parts = self.divide.as_ref().map(|divide| format!("values divided {divide}"));
        let of_labels = match &self.summary {
            Some(OfAll::Labels(summary)) => Some(examples::summary_text(summary)),
            _ => None,
        };
        let all = [of_labels, self.scores.as_ref().map(Scores::text), of_parts];
        let said: Vec<String> = all.into_iter().flatten().collect();
        (!said.is_empty()).then(|| said.join("; "))
    }

    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        if let Some(positions) = &self.buckets {
            return buckets::print(out, positions);
        }
        let parts = self.parts.as_deref().filter(|_| self.shows_parts).map(<[buckets::Parts]>::iter);
        let mut parts = parts.into_iter().flatten();
        for values in &self.values {
            let mut words: Vec<String> = values.iter().map(ToString::to_string).collect();
            words
                .extend(parts.next().into_iter().flat_map(|part| [part.psqt.to_string(), part.positional.to_string()]));
            writeln!(out, "{}", words.join(" "))?;
        }
        Ok(())
    }
}

impl Value {
    /// Whatever kind of number it is.
    pub fn number(&self) -> f64 {
        match *self {
            Self::Int(value) => f64::from(value),
            Self::Real(value) | Self::Exact(value) => value,
        }
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Int(value) => write!(f, "{value}"),
            Self::Real(value) => write!(f, "{value:.4}"),
            Self::Exact(value) => write!(f, "{value:?}"),
        }
    }
}
