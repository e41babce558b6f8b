//! The area under the receiver's curve, by ranks.

/// Of (score, is positive): the share of pairs of a positive and a negative one in which the positive one is higher,
/// ties counted half. None where there are no such pairs.
///
/// `(Σ ranks of the positives − p (p + 1) / 2) / (p n)`, equal scores sharing the mean of their ranks.
#[must_use]
pub fn area_under_curve(scores: &[(f64, bool)]) -> Option<f64> {
    let mut sorted: Vec<(f64, bool)> = scores.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let positives = sorted.iter().filter(|(_, is_positive)| *is_positive).count() as f64;
    let negatives = sorted.len() as f64 - positives;
    let mut sum = 0.0;
    let mut start = 0;
    // Both zeros are one score.
    for tied in sorted.chunk_by(|a, b| a.0 == b.0) {
        let rank = start as f64 + (tied.len() + 1) as f64 / 2.0;
        sum += rank * tied.iter().filter(|(_, is_positive)| *is_positive).count() as f64;
        start += tied.len();
    }
    let pairs = positives * negatives;
    (pairs > 0.0).then(|| (sum - positives * (positives + 1.0) / 2.0) / pairs)
}

#[cfg(test)]
mod tests {
    use super::area_under_curve;

    /// Every pair, counted.
    fn by_pairs(scores: &[(f64, bool)]) -> Option<f64> {
        let (mut won, mut pairs) = (0.0, 0.0);
        for (positive, _) in scores.iter().filter(|(_, is_positive)| *is_positive) {
            for (negative, _) in scores.iter().filter(|(_, is_positive)| !is_positive) {
                pairs += 1.0;
                won += if positive > negative {
                    1.0
                } else if positive == negative {
                    0.5
                } else {
                    0.0
                };
            }
        }
        (pairs > 0.0).then(|| won / pairs)
    }

    #[test]
    fn ranks_count_the_pairs() {
        let mut state = 7u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        for len in 0..60 {
            // Few values, so that there are ties; among them both zeros.
            let scores: Vec<(f64, bool)> =
                (0..len).map(|_| ([-1.5, -0.0, 0.0, 0.25, 3.0][next(5) as usize], next(3) == 0)).collect();
            let (ranks, pairs) = (area_under_curve(&scores), by_pairs(&scores));
            assert_eq!(ranks.is_some(), pairs.is_some());
            assert!((ranks.unwrap_or(0.0) - pairs.unwrap_or(0.0)).abs() < 1e-12, "{scores:?}");
        }
    }
}
