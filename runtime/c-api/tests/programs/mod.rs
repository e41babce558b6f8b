//! Programs in C and C++ under each compiler that there is, against the static and the shared library.
//!
//! What a machine lacks is reported as ignored; with `TAMIS_C_TOOLS=required` it fails, which is how continuous
//! integration runs it.

mod compiler;
mod game;
mod models;

use compiler::{CCompiler, Compiler, Library, Valgrind, run};
use std::path::{Path, PathBuf};
use tamis_quant::import::read_bytes;
use tamis_quant::quantise::quantise;
use tamis_quant::run::AlignedBytes;
use tamis_runtime::engine::{AnyNetwork, AnyState, Colour, Kind, Piece};
use tamis_runtime::kernels;
use tests::{architecture, own, packed};

/// One of the repository's own networks.
fn network(weights: &str, description: &str) -> AlignedBytes {
    let bytes = std::fs::read(own("reference").join(weights)).unwrap();
    packed(&quantise(&read_bytes(&bytes, &architecture(description), weights).unwrap().net).unwrap())
}

fn reference() -> AlignedBytes {
    network("nnue.weights.bin", "reference")
}

/// Of another width, with outputs that are real.
fn layers() -> AlignedBytes {
    network("layers.weights.bin", "reference-layers")
}

/// The two networks as files of a folder that goes when it is dropped.
fn folder() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let (net, other) = (folder.path().join("quantised.bin"), folder.path().join("layers.bin"));
    std::fs::write(&net, reference().as_ref()).unwrap();
    std::fs::write(&other, layers().as_ref()).unwrap();
    (folder, net, other)
}

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The example of a folder that has `quantised.bin`.
fn build_game(compiler: &Compiler, folder: &Path, library: Library) -> PathBuf {
    let embed = format!("-DNET_PATH=\"{}\"", folder.join("quantised.bin").display());
    compiler.build(folder, &[here("examples/game.c"), here("examples/embed.S")], library, &[&embed])
}

/// What a program prints for arguments, under valgrind or not.
type Run<'a> = &'a dyn Fn(&Path, &[&str]) -> String;

#[test]
fn the_game_has_the_numbers_of_rust(CCompiler(compiler): CCompiler) {
    let (folder, _, other) = folder();
    let other = other.to_str().unwrap();
    let (reference, layers) = (reference(), layers());
    for library in [Library::Static, Library::Shared] {
        let program = build_game(&compiler, folder.path(), library);
        let (tier, found) = game::numbers(&run(&program, &[]));
        assert_eq!(tier, kernels::best().name);
        assert_eq!(found, game::expected::<128>(&reference, &game::OPERA));
        for moves in game::OTHERS {
            let (_, found) = game::numbers(&run(&program, moves));
            assert_eq!(found, game::expected::<128>(&reference, moves), "{moves:?}");
        }
        let (_, found) = game::numbers(&run(&program, &["--net", other]));
        assert_eq!(found, game::expected::<256>(&layers, &game::OPERA));
    }
    let program = build_game(&compiler, folder.path(), Library::Static);
    for tier in kernels::tiers() {
        let (name, found) = game::numbers(&run(&program, &["--tier", tier.name]));
        assert_eq!(name, tier.name);
        assert_eq!(found, game::expected::<128>(&reference, &game::OPERA), "{name}");
    }
}

#[test]
fn the_game_is_clean_under_valgrind(CCompiler(compiler): CCompiler, valgrind: Valgrind) {
    let (folder, _, other) = folder();
    let program = build_game(&compiler, folder.path(), Library::Static);
    // valgrind's processor has AVX2 and no AVX-512, so the tier may be another one; the numbers are not.
    let (printed, report) = valgrind.run(&program, &[]);
    assert_eq!(game::numbers(&printed).1, game::expected::<128>(&reference(), &game::OPERA));
    // The buffer of stdout is what the C library allocates for itself.
    assert!(report.contains("total heap usage: 1 allocs"), "{report}");
    let (printed, _) = valgrind.run(&program, &["--net", other.to_str().unwrap()]);
    assert_eq!(game::numbers(&printed).1, game::expected::<256>(&layers(), &game::OPERA));
}

/// `border.c` says what; that it allocates nothing is counted by what the linker puts in the allocator's place.
fn check_border(compiler: &Compiler, run: Run<'_>) {
    let (folder, net, other) = folder();
    let arguments = [net.to_str().unwrap(), other.to_str().unwrap()];
    let wraps = ["malloc", "calloc", "realloc", "posix_memalign"].map(|name| format!("-Wl,--wrap={name}"));
    let sources = [here("tests/programs/border.c")];
    let wraps: Vec<&str> = wraps.iter().map(String::as_str).collect();
    let program = compiler.build(folder.path(), &sources, Library::Static, &wraps);
    let printed = run(&program, &arguments);
    assert!(printed.ends_with(" checks, 0 failures, 0 allocations\n"), "{printed}");
}

#[test]
fn the_border_refuses_what_it_must_and_allocates_nothing(compiler: Compiler) {
    check_border(&compiler, &run);
}

#[test]
fn the_border_is_clean_under_valgrind(compiler: Compiler, valgrind: Valgrind) {
    check_border(&compiler, &|program, arguments| valgrind.run(program, arguments).0);
}

/// Every container that is kept as a start for fuzzing: each kind of input and of output.
fn corpus() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(own("fuzz/corpus/loader")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 20);
    files
}

fn build_models(compiler: &Compiler, folder: &Path) -> PathBuf {
    compiler.build(folder, &[here("tests/programs/models.c")], Library::Static, &[])
}

#[test]
fn models_of_every_kind_have_the_numbers_of_rust(compiler: Compiler) {
    let folder = tempfile::tempdir().unwrap();
    let program = build_models(&compiler, folder.path());
    for file in corpus() {
        let (path, expected) = (file.to_str().unwrap(), models::expected(&std::fs::read(&file).unwrap()));
        for tier in ["scalar", kernels::best().name] {
            assert_eq!(run(&program, &[path, tier]), expected, "{path} with {tier}");
        }
    }
}

#[test]
fn models_are_clean_under_valgrind(compiler: Compiler, valgrind: Valgrind) {
    let folder = tempfile::tempdir().unwrap();
    let program = build_models(&compiler, folder.path());
    for file in corpus().iter().filter(|file| file.ends_with("dense-i8.bin") || file.ends_with("tiny.bin")) {
        let (printed, _) = valgrind.run(&program, &[file.to_str().unwrap()]);
        assert_eq!(printed, models::expected(&std::fs::read(file).unwrap()));
    }
}

/// A network in mapped memory, and a copy of it in pages of its own, are the one in a program's memory.
#[test]
fn a_mapped_network_and_its_copy_are_the_file(compiler: Compiler) {
    let (folder, net, _) = folder();
    let file = reference();
    let network = AnyNetwork::load(file.as_ref()).unwrap();
    let mut memory = AlignedBytes::zeroed(AnyState::len_bytes(&network, 1, 0).unwrap());
    let mut state = AnyState::create(&network, memory.as_mut(), 1, 0).unwrap();
    let kings = [(Colour::White, 4), (Colour::Black, 60)].map(|(colour, e)| Piece::new(colour, Kind::King, e));
    state.refresh(&network, kings).unwrap();
    let score = state.evaluate(&network, Colour::White).unwrap();
    let program = compiler.build(folder.path(), &[here("examples/map.c")], Library::Static, &[]);
    let printed = run(&program, &[net.to_str().unwrap()]);
    assert_eq!(printed, format!("mapped {score}\ncopied {score}\n"), "{}", compiler.name);
}

/// The program in README.md, as a reader copies it.
#[test]
fn the_readme_has_a_program_that_runs(compiler: Compiler) {
    let readme = std::fs::read_to_string(here("README.md")).unwrap();
    let (_, program) = readme.split_once("```c\n").unwrap();
    let (program, _) = program.split_once("```").unwrap();
    let (folder, _, _) = folder();
    let source = folder.path().join("first.c");
    std::fs::write(&source, program).unwrap();
    let expected = game::expected::<128>(&reference(), &["e2e4"]);
    let built = compiler.build(folder.path(), std::slice::from_ref(&source), Library::Static, &[]);
    let printed = compiler::run_in(folder.path(), &built, &[]);
    let (_, score) = expected.iter().find(|(position, _)| position == "e2e4").unwrap();
    assert_eq!(printed, format!("{score}\n"), "{}", compiler.name);
}
