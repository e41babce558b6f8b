//! `export`: a graph's checkpoint of any form becomes safetensors, with the description of the network in the metadata;
//! a graph's container becomes its integers, as they are stored.

use crate::cli::Export;
use crate::error::{CliError, Explain};
use crate::files::{self, Sink};
use crate::model_file::ModelFile;
use crate::network::{Import, read_graph, refuse_options};
use crate::output::Report;
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;
use tamis_quant::import::fnv1a_64;
use tamis_quant::import::tensors::export;
use tamis_quant::pack::{export_graph, unpack_program};

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
    let Contents { import, network, nodes, bytes } =
        if files::is_container(&args.checkpoint) { of_container(args)? } else { of_checkpoint(args)? };
    sink.write(&bytes)?;
    Ok(Exported {
        checkpoint: args.checkpoint.display().to_string(),
        import,
        out: args.target.out.display().to_string(),
        network,
        nodes,
        len_bytes: bytes.len(),
        out_hash: format!("{:016x}", fnv1a_64(&bytes)),
    })
}

/// What is to be written, and what it is of.
struct Contents {
    import: Import,
    network: String,
    nodes: usize,
    bytes: Vec<u8>,
}

fn of_checkpoint(args: &Export) -> Result<Contents, CliError> {
    let (graph, import) = read_graph(&args.checkpoint, &args.network)?;
    let bytes = export(&graph).explain_at(&args.checkpoint)?;
    Ok(Contents { import, nodes: graph.nodes.len(), network: graph.name, bytes })
}

fn of_container(args: &Export) -> Result<Contents, CliError> {
    let place = args.checkpoint.display();
    if args.network.arch.is_some() {
        return Err(CliError::usage(format!("{place}: --arch is for a checkpoint; a container has its description"))
            .help("leave --arch out"));
    }
    refuse_options(&args.network, &[], &format!("{place} is a container, which says all of it"))?;
    let file = ModelFile::read(&args.checkpoint)?;
    let model = file.model()?;
    let graph = unpack_program(&model).explain_at(&args.checkpoint)?;
    if !graph.keeps_units {
        let message = format!("{place}: a container of layers, quantised already; only a graph's is exported");
        return Err(CliError::usage(message).help("`host-tools unpack` writes the trainer's own quantised.bin again"));
    }
    let bytes = export_graph(&graph).explain_at(&args.checkpoint)?;
    let import = Import::of_container(fnv1a_64(model.bytes()));
    Ok(Contents { import, nodes: graph.nodes.len(), network: graph.name, bytes })
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
