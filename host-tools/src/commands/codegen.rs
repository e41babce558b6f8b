//! `codegen`: a container becomes a Rust module that embeds it.

use crate::cli::Codegen;
use crate::codegen::{self, Module};
use crate::error::{CliError, Explain};
use crate::footprint::Footprint;
use crate::model_file::ModelFile;
use crate::output::Report;
use crate::packed::sign;
use serde::Serialize;
use std::io::{self, Write};
use tamis_runtime::kernels;

/// What was written.
#[derive(Debug, Serialize)]
pub struct Generated {
    model: String,
    network: String,
    out: String,
    /// Of the container.
    len_bytes: usize,
    workspace_len_bytes: usize,
    checksum: String,
    signature: String,
    footprint: Footprint,
}

/// Reads and writes.
///
/// # Errors
/// [`CliError`]; nothing is written then.
pub fn run(args: &Codegen) -> Result<Generated, CliError> {
    let (out, container) = (&args.target.out, &args.model);
    let sink = codegen::sink(out, container, args.target.force, &[container])?;
    let file = ModelFile::read(container)?;
    let model = file.model()?;
    let signature = sign(model, kernels::best())?;
    let module = Module::begin(sink, out, container, &model, signature)?;
    let generated = Generated {
        model: container.display().to_string(),
        network: model.metadata().explain_at(container)?.name.to_owned(),
        out: out.display().to_string(),
        len_bytes: model.bytes().len(),
        workspace_len_bytes: model.workspace_len_bytes(),
        checksum: format!("{:016x}", model.header().checksum()),
        signature: format!("{signature:016x}"),
        footprint: Footprint::of(&model).on(args.core),
    };
    module.keep()?;
    Ok(generated)
}

impl Report for Generated {
    const SCHEMA: Option<&'static str> = Some("tamis-codegen-1");

    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self { model, network, out: path, len_bytes, workspace_len_bytes, checksum, signature, footprint } = self;
        writeln!(out, "{network}: wrote {path} (Rust module), which embeds {model}, {len_bytes} bytes")?;
        writeln!(out, "  workspace  {workspace_len_bytes} bytes")?;
        writeln!(out, "  checksum   {checksum}")?;
        writeln!(out, "  signature  {signature}")?;
        footprint.print(out)
    }
}
