//! How long a search may last: what `go` allows, as deadlines.

use std::time::{Duration, Instant};

/// What `go` says.
#[derive(Debug, Clone, Default)]
pub struct Limits {
    pub depth: Option<usize>,
    pub nodes: Option<u64>,
    pub move_time: Option<Duration>,
    pub clock: Option<Clock>,
    /// Goes on until it is stopped, even where nothing is left to search.
    pub is_infinite: bool,
}

/// The side to move's clock.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    pub remaining: Duration,
    pub increment: Duration,
    /// Moves to the next time control; `None` for the rest of the game.
    pub moves_to_go: Option<u32>,
}

/// Moves that a game still lasts, where nobody says.
const MOVES_LEFT: u32 = 30;
/// An iteration that has begun may take so many times what was planned for the move.
const STRETCH: u32 = 4;

/// When a search ends.
#[derive(Debug, Clone, Copy)]
pub struct Deadlines {
    pub start: Instant,
    /// No new iteration begins after this.
    pub soft: Option<Instant>,
    /// The search is left wherever it is.
    pub hard: Option<Instant>,
}

impl Deadlines {
    /// overhead: what the way between two programs may take of each move.
    pub fn new(start: Instant, limits: &Limits, overhead: Duration) -> Self {
        let mut deadlines = Self { start, soft: None, hard: None };
        if let Some(clock) = limits.clock {
            // Never more than half of what is left, so that a late answer of the system costs a move and not the game.
            let most = clock.remaining.saturating_sub(overhead) / 2;
            let moves = clock.moves_to_go.unwrap_or(MOVES_LEFT).clamp(1, MOVES_LEFT);
            let planned = (clock.remaining / moves + clock.increment * 3 / 4).saturating_sub(overhead).min(most);
            deadlines.soft = start.checked_add(planned / 2);
            deadlines.hard = start.checked_add((planned * STRETCH).min(most));
        }
        if let Some(time) = limits.move_time {
            let end = start.checked_add(time.saturating_sub(overhead));
            deadlines.hard = deadlines.hard.map_or(end, |hard| end.map(|end| hard.min(end)));
        }
        deadlines
    }
}
