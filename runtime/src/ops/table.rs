//! Which kinds of operations a program runs: all of the build, or in firmware those of its network.

use super::{Kind, Running, accumulators, activate_u8, convert, dense, interact, join, maps};
use super::{reals, requantise, rescale, sparse, stockfish, trees, wide_head};
use crate::features::{
    ACCUMULATORS, ALWAYS, CONVOLUTIONS, GENERAL, GENERAL_OR_CONVOLUTIONS, GENERAL_OR_MAPS, IS_DENSE, IS_SMALL, MAPS,
    REALS,
};
use crate::format::{OpRecord, op};
use crate::name::is_same;
use crate::operations::operations;

/// Looks an operation up and runs it once, from its place to its place.
type Run = fn(&Running<'_, '_>, &OpRecord, &mut [u8]);

/// One more than the largest code of a kind.
const CODES: usize = 40;

/// Stands in for a kind that is left out.
fn absent(_: &Running<'_, '_>, _: &OpRecord, _: &mut [u8]) {
    debug_assert!(false, "a kind of operation that this program leaves out");
}

macro_rules! table {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $word:literal, if $built:ident else $missing:ident,
        $reads:ident, $second:ident, $demands:ident, $work:ty;)*) => {
        /// Kinds of operations that firmware links, by their words in FORMAT.md; a plan runs its network by them. A
        /// kind that the build's features leave out is in no table. On hosts all tables are alike.
        #[derive(Debug, Clone, Copy)]
        pub struct Operations {
            /// By the codes of kinds.
            runs: [Run; CODES],
        }

        #[expect(non_snake_case, reason = "they are the names of codes")]
        mod kinds {
            use super::*;
            $(pub fn $name<'a>(on: &Running<'_, 'a>, record: &OpRecord, workspace: &mut [u8]) {
                <$work as Kind<'a>>::run_once(on, record, workspace);
            })*
        }

        impl Operations {
            /// Every kind of the build.
            pub const ALL: &'static Self = &Self::of(&[$($word),*]);

            /// The kinds with these words, for a program that runs no network with another: one that has is not run
            /// right, and a build with debug assertions panics. `host-tools codegen` writes the network's into its
            /// module.
            ///
            /// # Panics
            /// If a word is none of a kind; in a constant, so that the build stops.
            ///
            /// # Examples
            /// ```
            /// use tamis_runtime::Operations;
            /// static OPERATIONS: Operations = Operations::of(&["affine-i8", "requantise"]);
            /// ```
            #[must_use]
            pub const fn of(words: &[&str]) -> Self {
                let (mut runs, mut rest) = ([absent as Run; CODES], words);
                while let [word, behind @ ..] = rest {
                    let mut is_known = false;
                    $(if is_same(word, $word) {
                        is_known = true;
                        if IS_SMALL && !IS_DENSE && $built {
                            runs[$code] = kinds::$name;
                        }
                    })*
                    assert!(is_known, "no operation has this name: run host-tools codegen again");
                    rest = behind;
                }
                Self { runs }
            }

            /// Runs an operation.
            #[inline(always)]
            pub(crate) fn run(&self, on: &Running<'_, '_>, record: &OpRecord, workspace: &mut [u8]) {
                // A choice in place: what a table calls no compiler sees, so that the plan would have to lie in memory.
                if IS_DENSE {
                    let Some(bytes) = on.bytes(record, workspace) else { return };
                    return if record.kind == op::AFFINE_I8 {
                        dense::AffineI8::run_on_bytes(on, record, bytes);
                    } else {
                        requantise::Requantise::run_on_bytes(on, record, bytes);
                    };
                }
                let run = self.runs.get(record.kind as usize).copied();
                debug_assert!(run.is_some(), "a kind of operation that is none");
                if let Some(run) = run {
                    run(on, record, workspace);
                }
            }
        }
    };
}

operations!(table);
