//! A search in a thread of its own, so that the engine listens meanwhile.

use crate::root::{self, Iteration, Task};
use crate::say::say;
use crate::score::Shown;
use crate::table::Table;
use cozy_chess::util::display_uci_move;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle, park};

/// A line of 128 plies has as many lists of moves.
const STACK_BYTES: usize = 16 << 20;

pub struct Worker {
    stop: Arc<AtomicBool>,
    answered: Arc<AtomicBool>,
    thread: JoinHandle<Table>,
}

impl Worker {
    /// Starts a search; it prints what it finds, `bestmove` last. The table comes back from [`Worker::finish`].
    pub fn start(task: Task, mut table: Table) -> io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let answered = Arc::new(AtomicBool::new(false));
        let (told, answers) = (Arc::clone(&stop), Arc::clone(&answered));
        let work = move || {
            let found = root::search(&task, &mut table, &told, &mut tell);
            if let Some(fault) = found.fault {
                say!("info string {fault}");
            }
            // UCI wants no answer to `go infinite` before `stop`.
            while task.limits.is_infinite && !told.load(Ordering::Relaxed) {
                park();
            }
            // Before the answer, since the next `go` may follow it faster than this thread ends.
            answers.store(true, Ordering::Release);
            match found.best {
                Some(best) => say!("bestmove {}", display_uci_move(&task.game.board, best)),
                None => say!("bestmove 0000"),
            }
            table
        };
        let thread = Builder::new().name("search".to_owned()).stack_size(STACK_BYTES).spawn(work)?;
        Ok(Self { stop, answered, thread })
    }

    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.thread().unpark();
    }

    /// Whether `bestmove` is printed, or about to be.
    pub fn has_answered(&self) -> bool {
        self.answered.load(Ordering::Acquire)
    }

    /// Waits for its answer. `None` if the search broke down.
    pub fn finish(self) -> Option<Table> {
        self.thread.join().ok()
    }
}

fn tell(found: &Iteration<'_>) {
    let micros = found.elapsed.as_micros().max(1);
    let nodes_a_second = u128::from(found.nodes) * 1_000_000 / micros;
    let mut line = format!(
        "info depth {} seldepth {} score {} nodes {} nps {nodes_a_second} hashfull {} time {} pv",
        found.depth,
        found.deepest,
        Shown(found.score),
        found.nodes,
        found.permille,
        micros / 1000
    );
    let mut board = found.board.clone();
    for mv in found.line {
        line.push_str(&format!(" {}", display_uci_move(&board, *mv)));
        board.play_unchecked(*mv);
    }
    say!("{line}");
}
