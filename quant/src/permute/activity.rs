//! Which products are not zero on which positions, a bit each.

/// Samples in a word.
const WORD_BITS: usize = 64;
/// Columns of the second layer that are visited or passed over together, as K4 groups them from column 0 on.
pub(super) const GROUP: usize = 4;

/// For every pair of neurons and every perspective, the positions on which its product is not zero.
#[derive(Debug)]
pub(super) struct Activity {
    pairs: usize,
    perspectives: usize,
    samples: usize,
    words: usize,
    /// Pair by pair, in each perspective by perspective, in each `words`.
    bits: Vec<u64>,
    /// What stands in a column that is not there.
    nothing: Vec<u64>,
}

impl Activity {
    /// Nothing but zeros on `samples` positions.
    pub fn new(pairs: usize, perspectives: usize, samples: usize) -> Self {
        let words = samples.div_ceil(WORD_BITS);
        Self {
            pairs,
            perspectives,
            samples,
            words,
            bits: vec![0; pairs * perspectives * words],
            nothing: vec![0; words],
        }
    }

    /// Sets the bits of one position. products: (perspectives · pairs,), in training order.
    pub fn record(&mut self, sample: usize, products: &[i32]) {
        for (column, _) in products.iter().enumerate().filter(|(_, product)| **product != 0) {
            let (perspective, pair) = (column / self.pairs, column % self.pairs);
            let word = (pair * self.perspectives + perspective) * self.words + sample / WORD_BITS;
            if let Some(word) = self.bits.get_mut(word) {
                *word |= 1 << (sample % WORD_BITS);
            }
        }
    }

    pub fn pairs(&self) -> usize {
        self.pairs
    }

    /// Groups of four columns; with an odd number of columns the last group is smaller.
    pub fn groups(&self) -> usize {
        (self.perspectives * self.pairs).div_ceil(GROUP)
    }

    /// The groups in which the pair at a place takes part, one a perspective.
    ///
    /// Where the number of pairs is no multiple of four, the second perspective's groups lie otherwise than the
    /// first's, and one group holds columns of both.
    pub fn groups_of(&self, place: usize) -> impl Iterator<Item = usize> {
        let pairs = self.pairs;
        (0..self.perspectives).map(move |perspective| (perspective * pairs + place) / GROUP)
    }

    /// Both perspectives' bits of a pair.
    pub fn row(&self, pair: u32) -> &[u64] {
        let len = self.perspectives * self.words;
        &self.bits[pair as usize * len..][..len]
    }

    /// On how many positions one of a group's columns is not zero, with the pairs in this order.
    pub fn live(&self, order: &[u32], group: usize) -> u64 {
        let column = |at: usize| {
            let column = group * GROUP + at;
            let (perspective, place) = (column / self.pairs, column % self.pairs);
            let start = perspective * self.words;
            let pair = order.get(place).filter(|_| perspective < self.perspectives);
            pair.and_then(|pair| self.row(*pair).get(start..start + self.words)).unwrap_or(&self.nothing)
        };
        let [a, b, c, d] = [0, 1, 2, 3].map(column);
        a.iter().zip(b).zip(c.iter().zip(d)).map(|((a, b), (c, d))| u64::from((a | b | c | d).count_ones())).sum()
    }

    /// The share of groups that are live, of all groups of all positions.
    pub fn share(&self, order: &[u32]) -> f64 {
        let live: u64 = (0..self.groups()).map(|group| self.live(order, group)).sum();
        live as f64 / (self.groups() * self.samples).max(1) as f64
    }

    /// Words that [`Activity::live`] reads.
    pub fn words_read(&self) -> u64 {
        (GROUP * self.words) as u64
    }
}
