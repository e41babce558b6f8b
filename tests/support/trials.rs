//! The harness of tests that say what they need.
//!
//! A test is a function with `#[test]`. What the repository does not have, networks of other systems, engines,
//! compilers, it takes as arguments, and where one of them is missing it is reported as ignored, with the reason, and
//! not as passed. The folder with fixtures, for one, is had in no other way:
//!
//! ```ignore
//! #[macro_use]
//! extern crate tests; // its #[test], for every module
//!
//! #[test]
//! fn the_small_network_has_its_values(fixtures: Fixtures) {}
//!
//! fn main() -> ExitCode {
//!     tests::trials::run()
//! }
//! ```

pub use inventory;

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use std::fmt::Display;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::OnceLock;

/// Something that a test needs and a machine may lack.
pub trait Need: Sized + 'static {
    /// The names of its forms; a test runs once for each, under its name with that of the form.
    const FORMS: &[&str] = &[""];

    /// It, or why it is not there.
    fn find(form: &'static str) -> Result<Self, String>;
}

/// The folder with the networks of other systems.
pub struct Fixtures(PathBuf);

impl Need for Fixtures {
    fn find(_: &'static str) -> Result<Self, String> {
        let folder = std::env::var_os("TAMIS_FIXTURES").ok_or("TAMIS_FIXTURES is not set")?;
        let folder = PathBuf::from(folder);
        assert!(folder.is_dir(), "TAMIS_FIXTURES is {}, which is no folder", folder.display());
        Ok(Self(folder))
    }
}

impl Deref for Fixtures {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

/// Whether a command is there, as its `--version` says.
pub fn tool(name: &str) -> Result<(), String> {
    let output = std::process::Command::new(name).arg("--version").output();
    let is_there = output.is_ok_and(|output| output.status.success());
    if is_there { Ok(()) } else { Err(format!("{name} is not installed")) }
}

/// A function that can be a test: `Needs` are its arguments.
pub trait Test<Needs> {
    /// A trial for each form of what it needs.
    fn trials(self, name: &str) -> Vec<Trial>;
}

impl<F: Fn() + Send + 'static> Test<()> for F {
    fn trials(self, name: &str) -> Vec<Trial> {
        let run = move || {
            self();
            Ok(())
        };
        vec![Trial::test(name, run)]
    }
}

impl<F: Fn(A) + Copy + Send + 'static, A: Need> Test<(A,)> for F {
    fn trials(self, name: &str) -> Vec<Trial> {
        let trial = |form: &&'static str| {
            let form = *form;
            let found = move || A::find(form).map(self);
            Trial::ignorable_test(named(name, [form]), move || completed(found()))
        };
        A::FORMS.iter().map(trial).collect()
    }
}

impl<F: Fn(A, B) + Copy + Send + 'static, A: Need, B: Need> Test<(A, B)> for F {
    fn trials(self, name: &str) -> Vec<Trial> {
        let pairs = A::FORMS.iter().flat_map(|first| B::FORMS.iter().map(|second| (*first, *second)));
        let trial = |(first, second): (&'static str, &'static str)| {
            let found = move || A::find(first).and_then(|a| B::find(second).map(|b| self(a, b)));
            Trial::ignorable_test(named(name, [first, second]), move || completed(found()))
        };
        pairs.map(trial).collect()
    }
}

fn named<const N: usize>(name: &str, forms: [&str; N]) -> String {
    let forms = forms.into_iter().filter(|form| !form.is_empty());
    forms.fold(name.to_owned(), |name, form| format!("{name}::{form}"))
}

fn completed(found: Result<(), String>) -> Result<Completion, Failed> {
    Ok(found.map_or_else(Completion::ignored_with, |()| Completion::Completed))
}

/// A test of a binary, put on its list by `#[test]`.
pub struct Listed {
    /// Module and function.
    pub path: &'static str,
    /// What it runs as.
    pub trials: fn(&str) -> Vec<Trial>,
}

inventory::collect!(Listed);

/// Puts a function on the list; what `#[test]` becomes.
#[macro_export]
macro_rules! listed {
    ($name:ident) => {
        $crate::trials::inventory::submit! {
            $crate::trials::Listed {
                path: concat!(module_path!(), "::", stringify!($name)),
                trials: |path| $crate::trials::Test::trials($name, path),
            }
        }
    };
}

/// Prints what a test found, with `--nocapture` only; else like `println!`.
#[macro_export]
macro_rules! note {
    ($($argument:tt)+) => {
        $crate::trials::note(format_args!($($argument)+))
    };
}

static SHOWS_NOTES: OnceLock<bool> = OnceLock::new();

/// What `note!` becomes.
pub fn note(text: impl Display) {
    if SHOWS_NOTES.get().is_some_and(|shows| *shows) {
        eprintln!("{text}");
    }
}

/// Runs the tests of this binary, or those that its arguments choose, which are libtest's.
pub fn run() -> ExitCode {
    run_with(Arguments::from_args())
}

/// The same one after the other in this thread, for what is counted for a whole process.
pub fn run_alone() -> ExitCode {
    run_with(Arguments { test_threads: Some(1), ..Arguments::from_args() })
}

fn run_with(arguments: Arguments) -> ExitCode {
    SHOWS_NOTES.get_or_init(|| arguments.nocapture);
    let mut trials = Vec::new();
    for listed in inventory::iter::<Listed> {
        let (_crate, path) = listed.path.split_once("::").unwrap();
        trials.extend((listed.trials)(path));
    }
    assert!(!trials.is_empty(), "no test is listed: is `#[macro_use] extern crate tests;` missing?");
    trials.sort_by(|a, b| a.name().cmp(b.name()));
    libtest_mimic::run(&arguments, trials).exit_code()
}
