//! `unpack`: a container becomes the trainer's own `quantised.bin`, or the `.nnue` file, again, byte for byte.

use crate::cli::Unpack;
use crate::error::{CliError, Explain};
use crate::files::Sink;
use crate::model_file::ModelFile;
use crate::output::Report;
use serde::Serialize;
use std::io::{self, Write};
use tamis_quant::arch::{Architecture, ElementType, HeadDivision};
use tamis_quant::import::fnv1a_64;
use tamis_quant::pack::{Contents, TrainersFile};
use tamis_quant::quantised::QuantNet;

/// What was written.
#[derive(Debug, Serialize)]
pub struct Unpacked {
    out: String,
    /// `bare` or `nnue`
    form: &'static str,
    network: String,
    len_bytes: usize,
    /// FNV-1a of the bytes written.
    hash: String,
    /// Whether these are the very bytes that were packed; unknown if the container was made from a checkpoint.
    same_as_packed: Option<bool>,
    /// Whether it is what `quantise` chose: products that are rounded, as in no trainer's engine, or rows of bytes of a
    /// float checkpoint.
    is_chosen: bool,
}

/// Reads and writes.
///
/// # Errors
/// [`CliError`]; nothing is written then.
pub fn run(args: &Unpack) -> Result<Unpacked, CliError> {
    let sink = Sink::check(&args.target, &[&args.model])?;
    let file = ModelFile::read(&args.model)?;
    let model = file.model()?;
    let contents = Contents::of(&model).explain_at(&args.model)?;
    let Some(TrainersFile { form, source, bytes }) = contents.trainers_file().explain_at(&args.model)? else {
        let source = model.metadata().explain_at(&args.model)?.source;
        let message = format!(
            "{}: made of {source}; only a trainer's quantised.bin and a .nnue file come back from a container",
            args.model.display()
        );
        return Err(CliError::usage(message)
            .help("`host-tools export` writes a graph's tensors as safetensors; keep the file that it was made of"));
    };
    let metadata = model.metadata().explain_at(&args.model)?;
    let hash = fnv1a_64(&bytes);
    let unpacked = Unpacked {
        out: args.target.out.display().to_string(),
        form,
        network: metadata.name.to_owned(),
        len_bytes: bytes.len(),
        hash: format!("{hash:016x}"),
        same_as_packed: (metadata.source == source).then_some(hash == metadata.source_hash),
        is_chosen: matches!(&contents, Contents::Bullet(net)
            if rounds_products(&net.arch) || metadata.source != source && has_bytes(net)),
    };
    sink.write(&bytes)?;
    Ok(unpacked)
}

fn rounds_products(arch: &Architecture) -> bool {
    arch.output.divide == HeadDivision::Rounded || arch.layers.iter().any(|layer| layer.product_rounded)
}

fn has_bytes(net: &QuantNet) -> bool {
    net.layers.first().is_some_and(|first| first.weights.element == ElementType::I8)
}

impl Report for Unpacked {
    const SCHEMA: Option<&'static str> = Some("tamis-unpack-1");

    fn warnings(&self) -> Vec<String> {
        let warning = format!(
            "{}: its scales or its types are not the trainer's, whose engine would read another network out of it; \
             `host-tools quantise --form bare` writes the trainer's",
            self.out
        );
        self.is_chosen.then_some(warning).into_iter().collect()
    }

    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self { out: path, form, network, len_bytes, hash, same_as_packed, .. } = self;
        writeln!(out, "{network}: wrote {path} ({form}), {len_bytes} bytes, FNV-1a {hash}")?;
        match same_as_packed {
            Some(true) => writeln!(out, "  the same bytes that were packed"),
            Some(false) => writeln!(out, "  not the bytes that were packed: FNV-1a differs"),
            None => Ok(()),
        }
    }
}
