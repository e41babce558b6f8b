//! What the program says: a report as text or as JSON on standard output, everything else on standard error.
//!
//! With `--json` standard output holds exactly one object, whose `schema` names its shape and version. A key is never
//! removed or given another meaning under the same version; keys may be added.
//!
//! A reader that closes the pipe early (`host-tools eval … | head`) has had enough; that is no failure.

use crate::cli::Common;
use crate::error::CliError;
use crate::screen::{Colour, Screen};
use crate::status::Status;
use serde::Serialize;
use std::cell::RefCell;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::Path;

/// What a command has found out.
pub trait Report: Serialize {
    /// Name and version of the JSON object, `tamis-<command>-<version>`; `None` if the object names them itself.
    const SCHEMA: Option<&'static str>;

    /// How the program ends, the report printed.
    fn status(&self) -> Status {
        Status::Fine
    }

    /// What to warn of, on standard error; JSON reports hold it as data.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// What does not hold, where the status is not fine, on standard error; JSON reports hold it as data.
    fn failures(&self) -> Vec<String> {
        Vec::new()
    }

    /// What to add to the text on standard error, so that standard output holds its lines only; JSON reports hold it as
    /// data.
    fn summary(&self) -> Option<String> {
        None
    }

    /// The report as text.
    ///
    /// # Errors
    /// The writer's.
    fn text(&self, out: &mut dyn Write) -> io::Result<()>;
}

/// What a program that calls this one as a library takes in place of the streams.
#[derive(Debug, Default)]
pub struct Captured {
    /// The report's JSON object.
    pub json: RefCell<String>,
    /// What would stand on standard error.
    pub warnings: RefCell<Vec<String>>,
}

/// How to speak.
#[derive(Debug, Clone, Copy)]
pub struct Output<'c> {
    json: bool,
    quiet: bool,
    aside: bool,
    captured: Option<&'c Captured>,
}

impl<'c> Output<'c> {
    /// As the command line asks.
    pub const fn new(common: &Common) -> Self {
        Self { json: common.json, quiet: common.quiet, aside: false, captured: None }
    }

    /// Nothing on the streams: the report as JSON for a caller.
    pub const fn into(captured: &'c Captured) -> Self {
        Self { json: true, quiet: true, aside: false, captured: Some(captured) }
    }

    /// The same for a command that may write a file to standard output (`-`): its text then goes to standard error.
    ///
    /// # Errors
    /// With `--json`, which wants standard output for itself.
    pub fn beside(self, file: &Path) -> Result<Self, CliError> {
        let aside = file == Path::new("-");
        if aside && self.json {
            return Err(CliError::usage("-o - and --json both want standard output")
                .help("write to a file with -o OUT, or leave --json out"));
        }
        Ok(Self { aside, ..self })
    }

    /// Whether progress is unwanted.
    pub const fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Says on standard error what somebody who waits wants to know, unless they want to know nothing.
    pub fn note(&self, message: &str) {
        if !self.quiet {
            say(Kind::Note, message);
        }
    }

    /// Prints a report.
    ///
    /// # Errors
    /// If standard output refuses, unless its reader has gone.
    pub fn report<R: Report>(&self, report: &R) -> Result<Status, CliError> {
        if let Some(captured) = self.captured {
            captured.warnings.borrow_mut().extend(report.warnings());
            let mut json = Vec::new();
            // In memory: a failure is one of a value that JSON has no form for.
            write_json(&mut json, &Versioned { schema: R::SCHEMA, body: report })
                .map_err(|error| CliError::io("write", Path::new("the report"), &error))?;
            *captured.json.borrow_mut() = String::from_utf8_lossy(&json).into_owned();
            return Ok(report.status());
        }
        for warning in report.warnings() {
            say(Kind::Warning, &warning);
        }
        for failure in report.failures() {
            say(Kind::Error, &failure);
        }
        let printed = if self.json {
            print_json(&Versioned { schema: R::SCHEMA, body: report })
        } else if self.aside {
            print_to(Screen::of(&io::stderr()).over(io::stderr().lock()), |out| report.text(out))
        } else {
            print_to(Screen::of(&io::stdout()).over(io::stdout().lock()), |out| report.text(out))
        };
        unless_closed(printed)?;
        if let Some(summary) = report.summary().filter(|_| !self.json) {
            say(Kind::Summary, &summary);
        }
        Ok(report.status())
    }

    /// Prints an error and gives its status.
    pub fn fail(&self, error: &CliError) -> Status {
        say(Kind::Error, &error.to_string());
        if self.json {
            let (_, _, help) = error.clone().into_parts();
            let (status, message) = (error.status().number(), &*error.to_string());
            let body = Failure { status, message, help: help.as_deref() };
            let _ = print_json(&Versioned { schema: FAILURE_SCHEMA, body: &body });
        }
        error.status()
    }
}

/// Prints clap's refusal, or the help or version that was asked for.
pub fn refuse(refused: &clap::Error) -> Status {
    let _ = refused.print();
    if !refused.use_stderr() {
        return Status::Fine;
    }
    if std::env::args_os().any(|argument| argument == "--json") {
        let message = refused.render().to_string();
        let body = Failure { status: Status::Usage.number(), message: message.trim_end(), help: None };
        let _ = print_json(&Versioned { schema: FAILURE_SCHEMA, body: &body });
    }
    Status::Usage
}

/// Writes a whole file to standard output.
///
/// # Errors
/// If standard output refuses, or is closed, unless its reader has gone.
pub fn bytes_to_stdout(bytes: &[u8]) -> Result<(), CliError> {
    refuse_closed_stdout()?;
    unless_closed(print_to(io::stdout().lock(), |out| out.write_all(bytes)))
}

/// Refuses to write a file to a standard output that was closed (`>&-`). In its place Rust's runtime opens the null
/// device for reading and writing, which a redirection to it does not.
///
/// # Errors
/// [`CliError`] if that is what standard output is.
#[cfg(unix)]
pub fn refuse_closed_stdout() -> Result<(), CliError> {
    use rustix::fs::{OFlags, fcntl_getfl, fstat, stat};
    let stdout = io::stdout();
    let is_for_both = fcntl_getfl(&stdout).is_ok_and(|flags| flags & OFlags::ACCMODE == OFlags::RDWR);
    let is_null = match (fstat(&stdout), stat("/dev/null")) {
        (Ok(found), Ok(null)) => found.st_rdev == null.st_rdev,
        _ => false,
    };
    if is_for_both && is_null {
        return Err(CliError::new(Status::Io, "standard output: cannot write: it is closed")
            .help("redirect it, or write to a file with -o OUT"));
    }
    Ok(())
}

/// Nothing is known of a closed standard output elsewhere.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn refuse_closed_stdout() -> Result<(), CliError> {
    Ok(())
}

const FAILURE_SCHEMA: Option<&str> = Some("tamis-error-1");

#[derive(Serialize)]
struct Versioned<'a, T> {
    #[serde(skip_serializing_if = "Option::is_none")]
    schema: Option<&'a str>,
    #[serde(flatten)]
    body: &'a T,
}

#[derive(Serialize)]
struct Failure<'a> {
    status: u8,
    /// What standard error says, the next step among it.
    message: &'a str,
    /// The next step alone, if there is one.
    help: Option<&'a str>,
}

/// What a line on standard error is.
enum Kind {
    Error,
    Warning,
    Note,
    Summary,
}

/// A line on standard error; if nobody can read it, nobody misses it.
fn say(kind: Kind, message: &str) {
    let screen = Screen::of(&io::stderr());
    let word = match kind {
        Kind::Error => screen.coloured(Colour::Red, "error:"),
        Kind::Warning => screen.coloured(Colour::Yellow, "warning:"),
        Kind::Note => "note:".to_owned(),
        Kind::Summary => "summary:".to_owned(),
    };
    let mut out = screen.over(io::stderr().lock());
    let _ = writeln!(out, "{word} {message}").and_then(|()| out.flush());
}

fn print_json(value: &impl Serialize) -> io::Result<()> {
    print_to(io::stdout().lock(), |out| write_json(out, value))
}

fn write_json(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    writeln!(out)
}

fn print_to(to: impl Write, print: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(to);
    print(&mut out)?;
    out.flush()
}

fn unless_closed(printed: io::Result<()>) -> Result<(), CliError> {
    match printed {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(CliError::io("write", Path::new("standard output"), &error))
        }
        _ => Ok(()),
    }
}
