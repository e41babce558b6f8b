//! How much memory a reader takes: an allocator that counts, and the budgets that it is held to.

use flate2::read::MultiGzDecoder;
use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Read;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static LIVE_BYTES: AtomicUsize = AtomicUsize::new(0);
static PEAK_BYTES: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, counted. A program makes it its own by `#[global_allocator]`.
#[derive(Debug)]
pub struct Counter;

// SAFETY: every call goes to the system's allocator unchanged; counting touches no memory of the caller's.
unsafe impl GlobalAlloc for Counter {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE_BYTES.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK_BYTES.fetch_max(live, Relaxed);
        // SAFETY: the caller keeps `alloc`'s contract, which is the system's too.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let live = LIVE_BYTES.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK_BYTES.fetch_max(live, Relaxed);
        // SAFETY: as in `alloc`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE_BYTES.fetch_sub(layout.size(), Relaxed);
        // SAFETY: `pointer` came from `alloc` above, so from the system, with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// What a call took at most beyond what was there before it. Of threads beside it nothing is known: it has none.
pub fn peak<T>(call: impl FnOnce() -> T) -> (T, usize) {
    let before = LIVE_BYTES.load(Relaxed);
    PEAK_BYTES.store(before, Relaxed);
    let result = call();
    (result, PEAK_BYTES.load(Relaxed).saturating_sub(before))
}

/// The most memory that a reader may take for an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Whatever the input.
    pub fixed_bytes: usize,
    /// For each byte of it.
    pub per_byte: usize,
}

/// Bytes that a byte of deflate unpacks to at most.
const DEFLATE_RATIO: usize = 1032;

/// What unpacking takes whatever it unpacks: buffers, a window and tables. Any reader of what may be packed tells it by
/// its first bytes, so that any input that begins so is allowed it.
const UNPACKER_BYTES: usize = 128 << 10;

impl Budget {
    /// Of an input: for what it unpacks to, where it is packed.
    #[must_use]
    pub fn of(self, input: &[u8]) -> usize {
        let (unpacker, len) = match input {
            [0x1F, 0x8B, ..] => (UNPACKER_BYTES, input.len() + unpacked_len(input)),
            // An archive may hold deflate anywhere.
            [b'P', b'K', ..] => (UNPACKER_BYTES, input.len() * DEFLATE_RATIO),
            _ => (0, input.len()),
        };
        self.fixed_bytes + unpacker + self.per_byte * len
    }
}

/// What a gzip unpacks to, as far as it can be.
fn unpacked_len(input: &[u8]) -> usize {
    let (mut decoder, mut total) = (MultiGzDecoder::new(input), 0);
    let mut chunk = [0; 4096];
    while let Ok(count @ 1..) = decoder.read(&mut chunk) {
        total += count;
    }
    total
}
