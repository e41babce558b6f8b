//! `.nnue` files of the Stockfish family on the command line, on a small network that is made up here.

use super::{host_tools, reference};
use std::fs;
use std::path::{Path, PathBuf};
use tamis_quant::stockfish::{Board, Division, Encoding, FeatureSet, Head, Net, evaluate, to_bytes};
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

/// With threats, with threats and pairs of pawns, and with the head of the latter and no relations.
fn since_18() -> [Net; 3] {
    [FeatureSet::Threats, FeatureSet::ThreatsAndPairs, FeatureSet::PHm]
        .map(|features| made_up(shape(features, 32, features.heads()[0]), Encoding::Leb128, 8))
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
    for net in [half_kp(), small()].into_iter().chain(since_18()) {
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
        // What every bucket makes of it.
        for path in [&file, &model] {
            let json = host_tools!("eval", path, "--fens", fens, "--buckets", "--json").fine().json();
            for (fen, rows) in FENS.iter().zip(json["buckets"].as_array().unwrap()) {
                let found = evaluate(&net, &Board::from_fen(fen).unwrap());
                let rows = rows.as_array().unwrap();
                assert_eq!(rows.len(), found.buckets.len(), "{fen}");
                for (bucket, (row, parts)) in rows.iter().zip(&found.buckets).enumerate() {
                    let wanted = serde_json::json!({
                        "bucket": bucket,
                        "used": bucket == found.bucket,
                        "values": [net.division.value(*parts)],
                        "parts": { "psqt": parts.psqt, "positional": parts.positional },
                    });
                    assert_eq!(*row, wanted, "{fen}");
                }
            }
        }

        let [of_file, of_model] = [&file, &model].map(|path| host_tools!("inspect", path, "--json").fine().json());
        assert_eq!((&of_file["signature"], &of_file["text"]), (&of_model["signature"], &"made up".into()));
        assert_eq!(of_model["proof"]["holds"], true);
        for (report, path) in [(&of_file, &file), (&of_model, &model)] {
            assert_eq!(report["len_bytes"], fs::metadata(path).unwrap().len());
            assert_eq!(report["container_len_bytes"], fs::metadata(&model).unwrap().len());
        }
        let ran = host_tools!("inspect", file).fine();
        let engine = match net.shape.features {
            FeatureSet::HalfKp => "640 features x 64 king buckets, without kings; 1 output bucket, 1 output\n",
            FeatureSet::PHm => "768 features x 1 king bucket, mirrored; 8 output buckets, 1 output\n",
            FeatureSet::Threats => {
                "704 features x 32 king buckets, mirrored, kings merged, and threats; 8 output buckets, 1 output\n"
            }
            FeatureSet::ThreatsAndPairs => {
                "704 features x 32 king buckets, mirrored, kings merged, and threats and pawn pairs; \
                 8 output buckets, 1 output\n"
            }
            _ => "704 features x 32 king buckets, mirrored, kings merged; 8 output buckets, 1 output\n",
        };
        let engine = format!("  engine     accumulator {} wide; {engine}", of_file["engine"]["accumulator"]);
        for words in [&engine, " bytes, as a container ", "is 1 of the family's internal units, not centipawns"] {
            assert!(ran.text().contains(words), "{words}: {}", ran.text());
        }

        let batch = positions(folder.path());
        let ran = host_tools!("verify", model, "--positions", batch).fine();
        assert!(ran.text().contains("passed, on 64 examples"), "{}", ran.text());
        let ran = host_tools!("verify", model, "--positions", batch, "--checkpoint", file).fine();
        assert!(ran.text().contains("byte for byte"), "{}", ran.text());
    }
}

/// Both rules in every report, with what decided; the container has the one it was packed with, and gives the same file
/// back.
#[test]
fn the_rule_of_division_is_found_chosen_stored_and_said() {
    // Of no release, and of the form that Stockfish 18 lite has.
    let lite = made_up(shape(FeatureSet::HalfKaV2Hm, 256, Head::Pairwise { squares: true }), Encoding::Raw, 5);
    for (mut net, default, by) in [(small(), Division::Once, "default"), (lite, Division::Twice, "architecture")] {
        let (folder, file) = with_file(&net);
        let [fens, model, again] = ["fens", "model.bin", "again.nnue"].map(|name| folder.path().join(name));
        fs::write(&fens, FENS.join("\n")).unwrap();
        let batch = positions(folder.path());
        for option in [None, Some(Division::Once), Some(Division::Twice)] {
            net.division = option.unwrap_or(default);
            let word = net.division.word();
            let formula = net.division.formula();
            let values: Vec<i32> =
                FENS.iter().map(|fen| evaluate(&net, &Board::from_fen(fen).unwrap()).value).collect();
            let given = option.map(|option| format!("--divide={}", option.word()));
            let given: Vec<&str> = given.as_deref().into_iter().collect();
            let by = if option.is_some() { "option" } else { by };
            let run = |arguments: &[&std::ffi::OsStr]| {
                let options = given.iter().map(std::ffi::OsStr::new);
                super::run(arguments.iter().copied().chain(options)).fine()
            };
            let (model, fens) = (model.as_os_str(), fens.as_os_str());
            let line = |path: &Path| match (path == file, option) {
                (true, Some(_)) => format!("{word}, {formula}; by --divide; without it {}, by ", default.word()),
                (true, None) => format!("{word}, {formula}; by "),
                (false, _) => format!("{word}, {formula}; by the container; "),
            };
            let ran = run(&["pack".as_ref(), file.as_ref(), "-o".as_ref(), model, "--force".as_ref()]);
            assert!(ran.text().contains(&format!("  divide     {}", line(&file))), "{}", ran.text());
            for (path, by) in [(file.as_path(), by), (Path::new(model), "container")] {
                let ran = run(&["eval".as_ref(), path.as_ref(), "--fens".as_ref(), fens]);
                let found: Vec<i32> = ran.text().lines().map(|line| line.parse().unwrap()).collect();
                assert_eq!(found, values, "{word}");
                assert!(ran.stderr.contains(&format!("values divided {}", line(path))), "{}", ran.stderr);
                for command in ["eval", "inspect"] {
                    let mut arguments: Vec<&std::ffi::OsStr> = vec![command.as_ref(), path.as_ref(), "--json".as_ref()];
                    if command == "eval" {
                        arguments.extend(["--fens".as_ref(), fens]);
                    }
                    let json = run(&arguments).json();
                    assert_eq!(
                        (&json["divide"]["rule"], &json["divide"]["by"]),
                        (&word.into(), &by.into()),
                        "{command}"
                    );
                }
                let ran = run(&["inspect".as_ref(), path.as_ref()]);
                assert!(ran.text().contains(&format!("  divide     {}", line(path))), "{}", ran.text());
                assert!(ran.text().contains(&format!("  divide = \"{word}\"\n")), "{}", ran.text());
            }
            let ran =
                run(&["pack".as_ref(), file.as_ref(), "-o".as_ref(), model, "--force".as_ref(), "--json".as_ref()]);
            assert_eq!((&ran.json()["divide"]["rule"], &ran.json()["divide"]["by"]), (&word.into(), &by.into()));
            host_tools!("unpack", model, "-o", again, "--force").fine();
            assert!(fs::read(&file).unwrap() == fs::read(&again).unwrap(), "{word}");

            // The container's rule, whatever the file's would be; the other one is refused.
            let verify = ["verify".as_ref(), model, "--positions".as_ref(), batch.as_os_str(), "--checkpoint".as_ref()];
            let verify = [&verify[..], &[file.as_os_str()]].concat();
            let ran = run(&verify);
            assert!(ran.text().contains(&format!("  divide      {}", line(Path::new(model)))), "{}", ran.text());
            let json = run(&[&verify[..], &["--json".as_ref()]].concat()).json();
            assert_eq!((&json["divide"]["rule"], &json["passed"]), (&word.into(), &true.into()));
            let other = if word == "once" { "twice" } else { "once" };
            for ran in [
                host_tools!("verify", model, "--positions", batch, "--checkpoint", file, "--divide", other),
                host_tools!("eval", model, "--fens", fens, "--divide", other),
                host_tools!("inspect", model, "--divide", other),
            ] {
                let words = format!("--divide {other}: {} divides {word}", Path::new(model).display());
                assert!(ran.status == 2 && ran.stderr.contains(&words), "{}", ran.stderr);
                assert!(ran.stderr.contains("help: leave it out, or make another container"), "{}", ran.stderr);
            }
        }
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
    assert_eq!(ran.json()["difference"]["byte"], 0, "the version");
    let ran = host_tools!("verify", model, "--positions", batch, "--checkpoint", other_file);
    assert!(ran.text().contains("NOT the file that comes back; byte 0 is the first that differs"), "{}", ran.text());
    assert!(ran.text().contains("packed from, not to "), "{}", ran.text());
}

#[test]
fn what_a_file_has_no_use_for_is_refused() {
    let (folder, file) = with_file(&small());
    let [out, model, cut, between] = ["out", "model.bin", "cut.nnue", "new.nnue"].map(|name| folder.path().join(name));
    host_tools!("pack", file, "-o", model).fine();
    let bytes = fs::read(&file).unwrap();
    fs::write(&cut, &bytes[..bytes.len() - 9]).unwrap();
    let short = folder.path().join("e.nnue");
    fs::write(&short, [0x20, 0x2F, 0xF3]).unwrap();
    // The hash of the inputs of SFNNv15, between Stockfish 18 and 19, 32 wide.
    let (mut other, inputs) = (bytes.clone(), 12 + usize::from(bytes[8]));
    other[inputs..inputs + 4].copy_from_slice(&(0x6165_D5C9u32 ^ 64).to_le_bytes());
    fs::write(&between, other).unwrap();
    let (checkpoint, arch) = reference();
    let batch = positions(folder.path());
    for (ran, status, words) in [
        (host_tools!("quantise", file, "-o", out), 5, "host-tools pack"),
        (host_tools!("pack", file, "--arch", arch, "-o", out), 2, "--arch"),
        (host_tools!("pack", file, "--permute", batch, "-o", out), 2, "--permute"),
        (host_tools!("pack", cut, "-o", out), 3, "cut.nnue: "),
        (host_tools!("pack", between, "-o", out), 5, "SFNNv15"),
        (host_tools!("eval", between, "--fen", FENS[0]), 5, "SFNNv15"),
        (host_tools!("pack", checkpoint, "-o", out), 2, "add --arch A.toml"),
        (host_tools!("verify", model), 2, "--positions"),
        (host_tools!("verify", model, "--positions", batch, "--checkpoint", model), 2, "is a container"),
        (host_tools!("verify", model, "--positions", batch, "--checkpoint", cut), 3, "cut.nnue"),
        (host_tools!("verify", model, "--positions", batch, "--reference", out), 2, "--reference"),
        (host_tools!("pack", file, "-o", file, "--force"), 2, "is an input"),
        (
            host_tools!("pack", short, "-o", out),
            3,
            "is the file cut off?\nhelp: copy or download it again, in binary mode",
        ),
        (host_tools!("verify", file, "--positions", batch), 5, "net.nnue -o OUT`"),
        (host_tools!("unpack", file, "-o", out), 5, "is a .nnue file, expected a container"),
        (host_tools!("export", file, "-o", out), 5, "is a .nnue file, which holds integers already"),
        (host_tools!("eval", file, "--inputs", batch), 5, "is a .nnue file, which holds integers already"),
        (host_tools!("eval", file, "--float", "--fen", FENS[0]), 5, "is a .nnue file, which holds integers already"),
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
    let bare = tests::own("vectors/tiny.bare.bin");
    for ran in [
        host_tools!("eval", model, "--fen", FENS[0], "--divide", "once"),
        host_tools!("inspect", model, "--divide", "once"),
        host_tools!("verify", model, "--positions", batch, "--divide", "once"),
        host_tools!("pack", bare, "--arch", arch, "-o", out, "--divide", "once"),
    ] {
        assert!(ran.status == 2 && ran.stderr.contains("is no network of the Stockfish family"), "{}", ran.stderr);
    }
    let ran = host_tools!("pack", file, "-o", out, "--divide", "thrice");
    assert!(ran.status == 2 && ran.stderr.contains("once, twice"), "{}", ran.stderr);
}

/// A unit of which sixteen rows on one board leave i16: refused with the list, written with `--unproved`.
#[test]
fn a_network_that_can_overflow_is_refused() {
    let mut net = small();
    for feature in 0..64 {
        net.transformer.weights.values[FeatureSet::HalfKaV2Hm.row_of(704 * 5 + feature) * 32 + 7] = -2300;
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
