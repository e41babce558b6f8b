//! How far legal positions drive the accumulators that are not proved, those of Stockfish 18's and 19's full networks:
//! a search for a position whose sums leave i16.

use std::cmp::Reverse;
use tamis_quant::positions::Position;
use tamis_quant::run::features_of;
use tamis_quant::stockfish::{Board, FeatureSet, Net, Side, accumulator, read};
use tamis_runtime::Plan;
use tamis_runtime::format::Model;
use tamis_runtime::kernels::best;
use tests::related::Related;
use tests::sample_models::Random;
use tests::stockfish::{container, in_check};
use tests::trials::Need;

/// Units of an end that are climbed for, those that rows could drive furthest, unless `TAMIS_REACH_UNITS` says more.
const UNITS: usize = 4;
/// Steps of a climb.
const STEPS: i32 = 12_000;
/// What a step may lose at first; nothing at the end.
const SLACK: i32 = 500;
/// A network whose sums may wrap by every bound that there is.
struct Wide(Net);

impl Need for Wide {
    const FORMS: &[&str] = &["sf18", "sf19"];

    fn find(form: &'static str) -> Result<Self, String> {
        Ok(Self(read(&Related::find(form)?.bytes).unwrap()))
    }
}

/// Climbs to both ends of the units that reach furthest. No position that it comes to leaves i16, so that the sums, the
/// program's and the family's, are those of exact integers.
#[test]
fn no_position_that_a_climb_finds_leaves_i16(wide: Wide) {
    let Wide(net) = wide;
    let units = std::env::var("TAMIS_REACH_UNITS").map_or(UNITS, |text| text.parse().unwrap());
    let file = container(&net);
    let plan = Plan::new(Model::parse(file.as_ref()).unwrap(), best());
    let mut filled = vec![0; plan.hidden()];
    // The most in 760 positions, some of them with as many threats as could be found.
    let seen = if net.shape.features == FeatureSet::ThreatsAndPairs { 6_659 } else { 2_755 };
    for sign in [1, -1] {
        let mut furthest = (0, 0, Vec::new());
        for unit in by_pieces(&net, sign).into_iter().take(units) {
            let (reached, pieces) = climb(&net, unit, sign);
            if reached.abs() > furthest.0 {
                furthest = (reached.abs(), unit, pieces);
            }
        }
        let (reached, unit, pieces) = furthest;
        let position = Position::new(&pieces).unwrap();
        let fen = tests::stockfish::fen(&position, true);
        note!("{}: {} in unit {unit}, the best of {units}, {fen}", net.shape, sign * reached);
        assert!(reached > seen, "{reached} is no climb");
        assert!(reached <= i32::from(i16::MAX), "unit {unit} leaves i16 at {reached}: {fen}");
        let active = Board::new(&position, Side::White).active(net.shape.features, Side::White);
        assert_eq!(i32::from(accumulator(&net, &active)[unit]), sign * reached);
        let ([own, _], _) = features_of(plan.model(), &position).unwrap();
        plan.refresh(&mut filled, &own).unwrap();
        assert_eq!(i32::from(filled[unit]), sign * reached);
    }
}

/// Units by what thirty pieces on squares of their own could add to them at most, the most first.
fn by_pieces(net: &Net, sign: i32) -> Vec<usize> {
    const PIECES: usize = 30;
    let (width, squares) = (net.shape.width, 64);
    let mut bounds = vec![0; width];
    for king_bucket in net.transformer.weights.values.chunks_exact(704 * width) {
        let mut highest = vec![0; squares * width];
        for (row, weights) in king_bucket.chunks_exact(width).enumerate() {
            let of_square = &mut highest[row % squares * width..][..width];
            of_square.iter_mut().zip(weights).for_each(|(most, weight)| *most = (*most).max(sign * i32::from(*weight)));
        }
        for (unit, bound) in bounds.iter_mut().enumerate() {
            let mut of_unit: Vec<i32> = (0..squares).map(|square| highest[square * width + unit]).collect();
            of_unit.sort_unstable_by_key(|most| Reverse(*most));
            *bound = of_unit.iter().take(PIECES).sum::<i32>().max(*bound);
        }
    }
    let mut units: Vec<usize> = (0..width).collect();
    units.sort_by_key(|unit| Reverse(bounds[*unit]));
    units
}

/// The sum of a unit in white's eyes, in exact integers.
fn sum(net: &Net, pieces: &[(u8, u8)], unit: usize) -> i32 {
    let (features, width): (FeatureSet, usize) = (net.shape.features, net.shape.width);
    let position = Position::new(pieces).unwrap();
    let active = Board::new(&position, Side::White).active(features, Side::White);
    let row = |row: &usize| match net.transformer.relation(features, *row, width) {
        Some((weights, _)) => i32::from(weights[unit]),
        None => i32::from(net.transformer.weights.values[row * width + unit]),
    };
    i32::from(net.transformer.biases.values[unit]) + active.iter().map(row).sum::<i32>()
}

/// From two kings to the position that a walk of small changes finds, worse ones accepted the less the longer it goes.
fn climb(net: &Net, unit: usize, sign: i32) -> (i32, Vec<(u8, u8)>) {
    let mut random = Random(unit as u64 + (sign + 1) as u64);
    let mut pieces: Vec<(u8, u8)> = vec![(KING, 4), (OTHER | KING, 60)];
    let mut here = sign * sum(net, &pieces, unit);
    let mut found = (here, pieces.clone());
    for step in 0..STEPS {
        let next = changed(&pieces, &mut random);
        if !is_legal(&next) {
            continue;
        }
        let there = sign * sum(net, &next, unit);
        if there >= here - SLACK * (STEPS - step) / STEPS {
            (pieces, here) = (next, there);
            if here > found.0 {
                found = (here, pieces.clone());
            }
        }
    }
    (sign * found.0, found.1)
}

const KING: u8 = 5;
const OTHER: u8 = 8;

/// One piece goes elsewhere, becomes another, comes or vanishes.
fn changed(pieces: &[(u8, u8)], random: &mut Random) -> Vec<(u8, u8)> {
    let mut next = pieces.to_vec();
    let mut below = |count: usize| (random.draw() % count as u64) as usize;
    let (place, square) = (below(next.len()), below(64) as u8);
    let kind = below(5) as u8 | if below(2) == 0 { OTHER } else { 0 };
    let is_free = next.iter().all(|piece| piece.1 != square);
    match below(4) {
        0 if is_free => next[place].1 = square,
        1 if place > 1 => next[place].0 = kind,
        2 if is_free => next.push((kind, square)),
        3 if place > 1 => drop(next.swap_remove(place)),
        _ => {}
    }
    next
}

/// Nobody in check, pawns where pawns stand, and no more pieces than eight pawns a side can have become.
fn is_legal(pieces: &[(u8, u8)]) -> bool {
    let can_be = |side: u8| {
        let mut counts = [0; 6];
        pieces.iter().filter(|piece| piece.0 & OTHER == side).for_each(|piece| counts[usize::from(piece.0 & 7)] += 1);
        let promoted: i32 =
            counts[1..5].iter().zip([2, 2, 2, 1]).map(|(count, at_first)| (count - at_first).max(0)).sum();
        counts[0] + promoted <= 8
    };
    let is_placed = |piece: &(u8, u8)| piece.0 & 7 != 0 || (8..56).contains(&piece.1);
    let is_possible = can_be(0) && can_be(OTHER) && pieces.iter().all(is_placed);
    is_possible && Position::new(pieces).is_ok_and(|position| in_check(&position) == [false; 2])
}
