//! Another order of the neurons: the same outputs, the trainer's bytes again, fewer live groups of four.

use std::path::Path;
use tamis_quant::float::{Example, example};
use tamis_quant::import::read_checkpoint;
use tamis_quant::pack::{PackError, to_bare, unpack};
use tamis_quant::permute::{PermuteError, permute};
use tamis_quant::positions::{Position, records};
use tamis_quant::quantise::quantise;
use tamis_quant::quantised::{Permutation, QuantNet};
use tamis_quant::run::{AlignedBytes, Runner};
use tamis_quant::verify::{Case, Gates, Reference, Truth};
use tamis_runtime::format::Model;
use tamis_runtime::kernels::tiers;
use tamis_runtime::raw::{Layout, element};
use tests::draft::Draft;
use tests::sample_models::Random;
use tests::second_reader::Container;
use tests::tolerances::{LAYERS_LIVE_BEFORE, LAYERS_LIVE_LEFT};
use tests::trials::Fixtures;
use tests::{architecture, bare_net, packed, pairs, small_net};

/// Every value of every tier on every position, value by value: the operations' results, and last the outputs.
fn values(net: &QuantNet, bytes: &AlignedBytes, positions: &[Position]) -> Vec<Vec<Vec<u8>>> {
    let model = Model::parse(bytes.as_ref()).unwrap();
    let traces = tiers().flat_map(|tier| {
        let mut runner = Runner::new(model, tier);
        positions.iter().map(move |position| {
            let mut values = vec![Vec::new(); model.values().len()];
            let example = example(&net.arch, position).unwrap();
            runner.evaluate_traced(&example, |value, bytes| values[value] = bytes.to_vec()).unwrap();
            values
        })
    });
    traces.collect()
}

/// The share of groups of four bytes of value 1 that are not all zero.
fn live_share(traces: &[Vec<Vec<u8>>]) -> f64 {
    let groups = || traces.iter().flat_map(|values| values[1].chunks(4));
    let live = groups().filter(|group| group.iter().any(|byte| *byte != 0)).count();
    live as f64 / groups().count() as f64
}

fn permuted(net: &QuantNet, permutation: &Permutation) -> QuantNet {
    QuantNet { permutation: Some(permutation.clone()), ..net.clone() }
}

/// Outputs and all values behind the products stay, and the trainer's bytes come back. Returns the traces before and
/// after.
fn changes_only_places(net: &QuantNet, permutation: &Permutation, positions: &[Position]) -> [Vec<Vec<Vec<u8>>>; 2] {
    let moved = permuted(net, permutation);
    let (plain_bytes, bytes) = (packed(net), packed(&moved));
    let (before, after) = (values(net, &plain_bytes, positions), values(net, &bytes, positions));
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(before[2..], after[2..], "sums, activations, outputs");
    }
    let back = unpack(&Model::parse(bytes.as_ref()).unwrap()).unwrap();
    assert_eq!(back, moved);
    assert_eq!(to_bare(&back).unwrap(), to_bare(net).unwrap());
    assert_eq!(bytes.as_ref(), packed(&moved).as_ref(), "one network, one file");
    [before, after]
}

/// Every second position, from the second on: those that measure.
fn measuring(positions: &[Position]) -> Vec<Position> {
    positions.iter().skip(1).step_by(2).cloned().collect()
}

#[test]
fn neurons_that_are_live_together_come_together() {
    let positions = pairs::positions(400);
    let net = pairs::net(32);
    let choice = permute(&net, &positions).unwrap();
    assert_eq!((choice.chosen_on, choice.measured_on), (200, 200));
    assert_eq!((choice.live_before, choice.live_after), (1.0, 0.25));
    for group in choice.permutation.order().chunks(4) {
        assert!(group.iter().all(|pair| pair % 4 == group[0] % 4), "{group:?}");
    }
    let [before, after] = changes_only_places(&net, &choice.permutation, &measuring(&positions));
    assert_eq!((live_share(&before), live_share(&after)), (choice.live_before, choice.live_after));
    // To a reader that knows nothing of it, the file is like any other; its signature is its own.
    let bytes = [packed(&net), packed(&permuted(&net, &choice.permutation))];
    let [plain, moved] = bytes.map(|bytes| {
        let signature =
            Runner::new(Model::parse(bytes.as_ref()).unwrap(), tiers().next().unwrap()).signature().unwrap();
        assert_eq!(Container::read(bytes.as_ref()).unwrap().signature(), signature);
        signature
    });
    assert_ne!(plain, moved, "accumulators are hashed in the file's order");
}

/// Then the second perspective's groups lie otherwise than the first's, and one group spans both or the last is short.
#[test]
fn widths_that_are_no_multiple_of_four_are_counted_as_the_runtime_groups_them() {
    let positions = pairs::positions(200);
    for count in [1, 2, 3, 5, 18, 19, 33] {
        let net = pairs::net(count);
        let choice = permute(&net, &positions).unwrap();
        let [before, after] = changes_only_places(&net, &choice.permutation, &measuring(&positions));
        assert_eq!(live_share(&before), choice.live_before, "{count} pairs");
        assert_eq!(live_share(&after), choice.live_after, "{count} pairs");
        // Of two groups or three there is not much to choose, and what helps half of the positions need not help the
        // others.
        assert!(count < 18 || choice.live_after < 0.6 * choice.live_before, "{count} pairs: {choice:?}");
    }
}

#[test]
fn what_gains_nothing_is_refused() {
    let positions = pairs::positions(10);
    let squares = bare_tiny();
    let error = permute(&squares, &positions).unwrap_err();
    assert!(matches!(&error, PermuteError::NoUse { why, .. } if why.contains("`l1w` holds i16 weights")), "{error}");
    assert_eq!(error.class().exit_status(), 5);
    for few in [0, 1] {
        let error = permute(&pairs::net(8), &positions[..few]).unwrap_err();
        assert!(matches!(error, PermuteError::TooFewPositions { found } if found == few), "{error}");
        assert_eq!(error.class().exit_status(), 2);
    }
    // By hand it cannot be packed either.
    let permutation = Permutation::new(&[1, 0]).unwrap();
    for net in [squares, pairs::net(3)] {
        let net = permuted(&net, &permutation);
        let error = net.lower().unwrap_err();
        assert!(error.what.contains("a permutation of 2 pairs"), "{error}");
    }
}

/// The worked example of FORMAT.md: SCReLU and i16 weights.
fn bare_tiny() -> QuantNet {
    let text = std::fs::read_to_string(tests::own("vectors/tiny.toml")).unwrap();
    let arch = tamis_quant::arch::Architecture::from_toml(&text, "tiny.toml").unwrap();
    bare_net(&tests::own("vectors/tiny.bare.bin"), &arch)
}

#[test]
fn a_tensor_that_is_no_permutation_is_refused_by_name() {
    let net = permuted(&pairs::net(4), &Permutation::new(&[2, 0, 3, 1]).unwrap());
    let good = Draft::read(packed(&net).as_ref());
    let (record, bytes) = good.tensors.last().unwrap().clone();
    assert_eq!((u32::from(record.element), record.rows, bytes.len()), (element::I32, 4, 16));
    let order = |order: [i32; 4]| order.map(i32::to_le_bytes).concat();
    assert_eq!(bytes, order([2, 0, 3, 1]));

    let replaced = |(record, bytes)| {
        let mut draft = good.clone();
        *draft.tensors.last_mut().unwrap() = (record, bytes);
        draft.bytes()
    };
    for (wrong, words) in [
        (order([2, 0, 2, 1]), "entry 2 is 2"),
        (order([2, 0, 4, 1]), "entry 2 is 4; each of 0 to 3"),
        (order([-1, 0, 3, 1]), "entry 0 is -1"),
        (order([i32::MIN, 0, 3, 1]), "entry 0 is -2147483648"),
    ] {
        refused(&replaced((record, wrong)), words);
    }
    // Another element, length, layout: each a file that the runtime takes, since no record names the tensor.
    let mut draft = good.clone();
    for (element, layout, shape, words) in [
        (element::F32, Layout::Rows, (1, 4, 1), "expected 4 i32"),
        (element::I32, Layout::Rows, (1, 3, 1), "expected 4 i32"),
        (element::I32, Layout::Rows, (1, 5, 1), "expected 4 i32"),
        (element::I32, Layout::Rows, (1, 1, 4), "expected 4 i32"),
    ] {
        draft.tensors.pop();
        let mut next = 0i32..;
        draft.tensor(element, layout, shape, || next.next().unwrap().to_le_bytes());
        refused(&draft.bytes(), words);
    }
    draft.tensors.pop();
    draft.tensor(element::I8, Layout::Rows, (1, 4, 1), || [0]);
    refused(&draft.bytes(), "expected 4 i32");
}

/// A network without pairs, a tensor of which is given the name.
#[test]
fn a_network_without_pairs_has_no_permutation() {
    let checkpoint = read_checkpoint(&tests::own("reference/nnue.weights.bin"), &architecture("reference")).unwrap();
    let mut draft = Draft::read(packed(&quantise(&checkpoint.net).unwrap()).as_ref());
    let (from, to) = (b"king_table\nbucket_table", b"l0w.permutation\nbuckets");
    let at = draft.metadata.windows(from.len()).position(|window| window == from).unwrap();
    draft.metadata[at..at + to.len()].copy_from_slice(to);
    refused(&draft.bytes(), "no pairs of neurons");
}

/// The runtime takes the file, the host tools do not.
fn refused(bytes: &AlignedBytes, words: &str) {
    let model = Model::parse(bytes.as_ref()).unwrap();
    let error = unpack(&model).unwrap_err();
    assert!(matches!(&error, PackError::Permutation { tensor, .. } if tensor == "l0w.permutation"), "{error}");
    assert!(error.to_string().contains(words), "{error}");
    assert_eq!(error.class().exit_status(), 3);
}

/// A description may give a layer's tensor the name; it is the layer's then.
#[test]
fn the_name_may_be_a_layers_own() {
    let text = pairs::description(4).replace("name = 'l1'", "name = 'l1'\nbias = 'l0w.permutation'");
    let text = text.replace("'l1b'", "'l0w.permutation'");
    let arch = tamis_quant::arch::Architecture::from_toml(&text, "named").unwrap();
    let net = quantise(&tamis_quant::import::read_raw(&pairs::raw(4), &arch).unwrap()).unwrap();
    assert_eq!(unpack(&Model::parse(packed(&net).as_ref()).unwrap()).unwrap(), net);
    let net = permuted(&net, &Permutation::new(&[1, 0, 2, 3]).unwrap());
    let program = net.lower().unwrap();
    let proof = tamis_quant::proof::prove(&program);
    let error = tamis_quant::pack::pack(&program, &proof, &Default::default()).unwrap_err();
    assert!(matches!(error, PackError::NameTaken { .. }), "{error}");
}

fn sample(path: &Path, count: usize) -> Vec<Position> {
    let bytes = std::fs::read(path).unwrap();
    let all = records(&bytes).unwrap();
    let step = all.len() / count;
    all.step_by(step).take(count).map(|position| position.unwrap()).collect()
}

/// The repository's own, trained for sparse products: an order chosen on some games leaves fewer live groups on others.
#[test]
fn our_sparse_network_has_clearly_fewer_live_groups() {
    let folder = tests::own("reference");
    let checkpoint = read_checkpoint(&folder.join("layers.weights.bin"), &architecture("reference-layers")).unwrap();
    let net = quantise(&checkpoint.net).unwrap();
    let reference = Reference::parse(&std::fs::read(folder.join("layers.reference.safetensors")).unwrap()).unwrap();
    // In the file, positions of one game follow one another. Here the first half chooses and the second half measures.
    let (choosing, measuring_part) = reference.positions.split_at(reference.positions.len() / 2);
    let positions: Vec<Position> =
        choosing.iter().zip(measuring_part).flat_map(|(one, other)| [one.clone(), other.clone()]).collect();
    let choice = permute(&net, &positions).unwrap();
    note!("{} -> {} on {} positions", choice.live_before, choice.live_after, choice.measured_on);
    assert!(LAYERS_LIVE_BEFORE.contains(&choice.live_before), "{choice:?}");
    assert!(choice.live_after < LAYERS_LIVE_LEFT * choice.live_before, "{choice:?}");
    let [before, after] = changes_only_places(&net, &choice.permutation, measuring_part);
    assert_eq!((live_share(&before), live_share(&after)), (choice.live_before, choice.live_after));

    let truth = Truth { checkpoint: Some(&checkpoint), reference: Some(&reference), positions: &[] };
    let bytes = packed(&permuted(&net, &choice.permutation));
    let case = Case::of_layers(Model::parse(bytes.as_ref()).unwrap(), &truth).unwrap();
    let report = case.verify(&Gates::default(), &mut |_, _| ()).unwrap();
    assert!(report.passed && report.runtime.equal && report.proof.holds, "{:#?}", report.gates);
}

/// Trained by bullet's own test, briefly: nearly every group is live. What is all zero grows from 1 % to 5 %.
#[test]
fn bullets_network_has_fewer_live_groups(folder: Fixtures) {
    let folder = folder.join("nnue/bullet");
    let checkpoint = read_checkpoint(&folder.join("test2.wgts"), &architecture("bullet-test2")).unwrap();
    let net = quantise(&checkpoint.net).unwrap();
    let positions = sample(&folder.join("batch.bf"), 4096);
    let choice = permute(&net, &positions).unwrap();
    assert!(choice.live_before > 0.98 && choice.live_after < 0.96, "{choice:?}");
    let [before, after] = changes_only_places(&net, &choice.permutation, &measuring(&positions));
    assert_eq!((live_share(&before), live_share(&after)), (choice.live_before, choice.live_after));
}

/// Trained to play: shuffled, it is given an order as good as the one that its authors chose for it.
#[test]
fn an_order_is_as_good_as_the_authors_own(folder: Fixtures) {
    let folder = folder.join("nnue");
    let net = small_net::read(&folder.join("sf16.1-smallnet/nn-baff1ede1f90.nnue"));
    let positions = sample(&folder.join("bullet/batch.bf"), 4096);
    let authors = permute(&net, &positions).unwrap();
    assert!(authors.live_after <= authors.live_before, "{authors:?}");

    let shuffled = shuffle(&net);
    let choice = permute(&shuffled, &positions).unwrap();
    assert!(choice.live_before > 0.85, "{choice:?}");
    assert!(choice.live_after < authors.live_before + 0.005, "{choice:?}, the authors' {}", authors.live_before);
    let [before, after] = changes_only_places(&shuffled, &choice.permutation, &measuring(&positions)[..256]);
    assert!(live_share(&after) < live_share(&before) - 0.1);
}

/// The same network as if it had been trained in another order.
fn shuffle(net: &QuantNet) -> QuantNet {
    let mut order: Vec<i32> = (0..net.layers[0].weights.outputs as i32 / 2).collect();
    let mut random = Random(1);
    for last in (1..order.len()).rev() {
        order.swap(last, (random.draw() % (last as u64 + 1)) as usize);
    }
    // Packed in that order, and taken for the trainer's.
    let bytes = packed(&permuted(net, &Permutation::new(&order).unwrap()));
    let mut draft = Draft::read(bytes.as_ref());
    let (name, other) = (b"l0w.permutation", b"l0w.as-it-comes");
    let at = draft.metadata.windows(name.len()).position(|window| window == name).unwrap();
    draft.metadata[at..at + name.len()].copy_from_slice(other);
    let shuffled = unpack(&Model::parse(draft.bytes().as_ref()).unwrap()).unwrap();
    assert!(shuffled.permutation.is_none() && shuffled.layers != net.layers);
    shuffled
}

/// What a position is to a network decides what can be sampled.
#[test]
fn positions_mean_nothing_to_lists_of_features() {
    let text = pairs::description(4)
        .replace("kind = 'chess'", "kind = 'features'\nsize = 768\nperspectives = 2\nmax_active = 32");
    let arch = tamis_quant::arch::Architecture::from_toml(&text, "features").unwrap();
    let net = quantise(&tamis_quant::import::read_raw(&pairs::raw(4), &arch).unwrap()).unwrap();
    let error = permute(&net, &pairs::positions(2)).unwrap_err();
    assert!(matches!(error, PermuteError::Position { index: 0, .. }), "{error}");
    // An order that somebody else has chosen is fine.
    let net = permuted(&net, &Permutation::new(&[3, 2, 1, 0]).unwrap());
    let bytes = packed(&net);
    let model = Model::parse(bytes.as_ref()).unwrap();
    let lists = [vec![0, 700], vec![5]];
    let outputs = tiers()
        .map(|tier| Runner::new(model, tier).evaluate(&Example::Features { lists: lists.clone(), bucket: 0 }).unwrap());
    let outputs: Vec<_> = outputs.collect();
    assert!(outputs.iter().all(|output| *output == outputs[0]));
}
