//! The order of shuffled lines, beside what OpenNMT-tf's was seen to be.

use crate::batches::{json, onmt};
use tamis_batches::{Order, Shuffle};
use tests::trials::Fixtures;

/// What every shuffle has in common: which lines, and how early a line may come.
fn check_shuffle(order: &[u64], total: u64, buffer: u64, taken: &[u64]) {
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..total).collect::<Vec<_>>());
    for (place, line) in (0..).zip(order) {
        let turn = taken.iter().position(|taken| taken == line).unwrap() as u64;
        assert!(place + buffer > turn, "line {line} comes at {place}, its turn is {turn}");
    }
}

/// The order in which shards are taken shows in the lines themselves: with a buffer of 50, the shards' first
/// appearance.
fn lines_of_shards(order: &[u64]) -> Vec<u64> {
    let mut starts = Vec::new();
    for line in order {
        let start = line / 50 * 50;
        if !starts.contains(&start) {
            starts.push(start);
        }
    }
    starts.iter().flat_map(|start| *start..start + 50).collect()
}

#[test]
fn a_shuffle_reaches_as_far_as_its_buffer() {
    let ours = |buffer: u32| -> Vec<u64> {
        let mut order = Order::new(250, Shuffle::Buffer(buffer), 9, false);
        order.start();
        order.map(u64::from).collect()
    };
    check_shuffle(&ours(250), 250, 250, &(0..250).collect::<Vec<_>>());
    let sharded = ours(50);
    check_shuffle(&sharded, 250, 50, &lines_of_shards(&sharded));
    assert_ne!(sharded, ours(49));
}

#[test]
fn so_do_the_shuffles_of_opennmt(fixtures: Fixtures) {
    let folder = onmt(&fixtures);
    let observed = json(&folder.join("shuffle_observed.json"));
    let list =
        |key: &str| observed[key].as_array().unwrap().iter().map(|line| line.as_u64().unwrap()).collect::<Vec<_>>();
    check_shuffle(&list("full_seed1"), 250, 250, &(0..250).collect::<Vec<_>>());
    for key in ["buffer50_with_shards_seed1", "buffer50_with_shards_seed2"] {
        let order = list(key);
        check_shuffle(&order, 250, 50, &lines_of_shards(&order));
    }
}
