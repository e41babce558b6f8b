//! Files that are changed where a change could do harm: refused, or run alike on every tier.

use super::small;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use tests::draft::{Draft, set_checksum};
use tests::exercise::exercise;

/// One change of one word of one record, or of a list of records.
#[derive(Debug, Clone)]
struct Mutation {
    table: u8,
    record: usize,
    word: usize,
    change: Change,
}

#[derive(Debug, Clone)]
enum Change {
    Set(u32),
    Add(i8),
    Flip(u8),
    CopyOf(usize),
    Duplicate,
    Remove,
    Swap(usize),
}

fn changes() -> impl Strategy<Value = Change> {
    let ends =
        [0, 1, 2, 63, 64, 65, 127, 128, 255, 256, 768, 1 << 15, 1 << 16, 1 << 24, 1 << 31, u32::MAX - 1, u32::MAX];
    prop_oneof![
        4 => prop::sample::select(ends.to_vec()).prop_map(Change::Set),
        4 => (0u32..20).prop_map(Change::Set),
        4 => any::<i8>().prop_map(|by| Change::Add(by % 5)),
        2 => (0u8..32).prop_map(Change::Flip),
        4 => any::<usize>().prop_map(Change::CopyOf),
        1 => Just(Change::Duplicate),
        1 => Just(Change::Remove),
        1 => any::<usize>().prop_map(Change::Swap),
    ]
}

fn mutations() -> impl Strategy<Value = Mutation> {
    (0u8..8, any::<usize>(), any::<usize>(), changes()).prop_map(|(table, record, word, change)| Mutation {
        table,
        record,
        word,
        change,
    })
}

fn change_words(words: &mut [u32], at: usize, change: &Change) {
    let len = words.len();
    let Some(at) = at.checked_rem(len) else { return };
    words[at] = match change {
        Change::Set(value) => *value,
        Change::Add(by) => words[at].wrapping_add_signed(i32::from(*by)),
        Change::Flip(bit) => words[at] ^ 1 << bit,
        Change::CopyOf(other) => words[other % len],
        _ => return,
    };
}

fn change_list<T: bytemuck::Pod>(list: &mut Vec<T>, mutation: &Mutation) {
    let len = list.len();
    let Some(at) = mutation.record.checked_rem(len) else { return };
    match &mutation.change {
        Change::Duplicate => list.insert(at, list[at]),
        Change::Remove => drop(list.remove(at)),
        Change::Swap(other) => list.swap(at, other % len),
        change => change_words(bytemuck::cast_slice_mut(&mut list[at..=at]), mutation.word, change),
    }
}

fn mutate(draft: &mut Draft, mutation: &Mutation) {
    let (record, word, change) = (mutation.record, mutation.word, &mutation.change);
    match mutation.table {
        0 => change_words(bytemuck::cast_slice_mut(std::slice::from_mut(&mut draft.input)), word, change),
        1 => change_list(&mut draft.blocks, mutation),
        2 => {
            let mut records: Vec<_> = draft.tensors.iter().map(|(record, _)| *record).collect();
            change_list(&mut records, mutation);
            // Fewer or more records than tensors: the last ones keep their bytes.
            let mut bytes =
                draft.tensors.iter().map(|(_, bytes)| bytes.clone()).collect::<Vec<_>>().into_iter().cycle();
            draft.tensors = records.into_iter().map(|record| (record, bytes.next().unwrap())).collect();
        }
        3 => change_list(&mut draft.values, mutation),
        4 | 5 => change_list(&mut draft.ops, mutation),
        6 => {
            let count = draft.tensors.len();
            if let Some((record, bytes)) = record.checked_rem(count).and_then(|at| draft.tensors.get_mut(at)) {
                match change {
                    // A shape that fits the new length, now and then.
                    Change::Duplicate => (record.rows, _) = (record.rows * 2, bytes.extend_from_within(..)),
                    Change::Remove => bytes.truncate(bytes.len() / 2),
                    _ => {
                        let at = word % bytes.len().max(1);
                        if let Some(byte) = bytes.get_mut(at) {
                            *byte = byte.wrapping_mul(3).wrapping_add(1);
                        }
                    }
                }
            }
        }
        _ => {
            let at = word % draft.metadata.len().max(1);
            if let Some(byte) = draft.metadata.get_mut(at) {
                *byte = byte.wrapping_add(1);
            }
        }
    }
}

/// Files that the mutations start from.
static DRAFTS: LazyLock<Vec<Draft>> =
    LazyLock::new(|| small().iter().map(|bytes| Draft::read(bytes.as_ref())).collect());

#[test]
fn mutated_records_are_refused_or_run_alike_on_every_tier() {
    let accepted = AtomicUsize::new(0);
    let config = ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() };
    let strategy = (any::<usize>(), prop::collection::vec(mutations(), 1..6));
    TestRunner::new(config)
        .run(&strategy, |(which, list)| {
            let mut draft = DRAFTS[which % DRAFTS.len()].clone();
            list.iter().for_each(|mutation| mutate(&mut draft, mutation));
            accepted.fetch_add(usize::from(exercise(draft.bytes().as_ref())), Ordering::Relaxed);
            Ok(())
        })
        .unwrap();
    // Enough of them, or the half of the property that runs models says nothing.
    assert!(accepted.into_inner() > 100);
}

/// Words of the laid-out file, header and offsets included, and random bytes.
#[test]
fn mutated_words_are_refused_or_run_alike_on_every_tier() {
    let config = ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() };
    let strategy = (any::<usize>(), prop::collection::vec((any::<usize>(), changes()), 1..4));
    TestRunner::new(config)
        .run(&strategy, |(which, list)| {
            let mut bytes = DRAFTS[which % DRAFTS.len()].bytes();
            let words: &mut [u32] = bytemuck::cast_slice_mut(bytes.as_mut());
            for (at, change) in &list {
                // Twice out of three times within header and records, which are short beside the tensors.
                let reach = if at % 3 == 0 { words.len() } else { words.len().min(256) };
                change_words(&mut words[..reach], at / 3, change);
            }
            set_checksum(bytes.as_mut());
            exercise(bytes.as_ref());
            Ok(())
        })
        .unwrap();
}
