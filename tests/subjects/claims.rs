//! The claim that a kernel relies on: what it means, that it is written where it is true, and that no reader takes a
//! false one.

use proptest::prelude::*;
use tamis_quant::run::AlignedBytes;
use tamis_runtime::format::{Model, ParseError};
use tamis_runtime::raw::{Layout, OpRecord, claim, element, op, quads_fit};
use tests::draft::{Draft, blank};
use tests::exercise::exercise;
use tests::sample_models;
use tests::second_reader::Container;

/// The meaning, as plain as it can be said: whatever the inputs, 0 or 127 being the extreme ones, no four of products
/// and no part of a four leaves i16. `weights[row][col]` of one bank.
fn fits_by_definition(weights: &[Vec<i8>]) -> bool {
    let product = |row: &[i8], col: usize, input: i32| input * i32::from(*row.get(col).unwrap_or(&0));
    weights.iter().all(|row| {
        (0..row.len()).step_by(8).flat_map(|g| [g, g + 2]).all(|g| {
            (0..16).all(|choice: i32| {
                let inputs = [0, 1, 2, 3].map(|bit| 127 * (choice >> bit & 1));
                let columns = [g, g + 1, g + 4, g + 5];
                let sum: i32 = columns.iter().zip(inputs).map(|(col, input)| product(row, *col, input)).sum();
                i16::try_from(sum).is_ok()
            })
        })
    })
}

/// A dense network of one layer whose weights are these, by bank, row and column, with the claim or without it.
fn one_layer(banks: &[Vec<Vec<i8>>], claims: u32) -> Draft {
    let (rows, cols) = (banks[0].len(), banks[0][0].len());
    let mut draft = Draft::dense(element::U8, cols as u32);
    draft.input.bucket_count = banks.len() as u32;
    let mut all = banks.iter().flatten().flatten();
    let shape = (banks.len(), rows, cols);
    let weights = draft.tensor(element::I8, Layout::K4, shape, || all.next().unwrap().to_le_bytes());
    draft.tensors[0].0.claims = claims;
    draft.op(element::I32, rows as u32, 0, OpRecord { weights, ..blank(op::AFFINE_I8) });
    draft
}

fn refused(bytes: &AlignedBytes) {
    let error = Model::parse(bytes.as_ref()).unwrap_err();
    assert!(matches!(error, ParseError::Field { place: "tensor.claims", .. }), "{error}");
    let error = Container::read(bytes.as_ref()).unwrap_err();
    assert!(error.contains("tensor 0 claims falsely"), "{error}");
}

/// Weights at which nothing fits, at which everything does, and around the limit: 64 or 65 four times is 256 or 260.
fn weight() -> impl Strategy<Value = i8> {
    prop_oneof![60..=68i8, -68..=-60i8, any::<i8>(), -3..=3i8]
}

fn bank() -> impl Strategy<Value = Vec<Vec<i8>>> {
    // Up to five groups, odd numbers of them among these, and last groups of one to four columns.
    (1..=6usize, 1..=20usize)
        .prop_flat_map(|(rows, cols)| prop::collection::vec(prop::collection::vec(weight(), cols), rows))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_claim_is_true_where_no_four_products_leave_i16(bank in bank()) {
        let fits = fits_by_definition(&bank);
        let draft = one_layer(std::slice::from_ref(&bank), claim::QUADS_FIT_I16);
        let (record, bytes) = &draft.tensors[0];
        prop_assert_eq!(quads_fit(bytemuck::cast_slice(bytes), record.stride as usize), fits);
        let bytes = draft.bytes();
        prop_assert_eq!(Model::parse(bytes.as_ref()).is_ok(), fits);
        prop_assert_eq!(Container::read(bytes.as_ref()).is_ok(), fits);
    }
}

#[test]
fn a_false_claim_is_refused_in_every_bank_row_and_group() {
    let (rows, cols) = (5, 18);
    let quiet = vec![vec![vec![0i8; cols]; rows]; 3];
    // Three groups and a half: the last pair has a second group of two columns. And an odd number: the last pair is one
    // group.
    for cols in [18, 14, 12, 10, 9, 4, 3] {
        let mut tried = 0;
        let narrow: Vec<Vec<Vec<i8>>> =
            quiet.iter().map(|bank| bank.iter().map(|row| row[..cols].to_vec()).collect()).collect();
        for (bank, row, four) in
            (0..3).flat_map(|bank| (0..rows).map(move |row| (bank, row))).flat_map(|(bank, row)| {
                (0..cols).step_by(8).flat_map(|g| [g, g + 2]).map(move |g| (bank, row, [g, g + 1, g + 4, g + 5]))
            })
        {
            let there: Vec<usize> = four.into_iter().filter(|col| *col < cols).collect();
            for sign in [1, -1] {
                let with = |sum: i32| {
                    let mut banks = narrow.clone();
                    let mut left = sum;
                    for col in &there {
                        let part = left.min(127);
                        banks[bank][row][*col] = (sign * part) as i8;
                        left -= part;
                    }
                    (left == 0).then(|| one_layer(&banks, claim::QUADS_FIT_I16).bytes())
                };
                if let Some(most) = with(258) {
                    assert!(exercise(most.as_ref()), "{cols} columns: bank {bank}, row {row}, {four:?}");
                    assert!(Container::read(most.as_ref()).is_ok());
                }
                if let Some(more) = with(259) {
                    refused(&more);
                    tried += 1;
                }
            }
        }
        // Two columns of -128 or 127 cannot leave i16: of 9 columns or fewer not every four is tried.
        assert!(tried > 0 || cols <= 4, "{cols} columns");
    }
}

/// Only the weights of the operation that has such a form are looked at, and only where the claim is made.
#[test]
fn without_the_claim_nothing_is_refused() {
    let loud = vec![vec![vec![127i8; 9]; 2]; 2];
    let claimed = one_layer(&loud, claim::QUADS_FIT_I16);
    refused(&claimed.bytes());
    for other in [0, claim::SUM_FITS, claim::PRODUCT_FITS_I16] {
        assert!(exercise(one_layer(&loud, other).bytes().as_ref()));
    }
    assert!(Model::parse(one_layer(&loud, 16).bytes().as_ref()).is_err(), "a claim that nobody has defined");
}

/// Of the networks that the packer writes, some make the claim, some cannot, and all say what is so.
#[test]
fn the_packer_claims_what_is_true() {
    let (mut made, mut not) = (0, 0);
    for sample in sample_models::all() {
        let model = Model::parse(sample.bytes.as_ref()).unwrap();
        if model.metadata().unwrap().description.is_empty() {
            continue; // drafted by a test, not packed
        }
        for operation in model.ops().iter().filter(|operation| operation.kind == op::AFFINE_I8) {
            let weights = model.tensor(operation.weights).unwrap();
            let fits = (0..weights.record.banks as usize).all(|bank| quads_fit(weights.bank(bank), weights.stride()));
            assert_eq!(weights.record.claims & claim::QUADS_FIT_I16 != 0, fits, "{}", sample.name);
            made += usize::from(fits);
            not += usize::from(!fits);
        }
    }
    assert!(made > 0 && not > 0, "{made} made, {not} not");
}
