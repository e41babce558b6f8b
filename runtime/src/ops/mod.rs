//! The operations: how each is made of its record, and how it runs.
//!
//! A kind of operation is a type in a file of its family and a row of [`crate::operations`], from which [`Work`] is
//! made. Its numbers, its tensors and its kernel are looked up once, when a plan is made, because following a record
//! takes longer than a small layer takes to run. What is hot has kernels; the others are the same loops on every tier.

mod accumulators;
mod activate_u8;
mod convert;
mod dense;
mod interact;
mod join;
mod list;
mod maps;
mod operands;
mod ranges;
mod reals;
mod requantise;
mod rescale;
mod rows;
mod sparse;
mod stockfish;
mod table;
mod trees;
mod wide_head;

use crate::features::{
    ACCUMULATORS, ALWAYS, CONVOLUTIONS, GENERAL, GENERAL_OR_CONVOLUTIONS, GENERAL_OR_MAPS, MAPS, REALS,
};
use crate::format::{Model, OpRecord, ValueRecord, op};
use crate::input::Input;
use crate::kernels::Tier;
use crate::operations::operations;
use crate::workspace::{range, split, typed, typed_mut};
#[cfg(short_ways)]
pub(crate) use accumulators::{DotForm, Products};
pub(crate) use dense::{AffineI8, ByInput};
pub(crate) use list::check_list;
#[cfg(short_ways)]
pub(crate) use maps::Ahead;
pub(crate) use maps::trace_rows;
pub(crate) use operands::Banks;
pub(crate) use ranges::{Place, Places};
pub(crate) use reals::{AffineF32, Dequantise};
pub(crate) use requantise::{Requantisation, Requantise};
pub(crate) use rescale::{Bias, Rescale};
pub use table::Operations;

/// What is the same for all operations of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Running<'r, 'a> {
    pub model: &'r Model<'a>,
    pub kernels: &'r Tier,
    pub input: &'r Input<'r>,
    pub bucket: usize,
    /// Where an operation lies, if that is not where the model says.
    pub places: Option<Places>,
}

/// An operation's output, what it reads and what it writes.
pub(crate) type Bytes<'w> = (&'w ValueRecord, &'w [u8], &'w mut [u8]);

impl Running<'_, '_> {
    /// What an operation reads and what it writes, where its input is no list; for what is run once, in fewer
    /// instructions than by way of its places.
    #[inline(always)]
    pub fn bytes<'w>(&self, record: &OpRecord, workspace: &'w mut [u8]) -> Option<Bytes<'w>>
    where
        Self: 'w,
    {
        let output = self.model.values().get(record.output as usize);
        debug_assert!(output.is_some(), "an output that the loader promised");
        let output = output?;
        let (read, write, reads_input) = match &self.places {
            Some(at) => (at.read, at.write, at.reads_input),
            None => {
                let read = Place::of(self.model, record.input, record.input_start, record.input_len);
                (read, Place::of(self.model, record.output, 0, output.len), record.input == 0)
            }
        };
        let read = read.range();
        let (x, out) = split(workspace, if reads_input { 0..0 } else { read.clone() }, write.range());
        Some((output, if reads_input { range(self.input.bytes(), read) } else { x }, out))
    }

    /// The places of an operation.
    #[inline(always)]
    pub fn places(&self, record: &OpRecord) -> Option<Places> {
        if self.places.is_some() { self.places } else { Places::of(self.model, record) }
    }
}

/// A kind of operation.
pub(crate) trait Kind<'a>: Sized {
    /// Looks up what its record names; `None` for what the loader rules out.
    fn resolve(model: &Model<'a>, kernels: &Tier, record: &OpRecord) -> Option<Self>;

    /// Runs it once, from its place in the workspace, or from the network's input, to its place.
    fn run(&self, on: &Running<'_, '_>, at: &Places, workspace: &mut [u8]);

    /// Both at once, as firmware does: straight from the record where a value in between, its memory and its moves,
    /// would cost more than a small layer.
    #[inline(always)]
    fn run_once(on: &Running<'_, 'a>, record: &OpRecord, workspace: &mut [u8]) {
        if let (Some(work), Some(at)) = (Self::resolve(on.model, on.kernels, record), on.places(record)) {
            work.run(on, &at, workspace);
        }
    }
}

/// [`Kind::run`]; on hosts in a function of its own, so that no kind's frame stands before the choice between all.
#[cfg_attr(short_ways, inline(never))]
#[cfg_attr(not(short_ways), inline(always))]
fn run<'a>(work: &impl Kind<'a>, on: &Running<'_, '_>, at: &Places, workspace: &mut [u8]) {
    work.run(on, at, workspace);
}

/// Makes [`Work`] of the table.
macro_rules! works {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $word:literal, if $built:ident else $missing:ident,
        $reads:ident, $second:ident, $demands:ident, $work:ty;)*) => {
        /// An operation with its operands, by the names of FORMAT.md.
        #[derive(Debug, Clone, Copy)]
        #[expect(non_camel_case_types, clippy::upper_case_acronyms, reason = "they are the names of codes")]
        pub(crate) enum Work<'a> {
            $($name($work),)*
        }

        impl<'a> Work<'a> {
            /// Looks everything up; `None` for a kind that is not defined or not in this build, which the loader rules
            /// out.
            pub fn resolve(model: &Model<'a>, kernels: &Tier, record: &OpRecord) -> Option<Self> {
                match record.kind {
                    $(op::$name if $built => Some(Self::$name(Kind::resolve(model, kernels, record)?)),)*
                    _ => None,
                }
            }

            /// Runs it; see [`Kind::run`].
            pub fn run(&self, on: &Running<'_, '_>, at: &Places, workspace: &mut [u8]) {
                match self {
                    $(Self::$name(work) => if $built { run(work, on, at, workspace) },)*
                }
            }
        }
    };
}

operations!(works);
