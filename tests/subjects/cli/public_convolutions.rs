//! Public networks over maps in every form, each held against the others.

use super::run;
use serde_json::Value;
use std::ffi::OsString;
use std::path::Path;
use tests::trials::Fixtures;

/// The mistakes of a report, by name.
fn mistakes(report: &Value) -> Vec<&str> {
    report["mistakes"].as_array().unwrap().iter().map(|mistake| mistake["kind"].as_str().unwrap()).collect()
}

/// How the stored inputs of a public network are read.
fn unit(name: &str) -> &'static [&'static str] {
    match name {
        "kws" | "kws_ckpt" => &["--input-unit", "0.5847029089927673", "--input-zero", "83"],
        "ic" => &["--input-unit", "1"],
        "vww" => &["--input-unit", "0.00392156862745098"],
        _ => &[],
    }
}

/// A container of one form, held against all other forms of its network: nothing is found. KWS is also held against
/// what a converter made of it, which lost a bias, and another training.
#[test]
fn public_networks_in_every_form(fixtures: Fixtures) {
    let folder = tempfile::tempdir().unwrap();
    let root = fixtures.join("mlperf");
    let cases: [(&str, &[&str], &str); 5] = [
        ("kws", &["kws_float.tflite", "kws_float.onnx"], "200"),
        ("kws_ckpt", &["kws_ckpt_float.tflite", "kws_ckpt_bn.onnx", "external/kws_ckpt_external.onnx"], "60"),
        ("ad", &["ad_float.tflite", "ad_float.onnx", "ad_float_tf2onnx13.onnx"], "92"),
        ("ic", &["ic_float.tflite", "ic_float_tf2onnx13.onnx"], "16"),
        ("vww", &["vww_float.tflite", "vww_float_tf2onnx13.onnx"], "16"),
    ];
    for (name, forms, limit) in cases {
        let path = |form: &str| root.join(name).join(form);
        let arrays = path(&format!("{name}.npz"));
        let model = folder.path().join(name);
        let calibrated = if name == "kws" { "100" } else { "32" };
        let quantise = |form: &str| {
            let (checkpoint, more) = (path(form), unit(name).iter().map(OsString::from));
            let mut words: Vec<OsString> = vec!["quantise".into(), checkpoint.into(), "--calibrate".into()];
            words.extend([
                arrays.clone().into(),
                "--array".into(),
                "calibration_inputs".into(),
                "--calibrate-limit".into(),
            ]);
            words.extend([calibrated.into(), "--force".into(), "-o".into(), model.clone().into()]);
            run(words.into_iter().chain(more)).fine();
        };
        let verify = |checkpoint: &Path| {
            let mut words: Vec<OsString> = vec!["verify".into(), model.clone().into(), "--checkpoint".into()];
            words.extend([
                checkpoint.into(),
                "--inputs".into(),
                arrays.clone().into(),
                "--array".into(),
                "inputs".into(),
            ]);
            words.extend(["--limit".into(), limit.into(), "--json".into()]);
            run(words.into_iter().chain(unit(name).iter().map(OsString::from)))
        };
        // The two ways between formats; the others follow.
        quantise(forms[0]);
        for form in forms {
            let ran = verify(&path(form));
            let report = ran.json();
            assert!(ran.status == 0 && mistakes(&report).is_empty(), "{form}: {}", ran.stderr);
            let remarks = report["remarks"].as_array().unwrap();
            let is_dead = remarks.iter().any(|remark| remark["kind"] == "dead-channels");
            assert_eq!(is_dead, name == "vww", "{form}: two thirds of its channels say nothing: {remarks:?}");
        }
        if name == "kws" {
            let others = [
                (root.join("traps/kws_lost_bias_tf2onnx.onnx"), "lost-bias"),
                (root.join("kws_ckpt/kws_ckpt_float.tflite"), "other-weights"),
            ];
            for (other, kind) in others {
                assert_eq!(mistakes(&verify(&other).json()), [kind]);
            }
        }
        if ["kws", "ad"].contains(&name) {
            quantise(forms[1]);
            let ran = verify(&path(forms[0]));
            assert!(ran.status == 0 && mistakes(&ran.json()).is_empty(), "{name}: {}", ran.stderr);
        }
    }
}

/// Pictures in bytes where the network takes numbers from 0 to 1. Integers that were made elsewhere are far from their
/// float file in the right unit, too, so that only how much nearer they come decides.
#[test]
fn another_unit_is_named_of_integers_that_were_given(fixtures: Fixtures) {
    let folder = tempfile::tempdir().unwrap();
    let (root, model) = (fixtures.join("mlperf/vww"), folder.path().join("vww.bin"));
    let path = |name: &str| OsString::from(root.join(name));
    run(["pack".into(), path("vww_int8.tflite"), "-o".into(), model.clone().into()]).fine();
    let verify = |more: &[&str]| {
        let mut words: Vec<OsString> = vec!["verify".into(), model.clone().into(), "--json".into()];
        words.extend(["--checkpoint".into(), path("vww_float.tflite"), "--inputs".into(), path("vww.npz")]);
        words.extend(["--array", "inputs", "--limit", "16"].iter().chain(more).map(OsString::from));
        run(words)
    };
    let (wrong, right) = (verify(&[]), verify(unit("vww")));
    assert_eq!((wrong.status, mistakes(&wrong.json())), (1, vec!["input-unit"]));
    assert!(mistakes(&right.json()).is_empty(), "{}", right.stderr);
}
