//! `export`: a checkpoint of any form becomes safetensors, with the description of the network in the metadata.

use crate::cli::Export;
use crate::error::{CliError, Explain};
use crate::files::Sink;
use crate::network::{Import, read_graph};
use crate::output::Report;
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;
use tamis_quant::import::fnv1a_64;
use tamis_quant::import::tensors::export;

/// What was written.
#[derive(Debug, Serialize)]
pub struct Exported {
    checkpoint: String,
    #[serde(flatten)]
    import: Import,
    out: String,
    network: String,
    nodes: usize,
    len_bytes: usize,
    /// FNV-1a of the bytes written.
    out_hash: String,
}

/// Reads and writes.
///
/// # Errors
/// [`CliError`]; nothing is written then.
pub fn run(args: &Export) -> Result<Exported, CliError> {
    let arch = args.network.arch.as_deref().map(Path::new);
    let inputs: Vec<&Path> = std::iter::once(args.checkpoint.as_path()).chain(arch).collect();
    let sink = Sink::check(&args.target, &inputs)?;
    let (graph, import) = read_graph(&args.checkpoint, &args.network)?;
    let bytes = export(&graph).explain_at(&args.checkpoint)?;
    sink.write(&bytes)?;
    Ok(Exported {
        checkpoint: args.checkpoint.display().to_string(),
        import,
        out: args.target.out.display().to_string(),
        network: graph.name,
        nodes: graph.nodes.len(),
        len_bytes: bytes.len(),
        out_hash: format!("{:016x}", fnv1a_64(&bytes)),
    })
}

impl Report for Exported {
    const SCHEMA: Option<&'static str> = Some("tamis-export-1");

    fn warnings(&self) -> Vec<String> {
        self.import.warnings(&self.checkpoint)
    }

    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self { checkpoint, import, out: path, network, nodes, len_bytes, out_hash } = self;
        writeln!(out, "{network}: {nodes} nodes")?;
        writeln!(out, "  read       {checkpoint} ({}), FNV-1a {}", import.source(), import.hash())?;
        writeln!(out, "  wrote      {path} (safetensors), {len_bytes} bytes, FNV-1a {out_hash}")
    }
}
