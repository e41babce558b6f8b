//! Parallel text, vocabularies and alignments.

use std::cell::RefCell;
use std::fs;
use tamis_batches::{Alignment, BatchType, Files, Options, Pipeline, Vocabulary};
use tempfile::TempDir;

/// What is read strictly is read compatibly, as the same pairs.
pub fn alignment(bytes: &[u8]) -> bool {
    let Some((lengths, line)) = bytes.split_at_checked(2) else { return false };
    let (source, target) = (usize::from(lengths[0] % 32), usize::from(lengths[1] % 32));
    let Ok(line) = std::str::from_utf8(line) else { return false };
    let compatibly = Alignment::parse_compatibly(line, source, target);
    let Ok(strictly) = Alignment::parse(line, source, target) else { return compatibly.is_ok() };
    let ones = strictly.matrix(target, source).iter().filter(|cell| **cell == 1.0).count();
    assert!(ones <= strictly.pairs.len());
    assert_eq!(Ok(&strictly), compatibly.as_ref());
    true
}

thread_local! {
    /// Its files are written anew for every input.
    static FOLDER: RefCell<TempDir> = RefCell::new(tempfile::tempdir().expect("a temporary folder"));
}

/// Source, target, vocabulary and alignments, parted by bytes 1: every line that was read is in a batch or was dropped,
/// and the shapes are those of the lengths.
pub fn corpus(bytes: &[u8]) -> bool {
    FOLDER.with_borrow(|folder| {
        let mut parts = bytes.splitn(4, |byte| *byte == 1);
        let mut write = |name: &str| {
            let path = folder.path().join(name);
            let content = parts.next();
            fs::write(&path, content.unwrap_or_default()).expect("it can be written");
            (path, content.is_some())
        };
        let [(source, _), (target, _), (vocabulary, _), (alignments, has_alignments)] =
            ["src", "tgt", "vocab", "align"].map(&mut write);
        let Ok(read) = Vocabulary::read(&vocabulary) else { return false };
        assert!(read.size() == read.unknown() + 1 && read.unknown() >= 3);
        let files = Files {
            source,
            target,
            source_vocabulary: vocabulary.clone(),
            target_vocabulary: vocabulary,
            alignments: has_alignments.then_some(alignments),
        };
        let len = bytes.len() as u64;
        let options = Options {
            batch_type: if len.is_multiple_of(2) { BatchType::Examples } else { BatchType::Tokens },
            batch_size: 1 + len % 7,
            length_bucket_width: (!len.is_multiple_of(3)).then_some(1 + len % 3),
            max_source: (len % 5 == 1).then_some(4),
            truncate: len % 5 == 2,
            compat: len % 5 == 3,
            ..Options::default()
        };
        let Ok(mut pipeline) = Pipeline::open(&files, &options) else { return false };
        let mut rows = 0;
        for batch in pipeline.by_ref() {
            let Ok(batch) = batch else { return false };
            rows += batch.lines.len() as u64;
            assert_eq!(batch.source.ids.len(), batch.lines.len() * batch.source.width);
            assert_eq!(batch.target.ids.len(), batch.lines.len() * batch.target.width);
            assert_eq!(batch.target.ids_out.len(), batch.target.ids.len());
            assert!(batch.source.length.iter().all(|len| *len as usize <= batch.source.width));
            assert!(batch.source.ids.iter().chain(&batch.target.ids_out).all(|id| *id < read.size()));
        }
        let summary = pipeline.into_summary();
        let dropped = summary.dropped;
        let dropped = dropped.source_empty
            + dropped.source_too_long
            + dropped.target_too_long
            + dropped.irregular
            + dropped.incomplete;
        assert_eq!((rows, summary.lines), (summary.rows, rows + dropped), "{summary:?}");
        true
    })
}
