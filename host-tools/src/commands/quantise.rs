//! `quantise`: a float checkpoint becomes a proved `quantised.bin`: bullet's layers by their description, every other
//! network as a graph by what calibration examples show.

mod graph;
mod scales;

use crate::cli::{Calibration, Form, Permute, Quantise};
use crate::codegen::{Destination, refuse_bare};
use crate::constant;
use crate::error::{CliError, Explain};
use crate::files;
use crate::fit;
use crate::network;
use crate::nnue::refuse_for_checkpoint;
use crate::output::Output;
use crate::packed::{PackOptions, prove_and_pack};
use crate::permute;
use crate::progress;
use crate::report;
use crate::written::{Parts, Title, Written};
use std::path::Path;
use tamis_quant::arch::Architecture;
use tamis_quant::constant::constant_tensors;
use tamis_quant::import::{Remark, SourceKind, read_checkpoint};
use tamis_quant::pack::{Provenance, to_bare};
use tamis_quant::quantised::QuantNet;
use tamis_quant::verify::ImportInfo;
use tamis_quant::verify::mistakes::{orders, rules};

/// Of the report's JSON.
const SCHEMA: &str = "tamis-quantise-1";

/// Reads, quantises, proves, writes.
///
/// # Errors
/// [`CliError`]; nothing is written then.
pub fn run(args: &Quantise, output: &Output) -> Result<Written, CliError> {
    permute::check_form(&args.permute, args.form)?;
    refuse_bare(args.form == Form::Bare && args.module.codegen.is_some())?;
    let arch_file = args.network.arch.as_deref().map(Path::new);
    let calibration = args.calibration.calibrate.as_deref();
    let mut inputs = inputs(&args.checkpoint, arch_file, &args.permute);
    inputs.extend(args.fit.positions.as_deref());
    inputs.extend(calibration);
    let destination = Destination::check(&args.target, &args.module, &inputs)?;
    refuse_container(&args.checkpoint)?;
    match (network::layers(&args.network)?, arch_file) {
        (Some(arch), Some(arch_file)) => {
            if let Some(calibration) = calibration {
                let message = format!(
                    "{}: --calibrate is for graphs, and this is a network of accumulators",
                    calibration.display()
                );
                return Err(CliError::usage(message).help("leave it out; its scales stand in its description"));
            }
            network::refuse_beside_layers(&args.network)?;
            refuse_what_is_for_graphs(&args.calibration)?;
            scales::refuse(args)?;
            accumulators(args, &arch, arch_file, destination, output)
        }
        _ => graph::run(args, destination, output),
    }
}

/// What only graphs have a use for; what needs `--calibrate` was refused with it.
fn refuse_what_is_for_graphs(typed: &Calibration) -> Result<(), CliError> {
    let given = [
        ("--method", typed.method.is_some()),
        ("--percentile", typed.percentile.is_some()),
        ("--weights", typed.weights.is_some()),
        ("--weight-bits", typed.weight_bits.is_some()),
        ("--keep-f32", !typed.keep_f32.is_empty()),
        ("--array", typed.arrays.array.is_some()),
        ("--input-unit", typed.arrays.input_unit.is_some()),
        ("--channels-first", typed.arrays.channels_first),
        ("--input-range", typed.input_range.is_some()),
        ("--sixteen", !typed.sixteen.is_empty()),
        ("--activations", typed.activations.is_some()),
        ("--range", !typed.range.is_empty()),
        ("--round-each", typed.round_each),
        ("--no-bias-correction", typed.no_bias_correction),
        ("--no-equalise", typed.no_equalise),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => {
            Err(CliError::usage(format!("{option}: is for graphs, and this is a network of accumulators"))
                .help("leave it out; types and scales of such a network stand in its description"))
        }
        None => Ok(()),
    }
}

fn accumulators(
    args: &Quantise,
    arch: &Architecture,
    arch_file: &Path,
    destination: Destination,
    output: &Output,
) -> Result<Written, CliError> {
    let spinner = progress::spinner(output, "quantising");
    let checkpoint = read_checkpoint(&args.checkpoint, arch).explain()?;
    if checkpoint.source == SourceKind::Bare.words() {
        return Err(CliError::usage(format!(
            "{}: is a quantised.bin already; quantising it again would round integers a second time",
            args.checkpoint.display()
        ))
        .help("`host-tools pack` makes a container of it, integer by integer"));
    }
    let (mut net, scales) = scales::quantised(&checkpoint.net, args)?;
    spinner.finish_and_clear();
    let fit = fit::apply(&mut net, &checkpoint.net, &args.fit, output)?;
    let import = ImportInfo { remarks: contradictions(&net), ..ImportInfo::from(&checkpoint) };
    let source = if fit.is_some() { fit::source(&checkpoint.source) } else { checkpoint.source };
    let origin = Provenance { source, source_hash: checkpoint.bytes_hash };
    let permutation = permute::apply(&mut net, &args.permute, &args.checkpoint, output)?;
    let program = net.lower().explain()?;
    constant::refuse(&constant_tensors(&program), &args.checkpoint, args.allow_constant)?;
    let packed = prove_and_pack(
        &program,
        &net.arch.name,
        &origin,
        PackOptions { unproved: args.unproved, ram: args.memory.ram },
        output,
    )?;
    let bare = match args.form {
        Form::Container => None,
        Form::Bare => Some(to_bare(&net).explain_at(arch_file)?),
    };
    match &bare {
        None => destination.write(&packed)?,
        Some(bare) => destination.write_bare(bare)?,
    }
    let title = Title { network: net.arch.name.clone(), architecture: report::one_line(&net.arch) };
    let (place, tensors) = ((&args.target, &args.module), report::of_net(&net));
    let float_len_bytes = tensors.iter().map(|tensor| tensor.rows * tensor.cols * size_of::<f32>()).sum();
    let written = Written::new(SCHEMA, place, (&args.checkpoint, import), title, tensors, &packed);
    let parts = Parts { permutation, scales, fit, float_len_bytes: Some(float_len_bytes), ..Parts::default() };
    let written = written.with(parts);
    Ok(match bare {
        Some(bare) => written.in_bare_form(bare.len()),
        None => written,
    })
}

/// What a description says against its own arithmetic and against the values: a bias whose scale is not that of the
/// sums that it is added to, weights that are of the other order.
pub fn contradictions(net: &QuantNet) -> Vec<Remark> {
    let found = rules::find(&net.arch).into_iter().chain(orders::find(&net.to_reals()));
    found.map(|mistake| Remark::Warning(format!("{}: {}", mistake.kind.words(), mistake.text))).collect()
}

/// Every file that is read, of which none may be written.
pub fn inputs<'a>(network: &'a Path, arch: Option<&'a Path>, permute: &'a Permute) -> Vec<&'a Path> {
    [network].into_iter().chain(arch).chain(permute.positions.as_deref()).collect()
}

fn refuse_container(path: &Path) -> Result<(), CliError> {
    if files::is_container(path) {
        return Err(CliError::usage(format!("{}: is a container already", path.display()))
            .help("`host-tools inspect` shows what is in it"));
    }
    refuse_for_checkpoint(path)
}
