//! Running a packed model on the host: the runtime with memory from the heap.

mod batch;
mod board;
mod graph;

pub use batch::{Batch, BatchError, Rows, Scratch, SparseRows, Values};
pub use board::{features_in, features_of};
pub use graph::RunGraphError;

use crate::float::Example;
use bytemuck::{Pod, Zeroable, cast_slice, cast_slice_mut};
use tamis_runtime::format::Model;
use tamis_runtime::kernels::Tier;
use tamis_runtime::raw::{element, input_kind, perspective_order};
use tamis_runtime::signature::{Buffers, signature};
use tamis_runtime::{Input, Output, Plan, RunError};

/// Bytes at a multiple of 64, as the loader wants them.
#[derive(Debug, Clone, Default)]
pub struct AlignedBytes {
    blocks: Vec<Block>,
    len: usize,
}

#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Block([u8; 64]);

impl AlignedBytes {
    /// `len` zeros.
    pub fn zeroed(len: usize) -> Self {
        Self { blocks: vec![Block([0; 64]); len.div_ceil(64)], len }
    }

    /// A copy.
    pub fn copy_of(bytes: &[u8]) -> Self {
        let mut aligned = Self::zeroed(bytes.len());
        aligned.as_mut().copy_from_slice(bytes);
        aligned
    }
}

impl AsRef<[u8]> for AlignedBytes {
    fn as_ref(&self) -> &[u8] {
        &cast_slice(&self.blocks)[..self.len]
    }
}

impl AsMut<[u8]> for AlignedBytes {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut cast_slice_mut(&mut self.blocks)[..self.len]
    }
}

/// A network's outputs.
#[derive(Debug, Clone, PartialEq)]
pub enum Outputs {
    /// Of an integer head.
    I32(Vec<i32>),
    /// Of a real tail.
    F32(Vec<f32>),
}

impl Outputs {
    /// The real values, given the real value of one unit.
    pub fn to_reals(&self, unit: f64) -> Vec<f64> {
        match self {
            Self::I32(values) => values.iter().map(|value| f64::from(*value) * unit).collect(),
            Self::F32(values) => values.iter().map(|value| f64::from(*value) * unit).collect(),
        }
    }
}

/// A model, a tier, and the memory to run them.
///
/// When not to use it: in an engine's search, which updates accumulators instead of refreshing them; that is
/// [`Plan`]'s.
///
/// ```
/// use tamis_quant::float::Example;
/// use tamis_quant::run::{AlignedBytes, Outputs, Runner};
/// use tamis_runtime::{format::Model, kernels};
///
/// let bytes = AlignedBytes::copy_of(include_bytes!("../../tests/vectors/tiny.bin"));
/// let model = Model::parse(bytes.as_ref())?;
/// let mut runner = Runner::new(model, kernels::best());
/// let outputs = runner.evaluate(&Example::Features { lists: [vec![0, 1], vec![2, 3]], bucket: 0 })?;
/// assert_eq!(outputs, Outputs::I32(vec![-187]));
/// assert_eq!(runner.signature()?, 0x1504_5D1B_699A_46C9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Runner<'m> {
    plan: Plan<'m>,
    own: Vec<i16>,
    other: Vec<i16>,
    bytes: Vec<u8>,
    words: Vec<u32>,
    workspace: AlignedBytes,
}

impl<'m> Runner<'m> {
    /// Allocates what the model needs: vectors of the input's width and the workspace.
    pub fn new(model: Model<'m>, kernels: &'m Tier) -> Self {
        let input = model.input();
        let (size, hidden) = (input.size as usize, input.hidden as usize);
        let (bytes, words) = match input.kind {
            input_kind::FEATURES => (0, 0),
            input_kind::SPARSE => (0, input.max_active as usize),
            _ if input.element == element::F32 => (0, size),
            _ => (size, 0),
        };
        let own = if input.kind == input_kind::SPARSE { words } else { hidden };
        Self {
            plan: Plan::new(model, kernels),
            own: vec![0; own],
            other: vec![0; hidden],
            bytes: vec![0; bytes],
            words: vec![0; words],
            workspace: AlignedBytes::zeroed(model.workspace_len_bytes()),
        }
    }

    /// The plan.
    pub const fn plan(&self) -> &Plan<'m> {
        &self.plan
    }

    /// Refreshes the accumulators and evaluates.
    ///
    /// # Errors
    /// [`RunError`] if the example does not fit the network; a vector fits none with accumulators.
    pub fn evaluate(&mut self, example: &Example) -> Result<Outputs, RunError> {
        self.evaluate_traced(example, |_, _| ())
    }

    /// The same, showing every value: `observe(value index, its bytes)`; the accumulators come first, as value 0.
    ///
    /// # Errors
    /// [`RunError`] if the example does not fit the network.
    pub fn evaluate_traced(
        &mut self,
        example: &Example,
        observe: impl FnMut(usize, &[u8]),
    ) -> Result<Outputs, RunError> {
        match example {
            Example::Features { lists, bucket } => self.evaluate_lists(lists, *bucket, observe),
            Example::Dense(_) => Err(RunError::InputKind),
        }
    }

    /// The same of lists of features, in the order in which the network puts the perspectives; see
    /// [`Example::Features`].
    ///
    /// # Errors
    /// [`RunError`] if they do not fit the network.
    pub fn evaluate_lists(
        &mut self,
        [first, second]: &[Vec<u32>; 2],
        bucket: usize,
        mut observe: impl FnMut(usize, &[u8]),
    ) -> Result<Outputs, RunError> {
        let other_first = self.plan.model().input().order == perspective_order::OTHER_FIRST;
        let (own, other) = if other_first { (second, first) } else { (first, second) };
        self.plan.refresh(&mut self.own, own)?;
        if self.plan.model().input().perspectives == 2 {
            self.plan.refresh(&mut self.other, other)?;
        } else {
            self.other.clear();
        }
        let (own, other) = (self.own.as_slice(), self.other.as_slice());
        let both = if other_first { [other, own] } else { [own, other] }.concat();
        observe(0, cast_slice(&both));
        let input = Input::Accumulators(&self.own, &self.other);
        self.plan.run_traced(input, bucket, self.workspace.as_mut(), observe).map(owned)
    }

    /// The model's signature on this tier.
    ///
    /// # Errors
    /// [`RunError::RunsDiffer`], a defect of the runtime; no other for a parsed model.
    pub fn signature(&mut self) -> Result<u64, RunError> {
        let hidden = self.plan.hidden();
        let mut spare = vec![0; hidden];
        self.other.resize(hidden, 0);
        let buffers = Buffers {
            own: &mut self.own,
            other: &mut self.other,
            spare: &mut spare,
            bytes: &mut self.bytes,
            words: &mut self.words,
            workspace: self.workspace.as_mut(),
        };
        signature(&self.plan, buffers)
    }
}

fn owned(output: Output<'_>) -> Outputs {
    match output {
        Output::I32(values) => Outputs::I32(values.to_vec()),
        Output::F32(values) => Outputs::F32(values.to_vec()),
        other => unreachable!("an element that this crate's version of the runtime does not have: {other:?}"),
    }
}
