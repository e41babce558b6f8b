//! The most extreme accumulators that a chessboard can give.
//!
//! All features of a perspective come from one king bucket, its king's, no two pieces stand on one square, and neither
//! side has more than sixteen. A feature is `size · bucket + 64 · plane + square`, the own pieces' planes before the
//! other side's; two kings that share a plane share the middle one. So the extremes of a hidden unit are, over all
//! buckets, the greatest sum of so many pieces, each the one of its colour with the greatest weight on its square. That
//! is more than any legal position reaches (it may have twelve queens), and far less than the sum over all features at
//! once.

use super::sides::{self, Squares};
use crate::parallel;
use crate::positions::MAX_OF_A_SIDE;

/// Squares of a plane.
const SQUARES: usize = 64;
/// Planes of the pieces of both sides but the kings.
const PLANES_WITHOUT_KINGS: usize = 10;

/// A chess feature set, as far as the bounds depend on it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Board {
    /// Features of a king bucket, a multiple of 64.
    pub per_bucket: usize,
    /// King buckets.
    pub buckets: usize,
    /// The most pieces that are features.
    pub active: usize,
}

/// Of each colour and square the greatest, or the least, weights of any piece, (units,).
struct Ends(Vec<i32>);

impl Ends {
    fn of_colour(&self, colour: usize, square: usize, units: usize) -> &[i32] {
        &self.0[(colour * SQUARES + square) * units..][..units]
    }

    /// What a piece adds to a unit on each square, by colour.
    fn gains(&self, unit: usize, units: usize, sign: i64) -> [Vec<i64>; 2] {
        let gain = |colour, square| sign * i64::from(self.of_colour(colour, square, units)[unit]);
        [0, 1].map(|colour| (0..SQUARES).map(|square| gain(colour, square)).collect())
    }
}

impl Board {
    /// The most pieces of one side that are features. A description that allows more than both sides have together
    /// knows of another game.
    fn most_of_a_side(&self) -> usize {
        let has_kings = self.per_bucket / SQUARES > PLANES_WITHOUT_KINGS;
        let side = if has_kings { MAX_OF_A_SIDE } else { MAX_OF_A_SIDE - 1 };
        if self.active > 2 * MAX_OF_A_SIDE { self.active } else { side }
    }

    /// The colours that a plane belongs to, own first.
    fn has_plane(&self, colour: usize, plane: usize) -> bool {
        let planes = self.per_bucket / SQUARES;
        if colour == 0 { plane < planes.div_ceil(2) } else { plane >= planes / 2 }
    }

    /// Whether a board that shows the features of a list can show another one, of the same king bucket, too.
    pub fn admits(&self, list: &[u32], feature: u32) -> bool {
        let within = |feature: u32| feature as usize % self.per_bucket;
        // A king of a shared plane counts as the own one, which every board has.
        let is_own = |feature: u32| self.has_plane(0, within(feature) / SQUARES);
        let side = list.iter().filter(|other| is_own(**other) == is_own(feature)).count();
        let square = |feature: u32| within(feature) % SQUARES;
        side < self.most_of_a_side() && list.iter().all(|other| square(*other) != square(feature))
    }

    /// For every hidden unit the least and the greatest sum. `row` fills in a feature's weights, (units,).
    pub fn extremes(&self, units: usize, row: impl Fn(usize, &mut [i32])) -> Vec<(i64, i64)> {
        let mut found = vec![(0i64, 0i64); units];
        let mut weights = vec![0; units];
        for bucket in 0..self.buckets {
            // A square may stay empty.
            let mut ends = [0, 1].map(|_| Ends(vec![0; 2 * SQUARES * units]));
            for within in 0..self.per_bucket {
                row(bucket * self.per_bucket + within, &mut weights);
                for colour in [0, 1].into_iter().filter(|colour| self.has_plane(*colour, within / SQUARES)) {
                    let start = (colour * SQUARES + within % SQUARES) * units;
                    let [least, greatest] = ends.each_mut().map(|ends| &mut ends.0[start..start + units]);
                    for ((least, greatest), weight) in least.iter_mut().zip(greatest).zip(&weights) {
                        *least = (*least).min(*weight);
                        *greatest = (*greatest).max(*weight);
                    }
                }
            }
            let sum = |gains: [Vec<i64>; 2]| {
                let gains = [&gains[0][..], &gains[1][..]];
                sides::sum(gains, &self.choose(gains))
            };
            let of_unit = |unit| (-sum(ends[0].gains(unit, units, -1)), sum(ends[1].gains(unit, units, 1)));
            for ((low, high), (least, greatest)) in found.iter_mut().zip(parallel::map(units, of_unit)) {
                *low = (*low).min(least);
                *high = (*high).max(greatest);
            }
        }
        found
    }

    fn choose(&self, gains: [&[i64]; 2]) -> Squares {
        sides::choose(gains, self.most_of_a_side(), self.active)
    }

    /// The features that reach an end of one unit's range, and what they add up to.
    pub fn witness(&self, units: usize, row: impl Fn(usize, &mut [i32]), unit: usize, upward: bool) -> (Vec<u32>, i64) {
        let mut weights = vec![0; units];
        let mut best: (Vec<u32>, i64) = (Vec::new(), 0);
        for bucket in 0..self.buckets {
            let mut gains = [0, 1].map(|_| vec![0i64; SQUARES]);
            let mut features = [[0u32; SQUARES]; 2];
            for within in 0..self.per_bucket {
                let (feature, square) = (bucket * self.per_bucket + within, within % SQUARES);
                row(feature, &mut weights);
                let outward = i64::from(weights[unit]) * if upward { 1 } else { -1 };
                for colour in [0, 1].into_iter().filter(|colour| self.has_plane(*colour, within / SQUARES)) {
                    if outward > gains[colour][square] {
                        (gains[colour][square], features[colour][square]) = (outward, feature as u32);
                    }
                }
            }
            let gains = [&gains[0][..], &gains[1][..]];
            let chosen = self.choose(gains);
            let sum = sides::sum(gains, &chosen);
            if sum > best.1 {
                let feature = |(square, colour): (usize, &Option<usize>)| colour.map(|colour| features[colour][square]);
                best = (chosen.iter().enumerate().filter_map(feature).collect(), sum);
            }
        }
        best.0.sort_unstable();
        (best.0, if upward { best.1 } else { -best.1 })
    }
}
