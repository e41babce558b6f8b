//! The claim that every reader must check (section 4.7).

use super::Container;
use super::file::Tensor;

impl Container {
    /// The first AFFINE_I8 whose weights claim with bit 8 what is not so, in words.
    pub(super) fn false_claim(&self) -> Option<String> {
        let affine = self.ops.iter().filter(|op| op.kind == 5);
        let mut weights = affine.map(|op| (op.weights, &self.tensors[op.weights as usize]));
        let (number, _) = weights.find(|(_, tensor)| tensor.claims & 8 != 0 && !fours_fit(tensor))?;
        Some(format!("tensor {number} claims falsely that four products fit i16"))
    }
}

fn fours_fit(weights: &Tensor) -> bool {
    let weight = |bank, row, col| if col < weights.cols { weights.integer(bank, row, col) } else { 0 };
    (0..weights.banks).all(|bank| {
        (0..weights.rows).all(|row| {
            (0..weights.cols).step_by(8).flat_map(|g| [g, g + 2]).all(|g| {
                let four = [g, g + 1, g + 4, g + 5].map(|col| weight(bank, row, col));
                let above: i64 = four.iter().filter(|weight| **weight > 0).sum();
                let below: i64 = four.iter().filter(|weight| **weight < 0).sum();
                above <= 258 && below >= -258
            })
        })
    })
}
