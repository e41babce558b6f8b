//! `--fit` on the command line: what it says, that the verdict is right, the bare form, and what it is refused for.

use super::{doctored, host_tools, reference, reference_positions, verified};
use std::fs;
use std::path::{Path, PathBuf};
use tests::own;

/// The reference network's checkpoint, its description, and positions.
fn inputs(folder: &Path) -> [PathBuf; 3] {
    let (checkpoint, arch) = reference();
    [checkpoint, arch, reference_positions(folder)]
}

#[test]
fn a_fitted_network_is_said_to_be_one() {
    let folder = tempfile::tempdir().unwrap();
    let [checkpoint, arch, positions] = inputs(folder.path());
    let [container, bare, plain, packed, back] =
        ["container", "bare", "plain", "packed", "back"].map(|name| folder.path().join(name));
    let ran = host_tools!("quantise", checkpoint, "--arch", arch, "--fit", positions, "-o", container, "--json").fine();
    let json = ran.json();
    let fit = &json["fit"];
    assert_eq!((&fit["fitted"], &fit["held_out"], &fit["is_cut_short"]), (&2048.into(), &2048.into(), &false.into()));
    let sd = |when: &str| fit[when]["sd"].as_f64().unwrap();
    assert!(sd("after") < sd("before"), "{fit}");
    assert_eq!((&fit["products"], &fit["split"]), (&"rounded".into(), &2048.into()), "{fit}");
    assert_eq!(fit["scales"], json["scales"]["chosen"]["scales"]);

    let verify = |model: &Path, checkpoint: &Path| verified(model, [checkpoint, &arch, &positions]).json();
    let report = verify(&container, &checkpoint);
    assert_eq!((&report["passed"], report["mistakes"].as_array().unwrap().len()), (&true.into(), 0), "{report}");
    assert!(report["remarks"].as_array().unwrap().iter().any(|remark| remark["kind"] == "fitted"), "{report}");

    // At the trainer's scales there is more to gain, and the report says where it was lost.
    let trainer = ["--scales", "trainer", "--fit"];
    let words = [trainer[0], trainer[1], trainer[2]];
    let json = host_tools!(
        "quantise", checkpoint, "--arch", arch, words[0], words[1], words[2], positions, "-o", container, "--force",
        "--json"
    );
    let json = json.fine().json();
    let fit = &json["fit"];
    let sd = |when: &serde_json::Value| when["sd"].as_f64().unwrap();
    assert!(sd(&fit["after"]) < 0.8 * sd(&fit["before"]), "{fit}");
    let causes = fit["causes"].as_array().unwrap();
    let names: Vec<_> = causes.iter().map(|cause| cause["cause"].as_str().unwrap()).collect();
    assert_eq!(names, ["first-layer", "output-layer", "head"], "products of the trainer's are exact");
    // Rounding of the first layer is most of the error, and its part of what was won.
    assert!(sd(&causes[0]["before"]) > sd(&causes[1]["before"]), "{fit}");
    assert!(sd(&causes[0]["before"]) <= sd(&fit["before"]) * 1.2, "{fit}");
    let bounds = fit["bounds"].as_array().unwrap();
    assert!(bounds.iter().all(|bound| (0.0..=1.0).contains(&bound["fraction"].as_f64().unwrap())), "{fit}");
    let reordered = |index: usize| fit["reordered"][index].as_u64().unwrap();
    assert!(reordered(1) <= reordered(0), "{fit}");

    // The bare form, and the trainer's own file fitted to the checkpoint, hold the same integers.
    host_tools!("quantise", checkpoint, "--arch", arch, "--fit", positions, "--form", "bare", "-o", bare).fine();
    host_tools!("quantise", checkpoint, "--arch", arch, "--form", "bare", "-o", plain).fine();
    assert_eq!(fs::metadata(&bare).unwrap().len(), fs::metadata(&plain).unwrap().len());
    host_tools!("pack", plain, "--arch", arch, "--fit", positions, "--fit-checkpoint", checkpoint, "-o", packed).fine();
    let ran = host_tools!("unpack", packed, "-o", back).fine();
    assert!(!ran.text().contains("the bytes that were packed"), "{}", ran.text());
    assert!(fs::read(&back).unwrap() == fs::read(&bare).unwrap());

    // Another checkpoint, and damage, are still found out.
    assert!(!verify(&container, &doctored(folder.path()))["mistakes"].as_array().unwrap().is_empty());
    let mut damaged = fs::read(&plain).unwrap();
    damaged[1000] ^= 1;
    fs::write(&bare, damaged).unwrap();
    host_tools!("pack", bare, "--arch", arch, "-o", packed, "--force").fine();
    assert!(!verify(&packed, &checkpoint)["mistakes"].as_array().unwrap().is_empty());
}

#[test]
fn fitting_is_refused_where_it_means_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let [checkpoint, arch, positions] = inputs(folder.path());
    let [out, few, missing] = ["out.bin", "few.bf", "missing.bf"].map(|name| folder.path().join(name));
    fs::write(&few, &fs::read(&positions).unwrap()[..32 * 999]).unwrap();
    let bare = folder.path().join("bare.bin");
    host_tools!("quantise", checkpoint, "--arch", arch, "--form", "bare", "-o", bare).fine();
    let (digits, graph) = (own("reference/digits.weights.bin"), own("architectures/digits.toml"));
    let (layers, pairs) = (own("reference/layers.weights.bin"), own("architectures/reference-layers.toml"));
    // Reals at once behind pairs.
    let text = fs::read_to_string(pairs).unwrap().replace("product_shift = 9\n", "");
    let bytes = "type = \"i8\"\nscale = 128\nrounding = \"nearest\"";
    assert!(text.contains(bytes));
    let pairs = folder.path().join("pairs.toml");
    fs::write(&pairs, text.replace(bytes, "type = \"f32\"")).unwrap();
    let cases = [
        (
            host_tools!("quantise", digits, "--arch", graph, "--fit", positions, "-o", out),
            2,
            "for networks of accumulators",
        ),
        (host_tools!("quantise", layers, "--arch", pairs, "--fit", positions, "-o", out), 5, "one layer of i16"),
        (host_tools!("quantise", checkpoint, "--arch", arch, "--fit", few, "-o", out), 2, "999 positions"),
        (host_tools!("quantise", checkpoint, "--arch", arch, "--fit", missing, "-o", out), 4, "missing.bf"),
        (host_tools!("quantise", checkpoint, "--arch", arch, "--fit-limit", "5000", "-o", out), 2, "--fit"),
        (host_tools!("quantise", checkpoint, "--arch", arch, "--fit", positions, "-o", positions), 2, "positions.bf"),
        (host_tools!("pack", bare, "--arch", arch, "--fit", positions, "-o", out), 2, "add --fit-checkpoint NET"),
    ];
    for (ran, status, words) in cases {
        assert_eq!(ran.status, status, "{words}: {}", ran.stderr);
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
    }
    assert!(!out.exists());
}
