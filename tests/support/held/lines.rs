//! Accumulators: filled from a list, and changed in every way that there is, against the second reader's, which it
//! always fills anew.

use crate::sample_models::Random;
use crate::second_reader::Container;
use tamis_quant::run::AlignedBytes;
use tamis_runtime::format::Model;
use tamis_runtime::kernels::tiers;
use tamis_runtime::nnue::{AccumulatorPair, Change, Stack};
use tamis_runtime::{Input, Plan, RunError};

/// A list and what it becomes.
struct Step {
    before: Vec<u32>,
    added: Vec<u32>,
    removed: Vec<u32>,
    after: Vec<u32>,
}

/// Rows that a step adds and removes: none, a move, a capture, and more than one pass takes.
const CHANGES: [[usize; 2]; 6] = [[1, 1], [1, 2], [0, 0], [2, 2], [0, 1], [40, 40]];

impl Step {
    fn draw(model: &Model<'_>, random: &mut Random, [added, removed]: [usize; 2]) -> Self {
        let (size, most) = (u64::from(model.input().size), model.input().max_active as usize);
        let mut feature = || (random.draw() % size) as u32;
        let (added, removed) = (added.min(most), removed.min(most));
        let before: Vec<u32> = (0..removed.max(most / 2)).map(|_| feature()).collect();
        let added: Vec<u32> = (0..added).map(|_| feature()).collect();
        let after = before[removed..].iter().chain(&added).copied().collect();
        Self { removed: before[..removed].to_vec(), before, added, after }
    }
}

pub(super) fn hold(model: &Model<'_>, container: &Container, random: &mut Random) {
    for change in CHANGES {
        let steps = [(); 2].map(|()| Step::draw(model, random, change));
        let before = steps.each_ref().map(|step| container.accumulate(&step.before));
        let after = steps.each_ref().map(|step| container.accumulate(&step.after));
        for tier in tiers() {
            let plan = Plan::new(*model, tier);
            let place = format!("{change:?} rows on {}", tier.name);
            for ((step, before), after) in steps.iter().zip(&before).zip(&after) {
                let mut accumulator = vec![77; plan.hidden()];
                plan.refresh(&mut accumulator, &step.before).unwrap();
                assert!(&accumulator == before, "refresh of {place}");
                plan.update_in_place(&mut accumulator, &step.added, &step.removed).unwrap();
                assert!(&accumulator == after, "update_in_place by {place}");
                accumulator.fill(-3);
                plan.update(&mut accumulator, before, &step.added, &step.removed).unwrap();
                assert!(&accumulator == after, "update by {place}");
            }
            let mut both = vec![5; 2 * plan.hidden()];
            let (added, removed) = (steps.each_ref().map(|s| &s.added[..]), steps.each_ref().map(|s| &s.removed[..]));
            plan.update_both(&mut both, &before.concat(), added, removed).unwrap();
            assert!(both == after.concat(), "update_both by {place}");
            match plan.hidden() {
                2 => of_width::<2>(&plan, &steps, &place),
                16 => of_width::<16>(&plan, &steps, &place),
                33 => of_width::<33>(&plan, &steps, &place),
                64 => of_width::<64>(&plan, &steps, &place),
                128 => of_width::<128>(&plan, &steps, &place),
                _ => {}
            }
        }
    }
}

fn of_width<const HIDDEN: usize>(plan: &Plan<'_>, steps: &[Step; 2], place: &str) {
    stack::<HIDDEN>(plan, steps, place);
    pair::<HIDDEN>(plan, steps, place);
}

/// A position from the one before and its evaluation, against `run` on accumulators filled anew, for each side and
/// bucket; and no feature that the network does not have is taken for another.
fn pair<const HIDDEN: usize>(plan: &Plan<'_>, steps: &[Step; 2], place: &str) {
    let [mut before, mut after] = [AccumulatorPair::<HIDDEN>::new(); 2];
    for (side, step) in steps.iter().enumerate() {
        before.refresh(plan, side, &step.before).unwrap();
        after.refresh(plan, side, &step.after).unwrap();
    }
    let (added, removed) = (steps.each_ref().map(|s| &s.added[..]), steps.each_ref().map(|s| &s.removed[..]));
    let input = plan.model().input();
    let [mut scratch, mut plain] = [(); 2].map(|()| AlignedBytes::zeroed(plan.model().workspace_len_bytes()));
    for (side, bucket) in (0..2).flat_map(|side| (0..input.bucket_count as usize).map(move |bucket| (side, bucket))) {
        let mut made = AccumulatorPair::new();
        let found = made.update_and_evaluate(plan, &before, added, removed, side, bucket, scratch.as_mut()).unwrap();
        let sides = Input::Accumulators(after.side(side), after.side(1 - side));
        let expected = plan.run_traced(sides, bucket, plain.as_mut(), |_, _| ()).unwrap();
        let is_equal = super::output(found) == super::output(expected);
        assert!(is_equal, "update_and_evaluate by {place}, side {side}, bucket {bucket}");
        assert!(made == after, "accumulators of update_and_evaluate by {place}");
    }
    // The last comes to be the first where a product with the distance between rows leaves 32 bits.
    for wrong in [input.size, 1 << 31, u32::MAX] {
        for place_of_wrong in 0..2 {
            let mut lists = added.map(<[u32]>::to_vec);
            let Some(feature) = lists[place_of_wrong].last_mut() else { continue };
            *feature = wrong;
            let lists = lists.each_ref().map(|list| &list[..]);
            let refused = after.update_and_evaluate(plan, &before, lists, removed, 0, 0, scratch.as_mut());
            assert_eq!(refused, Err(RunError::Feature { found: wrong, limit: input.size }), "by {place}");
        }
    }
}

/// A ply of a stack against `run_traced` from accumulators filled anew.
fn stack<const HIDDEN: usize>(plan: &Plan<'_>, steps: &[Step; 2], place: &str) {
    let mut stack: Box<Stack<HIDDEN, 3>> = Box::default();
    stack.set_root(plan, steps.each_ref().map(|step| &step.before[..])).unwrap();
    let changes = steps.each_ref().map(|step| Change::Features { added: &step.added, removed: &step.removed });
    // More rows than a ply holds: the caller fills anew.
    if stack.push(plan, changes).is_err() {
        return;
    }
    let mut sides = [[0i16; HIDDEN]; 2];
    for (side, step) in sides.iter_mut().zip(steps) {
        plan.refresh(side, &step.after).unwrap();
    }
    let len = plan.model().workspace_len_bytes();
    let (mut workspace, mut scratch) = (AlignedBytes::zeroed(len), AlignedBytes::zeroed(len));
    for side in [0, 1] {
        let bucket = plan.model().input().bucket_count as usize - 1;
        let found = super::output(stack.evaluate(plan, side, bucket, workspace.as_mut()).unwrap());
        let input = Input::Accumulators(&sides[side], &sides[1 - side]);
        let traced = plan.run_traced(input, bucket, scratch.as_mut(), |_, _| ()).unwrap();
        assert!(found == super::output(traced), "a stack's evaluation, side {side}, behind {place}");
    }
}
