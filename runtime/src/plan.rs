//! A model bound to a tier: what an engine or a firmware calls.

use crate::format::{Model, Tensor, element, feature_set, input_kind};
use crate::kernels::Kernels;
use crate::nnue::chess::ChessView;
use core::fmt;

/// Why a call is refused: always something that the caller handed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum RunError {
    /// A slice has the wrong number of elements.
    Length {
        /// Which slice.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length it must have.
        expected: usize,
    },
    /// The workspace is too short.
    Workspace {
        /// Its length in bytes.
        found: usize,
        /// The least it must have.
        expected: usize,
    },
    /// The workspace does not start at a multiple of 64.
    WorkspaceAlignment {
        /// Address modulo 64.
        remainder: usize,
    },
    /// A feature index that the network does not have.
    Feature {
        /// The index.
        found: u32,
        /// The number of features.
        limit: u32,
    },
    /// More features than the network was proved for.
    TooManyFeatures {
        /// How many.
        found: usize,
        /// `max_active`.
        limit: usize,
    },
    /// An output bucket that the network does not have.
    Bucket {
        /// The bucket.
        found: usize,
        /// The number of buckets.
        limit: usize,
    },
    /// Accumulators for a dense network, a vector for a feature network, or the wrong element.
    InputKind,
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Length { what, found, expected } => write!(f, "{what}: {found} elements, expected {expected}"),
            Self::Workspace { found, expected } => {
                write!(f, "the workspace has {found} bytes, the model needs {expected}")
            }
            Self::WorkspaceAlignment { remainder } => {
                write!(f, "the workspace lies {remainder} bytes past a multiple of 64")
            }
            Self::Feature { found, limit } => {
                write!(f, "feature {found}; the network has 0 to {}", limit.saturating_sub(1))
            }
            Self::TooManyFeatures { found, limit } => write!(f, "{found} active features; the network allows {limit}"),
            Self::Bucket { found, limit } => write!(f, "output bucket {found}; the network has {limit}"),
            Self::InputKind => write!(f, "the input is not of the kind that the network takes"),
        }
    }
}

impl core::error::Error for RunError {}

/// A checked model and the tier that runs it. `Copy`; shared freely between threads.
///
/// ```
/// use tamis_runtime::{Input, Output, Plan, Workspace, format::Model, kernels};
///
/// static NET: &[u8] = tamis_runtime::include_model!("../../tests/vectors/tiny.bin");
/// let plan = Plan::new(Model::parse(NET)?, kernels::best());
///
/// // Once a position: the accumulators of both sides from their lists of active features …
/// let (mut own, mut other) = ([0i16; 2], [0i16; 2]);
/// plan.refresh(&mut own, &[0, 1])?;
/// plan.refresh(&mut other, &[2, 3])?;
/// assert_eq!((own, other), ([165, 7], [-35, 317]));
/// // … or, after a move, from those of the position before: feature 3 comes, feature 1 goes.
/// let mut moved = [0i16; 2];
/// plan.update(&mut moved, &own, &[3], &[1])?;
/// assert_eq!(moved, [115, 97]);
///
/// let mut scratch = Workspace::<128>::new();
/// let output = plan.run(Input::Accumulators(&own, &other), 0, scratch.as_mut())?;
/// assert_eq!(output, Output::I32(&[-187]));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Plan<'a> {
    pub(crate) model: Model<'a>,
    pub(crate) kernels: &'static Kernels,
}

impl<'a> Plan<'a> {
    /// Binds a model to a tier. [`crate::kernels::best`] picks one; [`crate::kernels::by_name`] forces one.
    pub const fn new(model: Model<'a>, kernels: &'static Kernels) -> Self {
        Self { model, kernels }
    }

    /// The model.
    pub const fn model(&self) -> &Model<'a> {
        &self.model
    }

    /// The tier.
    pub const fn kernels(&self) -> &'static Kernels {
        self.kernels
    }

    /// How a chess network sees a board: what turns pieces, squares and kings into its features. `None` for other inputs.
    pub fn chess_view(&self) -> Option<ChessView<'a>> {
        let mirrored = match self.model.input().feature_set {
            feature_set::CHESS => false,
            feature_set::CHESS_MIRRORED => true,
            _ => return None,
        };
        Some(ChessView { mirrored, king_table: self.model.king_table()? })
    }

    /// Width of one accumulator.
    pub const fn hidden(&self) -> usize {
        self.model.input().hidden as usize
    }

    /// Fills an accumulator from nothing: `acc = bias + Σ row(feature)`, i16, wrapping.
    ///
    /// acc: (hidden,) · features: at most `max_active`, each below `size`; distinct, if the overflow proof is to hold.
    ///
    /// # Errors
    /// [`RunError`] for a wrong length, too many features or an index out of range; `acc` is then unspecified.
    pub fn refresh(&self, acc: &mut [i16], features: &[u32]) -> Result<(), RunError> {
        self.check_accumulator("accumulator", acc.len())?;
        let limit = self.model.input().max_active as usize;
        if features.len() > limit {
            return Err(RunError::TooManyFeatures { found: features.len(), limit });
        }
        let first = self.model.blocks().first().ok_or(RunError::InputKind)?;
        let bias = self.model.tensor(first.bias).ok_or(RunError::InputKind)?;
        acc.copy_from_slice(bias.bank(0).get(..acc.len()).ok_or(RunError::InputKind)?);
        features.iter().try_for_each(|feature| self.change(acc, *feature, true))
    }

    /// Changes an accumulator: `acc = source + Σ row(added) − Σ row(removed)`, i16, wrapping. One feature in and one out, the
    /// common move, takes a single pass.
    ///
    /// acc, source: (hidden,) · added, removed: at most `max_active` each. Which features are active is the caller's to know: the
    /// overflow proof holds while they are distinct and at most `max_active`.
    ///
    /// # Errors
    /// [`RunError`] for a wrong length, too many features or an index out of range; `acc` is then unspecified.
    pub fn update(&self, acc: &mut [i16], source: &[i16], added: &[u32], removed: &[u32]) -> Result<(), RunError> {
        self.check_accumulator("accumulator", acc.len())?;
        self.check_accumulator("source accumulator", source.len())?;
        let limit = self.model.input().max_active as usize;
        let found = added.len().max(removed.len());
        if found > limit {
            return Err(RunError::TooManyFeatures { found, limit });
        }
        let (mut added, mut removed) = (added, removed);
        let fused = match (added.split_first(), removed.split_first()) {
            (Some((plus, added_rest)), Some((minus, removed_rest))) => {
                let (plus, minus) = (self.row(*plus)?, self.row(*minus)?);
                if is_i16(&plus.0) && is_i16(&minus.0) {
                    (self.kernels.move_i16.call)(acc, source, plus.0.row(plus.1), minus.0.row(minus.1));
                    (added, removed) = (added_rest, removed_rest);
                    true
                } else {
                    false
                }
            }
            _ => false,
        };
        if !fused {
            acc.copy_from_slice(source);
        }
        added.iter().try_for_each(|feature| self.change(acc, *feature, true))?;
        removed.iter().try_for_each(|feature| self.change(acc, *feature, false))
    }

    fn check_accumulator(&self, what: &'static str, found: usize) -> Result<(), RunError> {
        if self.model.input().kind != input_kind::FEATURES {
            return Err(RunError::InputKind);
        }
        if found != self.hidden() {
            return Err(RunError::Length { what, found, expected: self.hidden() });
        }
        Ok(())
    }

    fn change(&self, acc: &mut [i16], feature: u32, add: bool) -> Result<(), RunError> {
        let (tensor, row) = self.row(feature)?;
        if is_i16(&tensor) {
            let kernel = if add { &self.kernels.add_i16 } else { &self.kernels.sub_i16 };
            (kernel.call)(acc, tensor.row(row));
        } else {
            let kernel = if add { &self.kernels.add_i8 } else { &self.kernels.sub_i8 };
            (kernel.call)(acc, tensor.row(row));
        }
        Ok(())
    }

    /// The tensor that holds a feature's row, and the row's number in it.
    fn row(&self, feature: u32) -> Result<(Tensor<'a>, usize), RunError> {
        let refused = RunError::Feature { found: feature, limit: self.model.input().size };
        for block in self.model.blocks() {
            if let Some(row) = feature.checked_sub(block.first_feature).filter(|row| *row < block.feature_count) {
                let tensor = self.model.tensor(block.weights).ok_or(refused)?;
                return Ok((tensor, row as usize));
            }
        }
        Err(refused)
    }
}

fn is_i16(tensor: &Tensor<'_>) -> bool {
    u32::from(tensor.record.element) == element::I16
}
