//! The repository's own networks, held against the outputs of the framework that trained them.

use tamis_quant::arch::Architecture;
use tamis_quant::float::{Example, Net, example};
use tamis_quant::import::{Checkpoint, read_bare, read_bytes};
use tamis_quant::pack::to_bare;
use tamis_quant::quantise::{QuantNet, quantise};
use tamis_quant::verify::mistakes::MistakeKind;
use tamis_quant::verify::{Gates, Reference, Report, Truth, verify};
use tamis_runtime::format::Model;
use tests::tolerances::{FRAMEWORK_F32, FRAMEWORK_LOGITS_F32};
use tests::{architecture, architecture_text, own, packed};

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
    verify(Model::parse(bytes.as_ref()).unwrap(), &truth, &Gates::from_toml(gates).unwrap(), &mut |_, _| ()).unwrap()
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

#[test]
fn the_f64_evaluator_agrees_with_the_framework() {
    for (name, description, tolerance) in
        [("nnue", "reference", FRAMEWORK_F32), ("digits", "digits", FRAMEWORK_LOGITS_F32)]
    {
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
fn the_reference_network_passes_its_gates() {
    let reference = reference("nnue");
    assert!(reference.positions.len() >= 4096);
    for key in ["device", "framework", "versions", "seed"] {
        assert!(reference.metadata.contains_key(key), "{key}");
    }
    let number = |key: &str| reference.metadata[key].parse::<f64>().unwrap();
    assert!(number("heldout_loss") < 0.8 * number("material_baseline_loss"), "clearly better than counting material");
    let report = report(
        &checkpoint("nnue", "reference"),
        &reference,
        "max_mean = 1.0\nmax_rms = 5.0\nmax_error = 25.0\nmin_sqnr_db = 40.0",
    );
    assert!(report.passed, "{:#?} {:?} {:?}", report.gates, report.mistakes, report.accuracy.total);
    assert!(report.proof.holds && report.runtime.equal);
}

#[test]
fn the_digits_keep_their_accuracy_in_int8() {
    let reference = reference("digits");
    let report =
        report(&checkpoint("digits", "digits"), &reference, "max_accuracy_loss = 0.5\nmin_top1_agreement = 0.99");
    assert!(report.passed, "{:#?} {:?} {:?}", report.gates, report.mistakes, report.accuracy);
    let correct = report.accuracy.correct.unwrap();
    assert!(correct.float * 100 >= correct.count * 97, "{correct:?}");
    println!("{correct:?} {:?}", report.accuracy.total);
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
        let report = verify(Model::parse(bytes.as_ref()).unwrap(), &truth, &Gates::default(), &mut |_, _| ()).unwrap();
        let kinds: Vec<MistakeKind> = report.mistakes.iter().map(|mistake| mistake.kind).collect();
        assert_eq!(kinds, [kind], "{to}: {:#?}", report.mistakes);
        assert!(!report.passed);
    }
}
