//! A state is of one network at a time, told from every other that is loaded.

use super::board::Board;
use super::{REFERENCE, own_network, state};
use tamis_quant::import::read_bytes;
use tamis_quant::quantise::quantise;
use tamis_quant::run::AlignedBytes;
use tamis_runtime::engine::{Colour, Expected, Features, Network, StateError};
use tamis_runtime::format::Model;
use tamis_runtime::kernels::by_name;
use tamis_runtime::nnue::RefreshCache;
use tamis_runtime::{Plan, RunError};
use tests::sample_models::Random;
use tests::trials::Fixtures;
use tests::{architecture, own, packed};

/// A state goes from one network to another of its width by a refresh, and takes nothing of the first along.
#[test]
fn another_network_of_the_same_width_empties_the_cache() {
    let reference = own_network("nnue", "reference");
    let net = Network::<128>::load(reference.as_ref(), &REFERENCE).unwrap();
    // The same network with feature rows of half the size, so that a stale entry would show.
    let file = std::fs::read(own("reference/nnue.weights.bin")).unwrap();
    let mut checkpoint = read_bytes(&file, &architecture("reference"), "nnue.weights.bin").unwrap().net;
    checkpoint.layers[0].weights.values.iter_mut().for_each(|weight| *weight *= 0.5);
    let other = packed(&quantise(&checkpoint).unwrap());
    let second = Network::<128>::load(other.as_ref(), &REFERENCE).unwrap();
    let board = Board::start(&mut Random(3));
    let (mut used, mut fresh) = (state::<128, 1>(), state::<128, 1>());
    used.refresh(&net, board.0.iter().copied()).unwrap();
    used.refresh(&second, board.0.iter().copied()).unwrap();
    fresh.refresh(&second, board.0.iter().copied()).unwrap();
    for colour in Colour::BOTH {
        assert_eq!(used.accumulator(&second, colour), fresh.accumulator(&second, colour));
    }
    assert_eq!(used.evaluate(&second, Colour::White), fresh.evaluate(&second, Colour::White));
    assert!(matches!(used.evaluate(&net, Colour::White), Err(RunError::OtherModel { .. })));
}

/// The very same file loaded twice is two networks to a state: a checksum can be forged, and memory comes again.
#[test]
fn a_second_load_is_another_network() {
    let bytes = own_network("nnue", "reference");
    let net = Network::<128>::load(bytes.as_ref(), &REFERENCE).unwrap();
    let again = Network::<128>::load(bytes.as_ref(), &REFERENCE).unwrap();
    let (first, second) = (net.any().plan().identity(), again.any().plan().identity());
    assert_eq!(first.checksum(), second.checksum());
    assert!(first.load() < second.load() && net.clone().any().plan().identity() == first);
    let mut state = state::<128, 1>();
    state.refresh(&net, Board::start(&mut Random(5)).0).unwrap();
    let score = state.evaluate(&net, Colour::White).unwrap();
    assert_eq!(state.evaluate(&net.clone(), Colour::White), Ok(score));
    let refused = RunError::OtherModel { found: first, expected: second };
    assert_eq!(state.evaluate(&again, Colour::White), Err(refused));
    assert!(refused.to_string().contains(&format!("of load {}", second.load())), "{refused}");
}

/// Two networks whose author gave them one shape and one checksum, in turn at the same place in memory, as a file that
/// a user exchanges under a running engine: a state takes nothing of the first along, and without a refresh refuses the
/// second.
#[test]
fn networks_of_one_forged_checksum_are_not_mixed(folder: Fixtures) {
    let files =
        ["same-checksum-a.bin", "same-checksum-b.bin"].map(|name| std::fs::read(folder.join("attack").join(name)));
    let [a, b] = files.map(Result::unwrap);
    assert_eq!(Model::parse(AlignedBytes::copy_of(&a).as_ref()).unwrap().header().checksum, {
        Model::parse(AlignedBytes::copy_of(&b).as_ref()).unwrap().header().checksum
    });
    let pieces = Board::start(&mut Random(7)).0;
    let expected = Expected { features: Features::CHESS_768, output_buckets: 1, outputs: 1 };
    let mut place = AlignedBytes::copy_of(&a);
    let (mut used, mut fresh) = (state::<16, 1>(), state::<16, 1>());
    let net = Network::<16>::load(place.as_ref(), &expected).unwrap();
    used.refresh(&net, pieces.iter().copied()).unwrap();
    let of_a = used.evaluate(&net, Colour::White).unwrap();
    drop(net);
    place.as_mut().copy_from_slice(&b);
    let net = Network::<16>::load(place.as_ref(), &expected).unwrap();
    assert!(matches!(used.evaluate(&net, Colour::White), Err(RunError::OtherModel { .. })));
    assert!(matches!(used.push(&net, &[], &[]), Err(StateError::Run(RunError::OtherModel { .. }))));
    used.refresh(&net, pieces.iter().copied()).unwrap();
    fresh.refresh(&net, pieces.iter().copied()).unwrap();
    let of_b = fresh.evaluate(&net, Colour::White).unwrap();
    assert_eq!(used.evaluate(&net, Colour::White), Ok(of_b));
    assert_ne!(of_a, of_b, "the pair shows nothing");

    // The same through a ply stack and its cache, which take numbers of features.
    let (features, mut out) = ([3u32, 99, 500], [[0; 16]; 2]);
    let mut cache = RefreshCache::<16, 1>::new();
    cache.refresh(net.any().plan(), &mut out[0], 0, 0, &features).unwrap();
    let place = AlignedBytes::copy_of(&a);
    let plan = Plan::new(Model::parse(place.as_ref()).unwrap(), by_name("scalar").unwrap());
    assert!(matches!(cache.refresh(&plan, &mut out[1], 0, 0, &features), Err(RunError::OtherModel { .. })));
}
