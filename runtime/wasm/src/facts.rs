//! What a file says of its network, as JSON; `npm/tamis.d.ts` has the same as types.

use crate::memory::{Bound, Loaded};
use serde::Serialize;
use tamis_runtime::format::ParseError;
use tamis_runtime::raw::chess::{Planes, Relations};
use tamis_runtime::raw::{NONE, activation, claim, element, feature_set, input_kind, op};

/// Of a code that this version has no word for.
const UNKNOWN: &str = "unknown";

/// All of it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Facts<'a> {
    name: &'a str,
    description: &'a str,
    source: &'a str,
    source_hash: String,
    len_bytes: usize,
    format_version: u32,
    checksum: String,
    workspace_len_bytes: usize,
    tier: &'static str,
    input: Input,
    chess: Option<Chess>,
    output_buckets: u32,
    outputs: u32,
    output_element: &'static str,
    output_unit: f32,
    operations: Vec<Operation<'a>>,
    tensors: Vec<Tensor<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Input {
    kind: &'static str,
    size: u32,
    /// Height, width, channels; of what is no map 1, 1 and its length.
    shape: [u32; 3],
    element: &'static str,
    /// The real value of a 1; 0 where there is none.
    unit: f32,
    /// The integer that stands for 0.
    zero: i16,
    max_active: u32,
    exact: bool,
    hidden: u32,
    perspectives: u32,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Chess {
    features_per_king_bucket: u32,
    king_buckets: u32,
    mirrored: bool,
    kings: &'static str,
    relations: Option<&'static str>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Operation<'a> {
    kind: &'static str,
    input: u32,
    input_len: u32,
    second: Option<u32>,
    output: u32,
    output_element: &'static str,
    output_shape: [u32; 3],
    output_zero: i16,
    weights: Option<&'a str>,
    activation: Option<&'static str>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Tensor<'a> {
    name: &'a str,
    element: &'static str,
    banks: u32,
    rows: u32,
    cols: u32,
    layout: &'static str,
    len_bytes: u32,
    claims: Vec<&'static str>,
}

/// The words of the claims whose bits are set.
fn claims(bits: u32) -> Vec<&'static str> {
    claim::WORDS.iter().filter(|(bit, _)| bits & bit != 0).map(|(_, word)| *word).collect()
}

impl<'a> Facts<'a> {
    /// Of a loaded network.
    pub fn of(loaded: &'a Loaded) -> Result<Self, ParseError> {
        let (plan, model) = (loaded.plan(), loaded.model());
        let metadata = model.metadata()?;
        let names: Vec<&str> = metadata.tensor_names.lines().collect();
        let name = |index: u32| names.get(index as usize).copied();
        // The loader has checked that every value that is named is there; the network's input is the first.
        let value = |index: u32| &model.values()[index as usize];
        // Height and width, and the channels of as many elements.
        let shape = |index: u32| {
            let ([height, width], len) = (value(index).pixels(), value(index).len);
            [height, width, len / (height * width)]
        };
        let element_of = |index: u32| element::word(value(index).element()).unwrap_or(UNKNOWN);
        let record = model.input();
        let input = Input {
            kind: input_kind::word(record.kind).unwrap_or(UNKNOWN),
            size: record.size,
            shape: if record.kind == input_kind::DENSE { shape(0) } else { [1, 1, record.size] },
            element: if record.element == 0 { "" } else { element::word(record.element).unwrap_or(UNKNOWN) },
            unit: record.unit,
            zero: value(0).zero,
            max_active: record.max_active,
            exact: record.exact == 1,
            hidden: record.hidden,
            perspectives: record.perspectives,
        };
        let operations = model.ops().iter().map(|operation| Operation {
            kind: op::word(operation.kind).unwrap_or(UNKNOWN),
            input: operation.input,
            input_len: operation.input_len,
            second: Some(operation.second).filter(|second| *second != NONE),
            output: operation.output,
            output_element: element_of(operation.output),
            output_shape: shape(operation.output),
            output_zero: value(operation.output).zero,
            weights: name(operation.weights),
            activation: activation::word(operation.activation),
        });
        let tensors = (0..).zip(model.tensors()).map(|(index, tensor)| {
            // What is claimed of an accumulator stands in the record of the block that it is summed from.
            let blocks = model.blocks().iter().filter(|block| block.weights == index);
            Tensor {
                name: name(index).unwrap_or(UNKNOWN),
                element: element::word(tensor.element.into()).unwrap_or(UNKNOWN),
                banks: tensor.banks,
                rows: tensor.rows,
                cols: tensor.cols,
                layout: model.tensor(index).map_or(UNKNOWN, |tensor| tensor.layout.word()),
                len_bytes: tensor.len_bytes,
                claims: claims(blocks.fold(tensor.claims, |bits, block| bits | block.claims)),
            }
        });
        Ok(Self {
            name: metadata.name,
            description: metadata.description,
            source: metadata.source,
            source_hash: format!("{:016x}", metadata.source_hash),
            len_bytes: model.bytes().len(),
            format_version: model.header().version,
            checksum: format!("{:016x}", model.header().checksum()),
            workspace_len_bytes: model.workspace_len_bytes(),
            tier: plan.kernels().name,
            input,
            chess: Chess::of(loaded),
            output_buckets: record.bucket_count,
            outputs: value(record.output).len,
            output_element: element_of(record.output),
            output_unit: record.output_unit,
            operations: operations.collect(),
            tensors: tensors.collect(),
        })
    }
}

impl Chess {
    /// Of a network of chess, else none.
    fn of(loaded: &Loaded) -> Option<Self> {
        let Bound::Chess(_) = loaded.bound() else { return None };
        let input = loaded.model().input();
        let set = feature_set::of(input.feature_set)?;
        let features_per_king_bucket = set.planes.features_per_king_bucket();
        Some(Self {
            features_per_king_bucket,
            king_buckets: (input.size - feature_set::relation_count(set.code)) / features_per_king_bucket,
            mirrored: set.mirrored,
            kings: match set.planes {
                Planes::Both => "both",
                Planes::Merged => "merged",
                Planes::NoKings => "none",
            },
            relations: set.relations.map(|relations| match relations {
                Relations::Threats => "threats",
                Relations::ThreatsAndPairs => "threats and pawn pairs",
            }),
        })
    }
}
