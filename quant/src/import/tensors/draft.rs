//! Descriptions of dense layers in a row, drafted for tensors that nobody has described: by their shapes and the order
//! of their names.
//!
//! Matrices are layers, in the order of their names with numbers taken as numbers, `fc2` before `fc10`; where a chain
//! is given, each of its layers takes the first matrix of its shape that is left. A vector as long as a layer has
//! outputs is its bias, the one whose name begins alike before any other.

use super::error::TensorsImportError;
use crate::graph::description::{Description, Tensor, Tensors};
use crate::import::Remark;
use crate::import::chain::{Chain, ChainLayer};
use crate::import::datacode::Orientation;
use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt::Write;
use tamis_batches::printable;

/// The part of a name that PyTorch's normalizations count their steps in.
const STEPS_PART: &str = "num_batches_tracked";
/// More tensors than this are not listed.
const SHOWN: usize = 12;

/// A description, and what was decided.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// TOML that starts with `graph = 1`, and names the file's tensors.
    pub text: String,
    /// The same, read.
    pub description: Description,
    /// What was decided, and what is a guess.
    pub remarks: Vec<Remark>,
}

/// A matrix, and the vector that is added.
struct Taken<'t> {
    weights: &'t str,
    bias: Option<&'t str>,
}

/// The description of a chain over these tensors, or of the one that their shapes make, whose activations are a guess.
///
/// # Errors
/// [`TensorsImportError::NoChain`] with what does not fit, and the tensors that there are.
pub(super) fn draft(
    name: &str,
    tensors: &Tensors,
    chain: Option<&Chain>,
    orientation: Option<Orientation>,
) -> Result<Draft, TensorsImportError> {
    let fault = |why: String| TensorsImportError::NoChain { why, tensors: listed(tensors) };
    let mut matrices: Vec<(&str, &Tensor)> = Vec::new();
    let mut vectors: Vec<(&str, &Tensor)> = Vec::new();
    for (name, tensor) in tensors {
        match tensor.shape.len() {
            _ if last_part(name) == STEPS_PART => {}
            2 => matrices.push((name, tensor)),
            1 => vectors.push((name, tensor)),
            4 => {
                // Short, so that a message which has to be cut loses names of tensors, and not this.
                return Err(fault(format!(
                    "`{}` is neither a matrix nor a vector; as ONNX it needs no description: \
                     `torch.onnx.export(net, x, \"net.onnx\")`",
                    printable(name)
                )));
            }
            _ => return Err(fault(format!("`{}` is neither a matrix nor a vector", printable(name)))),
        }
    }
    matrices.sort_by(|a, b| by_numbers(a.0, b.0));
    vectors.sort_by(|a, b| by_numbers(a.0, b.0));

    let mut remarks = Vec::new();
    // Keras calls a matrix that lies as (in, out) a kernel.
    let is_keras = matrices.iter().all(|(name, _)| last_part(name).starts_with("kernel"));
    let preferred = if is_keras { Orientation::InOut } else { Orientation::OutIn };
    let other = if is_keras { Orientation::OutIn } else { Orientation::InOut };
    let tried = orientation.map_or(vec![preferred, other], |orientation| vec![orientation]);
    let found = tried.iter().find_map(|orientation| {
        let (chain, taken) = match chain {
            Some(chain) => (chain.clone(), take_chain(chain, *orientation, &matrices)?),
            None => in_a_row(*orientation, &matrices)?,
        };
        let taken = with_biases(&chain, taken, &vectors)?;
        Some((*orientation, chain, taken))
    });
    let Some((orientation, chain, layers)) = found else {
        let why = match chain {
            Some(chain) => format!("they are not the matrices and biases of {chain}"),
            None => "their matrices and biases are no dense layers in a row".to_owned(),
        };
        return Err(fault(why));
    };
    let text = write(name, &chain, &layers, orientation);
    let order = layers.iter().map(|layer| layer.weights).collect::<Vec<_>>().join(", ");
    let layout = format!("the layers are {}, each {}", cut(&printable(&order)), orientation.word());
    let ambiguous = tried.len() > 1 && matrices.iter().all(|(_, tensor)| tensor.shape[0] == tensor.shape[1]);
    let hint = if ambiguous { "; all are square, so that --orientation may say otherwise" } else { "" };
    remarks.push(Remark::Decided(format!("{layout}{hint}")));
    let description = Description::from_toml(&text, "draft").map_err(TensorsImportError::Draft)?;
    Ok(Draft { text, description, remarks })
}

/// Each layer takes the first matrix of its shape that is left; none may be left over.
fn take_chain<'t>(chain: &Chain, orientation: Orientation, matrices: &[(&'t str, &Tensor)]) -> Option<Vec<&'t str>> {
    let mut left: Vec<&(&str, &Tensor)> = matrices.iter().collect();
    let mut taken = Vec::new();
    for layer in chain.layers() {
        let shape = orientation.shape(layer.inputs, layer.outputs);
        let index = left.iter().position(|(_, tensor)| tensor.shape == shape)?;
        taken.push(left.remove(index).0);
    }
    left.is_empty().then_some(taken)
}

/// The chain that matrices make as they stand, with ReLU between.
fn in_a_row<'t>(orientation: Orientation, matrices: &[(&'t str, &Tensor)]) -> Option<(Chain, Vec<&'t str>)> {
    let count = matrices.len();
    let layer = |(index, (_, tensor)): (usize, &(&str, &Tensor))| {
        let (inputs, outputs) = match orientation {
            Orientation::OutIn => (tensor.shape[1], tensor.shape[0]),
            Orientation::InOut => (tensor.shape[0], tensor.shape[1]),
        };
        let activation = (index + 1 < count).then_some(crate::graph::Activation::Relu);
        ChainLayer { inputs, outputs, activation }
    };
    let chain = Chain::new(matrices.iter().enumerate().map(layer).collect()).ok()?;
    Some((chain, matrices.iter().map(|(name, _)| *name).collect()))
}

/// The biases: all vectors have to be one.
fn with_biases<'t>(chain: &Chain, weights: Vec<&'t str>, vectors: &[(&'t str, &Tensor)]) -> Option<Vec<Taken<'t>>> {
    let mut left: Vec<&(&str, &Tensor)> = vectors.iter().collect();
    let mut layers: Vec<Taken<'t>> = weights.into_iter().map(|weights| Taken { weights, bias: None }).collect();
    // By their names first, so that a layer without a bias does not take another's.
    for (layer, taken) in chain.layers().iter().zip(&mut layers) {
        let is_its =
            |vector: &&(&str, &Tensor)| stem(vector.0) == stem(taken.weights) && vector.1.shape == [layer.outputs];
        if let Some(index) = left.iter().position(is_its) {
            taken.bias = Some(left.remove(index).0);
        }
    }
    for (layer, taken) in chain.layers().iter().zip(&mut layers).filter(|(_, taken)| taken.bias.is_none()) {
        if let Some(index) = left.iter().position(|(_, vector)| vector.shape == [layer.outputs]) {
            taken.bias = Some(left.remove(index).0);
        }
    }
    left.is_empty().then_some(layers)
}

fn write(name: &str, chain: &Chain, layers: &[Taken<'_>], orientation: Orientation) -> String {
    let inputs = chain.layers()[0].inputs;
    let mut text =
        format!("graph = 1\nname = {}\n\n[input]\nkind = \"dense\"\nsize = {inputs}\n", quoted(&printable(name)));
    let stems: HashSet<&str> = layers.iter().map(|layer| stem(layer.weights)).collect();
    // Stems name the layers where each has one, and none is what an activation or the input is called.
    let stems_name = stems.len() == layers.len()
        && stems.iter().all(|stem| stem.len() < 200 && !stem.is_empty() && !stem.contains(char::is_control))
        && !stems.contains("input");
    for (index, (layer, taken)) in chain.layers().iter().zip(layers).enumerate() {
        let node = if stems_name { stem(taken.weights).to_owned() } else { format!("layer{index}") };
        let _ = write!(text, "\n[[node]]\nname = {}\nop = \"linear\"\noutputs = {}\n", quoted(&node), layer.outputs);
        if taken.weights != format!("{node}.weight") {
            let _ = writeln!(text, "weights = {}", quoted(taken.weights));
        }
        match taken.bias {
            None => text.push_str("bias = false\n"),
            Some(bias) if bias != format!("{node}.bias") => {
                let _ = writeln!(text, "bias = {}", quoted(bias));
            }
            Some(_) => {}
        }
        if orientation == Orientation::InOut {
            text.push_str("order = \"in-out\"\n");
        }
        if let Some(activation) = layer.activation {
            let word = activation.word();
            let _ = write!(text, "\n[[node]]\nname = {}\nop = \"{word}\"\n", quoted(&format!("{node}.{word}")));
            if let crate::graph::Activation::LeakyRelu { alpha } = activation {
                let _ = writeln!(text, "alpha = {alpha:?}");
            }
        }
    }
    text
}

/// A TOML string.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// `fc1` of `fc1.weight`, `dense/kernel` and the like; all of a name without parts.
fn stem(name: &str) -> &str {
    name.rfind(['.', '/']).map_or(name, |end| &name[..end])
}

fn last_part(name: &str) -> &str {
    name.rfind(['.', '/']).map_or(name, |end| &name[end + 1..])
}

/// As people count: `fc2` before `fc10`.
fn by_numbers(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a, b);
    while let (Some(first), Some(second)) = (a.chars().next(), b.chars().next()) {
        let digits = |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (left, right) = (digits(a), digits(b));
        let order = if left > 0 && right > 0 {
            let (x, y) = (a[..left].trim_start_matches('0'), b[..right].trim_start_matches('0'));
            (a, b) = (&a[left..], &b[right..]);
            x.len().cmp(&y.len()).then_with(|| x.cmp(y))
        } else {
            (a, b) = (&a[first.len_utf8()..], &b[second.len_utf8()..]);
            first.cmp(&second)
        };
        if order != Ordering::Equal {
            return order;
        }
    }
    a.len().cmp(&b.len())
}

/// `fc1.weight (24, 16), …`
fn listed(tensors: &Tensors) -> String {
    let shown = tensors.iter().take(SHOWN);
    let mut words: Vec<String> =
        shown.map(|(name, tensor)| format!("{} {}", printable(name), Tensor::shape_text(&tensor.shape))).collect();
    if tensors.len() > SHOWN {
        words.push(format!("and {} more", tensors.len() - SHOWN));
    }
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}

fn cut(text: &str) -> String {
    const SHOWN_CHARS: usize = 200;
    if text.chars().count() <= SHOWN_CHARS {
        text.to_owned()
    } else {
        text.chars().take(SHOWN_CHARS).chain(['…']).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensors(shapes: &[(&str, &[usize])]) -> Tensors {
        let tensor = |shape: &[usize]| Tensor { shape: shape.to_vec(), values: vec![0.5; shape.iter().product()] };
        shapes.iter().map(|(name, shape)| ((*name).to_owned(), tensor(shape))).collect()
    }

    fn nodes(made: &Draft) -> Vec<&str> {
        made.description.nodes.iter().map(|node| node.name.as_str()).collect()
    }

    #[test]
    fn layers_are_found_by_shape_and_by_the_order_of_names() {
        let found = tensors(&[
            ("net.10.weight", &[4, 12]),
            ("net.10.bias", &[4]),
            ("net.2.weight", &[12, 24]),
            ("net.2.bias", &[12]),
            ("net.0.weight", &[24, 16]),
        ]);
        let chain = Chain::from_text("16:relu24:leaky12@0.5:linear4").unwrap();
        let made = draft("x", &found, Some(&chain), None).unwrap();
        assert_eq!(nodes(&made), ["net.0", "net.0.relu", "net.2", "net.2.leaky-relu", "net.10"], "{}", made.text);
        assert!(made.text.contains("bias = false"), "{}", made.text);
        made.description.bind(found.clone()).unwrap();
        // Without a chain the activations are a guess, and the order is that of the names.
        let guess = draft("x", &found, None, None).unwrap();
        assert_eq!(nodes(&guess), ["net.0", "net.0.relu", "net.2", "net.2.relu", "net.10"]);
    }

    #[test]
    fn kernels_lie_the_other_way_round() {
        let found = tensors(&[
            ("dense/kernel", &[3, 3]),
            ("dense/bias", &[3]),
            ("dense_1/kernel", &[3, 2]),
            ("dense_1/bias", &[2]),
        ]);
        let made = draft("x", &found, None, None).unwrap();
        assert_eq!(made.text.matches("order = \"in-out\"").count(), 2, "{}", made.text);
        assert!(made.text.contains("weights = \"dense/kernel\""), "{}", made.text);
        made.description.bind(found).unwrap();
        let square = tensors(&[("w", &[3, 3])]);
        let made = draft("x", &square, None, Some(Orientation::InOut)).unwrap();
        assert!(made.text.contains("in-out") && made.text.contains("bias = false"), "{}", made.text);
    }

    #[test]
    fn what_is_no_chain_is_named_with_the_tensors() {
        let two = tensors(&[("a", &[3, 2]), ("b", &[5, 4])]);
        let chain = Chain::from_text("2:relu3:linear4").unwrap();
        for (found, given, words) in [
            (&two, None, "no dense layers in a row"),
            (&two, Some(&chain), "not the matrices and biases of 2:relu3:linear4"),
            (&tensors(&[("k", &[3, 3, 3, 3])]), None, "`k` is neither a matrix nor a vector; as ONNX"),
            (&tensors(&[("k", &[3, 3, 3])]), None, "`k` is neither a matrix nor a vector"),
            (&tensors(&[("w", &[3, 2]), ("x", &[7])]), None, "no dense layers in a row"),
            (&tensors(&[]), None, "no dense layers in a row"),
        ] {
            let error = draft("x", found, given, None).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn numbers_in_names_are_numbers() {
        let mut names = ["fc10", "fc2", "fc02b", "a", "fc"];
        names.sort_by(|a, b| by_numbers(a, b));
        assert_eq!(names, ["a", "fc", "fc2", "fc02b", "fc10"]);
    }
}
