//! `verify`: three questions about a container, and which fact of a description is wrong.

mod graph;
mod layers;
mod nnue;
mod text;

pub use text::deviation;

use crate::cli::Verify;
use crate::divide::DivideReport;
use crate::error::{CliError, Explain};
use crate::examples::{refuse_no_limit, refuse_without_examples};
use crate::files::{self, PositionFile, Sink, refuse_one_file};
use crate::model_file::ModelFile;
use crate::network::refuse_options;
use crate::output::{Output, Report};
use crate::progress;
use crate::status::Status;
use serde::Serialize;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tamis_quant::pack::{is_graph, is_nnue};
use tamis_quant::positions::Position;
use tamis_quant::verify::{self, Case, Gates, Part, Reference, VerifyError, to_html};
use tamis_runtime::format::Model;

/// What was found, and where its page went.
#[derive(Debug, Serialize)]
pub struct Verified {
    #[serde(flatten)]
    report: verify::Report,
    html: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    partial: Option<String>,
    /// How the examples were read, if that is to be known; the report has it among the remarks of the checkpoint.
    #[serde(skip)]
    remark: Option<String>,
}

/// What a container is held against, read and in memory. What the arguments mean differs from one kind of network to
/// another; the case that follows does not.
trait Held {
    /// The container beside it.
    fn case<'a>(&'a self, model: Model<'a>) -> Result<Case<'a>, VerifyError>;

    /// The file that is at fault where they do not fit.
    fn file(&self) -> &Path;

    /// How the examples were read, if that is to be known.
    fn remark(&self) -> Option<&str> {
        None
    }
}

/// Reads everything, measures, writes the page.
///
/// # Errors
/// [`CliError`] naming the file; findings are in the report, not errors.
pub fn run(args: &Verify, output: &Output) -> Result<Verified, CliError> {
    refuse_no_limit(args.limit, "examples")?;
    if args.inputs.is_none() {
        let more = [("--labels", args.labels.is_some()), ("--skip", args.skip.is_some())];
        refuse_without_examples(&args.arrays, &more, "--inputs FILE")?;
    }
    if !args.merge.is_empty() {
        refuse_beside_parts(args)?;
    }
    let Verify { truth, positions, gates, .. } = args;
    let arch = args.network.arch.as_deref().map(Path::new);
    let files =
        [&truth.checkpoint, &truth.reference, positions, gates, &args.inputs, &args.labels, &args.feature_lists];
    let files = files.into_iter().flatten().chain([&args.model]).chain(&args.merge).map(|path| path.as_path());
    let inputs: Vec<&Path> = files.chain(arch).collect();
    let page = args.html.as_deref().map(|path| Sink::check_path(path, args.force, &inputs)).transpose()?;
    if let (Some(page), Some(partial)) = (&args.html, &args.partial) {
        refuse_one_file(page, partial, "the page's file")?;
    }
    let partial = args.partial.as_deref().map(|path| Sink::check_path(path, args.force, &inputs)).transpose()?;
    let file = ModelFile::read(&args.model)?;
    let model = file.model()?;
    let gates = args.gates.as_deref().map_or(Ok(Gates::default()), read_gates)?;

    let (part, remark) = match args.merge.as_slice() {
        [] => measured(args, model, output)?,
        parts => (merged(parts)?, None),
    };
    let bytes = partial.as_ref().map(|_| part.to_bytes());
    let report = match part.report(&model, &gates) {
        // The file that is of another container is the part.
        Err(VerifyError::Part(error)) if !args.merge.is_empty() => Err(error).explain_at(&args.merge[0])?,
        report => report.explain_at(&args.model)?,
    };
    if let (Some(partial), Some(bytes)) = (partial, bytes) {
        partial.write(&bytes)?;
    }
    if let Some(page) = page {
        page.write(to_html(&report).as_bytes())?;
    }
    let path = |path: &Option<PathBuf>| path.as_deref().map(|path| path.display().to_string());
    Ok(Verified { report, html: path(&args.html), partial: path(&args.partial), remark })
}

/// Runs the examples.
fn measured(args: &Verify, model: Model<'_>, output: &Output) -> Result<(Part, Option<String>), CliError> {
    let held = read(args, &model)?;
    let bar = progress::bar(output, "verifying", 0);
    let mut step = |done, total| {
        bar.set_length(total);
        bar.set_position(done);
    };
    let part = match held.case(model).and_then(|case| case.allowing_constants(args.allow_constant).part(&mut step)) {
        Err(VerifyError::NoExamples) => return Err(nothing_to_run(args)),
        part => part.explain_at(held.file())?,
    };
    bar.finish_and_clear();
    Ok((part, held.remark().map(str::to_owned)))
}

/// What only says how examples are measured has no use for parts that were measured before.
fn refuse_beside_parts(args: &Verify) -> Result<(), CliError> {
    refuse_options(&args.network, &[], "parts were measured before")?;
    let given = [("--divide", args.divide.rule.is_some()), ("--allow-constant", args.allow_constant)];
    match given.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => {
            Err(CliError::usage(format!("{option}: is about what is measured, and parts were measured before"))
                .help("leave it out, or give it where `verify --partial` measures"))
        }
        None => Ok(()),
    }
}

/// Reads parts, one after the other.
fn merged(paths: &[PathBuf]) -> Result<Part, CliError> {
    let mut all: Option<Part> = None;
    for path in paths {
        let bytes = files::read(path, "a part of a verification", files::MAX_PART_LEN_BYTES)?;
        let part = Part::parse(&bytes).explain_at(path)?;
        all = Some(match all {
            Some(before) => Part::join([before, part]).map_err(|(_, error)| error).explain_at(path)?,
            None => part,
        });
    }
    all.ok_or_else(|| CliError::usage("--merge: no parts").help("give the files that `verify --partial` wrote"))
}

/// Reads what the arguments mean for a container.
type Reader = fn(&Verify, &Model<'_>) -> Result<Box<dyn Held>, CliError>;

/// Whether a container is of a kind.
type Tell = fn(&Model<'_>) -> bool;

/// How it is read, by what the container is. Every other container is of bullet's layers.
const READERS: [(Tell, Reader); 2] = [(is_nnue, nnue::read), (is_graph, graph::read)];

/// What the arguments mean for this container.
fn read(args: &Verify, model: &Model<'_>) -> Result<Box<dyn Held>, CliError> {
    let divides = DivideReport::of_container(model, args.divide.rule, &args.model)?;
    // What divides is the file that says its values itself.
    if divides.is_none() && args.truth.checkpoint.is_none() && args.truth.reference.is_none() {
        return Err(CliError::usage(format!("{}: nothing to hold the container against", args.model.display()))
            .help("give --checkpoint C, --reference FILE or both; a network of the Stockfish family needs neither"));
    }
    let reader = READERS.iter().find(|(is, _)| is(model)).map_or(layers::read as Reader, |(_, reader)| *reader);
    reader(args, model)
}

/// The model has no part in it.
fn nothing_to_run(args: &Verify) -> CliError {
    CliError::usage(format!("{}: nothing to run the network on", args.model.display()))
        .help("give --positions FILE.bf, or a --reference that holds positions or inputs")
}

fn read_gates(path: &Path) -> Result<Gates, CliError> {
    Gates::from_toml(&files::read_text(path, "gates, TOML", files::MAX_TOML_LEN_BYTES)?).explain_at(path)
}

fn read_positions(path: &Path, limit: Option<usize>) -> Result<Vec<Position>, CliError> {
    let file = PositionFile::read(path, limit)?;
    file.positions()?.take(limit.unwrap_or(usize::MAX)).collect()
}

/// The first `limit` examples of a reference.
fn read_reference(path: &Path, limit: usize) -> Result<Reference, CliError> {
    const EXPECTED: &str = "a reference, safetensors";
    let bytes = files::read(path, EXPECTED, files::MAX_REFERENCE_LEN_BYTES)?;
    files::refuse_foreign(path, &bytes, EXPECTED)?;
    files::refuse_network(path, EXPECTED)?;
    let mut reference = Reference::parse(&bytes).explain_at(path)?;
    reference.positions.truncate(limit);
    reference.inputs.truncate(limit);
    reference.labels.truncate(limit);
    reference.outputs.truncate(limit.saturating_mul(reference.outputs_per_example));
    Ok(reference)
}

impl Report for Verified {
    // The library names it.
    const SCHEMA: Option<&'static str> = None;

    fn status(&self) -> Status {
        if self.report.passed { Status::Fine } else { Status::GateFailed }
    }

    fn failures(&self) -> Vec<String> {
        let failed = self.report.gates.iter().filter(|gate| !gate.passed);
        let kinds = || self.report.mistakes.iter().map(|mistake| mistake.kind.words()).collect::<Vec<_>>().join(", ");
        let named = |gate: &str| if gate == "require_no_mistakes" { format!(" ({})", kinds()) } else { String::new() };
        let gates = failed
            .map(|gate| format!("gate {}: found {}{}, wanted {}", gate.gate, gate.found, named(gate.gate), gate.limit));
        gates.chain(self.report.failures()).collect()
    }

    /// How examples were read, and limits that nobody set, and that a network of its kind usually keeps.
    fn warnings(&self) -> Vec<String> {
        let unusual = self.report.unusual().into_iter().map(|found| format!("accuracy: {found}"));
        self.remark.iter().cloned().chain(unusual).collect()
    }

    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        text::print(out, &self.report)?;
        self.html.iter().try_for_each(|path| writeln!(out, "\nthe same with pictures: {path}"))
    }
}
