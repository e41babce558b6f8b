//! Planning the workspace: a value lives from the operation that writes it to the last one that reads it, and two
//! values alive at once never share a byte, nor do two of which one is written by the operation behind the other's last
//! reader.

use tamis_runtime::raw::{ALIGNMENT, NONE, OpRecord, ValueRecord, element, op};

/// Gives every value but the input its place, the lowest that is free while it lives, and returns the workspace's
/// length: in the order in which they are written, or the largest first where that takes less. Operation `i` writes
/// value `i + 1`.
pub fn plan(values: &mut [ValueRecord], ops: &[OpRecord]) -> Option<u32> {
    let in_order: Vec<usize> = (1..values.len()).collect();
    let len = |value: &ValueRecord| Some(value.len as usize * element::len_bytes(value.element())?);
    let lens = values.iter().skip(1).map(len).collect::<Option<Vec<usize>>>()?;
    let mut by_size = in_order.clone();
    by_size.sort_by_key(|index| std::cmp::Reverse(lens[index - 1]));
    let mut other = values.to_vec();
    let (workspace, by_size) = (plan_in(&in_order, values, ops)?, plan_in(&by_size, &mut other, ops)?);
    if by_size < workspace {
        values.copy_from_slice(&other);
    }
    Some(workspace.min(by_size))
}

/// The same, giving values their places in a given order.
fn plan_in(order: &[usize], values: &mut [ValueRecord], ops: &[OpRecord]) -> Option<u32> {
    let mut placed: Vec<Life> = Vec::new();
    let mut workspace = 0;
    for index in order.iter().copied() {
        let last_read =
            ops.iter().rposition(|op| op.input as usize == index || (op.second != NONE && op.second as usize == index));
        // The network's output is read by the caller, after all operations. Any other value outlives its last reader by
        // one operation, so that a runtime may do that reader and the next operation in one, without the value between
        // them.
        // Operations on maps are never done with another.
        let life = last_read.map_or(ops.len(), |last| last + usize::from(ops[last].kind < op::CONVOLUTION));
        let value = values.get_mut(index)?;
        let len = (value.len as usize)
            .checked_mul(element::len_bytes(value.element())?)?
            .checked_next_multiple_of(ALIGNMENT)?;
        let writer = index - 1;
        let mut start = 0;
        loop {
            let blocking = placed
                .iter()
                .filter(|other| other.last_read >= writer && life >= other.writer)
                .filter(|other| other.start < start + len && start < other.end);
            match blocking.map(|other| other.end).max() {
                Some(end) => start = end,
                None => break,
            }
        }
        placed.push(Life { start, end: start + len, writer, last_read: life });
        value.offset_bytes = u32::try_from(start).ok()?;
        workspace = workspace.max(start + len);
    }
    u32::try_from(workspace).ok()
}

struct Life {
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
        let value =
            |len| ValueRecord { element: element::F32 as u16, zero: 0, len, offset_bytes: NONE, extent: [0; 2] };
        let op = |input, output, second| OpRecord { input, output, second, ..OpRecord::zeroed() };
        let mut values = [value(8), value(16), value(16), value(16), value(16)];
        let ops = [op(0, 1, NONE), op(1, 2, NONE), op(2, 3, NONE), op(3, 4, 1)];
        assert_eq!(plan(&mut values, &ops), Some(256));
        let offsets: Vec<u32> = values.iter().skip(1).map(|value| value.offset_bytes).collect();
        assert_eq!(offsets, [0, 64, 128, 192], "value 1 is read last by the last operation, value 2 by the one before");
    }
}
