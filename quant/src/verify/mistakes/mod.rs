//! Which fact of a description is wrong, by name.
//!
//! Five kinds of evidence, from the strongest to the weakest:
//! - [`rules`]: the description contradicts its own arithmetic (a bias scale that is not QA·QB);
//! - [`description`]: the file carries the description it was packed with; the one given now says otherwise;
//! - [`tensors`]: the file's integers are not the checkpoint's under this description, but would be after one change;
//! - [`outputs`]: the outputs are far from the truth and come close after one change, by more than chance does;
//! - scores: file and checkpoint agree, and the positions' own scores are fitted far better after one change. What they
//!   only suggest is a remark.
//!
//! Integers that stand beside the checkpoint's as fitting leaves them (`fitted`) are a remark, and so are weights
//! that by their values alone look as if they were of the other order ([`orders`]).
//!
//! Graphs have rules of their own, in `graph`.

mod chance;
pub mod description;
mod fitted;
pub(super) mod graph;
mod hypotheses;
mod kings;
pub mod orders;
pub mod outputs;
pub mod rules;
mod scores;
pub mod tensors;

pub use scores::{BestChange, Found, best_change};

use super::VerifyError;
use super::reference::Reference;
use crate::arch::{Architecture, HeadDivision};
use crate::import::Checkpoint;
use crate::positions::Position;
use crate::quantised::{NeuronScales, QuantNet};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The mistakes that are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MistakeKind {
    /// Weights read in the other order.
    TransposedWeights,
    /// Output buckets in another order, or another rule for them.
    BucketOrder,
    /// The other side's accumulator where the own one belongs.
    PerspectivesSwapped,
    /// A scale that the arithmetic does not mean: QB for QA·QB and its like.
    Scale,
    /// Truncation for rounding, or the other way round.
    Rounding,
    /// The factoriser's rows were not added, or added where there is none.
    Factoriser,
    /// Another activation.
    Activation,
    /// Another king-bucket table, or mirroring.
    KingBuckets,
    /// A layer's biases are missing on one side.
    LostBias,
    /// The channels of the input in another order: red and blue exchanged.
    ChannelOrder,
    /// The input counted in another unit: 0 to 1, 0 to 255 or −1 to 1.
    InputUnit,
    /// The columns of a dense layer behind a map counted channels first in place of last, or the other way round.
    FlattenOrder,
    /// Padding on other sides: TensorFlow's SAME and PyTorch's symmetric one.
    Padding,
    /// Another epsilon in the normalizations.
    Epsilon,
    /// The examples are unlike those that calibrated.
    Calibration,
    /// Channels that are the same for every input.
    DeadChannels,
    /// Container and checkpoint meet the labels as often as guessing does.
    ChanceLevel,
    /// Some other fact of the description, or a distance that no single change explains.
    OtherFact,
    /// The integers are not this checkpoint's and no single change explains it.
    OtherWeights,
    /// The integers are near this checkpoint's, as fitting to examples leaves them; a remark.
    Fitted,
}

/// How a mistake was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Evidence {
    /// The description contradicts its own arithmetic.
    Rule,
    /// The file's description and the given one differ.
    Description,
    /// The tensors agree after one change.
    Tensors,
    /// The outputs agree with the truth after one change.
    Outputs,
    /// The positions' scores are fitted much better after one change.
    Scores,
    /// The values themselves are of another order.
    Values,
    /// The labels are met far more often after one change.
    Labels,
}

/// A mistake with its evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mistake {
    /// Which.
    pub kind: MistakeKind,
    /// Found how.
    pub evidence: Evidence,
    /// In words: where, what was found, what was expected, what to change.
    pub text: String,
}

impl MistakeKind {
    /// The mistake's words for people.
    pub const fn words(self) -> &'static str {
        match self {
            Self::TransposedWeights => "transposed weights",
            Self::BucketOrder => "output buckets in another order",
            Self::PerspectivesSwapped => "perspectives swapped",
            Self::Scale => "wrong scale",
            Self::Rounding => "wrong rounding",
            Self::Factoriser => "factoriser not merged alike",
            Self::Activation => "wrong activation",
            Self::KingBuckets => "wrong king buckets",
            Self::LostBias => "lost bias",
            Self::ChannelOrder => "channels exchanged",
            Self::InputUnit => "input in another unit",
            Self::FlattenOrder => "channels first against last",
            Self::Padding => "other padding",
            Self::Epsilon => "another epsilon",
            Self::Calibration => "examples unlike the calibration's",
            Self::DeadChannels => "dead channels",
            Self::ChanceLevel => "labels met as often as by guessing",
            Self::OtherFact => "descriptions differ",
            Self::OtherWeights => "other weights",
            Self::Fitted => "fitted to examples",
        }
    }
}

/// What there is to look at.
pub struct Case<'a> {
    /// The file's network, with the description that it carries.
    pub net: &'a QuantNet,
    /// The checkpoint under the description given now.
    pub checkpoint: Option<&'a Checkpoint>,
    /// The framework's outputs.
    pub reference: Option<&'a Reference>,
    /// Positions, perhaps with scores.
    pub positions: &'a [Position],
}

/// No trainer rounds products: a file that does has scales that were chosen, and its tensors are held to the checkpoint
/// at those, whatever the description says that is given now, and its neurons' own.
fn in_the_files_scales<'c>(checkpoint: &'c Checkpoint, file: &QuantNet) -> Cow<'c, Checkpoint> {
    let mut chosen = with_the_files_tensors(checkpoint, &file.arch);
    if let Some(scales) = NeuronScales::of(&chosen.net, file) {
        let net = scales.applied(&chosen.net);
        chosen.to_mut().net = net;
    }
    chosen
}

fn with_the_files_tensors<'c>(checkpoint: &'c Checkpoint, file: &Architecture) -> Cow<'c, Checkpoint> {
    let is_rounded = |arch: &Architecture| {
        arch.output.divide == HeadDivision::Rounded || arch.layers.iter().any(|layer| layer.product_rounded)
    };
    let given = &checkpoint.net.arch;
    let is_same_network = given.layers.len() == file.layers.len();
    if !is_rounded(file) || is_rounded(given) || checkpoint.is_dequantised() || !is_same_network {
        return Cow::Borrowed(checkpoint);
    }
    let mut checkpoint = checkpoint.clone();
    checkpoint.net.arch.output.divide = file.output.divide;
    for (layer, chosen) in checkpoint.net.arch.layers.iter_mut().zip(&file.layers) {
        if chosen.product_rounded && layer.activation == chosen.activation {
            (layer.product_shift, layer.product_rounded) = (chosen.product_shift, true);
        }
    }
    for spec in &mut checkpoint.net.arch.tensors {
        if let Some(chosen) = file.tensor(&spec.name) {
            (spec.scale, spec.r#type, spec.rounding) = (chosen.scale, chosen.r#type, chosen.rounding);
        }
    }
    Cow::Owned(checkpoint)
}

/// Looks for mistakes with all evidence at hand; each kind and evidence is named once a tensor or fact.
///
/// # Errors
/// [`VerifyError::Example`] if a position does not fit the network.
pub fn find(case: &Case<'_>) -> Result<Found, VerifyError> {
    let (mut mistakes, mut remarks) = (rules::find(&case.net.arch), Vec::new());
    if let Some(checkpoint) = case.checkpoint {
        let checkpoint = &*in_the_files_scales(checkpoint, case.net);
        mistakes.extend(
            rules::find(&checkpoint.net.arch)
                .into_iter()
                .filter(|mistake| !mistakes.contains(mistake))
                .collect::<Vec<_>>(),
        );
        mistakes.extend(description::find(&case.net.arch, &checkpoint.net.arch));
        let of_tensors = tensors::find(case.net, checkpoint);
        match fitted::find(case.net, checkpoint, &of_tensors) {
            Some(remark) => remarks.push(remark),
            None => mistakes.extend(of_tensors),
        }
    }
    mistakes.extend(outputs::find(case, &mistakes)?);
    if !mistakes.is_empty() {
        return Ok(Found { mistakes, remarks });
    }
    let mut found = scores::find(case)?;
    found.remarks.extend(remarks.into_iter().chain(orders::find(&case.net.to_reals())));
    Ok(found)
}
