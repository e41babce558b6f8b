//! `demo`
use crate::error::CliError;
use crate::output::{Output, Report};
use serde::Serialize;
use std::io::{self, Write};
#[derive(Debug, Serialize)]
pub struct Demo {}
pub fn run(_output: &Output) -> Result<Demo, CliError> {
    Ok(Demo {})
}
impl Report for Demo {
    const SCHEMA: Option<&'static str> = Some("tamis-demo-1");
    fn text(&self, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}
