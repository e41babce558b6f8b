//! From layers and tensors to a graph.

use super::container::{Tensor, split, tensors};
use super::error::DataCodeError;
use super::layers::{Kind, Layer, read};
use super::orientation::{LinearLayer, Orientation, decide, numbering};
use crate::float::Matrix;
use crate::graph::{Activation, Graph, Input, Op, Shape};
use crate::import::chain::{activation_name, from_rows, push, short};
use crate::import::{Imported, Ranges, Remark, fnv1a_64};
use std::collections::HashMap;

/// What the file leaves open, or gets wrong, and somebody knows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Options {
    /// The order of the dimensions of all weights; decided from the file if it is not given.
    pub orientation: Option<Orientation>,
    /// What layers without weights compute, by their names in the file: DataCode saves a LeakyReLU, a GELU and even a
    /// dropout as ReLU. `None` is nothing, as a dropout when it does not train.
    pub activations: Vec<(String, Option<Activation>)>,
}

/// Reads a `.nn` file.
///
/// # Errors
/// [`DataCodeError`], the first thing that is wrong with the file or does not fit the options.
pub fn read_datacode(bytes: &[u8], name: &str, options: &Options) -> Result<Imported, DataCodeError> {
    let container = split(bytes)?;
    let layers = read(container.json, container.json_offset)?;
    let tensors = tensors(container)?;
    let linears = resolve(&layers, &tensors)?;
    check_chain(&layers)?;
    let mut remarks = Vec::new();
    let orientation = match options.orientation {
        Some(orientation) => orientation,
        None => {
            let (orientation, why) = decide(&layers, &linears)?;
            let writer = match orientation {
                Orientation::OutIn => "as DataCode 2.1.1 and later write them",
                Orientation::InOut => "as DataCode 2.1.0 wrote them",
            };
            let (word, numbering) = (orientation.word(), numbering(&layers));
            remarks.push(Remark::Decided(format!(
                "weights are {word}, {writer}: {why}; {numbering}; give the `--orientation` to read them otherwise"
            )));
            orientation
        }
    };
    let kinds = overridden(&layers, &options.activations)?;
    remarks.extend(doubts(&layers, &options.activations));
    let mut nodes = Vec::new();
    let mut parameters = linears.iter();
    for (layer, kind) in layers.iter().zip(kinds) {
        match kind {
            Some(Kind::Linear { .. }) => {
                let Some(linear) = parameters.next() else { continue };
                let (weights, bias) = tensors_of(linear, orientation)?;
                push(&mut nodes, layer.name.clone(), Op::Linear { weights, bias });
            }
            Some(Kind::Activation(activation)) => {
                push(&mut nodes, activation_name(&layer.name, activation), Op::Activation(activation));
            }
            Some(Kind::Flatten) => push(&mut nodes, format!("{}.flatten", layer.name), Op::Flatten),
            None => {}
        }
    }
    let len = linears.first().map_or(0, |linear| linear.inputs);
    let graph = Graph { name: name.to_owned(), input: Input::Dense { shape: Shape::vector(len) }, nodes };
    graph.check()?;
    Ok(Imported {
        graph,
        source: "DataCode .nn".to_owned(),
        bytes_hash: fnv1a_64(bytes),
        remarks,
        ranges: Ranges::default(),
    })
}

/// The tensors of every Linear, in the order of the layers. None is missing and none is left over.
fn resolve<'a>(layers: &'a [Layer], tensors: &'a [Tensor<'a>]) -> Result<Vec<LinearLayer<'a>>, DataCodeError> {
    let mut unused: HashMap<&str, &Tensor<'_>> = tensors.iter().map(|tensor| (tensor.name, tensor)).collect();
    let mut part = |layer: &Layer, part: &str| {
        let present = || tensors.iter().take(8).map(|tensor| tensor.name.to_owned()).collect();
        let name = format!("{}.{part}", layer.name);
        let found = unused.remove(name.as_str());
        found.ok_or_else(|| DataCodeError::MissingTensor { name: short(&name), present: present() })
    };
    let mut linears = Vec::new();
    for (layer, (inputs, outputs)) in layers.iter().filter_map(|layer| Some((layer, layer.linear()?))) {
        let (weight, bias) = (part(layer, "weight")?, part(layer, "bias")?);
        linears.push(LinearLayer { name: &layer.name, inputs, outputs, weight, bias });
    }
    match tensors.iter().find(|tensor| unused.contains_key(tensor.name)) {
        None => Ok(linears),
        Some(tensor) => Err(DataCodeError::UnknownTensor { name: tensor.name.to_owned(), offset_bytes: tensor.offset }),
    }
}

fn check_chain(layers: &[Layer]) -> Result<(), DataCodeError> {
    let mut before: Option<(&str, usize)> = None;
    for (name, (inputs, outputs)) in layers.iter().filter_map(|layer| Some((layer.name.as_str(), layer.linear()?))) {
        if let Some((previous, makes)) = before.filter(|(_, makes)| *makes != inputs) {
            return Err(DataCodeError::Chain {
                name: short(name),
                found: inputs,
                previous: short(previous),
                expected: makes,
            });
        }
        before = Some((name, outputs));
    }
    Ok(())
}

/// Weights, and the bias as [outputs] or [1, outputs].
fn tensors_of(linear: &LinearLayer<'_>, orientation: Orientation) -> Result<(Matrix<f64>, Vec<f64>), DataCodeError> {
    let (inputs, outputs) = (linear.inputs, linear.outputs);
    let shape = |tensor: &Tensor<'_>, expected: &[&[usize]]| {
        if expected.contains(&tensor.dims.as_slice()) {
            return Ok(());
        }
        let expected = expected.iter().map(|dims| format!("{dims:?}")).collect::<Vec<_>>().join(" or ");
        let found = format!("{:?}", tensor.dims);
        Err(DataCodeError::Shape { tensor: tensor.name.to_owned(), found, expected, offset_bytes: tensor.offset })
    };
    shape(linear.weight, &[&orientation.shape(inputs, outputs)])?;
    shape(linear.bias, &[&[outputs], &[1, outputs]])?;
    let values = linear.weight.values()?;
    let weights = match orientation {
        Orientation::OutIn => from_rows(outputs, inputs, &values),
        // Rows of [inputs, outputs] are the columns of a matrix by columns.
        Orientation::InOut => Matrix { outputs, inputs, values: values.into_iter().map(f64::from).collect() },
    };
    Ok((weights, linear.bias.values()?.into_iter().map(f64::from).collect()))
}

/// What every layer computes; nothing for one that was said to do nothing.
fn overridden(
    layers: &[Layer],
    activations: &[(String, Option<Activation>)],
) -> Result<Vec<Option<Kind>>, DataCodeError> {
    let can_change = |layer: &Layer| matches!(layer.kind, Kind::Activation(_));
    let mut kinds: Vec<Option<Kind>> = layers.iter().map(|layer| Some(layer.kind)).collect();
    for (name, activation) in activations {
        let mut found = layers.iter().zip(&mut kinds).filter(|(layer, _)| can_change(layer) && layer.name == *name);
        match (found.next(), found.next()) {
            (Some((_, kind)), None) => *kind = activation.map(Kind::Activation),
            (one, _) => {
                let known =
                    layers.iter().filter(|layer| can_change(layer)).take(16).map(|layer| short(&layer.name)).collect();
                return Err(DataCodeError::Override { name: short(name), is_ambiguous: one.is_some(), known });
            }
        }
    }
    Ok(kinds)
}

/// Where the writer may have lost a layer: it saves whatever it does not know as ReLU, and `LogSoftmax` as Softmax.
fn doubts(layers: &[Layer], activations: &[(String, Option<Activation>)]) -> Vec<Remark> {
    let mut remarks = Vec::new();
    let mut warn = |name: &str, what: &str| {
        let name = short(name);
        remarks.push(Remark::Warning(format!(
            "layer `{name}` is {what}; DataCode saves a dropout, a LeakyReLU, a GELU and others as ReLU, so it may \
             have been one: \
             give the activation of `{name}` if you know it, `--activation {name}=WORD`"
        )));
    };
    let seen: Vec<&Layer> = layers.iter().filter(|layer| layer.kind != Kind::Flatten).collect();
    for (index, layer) in seen.iter().enumerate() {
        let Kind::Activation(activation) = layer.kind else { continue };
        if activations.iter().any(|(name, _)| *name == layer.name) {
            continue;
        }
        let is_relu = activation == Activation::Relu;
        match index.checked_sub(1).map(|before| seen[before]) {
            Some(before) if before.linear().is_none() => {
                warn(&layer.name, &format!("an activation directly behind another, `{}`", short(&before.name)));
            }
            None if is_relu => warn(&layer.name, "a ReLU before the first Linear"),
            _ if is_relu && index + 1 == seen.len() => warn(&layer.name, "a ReLU at the end"),
            _ => {}
        }
    }
    remarks
}
