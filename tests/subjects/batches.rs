//! Batches of parallel text against what OpenNMT-tf makes of the same files.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tamis_batches::{
    Alignment, Batch, BatchType, Buckets, Files, JsonLines, Options, Order, Pipeline, Prefetch, Shuffle, Vocabulary,
    boundaries, shard_starts, source_features, target_features, tokens, window_size,
};
use tests::batches::{all, corpus};
use tests::trials::Fixtures;

pub fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

pub fn onmt(fixtures: &Path) -> PathBuf {
    fixtures.join("onmt")
}

/// A batch as its line of JSON says it.
fn line(batch: &Batch) -> Value {
    let mut text = Vec::new();
    JsonLines::write(batch, &mut text).unwrap();
    assert_eq!(text.iter().filter(|byte| **byte == b'\n').count(), 1);
    serde_json::from_slice(&text).unwrap()
}

fn lines_of(path: &Path) -> Vec<String> {
    // No fixture has a carriage return within a line.
    fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
}

/// Rows of tokens, padded with nothing.
fn padded(rows: &[Vec<&str>]) -> Value {
    let width = rows.iter().map(Vec::len).max().unwrap_or(0);
    let mut all = Vec::new();
    for row in rows {
        let mut words = row.clone();
        words.resize(width, "");
        all.push(words);
    }
    all.into()
}

/// The base case of the fixtures.
fn tokens100() -> Options {
    Options {
        batch_type: BatchType::Tokens,
        batch_size: 100,
        length_bucket_width: Some(1),
        max_source: Some(12),
        max_target: Some(13),
        ..Options::default()
    }
}

#[test]
fn features_are_those_of_opennmt(fixtures: Fixtures) {
    let folder = onmt(&fixtures);
    let truth = json(&folder.join("seed10.features.json"));
    let files = corpus(&folder, "seed10");
    let source = Vocabulary::read(&files.source_vocabulary).unwrap();
    let target = Vocabulary::read(&files.target_vocabulary).unwrap();
    assert_eq!(truth["source_vocab_size"], source.size());
    assert_eq!(truth["target_vocab_size"], target.size());
    let rows = lines_of(&files.source).into_iter().zip(lines_of(&files.target));
    let checked = compare_rows(&truth, rows, &source, &target);
    assert_eq!(checked, 10);

    let truth = json(&folder.join("edge.features.json"));
    let vocabulary = Vocabulary::read(&folder.join("edge2.vocab")).unwrap();
    assert_eq!(truth["vocab_size_with_oov"], vocabulary.size());
    let sources = lines_of(&folder.join("edge.src"));
    let rows = sources.iter().cloned().zip(lines_of(&folder.join("edge.tgt")));
    assert_eq!(compare_rows(&truth, rows, &vocabulary, &vocabulary), 12);
    let files = Files {
        source: folder.join("edge.src"),
        target: folder.join("edge.tgt"),
        source_vocabulary: folder.join("edge2.vocab"),
        target_vocabulary: folder.join("edge2.vocab"),
        alignments: None,
    };
    let (batches, summary) =
        all(&files, &Options { max_source: Some(3), max_target: Some(3), ..Options::default() }).unwrap();
    let kept: Vec<u32> = batches.into_iter().flat_map(|batch| batch.lines).collect();
    let kept: Vec<bool> = (0..12).map(|line| kept.contains(&line)).collect();
    assert_eq!(truth["kept_with_max_3_3"], Value::from(kept));
    assert_eq!((summary.dropped.source_empty, summary.source_unknown), (2, 4));
}

fn compare_rows(
    truth: &Value,
    texts: impl Iterator<Item = (String, String)>,
    source: &Vocabulary,
    target: &Vocabulary,
) -> usize {
    let rows = truth["rows"].as_array().unwrap();
    let compared = rows.iter().zip(texts).map(|(row, (source_text, target_text))| {
        let (made, expected) = (source_features(&source_text, source), &row["source"]);
        assert_eq!(expected["length"], made.length, "{source_text}");
        assert_eq!(expected["tokens"], Value::from(made.tokens), "{source_text}");
        assert_eq!(expected["ids"], Value::from(made.ids), "{source_text}");
        let (made, expected) = (target_features(&target_text, target), &row["target"]);
        assert_eq!(expected["length"], made.length, "{target_text}");
        assert_eq!(expected["tokens"], Value::from(made.tokens), "{target_text}");
        assert_eq!(expected["ids"], Value::from(made.ids), "{target_text}");
        assert_eq!(expected["ids_out"], Value::from(made.ids_out), "{target_text}");
    });
    compared.count()
}

#[test]
fn a_duplicate_of_a_vocabulary_is_an_error_there_and_here(fixtures: Fixtures) {
    let folder = onmt(&fixtures);
    assert_eq!(json(&folder.join("edge.dupvocab.error.json"))["error"], "FailedPreconditionError");
    let message = Vocabulary::read(&folder.join("edge.vocab")).unwrap_err().to_string();
    assert!(message.ends_with("edge.vocab: line 6: `a` is there twice, first in line 4"), "{message}");
}

#[test]
fn small_batches_are_those_of_opennmt(fixtures: Fixtures) {
    let folder = onmt(&fixtures);
    let files = corpus(&folder, "seed10");
    let truth = json(&folder.join("seed10.batches.json"));
    let base = Options { max_source: None, max_target: None, ..tokens100() };
    let cases = BTreeMap::from([
        ("tokens100_w1", base.clone()),
        ("tokens100_w1_fp16x8", Options { batch_size_multiple: 8, ..base.clone() }),
        ("tokens100_w2", Options { length_bucket_width: Some(2), ..base }),
    ]);
    assert_eq!(truth.as_object().unwrap().len(), cases.len());
    let (sources, targets) = (lines_of(&files.source), lines_of(&files.target));
    for (name, options) in cases {
        let expected = truth[name].as_array().unwrap();
        let (batches, _) = all(&files, &options).unwrap();
        assert_eq!(batches.len(), expected.len(), "{name}");
        for (batch, expected) in batches.iter().zip(expected) {
            compare_batch(batch, expected, (&sources, &targets));
        }
    }
}

/// Every tensor of a batch, tokens included.
fn compare_batch(batch: &Batch, expected: &Value, (sources, targets): (&[String], &[String])) {
    let made = line(batch);
    let words = |texts: &'_ [String]| -> Value {
        let rows: Vec<Vec<&str>> = batch.lines.iter().map(|line| tokens(&texts[*line as usize]).collect()).collect();
        padded(&rows)
    };
    for (key, here) in [("length", "length"), ("ids", "ids")] {
        assert_eq!(expected["features"][key], made["src"][here]);
    }
    for (key, here) in [("length", "length"), ("ids", "ids"), ("ids_out", "ids_out")] {
        assert_eq!(expected["labels"][key], made["tgt"][here]);
    }
    assert_eq!(expected["features"]["tokens"], words(sources));
    assert_eq!(expected["labels"]["tokens"], words(targets));
}

#[test]
fn batches_of_every_configuration_are_those_of_opennmt(fixtures: Fixtures) {
    let folder = onmt(&fixtures);
    let files = corpus(&folder, "synth");
    let truth = json(&folder.join("synth.batches.json"));
    let mut compared = Vec::new();
    for (name, case) in truth.as_object().unwrap() {
        let mut options = tokens100();
        let mut whole = true;
        for (key, value) in case["config"].as_object().unwrap() {
            let number = value.as_u64();
            match key.as_str() {
                "batch_size" => options.batch_size = number.unwrap(),
                "batch_type" if value == "examples" => options.batch_type = BatchType::Examples,
                "batch_size_multiple" => options.batch_size_multiple = number.unwrap(),
                "batch_multiplier" => options.batch_multiplier = number.unwrap(),
                "length_bucket_width" => options.length_bucket_width = number,
                "maximum_features_length" => options.max_source = number,
                "maximum_labels_length" => options.max_target = number,
                "pad_to_bucket_boundary" => options.pad_to_bucket_boundary = value == true,
                // The first batches of many epochs.
                "single_pass" => (options.repeat, whole) = (3, false),
                "note" => {}
                other => panic!("{name}: {other}"),
            }
        }
        let expected = case["batches"].as_array().unwrap();
        let (batches, _) = all(&files, &options).unwrap();
        assert!(if whole { batches.len() == expected.len() } else { batches.len() > expected.len() }, "{name}");
        for (batch, expected) in batches.iter().zip(expected) {
            let rows = batch.lines.len();
            assert_eq!(expected["n"], rows, "{name}");
            assert_eq!(expected["lines"], Value::from(batch.lines.clone()), "{name}");
            assert_eq!(expected["src_shape"], Value::from(vec![rows, batch.source.width]), "{name}");
            assert_eq!(expected["tgt_shape"], Value::from(vec![rows, batch.target.width]), "{name}");
            assert_eq!(
                (batch.source.ids.len(), batch.target.ids.len()),
                (rows * batch.source.width, rows * batch.target.width)
            );
        }
        // A thread ahead changes nothing.
        let ahead: Vec<Batch> =
            Prefetch::start(Pipeline::open(&files, &options).unwrap(), 2).map(Result::unwrap).collect();
        assert!(ahead == batches, "{name}");
        compared.push(name.as_str());
    }
    assert_eq!(compared.len(), 12, "{compared:?}");

    let truth = json(&folder.join("synth.tokens100_w1.full.json"));
    let (batches, summary) = all(&files, &tokens100()).unwrap();
    let expected = truth["batches"].as_array().unwrap();
    assert_eq!((batches.len(), summary.rows, expected.len()), (35, 372, 35));
    for (batch, expected) in batches.iter().zip(expected) {
        let made = line(batch);
        for (key, side, here) in [
            ("src_length", "src", "length"),
            ("src_ids", "src", "ids"),
            ("tgt_length", "tgt", "length"),
            ("tgt_ids", "tgt", "ids"),
            ("tgt_ids_out", "tgt", "ids_out"),
        ] {
            assert_eq!(expected[key], made[side][here], "{key}");
        }
        assert_eq!(expected["lines"], made["lines"]);
    }
}

#[test]
fn windows_and_boundaries_are_those_of_opennmt(fixtures: Fixtures) {
    let folder = onmt(&fixtures);
    let number = |value: &Value| value.as_u64().unwrap();
    for case in json(&folder.join("window_sizes.json")).as_array().unwrap() {
        let [size, width, multiple] = ["batch_size", "width", "multiple"].map(|key| number(&case[key]));
        let expected = case["window_by_bucket_id"].as_array().unwrap();
        let windows: Vec<u64> =
            (0..expected.len() as u64).map(|bucket| window_size(size, bucket, width, multiple)).collect();
        assert_eq!(case["window_by_bucket_id"], Value::from(windows));
    }
    for case in json(&folder.join("bucket_boundaries.json")).as_array().unwrap() {
        let (width, longest) = (number(&case["width"]), number(&case["maximum_length"]));
        let bounds = boundaries(longest, width);
        assert_eq!(case["boundaries"], Value::from(bounds.clone()));
        for (name, sizes) in case["sizes"].as_object().unwrap() {
            let parts: Vec<&str> = name.split('_').collect();
            let options = Options {
                batch_type: if parts[0] == "tokens" { BatchType::Tokens } else { BatchType::Examples },
                batch_size: parts[1].parse().unwrap(),
                batch_size_multiple: parts[2].parse().unwrap(),
                length_bucket_width: Some(width),
                pad_to_bucket_boundary: true,
                ..Options::default()
            };
            let buckets = Buckets::new(&options);
            // What is as long as the last boundary would be in a bucket of size 1, which no line that passes the filter
            // reaches.
            let made: Vec<u64> = (0..bounds.len() as u64).map(|bucket| buckets.window(bucket)).chain([1]).collect();
            assert_eq!(sizes, &Value::from(made), "{name}");
            for (bucket, bound) in (0..).zip(&bounds) {
                assert_eq!(buckets.padded_length(bucket), Some(bound - 1));
                assert_eq!((buckets.bucket(bound - 1), buckets.bucket(*bound)), (bucket, bucket + 1));
            }
        }
    }
}

#[test]
fn compatible_shards_are_those_of_opennmt(fixtures: Fixtures) {
    let folder = onmt(&fixtures);
    let cases = json(&folder.join("random_shard.json"));
    for case in cases.as_array().unwrap() {
        let [total, size] = ["dataset_size", "shard_size"].map(|key| case[key].as_u64().unwrap() as u32);
        let starts = shard_starts(total, size, true);
        assert_eq!(case["offsets"], Value::from(starts.clone()), "{total} {size}");
        assert_eq!(case["num_shards"], starts.len());
        // What comes out, counted by what a shuffle by shards takes.
        let shuffle = Shuffle::Buffer(size);
        let mut order = Order::new(total, shuffle, 3, true);
        order.start();
        let expected = order.epoch_len();
        let mut seen = vec![0u32; total as usize];
        order.for_each(|line| seen[line as usize] += 1);
        assert_eq!(case["total_emitted"], seen.iter().sum::<u32>());
        assert_eq!(case["total_emitted"], expected);
        assert_eq!(case["elements_emitted_twice"], seen.iter().filter(|count| **count == 2).count());
        assert_eq!(case["elements_missing"], seen.iter().filter(|count| **count == 0).count());
        if let Some(observed) = case["observed_order_one_run"].as_array() {
            let mut observed: Vec<u64> = observed.iter().map(|line| line.as_u64().unwrap()).collect();
            observed.sort_unstable();
            let ours = seen.iter().zip(0..).flat_map(|(count, line)| vec![line; *count as usize]).collect::<Vec<u64>>();
            assert_eq!(observed, ours);
        }
    }
    assert_eq!(cases.as_array().unwrap().len(), 9);
}

#[test]
fn alignments_are_those_of_opennmt(fixtures: Fixtures) {
    let folder = onmt(&fixtures);
    let cases = json(&folder.join("alignments.json"));
    let (mut right, mut wrong) = (0, 0);
    for case in cases.as_array().unwrap() {
        let text = case["line"].as_str().unwrap();
        let [source, target] = ["source_length", "target_length"].map(|key| case[key].as_u64().unwrap() as usize);
        let (strict, compatible) =
            (Alignment::parse(text, source, target), Alignment::parse_compatibly(text, source, target));
        match case.get("matrix") {
            Some(matrix) => {
                let flat: Vec<f64> = matrix
                    .as_array()
                    .unwrap()
                    .iter()
                    .flat_map(|row| row.as_array().unwrap())
                    .map(|v| v.as_f64().unwrap())
                    .collect();
                let made = compatible.unwrap().matrix(target, source);
                assert_eq!(made.iter().map(|value| f64::from(*value)).collect::<Vec<_>>(), flat, "{text}");
                if text == "0-0-1 1" {
                    let message = strict.unwrap_err().to_string();
                    assert_eq!(message, "`0-0-1` is no pair SOURCE-TARGET of token numbers from 0");
                } else {
                    assert_eq!(strict.unwrap().matrix(target, source), made, "{text}");
                }
                right += 1;
            }
            None => {
                assert!(strict.is_err() && compatible.is_err(), "{text}");
                wrong += 1;
            }
        }
    }
    assert_eq!((right, wrong), (11, 8));

    let mut files = corpus(&folder, "align");
    files.alignments = Some(folder.join("align.txt"));
    let truth = json(&folder.join("align.batch.json"));
    let (sources, targets) = (lines_of(&files.source), lines_of(&files.target));
    let (batches, _) = all(&files, &Options { batch_size: 1, ..Options::default() }).unwrap();
    let expected = truth.as_array().unwrap();
    assert_eq!(batches.len(), expected.len());
    for (batch, expected) in batches.iter().zip(expected) {
        compare_batch(batch, expected, (&sources, &targets));
        let matrix = &expected["labels"]["alignment"];
        let whole = matrix.to_string().replace(".0", "");
        assert_eq!(line(batch)["alignment"].to_string(), whole);
    }
}

#[test]
fn published_numbers_hold() {
    // A hundred tokens, length 5: 20 rows; 16 in multiples of eight.
    assert_eq!(window_size(100, 4, 1, 1), 20);
    assert_eq!(window_size(100, 4, 1, 8), 16);
    // 250 lines in shards of 50.
    for compat in [false, true] {
        assert_eq!(shard_starts(250, 50, compat), [0, 50, 100, 150, 200]);
    }
    let identity = Alignment::parse("0-0 1-1 2-2", 3, 3).unwrap();
    assert_eq!(identity.matrix(3, 3), [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
}
