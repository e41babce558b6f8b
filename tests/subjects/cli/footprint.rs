//! What `codegen` says that a program takes on a microcontroller, held to what the boards' images were measured to
//! take.

use super::{host_tools, reference, tiny};
use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use tests::own;
use tests::tolerances::{CODE_OF_AN_IMAGE, CODE_OF_ANOTHER_KIND, CODE_OF_ANOTHER_NETWORK};

/// Boards as the table calls them, and as the program does.
const BOARDS: [(&str, &str); 7] = [
    ("M0+", "cortex-m0plus"),
    ("M3", "cortex-m3"),
    ("M4F", "cortex-m4"),
    ("M7", "cortex-m7"),
    ("M33", "cortex-m33"),
    ("M55", "cortex-m55"),
    ("RV32IMAC", "riscv32"),
];
/// Bytes of the container of `nnue`.
const REFERENCE: usize = 202_368;
const MEASURED: &str = "../host-tools/src/footprint/measured.rs";

fn firmware(file: &str) -> PathBuf {
    own("../firmware-examples").join(file)
}

fn len(path: &Path) -> usize {
    fs::metadata(path).unwrap().len() as usize
}

/// A program of the table: its container, the bytes of examples beside it, and what its source says that the network
/// has in memory.
struct Program {
    name: &'static str,
    container: PathBuf,
    examples: usize,
    memory: usize,
}

/// A network of half the hidden units, as `tools/half.py` cuts it.
fn half(folder: &Path, scales: &str) -> PathBuf {
    let (cut, container) = (folder.join("half.weights.bin"), folder.join(format!("half-{scales}.bin")));
    let mut python = std::process::Command::new("python3");
    python.arg(firmware("tools/half.py")).arg("64").arg(reference().0).arg(&cut);
    assert!(python.status().unwrap().success());
    host_tools!("quantise", cut, "--arch", own("architectures/half.toml"), "--scales", scales, "-o", container).fine();
    container
}

/// The container of `minimal_softmax`, as `firmware-examples/run` makes it.
fn softmax(folder: &Path) -> PathBuf {
    let (arch, container) = (folder.join("softmax.toml"), folder.join("softmax.bin"));
    let keywords = fs::read_to_string(own("reference/keywords.toml")).unwrap();
    fs::write(&arch, format!("{keywords}\n[[node]]\nname = \"probabilities\"\nop = \"softmax\"\n")).unwrap();
    host_tools!(
        "quantise",
        own("reference/keywords.safetensors"),
        "--arch",
        arch,
        "--calibrate",
        own("reference/keywords.reference.safetensors"),
        "--array",
        "calibration_inputs",
        "--input-unit",
        "0.0625",
        "--input-zero",
        "0",
        "--activations",
        "i8",
        "-o",
        container
    )
    .fine();
    container
}

/// Those that the table has; `firmware-examples/run` holds the table to the images that there are.
fn programs(folder: &Path, table: &str) -> Vec<Program> {
    let source = |name: &str| firmware("programs/src").join(name);
    let (checkpoint, arch) = reference();
    let whole = folder.join("reference.bin");
    // As the images are made.
    host_tools!("quantise", checkpoint, "--arch", arch, "--scales", "trainer", "-o", whole).fine();
    let kept = |name, container: &str, examples: &str, memory| Program {
        name,
        container: source(container),
        examples: len(&source(examples)),
        memory,
    };
    let all = [
        kept("minimal", "minimal.quantised.bin", "minimal.images.bin", 192),
        kept("minimal_keywords", "keywords.quantised.bin", "keywords.inputs.bin", 16_000),
        Program {
            name: "minimal_softmax",
            container: softmax(folder),
            examples: len(&source("keywords.inputs.bin")),
            memory: 16_000,
        },
        kept("digits", "digits.quantised.bin", "digits.images.bin", 192),
        kept("keywords", "keywords.quantised.bin", "keywords.inputs.bin", 16_000),
        // 256 bytes of scratch and two positions of two accumulators of 128 hidden units.
        Program { name: "nnue", container: whole, examples: 0, memory: 256 + 2 * 2 * 2 * 128 },
        // What its log says of the line. It has the same network at the scales of the proof, too.
        Program {
            name: "plies",
            container: half(folder, "trainer"),
            examples: len(&half(folder, "proof")),
            memory: 4928,
        },
    ];
    all.into_iter().filter(|program| table.contains(&format!("\n| {}, ", program.name))).collect()
}

/// Flash and memory, stack included, of a program on a board, from the table of the firmware's README.
fn measured(table: &str, program: &str, board: &str) -> [usize; 2] {
    let start = format!("| {program}, {board} | ");
    let line = table.lines().find_map(|line| line.strip_prefix(&start)).unwrap_or_else(|| panic!("no row {start}"));
    let numbers: Vec<usize> =
        line.trim_end_matches(" |").split(" | ").map(|cell| cell.replace(',', "").parse().unwrap()).collect();
    let [.., flash, statics, stack] = numbers[..] else { panic!("{line}") };
    [flash, statics + stack]
}

fn table() -> String {
    fs::read_to_string(firmware("README.md")).unwrap()
}

/// What `codegen` says of a container.
fn footprint(container: &Path, folder: &Path) -> Value {
    let module = folder.join("model.rs");
    let mut json = host_tools!("codegen", container, "-o", module, "--force", "--json").fine().json();
    json["footprint"].take()
}

fn number(value: &Value) -> usize {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number")) as usize
}

/// Writes the table into `measured.rs`, less container, examples and the network's memory.
fn bless(table: &str, programs: &[Program]) {
    let path = own(MEASURED);
    let kept = fs::read_to_string(&path).unwrap();
    let mut made = kept[..kept.find("static IMAGES").unwrap()].to_owned();
    writeln!(made, "static IMAGES: [Image; {}] = [", programs.len()).unwrap();
    for Program { name, container, examples, memory } in programs {
        let [mut code, mut stack] = [const { Vec::new() }; 2];
        for (board, _) in BOARDS {
            let [flash, ram] = measured(table, name, board);
            code.push(flash - len(container) - examples);
            stack.push(ram - memory);
        }
        writeln!(made, "    Image {{\n        name: \"{name}\",").unwrap();
        writeln!(made, "        code: {code:?},\n        stack: {stack:?},\n    }},").unwrap();
    }
    writeln!(made, "];").unwrap();
    fs::write(&path, &made).unwrap();
    assert!(made == kept, "{MEASURED} is written anew; build host-tools, and run this again");
}

/// Of every image that was measured: container, the network's memory and all RAM as they are there, and the code within
/// what a compiler's choices make of it.
#[test]
fn what_is_expected_is_what_the_images_take() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let table = table();
    let programs = programs(folder, &table);
    assert!(programs.len() >= 6, "the table has lost programs");
    if std::env::var_os("TAMIS_BLESS").is_some() {
        bless(&table, &programs);
    }
    let (raw, arch) = tiny(folder, 0.5);
    let lists = folder.join("lists.bin");
    host_tools!("quantise", raw, "--arch", arch, "-o", lists).fine();
    for Program { name, container, examples, memory } in programs {
        // `nnue` brings its features as lists: chess by itself is an engine's, whose image is `plies`.
        let is_of_lists = name == "nnue";
        let found = footprint(if is_of_lists { &lists } else { &container }, folder);
        let container = len(if is_of_lists { &lists } else { &container });
        assert_eq!(number(&found["container_len_bytes"]), container, "{name}");
        // A module's state has room for scratch, which the program leaves out.
        let scratch = if name == "plies" { number(&found["memory"]["workspace_len_bytes"]) } else { 0 };
        let size = if name.starts_with("minimal") { "small" } else { "fast" };
        let boards = found["boards"].as_array().unwrap();
        assert_eq!(boards.len(), BOARDS.len());
        for ((board, core), said) in BOARDS.into_iter().zip(boards) {
            let [flash, ram] = measured(&table, name, board);
            let said_of = |key: &str| number(&said[size][key]);
            assert_eq!((&said["core"], &said[size]["image"]), (&core.into(), &name.into()));
            assert_eq!(said_of("flash_len_bytes"), container + said_of("code_len_bytes"), "{name} on {core}");
            let code = if is_of_lists { flash - REFERENCE } else { flash - container - examples };
            let off = (said_of("code_len_bytes") as f64 - code as f64).abs() / code as f64;
            assert!(off <= CODE_OF_AN_IMAGE, "{name} on {core}: {code} bytes of code; TAMIS_BLESS=1 copies the table");
            assert_eq!(said_of("stack_len_bytes"), ram - memory, "{name} on {core}; TAMIS_BLESS=1 copies the table");
            if !is_of_lists {
                assert_eq!(said_of("ram_len_bytes"), ram + scratch, "{name} on {core}");
                assert_eq!(said_of("ram_len_bytes") - said_of("stack_len_bytes"), memory + scratch);
            }
        }
    }
}

/// An expectation is worth what it is worth for a network that was not measured: the code of one image says the flash
/// of another one of the same level, whose network is another.
#[test]
fn the_code_of_one_network_says_the_flash_of_another() {
    let folder = tempfile::tempdir().unwrap();
    let table = table();
    let programs = programs(folder.path(), &table);
    let code = |name: &str, board: &str| {
        let program = programs.iter().find(|program| program.name == name).unwrap();
        let [flash, _] = measured(&table, name, board);
        (flash - len(&program.container) - program.examples, flash)
    };
    let (kind, network) = (CODE_OF_ANOTHER_KIND, CODE_OF_ANOTHER_NETWORK);
    let pairs = [
        ("digits", "keywords", kind),
        ("keywords", "digits", kind),
        ("nnue", "plies", network),
        ("plies", "nnue", network),
    ];
    for (one, other, most) in pairs {
        let mut worst = 0.0_f64;
        for (board, _) in BOARDS {
            let ((expected, _), (found, flash)) = (code(one, board), code(other, board));
            let off = (expected as f64 - found as f64).abs() / found as f64;
            assert!(off <= most, "{other} on {board}: {found} of {flash}, expected {expected}");
            worst = worst.max(off);
        }
        println!("{other} by {one}: at most {:.1} % of the code", 100.0 * worst);
    }
}

/// The text, for one core and for all; and what no image was measured of is said to be unknown.
#[test]
fn the_text_says_what_is_exact_and_what_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    let module = folder.path().join("model.rs");
    let digits = firmware("programs/src/digits.quantised.bin");
    let said = host_tools!("codegen", digits, "-o", module, "--core", "cortex-m4").fine();
    for words in [
        "container  4672 of flash",
        "memory     192 of workspace",
        "input      64,",
        "minimal: level \"z\"",
        "digits: level 3",
    ] {
        assert!(said.text().contains(words), "`{words}` is missing: {}", said.text());
    }
    let lines = |text: &str, core: &str| text.lines().filter(|line| line.trim_start().starts_with(core)).count();
    assert_eq!((lines(said.text(), "cortex-m4"), lines(said.text(), "cortex-m3")), (2, 0));
    let all = host_tools!("codegen", digits, "-o", module, "--force").fine();
    assert!(BOARDS.iter().all(|(_, core)| lines(all.text(), &format!("{core} ")) == 2), "{}", all.text());

    let sparse = own("fuzz/corpus/loader/sparse-with-values-sums-and-tables.bin");
    let unknown = host_tools!("codegen", sparse, "-o", module, "--force").fine();
    assert!(unknown.text().contains("code       unknown: no image"), "{}", unknown.text());

    // The same of a command that writes the container, and nothing without a module.
    let (checkpoint, arch) = reference();
    let out = folder.path().join("net.bin");
    let quantised =
        host_tools!("quantise", checkpoint, "--arch", arch, "-o", out, "--codegen", module, "--force", "--json").fine();
    let generated = host_tools!("codegen", out, "-o", module, "--force", "--json").fine();
    assert_eq!(quantised.json()["footprint"], generated.json()["footprint"]);
    let bare = host_tools!("quantise", checkpoint, "--arch", arch, "-o", out, "--force", "--json").fine();
    assert!(bare.json().get("footprint").is_none());
}
