//! Batches on the command line: both forms say the same, and what is wrong leaves nothing behind.

use super::{host_tools, names, run};
use safetensors::SafeTensors;
use serde_json::Value;
use std::ffi::OsString;
use std::fs;
use std::path::Path;

const VOCABULARY: &str = "<blank>\n<s>\n</s>\na\nb\nc\nd\ne\n";

/// 200 pairs of 1 to 5 tokens, each aligned at its start.
fn corpus(folder: &Path) {
    let letters = ["a", "b", "c", "d", "x"];
    let side = |factor: usize| -> String {
        (0..200).map(|line| letters[..1 + line * factor / 3 % 5].join(" ") + "\n").collect()
    };
    for (name, text) in [
        ("src", side(7)),
        ("tgt", side(11)),
        ("src.vocab", VOCABULARY.to_owned()),
        ("tgt.vocab", VOCABULARY.to_owned()),
        ("align", "0-0\n".repeat(200)),
    ] {
        fs::write(folder.join(name), text).unwrap();
    }
}

/// `batches` of the corpus with more arguments.
fn arguments(folder: &Path, more: &[&str], out: &str) -> Vec<OsString> {
    let file = |name: &str| folder.join(name).into_os_string();
    let mut all: Vec<OsString> =
        ["batches", "--batch-size", "32", "--batch-type", "tokens", "--length-bucket-width", "2"]
            .map(OsString::from)
            .into();
    for (option, name) in
        [("--src", "src"), ("--tgt", "tgt"), ("--src-vocab", "src.vocab"), ("--tgt-vocab", "tgt.vocab")]
    {
        all.extend([option.into(), file(name)]);
    }
    all.extend(more.iter().map(OsString::from));
    all.extend(["-o".into(), file(out)]);
    all
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// Numbers of nested lists, in order.
fn flat(value: &Value) -> Vec<u32> {
    match value {
        Value::Array(values) => values.iter().flat_map(flat).collect(),
        number => vec![number.as_u64().unwrap() as u32],
    }
}

#[test]
fn both_forms_hold_the_same_batches() {
    let folder = tempfile::tempdir().unwrap();
    corpus(folder.path());
    let align = folder.path().join("align");
    let more = ["--alignments", align.to_str().unwrap(), "--shuffle", "50", "--seed", "4", "--repeat", "2"];
    let picture = folder.path().join("lengths.svg");
    let tensors = [more.as_slice(), &["--json", "--svg", picture.to_str().unwrap()]].concat();
    let report = run(arguments(folder.path(), &tensors, "out.safetensors")).fine().json();
    let lines = [more.as_slice(), &["--format", "jsonl", "--json"]].concat();
    let other = run(arguments(folder.path(), &lines, "out.jsonl")).fine().json();
    assert_eq!(report["schema"], "tamis-batches-1");
    for key in ["batches", "rows", "lines", "dropped", "buckets", "source_unknown", "padding_share"] {
        assert_eq!(report[key], other[key], "{key}");
    }
    assert_eq!((report["lines"].as_u64(), report["rows"].as_u64()), (Some(400), Some(400)));
    let unknown = fs::read_to_string(folder.path().join("src")).unwrap().matches('x').count();
    assert!(unknown > 30);
    assert_eq!(report["source_unknown"], 2 * unknown, "the letter that the vocabulary has not, both times");

    let bytes = fs::read(folder.path().join("out.safetensors")).unwrap();
    let (_, header) = SafeTensors::read_metadata(&bytes).unwrap();
    let metadata = header.metadata().as_ref().unwrap();
    for (key, value) in [("format", "tamis-batches-1"), ("src_vocabulary", "9"), ("tgt_vocabulary", "9")] {
        assert_eq!(metadata[key], value);
    }
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let text = fs::read_to_string(folder.path().join("out.jsonl")).unwrap();
    assert_eq!(metadata["batches"], text.lines().count().to_string());
    for (number, line) in text.lines().enumerate() {
        let batch: Value = serde_json::from_str(line).unwrap();
        let rows = batch["lines"].as_array().unwrap().len();
        for (part, value) in [
            ("lines", &batch["lines"]),
            ("src.ids", &batch["src"]["ids"]),
            ("src.length", &batch["src"]["length"]),
            ("tgt.ids", &batch["tgt"]["ids"]),
            ("tgt.ids_out", &batch["tgt"]["ids_out"]),
            ("tgt.length", &batch["tgt"]["length"]),
        ] {
            let tensor = file.tensor(&format!("batch.{number}.{part}")).unwrap();
            assert_eq!((tensor.dtype(), tensor.shape()[0]), (safetensors::Dtype::I32, rows));
            assert_eq!(words(tensor.data()), flat(value), "{number} {part}");
        }
        let matrix = file.tensor(&format!("batch.{number}.alignment")).unwrap();
        let ones: Vec<u32> = words(matrix.data()).into_iter().map(|bits| f32::from_bits(bits) as u32).collect();
        assert_eq!(ones, flat(&batch["alignment"]));
        assert_eq!(ones.iter().sum::<u32>() as usize, rows, "a pair a row");
        assert_eq!(matrix.data().as_ptr() as usize % 4, bytes.as_ptr() as usize % 4);
    }
    assert!(fs::read_to_string(&picture).unwrap().starts_with("<svg xmlns="));

    // Standard output takes the same bytes, and the report goes aside.
    let mut stream = arguments(folder.path(), &more, "-");
    *stream.last_mut().unwrap() = "-".into();
    let streamed = run(stream).fine();
    assert!(streamed.stdout == bytes);
    assert!(streamed.stderr.contains("lengths  batches  rows"), "{}", streamed.stderr);
    let text = run(arguments(folder.path(), &["--max-src", "3", "--force"], "out.jsonl")).fine();
    let long = fs::read_to_string(folder.path().join("src")).unwrap().matches('d').count();
    assert!(text.text().contains(&format!("  dropped    {long}: {long} sources above --max-src\n")), "{}", text.text());
}

#[test]
fn nothing_is_written_of_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let before = |folder: &Path| names(folder);
    corpus(folder.path());
    fs::write(path("bad.vocab"), format!("{VOCABULARY}c\n")).unwrap();
    fs::write(path("bad.align"), "0-0\n".repeat(199) + "0-9\n").unwrap();
    fs::write(path("bad.src"), [fs::read(path("src")).unwrap(), b"\xff\n".to_vec()].concat()).unwrap();
    fs::write(path("short"), "a\n").unwrap();
    let there = before(folder.path());
    let bad = |name: &str| path(name).display().to_string();
    for (option, file, status, words) in [
        ("--src-vocab", "bad.vocab", 3, "bad.vocab: line 9: `c` is there twice, first in line 6"),
        ("--tgt-vocab", "src", 3, "src: line 1: `a`, expected `<blank>`"),
        ("--alignments", "bad.align", 3, "bad.align: line 200: target token 9 of an alignment, the target line has"),
        ("--src", "bad.src", 3, "bad.src: line 201: byte 0 of the line is not UTF-8"),
        ("--tgt", "short", 3, "short: line 2: the file has 1 lines, "),
        ("--tgt", "none", 4, "none: cannot read: No such file"),
    ] {
        for more in [vec![], vec!["--shuffle", "-1", "--format", "jsonl"]] {
            let mut all = arguments(folder.path(), &more, "out");
            match all.iter().position(|word| word == option) {
                Some(place) => all[place + 1] = bad(file).into(),
                None => all.extend([option.into(), bad(file).into()]),
            }
            let ran = run(all);
            assert_eq!(ran.status, status, "{}", ran.stderr);
            assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
            assert_eq!(names(folder.path()), there);
        }
    }
    for (more, status, words) in [
        (&["--batch-size-multiple", "0"][..], 2, "--batch-size-multiple 0: expected 1 to"),
        (&["--shuffle", "-2"], 2, "-2"),
        (&["--shuffle", "4294967296"], 2, "--shuffle 4294967296"),
        (&["--pad-to-bucket-boundary"], 2, "needs --length-bucket-width, --max-src and --max-tgt"),
        (&["--svg", &bad("src")], 2, "src: is an input and cannot be the output"),
        (&["--svg", &bad("out")], 2, "out: is the file of the batches too"),
        (&["--svg", &bad("./out")], 2, "out: is the file of the batches too"),
    ] {
        let ran = run(arguments(folder.path(), more, "out"));
        assert_eq!(ran.status, status, "{}", ran.stderr);
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
        assert_eq!(names(folder.path()), there);
    }
    let ran = run(arguments(folder.path(), &[], "src"));
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("is an input"), "{}", ran.stderr);
    assert!(host_tools!("batches", "--help-all").fine().text().contains("--alignments"));
}

/// Where a part cannot be written, the other does not stay.
#[cfg(target_os = "linux")]
#[test]
fn a_picture_that_cannot_be_written_leaves_no_batches() {
    let folder = tempfile::tempdir().unwrap();
    corpus(folder.path());
    let there = names(folder.path());
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let more = arguments(folder.path(), &["--svg", "-"], "out");
    let status = std::process::Command::new(super::binary()).args(more).stdout(full).status().unwrap();
    assert_eq!((status.code(), names(folder.path())), (Some(4), there));
}

/// A pipe gives its bytes once, a corpus is read more than once.
#[cfg(unix)]
#[test]
fn a_corpus_that_is_no_regular_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    corpus(folder.path());
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for shuffle in ["0", "-1"] {
        let mut all = arguments(folder.path(), &["--shuffle", shuffle], "out");
        let place = all.iter().position(|word| word == "--src").unwrap();
        all[place + 1] = pipe.clone().into();
        let ran = run(all);
        assert_eq!(ran.status, 2, "{}", ran.stderr);
        let words = "pipe: is not a regular file, which could be read more than once\nhelp: write it to a file first";
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
    }
}

#[test]
fn a_token_network_goes_from_text_to_a_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let own = |name: &str| tests::own("reference").join(name);
    let batches = |vocabulary: &Path, out: &str| {
        host_tools!(
            "batches",
            "--src",
            own("tokens.calibration.src"),
            "--tgt",
            own("tokens.calibration.tgt"),
            "--src-vocab",
            vocabulary,
            "--tgt-vocab",
            own("tokens.tgt.vocab"),
            "--batch-size",
            "32",
            "-o",
            path(out),
        )
    };
    let quantise = |calibration: &str| {
        let (checkpoint, arch) = (own("tokens.safetensors"), own("tokens.toml"));
        host_tools!("quantise", checkpoint, "--arch", arch, "--calibrate", path(calibration), "-o", path("tokens.bin"))
    };
    // A vocabulary with a word more than the embedding has rows.
    let longer = fs::read_to_string(own("tokens.src.vocab")).unwrap() + "more\n";
    fs::write(path("longer.vocab"), longer).unwrap();
    batches(&path("longer.vocab"), "longer").fine();
    let ran = quantise("longer");
    assert_eq!(ran.status, 3, "{}", ran.stderr);
    for words in [
        "longer: batch 0, row 0 (line 1 of the corpus): ids of vocabularies with 2005 source and 2004 target ids, \
         together 4009; the \
         network's embedding has 4008 rows",
        "help: make the batches with the vocabularies that the network was trained with",
    ] {
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
    }
    assert!(!path("tokens.bin").exists());

    batches(&own("tokens.src.vocab"), "calibration").fine();
    quantise("calibration").fine();
    let reference = own("tokens.reference.safetensors");
    let report = host_tools!("verify", path("tokens.bin"), "--reference", reference, "--json").fine().json();
    assert_eq!((report["schema"].as_str(), report["passed"].as_bool()), (Some("tamis-verify-2"), Some(true)));
    assert_eq!(report["runtime"]["examples"], 2000);
    // The checkpoint, evaluated here, is the framework's network.
    let (checkpoint, arch) = (own("tokens.safetensors"), own("tokens.toml"));
    let own_float = host_tools!(
        "verify",
        path("tokens.bin"),
        "--checkpoint",
        checkpoint,
        "--arch",
        arch,
        "--inputs",
        reference,
        "--json"
    );
    let own_float = own_float.fine().json();
    assert_eq!(report["accuracy"]["top1"], own_float["accuracy"]["top1"]);
    let printed = host_tools!("eval", path("tokens.bin"), "--inputs", reference, "--limit", "3").fine();
    assert_eq!(printed.text().lines().count(), 3);

    let plain = host_tools!("verify", path("tokens.bin"), "--reference", path("calibration"));
    assert_eq!(plain.status, 3);
    assert!(
        plain.stderr.contains("calibration: no logits of examples; expected batches with `batch.N.logits`"),
        "{}",
        plain.stderr
    );
}

#[test]
fn a_vocabulary_of_another_language_is_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    corpus(folder);
    let foreign = "<blank>\n<s>\n</s>\nu\nv\nw\n";
    let few = "<blank>\n<s>\n</s>\na\nb\n";
    for (vocabulary, words) in [
        (foreign, "100.0 % of the source's tokens are <unk>; the vocabularies may be exchanged"),
        (few, "of the source's tokens are <unk>; is the text tokenised"),
    ] {
        fs::write(folder.join("src.vocab"), vocabulary).unwrap();
        let ran = run(arguments(folder, &["--force"], "out")).fine();
        assert!(ran.stderr.contains("warning: ") && ran.stderr.contains(words), "{words}: {}", ran.stderr);
        assert!(!ran.stderr.contains("of the target's"), "{}", ran.stderr);
    }
    fs::write(folder.join("src.vocab"), VOCABULARY).unwrap();
    let ran = run(arguments(folder, &["--force"], "out")).fine();
    assert!(!ran.stderr.contains("<unk>"), "{}", ran.stderr);
}

/// Opening a pipe waits for a writer, and none comes.
#[test]
#[cfg(unix)]
fn a_pipe_without_a_writer_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for name in ["src", "tgt", "src.vocab", "tgt.vocab"] {
        corpus(folder);
        fs::remove_file(folder.join(name)).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(folder.join(name)).status().unwrap().success());
        let ran = run(arguments(folder, &[], "out"));
        assert!(ran.status == 2 && ran.stderr.contains("is not a regular file"), "{name}: {}", ran.stderr);
        assert!(ran.stderr.contains("help:") && !names(folder).contains(&"out".to_owned()), "{}", ran.stderr);
        fs::remove_file(folder.join(name)).unwrap();
    }
}
