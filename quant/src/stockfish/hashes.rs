//! The family's hashes, and the architecture that they decide.
//!
//! A file has a hash in its header, one before the transformer and one before each stack. They are computed from the
//! architecture, not from the weights: two different networks of one architecture have the same, and damage in a weight
//! changes none.
//!
//! ```text
//! transformer = feature set's number ^ 2 * width
//! stack       = clipped(affine(1, clipped(affine(32, clipped(affine(first, 0xEC42E90D ^ 2 * width))))),
//!               without the last clip
//!   affine(outputs, previous) = (0xCC03DAE4 + outputs) ^ (previous >> 1) ^ (previous << 31)
//!   clipped(previous)         = previous + 0x538D24C7
//! header      = transformer ^ stack
//! ```
//!
//! Nothing of the inputs of an affine layer enters, nor squares, nor products of pairs. So three heads share their
//! hashes: 16 outputs from clipped accumulators, 15 + 1 from pairs with squares, and without. The length of the stacks
//! tells the first from the other two; these have the same length too, and [`read`](super::read()) looks at the weights
//! that only one of them has.

use super::net::{FeatureSet, Head, ROW_MULTIPLE, SECOND, Shape};

/// The widest accumulator that is read; the family's widest has 3072.
pub const MAX_WIDTH: usize = 8192;

/// Start of a stack's hash.
const INPUT: u32 = 0xEC42_E90D;
const AFFINE: u32 = 0xCC03_DAE4;
const CLIPPED: u32 = 0x538D_24C7;

/// The numbers of single sets that stand in a hash together: threats without kings, pairs of pawns, pieces on squares.
const SETS: [u32; 3] = [0x2E6B_9D04, 0x86F2_B1DD, 0x7F23_4CB8];
/// The inputs of SFNNv15, which are not read: threats without kings and pieces on squares.
const SFNN_V15: u32 = 0x6165_D5C9;

impl FeatureSet {
    /// The number that stands for the set in hashes.
    #[must_use]
    pub const fn hash(self) -> u32 {
        match self {
            Self::HalfKp => 0x5D69_D5B8,
            Self::HalfKaV2 => 0x5F23_4CB8,
            Self::HalfKaV2Hm => 0x7F23_4CB8,
            Self::PHm => 0x6F23_4CB8,
            // Of the threats alone, though the pieces on squares are in the file.
            Self::Threats => 0x8F23_4CB8,
            Self::ThreatsAndPairs => joined(SETS),
        }
    }

    /// The heads that are read behind these features.
    #[must_use]
    pub const fn heads(self) -> &'static [Head] {
        match self {
            Self::HalfKp => &[Head::Clipped { first: 32 }],
            Self::HalfKaV2 | Self::HalfKaV2Hm => &[
                Head::Clipped { first: 8 },
                Head::Clipped { first: 16 },
                Head::Pairwise { squares: false },
                Head::Pairwise { squares: true },
            ],
            Self::Threats => &[Head::Pairwise { squares: true }],
            Self::PHm | Self::ThreatsAndPairs => &[Head::Wide],
        }
    }
}

impl Shape {
    /// The hash before the transformer.
    #[must_use]
    pub const fn transformer_hash(&self) -> u32 {
        self.features.hash() ^ width_twice(self.width)
    }

    /// The hash before each stack.
    #[must_use]
    pub const fn stack_hash(&self) -> u32 {
        let [(_, first), ..] = self.layers();
        stack_hash_of(first, self.width)
    }

    /// The hash in the header.
    #[must_use]
    pub const fn header_hash(&self) -> u32 {
        self.transformer_hash() ^ self.stack_hash()
    }
}

const fn affine(outputs: usize, previous: u32) -> u32 {
    AFFINE.wrapping_add(outputs as u32) ^ (previous >> 1) ^ (previous << 31)
}

const fn clipped(previous: u32) -> u32 {
    previous.wrapping_add(CLIPPED)
}

/// Of sets that stand in one file, in their order.
const fn joined(sets: [u32; 3]) -> u32 {
    let [first, second, third] = sets;
    ((first.rotate_left(1) ^ second).rotate_left(1)) ^ third
}

const fn width_twice(width: usize) -> u32 {
    2 * width as u32
}

/// The feature set and width that a transformer's hash says, if any.
pub(super) fn transformer_of(hash: u32) -> Option<(FeatureSet, usize)> {
    FeatureSet::ALL.into_iter().find_map(|features| Some((features, width_of(hash ^ features.hash())?)))
}

/// Whether a transformer's hash is that of SFNNv15.
pub(super) fn is_sfnn_v15(hash: u32) -> bool {
    width_of(hash ^ SFNN_V15).is_some()
}

/// The hash of stacks whose first layer has so many outputs, behind an accumulator of this width: what tells networks
/// apart that share the hash of their inputs.
pub(super) const fn stack_hash_of(first: usize, width: usize) -> u32 {
    affine(1, clipped(affine(SECOND, clipped(affine(first, INPUT ^ width_twice(width))))))
}

/// The shapes with this header hash; more than one if they share it.
pub(super) fn shapes_of_header(hash: u32) -> Vec<Shape> {
    let widths = (ROW_MULTIPLE..=MAX_WIDTH).step_by(ROW_MULTIPLE);
    let transformers =
        FeatureSet::ALL.into_iter().flat_map(|features| widths.clone().map(move |width| (features, width)));
    transformers
        .flat_map(|(features, width)| features.heads().iter().map(move |&head| Shape { features, width, head }))
        .filter(|shape| shape.header_hash() == hash)
        .collect()
}

fn width_of(twice: u32) -> Option<usize> {
    let width = twice as usize / 2;
    let is_width =
        twice.is_multiple_of(2) && width.is_multiple_of(ROW_MULTIPLE) && (ROW_MULTIPLE..=MAX_WIDTH).contains(&width);
    is_width.then_some(width)
}

#[cfg(test)]
mod tests {
    use super::super::net::{FeatureSet, Head, Shape};
    use super::{is_sfnn_v15, shapes_of_header, transformer_of};

    /// Header, transformer and stack hash as they stand in published files.
    #[test]
    fn hashes_are_those_of_published_networks() {
        let hashes = |shape: Shape| (shape.header_hash(), shape.transformer_hash(), shape.stack_hash());
        let half_kp = Shape { features: FeatureSet::HalfKp, width: 256, head: Head::Clipped { first: 32 } };
        assert_eq!(hashes(half_kp), (0x3E5A_A6EE, 0x5D69_D7B8, 0x6333_7156));
        let squares = Head::Pairwise { squares: true };
        let sf15_1 = Shape { features: FeatureSet::HalfKaV2Hm, width: 1024, head: squares };
        assert_eq!(hashes(sf15_1), (0x1C10_2EF2, 0x7F23_44B8, 0x6333_6A4A));
        let small = Shape { width: 128, ..sf15_1 };
        assert_eq!(hashes(small), (0x1C10_3C92, 0x7F23_4DB8, 0x6333_712A));
        let of = |features, head| hashes(Shape { features, width: 1024, head });
        assert_eq!(of(FeatureSet::Threats, squares), (0xEC10_2EF2, 0x8F23_44B8, 0x6333_6A4A));
        assert_eq!(of(FeatureSet::ThreatsAndPairs, Head::Wide), (0xA85B_2205, 0xCB68_5313, 0x6333_7116));
        assert_eq!(of(FeatureSet::PHm, Head::Wide), (0x0C10_35AE, 0x6F23_44B8, 0x6333_7116));
    }

    #[test]
    fn a_hash_gives_back_what_it_was_made_of() {
        for features in FeatureSet::ALL {
            for width in [32, 128, 1536, 3072, 8192] {
                for &head in features.heads() {
                    let shape = Shape { features, width, head };
                    assert_eq!(transformer_of(shape.transformer_hash()), Some((features, width)));
                    assert!(shapes_of_header(shape.header_hash()).contains(&shape), "{shape}");
                }
            }
        }
        for not_one in [0, 1, u32::MAX, FeatureSet::HalfKp.hash(), FeatureSet::HalfKp.hash() ^ 16416, 0x7F23_4DB9] {
            assert_eq!(transformer_of(not_one), None, "{not_one:#x}");
        }
        assert!(is_sfnn_v15(0x6165_DDC9) && !is_sfnn_v15(0x7F23_44B8));
    }

    /// Heads that a hash cannot tell apart are exactly these.
    #[test]
    fn heads_with_the_same_hash() {
        let of = |head| Shape { features: FeatureSet::HalfKaV2Hm, width: 1024, head }.stack_hash();
        let sixteen = of(Head::Clipped { first: 16 });
        assert_eq!(of(Head::Pairwise { squares: false }), sixteen);
        assert_eq!(of(Head::Pairwise { squares: true }), sixteen);
        assert_ne!(of(Head::Clipped { first: 8 }), sixteen);
    }
}
