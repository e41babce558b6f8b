//! What firmware links and logs: every error and report has `defmt::Format`, and nothing of defmt, std or alloc comes
//! unasked.

use crate::outsider::try_cargo;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use tests::own;

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => sources(&path, found),
            false => found.push(path),
        }
    }
}

fn runtime() -> String {
    let mut files = Vec::new();
    sources(&own("../runtime/src"), &mut files);
    files.sort();
    files.iter().map(|file| fs::read_to_string(file).unwrap()).collect()
}

/// The name that a text starts with.
fn name(text: &str) -> &str {
    text.split(|other: char| !other.is_alphanumeric() && other != '_').next().unwrap()
}

/// What a `Result` holds where it fails: its second argument.
fn failures(source: &str) -> impl Iterator<Item = &str> {
    source.split("Result<").skip(1).filter_map(|rest| {
        let mut depth = 0;
        let comma = rest.char_indices().find(|(_, letter)| {
            depth += match letter {
                '<' | '(' | '[' => 1,
                '>' | ')' | ']' => -1,
                _ => 0,
            };
            *letter == ',' && depth == 0 || depth < 0
        });
        let (at, found) = comma?;
        (found == ',').then(|| rest[at + 1..].trim_start().rsplit("::").last().map(str::trim_start)).flatten().map(name)
    })
}

#[test]
fn every_error_and_report_can_be_logged() {
    let source = runtime();
    let defined: BTreeSet<&str> =
        ["pub enum ", "pub struct "].iter().flat_map(|kind| source.split(kind).skip(1).map(name)).collect();
    let named =
        defined.iter().copied().filter(|name| ["Error", "Mismatch", "Report"].iter().any(|end| name.ends_with(end)));
    let returned = failures(&source).filter(|name| defined.contains(name));
    let wanted: BTreeSet<&str> = named.chain(returned).collect();
    assert!(wanted.is_superset(&["LoadError", "Mismatch", "ParseError", "RunError"].into()), "{wanted:?}");

    // The list compiles only if all that is in it can be logged; continuous integration builds it.
    let list = fs::read_to_string(own("../runtime/src/loggable.rs")).unwrap();
    let (_, list) = list.split_once("\nloggable!(").unwrap();
    let listed: BTreeSet<&str> = list
        .lines()
        .filter_map(|line| line.trim().strip_suffix(','))
        .map(|path| name(path.rsplit("::").next().unwrap()))
        .collect();
    assert!(wanted.is_subset(&listed), "runtime/src/loggable.rs lacks {:?}", wanted.difference(&listed));
}

#[test]
fn firmware_gets_no_defmt_std_or_alloc_unasked() {
    assert!(!runtime().contains("extern crate alloc"), "the runtime needs `core` only");
    // In no other place than its tests.
    let outside_tests = |source: &str| source.split("#[cfg(test)]").next().unwrap().contains("extern crate std");
    let mut files = Vec::new();
    sources(&own("../runtime/src"), &mut files);
    let with_std = files.iter().find(|file| outside_tests(&fs::read_to_string(file).unwrap()));
    assert_eq!(with_std, None, "the runtime needs `core` only");
    for features in [[].as_slice(), &["--no-default-features"]] {
        let tree = ["tree", "--offline", "--locked", "-p", "tamis-runtime", "-e", "normal,no-proc-macro"];
        let words = [tree.as_slice(), &["--prefix", "none", "-f", "{lib}:{f}"], features].concat();
        let tree = try_cargo(&own(".."), &words).unwrap();
        assert!(tree.contains("bytemuck:"), "{tree}");
        for line in tree.lines() {
            let (package, features) = line.trim_end_matches(" (*)").split_once(':').unwrap();
            assert_ne!(package, "defmt", "{tree}");
            let asked = features.split(',').find(|feature| ["std", "alloc", "defmt"].contains(feature));
            assert_eq!(asked, None, "{package}: {tree}");
        }
    }
}

/// What is compiled to compile the runtime of a program that only runs networks: one macro, of `bytemuck`, and no more.
#[test]
fn the_smallest_runtime_needs_one_macro() {
    let macros = |features: &[&str]| -> BTreeSet<String> {
        let tree = ["tree", "--offline", "--locked", "-p", "tamis-runtime", "-e", "normal", "--prefix", "none"];
        let tree = try_cargo(&own(".."), &[tree.as_slice(), features].concat()).unwrap();
        let macros = tree.lines().filter(|line| line.contains("(proc-macro)"));
        macros.map(|line| line.split(' ').next().unwrap().to_owned()).collect()
    };
    assert_eq!(macros(&["--no-default-features"]), ["bytemuck_derive".to_owned()].into());
    let runs = "general,maps,messages";
    assert_eq!(macros(&["--no-default-features", "--features", runs]), ["bytemuck_derive".to_owned()].into());
    // `postcard` asks for these itself.
    let with_metadata = ["bytemuck_derive", "serde_derive", "thiserror-impl"].map(str::to_owned);
    assert_eq!(macros(&[]), with_metadata.into());
}
