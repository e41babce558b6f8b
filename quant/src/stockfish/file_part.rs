//! Names of the parts of a file, for messages.

use super::relations::Relation;

/// A part of a `.nnue` file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// Version, hash and length of the description: the first twelve bytes.
    Header,
    /// The text of the header.
    Description,
    /// The hash before the transformer.
    TransformerHash,
    /// The transformer's biases.
    TransformerBiases,
    /// The transformer's weights.
    TransformerWeights,
    /// The transformer's PSQT values.
    Psqt,
    /// Rows of a relation between pieces.
    RelationWeights(Relation),
    /// Their PSQT values.
    RelationPsqt(Relation),
    /// The hash before a stack.
    StackHash {
        /// Which, from 0.
        stack: usize,
    },
    /// Biases of a layer of a stack.
    LayerBiases {
        /// Which stack, from 0.
        stack: usize,
        /// Which layer, from 0.
        layer: usize,
    },
    /// Weights of a layer of a stack.
    LayerWeights {
        /// Which stack, from 0.
        stack: usize,
        /// Which layer, from 0.
        layer: usize,
    },
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Header => f.write_str("header"),
            Self::Description => f.write_str("description"),
            Self::TransformerHash => f.write_str("hash of the transformer"),
            Self::TransformerBiases => f.write_str("biases of the transformer"),
            Self::TransformerWeights => f.write_str("weights of the transformer"),
            Self::Psqt => f.write_str("PSQT values of the transformer"),
            Self::RelationWeights(relation) => write!(f, "rows of {}", relation.name()),
            Self::RelationPsqt(relation) => write!(f, "PSQT values of {}", relation.name()),
            Self::StackHash { stack } => write!(f, "hash of stack {stack}"),
            Self::LayerBiases { stack, layer } => write!(f, "stack {stack}, biases of layer {layer}"),
            Self::LayerWeights { stack, layer } => write!(f, "stack {stack}, weights of layer {layer}"),
        }
    }
}
