//! `verify --partial` and `--merge`: parts of any size make the report that one run makes.

use super::{host_tools, reference, reference_positions, run};
use serde_json::Value;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use tests::own;
use tests::tolerances::MERGED_LAYERS;

/// Asserts that a merged report is the single one: the same to the last bit, but for sums of layers in tolerance.
fn is_whole(mut merged: Value, mut single: Value, place: &str) {
    let layers = |report: &mut Value| report["accuracy"]["layers"].take();
    let (found, wanted) = (layers(&mut merged), layers(&mut single));
    // A report names the file of its examples, where it is one.
    for report in [&mut merged, &mut single] {
        report["truth"]["inputs"].take();
    }
    assert_eq!(merged, single, "{place}");
    let (found, wanted) = (found.as_array().unwrap(), wanted.as_array().unwrap());
    assert_eq!(found.len(), wanted.len(), "{place}");
    for (found, wanted) in found.iter().zip(wanted) {
        for key in ["layer", "element", "max"] {
            assert_eq!(found[key], wanted[key], "{place}");
        }
        let size = wanted["sd"].as_f64().unwrap().max(wanted["mean"].as_f64().unwrap().abs());
        for key in ["mean", "sd"] {
            let apart = (found[key].as_f64().unwrap() - wanted[key].as_f64().unwrap()).abs();
            assert!(apart <= MERGED_LAYERS * size, "{place}: {key} {found} {wanted}");
        }
    }
}

fn merged(model: &Path, parts: &[PathBuf]) -> Value {
    let words = [OsString::from("verify"), model.into(), "--json".into(), "--merge".into()];
    run(words.into_iter().chain(parts.iter().map(OsString::from))).fine().json()
}

#[test]
fn positions_in_any_number_of_shards() {
    let folder = tempfile::tempdir().unwrap();
    let (checkpoint, arch) = reference();
    let positions = fs::read(reference_positions(folder.path())).unwrap();
    let positions = &positions[..32 * 700];
    let file = |name: &str| folder.path().join(name);
    let model = file("model.bin");
    host_tools!("quantise", checkpoint, "--arch", arch, "-o", model).fine();
    let measured = |bytes: &[u8], part: &Path| {
        fs::write(file("shard.bf"), bytes).unwrap();
        let options = ["--checkpoint", "--arch", "--positions"].map(OsString::from);
        let paths = [checkpoint.clone(), arch.clone(), file("shard.bf")].map(OsString::from);
        let words = options.into_iter().zip(paths).flat_map(|(option, path)| [option, path]);
        let words = [OsString::from("verify"), (&model).into()].into_iter().chain(words);
        let out = [OsString::from("--json"), "--partial".into(), part.into(), "--force".into()];
        let mut report = run(words.chain(out)).fine().json();
        assert_eq!(report["partial"].take(), part.to_str().unwrap());
        report.as_object_mut().unwrap().remove("partial");
        report
    };
    let single = measured(positions, &file("whole"));
    is_whole(merged(&model, &[file("whole")]), single.clone(), "one part");
    for cuts in [&[1][..], &[350], &[699], &[3, 64, 65, 500]] {
        let ends = cuts.iter().copied().chain([700]);
        let starts = [0].into_iter().chain(cuts.iter().copied());
        let parts: Vec<PathBuf> = starts
            .zip(ends)
            .map(|(start, end)| {
                let part = file(&format!("part.{start}"));
                measured(&positions[32 * start..32 * end], &part);
                part
            })
            .collect();
        is_whole(merged(&model, &parts), single.clone(), &format!("{cuts:?}"));
        // Parts of parts.
        let (both, rest) = parts.split_at(2);
        let first = file("first");
        host_tools!("verify", model, "--partial", first, "--force", "--merge", both[0], both[1]).fine();
        let again: Vec<PathBuf> = [first].into_iter().chain(rest.iter().cloned()).collect();
        is_whole(merged(&model, &again), single.clone(), &format!("{cuts:?} of parts"));
        // A part counts once, also as a part of a part.
        for twice in [&both[0], &both[1]] {
            let ran = host_tools!("verify", model, "--merge", again[0], twice);
            assert!(ran.status == 2 && ran.stderr.contains("the same numbers as a part before it"), "{}", ran.stderr);
        }
        let page = file("page.html");
        host_tools!("verify", model, "--html", page, "--force", "--merge", parts[0], parts[1]).fine();
        assert!(fs::read(&page).unwrap().starts_with(b"<!DOCTYPE html>"));
    }
}

#[test]
fn examples_of_graphs_with_labels() {
    let folder = tempfile::tempdir().unwrap();
    for (name, limit) in [("digits", 359), ("keywords", 24)] {
        let [checkpoint, arch, data] = ["safetensors", "toml", "reference.safetensors"]
            .map(|extension| own("reference").join(format!("{name}.{extension}")));
        let [model, labels] = [name, "labels"].map(|name| folder.path().join(name));
        host_tools!(
            "quantise",
            checkpoint,
            "--arch",
            arch,
            "--calibrate",
            data,
            "--calibrate-limit",
            "50",
            "-o",
            model
        )
        .fine();
        // Labels that the network meets: of others a report remarks how many it does not, in each part another number.
        let values = host_tools!("eval", model, "--inputs", data, "--array", "inputs", "--json").fine().json();
        let class = |row: &Value| {
            let row: Vec<f64> = row.as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect();
            (0..row.len()).max_by(|a, b| row[*a].total_cmp(&row[*b])).unwrap()
        };
        let numbers: String =
            values["values"].as_array().unwrap()[..limit].iter().map(|row| format!("{}\n", class(row))).collect();
        fs::write(&labels, numbers).unwrap();
        let measured = |skip: usize, limit: usize, part: &Path| {
            let (skip, limit) = (skip.to_string(), limit.to_string());
            let ran = host_tools!(
                "verify",
                model,
                "--checkpoint",
                checkpoint,
                "--arch",
                arch,
                "--inputs",
                data,
                "--array",
                "inputs",
                "--labels",
                labels,
                "--skip",
                skip,
                "--limit",
                limit,
                "--partial",
                part,
                "--force",
                "--json"
            );
            let mut report = ran.json();
            report.as_object_mut().unwrap().remove("partial");
            report
        };
        let parts: Vec<PathBuf> = ["a", "b", "c"].map(|name| folder.path().join(name)).into();
        let single = measured(0, limit, &parts[0]);
        for (part, ends) in parts.iter().zip([0, 7, limit / 2, limit].windows(2)) {
            measured(ends[0], ends[1] - ends[0], part);
        }
        let words = [OsString::from("verify"), (&model).into(), "--json".into(), "--merge".into()];
        let merged = run(words.into_iter().chain(parts.iter().map(OsString::from))).json();
        assert_eq!(merged["accuracy"]["predictions"]["correct"]["count"], limit);
        is_whole(merged, single, name);
    }
}

#[test]
fn parts_that_do_not_fit_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let (checkpoint, arch) = reference();
    let positions = reference_positions(folder.path());
    let other = super::doctored(folder.path());
    let [model, plain, part, foreign, damaged] = ["model", "plain", "part", "foreign", "damaged"].map(file);
    host_tools!("quantise", checkpoint, "--arch", arch, "-o", model).fine();
    host_tools!("quantise", checkpoint, "--arch", arch, "--scales", "trainer", "-o", plain).fine();
    let measure = |model: &Path, checkpoint: &Path, out: &Path| {
        host_tools!(
            "verify",
            model,
            "--checkpoint",
            checkpoint,
            "--arch",
            arch,
            "--positions",
            positions,
            "--limit",
            "50",
            "--partial",
            out
        )
    };
    measure(&model, &checkpoint, &part).fine();
    measure(&plain, &checkpoint, &foreign).fine();
    // What it found is in the part, and the merged report fails for it, too.
    let wrong = file("wrong");
    assert_eq!(measure(&model, &other, &wrong).status, 1);
    assert_eq!(host_tools!("verify", model, "--merge", wrong).status, 1);

    let whole = fs::read(&part).unwrap();
    let cases: [(&str, Vec<u8>); 4] = [
        ("empty", Vec::new()),
        ("cut", whole[..whole.len() - 8].to_vec()),
        ("changed", whole.iter().enumerate().map(|(at, byte)| byte ^ u8::from(at == whole.len() - 3)).collect()),
        ("container", fs::read(&model).unwrap()),
    ];
    for (what, bytes) in cases {
        fs::write(&damaged, bytes).unwrap();
        let ran = host_tools!("verify", model, "--merge", part, damaged);
        assert!(ran.status == 3 && ran.stderr.contains("damaged"), "{what}: {} {}", ran.status, ran.stderr);
    }
    for (ran, words) in [
        (host_tools!("verify", model, "--merge", part, foreign), "foreign"),
        (host_tools!("verify", plain, "--merge", part), "checksum"),
        (host_tools!("verify", model, "--merge", part, wrong), "another checkpoint"),
        (host_tools!("verify", model, "--merge", part, "--positions", positions), "--merge"),
        (measure(&model, &checkpoint, &part), "exists already"),
    ] {
        assert!(ran.status == 2 && ran.stderr.contains(words), "{words}: {} {}", ran.status, ran.stderr);
    }
    assert_eq!(host_tools!("verify", model, "--merge", file("none")).status, 4);
    assert!(fs::read(&part).unwrap() == whole);
}
