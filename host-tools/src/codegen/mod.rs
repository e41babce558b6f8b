//! A container as a Rust module: the file as an aligned static, its sizes as constants, and a wrapper in whose types
//! they are, so that a wrong length does not compile and scratch memory is a static of exactly the right size.
//!
//! What is written depends on the container and on where it lies relative to the module, and on nothing else. It is as
//! `rustfmt` leaves it, whether lines may have 100 characters or 120: the longer ones hold a comment, which keeps their
//! parts on lines of their own.

mod accumulators;
mod constants;
mod dense;
mod destination;
mod engine;
mod quoted;
mod relative_path;
mod sparse;

pub use destination::{Destination, refuse_bare};

use crate::error::{CliError, Explain};
use crate::files::{Pending, Sink, is_one_file};
use crate::{calls, needs};
use std::io::Write;
use std::path::Path;
use tamis_runtime::format::{Model, ParseError};
use tamis_runtime::raw::{element, input_kind};

/// A module that has its place and its text, and takes its name once the container that it embeds has one.
#[derive(Debug)]
pub struct Module(Pending);

impl Module {
    /// Writes the module of a container under a temporary name. `container` is where the container lies or will lie;
    /// `signature` is the one that the host computed.
    ///
    /// # Errors
    /// [`CliError`] if no path leads from one to the other, or the file system refuses.
    pub fn begin(
        sink: Sink,
        out: &Path,
        container: &Path,
        model: &Model<'_>,
        signature: u64,
    ) -> Result<Self, CliError> {
        let include = relative_path::from_to(out, container)?;
        let text = text(model, signature, &include).explain_at(container)?;
        let mut pending = sink.begin()?;
        if let Err(error) = pending.writer().write_all(text.as_bytes()) {
            return Err(pending.refused(error));
        }
        pending.flush()?;
        Ok(Self(pending))
    }

    /// Gives it its name.
    ///
    /// # Errors
    /// [`CliError`] naming the file.
    pub fn keep(self) -> Result<(), CliError> {
        self.0.keep().map(drop)
    }
}

/// A place for a module: looked at before any work is done.
///
/// # Errors
/// [`CliError`] as of [`Sink::check_path`], and for standard output, from which no path leads anywhere.
pub fn sink(module: &Path, container: &Path, force: bool, inputs: &[&Path]) -> Result<Sink, CliError> {
    let stream = Path::new("-");
    if module == stream || container == stream {
        return Err(CliError::usage("a Rust module embeds its container by a path, and standard output has none")
            .help("write both to files; `cat` shows them"));
    }
    if is_one_file(module, container) {
        return Err(CliError::usage(format!("{}: cannot be both the module and its container", module.display()))
            .help("give the module another name, `src/model.rs` for instance"));
    }
    Sink::check_path(module, force, inputs)
}

/// The module. `include` is the path from it to the container.
fn text(model: &Model<'_>, signature: u64, include: &str) -> Result<String, ParseError> {
    let name = quoted::code(model.metadata()?.name);
    let output = Outputs::of(model);
    let (uses, body) = match model.input().kind {
        input_kind::FEATURES => accumulators::body(model, output),
        input_kind::SPARSE => sparse::body(model, output),
        _ => dense::body(model, output),
    };
    let file = quoted::code(include.rsplit('/').next().unwrap_or(include));
    let (checksum, literal) = (model.header().checksum(), quoted::literal(include));
    let constants = constants::of(model, signature, output);
    let engine = engine::of(model).unwrap_or_default();
    let needs: Vec<_> = needs::of(model).iter().map(|feature| format!("Feature::{feature:?}")).collect();
    let needs = needs.join(", ");
    let left_out: String = calls::left_out(model).iter().map(|name| format!("\n    \"{name}\",")).collect();
    let kinds: String = calls::kinds(model).iter().map(|word| format!("\n    \"{word}\",")).collect();
    let end = if left_out.is_empty() { "" } else { "\n" };
    Ok(format!(
        "\
//! The network {name}, a part of the program.
//!
//! Written by `host-tools codegen` from {file}, and not to be edited.
//! Checksum {checksum:016x}, signature {signature:016x}: what every tier and board computes.
//! The crate needs `tamis-runtime` and nothing else; a container that differs from the one that
//! this module was written for stops the build.

#![allow(dead_code, reason = \"a program calls what it has a use for\")]

{uses}
/// The container, at a multiple of 64: in flash, once.
#[rustfmt::skip] // however long the path is
pub static FILE: &[u8] = tamis_runtime::include_model!({literal});

const _: () = assert!(
    match FILE.split_at(24).1.first_chunk() {{
        Some(stored) => FILE.len() == LEN_BYTES && u64::from_le_bytes(*stored) == CHECKSUM,
        None => false,
    }},
    \"not the container that this module was written for: run host-tools codegen again\"
);

/// What the network needs of the runtime's features: a build that leaves one out stops here.
pub const NEEDS: &[Feature] = &[{needs}];

/// The container as `host-tools codegen` checked it.
pub const CHECKED: Checked = Checked::new(CHECKSUM, NEEDS);

/// The tier that the build's target names, in firmware without the kernels that the network does not
/// call: what no program holds on to is not linked.
#[rustfmt::skip] // a name a line
pub static KERNELS: Tier = kernels::of_target().without(&[{left_out}{end}]);

/// The kinds of operations that the network has: firmware links no others.
#[rustfmt::skip] // a name a line
pub static OPERATIONS: Operations = Operations::of(&[{kinds}
]);

{constants}{engine}{body}"
    ))
}

/// What comes out.
#[derive(Debug, Clone, Copy)]
struct Outputs {
    len: u32,
    /// `i32` or `f32`
    element: &'static str,
}

impl Outputs {
    fn of(model: &Model<'_>) -> Self {
        let value = model.values().get(model.input().output as usize);
        let is_real = value.is_some_and(|value| value.element() == element::F32);
        let len = value.map(|value| value.len);
        let len = len.unwrap_or_else(|| unreachable!("a checked model has the value that it names its output"));
        Self { len, element: if is_real { "f32" } else { "i32" } }
    }
}

/// The wrapper's doors and what all networks have, up to what is the kind's own; the closing brace is the kind's, too.
fn wrapper(of: &str) -> String {
    format!(
        "\
/// Scratch memory of the size that an evaluation needs; what it holds before does not matter.
pub type Scratch = Workspace<WORKSPACE_LEN_BYTES>;

/// {of}
#[derive(Debug, Clone)]
pub struct Network {{
    plan: Plan<'static>,
}}

impl Network {{
    /// Checks every byte of the container, and binds it to the tier that the build's target names.
    ///
    /// # Errors
    /// [`ParseError`] if memory does not hold what the build put there.
    pub fn open() -> Result<Self, ParseError> {{
        Self::open_on(&KERNELS)
    }}

    /// The same on another tier: `kernels::best()` asks the machine.
    ///
    /// # Errors
    /// As [`Network::open`].
    pub fn open_on(tier: &'static Tier) -> Result<Self, ParseError> {{
        let plan = Plan::of(Model::parse(FILE)?, tier, &OPERATIONS);
        Ok(Self {{ plan }})
    }}

    /// [`Network::open`] of a container that `host-tools codegen` has checked: that its bytes are
    /// still the same is all that is looked at. A program that opens it by nothing else is smaller
    /// by most of the loader, 2 to 6 kB.
    ///
    /// # Errors
    /// [`ParseError`] if memory does not hold what the build put there.
    pub fn open_checked() -> Result<Self, ParseError> {{
        Self::open_checked_on(&KERNELS)
    }}

    /// The same on another tier.
    ///
    /// # Errors
    /// As [`Network::open_checked`].
    pub fn open_checked_on(tier: &'static Tier) -> Result<Self, ParseError> {{
        let plan = Plan::of(Model::parse_checked(FILE, CHECKED)?, tier, &OPERATIONS);
        Ok(Self {{ plan }})
    }}

    /// The plan, for what this module leaves out.
    #[must_use]
    pub const fn plan(&self) -> &Plan<'static> {{
        &self.plan
    }}
"
    )
}

/// The parameter and the argument of an output bucket: none for a network of one.
fn bucket(model: &Model<'_>) -> (&'static str, &'static str) {
    match model.input().bucket_count {
        1 => ("", "0"),
        _ => ("        bucket: usize,\n", "bucket"),
    }
}
