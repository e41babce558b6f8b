//! `unpack`: a container becomes the trainer's own `quantised.bin` again, byte for byte.

use crate::cli::Unpack;
use crate::error::{CliError, Explain};
use crate::files::{ModelFile, Sink};
use crate::output::Report;
use serde::Serialize;
use std::io::{self, Write};
use tamis_quant::import::fnv1a_64;
use tamis_quant::pack::{is_graph, to_bare, unpack};

/// What was written.
#[derive(Debug, Serialize)]
pub struct Unpacked {
    out: String,
    network: String,
    len_bytes: usize,
    /// FNV-1a of the bytes written.
    hash: String,
    /// Whether these are the very bytes that were packed; unknown if the container was made from a checkpoint.
    same_as_packed: Option<bool>,
}

/// Reads and writes.
///
/// # Errors
/// [`CliError`]; nothing is written then.
pub fn run(args: &Unpack) -> Result<Unpacked, CliError> {
    let sink = Sink::check(&args.target, &[&args.model])?;
    let file = ModelFile::read(&args.model)?;
    let model = file.model()?;
    if is_graph(&model) {
        let message = format!("{}: a graph's container, which has no bare form", args.model.display());
        return Err(CliError::usage(message).help("`host-tools export` writes its tensors as safetensors"));
    }
    let people = model.people().explain_at(&args.model)?;
    let net = unpack(&model).explain_at(&args.model)?;
    let bare = to_bare(&net).explain_at(&args.model)?;
    let hash = fnv1a_64(&bare);
    let unpacked = Unpacked {
        out: args.target.out.display().to_string(),
        network: net.arch.name.clone(),
        len_bytes: bare.len(),
        hash: format!("{hash:016x}"),
        same_as_packed: (people.source == "quantised.bin").then_some(hash == people.source_hash),
    };
    sink.write(&bare)?;
    Ok(unpacked)
}

impl Report for Unpacked {
    const SCHEMA: Option<&'static str> = Some("tamis-unpack-1");

    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self { out: path, network, len_bytes, hash, same_as_packed } = self;
        writeln!(out, "{network}: wrote {path} (bare), {len_bytes} bytes, FNV-1a {hash}")?;
        match same_as_packed {
            Some(true) => writeln!(out, "  the same bytes that were packed"),
            Some(false) => writeln!(out, "  not the bytes that were packed: FNV-1a differs"),
            None => Ok(()),
        }
    }
}
