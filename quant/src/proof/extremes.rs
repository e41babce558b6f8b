//! The most extreme sums of distinct weights, of every hidden unit at once.
//!
//! Weights lie with a row a feature, and a hidden unit's are a row apart. Going through them unit by unit would fetch
//! every cache line of the tensor once for each of its weights, so this goes through the rows. For every unit it keeps
//! the weights that may still count, and two thresholds beyond which another weight would count:
//!
//! ```text
//! greatest[u]: positive weights of u; when 2·active are there, the `active` greatest stay, and above[u]
//!              is the least of them
//! least[u]:    negative weights of u, likewise, and below[u]
//! ```
//!
//! A weight within `below[u]..=above[u]` cannot change a sum. After the first rows nearly all are, so that most of the
//! pass is two comparisons a weight, sixteen weights to a branch. In the worst order, weights that grow from row to
//! row, each is kept once and shortening looks at it a few times; the lists together never hold more than the tensor.

use std::cmp::Ordering;

/// Weights that share a branch: a few vectors of any instruction set.
const GROUP: usize = 16;

/// For every hidden unit the sum of its `active` most negative weights and that of its `active` most positive.
/// weights: (features, units), a row a feature.
pub(super) fn extremes(weights: &[i32], units: usize, active: usize) -> Vec<(i64, i64)> {
    let mut search = Search {
        active,
        below: vec![0; units],
        above: vec![0; units],
        least: vec![Vec::new(); units],
        greatest: vec![Vec::new(); units],
    };
    if active == 0 {
        return vec![(0, 0); units];
    }
    for row in weights.chunks(units.max(1)) {
        search.row(row);
    }
    let Search { mut least, mut greatest, .. } = search;
    let sum = |kept: &[i32]| kept.iter().map(|weight| i64::from(*weight)).sum::<i64>();
    for (least, greatest) in least.iter_mut().zip(&mut greatest) {
        shorten(least, active, |a, b| a.cmp(b));
        shorten(greatest, active, |a, b| b.cmp(a));
    }
    least.iter().zip(&greatest).map(|(least, greatest)| (sum(least), sum(greatest))).collect()
}

struct Search {
    active: usize,
    /// (units,) At most 0: only less than this counts.
    below: Vec<i32>,
    /// (units,) At least 0: only more than this counts.
    above: Vec<i32>,
    /// (units,) of fewer than 2·active weights.
    least: Vec<Vec<i32>>,
    /// (units,) likewise.
    greatest: Vec<Vec<i32>>,
}

impl Search {
    fn row(&mut self, row: &[i32]) {
        let mut start = 0;
        let (groups, rest) = row.as_chunks::<GROUP>();
        for group in groups {
            if self.any_counts(group, start) {
                self.keep(group, start);
            }
            start += GROUP;
        }
        self.keep(rest, start);
    }

    /// Whether one of the weights of units from `start` on is beyond its thresholds.
    fn any_counts(&self, group: &[i32; GROUP], start: usize) -> bool {
        let thresholds = (self.below.get(start..), self.above.get(start..));
        let (Some(below), Some(above)) = thresholds else { return false };
        let (Some(below), Some(above)) = (below.first_chunk::<GROUP>(), above.first_chunk::<GROUP>()) else {
            return false;
        };
        let mut any = false;
        for ((weight, below), above) in group.iter().zip(below).zip(above) {
            any |= (weight < below) | (weight > above);
        }
        any
    }

    /// Keeps those weights of units from `start` on that count.
    fn keep(&mut self, weights: &[i32], start: usize) {
        let full = self.active.saturating_mul(2);
        for (unit, weight) in (start..).zip(weights) {
            let (Some(below), Some(above)) = (self.below.get_mut(unit), self.above.get_mut(unit)) else { return };
            if *weight > *above
                && let Some(kept) = self.greatest.get_mut(unit)
            {
                kept.push(*weight);
                if kept.len() >= full {
                    *above = shorten(kept, self.active, |a, b| b.cmp(a));
                }
            } else if *weight < *below
                && let Some(kept) = self.least.get_mut(unit)
            {
                kept.push(*weight);
                if kept.len() >= full {
                    *below = shorten(kept, self.active, |a, b| a.cmp(b));
                }
            }
        }
    }
}

/// Leaves the first `count` in this order and returns the last of them; does nothing to a list that is not longer.
fn shorten(kept: &mut Vec<i32>, count: usize, order: impl FnMut(&i32, &i32) -> Ordering) -> i32 {
    if count == 0 || kept.len() <= count {
        return 0;
    }
    let (_, last, _) = kept.select_nth_unstable_by(count - 1, order);
    let last = *last;
    kept.truncate(count);
    last
}

#[cfg(test)]
mod tests {
    use super::extremes;

    /// The definition: sort a unit's weights, add from either end while they help.
    fn by_sorting(weights: &[i32], units: usize, active: usize) -> Vec<(i64, i64)> {
        let of = |unit: usize| {
            let mut column: Vec<i64> = weights.iter().skip(unit).step_by(units).map(|w| i64::from(*w)).collect();
            column.sort_unstable();
            let low = column.iter().take(active).filter(|weight| **weight < 0).sum();
            (low, column.iter().rev().take(active).filter(|weight| **weight > 0).sum())
        };
        (0..units).map(of).collect()
    }

    fn random(state: &mut u64) -> i32 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) as i32 - (1 << 30)
    }

    /// Numbers of units around a group of sixteen, numbers of rows around `active` and around the lists' length.
    #[test]
    fn one_pass_finds_what_sorting_finds() {
        let mut state = 3;
        for units in [1, 2, 15, 16, 17, 33] {
            for active in [0, 1, 2, 4, 32] {
                for rows in [0, 1, active, active + 1, 2 * active, 2 * active + 1, 5 * active + 3] {
                    for range in [2, 200, i32::MAX] {
                        let weights: Vec<i32> = (0..units * rows).map(|_| random(&mut state) % range).collect();
                        let found = extremes(&weights, units, active);
                        assert_eq!(found, by_sorting(&weights, units, active), "{units} {active} {rows} {range}");
                    }
                }
            }
        }
    }

    /// Orders in which every weight counts when it comes, or none but the first; ties; the ends of i32.
    #[test]
    fn the_order_of_the_rows_does_not_matter() {
        let rows = 500;
        let rising: Vec<i32> = (0..rows).map(|row| row - 250).collect();
        let falling: Vec<i32> = rising.iter().rev().copied().collect();
        let ends: Vec<i32> = (0..rows).map(|row| [i32::MIN, i32::MAX, 0][row as usize % 3]).collect();
        for column in [rising, falling, ends, vec![7; 500], vec![-7; 500], vec![0; 500]] {
            let weights: Vec<i32> = column.iter().flat_map(|weight| [*weight; 17]).collect();
            for active in [1, 3, 249, 250, 251, 499, 500, 501, usize::MAX] {
                assert_eq!(extremes(&weights, 17, active), by_sorting(&weights, 17, active), "{active}");
            }
        }
    }
}
