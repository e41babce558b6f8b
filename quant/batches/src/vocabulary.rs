//! Tokens and their ids: a token a line, its id the line's number from 0.

use super::MAX_TOKENS;
use super::error::{BatchError, LineFault};
use super::lines::{Lines, check_regular};
use super::text::{is_blank, tokens};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::Path;
use std::sync::Arc;

/// The id that pads, `<blank>`.
pub const PAD: u32 = 0;
/// The id in front of a target, `<s>`.
pub const START: u32 = 1;
/// The id behind a target, `</s>`.
pub const END: u32 = 2;

/// What the first three lines have to be.
const SPECIAL: [&str; 3] = ["<blank>", "<s>", "</s>"];
/// What is not listed.
const UNKNOWN: &str = "<unk>";

/// The ids of tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vocabulary {
    ids: HashMap<Box<str>, u32>,
}

impl Vocabulary {
    /// Reads a vocabulary, plain or gzip.
    ///
    /// # Errors
    /// [`BatchError`] with file and line: the three special tokens are not there, a token is there twice, is empty or
    /// has a blank in it, `<unk>` is listed, there are more than [`MAX_TOKENS`].
    pub fn read(path: &Path) -> Result<Self, BatchError> {
        // Opening a pipe waits for a writer.
        check_regular(path)?;
        let mut lines = Lines::open(path, Arc::default())?;
        let (mut ids, mut token) = (HashMap::new(), String::new());
        while lines.next(&mut token)? {
            let line = lines.count();
            let wrong = |fault| BatchError::line(path, line, fault);
            let index = line as usize - 1;
            if let Some(expected) = SPECIAL.get(index).filter(|special| **special != token) {
                return Err(wrong(LineFault::Special { found: token, expected }));
            }
            check(&token).map_err(wrong)?;
            // One id is the unknown token's.
            if index + 1 >= MAX_TOKENS {
                return Err(wrong(LineFault::TooManyTokens));
            }
            match ids.entry(token.as_str().into()) {
                Entry::Vacant(place) => place.insert(index as u32),
                Entry::Occupied(first) => {
                    let first = u64::from(*first.get()) + 1;
                    return Err(wrong(LineFault::Duplicate { token, first }));
                }
            };
        }
        match SPECIAL.get(ids.len()) {
            Some(expected) => Err(BatchError::line(path, ids.len() as u64 + 1, LineFault::NoSpecial { expected })),
            None => Ok(Self { ids }),
        }
    }

    /// The ids that there are, that of unknown tokens among them: the rows of an embedding.
    #[must_use]
    pub fn size(&self) -> u32 {
        self.unknown() + 1
    }

    /// The id of every token that is not listed: the number of lines.
    #[must_use]
    pub fn unknown(&self) -> u32 {
        self.ids.len() as u32
    }

    /// The id of a token.
    #[must_use]
    pub fn id(&self, token: &str) -> u32 {
        self.ids.get(token).copied().unwrap_or_else(|| self.unknown())
    }

    /// Appends the ids of a text's tokens; returns how many of them are unknown.
    pub(super) fn ids(&self, text: &str, ids: &mut Vec<u32>) -> u64 {
        let unknown = self.unknown();
        let mut count = 0;
        for token in tokens(text) {
            let id = self.id(token);
            count += u64::from(id == unknown);
            ids.push(id);
        }
        count
    }
}

fn check(token: &str) -> Result<(), LineFault> {
    if token.bytes().all(is_blank) {
        return Err(LineFault::NoToken);
    }
    if token.bytes().any(is_blank) {
        return Err(LineFault::Blank { token: token.to_owned() });
    }
    if token == UNKNOWN { Err(LineFault::Unknown) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn read(text: &str) -> Result<Vocabulary, String> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        Vocabulary::read(file.path()).map_err(|error| error.to_string().split_once(": ").unwrap().1.to_owned())
    }

    #[test]
    fn the_unknown_token_is_behind_the_last_line() {
        let vocabulary = read("<blank>\n<s>\n</s>\na\r\nb").unwrap();
        assert_eq!((vocabulary.size(), vocabulary.unknown()), (6, 5));
        assert_eq!(["<s>", "a", "b", "c", "<unk>"].map(|token| vocabulary.id(token)), [START, 3, 4, 5, 5]);
    }

    #[test]
    fn what_is_no_vocabulary_is_refused_with_its_line() {
        for (text, words) in [
            ("", "line 1: the vocabulary ends, expected `<blank>`"),
            ("<blank>\n<s>\n", "line 3: the vocabulary ends, expected `</s>`"),
            ("<s>\n</s>\n", "line 1: `<s>`, expected `<blank>`"),
            ("<blank>\n<s>\n</s>\n\nb\n", "line 4: there is no token on it"),
            ("<blank>\n<s>\n</s>\n \n", "line 4: there is no token on it"),
            ("<blank>\n<s>\n</s>\na b\n", "line 4: `a b` has a blank in it"),
            ("<blank>\n<s>\n</s>\na\nb\na\n", "line 6: `a` is there twice, first in line 4"),
            ("<blank>\n<s>\n</s>\na\n<unk>\n", "line 5: `<unk>` is not listed"),
        ] {
            let message = read(text).unwrap_err();
            assert!(message.starts_with(words), "{words}: {message}");
        }
    }
}
