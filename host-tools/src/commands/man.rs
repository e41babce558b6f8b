//! `man`: the manual, the program's page to standard output or a page for every command into a folder.

use crate::cli::Cli;
use crate::error::CliError;
use crate::files::Sink;
use crate::output::Report;
use clap::CommandFactory;
use clap_mangen::Man;
use serde::Serialize;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// The pages.
#[derive(Debug, Serialize)]
pub struct Manual {
    /// Folder that the pages were written to.
    folder: Option<String>,
    pages: Vec<Page>,
}

#[derive(Debug, Serialize)]
struct Page {
    file: String,
    /// roff
    text: String,
}

/// Generates the pages; with a folder also writes them, over those of an earlier version only with `force`.
///
/// # Errors
/// [`CliError`] if a page exists or cannot be written.
pub fn run(folder: Option<&Path>, force: bool) -> Result<Manual, CliError> {
    let mut command = Cli::command();
    command.build();
    let mut pages = vec![page(&command)?];
    if let Some(folder) = folder {
        for command in command.get_subcommands().filter(|command| command.get_name() != "help") {
            pages.push(page(command)?);
        }
        fs::create_dir_all(folder).map_err(|error| CliError::io("create", folder, &error))?;
        let sinks = pages.iter().map(|page| Sink::check_path(&folder.join(&page.file), force, &[]));
        let sinks: Vec<Sink> = sinks.collect::<Result<_, _>>()?;
        for (page, sink) in pages.iter().zip(sinks) {
            sink.write(page.text.as_bytes())?;
        }
    }
    Ok(Manual { folder: folder.map(|folder| folder.display().to_string()), pages })
}

fn page(command: &clap::Command) -> Result<Page, CliError> {
    let man = Man::new(command.clone());
    let mut roff = Vec::new();
    man.render(&mut roff).map_err(|error| CliError::io("write", Path::new(command.get_name()), &error))?;
    Ok(Page { file: man.get_filename(), text: String::from_utf8_lossy(&roff).into_owned() })
}

impl Report for Manual {
    const SCHEMA: Option<&'static str> = Some("tamis-man-1");

    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        match &self.folder {
            None => self.pages.iter().try_for_each(|page| out.write_all(page.text.as_bytes())),
            Some(folder) => self.pages.iter().try_for_each(|page| writeln!(out, "{folder}/{}", page.file)),
        }
    }
}
