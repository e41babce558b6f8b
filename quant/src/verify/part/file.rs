//! A part as a file: safetensors, with the facts as JSON in the metadata, and numbers as f64, bit for bit.

use super::{Facts, Part};
use crate::import::fnv1a_64;
use crate::program::Element;
use crate::verify::comparison::Compared;
use crate::verify::layers::{LayerNoise, Noise};
use crate::verify::part_error::PartError;
use crate::verify::split::{Apart, ApartCause};
use safetensors::tensor::{Dtype, TensorView, serialize};
use safetensors::{SafeTensorError, SafeTensors};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The key of the facts, which names the version of the file.
const KEY: &str = "tamis-part-1";

/// Sums of a layer, as many numbers.
const SUMS: usize = 5;

/// What the metadata hold.
#[derive(Serialize, Deserialize)]
struct Head {
    facts: Facts,
    examples: usize,
    outputs: usize,
    layers: Vec<(String, Element)>,
    apart: Option<ApartHead>,
    has_labels: bool,
    /// Of the parts that were put together, if any were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    joined: Vec<u64>,
    /// Of the numbers, 16 hexadecimal digits.
    hash: String,
}

#[derive(Serialize, Deserialize)]
struct ApartHead {
    samples: usize,
    layers: Vec<(String, Element)>,
    causes: Vec<String>,
    f32_cause: Option<String>,
}

/// The only tensor.
const NUMBERS: &str = "numbers";

impl Part {
    /// The bytes of a file that [`Part::parse`] reads.
    ///
    /// # Panics
    /// Never: names are text, and numbers fill their tensor.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let Self { facts, compared, labels, apart, joined } = self;
        let names = |layers: &[LayerNoise]| layers.iter().map(|layer| (layer.layer.clone(), layer.element)).collect();
        let bytes = self.numbers();
        let head = Head {
            facts: facts.clone(),
            examples: compared.examples,
            outputs: compared.outputs,
            layers: names(&compared.layers),
            apart: apart.as_ref().map(|apart| ApartHead {
                samples: apart.samples,
                layers: names(&apart.layers),
                causes: apart.causes.iter().map(|cause| cause.cause.clone()).collect(),
                f32_cause: apart.f32_cause.clone(),
            }),
            has_labels: labels.is_some(),
            joined: joined.clone(),
            hash: format!("{:016x}", fnv1a_64(&bytes)),
        };
        let written = || -> Result<Vec<u8>, SafeTensorError> {
            let text = serde_json::to_string(&head).unwrap_or_else(|error| unreachable!("{error}"));
            let view = TensorView::new(Dtype::F64, vec![bytes.len() / 8], &bytes)?;
            serialize([(NUMBERS, view)], Some(HashMap::from([(KEY.to_owned(), text)])))
        };
        written().unwrap_or_else(|error| unreachable!("{error}"))
    }

    /// What was measured, in the order in which [`Head::with`] takes it.
    pub(super) fn numbers(&self) -> Vec<u8> {
        let Self { compared, labels, apart, .. } = self;
        let mut numbers: Vec<f64> = [compared.integer.as_slice(), &compared.truth].concat();
        numbers.extend(compared.layers.iter().flat_map(|layer| layer.noise.to_numbers()));
        numbers.extend(labels.iter().flatten().map(|label| *label as f64));
        if let Some(apart) = apart {
            numbers.extend(apart.layers.iter().flat_map(|layer| layer.noise.to_numbers()));
            numbers.extend([apart.integer.as_slice(), &apart.none, &apart.all].concat());
            apart.causes.iter().for_each(|cause| numbers.extend([cause.alone.as_slice(), &cause.without].concat()));
        }
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    /// Reads what [`Part::to_bytes`] wrote.
    ///
    /// # Errors
    /// [`PartError::Malformed`] with what does not fit, [`PartError::Checksum`] where a number was changed.
    pub fn parse(bytes: &[u8]) -> Result<Self, PartError> {
        let fault = |error: SafeTensorError| PartError::Malformed(error.to_string());
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(fault)?;
        let text = metadata.metadata().as_ref().and_then(|metadata| metadata.get(KEY));
        let text = text.ok_or_else(|| PartError::Malformed(format!("safetensors without `{KEY}` in the metadata")))?;
        let head: Head = serde_json::from_str(text).map_err(|error| PartError::Malformed(error.to_string()))?;
        let file = SafeTensors::deserialize(bytes).map_err(fault)?;
        let tensor = file.tensor(NUMBERS).map_err(fault)?;
        if tensor.dtype() != Dtype::F64 {
            return Err(PartError::Malformed(format!("`{NUMBERS}` of {:?}, expected F64", tensor.dtype())));
        }
        let found = fnv1a_64(tensor.data());
        if format!("{found:016x}") != head.hash {
            let expected = u64::from_str_radix(&head.hash, 16);
            let expected = expected.map_err(|_| PartError::Malformed(format!("hash `{}`", head.hash)))?;
            return Err(PartError::Checksum { found, expected });
        }
        let (words, _) = tensor.data().as_chunks::<8>();
        let numbers: Vec<f64> = words.iter().map(|word| f64::from_le_bytes(*word)).collect();
        head.with(&numbers)
    }
}

/// Numbers that are left.
struct Remaining<'n>(&'n [f64]);

impl Remaining<'_> {
    fn take(&mut self, rows: usize, columns: usize) -> Result<Vec<f64>, PartError> {
        let found = self.0.len();
        let whole = rows.checked_mul(columns).and_then(|count| self.0.split_at_checked(count));
        let (taken, rest) = whole
            .ok_or_else(|| PartError::Malformed(format!("{found} numbers are left of {rows} rows of {columns}")))?;
        self.0 = rest;
        Ok(taken.to_vec())
    }

    fn layers(&mut self, names: Vec<(String, Element)>) -> Result<Vec<LayerNoise>, PartError> {
        let sums = self.take(names.len(), SUMS)?;
        let (sums, _) = sums.as_chunks::<SUMS>();
        let layer = |((layer, element), sums): ((String, Element), &[f64; SUMS])| LayerNoise {
            layer,
            element,
            noise: Noise::of_numbers(*sums),
        };
        Ok(names.into_iter().zip(sums).map(layer).collect())
    }
}

/// A label as the class that it is.
fn class(label: f64) -> Result<usize, PartError> {
    let most = f64::from(u32::MAX);
    if label.fract() == 0.0 && (0.0..=most).contains(&label) {
        return Ok(label as usize);
    }
    Err(PartError::Malformed(format!("a label is {label}, expected a whole number from 0 to {most}")))
}

impl Head {
    fn with(self, numbers: &[f64]) -> Result<Part, PartError> {
        let Self { facts, examples, outputs, layers, apart, has_labels, joined, .. } = self;
        let wrong = |what: String| Err(PartError::Malformed(what));
        if examples == 0 || outputs == 0 || facts.truth.examples != examples {
            return wrong(format!("{examples} examples of {outputs} outputs, {} compared", facts.truth.examples));
        }
        if !(facts.about.scale.is_finite() && facts.about.scale > 0.0) {
            return wrong(format!("a scale of {}", facts.about.scale));
        }
        let mut left = Remaining(numbers);
        let (integer, truth) = (left.take(examples, outputs)?, left.take(examples, outputs)?);
        let layers = left.layers(layers)?;
        let labels = if has_labels { Some(left.take(examples, 1)?) } else { None };
        let labels = labels.map(|labels| labels.iter().map(|label| class(*label)).collect()).transpose()?;
        let apart = match apart {
            Some(ApartHead { samples, layers, causes, f32_cause }) => {
                let layers = left.layers(layers)?;
                let mut outputs = || left.take(samples, outputs);
                let (integer, none, all) = (outputs()?, outputs()?, outputs()?);
                let mut of_cause = |cause| Ok(ApartCause { cause, alone: outputs()?, without: outputs()? });
                let causes = causes.into_iter().map(&mut of_cause).collect::<Result<_, PartError>>()?;
                Some(Apart { samples, layers, integer, none, all, causes, f32_cause })
            }
            None => None,
        };
        if !left.0.is_empty() {
            return wrong(format!("{} numbers more than it says", left.0.len()));
        }
        Ok(Part { facts, compared: Compared { examples, integer, truth, outputs, layers }, labels, apart, joined })
    }
}
