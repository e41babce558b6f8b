//! The plan within a budget: of those that fit it the one that begins rows the fewest times.

use super::scheme::{Scheme, can_be_handed_on};
use super::{plan, plan_by};
use std::ops::Range;
use tamis_runtime::raw::{OpRecord, Overlap, RowWindow, ValueRecord};

/// Rows that are written at once, the most first.
const BATCHES: [u32; 9] = [32, 24, 16, 12, 8, 4, 3, 2, 1];
/// What it takes to begin a band of rows, in elements that are read.
const BAND: u64 = 256;
/// Rounds in which one more stretch hands rows on.
const ROUNDS: usize = 4;

/// The least workspace that was found, where none is within the budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Least {
    /// Its bytes.
    pub len_bytes: u32,
}

/// Gives every value but the input its place, in a workspace of at most `budget` bytes. `None` where even one value is
/// longer than a file can say.
pub fn plan_within(values: &mut [ValueRecord], ops: &[OpRecord], budget: u32) -> Option<Result<u32, Least>> {
    let whole = plan(values, ops)?;
    if whole <= budget {
        return Some(Ok(whole));
    }
    let mut best = Found { cost: 0, workspace: whole, values: values.to_vec() };
    let mut handed_on: Vec<Range<usize>> = Vec::new();
    for _ in 0..ROUNDS {
        let mut chosen = None;
        for more in stretches(values, ops) {
            let is_in = |index: usize| more.contains(&index) || handed_on.iter().any(|range| range.contains(&index));
            for batch in BATCHES {
                let found = Found::by(&Scheme::by_rows(values, ops, is_in, batch), values, ops)?;
                if found.is_better(&best, budget) {
                    (best, chosen) = (found, Some(more.clone()));
                }
            }
        }
        match chosen {
            Some(more) if best.workspace > budget => handed_on.push(more),
            _ => break,
        }
    }
    if best.workspace > budget {
        return Some(Err(Least { len_bytes: best.workspace }));
    }
    values.copy_from_slice(&best.values);
    Some(Ok(best.workspace))
}

/// Runs of values that can be handed on, the empty one among them.
fn stretches(values: &[ValueRecord], ops: &[OpRecord]) -> Vec<Range<usize>> {
    let can: Vec<bool> =
        (0..values.len()).map(|index| index > 0 && can_be_handed_on(values, ops, index).is_some()).collect();
    let mut all = Vec::from([Range::default()]);
    for start in 1..values.len() {
        let end = (start..values.len()).find(|index| !can[*index]).unwrap_or(values.len());
        all.extend((start + 1..=end).map(|end| start..end));
    }
    all
}

/// A plan.
struct Found {
    /// What beginning bands takes.
    cost: u64,
    workspace: u32,
    values: Vec<ValueRecord>,
}

impl Found {
    fn by(scheme: &Scheme, values: &[ValueRecord], ops: &[OpRecord]) -> Option<Self> {
        let mut values = values.to_vec();
        let workspace = plan_by(scheme, &mut values, ops)?;
        let cost = ops.iter().map(|record| cost(&values, record)).sum();
        Some(Self { cost, workspace, values })
    }

    /// What fits comes first, of that what takes less time; of what does not fit what is smaller.
    fn is_better(&self, other: &Self, budget: u32) -> bool {
        match [self.workspace <= budget, other.workspace <= budget] {
            [true, true] => (self.cost, self.workspace) < (other.cost, other.workspace),
            [false, false] => (self.workspace, self.cost) < (other.workspace, other.cost),
            [fits, _] => fits,
        }
    }
}

/// What beginning the bands of an operation takes: a kernel lays the rows of its window anew for each.
fn cost(values: &[ValueRecord], record: &OpRecord) -> u64 {
    let [input, output] = [record.input, record.output].map(|value| &values[value as usize]);
    let Some(window) = RowWindow::of(record, input, output) else { return 0 };
    let rows = output.pixels()[0];
    let bands = if input.rows_held() > 0 || output.rows_held() > 0 {
        let taken = if input.rows_held() > 0 { (input.rows_held() - window.reach) / window.stride + 1 } else { rows };
        let written = if output.rows_held() > 0 { output.rows_held() } else { rows };
        rows.div_ceil(taken.min(written))
    } else {
        let overlaps = Overlap::all(record, |index| &values[index as usize]);
        let is_down = overlaps.iter().flatten().all(Overlap::goes_down);
        bands(overlaps.iter().flatten(), is_down, rows)
    };
    let row = u64::from(input.len / input.pixels()[0]);
    u64::from(bands - 1) * (u64::from(window.reach) * row + BAND)
}

/// Bands of rows where an operation writes over what it reads.
fn bands<'o>(overlaps: impl Iterator<Item = &'o Overlap> + Clone, is_down: bool, rows: u32) -> u32 {
    let (mut done, mut count) = (0, 0);
    while done < rows {
        let free = |overlap: &Overlap| if is_down { overlap.downward(done) } else { overlap.upward(rows - done) };
        done += overlaps.clone().map(free).fold(rows - done, u32::min).max(1);
        count += 1;
    }
    count
}
