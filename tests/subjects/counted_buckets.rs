//! Output buckets by other counts than that of all pieces: a network of each form, its score worked out from its
//! integers in plain arithmetic, with the bucket's rule as an engine writes it.

use tamis_quant::float::{Example, example};
use tamis_quant::pack::unpack;
use tamis_quant::positions::Position;
use tamis_quant::quantised::QuantNet;
use tamis_quant::run::AlignedBytes;
use tamis_runtime::engine::{AnyNetwork, AnyState, Colour, Kind, Piece};
use tamis_runtime::format::Model;
use tamis_runtime::kernels::tiers;
use tests::packed;
use tests::second_reader::{Container, bucket_of};
use tests::synthetic;

const HIDDEN: usize = 8;
const BUCKETS: usize = 6;
/// Both sides with many pieces and with few, promoted queens, no pawns, and each side to move.
const FENS: [&str; 8] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w",
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b",
    "4k3/8/8/8/8/8/8/4K3 w",
    "qqqqk3/8/8/8/8/8/8/4K2R b",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 b",
    "8/8/8/3k4/8/8/PPPPPPPP/4K3 b",
    "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w",
];

/// How an engine picks a bucket, of its own pieces by kind and of the other's.
type Rule = fn([usize; 6], [usize; 6]) -> usize;

/// Keys of `[buckets]`, and what they say.
fn forms() -> Vec<(String, Rule)> {
    let pawns: Rule = |own, other| (own[0] + other[0]).div_ceil(2).min(BUCKETS - 1);
    let queens_and_rooks: Rule = |own, other| (own[4] + other[4] + own[3] + other[3]).min(BUCKETS - 1);
    let sides: Rule = |own: [usize; 6], other: [usize; 6]| {
        let (own, other) = (own.iter().sum::<usize>(), other.iter().sum::<usize>());
        if own > other { 0 } else { 1 + (own / 8) + 2 * usize::from(other > own) }
    };
    let pawns_of_sides: Rule = |own, other| (own[0] + 4 * other[0]) % BUCKETS;
    let counts = |rule: &dyn Fn(usize) -> usize| (0..33).map(rule).collect::<Vec<_>>();
    let pairs = |rule: &dyn Fn(usize, usize) -> usize| {
        (0..17).flat_map(|own| (0..17).map(move |other| (own, other))).map(|(own, other)| rule(own, other)).collect()
    };
    let by_sides: Vec<usize> =
        pairs(&|own, other| if own > other { 0 } else { 1 + own / 8 + 2 * usize::from(other > own) });
    let by_pawns_of_sides: Vec<usize> = pairs(&|own, other| (own + 4 * other) % BUCKETS);
    let pawns_table = counts(&|pawns| pawns.div_ceil(2).min(BUCKETS - 1));
    let heavy_table = counts(&|pieces| pieces.min(BUCKETS - 1));
    vec![
        (format!("counted = \"P\"\nby_piece_count = {pawns_table:?}"), pawns),
        (format!("counted = \"QR\"\nby_piece_count = {heavy_table:?}"), queens_and_rooks),
        (format!("by_side_counts = {by_sides:?}"), sides),
        (format!("counted = \"PNBRQK\"\nby_side_counts = {by_sides:?}"), sides),
        (format!("counted = \"P\"\nby_side_counts = {by_pawns_of_sides:?}"), pawns_of_sides),
    ]
}

fn network(keys: &str) -> QuantNet {
    let text = format!(
        "schema = 1\nname = \"counted\"\n[input]\nkind = \"chess\"\n[buckets]\ncount = {BUCKETS}\n{keys}\n[output]\n\
         scale = 400\n[[layer]]\nname = \"l0\"\noutputs = {HIDDEN}\nactivation = \"screlu\"\n[[layer]]\nname = \"l1\"\n\
         outputs = 1\nbucketed = true\n{}",
        [("l0w", 255), ("l0b", 255), ("l1w", 64), ("l1b", 16320)]
            .map(|(name, scale)| format!("[[tensor]]\nname = \"{name}\"\ntype = \"i16\"\nscale = {scale}\n"))
            .concat()
    );
    synthetic::network(&text, |name, random| {
        let limit = match name {
            "l0w" => 60,
            "l0b" => 100,
            "l1w" => 120,
            _ => 9_000,
        };
        random.within(limit) as f32
    })
}

/// Pieces as white sees them.
fn pieces(fen: &str) -> (Vec<Piece>, Colour) {
    let (board, side) = fen.split_once(' ').unwrap();
    let mut pieces = Vec::new();
    for (rank, row) in board.split('/').enumerate() {
        let mut file = 0;
        for letter in row.chars() {
            if let Some(empty) = letter.to_digit(10) {
                file += empty as usize;
                continue;
            }
            let colour = if letter.is_uppercase() { Colour::White } else { Colour::Black };
            let kind = "PNBRQK".find(letter.to_ascii_uppercase()).unwrap();
            pieces.push(Piece::new(colour, Kind::ALL[kind], (8 * (7 - rank) + file) as u8));
            file += 1;
        }
    }
    (pieces, if side == "w" { Colour::White } else { Colour::Black })
}

fn counts(pieces: &[Piece], colour: Colour) -> [usize; 6] {
    Kind::ALL.map(|kind| pieces.iter().filter(|piece| (piece.colour(), piece.kind()) == (colour, kind)).count())
}

/// `((Σ clamp(x, 0, 255)² · w) / 255 + b) · 400 / (255 · 64)` over the side to move's accumulator and the other's.
fn plain(net: &QuantNet, pieces: &[Piece], to_move: Colour, bucket: usize) -> i32 {
    let [weights, last] = [&net.layers[1].weights, &net.layers[1].bias].map(|tensor| tensor.integers());
    let mut sum = 0;
    for (input, value) in synthetic::accumulators(net, pieces, to_move).into_iter().enumerate() {
        // A row an output, so a bucket; stored input by input.
        sum += value.clamp(0, 255).pow(2) * weights[bucket + BUCKETS * input];
    }
    (sum / 255 + last[bucket]) * 400 / (255 * 64)
}

#[test]
fn buckets_follow_from_the_counts_that_the_description_names() {
    for (keys, rule) in forms() {
        let net = network(&keys);
        let file = packed(&net);
        let container = Container::read(file.as_ref()).unwrap();
        let mut used = [false; BUCKETS];
        for fen in FENS {
            let (pieces, to_move) = pieces(fen);
            let bucket = rule(counts(&pieces, to_move), counts(&pieces, to_move.other()));
            used[bucket] = true;
            let expected = plain(&net, &pieces, to_move, bucket);
            for tier in tiers() {
                let loaded = AnyNetwork::load_on(file.as_ref(), tier).unwrap();
                let mut memory = AlignedBytes::zeroed(AnyState::len_bytes(&loaded, 2, 1).unwrap());
                let mut state = AnyState::create(&loaded, memory.as_mut(), 2, 1).unwrap();
                state.refresh(&loaded, pieces.iter().copied()).unwrap();
                assert_eq!(state.evaluate(&loaded, to_move), Ok(expected), "{fen} on {}\n{keys}", tier.name);
                assert_eq!(state.evaluate_bucket(&loaded, to_move, bucket), Ok(expected), "{fen}\n{keys}");
            }
            let seen: Vec<(u32, bool)> =
                pieces.iter().map(|piece| (piece.kind() as u32, piece.colour() != to_move)).collect();
            assert_eq!(bucket_of(&container, &seen) as usize, bucket, "{fen}\n{keys}");
            let position = Position::from_fen(&format!("{fen} - - 0 1")).unwrap();
            let Example::Features { bucket: found, .. } = example(&net.arch, &position).unwrap() else { panic!() };
            assert_eq!(found, bucket, "{fen}\n{keys}");
        }
        assert!(used.iter().filter(|used| **used).count() > 2, "{keys}: the positions tell the buckets apart");
        let model = Model::parse(file.as_ref()).unwrap();
        assert_eq!(model.bucket_table(), None, "it is of no number of all pieces");
        let back = unpack(&model).unwrap();
        assert_eq!((&back.arch, &back.layers), (&net.arch, &net.layers), "{keys}");
    }
}
