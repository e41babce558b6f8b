//! A container of the Stockfish family against the `.nnue` file in it.

use super::text;
use crate::cli::Verify;
use crate::error::{CliError, Explain};
use crate::files;
use crate::nnue::{NnueFile, is_nnue, refuse};
use crate::output::Output;
use crate::progress;
use serde::Serialize;
use std::io::{self, Write};
use tamis_quant::verify::Gates;
use tamis_quant::verify::nnue::{NnueReport, verify_nnue};
use tamis_runtime::format::Model;

/// The library's report, and what it was held against.
#[derive(Debug, Serialize)]
pub struct VerifiedNnue {
    schema: &'static str,
    checkpoint: Option<String>,
    #[serde(flatten)]
    pub report: NnueReport,
}

/// Reads the positions and the file, if one is given, and asks.
///
/// # Errors
/// [`CliError`] naming the file; findings are in the report, not errors.
pub fn run(args: &Verify, model: Model<'_>, gates: &Gates, output: &Output) -> Result<VerifiedNnue, CliError> {
    refuse(args.network.arch.is_some(), "--arch", &args.model)?;
    refuse(args.inputs.is_some(), "--inputs", &args.model)?;
    refuse(args.truth.reference.is_some(), "--reference", &args.model)?;
    refuse(args.html.is_some(), "--html", &args.model)?;
    let file = match &args.truth.checkpoint {
        Some(path) if !is_nnue(path) && path.is_file() && files::is_container(path) => {
            return Err(CliError::usage(format!("{}: is a container", path.display()))
                .help("--checkpoint takes the .nnue file that it was made from, or leave it out"));
        }
        Some(path) => Some(NnueFile::read(path)?),
        None => None,
    };
    let Some(path) = &args.positions else {
        let message = format!("{}: nothing to run the network on", args.model.display());
        return Err(CliError::usage(message).help("give --positions FILE.bf"));
    };
    let positions = super::read_positions(path, args.limit)?;
    let bar = progress::bar(output, "verifying", positions.len());
    let mut step = |done, _| bar.set_position(done);
    let report = verify_nnue(model, &positions, file.as_ref().map(|file| &*file.bytes), gates, &mut step);
    bar.finish_and_clear();
    let report = report.explain_at(&args.model)?;
    let checkpoint = args.truth.checkpoint.as_ref().map(|path| path.display().to_string());
    Ok(VerifiedNnue { schema: "tamis-verify-nnue-1", checkpoint, report })
}

impl VerifiedNnue {
    /// What failed beside gates.
    pub fn failures(&self) -> Vec<String> {
        let mut failures = Vec::new();
        if self.report.differing_values > 0 {
            failures.push(format!("{} values are not those of the .nnue file", self.report.differing_values));
        }
        if self.report.same_file == Some(false) {
            let path = self.checkpoint.as_deref().unwrap_or_default();
            failures.push(format!("{path}: the container was made from another file"));
        }
        failures
    }

    /// The report as text, question by question.
    ///
    /// # Errors
    /// The writer's.
    pub fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let report = &self.report;
        let verdict = if report.passed { "passed" } else { "FAILED" };
        writeln!(out, "{}: {verdict}, on {} examples", report.network, report.runtime.examples)?;
        writeln!(out, "  network     {}", report.architecture)?;
        if let Some(path) = &self.checkpoint {
            let same = report.same_file == Some(true);
            let verdict = if same { "the file that comes back, byte for byte" } else { "NOT the file that comes back" };
            writeln!(out, "  checkpoint  {path}: {verdict}")?;
        }
        text::print_runtime_and_proof(out, &report.runtime, &report.proof)?;
        writeln!(out, "\n3. How far is the integer model from full precision?")?;
        match report.differing_values {
            0 => {
                writeln!(out, "  not at all: the .nnue file holds these integers, and its own rules give every value")?
            }
            count => writeln!(out, "  {count} values are NOT those that the .nnue file's own rules give")?,
        }
        text::print_gates(out, &report.gates)
    }
}
