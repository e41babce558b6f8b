//! The rules of batches where OpenNMT-tf has no fixture: against a page of obvious code, and what is refused.

use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use tamis_batches::{Batch, BatchType, Blame, Files, Options, Shuffle, picture};
use tests::batches::{all, write_corpus};

/// Lines and widths of a batch.
type Rows = (Vec<u32>, usize, usize);

/// The rules of BATCHES.md, written down again. lengths: tokens of a source and of its target, a pair a line.
fn obvious(lengths: &[(u64, u64)], options: &Options) -> Vec<Rows> {
    let size = options.batch_size * options.batch_multiplier;
    let multiple = options.batch_size_multiple;
    let mut made = Vec::new();
    let mut give = |rows: &[u32], bucket: u64, most: usize| {
        for rows in rows.chunks(most) {
            if !(rows.len() as u64).is_multiple_of(options.batch_multiplier) && !options.keep_irregular {
                continue;
            }
            let of = |line: &u32| lengths[*line as usize];
            let bound = options.length_bucket_width.map(|width| (bucket + 1) * width);
            let (source, target) = match bound.filter(|_| options.pad_to_bucket_boundary) {
                Some(bound) => (bound, bound),
                None => (
                    rows.iter().map(|line| of(line).0).max().unwrap(),
                    rows.iter().map(|line| of(line).1 + 1).max().unwrap(),
                ),
            };
            made.push((rows.to_vec(), source as usize, target as usize));
        }
    };
    for _ in 0..options.repeat {
        let mut open = BTreeMap::<u64, Vec<u32>>::new();
        for (line, (source, target)) in (0u32..).zip(lengths) {
            let target = target + 1;
            if *source == 0 || *source > options.max_source.unwrap_or(99) || target > options.max_target.unwrap_or(99) {
                continue;
            }
            let longer = target.max(*source);
            let bucket = options.length_bucket_width.map_or(0, |width| longer.div_ceil(width) - 1);
            let rows = match (options.batch_type, options.length_bucket_width) {
                (BatchType::Tokens, Some(width)) => size / ((bucket + 1) * width),
                _ => size,
            };
            let down = (rows / multiple * multiple).max(multiple);
            let is_exact = options.batch_type == BatchType::Examples && !options.pad_to_bucket_boundary;
            let window = if is_exact { size } else { down };
            let waiting = open.entry(bucket).or_default();
            waiting.push(line);
            if waiting.len() as u64 == window {
                let most = if options.pad_to_bucket_boundary { window } else { size };
                give(&std::mem::take(waiting), bucket, most as usize);
            }
        }
        for (bucket, waiting) in open {
            if !options.pad_to_bucket_boundary {
                give(&waiting, bucket, size as usize);
            }
        }
    }
    made
}

fn any_options() -> impl Strategy<Value = Options> {
    let width = prop_oneof![Just(None), (1u64..7).prop_map(Some)];
    let most = || prop_oneof![Just(None), (1u64..13).prop_map(Some)];
    let numbers = (1u64..40, width, 1u64..9, 1u64..4, most(), most(), 1u64..3);
    (numbers, any::<[bool; 3]>()).prop_map(|(numbers, [tokens, keep_irregular, boundary])| {
        let (batch_size, length_bucket_width, batch_size_multiple, batch_multiplier, max_source, max_target, repeat) =
            numbers;
        let has_width = length_bucket_width.is_some();
        Options {
            batch_type: if tokens && has_width { BatchType::Tokens } else { BatchType::Examples },
            batch_size,
            length_bucket_width,
            batch_size_multiple,
            batch_multiplier,
            keep_irregular,
            pad_to_bucket_boundary: boundary && has_width && max_source.is_some() && max_target.is_some(),
            max_source,
            max_target,
            repeat,
            ..Options::default()
        }
    })
}

/// A line of so many letters, which its number decides.
fn words(line: usize, len: u64) -> String {
    let letters = ["a", "b", "c", "d", "e", "x"];
    (0..len as usize).map(|word| letters[(line * 5 + word * (line + 1)) % 6]).collect::<Vec<_>>().join(" ")
}

/// The ids of a row: letters, padding, marks.
fn ids(line: usize, len: u64, width: usize, marks: (Option<u32>, Option<u32>)) -> Vec<u32> {
    let letters = words(line, len);
    let letter = |word: &str| "abcdex".find(word).unwrap() as u32 + 3;
    let middle = letters.split_whitespace().map(letter);
    let mut ids: Vec<u32> = marks.0.into_iter().chain(middle).chain(marks.1).collect();
    ids.resize(width, 0);
    ids
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn batches_follow_the_obvious_rules(
        lengths in prop::collection::vec((0u64..13, 0u64..13), 1..80),
        options in any_options(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let side = |of: fn(&(u64, u64)) -> u64| -> String {
            lengths.iter().enumerate().map(|(line, pair)| words(line, of(pair)) + "\n").collect()
        };
        let files = write_corpus(folder.path(), &side(|pair| pair.0), &side(|pair| pair.1));
        let (batches, summary) = all(&files, &options).unwrap();
        let expected = obvious(&lengths, &options);
        let made: Vec<Rows> =
            batches.iter().map(|batch| (batch.lines.clone(), batch.source.width, batch.target.width)).collect();
        prop_assert_eq!(&made, &expected);
        for batch in &batches {
            for (row, line) in batch.lines.iter().enumerate() {
                let (source, target) = lengths[*line as usize];
                let line = *line as usize;
                let of = |ids: &[u32], width: usize| ids[row * width..][..width].to_vec();
                let (wide, tall) = (batch.source.width, batch.target.width);
                prop_assert_eq!(of(&batch.source.ids, wide), ids(line, source, wide, (None, None)));
                prop_assert_eq!(of(&batch.target.ids, tall), ids(line, target, tall, (Some(1), None)));
                prop_assert_eq!(of(&batch.target.ids_out, tall), ids(line, target, tall, (None, Some(2))));
                prop_assert_eq!(u64::from(batch.source.length[row]), source);
                prop_assert_eq!(u64::from(batch.target.length[row]), target + 1);
            }
        }
        let dropped = summary.dropped;
        let too_long = dropped.source_too_long + dropped.target_too_long;
        let gone = dropped.source_empty + too_long + dropped.irregular + dropped.incomplete;
        prop_assert_eq!(summary.lines, options.repeat * lengths.len() as u64);
        prop_assert_eq!(summary.rows + gone, summary.lines);
    }
}

#[test]
fn forty_five_equal_lines_are_cut_as_published() {
    // 45 lines of length 5 are 20, 20 and 5 rows; 16, 16 and 13.
    let folder = tempfile::tempdir().unwrap();
    let files = write_corpus(folder.path(), &"a b c d e\n".repeat(45), &"a b c d\n".repeat(45));
    let rows = |options: &Options| -> Vec<usize> {
        all(&files, options).unwrap().0.iter().map(|batch| batch.lines.len()).collect()
    };
    let options =
        Options { batch_type: BatchType::Tokens, batch_size: 100, length_bucket_width: Some(1), ..Options::default() };
    assert_eq!(rows(&options), [20, 20, 5]);
    assert_eq!(rows(&Options { batch_size_multiple: 8, ..options }), [16, 16, 13]);
}

#[test]
fn a_shuffle_changes_the_order_only_and_gzip_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let letters = ["a", "b", "c", "d", "e"];
    let side = |shift: usize| -> String {
        (0..500).map(|line| letters[..1 + (line * 7 + shift) % 5].join(" ") + "\n").collect()
    };
    let files = write_corpus(folder.path(), &side(0), &side(2));
    let mut packed = files.clone();
    for path in [&mut packed.source, &mut packed.target, &mut packed.source_vocabulary] {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        std::io::Write::write_all(&mut encoder, &fs::read(&*path).unwrap()).unwrap();
        path.as_mut_os_string().push(".gz");
        fs::write(&*path, encoder.finish().unwrap()).unwrap();
    }
    let in_order = Options { batch_size: 7, length_bucket_width: Some(2), ..Options::default() };
    let rows = |batches: &[Batch]| -> Vec<String> {
        let row = |batch: &Batch, row: usize| {
            let ids = batch.source.ids.iter().skip(row * batch.source.width).take(batch.source.length[row] as usize);
            format!("{} {:?}", batch.lines[row], ids.collect::<Vec<_>>())
        };
        let mut rows: Vec<String> =
            batches.iter().flat_map(|batch| (0..batch.lines.len()).map(move |place| row(batch, place))).collect();
        rows.sort_unstable();
        rows
    };
    let (plain, _) = all(&files, &in_order).unwrap();
    let truth = rows(&plain);
    assert_eq!(truth.len(), 500);
    assert!(all(&packed, &in_order).unwrap().0 == plain);
    let mut seen = Vec::new();
    for shuffle in [Shuffle::Whole, Shuffle::Buffer(64), Shuffle::Buffer(499), Shuffle::Buffer(2)] {
        for seed in [1, 2] {
            let options = Options { shuffle, seed, ..in_order.clone() };
            let (batches, summary) = all(&files, &options).unwrap();
            assert_eq!(rows(&batches), truth, "{shuffle:?}");
            assert_eq!((summary.lines, summary.rows), (500, 500));
            assert!(all(&packed, &options).unwrap().0 == batches, "{shuffle:?}");
            assert!(!seen.contains(&batches), "{shuffle:?}");
            seen.push(batches);
        }
    }
    // A buffer for all lines is a shuffle of the whole, and so are shards of one line.
    let of = |shuffle| all(&files, &Options { shuffle, ..in_order.clone() }).unwrap().0;
    assert!(of(Shuffle::Buffer(500)) == of(Shuffle::Whole) && of(Shuffle::Buffer(1)) == of(Shuffle::Whole));
    // The second epoch of a shuffle is another one; without a shuffle it is the same.
    let twice = |shuffle| all(&files, &Options { repeat: 2, shuffle, ..in_order.clone() }).unwrap().0;
    let again = twice(Shuffle::None);
    assert!(again[..plain.len()] == plain && again[plain.len()..] == plain);
    let shuffled = twice(Shuffle::Whole);
    let (first, second) = shuffled.split_at(plain.len());
    assert!(first != second);
    assert_eq!(rows(first), rows(second));
}

#[test]
fn what_is_dropped_and_padded_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let source = "a\n\na b c\na b\na b\nz b\n";
    let target = "a b c\na\na\na b c d\n\na b\n";
    let files = write_corpus(folder.path(), source, target);
    let options = Options {
        batch_size: 2,
        batch_multiplier: 2,
        length_bucket_width: Some(10),
        max_source: Some(2),
        max_target: Some(4),
        ..Options::default()
    };
    let (batches, summary) = all(&files, &options).unwrap();
    assert!(batches.is_empty(), "three rows for two devices");
    let dropped = summary.dropped;
    assert_eq!((dropped.source_empty, dropped.source_too_long, dropped.target_too_long), (1, 1, 1));
    assert_eq!((dropped.irregular, dropped.incomplete), (3, 0));

    let (batches, summary) = all(&files, &Options { keep_irregular: true, ..options.clone() }).unwrap();
    assert_eq!(batches[0].lines, [0, 4, 5]);
    // Source rows of 1, 2 and 2 tokens; target rows of 4, 1 and 3 with their mark.
    let bucket = summary.buckets[0];
    assert_eq!((bucket.from, bucket.to, bucket.batches, bucket.rows), (1, Some(10), 1, 3));
    assert_eq!((bucket.source_ids, bucket.source_padding, bucket.target_ids, bucket.target_padding), (5, 1, 8, 4));
    assert_eq!(
        (summary.source_tokens, summary.source_unknown, summary.target_tokens, summary.target_unknown),
        (5, 1, 5, 0)
    );
    let drawn = picture(&summary);
    assert_eq!(drawn.matches("class=\"padding\"").count(), 2, "one bar and its key");
    assert!(drawn.contains("1 batches, 3 rows, 27.78 % of 18 ids pad"), "{drawn}");

    let (batches, summary) =
        all(&files, &Options { batch_size: 4, batch_multiplier: 1, pad_to_bucket_boundary: true, ..options }).unwrap();
    assert_eq!((batches.len(), summary.dropped.incomplete), (0, 3));
}

#[test]
fn what_is_wrong_with_a_corpus_is_named_by_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    let base = write_corpus(folder.path(), "a\nb\nc\n", "a\nb\nc\n");
    let put = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let short = put("short", b"a\nb\n");
    let latin = put("latin", b"a\nb\xe9\nc\n");
    let aligned = |text: &str| Some(put("alignments", text.as_bytes()));
    let shuffles = [Shuffle::None, Shuffle::Whole, Shuffle::Buffer(2)];
    for shuffle in shuffles {
        let refuse = |files: Files, words: &str| {
            let error = all(&files, &Options { shuffle, ..Options::default() }).unwrap_err();
            assert!(error.to_string().contains(words), "{words}: {error}");
            assert_eq!(error.blame(), Blame::File, "{error}");
        };
        refuse(Files { target: short.clone(), ..base.clone() }, "short: line 3: the file has 2 lines, ");
        refuse(Files { source: short.clone(), ..base.clone() }, "short: line 3: the file has 2 lines, ");
        refuse(Files { source: latin.clone(), ..base.clone() }, "latin: line 2: byte 1 of the line is not UTF-8");
        refuse(
            Files { source: put("empty", b""), target: put("empty", b""), ..base.clone() },
            "empty: line 1: there is none",
        );
        refuse(
            Files { alignments: aligned("0-0\n0-0\n1-0\n"), ..base.clone() },
            "alignments: line 3: source token 1 of an alignment",
        );
        refuse(Files { alignments: aligned("0-0\n0-1\n0-0\n"), ..base.clone() }, "alignments: line 2: target token 1");
        refuse(Files { alignments: aligned("0\n\n\n"), ..base.clone() }, "alignments: line 1: `0` is no pair");
        refuse(
            Files { alignments: aligned("0-99999999999999999999\n\n\n"), ..base.clone() },
            "alignments: line 1: target token",
        );
        refuse(Files { alignments: aligned("0-0\n"), ..base.clone() }, "alignments: line 2: the file has 1 lines, ");
        // Truncated corpora are as long as the shortest.
        let files = Files { target: short.clone(), ..base.clone() };
        let (batches, _) = all(&files, &Options { shuffle, truncate: true, ..Options::default() }).unwrap();
        assert_eq!(batches[0].lines.len(), 2);
    }
    let damaged = put("damaged.gz", &[0x1F, 0x8B, 8, 0, 0]);
    let missing = Files { source: folder.path().join("none"), ..base.clone() };
    assert_eq!(all(&missing, &Options::default()).unwrap_err().blame(), Blame::System);
    let damaged = Files { source: damaged, ..base.clone() };
    for shuffle in shuffles {
        assert_eq!(all(&damaged, &Options { shuffle, ..Options::default() }).unwrap_err().blame(), Blame::File);
    }
    // A matrix of 2^15 by 2^15 is not made.
    let long = put("long", "a ".repeat(1 << 15).as_bytes());
    let files = Files { source: long.clone(), target: long, alignments: Some(put("one", b"\n")), ..base };
    let error = all(&files, &Options::default()).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("long: line 1: a batch with this line has 1073741824 elements in one tensor, at most 268435456"),
        "{error}"
    );
}

#[test]
fn options_that_do_not_fit_together_are_refused() {
    let base = Options::default;
    for (options, words) in [
        (Options { batch_size: 0, ..base() }, "--batch-size 0: expected 1 to"),
        (
            Options { batch_size: 1 << 24, batch_multiplier: 2, ..base() },
            "--batch-size times --batch-multiplier 33554432",
        ),
        (Options { batch_size_multiple: 0, ..base() }, "--batch-size-multiple 0"),
        (Options { length_bucket_width: Some(0), ..base() }, "--length-bucket-width 0"),
        (Options { max_source: Some(0), ..base() }, "--max-src 0"),
        (Options { repeat: 0, ..base() }, "--repeat 0"),
        (Options { batch_type: BatchType::Tokens, ..base() }, "--batch-type tokens needs --length-bucket-width"),
        (
            Options { pad_to_bucket_boundary: true, length_bucket_width: Some(4), ..base() },
            "needs --length-bucket-width, --max-src and --max-tgt",
        ),
    ] {
        let error = options.check().unwrap_err().to_string();
        assert!(error.contains(words), "{words}: {error}");
    }
    assert_eq!(base().check(), Ok(()));
}
