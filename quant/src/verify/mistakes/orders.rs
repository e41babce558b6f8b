//! Weights whose values show by themselves that they were read in the other order.
//!
//! A trained network has neighbours that are alike: the rows of a piece on two squares side by side, the weights of two
//! output buckets side by side. Read in the other order they are not. Of thirteen networks, eight of them engines', the
//! mean correlation of such neighbours is 0.44 to 0.99 where they were trained to be alike and −0.08 to 0.06 in the
//! other order; of networks that hardly learned it is about 0 in both, which says nothing.

use super::{Evidence, Mistake, MistakeKind};
use crate::arch::InputKind;
use crate::float::{Matrix, Net};

/// Neighbours this much alike are so because they were trained.
const ALIKE: f64 = 0.35;
/// And these are strangers.
const STRANGERS: f64 = 0.12;
/// Rows that are shorter correlate by chance.
const SHORTEST_ROW: usize = 32;

/// The tensors of a network that were read in the other order, by their values alone.
#[must_use]
pub fn find(net: &Net<f64>) -> Vec<Mistake> {
    let mut found = Vec::new();
    for (index, layer) in net.layers.iter().enumerate() {
        let Matrix { outputs, inputs, values } = &layer.weights;
        let (outputs, inputs) = (*outputs, *inputs);
        // What lies side by side, and where its elements are: features of a chess network, else output buckets.
        let (what, rows, len, lag) = match index {
            0 if net.arch.input.kind == InputKind::Chess => ("features of neighbouring squares", inputs, outputs, 1),
            0 => continue,
            _ if net.arch.layers[index].bucketed => {
                ("neighbouring output buckets", outputs, inputs, net.arch.layers[index].outputs)
            }
            _ => continue,
        };
        if len < SHORTEST_ROW || rows <= lag {
            continue;
        }
        let at = |row: usize, column: usize| if index == 0 { column + outputs * row } else { row + outputs * column };
        let (order, inverse) = (
            |index: usize| index / outputs + inputs * (index % outputs),
            |index: usize| index / inputs + outputs * (index % inputs),
        );
        let alike =
            |place: &dyn Fn(usize) -> usize| likeness(rows, len, lag, &|row, column| values[place(at(row, column))]);
        let given = alike(&|index| index);
        // Whose neighbours are alike as they are is not looked at in other orders.
        let other = (given < STRANGERS).then(|| alike(&order).max(alike(&inverse)));
        if let Some(other) = other.filter(|other| *other > ALIKE) {
            let name = net.arch.weights_name(index);
            found.push(Mistake {
                kind: MistakeKind::TransposedWeights,
                evidence: Evidence::Values,
                text: format!(
                    "tensor `{name}`: the weights of {what} have nothing in common as they are read (mean correlation \
                     {given:.2}) and are alike in the other order ({other:.2}): is `transposed` right?"
                ),
            });
        }
    }
    found
}

/// The mean correlation of rows with those `lag` behind them. Rows of zeros, which no example has reached, say nothing.
fn likeness(rows: usize, len: usize, lag: usize, at: &dyn Fn(usize, usize) -> f64) -> f64 {
    let (mut sum, mut pairs) = (0.0, 0usize);
    for row in 0..rows - lag {
        let (mut a, mut b, mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for column in 0..len {
            let (x, y) = (at(row, column), at(row + lag, column));
            (a, b, ab, aa, bb) = (a + x, b + y, ab + x * y, aa + x * x, bb + y * y);
        }
        let n = len as f64;
        let (spread_a, spread_b) = (aa - a * a / n, bb - b * b / n);
        if spread_a > 0.0 && spread_b > 0.0 {
            sum += (ab - a * b / n) / (spread_a * spread_b).sqrt();
            pairs += 1;
        }
    }
    sum / pairs.max(1) as f64
}
