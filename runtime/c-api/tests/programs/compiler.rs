//! Building and running programs.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tests::trials::{Need, tool};

/// One that is installed; a test runs with each.
pub struct Compiler {
    pub name: &'static str,
    pub is_cpp: bool,
}

/// The same, of C only.
pub struct CCompiler(pub Compiler);

/// The emulator that counts what a program does with memory.
pub struct Valgrind;

impl Need for Compiler {
    const FORMS: &[&str] = &["gcc", "clang", "g++", "clang++"];

    fn find(name: &'static str) -> Result<Self, String> {
        installed(name)?;
        Ok(Self { name, is_cpp: name.ends_with("++") })
    }
}

impl Need for CCompiler {
    const FORMS: &[&str] = &["gcc", "clang"];

    fn find(name: &'static str) -> Result<Self, String> {
        Compiler::find(name).map(Self)
    }
}

impl Need for Valgrind {
    fn find(_: &'static str) -> Result<Self, String> {
        installed("valgrind").map(|()| Self)
    }
}

/// Whether a tool is there, and, where all are required, nothing else.
fn installed(name: &str) -> Result<(), String> {
    let found = tool(name);
    let is_required = std::env::var("TAMIS_C_TOOLS").is_ok_and(|value| value == "required");
    assert!(found.is_ok() || !is_required, "{name} is missing, and TAMIS_C_TOOLS=required");
    found
}

#[derive(Clone, Copy)]
pub enum Library {
    Static,
    Shared,
}

impl Compiler {
    /// A program of sources in a folder, every warning an error. C is C99, C++ is C++17.
    pub fn build(&self, folder: &Path, sources: &[PathBuf], library: Library, flags: &[&str]) -> PathBuf {
        let program = folder.join(format!("program-{}", self.name));
        let libraries = libraries();
        let mut command = Command::new(self.name);
        command.args(if self.is_cpp { &["-x", "c++", "-std=c++17"][..] } else { &["-std=c99"] });
        command.args(["-Wall", "-Wextra", "-Werror", "-pedantic", "-O2"]).args(flags);
        command.arg("-I").arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("include")).arg("-o").arg(&program);
        command.args(sources).args(["-x", "none"]);
        match library {
            Library::Static => command.arg(libraries.join("libtamis.a")),
            Library::Shared => {
                // Where the loader looks for it is its own name, which has the version in it.
                let copy = folder.join(format!("libtamis.so.{}", tamis::TAMIS_ABI_VERSION));
                std::fs::copy(libraries.join("libtamis.so"), &copy).unwrap();
                command.arg(&copy).arg(format!("-Wl,-rpath,{}", folder.display()))
            }
        };
        checked(&mut command);
        program
    }
}

/// cargo puts the libraries beside this test.
fn libraries() -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().to_owned()
}

fn checked(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{command:?}: {}{}", text(&output.stdout), text(&output.stderr));
    output
}

/// What a program prints; it must end well.
pub fn run(program: &Path, arguments: &[&str]) -> String {
    String::from_utf8(checked(Command::new(program).args(arguments)).stdout).unwrap()
}

pub fn run_in(folder: &Path, program: &Path, arguments: &[&str]) -> String {
    String::from_utf8(checked(Command::new(program).args(arguments).current_dir(folder)).stdout).unwrap()
}

impl Valgrind {
    /// What a program prints under it, and its report.
    pub fn run(&self, program: &Path, arguments: &[&str]) -> (String, String) {
        let mut command = Command::new("valgrind");
        command.args(["--error-exitcode=99", "--leak-check=full"].map(OsStr::new)).arg(program).args(arguments);
        let output = checked(&mut command);
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    }
}
