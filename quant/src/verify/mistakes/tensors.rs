//! The file's integers against the checkpoint's, re-quantised under the given description.
//!
//! Where they differ, single changes are tried until one makes them equal: that change is the mistake.

use super::{Evidence, Mistake, MistakeKind};
use crate::arch::{ElementType, Part, Rounding, TensorSpec};
use crate::float::{Affine, Matrix};
use crate::import::Checkpoint;
use crate::parallel;
use crate::program::{QuantTensor, UNSCALED};
use crate::quantise::quantise_tensor;
use crate::quantised::QuantNet;

/// Share of elements that a change must bring into agreement (±1 for sums of two roundings) to count as the
/// explanation.
const EXPLAINED: f64 = 0.999;

/// Compares every tensor that has a multiplier, or is real.
pub fn find(net: &QuantNet, checkpoint: &Checkpoint) -> Vec<Mistake> {
    let mut mistakes = Vec::new();
    let arch = &checkpoint.net.arch;
    // Piece-square values are behind the last layer, and have the names that the file gives them.
    let (files, floats) =
        (net.layers.iter().chain(&net.psqt), checkpoint.net.layers.iter().chain(&checkpoint.net.psqt));
    for (index, (file, float)) in files.zip(floats).enumerate() {
        for (part, tensor) in [(Part::Weights, &file.weights), (Part::Bias, &file.bias)] {
            let name = match part {
                _ if index >= arch.layers.len() => tensor.name.clone(),
                Part::Weights => arch.weights_name(index),
                Part::Bias => arch.bias_name(index),
            };
            let Some(spec) = arch.tensor(&name) else { continue };
            // Integers that were divided by their scale come back by rounding, whatever made them integers once.
            let nearest = TensorSpec { rounding: Rounding::Nearest, ..spec.clone() };
            let spec = if checkpoint.is_dequantised() { &nearest } else { spec };
            let real = match part {
                Part::Weights => float.weights.clone(),
                Part::Bias => Matrix { outputs: float.bias.len(), inputs: 1, values: float.bias.clone() },
            };
            let perspectives = if index == 1 { arch.perspectives() } else { 1 };
            let is_bucketed = match arch.layers.get(index) {
                Some(layer) => layer.bucketed,
                None => arch.psqt.as_ref().is_some_and(|psqt| psqt.bucketed),
            };
            let buckets = if is_bucketed { arch.bucket_count() } else { 1 };
            let pair = Pair {
                spec,
                file: tensor,
                real: &real,
                perspectives,
                buckets,
                first: index == 0 && part == Part::Weights,
                float,
            };
            mistakes.extend(pair.explain(checkpoint));
        }
    }
    mistakes
}

/// A tensor of the file and its real counterpart.
struct Pair<'a> {
    spec: &'a TensorSpec,
    file: &'a QuantTensor,
    real: &'a Matrix<f32>,
    perspectives: usize,
    buckets: usize,
    first: bool,
    float: &'a Affine<f32>,
}

impl Pair<'_> {
    fn explain(&self, checkpoint: &Checkpoint) -> Option<Mistake> {
        let name = &self.spec.name;
        if self.agrees(self.spec, &self.real.values) {
            return None;
        }
        let found = |kind, text: String| Some(Mistake { kind, evidence: Evidence::Tensors, text });
        let other = match self.spec.rounding {
            Rounding::Nearest => Rounding::Truncate,
            Rounding::Truncate => Rounding::Nearest,
        };
        if self.spec.r#type != ElementType::F32
            && !checkpoint.is_dequantised()
            && self.agrees(&TensorSpec { rounding: other, ..self.spec.clone() }, &self.real.values)
        {
            let (was, says) = (other.word(), self.spec.rounding.word());
            return found(
                MistakeKind::Rounding,
                format!(
                    "tensor `{name}`: the file's integers are the checkpoint's rounded by `{was}`, the description \
                     says `{says}`"
                ),
            );
        }
        if let Some(scale) = self.other_scale() {
            let says = self.spec.scale.unwrap_or(UNSCALED);
            return found(
                MistakeKind::Scale,
                format!(
                    "tensor `{name}`: the file's integers are the checkpoint's times {scale}, the description says \
                     {says}"
                ),
            );
        }
        if let Some(text) = self.bucket_order() {
            return found(MistakeKind::BucketOrder, format!("tensor `{name}`: {text}"));
        }
        for (kind, values, text) in self.rearrangements() {
            if self.agrees(self.spec, &values) {
                return found(kind, format!("tensor `{name}`: {text}"));
            }
        }
        if let Some(text) = self.first.then(|| self.factoriser(checkpoint)).flatten() {
            return found(MistakeKind::Factoriser, format!("tensor `{name}`: {text}"));
        }
        let quantised = self.quantised(self.spec, &self.real.values)?;
        let differing = quantised.iter().zip(self.elements()).filter(|(a, b)| *a != b).count();
        found(
            MistakeKind::OtherWeights,
            format!(
                "tensor `{name}`: {differing} of {} elements are not the checkpoint's, and no single change of the \
                 description explains \
                 it; is it the right checkpoint?",
                quantised.len()
            ),
        )
    }

    /// The file's elements as numbers that compare.
    fn elements(&self) -> Vec<f64> {
        self.file.to_reals().iter().map(|real| real * f64::from(self.file.multiplier())).collect()
    }

    fn quantised(&self, spec: &TensorSpec, values: &[f32]) -> Option<Vec<f64>> {
        let tensor = quantise_tensor(spec, self.real.outputs, self.real.inputs, values).ok()?;
        let scale = f64::from(tensor.multiplier());
        Some(tensor.to_reals().iter().map(|real| real * scale).map(round_noise).collect())
    }

    fn agrees(&self, spec: &TensorSpec, values: &[f32]) -> bool {
        // Both sides at once, on a thread each.
        let sides = parallel::map(2, |side| match side {
            0 => Some(self.elements().into_iter().map(round_noise).collect::<Vec<f64>>()),
            _ => self.quantised(spec, values),
        });
        sides[1].is_some() && sides[0] == sides[1]
    }

    /// One other multiplier for all elements, if there is one.
    fn other_scale(&self) -> Option<i32> {
        if self.spec.r#type == ElementType::F32 {
            return None;
        }
        let (mut dot, mut energy) = (0.0, 0.0);
        for (element, real) in self.elements().iter().zip(&self.real.values) {
            dot += element * f64::from(*real);
            energy += f64::from(*real) * f64::from(*real);
        }
        let estimate = dot / energy;
        if !estimate.is_finite() || !(0.5..=2_147_483_000.0).contains(&estimate) {
            return None;
        }
        let around = estimate.round() as i32;
        let width = (around / 64).clamp(2, 512);
        let declared = self.file.scale.into_iter();
        let candidates =
            declared.chain((0..=width).flat_map(|step| [around.saturating_add(step), around.saturating_sub(step)]));
        let says = self.spec.scale;
        candidates.filter(|scale| *scale >= 1 && Some(*scale) != says).find(|scale| {
            [Rounding::Nearest, Rounding::Truncate].into_iter().any(|rounding| {
                self.agrees(&TensorSpec { scale: Some(*scale), rounding, ..self.spec.clone() }, &self.real.values)
            })
        })
    }

    /// Rows of whole buckets in another order.
    fn bucket_order(&self) -> Option<String> {
        if self.buckets < 2 {
            return None;
        }
        let (outputs, inputs) = (self.real.outputs, self.real.inputs);
        let rows = outputs / self.buckets;
        let quantised: Vec<f64> = self.quantised(self.spec, &self.real.values)?;
        let elements: Vec<f64> = self.elements().into_iter().map(round_noise).collect();
        let block = |values: &[f64], bucket: usize| -> Vec<f64> {
            let rows = bucket * rows..(bucket + 1) * rows;
            (0..inputs)
                .flat_map(|input| rows.clone().map(move |row| row + outputs * input))
                .filter_map(|at| values.get(at).copied())
                .collect()
        };
        let blocks: Vec<Vec<f64>> = (0..self.buckets).map(|bucket| block(&quantised, bucket)).collect();
        let order: Option<Vec<usize>> = (0..self.buckets)
            .map(|bucket| blocks.iter().position(|other| *other == block(&elements, bucket)))
            .collect();
        let order = order?;
        Some(format!(
            "the file's output buckets 0, 1, … are the checkpoint's buckets {order:?}: the buckets are in another order"
        ))
    }

    /// The checkpoint's values in other orders.
    fn rearrangements(&self) -> Vec<(MistakeKind, Vec<f32>, &'static str)> {
        let (outputs, inputs) = (self.real.outputs, self.real.inputs);
        let at = |index: usize| self.real.values.get(index).copied().unwrap_or(f32::NAN);
        let mut list = Vec::new();
        if outputs > 1 && inputs > 1 {
            // Element (o, i) taken from where it lies if the other order is assumed, and the inverse.
            let other = |index: usize| at(index / outputs + inputs * (index % outputs));
            let inverse = |index: usize| at(index / inputs + outputs * (index % inputs));
            let text = "the file's weights are the checkpoint's read in the other order: one of the descriptions has \
                        `transposed` wrong";
            list.push((MistakeKind::TransposedWeights, (0..outputs * inputs).map(other).collect(), text));
            list.push((MistakeKind::TransposedWeights, (0..outputs * inputs).map(inverse).collect(), text));
        }
        if self.perspectives == 2 && inputs > 1 && inputs.is_multiple_of(2) {
            let half = outputs * inputs / 2;
            let swapped = (0..outputs * inputs).map(|index| at((index + half) % (outputs * inputs))).collect();
            let text = "the file has the weights of the two perspectives swapped: the other side's come first";
            list.push((MistakeKind::PerspectivesSwapped, swapped, text));
        }
        list
    }

    /// Whether the difference is a factoriser's: the same for every king bucket, or just the checkpoint's own
    /// factoriser.
    fn factoriser(&self, checkpoint: &Checkpoint) -> Option<String> {
        if let Some(factoriser) = &checkpoint.factoriser {
            let (outputs, columns) = (self.real.outputs, factoriser.inputs.max(1));
            let unmerged: Vec<f32> = self
                .float
                .weights
                .values
                .iter()
                .enumerate()
                .map(|(index, merged)| merged - factoriser.values[index % (outputs * columns)])
                .collect();
            if self.close(&unmerged) {
                return Some(
                    "the file's rows lack the factoriser, which the description adds: it was not merged".to_owned(),
                );
            }
        }
        let per_bucket = checkpoint.net.arch.features_per_king_bucket();
        let planes = self.real.inputs / per_bucket;
        if planes < 2 || !self.real.inputs.is_multiple_of(per_bucket) {
            return None;
        }
        let plane = per_bucket * self.real.outputs;
        let quantised = self.quantised(self.spec, &self.real.values)?;
        let differences: Vec<f64> = self.elements().iter().zip(&quantised).map(|(file, own)| file - own).collect();
        let (first, rest) = differences.split_at_checked(plane)?;
        let alike = rest
            .chunks(plane)
            .flat_map(|other| other.iter().zip(first))
            .filter(|(a, b)| (*a - *b).abs() <= 1.0)
            .count();
        (alike as f64 >= EXPLAINED * rest.len() as f64).then(|| {
            "the file differs from the checkpoint by the same rows in every king bucket: a factoriser was merged on \
             one side only"
                .to_owned()
        })
    }

    /// Agreement up to one unit, for values that were rounded after another order of additions.
    fn close(&self, values: &[f32]) -> bool {
        let Some(quantised) = self.quantised(self.spec, values) else { return false };
        let alike = quantised.iter().zip(self.elements()).filter(|(a, b)| (*a - b).abs() <= 1.0).count();
        alike as f64 >= EXPLAINED * quantised.len() as f64
    }
}

/// Integers went through a division by their scale; this takes the last bits' noise away again. Reals pass unchanged
/// when they have no scale, since dividing and multiplying by one is exact.
fn round_noise(value: f64) -> f64 {
    let rounded = value.round();
    if (value - rounded).abs() < 1e-6 { rounded } else { value }
}
