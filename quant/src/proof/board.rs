//! The most extreme accumulators that a chessboard can give.
//!
//! All features of a perspective come from one king bucket, its king's, and no two pieces stand on one square. A
//! feature is `size · bucket + 64 · plane + square`, so the extremes of a hidden unit are, over all buckets, the sum of
//! the
//! `active` greatest of the sixty-four squares' greatest weights. That is more than any legal position reaches (it may
//! have twelve queens), and far less than the sum over all features at once.

/// Squares of a plane.
const SQUARES: usize = 64;

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

impl Board {
    /// For every hidden unit the least and the greatest sum. `row` fills in a feature's weights, (units,).
    pub fn extremes(&self, units: usize, row: impl Fn(usize, &mut [i32])) -> Vec<(i64, i64)> {
        let mut found = vec![(0i64, 0i64); units];
        let mut weights = vec![0; units];
        let (mut least, mut greatest) = (vec![0; SQUARES * units], vec![0; SQUARES * units]);
        for bucket in 0..self.buckets {
            least.fill(0);
            greatest.fill(0);
            for within in 0..self.per_bucket {
                row(bucket * self.per_bucket + within, &mut weights);
                let place = within % SQUARES * units..(within % SQUARES + 1) * units;
                let (least, greatest) = (&mut least[place.clone()], &mut greatest[place]);
                for ((least, greatest), weight) in least.iter_mut().zip(greatest).zip(&weights) {
                    *least = (*least).min(*weight);
                    *greatest = (*greatest).max(*weight);
                }
            }
            for (unit, (low, high)) in found.iter_mut().enumerate() {
                let column = |ends: &[i32]| ends.iter().skip(unit).step_by(units.max(1)).copied().collect::<Vec<i32>>();
                *low = (*low).min(-self.sum_of_greatest(column(&least).into_iter().map(|end| -i64::from(end))));
                *high = (*high).max(self.sum_of_greatest(column(&greatest).into_iter().map(i64::from)));
            }
        }
        found
    }

    /// The features that reach an end of one unit's range, and what they add up to.
    pub fn witness(&self, units: usize, row: impl Fn(usize, &mut [i32]), unit: usize, upward: bool) -> (Vec<u32>, i64) {
        let mut weights = vec![0; units];
        let mut best: (Vec<u32>, i64) = (Vec::new(), 0);
        for bucket in 0..self.buckets {
            let mut squares = [(0i64, 0u32); SQUARES];
            for feature in bucket * self.per_bucket..(bucket + 1) * self.per_bucket {
                row(feature, &mut weights);
                let outward = i64::from(weights[unit]) * if upward { 1 } else { -1 };
                if let Some(square) = squares.get_mut(feature % SQUARES).filter(|square| outward > square.0) {
                    *square = (outward, feature as u32);
                }
            }
            squares.sort_unstable_by_key(|(outward, feature)| (-outward, *feature));
            let chosen = || squares.iter().take(self.active).filter(|(outward, _)| *outward > 0);
            let sum = chosen().map(|(outward, _)| outward).sum();
            if sum > best.1 {
                best = (chosen().map(|(_, feature)| *feature).collect(), sum);
            }
        }
        best.0.sort_unstable();
        (best.0, if upward { best.1 } else { -best.1 })
    }

    fn sum_of_greatest(&self, outward: impl Iterator<Item = i64>) -> i64 {
        let mut squares: Vec<i64> = outward.collect();
        squares.sort_unstable_by(|a, b| b.cmp(a));
        squares.into_iter().take(self.active).filter(|weight| *weight > 0).sum()
    }
}
