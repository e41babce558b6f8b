//! Networks in the manner of the Stockfish family: digits of piece-square values behind the accumulators, clipped and
//! squared sums, a neuron that skips, and the feature sets with merged and missing king planes.

use super::{Random, SampleModel};
use crate::draft::{Draft, blank};
use tamis_runtime::raw::{Layout, OpRecord, activation, element, feature_set, op};

pub(super) fn stockfish() -> Vec<SampleModel> {
    vec![
        SampleModel { name: "digits, pairs, squares and a skip", bytes: paired().bytes() },
        SampleModel { name: "digits, clips, the other side first", bytes: clipped().bytes() },
        SampleModel { name: "digits, parts divided apart", bytes: divided_apart().bytes() },
        SampleModel { name: "chess, merged king planes", bytes: chess(feature_set::MERGED, 704).bytes() },
        SampleModel {
            name: "chess, merged king planes, mirrored",
            bytes: chess(feature_set::MERGED_MIRRORED, 704).bytes(),
        },
        SampleModel { name: "chess, no king planes", bytes: chess(feature_set::NO_KINGS, 640).bytes() },
    ]
}

/// Feature rows and their bias, in one block.
fn rows(draft: &mut Draft, random: &mut Random, features: usize, limit: i32) {
    let hidden = draft.input.hidden as usize;
    let i16s = |random: &mut Random| (random.within(limit) as i16).to_le_bytes();
    let weights = draft.tensor(element::I16, Layout::Rows, (1, features, hidden), || i16s(random));
    let bias = draft.tensor(element::I16, Layout::Rows, (1, hidden, 1), || i16s(random));
    draft.block(features as u32, weights, bias);
}

/// A dense layer in buckets on all of a value.
fn affine(draft: &mut Draft, random: &mut Random, input: u32, outputs: u32) -> u32 {
    let (banks, inputs) = (draft.input.bucket_count as usize, draft.values[input as usize].len as usize);
    let shape = (banks, outputs as usize, inputs);
    let weights = draft.tensor(element::I8, Layout::K4, shape, || (random.within(128) as i8).to_le_bytes());
    let bias =
        draft.tensor(element::I32, Layout::Rows, (banks, outputs as usize, 1), || random.within(20_000).to_le_bytes());
    draft.op_on(element::I32, outputs, input, OpRecord { weights, bias, ..blank(op::AFFINE_I8) })
}

/// All but the last of 7 sums, squared and clipped, through another layer; the last beside it.
fn paired() -> Draft {
    let mut random = Random(31);
    let mut draft = Draft::of_features(2, 36 + 2 * 3, 6, 3);
    rows(&mut draft, &mut random, 9, 90);
    let pairs = OpRecord { activation: activation::PAIRWISE_CRELU, params: [127, 7, 6, 0], ..blank(op::PAIRWISE_U8) };
    let pairs = draft.op_on(element::U8, 36, 0, pairs);
    let psqt = draft.op_on(element::I32, 1, 0, OpRecord { params: [2, 0, 0, 0], ..blank(op::PSQT) });
    let sums = affine(&mut draft, &mut random, pairs, 7);
    let record =
        OpRecord { activation: activation::SQUARE_AND_CLIP, params: [127, 6, 19, 0], ..blank(op::ACTIVATE_U8) };
    let both = draft.op_on(element::U8, 14, sums, record);
    let deep = affine(&mut draft, &mut random, both, 5);
    let record = OpRecord { activation: activation::SHIFT_SQUARE, params: [255, 0, 17, 0], ..blank(op::ACTIVATE_U8) };
    let squares = draft.op_on(element::U8, 5, deep, record);
    let last = affine(&mut draft, &mut random, squares, 1);
    let bias = draft.tensor(element::I16, Layout::Rows, (1, 1, 1), || [0; 2]);
    let skip = OpRecord { bias, input_start: 6, params: [1, 9600, 8128, 0], ..blank(op::RESCALE) };
    let skip = draft.op_on(element::I32, 1, sums, skip);
    let sum = draft.op_on(element::I32, 1, last, OpRecord { second: skip, ..blank(op::ADD_I32) });
    let sum = draft.op_on(element::I32, 1, sum, OpRecord { second: psqt, ..blank(op::ADD_I32) });
    draft.op_on(element::I32, 1, sum, OpRecord { bias, params: [16, 1, 1, 0], ..blank(op::RESCALE) });
    draft
}

/// Clips with a shift, every digit that there may be, clipped sums above 127.
fn clipped() -> Draft {
    let mut random = Random(32);
    let mut draft = Draft::of_features(2, 21 + 4, 4, 1);
    draft.input.order = tamis_runtime::raw::perspective_order::OTHER_FIRST;
    rows(&mut draft, &mut random, 6, 500);
    let clip = OpRecord { activation: activation::CRELU, params: [1023, 3, 4, 0], ..blank(op::CLIP_U8) };
    let clip = draft.op_on(element::U8, 42, 0, clip);
    let psqt = draft.op_on(element::I32, 1, 0, OpRecord { params: [4, 0, 0, 0], ..blank(op::PSQT) });
    let sums = affine(&mut draft, &mut random, clip, 4);
    let record = OpRecord { activation: activation::SHIFT_CLIP, params: [200, 8, 0, 0], ..blank(op::ACTIVATE_U8) };
    let clips = draft.op_on(element::U8, 4, sums, record);
    let last = affine(&mut draft, &mut random, clips, 1);
    draft.op_on(element::I32, 1, last, OpRecord { second: psqt, ..blank(op::ADD_I32) });
    draft
}

/// Both parts divided, each towards zero, and their sum last, as networks from Stockfish 17 on have it.
fn divided_apart() -> Draft {
    let mut random = Random(34);
    let mut draft = Draft::of_features(2, 8 + 2 * 2, 5, 2);
    rows(&mut draft, &mut random, 7, 200);
    let pairs = OpRecord { activation: activation::PAIRWISE_CRELU, params: [127, 7, 4, 0], ..blank(op::PAIRWISE_U8) };
    let pairs = draft.op_on(element::U8, 8, 0, pairs);
    let psqt = draft.op_on(element::I32, 1, 0, OpRecord { params: [2, 0, 0, 0], ..blank(op::PSQT) });
    let last = affine(&mut draft, &mut random, pairs, 1);
    let bias = draft.tensor(element::I16, Layout::Rows, (1, 1, 1), || [0; 2]);
    let divide = OpRecord { bias, params: [16, 1, 1, 0], ..blank(op::RESCALE) };
    let positional = draft.op_on(element::I32, 1, last, divide);
    let psqt = draft.op_on(element::I32, 1, psqt, divide);
    draft.op_on(element::I32, 1, positional, OpRecord { second: psqt, ..blank(op::ADD_I32) });
    draft
}

/// Two king buckets, eight output buckets by the number of pieces.
fn chess(code: u32, per_bucket: usize) -> Draft {
    let mut random = Random(33 + u64::from(code));
    let mut draft = Draft::of_features(2, 5 + 8, 32, 8);
    draft.input.feature_set = code;
    rows(&mut draft, &mut random, 2 * per_bucket, 60);
    draft.input.king_table =
        draft.tensor(element::U8, Layout::Rows, (1, 64, 1), || [u8::from(random.draw().is_multiple_of(3))]);
    let mut pieces = 0u8;
    draft.input.bucket_table = draft.tensor(element::U8, Layout::Rows, (1, 33, 1), || {
        pieces += 1;
        [pieces.saturating_sub(2) / 4]
    });
    let clip = OpRecord { activation: activation::CRELU, params: [127, 0, 8, 0], ..blank(op::CLIP_U8) };
    let clip = draft.op_on(element::U8, 10, 0, clip);
    let psqt = draft.op_on(element::I32, 1, 0, OpRecord { params: [1, 0, 0, 0], ..blank(op::PSQT) });
    let last = affine(&mut draft, &mut random, clip, 1);
    draft.op_on(element::I32, 1, last, OpRecord { second: psqt, ..blank(op::ADD_I32) });
    draft
}
