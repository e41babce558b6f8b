//! What a user writes around generated modules: every signature, then every row of the files that are given, then a
//! game of chess.

use std::error::Error;
use std::fmt::Debug;
use tamis_runtime::engine::{Colour, Kind, Man};
use user::{nnue, sparse, table, vector};

// A program's own module, most of which it does not call.
mod unused;

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
    signatures!(nnue sparse table vector MODULES);
    unused::Network::open()?;
    let [pixels, reals, features] = ["pixels", "reals", "features"].map(std::fs::read_to_string);

    let network = table::Network::open()?;
    let mut scratch = table::Scratch::new();
    for row in rows(&pixels?) {
        let unit = f64::from(table::INPUT_UNIT);
        let mut input = [0; table::INPUT_LEN];
        row.iter().for_each(|(at, x)| input[*at] = (x / unit).round() as u8);
        print(network.run(&input, &mut scratch)?.map(|y| f64::from(y) * f64::from(table::OUTPUT_UNIT)));
    }
    let network = vector::Network::open()?;
    let mut scratch = vector::Scratch::new();
    for row in rows(&reals?) {
        let unit = f64::from(vector::INPUT_UNIT);
        let mut input = [0; vector::INPUT_LEN];
        row.iter().for_each(|(at, x)| input[*at] = (x / unit).round().clamp(-127.0, 127.0) as i8);
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

/// The same evaluations through both interfaces.
fn chess() -> Result<(), Box<dyn Error>> {
    let [king, other] = [Man::new(Colour::White, Kind::King, 4), Man::new(Colour::Black, Kind::King, 60)];
    let pawn = Man::new(Colour::White, Kind::Pawn, 12);
    let net = nnue::engine()?;
    let mut state = Box::new(nnue::State::<4>::new());
    state.refresh(&net, [king, other, pawn])?;
    let before = state.evaluate(&net, Colour::White)?;
    state.push(&net, &[pawn.at(28)], &[pawn])?;
    let after = state.evaluate(&net, Colour::Black)?;
    print([before]);
    print([after]);

    let feature = |colour: Colour, square, man| net.any().feature(colour, square, man).into_iter();
    let seen = |colour, square, men: &[Man]| -> Vec<u32> {
        men.iter().flat_map(|man| feature(colour, square, *man)).collect()
    };
    let both = |men: &[Man]| [seen(Colour::White, 4, men), seen(Colour::Black, 60, men)];
    let ([white, black], added, removed) = (both(&[king, other, pawn]), both(&[pawn.at(28)]), both(&[pawn]));
    let network = nnue::Network::open_on(tamis_runtime::kernels::best())?;
    let bucket = network.bucket_of(3).ok_or("three men have a bucket")?;
    let (mut root, mut moved) = (nnue::Accumulators::new(), nnue::Accumulators::new());
    let mut scratch = nnue::Scratch::new();
    network.refresh(&mut root, [&white, &black])?;
    network.update(&mut moved, &root, [&added[0], &added[1]], [&removed[0], &removed[1]])?;
    assert_eq!(network.evaluate(&root, nnue::Side::First, bucket, &mut scratch)?, &[before]);
    assert_eq!(network.evaluate(&moved, nnue::Side::Second, bucket, &mut scratch)?, &[after]);
    assert!(network.evaluate(&root, nnue::Side::First, nnue::BUCKETS, &mut scratch).is_err());
    Ok(())
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
