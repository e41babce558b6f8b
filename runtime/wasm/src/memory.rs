//! A file at a multiple of 64 in memory, and the network that borrows it.

use bytemuck::{Pod, Zeroable, cast_slice, cast_slice_mut};
use self_cell::self_cell;
use tamis_runtime::Plan;
use tamis_runtime::engine::{AnyNetwork, LoadError};
use tamis_runtime::format::{Model, ParseError};
use tamis_runtime::kernels;

/// Bytes at a multiple of 64, as the runtime wants files and scratch memory.
#[derive(Debug)]
pub struct Bytes {
    blocks: Vec<Block>,
    len: usize,
}

#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Block([u8; 64]);

impl Bytes {
    /// `len` zeros; `None` if the browser has not so much memory.
    pub fn zeroed(len: usize) -> Option<Self> {
        let mut blocks = Vec::new();
        let count = len.div_ceil(size_of::<Block>());
        blocks.try_reserve_exact(count).ok()?;
        blocks.resize(count, Block::zeroed());
        Some(Self { blocks, len })
    }

    pub fn get(&self) -> &[u8] {
        cast_slice(&self.blocks).split_at(self.len).0
    }

    pub fn get_mut(&mut self) -> &mut [u8] {
        cast_slice_mut(&mut self.blocks).split_at_mut(self.len).0
    }
}

/// A checked file, bound to the fastest tier of the build.
#[derive(Debug)]
pub enum Bound<'a> {
    /// Over features of chess, which the engine interface numbers.
    Chess(Box<AnyNetwork<'a>>),
    /// Any other.
    Other(Box<Plan<'a>>),
}

impl<'a> Bound<'a> {
    fn of(file: &'a [u8]) -> Result<Self, ParseError> {
        match AnyNetwork::load_on(file, kernels::of_target()) {
            Ok(network) => Ok(Self::Chess(Box::new(network))),
            Err(LoadError::Parse(error)) => Err(error),
            Err(_) => Ok(Self::Other(Box::new(Plan::new(Model::parse(file)?, kernels::of_target())))),
        }
    }

    pub fn plan(&self) -> &Plan<'a> {
        match self {
            Self::Chess(network) => network.plan(),
            Self::Other(plan) => plan,
        }
    }
}

self_cell! {
    /// A network with the file that it borrows.
    pub struct Loaded {
        owner: Bytes,
        #[covariant]
        dependent: Bound,
    }

    impl { Debug }
}

impl Loaded {
    /// Checks a file.
    pub fn check(file: Bytes) -> Result<Self, ParseError> {
        Self::try_new(file, |file| Bound::of(file.get()))
    }

    pub fn bound(&self) -> &Bound<'_> {
        self.borrow_dependent()
    }

    pub fn plan(&self) -> &Plan<'_> {
        self.bound().plan()
    }

    pub fn model(&self) -> &Model<'_> {
        self.plan().model()
    }
}
