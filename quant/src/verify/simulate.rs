//! The quantised network in real numbers, with every rounding behind a switch.
//!
//! All switches off, it is the float network; all on, it is the integer model (but for the f32 of a real tail). With
//! one on, the difference from the float network is that rounding's share of the error.
//!
//! Everything up to the second layer's sums is kept in *integer units* (a weight of 1 at scale 255 is 255.0), where
//! products and sums of integers are exact in f64: a truncation then cuts exactly where the integers are cut.

use crate::arch::{Activation, Architecture, ElementType};
use crate::float::{Affine, Example, Matrix, Net, activate};
use crate::quantise::{IntegerActivation, IntegerHead, QuantNet, head};

/// One kind of rounding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Switch {
    /// A tensor's elements are rounded: (layer, whether the bias).
    Tensor(usize, bool),
    /// The integer head's divisions truncate.
    Divisions,
    /// Pairwise products lose their low bits.
    ProductShift,
}

/// Which switches are on.
pub type Setting<'a> = &'a dyn Fn(&Switch) -> bool;

/// What a simulation computes, in real units.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SimulatedTrace {
    /// Of each layer, the sums before the activation.
    pub sums: Vec<Vec<f64>>,
    /// The outputs, scaled as the network reports them.
    pub outputs: Vec<f64>,
}

/// A float network beside its quantised form, both in integer units.
#[derive(Debug)]
pub struct Simulation {
    arch: Architecture,
    layers: Vec<Layer>,
    /// The activation behind the accumulators, if integers come out of it.
    integers: Option<IntegerActivation>,
    head: Option<IntegerHead>,
    switches: Vec<(String, Switch)>,
}

#[derive(Debug)]
struct Layer {
    exact: Affine<f64>,
    rounded: Affine<f64>,
    /// The real value of one unit of the layer's sums is 1 / this; 1 for layers in real units.
    scale: f64,
    element: ElementType,
}

impl Simulation {
    /// Puts both forms side by side; they must have the same shapes.
    pub fn new(float: &Net<f32>, quantised: &QuantNet) -> Self {
        let arch = quantised.arch.clone();
        let mut layers = Vec::new();
        let mut switches = Vec::new();
        let head = head(&arch);
        let mut activation_scale = 1.0; // integer units of the layer's inputs
        for (index, (real, quant)) in float.layers.iter().zip(&quantised.layers).enumerate() {
            let element = quant.weights.element;
            let integers = element != ElementType::F32 && index < 2;
            let weight_scale = if integers { f64::from(quant.weights.scale.unwrap_or(1)) } else { 1.0 };
            let scale = if integers { weight_scale * activation_scale } else { 1.0 };
            // The integer head adds its bias behind the first division, at QA·QB.
            let bias_scale = match head {
                Some(head) if index == 1 => f64::from(head.divisor),
                _ if quant.bias.element == ElementType::F32 => 1.0,
                _ => scale,
            };
            let exact = Affine {
                weights: Matrix {
                    outputs: real.weights.outputs,
                    inputs: real.weights.inputs,
                    values: scaled(&real.weights.values, weight_scale),
                },
                bias: scaled(&real.bias, bias_scale),
            };
            let rounded = Affine {
                weights: Matrix { values: raw(&quant.weights, &exact.weights.values), ..exact.weights.clone() },
                bias: raw(&quant.bias, &exact.bias),
            };
            for (tensor, bias) in [(&quant.weights, false), (&quant.bias, true)] {
                if tensor.element != ElementType::F32 {
                    switches.push((format!("rounding of {}", tensor.name), Switch::Tensor(index, bias)));
                }
            }
            if index == 0 {
                activation_scale = IntegerActivation::of(&arch).map_or(1.0, |activation| activation.units());
            }
            layers.push(Layer { exact, rounded, scale, element });
        }
        if head.is_some() {
            switches.push(("truncating divisions".to_owned(), Switch::Divisions));
        }
        if arch.layers.first().is_some_and(|layer| layer.activation == Activation::PairwiseCrelu)
            && layers.get(1).is_some_and(|layer| layer.element == ElementType::I8)
        {
            switches.push(("shift of pairwise products".to_owned(), Switch::ProductShift));
        }
        let real_next = layers.get(1).is_some_and(|layer| layer.element == ElementType::F32);
        let integers = IntegerActivation::of(&arch).filter(|_| !real_next);
        Self { arch, layers, integers, head, switches }
    }

    /// Every rounding there is, with its name.
    pub fn switches(&self) -> &[(String, Switch)] {
        &self.switches
    }

    /// Evaluates an example that fits the network (the float evaluator has accepted it).
    pub fn evaluate(&self, example: &Example, on: Setting<'_>) -> SimulatedTrace {
        match example {
            Example::Features { lists, bucket } => self.sparse(lists, *bucket, on),
            Example::Dense(_) => unreachable!("the examples of a network of accumulators are lists of features"),
        }
    }

    /// A layer's weights or bias, rounded or not.
    fn part(&self, index: usize, on: Setting<'_>) -> Option<(&Layer, &Matrix<f64>, &[f64])> {
        let layer = self.layers.get(index)?;
        let weights = if on(&Switch::Tensor(index, false)) { &layer.rounded.weights } else { &layer.exact.weights };
        let bias = if on(&Switch::Tensor(index, true)) { &layer.rounded.bias } else { &layer.exact.bias };
        Some((layer, weights, bias))
    }

    fn sparse(&self, lists: &[Vec<u32>; 2], bucket: usize, on: Setting<'_>) -> SimulatedTrace {
        let mut trace = SimulatedTrace::default();
        let Some((first, weights, bias)) = self.part(0, on) else { return trace };
        let qa = first.scale;
        let (mut sums, mut inputs) = (Vec::new(), Vec::new());
        for list in lists.iter().take(self.arch.perspectives()) {
            let mut acc = bias.to_vec();
            for feature in list {
                for (sum, weight) in acc.iter_mut().zip(weights.column(*feature as usize)) {
                    *sum += weight;
                }
            }
            inputs.extend(self.activate_units(&acc, qa, on));
            sums.extend(acc.iter().map(|sum| sum / qa));
        }
        trace.sums.push(sums);
        let Some((second, weights, bias)) = self.part(1, on) else { return trace };
        let rows = self.rows(1, bucket);
        let mut units = vec![0.0; rows.len()];
        for (input, value) in inputs.iter().enumerate() {
            for (sum, weight) in units.iter_mut().zip(&weights.column(input)[rows.clone()]) {
                *sum += weight * value;
            }
        }
        let bias = &bias[rows];
        if let Some(head) = &self.head {
            let cut = |value: f64| if on(&Switch::Divisions) { value.trunc() } else { value };
            let divisor = f64::from(head.divisor);
            let with_bias = |(sum, bias): (&f64, &f64)| cut(sum / f64::from(head.pre_divisor)) + bias;
            let sums: Vec<f64> = units.iter().zip(bias).map(with_bias).collect();
            trace.outputs = sums.iter().map(|sum| cut(sum * f64::from(head.factor) / divisor)).collect();
            trace.sums.push(sums.iter().map(|sum| sum / divisor).collect());
            return trace;
        }
        let bias_scale = if second.element == ElementType::F32 { 1.0 } else { second.scale };
        let sums = units.iter().zip(bias).map(|(sum, bias)| sum / bias_scale + bias).collect();
        self.tail(sums, bucket, on, &mut trace);
        trace
    }

    /// The activation of one perspective, in integer units if the next layer has integer weights, else in real units.
    fn activate_units(&self, acc: &[f64], qa: f64, on: Setting<'_>) -> Vec<f64> {
        let Some(integers) = self.integers else {
            let activation = self.arch.layers.first().map_or(Activation::Identity, |layer| layer.activation);
            let real: Vec<f64> = acc.iter().map(|sum| sum / qa).collect();
            return activate(activation, &real);
        };
        let clip = |value: &f64| value.clamp(0.0, qa);
        match integers.activation {
            Activation::PairwiseCrelu => {
                let divisor = integers.product_divisor();
                let (a, b) = acc.split_at(acc.len() / 2);
                let product = |(a, b): (&f64, &f64)| clip(a) * clip(b) / divisor;
                let cut = |value: f64| if on(&Switch::ProductShift) { value.floor() } else { value };
                a.iter().zip(b).map(product).map(cut).collect()
            }
            Activation::Crelu => acc.iter().map(clip).collect(),
            Activation::Screlu => acc.iter().map(|value| clip(value).powi(2)).collect(),
            _ => acc.iter().map(|value| value.max(0.0).powi(2)).collect(),
        }
    }

    /// Real layers behind the second one's sums.
    fn tail(&self, mut sums: Vec<f64>, bucket: usize, on: Setting<'_>, trace: &mut SimulatedTrace) {
        let mut skipped = vec![0.0; self.arch.output_count()];
        for (index, layer) in self.arch.layers.iter().enumerate().skip(1) {
            trace.sums.push(sums.clone());
            let (active, skipping) = sums.split_at(self.arch.active_outputs(index).min(sums.len()));
            for (sum, skip) in skipped.iter_mut().zip(skipping) {
                *sum += skip;
            }
            let inputs = activate(layer.activation, active);
            let Some((_, weights, bias)) = self.part(index + 1, on) else {
                let scale = f64::from(self.arch.output.scale);
                trace.outputs = inputs.iter().zip(&skipped).map(|(value, skip)| scale * (value + skip)).collect();
                return;
            };
            let rows = self.rows(index + 1, bucket);
            sums = bias[rows.clone()].to_vec();
            for (input, value) in inputs.iter().enumerate() {
                for (sum, weight) in sums.iter_mut().zip(&weights.column(input)[rows.clone()]) {
                    *sum += weight * value;
                }
            }
        }
    }

    /// The rows of a layer that an output bucket owns.
    fn rows(&self, index: usize, bucket: usize) -> std::ops::Range<usize> {
        let Some(layer) = self.arch.layers.get(index) else { return 0..0 };
        let first = if layer.bucketed { bucket * layer.outputs } else { 0 };
        first..first + layer.outputs
    }
}

fn scaled(values: &[f32], scale: f64) -> Vec<f64> {
    values.iter().map(|value| f64::from(*value) * scale).collect()
}

/// The stored integers as they are; a real tensor has no rounding.
fn raw(tensor: &crate::quantise::QuantTensor, exact: &[f64]) -> Vec<f64> {
    match tensor.integers() {
        [] => exact.to_vec(),
        integers => integers.iter().map(|value| f64::from(*value)).collect(),
    }
}
