//! Planning the workspace: a value lives from the operation that writes it to the last one that reads it, and two
//! values alive at once never share a byte, nor do two of which one is written by the operation behind the other's last
//! reader. A rounding from i32 to i32 writes where it reads, if the file is for a runtime that takes it.
//!
//! Where memory is short ([`plan_within`]) an operation may write over what it reads, row by row, and a stretch of
//! operations may hand on a few rows at a time. Nothing is computed twice for it; it takes time in which rows are begun
//! and moved, so it is done no more than the budget asks for.

mod budget;
mod scheme;

pub use budget::{Least, plan_within};
use scheme::Scheme;
use tamis_runtime::raw::{ALIGNMENT, NONE, OpRecord, ValueRecord, element, op};

/// Gives every value but the input its place, the lowest that is free while it lives, and returns the workspace's
/// length: in the order in which they are written, or the largest first where that takes less. Operation `i` writes
/// value `i + 1`.
pub fn plan(values: &mut [ValueRecord], ops: &[OpRecord]) -> Option<u32> {
    plan_by(&Scheme::whole(values.len()), values, ops)
}

/// The same where some values lie in the workspace a few rows at a time, or over what they are made of.
fn plan_by(scheme: &Scheme, values: &mut [ValueRecord], ops: &[OpRecord]) -> Option<u32> {
    let in_order: Vec<usize> = (1..values.len()).collect();
    let lens = (0..values.len()).map(|index| scheme.len_bytes(values, index)).collect::<Option<Vec<usize>>>()?;
    let mut by_size = in_order.clone();
    by_size.sort_by_key(|index| std::cmp::Reverse(lens[*index]));
    let mut other = values.to_vec();
    let (workspace, by_size) = (plan_in(&in_order, scheme, values, ops)?, plan_in(&by_size, scheme, &mut other, ops)?);
    if by_size < workspace {
        values.copy_from_slice(&other);
    }
    Some(workspace.min(by_size))
}

/// The same, giving values their places in a given order, in which a value that is rounded where it lies comes before
/// what it becomes.
fn plan_in(order: &[usize], scheme: &Scheme, values: &mut [ValueRecord], ops: &[OpRecord]) -> Option<u32> {
    let mut placed: Vec<Life> = Vec::new();
    let mut workspace = 0;
    for index in order.iter().copied() {
        let writer = index - 1;
        if is_in_place(values, ops, writer) {
            values[index].place = values[ops[writer].input as usize].place;
            continue;
        }
        // All operations of a stretch run at the same time.
        let (writer, last_read) = (scheme.stretch(writer).start, scheme.end_of(last_read(values, ops, index)));
        let len = scheme.len_bytes(values, index)?.checked_next_multiple_of(ALIGNMENT)?;
        let alive = placed.iter().filter(|other| other.last_read >= writer && last_read >= other.writer);
        // Open ranges of starts that are taken.
        let taken: Vec<(isize, isize)> = alive.map(|other| scheme.taken(values, ops, other, (index, len))).collect();
        let mut start = 0;
        while let Some(end) = taken.iter().filter(|(from, to)| *from < start && start < *to).map(|taken| taken.1).max()
        {
            start = end;
        }
        let start = usize::try_from(start).ok()?;
        placed.push(Life { index, start, end: start + len, writer, last_read });
        values[index].place = u32::try_from(start).ok()? + scheme.rows_held(index);
        workspace = workspace.max(start + len);
    }
    u32::try_from(workspace).ok()
}

/// The last operation during which a value's place must be left alone.
fn last_read(values: &[ValueRecord], ops: &[OpRecord], value: usize) -> usize {
    // The network's output is read by the caller, after all operations.
    let Some(last) = ops.iter().rposition(|op| reads(op, value)) else { return ops.len() };
    if is_in_place(values, ops, last) {
        // The value that it becomes is written by operation `last`, and so is the one behind it in number.
        return last_read(values, ops, last + 1);
    }
    // It outlives its last reader by one operation, so that a runtime may do that reader and the next operation in one,
    // without the value between them. Roundings and operations on maps are never done with what comes behind them.
    let kind = ops[last].kind;
    last + usize::from(kind < op::CONVOLUTION && kind != op::REQUANTISE)
}

fn reads(op: &OpRecord, value: usize) -> bool {
    op.input as usize == value || (op.second != NONE && op.second as usize == value)
}

/// Whether an operation rounds i32 to i32 where they lie: nothing else reads the sums, and the file has another
/// rounding that only a build with the feature `general` takes, as this one.
fn is_in_place(values: &[ValueRecord], ops: &[OpRecord], index: usize) -> bool {
    let record = &ops[index];
    let [Some(from), Some(to)] = [record.input, record.output].map(|value| values.get(value as usize)) else {
        return false;
    };
    let is_general = |op: &OpRecord| {
        let to = values.get(op.output as usize).map(ValueRecord::element);
        op.kind == op::REQUANTISE && (op.params[2] != 0 || to == Some(element::I16))
    };
    record.kind == op::REQUANTISE
        && record.input != 0
        && [from.element(), to.element()] == [element::I32; 2]
        && from.len == to.len
        && ops.iter().filter(|op| reads(op, record.input as usize)).count() == 1
        && ops.iter().any(is_general)
}

struct Life {
    index: usize,
    start: usize,
    end: usize,
    writer: usize,
    last_read: usize,
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytemuck::Zeroable;

    #[test]
    fn a_skip_keeps_its_place_and_a_value_outlives_its_reader_by_one() {
        let value = |len| ValueRecord { element: element::F32 as u16, zero: 0, len, place: NONE, extent: [0; 2] };
        let op = |input, output, second| OpRecord { input, output, second, ..OpRecord::zeroed() };
        let mut values = [value(8), value(16), value(16), value(16), value(16)];
        let ops = [op(0, 1, NONE), op(1, 2, NONE), op(2, 3, NONE), op(3, 4, 1)];
        assert_eq!(plan(&mut values, &ops), Some(256));
        let offsets: Vec<u32> = values.iter().skip(1).map(|value| value.offset_bytes()).collect();
        assert_eq!(offsets, [0, 64, 128, 192], "value 1 is read last by the last operation, value 2 by the one before");
    }

    /// 8 inputs, 16 sums rounded to bytes with a zero point, 640 sums rounded to i32.
    #[test]
    fn sums_are_rounded_where_they_lie() {
        let value =
            |element: u32, len| ValueRecord { element: element as u16, zero: 0, len, place: NONE, extent: [0; 2] };
        let op = |kind, input, output| OpRecord { kind, input, output, second: NONE, ..OpRecord::zeroed() };
        let mut values = [
            value(element::I8, 8),
            value(element::I32, 16),
            value(element::I8, 16),
            value(element::I32, 640),
            value(element::I32, 640),
        ];
        let mut ops =
            [op(op::AFFINE_I8, 0, 1), op(op::REQUANTISE, 1, 2), op(op::AFFINE_I8, 2, 3), op(op::REQUANTISE, 3, 4)];
        assert_eq!(plan(&mut values, &ops), Some(2 * 2560 + 64), "for small builds");
        ops[1].params[2] = -128i32 as u32;
        assert_eq!(plan(&mut values, &ops), Some(2560 + 64));
        assert_eq!(values[3].place, values[4].place);
        assert!(values[2].place != values[4].place);
        // Read by another too, they must stay.
        ops[3].second = 3;
        let joined = [ops[0], ops[1], ops[2], ops[3], OpRecord { second: 3, ..op(op::ADD_I32, 4, 5) }];
        let mut values = [values.as_slice(), &[value(element::I32, 640)]].concat();
        plan(&mut values, &joined).unwrap();
        assert!(values[3].place != values[4].place);
    }
}
