//! Runs targets without instrumentation, as fast as they go: every input follows from a number, so that what is found
//! is found again.
//!
//! ```text
//! targets --list
//! targets NAME --seconds N [--from NUMBER] [--corpus FOLDER...] [--artifacts FOLDER]
//! targets NAME FILE                        one input, as it is
//! ```
//!
//! It ends with a line of tabs: `ran`, name, executions, accepted inputs, seconds of processor time. A panic, ten
//! seconds of processor time, or more memory than the target's budget stop it with status 1; the input is left among
//! the artifacts.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a runner fails by panicking")]

use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use tamis_targets::memory::{Counter, peak};
use tamis_targets::mutation::Mutation;
use tamis_targets::{TARGETS, Target, by_name};

/// Inputs between two looks at the clock.
const ROUND: u64 = 256;
/// An input that takes more processor time is a finding.
const LONGEST: Duration = Duration::from_secs(10);
/// Files of a corpus that are longer than a target's inputs are no use; so many are enough.
const MOST_FILES: usize = 4096;

#[global_allocator]
static COUNTER: Counter = Counter;

struct Asked {
    target: &'static Target,
    seconds: u64,
    from: u64,
    corpus: Vec<PathBuf>,
    artifacts: Option<PathBuf>,
    file: Option<PathBuf>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments == ["--list"] {
        TARGETS.iter().for_each(|target| println!("{}", target.name));
        return ExitCode::SUCCESS;
    }
    match asked(&arguments) {
        Ok(asked) => run(&asked),
        Err(why) => {
            eprintln!("targets: {why}; see the first lines of main.rs");
            ExitCode::from(2)
        }
    }
}

fn asked(arguments: &[String]) -> Result<Asked, String> {
    let mut rest = arguments.iter();
    let name = rest.next().ok_or("no target")?;
    let target = by_name(name).ok_or_else(|| format!("no target {name}"))?;
    let mut asked = Asked { target, seconds: 0, from: 0, corpus: Vec::new(), artifacts: None, file: None };
    while let Some(argument) = rest.next() {
        if !argument.starts_with("--") {
            asked.file = Some(argument.into());
            continue;
        }
        let value = rest.next().ok_or_else(|| format!("{argument} without a value"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("{argument} {value}: no number"));
        match argument.as_str() {
            "--seconds" => asked.seconds = number()?,
            "--from" => asked.from = number()?,
            "--corpus" => asked.corpus.push(value.into()),
            "--artifacts" => asked.artifacts = Some(value.into()),
            other => return Err(format!("{other} is unknown")),
        }
    }
    Ok(asked)
}

fn run(asked: &Asked) -> ExitCode {
    let target = asked.target;
    if let Some(file) = &asked.file {
        let accepted = (target.run)(&std::fs::read(file).unwrap());
        println!("{}: {}", target.name, if accepted { "accepted" } else { "refused" });
        return ExitCode::SUCCESS;
    }
    let mut corpus = (target.made)();
    asked.corpus.iter().for_each(|folder| gather(folder, target.max_len_bytes, &mut corpus));
    let mutation = Mutation::new(target, corpus.clone());
    let (mut executions, mut accepted, mut input) = (0u64, 0u64, Vec::new());
    let start = Instant::now();
    // What is in the corpus, as it is.
    for file in &corpus {
        let Ok(taken) = tried(asked, file, "of the corpus") else { return ExitCode::FAILURE };
        (executions, accepted) = (executions + 1, accepted + u64::from(taken));
    }
    let end = Duration::from_secs(asked.seconds);
    let mut number = asked.from;
    while start.elapsed() < end {
        for _ in 0..ROUND {
            mutation.make(number, &mut input);
            let Ok(taken) = tried(asked, &input, &format!("number {number}")) else { return ExitCode::FAILURE };
            (number, executions, accepted) = (number + 1, executions + 1, accepted + u64::from(taken));
            if executions % 16 == 0 && start.elapsed() >= end {
                break;
            }
        }
    }
    println!("ran\t{}\t{executions}\t{accepted}\t{:.1}", target.name, spent().as_secs_f64());
    ExitCode::SUCCESS
}

/// Processor time of this process until now.
fn spent() -> Duration {
    let spent = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(spent.tv_sec as u64, spent.tv_nsec as u32)
}

/// Runs one input; `Err` if it panicked or took too long, which is said.
fn tried(asked: &Asked, input: &[u8], what: &str) -> Result<bool, ()> {
    let (start, budget) = (Instant::now(), asked.target.budget.of(input));
    let run = || catch_unwind(AssertUnwindSafe(|| black_box((asked.target.run)(black_box(input)))));
    let (result, bytes) = peak(run);
    let mut took = start.elapsed();
    if took >= LONGEST {
        // The clock counts what else the machine did, too. Asking for processor time takes longer than most inputs.
        let before = spent();
        let _ = run();
        took = spent().saturating_sub(before);
    }
    let why = match result {
        Ok(taken) if took < LONGEST && bytes <= budget => return Ok(taken),
        Ok(_) if bytes > budget => format!("took {bytes} bytes of memory, its budget is {budget}"),
        Ok(_) => format!("took {took:?}"),
        Err(_) => "panicked".to_owned(),
    };
    let kept = asked.artifacts.as_deref().map(|folder| keep(folder, asked.target.name, input));
    eprintln!("targets: {}: input {what} {why}: {kept:?}", asked.target.name);
    println!("found\t{}\t{what}", asked.target.name);
    Err(())
}

fn keep(folder: &Path, name: &str, input: &[u8]) -> PathBuf {
    let folder = folder.join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let hash = tamis_runtime::raw::fnv1a(tamis_runtime::raw::FNV_OFFSET, input);
    let path = folder.join(format!("found-{hash:016x}"));
    std::fs::write(&path, input).unwrap();
    path
}

/// Files below a folder, in the order of their names.
fn gather(folder: &Path, max_len_bytes: usize, corpus: &mut Vec<Vec<u8>>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            gather(&path, max_len_bytes, corpus);
        } else if corpus.len() < MOST_FILES
            && let Ok(bytes) = std::fs::read(&path)
            && bytes.len() <= max_len_bytes
        {
            corpus.push(bytes);
        }
    }
}
