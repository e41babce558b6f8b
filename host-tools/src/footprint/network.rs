//! What a network takes of memory, exactly, and which of the measured images run networks of its kind.

use super::measured::{self, Image};
use crate::needs;
use serde::Serialize;
use std::fmt;
use tamis_runtime::engine::AnyNetwork;
use tamis_runtime::format::{Feature, Model};
use tamis_runtime::raw::{element, input_kind};
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
    let kind = model.input().kind;
    let needs = needs::of(model);
    let runs = |held: &[Feature]| needs.iter().all(|feature| held.contains(feature));
    let names = if kind == input_kind::FEATURES && runs(&LOGGED) {
        [None, Some(if AnyNetwork::load(model.bytes()).is_ok() { "plies" } else { "nnue" })]
    } else if kind != input_kind::DENSE {
        [None, None]
    } else if needs.is_empty() {
        [Some("minimal"), Some("digits")]
    } else if needs == [Feature::Convolutions] {
        [Some("minimal_keywords"), Some("keywords")]
    } else if needs == [Feature::Reals, Feature::Convolutions] {
        [Some("minimal_softmax"), Some("keywords")]
    } else if runs(&LOGGED) {
        [None, Some("keywords")]
    } else {
        [None, None]
    };
    names.map(|name| name.and_then(measured::named))
}

/// What all images with logs have.
const LOGGED: [Feature; 4] = [Feature::Accumulators, Feature::Reals, Feature::Convolutions, Feature::Maps];
