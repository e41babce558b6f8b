//! Dropping what nobody reads.

use super::Program;

/// Leaves the last node and what it needs, in order.
pub(super) fn unread(graph: &mut Program) {
    let count = graph.nodes.len();
    let mut needed = vec![false; count + 1];
    if let Some(last) = needed.last_mut() {
        *last = true;
    }
    for (index, node) in graph.nodes.iter().enumerate().rev() {
        if needed.get(index + 1).copied().unwrap_or(false) {
            for read in &node.reads {
                if let Some(needed) = needed.get_mut(read.value) {
                    *needed = true;
                }
            }
        }
    }
    // The input keeps its number.
    let mut places = vec![0; count + 1];
    let mut next = 1;
    for (place, needed) in places.iter_mut().zip(&needed).skip(1) {
        *place = next;
        next += usize::from(*needed);
    }
    let mut keep = needed.iter().skip(1);
    graph.nodes.retain(|_| keep.next().copied().unwrap_or(false));
    for read in graph.nodes.iter_mut().flat_map(|node| &mut node.reads) {
        read.value = places[read.value];
    }
}
