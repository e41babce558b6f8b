//! A file that was fitted to examples: its integers stand beside the checkpoint's, and mean the same network.

use super::{Evidence, Mistake, MistakeKind};
use crate::arch::ElementType;
use crate::import::Checkpoint;
use crate::program::QuantTensor;
use crate::quantise::quantise_tensor;
use crate::quantised::QuantNet;

/// Noise of a product in f64, in steps.
const NOISE: f64 = 1e-6;
/// How many of the first layer's weights are not what rounding gives, at least: fewer are damage.
const MOVED: f64 = 0.001;
/// Of what the output's weights are together, the part by which fitting moves them at most (root of squares).
const OUTPUT_MOVED: f64 = 0.1;
/// What rounding alone adds to a square, in steps.
const ROUNDED: f64 = 0.25;
/// The same part of weights that are reals, which take up what pairs and bytes in front of them lose.
const REALS_MOVED: f64 = 0.2;

/// What a person should know, where every difference is one that fitting makes: weights of the first layer within one
/// step of their floats, weights behind them near them, and biases there, which take up what is left of the mean.
/// `mistakes`: what was found of the tensors.
pub fn find(net: &QuantNet, checkpoint: &Checkpoint, mistakes: &[Mistake]) -> Option<Mistake> {
    let is_explained = |mistake: &Mistake| !matches!(mistake.kind, MistakeKind::OtherWeights | MistakeKind::Scale);
    let ([first, behind @ ..], [first_real, behind_real @ ..]) =
        (net.layers.as_slice(), checkpoint.net.layers.as_slice())
    else {
        return None;
    };
    if mistakes.is_empty() || mistakes.iter().any(is_explained) || checkpoint.is_dequantised() {
        return None;
    }
    let arch = &checkpoint.net.arch;
    let spec = arch.tensor(&arch.weights_name(0))?;
    let rounded =
        quantise_tensor(spec, first.weights.outputs, first.weights.inputs, &first_real.weights.values).ok()?;
    let differs = rounded.integers().iter().zip(first.weights.integers()).filter(|(a, b)| a != b).count();
    let count = rounded.integers().len();
    let (weights, bias) = (steps(&first.weights, &first_real.weights.values)?, steps(&first.bias, &first_real.bias)?);
    let is_near = weights.iter().chain(&bias).all(|step| step.abs() <= 1.0 + NOISE);
    let are_alike = behind.iter().zip(behind_real).all(|(layer, real)| is_alike(&layer.weights, &real.weights.values));
    if !is_near || (differs as f64) < MOVED * count as f64 || !are_alike {
        return None;
    }
    let text = format!(
        "tensor `{}`: {differs} of {count} elements are the other integer beside the checkpoint's number than rounding \
         gives, and none is further off: as `quantise --fit` leaves them",
        spec.name
    );
    Some(Mistake { kind: MistakeKind::Fitted, evidence: Evidence::Tensors, text })
}

/// Whether weights behind the first layer are as near to their floats as fitting leaves them.
fn is_alike(weights: &QuantTensor, floats: &[f32]) -> bool {
    let square = |x: f64| x * x;
    if weights.element == ElementType::F32 {
        let reals = weights.reals();
        let moved: f64 =
            reals.iter().zip(floats).map(|(real, float)| square(f64::from(*real) - f64::from(*float))).sum();
        let energy: f64 = floats.iter().map(|float| square((*float).into())).sum();
        return reals.len() == floats.len() && moved <= square(REALS_MOVED) * energy;
    }
    let Some(steps) = steps(weights, floats) else { return false };
    let moved: f64 = steps.iter().map(|step| square(*step) - ROUNDED).sum();
    let energy: f64 = weights.integers().iter().map(|weight| square((*weight).into())).sum();
    moved <= square(OUTPUT_MOVED) * energy
}

/// How far integers are from their reals, in steps. None of what is not integers, or of another length.
fn steps(tensor: &QuantTensor, reals: &[f32]) -> Option<Vec<f64>> {
    let scale = f64::from(tensor.scale?);
    let integers = tensor.integers();
    let step = |(integer, real): (&i32, &f32)| f64::from(*integer) - f64::from(*real) * scale;
    (integers.len() == reals.len()).then(|| integers.iter().zip(reals).map(step).collect())
}
