//! Pharaoh alignments: `0-0 1-2` says that source token 0 goes with target token 0, and 1 with 2.

use super::text::{is_blank, printable};
use thiserror::Error;

/// The pairs of one line, checked against its lengths.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Alignment {
    /// (source, target), in the order of the line.
    pub pairs: Vec<(u32, u32)>,
}

/// What is wrong with an alignment.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AlignmentFault {
    /// Something else than a pair.
    #[error("`{}` is no pair SOURCE-TARGET of token numbers from 0", printable(found))]
    Pair {
        /// What stands there.
        found: String,
    },
    /// An odd number of numbers, which only [`Alignment::parse_compatibly`] meets.
    #[error("{count} numbers, expected pairs")]
    Odd {
        /// How many.
        count: usize,
    },
    /// A source token that is not there.
    #[error("source token {index} of an alignment, the source line has {len} tokens, from 0")]
    Source {
        /// Which.
        index: u64,
        /// How many there are.
        len: usize,
    },
    /// A target token that is not there.
    #[error("target token {index} of an alignment, the target line has {len} tokens, from 0")]
    Target {
        /// Which.
        index: u64,
        /// How many there are.
        len: usize,
    },
}

impl Alignment {
    /// Reads a line. Order and repetition do not matter, neither do blanks between pairs.
    ///
    /// # Errors
    /// [`AlignmentFault`]
    ///
    /// ```
    /// use tamis_batches::Alignment;
    /// let alignment = Alignment::parse("0-0 1-1 2-2", 3, 3)?;
    /// assert_eq!(alignment.matrix(3, 3), [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    /// # Ok::<(), tamis_batches::AlignmentFault>(())
    /// ```
    pub fn parse(line: &str, source_len: usize, target_len: usize) -> Result<Self, AlignmentFault> {
        let words = line.split(|c: char| c.is_ascii() && is_blank(c as u8)).filter(|word| !word.is_empty());
        let pair = |word: &str| {
            let numbers = word.split_once('-').and_then(|(source, target)| Some((number(source)?, number(target)?)));
            let (source, target) = numbers.ok_or_else(|| AlignmentFault::Pair { found: word.to_owned() })?;
            checked((source, target), source_len, target_len)
        };
        Ok(Self { pairs: words.map(pair).collect::<Result<_, _>>()? })
    }

    /// The same as OpenNMT-tf reads it: blanks and `-` alike stand between numbers, and every two numbers are a pair,
    /// so that `0-0-1 1` is `0-0 1-1`.
    ///
    /// # Errors
    /// [`AlignmentFault`]
    pub fn parse_compatibly(line: &str, source_len: usize, target_len: usize) -> Result<Self, AlignmentFault> {
        let words = line.split(|c: char| c.is_ascii() && is_blank(c as u8)).filter(|word| !word.is_empty());
        let mut numbers = Vec::new();
        for word in words {
            for part in word.split('-') {
                numbers.push(number(part).ok_or_else(|| AlignmentFault::Pair { found: word.to_owned() })?);
            }
        }
        let (pairs, rest) = numbers.as_chunks::<2>();
        if !rest.is_empty() {
            return Err(AlignmentFault::Odd { count: numbers.len() });
        }
        let pairs = pairs.iter().map(|[source, target]| checked((*source, *target), source_len, target_len));
        Ok(Self { pairs: pairs.collect::<Result<_, _>>()? })
    }

    /// The dense matrix, (`rows`, `columns`), a row a target token and a column a source token: 1 for each pair, 0
    /// elsewhere. Pairs beyond it, which a parsed line has none of where the matrix is as large as its lengths, are
    /// left out.
    #[must_use]
    pub fn matrix(&self, rows: usize, columns: usize) -> Vec<f32> {
        let mut matrix = vec![0.0; rows * columns];
        self.fill(columns, &mut matrix);
        matrix
    }

    /// Sets the pairs in a matrix of zeros.
    pub(super) fn fill(&self, columns: usize, matrix: &mut [f32]) {
        for (source, target) in &self.pairs {
            let (source, target) = (*source as usize, *target as usize);
            if let Some(place) = matrix.get_mut(target * columns + source).filter(|_| source < columns) {
                *place = 1.0;
            }
        }
    }
}

/// Digits only, since a sign would be a blank's neighbour; a number beyond u64 is beyond every line too.
fn number(text: &str) -> Option<u64> {
    let is_plain = !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    is_plain.then(|| text.parse().unwrap_or(u64::MAX))
}

fn checked((source, target): (u64, u64), source_len: usize, target_len: usize) -> Result<(u32, u32), AlignmentFault> {
    if source >= source_len as u64 {
        return Err(AlignmentFault::Source { index: source, len: source_len });
    }
    if target >= target_len as u64 {
        return Err(AlignmentFault::Target { index: target, len: target_len });
    }
    // Both are below the length of a line.
    Ok((source as u32, target as u32))
}
