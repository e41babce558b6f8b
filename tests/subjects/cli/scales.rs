//! `--scales proof` on the command line: what it says, that the verdict is right with the trainer's description, and
//! what it is refused for.

use super::host_tools;
use std::fs;
use tests::own;

#[test]
fn scales_that_were_chosen_are_said_and_verified() {
    let folder = tempfile::tempdir().unwrap();
    let [plain, chosen, same, positions] =
        ["plain", "chosen", "same", "positions.bf"].map(|name| folder.path().join(name));
    let (checkpoint, arch) = (own("reference/nnue.weights.bin"), own("architectures/reference.toml"));
    // A reference file ends in its positions.
    let file = fs::read(own("reference/layers.reference.safetensors")).unwrap();
    fs::write(&positions, &file[file.len() - 131_072..]).unwrap();

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
        let report = host_tools!(
            "verify",
            model,
            "--checkpoint",
            checkpoint,
            "--arch",
            arch,
            "--positions",
            positions,
            "--json"
        );
        let report = report.fine().json();
        assert_eq!(report["mistakes"].as_array().unwrap().len(), 0, "{}", report["mistakes"]);
        report["accuracy"]["total"]["sd"].as_f64().unwrap()
    };
    assert!(sd(&chosen) < 0.2 * sd(&plain));

    // Another checkpoint is still found out.
    let mut other = fs::read(&checkpoint).unwrap();
    let (first, second) = other.split_at_mut(200_000);
    first[100_000..104_096].swap_with_slice(&mut second[..4096]);
    let doctored = folder.path().join("nnue.weights.bin");
    fs::write(&doctored, other).unwrap();
    let report =
        host_tools!("verify", chosen, "--checkpoint", doctored, "--arch", arch, "--positions", positions, "--json");
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
