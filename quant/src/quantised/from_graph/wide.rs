//! Weights that leave 8 bits, as bytes less a zero point do: what they meet is read several times over, each time with
//! a part of them. The sums are the same.

use super::Building;
use super::grid::Rows;
use crate::float::Matrix;
use crate::import::Remark;
use crate::quantised::{QuantisedOp, Quantity};
use crate::spatial::Move;
use crate::spatial::{Axis, Shape};

/// How many parts of 8 bits weights are the sum of.
pub(super) fn parts(weights: &Matrix<i16>) -> usize {
    let fits = |parts: i16| {
        let ends = (i16::from(i8::MIN) * parts, i16::from(i8::MAX) * parts);
        weights.values.iter().all(|weight| (ends.0..=ends.1).contains(weight))
    };
    (1..=3).find(|parts| fits(*parts)).map_or(3, |parts| parts as usize)
}

/// Part `part` of so many of a weight; together they are the weight.
fn part(weight: i16, part: usize, parts: usize) -> i8 {
    let mut left = weight;
    for _ in 0..part {
        left -= left.clamp(i16::from(i8::MIN), i16::from(i8::MAX));
    }
    debug_assert!(part < parts, "part {part} of {parts}");
    left.clamp(i16::from(i8::MIN), i16::from(i8::MAX)) as i8
}

impl Building<'_> {
    /// What a layer reads, and its weights in 8 bits. Of the groups there is one, where weights leave 8 bits.
    pub(super) fn narrowed(
        &mut self,
        name: &str,
        (read, from): (usize, Quantity),
        is_window: bool,
        rows: &Rows,
    ) -> (usize, Matrix<i8>) {
        let (outputs, inputs) = (rows.weights.outputs, rows.weights.inputs);
        let parts = parts(&rows.weights);
        let mut values = Vec::with_capacity(rows.weights.values.len() * parts);
        // Elements of the input that lie beside one another, with those of the next copy behind them.
        let run = if is_window { from.shape.channels } else { inputs };
        for columns in rows.weights.values.chunks(outputs * run) {
            for number in 0..parts {
                values.extend(columns.iter().map(|weight| part(*weight, number, parts)));
            }
        }
        let weights = Matrix { outputs, inputs: inputs * parts, values };
        if parts == 1 {
            return (read, weights);
        }
        let text = format!(
            "`{name}`: its weights, less their zero point, leave −128 to 127 and are taken in {parts} parts; its sums \
             are the same"
        );
        self.remarks.push(Remark::Decided(text));
        let name = format!("{name}.parts");
        let (mut read, mut is) = (read, from);
        if run != from.shape.channels {
            is = Quantity { shape: Shape::vector(from.shape.len()), ..from };
            read = self.push(&name, vec![read], is, QuantisedOp::Moved { by: Move::Reshape(is.shape), fill: 0 });
        }
        let shape = Shape { channels: is.shape.channels * parts, ..is.shape };
        (self.push(&name, vec![read; parts], Quantity { shape, ..is }, QuantisedOp::Concat(Axis::Channels)), weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_bytes_and_add_up() {
        for weight in -255..=255i16 {
            let count = parts(&Matrix { outputs: 1, inputs: 1, values: vec![weight] });
            let sum: i16 = (0..count).map(|number| i16::from(part(weight, number, count))).sum();
            assert_eq!(sum, weight);
        }
        let count = |values: [i16; 2]| parts(&Matrix { outputs: 1, inputs: 2, values: values.to_vec() });
        assert_eq!([count([-128, 127]), count([-129, 0]), count([0, 254]), count([255, -1])], [1, 2, 2, 3]);
    }
}
