//! How far a verification is: one unit is one example in one pass.

/// Counts work and tells whoever watches.
pub struct Progress<'a> {
    done: u64,
    total: u64,
    watch: &'a mut dyn FnMut(u64, u64),
}

/// Examples between two reports.
const SHARE: u64 = 256;

impl<'a> Progress<'a> {
    /// Starts at nothing of `total`.
    pub fn new(total: u64, watch: &'a mut dyn FnMut(u64, u64)) -> Self {
        Self { done: 0, total, watch }
    }

    /// One example more; reports now and then.
    pub fn advance(&mut self) {
        self.done += 1;
        if self.done.is_multiple_of(SHARE) {
            (self.watch)(self.done, self.total);
        }
    }
}
