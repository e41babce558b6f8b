//! Bounds of sums over pairs of embeddings.
//!
//! At most `count` of the rows are there at once, each once, and which they are is not known. With `n` the norm of a
//! row, `|<a, b>| ≤ n_a · n_b` (Cauchy and Schwarz), so that
//!
//! ```text
//! one product             ≤ the two greatest norms multiplied
//! the sum of all pairs    ≤ ½ ((Σ n)² − Σ n²) over the `count` greatest norms
//! ```
//!
//! and the same element by element with magnitudes instead of norms.

/// Rows of which `count` can be there; magnitudes (rows, width), a row behind the other.
pub(super) struct Embeddings {
    pub magnitudes: Vec<i64>,
    pub width: usize,
    pub count: usize,
}

impl Embeddings {
    /// No product of two rows is beyond this.
    pub(super) fn product(&self) -> i64 {
        match self.norms().as_slice() {
            [first, second, ..] => first.saturating_mul(*second),
            _ => 0,
        }
    }

    /// No sum over all pairs is beyond this.
    pub(super) fn all_pairs(&self) -> i64 {
        pairs(&self.norms())
    }

    /// The same for one element of the embeddings.
    pub(super) fn all_pairs_of(&self, element: usize) -> i64 {
        let column = self.magnitudes.iter().skip(element).step_by(self.width.max(1));
        pairs(&greatest(column.copied().collect(), self.count))
    }

    /// The `count` greatest norms, each rounded up.
    fn norms(&self) -> Vec<i64> {
        let norm = |row: &[i64]| {
            let square = row.iter().fold(0i64, |sum, e| sum.saturating_add(e.saturating_mul(*e)));
            let root = square.isqrt();
            root + i64::from(root.saturating_mul(root) < square)
        };
        greatest(self.magnitudes.chunks(self.width.max(1)).map(norm).collect(), self.count)
    }
}

fn greatest(mut values: Vec<i64>, count: usize) -> Vec<i64> {
    values.sort_unstable_by(|a, b| b.cmp(a));
    values.truncate(count);
    values
}

/// `Σ n_k n_l` over all pairs.
fn pairs(values: &[i64]) -> i64 {
    let mut before = 0i64;
    let mut sum = 0i64;
    for value in values {
        sum = sum.saturating_add(before.saturating_mul(*value));
        before = before.saturating_add(*value);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every choice of two or three of five rows stays within the bounds, and some come near.
    #[test]
    fn no_choice_of_rows_is_beyond_its_bound() {
        let table = [[3, -4], [1, 7], [-2, 2], [5, 0], [6, 1]];
        let rows =
            Embeddings { magnitudes: table.iter().flatten().map(|e: &i64| e.abs()).collect(), width: 2, count: 3 };
        let dot = |a: [i64; 2], b: [i64; 2]| a[0] * b[0] + a[1] * b[1];
        let (mut product, mut all, mut first) = (0, 0, 0);
        for a in 0..5 {
            for b in a + 1..5 {
                for c in b + 1..5 {
                    let (x, y, z) = (table[a], table[b], table[c]);
                    product = product.max(dot(x, y).abs()).max(dot(y, z).abs()).max(dot(x, z).abs());
                    all = all.max((dot(x, y) + dot(y, z) + dot(x, z)).abs());
                    first = first.max((x[0] * y[0] + y[0] * z[0] + x[0] * z[0]).abs());
                }
            }
        }
        assert!(product <= rows.product() && rows.product() <= 8 * 7, "{product}");
        assert!(all <= rows.all_pairs(), "{all} {}", rows.all_pairs());
        assert_eq!((first, rows.all_pairs_of(0)), (63, 6 * 5 + 6 * 3 + 5 * 3), "reached by rows of one sign");
    }
}
