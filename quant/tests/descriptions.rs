//! The descriptions of real networks that the whole project tests with: each is read, has the size that its file has,
//! and survives its own canonical text.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use tamis_quant::arch::Architecture;
use tamis_quant::graph::description::is_description;

/// Description and the length of the bare file it belongs to: found files first, then computed by hand.
const SIZES: [(&str, u64); 13] = [
    ("noggin", 98_752),
    ("cwtch", 3_163_200),
    ("akimbo-buckets", 1_205_824),
    ("akimbo-mirrored", 1_184_320),
    ("akimbo-layers", 1_231_012),
    ("matthriscu", 197_440),
    ("alexandria", 3_215_424),
    ("stormphrax", 3_148_928),
    // 2·(768·32 + 32 + 64 + 1) = 49,346, and with 128: 197,378; up to the next multiple of 64.
    ("bullet-test1", 49_408),
    ("bullet-test3", 197_440),
    // 2·(2·768·128 + 128) + 128·128 + 4·(128 + 30·256 + 256 + 32·8 + 8) = 443,168.
    ("bullet-test2", 443_200),
    // 2·(768·128 + 128 + 256·8 + 8) = 200,976.
    ("reference", 201_024),
    // 64·32 + 4·32 + 32·10 + 4·10, and no tail.
    ("digits", 2_536),
];

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/architectures"))
}

fn read(name: &str) -> Architecture {
    let path = folder().join(format!("{name}.toml"));
    Architecture::from_toml(&fs::read_to_string(&path).unwrap(), &path.display().to_string()).unwrap()
}

#[test]
fn each_has_the_size_of_its_file() {
    for (name, expected) in SIZES {
        assert_eq!(read(name).bare_len_bytes(), expected, "{name}");
    }
}

#[test]
fn each_survives_its_canonical_text() {
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let name = path.display().to_string();
            let text = fs::read_to_string(&path).unwrap();
            if is_description(&text) {
                // Of a graph.
                continue;
            }
            let first = Architecture::from_toml(&text, &name).unwrap();
            let text = first.to_toml();
            let second = Architecture::from_toml(&text, &name).unwrap();
            assert_eq!(first, second, "{name}");
            assert_eq!(text, second.to_toml(), "{name}");
        }
    }
}

#[test]
fn alexandrias_buckets_are_its_formula() {
    let table = read("alexandria").piece_count_table();
    for (pieces, &bucket) in table.iter().enumerate() {
        assert_eq!(usize::from(bucket), ((63 - pieces) * (32 - pieces) / 225).min(7), "{pieces} pieces");
    }
}
