//! Corpora for the tests of batches.

use std::fs;
use std::path::Path;
use tamis_batches::{Batch, BatchError, Files, Options, Pipeline, Summary};

/// A vocabulary of five letters: `a` is 3, `e` 7, and what is unknown 8.
pub const LETTERS: &str = "<blank>\n<s>\n</s>\na\nb\nc\nd\ne\n";

/// The files of a corpus: NAME.src, NAME.tgt, NAME.src.vocab, NAME.tgt.vocab.
pub fn corpus(folder: &Path, name: &str) -> Files {
    let file = |end: &str| folder.join(format!("{name}.{end}"));
    Files {
        source: file("src"),
        target: file("tgt"),
        source_vocabulary: file("src.vocab"),
        target_vocabulary: file("tgt.vocab"),
        alignments: None,
    }
}

/// Writes a corpus with that vocabulary on both sides.
pub fn write_corpus(folder: &Path, source: &str, target: &str) -> Files {
    for (end, text) in [("src", source), ("tgt", target), ("src.vocab", LETTERS), ("tgt.vocab", LETTERS)] {
        fs::write(folder.join(format!("c.{end}")), text).unwrap();
    }
    corpus(folder, "c")
}

/// Every batch, and what became of the lines.
pub fn all(files: &Files, options: &Options) -> Result<(Vec<Batch>, Summary), BatchError> {
    let mut pipeline = Pipeline::open(files, options)?;
    let batches = pipeline.by_ref().collect::<Result<_, _>>()?;
    Ok((batches, pipeline.into_summary()))
}
