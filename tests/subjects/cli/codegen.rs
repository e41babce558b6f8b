//! Modules of `codegen` in a program outside the repository: what it prints, what does not compile, and that nothing
//! differs between two runs.

use super::graphs::{Case, cases, matrix, node};
use super::{binary, host_tools, reference};
use crate::outsider::{TARGET, cargo, new_program, try_cargo};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use tamis_quant::graph::{Activation, Graph, Input, Op, Shape};
use tamis_quant::stockfish::{Encoding, FeatureSet};
use tests::graphs::Random;
use tests::own;
use tests::stockfish::{container, made_up, shape};

/// Containers of every shape that the wrapper tells apart; kept for fuzzing the loader.
const SHAPES: [&str; 15] = [
    "bytes-through-tables-and-trees-buckets", // i8, buckets
    "chess-no-buckets",                       // two accumulators, no buckets
    "clipped-three-outputs",                  // several outputs
    "dense-i8",
    "digits-clips-the-other-side-first", // digits of large numbers beside the hidden units
    "maps-of-bytes-convolutions-and-pools", // u8, height, width and channels
    "maps-that-are-moved-joined-and-resized",
    "reals-from-pairs",                // real outputs of accumulators
    "reals-in-quantised-inside",       // real inputs
    "sparse-one-a-field-interactions", // as many features in every example
    "sparse-reals-with-values",
    "sparse-reals-without-values",
    "sparse-with-values-sums-and-tables",
    "tiny", // one accumulator
    "unclipped-squares",
];

/// A name that a string literal, a comment and a shell would all trip over.
const AWKWARD: &str = "a \"quoted\\ é`` name\n! of 'two' lines.bin";

/// Pixels, of which every one is a sixteenth of something.
fn pixels() -> String {
    (0..20).fold(String::new(), |mut text, row| {
        text.push('0');
        (0..64).for_each(|at| write!(text, " {at}:{}", f64::from((row * 31 + at * 7) % 17) / 16.0).unwrap());
        text + "\n"
    })
}

/// 8 reals through 4 to 64, as an autoencoder has them: most of the workspace is outputs.
fn wide() -> Graph {
    let mut random = Random(6);
    let mut linear =
        |outputs, inputs| Op::Linear { weights: matrix(&mut random, outputs, inputs), bias: vec![0.5; outputs] };
    Graph {
        name: "wide".to_owned(),
        input: Input::Dense { shape: Shape::vector(8) },
        nodes: vec![
            node("in", &[0], linear(4, 8)),
            node("relu", &[1], Op::Activation(Activation::Relu)),
            node("out", &[2], linear(64, 4)),
        ],
    }
}

/// The module of a container, which is copied to where the program wants it.
fn embed(model: &Path, place: &Path, module: &Path) {
    fs::copy(model, place).unwrap();
    host_tools!("codegen", place, "-o", module).fine();
}

/// The five networks, the shapes and the program, in a folder that cargo has made a package.
fn package(folder: &Path) -> [Case; 2] {
    new_program(folder, "user");
    let src = folder.join("src");
    fs::create_dir(folder.join("models")).unwrap();
    let (checkpoint, arch) = reference();
    let nnue = folder.join("models").join(AWKWARD);
    host_tools!("quantise", checkpoint, "--arch", arch, "-o", nnue, "--codegen", src.join("nnue.rs")).fine();
    let [digits, description, calibration] =
        ["digits.safetensors", "digits.toml", "digits.reference.safetensors"].map(|name| own("reference").join(name));
    let (table, array) = (folder.join("table.bin"), "calibration_inputs");
    let ran = host_tools!(
        "quantise",
        digits,
        "--arch",
        description,
        "--calibrate",
        calibration,
        "--array",
        array,
        "-o",
        table,
        "--codegen",
        src.join("table.rs"),
        "--json"
    );
    assert_eq!(ran.fine().json()["module"], src.join("table.rs").to_str().unwrap());

    let [(_, dense), (_, sparse)] = cases();
    dense.quantise("vector.bin", &["--activations", "i8"]).fine();
    embed(&dense.path("vector.bin"), &src.join("vector.bin"), &src.join("vector.rs"));
    let wide = Case::new(&wide());
    wide.quantise("wide.bin", &["--activations", "i8"]).fine();
    embed(&wide.path("wide.bin"), &src.join("wide.bin"), &src.join("wide.rs"));
    sparse.quantise("sparse.bin", &[]).fine();
    embed(&sparse.path("sparse.bin"), &folder.join("sparse.bin"), &src.join("sparse.rs"));
    embed(&sparse.path("sparse.bin"), &folder.join("unused.bin"), &src.join("unused.rs"));
    let names = SHAPES.map(|shape| shape.replace('-', "_"));
    for (shape, name) in SHAPES.iter().zip(&names) {
        let model = own("fuzz/corpus/loader").join(shape).with_extension("bin");
        embed(&model, &folder.join("models").join(name), &src.join(name).with_extension("rs"));
    }

    let features = FeatureSet::ThreatsAndPairs;
    let threats = container(&made_up(shape(features, 32, features.heads()[0]), Encoding::Leb128, 8));
    fs::write(folder.join("packed.bin"), threats.as_ref()).unwrap();
    embed(&folder.join("packed.bin"), &folder.join("threats.bin"), &src.join("threats.rs"));

    fs::write(folder.join("pixels"), pixels()).unwrap();
    fs::copy(&dense.rows, folder.join("reals")).unwrap();
    fs::copy(&sparse.rows, folder.join("features")).unwrap();
    let modules = names.join(" ");
    let mut library = "#![no_std]\n#![deny(warnings, missing_docs, unsafe_code)]\n//! Generated modules.\n".to_owned();
    for name in modules.split(' ').chain(["nnue", "sparse", "table", "threats", "vector", "wide"]) {
        writeln!(library, "#[rustfmt::skip]\n/// One.\npub mod {name};").unwrap();
    }
    fs::write(src.join("lib.rs"), library).unwrap();
    let is_of_reals = |name: &&str| {
        let module = fs::read_to_string(src.join(name).with_extension("rs")).unwrap();
        module.contains("pub type OutputNumber = f32;") && !module.contains("bucket: usize")
    };
    let reals =
        modules.split(' ').chain(["vector", "wide"]).find(is_of_reals).expect("a dense network that ends in f32");
    let program = include_str!("codegen/program.rs").replace("MODULES", &modules);
    let program = program.replace("REALS", reals).replace("GUIDE!();", &classify_of_the_guide());
    fs::write(src.join("main.rs"), program).unwrap();
    [dense, sparse]
}

/// What the guide writes around a network of its reader's, whatever goes in and comes out.
fn classify_of_the_guide() -> String {
    let guide = fs::read_to_string(own("../firmware-examples/README.md")).unwrap();
    let start = guide.find("fn classify(input: &[net::InputNumber").expect("the guide's whole program");
    let len = guide[start..].find("\n}\n").unwrap() + 3;
    format!("pub {}", &guide[start..start + len])
}

/// What the host says about the same inputs.
fn evaluated(folder: &Path, [dense, sparse]: &[Case; 2]) -> String {
    let rows = |model: &Path, rows: &Path| host_tools!("eval", model, "--inputs", rows).fine().text().to_owned();
    let chess = |nnue: &Path| {
        ["4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "4k3/8/8/8/4P3/8/8/4K3 b - - 0 1"]
            .map(|fen| host_tools!("eval", nnue, "--fen", fen).fine().text().to_owned())
            .concat()
    };
    [
        rows(&folder.join("table.bin"), &folder.join("pixels")),
        rows(&dense.path("vector.bin"), &dense.rows),
        rows(&sparse.path("sparse.bin"), &sparse.rows),
        chess(&folder.join("threats.bin")),
        chess(&folder.join("models").join(AWKWARD)),
    ]
    .concat()
}

/// How often bytes stand in others.
fn count(bytes: &[u8], wanted: &[u8]) -> usize {
    let first = wanted.first_chunk::<64>().unwrap();
    let starts = (0..bytes.len() - wanted.len()).filter(|at| bytes[*at..].starts_with(first));
    starts.filter(|at| bytes[*at..].starts_with(wanted)).count()
}

#[test]
fn a_program_around_generated_modules_prints_what_eval_prints() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let cases = package(folder);
    let printed = cargo(folder, &["run", "--quiet", "--offline"]);
    let (signatures, values) = printed.split_at(17 * (6 + SHAPES.len()));
    assert!(signatures.lines().all(|line| line.len() == 16), "{signatures}");
    let expected = evaluated(folder, &cases);
    let differs = values.lines().zip(expected.lines()).find(|(found, expected)| found != expected);
    assert_eq!((differs, values.lines().count()), (None, expected.lines().count()));

    // The container is in the program once, at a multiple of 64, which the loader has just seen.
    let program = fs::read(Path::new(TARGET).join("debug/user")).unwrap();
    let container = fs::read(folder.join("models").join(AWKWARD)).unwrap();
    assert_eq!(count(&program, &container), 1);

    is_formatted(folder);
    wrong_arguments_do_not_compile(folder);
    another_container_does_not_compile(folder);
}

/// As rustfmt leaves it, and under this repository's own rules.
fn is_formatted(folder: &Path) {
    for entry in fs::read_dir(folder.join("src")).unwrap() {
        let path = entry.unwrap().path();
        let is_generated = path.file_stem().is_some_and(|stem| stem != "main" && stem != "lib");
        if path.extension().is_some_and(|extension| extension == "rs") && is_generated {
            for width in ["max_width=100", "max_width=120,use_small_heuristics=Max"] {
                let mut rustfmt = std::process::Command::new("rustfmt");
                let output =
                    rustfmt.args(["--edition", "2024", "--check", "--config", width]).arg(&path).output().unwrap();
                assert!(output.status.success(), "{width}: {}", String::from_utf8_lossy(&output.stdout));
            }
        }
    }
}

fn wrong_arguments_do_not_compile(folder: &Path) {
    let bin = folder.join("src/bin");
    fs::create_dir(&bin).unwrap();
    let (table, scratch) = ("table::Network::open().unwrap()", "&mut table::Scratch::new()");
    for (name, call, refusal) in [
        ("short", format!("{table}.run(&[0; 63], {scratch})"), "array with a size of 64, found one with a size of 63"),
        ("element", format!("{table}.run(&[0i8; 64], {scratch})"), "expected `u8`, found `i8`"),
        (
            "scratch",
            format!("{table}.run(&[0; 64], &mut tamis_runtime::Workspace::<191>::new())"),
            "`192`, found `191`",
        ),
        ("outputs", format!("{table}.run(&[0; 64], {scratch}).map(|y: &[i32; 9]| y[0])"), "fn(&[i32; 10])"),
        (
            "width",
            "nnue::Accumulators::new() == tamis_runtime::nnue::AccumulatorPair::<127>::new()".to_owned(),
            "`128`",
        ),
    ] {
        let text = format!("#![allow(unused)]\nuse user::*;\nfn main() {{\n    let _ = {call};\n}}\n");
        let path = bin.join(name).with_extension("rs");
        fs::write(&path, text).unwrap();
        let refused = try_cargo(folder, &["build", "--quiet", "--offline", "--bin", name]).unwrap_err();
        assert!(refused.contains(refusal), "{name}: `{refusal}` is missing: {refused}");
        fs::remove_file(path).unwrap();
    }
}

fn another_container_does_not_compile(folder: &Path) {
    let path = folder.join("table.bin");
    let whole = fs::read(&path).unwrap();
    let mut flipped = whole.clone();
    flipped[24] ^= 1;
    let longer = [whole.as_slice(), &[0; 64]].concat();
    for other in [flipped.as_slice(), &longer, &whole[..20], &[]] {
        fs::write(&path, other).unwrap();
        let refused = try_cargo(folder, &["build", "--quiet", "--offline", "--lib"]).unwrap_err();
        assert!(refused.contains("table.rs"), "{refused}");
        let is_worded = refused.contains("not the container that this module was written for: run host-tools codegen");
        assert_eq!(is_worded, other.len() >= 24, "{refused}");
    }
}

#[test]
fn a_module_depends_on_its_container_and_its_place_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir_all(path("crate/src")).unwrap();
    let (checkpoint, arch) = reference();
    let (model, module) = (path("crate/model.bin"), path("crate/src/model.rs"));
    host_tools!("quantise", checkpoint, "--arch", arch, "-o", model, "--codegen", module).fine();
    let first = fs::read_to_string(&module).unwrap();
    assert!(first.contains("include_model!(\"../model.bin\")"), "{first}");
    let ran = host_tools!("codegen", model, "-o", module, "--force", "--json").fine().json();
    assert_eq!(first, fs::read_to_string(&module).unwrap());
    let inspected = host_tools!("inspect", model, "--json").fine().json();
    for key in ["network", "checksum", "signature", "workspace_len_bytes", "len_bytes"] {
        assert_eq!(ran[key], inspected[key], "{key}");
    }
    assert_eq!(ran["schema"], "tamis-codegen-1");

    // From another folder, along other paths.
    let again = path("again.rs");
    let mut program = std::process::Command::new(binary());
    program.current_dir(path("crate/src")).args(["codegen", "../../crate/src/../model.bin", "-o", "../../again.rs"]);
    assert!(program.output().unwrap().status.success());
    assert_eq!(fs::read_to_string(again).unwrap(), first.replace("../model.bin", "crate/model.bin"));
}
