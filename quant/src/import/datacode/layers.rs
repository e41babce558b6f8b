//! The layers as the JSON lists them. All other keys are history, and passed over.

use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde_json::Number;
use std::collections::HashSet;
use std::fmt;

use super::container::{MAX_NAME_LEN_BYTES, MAX_TENSORS};
use super::error::DataCodeError;
use crate::graph::Activation;
use crate::import::bounded_json::{JsonFault, Object, parse_object};
use crate::import::chain::short;

/// The most layers; a Linear has two tensors, and activations stand between.
const MAX_LAYERS: usize = MAX_TENSORS;

/// A layer, by its position in the list.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layer {
    /// In the file; `layer<position>` of one without a name.
    pub(super) name: String,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Linear { inputs: usize, outputs: usize },
    Activation(Activation),
    Flatten,
}

impl Layer {
    /// Inputs and outputs of a Linear.
    pub(super) fn linear(&self) -> Option<(usize, usize)> {
        match self.kind {
            Kind::Linear { inputs, outputs } => Some((inputs, outputs)),
            Kind::Activation(_) | Kind::Flatten => None,
        }
    }
}

/// Reads the list. At least one Linear; the names of the Linears are unique.
pub(super) fn read(json: &[u8], json_offset: usize) -> Result<Vec<Layer>, DataCodeError> {
    let file: JsonFile = parse_object(json).map_err(|JsonFault { offset, why }| {
        let is_cut = why.starts_with("EOF") || why.starts_with("trailing characters");
        DataCodeError::Json { offset_bytes: json_offset + offset, why, is_cut }
    })?;
    let layers = file.layers.0.into_iter().enumerate().map(|(index, Object(layer))| checked(index, layer));
    let layers = layers.collect::<Result<Vec<_>, _>>()?;
    if layers.is_empty() {
        return Err(DataCodeError::NoLayers);
    }
    let mut names = HashSet::new();
    for (index, layer) in layers.iter().enumerate().filter(|(_, layer)| layer.linear().is_some()) {
        if !names.insert(layer.name.as_str()) {
            return Err(DataCodeError::LinearName { index, name: short(&layer.name) });
        }
    }
    if names.is_empty() { Err(DataCodeError::NoLinear { layers: layers.len() }) } else { Ok(layers) }
}

#[derive(Deserialize)]
struct JsonFile {
    layers: JsonLayers,
}

#[derive(Deserialize)]
struct JsonLayer {
    name: Option<String>,
    r#type: Option<String>,
    in_features: Option<Number>,
    out_features: Option<Number>,
}

fn checked(index: usize, layer: JsonLayer) -> Result<Layer, DataCodeError> {
    let name = layer.name.unwrap_or_else(|| format!("layer{index}"));
    if !(1..=MAX_NAME_LEN_BYTES).contains(&name.len()) {
        return Err(DataCodeError::LayerName { index, found: name.len(), limit: MAX_NAME_LEN_BYTES });
    }
    let shown = || short(&name);
    let kind = match layer.r#type.as_deref() {
        None => return Err(DataCodeError::NoType { index, name: shown() }),
        Some("Linear") => {
            let features = |key, number: Option<Number>| {
                let found = number.as_ref().map_or("nothing".to_owned(), Number::to_string);
                let size = number.and_then(|number| number.as_u64()).and_then(|number| usize::try_from(number).ok());
                size.ok_or_else(|| DataCodeError::Features { index, name: shown(), key, found })
            };
            let inputs = features("in_features", layer.in_features)?;
            let outputs = features("out_features", layer.out_features)?;
            if inputs == 0 || outputs == 0 {
                return Err(DataCodeError::Convolution { index, name: shown(), inputs, outputs });
            }
            Kind::Linear { inputs, outputs }
        }
        Some("ReLU") => Kind::Activation(Activation::Relu),
        Some("Sigmoid") => Kind::Activation(Activation::Sigmoid),
        Some("Tanh") => Kind::Activation(Activation::Tanh),
        Some("Softmax") => Kind::Activation(Activation::Softmax),
        Some("Flatten") => Kind::Flatten,
        Some(other) => return Err(DataCodeError::LayerType { index, name: shown(), found: short(other) }),
    };
    Ok(Layer { name, kind })
}

/// At most [`MAX_LAYERS`], so that a text of empty objects cannot ask for memory.
struct JsonLayers(Vec<Object<JsonLayer>>);

impl<'de> Deserialize<'de> for JsonLayers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(LayersVisitor).map(Self)
    }
}

struct LayersVisitor;

impl<'de> Visitor<'de> for LayersVisitor {
    type Value = Vec<Object<JsonLayer>>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("`layers` as a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut layers = Vec::new();
        while let Some(layer) = list.next_element()? {
            if layers.len() == MAX_LAYERS {
                return Err(A::Error::custom(format_args!("more than {MAX_LAYERS} layers")));
            }
            layers.push(layer);
        }
        Ok(layers)
    }
}
