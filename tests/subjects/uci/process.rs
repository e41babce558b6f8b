//! A chess program behind two pipes. Whatever it does, a test ends: every answer has a deadline, and the program is
//! killed with its handle.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

/// Long enough for any answer on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Process {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
}

impl Process {
    /// Starts a program and waits until it is ready.
    pub fn start(program: &Path) -> Self {
        Self::run(Command::new(program))
    }

    /// The same with arguments.
    pub fn run(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                if line.is_err() || sender.send(line.unwrap()).is_err() {
                    break;
                }
            }
        });
        let mut process = Self { child, input, lines };
        process.ask("uci", "uciok");
        process.ready();
        process
    }

    pub fn send(&mut self, line: &str) {
        writeln!(self.input, "{line}").unwrap_or_else(|error| panic!("`{line}` found nobody: {error}"));
    }

    /// The next line.
    pub fn line(&mut self) -> String {
        self.lines.recv_timeout(PATIENCE).unwrap_or_else(|error| panic!("no answer: {error}"))
    }

    /// Every line up to the first that begins with a word, that one last.
    pub fn until(&mut self, word: &str) -> Vec<String> {
        let mut lines = vec![self.line()];
        while lines.last().unwrap().split(' ').next() != Some(word) {
            lines.push(self.line());
        }
        lines
    }

    /// Sends a line and waits for its answer.
    pub fn ask(&mut self, line: &str, word: &str) -> Vec<String> {
        self.send(line);
        self.until(word)
    }

    pub fn ready(&mut self) {
        self.ask("isready", "readyok");
    }

    /// The move that it answers to a search.
    pub fn go(&mut self, limits: &str) -> String {
        let lines = self.ask(&format!("go {limits}"), "bestmove");
        lines.last().unwrap().split(' ').nth(1).unwrap().to_owned()
    }

    /// Says `quit`, and how the program ended.
    pub fn quit(mut self) -> i32 {
        self.send("quit");
        self.child.wait().unwrap().code().expect("the program was killed")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
