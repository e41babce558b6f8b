//! Inputs out of inputs, without coverage: what a runner that is not instrumented has.

use crate::{Form, Target};
use tests::sample_models::Random;

/// Numbers at which something ends.
const ENDS: [u64; 20] = [
    0,
    1,
    2,
    7,
    8,
    0x7F,
    0x80,
    0xFF,
    0x100,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x1_0000,
    0x7FFF_FFFF,
    0x8000_0000,
    0xFFFF_FFFF,
    0x1_0000_0000,
    1 << 53,
    i64::MAX as u64,
    u64::MAX,
];

/// The same as they stand in texts, and what is no number.
const WRITTEN: [&str; 16] = [
    "0",
    "-1",
    "1",
    "255",
    "256",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "18446744073709551616",
    "1e400",
    "-0.0",
    "nan",
    "0.5",
];

/// Makes inputs of a target.
pub struct Mutation<'t> {
    target: &'t Target,
    corpus: Vec<Vec<u8>>,
}

impl<'t> Mutation<'t> {
    /// Out of a corpus, which may be empty.
    #[must_use]
    pub fn new(target: &'t Target, corpus: Vec<Vec<u8>>) -> Self {
        Self { target, corpus }
    }

    /// The input of a number, the same whenever it is asked for: `input` becomes it.
    pub fn make(&self, number: u64, input: &mut Vec<u8>) {
        // Drawn, since the numbers of neighbouring seeds are the same but for one.
        let random = &mut Random(Random(number).draw());
        input.clear();
        let is_new = match self.target.form {
            Form::Choices => !one_in(random, 8),
            _ => one_in(random, 256),
        };
        if is_new || self.corpus.is_empty() {
            let len = below(random, self.target.max_len_bytes.min(512) + 1);
            input.extend((0..len).map(|_| (random.draw() >> 40) as u8));
            return;
        }
        input.extend_from_slice(self.any(random));
        let mut count = 1;
        while count < 32 && one_in(random, 2) {
            count += 1;
        }
        for _ in 0..count {
            self.change(random, input);
        }
        input.truncate(self.target.max_len_bytes);
    }

    fn any(&self, random: &mut Random) -> &[u8] {
        &self.corpus[below(random, self.corpus.len())]
    }

    fn change(&self, random: &mut Random, input: &mut Vec<u8>) {
        if let Form::Text(words) = self.target.form
            && one_in(random, 2)
        {
            return text(random, words, input);
        }
        if input.is_empty() {
            return input.push(random.draw() as u8);
        }
        let at = below(random, input.len());
        match below(random, 9) {
            0 => input[at] ^= 1 << below(random, 8),
            1 => input[at] = (random.draw() >> 40) as u8,
            2 => number(random, &mut input[at..]),
            3 => nudge(random, &mut input[at..]),
            4 => drop(input.drain(at..at + len(random, input.len() - at))),
            5 => {
                let copied = input[at..at + len(random, input.len() - at)].to_vec();
                insert(input, below(random, input.len()), &copied);
            }
            6 => {
                let (from, len) = (below(random, input.len()), len(random, input.len() - at));
                let len = len.min(input.len() - from);
                input.copy_within(from..from + len, at);
            }
            7 => {
                let other = self.any(random);
                let from = below(random, other.len() + 1);
                input.truncate(at);
                input.extend_from_slice(&other[from..]);
            }
            _ => input.truncate(at),
        }
    }
}

/// A word more, or another number.
fn text(random: &mut Random, words: &[&str], input: &mut Vec<u8>) {
    let at = below(random, input.len() + 1);
    let digits = |from: usize| input[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    match (0..input.len()).map(|step| (at + step) % input.len()).find(|at| input[*at].is_ascii_digit()) {
        Some(at) if one_in(random, 2) => {
            let count = digits(at);
            let written = WRITTEN[below(random, WRITTEN.len())];
            input.splice(at..at + count, written.bytes());
        }
        _ => insert(input, at, words[below(random, words.len())].as_bytes()),
    }
}

/// A number at an end, of any width and order of bytes.
fn number(random: &mut Random, place: &mut [u8]) {
    let width = [1, 2, 4, 4, 8][below(random, 5)].min(place.len());
    let number = ENDS[below(random, ENDS.len())];
    let bytes = if one_in(random, 3) { number.to_be_bytes() } else { number.to_le_bytes() };
    let bytes = if one_in(random, 3) { &bytes[8 - width..] } else { &bytes[..width] };
    place[..width].copy_from_slice(bytes);
}

/// A number near the one that is there.
fn nudge(random: &mut Random, place: &mut [u8]) {
    let by = below(random, 33) as u32;
    if let Some(word) = place.first_chunk_mut::<4>() {
        let sum = |word: u32| word.wrapping_add(by).wrapping_sub(16);
        *word = match one_in(random, 4) {
            true => sum(u32::from_be_bytes(*word)).to_be_bytes(),
            false => sum(u32::from_le_bytes(*word)).to_le_bytes(),
        };
    } else {
        place[0] = place[0].wrapping_add(by as u8).wrapping_sub(16);
    }
}

fn insert(input: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    input.splice(at..at, bytes.iter().copied());
}

/// Short most often.
fn len(random: &mut Random, limit: usize) -> usize {
    let short = if one_in(random, 4) { limit } else { limit.min(16) };
    below(random, short + 1)
}

fn below(random: &mut Random, limit: usize) -> usize {
    ((random.draw() >> 32) as usize) % limit
}

fn one_in(random: &mut Random, count: usize) -> bool {
    below(random, count) == 0
}
