//! A list of boards, which is the model of a state: what a line of play is, without an accumulator in sight.

use tamis_quant::run::AlignedBytes;
use tamis_runtime::engine::{AnyNetwork, Colour, Kind, Piece};

/// Chess networks of few units, with and without king buckets, mirrored, and with relations.
pub fn networks() -> Vec<AlignedBytes> {
    let is_chess = |bytes: &AlignedBytes| AnyNetwork::load(bytes.as_ref()).is_ok_and(|net| net.hidden() <= 64);
    let samples = tests::sample_models::small().into_iter().map(|sample| sample.bytes);
    samples.filter(is_chess).collect()
}

/// Bytes that are taken one after the other.
pub struct Calls<'b>(pub &'b [u8]);

impl Calls<'_> {
    pub fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    pub fn piece(&mut self) -> Option<Piece> {
        let (which, square) = (self.byte()?, self.byte()?);
        let colour = Colour::BOTH[usize::from(which & 1)];
        Some(Piece::new(colour, Kind::ALL[usize::from(which >> 1) % Kind::ALL.len()], square & 63))
    }

    /// The pieces of a root: any, or with two kings and a square for each.
    pub fn root(&mut self, call: u8) -> Vec<Piece> {
        let count = 2 + usize::from(call >> 4);
        let mut pieces: Vec<Piece> = (0..count).filter_map(|_| self.piece()).collect();
        if call & 8 == 0 {
            make_legal(&mut pieces);
        }
        pieces
    }

    /// What comes and what goes: a move of a piece, with what it takes and what it becomes, or any lists; `None` if
    /// nothing is there to move.
    pub fn change(&mut self, call: u8, line: &Line) -> Option<(Vec<Piece>, Vec<Piece>)> {
        let (mut added, mut removed) = (Vec::new(), Vec::new());
        if call & 0x80 == 0 {
            let board = line.last()?;
            let (mover, square) = (self.byte()?, self.byte()?);
            let piece = *board.get(usize::from(mover) % board.len().max(1))?;
            let square = square & 63;
            removed.push(piece);
            removed.extend(board.iter().filter(|other| other.square() == square && **other != piece));
            added.push(piece.at(square));
        } else {
            added.extend((0..call >> 3 & 3).filter_map(|_| self.piece()));
            removed.extend((0..call >> 5 & 3).filter_map(|_| self.piece()));
        }
        Some((added, removed))
    }
}

/// The boards of a line of play, the root first; none before the first refresh.
#[derive(Debug, Default, Clone)]
pub struct Line(Vec<Vec<Piece>>);

impl Line {
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn height(&self) -> usize {
        self.len().saturating_sub(1)
    }

    pub fn last(&self) -> Option<&Vec<Piece>> {
        self.0.last()
    }

    /// Without a position, which is what a refused refresh leaves.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// A root that was taken.
    pub fn refresh(&mut self, pieces: Vec<Piece>) {
        assert!(is_taken(&pieces), "a refresh took {pieces:?}");
        self.0 = vec![pieces];
    }

    /// A move that was taken.
    pub fn push(&mut self, mut added: Vec<Piece>, removed: Vec<Piece>) {
        let mut board = self.last().expect("a move needs a position").clone();
        // What a move both adds and removes is in neither list, once for each time that it does.
        for piece in removed {
            if let Some(at) = added.iter().position(|other| *other == piece) {
                added.remove(at);
            } else {
                let at = board.iter().position(|other| *other == piece).expect("what is removed was there");
                board.remove(at);
            }
        }
        board.extend(&added);
        assert!(is_taken(&board), "a move made {board:?}");
        self.0.push(board);
    }

    /// A null move that was taken.
    pub fn push_null(&mut self) {
        let top = self.last().expect("a null move needs a position").clone();
        self.0.push(top);
    }

    /// Whether a move can be taken back, which it is.
    pub fn pop(&mut self) -> bool {
        let can = self.len() > 1;
        self.0.truncate(self.len() - usize::from(can));
        can
    }

    /// Whether there is such a ply, to which the line goes back.
    pub fn goto(&mut self, ply: usize) -> bool {
        let can = ply < self.len();
        self.0.truncate(if can { ply + 1 } else { self.len() });
        can
    }
}

/// What a state takes: nothing twice, and a king of each side at most.
fn is_taken(pieces: &[Piece]) -> bool {
    let is_once = |piece: &Piece| pieces.iter().filter(|other| *other == piece).count() == 1;
    pieces.iter().all(is_once) && Colour::BOTH.iter().all(|colour| kings(pieces, *colour) <= 1)
}

/// What a game has beside that, and the second reader asks for: one king of each side, and a piece a square.
pub fn is_board(pieces: &[Piece]) -> bool {
    let mut squares: Vec<u8> = pieces.iter().map(|piece| piece.square()).collect();
    squares.sort_unstable();
    squares.windows(2).all(|pair| pair[0] != pair[1]) && Colour::BOTH.iter().all(|colour| kings(pieces, *colour) == 1)
}

fn kings(pieces: &[Piece], colour: Colour) -> usize {
    pieces.iter().filter(|piece| piece.kind() == Kind::King && piece.colour() == colour).count()
}

/// Two kings, and no square twice.
fn make_legal(pieces: &mut Vec<Piece>) {
    pieces.retain(|piece| piece.kind() != Kind::King);
    pieces.insert(0, Piece::new(Colour::White, Kind::King, 4));
    pieces.insert(1, Piece::new(Colour::Black, Kind::King, 60));
    let mut seen = 0u64;
    pieces.retain(|piece| {
        let bit = 1 << piece.square();
        let is_free = seen & bit == 0;
        seen |= bit;
        is_free
    });
}
