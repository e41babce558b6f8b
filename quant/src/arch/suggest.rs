//! "Did you mean": the nearest of a few known words.

/// Words longer than this are not compared; no key of a description comes near.
const LONGEST: usize = 64;

/// "did you mean `x`?" for a near word, else "expected one of …".
pub(crate) fn advice<S: AsRef<str>>(found: &str, known: &[S]) -> String {
    if let Some(near) = nearest(found, known) {
        return format!("did you mean `{near}`?");
    }
    let list: Vec<String> = known.iter().map(|word| format!("`{}`", word.as_ref())).collect();
    match list.len() {
        0 => "there are none here".to_owned(),
        1 => format!("expected {}", list[0]),
        _ => format!("expected one of {}", list.join(", ")),
    }
}

/// Functions and layers of the field that no description has, without hyphens and underlines.
const KNOWN_ELSEWHERE: [&str; 44] = [
    "attention",
    "avgpool",
    "batchnorm",
    "batchnormalization",
    "bilinear",
    "celu",
    "conv",
    "conv1d",
    "conv2d",
    "convtranspose",
    "depthwise",
    "depthwiseconv2d",
    "dropout",
    "elu",
    "exp",
    "gelu",
    "glu",
    "gru",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "instancenorm",
    "layernorm",
    "layernormalization",
    "logsigmoid",
    "logsoftmax",
    "lstm",
    "matmul",
    "maxpool",
    "mish",
    "mul",
    "multiheadattention",
    "pad",
    "prelu",
    "relu6",
    "rmsnorm",
    "rnn",
    "selu",
    "silu",
    "softplus",
    "softsign",
    "sub",
    "swish",
    "transpose",
];

/// That a word is no misspelling of an operation but another one, and which there are; none for any other word.
pub(crate) fn other_operation(found: &str, known: &[&str]) -> Option<String> {
    let plain = found.to_ascii_lowercase().replace(['-', '_'], "");
    let is_other = known.contains(&"relu") && KNOWN_ELSEWHERE.contains(&plain.as_str());
    is_other.then(|| known.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "))
}

/// What operations of graphs are called elsewhere, without hyphens and underlines.
const OTHER_NAMES: [(&str, &str); 34] = [
    ("averagepool", "average-pool"),
    ("averagepool2d", "average-pool"),
    ("averagepooling2d", "average-pool"),
    ("avgpool", "average-pool"),
    ("avgpool2d", "average-pool"),
    ("adaptiveavgpool2d", "global-average-pool"),
    ("batchnorm", "batch-normalization"),
    ("batchnorm1d", "batch-normalization"),
    ("batchnorm2d", "batch-normalization"),
    ("clamp", "clip"),
    ("concatenate", "concat"),
    ("cat", "concat"),
    ("conv", "convolution"),
    ("conv2d", "convolution"),
    ("convtranspose", "transposed-convolution"),
    ("convtranspose2d", "transposed-convolution"),
    ("conv2dtranspose", "transposed-convolution"),
    ("dense", "linear"),
    ("depthwiseconv", "depthwise"),
    ("depthwiseconv2d", "depthwise"),
    ("fullyconnected", "linear"),
    ("gemm", "linear"),
    ("globalaveragepool", "global-average-pool"),
    ("globalaveragepooling2d", "global-average-pool"),
    ("globalavgpool", "global-average-pool"),
    ("globalmaxpool", "global-max-pool"),
    ("hardtanh", "clip"),
    ("maxpool", "max-pool"),
    ("maxpool2d", "max-pool"),
    ("maxpooling2d", "max-pool"),
    ("multiply", "mul"),
    ("subtract", "sub"),
    ("permute", "transpose"),
    ("upsample", "resize"),
];

/// What an operation is called here, of those that there are.
pub(crate) fn other_name(found: &str, known: &[&str]) -> Option<&'static str> {
    let plain = found.to_ascii_lowercase().replace(['-', '_'], "");
    let (_, name) = OTHER_NAMES.iter().find(|(other, name)| *other == plain && known.contains(name))?;
    Some(name)
}

/// The known word with the fewest edits, if a third of the letters or fewer (at least one, two from four on) differ; of
/// several the nearest in length, since letters are exchanged more often than left out.
fn nearest<'a, S: AsRef<str>>(found: &str, known: &'a [S]) -> Option<&'a str> {
    if found.len() > LONGEST {
        return None;
    }
    let (distance, word) = known
        .iter()
        .map(|word| (distance(found.as_bytes(), word.as_ref().as_bytes()), word.as_ref()))
        .min_by_key(|&(distance, word)| (distance, word.len().abs_diff(found.len())))?;
    let allowed = match word.len() {
        0..=3 => 1,
        4..=8 => 2,
        longer => longer / 3,
    };
    (distance <= allowed).then_some(word)
}

/// Edits from one word to another, each of one letter or of two neighbours that are exchanged, three rows at a time.
fn distance(a: &[u8], b: &[u8]) -> usize {
    let (mut before, mut row): (Vec<usize>, Vec<usize>) = (Vec::new(), (0..=b.len()).collect());
    for (i, x) in a.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let edited = (row[j] + usize::from(x != y)).min(row[j + 1] + 1).min(next[j] + 1);
            let are_exchanged = i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y;
            next.push(if are_exchanged { edited.min(before[j - 1] + 1) } else { edited });
        }
        before = std::mem::replace(&mut row, next);
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::{advice, distance, other_operation};

    #[test]
    fn distances_count_letters_and_exchanged_neighbours() {
        for (a, b, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("kitten", "sitting", 3),
            ("scale", "scales", 1),
            ("sreclu", "screlu", 2),
            ("ab", "ba", 1),
        ] {
            assert_eq!(distance(a.as_bytes(), b.as_bytes()), expected, "{a} {b}");
            assert_eq!(distance(b.as_bytes(), a.as_bytes()), expected, "{b} {a}");
        }
    }

    #[test]
    fn only_near_words_are_suggested() {
        assert_eq!(advice("mirorred", &["kind", "mirrored"]), "did you mean `mirrored`?");
        assert_eq!(advice("sreclu", &["relu", "crelu", "screlu"]), "did you mean `screlu`?");
        assert_eq!(advice("colour", &["kind", "mirrored"]), "expected one of `kind`, `mirrored`");
        assert_eq!(advice("x", &["kind"]), "expected `kind`");
        assert_eq!(advice::<&str>("x", &[]), "there are none here");
        assert_eq!(advice(&"k".repeat(100_000), &["kind"]), "expected `kind`");
    }

    #[test]
    fn an_operation_of_another_name_is_no_misspelling() {
        let known = ["relu", "crelu"];
        assert_eq!(other_operation("gelu", &known).as_deref(), Some("`relu`, `crelu`"));
        assert_eq!(other_operation("Hard-Swish", &known).as_deref(), Some("`relu`, `crelu`"));
        for (found, known) in [("rleu", &known[..]), ("relu", &known), ("gelu", &["kind"])] {
            assert_eq!(other_operation(found, known), None, "{found}");
        }
    }
}
