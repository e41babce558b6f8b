//! Where a tile's sums go: to memory as they are, or on to what rounds them.

use super::products::Dense;
use crate::sure::bias_at;

/// Where a tile hands its sums to.
pub(super) trait Ending {
    /// Rows that are wanted.
    fn outputs(&self) -> usize;
    /// Takes the sums of rows `row` on, if all of them are wanted.
    fn vectors<D: Dense, const VECTORS: usize>(&mut self, d: D, sums: [D::Sums; VECTORS], row: usize) -> bool;
    /// Takes a row's sum; `row` is one that is wanted.
    fn single(&mut self, sum: i32, row: usize);
}

/// With their biases, if there are any, as i32.
pub(super) struct Sums<'e> {
    pub bias: &'e [i32],
    pub out: &'e mut [i32],
}

impl Ending for Sums<'_> {
    #[inline(always)]
    fn outputs(&self) -> usize {
        self.out.len()
    }

    #[inline(always)]
    fn vectors<D: Dense, const VECTORS: usize>(&mut self, d: D, sums: [D::Sums; VECTORS], row: usize) -> bool {
        let rows = row..row + VECTORS * D::ROWS;
        match (self.out.get_mut(rows.clone()), self.bias.get(rows)) {
            (Some(out), Some(bias)) => {
                for ((out, sums), bias) in out.chunks_exact_mut(D::ROWS).zip(sums).zip(bias.chunks_exact(D::ROWS)) {
                    for ((out, sum), bias) in out.iter_mut().zip(d.rows(sums).as_ref()).zip(bias) {
                        *out = sum.wrapping_add(*bias);
                    }
                }
                true
            }
            (Some(out), None) if self.bias.is_empty() => {
                for (out, sums) in out.chunks_exact_mut(D::ROWS).zip(sums) {
                    for (out, sum) in out.iter_mut().zip(d.rows(sums).as_ref()) {
                        *out = *sum;
                    }
                }
                true
            }
            _ => false,
        }
    }

    #[inline(always)]
    fn single(&mut self, sum: i32, row: usize) {
        if let Some(out) = self.out.get_mut(row) {
            *out = sum.wrapping_add(bias_at(self.bias, row));
        }
    }
}

/// Adds the chains; returns the number of rows.
#[inline(always)]
pub(super) fn store<D: Dense, E: Ending, const VECTORS: usize, const CHAINS: usize>(
    d: D,
    sums: [[D::Sums; VECTORS]; CHAINS],
    row: usize,
    end: &mut E,
) -> usize {
    let totals = joined(d, sums);
    if !end.vectors(d, totals, row) {
        let outputs = end.outputs();
        for (vector, total) in totals.into_iter().enumerate() {
            let first = row + vector * D::ROWS;
            for (lane, sum) in d.rows(total).as_ref().iter().enumerate().take(outputs.saturating_sub(first)) {
                end.single(*sum, first + lane);
            }
        }
    }
    VECTORS * D::ROWS
}

/// The sums of all chains.
#[inline(always)]
pub(super) fn joined<D: Dense, const VECTORS: usize, const CHAINS: usize>(
    d: D,
    sums: [[D::Sums; VECTORS]; CHAINS],
) -> [D::Sums; VECTORS] {
    let mut totals = sums[0];
    for chain in sums.iter().skip(1) {
        for (total, sums) in totals.iter_mut().zip(chain) {
            *total = d.add(*total, *sums);
        }
    }
    totals
}
