//! Integers that are fitted to positions: nearer to the float network on others, proved, the same every time, and
//! within one step of the floats.

use tamis_quant::arch::ElementType;
use tamis_quant::float::{Example, Net, example};
use tamis_quant::import::read_bytes;
use tamis_quant::pack::{Provenance, pack};
use tamis_quant::positions::records;
use tamis_quant::proof::prove;
use tamis_quant::quantise::fit::{Fit, FitError, Limits, fit};
use tamis_quant::quantise::quantise;
use tamis_quant::quantise::scales::{Rows, quantise_by_proof};
use tamis_quant::quantised::{QuantNet, as_stored};
use tamis_quant::run::{AlignedBytes, Runner};
use tamis_quant::verify::stats::compare;
use tamis_runtime::format::Model;
use tamis_runtime::kernels::tiers;
use tests::tolerances::{FITTED_MEAN, FITTED_MEAN_BEHIND_PAIRS};
use tests::trials::Fixtures;
use tests::{architecture, note, own};

const LIMITS: Limits = Limits { sweeps: 6, seconds: None };

fn read(name: &str, bytes: &[u8], file: &str) -> Net<f32> {
    read_bytes(bytes, &architecture(name), file).unwrap().net
}

fn reference() -> Net<f32> {
    read("reference", &std::fs::read(own("reference/nnue.weights.bin")).unwrap(), "weights.bin")
}

fn examples(net: &Net<f32>, bulletformat: &[u8]) -> Vec<Example> {
    records(bulletformat).unwrap().map(|position| example(&net.arch, &position.unwrap()).unwrap()).collect()
}

/// The positions in which a reference file ends.
fn own_examples(net: &Net<f32>) -> Vec<Example> {
    let file = std::fs::read(own("reference/layers.reference.safetensors")).unwrap();
    examples(net, &file[file.len() - 131_072..])
}

/// Fits, and holds what comes out to what is promised of it.
fn fitted(net: &Net<f32>, mut integers: QuantNet, examples: &[Example]) -> Fit {
    let before = integers.clone();
    let found = fit(&mut integers, net, examples, LIMITS, &|_| {}).unwrap();
    let mut again = before.clone();
    assert!(fit(&mut again, net, examples, LIMITS, &|_| {}).unwrap() == found && again == integers, "not the same");
    assert!(integers != before && integers.arch == before.arch);
    let program = integers.lower().unwrap();
    assert!(prove(&program).holds());

    let stored = as_stored(net, &integers);
    let (first, reals) = (&integers.layers[0], &stored.layers[0]);
    for (tensor, reals) in [(&first.weights, &reals.weights.values), (&first.bias, &reals.bias)] {
        let scale = f64::from(tensor.scale.unwrap());
        let off = tensor.integers().iter().zip(reals).map(|(a, b)| (f64::from(*a) - f64::from(*b) * scale).abs());
        assert!(off.fold(0.0, f64::max) <= 1.0 + 1e-6, "{}: further than a step", tensor.name);
    }
    // What it says of the positions that were held out is what every tier computes.
    let bytes = AlignedBytes::copy_of(&pack(&program, &prove(&program), &Provenance::default()).unwrap());
    let model = Model::parse(bytes.as_ref()).unwrap();
    let held_out: Vec<&Example> = examples.iter().skip(1).step_by(2).collect();
    for tier in tiers() {
        let mut runner = Runner::new(model, tier);
        let outputs: Vec<f64> = held_out.iter().map(|one| runner.evaluate(one).unwrap().to_reals(1.0)[0]).collect();
        assert_eq!(outputs, found.after, "{}", tier.name);
    }
    found
}

/// Deviations on the positions that were held out, before and after.
fn deviations(found: &Fit) -> (f64, f64) {
    deviations_within(found, FITTED_MEAN)
}

fn deviations_within(found: &Fit, mean: f64) -> (f64, f64) {
    let [before, after] = [&found.before, &found.after].map(|outputs| compare(outputs, &found.targets));
    note!("{} of {} moved: {before:?} -> {after:?}", found.moved, found.weights);
    assert!(after.mean.abs() <= mean, "{after:?}");
    (before.sd, after.sd)
}

#[test]
fn fitted_integers_are_nearer_on_positions_that_were_held_out() {
    let net = reference();
    let examples = own_examples(&net);
    let (before, after) = deviations(&fitted(&net, quantise(&net).unwrap(), &examples));
    assert!(after < 0.8 * before, "{before} -> {after}");
    // Finer scales leave little to gain.
    let (before, after) = deviations(&fitted(&net, quantise_by_proof(&net, Rows::WhereExact).unwrap().0, &examples));
    assert!(after < before, "{before} -> {after}");
}

#[test]
fn networks_of_others_are_nearer_too(folder: Fixtures) {
    let batch = std::fs::read(folder.join("nnue/bullet/batch.bf")).unwrap();
    for (name, file) in [("noggin", "noggin/raw.bin"), ("bullet-test3", "bullet/test3.wgts")] {
        let net = read(name, &std::fs::read(folder.join("nnue").join(file)).unwrap(), file);
        let examples = examples(&net, &batch);
        let (before, after) = deviations(&fitted(&net, quantise(&net).unwrap(), &examples));
        assert!(after < 0.8 * before, "{name}: {before} -> {after}");
    }
}

/// Pairs, bytes and reals: what a trainer's engine computes, and products that round.
#[test]
fn networks_with_reals_behind_pairs_are_nearer_too() {
    let net = read("reference-layers", &std::fs::read(own("reference/layers.weights.bin")).unwrap(), "weights.bin");
    let examples = own_examples(&net);
    let (before, after) =
        deviations_within(&fitted(&net, quantise(&net).unwrap(), &examples), FITTED_MEAN_BEHIND_PAIRS);
    assert!(after < 0.7 * before, "{before} -> {after}");
    let (before, after) = deviations_within(
        &fitted(&net, quantise_by_proof(&net, Rows::WhereExact).unwrap().0, &examples),
        FITTED_MEAN_BEHIND_PAIRS,
    );
    assert!(after < before, "{before} -> {after}");
}

#[test]
fn time_that_is_up_leaves_a_network() {
    let net = reference();
    let (examples, mut integers) = (own_examples(&net), quantise(&net).unwrap());
    let limits = Limits { sweeps: 100, seconds: Some(0.0) };
    let found = fit(&mut integers, &net, &examples, limits, &|_| {}).unwrap();
    assert!(found.is_cut_short && found.sweeps == 0);
    assert!(prove(&integers.lower().unwrap()).holds());
}

#[test]
fn other_heads_and_few_positions_are_refused() {
    let net = reference();
    let examples = own_examples(&net);
    let refused = |net: &Net<f32>, examples: &[Example]| {
        let mut integers = quantise(net).unwrap();
        let before = integers.clone();
        let fitted = fit(&mut integers, net, examples, LIMITS, &|_| {});
        let error = fitted.map(|fit| fit.moved).unwrap_err();
        assert!(integers == before);
        error
    };
    assert_eq!(refused(&net, &examples[..999]), FitError::TooFew { found: 999 });
    // Pairs, and reals at once.
    let layers = std::fs::read(own("reference/layers.weights.bin")).unwrap();
    let mut of_reals = read("reference-layers", &layers, "weights.bin");
    of_reals.arch.layers[0].product_shift = None;
    let second = of_reals.arch.tensors.iter_mut().find(|spec| spec.name == "l1w").unwrap();
    (second.r#type, second.scale) = (ElementType::F32, None);
    assert_eq!(refused(&of_reals, &examples), FitError::Head);
    let mut strange = examples.clone();
    strange[0] = Example::Features { lists: [vec![99_999], vec![]], bucket: 0 };
    assert!(matches!(refused(&net, &strange), FitError::Example(_)));
}
