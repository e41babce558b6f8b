//! What follows from a description: widths, shapes and tables.
//!
//! All of it is derived here and nowhere else. The methods answer for a checked description; asked about a layer that
//! does not exist they say 0 or nothing, and on an unchecked description they saturate: none panics.
//!
//! ```text
//! layer 0      feature_count (or the dense size) -> outputs, once a perspective
//! skip         the last `skip` outputs leave
//! activation   pairwise halves, dual doubles, the others keep the width
//! layer 1      perspectives · activated_width(0) -> outputs · (bucket_count if bucketed)
//! layer i      activated_width(i − 1)            -> outputs · (bucket_count if bucketed)
//! ```

use super::types::{Activation, Architecture, InputKind, Layer, PsqtOf, TensorSpec};
use tamis_runtime::raw::chess::Planes;
use tamis_runtime::raw::feature_set;

/// Of FEN, in the order of the kinds' numbers.
pub(super) const PIECE_LETTERS: &str = "PNBRQK";

/// Half of an affine layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// The matrix.
    Weights,
    /// The vector added to it.
    Bias,
}

/// What a tensor is to the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TensorRole {
    /// Index of the layer.
    pub layer: usize,
    /// Which half.
    pub part: Part,
}

/// Perspectives of custom features whose description gives none.
const ONE_PERSPECTIVE: usize = 1;

impl Architecture {
    /// The planes of squares that a king bucket of a chess network has.
    #[must_use]
    pub fn planes(&self) -> Planes {
        if self.input.merged_kings { Planes::Merged } else { Planes::Both }
    }

    /// Features of one king bucket of a chess network, and columns of a factoriser.
    #[must_use]
    pub fn features_per_king_bucket(&self) -> usize {
        self.planes().features_per_king_bucket() as usize
    }

    /// Number of king buckets: the largest entry of the table plus 1, and 1 without a table.
    #[must_use]
    pub fn king_bucket_count(&self) -> usize {
        let largest = self.input.king_buckets.iter().flatten().max();
        largest.map_or(1, |&bucket| usize::from(bucket) + 1)
    }

    /// The king bucket of every square, a1, b1, … h8, a table of files a to d unfolded to both wings.
    #[must_use]
    pub fn king_table(&self) -> [u8; feature_set::KING_TABLE_LEN] {
        let mut table = [0; feature_set::KING_TABLE_LEN];
        let Some(entries) = &self.input.king_buckets else { return table };
        for (square, bucket) in table.iter_mut().enumerate() {
            let (rank, file) = (square / 8, square % 8);
            let index = if entries.len() == 32 { 4 * rank + file.min(7 - file) } else { square };
            // Of a description that was not checked the table may be shorter.
            if let Some(entry) = entries.get(index) {
                *bucket = *entry;
            }
        }
        table
    }

    /// Number of input features, or of elements of a dense input.
    #[must_use]
    pub fn feature_count(&self) -> usize {
        match self.input.kind {
            InputKind::Chess => self.features_per_king_bucket() * self.king_bucket_count(),
            InputKind::Features | InputKind::Dense => self.input.size.unwrap_or(0),
        }
    }

    /// 2 or 1; a dense input has 1.
    #[must_use]
    pub fn perspectives(&self) -> usize {
        match self.input.kind {
            InputKind::Chess => self.input.perspectives.unwrap_or(2),
            InputKind::Features => self.input.perspectives.unwrap_or(ONE_PERSPECTIVE),
            InputKind::Dense => 1,
        }
    }

    /// The most features active at once in one perspective; for a dense input its size.
    #[must_use]
    pub fn max_active(&self) -> usize {
        match self.input.kind {
            InputKind::Chess => self.input.max_active.unwrap_or(32),
            InputKind::Features => self.input.max_active.unwrap_or(0),
            InputKind::Dense => self.feature_count(),
        }
    }

    /// Number of output buckets, 1 without any.
    #[must_use]
    pub fn bucket_count(&self) -> usize {
        self.buckets.as_ref().map_or(1, |buckets| buckets.count)
    }

    /// The output bucket of every number of pieces on the board. Without a table in the description it is bullet's
    /// `MaterialCount`: `(pieces − 2) / ceil(32 / count)`.
    #[must_use]
    pub fn piece_count_table(&self) -> [u8; feature_set::BUCKET_TABLE_LEN] {
        std::array::from_fn(|pieces| self.bucket_of_count(pieces))
    }

    /// An entry of that table.
    fn bucket_of_count(&self, pieces: usize) -> u8 {
        match self.buckets.as_ref().and_then(|buckets| buckets.by_piece_count.as_deref()) {
            Some(table) => table.get(pieces).copied().unwrap_or(0),
            // At most 30 / 1.
            None => (pieces.saturating_sub(2) / 32usize.div_ceil(self.bucket_count().max(1))) as u8,
        }
    }

    /// The file's word for what a bucket table counts: a bit a kind of piece, 0 all kinds, and whether by sides.
    #[must_use]
    pub fn counted(&self) -> u32 {
        let Some(buckets) = &self.buckets else { return 0 };
        let is_counted = |letter: char| buckets.counted.iter().any(|letters| letters.contains(letter));
        let counted = PIECE_LETTERS.char_indices().filter(|(_, letter)| is_counted(*letter));
        let kinds = counted.fold(0, |kinds, (kind, _)| kinds | 1 << kind);
        let all = (1 << PIECE_LETTERS.len()) - 1;
        let by_sides = if buckets.by_side_counts.is_some() { feature_set::COUNTED_BY_SIDES } else { 0 };
        by_sides | if kinds == all { 0 } else { kinds }
    }

    /// The table that [`Architecture::counted`] speaks of.
    #[must_use]
    pub fn bucket_table(&self) -> Vec<u8> {
        let given = self.buckets.as_ref().and_then(|buckets| buckets.by_side_counts.clone());
        given.unwrap_or_else(|| self.piece_count_table().to_vec())
    }

    /// The output bucket of so many pieces of each kind, pawn to king, of the side to move and of the other; 0 for more
    /// than a game has, as engines have it.
    #[must_use]
    pub fn bucket_of(&self, own: [usize; 6], other: [usize; 6]) -> usize {
        match feature_set::bucket_place(self.counted(), own, other) {
            Some(place) => match self.buckets.as_ref().and_then(|buckets| buckets.by_side_counts.as_deref()) {
                Some(table) => table[place].into(),
                None => self.bucket_of_count(place).into(),
            },
            None => 0,
        }
    }

    /// Number of values that go from layer `index` into its activation: the outputs (of one perspective, of one
    /// bucket) without those that skip.
    #[must_use]
    pub fn active_outputs(&self, index: usize) -> usize {
        self.layers.get(index).map_or(0, |layer| layer.outputs.saturating_sub(layer.skip))
    }

    /// Number of values that come out of layer `index`'s activation, for one perspective.
    #[must_use]
    pub fn activated_width(&self, index: usize) -> usize {
        let values = self.active_outputs(index);
        if self.layers.get(index).is_some_and(|layer| layer.gated) {
            return values / 2;
        }
        match self.layers.get(index).map(|layer| layer.activation) {
            Some(Activation::PairwiseCrelu) => values / 2,
            Some(Activation::DualCrelu) => values.saturating_mul(2),
            _ => values,
        }
    }

    /// Number of inputs of layer `index`; the second layer's are all perspectives' side by side.
    #[must_use]
    pub fn layer_inputs(&self, index: usize) -> usize {
        match index {
            0 => self.feature_count(),
            1 => self.perspectives().saturating_mul(self.activated_width(0)),
            _ => self.activated_width(index - 1),
        }
    }

    /// Number of rows of layer `index`'s matrix: its outputs, times the buckets if it is bucketed. Bucket b owns rows
    /// b·outputs to (b + 1)·outputs.
    #[must_use]
    pub fn layer_rows(&self, index: usize) -> usize {
        let Some(layer) = self.layers.get(index) else { return 0 };
        let buckets = if layer.bucketed { self.bucket_count() } else { 1 };
        layer.outputs.saturating_mul(buckets)
    }

    /// Number of values that the network reports.
    #[must_use]
    pub fn output_count(&self) -> usize {
        self.layers.last().map_or(0, |last| last.outputs)
    }

    /// Name of layer `index`'s weight tensor; empty if there is no such layer.
    #[must_use]
    pub fn weights_name(&self, index: usize) -> String {
        self.layers.get(index).map(|layer| tensor_name(layer, layer.weights.as_ref(), 'w')).unwrap_or_default()
    }

    /// Name of layer `index`'s bias tensor; empty if there is no such layer.
    #[must_use]
    pub fn bias_name(&self, index: usize) -> String {
        self.layers.get(index).map(|layer| tensor_name(layer, layer.bias.as_ref(), 'b')).unwrap_or_default()
    }

    /// Name of the factoriser tensor, if there is one. Its shape is (outputs of the first layer, features of a king
    /// bucket).
    #[must_use]
    pub fn factoriser(&self) -> Option<&str> {
        self.layers.first()?.factoriser.as_deref()
    }

    /// Shape (out, in) of the factoriser, if there is one.
    #[must_use]
    pub fn factoriser_shape(&self) -> Option<(usize, usize)> {
        self.factoriser().map(|_| (self.layer_rows(0), self.features_per_king_bucket()))
    }

    /// The entry of the tensor list with this name.
    #[must_use]
    pub fn tensor(&self, name: &str) -> Option<&TensorSpec> {
        self.tensors.iter().find(|tensor| tensor.name == name)
    }

    /// Which layer uses a tensor, and as what; nothing for names that no layer uses, and for the factoriser.
    #[must_use]
    pub fn tensor_role(&self, name: &str) -> Option<TensorRole> {
        (0..self.layers.len()).find_map(|layer| {
            if self.weights_name(layer) == name {
                Some(TensorRole { layer, part: Part::Weights })
            } else if self.bias_name(layer) == name {
                Some(TensorRole { layer, part: Part::Bias })
            } else {
                None
            }
        })
    }

    /// Rows of piece-square values: one an output, times the buckets if they are bucketed; 0 without any.
    #[must_use]
    pub fn psqt_rows(&self) -> usize {
        let buckets = match &self.psqt {
            Some(psqt) if psqt.bucketed => self.bucket_count(),
            Some(_) => 1,
            None => 0,
        };
        self.output_count().saturating_mul(buckets)
    }

    /// What is made of both perspectives' piece-square values, if there are any.
    #[must_use]
    pub fn psqt_of(&self) -> Option<PsqtOf> {
        let otherwise = if self.perspectives() == 2 { PsqtOf::Difference } else { PsqtOf::Own };
        self.psqt.as_ref().map(|psqt| psqt.of.unwrap_or(otherwise))
    }

    /// Shape (out, in) of a tensor that a layer uses, or that piece-square values are in; a bias is (out, 1).
    #[must_use]
    pub fn tensor_shape(&self, name: &str) -> Option<(usize, usize)> {
        if let Some(psqt) = &self.psqt {
            let is_bias = psqt.bias.as_deref() == Some(name);
            if is_bias || psqt.weights == name {
                return Some((self.psqt_rows(), if is_bias { 1 } else { self.feature_count() }));
            }
        }
        let TensorRole { layer, part } = self.tensor_role(name)?;
        let inputs = match part {
            Part::Weights => self.layer_inputs(layer),
            Part::Bias => 1,
        };
        Some((self.layer_rows(layer), inputs))
    }
}

fn tensor_name(layer: &Layer, given: Option<&String>, suffix: char) -> String {
    given.cloned().unwrap_or_else(|| format!("{}{suffix}", layer.name))
}

#[cfg(test)]
mod tests {
    use super::{Part, TensorRole};
    use crate::arch::Architecture;
    use crate::arch::check::tests::SMALL;

    fn read(text: &str) -> Architecture {
        Architecture::from_toml(text, "x").unwrap()
    }

    /// bullet's `MaterialCount<N>` as its source has it, for the counts that a game can show.
    #[test]
    fn material_count_is_bullets() {
        for count in [1usize, 2, 3, 4, 7, 8, 16, 30, 32, 200] {
            let text = SMALL.replace("outputs = 1\n", "outputs = 1\nbucketed = true\n");
            let table = read(&format!("{text}[buckets]\ncount = {count}")).piece_count_table();
            for (pieces, &bucket) in table.iter().enumerate().skip(2) {
                assert_eq!(usize::from(bucket), (pieces - 2) / 32usize.div_ceil(count));
                assert!(usize::from(bucket) < count);
            }
            assert_eq!(table[..2], [0, 0]);
        }
    }

    #[test]
    fn a_folded_king_table_unfolds_to_both_wings() {
        let folded: Vec<u8> = (0..32).collect();
        let line = format!("kind = \"chess\"\nmirrored = true\nking_buckets = {folded:?}");
        let architecture = read(&SMALL.replace("kind = \"chess\"", &line));
        let table = architecture.king_table();
        assert_eq!(table[..9], [0, 1, 2, 3, 3, 2, 1, 0, 4]);
        assert_eq!(table[63], 28);
        assert_eq!(architecture.king_bucket_count(), 32);
        assert_eq!(architecture.feature_count(), 32 * 768);
    }

    #[test]
    fn widths_follow_activations_skips_perspectives_and_buckets() {
        let layers = r#"
            [[layer]]
            name = "ft"
            outputs = 128
            activation = "pairwise-crelu"
            weights = "features"
            [[layer]]
            name = "a"
            outputs = 16
            skip = 1
            activation = "dual-crelu"
            bucketed = true
            [[layer]]
            name = "b"
            outputs = 1
            bucketed = true
        "#;
        let tensors: String = ["features", "ftb", "aw", "ab", "bw", "bb"]
            .iter()
            .map(|name| format!("[[tensor]]\nname = \"{name}\"\ntype = \"f32\"\n"))
            .collect();
        let text =
            format!("schema = 1\nname = \"x\"\n[input]\nkind = \"chess\"\n[buckets]\ncount = 8\n{layers}{tensors}");
        let architecture = read(&text);
        assert_eq!(architecture.tensor_shape("features"), Some((128, 768)));
        assert_eq!(architecture.tensor_shape("ftb"), Some((128, 1)));
        assert_eq!(architecture.tensor_shape("ftw"), None);
        assert_eq!(architecture.tensor_shape("aw"), Some((8 * 16, 2 * 64)));
        assert_eq!(architecture.tensor_shape("bw"), Some((8, 30)));
        assert_eq!(architecture.tensor_shape("bb"), Some((8, 1)));
        assert_eq!(architecture.tensor_role("ab"), Some(TensorRole { layer: 1, part: Part::Bias }));
        assert_eq!((architecture.active_outputs(1), architecture.activated_width(1)), (15, 30));
        assert_eq!(architecture.output_count(), 1);
    }

    #[test]
    fn layers_that_do_not_exist_have_nothing() {
        let architecture = read(SMALL);
        assert_eq!(architecture.layer_rows(2), 0);
        assert_eq!(architecture.layer_rows(usize::MAX), 0);
        assert_eq!(architecture.weights_name(2), "");
        assert_eq!(architecture.tensor_role(""), None);
    }

    #[test]
    fn an_unchecked_description_does_not_panic() {
        let mut architecture = read(SMALL);
        architecture.layers[0].outputs = usize::MAX;
        architecture.layers[1].outputs = usize::MAX;
        architecture.layers[1].bucketed = true;
        architecture.input.king_buckets = Some(vec![255; 3]);
        let _ = (architecture.layer_inputs(1), architecture.king_table(), architecture.bare_len_bytes());
        assert!(architecture.validate().is_err());
    }
}
