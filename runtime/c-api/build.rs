//! The shared library's own name, by which the loader of a program finds it: it carries the version of the ABI.

#[path = "src/abi.rs"]
mod abi;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/abi.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libtamis.so.{}", abi::TAMIS_ABI_VERSION);
    }
}
