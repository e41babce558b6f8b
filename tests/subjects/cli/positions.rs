//! Positions as text wherever BulletFormat goes, lists of features, and every output bucket.

use super::{description, host_tools, reference, with_model};
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use tamis_quant::positions::Position;

const FENS: [&str; 3] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "8/5k2/8/8/3R4/4K3/8/8 b - - 0 1",
    "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR w KQkq - 0 4",
];

#[test]
fn lines_go_wherever_records_go() {
    let (folder, model) = with_model();
    let (checkpoint, arch) = reference();
    let path = |name: &str| folder.path().join(name);
    let scores = [17, -240, 33];
    let mut text = "# three\n".to_owned();
    let mut records = Vec::new();
    for (fen, score) in FENS.iter().zip(scores) {
        writeln!(text, "{fen} | {score} | 0.5").unwrap();
        records.extend(Position::from_line(&format!("{fen} | {score} | 0.5")).unwrap().to_record());
    }
    let epd: String = FENS.iter().map(|fen| format!("{} bm e4; id \"x\";\n", &fen[..fen.len() - 4])).collect();
    let (bf, txt, epds) = (path("p.bf"), path("p.txt"), path("p.epd"));
    fs::write(&bf, records).unwrap();
    fs::write(&txt, text).unwrap();
    fs::write(&epds, epd).unwrap();

    let wanted = host_tools!("eval", model, "--positions", bf).fine();
    for file in [&txt, &epds] {
        assert_eq!(host_tools!("eval", model, "--positions", file).fine().text(), wanted.text());
        assert_eq!(host_tools!("eval", model, "--fens", file).fine().text(), wanted.text());
    }
    let first = wanted.text().lines().next().unwrap();
    assert_eq!(host_tools!("eval", model, "--fen", "startpos").fine().text().trim(), first);
    assert_eq!(host_tools!("eval", model, "--positions", txt, "--limit", "1").fine().text().trim(), first);

    // The whole report is the same; what three positions say about mistakes is no matter here.
    let verify = |file: &PathBuf| {
        let ran =
            host_tools!("verify", model, "--checkpoint", checkpoint, "--arch", arch, "--positions", file, "--json");
        let mut json = ran.json();
        assert_eq!(json["truth"]["examples"], 3);
        // BulletFormat holds a position as the side to move sees it.
        for worst in json["accuracy"]["worst"].as_array_mut().unwrap() {
            assert!(worst.as_object_mut().unwrap().remove("fen").is_some());
        }
        json
    };
    assert_eq!(verify(&bf), verify(&txt));

    let permuted = |file: &PathBuf, name: &str| {
        let (weights, arch) = (tests::own("reference/layers.weights.bin"), description("reference-layers"));
        host_tools!("quantise", weights, "--arch", arch, "--permute", file, "-o", path(name)).fine();
        fs::read(path(name)).unwrap()
    };
    assert_eq!(permuted(&bf, "a.bin"), permuted(&txt, "b.bin"));
}

#[test]
fn a_file_without_positions_is_refused_alike() {
    let (folder, model) = with_model();
    let (checkpoint, arch) = reference();
    for (name, text) in [("empty", ""), ("comments", "# nothing\n\n")] {
        let file = folder.path().join(name);
        fs::write(&file, text).unwrap();
        let out = folder.path().join("out");
        let layers = (tests::own("reference/layers.weights.bin"), description("reference-layers"));
        for ran in [
            host_tools!("eval", model, "--positions", file),
            host_tools!("eval", model, "--fens", file),
            host_tools!("verify", model, "--checkpoint", checkpoint, "--arch", arch, "--positions", file),
            host_tools!("quantise", layers.0, "--arch", layers.1, "--permute", file, "-o", out),
        ] {
            assert_eq!(ran.status, 2, "{name}: {}", ran.stderr);
            assert!(ran.stderr.contains(name) && ran.stderr.contains("positions"), "{}", ran.stderr);
            assert!(ran.stderr.contains("help:"), "{}", ran.stderr);
        }
    }
    for command in ["eval", "verify"] {
        let ran = if command == "eval" {
            host_tools!("eval", model, "--fen", "startpos", "--limit", "0")
        } else {
            let outputs = tests::own("reference/nnue.reference.safetensors");
            host_tools!("verify", model, "--reference", outputs, "--limit", "0")
        };
        assert!(ran.status == 2 && ran.stderr.contains("--limit 0"), "{command}: {}", ran.stderr);
    }
}

#[test]
fn every_bucket_is_shown_and_the_one_that_counts() {
    let (_folder, model) = with_model();
    let value = host_tools!("eval", model, "--fen", FENS[2]).fine().text().trim().to_owned();
    let text = host_tools!("eval", model, "--fen", FENS[2], "--buckets").fine();
    let rows: Vec<Vec<&str>> = text.text().lines().skip(2).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows.len(), 8, "{}", text.text());
    let used: Vec<&Vec<&str>> = rows.iter().filter(|row| row.len() == 3).collect();
    assert!(used.len() == 1 && used[0][1] == value && used[0][2] == "used", "{}", text.text());
    // 32 men are in the last bucket, and by its own count of men no other gives this value.
    let json = host_tools!("eval", model, "--fen", "startpos", "--buckets", "--json").fine().json();
    let buckets = json["buckets"][0].as_array().unwrap();
    assert_eq!(buckets.iter().position(|bucket| bucket["used"] == true), Some(7));
    assert_eq!(buckets[7]["values"], json["values"][0]);
    let (checkpoint, arch) = reference();
    let float = host_tools!("eval", checkpoint, "--arch", arch, "--float", "--fen", "startpos", "--buckets").fine();
    assert_eq!(float.text().lines().count(), 10, "{}", float.text());
}

/// Small pseudo-random numbers.
fn numbers(count: usize) -> Vec<f32> {
    let mut state = 1u32;
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32 - 0.5
    };
    (0..count).map(next).collect()
}

#[test]
fn lists_of_features_are_evaluated_and_verified() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (raw, model, lists, arch) = (path("raw.bin"), path("lists.bin"), path("lists.txt"), description("lists"));
    let values = numbers(24 * 16 + 16 + 2 * 32 + 2);
    fs::write(&raw, values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>()).unwrap();
    host_tools!("quantise", raw, "--arch", arch, "-o", model).fine();
    fs::write(&lists, "# own / other | bucket | score\n0 3 9 / 4 | 1 | 250\n/ 23\n7,1 / 2 5 | 0 | -30\n").unwrap();

    let integers = host_tools!("eval", model, "--feature-lists", lists).fine();
    let floats = host_tools!("eval", raw, "--arch", arch, "--float", "--feature-lists", lists).fine();
    assert_eq!((integers.text().lines().count(), floats.text().lines().count()), (3, 3));
    for (integer, float) in integers.text().lines().zip(floats.text().lines()) {
        let difference = integer.parse::<f64>().unwrap() - float.parse::<f64>().unwrap();
        assert!(difference.abs() < 20.0, "{integer} {float}");
    }
    assert!(integers.stderr.contains("summary: 2 scores, mean difference"), "{}", integers.stderr);
    // The other bucket is another number, and each has its own.
    let buckets =
        host_tools!("eval", model, "--feature-lists", lists, "--limit", "1", "--buckets", "--json").fine().json();
    assert_eq!(buckets["buckets"][0][1]["values"], buckets["values"][0]);
    assert_ne!(buckets["buckets"][0][0]["values"], buckets["values"][0]);

    let verified =
        host_tools!("verify", model, "--checkpoint", raw, "--arch", arch, "--feature-lists", lists, "--json")
            .fine()
            .json();
    assert_eq!((&verified["passed"], &verified["truth"]["examples"]), (&true.into(), &3.into()));

    let kings = with_model();
    let missing = path("missing");
    fs::write(path("bad"), "0 3 / 24\n").unwrap();
    for (ran, status, words) in [
        (host_tools!("eval", model, "--feature-lists", path("bad")), 3, "bad: line 1: `24` is no feature, 0 to 23"),
        (host_tools!("eval", model, "--feature-lists", missing), 4, "missing: cannot read"),
        (host_tools!("eval", kings.1, "--feature-lists", lists), 2, "help: a network of chess takes --positions"),
        (host_tools!("eval", model, "--fen", "startpos"), 2, "help: --feature-lists"),
        (host_tools!("verify", model, "--feature-lists", lists), 2, "--checkpoint"),
    ] {
        assert!(ran.status == status && ran.stderr.contains(words), "{words}: {} {}", ran.status, ran.stderr);
    }
}
