//! `pack` of a `.nnue` file.

use crate::cli::Pack;
use crate::codegen::Destination;
use crate::divide::DivideFacts;
use crate::error::{CliError, Explain};
use crate::facts::{self, ProofFacts, TensorFacts};
use crate::nnue::{NnueFile, refuse};
use crate::output::Output;
use crate::seal::{seal, unproved_warning};
use crate::status::Status;
use serde::Serialize;
use std::io::{self, Write};
use tamis_quant::pack::unpack_nnue;
use tamis_quant::stockfish::to_bytes;
use tamis_runtime::format::Model;

/// What was written.
#[derive(Debug, Serialize)]
pub struct PackedNnue {
    out: String,
    form: &'static str,
    network: String,
    architecture: String,
    /// How the value is made of its two parts.
    divide: DivideFacts,
    /// The path that was given.
    input: String,
    source: String,
    source_hash: String,
    input_len_bytes: usize,
    len_bytes: usize,
    /// A Rust module that embeds it, if one was asked for.
    module: Option<String>,
    tensors: Vec<TensorFacts>,
    proof: ProofFacts,
    checksum: String,
    signature: String,
}

/// Reads, proves, packs, takes the result apart again, writes.
///
/// # Errors
/// [`CliError`]; nothing is written then.
pub fn run(args: &Pack, output: &Output) -> Result<PackedNnue, CliError> {
    refuse(args.arch.is_some(), "--arch", &args.bare)?;
    refuse(args.permute.positions.is_some(), "--permute", &args.bare)?;
    let destination = Destination::check(&args.target, &args.module, &[&args.bare])?;
    let file = NnueFile::read(&args.bare, args.divide.rule)?;
    let origin = file.provenance();
    let sealed = seal(&file.net.lower(), &file.net.shape.to_string(), &origin, args.unproved, output)?;
    let container = sealed.container.as_ref();
    let model = Model::parse(container).explain()?;
    if to_bytes(&unpack_nnue(&model).explain()?) != file.bytes {
        let message = format!("{}: unpacking would not give the file back", args.bare.display());
        return Err(CliError::new(Status::Unsupported, message).help("nothing is written; please report the network"));
    }
    let people = model.people().explain()?;
    let packed = PackedNnue {
        out: args.target.out.display().to_string(),
        form: super::CONTAINER,
        network: people.name.to_owned(),
        architecture: file.net.shape.to_string(),
        divide: file.divide,
        input: args.bare.display().to_string(),
        source: origin.source,
        source_hash: format!("{:016x}", origin.source_hash),
        input_len_bytes: file.bytes.len(),
        len_bytes: container.len(),
        module: args.module.shown(),
        tensors: facts::of_model(&model, &people, |_| None),
        proof: ProofFacts::of(&sealed.proof),
        checksum: format!("{:016x}", sealed.checksum),
        signature: format!("{:016x}", sealed.signature),
    };
    destination.write(&sealed)?;
    Ok(packed)
}

impl PackedNnue {
    /// What to warn of.
    pub fn warnings(&self) -> Vec<String> {
        unproved_warning(self.proof.holds())
    }

    /// The report as text.
    ///
    /// # Errors
    /// The writer's.
    pub fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}: {}", self.network, self.architecture)?;
        writeln!(out, "  read       {} ({} bytes), FNV-1a {}", self.input, self.input_len_bytes, self.source_hash)?;
        writeln!(
            out,
            "  wrote      {} ({}), {} bytes; the same file comes back from it",
            self.out, self.form, self.len_bytes
        )?;
        if let Some(module) = &self.module {
            writeln!(out, "  module     {module} (Rust), which embeds it")?;
        }
        writeln!(out, "  divide     {}", self.divide)?;
        writeln!(out, "  checksum   {}", self.checksum)?;
        writeln!(out, "  signature  {}\n", self.signature)?;
        facts::print(out, &self.tensors)?;
        writeln!(out)?;
        self.proof.print(out)
    }
}
