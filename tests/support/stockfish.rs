//! Networks of the Stockfish family: made up, and from an installed engine together with what it prints about them.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tamis_quant::pack::{Provenance, pack};
use tamis_quant::positions::Position;
use tamis_quant::proof::prove;
use tamis_quant::run::AlignedBytes;
use tamis_quant::stockfish::{
    Affine, Block, Encoding, FeatureSet, Head, Net, PSQT_BUCKETS, Relation, RelationRows, Shape, Stack, Transformer,
    decide,
};

use crate::sample_models::Random;
use crate::trials::Need;

/// Stockfish 16.1's small network, and what the engine says of the positions of `expected.json`.
pub const SMALL_NET: &str = "nnue/sf16.1-smallnet/nn-baff1ede1f90.nnue";

/// A network of this shape with weights that look random: small ones in the transformer, all of i8 in the layers.
pub fn made_up(shape: Shape, encoding: Encoding, seed: u64) -> Net {
    let mut random = Random(seed);
    // One draw gives eight weights: the widest networks have tens of millions.
    let mut small = |count: usize| -> Vec<i16> {
        let mut values = Vec::with_capacity(count + 8);
        while values.len() < count {
            values.extend(random.draw().to_le_bytes().map(|byte| i16::from(byte.cast_signed() >> 2)));
        }
        values.truncate(count);
        values
    };
    let count = shape.features.piece_count();
    let biases = Block { values: small(shape.width), encoding };
    let weights = Block { values: small(count * shape.width), encoding };
    let psqt = shape
        .features
        .has_psqt()
        .then(|| Block { values: (0..count * PSQT_BUCKETS).map(|_| random.within(100_000)).collect(), encoding });
    let stacks = (0..shape.stacks()).map(|_| {
        let [first, second, output] = shape.layers().map(|(inputs, outputs)| affine(inputs, outputs, &mut random));
        Stack { first, second, output }
    });
    let stacks = stacks.collect::<Vec<_>>();
    let rows = |relation: &Relation| RelationRows {
        weights: (0..relation.count() * shape.width).map(|_| random.draw() as i8 >> 1).collect(),
        psqt: Block { values: (0..relation.count() * PSQT_BUCKETS).map(|_| random.within(5000)).collect(), encoding },
    };
    let relations = shape.features.relations().iter().map(rows).collect();
    let transformer = Transformer { biases, weights, psqt, relations };
    let division = decide(&shape, None).division;
    Net { shape, description: b"made up".to_vec(), transformer, stacks, division }
}

fn affine(inputs: usize, outputs: usize, random: &mut Random) -> Affine {
    let biases = (0..outputs).map(|_| random.within(8128)).collect();
    let row_len = inputs.next_multiple_of(32);
    let weight = |at: usize| if at % row_len < inputs { random.draw() as i8 } else { 0 };
    let weights = (0..outputs * row_len).map(weight).collect();
    Affine { inputs, outputs, biases, weights }
}

/// A network's container.
pub fn container(net: &Net) -> AlignedBytes {
    let program = net.lower();
    AlignedBytes::copy_of(&pack(&program, &prove(&program), &Provenance::default()).unwrap())
}

/// A shape.
pub fn shape(features: FeatureSet, width: usize, head: Head) -> Shape {
    Shape { features, width, head }
}

/// An installed Stockfish of any version.
///
/// `TAMIS_STOCKFISH` may name it; else `stockfish` is looked for in `PATH` and in Debian's place for games.
pub struct Stockfish(PathBuf);

/// The one whose `eval` is understood here.
pub struct Stockfish15(PathBuf);

impl Need for Stockfish {
    fn find(_: &'static str) -> Result<Self, String> {
        let named = std::env::var_os("TAMIS_STOCKFISH").map(PathBuf::from);
        let path = std::env::var_os("PATH").unwrap_or_default();
        // Debian puts it where a user's path often does not lead.
        let folders = std::env::split_paths(&path).chain([PathBuf::from("/usr/games")]);
        let mut places = named.into_iter().chain(folders.map(|folder| folder.join("stockfish")));
        let found = places.find(|engine| engine.is_file());
        found.map(Self).ok_or_else(|| "no stockfish is installed (Debian's package has one)".to_owned())
    }
}

impl Need for Stockfish15 {
    fn find(form: &'static str) -> Result<Self, String> {
        let Stockfish(engine) = Stockfish::find(form)?;
        let version = talk(&engine, Path::new("."), &[]);
        if version.starts_with("Stockfish 15.1 ") {
            return Ok(Self(engine));
        }
        let version = version.lines().next().unwrap_or_default();
        Err(format!("{} is `{version}`, and what 15.1 prints is understood", engine.display()))
    }
}

impl Deref for Stockfish {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Deref for Stockfish15 {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

/// The bytes of the engine's own network, by its `export_net`.
pub fn export_net(engine: &Path) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let said = talk(engine, folder.path(), &["export_net own.nnue".to_owned()]);
    assert!(said.contains("saved successfully"), "{said}");
    std::fs::read(folder.path().join("own.nnue")).unwrap()
}

/// What the engine's `eval` prints about its network, as printed: signs and digits without spaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// PSQT part, positional part and their sum of every bucket, for the side to move.
    pub buckets: Vec<[String; 3]>,
    /// The position's bucket.
    pub bucket: usize,
    /// The network's evaluation, for white.
    pub network: String,
    /// The same in whole units for the side to move, which engines print from 19 on.
    pub units: Option<i32>,
}

/// The traces of positions, none for one in check, which the engine does not evaluate.
pub fn traces(engine: &Path, fens: &[String]) -> Vec<Option<Trace>> {
    let mut commands = Vec::new();
    for fen in fens {
        commands.extend([format!("position fen {fen}"), "eval".to_owned()]);
    }
    let traces = traces_of(&talk(engine, Path::new("."), &commands));
    assert_eq!(traces.len(), fens.len(), "one trace a position");
    traces
}

/// The traces in what an engine has printed.
pub fn traces_of(said: &str) -> Vec<Option<Trace>> {
    let mut traces = Vec::new();
    let (mut buckets, mut bucket, mut network, mut units) = (Vec::new(), None, None, None);
    for line in said.lines() {
        let cells: Vec<String> =
            line.split('|').map(|cell| cell.chars().filter(|letter| !letter.is_whitespace()).collect()).collect();
        if let ["", index, psqt, positional, total, used] = cells.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            if index.parse() == Ok(buckets.len()) {
                if used.contains("thisbucketisused") {
                    bucket = Some(buckets.len());
                }
                buckets.push([psqt, positional, total].map(str::to_owned));
            }
        } else if let Some(rest) = line.strip_prefix("NNUE evaluation ") {
            let first = rest.split_ascii_whitespace().next().map(str::to_owned);
            if rest.contains("internal units") {
                units = first.map(|units| units.parse().unwrap());
            } else {
                network = first;
            }
        } else if line.starts_with("Final evaluation") {
            let found = (std::mem::take(&mut buckets), bucket.take(), network.take());
            let units = units.take();
            traces.push(match found {
                (buckets, Some(bucket), Some(network)) => Some(Trace { buckets, bucket, network, units }),
                found => {
                    assert!(line.contains("none (in check)"), "{line}: {found:?}");
                    None
                }
            });
        }
    }
    traces
}

/// Internal units of 15.1 that are printed as one pawn.
const PAWN: f64 = 361.0;

/// A value as a cell of the engine's table has it.
pub fn printed(value: i32) -> String {
    let sign = match value.signum() {
        1 => "+",
        -1 => "-",
        _ => "",
    };
    format!("{sign}{:.2}", f64::from(value.abs()) / PAWN)
}

/// A value as the engine's line below the table has it.
pub fn printed_below(value: i32) -> String {
    format!("{:+.2}", f64::from(value) / PAWN)
}

/// The position with white or black to move as a FEN without castling.
pub fn fen(position: &Position, white_moves: bool) -> String {
    let mut board = [['.'; 8]; 8];
    for &(code, square) in position.pieces() {
        let (square, is_white) = if white_moves { (square, code < 8) } else { (square ^ 56, code >= 8) };
        let letter = ['p', 'n', 'b', 'r', 'q', 'k'][usize::from(code & 7)];
        board[usize::from(square / 8)][usize::from(square % 8)] =
            if is_white { letter.to_ascii_uppercase() } else { letter };
    }
    let mut text = String::new();
    for (index, rank) in board.iter().rev().enumerate() {
        text.push_str(if index == 0 { "" } else { "/" });
        let mut empty = 0;
        for &square in rank.iter().chain(&['/']) {
            if square == '.' {
                empty += 1;
                continue;
            }
            if empty > 0 {
                text.push_str(&empty.to_string());
                empty = 0;
            }
            if square != '/' {
                text.push(square);
            }
        }
    }
    format!("{text} {} - - 0 1", if white_moves { "w" } else { "b" })
}

/// Whether the side to move, and whether its opponent, stands in check.
pub fn in_check(position: &Position) -> [bool; 2] {
    const STRAIGHT: [(i8, i8); 4] = [(1, 0), (-1, 0), (0, 1), (0, -1)];
    const DIAGONAL: [(i8, i8); 4] = [(1, 1), (1, -1), (-1, 1), (-1, -1)];
    const JUMPS: [(i8, i8); 8] = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)];
    let at = |file: i8, rank: i8| {
        let square = u8::try_from(8 * rank + file).ok().filter(|_| (0..8).contains(&file) && (0..8).contains(&rank))?;
        position.pieces().iter().find(|piece| piece.1 == square).map(|piece| piece.0)
    };
    let attacked = |king: u8, by: u8, forward: i8| {
        let (file, rank) = ((king % 8).cast_signed(), (king / 8).cast_signed());
        let slides = |(right, up): (i8, i8), kinds: [u8; 2]| {
            let first = (1..8).find_map(|far| at(file + far * right, rank + far * up));
            first.is_some_and(|piece| kinds.map(|kind| kind | by).contains(&piece))
        };
        let stands = |(right, up): (i8, i8), kind: u8| at(file + right, rank + up) == Some(kind | by);
        STRAIGHT.iter().any(|&way| slides(way, [3, 4]))
            || DIAGONAL.iter().any(|&way| slides(way, [2, 4]))
            || JUMPS.iter().any(|&way| stands(way, 1))
            || [(1, forward), (-1, forward)].iter().any(|&way| stands(way, 0))
            || STRAIGHT.iter().chain(&DIAGONAL).any(|&way| stands(way, 5))
    };
    [attacked(position.own_king(), 8, 1), attacked(position.opponent_king() ^ 56, 0, -1)]
}

/// Runs the engine in a folder with these commands and gives what it prints. They go in by a file, so that neither side
/// waits for the other.
fn talk(engine: &Path, folder: &Path, commands: &[String]) -> String {
    let script = tempfile::NamedTempFile::new().unwrap();
    let mut lines = commands.join("\n");
    lines.push_str("\nquit\n");
    std::fs::write(script.path(), lines).unwrap();
    let mut command = Command::new(engine);
    command.current_dir(folder).stdin(Stdio::from(script.reopen().unwrap()));
    String::from_utf8_lossy(&command.output().unwrap().stdout).into_owned()
}
