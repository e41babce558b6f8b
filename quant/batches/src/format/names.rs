//! What tensors and metadata of a file of batches are called.
//!
//! Batch `N`, from 0, is `batch.N.lines`, `batch.N.src.ids`, `batch.N.src.length`, `batch.N.tgt.ids`,
//! `batch.N.tgt.ids_out`, `batch.N.tgt.length`, all of i32, and with alignments `batch.N.alignment` of f32.

/// The value of the metadata's `format`.
pub const FORMAT: &str = "tamis-batches-1";
/// The metadata's key of the form's name.
pub const FORMAT_KEY: &str = "format";
/// The metadata's key of the number of batches.
pub const BATCHES_KEY: &str = "batches";
/// The metadata's key of the number of source ids, that of unknown tokens among them.
pub const SOURCE_VOCABULARY_KEY: &str = "src_vocabulary";
/// The same of the target.
pub const TARGET_VOCABULARY_KEY: &str = "tgt_vocabulary";

/// (rows,): line numbers from 0.
pub const LINES: &str = "lines";
/// (rows, width)
pub const SOURCE_IDS: &str = "src.ids";
/// (rows,)
pub const SOURCE_LENGTH: &str = "src.length";
/// (rows, width): `<s>`, then the tokens.
pub const TARGET_IDS: &str = "tgt.ids";
/// (rows, width): the tokens, then `</s>`.
pub const TARGET_IDS_OUT: &str = "tgt.ids_out";
/// (rows,): the tokens and one.
pub const TARGET_LENGTH: &str = "tgt.length";
/// (rows, target tokens, source tokens)
pub const ALIGNMENT: &str = "alignment";
/// (rows,), u8: classes, which whoever has them adds.
pub const LABELS: &str = "labels";
/// (rows, outputs), f32: what another framework computed, and whoever has it adds.
pub const LOGITS: &str = "logits";

/// The name of a batch's tensor.
#[must_use]
pub fn of(batch: usize, part: &str) -> String {
    format!("batch.{batch}.{part}")
}
