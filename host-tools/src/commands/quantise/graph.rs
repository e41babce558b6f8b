//! Graphs: calibrated, quantised, proved, written, and measured on the examples that calibrated them.

use super::SCHEMA;
use crate::cli::{self, Form, Quantise, Scales};
use crate::codegen::Destination;
use crate::constant;
use crate::error::{CliError, Explain};
use crate::examples::{Examples, Which, encoding, refuse_without_examples};
use crate::network::read_graph;
use crate::output::Output;
use crate::packed::{PackOptions, prove_and_pack};
use crate::progress;
use crate::report;
use crate::status::Status;
use crate::written::{Calibrated, Parts, Title, Written};
use std::path::Path;
use tamis_quant::calibrate::Method;
use tamis_quant::constant::{constant_values, constant_weights};
use tamis_quant::data::{ByteType, Encoding};
use tamis_quant::graph::{Graph, Op, Sample};
use tamis_quant::import::importers::{quantised_form, read_quantised_network};
use tamis_quant::program::Program;
use tamis_quant::quantise::graph::{
    Activations, Budget, Granularity, InputEncoding, Options, Quantised, SixteenBudget, WeightBits, quantise_reported,
    search_mixed,
};
use tamis_quant::verify::{Accuracy, VerifyError};

/// Reads, calibrates, quantises, proves, writes.
///
/// # Errors
/// [`CliError`]; nothing is written then.
pub fn run(args: &Quantise, destination: Destination, output: &Output) -> Result<Written, CliError> {
    refuse_what_is_for_layers(args)?;
    let (graph, import) = read_graph(&args.checkpoint, &args.network)?;
    refuse_quantised(&graph, &args.checkpoint)?;
    let calibration = &args.calibration;
    let which = Which::of(&calibration.arrays, None, calibration.calibrate_limit)?;
    let which = Which { unit_of_container: true, calibrates: true, ..which };
    let (samples, bytes, calibrated) = match &calibration.calibrate {
        Some(path) => {
            let examples = Examples::read(path, which, &graph)?;
            let calibrated = Calibrated::of(path, &examples);
            (examples.samples, examples.bytes, Some(calibrated))
        }
        None => {
            // A unit is the container's, too.
            let without_unit = cli::Arrays { input_unit: None, ..calibration.arrays.clone() };
            refuse_without_examples(&without_unit, &[], "--calibrate DATA")?;
            (Vec::new(), None, None)
        }
    };
    constant::refuse(&constant_weights(&graph), &args.checkpoint, args.allow_constant)?;
    if let Some(path) = &calibration.calibrate {
        let found = constant_values(&graph, &samples);
        let found = found.map_err(|(index, error)| VerifyError::Sample { index, error }).explain_at(path)?;
        constant::refuse(&found, path, args.allow_constant)?;
    }
    let options = options(args, &graph, import.source(), bytes)?.with_ranges(import.ranges().clone());
    let (Quantised { program: quantised, removed, sixteen }, options) =
        quantised(args, &graph, &samples, options, output)?;
    let packed = prove_and_pack(
        &quantised,
        &quantised.name,
        import.provenance(),
        PackOptions { unproved: args.unproved, ram: args.memory.ram },
        output,
    )?;
    let accuracy = match samples.as_slice() {
        [] => None,
        samples => {
            let accuracy = Accuracy::of_graph(&graph, &quantised, samples, None);
            let accuracy = accuracy.map_err(|(index, error)| VerifyError::Sample { index, error });
            Some(accuracy.explain_at(&args.checkpoint)?.into())
        }
    };
    destination.write(&packed)?;
    let title = Title { network: graph.name.clone(), architecture: report::graph_in_one_line(&quantised) };
    let import = import.with_remark(calibrated.as_ref().and_then(Calibrated::remark));
    let (place, source) = ((&args.target, &args.module), (&*args.checkpoint, import.info().clone()));
    let parts = Parts {
        calibration: calibrated,
        kept_f32: options.keep_f32.into_iter().collect(),
        float_len_bytes: Some(graph.parameter_count() * size_of::<f32>()),
        accuracy,
        sixteen,
        removed: (removed.channels > 0).then_some(removed),
        ..Parts::default()
    };
    Ok(Written::new(SCHEMA, place, source, title, report::of_graph(&quantised), &packed).with(parts))
}

/// A graph that rounds was quantised before.
fn refuse_quantised(graph: &Graph, path: &Path) -> Result<(), CliError> {
    let rounds = |graph: &Graph| graph.nodes.iter().any(|node| matches!(node.op, Op::Quantise { .. }));
    // Integers alone, without a rounding between them, are told by the reader of such files.
    let is_of_integers = || quantised_form(path).is_some_and(|form| read_quantised_network(path, form).is_ok());
    if rounds(graph) || is_of_integers() {
        let path = path.display();
        let message = format!("{path}: is quantised already; quantising it again would round integers a second time");
        let help = format!("`host-tools pack {path} -o OUT` packs it as it is; or give the float32 file");
        return Err(CliError::new(Status::Unsupported, message).help(help));
    }
    Ok(())
}

fn refuse_what_is_for_layers(args: &Quantise) -> Result<(), CliError> {
    if args.form == Form::Bare {
        return Err(CliError::usage("--form bare: only bullet's networks have a bare form")
            .help("leave it out; `host-tools export` writes the numbers of a graph as safetensors"));
    }
    if let Some(scales) = args.scaling.scales {
        let word = if scales == Scales::Proof { "proof" } else { "trainer" };
        return Err(CliError::usage(format!("--scales {word}: is for networks of accumulators"))
            .help("leave it out; a graph's scales come from its weights and from what --calibrate DATA shows"));
    }
    if args.scaling.rows.is_some() {
        return Err(CliError::usage("--rows: is for networks of accumulators")
            .help("leave it out; --weight-bits is for the weights of graphs"));
    }
    if let Some(path) = &args.fit.positions {
        return Err(CliError::usage(format!("{}: --fit is for networks of accumulators", path.display()))
            .help("leave it out; --calibrate DATA is for all others"));
    }
    match &args.permute.positions {
        Some(path) => Err(CliError::usage(format!("{}: --permute is for chess networks", path.display()))
            .help("leave it out; --calibrate DATA is for all others")),
        None => Ok(()),
    }
}

fn options(args: &Quantise, graph: &Graph, source: &str, bytes: Option<ByteType>) -> Result<Options, CliError> {
    let typed = &args.calibration;
    if typed.input_range.is_some() && typed.arrays.input_unit.is_some() {
        return Err(CliError::usage("--input-range: --input-unit says already what the container's input stands for")
            .help("leave one of them out"));
    }
    // Those systems count in signed bytes with a zero point.
    let theirs = source.starts_with("TFLite") || source.starts_with("ONNX");
    let usual = if theirs { cli::Activations::I8 } else { cli::Activations::U7 };
    let activations = typed.activations.unwrap_or(usual);
    let chosen = typed.method.unwrap_or(cli::RangeMethod::MeanSquare);
    if typed.percentile.is_some() && chosen != cli::RangeMethod::Percentile {
        return Err(CliError::usage("--percentile: is for `--method percentile`")
            .help("add --method percentile, or leave --percentile out"));
    }
    let percentile = typed.percentile.unwrap_or(PERCENTILE);
    let method = match chosen {
        cli::RangeMethod::MinMax => Method::MinMax,
        cli::RangeMethod::Percentile if (50.0..=100.0).contains(&percentile) => Method::Percentile(percentile),
        cli::RangeMethod::Percentile => {
            return Err(CliError::usage(format!("--percentile {percentile}: expected 50 to 100"))
                .help("99.99, the default, leaves out one value of 10000"));
        }
        cli::RangeMethod::MeanSquare => Method::MeanSquare,
        cli::RangeMethod::Entropy => Method::Entropy,
    };
    let weight_bits = typed.weight_bits.unwrap_or(cli::Bits::Eight);
    if weight_bits == cli::Bits::Sixteen && activations != cli::Activations::I16 {
        return Err(
            CliError::usage("--weight-bits 16: such weights read i16 activations only").help("add --activations i16")
        );
    }
    let all = typed.keep_f32.iter().any(|name| name == "all");
    let keep_f32 = match all {
        true => graph.nodes.iter().map(|node| node.name.clone()).collect(),
        false => typed.keep_f32.iter().cloned().collect(),
    };
    Ok(Options {
        method,
        weights: match typed.weights.unwrap_or(cli::Weights::PerChannel) {
            cli::Weights::PerChannel => Granularity::PerChannel,
            cli::Weights::PerTensor => Granularity::PerTensor,
        },
        activations: integers(activations),
        weight_bits: match weight_bits {
            cli::Bits::Eight => WeightBits::Eight,
            cli::Bits::Sixteen => WeightBits::Sixteen,
        },
        round_together: !typed.round_each,
        bias_correction: !typed.no_bias_correction,
        equalise: !typed.no_equalise,
        keep_f32,
        input_range: typed.input_range,
        input_encoding: encoding(&typed.arrays)?.map(|Encoding { unit, zero }| {
            let is_signed = bytes.map_or(zero < 0, |bytes| bytes == ByteType::I8);
            InputEncoding { is_signed, unit, zero }
        }),
        sixteen: typed.sixteen.iter().filter(|name| *name != AUTO).cloned().collect(),
        sixteen_budget: sixteen_budget(typed)?,
        maps: typed.activations.map_or(Activations::I8, integers),
        ranges: typed.range.iter().cloned().collect(),
        unproved: true,
        ..Options::default()
    })
}

/// Per cent of the values that a range holds, where that is how ranges follow: one value of 10000 is left out.
const PERCENTILE: f64 = 99.99;
/// Maps in 16 bits that are chosen at most.
const SIXTEEN_MAPS: usize = 3;
/// What stands for a choice in place of a layer's name.
const AUTO: &str = "auto";

fn integers(typed: cli::Activations) -> Activations {
    match typed {
        cli::Activations::U7 => Activations::U7,
        cli::Activations::U8 => Activations::U8,
        cli::Activations::I8 => Activations::I8,
        cli::Activations::I16 => Activations::I16,
    }
}

/// What maps in 16 bits may cost, if they are to be chosen.
fn sixteen_budget(typed: &cli::Calibration) -> Result<Option<SixteenBudget>, CliError> {
    if !typed.sixteen.iter().any(|name| name == AUTO) {
        let given = [
            ("--sixteen-maps", typed.sixteen_maps.is_some()),
            ("--sixteen-workspace", typed.sixteen_workspace.is_some()),
            ("--sixteen-macs", typed.sixteen_macs.is_some()),
        ];
        return match given.iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => Err(CliError::usage(format!("{option}: is a budget of `--sixteen auto`"))
                .help(format!("add --sixteen auto, or leave {option} out"))),
            None => Ok(None),
        };
    }
    if typed.calibrate.is_none() {
        return Err(CliError::usage("--sixteen auto: measures on examples, and none are given")
            .help("add --calibrate DATA, or name the layers"));
    }
    if let Some(percent) = typed.sixteen_macs.filter(|percent| !(0.0..=100.0).contains(percent)) {
        return Err(CliError::usage(format!("--sixteen-macs {percent}: expected 0 to 100")));
    }
    Ok(Some(SixteenBudget {
        maps: typed.sixteen_maps.unwrap_or(SIXTEEN_MAPS),
        workspace_len_bytes: typed.sixteen_workspace,
        macs_percent: typed.sixteen_macs,
    }))
}

/// The network, and the options with the layers that a search has chosen to keep. A missing proof is refused where it
/// is printed.
fn quantised(
    args: &Quantise,
    graph: &Graph,
    samples: &[Sample],
    options: Options,
    output: &Output,
) -> Result<(Quantised, Options), CliError> {
    if let Some(db) = args.calibration.sqnr_budget.filter(|db| !db.is_finite()) {
        return Err(CliError::usage(format!("--sqnr-budget {db}: expected a finite number of decibels")));
    }
    let searches = args.calibration.size_budget.is_some() || args.calibration.sqnr_budget.is_some();
    if searches && options.sixteen_budget.is_some() {
        return Err(CliError::usage("--sixteen auto: no search for layers in f32 goes with it")
            .help("leave --size-budget and --sqnr-budget out, or name the layers in 16 bits"));
    }
    let budget = match (args.calibration.size_budget, args.calibration.sqnr_budget) {
        (Some(len_bytes), _) => Budget::SizeLenBytes(len_bytes),
        (None, Some(db)) => Budget::SqnrDb(db),
        (None, None) => {
            let bar = progress::bar(output, "quantising", 0);
            let step = |done: usize, most: usize| {
                bar.set_length(most as u64);
                bar.set_position(done as u64);
            };
            let quantised = quantise_reported(graph, samples, &options, &step).explain_at(&args.checkpoint)?;
            bar.finish_and_clear();
            return Ok((quantised, options));
        }
    };
    let bar = progress::bar(output, "searching", 0);
    let mut step = |done: usize, most: usize| {
        bar.set_length(most as u64);
        bar.set_position(done as u64);
    };
    let found = search_mixed(graph, samples, &options, budget, &mut step).explain_at(&args.checkpoint)?;
    bar.finish_and_clear();
    check_budget(budget, &found.graph, found.sqnr_db, &args.checkpoint)?;
    Ok((Quantised { program: found.graph, removed: found.removed, sixteen: Vec::new() }, found.options))
}

fn check_budget(budget: Budget, graph: &Program, sqnr_db: Option<f64>, path: &Path) -> Result<(), CliError> {
    let missed = match (budget, sqnr_db) {
        (Budget::SizeLenBytes(limit), _) => {
            let found = graph.parameter_len_bytes();
            (found > limit).then(|| format!("{found} bytes of parameters with no layer in f32, at most {limit} wanted"))
        }
        (Budget::SqnrDb(wanted), Some(found)) => {
            (found < wanted).then(|| format!("{found:.1} dB with every layer that helps in f32, {wanted} wanted"))
        }
        (Budget::SqnrDb(_), None) => None,
    };
    match missed {
        Some(missed) => Err(CliError::usage(format!("{}: the budget cannot be met: {missed}", path.display()))
            .help("give another budget; nothing is written")),
        None => Ok(()),
    }
}
