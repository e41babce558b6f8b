//! `describe`: the description of a network of any form, as TOML that a person can change, and its tensors.

use crate::cli::Describe;
use crate::error::{CliError, Explain};
use crate::files::{Sink, refuse_one_file};
use crate::network::{Import, draft_graph, own_description, read_reals};
use crate::output::Report;
use serde::Serialize;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tamis_quant::graph::description::Description;
use tamis_quant::import::importers::QUANTISED_SOURCE;
use tamis_quant::import::tensors::export;

/// The description, and what was written.
#[derive(Debug, Serialize)]
pub struct DescriptionOf {
    checkpoint: String,
    #[serde(flatten)]
    import: Import,
    network: String,
    nodes: usize,
    /// The description's file; none where it is printed.
    out: Option<String>,
    /// The file of tensors.
    tensors: Option<String>,
    /// The canonical text.
    description: String,
}

/// Reads and writes.
///
/// # Errors
/// [`CliError`]; nothing is written then.
pub fn run(args: &Describe) -> Result<DescriptionOf, CliError> {
    if let (Some(out), Some(tensors)) = (&args.out, &args.tensors) {
        refuse_one_file(out, tensors, "the description's file")?;
    }
    let arch = args.network.arch.as_deref().map(Path::new);
    let inputs: Vec<&Path> = std::iter::once(args.checkpoint.as_path()).chain(arch).collect();
    let sink =
        |path: &Option<PathBuf>| path.as_deref().map(|path| Sink::check_path(path, args.force, &inputs)).transpose();
    let (text_sink, tensors_sink) = (sink(&args.out)?, sink(&args.tensors)?);
    let drafted = draft_graph(&args.checkpoint, &args.network)?;
    let (graph, import, draft) = match drafted {
        Some((draft, graph, import)) => (graph, import, Some(draft)),
        None => {
            let (graph, import) = read_reals(&args.checkpoint, &args.network)?;
            (graph, import, None)
        }
    };
    // Tensors that are written have the names and orders that the canonical description gives them; those of the file
    // have the ones by which they were read.
    let own = match (&draft, &args.tensors) {
        (None, None) => own_description(&args.checkpoint, &args.network)?,
        _ => None,
    };
    let description = match draft.filter(|_| args.tensors.is_none()).or(own) {
        Some(description) => description,
        None => Description::of(&graph).explain_at(&args.checkpoint)?.0.to_toml(),
    };
    if let Some(sink) = tensors_sink {
        sink.write(&export(&graph).explain_at(&args.checkpoint)?)?;
    }
    if let Some(sink) = text_sink {
        sink.write(description.as_bytes())?;
    }
    let shown = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
    Ok(DescriptionOf {
        checkpoint: args.checkpoint.display().to_string(),
        import,
        network: graph.name,
        nodes: graph.nodes.len(),
        out: shown(&args.out),
        tensors: shown(&args.tensors),
        description,
    })
}

impl Report for DescriptionOf {
    const SCHEMA: Option<&'static str> = Some("tamis-describe-1");

    fn warnings(&self) -> Vec<String> {
        let mut warnings = self.import.warnings(&self.checkpoint);
        if self.import.source().ends_with(QUANTISED_SOURCE) {
            warnings.push(format!(
                "{}: quantised already; this is the network of the reals that its integers stand for, and \
                 `host-tools pack` packs the integers",
                self.checkpoint
            ));
        }
        warnings
    }

    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let Some(path) = &self.out else { return out.write_all(self.description.as_bytes()) };
        writeln!(out, "{}: {} nodes", self.network, self.nodes)?;
        writeln!(out, "  read       {} ({}), FNV-1a {}", self.checkpoint, self.import.source(), self.import.hash())?;
        writeln!(out, "  wrote      {path} (description)")?;
        self.tensors.iter().try_for_each(|path| writeln!(out, "  wrote      {path} (safetensors)"))
    }
}
