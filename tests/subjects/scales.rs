//! Scales that are chosen by proof: finer, proved, and nearer to the float network than the trainer's.

use tamis_quant::arch::ElementType;
use tamis_quant::float::{Net, example};
use tamis_quant::import::read_bytes;
use tamis_quant::pack::{Provenance, pack, unpack};
use tamis_quant::positions::{Position, records};
use tamis_quant::program::Program;
use tamis_quant::proof::prove;
use tamis_quant::quantise::quantise;
use tamis_quant::quantise::scales::{Rows, ScalesError, quantise_by_proof, store_in_bytes};
use tamis_quant::quantised::NeuronScales;
use tamis_quant::run::{AlignedBytes, Runner};
use tamis_quant::verify::stats::{ErrorStats, compare};
use tamis_runtime::format::Model;
use tamis_runtime::kernels::tiers;
use tests::tolerances::FINER_NEURONS;
use tests::trials::Fixtures;
use tests::{architecture, note, own};

fn read(name: &str, bytes: &[u8], file: &str) -> Net<f32> {
    read_bytes(bytes, &architecture(name), file).unwrap().net
}

/// What the program's container computes, the same on every tier, against the float network.
fn error(program: &Program, net: &Net<f32>, positions: &[Position]) -> ErrorStats {
    let bytes = pack(program, &prove(program), &Provenance::default()).unwrap();
    let bytes = AlignedBytes::copy_of(&bytes);
    let model = Model::parse(bytes.as_ref()).unwrap();
    let examples: Vec<_> = positions.iter().map(|position| example(&net.arch, position).unwrap()).collect();
    let of_tier = |tier| -> Vec<f64> {
        let mut runner = Runner::new(model, tier);
        examples.iter().map(|example| runner.evaluate(example).unwrap().to_reals(1.0)[0]).collect()
    };
    let outputs: Vec<Vec<f64>> = tiers().map(of_tier).collect();
    outputs.iter().for_each(|other| assert_eq!(*other, outputs[0]));
    let real = net.to_f64();
    let truth: Vec<f64> = examples.iter().map(|example| real.evaluate(example).unwrap()[0]).collect();
    compare(&outputs[0], &truth)
}

/// What is chosen is proved, comes back from its container, and is what was expected of it within a factor.
fn held(net: &Net<f32>, positions: &[Position]) -> (ErrorStats, ErrorStats) {
    let (chosen, scales) = quantise_by_proof(net, Rows::WhereExact).unwrap();
    assert_eq!(scales.chosen.form, "rounded", "{scales:?}");
    let program = chosen.lower().unwrap();
    let proof = prove(&program);
    assert!(proof.holds());
    // What holds the scales is nearly full.
    let bound = scales.held_by().unwrap();
    assert!((0.95..=1.0).contains(&bound.fraction), "{bound:?}");
    let bytes = AlignedBytes::copy_of(&pack(&program, &proof, &Provenance::default()).unwrap());
    assert!(unpack(&Model::parse(bytes.as_ref()).unwrap()).unwrap() == chosen);
    // Again, to the byte.
    assert!(quantise_by_proof(net, Rows::WhereExact).unwrap() == (chosen, scales.clone()));

    let trainer = quantise(net).unwrap().lower().unwrap();
    let (before, after) = (error(&trainer, net, positions), error(&program, net, positions));
    note!("{}: {before:?} -> {after:?}, expected {:?}", net.arch.name, scales.chosen);
    let expected = scales.chosen.sd;
    assert!((expected / 2.0..expected * 2.0).contains(&after.sd), "{} for {expected}", after.sd);
    (before, after)
}

#[test]
fn the_reference_network_is_nearer_to_its_reals(folder: Fixtures) {
    let net = read("reference", &std::fs::read(own("reference/nnue.weights.bin")).unwrap(), "weights.bin");
    let (before, after) = held(&net, &positions(&folder));
    assert!(after.sd <= 0.45 && after.max <= 2.0, "{after:?}");
    assert!(after.sd < before.sd / 5.0, "{after:?}");
}

/// Pairs whose products are rounded, with the first layer's scale doubled as often as the proof allows.
#[test]
fn pairs_are_nearer_to_their_reals(folder: Fixtures) {
    let net = read("reference-layers", &std::fs::read(own("reference/layers.weights.bin")).unwrap(), "weights.bin");
    let (chosen, scales) = quantise_by_proof(&net, Rows::WhereExact).unwrap();
    assert!(chosen.arch.layers[0].product_rounded && scales.chosen.form == "rounded", "{scales:?}");
    let (trainer, program) = (quantise(&net).unwrap().lower().unwrap(), chosen.lower().unwrap());
    assert!(prove(&program).holds());
    let bytes = AlignedBytes::copy_of(&pack(&program, &prove(&program), &Provenance::default()).unwrap());
    assert!(unpack(&Model::parse(bytes.as_ref()).unwrap()).unwrap() == chosen);
    let positions = positions(&folder);
    let (before, after) = (error(&trainer, &net, &positions), error(&program, &net, &positions));
    note!("{before:?} -> {after:?}, {:?} of {}", scales.chosen, scales.tried);
    assert!(after.sd <= 6.5 && after.sd < before.sd / 3.0, "{after:?}");
}

/// Neurons in front of pairs that are stored finer: the integers tell by how much, and are what the float network with
/// such neurons is rounded to; where no accumulator leaves what is left of its room, that network is the same.
#[test]
fn finer_neurons_are_told_by_their_integers(folder: Fixtures) {
    let net = read("reference-layers", &std::fs::read(own("reference/layers.weights.bin")).unwrap(), "weights.bin");
    let (chosen, _) = quantise_by_proof(&net, Rows::WhereExact).unwrap();
    let scales = NeuronScales::of(&net, &chosen).unwrap();
    let finer = scales.as_slice().iter().filter(|scale| **scale > 1.0).count();
    note!("{finer} of {} neurons are finer", scales.as_slice().len());
    assert!(finer > scales.as_slice().len() / 4);
    let finer = scales.applied(&net);
    assert!(quantise(&Net { arch: chosen.arch.clone(), ..finer.clone() }).unwrap() == chosen);
    assert!(NeuronScales::of(&finer, &chosen).is_none() && NeuronScales::of(&net, &quantise(&net).unwrap()).is_none());

    let [plain, finer] = [net.to_f64(), finer.to_f64()];
    let (mut within, mut beyond) = (0, 0);
    for position in positions(&folder) {
        let example = example(&net.arch, &position).unwrap();
        let (one, other) = (plain.trace(&example).unwrap(), finer.trace(&example).unwrap());
        let mut reached = one.sums[0].chunks(net.arch.layers[0].outputs);
        let clips = scales.as_slice().iter();
        if reached.all(|side| side.iter().zip(clips.clone()).all(|(sum, scale)| *scale == 1.0 || sum * scale <= 1.0)) {
            within += 1;
            assert!((one.outputs[0] - other.outputs[0]).abs() < FINER_NEURONS, "{one:?} {other:?}");
        } else {
            beyond += 1;
        }
    }
    assert!(within > 20 * beyond, "of {within} positions accumulators are within the clip, of {beyond} beyond");
}

#[test]
fn networks_of_others_are_nearer_to_their_reals(folder: Fixtures) {
    for (name, file, sd, mean) in
        [("noggin", "noggin/raw.bin", 1.75, 0.5), ("bullet-test3", "bullet/test3.wgts", 0.35, 0.1)]
    {
        let bytes = std::fs::read(folder.join("nnue").join(file)).unwrap();
        let (before, after) = held(&read(name, &bytes, file), &positions(&folder));
        assert!(after.sd <= sd && after.mean.abs() <= mean, "{name}: {after:?}");
        assert!(after.sd < before.sd / 3.0, "{name}: {after:?}");
    }
}

/// Rows of bytes are proved, compute on every tier what rows of i16 with these integers do, and are refused where they
/// would cost more than the description's scales.
#[test]
fn rows_of_bytes_cost_what_was_expected(folder: Fixtures) {
    let bytes = |file: &str| std::fs::read(folder.join("nnue").join(file)).unwrap();
    let net = read("bullet-test3", &bytes("bullet/test3.wgts"), "bullet/test3.wgts");
    let in_bytes = Rows::Bytes { limit: None };
    let (narrow, scales) = quantise_by_proof(&net, in_bytes).unwrap();
    assert_eq!((narrow.layers[0].weights.element, scales.rows), (ElementType::I8, ElementType::I8));
    assert!(quantise_by_proof(&net, in_bytes).unwrap() == (narrow.clone(), scales.clone()));
    let program = narrow.lower().unwrap();
    let proof = prove(&program);
    assert!(proof.holds());
    let container = AlignedBytes::copy_of(&pack(&program, &proof, &Provenance::default()).unwrap());
    assert!(unpack(&Model::parse(container.as_ref()).unwrap()).unwrap() == narrow);

    let mut wide = narrow.clone();
    wide.layers[0].weights.element = ElementType::I16;
    for spec in wide.arch.tensors.iter_mut().filter(|spec| spec.name == wide.layers[0].weights.name) {
        spec.r#type = ElementType::I16;
    }
    let positions = positions(&folder);
    let found = error(&program, &net, &positions);
    assert_eq!(found, error(&wide.lower().unwrap(), &net, &positions));
    assert!((scales.chosen.sd / 2.0..scales.chosen.sd * 2.0).contains(&found.sd), "{found:?} for {scales:?}");
    assert!(store_in_bytes(&mut wide) && wide == narrow);

    // 6 bits are what noggin's largest weights leave.
    let noggin = read("noggin", &bytes("noggin/raw.bin"), "noggin/raw.bin");
    let refused = quantise_by_proof(&noggin, in_bytes).unwrap_err();
    assert!(matches!(&refused, ScalesError::Coarse { rms, limit, .. } if rms > limit), "{refused}");
    let ScalesError::Coarse { rms, .. } = refused else { unreachable!() };
    let allowed = Rows::Bytes { limit: Some(rms) };
    assert_eq!(quantise_by_proof(&noggin, allowed).unwrap().1.rows, ElementType::I8);
    let mut trainer = quantise(&noggin).unwrap();
    assert!(!store_in_bytes(&mut trainer) && trainer == quantise(&noggin).unwrap());
    // Pairs have their description's scale and finer ones.
    let layers = read("reference-layers", &std::fs::read(own("reference/layers.weights.bin")).unwrap(), "weights.bin");
    let refused = quantise_by_proof(&layers, in_bytes).unwrap_err();
    assert!(matches!(&refused, ScalesError::Wide { tensor } if tensor == "l0w"), "{refused}");
}

fn positions(folder: &std::path::Path) -> Vec<Position> {
    let batch = std::fs::read(folder.join("nnue/bullet/batch.bf")).unwrap();
    records(&batch).unwrap().step_by(5).map(Result::unwrap).collect()
}
