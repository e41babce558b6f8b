//! A board on which any piece goes anywhere, and random moves on it.

use tamis_runtime::engine::{AnyNetwork, Colour, Kind, Piece};
use tests::sample_models::Random;

/// What a move adds and removes.
#[derive(Clone, Default)]
pub struct Move {
    pub added: Vec<Piece>,
    pub removed: Vec<Piece>,
}

impl Move {
    /// The same move, sometimes with a piece that both comes and goes, on the board or not, as the pawn of a promotion
    /// that is made of toggles.
    pub fn with_toggle(mut self, random: &mut Random) -> Self {
        if self.added.len().max(self.removed.len()) < 4 && random.draw().is_multiple_of(4) {
            let piece = Piece::from_index(random.draw() as u16 % Piece::COUNT).unwrap();
            // A king has one place.
            if piece.kind() != Kind::King {
                self.added.insert(random.draw() as usize % (1 + self.added.len()), piece);
                self.removed.insert(random.draw() as usize % (1 + self.removed.len()), piece);
            }
        }
        self
    }
}

/// A board on which any piece goes anywhere.
#[derive(Clone)]
pub struct Board(pub Vec<Piece>);

impl Board {
    /// Kings first, so that they are never taken.
    pub fn start(random: &mut Random) -> Self {
        let mut board = Self(vec![Piece::new(Colour::White, Kind::King, 4), Piece::new(Colour::Black, Kind::King, 60)]);
        while board.0.len() < 32 {
            let (colour, kind) = (Colour::BOTH[random.draw() as usize % 2], Kind::ALL[random.draw() as usize % 5]);
            let square = (random.draw() % 64) as u8;
            if board.at(square).is_none() {
                board.0.push(Piece::new(colour, kind, square));
            }
        }
        board
    }

    pub fn at(&self, square: u8) -> Option<usize> {
        self.0.iter().position(|piece| piece.square() == square)
    }

    /// One piece, sometimes two, to other squares; what is there is taken; sometimes a piece becomes another.
    pub fn play(&mut self, random: &mut Random) -> Move {
        let mut done = Move::default();
        for _ in 0..if random.draw().is_multiple_of(8) { 2 } else { 1 } {
            // Kings move as often as all others together.
            let mover = random.draw() as usize % if random.draw() & 1 == 0 { 2 } else { self.0.len() };
            let target = (random.draw() % 64) as u8;
            let from = self.0[mover];
            let taken = match self.at(target) {
                Some(taken) if taken < 2 || taken == mover || self.0.len() < 9 => continue,
                taken => taken,
            };
            // A piece that has moved already would be removed before it is there.
            if done.added.contains(&from) || taken.is_some_and(|taken| done.added.contains(&self.0[taken])) {
                continue;
            }
            let mut to = from.at(target);
            if mover > 1 && random.draw().is_multiple_of(4) {
                to = Piece::new(to.colour(), Kind::ALL[random.draw() as usize % 5], target);
            }
            done.added.push(to);
            done.removed.push(from);
            self.0[mover] = to;
            if let Some(taken) = taken {
                done.removed.push(self.0.remove(taken));
            }
        }
        done
    }

    pub fn king(&self, colour: Colour) -> u8 {
        self.0[colour.index()].square()
    }

    pub fn anew(&self, net: &AnyNetwork<'_>, colour: Colour) -> Vec<i16> {
        let features: Vec<u32> =
            self.0.iter().filter_map(|piece| net.feature(colour, self.king(colour), *piece)).collect();
        let mut accumulator = vec![0; net.hidden()];
        net.plan().refresh(&mut accumulator, &features).unwrap();
        accumulator
    }
}
