//! `graph.json`: the layers of a network, by name.

use serde::Deserialize;

use super::error::AngelError;
use super::strict;
use crate::graph::Activation;

/// The longest `graph.json`.
pub(super) const MAX_GRAPH_JSON_LEN_BYTES: u64 = 4 << 20;

/// The most layers.
const MAX_LAYERS: usize = 1 << 10;

/// A network without its numbers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Description {
    /// Whether examples are vectors, if that is known.
    pub dense: Option<bool>,
    /// Number of features, if that is known.
    pub features: Option<usize>,
    /// Fields of an example, if that is known.
    pub fields: Option<usize>,
    /// In any order.
    pub layers: Vec<Layer>,
}

/// A layer.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// Its name.
    pub name: String,
    /// The names of the layers that it reads.
    pub reads: Vec<String>,
    /// What it does.
    pub kind: LayerKind,
}

impl Layer {
    /// What is wrong with it.
    pub(super) fn wrong(&self, found: impl Into<String>, expected: &str) -> AngelError {
        let layer = super::shown(self.name.as_bytes());
        AngelError::Layer { layer, found: found.into(), expected: expected.to_owned() }
    }
}

/// What a layer does.
#[derive(Debug, Clone, PartialEq)]
pub enum LayerKind {
    /// `W x + b` of the example.
    Input(Transfer),
    /// An embedding for each active feature; the number of factors, if that is known.
    Embedding(Option<usize>),
    /// `a W + b`, once for each name of matrices.
    FullyConnected(Vec<(String, Transfer)>),
    /// The sum of all inner products of two embeddings.
    FmTerm,
    /// The sum of all products of two embeddings, element by element.
    BiInteraction,
    /// All inner products of two embeddings.
    InnerProducts,
    /// One behind the other.
    Concat,
    /// The sum.
    Sum,
    /// What the loss makes of the output.
    Loss(Option<Activation>),
}

/// What follows a sum of products.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Transfer {
    /// A function.
    pub activation: Option<Activation>,
    /// What dropout leaves, 1 − its probability.
    pub keep: Option<f64>,
}

#[derive(Deserialize)]
struct RawGraph {
    data: Option<RawData>,
    layers: Vec<RawLayer>,
}

#[derive(Deserialize)]
struct RawData {
    format: Option<String>,
    indexrange: Option<f64>,
    numfield: Option<f64>,
}

#[derive(Deserialize)]
struct RawLayer {
    name: String,
    #[serde(rename = "type")]
    class: String,
    outputdims: Option<Vec<i64>>,
    numfactors: Option<i64>,
    inputlayer: Option<String>,
    inputlayers: Option<Vec<String>>,
    transfunc: Option<RawFunction>,
    transfuncs: Option<Vec<RawFunction>>,
    lossfunc: Option<RawFunction>,
}

/// A function with parameters, or its name alone.
#[derive(Deserialize)]
#[serde(untagged)]
enum RawFunction {
    Name(String),
    Object {
        #[serde(rename = "type")]
        class: String,
        proba: Option<f64>,
    },
}

impl RawFunction {
    fn class(&self) -> String {
        match self {
            Self::Name(class) | Self::Object { class, .. } => class.to_lowercase(),
        }
    }
}

/// Reads `graph.json`. Names of classes are compared without regard to case, as Angel does.
///
/// # Errors
/// [`AngelError::Json`], or [`AngelError::Layer`] for a layer that is not known.
pub fn parse_graph_json(bytes: &[u8]) -> Result<Description, AngelError> {
    let raw: RawGraph = strict::parse(bytes, "graph.json", 0)?;
    if raw.layers.len() > MAX_LAYERS {
        let why = format!("{} layers, at most {MAX_LAYERS} are read", raw.layers.len());
        return Err(AngelError::Json { file: "graph.json", why });
    }
    let layers = raw.layers.into_iter().map(layer).collect::<Result<_, _>>()?;
    // -1, a whole number or a real one: what is not a count says nothing.
    let count = |number: Option<f64>| number.filter(|n| *n >= 1.0 && *n <= 1e9 && n.fract() == 0.0).map(|n| n as usize);
    let data = raw.data.unwrap_or(RawData { format: None, indexrange: None, numfield: None });
    let dense = data.format.map(|format| format.eq_ignore_ascii_case("dense"));
    Ok(Description { dense, features: count(data.indexrange), fields: count(data.numfield), layers })
}

fn layer(raw: RawLayer) -> Result<Layer, AngelError> {
    let wrong = |found: String, expected: &str| {
        Err(AngelError::Layer { layer: super::shown(raw.name.as_bytes()), found, expected: expected.to_owned() })
    };
    let reads: Vec<String> = raw.inputlayer.iter().chain(raw.inputlayers.iter().flatten()).cloned().collect();
    let transfers: Vec<&RawFunction> = raw.transfunc.iter().chain(raw.transfuncs.iter().flatten()).collect();
    let of = |function: &RawFunction| transfer(&raw.name, function);
    let kind = match raw.class.to_lowercase().as_str() {
        "simpleinputlayer" | "sparseinputlayer" | "denseinputlayer" => match transfers[..] {
            [] => LayerKind::Input(Transfer::default()),
            [function] => LayerKind::Input(of(function)?),
            _ => return wrong(format!("{} functions", transfers.len()), "one"),
        },
        "embedding" => LayerKind::Embedding(match raw.numfactors {
            None => None,
            Some(count @ 1..=0x7fff_ffff) => Some(count as usize),
            Some(count) => return wrong(format!("numfactors {count}"), "1 or more"),
        }),
        "fclayer" => {
            let count = raw.outputdims.as_ref().map_or(1, Vec::len);
            if transfers.len() != count || count == 0 {
                return wrong(format!("{} functions", transfers.len()), &format!("{count}, one for each outputdim"));
            }
            // The last of several keeps the plain name.
            let name = |place: usize| {
                if place + 1 == count { raw.name.clone() } else { format!("{}_{place}", raw.name) }
            };
            let each = transfers.iter().enumerate().map(|(place, function)| Ok((name(place), of(function)?)));
            LayerKind::FullyConnected(each.collect::<Result<_, AngelError>>()?)
        }
        "biinnersumcross" => LayerKind::FmTerm,
        "biinteractioncross" => LayerKind::BiInteraction,
        "biinnercross" => LayerKind::InnerProducts,
        "concatlayer" => LayerKind::Concat,
        "sumpooling" => LayerKind::Sum,
        "simplelosslayer" | "softmaxlosslayer" | "losslayer" => {
            // One that is left out is none of those that are known.
            let class = raw.lossfunc.as_ref().map_or_else(String::new, RawFunction::class);
            LayerKind::Loss(match class.as_str() {
                "logloss" => Some(Activation::Sigmoid),
                "softmaxloss" => Some(Activation::Softmax),
                // The last takes probabilities, so the layer before it has the function.
                "hingeloss" | "l2loss" | "huberloss" | "crossentropyloss" => None,
                _ => {
                    let known = "LogLoss, SoftmaxLoss, HingeLoss, L2Loss, HuberLoss or CrossEntropyLoss";
                    return wrong(format!("lossfunc `{}`", super::shown(class.as_bytes())), known);
                }
            })
        }
        _ => {
            let known = "SimpleInputLayer, Embedding, FCLayer, BiInnerSumCross, BiInteractionCross, BiInnerCross, \
                         ConcatLayer,                 SumPooling or a loss layer";
            return wrong(format!("type `{}`", super::shown(raw.class.as_bytes())), known);
        }
    };
    let fits = match kind {
        LayerKind::Input(_) | LayerKind::Embedding(_) => reads.is_empty(),
        LayerKind::Concat | LayerKind::Sum => reads.len() >= 2,
        _ => reads.len() == 1,
    };
    if fits {
        Ok(Layer { name: raw.name, reads, kind })
    } else {
        wrong(format!("{} input layers", reads.len()), "as many as it reads")
    }
}

fn transfer(layer: &str, function: &RawFunction) -> Result<Transfer, AngelError> {
    let wrong = |found: String, expected: &str| {
        Err(AngelError::Layer { layer: super::shown(layer.as_bytes()), found, expected: expected.to_owned() })
    };
    let class = function.class();
    let (activation, drops) = match class.as_str() {
        "identity" => (None, false),
        "relu" => (Some(Activation::Relu), false),
        "sigmoid" => (Some(Activation::Sigmoid), false),
        "tanh" => (Some(Activation::Tanh), false),
        "softmax" => (Some(Activation::Softmax), false),
        "dropout" => (None, true),
        "sigmoidwithdropout" => (Some(Activation::Sigmoid), true),
        "tanhwithdropout" => (Some(Activation::Tanh), true),
        _ => {
            let known = "Identity, Relu, Sigmoid, Tanh, Softmax, Dropout, SigmoidWithDropout or TanhWithDropout";
            return wrong(format!("the function `{}`", super::shown(class.as_bytes())), known);
        }
    };
    let keep = match (drops, function) {
        (false, _) => None,
        (true, RawFunction::Object { proba: Some(proba), .. }) if (0.0..1.0).contains(proba) => Some(1.0 - proba),
        (true, RawFunction::Object { proba: Some(proba), .. }) => {
            return wrong(format!("proba {proba}"), "0 or more and below 1");
        }
        (true, _) => return wrong("dropout without a proba".to_owned(), "one from 0 to below 1"),
    };
    Ok(Transfer { activation, keep })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(layers: &str) -> Result<Description, String> {
        let text =
            format!(r#"{{"data": {{"format": "libsvm", "indexrange": 10, "numfield": -1}}, "layers": [{layers}]}}"#);
        parse_graph_json(text.as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn functions_are_names_or_objects() {
        let layers = r#"{"name": "in", "type": "SIMPLEINPUTLAYER", "transfunc": "identity"},
            {"name": "fc", "type": "FCLayer", "inputlayer": "in", "outputdims": [3, 2, 1], "transfuncs": ["relu",
                {"type": "TanhWithDropout", "proba": 0.25, "actiontype": "train"}, {"type": "Identity"}]},
            {"name": "loss", "type": "SimpleLossLayer", "lossfunc": "hingeloss", "inputlayer": "fc"}"#;
        let graph = parse(layers).unwrap();
        assert_eq!((graph.dense, graph.features, graph.fields), (Some(false), Some(10), None));
        let LayerKind::FullyConnected(layers) = &graph.layers[1].kind else { panic!("{graph:?}") };
        let names: Vec<&str> = layers.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["fc_0", "fc_1", "fc"]);
        assert_eq!(layers[1].1, Transfer { activation: Some(Activation::Tanh), keep: Some(0.75) });
        assert_eq!(graph.layers[2].kind, LayerKind::Loss(None));
    }

    #[test]
    fn what_is_not_known_is_named() {
        for (layers, words) in [
            (r#"{"name": "x", "type": "MulPooling", "inputlayers": []}"#, "layer `x`: type `MulPooling`"),
            (r#"{"name": "x", "type": "SumPooling", "inputlayers": ["a"]}"#, "1 input layers"),
            (r#"{"name": "x", "type": "FCLayer", "inputlayer": "a", "outputdim": 2}"#, "0 functions, expected 1"),
            (r#"{"name": "x", "type": "SimpleInputLayer", "transfunc": {"type": "Dropout", "proba": 1.0}}"#, "proba 1"),
            (r#"{"name": "x", "type": "SimpleInputLayer", "transfunc": "dropout"}"#, "dropout without a proba"),
            (r#"{"name": "x", "type": "SimpleInputLayer", "transfunc": "gelu"}"#, "the function `gelu`"),
            (r#"{"name": "x", "type": "SimpleLossLayer", "inputlayer": "a"}"#, "lossfunc ``, expected LogLoss"),
            (r#"{"name": "x", "type": "Embedding", "numfactors": 0}"#, "numfactors 0"),
            (r#"{"name": "x", "name": "y"}"#, "`name` is there twice"),
        ] {
            let error = parse(layers).unwrap_err();
            assert!(error.contains(words), "{words}: {error}");
        }
    }

    #[test]
    fn damage_is_no_panic() {
        let text = r#"{"data": {"format": "libsvm", "indexrange": 10.0, "numfield": 1e300}, "layers": [{"name": "e",
            "type": "Embedding", "numfactors": 2},
            {"name": "f", "type": "FCLayer", "inputlayer": "e", "outputdims": [1],
            "transfuncs": ["relu"]}]}"#;
        assert_eq!(parse_graph_json(text.as_bytes()).unwrap().fields, None);
        for at in 0..text.len() {
            assert!(parse_graph_json(&text.as_bytes()[..at]).is_err(), "{at}");
            for change in [1, 4, 0x10, 0x80] {
                let mut damaged = text.as_bytes().to_vec();
                damaged[at] ^= change;
                let layers = parse_graph_json(&damaged).map(|graph| graph.layers.len());
                assert!(layers.is_err() || matches!(layers, Ok(2)), "{at}");
            }
        }
    }
}
