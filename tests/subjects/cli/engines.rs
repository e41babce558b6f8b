//! What engines' networks become on the command line; needs the fixtures.

use super::{description, host_tools};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use tests::tolerances::{F32_TAIL_CENTIPAWNS, F64_PRINTED_CENTIPAWNS};
use tests::trials::Fixtures;

/// Description, bare file, key in `expected.json`.
const NETS: [(&str, &str, &str); 8] = [
    ("noggin", "noggin/quantised.bin", "noggin/quantised.bin"),
    ("cwtch", "cwtch/quantised.bin", "cwtch/quantised.bin"),
    ("matthriscu", "matthriscu/nnue.bin", "matthriscu/nnue.bin (crelu)"),
    ("akimbo-buckets", "akimbo/net-27.12.23.bin", "akimbo/net-27.12.23.bin"),
    ("akimbo-mirrored", "akimbo/net-12.01.24-epoch17.bin", "akimbo/net-12.01.24-epoch17.bin (hm)"),
    (
        "akimbo-layers",
        "akimbo/morelayers-8-crelu-16-crelu-epoch17.bin",
        "akimbo/morelayers-8-crelu-16-crelu-epoch17.bin",
    ),
    ("alexandria", "alexandria/nn-72900856.net", "alexandria/nn-72900856.net (untransposed l1w, hm)"),
    ("stormphrax", "stormphrax/net013.nnue", "stormphrax/net013.nnue (64-byte CBNF header)"),
];

fn nnue(fixtures: &Path) -> (PathBuf, Value) {
    let folder = fixtures.join("nnue");
    let expected = serde_json::from_slice(&fs::read(folder.join("expected.json")).unwrap()).unwrap();
    (folder, expected)
}

fn write_fens(expected: &Value, folder: &Path) -> PathBuf {
    let fens: Vec<&str> = expected["fens"].as_array().unwrap().iter().map(|fen| fen.as_str().unwrap()).collect();
    let path = folder.join("fens");
    fs::write(&path, fens.join("\n")).unwrap();
    path
}

/// Lines against an array: integers exactly, reals within a tolerance.
fn compare(lines: &str, wanted: &Value, tolerance: f64, name: &str) {
    let wanted = wanted.as_array().unwrap();
    assert_eq!(lines.lines().count(), wanted.len(), "{name}");
    for (line, wanted) in lines.lines().zip(wanted) {
        if wanted.is_i64() {
            assert_eq!(line, wanted.to_string(), "{name}");
        } else {
            let difference = line.parse::<f64>().unwrap() - wanted.as_f64().unwrap();
            assert!(difference.abs() <= tolerance, "{name}: {line} {wanted}");
        }
    }
}

#[test]
fn noggins_quantised_file_comes_out_byte_for_byte(fixtures: Fixtures) {
    let (fixtures, _) = nnue(&fixtures);
    let folder = tempfile::tempdir().unwrap();
    let (raw, wanted) = (fixtures.join("noggin/raw.bin"), fs::read(fixtures.join("noggin/quantised.bin")).unwrap());
    let quantise = |arch: &Path, out: &str| {
        let out = folder.path().join(out);
        host_tools!("quantise", raw, "--arch", arch, "--form", "bare", "-o", out).fine();
        fs::read(&out).unwrap()
    };
    assert!(quantise(&description("noggin"), "right") == wanted);
    let text = fs::read_to_string(description("noggin")).unwrap();
    for (name, from, to) in [("truncating", "\"nearest\"", "\"truncate\""), ("scaled", "scale = 64", "scale = 63")] {
        let arch = folder.path().join(format!("{name}.toml"));
        fs::write(&arch, text.replace(from, to)).unwrap();
        assert!(quantise(&arch, name) != wanted, "{name}");
    }
}

#[test]
fn every_bare_network_packs_evaluates_and_comes_back(fixtures: Fixtures) {
    let (fixtures, expected) = nnue(&fixtures);
    let folder = tempfile::tempdir().unwrap();
    let fens = write_fens(&expected, folder.path());
    for (name, file, key) in NETS {
        let (bare, arch) = (fixtures.join(file), description(name));
        let (model, back) = (folder.path().join(name), folder.path().join(format!("{name}.back")));
        host_tools!("pack", bare, "--arch", arch, "-o", model).fine();
        for tier in tamis_runtime::kernels::tiers() {
            let ran = host_tools!("eval", model, "--fens", fens, "--tier", tier.name).fine();
            compare(ran.text(), &expected["evals"][key], F32_TAIL_CENTIPAWNS, name);
        }
        assert_eq!(host_tools!("inspect", model).status, 0, "{name}");
        host_tools!("unpack", model, "-o", back).fine();
        assert!(fs::read(&back).unwrap() == fs::read(&bare).unwrap(), "{name}");
    }
}

/// A network whose sums are not proved to fit 32 bits is packed with sums of 64, and `inspect` says so.
#[test]
fn sums_of_64_bits_are_said(fixtures: Fixtures) {
    let (fixtures, _) = nnue(&fixtures);
    let folder = tempfile::tempdir().unwrap();
    for (name, file, is_wide) in [("cwtch", "cwtch/quantised.bin", true), ("noggin", "noggin/quantised.bin", false)] {
        let out = folder.path().join(name);
        let ran = host_tools!("pack", fixtures.join(file), "--arch", description(name), "-o", out).fine();
        assert!(!ran.stderr.contains("unproved"), "{}", ran.stderr);
        let text = host_tools!("inspect", out).fine().text().to_owned();
        assert_eq!(text.contains("wide-head"), is_wide, "{text}");
        let is_of_sum = |line: &&str| line.split_whitespace().take(2).eq(["l1w", "sum"]);
        let sums: Vec<&str> = text.lines().filter(is_of_sum).collect();
        assert!(!sums.is_empty() && sums.iter().all(|line| line.contains(" i64 ") == is_wide), "{text}");
        assert!(text.contains("proved: no accumulator, sum or result can leave its type"), "{text}");
    }
}

#[test]
fn the_batch_agrees(fixtures: Fixtures) {
    let (fixtures, expected) = nnue(&fixtures);
    let folder = tempfile::tempdir().unwrap();
    let batch = fixtures.join("bullet/batch.bf");
    let expected = &expected["batch_bf_first64"];
    for (name, file, key) in NETS.into_iter().filter(|net| expected.get(net.2).is_some()) {
        let model = folder.path().join(name);
        host_tools!("pack", fixtures.join(file), "--arch", description(name), "-o", model).fine();
        let ran = host_tools!("eval", model, "--positions", batch, "--limit", "64").fine();
        compare(ran.text(), &expected[key], 0.0, name);
    }
}

#[test]
fn floats_are_those_of_the_reference(fixtures: Fixtures) {
    let (fixtures, expected) = nnue(&fixtures);
    let folder = tempfile::tempdir().unwrap();
    let fens = write_fens(&expected, folder.path());
    let find = |table: &Value, name: &str| {
        let (_, values) = table.as_object().unwrap().iter().find(|(key, _)| key.contains(name)).unwrap();
        values.clone()
    };
    for number in 1..=3 {
        let (name, file) = (format!("bullet-test{number}"), format!("test{number}.wgts"));
        let (checkpoint, arch) = (fixtures.join("bullet").join(&file), description(&name));
        let ran = host_tools!("eval", checkpoint, "--arch", arch, "--float", "--fens", fens).fine();
        compare(ran.text(), &find(&expected["evals"], &file), F64_PRINTED_CENTIPAWNS, &name);
        let batch = fixtures.join("bullet/batch.bf");
        let ran =
            host_tools!("eval", checkpoint, "--arch", arch, "--float", "--positions", batch, "--limit", "64").fine();
        compare(ran.text(), &find(&expected["batch_bf_first64"], &file), F64_PRINTED_CENTIPAWNS, &name);
    }
}
