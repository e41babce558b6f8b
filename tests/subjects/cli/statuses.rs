//! One status for one fault: every command that takes a kind of file is given each fault that such a file can have, and
//! all of them end with the status that the guide's list has for it.

use super::{binary, host_tools, reference, tiny};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use tests::own;
use tests::pairs;

const KINGS: &str = "4k3/8/8/8/8/8/8/4K3 w";
/// What several commands have alike.
const SHORT: [(&str, &str); 6] = [
    ("DIGITS", "@digits.safetensors --arch @digits.toml"),
    ("INPUTS", "--inputs @digits.reference.safetensors --array inputs"),
    ("CALIBRATE", "--calibrate @digits.reference.safetensors --array inputs"),
    ("FEATURES", "@../vectors/lists.raw.bin --arch @../architectures/lists.toml"),
    ("LISTS", "@../vectors/lists.txt"),
    ("NNUE", "--checkpoint @nnue.weights.bin --arch nnue.toml"),
];
/// Where the file in question stands in a command.
const FILE: &str = "FILE";

/// A kind of file: what damages it, the status of an empty one and of a container in its place, and the commands that
/// take it. Words of a command that begin with `@` are files of the repository's reference networks.
struct Kind {
    name: &'static str,
    damaged: &'static str,
    empty: i32,
    container: Option<i32>,
    commands: &'static [&'static str],
}

/// A container is what it has to be, what is made already, or a network in the place of something else.
const USED: Option<i32> = None;
const ALREADY: Option<i32> = Some(2);
const ELSEWHERE: Option<i32> = Some(5);

/// Read line by line, or here and there, however long they are.
const ENDLESS: [&str; 3] = ["sentences", "vocabulary", "positions that are sampled"];

const KINDS: [Kind; 19] = [
    Kind {
        name: "container",
        damaged: "flipped",
        empty: 3,
        container: USED,
        commands: &[
            "inspect FILE",
            "unpack FILE -o out",
            "eval FILE --fen KINGS",
            "eval FILE INPUTS",
            "codegen FILE -o out.rs",
            "verify FILE NNUE --positions some.bf",
            "verify FILE --reference @nnue.reference.safetensors",
        ],
    },
    Kind {
        name: "checkpoint of layers",
        damaged: "garbage",
        empty: 3,
        container: ALREADY,
        commands: &[
            "quantise FILE --arch nnue.toml -o out",
            "verify nnue.bin --checkpoint FILE --arch nnue.toml --positions some.bf",
            "eval FILE --arch nnue.toml --float --fen KINGS",
        ],
    },
    Kind {
        name: "checkpoint of a graph",
        damaged: "cut.safetensors",
        empty: 3,
        container: ALREADY,
        commands: &[
            "quantise FILE --arch @digits.toml CALIBRATE -o out",
            "describe FILE",
            "export FILE --arch @digits.toml -o out",
            "eval FILE --arch @digits.toml INPUTS",
            "verify digits.bin --checkpoint FILE --arch @digits.toml INPUTS",
        ],
    },
    Kind {
        name: "quantised.bin with its description",
        damaged: "garbage",
        empty: 3,
        container: ALREADY,
        commands: &["pack FILE --arch nnue.toml -o out", "eval FILE --arch nnue.toml --fen KINGS"],
    },
    Kind {
        name: "quantised.bin or model without one",
        damaged: "cut.tflite",
        empty: 3,
        container: ALREADY,
        commands: &["pack FILE -o out"],
    },
    Kind {
        name: "description of layers",
        damaged: "broken.toml",
        empty: 3,
        container: ELSEWHERE,
        commands: &[
            "quantise @nnue.weights.bin --arch FILE -o out",
            "pack bare.bin --arch FILE -o out",
            "verify nnue.bin --checkpoint @nnue.weights.bin --arch FILE --positions some.bf",
            "eval @nnue.weights.bin --arch FILE --float --fen KINGS",
        ],
    },
    Kind {
        name: "description of a graph",
        damaged: "broken.graph.toml",
        empty: 3,
        container: ELSEWHERE,
        commands: &[
            "quantise @digits.safetensors --arch FILE CALIBRATE -o out",
            "describe @digits.safetensors --arch FILE",
            "export @digits.safetensors --arch FILE -o out",
            "eval @digits.safetensors --arch FILE INPUTS",
            "verify digits.bin --checkpoint @digits.safetensors --arch FILE INPUTS",
        ],
    },
    Kind {
        name: "records of positions",
        damaged: "ones.bf",
        empty: 2,
        container: ELSEWHERE,
        commands: &["eval nnue.bin --positions FILE", "verify nnue.bin NNUE --positions FILE"],
    },
    Kind {
        name: "positions that are sampled",
        damaged: "ones.bf",
        empty: 2,
        container: ELSEWHERE,
        commands: &[
            "quantise pairs.raw --arch pairs.toml -o out --permute FILE",
            "pack pairs.bare --arch pairs.toml -o out --permute FILE",
        ],
    },
    Kind {
        name: "lines of positions",
        damaged: "nonsense",
        empty: 2,
        container: ELSEWHERE,
        commands: &[
            "eval nnue.bin --fens FILE",
            "eval nnue.bin --positions FILE",
            "verify nnue.bin NNUE --positions FILE",
        ],
    },
    Kind {
        name: "lists of features",
        damaged: "nonsense",
        empty: 2,
        container: ELSEWHERE,
        commands: &[
            "eval lists.bin --feature-lists FILE",
            "verify lists.bin --checkpoint raw.bin --arch tiny.toml --feature-lists FILE",
        ],
    },
    Kind {
        name: "examples",
        damaged: "cut.npy",
        empty: 3,
        container: ELSEWHERE,
        commands: &[
            "eval digits.bin --inputs FILE",
            "eval DIGITS --inputs FILE",
            "verify digits.bin --checkpoint DIGITS --inputs FILE",
            "quantise DIGITS --calibrate FILE -o out",
        ],
    },
    Kind {
        name: "labels",
        damaged: "cut.npy",
        empty: 3,
        container: ELSEWHERE,
        commands: &[
            "eval digits.bin INPUTS --labels FILE",
            "eval DIGITS INPUTS --labels FILE",
            "verify digits.bin --checkpoint DIGITS INPUTS --labels FILE",
        ],
    },
    Kind {
        name: "labels as text",
        damaged: "nonsense",
        empty: 3,
        container: ELSEWHERE,
        commands: &[
            "eval digits.bin INPUTS --labels FILE",
            "verify digits.bin --checkpoint DIGITS INPUTS --labels FILE",
        ],
    },
    Kind {
        name: "limits",
        damaged: "broken.toml",
        empty: 0,
        container: ELSEWHERE,
        commands: &[
            "verify nnue.bin --reference @nnue.reference.safetensors --gates FILE",
            "verify digits.bin --checkpoint DIGITS INPUTS --gates FILE",
        ],
    },
    Kind {
        name: "reference",
        damaged: "cut.safetensors",
        empty: 3,
        container: ELSEWHERE,
        commands: &["verify nnue.bin --reference FILE", "verify digits.bin --reference FILE"],
    },
    Kind {
        name: "sentences",
        damaged: "bytes",
        empty: 3,
        container: ELSEWHERE,
        commands: &[
            "batches --src FILE --tgt text --src-vocab words --tgt-vocab words --batch-size 2 -o out",
            "batches --src text --tgt FILE --src-vocab words --tgt-vocab words --batch-size 2 -o out",
        ],
    },
    Kind {
        name: "vocabulary",
        damaged: "text",
        empty: 3,
        container: ELSEWHERE,
        commands: &[
            "batches --src text --tgt text --src-vocab FILE --tgt-vocab words --batch-size 2 -o out",
            "batches --src text --tgt text --src-vocab words --tgt-vocab FILE --batch-size 2 -o out",
        ],
    },
    Kind {
        name: "network of the Stockfish family",
        damaged: "cut.nnue",
        empty: 3,
        container: USED,
        commands: &["pack FILE -o out", "inspect FILE", "eval FILE --fen KINGS"],
    },
];

/// What the commands take, in a folder.
pub(super) fn prepare(folder: &Path) {
    let path = |name: &str| folder.join(name);
    let (checkpoint, arch) = reference();
    fs::copy(arch, path("nnue.toml")).unwrap();
    host_tools!("quantise", checkpoint, "--arch", path("nnue.toml"), "-o", path("nnue.bin")).fine();
    host_tools!("unpack", path("nnue.bin"), "-o", path("bare.bin")).fine();
    let [digits, description, samples] =
        ["digits.safetensors", "digits.toml", "digits.reference.safetensors"].map(|name| own("reference").join(name));
    let array = "calibration_inputs";
    let out = path("digits.bin");
    host_tools!("quantise", digits, "--arch", description, "--calibrate", samples, "--array", array, "-o", out).fine();
    let (raw, arch) = tiny(folder, 0.5);
    host_tools!("quantise", raw, "--arch", arch, "-o", path("lists.bin")).fine();
    fs::write(path("pairs.raw"), pairs::raw(32)).unwrap();
    fs::write(path("pairs.toml"), pairs::description(32)).unwrap();
    let bare = path("pairs.bare");
    host_tools!("quantise", path("pairs.raw"), "--arch", path("pairs.toml"), "--form", "bare", "-o", bare).fine();
    let records: Vec<u8> = pairs::positions(40).iter().flat_map(|position| position.to_record()).collect();
    fs::write(path("some.bf"), records).unwrap();
    fs::write(path("text"), "a b\nc\n").unwrap();
    fs::write(path("words"), "<blank>\n<s>\n</s>\na\nb\nc\n").unwrap();
}

/// The files with faults.
fn spoil(folder: &Path) {
    let write = |name: &str, bytes: &[u8]| fs::write(folder.join(name), bytes).unwrap();
    let mut flipped = fs::read(folder.join("nnue.bin")).unwrap();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0x10;
    write("flipped", &flipped);
    let garbage: Vec<u8> = (0..4096).map(|at| (at * 7 % 251) as u8).collect();
    write("garbage", &garbage);
    let whole = fs::read(own("reference/digits.safetensors")).unwrap();
    write("cut.safetensors", &whole[..whole.len() - 9]);
    write("cut.tflite", b"\x1c\0\0\0TFL3\x14\0\0\0");
    write("elsewhere.tflite", &[b"\x1c\0\0\0TFL3\x14\0\0\0".as_slice(), &[0xC3; 33]].concat());
    write("cut.npy", b"\x93NUMPY\x01\0\x06\0{'desc");
    write("cut.nnue", &[&0x7AF3_2F20_u32.to_le_bytes()[..], &[7; 40]].concat());
    write("broken.toml", b"schema = 1\nname = \n");
    write("broken.graph.toml", b"graph = 1\nname = \n");
    write("ones.bf", &[0xFF; 32]);
    write("nonsense", b"nonsense\n");
    write("bytes", &[b'a', 0xC3, 0x28, b'\n']);
    write("empty", b"");
    write("foreign", &[b"\x89HDF\r\n\x1a\n".as_slice(), &[1; 200]].concat());
    fs::create_dir(folder.join("folder")).unwrap();
    // Costs no disk, and is longer than any file that is read.
    fs::File::create(folder.join("huge")).unwrap().set_len(9 << 30).unwrap();
}

/// The status of a command on a file, and the first line of what it said.
fn status(folder: &Path, command: &str, file: &str) -> (Option<i32>, String) {
    let (status, said) = ran(folder, command, file);
    (status, said.lines().next().unwrap_or_default().to_owned())
}

/// The status of a command on a file, and what it said on standard error. What it wrote is removed.
pub(super) fn ran(folder: &Path, command: &str, file: &str) -> (Option<i32>, String) {
    let command = SHORT.iter().fold(command.to_owned(), |command, (short, long)| command.replace(short, long));
    let words = command.split(' ').map(|word| match (word, word.strip_prefix('@')) {
        (FILE, _) => file.to_owned(),
        ("KINGS", _) => KINGS.to_owned(),
        (_, Some(name)) => own("reference").join(name).display().to_string(),
        (other, None) => other.to_owned(),
    });
    let output = Command::new(binary()).current_dir(folder).args(words).stdin(Stdio::null()).output().unwrap();
    for out in ["out", "out.rs"] {
        let _ = fs::remove_file(folder.join(out));
    }
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// One fault that no single file has: another network than the container was made from.
#[test]
fn another_network_has_one_status() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    for command in [
        "verify nnue.bin --checkpoint pairs.raw --arch pairs.toml --positions some.bf",
        "verify digits.bin --checkpoint @keywords.safetensors INPUTS",
    ] {
        let (found, said) = status(folder, command, "");
        assert!(found == Some(2) && said.contains("network"), "{command}: {found:?}: {said}");
    }
}

#[test]
fn one_fault_has_one_status_in_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    spoil(folder);
    let is_pipe = Command::new("mkfifo").arg(folder.join("pipe")).status().is_ok_and(|status| status.success());
    let (mut wrong, mut count) = (String::new(), 0);
    for Kind { name, damaged, empty, container, commands } in &KINDS {
        let mut faults = vec![("missing", 4), ("folder", 2), ("foreign", 5), ("empty", *empty), (damaged, 3)];
        if !ENDLESS.contains(name) {
            faults.push(("huge", 5));
        }
        faults.extend(container.map(|status| ("nnue.bin", status)));
        if *container == ELSEWHERE {
            faults.extend([("elsewhere.tflite", 5), ("cut.nnue", 5)]);
        }
        faults.extend(is_pipe.then_some(("pipe", 2)));
        for (fault, expected) in faults {
            // Empty, a file says nothing of its family, but by its name.
            let file = match (*name, fault) {
                ("network of the Stockfish family", "empty") => {
                    fs::write(folder.join("empty.nnue"), b"").unwrap();
                    "empty.nnue"
                }
                _ => fault,
            };
            for command in *commands {
                let (found, said) = status(folder, command, file);
                count += 1;
                if found != Some(expected) || said.contains("panicked") {
                    writeln!(wrong, "{name}, {fault}: {found:?}, expected {expected}: {command}: {said}").unwrap();
                }
            }
        }
    }
    assert!(wrong.is_empty(), "of {count} commands:\n{wrong}");
    assert!(count > 400, "{count}");
}
