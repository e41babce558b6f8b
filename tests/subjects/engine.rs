//! The engine interface against filling anew: random games with kings that cross buckets, captures, promotions,
//! castlings and null moves, made and unmade, by the state with its sizes in the type and by the one in a slice, on
//! every tier; and what both refuse.

use std::sync::OnceLock;
use tamis_quant::arch::Architecture;
use tamis_quant::import::read_bytes;
use tamis_quant::quantise::quantise;
use tamis_quant::quantised::QuantNet;
use tamis_quant::run::AlignedBytes;
use tamis_runtime::engine::{
    AnyNetwork, AnyState, Colour, Expected, Features, Kind, LoadError, Network, Piece, State, StateError,
};
use tamis_runtime::format::Model;
use tamis_runtime::kernels::{Tier, by_name, tiers};
use tamis_runtime::nnue::{AccumulatorPair, RefreshCache};
use tamis_runtime::{Input, Output, Plan, RunError};
use tests::sample_models::{self, Random};
use tests::trials::Fixtures;
use tests::{architecture, own, packed};

/// Positions of a line.
const PLIES: usize = 24;

/// What a move adds and removes.
#[derive(Clone, Default)]
struct Move {
    added: Vec<Piece>,
    removed: Vec<Piece>,
}

impl Move {
    /// The same move, sometimes with a piece that both comes and goes, on the board or not, as the pawn of a promotion
    /// that is made of toggles.
    fn with_toggle(mut self, random: &mut Random) -> Self {
        if self.added.len().max(self.removed.len()) < 4 && random.draw().is_multiple_of(4) {
            let piece = Piece::from_index(random.draw() as u16 % Piece::COUNT).unwrap();
            // A king has one place.
            if piece.kind() != Kind::King {
                self.added.insert(random.draw() as usize % (1 + self.added.len()), piece);
                self.removed.insert(random.draw() as usize % (1 + self.removed.len()), piece);
            }
        }
        self
    }
}

/// A board on which any piece goes anywhere.
#[derive(Clone)]
struct Board(Vec<Piece>);

impl Board {
    /// Kings first, so that they are never taken.
    fn start(random: &mut Random) -> Self {
        let mut board = Self(vec![Piece::new(Colour::White, Kind::King, 4), Piece::new(Colour::Black, Kind::King, 60)]);
        while board.0.len() < 32 {
            let (colour, kind) = (Colour::BOTH[random.draw() as usize % 2], Kind::ALL[random.draw() as usize % 5]);
            let square = (random.draw() % 64) as u8;
            if board.at(square).is_none() {
                board.0.push(Piece::new(colour, kind, square));
            }
        }
        board
    }

    fn at(&self, square: u8) -> Option<usize> {
        self.0.iter().position(|piece| piece.square() == square)
    }

    /// One piece, sometimes two, to other squares; what is there is taken; sometimes a piece becomes another.
    fn play(&mut self, random: &mut Random) -> Move {
        let mut done = Move::default();
        for _ in 0..if random.draw().is_multiple_of(8) { 2 } else { 1 } {
            // Kings move as often as all others together.
            let mover = random.draw() as usize % if random.draw() & 1 == 0 { 2 } else { self.0.len() };
            let target = (random.draw() % 64) as u8;
            let from = self.0[mover];
            let taken = match self.at(target) {
                Some(taken) if taken < 2 || taken == mover || self.0.len() < 9 => continue,
                taken => taken,
            };
            // A piece that has moved already would be removed before it is there.
            if done.added.contains(&from) || taken.is_some_and(|taken| done.added.contains(&self.0[taken])) {
                continue;
            }
            let mut to = from.at(target);
            if mover > 1 && random.draw().is_multiple_of(4) {
                to = Piece::new(to.colour(), Kind::ALL[random.draw() as usize % 5], target);
            }
            done.added.push(to);
            done.removed.push(from);
            self.0[mover] = to;
            if let Some(taken) = taken {
                done.removed.push(self.0.remove(taken));
            }
        }
        done
    }

    fn king(&self, colour: Colour) -> u8 {
        self.0[colour.index()].square()
    }

    fn anew(&self, net: &AnyNetwork<'_>, colour: Colour) -> Vec<i16> {
        let features: Vec<u32> =
            self.0.iter().filter_map(|piece| net.feature(colour, self.king(colour), *piece)).collect();
        let mut accumulator = vec![0; net.hidden()];
        net.plan().refresh(&mut accumulator, &features).unwrap();
        accumulator
    }
}

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

#[test]
fn a_network_of_another_kind_is_refused_by_name() {
    let bytes = sample("chess, mirrored king buckets, output buckets");
    let refused = |expected: Expected| Network::<18>::load(bytes.as_ref(), &expected).unwrap_err().to_string();
    assert!(Network::<18>::load(bytes.as_ref(), &MIRRORED).is_ok());
    let width = Network::<32>::load(bytes.as_ref(), &MIRRORED).unwrap_err().to_string();
    assert!(width.contains("width of an accumulator: the file has 18, this program was built for 32"), "{width}");
    for (expected, what) in [
        (
            Expected { features: Features::HALF_KA_V2_HM, ..MIRRORED },
            "features of a king bucket: the file has 768, this program was built for 704",
        ),
        (Expected { features: Features::king_buckets(3).mirrored(), ..MIRRORED }, "king buckets: the file has 2"),
        (Expected { features: Features::king_buckets(2), ..MIRRORED }, "mirroring"),
        (Expected { output_buckets: 8, ..MIRRORED }, "output buckets: the file has 4, this program was built for 8"),
        (Expected { outputs: 3, ..MIRRORED }, "outputs: the file has 1"),
    ] {
        assert!(refused(expected).contains(what), "{}", refused(expected));
    }
    let lists = sample("i8 feature rows");
    assert_eq!(AnyNetwork::load(lists.as_ref()).unwrap_err(), LoadError::NotChess);
    assert!(matches!(AnyNetwork::load(&bytes.as_ref()[..64]).unwrap_err(), LoadError::Parse(_)));
}

#[test]
fn what_a_state_refuses_leaves_it_as_it_was() {
    let (bytes, other) = (own_network("nnue", "reference"), own_network("layers", "reference-layers"));
    let net = Network::<128>::load(bytes.as_ref(), &REFERENCE).unwrap();
    let stranger = AnyNetwork::load(other.as_ref()).unwrap();
    let mut state = Box::new(State::<128, 3>::new());
    assert_eq!(state.push(&net, &[], &[]), Err(RunError::StackEmpty.into()));
    assert_eq!(state.push_null(), Err(RunError::StackEmpty));
    assert_eq!(state.pop(), Err(RunError::StackEmpty));
    assert_eq!(state.goto(0), Err(RunError::StackEmpty.into()));
    assert_eq!(state.evaluate(&net, Colour::White), Err(RunError::StackEmpty));

    let (king, pawn) = (Piece::new(Colour::White, Kind::King, 4), Piece::new(Colour::White, Kind::Pawn, 12));
    let twice = StateError::Piece { piece: pawn, is_added: true };
    assert_eq!(state.refresh(&net, [pawn, king, pawn]), Err(twice));
    assert_eq!(twice.to_string(), "Pe2 is to be added and is there already");
    assert_eq!(state.evaluate(&net, Colour::White), Err(RunError::StackEmpty));
    let crowd = (0..33).map(|square| Piece::new(Colour::Black, Kind::Pawn, square));
    assert_eq!(state.refresh(&net, crowd), Err(RunError::TooManyFeatures { found: 33, limit: 32 }.into()));

    state.refresh(&net, [king, pawn]).unwrap();
    let before = state.evaluate(&net, Colour::White).unwrap();
    let gone = Piece::new(Colour::Black, Kind::Queen, 3);
    let missing = |piece| StateError::Piece { piece, is_added: false };
    assert_eq!(state.push(&net, &[pawn.at(28)], &[gone]), Err(missing(gone)));
    assert_eq!(state.push(&net, &[pawn], &[]), Err(twice));
    assert_eq!(state.push(&net, &[pawn; 5], &[]), Err(StateError::TooManyPieces { found: 5, limit: 4 }));
    // A king that went in one move and came in the next would leave its accumulator where it was.
    let alone = Err(StateError::LoneKing { colour: Colour::White });
    assert_eq!(state.push(&net, &[], &[king]), alone);
    assert_eq!(state.push(&net, &[king.at(5)], &[]), alone);
    let second = StateError::Piece { piece: king.at(6), is_added: true };
    assert_eq!(state.push(&net, &[king.at(5), king.at(6)], &[king]), Err(second));
    assert_eq!((state.height(), state.evaluate(&net, Colour::White)), (0, Ok(before)));
    // A move is the difference of its lists, also where a piece is in both that is not there.
    let queen = Piece::new(Colour::White, Kind::Queen, 60);
    assert_eq!(state.push(&net, &[pawn.at(60), pawn], &[pawn.at(60)]), Err(twice));
    assert_eq!(state.push(&net, &[pawn.at(60)], &[gone, pawn.at(60)]), Err(missing(gone)));
    assert_eq!(state.push(&net, &[king], &[king, king]), alone);
    assert_eq!(state.goto(1), Err(StateError::Ply { found: 1, last: 0 }));
    assert_eq!((state.height(), state.evaluate(&net, Colour::White)), (0, Ok(before)));
    state.push(&net, &[pawn.at(60), queen], &[pawn, pawn.at(60)]).unwrap();
    assert!(state.pieces().eq([queen, king]));
    state.goto(0).unwrap();
    assert!(state.pieces().eq([pawn, king]));

    state.push(&net, &[pawn.at(28)], &[pawn]).unwrap();
    state.push_null().unwrap();
    assert_eq!(state.push_null(), Err(RunError::StackFull { limit: 3 }));
    assert_eq!(state.push(&net, &[], &[]), Err(RunError::StackFull { limit: 3 }.into()));
    state.pop().unwrap();
    state.pop().unwrap();
    assert_eq!((state.pop(), state.evaluate(&net, Colour::White)), (Err(RunError::StackEmpty), Ok(before)));

    let layers = Network::<256>::load(other.as_ref(), &REFERENCE).unwrap();
    let mut narrow = Box::new(State::<256, 3, 1, 64>::new());
    let needs = layers.any().plan().model().workspace_len_bytes();
    assert_eq!(narrow.refresh(&layers, [king]), Err(RunError::Workspace { found: 64, expected: needs }.into()));

    let mut memory = AlignedBytes::zeroed(AnyState::len_bytes(net.any(), 3, 1).unwrap());
    let mut any = AnyState::create(net.any(), memory.as_mut(), 3, 1).unwrap();
    any.refresh(net.any(), [king, pawn]).unwrap();
    let identities = (net.any().plan().identity(), stranger.plan().identity());
    let tied = RunError::OtherModel { found: identities.0, expected: identities.1 };
    assert_eq!(any.evaluate(&stranger, Colour::White), Err(tied));
    assert_eq!(any.push(&stranger, &[], &[]), Err(tied.into()));
    let width = RunError::Length { what: "accumulator of the state", found: 128, expected: 256 };
    assert_eq!(any.refresh(&stranger, [king]), Err(width.into()));
}

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

#[test]
fn memory_that_holds_no_state_is_refused() {
    let bytes = own_network("nnue", "reference");
    let net = AnyNetwork::load(bytes.as_ref()).unwrap();
    let len = AnyState::len_bytes(&net, 8, 1).unwrap();
    let mut memory = AlignedBytes::zeroed(len + 64);
    assert!(matches!(AnyState::open(memory.as_mut()), Err(RunError::Workspace { .. })));
    let short = AnyState::create(&net, &mut memory.as_mut()[..len - 1], 8, 1).unwrap_err();
    assert_eq!(short, RunError::Workspace { found: len - 1, expected: len });
    let odd = AnyState::create(&net, &mut memory.as_mut()[8..], 8, 1).unwrap_err();
    assert_eq!(odd, RunError::WorkspaceAlignment { remainder: 8 });
    assert_eq!(AnyState::len_bytes(&net, usize::MAX, 1), None);
    assert!(AnyState::create(&net, memory.as_mut(), usize::MAX, 1).is_err());

    let pieces = Board::start(&mut Random(1)).0;
    let mut state = AnyState::create(&net, memory.as_mut(), 8, 1).unwrap();
    state.refresh(&net, pieces.iter().copied()).unwrap();
    let score = state.evaluate(&net, Colour::White).unwrap();
    // Taken up again, it goes on; whatever the first bytes become, opening does not panic.
    assert_eq!(AnyState::open(memory.as_mut()).unwrap().evaluate(&net, Colour::White), Ok(score));
    let saved = memory.as_ref().to_vec();
    let mut random = Random(9);
    for byte in 0..40 {
        for _ in 0..8 {
            memory.as_mut()[byte] = random.draw() as u8;
            if let Ok(mut state) = AnyState::open(memory.as_mut()) {
                let _ = state.evaluate(&net, Colour::White);
            }
            memory.as_mut().copy_from_slice(&saved);
        }
    }
}

#[test]
fn a_side_has_one_king_and_null_moves_have_an_end() {
    let bytes = sample("chess, mirrored king buckets, output buckets");
    let net = AnyNetwork::load(bytes.as_ref()).unwrap();
    let plies = 70_000;
    let mut memory = AlignedBytes::zeroed(AnyState::len_bytes(&net, plies, 1).unwrap());
    let mut state = AnyState::create(&net, memory.as_mut(), plies, 1).unwrap();
    let (first, second) = (Piece::new(Colour::Black, Kind::King, 0), Piece::new(Colour::Black, Kind::King, 7));
    let refused = StateError::Piece { piece: second, is_added: true };
    assert_eq!(state.refresh(&net, [first, second]), Err(refused));
    assert_eq!(refused.to_string(), "kh1 is to be added, and a king of its colour is there already");
    state.refresh(&net, [first]).unwrap();
    state.push(&net, &[first.at(63)], &[first]).unwrap();
    let score = state.evaluate(&net, Colour::White).unwrap();
    let made = (0..plies).take_while(|_| state.push_null().is_ok()).count();
    assert_eq!(made, usize::from(u16::MAX));
    for _ in 0..made {
        state.pop().unwrap();
    }
    assert_eq!((state.height(), state.evaluate(&net, Colour::White)), (1, Ok(score)));
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
