//! What tells one loaded model from another.

use bytemuck::{Pod, Zeroable};

/// A model as it was loaded: the checksum of its file, and which load of this program it was.
///
/// Two are equal only if both come from one [`super::Model::parse`], whose copies they then are. The checksum alone
/// would not do: whoever writes a file can choose its checksum, and a later file may lie in memory where an earlier one
/// lay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Zeroable, Pod)]
#[repr(C)]
pub struct Identity {
    checksum: u64,
    load: u64,
}

impl Identity {
    /// No model's.
    pub(crate) const NONE: Self = Self { checksum: 0, load: 0 };

    pub(super) const fn new(checksum: u64, load: Load) -> Self {
        Self { checksum, load: load.number() }
    }

    /// Whether two are equal, by the number of the load alone where no program comes to the end of those numbers.
    #[cfg(short_ways)]
    #[inline(always)]
    pub(crate) fn is_of_load(self, other: Self) -> bool {
        if usize::BITS >= u64::BITS { self.load == other.load } else { self == other }
    }

    /// The checksum of the file; see FORMAT.md, section 3.
    #[must_use]
    pub const fn checksum(self) -> u64 {
        self.checksum
    }

    /// The number of the load, from 1: it grows with every file that this program loads. 0 in a build without
    /// accumulators, which has no state that a model could be exchanged under.
    #[must_use]
    pub const fn load(self) -> u64 {
        self.load
    }
}

/// The number of a load. It takes no memory in a build without accumulators.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    #[cfg(feature = "accumulators")]
    number: usize,
}

#[cfg(feature = "accumulators")]
impl Load {
    /// The next one. Numbers come again after 2^32 loads on a machine of 32 bits.
    pub fn next() -> Self {
        use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        #[cfg(target_has_atomic = "ptr")]
        let before = COUNT.fetch_add(1, Relaxed);
        // Such a processor has one core: only a load within an interrupt between these two could take the same number,
        // and its file would need the same checksum, too.
        #[cfg(not(target_has_atomic = "ptr"))]
        let before = {
            let before = COUNT.load(Relaxed);
            COUNT.store(before.wrapping_add(1), Relaxed);
            before
        };
        Self { number: before.wrapping_add(1) }
    }

    const fn number(self) -> u64 {
        self.number as u64
    }
}

#[cfg(not(feature = "accumulators"))]
impl Load {
    pub const fn next() -> Self {
        Self {}
    }

    const fn number(self) -> u64 {
        0
    }
}
