//! `--scales proof` on the command line: what it says, that the verdict is right with the trainer's description, and
//! what it is refused for.

use super::{doctored, host_tools, reference, reference_positions, verified};
use std::fs;
use tests::own;

#[test]
fn scales_that_were_chosen_are_said_and_verified() {
    let folder = tempfile::tempdir().unwrap();
    let [plain, chosen, same] = ["plain", "chosen", "same"].map(|name| folder.path().join(name));
    let ((checkpoint, arch), positions) = (reference(), reference_positions(folder.path()));

    host_tools!("quantise", checkpoint, "--arch", arch, "-o", plain).fine();
    host_tools!("quantise", checkpoint, "--arch", arch, "--scales", "trainer", "-o", same).fine();
    assert!(fs::read(&plain).unwrap() == fs::read(&same).unwrap(), "the trainer's scales are the default");

    let json =
        host_tools!("quantise", checkpoint, "--arch", arch, "--scales", "proof", "-o", chosen, "--json").fine().json();
    let scales = &json["scales"];
    assert_eq!((&scales["chosen"]["form"], &scales["trainer"]["scales"][0]), (&"rounded".into(), &255.into()));
    let expected = scales["chosen"]["sd"].as_f64().unwrap();
    assert!(expected < 0.2 * scales["trainer"]["sd"].as_f64().unwrap(), "{scales}");
    let sd = |model: &std::path::Path| {
        let report = verified(model, [&checkpoint, &arch, &positions]).fine().json();
        assert_eq!(report["mistakes"].as_array().unwrap().len(), 0, "{}", report["mistakes"]);
        report["accuracy"]["total"]["sd"].as_f64().unwrap()
    };
    assert!(sd(&chosen) < 0.2 * sd(&plain));

    // Another checkpoint is still found out.
    let report = verified(&chosen, [&doctored(folder.path()), &arch, &positions]);
    assert!(!report.json()["mistakes"].as_array().unwrap().is_empty());
}

#[test]
fn chosen_scales_are_for_containers_of_accumulators() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.bin");
    let (checkpoint, arch) = (own("reference/nnue.weights.bin"), own("architectures/reference.toml"));
    let bare = host_tools!("quantise", checkpoint, "--arch", arch, "--scales", "proof", "--form", "bare", "-o", out);
    let (digits, graph) = (own("reference/digits.weights.bin"), own("architectures/digits.toml"));
    let graph = host_tools!("quantise", digits, "--arch", graph, "--scales", "proof", "-o", out);
    for (ran, words) in
        [(bare, "--scales proof: the bare file"), (graph, "--scales proof: is for networks of accumulators")]
    {
        assert_eq!(ran.status, 2, "{}", ran.stderr);
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
    }
    assert!(!out.exists());
}
