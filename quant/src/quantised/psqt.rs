//! Piece-square values as digits behind the accumulators' own elements.
//!
//! ```text
//! an accumulator:   its own elements, zeros up to a whole number of vectors, and last the digits:
//!                   the lowest of every number, then the next ones
//! ```
//!
//! So updates, caches, tiers and proofs take them like any other element; see section 6.30 of FORMAT.md.

use super::net::QuantNet;
use crate::arch::ElementType;
use crate::stockfish::order::{Digits, columns_of};
use tamis_runtime::raw::op;

/// Bits of a digit that rows of bytes hold.
const BYTE_DIGIT_BITS: u32 = 8;

/// Where the digits lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PsqtColumns {
    /// Elements of an accumulator that the first layer makes.
    pub own: usize,
    /// How values are taken apart.
    pub digits: Digits,
    /// Values of a feature: outputs, times the buckets if they are bucketed.
    pub numbers: usize,
}

impl PsqtColumns {
    /// Those of a network with piece-square values; `Ok(None)` of any other.
    ///
    /// # Errors
    /// What is the matter, and what to do instead, where no digits hold all values and all sums of digits.
    pub fn of(net: &QuantNet) -> Result<Option<Self>, (String, &'static str)> {
        let (Some(psqt), Some(first)) = (&net.psqt, net.layers.first()) else { return Ok(None) };
        let most = net.arch.max_active();
        let widest = if first.weights.element == ElementType::I8 { BYTE_DIGIT_BITS } else { op::DIGIT_BITS };
        // A digit of each feature, and the bias's.
        let fits = |bits: &u32| (most + 1) << (bits - 1) <= i16::MAX as usize;
        let Some(bits) = (1..=widest).rev().find(fits) else {
            let what = format!("piece-square values beside lists of up to {most} features");
            return Err((what, "lower `max_active`, or add the values outside of the network"));
        };
        let half = 1i32 << (bits - 1);
        let values = || psqt.weights.integers().iter().chain(psqt.bias.integers());
        let holds = |count: &u32| {
            let digits = Digits { count: *count, bits };
            values().all(|value| (-half..half).contains(&digits.digit(*value, count - 1)))
        };
        let Some(count) = (1..=op::MAX_DIGITS).find(holds) else {
            let what = format!("piece-square values that {} digits of {bits} bits do not hold", op::MAX_DIGITS);
            return Err((what, "lower their scale, or `max_active`"));
        };
        let (own, numbers) = (first.weights.outputs, psqt.weights.outputs);
        Ok(Some(Self { own, digits: Digits { count, bits }, numbers }))
    }

    /// Elements of an accumulator.
    #[must_use]
    pub const fn width(&self) -> usize {
        self.own + columns_of(self.digits, self.numbers)
    }

    /// The element with the lowest digit of number 0.
    #[must_use]
    pub const fn first(&self) -> usize {
        self.width() - self.digits.count as usize * self.numbers
    }

    /// Rows of features, (own,) each, with the digits of their values, (numbers,) each, behind them.
    pub fn rows<T: Copy + From<i32>>(&self, own: &[T], values: &[i32]) -> Vec<T> {
        let mut rows = Vec::with_capacity(own.len() / self.own * self.width());
        for (row, values) in own.chunks(self.own).zip(values.chunks(self.numbers)) {
            rows.extend_from_slice(row);
            rows.resize(rows.len() + self.first() - self.own, T::from(0));
            let digits = (0..self.digits.count)
                .flat_map(|place| values.iter().map(move |value| T::from(self.digits.digit(*value, place))));
            rows.extend(digits);
        }
        rows
    }

    /// Weights of a layer that reads whole accumulators: zeros for the digits. weights: (rows,) an own element.
    pub fn inputs<T: Copy + From<i32>>(&self, weights: &[T], rows: usize) -> Vec<T> {
        let zeros = vec![T::from(0); (self.width() - self.own) * rows];
        weights.chunks(self.own * rows).flat_map(|side| side.iter().chain(&zeros)).copied().collect()
    }

    /// The values of rows that [`PsqtColumns::rows`] made; `None` where digits make no i32.
    pub fn values(&self, rows: &[i32]) -> Option<Vec<i32>> {
        let of = |row: &[i32]| -> Option<Vec<i32>> {
            let digits = &row[self.first()..];
            let of = |number| digits.iter().skip(number).step_by(self.numbers).map(|digit| *digit as i16);
            (0..self.numbers).map(|number| self.digits.value(of(number))).collect()
        };
        Some(rows.chunks(self.width()).map(of).collect::<Option<Vec<_>>>()?.concat())
    }

    /// The weights that [`PsqtColumns::inputs`] took.
    pub fn own_inputs(&self, weights: &[i32], rows: usize) -> Vec<i32> {
        weights.chunks(self.width() * rows).flat_map(|side| &side[..self.own * rows]).copied().collect()
    }

    /// The own elements of rows, or of a bias, as [`PsqtColumns::rows`] took them.
    pub fn own(&self, rows: &[i32]) -> Vec<i32> {
        rows.chunks(self.width()).flat_map(|row| &row[..self.own]).copied().collect()
    }
}
