//! No alarm on a right description, however few the positions, whosever their scores; and how far the best wrong one
//! is from an alarm.
//!
//! With `TAMIS_POSITIONS`, a file of BulletFormat, the same on that file, and on all positions: see CONTRIBUTING.md.

use std::path::{Path, PathBuf};
use tamis_quant::arch::Architecture;
use tamis_quant::float::example;
use tamis_quant::graph::Sample;
use tamis_quant::import::{Checkpoint, read_bytes};
use tamis_quant::positions::{Position, records};
use tamis_quant::program::Values;
use tamis_quant::quantise::graph::quantise_graph;
use tamis_quant::quantise::quantise;
use tamis_quant::quantised::QuantNet;
use tamis_quant::verify::mistakes::{self, best_change, orders};
use tamis_quant::verify::{Case, Gates, Reference};
use tamis_runtime::format::Model;
use tests::networks::{NETWORKS, network};
use tests::trained::{BARE, FLOAT, NOGGIN_RAW, bare, bare_path, checkpoint_path};
use tests::trials::Fixtures;
use tests::{architecture, packed_program};

const FEW: [usize; 6] = [1, 2, 3, 10, 30, 100];
const MANY: [usize; 2] = [500, 2000];

struct Subject {
    name: &'static str,
    net: QuantNet,
    checkpoint: Checkpoint,
}

fn read(path: &Path, arch: &Architecture) -> Checkpoint {
    read_bytes(&std::fs::read(path).unwrap(), arch, &path.file_name().unwrap().to_string_lossy()).unwrap()
}

fn subjects(fixtures: &Path) -> Vec<Subject> {
    let bare = BARE.map(|(name, _)| {
        let checkpoint = read(&bare_path(fixtures, name), &architecture(name));
        Subject { name, net: bare(fixtures, name), checkpoint }
    });
    let float = [NOGGIN_RAW].into_iter().chain(FLOAT).map(|(name, file)| {
        let checkpoint = read(&checkpoint_path(fixtures, file), &architecture(name));
        Subject { name, net: quantise(&checkpoint.net).unwrap(), checkpoint }
    });
    bare.into_iter().chain(float).collect()
}

fn positions(path: &Path) -> Vec<Position> {
    records(&std::fs::read(path).unwrap()).unwrap().map(|position| position.unwrap()).collect()
}

/// What is said of a right description on the first positions of a file, by its checkpoint and by its outputs as
/// another framework would have written them.
fn hold(subject: &Subject, file: &str, positions: &[Position]) {
    let Subject { name, net, checkpoint } = subject;
    let case = mistakes::Case { net, checkpoint: Some(checkpoint), reference: None, positions };
    let count = positions.len();
    assert_eq!(mistakes::find(&case).unwrap().mistakes, [], "{name}, {file}, {count} positions");
    let taken = &positions[..count.min(500)];
    let (float, scale) = (checkpoint.net.to_f64(), f64::from(net.arch.output.scale));
    let output = |position| float.evaluate(&example(&net.arch, position).unwrap()).unwrap()[0] / scale;
    let outputs = taken.iter().map(output).collect();
    let reference = Reference { positions: taken.to_vec(), outputs, outputs_per_example: 1, ..Reference::default() };
    let case = mistakes::Case { net, checkpoint: None, reference: Some(&reference), positions: taken };
    assert_eq!(mistakes::find(&case).unwrap().mistakes, [], "{name}, {file}, outputs of {} positions", taken.len());
}

/// A row of the table of VERIFICATION.md.
fn note_margin(subject: &Subject, file: &str, positions: &[Position]) {
    if let Some(best) = best_change(&subject.net, positions).unwrap() {
        let (name, count, share) = (subject.name, positions.len(), 100.0 * best.share);
        note!("| {name} | {file} | {count} | {share:.1} % | {:.1} | {} |", best.errors, best.text);
    }
}

#[test]
fn right_descriptions_are_accused_on_no_number_of_positions(fixtures: Fixtures) {
    let batch = positions(&fixtures.join("nnue/bullet/batch.bf"));
    for subject in subjects(&fixtures) {
        for count in [1, 3, 10, 100, 500] {
            hold(&subject, "batch.bf", &batch[..count]);
        }
    }
}

/// A file of positions by another engine.
struct Positions(PathBuf);

impl tests::trials::Need for Positions {
    fn find(_: &'static str) -> Result<Self, String> {
        let path = std::env::var_os("TAMIS_POSITIONS").ok_or("TAMIS_POSITIONS is not set, for a nightly run")?;
        Ok(Self(PathBuf::from(path)))
    }
}

#[test]
fn right_descriptions_are_accused_by_no_other_engine(fixtures: Fixtures, file: Positions) {
    for path in [fixtures.join("nnue/bullet/batch.bf"), file.0] {
        let (all, name) = (positions(&path), path.file_name().unwrap().to_string_lossy());
        for subject in subjects(&fixtures) {
            for count in FEW.into_iter().chain(MANY).filter(|count| *count < all.len()) {
                // Of several places, since those of a game follow one another.
                for part in 0..4 {
                    let from = part * ((all.len() - count) / 4);
                    hold(&subject, &name, &all[from..from + count]);
                }
                if count >= MANY[0] {
                    note_margin(&subject, &name, &all[..count]);
                }
            }
            hold(&subject, &name, &all);
            note_margin(&subject, &name, &all);
        }
    }
}

/// Networks over maps: what rounding leaves on few examples is no mistake.
#[test]
fn right_graphs_are_accused_on_no_number_of_examples(folder: Fixtures) {
    for (name, real, encoding) in NETWORKS.into_iter().filter(|(name, ..)| matches!(*name, "kws" | "ad" | "ic")) {
        let network = network(&folder, name, real);
        let program = quantise_graph(&network.graph, &network.calibration, &network.options(encoding)).unwrap();
        let bytes = packed_program(&program);
        for (count, from) in [(1, 0), (1, 40), (2, 0), (3, 40), (10, 0), (24, 40)] {
            let samples: &[Sample] = &network.inputs[from..from + count];
            let case = Case::of_graph(Model::parse(bytes.as_ref()).unwrap(), &network.graph, samples, None);
            let report = case.unwrap().verify(&Gates::default(), &mut |_, _| ()).unwrap();
            assert_eq!(report.mistakes, [], "{name}, {count} examples from {from}");
        }
    }
}

/// The values alone tell the order of weights that were trained, and accuse none of the right ones.
#[test]
fn weights_of_the_other_order_are_seen_in_their_values(fixtures: Fixtures) {
    let is_trained = |name: &str| !name.starts_with("bullet-test");
    let mut seen = 0;
    for Subject { name, net, .. } in subjects(&fixtures) {
        assert_eq!(orders::find(&net.to_reals()), [], "{name}");
        for index in 0..net.layers.len() {
            let mut wrong = net.clone();
            let weights = &mut wrong.layers[index].weights;
            let (outputs, inputs) = (weights.outputs, weights.inputs);
            // What lies output by output, read as if it lay input by input.
            let from = |place: usize| place / outputs + inputs * (place % outputs);
            match &mut weights.values {
                Values::Int(values) => *values = (0..values.len()).map(|place| values[from(place)]).collect(),
                Values::F32(values) => *values = (0..values.len()).map(|place| values[from(place)]).collect(),
            }
            let found = orders::find(&wrong.to_reals());
            if index == 0 && is_trained(name) {
                assert_eq!(found.len(), 1, "{name}: {found:?}");
                assert!(found[0].text.contains("l0w"), "{found:?}");
            }
            seen += found.len();
        }
    }
    // Eleven transformers, and the output buckets of five networks.
    assert!(seen >= 15, "{seen}");
}
