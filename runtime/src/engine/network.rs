//! A chess network as an engine holds it: checked against what the engine was built for, shared by all threads.

use super::error::{LoadError, StateError};
use crate::chess::board::Board;
use crate::chess::numbering::Numbering;
use crate::chess::piece::{Colour, Piece};
use crate::chess::relations::{RelationView, Relations};
use crate::chess::sets;
use crate::chess::view::{ChessView, Perspective, Planes};
use crate::error::RunError;
use crate::features::GENERAL;
#[cfg(short_ways)]
use crate::format::Identity;
use crate::format::{Model, element, feature_set};
use crate::kernels::{self, Tier};
use crate::plan::Plan;
use crate::sure::sure;

/// Output buckets of 0 to 32 pieces.
const BUCKET_TABLE_LEN: usize = feature_set::BUCKET_TABLE_LEN;

/// The features of a network: a word for what an engine was built for. The table of king buckets itself is the file's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Features {
    planes: Planes,
    king_buckets: usize,
    is_mirrored: bool,
    relations: Option<Relations>,
}

impl Features {
    /// A piece's colour, kind and square: bullet's `Chess768`.
    pub const CHESS_768: Self = Self::king_buckets(1);
    /// HalfKP of Stockfish 12 and 13: 640 features for each of the 64 squares of the own king, kings not among them.
    pub const HALF_KP: Self = Self::king_buckets(64).without_kings();
    /// HalfKAv2 of Stockfish 14: 704 features for each of the 64 squares.
    pub const HALF_KA_V2: Self = Self::king_buckets(64).merged_kings();
    /// HalfKAv2_hm of Stockfish 14.1 to 17.1: the same for 32 squares, the board mirrored.
    pub const HALF_KA_V2_HM: Self = Self::king_buckets(32).mirrored().merged_kings();
    /// The same and threats, those of Stockfish 18.
    pub const THREATS: Self = Self { relations: Some(Relations::Threats), ..Self::HALF_KA_V2_HM };
    /// The same and threats without kings and pairs of pawns: Stockfish 19.
    pub const THREATS_AND_PAIRS: Self = Self { relations: Some(Relations::ThreatsAndPairs), ..Self::HALF_KA_V2_HM };

    /// The same 768 for each of `count` buckets of the own king's square: `ChessBuckets`.
    #[must_use]
    pub const fn king_buckets(count: usize) -> Self {
        Self { planes: Planes::Both, king_buckets: count, is_mirrored: false, relations: None }
    }

    /// The board turned left to right while the own king stands on files e to h: `ChessBucketsMirrored`.
    #[must_use]
    pub const fn mirrored(self) -> Self {
        Self { is_mirrored: true, ..self }
    }

    /// No planes for kings, 640 features in place of 768, and black's board turned by half.
    #[must_use]
    pub const fn without_kings(self) -> Self {
        Self { planes: Planes::NoKings, ..self }
    }

    /// One plane for both kings, 704 features in place of 768.
    #[must_use]
    pub const fn merged_kings(self) -> Self {
        Self { planes: Planes::Merged, ..self }
    }
}

/// What an engine was built for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Expected {
    /// The feature set.
    pub features: Features,
    /// Output buckets; 1 for a network without.
    pub output_buckets: usize,
    /// Numbers that come out: 1, or 3 for win, draw and loss.
    pub outputs: usize,
}

/// A chess network with any width, for programs that learn it from the file. [`Network`] fixes the width.
///
/// `Clone`; shared freely between threads. What it borrows is the file.
#[derive(Debug, Clone)]
pub struct AnyNetwork<'a> {
    plan: Plan<'a>,
    view: ChessView<'a>,
    features: Features,
    buckets: [u8; BUCKET_TABLE_LEN],
    /// Whether the bucket follows from something else than the number of all pieces.
    counts_some: bool,
    outputs: usize,
    most_pieces: usize,
    /// Up to how many pieces a position is admitted unseen: none where relations are features.
    unseen: usize,
    /// The relations between pieces that are features, and the first of those.
    related: Option<(Relations, u32)>,
    /// What a state is of that may go the short ways through its calls: this load, and no load where relations are
    /// features.
    #[cfg(short_ways)]
    unrelated: Identity,
    /// The same, and no load where the bucket follows from something else than the number of all pieces.
    #[cfg(short_ways)]
    uncounted: Identity,
}

impl<'a> AnyNetwork<'a> {
    /// Checks a file and binds it to the fastest tier of this machine.
    ///
    /// file: a container at a multiple of 64 in memory.
    ///
    /// # Errors
    /// [`LoadError::Parse`], [`LoadError::NotChess`].
    pub fn load(file: &'a [u8]) -> Result<Self, LoadError> {
        Self::load_on(file, kernels::best())
    }

    /// The same on another tier.
    ///
    /// # Errors
    /// As [`AnyNetwork::load`].
    pub fn load_on(file: &'a [u8], kernels: &'static Tier) -> Result<Self, LoadError> {
        let model = Model::parse(file)?;
        let plan = Plan::new(model, kernels);
        let view = plan.chess_view().ok_or(LoadError::NotChess)?;
        let input = model.input();
        let relations = plan.relations();
        let pieces = relations.map_or(input.size, |(_, first)| first);
        let king_buckets = (pieces / view.planes.features_per_king_bucket()) as usize;
        let (planes, is_mirrored) = (view.planes, view.mirrored);
        let features = Features { planes, king_buckets, is_mirrored, relations: relations.map(|(of, _)| of) };
        let buckets = model.bucket_table().copied().unwrap_or([0; BUCKET_TABLE_LEN]);
        let outputs = sure(model.values().get(input.output as usize).map(|value| value.len as usize));
        let most_related = match relations {
            Some((relations, _)) => relations.most().iter().sum::<u32>() as usize,
            None => 0,
        };
        let kings = if view.has_king_features() { 0 } else { Colour::BOTH.len() };
        let most_pieces = plan.max_active().saturating_sub(most_related) + kings;
        let unseen = if relations.is_some() { 0 } else { most_pieces };
        let counts_some = input.counted != 0;
        #[cfg(short_ways)]
        let unrelated = if relations.is_some() { Identity::NONE } else { plan.identity() };
        Ok(Self {
            plan,
            view,
            features,
            buckets,
            counts_some,
            outputs,
            most_pieces,
            unseen,
            related: relations,
            #[cfg(short_ways)]
            unrelated,
            #[cfg(short_ways)]
            uncounted: if counts_some { Identity::NONE } else { unrelated },
        })
    }

    /// Whether the engine was built for this network.
    ///
    /// # Errors
    /// [`LoadError::Differs`] with the first difference.
    pub fn check(&self, hidden: usize, expected: &Expected) -> Result<(), LoadError> {
        let input = self.plan.model().input();
        for (what, found, expected) in [
            ("width of an accumulator", self.hidden(), hidden),
            ("features of a king bucket", planes(self.features), planes(expected.features)),
            ("king buckets", self.features.king_buckets, expected.features.king_buckets),
            (
                "mirroring by the king's file (0 no, 1 yes)",
                self.view.mirrored.into(),
                expected.features.is_mirrored.into(),
            ),
            (
                "relations between pieces (0 none, 1 threats, 2 threats and pairs of pawns)",
                relations(self.features),
                relations(expected.features),
            ),
            ("output buckets", input.bucket_count as usize, expected.output_buckets),
            ("outputs", self.outputs, expected.outputs),
        ] {
            if found != expected {
                return Err(LoadError::Differs { what, found, expected });
            }
        }
        Ok(())
    }

    /// How the network sees a board.
    #[doc(hidden)]
    pub const fn view(&self) -> &ChessView<'a> {
        &self.view
    }

    /// The plan, for what this interface leaves out.
    pub const fn plan(&self) -> &Plan<'a> {
        &self.plan
    }

    /// Width of one accumulator.
    pub const fn hidden(&self) -> usize {
        self.plan.hidden()
    }

    /// The feature set.
    pub const fn features(&self) -> Features {
        self.features
    }

    /// Numbers that come out.
    pub const fn outputs(&self) -> usize {
        self.outputs
    }

    /// Whether the output is f32; [`super::State::evaluate`] cuts it to an integer.
    pub fn is_real(&self) -> bool {
        let model = self.plan.model();
        model.values().get(model.input().output as usize).is_some_and(|value| value.element() == element::F32)
    }

    /// Places of a king that fill an accumulator differently: the entries of a refresh cache that serves them all.
    pub const fn keys(&self) -> usize {
        self.features.king_buckets * if self.features.is_mirrored { 2 } else { 1 }
    }

    /// The number of the feature that a piece is in a colour's eyes, whose king stands on `king` (as white sees it);
    /// `None` for a king where kings are no features.
    pub fn feature(&self, colour: Colour, king: u8, piece: Piece) -> Option<u32> {
        let numbering = self.numbering(colour, king);
        numbering.has(piece.index()).then(|| numbering.feature(piece.index()))
    }

    /// What turns pieces into features for a colour, whose king stands on `king`.
    #[inline]
    pub(super) fn numbering(&self, colour: Colour, king: u8) -> Numbering {
        let side = perspective(colour);
        self.view.numbering(side, self.view.seen(side, king))
    }

    /// How a colour, whose king stands on `king`, numbers relations between pieces; `None` where they are no features.
    #[inline]
    pub(super) fn relation_view(&self, colour: Colour, king: u8) -> Option<RelationView> {
        self.related.filter(|_| GENERAL).map(|(relations, first)| RelationView::new(relations, first, colour, king))
    }

    /// Whether relations between pieces are features.
    #[inline(always)]
    pub(super) const fn is_related(&self) -> bool {
        GENERAL && self.related.is_some()
    }

    /// Whether a state of this identity is of this network, and pieces on squares are all its features. One that has
    /// no position is of any.
    #[cfg(short_ways)]
    #[inline(always)]
    pub(super) fn is_unrelated(&self, identity: Identity) -> bool {
        self.unrelated.is_of_load(identity)
    }

    /// Which of [`AnyNetwork::keys`] entries a square of a colour's king belongs to, as white sees the square. A king's
    /// move between two squares of one entry is a move as any other; between two entries, that colour's accumulator is
    /// to be filled anew.
    #[inline]
    pub fn key(&self, colour: Colour, king: u8) -> usize {
        let key = self.view.refresh_key(self.view.seen(perspective(colour), king)) as usize;
        if self.features.is_mirrored { key } else { key / 2 }
    }

    /// Whether the network knows a position, to which these pieces came.
    #[inline(always)]
    pub(super) fn admit(&self, board: &Board, added: impl Iterator<Item = Piece>) -> Result<(), StateError> {
        if board.count() <= self.unseen { Ok(()) } else { self.look(board, added) }
    }

    /// Not more pieces than it has features for, and where relations are features one on a square.
    #[cold]
    #[inline(never)]
    fn look(&self, board: &Board, mut added: impl Iterator<Item = Piece>) -> Result<(), StateError> {
        let (found, limit) = (board.count(), self.most_pieces);
        if found > limit {
            return Err(RunError::TooManyFeatures { found, limit }.into());
        }
        match added.find(|piece| self.is_related() && board.shares_square(*piece)) {
            Some(piece) => Err(StateError::Piece { piece, is_added: true }),
            None => Ok(()),
        }
    }

    /// The output bucket of a position; the first one of more pieces than a game has.
    #[inline]
    pub(super) fn bucket(&self, board: &Board, to_move: Colour) -> usize {
        if self.counts_some { self.counted_bucket(board, to_move) } else { self.bucket_of(board.count()) }
    }

    /// The same, where it follows from the number of all pieces, which a game has, and a state of this identity
    /// [`AnyNetwork::is_unrelated`].
    #[cfg(short_ways)]
    #[inline(always)]
    pub(super) fn bucket_of_count(&self, identity: Identity, board: &Board) -> Option<usize> {
        let is_of_load = self.uncounted.is_of_load(identity);
        if is_of_load { self.buckets.get(board.count()).copied().map(usize::from) } else { None }
    }

    /// Whether the bucket follows from the number of all pieces.
    #[cfg(short_ways)]
    pub(super) const fn has_bucket_of_count(&self) -> bool {
        !self.counts_some
    }

    #[inline(always)]
    fn bucket_of(&self, count: usize) -> usize {
        let Some(bucket) = self.buckets.get(count) else { return 0 };
        (*bucket).into()
    }

    #[inline(never)]
    fn counted_bucket(&self, board: &Board, to_move: Colour) -> usize {
        let found = self.plan.model().bucket_of(board.counts(to_move), board.counts(to_move.other()));
        let Some(bucket) = found else { return 0 };
        bucket
    }
}

/// White is who sees the board as it is stored.
const fn perspective(colour: Colour) -> Perspective {
    match colour {
        Colour::White => Perspective::SideToMove,
        Colour::Black => Perspective::Other,
    }
}

impl<'a> Plan<'a> {
    /// How a chess network sees a board: what turns pieces, squares and kings into its features. `None` for other
    /// inputs.
    #[doc(hidden)]
    pub fn chess_view(&self) -> Option<ChessView<'a>> {
        let set = sets::of(self.model().input().feature_set)?;
        Some(ChessView { planes: set.planes, mirrored: set.mirrored, king_table: self.model().king_table()? })
    }

    /// The relations between pieces that are features, and the first of those. `None` for other inputs.
    #[doc(hidden)]
    pub fn relations(&self) -> Option<(Relations, u32)> {
        let relations = sets::of(self.model().input().feature_set)?.relations?;
        Some((relations, self.model().input().size.saturating_sub(relations.count())))
    }
}

const fn relations(features: Features) -> usize {
    match features.relations {
        None => 0,
        Some(Relations::Threats) => 1,
        Some(Relations::ThreatsAndPairs) => 2,
    }
}

const fn planes(features: Features) -> usize {
    features.planes.features_per_king_bucket() as usize
}

/// A chess network whose accumulators have `HIDDEN` elements.
///
/// `Clone`; shared freely between threads, each with a [`super::State`] of its own.
#[derive(Debug, Clone)]
pub struct Network<'a, const HIDDEN: usize>(AnyNetwork<'a>);

impl<'a, const HIDDEN: usize> Network<'a, HIDDEN> {
    /// Checks a file, holds it against what the engine was built for, and binds it to the fastest tier of this machine.
    ///
    /// file: a container at a multiple of 64 in memory: [`crate::include_model!`], or a buffer or memory map so
    /// aligned.
    ///
    /// # Errors
    /// [`LoadError`], which says what is wrong with the file, or what about it differs.
    pub fn load(file: &'a [u8], expected: &Expected) -> Result<Self, LoadError> {
        Self::load_on(file, expected, kernels::best())
    }

    /// The same on another tier.
    ///
    /// # Errors
    /// As [`Network::load`].
    pub fn load_on(file: &'a [u8], expected: &Expected, kernels: &'static Tier) -> Result<Self, LoadError> {
        let any = AnyNetwork::load_on(file, kernels)?;
        any.check(HIDDEN, expected)?;
        Ok(Self(any))
    }

    /// The network without its width.
    #[inline]
    pub const fn any(&self) -> &AnyNetwork<'a> {
        &self.0
    }
}
