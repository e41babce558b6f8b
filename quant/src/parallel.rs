//! Independent pieces of work on all processors; what comes out does not depend on how many there are.
//!
//! A caller says with [`with_threads`] how many threads work at most. Pieces are cut by their number alone, never by
//! the number of threads, and what they make is put together in their order, so that every bit is the same for any.

mod in_order;

pub use in_order::{in_order, in_order_with};

use std::cell::Cell;
use std::num::NonZero;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

thread_local! {
    /// The most threads that work started here may use; all processors where nobody said.
    static LIMIT: Cell<Option<NonZero<usize>>> = const { Cell::new(None) };
}

/// What `work` gives, with at most `count` threads for all that it does; without a number, one a processor.
///
/// ```
/// use std::num::NonZero;
/// use tamis_quant::parallel::{map, with_threads};
///
/// let squares = |threads: usize| with_threads(NonZero::new(threads), || map(100, |index| index * index));
/// assert_eq!(squares(1), squares(3));
/// ```
pub fn with_threads<T>(count: Option<NonZero<usize>>, work: impl FnOnce() -> T) -> T {
    /// Puts back what was said before, also where `work` panics.
    struct Before(Option<NonZero<usize>>);
    impl Drop for Before {
        fn drop(&mut self) {
            LIMIT.set(self.0);
        }
    }
    let _before = Before(LIMIT.replace(count));
    work()
}

/// How many threads [`map`] uses at most.
pub fn threads() -> usize {
    LIMIT.get().or_else(|| thread::available_parallelism().ok()).map_or(1, NonZero::get)
}

/// `work(0)`, …, `work(count − 1)`, in this order.
pub fn map<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    map_with(count, || (), |(), index| work(index))
}

/// [`map`] with memory of its own for each thread, which no result may depend on.
pub fn map_with<M, T: Send>(
    count: usize,
    memory: impl Fn() -> M + Sync,
    work: impl Fn(&mut M, usize) -> T + Sync,
) -> Vec<T> {
    let threads = threads();
    let workers = threads.min(count);
    if workers <= 1 {
        let mut memory = memory();
        return (0..count).map(|index| work(&mut memory, index)).collect();
    }
    // What a piece splits in turn has the processors that are left.
    let inner = NonZero::new((threads / workers).max(1));
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(count));
    let run = || {
        with_threads(inner, || {
            let mut memory = memory();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= count {
                    break;
                }
                let made = work(&mut memory, index);
                done.lock().unwrap_or_else(PoisonError::into_inner).push((index, made));
            }
        });
    };
    thread::scope(|scope| {
        (1..workers).for_each(|_| drop(scope.spawn(run)));
        run();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, made)| made).collect()
}

/// `work` of every piece of `out`, `len` elements each and the last perhaps fewer, with the number of the piece: what
/// it makes is written where it stays. Memory of its own for each thread, as in [`map_with`].
///
/// # Errors
/// What `work` gives for the first piece that it fails for; `out` is then unspecified.
pub fn fill_with<M, T: Send, E: Send>(
    out: &mut [T],
    len: usize,
    memory: impl Fn() -> M + Sync,
    work: impl Fn(&mut M, usize, &mut [T]) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let len = len.max(1);
    let count = out.len().div_ceil(len);
    let pieces = Mutex::new(out.chunks_mut(len).enumerate());
    let made = map_with(count, memory, |memory, _| {
        let next = pieces.lock().unwrap_or_else(PoisonError::into_inner).next();
        let (index, piece) = next.unwrap_or_else(|| unreachable!("as many pieces as calls"));
        work(memory, index, piece).map_err(|error| (index, error))
    });
    let first = made.into_iter().filter_map(Result::err).min_by_key(|(index, _)| *index);
    first.map_or(Ok(()), |(_, error)| Err(error))
}

/// What `work` makes of `0..count`, cut into ranges of `len` and the last perhaps shorter, one after the other.
///
/// # Errors
/// What `work` gives for the first range that it fails for.
pub fn gather<T: Send, E: Send>(
    count: usize,
    len: usize,
    work: impl Fn(Range<usize>) -> Result<Vec<T>, E> + Sync,
) -> Result<Vec<T>, E> {
    let len = len.max(1);
    let pieces = map(count.div_ceil(len), |piece| work(piece * len..count.min((piece + 1) * len)));
    let mut all = Vec::with_capacity(count);
    pieces.into_iter().try_for_each(|piece| {
        all.extend(piece?);
        Ok(())
    })?;
    Ok(all)
}

#[cfg(test)]
mod tests {
    #[test]
    fn pieces_come_in_order() {
        assert_eq!(super::map(100, |index| index * index), (0..100).map(|index| index * index).collect::<Vec<_>>());
        assert!(super::map(0, |index| index).is_empty());
    }

    #[test]
    fn pieces_lie_in_their_place() {
        let mut out = [0; 103];
        let fill = |_: &mut (), index: usize, piece: &mut [usize]| {
            piece.iter_mut().enumerate().for_each(|(place, out)| *out = 10 * index + place);
            Ok::<(), usize>(())
        };
        assert_eq!(super::fill_with(&mut out, 10, || (), fill), Ok(()));
        assert!(out.iter().enumerate().all(|(index, out)| index == *out));
        let refuse = |_: &mut (), index: usize, _: &mut [usize]| if index % 4 == 3 { Err(index) } else { Ok(()) };
        assert_eq!(super::fill_with(&mut out, 10, || (), refuse), Err(3));
    }

    #[test]
    fn ranges_are_gathered_in_order() {
        let doubled = |range: std::ops::Range<usize>| Ok::<_, ()>(range.map(|index| 2 * index).collect());
        assert_eq!(super::gather(103, 10, doubled).unwrap(), (0..103).map(|index| 2 * index).collect::<Vec<_>>());
        let refuse = |range: std::ops::Range<usize>| if range.end > 40 { Err(range.start) } else { Ok(vec![0]) };
        assert_eq!(super::gather(103, 10, refuse), Err(40));
    }

    #[test]
    fn no_more_threads_work_than_were_allowed() {
        for allowed in [1, 2, 3] {
            let allowed = std::num::NonZero::new(allowed);
            let seen = super::with_threads(allowed, || {
                super::map(64, |_| {
                    let inner = super::map(4, |_| std::thread::current().id());
                    (std::thread::current().id(), inner.into_iter().collect::<std::collections::HashSet<_>>().len())
                })
            });
            let outer: std::collections::HashSet<_> = seen.iter().map(|(id, _)| *id).collect();
            assert!(outer.len() <= allowed.unwrap().get(), "{outer:?}");
            assert!(seen.iter().all(|(_, inner)| *inner == 1 || outer.len() == 1));
        }
        assert!(super::LIMIT.get().is_none(), "what was said stays behind");
    }
}
