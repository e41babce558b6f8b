//! `tamis-wasm-bindgen MODULE.wasm FOLDER NAME`: `NAME.js` and the module `NAME_bg.wasm` that it loads, in a folder.
//!
//! The same as wasm-bindgen's own command line with `--target web`, which would compile half as many crates again. The
//! types are not taken from it: `npm/tamis.d.ts` says more of them.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [module, folder, name] = arguments.as_slice() else {
        eprintln!("usage: tamis-wasm-bindgen MODULE.wasm FOLDER NAME");
        return ExitCode::from(2);
    };
    let mut bindgen = wasm_bindgen_cli_support::Bindgen::new();
    bindgen.input_path(module).out_name(name).typescript(false);
    // Half of a module is names of functions.
    bindgen.remove_name_section(true).remove_producers_section(true).omit_default_module_path(false);
    match bindgen.web(true).and_then(|bindgen| bindgen.generate(folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{module}: {error:#}");
            ExitCode::FAILURE
        }
    }
}
