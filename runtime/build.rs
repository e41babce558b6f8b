//! Whether the build is for a Thumb or RISC-V processor of 32 bits without an operating system, `cfg(microcontroller)`,
//! and which instructions it may use: `cfg(cortex_m = "thumb1")`, `"dsp"`, `"mve"`; `cfg(rv32im)`. Whether it has room
//! for a second, shorter way through the commonest calls of an engine, `cfg(short_ways)`, and where the feature asks
//! for it, through batches, `cfg(batches)`: firmware counts its flash, a page what it downloads.
//!
//! Stable Rust shows the code none of Arm's M-profile features, so they are read where the user states them: in the
//! target's name and, for ARMv8-M, whose main profile leaves both to the chip, in `-C target-cpu`. Without it such a
//! build has the portable kernels only.

use std::env;

/// ARMv8-M processors with the DSP extension, in LLVM's names.
const DSP: [&str; 7] = ["cortex-m33", "cortex-m35p", "cortex-m52", "cortex-m55", "cortex-m85", "star-mc1", "star-mc3"];
/// Those of them with Helium, the M-profile vector extension on integers.
const MVE: [&str; 3] = ["cortex-m52", "cortex-m55", "cortex-m85"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(microcontroller)");
    println!("cargo::rustc-check-cfg=cfg(rv32im)");
    println!("cargo::rustc-check-cfg=cfg(batches)");
    println!("cargo::rustc-check-cfg=cfg(short_ways)");
    println!("cargo::rustc-check-cfg=cfg(cortex_m, values(\"thumb1\", \"dsp\", \"mve\"))");
    let of_target = |what: &str| env::var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default();
    if of_target("OS") != "none" && of_target("ARCH") != "wasm32" {
        println!("cargo::rustc-cfg=short_ways");
        if env::var_os("CARGO_FEATURE_BATCHES").is_some() {
            println!("cargo::rustc-cfg=batches");
        }
    }
    let target = env::var("TARGET").unwrap_or_default();
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let cpu = flags.split(['\x1f', ' ']).filter_map(|flag| flag.split_once("target-cpu=")).next_back();
    let cpu = cpu.map_or("", |(_, cpu)| cpu);
    if (target.starts_with("thumb") || target.starts_with("riscv32")) && target.contains("-none-") {
        println!("cargo::rustc-cfg=microcontroller");
        // With all registers, and with multiplication.
        if target.starts_with("riscv32im") {
            println!("cargo::rustc-cfg=rv32im");
        }
    }
    let is_main = target.starts_with("thumbv8m.main");
    let has = [
        ("thumb1", target.starts_with("thumbv6m") || target.starts_with("thumbv8m.base")),
        ("dsp", target.starts_with("thumbv7em") || (is_main && DSP.contains(&cpu))),
        ("mve", is_main && MVE.contains(&cpu)),
    ];
    for (name, _) in has.into_iter().filter(|(_, has)| *has) {
        println!("cargo::rustc-cfg=cortex_m=\"{name}\"");
    }
}
