//! What the example engine answers, while it searches too, and what it does with input that is wrong.

use super::process::Process;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tamis_quant::import::read_checkpoint;
use tamis_quant::pack::{Provenance, pack};
use tamis_quant::proof::prove;
use tamis_quant::quantise::quantise;
use tests::{architecture, own};

const PAWN_UP: &str = "position fen 4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";

fn start() -> Process {
    Process::start(&super::engine())
}

/// The score of the position that is set.
fn eval(engine: &mut Process) -> i32 {
    engine.send("eval");
    let line = engine.line();
    line.parse().unwrap_or_else(|_| panic!("`{line}` is no score"))
}

/// Sends a line that must be refused with these words, and nothing else happen.
fn refused(engine: &mut Process, line: &str, words: &str) {
    let mut said = engine.ask(line, "info").join("\n");
    // A search that runs may print how far it is before the answer comes.
    while said.starts_with("info depth ") {
        said = engine.until("info").join("\n");
    }
    assert!(said.contains(words), "{line}: {said}");
    engine.ready();
}

#[test]
fn a_search_listens() {
    let mut engine = start();
    engine.send("position startpos moves e2e4 e7e5");
    engine.send("go infinite");
    engine.until("info");
    engine.ready();
    refused(&mut engine, "go depth 1", "a search runs already");
    let start = Instant::now();
    let lines = engine.ask("stop", "bestmove");
    assert!(start.elapsed() < Duration::from_secs(5), "stopping took {:?}", start.elapsed());
    assert!(lines.last().unwrap().len() >= "bestmove a2a3".len());
    engine.send("stop"); // without a search, nothing
    engine.send("go infinite");
    assert_eq!(engine.quit(), 0);
}

#[test]
fn limits_are_kept() {
    let mut engine = start();
    let lines = engine.ask("go depth 4", "bestmove");
    assert!(lines.iter().any(|line| line.starts_with("info depth 4 ")));
    assert!(!lines.iter().any(|line| line.starts_with("info depth 5 ")));
    for line in engine.ask("go nodes 3000", "bestmove") {
        let nodes = line.split_once(" nodes ").map_or(0, |(_, rest)| rest.split(' ').next().unwrap().parse().unwrap());
        assert!(nodes <= 3000, "{line}");
    }
    let start = Instant::now();
    engine.go("movetime 200");
    assert!((Duration::from_millis(100)..Duration::from_secs(5)).contains(&start.elapsed()), "{:?}", start.elapsed());
    // A clock that has run out still gets a move.
    for clock in ["wtime -50 btime 1000", "wtime 0", "wtime 1 winc 0 movestogo 1", "depth -3", "nodes 0"] {
        assert_eq!(engine.go(clock).len(), 4, "{clock}");
    }
}

#[test]
fn mates_draws_and_ends_are_seen() {
    let mut engine = start();
    engine.send("position fen 6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1");
    let lines = engine.ask("go depth 6", "bestmove");
    assert!(lines.iter().any(|line| line.contains(" score mate 1 ")), "{lines:?}");
    assert_eq!(lines.last().unwrap(), "bestmove d1d8");
    // Mated in two plies whatever is played: the rooks take the last ranks.
    engine.send("position fen 7k/R7/8/8/8/8/8/1R4K1 b - - 0 1");
    assert!(engine.ask("go depth 5", "bestmove").iter().any(|line| line.contains(" score mate -1 ")));
    // The side that is behind repeats: the queen checks on e8 and h5 for ever.
    engine.send("position fen 6k1/6p1/5p2/8/8/8/qr6/4Q2K w - - 0 1");
    assert!(engine.ask("go depth 9", "bestmove").iter().any(|line| line.contains(" score cp 0 ")));
    for (fen, best) in [
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "bestmove 0000"),    // stalemate
        ("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", "bestmove 0000"),    // mate
        ("8/8/8/8/8/5k2/5p2/5K2 w - - 99 80", "bestmove 0000"), // stalemate on the fiftieth move
    ] {
        engine.send(&format!("position fen {fen}"));
        assert_eq!(engine.ask("go depth 3", "bestmove").last().unwrap(), best, "{fen}");
    }
    // Castling is written as UCI wants it, both ways.
    engine.send("position startpos moves g1f3 g8f6 g2g3 g7g6 f1g2 f8g7 e1g1 e8g8");
    engine.ready();
    assert_eq!(engine.go("depth 1").len(), 4);
}

#[test]
fn wrong_input_is_named_and_changes_nothing() {
    let mut engine = start();
    engine.send(PAWN_UP);
    let score = eval(&mut engine);
    for (line, words) in [
        ("castle", "`castle` is no command"),
        ("position", "expected `startpos` or `fen`"),
        ("position startpos moves e2e5", "`e2e5` is no legal move"),
        ("position startpos moves e2e4 zz", "`zz` is no legal move"),
        ("position startpos moves e7e8k", "`e7e8k` is no legal move"),
        ("position fen 8/8/8/8/8/8/8/8 w - - 0 1", "fen `8/8"),
        ("position fen KKKKKKKK/8/8/8/8/8/8/k7 w - - 0 1", "fen `KKKK"),
        ("position fen rnbqkbnr/pppppppp/9999999999/8 w - - 0 1", "fen `rnbq"),
        ("position fen", "fen ``"),
        ("go depth many", "many is no whole number"),
        ("go wtime", "nothing is no whole number"),
        ("setoption Hash", "expected `name`"),
        ("setoption name Hash value 999999999999999999999", "expected a number up to 4096"),
        ("setoption name Tier value abacus", "`abacus` is no tier of this machine; it has scalar, wide"),
        ("setoption name Check value perhaps", "expected true or false"),
        ("setoption name Ponder value true", "`Ponder` is no option"),
        ("bench sideways", "`sideways` is no number"),
    ] {
        refused(&mut engine, line, words);
        assert_eq!(eval(&mut engine), score, "{line}");
    }
    refused(&mut engine, &"x".repeat(100_000), "longer than 65536 bytes");
    engine.send("\u{0}\u{fffd}");
    engine.until("info");
    assert_eq!(eval(&mut engine), score);
    assert_eq!(engine.quit(), 0);
}

/// What is no network of chess with one output is refused with the reason, and the old one stays; a sound one takes its
/// place, of the embedded one's kind or of another.
#[test]
fn eval_file_loads_a_network_beside_the_embedded_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let option = |path: &Path| format!("setoption name EvalFile value {}", path.display());
    let mut engine = start();
    engine.send(PAWN_UP);
    let score = eval(&mut engine);

    let embedded = fs::read(super::embedded()).unwrap();
    let mut flipped = embedded.clone();
    flipped[100_000] ^= 1;
    fs::write(path("flipped.bin"), flipped).unwrap();
    fs::write(path("short.bin"), &embedded[..1000]).unwrap();
    fs::write(path("empty.bin"), []).unwrap();
    fs::File::create(path("long.bin")).unwrap().set_len((256 << 20) + 1).unwrap();
    for (file, words) in [
        (path("absent.bin"), "absent.bin: "),
        (path("flipped.bin"), "checksum"),
        (path("short.bin"), "1000"),
        (path("empty.bin"), "0 bytes"),
        (path("long.bin"), "longer than"),
        (own("vectors/tiny.bin"), "the network is as before"),
        (own("fuzz/corpus/loader/clipped-three-outputs.bin"), "outputs"),
    ] {
        refused(&mut engine, &option(&file), words);
        assert_eq!(eval(&mut engine), score, "{}", file.display());
    }

    fs::write(path("doubled.bin"), doubled()).unwrap();
    let said = engine.ask(&option(&path("doubled.bin")), "info").join("");
    assert!(said.contains("info string network "), "{said}");
    let other = eval(&mut engine);
    assert!(other != score && (other - 2 * score).abs() <= 2, "{score} and {other}");
    engine.send("setoption name Check value true");
    engine.go("depth 5");
    let said = engine.ask(&option(&own("fuzz/corpus/loader/chess-no-buckets.bin")), "info").join("");
    assert!(said.contains("info string network "), "{said}");
    engine.go("depth 3");
    let plain = engine.ask("setoption name EvalFile value <embedded>", "info").join("");
    assert!(plain.contains("202368 bytes"), "{plain}");
    assert_eq!(eval(&mut engine), score);
}

/// The reference network with every output weight twice as large, and so every score.
fn doubled() -> Vec<u8> {
    let checkpoint = read_checkpoint(&own("reference/nnue.weights.bin"), &architecture("reference")).unwrap();
    let mut net = checkpoint.net;
    let last = net.layers.last_mut().unwrap();
    last.weights.values.iter_mut().chain(&mut last.bias).for_each(|value| *value *= 2.0);
    let net = quantise(&net).unwrap();
    let program = net.lower().unwrap();
    pack(&program, &prove(&program), &Provenance::default()).unwrap()
}

/// The end of the input is `quit`, also in the middle of a search and of a line.
#[test]
fn the_end_of_the_input_ends_the_program() {
    for input in ["", "go infinite\n", "go infinite", "isready"] {
        let mut child = Command::new(super::engine()).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "`{input}`");
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(text.contains("bestmove"), input.starts_with("go"), "{text}");
    }
}
