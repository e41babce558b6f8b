//! `--scales proof` on the command line: what it says, that the verdict is right with the trainer's description, and
//! what it is refused for.

use super::{doctored, host_tools, reference, reference_positions, verified};
use std::fs;
use tests::own;

#[test]
fn scales_that_were_chosen_are_said_and_verified() {
    let folder = tempfile::tempdir().unwrap();
    let [plain, chosen, same, bare] = ["plain", "chosen", "same", "bare"].map(|name| folder.path().join(name));
    let ((checkpoint, arch), positions) = (reference(), reference_positions(folder.path()));

    host_tools!("quantise", checkpoint, "--arch", arch, "--scales", "trainer", "-o", plain).fine();
    host_tools!("quantise", checkpoint, "--arch", arch, "--scales", "proof", "-o", same).fine();
    let json = host_tools!("quantise", checkpoint, "--arch", arch, "-o", chosen, "--json").fine().json();
    assert!(fs::read(&chosen).unwrap() == fs::read(&same).unwrap(), "chosen scales are a container's default");
    // The bare form is the trainer's, and what engines read.
    host_tools!("quantise", checkpoint, "--arch", arch, "--form", "bare", "-o", bare).fine();
    let unpacked = host_tools!("unpack", plain, "-o", same, "--force").fine();
    assert_eq!(unpacked.stderr, "");
    assert!(fs::read(&bare).unwrap() == fs::read(&same).unwrap(), "the trainer's scales are the bare form's default");
    // What is taken out of the other container is no file for an engine, and says so.
    let unpacked = host_tools!("unpack", chosen, "-o", same, "--force").fine();
    assert!(unpacked.stderr.contains("`host-tools quantise --form bare`"), "{}", unpacked.stderr);

    let scales = &json["scales"];
    assert_eq!((&scales["chosen"]["form"], &scales["trainer"]["scales"][0]), (&"rounded".into(), &255.into()));
    let expected = scales["chosen"]["sd"].as_f64().unwrap();
    assert!(expected < 0.2 * scales["trainer"]["sd"].as_f64().unwrap(), "{scales}");
    let sd = |model: &std::path::Path| {
        let report = verified(model, [&checkpoint, &arch, &positions]).fine().json();
        assert_eq!(report["mistakes"].as_array().unwrap().len(), 0, "{}", report["mistakes"]);
        report["accuracy"]["total"]["sd"].as_f64().unwrap()
    };
    let found = sd(&chosen);
    assert!(found < 0.2 * sd(&plain));
    // Said, and held to within a factor by positions that chose nothing.
    assert!((expected / 2.0..expected * 2.0).contains(&found), "{found} for {expected}");

    // Another checkpoint is still found out.
    let report = verified(&chosen, [&doctored(folder.path()), &arch, &positions]);
    assert!(!report.json()["mistakes"].as_array().unwrap().is_empty());
}

/// A network that has no other form says what its own scales cost, without a refusal; so does what cannot be chosen.
#[test]
fn what_has_no_other_scales_goes_on_as_described() {
    let folder = tempfile::tempdir().unwrap();
    let [default, trainer, arch] = ["default", "trainer", "arch.toml"].map(|name| folder.path().join(name));
    let checkpoint = own("reference/nnue.weights.bin");
    let text = fs::read_to_string(own("architectures/reference.toml")).unwrap();
    fs::write(&arch, text.replace("\"screlu\"", "\"crelu\"")).unwrap();
    let ran = host_tools!("quantise", checkpoint, "--arch", arch, "-o", default).fine();
    assert!(ran.text().contains("the description's, 255 and 64: expected error"), "{}", ran.text());
    assert_eq!(ran.stderr, "");
    // Every weight is a byte there, so that rows are; with rows as described not a byte differs.
    assert!(ran.text().contains("  rows       bytes"), "{}", ran.text());
    let ran = host_tools!("quantise", checkpoint, "--arch", arch, "--scales", "trainer", "-o", trainer).fine();
    assert!(!ran.text().contains("  rows "), "{}", ran.text());
    let signature = |path| host_tools!("inspect", path, "--json").fine().json()["signature"].clone();
    assert_eq!(signature(&default), signature(&trainer));
    let [rows, force] = ["described", "--force"];
    host_tools!("quantise", checkpoint, "--arch", arch, "--rows", rows, "-o", default, force).fine();
    assert!(fs::read(&default).unwrap() == fs::read(&trainer).unwrap());
}

/// Rows in bytes are half the memory at scales that are coarser; what they cost is expected, measured and bounded.
#[test]
fn rows_in_bytes_are_chosen_where_they_cost_little() {
    let folder = tempfile::tempdir().unwrap();
    let [plain, exact, chosen, positions, out] =
        ["plain", "exact", "chosen", "positions.bf", "out"].map(|name| folder.path().join(name));
    let (checkpoint, arch) = (own("reference/nnue.weights.bin"), own("architectures/reference.toml"));
    let file = fs::read(own("reference/layers.reference.safetensors")).unwrap();
    fs::write(&positions, &file[file.len() - 131_072..]).unwrap();

    // At the trainer's scales every weight is a byte: the same values in half the memory.
    let quantise = |words: &[&str], out: &std::path::Path| {
        let mut all: Vec<std::ffi::OsString> = ["quantise".into(), checkpoint.clone().into()].into();
        all.extend(["--arch".into(), arch.clone().into(), "-o".into(), out.into(), "--json".into()]);
        all.extend(words.iter().map(Into::into));
        super::run(&all)
    };
    let wide = quantise(&["--scales", "trainer"], &plain).fine().json();
    let narrow = quantise(&["--scales", "trainer", "--rows", "i8"], &exact).fine().json();
    assert_eq!(wide["signature"], narrow["signature"]);
    let len = |path: &std::path::Path| fs::metadata(path).unwrap().len();
    assert!((len(&plain) - len(&exact)).abs_diff(768 * 128) < 128, "{} {}", len(&plain), len(&exact));
    // Which is no other description.
    host_tools!("verify", exact, "--checkpoint", checkpoint, "--arch", arch, "--positions", positions).fine();

    // Chosen scales: nearer than the trainer's, as large as those bytes.
    let json = quantise(&["--rows", "i8"], &chosen).fine().json();
    let scales = &json["scales"];
    assert_eq!((&scales["rows"], &json["tensors"][0]["element"]), (&"i8".into(), &"i8".into()), "{json}");
    let sd = |of: &str| scales[of]["sd"].as_f64().unwrap();
    assert!(sd("chosen") <= sd("trainer"), "{scales}");
    assert!(len(&chosen).abs_diff(len(&exact)) < 1024);
    let report =
        host_tools!("verify", chosen, "--checkpoint", checkpoint, "--arch", arch, "--positions", positions, "--json");
    let report = report.fine().json();
    assert_eq!(report["mistakes"].as_array().unwrap().len(), 0, "{}", report["mistakes"]);
    let found = report["accuracy"]["total"]["sd"].as_f64().unwrap();
    assert!((sd("chosen") / 2.0..sd("chosen") * 2.0).contains(&found), "{found} for {scales}");

    // A limit, and a network with a weight that is no byte at any scale worth having.
    let cases = [
        (quantise(&["--rows", "i8", "--rows-limit", "0.5"], &out), "at most 0.50 is allowed"),
        (quantise(&["--rows", "i8", "--rows-limit", "nan"], &out), "--rows-limit NaN"),
        (quantise(&["--rows-limit", "1"], &out), "--rows"),
        (quantise(&["--rows", "i8", "--scales", "trainer", "--rows-limit", "1"], &out), "--rows-limit: is for"),
        (quantise(&["--rows", "i8", "--form", "bare"], &out), "--rows i8: the bare file"),
    ];
    for (ran, words) in cases {
        assert_eq!(ran.status, 2, "{words}: {}", ran.stderr);
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
    }
    assert!(!out.exists());
}

#[test]
fn chosen_scales_are_for_containers_of_accumulators() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.bin");
    let (checkpoint, arch) = (own("reference/nnue.weights.bin"), own("architectures/reference.toml"));
    let bare = host_tools!("quantise", checkpoint, "--arch", arch, "--scales", "proof", "--form", "bare", "-o", out);
    let (digits, graph) = (own("reference/digits.weights.bin"), own("architectures/digits.toml"));
    let rows = host_tools!("quantise", digits, "--arch", graph, "--rows", "i8", "-o", out);
    let graph = host_tools!("quantise", digits, "--arch", graph, "--scales", "proof", "-o", out);
    let cases = [
        (bare, "--scales proof: the bare file"),
        (graph, "--scales proof: is for networks of accumulators"),
        (rows, "--rows: is for networks of accumulators"),
    ];
    for (ran, words) in cases {
        assert_eq!(ran.status, 2, "{}", ran.stderr);
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
    }
    assert!(!out.exists());
}
