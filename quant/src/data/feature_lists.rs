//! Lists of active features, a line an example, for networks whose features only their author's program knows.
//!
//! ```text
//! # own features / the other side's | bucket | score
//! 3 17 40 / 5 22 | 1 | 35
//! 3 17 / 5 22
//! ```
//!
//! Indices stand between blanks or commas; the side to move's list comes first, and a network of one perspective has
//! no second. A list may be empty. Bucket, 0 unless it is given, and score may be missing. Empty lines and lines that
//! start with `#` are passed over.

use super::error::DataError;
use crate::arch::{Architecture, InputKind};
use crate::float::Example;

/// A line.
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureLine {
    /// The lists in the network's own order, and the output bucket.
    pub example: Example,
    /// What somebody says that it is worth, in units of the output.
    pub score: Option<f64>,
}

/// The first `limit` lines of a text as examples of a network.
///
/// # Errors
/// [`DataError::Line`] for a line that is none, or that the network does not take: a feature that it does not have or
/// that is there twice, more than are active at once, too few or too many lists, a bucket that it does not have;
/// [`DataError::NoFeatures`] if the network takes something else; [`DataError::Empty`].
///
/// ```
/// use tamis_quant::arch::Architecture;
/// use tamis_quant::data::read_feature_lists;
///
/// let text = include_str!("../../../tests/architectures/lists.toml");
/// let arch = Architecture::from_toml(text, "lists.toml")?;
/// let lines = read_feature_lists("0 3 9 / 4 | 1 | -20\n", &arch, usize::MAX)?;
/// assert_eq!(lines[0].score, Some(-20.0));
/// assert!(read_feature_lists("0 3 / 99", &arch, usize::MAX).unwrap_err().to_string().starts_with("line 1: "));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_feature_lists(text: &str, arch: &Architecture, limit: usize) -> Result<Vec<FeatureLine>, DataError> {
    if arch.input.kind != InputKind::Features {
        return Err(DataError::NoFeatures);
    }
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let read =
        |(index, line): (usize, &str)| read_line(line, arch).map_err(|why| DataError::Line { line: index + 1, why });
    let read = lines.take(limit).map(read).collect::<Result<Vec<_>, _>>()?;
    if read.is_empty() { Err(DataError::Empty) } else { Ok(read) }
}

fn read_line(line: &str, arch: &Architecture) -> Result<FeatureLine, String> {
    let (lists, rest) = line.split_once('|').map_or((line, None), |(lists, rest)| (lists, Some(rest)));
    let mut parts = rest.into_iter().flat_map(|rest| rest.split('|'));
    let lists = lists.split('/').map(|list| read_list(list, arch)).collect::<Result<Vec<_>, _>>()?;
    let expected = arch.perspectives();
    if lists.len() != expected {
        let plural = if expected == 1 { "" } else { "s, `/` between them" };
        return Err(format!("{} lists, and the network has {expected} perspective{plural}", lists.len()));
    }
    let mut lists = match lists.as_slice() {
        [own, other] => [own.clone(), other.clone()],
        one => [one.concat(), Vec::new()],
    };
    if expected == 2 && arch.input.other_first {
        lists.reverse();
    }
    let bucket = match parts.next().map(str::trim) {
        None | Some("") => 0,
        Some(text) => {
            let buckets = arch.bucket_count();
            text.parse()
                .ok()
                .filter(|bucket| *bucket < buckets)
                .ok_or_else(|| format!("`{}` is no output bucket, 0 to {}", shown(text), buckets - 1))?
        }
    };
    let score = match parts.next().map(str::trim) {
        None | Some("") => None,
        Some(text) => {
            let score = text.parse().ok().filter(|score: &f64| score.is_finite());
            Some(score.ok_or_else(|| format!("`{}` is no score, a finite number", shown(text)))?)
        }
    };
    match parts.next() {
        Some(more) => {
            Err(format!("`{}` follows the score; a line is LIST / LIST | BUCKET | SCORE", shown(more.trim())))
        }
        None => Ok(FeatureLine { example: Example::Features { lists, bucket }, score }),
    }
}

fn read_list(text: &str, arch: &Architecture) -> Result<Vec<u32>, String> {
    let (features, most) = (arch.feature_count(), arch.max_active());
    let mut list = Vec::new();
    for word in text.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty()) {
        let feature: u32 = word
            .parse()
            .ok()
            .filter(|feature| (*feature as usize) < features)
            .ok_or_else(|| format!("`{}` is no feature, 0 to {}", shown(word), features.saturating_sub(1)))?;
        list.push(feature);
        if list.len() > most {
            return Err(format!("more than {most} active features, the network's `max_active`"));
        }
    }
    let mut sorted = list.clone();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!("feature {} is there twice", pair[0])),
        None => Ok(list),
    }
}

fn shown(text: &str) -> String {
    const SHOWN_CHARS: usize = 32;
    text.chars().take(SHOWN_CHARS).flat_map(char::escape_debug).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists() -> Architecture {
        Architecture::from_toml(include_str!("../../../tests/architectures/lists.toml"), "lists.toml").unwrap()
    }

    fn features(line: &FeatureLine) -> (&[Vec<u32>; 2], usize) {
        match &line.example {
            Example::Features { lists, bucket } => (lists, *bucket),
            Example::Dense(_) => panic!("a vector"),
        }
    }

    #[test]
    fn lists_buckets_and_scores() {
        let text = "# a comment\n1, 3 5/2 | 1 | -7.5\n\n/ 4\n3 / | | 2\n";
        let lines = read_feature_lists(text, &lists(), usize::MAX).unwrap();
        assert_eq!(features(&lines[0]), (&[vec![1, 3, 5], vec![2]], 1));
        assert_eq!(features(&lines[1]), (&[vec![], vec![4]], 0));
        assert_eq!(features(&lines[2]), (&[vec![3], vec![]], 0));
        assert_eq!(lines.iter().map(|line| line.score).collect::<Vec<_>>(), [Some(-7.5), None, Some(2.0)]);
        assert_eq!(read_feature_lists(text, &lists(), 1).unwrap().len(), 1);
        let mut other_first = lists();
        other_first.input.other_first = true;
        let lines = read_feature_lists("1 / 2 3", &other_first, 1).unwrap();
        assert_eq!(features(&lines[0]).0, &[vec![2, 3], vec![1]]);
    }

    #[test]
    fn what_the_network_does_not_take_is_named_by_its_line() {
        for (text, words) in [
            ("1 / 2\n1 / x", "line 2: `x` is no feature, 0 to 23"),
            ("24 / 2", "`24` is no feature"),
            ("-1 / 2", "`-1` is no feature"),
            ("1 2", "1 lists, and the network has 2 perspectives"),
            ("1 / 2 / 3", "3 lists, and"),
            ("1 1 / 2", "feature 1 is there twice"),
            ("0 1 2 3 4 5 6 7 8 / 2", "more than 8 active"),
            ("1 / 2 | 2", "`2` is no output bucket, 0 to 1"),
            ("1 / 2 | 0 | much", "`much` is no score"),
            ("1 / 2 | 0 | inf", "`inf` is no score"),
            ("1 / 2 | 0 | 1 | 2", "`2` follows the score"),
            ("# nothing\n", "no examples"),
        ] {
            let error = read_feature_lists(text, &lists(), usize::MAX).unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
