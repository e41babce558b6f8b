//! Puts memory.x where the linker looks for it, and gives images that log the linker script of their log.

use std::path::Path;

fn main() {
    let here = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    println!("cargo:rustc-link-search={here}");
    println!("cargo:rerun-if-changed=memory.x");
    println!("cargo:rerun-if-changed=src/bin");
    for entry in std::fs::read_dir(Path::new(&here).join("src/bin")).into_iter().flatten().flatten() {
        let file = entry.path();
        // Those named `minimal` have no log.
        let program = file.file_stem().and_then(|stem| stem.to_str());
        if let Some(program) = program.filter(|program| !program.starts_with("minimal")) {
            println!("cargo:rustc-link-arg-bin={program}=-Tdefmt.x");
        }
    }
}
