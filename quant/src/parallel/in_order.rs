//! Work on all threads whose results are taken in their order while it goes on.
//!
//! Items are worked on in pieces, and what a piece makes waits until all before it is taken. The caller's thread takes
//! what is next; where that is not made yet it works like the others, so that no thread stands still but where too much
//! waits:
//!
//! ```text
//! others   work 0 | work 2      | work 3 | work 5
//! caller   work 1 | take 0 1 | work 4 | take 2 3 4
//! ```
//!
//! What was taken goes back to the thread that made it and is freed there: an allocator keeps memory by threads, and
//! one that frees what another made while that goes on allocating has to wait for it. For the same reason the queue is
//! as long as it can become before the first piece is begun, and lists of what was taken are exchanged, never made
//! anew.

use super::{threads, with_threads};
use std::num::NonZero;
use std::ops::Range;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Pieces that are made and not taken, at most: some for each of the processors of a usual machine.
const PIECES_AHEAD: usize = 16;

/// `work` of every item on all threads; `take` gets what it made in the order of the items, on the caller's thread.
/// About `ahead` items are made and not taken at most, so that no more memory is held. Sums that `take` adds up have
/// the bits of a plain loop.
///
/// ```
/// let mut taken = Vec::new();
/// let squares = |index: usize| if index < 100 { Ok(index * index) } else { Err(index) };
/// let done = tamis_quant::parallel::in_order(1000, 64, squares, |_, square| {
///     taken.push(*square);
///     Ok(())
/// });
/// assert_eq!((done, taken.len(), taken.last()), (Err(100), 100, Some(&9801)));
/// ```
///
/// # Errors
/// The first that `work` or `take` gives, in the order of the items; `take` gets none behind it.
pub fn in_order<T: Send, E: Send>(
    count: usize,
    ahead: usize,
    work: impl Fn(usize) -> Result<T, E> + Sync,
    take: impl FnMut(usize, &T) -> Result<(), E>,
) -> Result<(), E> {
    in_order_with(count, ahead, || (), |(), index| work(index), take)
}

/// [`in_order`] with memory of its own for each thread, which no result may depend on.
///
/// # Errors
/// As [`in_order`].
pub fn in_order_with<M, T: Send, E: Send>(
    count: usize,
    ahead: usize,
    memory: impl Fn() -> M + Sync,
    work: impl Fn(&mut M, usize) -> Result<T, E> + Sync,
    mut take: impl FnMut(usize, &T) -> Result<(), E>,
) -> Result<(), E> {
    let len = (ahead / PIECES_AHEAD).max(1);
    let (pieces, ahead) = (count.div_ceil(len), (ahead / len).max(1));
    let threads = threads();
    let workers = threads.min(pieces).min(ahead);
    if workers <= 1 {
        let mut memory = memory();
        return (0..count).try_for_each(|index| take(index, &work(&mut memory, index)?));
    }
    let queue = Queue::new(pieces, ahead, workers);
    let range = |piece: usize| piece * len..count.min((piece + 1) * len);
    let piece = |maker: usize, memory: &mut M, range: Range<usize>| {
        let (mut made, mut error) = (Vec::with_capacity(range.len()), None);
        for index in range {
            match work(memory, index) {
                Ok(item) => made.push(item),
                Err(found) => {
                    error = Some(found);
                    break;
                }
            }
        }
        Piece { maker, made, error }
    };
    // What a piece splits in turn has the processors that are left.
    let inner = NonZero::new((threads / workers).max(1));
    let other = &|maker: usize| {
        let _stop = StopAtPanic(&queue);
        with_threads(inner, || {
            let (mut memory, mut spent) = (memory(), queue.list());
            while let Some(next) = queue.begin(maker, &mut spent) {
                let made = piece(maker, &mut memory, range(next));
                queue.put(next, made);
            }
        });
    };
    thread::scope(|scope| {
        (1..workers).for_each(|maker| drop(scope.spawn(move || other(maker))));
        // However this ends, the others have to.
        let _stop = Stop(&queue);
        with_threads(inner, || {
            let mut memory = memory();
            while let Some(next) = queue.next() {
                match next {
                    Next::Work(next) => queue.put(next, piece(CALLER, &mut memory, range(next))),
                    Next::Take(next, mut taken) => {
                        for (index, item) in range(next).zip(&taken.made) {
                            take(index, item)?;
                        }
                        if let Some(error) = taken.error.take() {
                            return Err(error);
                        }
                        queue.give_back(taken);
                    }
                }
            }
            Ok(())
        })
    })
}

/// The caller's number among the threads.
const CALLER: usize = 0;

/// What a piece's items made, up to the first that failed.
struct Piece<T, E> {
    /// The number of the thread.
    maker: usize,
    made: Vec<T>,
    error: Option<E>,
}

/// What the caller's thread does next.
enum Next<T, E> {
    Take(usize, Piece<T, E>),
    Work(usize),
}

/// Which pieces are begun, made and taken.
struct Queue<T, E> {
    /// Pieces.
    count: usize,
    /// Pieces that may be begun and not taken.
    ahead: usize,
    state: Mutex<State<T, E>>,
    changed: Condvar,
}

struct State<T, E> {
    begun: usize,
    taken: usize,
    /// What is made and not taken, by the piece modulo `ahead`. (ahead,)
    made: Vec<Option<Piece<T, E>>>,
    /// By its maker, what was taken and is not freed; at most what is ahead and the piece that it works on.
    spent: Vec<Vec<Piece<T, E>>>,
    is_stopped: bool,
}

impl<T, E> Queue<T, E> {
    fn new(count: usize, ahead: usize, makers: usize) -> Self {
        let made = (0..ahead).map(|_| None).collect();
        let state = State { begun: 0, taken: 0, made, spent: Vec::new(), is_stopped: false };
        let queue = Self { count, ahead, state: Mutex::new(state), changed: Condvar::new() };
        queue.state().spent = (0..makers).map(|_| queue.list()).collect();
        queue
    }

    /// Room for as many pieces as wait to be freed at most.
    fn list(&self) -> Vec<Piece<T, E>> {
        Vec::with_capacity(self.ahead + 1)
    }

    fn state(&self) -> MutexGuard<'_, State<T, E>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'q>(&'q self, state: MutexGuard<'q, State<T, E>>) -> MutexGuard<'q, State<T, E>> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// The next piece that nobody has begun, as soon as there is room for it. Frees what the maker made and was taken.
    /// spent: an empty list, and afterwards again.
    fn begin(&self, maker: usize, spent: &mut Vec<Piece<T, E>>) -> Option<usize> {
        std::mem::swap(&mut self.state().spent[maker], spent);
        spent.clear();
        let mut state = self.state();
        while !state.is_stopped && state.begun < self.count {
            if let Some(piece) = self.begin_in(&mut state) {
                return Some(piece);
            }
            state = self.wait(state);
        }
        None
    }

    fn begin_in(&self, state: &mut State<T, E>) -> Option<usize> {
        let has_room = state.begun < self.count.min(state.taken + self.ahead);
        has_room.then(|| {
            state.begun += 1;
            state.begun - 1
        })
    }

    fn put(&self, piece: usize, made: Piece<T, E>) {
        self.state().made[piece % self.ahead] = Some(made);
        self.changed.notify_all();
    }

    /// A piece that was taken, which its maker frees.
    fn give_back(&self, piece: Piece<T, E>) {
        if piece.maker != CALLER {
            self.state().spent[piece.maker].push(piece);
        }
    }

    /// What the caller's thread does next; nothing if all is taken, or if another thread panicked.
    fn next(&self) -> Option<Next<T, E>> {
        let mut state = self.state();
        while !state.is_stopped && state.taken < self.count {
            let next = state.taken;
            if let Some(piece) = state.made[next % self.ahead].take() {
                state.taken += 1;
                // Who is woken wants the state.
                drop(state);
                self.changed.notify_all();
                return Some(Next::Take(next, piece));
            }
            if let Some(piece) = self.begin_in(&mut state) {
                return Some(Next::Work(piece));
            }
            state = self.wait(state);
        }
        None
    }

    fn stop(&self) {
        self.state().is_stopped = true;
        self.changed.notify_all();
    }
}

/// Lets no thread begin another piece, nor wait for one.
struct Stop<'q, T, E>(&'q Queue<T, E>);

impl<T, E> Drop for Stop<'_, T, E> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// The same where the thread panics: its piece is never made, and the scope of all threads panics in turn.
struct StopAtPanic<'q, T, E>(&'q Queue<T, E>);

impl<T, E> Drop for StopAtPanic<'_, T, E> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// What is taken of `count` items with so many threads, of which `fails` fail, and how it ends.
    fn taken(count: usize, ahead: usize, threads: usize, fails: impl Fn(usize) -> bool + Sync) -> (Vec<usize>, usize) {
        let mut taken = Vec::new();
        let work = |memory: &mut usize, index: usize| {
            *memory += 1;
            // Items that take longer than others make pieces come out of their order.
            let rounds = if index.is_multiple_of(7) { 20_000 } else { 10 };
            std::hint::black_box((0..rounds).fold(*memory, |sum, round| sum.wrapping_mul(31) ^ round));
            if fails(index) { Err(index) } else { Ok(index) }
        };
        let done = with_threads(NonZero::new(threads), || {
            in_order_with(
                count,
                ahead,
                || 0,
                work,
                |index, item| {
                    assert_eq!(index, *item);
                    taken.push(index);
                    Ok(())
                },
            )
        });
        (taken, done.err().unwrap_or(count))
    }

    #[test]
    fn items_are_taken_once_and_in_order() {
        // Nothing, one, a piece more or less than fit, and as many as threads can meet in.
        for (count, ahead) in [(0, 8), (1, 8), (7, 1), (63, 64), (65, 64), (100, 1), (100, 3), (1000, 256)] {
            for threads in [1, 2, 3, 9] {
                let wanted = (0..count).collect::<Vec<_>>();
                assert_eq!(taken(count, ahead, threads, |_| false), (wanted, count), "{count} {ahead} {threads}");
            }
        }
    }

    #[test]
    fn the_first_error_ends_it() {
        for threads in [1, 2, 9] {
            for first in [0, 1, 99, 500, 999] {
                let wanted = (0..first).collect::<Vec<_>>();
                let fails = |index: usize| index >= first && index % 2 == first % 2;
                assert_eq!(taken(1000, 64, threads, fails), (wanted, first), "{first} {threads}");
            }
        }
        let refused = with_threads(NonZero::new(3), || {
            in_order(1000, 64, Ok, |index, _: &usize| if index == 300 { Err(index) } else { Ok(()) })
        });
        assert_eq!(refused, Err(300));
    }

    #[test]
    fn a_panic_on_any_thread_ends_it() {
        for threads in [2, 5] {
            let all = AssertUnwindSafe(|| taken(1000, 64, threads, |index| index == 700 && panic!("as told")));
            assert!(catch_unwind(all).is_err());
            let take = AssertUnwindSafe(|| {
                let refuse = |index: usize, _: &usize| if index == 700 { panic!("as told") } else { Ok::<_, ()>(()) };
                with_threads(NonZero::new(threads), || in_order(1000, 64, Ok, refuse))
            });
            assert!(catch_unwind(take).is_err());
        }
    }
}
