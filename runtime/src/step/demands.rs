//! What a network of accumulators asks of its caller, for the ways that check it all at once.

use crate::format::{Model, perspective_order};

/// Lengths, buckets and the order of perspectives, taken from a model once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Demands {
    /// Width of an accumulator.
    pub hidden: usize,
    pub order: Order,
    buckets: usize,
    /// Bytes.
    workspace_len: usize,
}

/// Which accumulators a network reads, and in which order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// One's own, and no other.
    Own,
    OwnFirst,
    OtherFirst,
}

impl Demands {
    pub fn of(model: &Model<'_>) -> Self {
        let input = model.input();
        let order = match input.order {
            _ if input.perspectives != 2 => Order::Own,
            perspective_order::OTHER_FIRST => Order::OtherFirst,
            _ => Order::OwnFirst,
        };
        Self {
            hidden: input.hidden as usize,
            order,
            buckets: input.bucket_count as usize,
            workspace_len: model.workspace_len_bytes(),
        }
    }

    /// Whether all that a caller hands in fits.
    #[inline(always)]
    pub fn are_met(&self, own: &[i16], other: &[i16], bucket: usize, workspace: &[u8]) -> bool {
        own.len() == self.hidden
            && (other.len() == self.hidden || self.order == Order::Own)
            && self.are_met_behind(bucket, workspace)
    }

    /// The same but for the accumulators.
    #[inline(always)]
    pub fn are_met_behind(&self, bucket: usize, workspace: &[u8]) -> bool {
        bucket < self.buckets && workspace.len() >= self.workspace_len && workspace.as_ptr().addr().is_multiple_of(64)
    }
}
