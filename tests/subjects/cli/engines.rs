//! What engines' networks become on the command line; needs the fixtures.

use super::{description, host_tools};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use tests::tolerances::{F32_TAIL_CENTIPAWNS, F64_PRINTED_CENTIPAWNS};
use tests::trials::Fixtures;

/// Description, bare file, key in `expected.json`, whether there is an overflow proof.
const NETS: [(&str, &str, &str, bool); 8] = [
    ("noggin", "noggin/quantised.bin", "noggin/quantised.bin", true),
    ("cwtch", "cwtch/quantised.bin", "cwtch/quantised.bin", false),
    ("matthriscu", "matthriscu/nnue.bin", "matthriscu/nnue.bin (crelu)", true),
    ("akimbo-buckets", "akimbo/net-27.12.23.bin", "akimbo/net-27.12.23.bin", true),
    ("akimbo-mirrored", "akimbo/net-12.01.24-epoch17.bin", "akimbo/net-12.01.24-epoch17.bin (hm)", true),
    (
        "akimbo-layers",
        "akimbo/morelayers-8-crelu-16-crelu-epoch17.bin",
        "akimbo/morelayers-8-crelu-16-crelu-epoch17.bin",
        true,
    ),
    ("alexandria", "alexandria/nn-72900856.net", "alexandria/nn-72900856.net (untransposed l1w, hm)", false),
    ("stormphrax", "stormphrax/net013.nnue", "stormphrax/net013.nnue (64-byte CBNF header)", true),
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
    for (name, file, key, proved) in NETS {
        let (bare, arch) = (fixtures.join(file), description(name));
        let (model, back) = (folder.path().join(name), folder.path().join(format!("{name}.back")));
        let packed = host_tools!("pack", bare, "--arch", arch, "-o", model);
        if proved {
            packed.fine();
        } else {
            assert_eq!(packed.status, 1, "{name}: {}", packed.stderr);
            assert!(
                packed.stderr.contains("tensor `l1w`, row") && packed.stderr.contains("witness"),
                "{}",
                packed.stderr
            );
            assert!(!model.exists(), "{name}");
            let ran = host_tools!("pack", bare, "--arch", arch, "-o", model, "--unproved").fine();
            assert!(ran.stderr.contains("warning: unproved"));
        }
        for tier in tamis_runtime::kernels::tiers() {
            let ran = host_tools!("eval", model, "--fens", fens, "--tier", tier.name).fine();
            compare(ran.text(), &expected["evals"][key], F32_TAIL_CENTIPAWNS, name);
        }
        assert_eq!(host_tools!("inspect", model).status, 0, "{name}");
        host_tools!("unpack", model, "-o", back).fine();
        assert!(fs::read(&back).unwrap() == fs::read(&bare).unwrap(), "{name}");
    }
}

#[test]
fn the_witness_of_cwtch_is_a_feature_list(fixtures: Fixtures) {
    let (fixtures, _) = nnue(&fixtures);
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let ran = host_tools!("pack", fixtures.join("cwtch/quantised.bin"), "--arch", description("cwtch"), "-o", out);
    assert!(ran.status == 1 && ran.stderr.contains("witness: features ["), "{}", ran.stderr);
}

#[test]
fn the_batch_agrees(fixtures: Fixtures) {
    let (fixtures, expected) = nnue(&fixtures);
    let folder = tempfile::tempdir().unwrap();
    let batch = fixtures.join("bullet/batch.bf");
    let expected = &expected["batch_bf_first64"];
    for (name, file, key, _) in NETS.into_iter().filter(|net| expected.get(net.2).is_some()) {
        let model = folder.path().join(name);
        host_tools!("pack", fixtures.join(file), "--arch", description(name), "-o", model, "--unproved").fine();
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
