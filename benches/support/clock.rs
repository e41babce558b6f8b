//! Time of one thread, so that neighbours on a shared machine count less, and staying on one processor.

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use std::time::Duration;

/// Processor time of this thread; wall-clock time where the system does not say. Differences between two calls mean
/// something, a single value does not.
pub fn processor_time() -> Duration {
    #[cfg(unix)]
    {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
    }
    #[cfg(not(unix))]
    {
        static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
        START.get_or_init(std::time::Instant::now).elapsed()
    }
}

/// Keeps this thread on one processor. Whether the system does that.
pub fn pin(processor: usize) -> bool {
    #[cfg(target_os = "linux")]
    {
        let mut set = rustix::thread::CpuSet::new();
        if processor >= rustix::thread::CpuSet::MAX_CPU {
            return false;
        }
        set.set(processor);
        rustix::thread::sched_setaffinity(None, &set).is_ok()
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = processor;
        false
    }
}

/// [`processor_time`] for criterion.
#[derive(Debug, Clone, Copy, Default)]
pub struct ThreadTime;

/// Its formatter does not depend on what is measured, only on the unit.
static WALL: WallTime = WallTime;

impl Measurement for ThreadTime {
    type Intermediate = Duration;
    type Value = Duration;

    fn start(&self) -> Duration {
        processor_time()
    }

    fn end(&self, start: Duration) -> Duration {
        processor_time().saturating_sub(start)
    }

    fn add(&self, first: &Duration, second: &Duration) -> Duration {
        *first + *second
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        value.as_nanos() as f64
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        WALL.formatter()
    }
}
