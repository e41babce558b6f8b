//! `pack`: a trainer's own `quantised.bin`, a `.nnue` file of the Stockfish family, or a TFLite or ONNX file that is
//! quantised already, becomes a container, integer by integer.

mod nnue;
mod quantised;

use super::quantise::{contradictions, inputs};
use crate::cli::Pack;
use crate::codegen::Destination;
use crate::constant;
use crate::divide::refuse_elsewhere;
use crate::error::{CliError, Explain};
use crate::files;
use crate::fit;
use crate::nnue::is_nnue;
use crate::output::Output;
use crate::packed::{PackOptions, prove_and_pack};
use crate::permute;
use crate::report::{self, FitReport};
use crate::status::Status;
use crate::written::{Parts, Title, Written};
use std::path::Path;
use tamis_quant::constant::constant_tensors;
use tamis_quant::import::importers::quantised_form;
use tamis_quant::import::{
    ImportError, MAX_FILE_LEN_BYTES, fnv1a_64, read_bare, read_bare_file, read_checkpoint, read_file_start,
};
use tamis_quant::pack::{BARE_SOURCE, Provenance, to_bare, unpack};
use tamis_quant::quantised::QuantNet;
use tamis_quant::verify::ImportInfo;
use tamis_runtime::format::Model;

/// Of the report's JSON.
const SCHEMA: &str = "tamis-pack-1";

/// Reads, proves, packs, takes the result apart again, writes.
///
/// # Errors
/// [`CliError`]; nothing is written then.
pub fn run(args: &Pack, output: &Output) -> Result<Written, CliError> {
    // Too short to say what it is, a file is still what its name says.
    let is_named_nnue = args.bare.extension().is_some_and(|extension| extension == "nnue");
    if is_nnue(&args.bare) || is_named_nnue && args.arch.is_none() && !files::is_container(&args.bare) {
        refuse_fit(args)?;
        return nnue::run(args, output);
    }
    if let (Some(form), false) = (quantised_form(&args.bare), files::is_container(&args.bare)) {
        refuse_fit(args)?;
        return quantised::run(args, form, output);
    }
    let Some(arch_file) = &args.arch else {
        refuse_unreadable(&args.bare)?;
        let message =
            format!("{}: a trainer's quantised.bin needs its description, and is no .nnue file", args.bare.display());
        return Err(CliError::usage(message).help("add --arch A.toml"));
    };
    refuse_elsewhere(args.divide.rule, &args.bare)?;
    let mut inputs = inputs(&args.bare, Some(arch_file), &args.permute);
    inputs.extend(args.fit.positions.as_deref());
    inputs.extend(args.fit_checkpoint.as_deref());
    let destination = Destination::check(&args.target, &args.module, &inputs)?;
    let arch = files::read_arch(arch_file)?;
    if files::is_container(&args.bare) {
        return Err(container_already(&args.bare));
    }
    let bytes = read_bare_file(&args.bare, &arch).explain()?;
    let bare = read_bare(&bytes, &arch).explain_at(&args.bare)?;
    let mut net = QuantNet::from_bare(bare).explain_at(&args.bare)?;
    let fit = fitted(&mut net, args, output)?;
    let source = if fit.is_some() { fit::source(BARE_SOURCE) } else { BARE_SOURCE.to_owned() };
    let origin = Provenance { source, source_hash: fnv1a_64(&bytes) };
    let permutation = permute::apply(&mut net, &args.permute, &args.bare, output)?;
    let program = net.lower().explain()?;
    constant::refuse(&constant_tensors(&program), &args.bare, args.allow_constant)?;
    let packed = prove_and_pack(
        &program,
        &net.arch.name,
        &origin,
        PackOptions { unproved: args.unproved, ram: args.memory.ram },
        output,
    )?;
    let bytes = if fit.is_some() { to_bare(&net).explain_at(arch_file)? } else { bytes };
    check_inverse(packed.container.as_ref(), &bytes, &args.bare)?;
    destination.write(&packed)?;
    let hash = format!("{:016x}", origin.source_hash);
    let import = ImportInfo { source: origin.source, hash, remarks: contradictions(&net) };
    let title = Title { network: net.arch.name.clone(), architecture: report::one_line(&net.arch) };
    let place = (&args.target, &args.module);
    let written = Written::new(SCHEMA, place, (&args.bare, import), title, report::of_net(&net), &packed);
    Ok(written.with(Parts { permutation, fit, comes_back_len_bytes: Some(bytes.len()), ..Parts::default() }))
}

/// Fitted to the checkpoint's outputs, where that was asked for.
fn fitted(net: &mut QuantNet, args: &Pack, output: &Output) -> Result<Option<FitReport>, CliError> {
    if args.fit.positions.is_none() {
        return Ok(None);
    }
    let Some(checkpoint) = &args.fit_checkpoint else {
        return Err(CliError::usage("--fit: what is fitted to are the float network's outputs")
            .help("add --fit-checkpoint NET, the checkpoint that this file was made of"));
    };
    let checkpoint = read_checkpoint(checkpoint, &net.arch).explain()?;
    fit::apply(net, &checkpoint.net, &args.fit, output)
}

/// Fitting is for bullet's networks.
fn refuse_fit(args: &Pack) -> Result<(), CliError> {
    match &args.fit.positions {
        None => Ok(()),
        Some(path) => Err(CliError::usage(format!("{}: --fit is for a trainer's quantised.bin", path.display()))
            .help("leave it out; a file of another kind is packed as it is")),
    }
}

/// What no description would help.
fn refuse_unreadable(path: &Path) -> Result<(), CliError> {
    const START_LEN_BYTES: u64 = 512;
    let (start, len_bytes) = read_file_start(path, START_LEN_BYTES).explain()?;
    if files::is_container(path) {
        return Err(container_already(path));
    }
    if start.is_empty() {
        return Err(ImportError::Empty).explain_at(path);
    }
    if len_bytes > MAX_FILE_LEN_BYTES {
        return Err(ImportError::TooLarge { len_bytes, limit_bytes: MAX_FILE_LEN_BYTES }).explain_at(path);
    }
    files::refuse_foreign(path, &start, "a trainer's quantised.bin")
}

fn container_already(path: &Path) -> CliError {
    CliError::usage(format!("{}: is a container already", path.display()))
        .help("`host-tools inspect` shows what is in it, `host-tools unpack` turns it back")
}

/// A container from which the bare file does not come back is not written.
fn check_inverse(container: &[u8], bare: &[u8], path: &Path) -> Result<(), CliError> {
    let back = to_bare(&unpack(&Model::parse(container).explain()?).explain()?).explain()?;
    match back.iter().zip(bare).position(|(left, right)| left != right) {
        None if back.len() == bare.len() => Ok(()),
        difference => {
            let at = difference.unwrap_or(back.len().min(bare.len()));
            let message = format!("{}: byte {at} would be lost, unpacking does not give the file back", path.display());
            Err(CliError::new(Status::Unsupported, message).help("nothing is written; please report the network"))
        }
    }
}
