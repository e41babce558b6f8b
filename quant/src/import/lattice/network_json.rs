//! lattice-fann's JSON: `{"layers": [{"num_inputs", "num_outputs", "weights", "biases", "activation"}, …]}`.

use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

use super::error::LatticeError;
use super::{LatticeNetwork, check_file_len, imported};
use crate::graph::Activation;
use crate::import::Imported;
use crate::import::bounded_json::{Object, parse_object};
use crate::import::chain::{Chain, ChainLayer, short};

/// Reads a network's JSON.
///
/// # Errors
/// [`LatticeError`], the first thing that is wrong.
pub fn read_network_json(bytes: &[u8], name: &str) -> Result<Imported, LatticeError> {
    imported(&parse(bytes)?, name, "lattice-fann network JSON", bytes)
}

/// The chain and its parameters, as many as it has.
pub(super) fn parse(bytes: &[u8]) -> Result<LatticeNetwork, LatticeError> {
    check_file_len(bytes)?;
    let json: JsonNetwork =
        parse_object(bytes).map_err(|fault| LatticeError::Json { offset_bytes: fault.offset, why: fault.why })?;
    let layers = json.layers.iter().map(|Object(layer)| layer);
    let shapes = layers.clone().enumerate().map(|(index, layer)| {
        let activation = layer.activation.checked(index)?;
        Ok(ChainLayer { inputs: layer.num_inputs, outputs: layer.num_outputs, activation })
    });
    let chain = Chain::new(shapes.collect::<Result<_, LatticeError>>()?)?;
    let mut parameters =
        Vec::with_capacity(layers.clone().map(|layer| layer.weights.0.len() + layer.biases.0.len()).sum());
    for (index, layer) in layers.enumerate() {
        let numbers = [
            ("weights", &layer.weights.0, layer.num_inputs * layer.num_outputs),
            ("biases", &layer.biases.0, layer.num_outputs),
        ];
        for (tensor, values, expected) in numbers {
            if values.len() != expected {
                return Err(LatticeError::Numbers { index, tensor, found: values.len(), expected });
            }
            parameters.extend_from_slice(values);
        }
    }
    Ok((chain, parameters))
}

#[derive(Deserialize)]
struct JsonNetwork {
    layers: Vec<Object<JsonLayer>>,
}

#[derive(Deserialize)]
struct JsonLayer {
    num_inputs: usize,
    num_outputs: usize,
    weights: Numbers,
    biases: Numbers,
    activation: JsonActivation,
}

/// The words of the crate; its snake case splits ReLU.
#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "snake_case")]
enum JsonActivation {
    Linear,
    Sigmoid,
    Tanh,
    #[serde(rename = "re_l_u")]
    Relu,
    #[serde(rename = "leaky_re_l_u")]
    LeakyRelu(Number),
    Softmax,
}

impl JsonActivation {
    fn checked(self, index: usize) -> Result<Option<Activation>, LatticeError> {
        Ok(Some(match self {
            Self::Linear => return Ok(None),
            Self::Sigmoid => Activation::Sigmoid,
            Self::Tanh => Activation::Tanh,
            Self::Relu => Activation::Relu,
            Self::LeakyRelu(Number(alpha)) if alpha.is_finite() => Activation::LeakyRelu { alpha: f64::from(alpha) },
            Self::LeakyRelu(Number(alpha)) => {
                return Err(LatticeError::Slope { index, found: alpha.to_string() });
            }
            Self::Softmax => Activation::Softmax,
        }))
    }
}

/// A number, rounded to f32 once, from its decimal text. Through f64 it would be rounded twice.
#[derive(Clone, Copy)]
struct Number(f32);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <&RawValue>::deserialize(deserializer)?.get();
        // Rust reads more than JSON's numbers, such as `inf`, but no other value of JSON.
        let number = text.parse().map(Self);
        number.map_err(|_| D::Error::custom(format_args!("`{}` is no number", short(text))))
    }
}

/// A list of numbers.
struct Numbers(Vec<f32>);

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(NumbersVisitor)
    }
}

struct NumbersVisitor;

impl<'de> Visitor<'de> for NumbersVisitor {
    type Value = Numbers;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of numbers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Numbers, A::Error> {
        let mut numbers = Vec::new();
        while let Some(Number(number)) = list.next_element()? {
            numbers.push(number);
        }
        Ok(Numbers(numbers))
    }
}
