//! Another order of the neurons in a container, which leaves every output as it is.
//!
//! Neurons `i` and `i + hidden/2` of a pairwise transformer make product `i` of their perspective. Where a pair moves,
//! both of its columns of the feature rows and the bias move, in both perspectives, and so does the product's column of
//! the second layer's weights. Sums of integers do not depend on their order, sums of f32 do: only i8 weights may stand
//! behind.
//!
//! A [`QuantNet`](super::QuantNet) keeps its tensors in training order and the permutation beside them; the packer
//! applies it.

/// Which pair of neurons stands where in a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permutation {
    /// Each of 0 to len − 1 once.
    order: Vec<u32>,
}

/// The first entry that a permutation cannot have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("entry {entry} is {found}; each of 0 to {} must occur once", len.saturating_sub(1))]
pub struct NotAPermutation {
    /// Which entry.
    pub entry: usize,
    /// What it is: beyond the end, or there already.
    pub found: i64,
    /// Number of entries.
    pub len: usize,
}

impl Permutation {
    /// `order[place]` is the pair, numbered as the trainer has it, that stands at `place` of the container.
    ///
    /// # Errors
    /// [`NotAPermutation`] unless every pair occurs exactly once.
    pub fn new(order: &[i32]) -> Result<Self, NotAPermutation> {
        let len = order.len();
        let mut free = vec![true; len];
        let mut checked = Vec::with_capacity(len);
        for (entry, found) in order.iter().enumerate() {
            let pair = u32::try_from(*found).ok();
            match pair.and_then(|pair| free.get_mut(pair as usize)).map(std::mem::take) {
                Some(true) => checked.extend(pair),
                _ => return Err(NotAPermutation { entry, found: i64::from(*found), len }),
            }
        }
        Ok(Self { order: checked })
    }

    /// The pair that stands at each place.
    #[must_use]
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// How many pairs do not stand where the trainer has them.
    #[must_use]
    pub fn moved(&self) -> usize {
        self.order.iter().enumerate().filter(|(place, pair)| *place != **pair as usize).count()
    }

    /// The permutation that takes this one back.
    #[must_use]
    pub fn inverse(&self) -> Self {
        let mut order = vec![0; self.order.len()];
        for (place, pair) in self.order.iter().enumerate() {
            if let Some(back) = order.get_mut(*pair as usize) {
                *back = place as u32;
            }
        }
        Self { order }
    }

    /// Reorders every run of one column a pair: `unit` elements side by side are a column.
    ///
    /// So one loop serves accumulators and biases (`unit` 1, two runs a perspective), feature rows (the same, row after
    /// row), products (one run a perspective) and the second layer's weights (`unit` its rows).
    pub fn apply<T: Copy>(&self, values: &mut [T], unit: usize) {
        let len = unit * self.order.len();
        if len == 0 {
            return;
        }
        for run in values.chunks_exact_mut(len) {
            let before = run.to_vec();
            for (to, pair) in run.chunks_exact_mut(unit).zip(&self.order) {
                if let Some(from) = before.chunks_exact(unit).nth(*pair as usize) {
                    to.copy_from_slice(from);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{NotAPermutation, Permutation};

    #[test]
    fn columns_move_run_by_run_and_come_back() {
        let permutation = Permutation::new(&[2, 0, 1]).unwrap();
        let mut runs = [10, 11, 12, 20, 21, 22];
        permutation.apply(&mut runs, 1);
        assert_eq!(runs, [12, 10, 11, 22, 20, 21]);
        let mut columns = ['a', 'A', 'b', 'B', 'c', 'C'];
        permutation.apply(&mut columns, 2);
        assert_eq!(columns, ['c', 'C', 'a', 'A', 'b', 'B']);
        permutation.inverse().apply(&mut columns, 2);
        assert_eq!(columns, ['a', 'A', 'b', 'B', 'c', 'C']);
        assert_eq!((permutation.moved(), Permutation::new(&[0, 2, 1]).unwrap().moved()), (3, 2));
    }

    #[test]
    fn what_is_no_permutation_is_refused_at_its_first_entry() {
        let fault = |order: &[i32]| Permutation::new(order).unwrap_err();
        assert_eq!(fault(&[0, 3, 1]), NotAPermutation { entry: 1, found: 3, len: 3 });
        assert_eq!(fault(&[0, -1, 1]), NotAPermutation { entry: 1, found: -1, len: 3 });
        assert_eq!(fault(&[0, 1, 0]).to_string(), "entry 2 is 0; each of 0 to 2 must occur once");
        assert!(Permutation::new(&[]).unwrap().order().is_empty());
    }
}
