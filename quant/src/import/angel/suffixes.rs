//! Which model a folder holds, where `graph.json` does not say: by the suffixes of its matrices and their shapes.

use std::collections::BTreeMap;

use super::error::AngelError;
use super::graph_json::{Description, Layer, LayerKind, Transfer};
use super::kind::Kind;
use super::matrix::Matrix;
use super::options::Options;
use super::tensors::no_matrix;
use crate::graph::Activation;
use crate::import::Remark;

/// The layers of a model that its matrices tell, or `options.kind` says. Of `known`, what `graph.json` says, the data
/// and the functions behind layers are kept.
pub(super) fn describe(
    matrices: &BTreeMap<String, Matrix>,
    known: Option<&Description>,
    options: &Options,
) -> Result<(Description, Vec<Remark>), AngelError> {
    let parts = Parts::of(matrices, options.kind)?;
    let fields = options.fields.or(known.and_then(|known| known.fields));
    let (kind, mut remarks) = match options.kind {
        Some(kind) => (kind, Vec::new()),
        None => parts.guess(fields)?,
    };
    let needs = kind.parts();
    let lacks = |what: &str| no_matrix(what, matrices, format!("; `--kind {}` needs one", kind.word()));
    let mut layers = Vec::new();
    let mut summands = Vec::new();
    let mut add = |name: &str, reads: &[&str], kind: LayerKind| {
        let reads = reads.iter().map(|read| (*read).to_owned()).collect();
        layers.push(Layer { name: name.to_owned(), reads, kind });
    };
    if needs.0 {
        let wide = parts.wide.ok_or_else(|| lacks("<input>_weight"))?;
        add(wide, &[], LayerKind::Input(function(known, wide).unwrap_or_default()));
        summands.push(wide);
    }
    if let (true, embedding) = (needs.1, &parts.embedding) {
        let embedding = embedding.as_ref().ok_or_else(|| lacks("<name>_embedding"))?.name;
        add(embedding, &[], LayerKind::Embedding(None));
        if matches!(kind, Kind::Fm | Kind::DeepFm) {
            add("fm", &[embedding], LayerKind::FmTerm);
            summands.push("fm");
        }
        let source = match kind {
            Kind::Pnn => {
                add("products", &[embedding], LayerKind::InnerProducts);
                add("concat", &[embedding, "products"], LayerKind::Concat);
                "concat"
            }
            Kind::Nfm => {
                add("interaction", &[embedding], LayerKind::BiInteraction);
                "interaction"
            }
            _ => embedding,
        };
        if needs.2 {
            let Some(last) = parts.dense.len().checked_sub(1) else { return Err(lacks("<fclayer>_weight")) };
            let each = parts.dense.iter().enumerate().map(|(place, name)| {
                let usual = Transfer { activation: (place < last).then_some(Activation::Relu), keep: None };
                ((*name).to_owned(), function(known, name).unwrap_or(usual))
            });
            add("dense layers", &[source], LayerKind::FullyConnected(each.collect()));
            summands.push("dense layers");
            if parts.dense.iter().take(last).any(|name| function(known, name).is_none()) {
                remarks.push(Remark::Decided("hidden layers end in ReLU, Angel's usual function".to_owned()));
            }
        }
    }
    let output = match summands[..] {
        [only] => only,
        _ => {
            add("sum", &summands, LayerKind::Sum);
            "sum"
        }
    };
    let loss = match kind {
        Kind::LinearRegression | Kind::Svm | Kind::Gbdt => None,
        Kind::SoftmaxRegression => Some(Activation::Softmax),
        _ => Some(Activation::Sigmoid),
    };
    add("output", &[output], LayerKind::Loss(loss));
    let (dense, features) = known.map_or((None, None), |known| (known.dense, known.features));
    Ok((Description { dense, features, fields: fields.or_else(|| parts.fields(kind)), layers }, remarks))
}

/// The function that `graph.json` puts behind a layer.
fn function(known: Option<&Description>, name: &str) -> Option<Transfer> {
    known?.layers.iter().find_map(|layer| match &layer.kind {
        LayerKind::Input(transfer) if layer.name == name => Some(*transfer),
        LayerKind::FullyConnected(parts) => parts.iter().find(|part| part.0 == name).map(|part| part.1),
        _ => None,
    })
}

/// What the names and shapes of matrices say.
struct Parts<'a> {
    /// The layer whose weights stand beside the embedding's features.
    wide: Option<&'a str>,
    embedding: Option<Embedding<'a>>,
    /// Dense layers in order.
    dense: Vec<&'a str>,
    /// Inputs of the first dense layer.
    dense_inputs: Option<u64>,
    /// Outputs of the wide layer.
    wide_outputs: Option<u64>,
}

struct Embedding<'a> {
    name: &'a str,
    /// Elements of one embedding.
    width: u64,
}

impl<'a> Parts<'a> {
    fn of(matrices: &'a BTreeMap<String, Matrix>, kind: Option<Kind>) -> Result<Self, AngelError> {
        let with = |suffix: &'static str| {
            matrices.iter().filter_map(move |(name, matrix)| Some((name.strip_suffix(suffix)?, matrix)))
        };
        let embeddings: Vec<(&str, &Matrix)> = with("_embedding").collect();
        if embeddings.len() > 1 {
            return Err(unknown(format!("{} embeddings, and one is known", embeddings.len()), &[]));
        }
        let mut dense = Vec::new();
        for (name, weight) in with("_weight") {
            let bias = format!("{name}_bias");
            let hint = "; every layer with weights has one, were all files copied?";
            let bias = matrices.get(&bias).ok_or_else(|| no_matrix(&bias, matrices, hint))?;
            dense.push((name, weight, bias.cols.max(1)));
        }
        let embedding = embeddings.first().map(|(name, matrix)| {
            let width = matrix.values.ids().len() as u64;
            (Embedding { name, width }, matrix.cols)
        });
        // With embeddings, the wide layer has one weight for each of the same features.
        let beside = |weight: &Matrix, outputs: u64| match &embedding {
            Some((_, features)) => outputs == 1 && weight.cols == *features,
            None => true,
        };
        let mut wide: Vec<usize> = (0..dense.len()).filter(|index| beside(dense[*index].1, dense[*index].2)).collect();
        if kind == Some(Kind::Dnn) {
            wide.clear();
        } else if wide.len() > 1 {
            // Angel's usual names, where shapes do not tell.
            let could = wide.len();
            wide.retain(|index| matches!(dense[*index].0, "input" | "wide"));
            if wide.len() != 1 {
                return Err(unknown(format!("{could} layers could be the one that reads features"), &[]));
            }
        }
        let wide = wide.first().copied();
        let wide = wide.map(|index| dense.remove(index));
        dense.sort_by_key(|(name, ..)| place_of(name));
        let dense_inputs = dense.first().map(|(_, weight, outputs)| weight.cols / outputs);
        Ok(Self {
            wide: wide.map(|(name, ..)| name),
            embedding: embedding.map(|(embedding, _)| embedding),
            dense: dense.iter().map(|(name, ..)| *name).collect(),
            dense_inputs,
            wide_outputs: wide.map(|(.., outputs)| outputs),
        })
    }

    /// The model that has these parts.
    fn guess(&self, fields: Option<usize>) -> Result<(Kind, Vec<Remark>), AngelError> {
        let decided = |kind: Kind, text: &str| {
            Ok((kind, vec![Remark::Decided(format!("no graph.json: {text}; `--kind` says otherwise"))]))
        };
        match (self.wide, &self.embedding, self.dense.is_empty()) {
            (Some(_), None, true) if self.wide_outputs.is_some_and(|outputs| outputs > 1) => {
                decided(Kind::SoftmaxRegression, "weights with several outputs are read as softmax regression")
            }
            (Some(_), None, true) => {
                decided(Kind::LogisticRegression, "weights with one output are read as logistic regression")
            }
            (Some(_), Some(_), true) => decided(Kind::Fm, "weights and embeddings are read as a factorisation machine"),
            (None, Some(_), false) => decided(Kind::Dnn, "embeddings and dense layers are read as a DNN"),
            (Some(_), Some(embedding), false) => {
                let fits = |kind: &Kind| match (*kind, self.fields(*kind), fields) {
                    (Kind::Nfm, ..) => self.dense_inputs == Some(embedding.width) && fields != Some(1),
                    (_, found, None) => found.is_some_and(|found| found > 1),
                    (_, found, known) => found == known,
                };
                let kinds: Vec<Kind> =
                    [Kind::Nfm, Kind::Pnn, Kind::DeepFm, Kind::WideAndDeep].into_iter().filter(fits).collect();
                match kinds[..] {
                    [Kind::Nfm] => decided(Kind::Nfm, "as many inputs of dense layers as factors are read as an NFM"),
                    [kind] => decided(kind, "the inputs of the dense layers are read as a PNN's"),
                    _ => {
                        let inputs = self.dense_inputs.map_or_else(|| "no".to_owned(), |inputs| inputs.to_string());
                        let why = format!("dense layers of {inputs} inputs, embeddings of {}", embedding.width);
                        Err(unknown(why, &kinds))
                    }
                }
            }
            _ => {
                let embeddings = usize::from(self.embedding.is_some());
                let why =
                    format!("{} dense layers and {embeddings} embeddings are no model that is known", self.dense.len());
                Err(unknown(why, &[]))
            }
        }
    }

    /// The fields that the inputs of the first dense layer are made of; none if that is no whole number, or tells
    /// nothing.
    fn fields(&self, kind: Kind) -> Option<usize> {
        let (inputs, width) = (self.dense_inputs?, self.embedding.as_ref()?.width.max(1));
        let fields = match kind {
            Kind::Dnn | Kind::DeepFm | Kind::WideAndDeep => inputs / width,
            // fields · width + fields · (fields − 1) / 2, which grows with the fields and so passes `inputs` once.
            Kind::Pnn => (1..=inputs / width).take_while(|fields| pnn_inputs(*fields, width) <= inputs).last()?,
            _ => return None,
        };
        let makes = if kind == Kind::Pnn { pnn_inputs(fields, width) } else { fields.checked_mul(width)? };
        usize::try_from(fields).ok().filter(|fields| *fields > 0 && makes == inputs)
    }
}

fn pnn_inputs(fields: u64, width: u64) -> u64 {
    fields.saturating_mul(width).saturating_add(fields.saturating_mul(fields - 1) / 2)
}

fn unknown(why: String, kinds: &[Kind]) -> AngelError {
    let of = |kinds: &[Kind]| kinds.iter().map(|kind| kind.word()).collect::<Vec<_>>().join(", ");
    AngelError::UnknownKind { why, kinds: if kinds.is_empty() { of(&Kind::ALL) } else { of(kinds) } }
}

/// `fc_0`, `fc_1`, …, `fc`; `hidden1`, `hidden2`, …
fn place_of(name: &str) -> (&str, u64) {
    let base = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = name[base.len()..].parse().unwrap_or(u64::MAX);
    (if number == u64::MAX { base } else { base.strip_suffix('_').unwrap_or(base) }, number)
}
