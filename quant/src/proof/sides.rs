//! Which pieces of two colours add up to most: one on a square, so many of a colour, so many in all.
//!
//! A piece a step is put where the sum grows most: onto a free square, or onto one that the other colour holds, which
//! then takes a free square instead. These are all the shortest paths that there are between two colours and the
//! squares, so that after each step no choice of as many pieces adds up to more (successive shortest paths); and since
//! no step gains more than the one before, the first that gains nothing is the end.

/// Own pieces, then the other side's.
const COLOURS: [usize; 2] = [0, 1];

/// What stands on each square: an index of [`COLOURS`], or nothing.
pub(super) type Squares = Vec<Option<usize>>;

/// A step: a colour takes a square, from the other one if that is given a free square for it.
#[derive(Clone, Copy)]
struct Step {
    gain: i64,
    colour: usize,
    square: usize,
    instead: Option<usize>,
}

/// The choice with the greatest sum. gains: what a piece of each colour adds on a square, (squares,) each.
pub(super) fn choose(gains: [&[i64]; 2], most_of_a_colour: usize, most: usize) -> Squares {
    let chosen = unlimited(gains, most);
    if COLOURS.iter().all(|colour| count(&chosen, *colour) <= most_of_a_colour) {
        return chosen;
    }
    let mut chosen = vec![None; gains[0].len()];
    let mut counts = [0; COLOURS.len()];
    for _ in 0..most {
        let open = COLOURS.into_iter().filter(|colour| counts[*colour] < most_of_a_colour);
        let best = open.flat_map(|colour| steps(gains, &chosen, colour)).max_by_key(|step| step.gain);
        let Some(Step { colour, square, instead, .. }) = best.filter(|step| step.gain > 0) else { break };
        chosen[square] = Some(colour);
        counts[colour] += 1;
        if let Some(free) = instead {
            chosen[free] = Some(1 - colour);
        }
    }
    chosen
}

/// What the pieces of a choice add up to.
pub(super) fn sum(gains: [&[i64]; 2], chosen: &Squares) -> i64 {
    chosen.iter().enumerate().filter_map(|(square, colour)| colour.map(|colour| gains[colour][square])).sum()
}

fn count(chosen: &Squares, colour: usize) -> usize {
    chosen.iter().filter(|other| **other == Some(colour)).count()
}

/// The same with as many of a colour as there are: the squares whose better piece gains most.
fn unlimited(gains: [&[i64]; 2], most: usize) -> Squares {
    let mut squares: Vec<(i64, usize, usize)> = (0..gains[0].len())
        .map(|square| {
            let colour = usize::from(gains[1][square] > gains[0][square]);
            (gains[colour][square], square, colour)
        })
        .filter(|(gain, ..)| *gain > 0)
        .collect();
    squares.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut chosen = vec![None; gains[0].len()];
    for (_, square, colour) in squares.into_iter().take(most) {
        chosen[square] = Some(colour);
    }
    chosen
}

/// The best step of each kind for a colour.
fn steps(gains: [&[i64]; 2], chosen: &Squares, colour: usize) -> impl Iterator<Item = Step> {
    let other = 1 - colour;
    let best = |held: Option<usize>, gain: &dyn Fn(usize) -> i64| {
        let squares = (0..chosen.len()).filter(|square| chosen[*square] == held);
        squares.map(|square| (gain(square), square)).max_by_key(|(gain, _)| *gain)
    };
    let onto_free = best(None, &|square| gains[colour][square]);
    let taken = best(Some(other), &|square| gains[colour][square] - gains[other][square]);
    let given = best(None, &|square| gains[other][square]);
    let direct = onto_free.map(|(gain, square)| Step { gain, colour, square, instead: None });
    let through = taken.zip(given).map(|((change, square), (gain, free))| Step {
        gain: change + gain,
        colour,
        square,
        instead: Some(free),
    });
    direct.into_iter().chain(through)
}

#[cfg(test)]
mod tests {
    use super::{choose, sum};

    /// The greatest sum by trying every choice.
    fn by_trying(gains: [&[i64]; 2], most_of_a_colour: usize, most: usize) -> i64 {
        let squares = gains[0].len();
        let sum = |mut code: usize| {
            let (mut counts, mut sum) = ([0; 2], 0);
            for of_square in gains[0].iter().zip(gains[1]).map(|(a, b)| [a, b]) {
                if let Some(colour) = (code % 3).checked_sub(1) {
                    counts[colour] += 1;
                    sum += of_square[colour];
                }
                code /= 3;
            }
            let fits = counts.iter().all(|count| *count <= most_of_a_colour) && counts[0] + counts[1] <= most;
            if fits { sum } else { 0 }
        };
        (0..3usize.pow(squares as u32)).map(sum).fold(0, i64::max)
    }

    #[test]
    fn no_choice_adds_up_to_more() {
        let mut state = 5u64;
        let mut random = |range: i64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as i64 % range
        };
        for round in 0..400 {
            // Ties are common in a small range; one colour gains more in every third round, so that its limit binds.
            let range = [4, 1000][round % 2];
            let lift = if round % 3 == 0 { range / 2 } else { 0 };
            let own: Vec<i64> = (0..7).map(|_| random(2 * range) - range + lift).collect();
            let other: Vec<i64> = (0..7).map(|_| random(2 * range) - range).collect();
            let gains = [&own[..], &other[..]];
            for (most_of_a_colour, most) in [(1, 2), (2, 4), (3, 4), (3, 7), (0, 7), (7, 3), (4, 8)] {
                let chosen = choose(gains, most_of_a_colour, most);
                let counts = [0, 1].map(|colour| chosen.iter().filter(|other| **other == Some(colour)).count());
                assert!(counts[0].max(counts[1]) <= most_of_a_colour && counts[0] + counts[1] <= most, "{chosen:?}");
                let expected = by_trying(gains, most_of_a_colour, most);
                assert_eq!(sum(gains, &chosen), expected, "{own:?} {other:?} {most_of_a_colour} {most}");
            }
        }
    }
}
