//! A node as it is written.

mod maps;

pub(super) use maps::{COORDINATES, ROUNDINGS, default_coordinates, transposed_same, transposed_size};

use super::check::ALWAYS_INPUT;
use super::error::Cause;
use super::keys::{ELU_ALPHA, EPSILON, HARD_SIGMOID_ALPHA, HARD_SIGMOID_BETA, Word};
use super::order::Order;
use super::read::{AXES, Place};
use super::skeleton::Skeleton;
use super::types::{Described, DescribedOp};
use crate::arch::suggest::advice;
use crate::graph::{Activation, Axis, Binary, Shape, Value};
use serde::Deserialize;
use std::collections::HashMap;
use tamis_batches::printable;
use toml::Spanned;

/// Every key that some operation has.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawNode {
    pub(super) name: Spanned<String>,
    op: Word,
    reads: Option<Vec<String>>,
    outputs: Option<usize>,
    width: Option<usize>,
    factor: Option<f64>,
    alpha: Option<f64>,
    beta: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    epsilon: Option<f64>,
    rate: Option<f64>,
    trees: Option<usize>,
    slots: Option<usize>,
    weights: Option<toml::Value>,
    bias: Option<toml::Value>,
    mean: Option<String>,
    variance: Option<String>,
    table: Option<String>,
    values: Option<String>,
    order: Option<String>,
    each_pixel: Option<bool>,
    axis: Option<String>,
    axes: Option<Vec<String>>,
    shape: Option<toml::Value>,
    size: Option<toml::Value>,
    start: Option<toml::Value>,
    step: Option<toml::Value>,
    before: Option<toml::Value>,
    after: Option<toml::Value>,
    fill: Option<toml::Value>,
    sampling: Option<String>,
    rounding: Option<String>,
    coordinates: Option<String>,
    kernel: Option<toml::Value>,
    stride: Option<toml::Value>,
    dilation: Option<toml::Value>,
    padding: Option<toml::Value>,
    groups: Option<usize>,
    count_padding: Option<bool>,
}

/// The value of a key that the operation must have, which [`RawNode::check_keys`] has found there.
fn needed<T>(value: Option<T>) -> T {
    value.unwrap_or_else(|| unreachable!("a key that was found there before"))
}

impl RawNode {
    /// What it says, as node `index` behind those of the skeleton.
    pub(super) fn describe(
        self,
        index: usize,
        values: &HashMap<String, Value>,
        skeleton: &Skeleton,
    ) -> Result<Described, Cause> {
        self.check_keys()?;
        let name = self.name.get_ref().clone();
        let reads = match &self.reads {
            None if self.op == Word::Constant => Vec::new(),
            None => vec![index],
            Some(names) => {
                let resolve = |read: &String| {
                    values.get(read).copied().ok_or_else(|| {
                        let known = values.keys().map(String::as_str).filter(|name| *name != ALWAYS_INPUT).collect();
                        Cause::Reads { node: printable(&name), found: printable(read), advice: near(read, known) }
                    })
                };
                names.iter().map(resolve).collect::<Result<_, _>>()?
            }
        };
        let read = reads.first().map_or(Shape::map(0, 0, 0), |read| skeleton.shape(*read));
        let op = self.describe_op(&name, read)?;
        Ok(Described { name, reads, op })
    }

    fn describe_op(self, name: &str, read: Shape) -> Result<DescribedOp, Cause> {
        let place = self.place();
        let default = |part| Described::default_tensor(name, part);
        let tensor = |value: &Option<toml::Value>, key, part, may_lack| match value {
            None | Some(toml::Value::Boolean(true)) => Ok(Some(default(part))),
            Some(value) => place.tensor(key, value, may_lack),
        };
        let weights = || -> Result<String, Cause> {
            Ok(tensor(&self.weights, "weights", "weight", false)?.unwrap_or_else(|| default("weight")))
        };
        let bias = || tensor(&self.bias, "bias", "bias", true);
        let order = || match &self.order {
            Some(word) => place.word("order", word, &Order::ALL.map(|order| (order.word(), order))),
            None => Ok(self.op.default_order()),
        };
        let activation = |activation| Ok(DescribedOp::Activation(activation));
        match self.op {
            Word::Linear | Word::SparseLinear => Ok(DescribedOp::Linear {
                sparse: self.op == Word::SparseLinear,
                outputs: needed(self.outputs),
                weights: weights()?,
                bias: bias()?,
                order: order()?,
                each_pixel: self.each_pixel == Some(true) && !read.is_vector(),
            }),
            Word::Embed => {
                let table = self.table.clone().unwrap_or_else(|| default("table"));
                Ok(DescribedOp::Embed { width: needed(self.width), table, order: order()? })
            }
            Word::FmTerm => Ok(DescribedOp::FmTerm { width: needed(self.width) }),
            Word::BiInteraction => Ok(DescribedOp::BiInteraction { width: needed(self.width) }),
            Word::InnerProducts => Ok(DescribedOp::InnerProducts { width: needed(self.width) }),
            Word::Concat => {
                let axis = self.axis.as_ref().map(|word| place.word("axis", word, &AXES)).transpose()?;
                Ok(DescribedOp::Concat { axis: axis.unwrap_or(Axis::Channels) })
            }
            Word::Add => Ok(DescribedOp::Add),
            Word::BroadcastAdd => Ok(DescribedOp::Binary(Binary::Add)),
            Word::Sub => Ok(DescribedOp::Binary(Binary::Sub)),
            Word::Mul => Ok(DescribedOp::Binary(Binary::Mul)),
            Word::Div => Ok(DescribedOp::Binary(Binary::Div)),
            Word::Max => Ok(DescribedOp::Binary(Binary::Max)),
            Word::Min => Ok(DescribedOp::Binary(Binary::Min)),
            Word::Constant => {
                let values = self.values.clone().unwrap_or_else(|| default("values"));
                Ok(DescribedOp::Constant { shape: self.shape(&place)?, values })
            }
            Word::Scale => Ok(DescribedOp::Scale(needed(self.factor))),
            Word::PerChannel => Ok(DescribedOp::PerChannel { weights: weights()?, bias: bias()? }),
            Word::BatchNormalization => Ok(DescribedOp::BatchNormalization {
                weights: tensor(&self.weights, "weights", "weight", true)?,
                bias: bias()?,
                mean: self.mean.clone().unwrap_or_else(|| default("running_mean")),
                variance: self.variance.clone().unwrap_or_else(|| default("running_var")),
                epsilon: self.epsilon.unwrap_or(EPSILON),
            }),
            Word::PRelu => Ok(DescribedOp::PRelu { weights: weights()? }),
            Word::Relu => activation(Activation::Relu),
            Word::Relu6 => activation(Activation::Clip { low: 0.0, high: 6.0 }),
            Word::Crelu => activation(Activation::Crelu),
            Word::LeakyRelu => activation(Activation::LeakyRelu { alpha: needed(self.alpha) }),
            Word::Sigmoid => activation(Activation::Sigmoid),
            Word::Tanh => activation(Activation::Tanh),
            Word::Softmax => activation(Activation::Softmax),
            Word::LogSoftmax => activation(Activation::LogSoftmax),
            Word::Clip => activation(Activation::Clip {
                low: self.low.unwrap_or(f64::NEG_INFINITY),
                high: self.high.unwrap_or(f64::INFINITY),
            }),
            Word::HardSigmoid => activation(Activation::HardSigmoid {
                alpha: self.alpha.unwrap_or(HARD_SIGMOID_ALPHA),
                beta: self.beta.unwrap_or(HARD_SIGMOID_BETA),
            }),
            Word::HardSwish => activation(Activation::HardSwish),
            Word::Elu => activation(Activation::Elu { alpha: self.alpha.unwrap_or(ELU_ALPHA) }),
            Word::Abs => activation(Activation::Abs),
            Word::Exp => activation(Activation::Exp),
            Word::Sqrt => activation(Activation::Sqrt),
            Word::Erf => activation(Activation::Erf),
            Word::Flatten => {
                let words = [("channels-first", true), ("channels-last", false)];
                let order = self.order.as_ref().map(|word| place.word("order", word, &words)).transpose()?;
                Ok(DescribedOp::Flatten { channels_first: order == Some(true) && !read.is_vector() })
            }
            Word::Reshape => Ok(DescribedOp::Reshape(self.shape(&place)?)),
            Word::Transpose => Ok(DescribedOp::Transpose(place.axes("axes", needed(self.axes.as_deref()))?)),
            Word::Slice | Word::Pad => self.part(&place, read),
            Word::Resize => self.resize(&place),
            Word::Convolution | Word::Depthwise | Word::TransposedConvolution => {
                let (weights, bias) = (weights()?, bias()?);
                self.convolution(&place, read, weights, bias)
            }
            Word::AveragePool | Word::MaxPool | Word::GlobalAveragePool | Word::GlobalMaxPool => {
                self.pool(&place, read)
            }
            Word::Trees => {
                Ok(DescribedOp::Trees { rate: needed(self.rate), trees: needed(self.trees), slots: needed(self.slots) })
            }
        }
    }

    fn place(&self) -> Place {
        Place(format!("node `{}`", printable(self.name.get_ref())))
    }

    fn shape(&self, place: &Place) -> Result<Shape, Cause> {
        let shape = self.shape.as_ref().map(|value| place.shape("shape", value)).transpose()?;
        Ok(shape.unwrap_or(Shape::map(0, 0, 0)))
    }

    /// Every key that the operation needs, and none that means nothing to it.
    fn check_keys(&self) -> Result<(), Cause> {
        let present = [
            ("outputs", self.outputs.is_some()),
            ("width", self.width.is_some()),
            ("factor", self.factor.is_some()),
            ("alpha", self.alpha.is_some()),
            ("beta", self.beta.is_some()),
            ("low", self.low.is_some()),
            ("high", self.high.is_some()),
            ("epsilon", self.epsilon.is_some()),
            ("rate", self.rate.is_some()),
            ("trees", self.trees.is_some()),
            ("slots", self.slots.is_some()),
            ("weights", self.weights.is_some()),
            ("bias", self.bias.is_some()),
            ("mean", self.mean.is_some()),
            ("variance", self.variance.is_some()),
            ("table", self.table.is_some()),
            ("values", self.values.is_some()),
            ("order", self.order.is_some()),
            ("each_pixel", self.each_pixel.is_some()),
            ("axis", self.axis.is_some()),
            ("axes", self.axes.is_some()),
            ("shape", self.shape.is_some()),
            ("size", self.size.is_some()),
            ("start", self.start.is_some()),
            ("step", self.step.is_some()),
            ("before", self.before.is_some()),
            ("after", self.after.is_some()),
            ("fill", self.fill.is_some()),
            ("sampling", self.sampling.is_some()),
            ("rounding", self.rounding.is_some()),
            ("coordinates", self.coordinates.is_some()),
            ("kernel", self.kernel.is_some()),
            ("stride", self.stride.is_some()),
            ("dilation", self.dilation.is_some()),
            ("padding", self.padding.is_some()),
            ("groups", self.groups.is_some()),
            ("count_padding", self.count_padding.is_some()),
        ];
        let (needed, allowed) = self.op.keys();
        for (key, is_present) in present {
            let (place, owner) = (self.place().0, self.op.text());
            if is_present && !needed.contains(&key) && !allowed.contains(&key) {
                return Err(Cause::Meaningless { place, key, owner });
            }
            if !is_present && needed.contains(&key) {
                return Err(Cause::Missing { place, key, owner });
            }
        }
        Ok(())
    }
}

/// Of many nodes only the nearest is worth naming.
fn near(found: &str, mut known: Vec<&str>) -> String {
    const SHOWN: usize = 12;
    known.sort_unstable();
    let text = advice(found, &known);
    if text.starts_with("did you mean") || known.len() <= SHOWN {
        return text;
    }
    "nodes are read by their names, and stand behind what they read".to_owned()
}
