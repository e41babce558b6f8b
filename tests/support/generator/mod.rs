//! Valid containers out of nothing but FORMAT.md: every kind of input, every operation in every form, odd shapes,
//! reused places, false claims, extreme weights. Mutated bytes are seldom accepted and never reach a combination that
//! somebody would have had to think of.
//!
//! A program grows: of the values that there are one is chosen and an operation that takes it, its tensors are filled,
//! and what it writes is one more value. Chains of operations that a plan runs as one step, and their near misses, grow
//! more often than chance would have it. When all is there, the values get their places in the workspace. [`coverage`]
//! says what a container has in it.

mod accumulators;
mod chains;
mod choices;
pub mod coverage;
mod dense;
mod general;
mod input;
mod maps;
mod program;
mod reals;
mod weights;
mod workspace;

pub use choices::Choices;

use crate::draft::Draft;
use program::Program;
use tamis_runtime::raw::ValueRecord;

/// Operations that are aimed at. A plan resolves 16 ahead, so that some networks are longer.
const LENGTHS: [usize; 11] = [2, 1, 2, 3, 3, 4, 5, 6, 8, 12, 20];

/// A container that every reader must accept.
pub fn container(choices: &mut Choices<'_>) -> Draft {
    let draft = input::input(choices);
    let mut program = Program { draft, choices };
    if !program.is_list() {
        let first = program.value(0);
        let (zero, extent) = (program.zero(first.element()), program.extent(first.len));
        program.draft.values[0] = ValueRecord { zero, extent, ..first };
    }
    let len = program.choices.pick(&LENGTHS);
    if program.has_accumulators() && program.choices.one_in(3) {
        program.head();
        if program.choices.one_in(2) {
            return program.finish();
        }
    }
    while program.draft.ops.len() < len {
        if program.choices.one_in(3) {
            program.chain();
        } else {
            program.grow();
        }
    }
    match program.choices.below(8) {
        0 | 1 => program.rows(),
        2 | 3 => program.pixels(),
        _ => {}
    }
    program.finish()
}
