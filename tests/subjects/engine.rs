//! The engine interface against filling anew: random games with kings that cross buckets, captures, promotions,
//! castlings and null moves, made and unmade, by the state with its sizes in the type and by the one in a slice, on
//! every tier; and what both refuse.

#[path = "engine/board.rs"]
mod board; // any piece goes anywhere on it
#[path = "engine/identities.rs"]
mod identities; // no state takes one network for another
#[path = "engine/refusals.rs"]
mod refusals; // what networks and states refuse

use board::{Board, Move};
use std::sync::OnceLock;
use tamis_quant::arch::Architecture;
use tamis_quant::import::read_bytes;
use tamis_quant::quantise::quantise;
use tamis_quant::quantised::QuantNet;
use tamis_quant::run::AlignedBytes;
use tamis_runtime::engine::{AnyNetwork, AnyState, Colour, Expected, Features, Kind, LoadError, Network, Piece, State};
use tamis_runtime::kernels::{Tier, by_name, tiers};
use tamis_runtime::nnue::AccumulatorPair;
use tamis_runtime::{Input, Output, Plan, RunError};
use tests::sample_models::{self, Random};
use tests::{architecture, own, packed};

/// Positions of a line.
const PLIES: usize = 24;

/// On the heap: it is large.
fn state<const HIDDEN: usize, const KEYS: usize>() -> Box<State<HIDDEN, PLIES, KEYS>> {
    Box::default()
}

/// Plays `steps` steps on one tier. Every evaluation equals one from accumulators that the definition fills anew.
fn games<const HIDDEN: usize, const KEYS: usize>(
    bytes: &AlignedBytes,
    expected: &Expected,
    tier: &'static Tier,
    steps: u32,
) {
    let net = Network::<HIDDEN>::load_on(bytes.as_ref(), expected, tier).unwrap();
    let truth = AnyNetwork::load_on(bytes.as_ref(), by_name("scalar").unwrap()).unwrap();
    let mut workspace = AlignedBytes::zeroed(truth.plan().model().workspace_len_bytes());
    // Fewer entries than keys: the other places are filled from nothing.
    let keys = net.any().keys().div_ceil(2);
    let mut memory = AlignedBytes::zeroed(AnyState::len_bytes(net.any(), PLIES, keys).unwrap());
    let mut any = AnyState::create(net.any(), memory.as_mut(), PLIES, keys).unwrap();
    let mut state = state::<HIDDEN, KEYS>();
    let mut random = Random(11);
    let mut line = vec![Board::start(&mut random)];
    state.refresh(&net, line[0].0.iter().copied()).unwrap();
    any.refresh(net.any(), line[0].0.iter().copied()).unwrap();
    let mut evaluations = 0;
    for step in 0..steps {
        let mut board = line.last().unwrap().clone();
        match random.draw() % 16 {
            0..8 if line.len() < PLIES => {
                let played = board.play(&mut random);
                any.push(net.any(), &played.added, &played.removed).unwrap();
                let Move { added, removed } = played.with_toggle(&mut random);
                state.push(&net, &added, &removed).unwrap();
                line.push(board);
            }
            8 if line.len() < PLIES => {
                state.push_null().unwrap();
                any.push_null().unwrap();
                line.push(board);
            }
            9 => {
                // The one goes there at once, the other move by move.
                let ply = random.draw() as usize % line.len();
                state.goto(ply).unwrap();
                while any.height() > ply {
                    any.pop().unwrap();
                }
                line.truncate(1 + ply);
            }
            10..13 if line.len() > 1 => {
                state.pop().unwrap();
                any.pop().unwrap();
                line.pop();
            }
            13 if step % 64 == 0 => {
                // A game goes on: the last position becomes the root.
                state.refresh(&net, board.0.iter().copied()).unwrap();
                any.refresh(net.any(), board.0.iter().copied()).unwrap();
                line = vec![board];
            }
            _ => {
                let mover = Colour::BOTH[step as usize % 2];
                let (own, other) = (board.anew(&truth, mover), board.anew(&truth, mover.other()));
                let table = truth.plan().model().bucket_table();
                let bucket = table.map_or(0, |table| table[board.0.len()]).into();
                let input = Input::Accumulators(&own, &other);
                let expected = match truth.plan().run(input, bucket, workspace.as_mut()).unwrap() {
                    Output::I32(values) => values[0],
                    Output::F32(values) => values[0] as i32,
                    other => panic!("{other:?}"),
                };
                // In its own bucket first, so that the accumulators are brought up to date there.
                let by_bucket = state.evaluate_bucket(&net, mover, bucket).unwrap();
                let found = state.evaluate(&net, mover).unwrap();
                assert_eq!((by_bucket, found), (expected, expected), "{}, step {step}", tier.name);
                let buckets = truth.plan().model().input().bucket_count as usize;
                let chosen = random.draw() as usize % buckets;
                let in_chosen = match truth.plan().run(input, chosen, workspace.as_mut()).unwrap() {
                    Output::I32(values) => values[0],
                    Output::F32(values) => values[0] as i32,
                    other => panic!("{other:?}"),
                };
                assert_eq!(state.evaluate_bucket(&net, mover, chosen), Ok(in_chosen), "{}, step {step}", tier.name);
                let refused = RunError::Bucket { found: buckets, limit: buckets };
                assert_eq!(any.evaluate_bucket(net.any(), mover, buckets), Err(refused));
                assert_eq!(any.evaluate(net.any(), mover).unwrap(), expected, "{}, step {step}", tier.name);
                assert_eq!(state.accumulator(&net, mover).unwrap()[..], own, "{}, step {step}", tier.name);
                assert_eq!(any.accumulator(net.any(), mover.other()).unwrap()[..], other, "{}, step {step}", tier.name);
                evaluations += 1;
            }
        }
        assert_eq!((state.height() + 1, any.height() + 1), (line.len(), line.len()));
    }
    let sorted = |mut pieces: Vec<Piece>| {
        pieces.sort_by_key(|piece| piece.index());
        pieces
    };
    assert_eq!(state.pieces().collect::<Vec<_>>(), sorted(line.pop().unwrap().0));
    assert!(evaluations > steps / 8, "{evaluations} evaluations");
}

fn sample(name: &str) -> AlignedBytes {
    sample_models::all().into_iter().find(|sample| sample.name == name).unwrap().bytes
}

fn own_network(checkpoint: &str, description: &str) -> AlignedBytes {
    let file = format!("{checkpoint}.weights.bin");
    let bytes = std::fs::read(own("reference").join(&file)).unwrap();
    packed(&quantise(&read_bytes(&bytes, &architecture(description), &file).unwrap().net).unwrap())
}

const MIRRORED: Expected = Expected { features: Features::king_buckets(2).mirrored(), output_buckets: 4, outputs: 1 };
const REFERENCE: Expected = Expected { features: Features::CHESS_768, output_buckets: 8, outputs: 1 };

#[test]
fn a_million_steps_equal_filling_anew_on_every_tier() {
    let bytes = sample("chess, mirrored king buckets, output buckets");
    std::thread::scope(|scope| {
        for tier in tiers() {
            let bytes = &bytes;
            scope.spawn(move || games::<18, 4>(bytes, &MIRRORED, tier, 1_000_000));
        }
    });
}

#[test]
fn and_so_they_do_on_rows_of_several_vectors_and_with_real_heads() {
    let wide = sample("chess, mirrored king buckets, wide");
    let (reference, layers) = (own_network("nnue", "reference"), own_network("layers", "reference-layers"));
    for tier in tiers() {
        games::<300, 1>(&wide, &Expected { output_buckets: 1, ..MIRRORED }, tier, 20_000);
        games::<128, 1>(&reference, &REFERENCE, tier, 20_000);
        games::<256, 1>(&layers, &REFERENCE, tier, 5_000);
    }
}

#[test]
fn and_so_they_do_with_merged_and_without_king_planes() {
    let two = Features::king_buckets(2);
    for (name, features) in [
        ("chess, merged king planes", two.merged_kings()),
        ("chess, merged king planes, mirrored", two.merged_kings().mirrored()),
        ("chess, no king planes", two.without_kings()),
    ] {
        let (bytes, expected) = (sample(name), Expected { features, output_buckets: 8, outputs: 1 });
        for tier in tiers() {
            games::<13, 4>(&bytes, &expected, tier, 20_000);
        }
    }
}

/// Win, draw and loss: three numbers come out, and the first is what `evaluate` gives.
#[test]
fn a_network_of_three_outputs_gives_three() {
    let text = "schema = 1\nname = 'win, draw, loss'\n[input]\nkind = 'chess'\n[output]\nscale = 1000\n\
        [[layer]]\nname = 'l0'\noutputs = 5\nactivation = 'screlu'\n[[layer]]\nname = 'l1'\noutputs = 3\n\
        [[tensor]]\nname = 'l0w'\ntype = 'i16'\nscale = 255\n[[tensor]]\nname = 'l0b'\ntype = 'i16'\nscale = 255\n\
        [[tensor]]\nname = 'l1w'\ntype = 'i16'\nscale = 64\n[[tensor]]\nname = 'l1b'\ntype = 'i16'\nscale = 16320\n";
    let arch = Architecture::from_toml(text, "three").unwrap();
    let floats = 768 * 5 + 5 + 10 * 3 + 3;
    let mut random = Random(5);
    let raw: Vec<u8> = (0..floats).flat_map(|_| (0.3 * random.real()).to_le_bytes()).collect();
    let net: QuantNet = quantise(&read_bytes(&raw, &arch, "raw.bin").unwrap().net).unwrap();
    let bytes = packed(&net);
    let expected = Expected { features: Features::CHESS_768, output_buckets: 1, outputs: 3 };
    let net = Network::<5>::load(bytes.as_ref(), &expected).unwrap();
    let mut state = state::<5, 1>();
    let board = Board::start(&mut random);
    state.refresh(&net, board.0.iter().copied()).unwrap();
    let first = state.evaluate(&net, Colour::Black).unwrap();
    let Output::I32(values) = state.outputs(&net, Colour::Black).unwrap() else { panic!("reals") };
    assert!(values.len() == 3 && values[0] == first && values.iter().any(|value| *value != first), "{values:?}");
    let one = Expected { outputs: 1, ..expected };
    let refused = Network::<5>::load(bytes.as_ref(), &one).unwrap_err();
    assert_eq!(refused, LoadError::Differs { what: "outputs", found: 3, expected: 1 });
}

/// One network, a state a thread: all threads get the numbers that one gets.
#[test]
fn threads_share_a_network() {
    let bytes = own_network("nnue", "reference");
    let net = Network::<128>::load(bytes.as_ref(), &REFERENCE).unwrap();
    let play = &|seed: u64| -> Vec<i32> {
        let (mut random, mut state) = (Random(seed), state::<128, 1>());
        let mut board = Board::start(&mut random);
        state.refresh(&net, board.0.iter().copied()).unwrap();
        let mut step = |_| {
            let Move { added, removed } = board.play(&mut random);
            state.push(&net, &added, &removed).unwrap();
            state.evaluate(&net, Colour::White).unwrap()
        };
        (1..PLIES).map(&mut step).collect()
    };
    let alone: Vec<_> = (0..4).map(play).collect();
    let together: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|seed| scope.spawn(move || play(seed))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(together, alone);
}

/// What a program keeps in positions that it copies, and in a static: nothing of it is made anew where it is used.
#[test]
fn a_position_is_copied_and_a_network_lies_in_a_static() {
    static NET: OnceLock<Network<'static, 128>> = OnceLock::new();
    #[derive(Clone, Copy, Default)]
    struct Position {
        accumulators: AccumulatorPair<128>,
        pieces: [Piece; 3],
    }
    // Loaded where a failure can be told; whoever asks later has a plain reference.
    let bytes: &'static AlignedBytes = Box::leak(Box::new(own_network("nnue", "reference")));
    NET.set(Network::load(bytes.as_ref(), &REFERENCE).unwrap()).unwrap();
    let net = NET.get().unwrap();
    let king = Piece::new(Colour::White, Kind::King, 4);
    let mut root = Position { pieces: [king, king.at(5), king.at(6)], ..Position::default() };
    assert_eq!(Position::default().pieces, [Piece::new(Colour::White, Kind::Pawn, 0); 3]);
    let feature = |index: usize| net.any().feature(Colour::White, 4, root.pieces[index]).unwrap();
    let features = [0, 1, 2].map(feature);
    root.accumulators.refresh(net.any().plan(), 0, &features[..1]).unwrap();
    let mut next = root;
    next.accumulators.update(net.any().plan(), &root.accumulators, 0, &features[1..], &features[..1]).unwrap();
    let mut anew = Position::default();
    anew.accumulators.refresh(net.any().plan(), 0, &features[1..]).unwrap();
    assert_eq!(next.accumulators, anew.accumulators);
    assert_ne!(next.accumulators, root.accumulators);
}

/// The plan behind the interface is the one that the rest of the crate has.
#[test]
fn the_score_is_the_plans() {
    let bytes = own_network("nnue", "reference");
    let net = AnyNetwork::load(bytes.as_ref()).unwrap();
    let plan: &Plan<'_> = net.plan();
    assert_eq!((net.hidden(), net.outputs(), net.keys(), net.is_real()), (128, 1, 1, false));
    assert_eq!((plan.hidden(), net.features()), (128, Features::CHESS_768));
}
