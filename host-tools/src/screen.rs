//! A terminal as a person reads it: lines end with a word and within its width, and verdicts have colours. What is no
//! terminal gets the text as it is.

use std::io::{self, IsTerminal, Write};
use terminal_size::Width;

/// Narrower than this nothing is wrapped.
const NARROWEST: usize = 20;

/// A colour of a terminal's palette.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// What failed.
    Red,
    /// What passed.
    Green,
    /// What to look at.
    Yellow,
}

/// Words that are verdicts, standing by themselves.
const VERDICTS: [(&str, Colour); 6] = [
    ("passed", Colour::Green),
    ("yes", Colour::Green),
    ("FAILED", Colour::Red),
    ("NO", Colour::Red),
    ("NOT", Colour::Red),
    ("warning", Colour::Yellow),
];

/// What is known of the place that is written to.
#[derive(Debug, Clone, Copy, Default)]
pub struct Screen {
    /// Of a terminal.
    columns: Option<usize>,
    colours: bool,
}

impl Screen {
    /// A terminal's width, and colours unless `NO_COLOR` is set or the terminal has none.
    #[cfg(unix)]
    pub fn of(stream: &(impl IsTerminal + std::os::fd::AsFd)) -> Self {
        if !stream.is_terminal() {
            return Self::default();
        }
        let columns = terminal_size::terminal_size_of(stream).map(|(Width(columns), _)| usize::from(columns));
        Self { columns: columns.filter(|columns| *columns >= NARROWEST), colours: wants_colours() }
    }

    /// A terminal's width, without colours.
    #[cfg(not(unix))]
    pub fn of(stream: &impl IsTerminal) -> Self {
        let columns = terminal_size::terminal_size().filter(|_| stream.is_terminal());
        let columns = columns.map(|(Width(columns), _)| usize::from(columns));
        Self { columns: columns.filter(|columns| *columns >= NARROWEST), colours: false }
    }

    /// A word in a colour, where there are any.
    pub fn coloured(self, colour: Colour, word: &str) -> String {
        let code = match colour {
            Colour::Red => "1;31",
            Colour::Green => "32",
            Colour::Yellow => "33",
        };
        if self.colours { format!("\u{1b}[{code}m{word}\u{1b}[0m") } else { word.to_owned() }
    }

    /// A writer that shows lines as the screen wants them.
    pub const fn over<W: Write>(self, inner: W) -> Shown<W> {
        Shown { screen: self, inner, line: Vec::new() }
    }

    fn show(self, line: &str) -> String {
        let lines = self.columns.map_or_else(|| vec![line.to_owned()], |columns| wrapped(line, columns));
        let lines = lines.iter().map(|line| self.with_colours(line));
        lines.collect::<Vec<_>>().join("\n")
    }

    fn with_colours(self, line: &str) -> String {
        if !self.colours {
            return line.to_owned();
        }
        let words = line.split(' ').map(|word| {
            let bare = word.trim_end_matches([':', ',', ';', '.']);
            let verdict = VERDICTS.iter().find(|(verdict, _)| *verdict == bare);
            verdict.map_or_else(
                || word.to_owned(),
                |(_, colour)| format!("{}{}", self.coloured(*colour, bare), &word[bare.len()..]),
            )
        });
        words.collect::<Vec<_>>().join(" ")
    }
}

fn wants_colours() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !is_set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|terminal| terminal != "dumb")
}

/// The line in pieces of at most so many columns, broken at blanks. What follows the first goes on under the text
/// behind the first gap of two blanks, where a report has its values, or a little behind the line's own beginning.
fn wrapped(line: &str, columns: usize) -> Vec<String> {
    if line.chars().count() <= columns {
        return vec![line.to_owned()];
    }
    let indent = line.chars().take_while(|c| *c == ' ').count();
    let gap = line.char_indices().skip(indent).map(|(at, _)| at).find(|at| line[*at..].starts_with("  "));
    let value = gap.map(|at| {
        let blanks = line[at..].chars().take_while(|c| *c == ' ').count();
        line[..at].chars().count() + blanks
    });
    let hang = value.filter(|value| *value <= columns / 3).unwrap_or(indent + 2).min(columns / 2);
    let (mut lines, mut rest) = (Vec::new(), line);
    loop {
        let margin = if lines.is_empty() { 0 } else { hang };
        let room = columns - margin;
        if rest.chars().count() <= room {
            lines.push(format!("{:margin$}{rest}", ""));
            return lines;
        }
        let limit = rest.char_indices().nth(room + 1).map_or(rest.len(), |(at, _)| at);
        let start = rest.len() - rest.trim_start().len();
        // A word that is longer than a line stays whole.
        let end = rest[..limit].rfind(' ').filter(|end| *end > start);
        let end = end.or_else(|| rest[start..].find(' ').map(|end| start + end)).unwrap_or(rest.len());
        lines.push(format!("{:margin$}{}", "", rest[..end].trim_end()));
        rest = rest[end..].trim_start();
        if rest.is_empty() {
            return lines;
        }
    }
}

/// A writer that shows whole lines as a screen wants them.
#[derive(Debug)]
pub struct Shown<W: Write> {
    screen: Screen,
    inner: W,
    /// The line that has not ended yet.
    line: Vec<u8>,
}

impl<W: Write> Write for Shown<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.screen.columns.is_none() && !self.screen.colours {
            return self.inner.write(bytes);
        }
        self.line.extend_from_slice(bytes);
        while let Some(end) = self.line.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.line.drain(..=end).collect();
            match std::str::from_utf8(&line[..end]) {
                Ok(text) => writeln!(self.inner, "{}", self.screen.show(text))?,
                Err(_) => self.inner.write_all(&line)?,
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let rest = std::mem::take(&mut self.line);
        self.inner.write_all(&rest)?;
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::{Screen, wrapped};
    use std::io::Write;

    fn shown(screen: Screen, text: &str) -> String {
        let mut out = Vec::new();
        let mut writer = screen.over(&mut out);
        writer.write_all(text.as_bytes()).unwrap();
        writer.flush().unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn lines_are_wrapped_under_their_values() {
        let line = "  read       a/long/name/of/a/file (weights.bin), FNV-1a 0123456789abcdef";
        assert_eq!(
            wrapped(line, 40),
            [
                "  read       a/long/name/of/a/file",
                "             (weights.bin), FNV-1a",
                "             0123456789abcdef"
            ]
        );
        for columns in 20..100 {
            for piece in wrapped(line, columns) {
                assert!(piece.chars().count() <= columns || !piece.trim().contains(' '), "{columns}: {piece}");
            }
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(words(&wrapped(line, columns).join(" ")), words(line));
        }
        assert_eq!(wrapped("short", 20), ["short"]);
        assert_eq!(wrapped(&"x".repeat(50), 20), ["x".repeat(50)]);
    }

    #[test]
    fn verdicts_have_colours_where_there_are_any() {
        let plain = "net: FAILED, on 5\nall passed\nunpassed a/passed/b";
        assert_eq!(shown(Screen::default(), plain), plain);
        let screen = Screen { columns: Some(80), colours: true };
        let painted = shown(screen, plain);
        assert!(
            painted.starts_with("net: \u{1b}[1;31mFAILED\u{1b}[0m, on 5\nall \u{1b}[32mpassed\u{1b}[0m\n"),
            "{painted:?}"
        );
        assert!(painted.ends_with("unpassed a/passed/b"), "{painted:?}");
        assert_eq!(
            shown(Screen { columns: Some(20), colours: false }, "one two three four five six\n").lines().count(),
            2
        );
    }
}
