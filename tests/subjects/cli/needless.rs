//! Options that a kind of network has no use for: each is refused by its name, with the next step, and nothing is
//! written. An option that changes nothing was meant for something.

use super::host_tools;
use super::statuses::{prepare, ran};
use std::fmt::Write;
use std::fs;
use tamis_quant::stockfish::{Encoding, FeatureSet, Head, to_bytes};
use tests::stockfish::{made_up, shape};

/// What a checkpoint may leave open.
const CHECKPOINT: &[&str] = &[
    "--learning-rate 2",
    "--learning-rate -2",
    "--kind fm",
    "--features 9",
    "--fields 2",
    "--max-active 3",
    "--separator tab",
    "--activation a=relu",
    "--orientation out-in",
];
const FORM: &[&str] = &["--from tflite"];
/// How examples lie and which of them are read.
const EXAMPLES: &[&str] =
    &["--labels words", "--skip 1", "--skip 0", "--array x", "--input-unit 1", "--channels-first"];
const OUTPUTS: &[&str] = &["--logits", "--raw"];
const DIVIDE: &[&str] = &["--divide once"];
/// How graphs are quantised.
const GRAPHS: &[&str] = &[
    "--calibrate words",
    "--method min-max",
    "--percentile 99",
    "--weights per-tensor",
    "--weight-bits 16",
    "--activations i8",
    "--sixteen auto",
    "--sixteen a",
    "--input-range 0..1",
    "--range a=0..1",
    "--round-each",
    "--no-bias-correction",
    "--no-equalise",
    "--keep-f32 a",
    "--calibrate-limit 3",
    "--size-budget 9",
    "--sqnr-budget -9",
    "--sixteen-maps 3",
    "--array x",
    "--input-unit 1",
    "--channels-first",
];
/// How bullet's networks of accumulators are.
const LAYERS: &[&str] =
    &["--scales trainer", "--scales proof", "--rows i8", "--fit some.bf", "--permute some.bf", "--form bare"];

/// Commands that do what they say, each with what it has no use for.
const COMMANDS: &[(&str, &[&[&str]])] = &[
    ("eval nnue.bin --fen KINGS", &[CHECKPOINT, FORM, EXAMPLES, OUTPUTS, DIVIDE, &["--parts"]]),
    ("eval plain.bin --arch nnue.toml --fen KINGS", &[CHECKPOINT, FORM, EXAMPLES, OUTPUTS, DIVIDE, &["--parts"]]),
    (
        "eval @nnue.weights.bin --arch nnue.toml --float --fen KINGS",
        &[CHECKPOINT, FORM, EXAMPLES, OUTPUTS, DIVIDE, &["--parts", "--tier scalar"]],
    ),
    ("eval features.bin --feature-lists LISTS", &[CHECKPOINT, FORM, EXAMPLES, OUTPUTS, DIVIDE, &["--parts"]]),
    ("eval made.nnue --fen KINGS", &[CHECKPOINT, FORM, EXAMPLES, OUTPUTS]),
    ("eval made.bin --fen KINGS", &[CHECKPOINT, FORM, EXAMPLES, OUTPUTS]),
    ("eval digits.bin INPUTS", &[CHECKPOINT, FORM, DIVIDE, &["--parts", "--buckets", "--fen KINGS", "--float"]]),
    ("eval DIGITS INPUTS", &[CHECKPOINT, DIVIDE, &["--parts", "--buckets", "--raw", "--tier scalar"]]),
    ("verify nnue.bin NNUE --positions some.bf", &[CHECKPOINT, FORM, EXAMPLES, DIVIDE]),
    ("verify nnue.bin --reference @nnue.reference.safetensors", &[CHECKPOINT, FORM, EXAMPLES, DIVIDE]),
    (
        "verify features.bin --checkpoint FEATURES --feature-lists LISTS",
        &[CHECKPOINT, FORM, EXAMPLES, DIVIDE, &["--positions some.bf"]],
    ),
    ("verify made.bin --positions some.bf", &[CHECKPOINT, FORM, EXAMPLES, &["--arch nnue.toml"]]),
    (
        "verify digits.bin --checkpoint DIGITS INPUTS",
        &[CHECKPOINT, DIVIDE, &["--positions some.bf", "--feature-lists LISTS"]],
    ),
    (
        "verify digits.bin --reference @digits.reference.safetensors",
        &[CHECKPOINT, FORM, EXAMPLES, DIVIDE, &["--positions some.bf", "--arch @digits.toml"]],
    ),
    ("verify nnue.bin --merge part", &[CHECKPOINT, FORM, EXAMPLES, DIVIDE, &["--allow-constant"]]),
    ("quantise @nnue.weights.bin --arch nnue.toml -o out", &[CHECKPOINT, GRAPHS]),
    ("quantise DIGITS CALIBRATE -o out", &[CHECKPOINT, LAYERS, &["--percentile 99", "--sixteen-maps 2"]]),
    ("describe DIGITS", &[CHECKPOINT]),
    ("export DIGITS -o out", &[CHECKPOINT]),
    ("export digits.bin -o out", &[CHECKPOINT, FORM]),
    ("inspect nnue.bin", &[DIVIDE]),
    ("pack plain.bin --arch nnue.toml -o out", &[DIVIDE]),
    ("pack made.nnue -o out", &[&["--arch nnue.toml", "--permute some.bf", "--fit some.bf"]]),
];

#[test]
fn what_has_no_use_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    let net = made_up(shape(FeatureSet::HalfKaV2Hm, 32, Head::Pairwise { squares: true }), Encoding::Raw, 8);
    fs::write(folder.join("made.nnue"), to_bytes(&net)).unwrap();
    host_tools!("pack", folder.join("made.nnue"), "-o", folder.join("made.bin")).fine();
    let [raw, arch] = ["vectors/lists.raw.bin", "architectures/lists.toml"].map(tests::own);
    host_tools!("quantise", raw, "--arch", arch, "-o", folder.join("features.bin")).fine();
    let [model, arch, positions, part] = ["nnue.bin", "nnue.toml", "some.bf", "part"].map(|name| folder.join(name));
    let checkpoint = tests::own("reference/nnue.weights.bin");
    host_tools!("quantise", checkpoint, "--arch", arch, "--form", "bare", "-o", folder.join("plain.bin")).fine();
    host_tools!(
        "verify",
        model,
        "--checkpoint",
        checkpoint,
        "--arch",
        arch,
        "--positions",
        positions,
        "--partial",
        part
    )
    .fine();

    let (mut wrong, mut count) = (String::new(), 0);
    for (command, needless) in COMMANDS {
        let (status, said) = ran(folder, command, "");
        if status != Some(0) {
            writeln!(wrong, "{command}: {status:?}: {said}").unwrap();
        }
        for option in needless.iter().copied().flatten() {
            let (status, said) = ran(folder, &format!("{command} {option}"), "");
            count += 1;
            let name = option.split(' ').next().unwrap_or(option);
            let says_next = said.contains("\nhelp: ") || said.contains("; leave it out") || said.contains("\nUsage: ");
            if status != Some(2) || !said.contains(name) || !says_next {
                writeln!(wrong, "{command} {option}: {status:?}: {said}").unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "of {count} commands:\n{wrong}");
    assert!(count > 250, "{count}");
}
