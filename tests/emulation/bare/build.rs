//! Embeds the containers of the folder that `TAMIS_MODELS` names, none if it is not set, and links a bootable image.

use std::env;
use std::fmt::Write;
use std::fs;
use std::io::Error;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Error> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    for argument in ["-nostdlib", "-static", "-Wl,--build-id=none", "-Wl,--gc-sections"] {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
    println!("cargo::rustc-link-arg-bins=-Wl,-T,{}", here.join("link.ld").display());
    println!("cargo::rerun-if-changed=link.ld");

    println!("cargo::rerun-if-env-changed=TAMIS_MODELS");
    let mut paths = Vec::new();
    if let Some(folder) = env::var_os("TAMIS_MODELS") {
        println!("cargo::rerun-if-changed={}", Path::new(&folder).display());
        for entry in fs::read_dir(folder)? {
            paths.push(entry?.path());
        }
    }
    paths.sort();
    let mut list = format!("static MODELS: [(&str, &[u8]); {}] = [\n", paths.len());
    for path in &paths {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        println!("cargo::rerun-if-changed={}", path.display());
        // Writing into a String does not fail.
        let _ = writeln!(list, "    ({name:?}, tamis_runtime::include_model!({path:?})),");
    }
    list += "];\n";
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("models.rs"), list)
}
