//! Networks that no description asks for yet, but that the format holds: i8 feature rows beside i16 ones,
//! requantisation to i8, operations without bias, vectors that are read in part.

use super::{Random, SampleModel};
use crate::draft::{Draft, blank};
use tamis_runtime::raw::{Layout, OpRecord, activation, claim, element, op, perspective_order};

pub(super) fn drafted() -> Vec<SampleModel> {
    vec![
        SampleModel { name: "two blocks, the other side first, i8 activations", bytes: blocks().bytes() },
        SampleModel { name: "reals without biases, read in part", bytes: reals().bytes() },
        SampleModel { name: "a tail of reals, columns in three buckets", bytes: tail().bytes() },
        SampleModel { name: "columns behind bytes", bytes: columns().bytes() },
        SampleModel { name: "sums of 32 bits and of 64", bytes: wide().bytes() },
        SampleModel { name: "bytes of the caller, weights in pairs", bytes: paired().bytes() },
    ]
}

/// i16 rows and i8 rows → pairwise → affine → i8 → affine in three buckets → i32.
fn blocks() -> Draft {
    let mut random = Random(11);
    let mut draft = Draft::of_features(2, 34, 5, 3);
    draft.input.order = perspective_order::OTHER_FIRST;
    let wide = draft.tensor(element::I16, Layout::Rows, (1, 5, 34), || (random.within(300) as i16).to_le_bytes());
    let narrow = draft.tensor(element::I8, Layout::Rows, (1, 4, 34), || (random.within(127) as i8).to_le_bytes());
    let bias = draft.tensor(element::I16, Layout::Rows, (1, 34, 1), || (random.within(400) as i16).to_le_bytes());
    draft.block(5, wide, bias);
    draft.block(4, narrow, u32::MAX);
    let pairwise =
        OpRecord { activation: activation::PAIRWISE_CRELU, params: [255, 8, 0, 0], ..blank(op::PAIRWISE_U8) };
    draft.op(element::U8, 34, 0, pairwise);
    let weights = draft.tensor(element::I8, Layout::K4, (1, 9, 34), || (random.within(128) as i8).to_le_bytes());
    draft.op(element::I32, 9, 0, OpRecord { weights, ..blank(op::AFFINE_I8) });
    let record = requantise(&mut draft, &mut random, 9, [-128, 127]);
    draft.op(element::I8, 9, 0, record);
    let weights = draft.tensor(element::I8, Layout::K4, (3, 5, 9), || (random.within(128) as i8).to_le_bytes());
    let bias = draft.tensor(element::I32, Layout::Rows, (3, 5, 1), || random.within(9000).to_le_bytes());
    draft.op(element::I32, 5, 0, OpRecord { weights, bias, ..blank(op::AFFINE_I8) });
    let record = requantise(&mut draft, &mut random, 5, [i32::MIN, i32::MAX]);
    draft.op(element::I32, 5, 0, record);
    draft
}

fn requantise(draft: &mut Draft, random: &mut Random, len: usize, clamps: [i32; 2]) -> OpRecord {
    let shape = (1, len, 1);
    let multipliers = draft.tensor(element::I32, Layout::Rows, shape, || (random.within(1 << 20).abs()).to_le_bytes());
    let shifts = draft.tensor(element::U8, Layout::Rows, shape, || [(24 + random.draw() % 4) as u8]);
    let params = [clamps[0] as u32, clamps[1] as u32, 0, 0];
    OpRecord { multipliers, shifts, params, ..blank(op::REQUANTISE) }
}

/// u8 → affine → reals → identity → affine → pairs → the last elements, with the first ones added → a factor.
fn reals() -> Draft {
    let mut random = Random(12);
    let mut draft = Draft::dense(element::U8, 23);
    let weights = draft.tensor(element::I8, Layout::K4, (1, 12, 20), || (random.within(128) as i8).to_le_bytes());
    draft.op(element::I32, 12, 3, OpRecord { weights, ..blank(op::AFFINE_I8) });
    let factor = |factor: f32| [factor.to_bits(), 0, 0, 0];
    draft.op(element::F32, 12, 0, OpRecord { params: factor(1.0 / 70_000.0), ..blank(op::DEQUANTISE) });
    draft.op(element::F32, 11, 1, OpRecord { activation: activation::IDENTITY, ..blank(op::ACTIVATION_F32) });
    let weights = draft.tensor(element::F32, Layout::Rows, (1, 14, 11), || random.real().to_le_bytes());
    draft.op(element::F32, 14, 0, OpRecord { weights, ..blank(op::AFFINE_F32) });
    draft.op(element::F32, 7, 0, OpRecord { activation: activation::PAIRWISE_CRELU, ..blank(op::ACTIVATION_F32) });
    draft.op(element::F32, 4, 3, OpRecord { second: 5, second_start: 1, ..blank(op::ADD_F32) });
    draft.op(element::F32, 4, 0, OpRecord { params: factor(-400.0), ..blank(op::SCALE_F32) });
    draft
}

/// Pairwise → affine → reals → columns → a row → a factor; the output lies where the sums did. One layer is as wide as
/// vectors are, and the other is not.
fn tail() -> Draft {
    let mut random = Random(13);
    let mut draft = Draft::of_features(2, 32, 6, 3);
    let rows = draft.tensor(element::I16, Layout::Rows, (1, 6, 32), || (random.within(300) as i16).to_le_bytes());
    let bias = draft.tensor(element::I16, Layout::Rows, (1, 32, 1), || (random.within(400) as i16).to_le_bytes());
    draft.block(6, rows, bias);
    let pairwise =
        OpRecord { activation: activation::PAIRWISE_CRELU, params: [255, 9, 0, 0], ..blank(op::PAIRWISE_U8) };
    draft.op(element::U8, 32, 0, pairwise);
    let weights = draft.tensor(element::I8, Layout::K4, (3, 8, 32), || (random.within(128) as i8).to_le_bytes());
    draft.op(element::I32, 8, 0, OpRecord { weights, ..blank(op::AFFINE_I8) });
    let factor = |factor: f32| [factor.to_bits(), 0, 0, 0];
    let bias = draft.tensor(element::F32, Layout::Rows, (3, 8, 1), || random.real().to_le_bytes());
    draft.op(element::F32, 8, 0, OpRecord { bias, params: factor(1.0 / 8192.0), ..blank(op::DEQUANTISE) });
    draft.op(element::F32, 8, 0, OpRecord { activation: activation::SCRELU, ..blank(op::ACTIVATION_F32) });
    let weights = draft.tensor(element::F32, Layout::Columns, (3, 24, 8), || random.real().to_le_bytes());
    let bias = draft.tensor(element::F32, Layout::Rows, (3, 24, 1), || random.real().to_le_bytes());
    draft.op(element::F32, 24, 0, OpRecord { weights, bias, ..blank(op::AFFINE_F32) });
    draft.op(element::F32, 24, 0, OpRecord { activation: activation::CRELU, ..blank(op::ACTIVATION_F32) });
    let weights = draft.tensor(element::F32, Layout::Columns, (1, 3, 24), || random.real().to_le_bytes());
    draft.op(element::F32, 3, 0, OpRecord { weights, ..blank(op::AFFINE_F32) });
    draft.op(element::F32, 3, 0, OpRecord { params: factor(400.0), ..blank(op::SCALE_F32) });
    // Where the sums lay, which have long been read.
    let place = draft.values[2].place;
    draft.values[8].place = place;
    draft
}

/// Accumulators → SCReLU → sums of large weights, of which the format says how they wrap; and heads over the same
/// weights whose sums have 64 bits, plain and of squares.
fn wide() -> Draft {
    let mut random = Random(16);
    let mut draft = Draft::of_features(2, 26, 6, 2);
    let rows = draft.tensor(element::I16, Layout::Rows, (1, 6, 26), || (random.within(9000) as i16).to_le_bytes());
    let bias = draft.tensor(element::I16, Layout::Rows, (1, 26, 1), || (random.within(9000) as i16).to_le_bytes());
    draft.block(6, rows, bias);
    let shape = (2, 2, 52);
    let weights = draft.tensor(element::I16, Layout::Rows, shape, || (random.within(32_767) as i16).to_le_bytes());
    let bias = draft.tensor(element::I32, Layout::Rows, (2, 2, 1), || random.within(1 << 20).to_le_bytes());
    let params = [255, 0, 0, 0];
    let activation = activation::SCRELU;
    draft.op_on(element::I32, 2, 0, OpRecord { activation, weights, params, ..blank(op::ACTIVATE_DOT) });
    for activation in [activation::CRELU, activation::SQRRELU] {
        let params = [32_767, 255, 400, 16_320];
        draft.op_on(element::I32, 2, 0, OpRecord { activation, weights, bias, params, ..blank(op::WIDE_HEAD) });
    }
    draft
}

/// u8 → affine, every four weights within the claim.
fn paired() -> Draft {
    let mut random = Random(14);
    let mut draft = Draft::dense(element::U8, 45);
    let weights = draft.tensor(element::I8, Layout::K4, (1, 10, 45), || (random.within(64) as i8).to_le_bytes());
    draft.tensors[weights as usize].0.claims = claim::QUADS_FIT_I16;
    draft.op(element::I32, 10, 0, OpRecord { weights, ..blank(op::AFFINE_I8) });
    draft
}

/// u8 → affine → reals → columns: what a build with reals and nothing else takes.
fn columns() -> Draft {
    let mut random = Random(15);
    let mut draft = Draft::dense(element::U8, 12);
    let weights = draft.tensor(element::I8, Layout::K4, (1, 4, 12), || (random.within(128) as i8).to_le_bytes());
    draft.op(element::I32, 4, 0, OpRecord { weights, ..blank(op::AFFINE_I8) });
    let params = [(1.0f32 / 4096.0).to_bits(), 0, 0, 0];
    draft.op(element::F32, 4, 0, OpRecord { params, ..blank(op::DEQUANTISE) });
    let weights = draft.tensor(element::F32, Layout::Columns, (1, 8, 4), || random.real().to_le_bytes());
    draft.op(element::F32, 8, 0, OpRecord { weights, ..blank(op::AFFINE_F32) });
    draft
}
