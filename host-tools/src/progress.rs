//! Progress on standard error, only for somebody who watches: on a terminal, and not with `--quiet`.

use crate::output::Output;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal};
use std::time::Duration;

/// How often a spinner turns.
const TICK: Duration = Duration::from_millis(100);

/// A bar over `count` items; it vanishes when dropped.
pub fn bar(output: &Output, what: &'static str, count: usize) -> ProgressBar {
    if !is_watched(output) {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(count as u64).with_message(what);
    match ProgressStyle::with_template("{msg} [{bar:40}] {human_pos}/{human_len} {eta}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// A spinner for work of unknown length; it vanishes when dropped.
pub fn spinner(output: &Output, what: &'static str) -> ProgressBar {
    if !is_watched(output) {
        return ProgressBar::hidden();
    }
    let spinner = ProgressBar::new_spinner().with_message(what);
    spinner.enable_steady_tick(TICK);
    spinner
}

fn is_watched(output: &Output) -> bool {
    !output.is_quiet() && io::stderr().is_terminal()
}
