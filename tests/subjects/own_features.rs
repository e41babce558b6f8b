//! Features that an engine numbers itself, `kind = "features"`: weights of each colour's own, several blocks into one
//! accumulator, buckets by the enemy's queen. Each is played through the ply stack and its cache, and every score is
//! worked out from the rows in plain arithmetic.

use tamis_quant::quantised::QuantNet;
use tamis_quant::run::AlignedBytes;
use tamis_runtime::engine::{Colour, Kind, Piece};
use tamis_runtime::format::Model;
use tamis_runtime::kernels::tiers;
use tamis_runtime::nnue::{Change, RefreshCache, Stack};
use tamis_runtime::{Output, Plan};
use tests::packed;
use tests::sample_models::Random;
use tests::synthetic::{board, network};

const HIDDEN: usize = 16;
const PLANES: u32 = 768;
/// The most pieces of a colour and a kind that are counted.
const MOST: u32 = 15;
/// Steps of a game, each a piece that moves, and what it takes.
const STEPS: usize = 150;

/// A way to number features.
struct Form {
    name: &'static str,
    features: u32,
    /// The features of a board as a colour sees it.
    list: fn(&[Piece], Colour) -> Vec<u32>,
    /// What all features change with: the cache has an entry for each.
    key: fn(&[Piece], Colour) -> u32,
    keys: u32,
}

/// Bullet's `Chess768`.
fn plane(piece: Piece, eyes: Colour) -> u32 {
    let square = u32::from(piece.square()) ^ if eyes == Colour::Black { 56 } else { 0 };
    384 * u32::from(piece.colour() != eyes) + 64 * piece.kind() as u32 + square
}

/// Rows of each colour's own: white's first.
fn of_colours(pieces: &[Piece], eyes: Colour) -> Vec<u32> {
    pieces.iter().map(|piece| PLANES * eyes.index() as u32 + plane(*piece, eyes)).collect()
}

/// Piece-square features, and behind them one for each kind and colour: how many there are.
fn of_blocks(pieces: &[Piece], eyes: Colour) -> Vec<u32> {
    let count = |colour: Colour, kind: Kind| {
        let alike = pieces.iter().filter(|piece| piece.colour() == colour && piece.kind() == kind);
        (alike.count() as u32).min(MOST)
    };
    let counted = |(index, colour): (u32, Colour)| {
        Kind::ALL.into_iter().map(move |kind| PLANES + (MOST + 1) * (6 * index + kind as u32) + count(colour, kind))
    };
    let planes = pieces.iter().map(|piece| plane(*piece, eyes));
    planes.chain([(0, eyes), (1, eyes.other())].into_iter().flat_map(counted)).collect()
}

/// 0 without an enemy's queen, 1 to 4 by the quarter of the board where it stands, 5 with several.
fn queens(pieces: &[Piece], eyes: Colour) -> u32 {
    let mut queens = pieces.iter().filter(|piece| piece.kind() == Kind::Queen && piece.colour() != eyes);
    match (queens.next(), queens.next()) {
        (None, _) => 0,
        (Some(_), Some(_)) => 5,
        (Some(queen), None) => {
            let square = u32::from(queen.square()) ^ if eyes == Colour::Black { 56 } else { 0 };
            1 + square / 32 * 2 + square % 8 / 4
        }
    }
}

fn of_queens(pieces: &[Piece], eyes: Colour) -> Vec<u32> {
    pieces.iter().map(|piece| PLANES * queens(pieces, eyes) + plane(*piece, eyes)).collect()
}

const FORMS: [Form; 3] = [
    Form { name: "weights of each colour", features: 2 * PLANES, list: of_colours, key: |_, _| 0, keys: 1 },
    Form { name: "blocks of features", features: PLANES + 12 * (MOST + 1), list: of_blocks, key: |_, _| 0, keys: 1 },
    Form { name: "buckets by the enemy's queen", features: 6 * PLANES, list: of_queens, key: queens, keys: 6 },
];

fn net(form: &Form) -> QuantNet {
    let tensors = [("l0w", 255), ("l0b", 255), ("l1w", 64), ("l1b", 16_320)]
        .map(|(name, scale)| format!("[[tensor]]\nname = \"{name}\"\ntype = \"i16\"\nscale = {scale}\n"));
    let text = format!(
        "schema = 1\nname = \"own\"\n[input]\nkind = \"features\"\nsize = {}\nperspectives = 2\nmax_active = 44\n\
         [output]\nscale = 400\n[[layer]]\nname = \"l0\"\noutputs = {HIDDEN}\nactivation = \"screlu\"\n\
         [[layer]]\nname = \"l1\"\noutputs = 1\n{}",
        form.features,
        tensors.concat()
    );
    network(&text, |name, random| {
        random.within(match name {
            "l0w" => 60,
            "l0b" => 300,
            "l1w" => 120,
            _ => 9_000,
        }) as f32
    })
}

/// `(Σ clamp(x, 0, 255)² · w / 255 + b) · 400 / (255 · 64)`, the side to move's accumulator first.
fn plain(net: &QuantNet, lists: [&[u32]; 2]) -> i64 {
    let (first, second) = (&net.layers[0], &net.layers[1]);
    let accumulator = |list: &[u32]| -> Vec<i64> {
        let row = |unit: usize, feature: &u32| i64::from(first.weights.integers()[*feature as usize * HIDDEN + unit]);
        let unit = |unit| i64::from(first.bias.integers()[unit]) + list.iter().map(|f| row(unit, f)).sum::<i64>();
        (0..HIDDEN).map(unit).collect()
    };
    let both = lists.into_iter().flat_map(accumulator);
    let sum: i64 =
        both.zip(second.weights.integers()).map(|(x, weight)| x.clamp(0, 255).pow(2) * i64::from(*weight)).sum();
    (sum / 255 + i64::from(second.bias.integers()[0])) * 400 / (255 * 64)
}

/// A piece goes somewhere, takes what is there, and sometimes becomes another; kings are not taken.
fn step(pieces: &[Piece], random: &mut Random) -> Vec<Piece> {
    let mover = pieces[random.draw() as usize % pieces.len()];
    let target = (random.draw() % 64) as u8;
    if pieces.iter().any(|piece| piece.square() == target && piece.kind() == Kind::King) {
        return pieces.to_vec();
    }
    let is_turned = mover.kind() != Kind::King && random.draw().is_multiple_of(4);
    let kind = if is_turned { Kind::ALL[random.draw() as usize % 5] } else { mover.kind() };
    let stay = pieces.iter().copied().filter(|piece| piece.square() != target && piece.square() != mover.square());
    stay.chain([Piece::new(mover.colour(), kind, target)]).collect()
}

#[test]
fn features_of_an_engines_own_score_what_plain_arithmetic_gives() {
    for form in &FORMS {
        let net = net(form);
        let file = packed(&net);
        for tier in tiers() {
            let plan = Plan::new(Model::parse(file.as_ref()).unwrap(), tier);
            let mut scratch = AlignedBytes::zeroed(plan.model().workspace_len_bytes());
            let mut random = Random(23);
            let mut stack: Box<Stack<HIDDEN, { STEPS + 1 }>> = Box::default();
            let mut cache: Box<RefreshCache<HIDDEN, 6, 44>> = Box::default();
            let mut pieces = board(&mut random);
            let lists = |pieces: &[Piece]| Colour::BOTH.map(|eyes| (form.list)(pieces, eyes));
            let root = lists(&pieces);
            stack.set_root(&plan, [&root[0], &root[1]]).unwrap();
            let (mut scores, mut fillings) = (Vec::new(), 0);
            for number in 0..STEPS {
                let after = step(&pieces, &mut random);
                let (old, new) = (lists(&pieces), lists(&after));
                let only = |these: &[u32], those: &[u32]| -> Vec<u32> {
                    these.iter().filter(|one| !those.contains(one)).copied().collect()
                };
                let differences = [0, 1].map(|side| (only(&new[side], &old[side]), only(&old[side], &new[side])));
                let changes = Colour::BOTH.map(|eyes| {
                    let (added, removed) = &differences[eyes.index()];
                    let stays = (form.key)(&pieces, eyes) == (form.key)(&after, eyes);
                    if stays { Change::Features { added, removed } } else { Change::All }
                });
                stack.push(&plan, changes).unwrap();
                pieces = after;
                for eyes in Colour::BOTH {
                    if !stack.wants_features(eyes.index()) {
                        continue;
                    }
                    let key = (form.key)(&pieces, eyes);
                    stack.refresh(&plan, &mut cache, eyes.index(), key, &new[eyes.index()]).unwrap();
                    fillings += 1;
                }
                let side = number % 2;
                let expected = plain(&net, [&new[side], &new[1 - side]]);
                let output = stack.evaluate(&plan, side, 0, scratch.as_mut()).unwrap();
                let Output::I32(&[found]) = output else { panic!("{output:?}") };
                assert_eq!(i64::from(found), expected, "{}, step {number}, {}", form.name, tier.name);
                scores.push(expected);
            }
            scores.sort_unstable();
            scores.dedup();
            assert!(scores.len() > STEPS / 2, "{}: {} scores tell the boards apart", form.name, scores.len());
            assert_eq!(fillings > 10, form.keys > 1, "{}: {fillings} fillings", form.name);
        }
    }
}

/// The same board gives other scores with colours exchanged: the rows are of each colour's own.
#[test]
fn weights_of_each_colour_tell_the_colours_apart() {
    let form = &FORMS[0];
    let net = net(form);
    let mut random = Random(29);
    let pieces = board(&mut random);
    let turned: Vec<Piece> =
        pieces.iter().map(|piece| Piece::new(piece.colour().other(), piece.kind(), piece.square() ^ 56)).collect();
    let score = |pieces: &[Piece], to_move: Colour| {
        let list = |eyes: Colour| (form.list)(pieces, eyes);
        plain(&net, [&list(to_move), &list(to_move.other())])
    };
    assert_ne!(score(&pieces, Colour::White), score(&turned, Colour::Black));
}
