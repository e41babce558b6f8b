//! What a network takes of memory, exactly, and which of the measured images run networks of its kind.

use super::measured::{self, Image};
use serde::Serialize;
use std::fmt;
use tamis_runtime::engine::AnyNetwork;
use tamis_runtime::format::Model;
use tamis_runtime::raw::{Feature, OpRecord, activation, element, input_kind, op};
use tamis_runtime::testing::state_len_bytes;

/// Positions of a line of play that is shown: the root and sixteen moves, as in the image `plies`.
const PLIES: usize = 17;
/// Scratch memory and accumulators lie at multiples of it, and so are as long.
const ALIGN: usize = 64;

/// Bytes of memory that the network's own types take.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Memory {
    workspace_len_bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    accumulators: Option<Accumulators>,
}

/// What holds accumulators.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
enum Accumulators {
    /// An engine's state, scratch memory included, without a refresh cache.
    State { positions: usize, len_bytes: usize, len_bytes_of_a_position: usize },
    /// The position before a move and the one after it.
    Positions { positions: usize, len_bytes: usize },
}

impl Memory {
    pub fn of(model: &Model<'_>) -> Self {
        let workspace_len_bytes = model.workspace_len_bytes().next_multiple_of(ALIGN);
        let input = model.input();
        let hidden = input.hidden as usize;
        let accumulators = match (AnyNetwork::load(model.bytes()), input.perspectives as usize) {
            (Ok(_), _) => {
                let len = |plies| state_len_bytes(hidden, plies, 0, model.workspace_len_bytes());
                // Padding differs from position to position, and is the same after 64.
                let len_bytes_of_a_position = (len(PLIES + ALIGN) - len(PLIES)) / ALIGN;
                Some(Accumulators::State { positions: PLIES, len_bytes: len(PLIES), len_bytes_of_a_position })
            }
            (Err(_), _) if input.kind != input_kind::FEATURES => None,
            (Err(_), perspectives) => {
                let one = perspectives * hidden * size_of::<i16>();
                let one = if perspectives == 2 { one.next_multiple_of(ALIGN) } else { one };
                Some(Accumulators::Positions { positions: 2, len_bytes: 2 * one })
            }
        };
        Self { workspace_len_bytes, accumulators }
    }

    pub const fn len_bytes(&self) -> usize {
        match self.accumulators {
            None => self.workspace_len_bytes,
            Some(Accumulators::State { len_bytes, .. }) => len_bytes,
            Some(Accumulators::Positions { len_bytes, .. }) => self.workspace_len_bytes + len_bytes,
        }
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let workspace = self.workspace_len_bytes;
        match self.accumulators {
            None => write!(f, "{workspace} of workspace"),
            Some(Accumulators::State { positions, len_bytes, len_bytes_of_a_position: more }) => write!(
                f,
                "{len_bytes}: a state of {positions} positions without a cache, {more} a position, {workspace} of it \
                 workspace"
            ),
            Some(Accumulators::Positions { positions, len_bytes }) => {
                write!(f, "{workspace} of workspace, {len_bytes} of accumulators of {positions} positions")
            }
        }
    }
}

/// Of one vector or map; 0 of networks of lists.
pub fn input_len_bytes(model: &Model<'_>) -> usize {
    let input = model.input();
    match (input.kind, input.element) {
        (input_kind::DENSE, element::F32) => input.size as usize * size_of::<f32>(),
        (input_kind::DENSE, _) => input.size as usize,
        _ => 0,
    }
}

/// The smallest image and the fastest, where one with the runtime's features that the network needs has been measured.
pub fn images(model: &Model<'_>) -> [Option<&'static Image>; 2] {
    let input = model.input();
    let runs = |is_held: fn(u32) -> bool| model.ops().iter().all(|record| is_held(record.kind));
    let is_vector = input.kind == input_kind::DENSE && input.element != element::F32;
    // Zero points are known only to a runtime with `maps`.
    let is_map = model.values().iter().any(|value| value.pixels() != [1, 1] || value.zero != 0);
    // A softmax and its like in f32 run with `maps` beside `reals`, or with `general`.
    let is_like_softmax =
        |record: &OpRecord| record.kind == op::ACTIVATION_F32 && record.activation > activation::DUAL_CRELU;
    let is_behind_maps = is_map || model.ops().iter().any(is_like_softmax);
    let names = if input.kind == input_kind::FEATURES && runs(has_logs) {
        [None, Some(if AnyNetwork::load(model.bytes()).is_ok() { "plies" } else { "nnue" })]
    } else if is_vector && !is_map && runs(is_everywhere) {
        [Some("minimal"), Some("digits")]
    } else if is_vector && runs(has_maps) {
        [Some("minimal_keywords"), Some("keywords")]
    } else if is_vector && is_behind_maps && runs(has_reals) {
        [Some("minimal_softmax"), Some("keywords")]
    } else if is_vector && runs(has_logs) {
        [None, Some("keywords")]
    } else {
        [None, None]
    };
    names.map(|name| name.and_then(measured::named))
}

/// Operations of a runtime without features, which `minimal` has.
const fn is_everywhere(kind: u32) -> bool {
    matches!(op::feature(kind), Some(Feature::Always))
}

/// Those of one with `maps`, which `minimal_keywords` has.
const fn has_maps(kind: u32) -> bool {
    matches!(op::feature(kind), Some(Feature::Always | Feature::Maps))
}

/// Those of one with `maps` and `reals`, which `minimal_softmax` has.
const fn has_reals(kind: u32) -> bool {
    matches!(op::feature(kind), Some(Feature::Always | Feature::Maps | Feature::Reals))
}

/// Those of one with `accumulators`, `maps` and `reals`, which all images with logs have.
const fn has_logs(kind: u32) -> bool {
    matches!(op::feature(kind), Some(Feature::Always | Feature::Maps | Feature::Reals | Feature::Accumulators))
}
