//! `.nnue` files of the Stockfish family on the command line, on a small network that is made up here.

use super::{host_tools, reference};
use std::fs;
use std::path::{Path, PathBuf};
use tamis_quant::stockfish::{Board, Encoding, FeatureSet, Head, Net, evaluate, to_bytes};
use tempfile::TempDir;
use tests::stockfish::{made_up, shape};

const FENS: [&str; 3] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r2q1rk1/pP1p2pp/Q4n2/bbp1p3/Np6/1B3NBn/pPPP1PPP/R3K2R b KQ - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 b - - 0 1",
];

/// A folder with the network's file in it.
fn with_file(net: &Net) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("net.nnue");
    fs::write(&path, to_bytes(net)).unwrap();
    (folder, path)
}

fn half_kp() -> Net {
    made_up(shape(FeatureSet::HalfKp, 32, Head::Clipped { first: 32 }), Encoding::Raw, 8)
}

fn small() -> Net {
    made_up(shape(FeatureSet::HalfKaV2Hm, 32, Head::Pairwise { squares: true }), Encoding::Leb128, 8)
}

/// One BulletFormat position: the start.
fn positions(folder: &Path) -> PathBuf {
    let path = folder.join("one.bf");
    let reference = fs::read(tests::own("reference/nnue.reference.safetensors")).unwrap();
    fs::write(&path, &reference[reference.len() - 32 * 64..]).unwrap();
    path
}

#[test]
fn a_file_is_packed_inspected_evaluated_verified_and_comes_back() {
    for net in [half_kp(), small()] {
        let (folder, file) = with_file(&net);
        let [model, again, fens] = ["model.bin", "again.nnue", "fens"].map(|name| folder.path().join(name));
        fs::write(&fens, FENS.join("\n")).unwrap();
        let ran = host_tools!("pack", file, "-o", model).fine();
        assert!(ran.text().contains(&net.shape.to_string()) && ran.text().contains("  proved: "), "{}", ran.text());
        let ran = host_tools!("unpack", model, "-o", again).fine();
        assert!(ran.text().contains("again.nnue (nnue)") && ran.text().contains("the same bytes that were packed"));
        assert!(fs::read(&file).unwrap() == fs::read(&again).unwrap());

        let wanted: Vec<(i32, i32, i32)> = FENS
            .iter()
            .map(|fen| {
                let found = evaluate(&net, &Board::from_fen(fen).unwrap());
                let parts = found.buckets[found.bucket];
                (found.value, parts.psqt, parts.positional)
            })
            .collect();
        let lines: Vec<String> = wanted.iter().map(|(value, psqt, rest)| format!("{value} {psqt} {rest}")).collect();
        for path in [&file, &model] {
            let ran = host_tools!("eval", path, "--fens", fens, "--parts").fine();
            assert_eq!(ran.text().lines().collect::<Vec<_>>(), lines);
        }
        let json = host_tools!("eval", model, "--fens", fens, "--json").fine().json();
        assert_eq!(json["values"][1][0], wanted[1].0);
        assert_eq!(json["parts"][1]["psqt"], wanted[1].1);

        let [of_file, of_model] = [&file, &model].map(|path| host_tools!("inspect", path, "--json").fine().json());
        assert_eq!((&of_file["signature"], &of_file["text"]), (&of_model["signature"], &"made up".into()));
        assert_eq!(of_model["proof"]["holds"], true);

        let batch = positions(folder.path());
        let ran = host_tools!("verify", model, "--positions", batch).fine();
        assert!(ran.text().contains("passed, on 64 examples"), "{}", ran.text());
        let ran = host_tools!("verify", model, "--positions", batch, "--checkpoint", file).fine();
        assert!(ran.text().contains("byte for byte"), "{}", ran.text());
    }
}

#[test]
fn another_networks_file_fails_the_verification() {
    let ((folder, file), (other, other_file)) = (with_file(&small()), with_file(&half_kp()));
    let model = folder.path().join("model.bin");
    host_tools!("pack", file, "-o", model).fine();
    let batch = positions(other.path());
    let ran = host_tools!("verify", model, "--positions", batch, "--checkpoint", other_file, "--json");
    assert_eq!((ran.status, &ran.json()["same_file"]), (1, &false.into()));
    assert!(ran.stderr.contains("made from another file"), "{}", ran.stderr);
}

#[test]
fn what_a_file_has_no_use_for_is_refused() {
    let (folder, file) = with_file(&small());
    let [out, model, cut, threats] = ["out", "model.bin", "cut.nnue", "new.nnue"].map(|name| folder.path().join(name));
    host_tools!("pack", file, "-o", model).fine();
    let bytes = fs::read(&file).unwrap();
    fs::write(&cut, &bytes[..bytes.len() - 9]).unwrap();
    fs::write(&threats, [0xFA, 0x8A, 0x44, 0x6A, 0, 0, 0, 0]).unwrap();
    let (checkpoint, arch) = reference();
    let batch = positions(folder.path());
    for (ran, status, words) in [
        (host_tools!("quantise", file, "-o", out), 2, "host-tools pack"),
        (host_tools!("pack", file, "--arch", arch, "-o", out), 2, "--arch"),
        (host_tools!("pack", file, "--permute", batch, "-o", out), 2, "--permute"),
        (host_tools!("pack", cut, "-o", out), 3, "cut.nnue: "),
        (host_tools!("pack", threats, "-o", out), 5, "threat inputs are not supported"),
        (host_tools!("eval", threats, "--fen", FENS[0]), 5, "threat inputs"),
        (host_tools!("pack", checkpoint, "-o", out), 2, "add --arch A.toml"),
        (host_tools!("verify", model), 2, "--positions"),
        (host_tools!("verify", model, "--positions", batch, "--checkpoint", model), 2, "is a container"),
        (host_tools!("verify", model, "--positions", batch, "--checkpoint", cut), 3, "cut.nnue"),
        (host_tools!("verify", model, "--positions", batch, "--html", out), 2, "--html"),
        (host_tools!("pack", file, "-o", file, "--force"), 2, "is an input"),
    ] {
        assert_eq!(ran.status, status, "{}", ran.stderr);
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
        assert!(!out.exists());
    }
    let (_folder, model) = super::with_model();
    let ran = host_tools!("eval", model, "--fen", FENS[0], "--parts");
    assert!(ran.status == 2 && ran.stderr.contains("--parts"), "{}", ran.stderr);
    let ran = host_tools!("verify", model, "--positions", batch);
    assert!(ran.status == 2 && ran.stderr.contains("--checkpoint"), "{}", ran.stderr);
}

/// A unit of which 32 rows on one board leave i16: refused with the list, written with `--unproved`.
#[test]
fn a_network_that_can_overflow_is_refused() {
    let mut net = small();
    for feature in 0..64 {
        net.transformer.weights.values[FeatureSet::HalfKaV2Hm.row_of(704 * 5 + feature) * 32 + 7] = -2000;
    }
    let (folder, file) = with_file(&net);
    let model = folder.path().join("model.bin");
    let ran = host_tools!("pack", file, "-o", model);
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("`ft.weight`, row 7") && ran.stderr.contains("witness: features [35"),
        "{}",
        ran.stderr
    );
    assert!(!model.exists());
    let ran = host_tools!("pack", file, "-o", model, "--unproved").fine();
    assert!(ran.stderr.contains("unproved"), "{}", ran.stderr);
    let batch = positions(folder.path());
    let ran = host_tools!("verify", model, "--positions", batch);
    assert!(ran.status == 1 && ran.stderr.contains("require_proof"), "{}", ran.stderr);
}
