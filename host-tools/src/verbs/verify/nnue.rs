//! A container of the Stockfish family against the `.nnue` file in it.

use super::text;
use crate::cli::Verify;
use crate::divide::DivideFacts;
use crate::error::{CliError, Explain};
use crate::files;
use crate::nnue::{NnueFile, is_nnue, refuse};
use crate::output::Output;
use crate::progress;
use serde::Serialize;
use std::fmt;
use std::io::{self, Write};
use tamis_quant::pack::unpack_nnue;
use tamis_quant::stockfish::to_bytes;
use tamis_quant::verify::Gates;
use tamis_quant::verify::nnue::{NnueReport, verify_nnue};
use tamis_runtime::format::Model;

/// The library's report, and what it was held against.
#[derive(Debug, Serialize)]
pub struct VerifiedNnue {
    schema: &'static str,
    checkpoint: Option<String>,
    /// How the value is made of its two parts: as the container says, also where a file is given.
    divide: DivideFacts,
    /// Where the file that was given leaves the one that comes back.
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<Difference>,
    #[serde(flatten)]
    pub report: NnueReport,
}

/// Two files that are not the same.
#[derive(Debug, Serialize)]
struct Difference {
    /// The first byte in which they differ, from 0; none where the shorter one is the longer one's start.
    byte: Option<usize>,
    /// Of the file that was given.
    len_bytes: usize,
    /// Of the file that comes back.
    expected_len_bytes: usize,
}

impl Difference {
    fn of(given: &[u8], expected: &[u8]) -> Option<Self> {
        let byte = given.iter().zip(expected).position(|(given, expected)| given != expected);
        let (len_bytes, expected_len_bytes) = (given.len(), expected.len());
        (byte.is_some() || len_bytes != expected_len_bytes).then_some(Self { byte, len_bytes, expected_len_bytes })
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.byte {
            Some(byte) => write!(f, "byte {byte} is the first that differs"),
            None => write!(f, "{} bytes, expected {}", self.len_bytes, self.expected_len_bytes),
        }
    }
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
    let divide = DivideFacts::of_container(&model, args.divide.rule, &args.model)?;
    let file = match &args.truth.checkpoint {
        Some(path) if !is_nnue(path) && path.is_file() && files::is_container(path) => {
            return Err(CliError::usage(format!("{}: is a container", path.display()))
                .help("--checkpoint takes the .nnue file that it was made from, or leave it out"));
        }
        Some(path) => Some(NnueFile::read(path, args.divide.rule)?),
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
    let difference = match file {
        Some(file) if report.same_file == Some(false) => {
            Difference::of(&file.bytes, &to_bytes(&unpack_nnue(&model).explain_at(&args.model)?))
        }
        _ => None,
    };
    let checkpoint = args.truth.checkpoint.as_ref().map(|path| path.display().to_string());
    Ok(VerifiedNnue { schema: "tamis-verify-nnue-1", checkpoint, divide, difference, report })
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
        writeln!(out, "  divide      {}", self.divide)?;
        if let Some(path) = &self.checkpoint {
            let same = report.same_file == Some(true);
            let verdict = if same { "the file that comes back, byte for byte" } else { "NOT the file that comes back" };
            let place = self.difference.as_ref().map(|difference| format!("; {difference}")).unwrap_or_default();
            writeln!(out, "  checkpoint  {path}: {verdict}{place}")?;
        }
        text::print_runtime_and_proof(out, &report.runtime, &report.proof)?;
        writeln!(out, "\n3. How far is the integer model from full precision?")?;
        match report.differing_values {
            0 => {
                writeln!(out, "  not at all: the .nnue file holds these integers, and its own rules give every value")?
            }
            count => writeln!(out, "  {count} values are NOT those that the .nnue file's own rules give")?,
        }
        if let (Some(false), Some(path)) = (report.same_file, &self.checkpoint) {
            writeln!(out, "  held to the file that the container was packed from, not to {path}")?;
        }
        text::print_gates(out, &report.gates)
    }
}
