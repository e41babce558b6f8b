//! `include/tamis.h` is what the sources say.
//!
//! The generator reads this crate's own sources, whose form rustfmt and the compiler fix, and knows what this crate
//! has: functions behind `no_mangle`, constants, the statuses, structures with public fields. What it does not know
//! fails the test. A generator of C headers from crates.io would bring a licence that the project does not take.
//!
//! `TAMIS_BLESS=1 cargo test -p tamis-c header` writes the header anew.

mod source;
mod write;

use std::path::Path;
use tamis_runtime::engine::{Colour, Kind};
use tamis_runtime::raw::{element, feature_set, input_kind};

/// In the order in which the header has them.
const SOURCES: [&str; 6] = ["abi", "status", "tier", "net", "state", "model"];

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

fn generated() -> String {
    let mut header = read("tests/header/head.h");
    for source in SOURCES {
        let text = read(&format!("src/{source}.rs"));
        let items = source::items(&text);
        let exported = text.matches("#[unsafe(no_mangle)]").count();
        let functions = items.iter().filter(|item| matches!(item.kind, source::Kind::Function { .. })).count();
        assert_eq!(functions, exported, "{source}.rs exports a function that the generator does not see");
        write::items(&mut header, &items);
    }
    header + &read("tests/header/tail.h")
}

#[test]
fn the_header_is_what_the_sources_say() {
    let path = "include/tamis.h";
    let generated = generated();
    if std::env::var_os("TAMIS_BLESS").is_some() {
        std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join(path), &generated).unwrap();
    }
    let kept = read(path);
    let line = generated.lines().zip(kept.lines()).position(|(a, b)| a != b);
    assert!(generated == kept, "{path} differs from line {line:?} on; TAMIS_BLESS=1 writes it anew");
}

/// Every source with an exported function is read, so that none is missing from the header.
#[test]
fn every_source_that_exports_is_read() {
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).unwrap() {
        let path = entry.unwrap().path();
        let exports = std::fs::read_to_string(&path).unwrap().contains("#[unsafe(no_mangle)]");
        let is_read = SOURCES.iter().any(|source| path.file_stem().unwrap() == *source);
        assert!(!exports || is_read, "{} is not among SOURCES", path.display());
    }
}

#[test]
fn every_status_of_the_header_has_a_text() {
    let text = |status| {
        // SAFETY: the function gives text that ends in a zero and is never freed.
        unsafe { core::ffi::CStr::from_ptr(tamis::tamis_status_text(status)) }.to_str().unwrap()
    };
    let unknown = text(-1);
    let header = generated();
    let (_, statuses) = header.split_once("enum {").unwrap();
    let (statuses, _) = statuses.split_once("};").unwrap();
    let mut count = 0;
    for (name, number) in statuses.lines().filter_map(|line| line.trim().trim_end_matches(',').split_once(" = ")) {
        assert_ne!(text(number.parse().unwrap()), unknown, "{name}");
        count += 1;
    }
    assert_eq!(count, (-1..1000).filter(|number| text(*number) != unknown).count());
}

/// What the header's fixed part defines, in the runtime's own numbers.
#[test]
fn constants_are_the_runtimes() {
    let expected = [
        ("WHITE", Colour::White as u32),
        ("BLACK", Colour::Black as u32),
        ("PAWN", Kind::Pawn as u32),
        ("KNIGHT", Kind::Knight as u32),
        ("BISHOP", Kind::Bishop as u32),
        ("ROOK", Kind::Rook as u32),
        ("QUEEN", Kind::Queen as u32),
        ("KING", Kind::King as u32),
        ("FEATURES_CHESS", feature_set::CHESS),
        ("FEATURES_CHESS_MIRRORED", feature_set::CHESS_MIRRORED),
        ("FEATURES_MERGED", feature_set::MERGED),
        ("FEATURES_MERGED_MIRRORED", feature_set::MERGED_MIRRORED),
        ("FEATURES_NO_KINGS", feature_set::NO_KINGS),
        ("FEATURES_THREATS", feature_set::THREATS),
        ("FEATURES_THREATS_AND_PAIRS", feature_set::THREATS_AND_PAIRS),
        ("INPUT_FEATURES", input_kind::FEATURES),
        ("INPUT_DENSE", input_kind::DENSE),
        ("INPUT_SPARSE", input_kind::SPARSE),
        ("ELEMENT_U8", element::U8),
        ("ELEMENT_I8", element::I8),
        ("ELEMENT_I16", element::I16),
        ("ELEMENT_F32", element::F32),
    ];
    let head = read("tests/header/head.h");
    let defined =
        head.lines().filter_map(|line| line.strip_prefix("#define TAMIS_")?.strip_suffix('u')?.split_once(' '));
    let defined: Vec<(&str, u32)> = defined.map(|(name, number)| (name, number.parse().unwrap())).collect();
    assert_eq!(defined, expected);
}

/// A function that no program calls would be one whose declaration nothing has held against its definition.
#[test]
fn every_function_is_called_by_a_program() {
    let programs = ["tests/programs/border.c", "tests/programs/models.c", "examples/game.c"].map(read).concat();
    let mut count = 0;
    for source in SOURCES {
        for item in source::items(&read(&format!("src/{source}.rs"))) {
            if let source::Kind::Function { name, .. } = item.kind {
                assert!(programs.contains(&format!("{name}(")), "no program calls {name}");
                count += 1;
            }
        }
    }
    assert!(count > 20);
}
