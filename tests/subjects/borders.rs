//! Where kernels end: whatever a tier reads or writes without asking lies within what it was handed. Every length of an
//! accumulator and of a row, and generated networks of all kinds, in memory that ends at a page nobody may touch.

use tamis_runtime::Plan;
use tamis_runtime::format::Model;
use tamis_runtime::kernels::{Tier, scalar, tiers};
use tamis_runtime::testing::Moved;
use tests::generator::{Choices, container};
use tests::guarded::Guarded;
use tests::held::Sample;
use tests::sample_models::Random;

/// Longer than two of the longest rounds, sixteen vectors of 32, and an odd rest.
const LONGEST: usize = 1100;
/// Rows of a table.
const ROWS: usize = 3;
/// Generated containers.
const CONTAINERS: u64 = 400;

/// Every length, with a row at the very end of its table, through both fused moves and a list of any length.
#[test]
fn updates_stay_within_rows_and_accumulators_of_every_length() {
    let mut random = Random(1);
    let mut numbers = |count: usize| -> Vec<i16> { (0..count).map(|_| random.draw() as i16).collect() };
    let (all, source) = (numbers(ROWS * (LONGEST + 40)), numbers(LONGEST));
    for len in 0..LONGEST {
        // Beyond the first lengths the ends of vectors and rounds are what matters.
        if len > 300 && (len + 1) % 32 > 2 {
            continue;
        }
        // Rows that follow one another, and rows with something between them, of which the last one has nothing.
        for stride in [len, len + 24] {
            let rows = &all[..(ROWS - 1) * stride + len];
            let narrow: Vec<i8> = rows.iter().map(|weight| *weight as i8).collect();
            for tier in tiers() {
                updates(tier, &source[..len], rows, &narrow, stride);
            }
        }
    }
}

const LAST: u32 = ROWS as u32 - 1;

fn updates(tier: &Tier, source: &[i16], rows: &[i16], narrow: &[i8], stride: usize) {
    let truth = &scalar::KERNELS;
    let (rows, narrow) = (Guarded::ending(rows), Guarded::ending(narrow));
    let given = Guarded::ending(source);
    let lists: [(&[u32], &[u32]); 4] = [(&[LAST], &[0]), (&[0], &[LAST, 1]), (&[LAST, 1, 0], &[]), (&[], &[LAST])];
    for (added, removed) in lists {
        let mut expected = source.to_vec();
        (truth.update_i16.call)(&mut expected, Some(source), rows.as_ref(), stride, added, removed);
        for mut out in [Guarded::ending(&vec![0; source.len()]), Guarded::beginning(&vec![0; source.len()])] {
            (tier.update_i16.call)(out.as_mut(), Some(given.as_ref()), rows.as_ref(), stride, added, removed);
            assert!(out.as_ref() == expected, "{}: {} of i16, stride {stride}", tier.name, source.len());
        }
        (truth.update_i8.call)(&mut expected, Some(source), narrow.as_ref(), stride, added, removed);
        let mut out = Guarded::ending(source);
        (tier.update_i8.call)(out.as_mut(), None, narrow.as_ref(), stride, added, removed);
        assert!(out.as_ref() == expected, "{}: {} of i8, stride {stride}", tier.name, source.len());
    }
    if source.len() % 2 == 1 {
        return;
    }
    // Two accumulators in one memory, each half as long as a row.
    for moved in [Moved::Quiet([[LAST, 0], [1, LAST]]), Moved::Capture([[0, LAST, 1], [LAST, 1, LAST]])] {
        let (mut expected, mut out) = (vec![0; source.len()], Guarded::ending(&vec![0; source.len()]));
        (truth.update_both_i16.call)(&mut expected, source, rows.as_ref(), stride, &moved);
        (tier.update_both_i16.call)(out.as_mut(), given.as_ref(), rows.as_ref(), stride, &moved);
        assert!(out.as_ref() == expected, "{}: both of {} i16", tier.name, source.len());
        (truth.update_both_i8.call)(&mut expected, source, narrow.as_ref(), stride, &moved);
        (tier.update_both_i8.call)(out.as_mut(), given.as_ref(), narrow.as_ref(), stride, &moved);
        assert!(out.as_ref() == expected, "{}: both of {} i8", tier.name, source.len());
    }
}

/// Sums of 16 bits at every shift, by the definition as a rational number: floor(x + 1/2).
#[test]
fn requantisation_is_the_definition_for_every_sum_of_16_bits_and_shift() {
    let sums: Vec<i32> = (i32::from(i16::MIN)..=i32::from(i16::MAX)).collect();
    for shift in 1..=62u8 {
        for multiplier in [1, 3, i32::MAX, 1_518_500_250] {
            let exact = |sum: &i32| {
                let twice = 2 * i128::from(*sum) * i128::from(multiplier) + (1i128 << shift);
                twice.div_euclid(1i128 << (shift + 1)).clamp(-127, 127) as i8
            };
            let expected: Vec<i8> = sums.iter().map(exact).collect();
            let (multipliers, shifts) = (vec![multiplier; sums.len()], vec![shift; sums.len()]);
            for tier in tiers() {
                let mut found = vec![0i8; sums.len()];
                (tier.requantise_i8.call)(&sums, &multipliers, &shifts, -127, 127, 0, &mut found);
                assert!(found == expected, "{}: multiplier {multiplier}, shift {shift}", tier.name);
            }
        }
    }
}

/// Networks of all kinds, whose container, input, workspace and outputs all end at such a page: tiles of layers and of
/// maps have their edges at every place of theirs.
#[test]
fn generated_networks_run_within_their_memory() {
    let mut random = Random(7);
    for number in 0..CONTAINERS {
        let decisions: Vec<u8> = (0..512).map(|_| (random.draw() >> 40) as u8).collect();
        let bytes = container(&mut Choices::of_bytes(&decisions)).bytes();
        let file = Guarded::ending(bytes.as_ref());
        let model = Model::parse(file.as_ref()).unwrap();
        let sample = Sample::draw(&model, &mut random, number as u32);
        let bucket = (number % u64::from(model.input().bucket_count)) as usize;
        for tier in tiers() {
            let plan = Plan::new(model, tier);
            let mut workspace = Guarded::ending(&vec![0x5Au8; model.workspace_len_bytes()]);
            let whole = format!(
                "{:?}",
                sample.at_the_end_of_a_page(|input| {
                    plan.run(input, bucket, workspace.as_mut()).map(|output| format!("{output:?}"))
                })
            );
            let mut beside = Guarded::ending(&vec![0u8; plan.beside_outputs_len_bytes().next_multiple_of(64)]);
            let mut outputs = Guarded::ending(&vec![0u8; plan.outputs_len_bytes().next_multiple_of(64)]);
            let apart = format!(
                "{:?}",
                sample.at_the_end_of_a_page(|input| {
                    let output = plan.run_into(input, bucket, beside.as_mut(), outputs.as_mut());
                    output.map(|output| format!("{output:?}"))
                })
            );
            assert_eq!(whole, apart, "container {number} on {}", tier.name);
        }
    }
}
