//! The payload as an ordinary program: the arguments are containers, the log goes to standard output. `--signatures`
//! in front of them leaves out the suite and the stretches, for an interpreter, to which both are too long.
//!
//! On this machine it shows what runs natively; under qemu-user, what another processor would do.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

/// Where a container must lie in memory.
const ALIGNMENT: usize = 64;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let mut log = Log(io::stdout().lock());
    let mut paths = std::env::args_os().skip(1).peekable();
    let is_whole = paths.next_if(|first| first == "--signatures").is_none();
    if is_whole {
        payload::suites(&mut log)?;
    }
    for path in paths {
        let path = Path::new(&path);
        let mut memory = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let len = memory.len();
        memory.resize(len + ALIGNMENT, 0);
        let start = memory.as_ptr().align_offset(ALIGNMENT);
        memory.copy_within(..len, start);
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        payload::model(&mut log, &name, &memory[start..start + len], is_whole)?;
    }
    payload::end(&mut log)?;
    Ok(())
}

/// Formatted text into bytes.
struct Log<W>(W);

impl<W: Write> fmt::Write for Log<W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write_all(text.as_bytes()).map_err(|_| fmt::Error)
    }
}
