//! Deeper and deeper from the position on the board, until time is up.

use crate::MAX_PLY;
use crate::evaluation::network_state::{Any, Fixed, NetworkState};
use crate::evaluation::scalar::Scalar;
use crate::evaluation::tamis::{Checked, Copied, Goto, Popped, Tamis};
use crate::evaluation::{Evaluator, Fault, Kind};
use crate::game::Game;
use crate::network::Network;
use crate::order::Memory;
use crate::score::{self, INFINITE, MATE_BOUND};
use crate::search::{Halt, Search};
use crate::table::Table;
use crate::time::{Deadlines, Limits};
use cozy_chess::{Board, Move};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Everything that a search is told.
pub struct Task {
    pub game: Game,
    pub limits: Limits,
    pub deadlines: Deadlines,
    pub net: Network,
    pub evaluator: Kind,
}

/// What an iteration found.
pub struct Iteration<'a> {
    pub depth: usize,
    pub deepest: usize,
    pub score: i32,
    pub nodes: u64,
    pub elapsed: Duration,
    pub permille: usize,
    pub line: &'a [Move],
    pub board: &'a Board,
}

/// What a search found.
pub struct Found {
    /// `None` where no move is legal.
    pub best: Option<Move>,
    pub nodes: u64,
    /// Why it ended early, if the evaluator refused.
    pub fault: Option<Box<Fault>>,
}

/// Searches with the evaluator that the task names; `report` hears of every iteration that was finished.
pub fn search(task: &Task, table: &mut Table, stop: &AtomicBool, report: &mut dyn FnMut(&Iteration<'_>)) -> Found {
    let refused = |fault: Box<Fault>| Found { best: first_legal(&task.game.board), nodes: 0, fault: Some(fault) };
    if task.evaluator == Kind::Scalar {
        return match Scalar::new(task.net.any()) {
            Ok(scalar) => search_with(scalar, task, table, stop, report),
            Err(fault) => refused(fault),
        };
    }
    match &task.net {
        Network::Own(net) => search_in_step(Fixed::new(net), task, table, stop, report),
        Network::Any(net) => match Any::new(net, MAX_PLY, true) {
            Ok(state) => search_in_step(state, task, table, stop, report),
            Err(error) => refused(error.into()),
        },
    }
}

/// The same with a state, used in the manner that the task names.
fn search_in_step<S: NetworkState>(
    state: S,
    task: &Task,
    table: &mut Table,
    stop: &AtomicBool,
    report: &mut dyn FnMut(&Iteration<'_>),
) -> Found {
    match task.evaluator {
        Kind::Popped => search_with(Tamis::<_, Popped>::new(state), task, table, stop, report),
        Kind::Copied => search_with(Tamis::<_, Copied>::new(state), task, table, stop, report),
        Kind::Checked => search_with(Tamis::<_, Checked>::new(state), task, table, stop, report),
        Kind::Tamis | Kind::Scalar => search_with(Tamis::<_, Goto>::new(state), task, table, stop, report),
    }
}

fn search_with<E: Evaluator>(
    mut evaluator: E,
    task: &Task,
    table: &mut Table,
    stop: &AtomicBool,
    report: &mut dyn FnMut(&Iteration<'_>),
) -> Found {
    let board = &task.game.board;
    let mut found = Found { best: first_legal(board), nodes: 0, fault: None };
    if found.best.is_none() {
        return found;
    }
    if let Err(fault) = evaluator.refresh(board) {
        return Found { fault: Some(fault), ..found };
    }
    let mut search = Search {
        evaluator,
        table,
        memory: Box::new(Memory::new()),
        keys: task.game.keys.clone(),
        keys_before: task.game.keys.len(),
        lines: vec![Vec::new(); MAX_PLY],
        nodes: 0,
        deepest: 0,
        node_limit: task.limits.nodes.unwrap_or(u64::MAX),
        deadlines: task.deadlines,
        stop,
    };
    for depth in 1..=task.limits.depth.unwrap_or(MAX_PLY - 1).clamp(1, MAX_PLY - 1) {
        search.deepest = 0;
        let ended = search.node(board, depth as i32, 0, -INFINITE, INFINITE, false);
        // Of an iteration that was left, the best move so far counts: the first one tried was the best of the iteration
        // before.
        found.best = search.lines[0].first().copied().or(found.best);
        let score = match ended {
            Ok(score) => score,
            Err(Halt::Stopped) => break,
            Err(Halt::Broken(fault)) => {
                found.fault = Some(fault);
                break;
            }
        };
        report(&Iteration {
            depth,
            deepest: search.deepest,
            score,
            nodes: search.nodes,
            elapsed: task.deadlines.start.elapsed(),
            permille: search.table.permille(),
            line: &search.lines[0],
            board,
        });
        // A mate that is nearer than the search is deep will not get nearer.
        let is_mate_found = score.abs() >= MATE_BOUND && (score::MATE - score.abs()) as usize <= depth;
        let is_late = task.deadlines.soft.is_some_and(|soft| Instant::now() >= soft);
        if !task.limits.is_infinite && (is_late || (is_mate_found && task.limits.depth.is_none())) {
            break;
        }
    }
    found.nodes = search.nodes;
    found
}

fn first_legal(board: &Board) -> Option<Move> {
    let mut first = None;
    board.generate_moves(|moves| {
        first = moves.into_iter().next();
        first.is_some()
    });
    first
}
