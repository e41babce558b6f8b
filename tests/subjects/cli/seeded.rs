//! Mistakes that people make, numbered: each is named, and nearly all come with the next step.

use super::{Ran, host_tools, reference, with_model};
use std::fs;
use std::path::{Path, PathBuf};

/// Of these many, numbered from 1.
const MISTAKES: usize = 28;
/// And of them at least so many say what to do next.
const WITH_NEXT_STEP: usize = 27;

/// What a new user has: a network of chess, a graph, their containers, and room for mistakes.
struct Workplace {
    folder: tempfile::TempDir,
    model: PathBuf,
    digits: PathBuf,
}

impl Workplace {
    fn new() -> Self {
        let (folder, model) = with_model();
        let digits = folder.path().join("digits.bin");
        let place = Self { folder, model, digits };
        place.quantise_digits(&[], "digits.bin").fine();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    /// The reference network's description after a change.
    fn changed(&self, from: &str, to: &str) -> PathBuf {
        let text = fs::read_to_string(reference().1).unwrap();
        assert!(text.contains(from), "{from}");
        self.write("changed.toml", text.replacen(from, to, 1))
    }

    /// Its checkpoint under another description.
    fn quantise(&self, arch: &Path) -> Ran {
        host_tools!("quantise", reference().0, "--arch", arch, "-o", self.path("out"))
    }

    fn quantise_digits(&self, more: &[&str], out: &str) -> Ran {
        let net = tests::own("reference/digits.safetensors");
        let (arch, out) = (tests::own("reference/digits.toml"), self.path(out));
        let words =
            ["quantise".as_ref(), net.as_os_str(), "--arch".as_ref(), arch.as_os_str(), "-o".as_ref(), out.as_os_str()];
        let data = tests::own("reference/digits.reference.safetensors");
        let own = ["--calibrate".as_ref(), data.as_os_str(), "--array".as_ref(), "calibration_inputs".as_ref()];
        let more = more.iter().map(std::ffi::OsStr::new);
        if more.len() == 0 {
            super::run(words.into_iter().chain(own))
        } else {
            super::run(words.into_iter().chain(more))
        }
    }

    fn eval(&self, fen: &str) -> Ran {
        host_tools!("eval", self.model, "--fen", fen)
    }

    fn verify(&self, more: &[&std::ffi::OsStr]) -> Ran {
        let (checkpoint, arch) = reference();
        let words = [
            "verify".as_ref(),
            self.model.as_os_str(),
            "--checkpoint".as_ref(),
            checkpoint.as_os_str(),
            "--arch".as_ref(),
            arch.as_os_str(),
        ];
        super::run(words.into_iter().chain(more.iter().copied()))
    }
}

/// A file of one array of f32, npy.
fn npy(shape: &str, values: &[f32]) -> Vec<u8> {
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({shape}), }}");
    let padded = format!("{header:<117}\n");
    let len = u16::try_from(padded.len()).unwrap().to_le_bytes();
    let values: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    [b"\x93NUMPY\x01\0", len.as_slice(), padded.as_bytes(), &values].concat()
}

/// The same as the reference checkpoint with the floats of a tensor changed, as a raw.bin.
fn raw_of(values: usize, of: impl Fn(usize) -> f32) -> Vec<u8> {
    (0..values).flat_map(|index| of(index).to_le_bytes()).collect()
}

#[test]
fn seeded_mistakes_are_named_with_the_next_step() {
    let place = Workplace::new();
    let (checkpoint, arch) = reference();
    let bytes = fs::read(&checkpoint).unwrap();
    let container = fs::read(&place.model).unwrap();
    // Values of the reference network: 768 · 128 + 128, and 8 · (256 + 1).
    let parameters = 768 * 128 + 128 + 8 * 257;
    let mut number = 0;
    let mut with_next_step = 0;
    let mut failures = Vec::new();
    let mut check = |what: &str, ran: Ran, words: &[&str]| {
        number += 1;
        let said = format!("{}{}", ran.stderr, String::from_utf8_lossy(&ran.stdout));
        let is_named = ran.status != 0 && words.iter().all(|word| said.to_lowercase().contains(&word.to_lowercase()));
        // A next step is a help line, a suggestion, or what would fit.
        let next = [
            "help:",
            "did you mean",
            "it would fit",
            "give ",
            "add ",
            "use ",
            "write ",
            "tip:",
            "For more information",
            "would fit",
            "may be exchanged",
        ];
        with_next_step += usize::from(next.iter().any(|word| said.contains(word)));
        if !is_named || said.contains("panicked") {
            failures.push(format!("{number} {what}: status {}, {said}", ran.status));
        } else if !next.iter().any(|word| said.contains(word)) {
            println!("{number} {what}: no next step: {said}");
        }
    };

    // 1 to 5: which file, and where.
    check("wrong hidden size", place.quantise(&place.changed("outputs = 128", "outputs = 256")), &["l0w", "128"]);
    let transposed = place.changed("rounding = \"nearest\"\ntransposed = true", "rounding = \"nearest\"");
    let bare = place.path("bare.bin");
    host_tools!("unpack", place.model, "-o", bare).fine();
    let packed = place.path("packed.bin");
    host_tools!("pack", bare, "--arch", transposed, "-o", packed);
    let ran = host_tools!(
        "verify",
        packed,
        "--checkpoint",
        checkpoint,
        "--arch",
        arch,
        "--positions",
        place.write("one.txt", "startpos\n")
    );
    check("transposed", ran, &["transposed"]);
    check(
        "arguments exchanged",
        host_tools!("quantise", arch, "--arch", checkpoint, "-o", place.path("out")),
        &["weights.bin"],
    );
    check(
        "missing",
        host_tools!("quantise", place.path("nets/net.bin"), "--arch", arch, "-o", place.path("out")),
        &["net.bin", "cannot read"],
    );
    check("directory", host_tools!("inspect", place.folder.path()), &["is not a file"]);

    // 6 to 9: what is in it.
    check(
        "truncated",
        host_tools!("inspect", place.write("cut.bin", &container[..container.len() / 2])),
        &["cut.bin", "truncated"],
    );
    let other = (tests::own("reference/layers.weights.bin"), arch.clone());
    check(
        "another network's file",
        host_tools!("quantise", other.0, "--arch", other.1, "-o", place.path("out")),
        &["layers.weights.bin"],
    );
    check(
        "quantised to quantise",
        host_tools!("quantise", place.model, "--arch", arch, "-o", place.path("out")),
        &["container already"],
    );
    let nnue = place.write("net.nnue", [&0x7AF3_2F20_u32.to_le_bytes()[..], &[0; 200]].concat());
    check(
        ".nnue with --arch",
        host_tools!("pack", nnue, "--arch", arch, "-o", place.path("out")),
        &[".nnue", "--arch"],
    );

    // 10 to 12: the description.
    let scaled = place.changed("scale = 16320", "scale = 255");
    let wrong = place.path("wrong.bin");
    host_tools!("quantise", checkpoint, "--arch", scaled, "--scales", "trainer", "-o", wrong);
    let one = place.path("one.txt");
    let ran = host_tools!("verify", wrong, "--checkpoint", checkpoint, "--arch", scaled, "--positions", one);
    check("QA for QA·QB", ran, &["l1b", "16320"]);
    let kings = place.changed("kind = \"chess\"", "kind = \"chess\"\nking_buckets = [0, 1]");
    check("king buckets", place.quantise(&kings), &["king_buckets"]);
    check("bucket count", place.quantise(&place.changed("count = 8", "count = 4")), &["l1w"]);

    // 13 to 14: positions. Seven kinds of bad FEN count as one.
    let mut bad = Vec::new();
    for (fen, words) in [
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP w", "7 ranks"),
        ("rnbqkbnr/pppppppp/9/8/8/8/PPPPPPPP/RNBQKBNR w", "'9'"),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQ1BNR w", "0 kings"),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNRR w", "rank 1 has 9"),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR", "no side to move"),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR white", "not w or b"),
        ("rnbqkbnr/ppppxppp/8/8/8/8/PPPPPPPP/RNBQKBNR w", "'x'"),
    ] {
        let ran = place.eval(fen);
        if ran.status != 3 || !ran.stderr.contains(words) {
            bad.push(format!("{fen}: {} {}", ran.status, ran.stderr));
        }
    }
    assert!(bad.is_empty(), "{bad:?}");
    check("bad FENs", place.eval("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP w"), &["7 ranks"]);
    let foreign = place.write("games.pgn", "[Event \"?\"]\n\n1. e4 e5\n");
    check("foreign positions", host_tools!("eval", place.model, "--positions", foreign), &["games.pgn", "line 1"]);

    // 15 to 16: examples.
    let short = place.write("short.npy", npy("4, 63", &[0.5; 4 * 63]));
    check("calibration shape", place.quantise_digits(&["--calibrate", short.to_str().unwrap()], "out"), &["63", "64"]);
    let labels = place.write("labels.txt", "1\n2\n3\n");
    let inputs = tests::own("reference/digits.reference.safetensors");
    check(
        "label count",
        host_tools!("eval", place.digits, "--inputs", inputs, "--labels", labels),
        &["3 labels", "359"],
    );

    // 17 to 19: where it goes.
    check(
        "output folder missing",
        host_tools!("quantise", checkpoint, "--arch", arch, "-o", place.path("no/net.bin")),
        &["no/net.bin", "cannot write"],
    );
    check(
        "output exists",
        host_tools!("quantise", checkpoint, "--arch", arch, "-o", place.model),
        &["exists already", "--force"],
    );
    check(
        "read-only",
        host_tools!("quantise", checkpoint, "--arch", arch, "-o", "/proc/net.bin"),
        &["/proc/net.bin", "cannot write"],
    );

    // 20 to 24: words.
    check(
        "unknown tier",
        host_tools!("eval", place.model, "--fen", "startpos", "--tier", "avx1024"),
        &["avx1024", "scalar"],
    );
    check("unavailable tier", host_tools!("inspect", place.model, "--tier", "mve"), &["mve", "scalar"]);
    let gates = place.write("gates.toml", "max_eror = 3.0\n");
    check(
        "gates typo",
        place.verify(&["--positions".as_ref(), one.as_os_str(), "--gates".as_ref(), gates.as_os_str()]),
        &["gates.toml", "max_eror"],
    );
    check(
        "TOML typo",
        place.quantise(&place.changed("activation = \"screlu\"", "activaton = \"screlu\"")),
        &["activaton", "did you mean `activation`"],
    );
    check("gelu", place.quantise(&place.changed("\"screlu\"", "\"gelu\"")), &["`gelu` is not supported"]);

    // 25 to 28: numbers.
    let nan = place
        .write("raw.bin", raw_of(parameters, |index| if index == 5 { f32::NAN } else { 0.01 * (index % 7) as f32 }));
    check("NaN", host_tools!("quantise", nan, "--arch", arch, "-o", place.path("out")), &["l0w", "NaN"]);
    let zeros = place.write("zeros.bin", raw_of(parameters, |_| 0.0));
    check("zeros", host_tools!("quantise", zeros, "--arch", arch, "-o", place.path("out")), &["l0w", "one number"]);
    let blank = place.write("blank", "0 0:0\n".repeat(40));
    let blank = place.quantise_digits(&["--calibrate", blank.to_str().unwrap()], "out");
    check("all-zero calibration", blank, &["all 40 examples are the same"]);
    check("swapped vocabularies", swapped(&place), &["may be exchanged"]);

    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert_eq!((number, bytes.is_empty()), (MISTAKES, false));
    assert!(with_next_step >= WITH_NEXT_STEP, "{with_next_step} of {number} say what to do next");
}

/// English with the German vocabulary and the other way round. It is warned of: batches are made, as the words may be
/// meant; the status is taken for the warning's.
fn swapped(place: &Workplace) -> Ran {
    let special = "<blank>\n<s>\n</s>\n";
    let en = place.write("en", "the cat sat\nthe dog ran\n");
    let de = place.write("de", "die katze lag\nder hund lief\n");
    let en_words = place.write("en.vocab", format!("{special}the\ncat\nsat\ndog\nran\n"));
    let de_words = place.write("de.vocab", format!("{special}die\nkatze\nlag\nder\nhund\nlief\n"));
    let out = place.path("batches");
    let mut ran = host_tools!(
        "batches",
        "--src",
        en,
        "--tgt",
        de,
        "--src-vocab",
        de_words,
        "--tgt-vocab",
        en_words,
        "--batch-size",
        "2",
        "-o",
        out
    )
    .fine();
    ran.status = i32::from(ran.stderr.contains("warning:"));
    ran
}
