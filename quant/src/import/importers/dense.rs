//! bullet's dense networks as graphs: their description gives the layers, and the ranges that calibration gives others.

use super::NetworkError;
use crate::arch::{Activation as Described, Architecture, DenseType, ElementType, Layer};
use crate::float::Net;
use crate::graph::{Activation, Graph, Input, Node, Op, Shape};
use crate::import::chain::{activation_name, push};
use crate::import::{Imported, Ranges, read_checkpoint};
use std::path::Path;

/// The greatest input where the description gives none.
const INPUT_MAX: f64 = 1.0;
/// Activations are counted in so many steps.
const STEPS: f64 = 127.0;

/// Reads a checkpoint of bullet by the description of a dense network.
pub(super) fn read(path: &Path, arch: &Architecture) -> Result<Imported, NetworkError> {
    let checkpoint = read_checkpoint(path, arch)?;
    let (graph, ranges) = dense_graph(&checkpoint.net).map_err(|error| error.at(path))?;
    let (source, bytes_hash) = (checkpoint.source, checkpoint.bytes_hash);
    Ok(Imported { graph, source, bytes_hash, remarks: Vec::new(), ranges })
}

/// A dense network as a graph, and the ranges that its description gives.
///
/// # Errors
/// [`NetworkError::Unsupported`] naming the layer: what a graph cannot say, or a range whose 127th part f32 cannot
/// hold; [`NetworkError::Graph`] for numbers that are not finite.
///
/// # Examples
/// ```
/// use tamis_quant::arch::Architecture;
/// use tamis_quant::import::{importers::dense_graph, read_bytes};
/// use tamis_quant::quantise::graph::{Options, quantise_graph};
///
/// let arch = Architecture::from_toml(include_str!("../../../../tests/architectures/digits.toml"), "digits.toml")?;
/// let weights = include_bytes!("../../../../tests/reference/digits.weights.bin");
/// let (graph, ranges) = dense_graph(&read_bytes(weights, &arch, "digits.weights.bin")?.net)?;
/// let program = quantise_graph(&graph, &[], &Options::default().with_ranges(ranges))?;
/// assert_eq!(program.nodes.len(), 4, "sums and their integers, twice");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn dense_graph(net: &Net<f32>) -> Result<(Graph, Ranges), NetworkError> {
    let arch = &net.arch;
    if arch.input.is_sparse() {
        return Err(NetworkError::WrongArch { found: "the description of accumulators", expected: "a dense input" });
    }
    let mut ranges = Ranges::default();
    if let Some(first) = arch.layers.first() {
        let max = arch.input.max.unwrap_or(INPUT_MAX);
        check_range(first, max, "the input")?;
        let low = if arch.input.r#type == Some(DenseType::I8) { -max } else { 0.0 };
        ranges.input = Some((low, max));
    }
    let mut nodes: Vec<Node> = Vec::new();
    for (index, (layer, description)) in net.layers.iter().zip(&arch.layers).enumerate() {
        check_layer(arch, index, description)?;
        let (weights, bias) = (layer.weights.map(f64::from), layer.bias.iter().copied().map(f64::from).collect());
        push(&mut nodes, description.name.clone(), Op::Linear { weights, bias });
        let Some((activation, max)) = activation(description)? else { continue };
        let name = activation_name(&description.name, activation);
        if let Some(max) = max {
            check_range(description, max, "`activation_max`")?;
            ranges.nodes.insert(name.clone(), (0.0, max));
        }
        push(&mut nodes, name, Op::Activation(activation));
    }
    if arch.output.scale != 1 {
        push(&mut nodes, "scale".to_owned(), Op::Scale(f64::from(arch.output.scale)));
    }
    let graph =
        Graph { name: arch.name.clone(), input: Input::Dense { shape: Shape::vector(arch.feature_count()) }, nodes };
    graph.check().map_err(NetworkError::Graph)?;
    Ok((graph, ranges))
}

/// The activation behind a layer, and its greatest value where that is known; none behind the last layer.
fn activation(layer: &Layer) -> Result<Option<(Activation, Option<f64>)>, NetworkError> {
    match layer.activation {
        Described::Identity => Ok(None),
        Described::Relu => Ok(Some((Activation::Relu, layer.activation_max))),
        Described::Crelu => Ok(Some((Activation::Crelu, Some(1.0)))),
        other => Err(unsupported(layer, other.word().to_owned(), "use relu or crelu in dense networks")),
    }
}

fn check_layer(arch: &Architecture, index: usize, layer: &Layer) -> Result<(), NetworkError> {
    if layer.skip > 0 {
        return Err(unsupported(layer, "`skip` in a dense network".to_owned(), "leave it out"));
    }
    for (name, wanted) in [(arch.weights_name(index), ElementType::I8), (arch.bias_name(index), ElementType::I32)] {
        let found = arch.tensor(&name).map(|tensor| tensor.r#type);
        if let Some(found) = found.filter(|found| *found != wanted) {
            let what = format!("`{name}` of {} in a dense network", found.word());
            return Err(unsupported(layer, what, "use i8 weights and i32 biases"));
        }
    }
    let is_last = index + 1 == arch.layers.len();
    if is_last && layer.activation != Described::Identity {
        let what = format!("{} after the last layer", layer.activation.word());
        return Err(unsupported(layer, what, "apply it to the outputs"));
    }
    Ok(())
}

/// Refuses a range whose unit f32 cannot hold.
fn check_range(layer: &Layer, max: f64, of: &str) -> Result<(), NetworkError> {
    let unit = max / STEPS;
    if (unit as f32).is_normal() {
        return Ok(());
    }
    let what = format!("a range of {of} whose 127th part is {unit:e} in f32");
    Err(unsupported(layer, what, "scale the values nearer to 1 and give their range again"))
}

fn unsupported(layer: &Layer, what: String, instead: &'static str) -> NetworkError {
    NetworkError::Unsupported { layer: layer.name.clone(), what, instead }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::float::{Affine, Matrix};

    const DENSE: &str = include_str!("../../../../tests/architectures/digits.toml");

    fn refused(from: &str, to: &str) -> String {
        let arch = Architecture::from_toml(&DENSE.replacen(from, to, 1), "digits.toml").unwrap();
        let layers = (0..arch.layers.len()).map(|index| {
            let (outputs, inputs) = (arch.layer_rows(index), arch.layer_inputs(index));
            Affine {
                weights: Matrix { outputs, inputs, values: vec![0.5; outputs * inputs] },
                bias: vec![0.1; outputs],
            }
        });
        dense_graph(&Net { layers: layers.collect(), arch: arch.clone(), psqt: None }).unwrap_err().to_string()
    }

    #[test]
    fn what_a_graph_or_f32_cannot_hold_is_refused() {
        for (from, to, words) in [
            ("max = 1.0", "max = 1e-60", "a range of the input"),
            ("max = 1.0", "max = 1e60", "a range of the input"),
            ("activation_max = 7.3704834", "activation_max = 1e-60", "a range of `activation_max`"),
            ("outputs = 32", "outputs = 42\nskip = 10", "`skip` in a dense network"),
            ("type = \"i8\"", "type = \"i16\"", "`l0w` of i16 in a dense network"),
        ] {
            let error = refused(from, to);
            assert!(error.starts_with("layer `l0`: ") && error.contains(words), "{error}");
        }
    }
}
