//! Every target with its corpus, with mutated inputs, and with inputs that claim more than they have: nothing panics,
//! the corpus is accepted, and the memory stays within the target's budget.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

#[macro_use]
extern crate tests;

use std::path::PathBuf;
use tamis_targets::memory::{Counter, peak};
use tamis_targets::mutation::Mutation;
use tamis_targets::{Form, TARGETS, Target};

#[global_allocator]
static COUNTER: Counter = Counter;

fn main() -> std::process::ExitCode {
    tests::trials::run_alone()
}

/// Mutated inputs of a target.
const MUTATED: u64 = 400;

/// Places of a file where a length is looked for.
const PLACES: usize = 120;

fn corpus(target: &Target) -> Vec<(String, Vec<u8>)> {
    let folder = tests::own("fuzz/corpus").join(target.name);
    let Ok(entries) = std::fs::read_dir(&folder) else { return Vec::new() };
    // What a fuzzer adds has no ending.
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = paths.filter(|path| path.extension().is_some()).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.display().to_string(), std::fs::read(&path).unwrap())).collect()
}

/// What a target took, and what was too much.
struct Taken {
    target: &'static Target,
    accepted: usize,
    /// Bytes, and the budget that they belong to.
    most: (usize, usize),
    beyond: Vec<String>,
}

impl Taken {
    fn new(target: &'static Target) -> Self {
        // What a target makes once for all inputs is no input's.
        (target.run)(&[]);
        (target.run)(&[0; 64]);
        Self { target, accepted: 0, most: (0, 0), beyond: Vec::new() }
    }

    /// Runs an input; whether it was accepted.
    fn run(&mut self, input: &[u8], what: &str) -> bool {
        let (taken, bytes) = peak(|| (self.target.run)(input));
        let budget = self.target.budget.of(input);
        self.accepted += usize::from(taken);
        self.most = self.most.max((bytes, budget));
        if bytes > budget {
            let len = input.len();
            self.beyond.push(format!("{what}: {bytes} bytes for {len} of input, the budget is {budget}"));
        }
        taken
    }

    fn judge(self) -> Option<String> {
        let (name, most) = (self.target.name, self.most);
        note!("{name}: {} accepted, at most {} bytes, of a budget of {}", self.accepted, most.0, most.1);
        let worst = self.beyond.into_iter().take(3).collect::<Vec<_>>().join("\n  ");
        (!worst.is_empty()).then(|| format!("{name}, {worst}"))
    }
}

/// Every target with some inputs; what is beyond a budget is shown of all of them.
fn judge(inputs: impl Fn(&mut Taken)) {
    let judged = TARGETS.iter().filter_map(|target| {
        let mut taken = Taken::new(target);
        inputs(&mut taken);
        taken.judge()
    });
    let beyond: Vec<String> = judged.collect();
    assert!(beyond.is_empty(), "{}", beyond.join("\n"));
}

#[test]
fn the_corpus_is_accepted_within_the_budget() {
    judge(|taken| {
        let target = taken.target;
        let (files, made) = (corpus(target), (target.made)());
        assert!(!files.is_empty() || !made.is_empty() || target.form == Form::Choices, "{}: no corpus", target.name);
        for (name, bytes) in &files {
            assert!(taken.run(bytes, name), "{name} is refused");
        }
        for (index, bytes) in made.iter().enumerate() {
            taken.run(bytes, &format!("made {index}"));
        }
    });
}

#[test]
fn mutated_inputs_stay_within_the_budget() {
    judge(|taken| {
        let target = taken.target;
        let inputs: Vec<Vec<u8>> = corpus(target).into_iter().map(|(_, bytes)| bytes).chain((target.made)()).collect();
        let mutation = Mutation::new(target, inputs);
        let mut input = Vec::new();
        for number in 0..MUTATED {
            mutation.make(number, &mut input);
            taken.run(&input, &format!("number {number}"));
        }
    });
}

/// Lengths in every place of every file of the corpus as large as they can be, or nearly.
#[test]
fn lengths_that_lie_stay_within_the_budget() {
    judge(|taken| {
        let target = taken.target;
        for (name, bytes) in corpus(target).into_iter().filter(|_| target.form == Form::Binary) {
            // Places of a longer file are like those of its first bytes.
            for at in 0..bytes.len().min(PLACES) {
                for (width, byte) in [1, 2, 4, 8].into_iter().flat_map(|width| [(width, 0xFF), (width, 0x7F)]) {
                    let mut hostile = bytes.clone();
                    hostile[at..].iter_mut().take(width).for_each(|place| *place = byte);
                    taken.run(&hostile, &format!("{name}, {width} bytes of {byte:x} at {at}"));
                }
            }
        }
    });
}

/// A little that says it is a lot, or that is a lot once it is unpacked or nested.
#[test]
fn bombs_stay_within_the_budget() {
    use std::io::Write;
    let zeros = |len: usize| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(&vec![0; len]).unwrap();
        encoder.finish().unwrap()
    };
    let nested = |open: &str, close: &str| [open.repeat(2000), close.repeat(2000)].concat().into_bytes();
    let bombs = [
        ("a megabyte of zeros, packed", zeros(1 << 20)),
        ("zeros packed twice", {
            let once = zeros(1 << 20);
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
            encoder.write_all(&once).unwrap();
            encoder.finish().unwrap()
        }),
        ("brackets", nested("[", "]")),
        ("braces", nested("{\"a\":", "}")),
        ("keys", (0..500).fold(String::new(), |text, index| format!("{text}k{index} = {index}\n")).into_bytes()),
        ("a layer of many outputs", {
            let input = "graph = 1\nname = \"x\"\n[input]\nkind = \"dense\"\nsize = 2\n";
            let layer = "[[node]]\nname = \"a\"\nop = \"linear\"\noutputs = 16777216\n";
            format!("{input}{layer}").into_bytes()
        }),
        ("the start of gzip, and no more", vec![0x1F, 0x8B]),
        ("the start of a gzip's block", vec![0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3]),
        ("a method that gzip does not have", vec![0x1F, 0x8B, 6, b'x']),
        ("the start of an archive", b"PK\x03\x04".to_vec()),
        ("a long word", vec![b'a'; 4096]),
        ("zeros", vec![0; 4096]),
        ("ones", vec![0xFF; 4096]),
        ("lines", vec![b'\n'; 4096]),
    ];
    judge(|taken| {
        for (what, bomb) in &bombs {
            taken.run(bomb, what);
        }
    });
}
