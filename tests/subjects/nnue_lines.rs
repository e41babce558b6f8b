//! Accumulators of networks of the Stockfish family along lines of play, by a stack that updates them.

use crate::nnue::{container, positions, truth};
use tamis_quant::positions::Position;
use tamis_quant::run::{AlignedBytes, features_of};
use tamis_quant::stockfish::{Encoding, FeatureSet, Head, Net, read};
use tamis_runtime::format::Model;
use tamis_runtime::kernels::{Tier, tiers};
use tamis_runtime::nnue::{Change, RefreshCache, Stack};
use tamis_runtime::{Output, Plan};
use tests::sample_models::Random;
use tests::stockfish::{SMALL_NET, Stockfish15, export_net, made_up, shape};
use tests::trials::Fixtures;

const KING: u8 = 5;
const OPPONENT: u8 = 8;

/// A stack through lines of play against the family's evaluation, of every feature set.
#[test]
fn a_network_of_every_feature_set_gives_the_familys_values() {
    let pairs = Head::Pairwise { squares: true };
    for (features, head) in [(FeatureSet::HalfKaV2, Head::Clipped { first: 16 }), (FeatureSet::HalfKaV2Hm, pairs)] {
        let net = made_up(shape(features, 32, head), Encoding::Raw, 9);
        let bytes = container(&net);
        tiers().for_each(|tier| lines::<64>(&Model::parse(bytes.as_ref()).unwrap(), &net, tier));
    }
    let net = made_up(shape(FeatureSet::HalfKp, 32, Head::Clipped { first: 32 }), Encoding::Raw, 9);
    let bytes = container(&net);
    tiers().for_each(|tier| lines::<32>(&Model::parse(bytes.as_ref()).unwrap(), &net, tier));
}

#[test]
fn so_does_the_small_network(folder: Fixtures) {
    let net = read(&std::fs::read(folder.join(SMALL_NET)).unwrap()).unwrap();
    let bytes = container(&net);
    tiers().for_each(|tier| lines::<160>(&Model::parse(bytes.as_ref()).unwrap(), &net, tier));
}

#[test]
fn so_does_the_network_of_15_1(engine: Stockfish15) {
    let net = read(&export_net(&engine)).unwrap();
    let bytes = container(&net);
    tiers().for_each(|tier| lines::<1056>(&Model::parse(bytes.as_ref()).unwrap(), &net, tier));
}

/// The other side to move on the same board.
fn passed(position: &Position) -> Position {
    let pieces: Vec<(u8, u8)> = position.pieces().iter().map(|(code, square)| (code ^ OPPONENT, square ^ 56)).collect();
    let mut passed = Position::new(&pieces).unwrap();
    passed.is_black = !position.is_black;
    passed
}

/// One piece of the side to move to any square, taking a piece who is no king.
fn moved(position: &Position, random: &mut Random) -> Position {
    let mut pieces = position.pieces().to_vec();
    loop {
        let mover = (random.draw() % pieces.len() as u64) as usize;
        let target = (random.draw() % 64) as u8;
        let taken = pieces.iter().position(|piece| piece.1 == target);
        let may_take = taken.is_none_or(|taken| pieces[taken].0 >= OPPONENT && pieces[taken].0 & 7 != KING);
        if pieces[mover].0 < OPPONENT && may_take {
            pieces[mover].1 = target;
            if let Some(taken) = taken {
                pieces.remove(taken);
            }
            let mut after = Position::new(&pieces).unwrap();
            after.is_black = position.is_black;
            return passed(&after);
        }
    }
}

/// The lists of white and of black, and the bucket.
fn lists_of(model: &Model<'_>, position: &Position) -> ([Vec<u32>; 2], usize) {
    let ([own, other], bucket) = features_of(model, position).unwrap();
    (if position.is_black { [other, own] } else { [own, other] }, bucket)
}

/// Lines of sixteen moves, each position evaluated from accumulators that were updated; a king's move that changes its
/// bucket gives its side's features anew, as an engine does.
fn lines<const HIDDEN: usize>(model: &Model<'_>, net: &Net, tier: &'static Tier) {
    let plan = Plan::new(*model, tier);
    let view = plan.chess_view().unwrap();
    let mut random = Random(17);
    let mut stack: Box<Stack<HIDDEN, 20>> = Box::default();
    let mut cache: Box<RefreshCache<HIDDEN, 128>> = Box::default();
    let mut workspace = AlignedBytes::zeroed(model.workspace_len_bytes());
    let key = |position: &Position, side: usize| {
        let white = if position.is_black { passed(position) } else { position.clone() };
        let perspective = tamis_runtime::raw::chess::Perspective::BOTH[side];
        let code = if side == 0 { KING } else { KING | OPPONENT };
        let king = white.pieces().iter().find(|piece| piece.0 == code).unwrap().1;
        view.refresh_key(view.seen(perspective, king))
    };
    for start in positions(4, 23) {
        let (lists, _) = lists_of(model, &start);
        stack.set_root(&plan, [&lists[0], &lists[1]]).unwrap();
        let mut before = start;
        for _ in 0..16 {
            let after = moved(&before, &mut random);
            let (old, (new, bucket)) = (lists_of(model, &before).0, lists_of(model, &after));
            let only = |these: &[u32], those: &[u32]| -> Vec<u32> {
                these.iter().filter(|one| !those.contains(one)).copied().collect()
            };
            let changed = [0, 1].map(|side| (only(&new[side], &old[side]), only(&old[side], &new[side])));
            let changes = [0, 1].map(|side| match &changed[side] {
                _ if key(&before, side) != key(&after, side) => Change::All,
                (added, removed) => Change::Features { added, removed },
            });
            stack.push(&plan, changes).unwrap();
            for side in [0, 1] {
                if stack.wants_features(side) {
                    stack.refresh(&plan, &mut cache, side, key(&after, side), &new[side]).unwrap();
                }
            }
            let output = stack.evaluate(&plan, usize::from(after.is_black), bucket, workspace.as_mut()).unwrap();
            assert_eq!(output, Output::I32(&[truth(net, &after)]), "{} on {}: {after:?}", net.shape, tier.name);
            before = after;
        }
    }
}
