//! The repository's own networks, held against the outputs of the framework that trained them.

use tamis_quant::arch::Architecture;
use tamis_quant::data::Outputs;
use tamis_quant::float::{Example, Net, example};
use tamis_quant::graph::{Graph, Sample};
use tamis_quant::import::importers::{NetworkArch, NetworkOptions, read_network};
use tamis_quant::import::{Checkpoint, read_bare, read_bytes};
use tamis_quant::pack::to_bare;
use tamis_quant::positions::Position;
use tamis_quant::program::Operation;
use tamis_quant::proof::prove;
use tamis_quant::quantise::graph::{Options, quantise_graph};
use tamis_quant::quantise::quantise;
use tamis_quant::quantised::QuantNet;
use tamis_quant::run::{AlignedBytes, Runner};
use tamis_quant::verify::mistakes::MistakeKind;
use tamis_quant::verify::{Case, Gates, Reference, Report, Truth};
use tamis_runtime::format::Model;
use tamis_runtime::kernels::best;
use tests::tolerances::{
    F64_ORDER, FRAMEWORK_F32, FRAMEWORK_LAYERS_F32, FRAMEWORK_LOGITS_F32, LAYERS_GATES, LOSS_BY_ROUNDING,
    LOSS_OF_MATERIAL,
};
use tests::{architecture, architecture_text, lowered, own, packed, packed_program};

fn checkpoint(name: &str, description: &str) -> Checkpoint {
    let file = format!("{name}.weights.bin");
    read_bytes(&std::fs::read(own("reference").join(&file)).unwrap(), &architecture(description), &file).unwrap()
}

fn reference(name: &str) -> Reference {
    Reference::parse(&std::fs::read(own("reference").join(format!("{name}.reference.safetensors"))).unwrap()).unwrap()
}

fn report(checkpoint: &Checkpoint, reference: &Reference, gates: &str) -> Report {
    let bytes = packed(&quantise(&checkpoint.net).unwrap());
    let truth = Truth { checkpoint: Some(checkpoint), reference: Some(reference), positions: &[] };
    let case = Case::of_layers(Model::parse(bytes.as_ref()).unwrap(), &truth).unwrap();
    case.verify(&Gates::from_toml(gates).unwrap(), &mut |_, _| ()).unwrap()
}

#[test]
fn raw_bin_derived_from_weights_bin_quantises_alike() {
    let arch = architecture("reference");
    let from_weights = checkpoint("nnue", "reference").net;
    let mut raw = Vec::new();
    for spec in &arch.tensors {
        let role = arch.tensor_role(&spec.name).unwrap();
        let layer = &from_weights.layers[role.layer];
        let values = if spec.name.ends_with('w') { &layer.weights.values } else { &layer.bias };
        raw.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    }
    let from_raw = read_bytes(&raw, &arch, "raw.bin").unwrap();
    assert_eq!(from_raw.source, "raw.bin");
    assert!(quantise(&from_raw.net).unwrap() == quantise(&from_weights).unwrap());
}

/// The digits as PyTorch writes them.
fn digits_of_pytorch() -> Graph {
    let options = NetworkOptions {
        arch: Some(NetworkArch::read(own("reference").join("digits.toml").as_os_str()).unwrap()),
        ..NetworkOptions::default()
    };
    read_network(&own("reference").join("digits.safetensors"), &options).unwrap().graph
}

/// A description of bullet's, and one of a graph with the same ranges: the same operations, integers and proof.
#[test]
fn both_dialects_lower_to_one_program() {
    let bullets = lowered(&checkpoint("digits", "digits").net);
    let ranges = [("fc1.relu".to_owned(), (0.0, 7.3704834))].into();
    let options = Options { input_range: Some((0.0, 1.0)), ranges, ..Options::default() };
    let mut graphs = quantise_graph(&digits_of_pytorch(), &[], &options).unwrap();
    let renamed = |name: &str| name.replace("fc1", "l0").replace("fc2", "l1");
    for node in &mut graphs.nodes {
        node.name = renamed(&node.name);
        if let Operation::Affine { weights, bias: Some(bias) } = &mut node.op {
            weights.name = renamed(&weights.name);
            bias.name = renamed(&bias.name);
        }
    }
    graphs.description = renamed(&graphs.description);
    assert_eq!(graphs, bullets);
    assert_eq!(prove(&graphs), prove(&bullets));
    assert_eq!(packed_program(&graphs).as_ref(), packed_program(&bullets).as_ref());
}

/// The same weights as bullet writes them and as PyTorch does.
#[test]
fn digits_as_a_graph_are_the_same_network() {
    let (graph, net) = (digits_of_pytorch(), checkpoint("digits", "digits").net.to_f64());
    let reference = reference("digits");
    for input in &reference.inputs {
        let found = graph.evaluate(&Sample::Dense(input.clone())).unwrap();
        let expected = net.evaluate(&Example::Dense(input.clone())).unwrap();
        let error = found.iter().zip(&expected).map(|(found, expected)| (found - expected).abs());
        assert!(found.len() == 10 && error.fold(0.0, f64::max) < F64_ORDER, "{found:?} {expected:?}");
    }
}

#[test]
fn the_f64_evaluator_agrees_with_the_framework() {
    for (name, description, tolerance) in [
        ("nnue", "reference", FRAMEWORK_F32),
        ("layers", "reference-layers", FRAMEWORK_LAYERS_F32),
        ("digits", "digits", FRAMEWORK_LOGITS_F32),
    ] {
        let net: Net<f64> = checkpoint(name, description).net.to_f64();
        let reference = reference(name);
        let scale = f64::from(net.arch.output.scale);
        let examples: Vec<Example> = if reference.inputs.is_empty() {
            reference.positions.iter().map(|position| example(&net.arch, position).unwrap()).collect()
        } else {
            reference.inputs.iter().cloned().map(Example::Dense).collect()
        };
        assert!(examples.len() >= 300);
        for (example, wanted) in examples.iter().zip(reference.outputs.chunks(reference.outputs_per_example)) {
            for (found, wanted) in net.evaluate(example).unwrap().iter().zip(wanted) {
                assert!((found / scale - wanted).abs() < tolerance, "{name}: {} {wanted}", found / scale);
            }
        }
    }
}

#[test]
fn the_reference_networks_pass_their_gates() {
    for (name, description, gates) in [
        ("nnue", "reference", "max_mean = 1.0\nmax_rms = 5.0\nmax_error = 25.0\nmin_sqnr_db = 40.0"),
        ("layers", "reference-layers", LAYERS_GATES),
    ] {
        let reference = reference(name);
        assert!(reference.positions.len() >= 4096);
        for key in ["device", "framework", "versions", "seed"] {
            assert!(reference.metadata.contains_key(key), "{name}: {key}");
        }
        let report = report(&checkpoint(name, description), &reference, gates);
        assert!(report.passed, "{name}: {:#?} {:?} {:?}", report.gates, report.mistakes, report.accuracy.total);
        assert!(report.proof.holds && report.proof.claims_hold && report.runtime.equal);
        note!("{name}: {:?}", report.accuracy.total);
    }
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// The training scripts' loss of evaluations in centipawns; positions say what the game and the engine said of them.
fn loss(positions: &[Position], mut centipawns: impl FnMut(&Position) -> f64) -> f64 {
    let squares = positions.iter().map(|position| {
        let (result, score) = (f64::from(position.result.unwrap()), f64::from(position.score.unwrap()));
        let target = 0.25 * result / 2.0 + 0.75 * sigmoid(score / 400.0);
        (sigmoid(centipawns(position) / 400.0) - target).powi(2)
    });
    squares.sum::<f64>() / positions.len() as f64
}

/// Own material less the other side's, with the values and the bonus of the side to move that fit best.
fn material(position: &Position) -> f64 {
    let values = [140.9, 384.8, 414.0, 574.3, 1082.1, 0.0];
    let piece = |&(code, _): &(u8, u8)| values[usize::from(code & 7)] * if code < 8 { 1.0 } else { -1.0 };
    2.7 + position.pieces().iter().map(piece).sum::<f64>()
}

/// On held-out positions, in full precision, as the scripts measured it, and in integers.
#[test]
fn the_reference_networks_know_more_than_material() {
    for (name, description) in [("nnue", "reference"), ("layers", "reference-layers")] {
        let reference = reference(name);
        let number = |key: &str| reference.metadata[key].parse::<f64>().unwrap();
        assert!(number("heldout_loss") < LOSS_OF_MATERIAL * number("material_baseline_loss"), "{name}");
        let net = quantise(&checkpoint(name, description).net).unwrap();
        let bytes: AlignedBytes = packed(&net);
        let mut runner = Runner::new(Model::parse(bytes.as_ref()).unwrap(), best());
        let unit = f64::from(Model::parse(bytes.as_ref()).unwrap().input().output_unit);
        let integers = loss(&reference.positions, |position| {
            runner.evaluate(&example(&net.arch, position).unwrap()).unwrap().to_reals(unit)[0]
        });
        let counted = loss(&reference.positions, material);
        assert!(integers < LOSS_OF_MATERIAL * counted, "{name}: {integers} against {counted}");
        let mut outputs = reference.outputs.iter();
        let reals = loss(&reference.positions, |_| 400.0 * outputs.next().unwrap());
        assert!((integers - reals).abs() < LOSS_BY_ROUNDING * reals, "{name}: {integers} against {reals}");
        note!("{name}: loss of the integers {integers:.6}, of the reals {reals:.6}, of material {counted:.6}");
    }
}

#[test]
fn the_digits_keep_their_accuracy_in_int8() {
    let reference = reference("digits");
    let bytes = packed_program(&lowered(&checkpoint("digits", "digits").net));
    let samples: Vec<Sample> = reference.inputs.into_iter().map(Sample::Dense).collect();
    let labels: Vec<usize> = reference.labels.into_iter().map(usize::from).collect();
    let outputs = Outputs { columns: reference.outputs_per_example, values: reference.outputs };
    let case = Case::of_outputs(Model::parse(bytes.as_ref()).unwrap(), &outputs, &samples, Some(&labels)).unwrap();
    let gates = Gates::from_toml("max_accuracy_loss = 0.5\nmin_top1_agreement = 0.99").unwrap();
    let report = case.verify(&gates, &mut |_, _| ()).unwrap();
    assert!(report.passed, "{:#?} {:?} {:?}", report.gates, report.mistakes, report.accuracy);
    let predictions = report.accuracy.predictions.unwrap();
    assert!(predictions.float_correct.share() >= 0.97, "{predictions:?}");
    note!("{predictions:?} {:?}", report.accuracy.total);
}

#[test]
fn another_networks_reference_is_noticed() {
    let mut reference = reference("nnue");
    reference.outputs.rotate_left(1);
    let report = report(&checkpoint("nnue", "reference"), &reference, "");
    assert!(!report.passed && !report.mistakes.is_empty());
}

/// With a reference file alone, without any checkpoint, the outputs name the mistake.
#[test]
fn a_reference_names_the_mistake_of_a_description() {
    let text = architecture_text("reference");
    let right = quantise(&checkpoint("nnue", "reference").net).unwrap();
    let mut reference = reference("nnue");
    reference.positions.truncate(1024);
    reference.outputs.truncate(1024);
    let reversed: Vec<u8> = (0..33u8).map(|pieces| 7 - pieces.saturating_sub(2) / 4).collect();
    for (kind, from, to) in [
        (MistakeKind::Activation, "\"screlu\"", "\"crelu\"".to_owned()),
        (MistakeKind::PerspectivesSwapped, "kind = \"chess\"", "kind = \"chess\"\nother_first = true".to_owned()),
        (MistakeKind::KingBuckets, "kind = \"chess\"", "kind = \"chess\"\nmirrored = true".to_owned()),
        (MistakeKind::BucketOrder, "count = 8", format!("count = 8\nby_piece_count = {reversed:?}")),
        (MistakeKind::TransposedWeights, "transposed = true", "transposed = false".to_owned()),
        (MistakeKind::Scale, "scale = 16320", "scale = 64".to_owned()),
    ] {
        assert!(text.contains(from), "{from}");
        let wrong = Architecture::from_toml(&text.replacen(from, &to, 1), "test").unwrap();
        // The integers of the right network, read under the wrong description, as `pack` reads a bare file.
        let net = QuantNet::from_bare(read_bare(&to_bare(&right).unwrap(), &wrong).unwrap()).unwrap();
        let bytes = packed(&net);
        let truth = Truth { checkpoint: None, reference: Some(&reference), positions: &[] };
        let case = Case::of_layers(Model::parse(bytes.as_ref()).unwrap(), &truth).unwrap();
        let report = case.verify(&Gates::default(), &mut |_, _| ()).unwrap();
        let kinds: Vec<MistakeKind> = report.mistakes.iter().map(|mistake| mistake.kind).collect();
        assert_eq!(kinds, [kind], "{to}: {:#?}", report.mistakes);
        assert!(!report.passed);
    }
}
