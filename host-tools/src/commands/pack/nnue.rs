//! `pack` of a `.nnue` file.

use super::SCHEMA;
use crate::cli::Pack;
use crate::codegen::Destination;
use crate::constant;
use crate::error::{CliError, Explain};
use crate::nnue::{NnueFile, refuse};
use crate::output::Output;
use crate::packed::{PackOptions, prove_and_pack};
use crate::report;
use crate::status::Status;
use crate::written::{Parts, Title, Written};
use tamis_quant::constant::constant_tensors;
use tamis_quant::pack::unpack_nnue;
use tamis_quant::stockfish::to_bytes;
use tamis_quant::verify::ImportInfo;
use tamis_runtime::format::Model;

/// Reads, proves, packs, takes the result apart again, writes.
///
/// # Errors
/// [`CliError`]; nothing is written then.
pub fn run(args: &Pack, output: &Output) -> Result<Written, CliError> {
    refuse(args.arch.is_some(), "--arch", &args.bare)?;
    refuse(args.permute.positions.is_some(), "--permute", &args.bare)?;
    let destination = Destination::check(&args.target, &args.module, &[&args.bare])?;
    let file = NnueFile::read(&args.bare, args.divide.rule)?;
    let origin = file.provenance();
    let program = file.net.lower();
    constant::refuse(&constant_tensors(&program), &args.bare, args.allow_constant)?;
    let packed = prove_and_pack(
        &program,
        &file.net.shape.to_string(),
        &origin,
        PackOptions { unproved: args.unproved, ram: args.memory.ram },
        output,
    )?;
    let container = packed.container.as_ref();
    let model = Model::parse(container).explain()?;
    if to_bytes(&unpack_nnue(&model).explain()?) != file.bytes {
        let message = format!("{}: unpacking would not give the file back", args.bare.display());
        return Err(CliError::new(Status::Unsupported, message).help("nothing is written; please report the network"));
    }
    let metadata = model.metadata().explain()?;
    let hash = format!("{:016x}", origin.source_hash);
    let import = ImportInfo { source: origin.source, hash, remarks: Vec::new() };
    let title = Title { network: metadata.name.to_owned(), architecture: file.net.shape.to_string() };
    let (place, tensors) = ((&args.target, &args.module), report::of_model(&model, &metadata, |_| None));
    let written = Written::new(SCHEMA, place, (&args.bare, import), title, tensors, &packed);
    destination.write(&packed)?;
    let comes_back_len_bytes = Some(file.bytes.len());
    Ok(written.with(Parts { divide: Some(file.divide), comes_back_len_bytes, ..Parts::default() }))
}
