//! Prints what a firmware image logged through defmt.
//!
//!     decode IMAGE < FRAMES
//!
//! An image's log is frames of numbers; the words lie in the image's symbol table and never reach the board. Frames that cannot be
//! decoded, and a log that ends within one, are errors: a log that lost a line must not pass for a short one.

use defmt_decoder::{DecodeError, Table};
use std::io::{Read, Write, stdin, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    match print() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("decode: {error}");
            ExitCode::FAILURE
        }
    }
}

fn print() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(image), None) = (arguments.next(), arguments.next()) else {
        return Err("usage: decode IMAGE < FRAMES".into());
    };
    let name = image.display();
    let elf = std::fs::read(&image).map_err(|error| format!("{name}: {error}"))?;
    let table = Table::parse(&elf).map_err(|error| format!("{name}: {error}"))?;
    let table = table.ok_or_else(|| format!("{name} has no section .defmt; was it linked with defmt.x?"))?;

    let mut frames = Vec::new();
    stdin().read_to_end(&mut frames)?;
    let mut decoder = table.new_stream_decoder();
    decoder.received(&frames);
    let mut out = stdout().lock();
    for count in 0.. {
        match decoder.decode() {
            Ok(frame) => writeln!(out, "{}", frame.display_message())?,
            Err(DecodeError::UnexpectedEof) => break,
            Err(DecodeError::Malformed) => {
                return Err(format!("frame {count} of {name} is malformed: was it printed by another image?").into());
            }
        }
    }
    Ok(())
}
