//! What goes in: features of one or two perspectives in blocks of i16 and i8, chess boards among them, vectors, sparse
//! lists.

use super::Choices;
use super::program::{LENS, Program};
use crate::draft::Draft;
use tamis_runtime::raw::{Layout, NONE, element, feature_set, input_kind};

/// Nothing but an input.
pub(super) fn input(choices: &mut Choices<'_>) -> Draft {
    let mut draft = match choices.below(8) {
        0..4 => features(choices),
        4..6 => {
            let element = choices.pick(&[element::U8, element::I8, element::F32]);
            let mut draft = Draft::dense(element, choices.pick(&LENS));
            draft.input.bucket_count = choices.pick(&[1, 1, 2, 3, 8]);
            if element != element::F32 {
                draft.input.unit = choices.pick(&[1.0, 1.0 / 127.0, f32::MAX, f32::MIN_POSITIVE]);
            }
            draft
        }
        _ => sparse(choices),
    };
    draft.input.output_unit = choices.pick(&[1.0, 0.25, f32::MAX, f32::from_bits(1)]);
    // A dense network's bucket table is for its caller, as a chess network's is.
    if draft.input.kind != input_kind::SPARSE && choices.one_in(3) {
        let most = i64::from(draft.input.bucket_count) - 1;
        // A board can be counted by kinds and by sides.
        let counted = if draft.input.king_table == NONE { 0 } else { choices.pick(&[0, 0, 1, 30, 63, 64, 65, 127]) };
        let mut program = Program { draft, choices };
        let entries = if counted >= feature_set::COUNTED_BY_SIDES { 289 } else { 33 };
        let table = program.filled(element::U8, Layout::Rows, (1, entries, 1), 0, most, most);
        (program.draft.input.bucket_table, program.draft.input.counted) = (table, counted);
        draft = program.draft;
    }
    draft
}

fn sparse(choices: &mut Choices<'_>) -> Draft {
    let size = choices.pick(&[1, 2, 5, 9, 20, 64, 70]);
    let exact = choices.one_in(3);
    let most = choices.pick(&[1, 2, 3, 5, 8, 12]);
    let has_values = choices.one_in(2);
    let mut draft = Draft::sparse(size, if exact { most.min(size) } else { most }, exact, has_values);
    if has_values {
        draft.input.unit = choices.pick(&[1.0 / 64.0, 1.0, f32::MAX, f32::from_bits(1)]);
    }
    draft
}

fn features(choices: &mut Choices<'_>) -> Draft {
    let perspectives = if choices.one_in(4) { 1 } else { 2 };
    let is_chess = choices.one_in(4);
    // A chess board has hundreds of rows.
    let hidden = choices.pick(if is_chess { &[2, 16, 8, 3, 32, 1, 17] } else { &LENS });
    let most = if is_chess { choices.pick(&[32, 30, 4]) } else { choices.pick(&[1, 2, 3, 5, 8, 40]) };
    let mut draft = Draft::of_features(perspectives, hidden, most, choices.pick(&[1, 1, 1, 2, 3, 8]));
    draft.input.order = if perspectives == 2 { choices.below(2) as u32 } else { 0 };
    let mut program = Program { draft, choices };
    let size = if is_chess { program.chess() } else { program.below(70) + 1 };
    program.blocks(size);
    program.draft
}

impl Program<'_, '_> {
    /// A feature set with its king table; how many features it has.
    fn chess(&mut self) -> u32 {
        let set = 1 + self.below(feature_set::NO_KINGS);
        let king_buckets = self.choices.pick(&[1, 2, 3]);
        let most = i64::from(king_buckets) - 1;
        self.draft.input.feature_set = set;
        self.draft.input.king_table = self.filled(element::U8, Layout::Rows, (1, 64, 1), 0, most, most);
        feature_set::per_king_bucket(set).unwrap() * king_buckets
    }

    /// One block or several, each of i16 or i8.
    fn blocks(&mut self, size: u32) {
        let hidden = self.draft.input.hidden;
        let [low, high, ordinary] = super::program::range_of(element::I16);
        let bias = self.filled(element::I16, Layout::Rows, (1, hidden, 1), low, high, ordinary);
        let mut left = size;
        while left > 0 {
            let count = if self.choices.one_in(3) { 1 + self.below(left) } else { left };
            let element = self.choices.pick(&[element::I16, element::I16, element::I8]);
            let [low, high, ordinary] = super::program::range_of(element);
            let rows = self.filled(element, Layout::Rows, (1, count, hidden), low, high, ordinary);
            self.draft.block(count, rows, if left == size { bias } else { NONE });
            self.draft.blocks.last_mut().unwrap().claims = self.below(2);
            left -= count;
        }
    }
}
