//! The operations of general networks: values at the ends of their ranges, and what is refused.

#[path = "general/refusals.rs"]
mod refusals; // of the loader, and of running

use tamis_quant::run::AlignedBytes;
use tamis_runtime::format::{Model, ParseError};
use tamis_runtime::kernels::tiers;
use tamis_runtime::raw::{Layout, OpRecord, element, op};
use tamis_runtime::{Input, Output, Plan};
use tests::draft::{Draft, blank};
use tests::sample_models;

/// A network of the sample models, to be spoiled.
fn network(name: &str) -> Draft {
    let sample = sample_models::all().into_iter().find(|sample| sample.name == name);
    Draft::read(sample.unwrap().bytes.as_ref())
}

/// One operation on a dense input of `element`, run on every tier; its output as i32 or as the bits of f32.
fn outputs(mut draft: Draft, input: Input<'_>, wanted: &[i32]) {
    draft.input.output = draft.ops.len() as u32;
    let bytes = draft.bytes();
    let model = Model::parse(bytes.as_ref()).unwrap();
    for tier in tiers() {
        let mut workspace = AlignedBytes::zeroed(model.workspace_len_bytes());
        let found = match Plan::new(model, tier).run(input, 0, workspace.as_mut()).unwrap() {
            Output::I32(values) => values.to_vec(),
            Output::F32(values) => values.iter().map(|value| value.to_bits() as i32).collect(),
            other => panic!("{other:?}"),
        };
        assert_eq!(found, wanted, "{}", tier.name);
    }
}

/// Sums that leave i32 wrap; FM_TERM's formula and its running sums are the same number modulo 2³².
#[test]
fn interactions_wrap_at_the_ends() {
    // Two embeddings of two elements each: −128·−128 + 127·−128.
    let mut draft = Draft::dense(element::I8, 4);
    draft.op(element::I32, 1, 0, OpRecord { params: [2, 0, 0, 0], ..blank(op::FM_TERM) });
    outputs(draft, Input::I8(&[-128, 127, -128, -128]), &[16_384 - 16_256]);
    // Three of one element of i16 at its end: three products of 2^30, one more than i32 holds.
    let mut draft = Draft::sparse(3, 3, true, false);
    let weights = draft.tensor(element::I16, Layout::Rows, (1, 3, 1), || i16::MIN.to_le_bytes());
    draft.op(element::I16, 3, 0, OpRecord { weights, ..blank(op::SPARSE_ROWS) });
    for (kind, wanted) in [
        (op::FM_TERM, &[(3i64 << 30) as i32][..]),
        (op::BI_INTERACTION, &[(3i64 << 30) as i32]),
        (op::INNER_PRODUCTS, &[1 << 30, 1 << 30, 1 << 30]),
    ] {
        let mut draft = draft.clone();
        draft.op(element::I32, wanted.len() as u32, 0, OpRecord { params: [1, 0, 0, 0], ..blank(kind) });
        outputs(draft, Input::Sparse { features: &[0, 1, 2], values: &[] }, wanted);
    }
}

#[test]
fn zero_points_and_tables_reach_their_ends() {
    // −128 and 127 as bytes are rows 128 and 127; the table is x xor 1, shown through an i32 sum of each.
    let mut draft = Draft::dense(element::I8, 3);
    let mut row = 0u8..=255;
    let weights = draft.tensor(element::U8, Layout::Rows, (1, 256, 1), || [row.next().unwrap() ^ 1]);
    draft.op(element::U8, 3, 0, OpRecord { weights, ..blank(op::LOOKUP) });
    draft.op(element::F32, 3, 0, OpRecord { params: [1f32.to_bits(), 0, 0, 0], ..blank(op::TO_F32) });
    outputs(draft, Input::I8(&[-128, 127, 0]), &[129.0f32, 126.0, 1.0].map(|x| x.to_bits() as i32));
    // Sums of i32 at both ends through a requantisation with every zero point that there is, into i16.
    for zero in [-32_768, -1, 0, 1, 32_768] {
        let mut draft = Draft::dense(element::I8, 1);
        let weights = draft.tensor(element::I8, Layout::K4, (1, 2, 1), || [0]);
        let mut ends = [i32::MIN, i32::MAX].into_iter();
        let bias = draft.tensor(element::I32, Layout::Rows, (1, 2, 1), || ends.next().unwrap().to_le_bytes());
        draft.op(element::I32, 2, 0, OpRecord { weights, bias, ..blank(op::AFFINE_I8) });
        let multipliers = draft.tensor(element::I32, Layout::Rows, (1, 2, 1), || i32::MAX.to_le_bytes());
        let shifts = draft.tensor(element::U8, Layout::Rows, (1, 2, 1), || [1]);
        let params = [-32_768i32 as u32, 32_767, zero as u32, 0];
        draft.op(element::I16, 2, 0, OpRecord { multipliers, shifts, params, ..blank(op::REQUANTISE) });
        draft.op(element::F32, 2, 0, OpRecord { params: [1f32.to_bits(), 0, 0, 0], ..blank(op::TO_F32) });
        outputs(draft, Input::I8(&[5]), &[-32_768f32, 32_767.0].map(|x| x.to_bits() as i32));
    }
}

/// 150 sums, more than two blocks, rounded to i32 where they lie; `to` is what the layer reads.
fn rounded_in_place(of: u32, to: u32) -> Draft {
    let len = 150;
    let mut draft = Draft::dense(of, 1);
    // Row i has weight i, those behind 127 none.
    let mut next = (0i8..=127).chain(core::iter::repeat(0));
    let weights = draft.tensor(element::I8, Layout::K4, (1, len, 1), || next.next().unwrap().to_le_bytes());
    let mut next = 0i32..;
    let bias = draft.tensor(element::I32, Layout::Rows, (1, len, 1), || (next.next().unwrap() * 1000).to_le_bytes());
    draft.op(element::I32, len as u32, 0, OpRecord { weights, bias, ..blank(op::AFFINE_I8) });
    let mut next = 1i32..;
    let multipliers = draft.tensor(element::I32, Layout::Rows, (1, len, 1), || next.next().unwrap().to_le_bytes());
    let mut next = 1u8..;
    let shifts = draft.tensor(element::U8, Layout::Rows, (1, len, 1), || [1 + next.next().unwrap() % 9]);
    let params = [-100_000i32 as u32, 1_000_000, 0, 0];
    draft.op(to, len as u32, 0, OpRecord { multipliers, shifts, params, ..blank(op::REQUANTISE) });
    draft.values[2].place = draft.values[1].place;
    draft
}

#[test]
fn sums_are_rounded_to_i32_where_they_lie() {
    let wanted: Vec<i32> = (0..150i64)
        .map(|row| {
            let weight = if row < 128 { row } else { 0 };
            let (sum, shift) = (row * 1000 + 77 * weight, 1 + (row + 1) % 9);
            ((sum * (row + 1) + (1 << (shift - 1))) >> shift).clamp(-100_000, 1_000_000) as i32
        })
        .collect();
    outputs(rounded_in_place(element::I8, element::I32), Input::I8(&[77]), &wanted);
    outputs(rounded_in_place(element::U8, element::I32), Input::U8(&[77]), &wanted);
    let refused = |place: &str, change: &dyn Fn(&mut Draft)| {
        let mut draft = rounded_in_place(element::I8, element::I32);
        change(&mut draft);
        match Model::parse(draft.bytes().as_ref()) {
            Err(ParseError::Field { place: found, .. }) => assert_eq!(found, place),
            other => panic!("{place}: {other:?}"),
        }
    };
    // Not at the same place, not of the same width, not a part, and nothing may read the sums behind it.
    refused("op.output", &|draft| draft.values[2].place += 64);
    refused("op.output", &|draft| {
        draft.values[2].element = element::I8 as u16;
        draft.ops[1].params = [-128i32 as u32, 127, 0, 0];
    });
    refused("op.output", &|draft| {
        draft.values[2].len -= 1;
        draft.ops[1].input_len -= 1;
    });
    refused("op.input", &|draft| {
        draft.op_on(element::I32, 150, 1, OpRecord { second: 2, ..blank(op::ADD_I32) });
    });
}

/// Trees on the sparse input: an absent feature is 0, a present one 1; a NaN is not at most anything.
#[test]
fn trees_ask_about_absent_features_and_nans() {
    let tree = |draft: &mut Draft, threshold: [u8; 4], from: u32| {
        let mut next = [[0u8; 4], [255; 4], [255; 4]].into_iter();
        let multipliers = draft.tensor(element::I32, Layout::Rows, (1, 1, 3), || next.next().unwrap());
        let weights = draft.tensor(from, Layout::Rows, (1, 1, 3), || threshold);
        let mut next = [9i32, 1, 2].into_iter();
        let bias = draft.tensor(element::I32, Layout::Rows, (1, 1, 3), || next.next().unwrap().to_le_bytes());
        let params = [1, 3, 0, 0];
        draft.op(element::I32, 1, 0, OpRecord { weights, bias, multipliers, params, ..blank(op::TREES) });
    };
    let mut draft = Draft::sparse(2, 2, false, false);
    tree(&mut draft, 0i32.to_le_bytes(), element::I32);
    outputs(draft.clone(), Input::Sparse { features: &[1], values: &[] }, &[1]);
    outputs(draft, Input::Sparse { features: &[0, 1], values: &[] }, &[2]);
    let mut draft = Draft::sparse(2, 2, false, true);
    tree(&mut draft, (-5i32).to_le_bytes(), element::I32);
    outputs(draft.clone(), Input::Sparse { features: &[0], values: &[-5] }, &[1]);
    outputs(draft, Input::Sparse { features: &[0], values: &[-4] }, &[2]);
    let mut draft = Draft::dense(element::F32, 2);
    tree(&mut draft, 0.5f32.to_le_bytes(), element::F32);
    for (x, leaf) in [(0.5, 1), (0.75, 2), (f32::NAN, 2), (f32::NEG_INFINITY, 1)] {
        outputs(draft.clone(), Input::F32(&[x, 0.0]), &[leaf]);
    }
}

#[test]
fn reals_reach_their_ends() {
    let input = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 2.5, -2.5, -0.0];
    for (element, [low, high, zero], wanted) in [
        (element::I8, [-100, 101, 3], [3.0f32, 101.0, -100.0, 6.0, 0.0, 3.0]),
        (element::U8, [10, 255, 0], [10.0, 255.0, 10.0, 10.0, 10.0, 10.0]),
        (element::I16, [-32_768, 32_767, -32_768], [-32_768.0, 32_767.0, -32_768.0, -32_765.0, -32_768.0, -32_768.0]),
    ] {
        let mut draft = Draft::dense(element::F32, 6);
        let params = [1f32.to_bits(), low as u32, high as u32, zero as u32];
        draft.op(element, 6, 0, OpRecord { params, ..blank(op::QUANTISE) });
        draft.op(element::F32, 6, 0, OpRecord { params: [1f32.to_bits(), 0, 0, 0], ..blank(op::TO_F32) });
        outputs(draft, Input::F32(&input), &wanted.map(|x| x.to_bits() as i32));
    }
    // A softmax of one number is 1, and of numbers far apart nothing overflows.
    let softmax = |len: u32| {
        let mut draft = Draft::dense(element::F32, len);
        draft.op(element::F32, len, 0, OpRecord { activation: 11, ..blank(op::ACTIVATION_F32) });
        draft
    };
    outputs(softmax(1), Input::F32(&[-1e38]), &[1f32.to_bits() as i32]);
    outputs(softmax(3), Input::F32(&[1e38, -1e38, 0.0]), &[1f32, 0.0, 0.0].map(|x| x.to_bits() as i32));
}
