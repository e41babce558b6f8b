//! Tensors under a setting of the switches.

use super::exact::Exact;
use super::{Setting, Switch};
use crate::program::{Clip, Operation, Program, ProgramNode, QuantTensor};

/// A program's tensors, each rounded or not.
pub(super) struct Operands<'o> {
    pub program: &'o Program,
    pub exact: &'o Exact,
    pub on: Setting<'o>,
}

/// The end of an integer head.
pub(super) struct Head {
    /// Behind the first division, with the bias.
    pub sums: Vec<f64>,
    pub factor: f64,
    pub divisor: f64,
}

impl Operands<'_> {
    /// Tensor `number` of all.
    pub fn tensor(&self, number: usize) -> &[f64] {
        let pair = &self.exact.pairs[number];
        if pair.is_rounded && (self.on)(Switch::Tensor(number)) { &pair.stored } else { &pair.exact }
    }

    /// The `place`th tensor of a node.
    pub fn of_node(&self, node: usize, place: usize) -> &[f64] {
        self.tensor(self.exact.first[node] + place)
    }

    /// One perspective's accumulator.
    pub fn accumulator(&self, features: &[u32]) -> Vec<f64> {
        let width = self.program.width();
        let (rows, mut sums) = (self.tensor(0), self.tensor(1).to_vec());
        for feature in features {
            let start = *feature as usize * width;
            sums.iter_mut().zip(&rows[start..start + width]).for_each(|(sum, weight)| *sum += weight);
        }
        sums
    }

    /// `Σ w (x − zero)` and the bias, if the node has one, of an output bucket's rows.
    pub fn affine(
        &self,
        node: usize,
        (weights, bias): (&QuantTensor, Option<&QuantTensor>),
        x: &[f64],
        zero: f64,
        bucket: usize,
    ) -> Vec<f64> {
        let rows = weights.bank(bucket);
        let mut sums = match bias {
            Some(bias) => self.of_node(node, 1)[bias.bank(bucket)].to_vec(),
            None => vec![0.0; rows.len()],
        };
        // Many inputs are 0, and add nothing.
        let columns = self.of_node(node, 0).chunks(weights.outputs);
        for (column, x) in columns.zip(x.iter().map(|x| x - zero)).filter(|(_, x)| *x != 0.0) {
            sums.iter_mut().zip(&column[rows.clone()]).for_each(|(sum, weight)| *sum += weight * x);
        }
        sums
    }

    /// `Σ (w x / 2¹⁵) x` and the bias, of an output bucket's rows, products rounded or not.
    pub fn rounded_dot(
        &self,
        node: usize,
        (weights, bias): (&QuantTensor, Option<&QuantTensor>),
        x: &[f64],
        is_rounded: bool,
        bucket: usize,
    ) -> Vec<f64> {
        let rows = weights.bank(bucket);
        let mut sums = match bias {
            Some(bias) => self.of_node(node, 1)[bias.bank(bucket)].to_vec(),
            None => vec![0.0; rows.len()],
        };
        let unit = f64::from(1 << 15);
        let product =
            |x: f64, weight: f64| if is_rounded { (x * weight / unit + 0.5).floor() } else { x * weight / unit };
        let columns = self.of_node(node, 0).chunks(weights.outputs);
        for (column, x) in columns.zip(x).filter(|(_, x)| **x != 0.0) {
            sums.iter_mut().zip(&column[rows.clone()]).for_each(|(sum, weight)| *sum += product(*x, *weight) * x);
        }
        sums
    }

    /// What an integer head makes of what it reads: behind its first division, with the bias.
    pub fn head(&self, (index, node): (usize, &ProgramNode), x: &[f64], bucket: usize) -> Head {
        let (sums, place, bias, pre, [factor, divisor]) = match &node.op {
            Operation::Rescale { bias, pre, factor, divisor } => (x.to_vec(), 0, bias, pre, [factor, divisor]),
            Operation::WideHead { weights, bias, clip, max, pre, factor, divisor } => {
                let activated: Vec<f64> = x.iter().map(|x| clipped(*clip, *max, *x)).collect();
                (self.affine(index, (weights, None), &activated, 0.0, bucket), 1, bias, pre, [factor, divisor])
            }
            op => panic!("{} is no head with divisions", op.word()),
        };
        let is_cut = (self.on)(Switch::Node(index));
        let cut = |value: f64| if is_cut { value.trunc() } else { value };
        let own = &self.of_node(index, place)[bias.bank(bucket)];
        let sums = sums.iter().zip(own).map(|(x, bias)| cut(x / f64::from(*pre)) + bias).collect();
        Head { sums, factor: f64::from(*factor), divisor: f64::from(*divisor) }
    }
}

/// What integer weights meet, which for ReLU and its square has no clip above.
pub(super) fn clipped(clip: Clip, max: i32, x: f64) -> f64 {
    match clip {
        Clip::Identity => x,
        Clip::Relu => x.max(0.0),
        Clip::Crelu => x.clamp(0.0, f64::from(max)),
        Clip::Screlu => x.clamp(0.0, f64::from(max)).powi(2),
        Clip::Sqrrelu => x.max(0.0).powi(2),
    }
}
