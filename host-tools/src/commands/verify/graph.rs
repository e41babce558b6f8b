//! What a graph's container is held against: its checkpoint, on examples, or what another framework computed.

use super::{Held, read_reference};
use crate::cli::Verify;
use crate::error::{CliError, Explain};
use crate::examples::{Examples, TakenBy, Which, read_inputs};
use crate::files;
use crate::network::{Import, other_readings, read_reals, refuse_options};
use crate::status::Status;
use std::path::{Path, PathBuf};
use tamis_quant::data::{Outputs, classes};
use tamis_quant::graph::{Graph, Sample};
use tamis_quant::pack::unpack_graph;
use tamis_quant::score::ScoreError;
use tamis_quant::verify::{Case, Reading, Reference, ReferenceError, VerifyError, check_layers, check_origin};
use tamis_runtime::format::Model;

/// The checkpoint, evaluated here.
struct Checkpoint {
    model: PathBuf,
    path: PathBuf,
    graph: Graph,
    import: Import,
    readings: Vec<Reading>,
    inputs: PathBuf,
    samples: Vec<Sample>,
    labels: Option<Vec<usize>>,
    /// How the examples were read, if that is to be known.
    remark: Option<String>,
}

/// What another framework computed, with its examples.
struct Computed {
    path: PathBuf,
    outputs: Outputs,
    samples: Vec<Sample>,
    labels: Option<Vec<usize>>,
}

/// Reads one or the other.
///
/// # Errors
/// [`CliError`] naming the file.
pub fn read(args: &Verify, model: &Model<'_>) -> Result<Box<dyn Held>, CliError> {
    let given = [("--positions", args.positions.is_some()), ("--feature-lists", args.feature_lists.is_some())];
    if let Some((option, _)) = given.iter().find(|(_, is_given)| *is_given) {
        let message = format!("{option}: {} is a graph, which takes examples", args.model.display());
        return Err(CliError::usage(message).help("leave it out; --inputs FILE gives examples"));
    }
    if args.truth.checkpoint.is_none() {
        refuse_options(&args.network, &[], "no checkpoint is given")?;
    }
    if let (Some(reference), None) = (&args.truth.reference, &args.inputs) {
        // A checkpoint beside it says only whether the container is its own.
        if let Some(path) = &args.truth.checkpoint {
            let (graph, _) = read_reals(path, &args.network)?;
            check_origin(model, &graph).explain_at(&args.model)?;
        }
        return Ok(Box::new(read_computed(args, model, reference)?));
    }
    let (Some(path), Some(inputs)) = (&args.truth.checkpoint, &args.inputs) else {
        let message = format!("{}: a graph is verified against its checkpoint, on examples", args.model.display());
        return Err(CliError::usage(message).help(
            "give --checkpoint C and --inputs FILE, and --labels FILE if there are any; or, alone, --reference FILE of \
             batches with logits",
        ));
    };
    let (graph, import) = read_reals(path, &args.network)?;
    // Before the examples, which another network may refuse.
    check_layers(model, &graph).explain_at(&args.model)?;
    let readings = other_readings(path, &args.network, &graph)?;
    let program = unpack_graph(model).explain_at(&args.model)?;
    let which = Which::of(&args.arrays, args.skip, args.limit)?;
    let which = which.for_container(&program.input, TakenBy::Both);
    let examples = Examples::read(inputs, which, &graph)?;
    let labels = examples.classes(inputs, args.labels.as_deref(), which, &graph)?;
    let (model, path, inputs) = (args.model.clone(), path.clone(), inputs.clone());
    let import = import.with_remark(examples.remark.as_deref());
    let (samples, remark) = (examples.samples, examples.remark);
    Ok(Box::new(Checkpoint { model, path, graph, import, readings, inputs, samples, labels, remark }))
}

/// The reference's own inputs, or its batches, are the examples, its outputs the truth.
fn read_computed(args: &Verify, model: &Model<'_>, path: &Path) -> Result<Computed, CliError> {
    let (samples, outputs, labels) = match framework_reference(path, args.limit)? {
        Some(reference) => {
            let samples = reference.inputs.into_iter().map(Sample::Dense).collect();
            let outputs = Outputs { columns: reference.outputs_per_example, values: reference.outputs };
            let labels = (!reference.labels.is_empty())
                .then(|| reference.labels.iter().map(|label| usize::from(*label)).collect::<Vec<usize>>());
            (samples, outputs, labels)
        }
        None => read_batches(args, model, path)?,
    };
    // One logit tells two classes apart.
    let most = outputs.columns.max(2);
    let beyond = labels.iter().flatten().copied().enumerate().find(|(_, class)| *class >= most);
    if let Some((index, class)) = beyond {
        let class = u32::try_from(class).unwrap_or(u32::MAX);
        return Err(ScoreError::NoSuchClass { index, class, classes: most }).explain_at(path);
    }
    Ok(Computed { path: path.to_owned(), outputs, samples, labels })
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
            let reference = read_reference(path, limit.unwrap_or(usize::MAX))?;
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

impl Held for Checkpoint {
    fn case<'a>(&'a self, model: Model<'a>) -> Result<Case<'a>, VerifyError> {
        let case = Case::of_graph(model, &self.graph, &self.samples, self.labels.as_deref())?;
        let mut case = case.with_readings(self.readings.clone());
        case.truth.checkpoint = Some(self.path.display().to_string());
        case.truth.import = Some(self.import.info().clone());
        case.truth.inputs = Some(self.inputs.display().to_string());
        Ok(case)
    }

    fn file(&self) -> &Path {
        &self.model
    }

    fn remark(&self) -> Option<&str> {
        self.remark.as_deref()
    }
}

impl Held for Computed {
    fn case<'a>(&'a self, model: Model<'a>) -> Result<Case<'a>, VerifyError> {
        let mut case = Case::of_outputs(model, &self.outputs, &self.samples, self.labels.as_deref())?;
        case.truth.reference.insert("file".to_owned(), self.path.display().to_string());
        case.truth.inputs = Some(self.path.display().to_string());
        Ok(case)
    }

    fn file(&self) -> &Path {
        &self.path
    }
}
