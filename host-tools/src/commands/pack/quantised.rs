//! `pack` of a TFLite or ONNX file that is quantised already.

use super::SCHEMA;
use crate::cli::Pack;
use crate::codegen::Destination;
use crate::divide::refuse_elsewhere;
use crate::error::{CliError, Explain};
use crate::output::Output;
use crate::packed::{PackOptions, prove_and_pack};
use crate::report;
use crate::written::{Title, Written};
use tamis_quant::graph::description::Description;
use tamis_quant::import::importers::{NetworkForm, QuantisedNetwork, read_quantised_network};
use tamis_quant::pack::Provenance;
use tamis_quant::verify::{ImportInfo, check_origin};
use tamis_runtime::format::Model;

/// Reads, proves, packs, holds the result against what was read, writes.
///
/// # Errors
/// [`CliError`]; nothing is written then.
pub fn run(args: &Pack, form: NetworkForm, output: &Output) -> Result<Written, CliError> {
    let path = &args.bare;
    let given = [("--arch", args.arch.is_some()), ("--permute", args.permute.positions.is_some())];
    if let Some((option, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
        let message = format!("{option}: {} says its layers and their integers itself", path.display());
        return Err(CliError::usage(message).help("leave it out"));
    }
    refuse_elsewhere(args.divide.rule, path)?;
    let destination = Destination::check(&args.target, &args.module, &[path])?;
    let QuantisedNetwork { integers, reals } = read_quantised_network(path, form).explain()?;
    let description = Description::of(&reals.graph).explain_at(path)?.0.to_toml();
    let (program, mut remarks) = integers.lower(&description).explain_at(path)?;
    remarks.splice(0..0, reals.remarks.iter().filter(|remark| !integers.remarks.contains(remark)).cloned());
    let origin = Provenance { source: reals.source.clone(), source_hash: reals.bytes_hash };
    let packed = prove_and_pack(
        &program,
        &program.name,
        &origin,
        PackOptions { unproved: args.unproved, ram: args.memory.ram },
        output,
    )?;
    check_origin(&Model::parse(packed.container.as_ref()).explain()?, &reals.graph).explain_at(path)?;
    destination.write(&packed)?;
    let hash = format!("{:016x}", origin.source_hash);
    let import = ImportInfo { source: origin.source, hash, remarks };
    let title = Title { network: program.name.clone(), architecture: report::graph_in_one_line(&program) };
    let place = (&args.target, &args.module);
    Ok(Written::new(SCHEMA, place, (path, import), title, report::of_graph(&program), &packed))
}
