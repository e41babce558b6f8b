//! How long this thread has worked: the processor's time, to which a neighbour on a busy machine adds nothing.

use std::time::{Duration, Instant};

/// What a thread has worked so far; of a system that does not say it, the time that has passed counts.
const OF_THIS_THREAD: &str = "/proc/thread-self/schedstat";

/// From when on it is counted.
#[derive(Debug)]
pub struct Worked {
    before: Option<Duration>,
    clock: Instant,
}

impl Worked {
    /// From now on, in this thread.
    #[must_use]
    pub fn from_now() -> Self {
        Self { before: so_far(), clock: Instant::now() }
    }

    /// Since then.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        match (self.before, so_far()) {
            (Some(before), Some(now)) => now.saturating_sub(before),
            _ => self.clock.elapsed(),
        }
    }
}

/// The first number there, in nanoseconds.
fn so_far() -> Option<Duration> {
    let text = std::fs::read_to_string(OF_THIS_THREAD).ok()?;
    text.split_ascii_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}
