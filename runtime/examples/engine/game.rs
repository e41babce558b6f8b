//! The game so far: a position, and the hashes that repetitions are found by.

use cozy_chess::{Board, util};

/// Fields of a FEN.
const FIELDS: usize = 6;

#[derive(Debug, Clone)]
pub struct Game {
    pub board: Board,
    /// Of every position since the start, this one last, without the right to take en passant.
    pub keys: Vec<u64>,
}

impl Game {
    pub fn from_start() -> Self {
        Self::at(Board::default())
    }

    pub fn from_fen(fen: &str) -> Result<Self, String> {
        // The two counters are often left out.
        let mut fields: Vec<&str> = fen.split_whitespace().collect();
        if fields.len() < FIELDS && fields.len() >= FIELDS - 2 {
            fields.extend(["0", "1"].iter().skip(fields.len() + 2 - FIELDS));
        }
        Board::from_fen(&fields.join(" "), false).map(Self::at).map_err(|error| format!("fen `{fen}`: {error}"))
    }

    fn at(board: Board) -> Self {
        Self { keys: vec![board.hash_without_ep()], board }
    }

    /// Plays a move as UCI writes it.
    pub fn play(&mut self, text: &str) -> Result<(), String> {
        let refused = || format!("`{text}` is no legal move in `{}`", self.board);
        let mv = util::parse_uci_move(&self.board, text).map_err(|_| refused())?;
        if !self.board.is_legal(mv) {
            return Err(refused());
        }
        self.board.play_unchecked(mv);
        self.keys.push(self.board.hash_without_ep());
        Ok(())
    }
}

impl Default for Game {
    fn default() -> Self {
        Self::from_start()
    }
}
