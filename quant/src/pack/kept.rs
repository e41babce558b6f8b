//! Which channels of their layers values are, as the words of the tensor `graph.kept`.
//!
//! For each node whose value is not whole: the node's number, how many words follow, and these; channel `32·w + b` is
//! there where bit b of word w is set.

use crate::program::Program;

/// Bits of a word.
const BITS: usize = 32;

/// The words of a program; none where every value is whole.
pub(super) fn words(program: &Program) -> Vec<i32> {
    let mut words = Vec::new();
    for (index, node) in program.nodes.iter().enumerate() {
        let Some(kept) = &node.value.kept else { continue };
        let mut bits = vec![0u32; kept.iter().map(|channel| channel / BITS + 1).fold(0, usize::max)];
        kept.iter().for_each(|channel| bits[channel / BITS] |= 1 << (channel % BITS));
        words.extend([index as i32, bits.len() as i32]);
        words.extend(bits.into_iter().map(u32::cast_signed));
    }
    words
}

/// The channels of each node; none if the words are not such, or name another number of channels than values have.
pub(super) fn of_words(mut words: &[i32], channels: &[usize]) -> Option<Vec<Option<Vec<usize>>>> {
    let mut all = vec![None; channels.len()];
    while let [node, count, rest @ ..] = words {
        let node = usize::try_from(*node).ok().filter(|node| *node < all.len())?;
        let (own, behind) = rest.split_at_checked(usize::try_from(*count).ok()?)?;
        let is_set = |bit: &usize| own[bit / BITS].cast_unsigned() >> (bit % BITS) & 1 == 1;
        let kept: Vec<usize> = (0..own.len() * BITS).filter(is_set).collect();
        if kept.len() != channels[node] || all[node].replace(kept).is_some() {
            return None;
        }
        words = behind;
    }
    words.is_empty().then_some(all)
}

#[cfg(test)]
mod tests {
    use super::of_words;

    #[test]
    fn words_that_are_none_are_refused() {
        assert_eq!(of_words(&[], &[3]), Some(vec![None]));
        assert_eq!(of_words(&[1, 2, 5, 1], &[9, 3]), Some(vec![None, Some(vec![0, 2, 32])]));
        let wrong: [&[i32]; 7] =
            [&[1], &[2, 1, 7], &[-1, 1, 7], &[1, 2, 7], &[1, -1, 7], &[1, 1, 3], &[1, 1, 7, 1, 1, 7]];
        for words in wrong {
            assert_eq!(of_words(words, &[9, 3]), None, "{words:?}");
        }
    }
}
