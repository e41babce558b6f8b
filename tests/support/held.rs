//! What holds of every container that the loader accepts: every tier's every way of running it gives what the second
//! reader gives.

mod batches;
mod board;
mod lines;
mod sample;

use crate::sample_models::Random;
use crate::second_reader::{Container, Numbers};
pub use board::evaluate as evaluate_board;
use bytemuck::cast_slice;
pub use sample::Sample;
use tamis_quant::run::{AlignedBytes, Runner};
use tamis_runtime::format::Model;
use tamis_runtime::kernels::tiers;
use tamis_runtime::raw::{element, input_kind};
use tamis_runtime::testing::SplitMix;
use tamis_runtime::{Output, Plan, RunError};

/// Inputs beside those of the signature.
const SAMPLES: u32 = 6;

/// Holds a container to the second reader: values one by one and the output of every way of running, on every tier, for
/// ordinary and extreme inputs; the signature; accumulators filled and changed; positions of a game, where it has a
/// board. `seed`: of the inputs.
///
/// # Panics
/// With what differs, or that one of the readers refuses the container.
pub fn hold(bytes: &[u8], seed: u64) {
    let model = Model::parse(bytes).unwrap_or_else(|error| panic!("the loader refuses it: {error}"));
    let container = Container::read(bytes).unwrap_or_else(|error| panic!("the second reader refuses it: {error}"));
    let signature = container.signature();
    for tier in tiers() {
        let found = Runner::new(model, tier).signature();
        assert_eq!(found, Ok(signature), "signature on {} and by the second reader", tier.name);
    }
    let mut random = Random(seed);
    let mut given = Vec::new();
    for number in 0..SAMPLES {
        let sample = Sample::draw(&model, &mut random, number);
        let bucket = SplitMix(random.draw()).below(model.input().bucket_count) as usize;
        let expected: Vec<Vec<u8>> =
            container.evaluate(&sample.given(), bucket).iter().enumerate().map(bytes_of(&container)).collect();
        for tier in tiers() {
            let plan = Plan::new(model, tier);
            ways(&plan, &sample, bucket, &expected, &format!("sample {number}, bucket {bucket}, {}", tier.name));
        }
        given.push(sample);
    }
    batches::hold(&model, &container, &given, &mut random);
    if model.input().kind == input_kind::FEATURES {
        lines::hold(&model, &container, &mut random);
        if model.input().feature_set != 0 {
            board::hold(bytes, &container, &mut random);
        }
    }
}

/// A part of that, for many containers: one input in place of the signature's, ordinary or extreme, and every way of
/// running it on every tier.
///
/// # Panics
/// As [`hold`].
pub fn hold_briefly(bytes: &[u8], seed: u64) {
    let model = Model::parse(bytes).unwrap_or_else(|error| panic!("the loader refuses it: {error}"));
    let container = Container::read(bytes).unwrap_or_else(|error| panic!("the second reader refuses it: {error}"));
    let mut random = Random(seed);
    let number = (random.draw() % 3) as u32;
    let sample = Sample::draw(&model, &mut random, number);
    let bucket = SplitMix(random.draw()).below(model.input().bucket_count) as usize;
    let expected: Vec<Vec<u8>> =
        container.evaluate(&sample.given(), bucket).iter().enumerate().map(bytes_of(&container)).collect();
    for tier in tiers() {
        let plan = Plan::new(model, tier);
        ways(&plan, &sample, bucket, &expected, &format!("sample {number}, bucket {bucket}, {}", tier.name));
    }
}

fn bytes_of(container: &Container) -> impl Fn((usize, &Numbers)) -> Vec<u8> {
    |(index, value)| value.bytes(container.element_of_value(index))
}

/// Value by value and all at once, in a workspace with something in it.
fn ways(plan: &Plan<'_>, sample: &Sample, bucket: usize, expected: &[Vec<u8>], place: &str) {
    let model = plan.model();
    let mut workspace = AlignedBytes::zeroed(model.workspace_len_bytes());
    // Of a value that lies there a few rows at a time the pieces, one behind the other.
    let mut found: Vec<Vec<u8>> = vec![Vec::new()];
    workspace.as_mut().fill(0xA5);
    let traced = plan.run_traced(sample.input(), bucket, workspace.as_mut(), |value, bytes| {
        let is_real = model.values()[value].element() == element::F32;
        found.resize(found.len().max(value + 1), Vec::new());
        assert_eq!(value + 1, found.len(), "{place}: order of the values");
        let is_whole = model.values()[value].rows_held() == 0;
        assert!(!is_whole || found[value].is_empty(), "{place}: value {value} in pieces");
        found[value].extend(canonical(bytes, is_real));
    });
    let last = expected.last().unwrap();
    assert_eq!(found.len(), model.values().len(), "{place}: values traced");
    for (value, found) in found.iter().enumerate().skip(1) {
        assert!(found == &expected[value], "{place}: run_traced, value {value}, and the second reader");
    }
    assert!(&output(traced.unwrap()) == last, "{place}: output of run_traced");
    workspace.as_mut().fill(0x5A);
    let run = output(plan.run(sample.input(), bucket, workspace.as_mut()).unwrap());
    assert!(&run == last, "{place}: run gives {run:02x?}, run_traced and the second reader {last:02x?}");
    let mut beside = AlignedBytes::zeroed(plan.beside_outputs_len_bytes());
    let mut outputs = AlignedBytes::zeroed(plan.outputs_len_bytes());
    beside.as_mut().fill(0xC3);
    outputs.as_mut().fill(0x3C);
    let apart = plan.run_into(sample.input(), bucket, beside.as_mut(), outputs.as_mut());
    let apart = output(apart.unwrap());
    assert!(&apart == last, "{place}: run_into gives {apart:02x?}, run {run:02x?}");
    rows(plan, sample, bucket, last, place);
}

/// All outputs backwards, each alone, and one twice: bit for bit those of the whole.
fn rows(plan: &Plan<'_>, sample: &Sample, bucket: usize, all: &[u8], place: &str) {
    let count = (all.len() / size_of::<u32>()) as u32;
    let mut workspace = AlignedBytes::zeroed(plan.model().workspace_len_bytes());
    let mut run = |rows: &[u32]| {
        workspace.as_mut().fill(0x69);
        plan.run_rows(sample.input(), bucket, rows, workspace.as_mut()).map(output)
    };
    if !plan.computes_rows() {
        assert_eq!(run(&[0]), Err(RunError::NoRows), "{place}: rows of a network without");
        return;
    }
    let expected = |rows: &[u32]| -> Vec<u8> {
        rows.iter().flat_map(|row| &all[*row as usize * size_of::<u32>()..][..size_of::<u32>()]).copied().collect()
    };
    let backwards: Vec<u32> = (0..count).rev().collect();
    assert_eq!(run(&backwards), Ok(expected(&backwards)), "{place}: all rows backwards");
    for row in [0, count / 2, count - 1] {
        assert_eq!(run(&[row]), Ok(expected(&[row])), "{place}: row {row}");
    }
    if count > 1 {
        assert_eq!(run(&[1, 1]), Ok(expected(&[1, 1])), "{place}: a row twice");
    }
    assert_eq!(run(&[]), Ok(Vec::new()), "{place}: no row");
    assert_eq!(run(&[count]), Err(RunError::Row { found: count, limit: count as usize }), "{place}: a row too far");
    let many = vec![0; count as usize + 1];
    let refused = RunError::Length { what: "rows", found: many.len(), expected: count as usize };
    assert_eq!(run(&many), Err(refused), "{place}: more rows than there are");
}

/// An output as the second reader writes it.
fn output(output: Output<'_>) -> Vec<u8> {
    match output {
        Output::I32(values) => cast_slice(values).to_vec(),
        Output::F32(values) => canonical(cast_slice(values), true),
        other => panic!("the second reader has no such output: {other:?}"),
    }
}

/// With one NaN for all.
fn canonical(bytes: &[u8], is_real: bool) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for real in bytes.as_chunks_mut::<4>().0.iter_mut().filter(|_| is_real) {
        if f32::from_le_bytes(*real).is_nan() {
            *real = 0x7FC0_0000u32.to_le_bytes();
        }
    }
    bytes
}
