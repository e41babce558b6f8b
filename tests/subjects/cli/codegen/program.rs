//! What a user writes around generated modules: every signature, then every row of the files that are given, then a
//! game of chess.

use std::error::Error;
use std::fmt::Debug;
use tamis_runtime::engine::{Colour, Kind, Piece};
use user::{nnue, sparse, table, threats, vector, wide};

// A program's own module, most of which it does not call.
mod unused;

mod guide_of_integers {
    use user::table as net;
    GUIDE!();
}

mod guide_of_reals {
    use user::REALS as net;
    GUIDE!();
}

macro_rules! signatures {
    ($($module:ident)*) => {
        $({
            let network = user::$module::Network::open()?;
            let found = network.signature(&mut user::$module::Scratch::new())?;
            assert_eq!(found, user::$module::SIGNATURE, stringify!($module));
            println!("{found:016x}");
        })*
    };
}

fn main() -> Result<(), Box<dyn Error>> {
    conversions();
    signatures!(nnue sparse table threats vector wide MODULES);
    outputs_elsewhere()?;
    let class = guide_of_integers::classify(&[0; table::INPUT_LEN], &mut table::Scratch::new());
    assert!(class.is_some_and(|class| class < table::OUTPUT_LEN));
    let input = [user::REALS::InputNumber::default(); user::REALS::INPUT_LEN];
    let class = guide_of_reals::classify(&input, &mut user::REALS::Scratch::new());
    assert!(class.is_some_and(|class| class < user::REALS::OUTPUT_LEN));
    unused::Network::open()?;
    let [pixels, reals, features] = ["pixels", "reals", "features"].map(std::fs::read_to_string);

    let network = table::Network::open()?;
    let mut scratch = table::Scratch::new();
    for row in rows(&pixels?) {
        let input = table::quantise_input(&reals_of(&row));
        let sixteenths = reals_of::<{ table::INPUT_LEN }>(&row).map(|x| (x * 16.0) as u8 + 3);
        assert_eq!(input, table::quantise_bytes(&sixteenths, 1.0 / 16.0, 3));
        print(network.run(&input, &mut scratch)?.map(|y| f64::from(y) * f64::from(table::OUTPUT_UNIT)));
    }
    let network = vector::Network::open()?;
    let mut scratch = vector::Scratch::new();
    for row in rows(&reals?) {
        let input = vector::quantise_input(&reals_of(&row));
        print(network.run(&input, &mut scratch)?.map(|y| f64::from(y) * f64::from(vector::OUTPUT_UNIT)));
    }
    let network = sparse::Network::open()?;
    let mut scratch = sparse::Scratch::new();
    for row in rows(&features?) {
        let mut features = [0; sparse::MAX_ACTIVE];
        row.iter().zip(&mut features).for_each(|((at, _), feature)| *feature = *at as u32);
        print(network.run(&features, &mut scratch)?.map(f64::from));
    }
    chess()
}

/// Halves, ends, and what is no number.
fn conversions() {
    let unit = vector::INPUT_UNIT;
    let of = |x: f32| vector::quantise_input(&[x; vector::INPUT_LEN])[0];
    let found = [0.5, -0.5, 1.25, -1.75, 126.6, 1e30, -127.6, -1e30].map(|integer| of(integer * unit));
    assert_eq!(found, [1, -1, 1, -2, 127, 127, -128, -128]);
    assert_eq!([f32::INFINITY, f32::NEG_INFINITY, f32::NAN].map(of), [127, -128, 0]);
    let bytes = |byte: u8| vector::quantise_bytes(&[byte; vector::INPUT_LEN], unit, 128)[0];
    assert_eq!([0, 1, 127, 128, 255].map(bytes), [-128, -127, -1, 0, 127]);
}

/// The same outputs, in memory of their own and in scratch memory that has room for them.
fn outputs_elsewhere() -> Result<(), Box<dyn Error>> {
    let network = wide::Network::open()?;
    let (mut scratch, mut beside, mut kept) = (wide::Scratch::new(), wide::Beside::new(), wide::Kept::new());
    assert!(2 * size_of::<wide::Beside>() < size_of::<wide::Scratch>());
    for x in [-128, -1, 0, 77, 127] {
        let input = [x; wide::INPUT_LEN];
        let found = *network.run_into(&input, &mut beside, &mut kept)?;
        assert_eq!(&found, network.run(&input, &mut scratch)?);
        assert!(found.iter().any(|y| *y != 0));
    }
    Ok(())
}

/// The engine interface of a module: a position, and the one behind a pawn's move.
macro_rules! moved {
    ($module:ident, $king:expr, $other:expr, $pawn:expr) => {{
        let net = $module::engine()?;
        let mut state = Box::new($module::State::<4>::new());
        state.refresh(&net, [$king, $other, $pawn])?;
        let before = state.evaluate(&net, Colour::White)?;
        state.push(&net, &[$pawn.at(28)], &[$pawn])?;
        let after = state.evaluate(&net, Colour::Black)?;
        print([before]);
        print([after]);
        (net, before, after)
    }};
}

/// The same evaluations through both interfaces; where relations between pieces are features, through the one that
/// finds them.
fn chess() -> Result<(), Box<dyn Error>> {
    let [king, other] = [Piece::new(Colour::White, Kind::King, 4), Piece::new(Colour::Black, Kind::King, 60)];
    let pawn = Piece::new(Colour::White, Kind::Pawn, 12);
    moved!(threats, king, other, pawn);
    let (net, before, after) = moved!(nnue, king, other, pawn);
    let feature = |colour: Colour, square, piece| net.any().feature(colour, square, piece).into_iter();
    let seen = |colour, square, pieces: &[Piece]| -> Vec<u32> {
        pieces.iter().flat_map(|piece| feature(colour, square, *piece)).collect()
    };
    let both = |pieces: &[Piece]| [seen(Colour::White, 4, pieces), seen(Colour::Black, 60, pieces)];
    let ([white, black], added, removed) = (both(&[king, other, pawn]), both(&[pawn.at(28)]), both(&[pawn]));
    let network = nnue::Network::open_on(tamis_runtime::kernels::best())?;
    let bucket = network.bucket_of(3).ok_or("three pieces have a bucket")?;
    let (mut root, mut moved) = (nnue::Accumulators::new(), nnue::Accumulators::new());
    let mut scratch = nnue::Scratch::new();
    network.refresh(&mut root, [&white, &black])?;
    network.update(&mut moved, &root, [&added[0], &added[1]], [&removed[0], &removed[1]])?;
    assert_eq!(network.evaluate(&root, nnue::Side::First, bucket, &mut scratch)?, &[before]);
    assert_eq!(network.evaluate(&moved, nnue::Side::Second, bucket, &mut scratch)?, &[after]);
    assert!(network.evaluate(&root, nnue::Side::First, nnue::BUCKETS, &mut scratch).is_err());
    Ok(())
}

/// As the network takes it; what no pair names is 0.
fn reals_of<const N: usize>(row: &[(usize, f64)]) -> [f32; N] {
    let mut reals = [0.0; N];
    row.iter().for_each(|(at, x)| reals[*at] = *x as f32);
    reals
}

/// Lines of a label and `number:value` or `number`.
fn rows(text: &str) -> Vec<Vec<(usize, f64)>> {
    let pair = |word: &str| match word.split_once(':') {
        Some((at, x)) => (at.parse().unwrap(), x.parse().unwrap()),
        None => (word.parse().unwrap(), 1.0),
    };
    text.lines().map(|line| line.split(' ').skip(1).map(pair).collect()).collect()
}

fn print<T: Debug, const N: usize>(values: [T; N]) {
    println!("{}", values.map(|value| format!("{value:?}")).join(" "));
}
