//! The layers of a network, with the description that they belong to.

use super::matrix::Matrix;
use crate::arch::Architecture;

/// One affine layer: `y = weights · x + bias`.
#[derive(Debug, Clone, PartialEq)]
pub struct Affine<T> {
    /// (rows, inputs); a bucketed layer has the rows of bucket 0, then those of bucket 1, and so on.
    pub weights: Matrix<T>,
    /// (rows,)
    pub bias: Vec<T>,
}

/// A network. The weights of a first layer with a factoriser hold the sum of both.
#[derive(Debug, Clone, PartialEq)]
pub struct Net<T> {
    /// What the layers mean.
    pub arch: Architecture,
    /// One for each layer of the description.
    pub layers: Vec<Affine<T>>,
    /// The piece-square values of a description that has them; without a tensor for it their bias is zeros.
    pub psqt: Option<Affine<T>>,
}

/// A layer whose weights or bias do not have the description's shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShapeMismatch {
    /// Index of the layer.
    pub layer: usize,
    /// Shape (out, in) of its weights, (0, 0) if the layer is missing. Equal to `expected` if the bias is wrong.
    pub found: (usize, usize),
    /// Shape by the description.
    pub expected: (usize, usize),
}

impl<T: Copy> Net<T> {
    /// The first layer that lacks the shape that the description gives it; piece-square values count as the one behind
    /// the last.
    #[must_use]
    pub fn shape_mismatch(&self) -> Option<ShapeMismatch> {
        let described = self.arch.layers.len();
        let of_layers = (0..described.max(self.layers.len())).find_map(|index| {
            let expected = (self.arch.layer_rows(index), self.arch.layer_inputs(index));
            mismatch(index, self.layers.get(index), expected)
        });
        of_layers.or_else(|| match (&self.arch.psqt, &self.psqt) {
            (None, None) => None,
            (_, psqt) => mismatch(described, psqt.as_ref(), (self.arch.psqt_rows(), self.arch.feature_count())),
        })
    }

    /// The same network in another type.
    #[must_use]
    pub fn map<U>(&self, mut function: impl FnMut(T) -> U) -> Net<U> {
        let mut of = |layer: &Affine<T>| Affine {
            weights: layer.weights.map(&mut function),
            bias: layer.bias.iter().copied().map(&mut function).collect(),
        };
        let layers = self.layers.iter().map(&mut of).collect();
        Net { arch: self.arch.clone(), layers, psqt: self.psqt.as_ref().map(of) }
    }
}

/// Whether a layer lacks its shape.
fn mismatch<T>(layer: usize, of: Option<&Affine<T>>, expected: (usize, usize)) -> Option<ShapeMismatch> {
    let Some(Affine { weights, bias }) = of else {
        return Some(ShapeMismatch { layer, found: (0, 0), expected });
    };
    let found = (weights.outputs, weights.inputs);
    let is_whole = weights.outputs.checked_mul(weights.inputs) == Some(weights.values.len());
    let fits = found == expected && is_whole && bias.len() == expected.0;
    (!fits).then_some(ShapeMismatch { layer, found, expected })
}

impl Net<f32> {
    /// The same network in double precision, exactly.
    #[must_use]
    pub fn to_f64(&self) -> Net<f64> {
        self.map(f64::from)
    }
}
