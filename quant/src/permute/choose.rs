//! The search: greedy groups, then exchanges. Only integers, only fixed orders of visiting.

use super::activity::{Activity, GROUP};

/// Pairs that are looked at for a place in a group, the rarest first; more than any network has that is in use.
const CANDIDATES: usize = 2048;
/// Words that the exchanges may read: some seconds, and enough for a dozen rounds over 768 pairs and 2048 positions.
const BUDGET_WORDS: u64 = 1 << 32;

/// The pair for every place. On these samples never more groups are live than in the trainer's order.
pub(super) fn choose(activity: &Activity) -> Vec<u32> {
    let trained: Vec<u32> = (0..activity.pairs() as u32).collect();
    let start = [greedy(activity), trained];
    let [greedy, trained] = start.map(|order| Search::new(activity, order));
    let mut search = if greedy.total() < trained.total() { greedy } else { trained };
    search.exchange(BUDGET_WORDS);
    search.order
}

/// Groups of four: a rare pair, and those that add least to the positions on which the group is live.
fn greedy(activity: &Activity) -> Vec<u32> {
    let live = |row: &[u64]| row.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
    let mut left: Vec<u32> = (0..activity.pairs() as u32).collect();
    left.sort_by_key(|pair| live(activity.row(*pair)));
    let mut order = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let first = left.remove(0);
        let mut union = activity.row(first).to_vec();
        order.push(first);
        for _ in 1..GROUP {
            let with = |pair: &u32| -> u64 {
                let both = union.iter().zip(activity.row(*pair));
                both.map(|(union, row)| u64::from((union | row).count_ones())).sum()
            };
            let costs = left.iter().take(CANDIDATES).map(with);
            let Some((best, _)) = costs.enumerate().min_by_key(|(at, cost)| (*cost, *at)) else { break };
            let pair = left.remove(best);
            union.iter_mut().zip(activity.row(pair)).for_each(|(union, row)| *union |= row);
            order.push(pair);
        }
    }
    order
}

struct Search<'a> {
    activity: &'a Activity,
    order: Vec<u32>,
    /// Of each group, on how many samples it is live.
    live: Vec<u64>,
}

impl<'a> Search<'a> {
    fn new(activity: &'a Activity, order: Vec<u32>) -> Self {
        let live = (0..activity.groups()).map(|group| activity.live(&order, group)).collect();
        Self { activity, order, live }
    }

    fn total(&self) -> u64 {
        self.live.iter().sum()
    }

    /// Exchanges two places wherever that helps, round by round, until a round changes nothing or the budget is spent.
    fn exchange(&mut self, mut budget: u64) {
        let mut improved = true;
        while improved {
            improved = false;
            for first in 0..self.order.len() {
                for second in first + 1..self.order.len() {
                    let groups = self.touched(first, second);
                    let cost = self.activity.words_read() * groups.len() as u64;
                    let Some(left) = budget.checked_sub(cost) else { return };
                    budget = left;
                    improved |= self.try_exchange(first, second, &groups);
                }
            }
        }
    }

    /// The groups whose contents an exchange changes; none if both places are always in one group.
    fn touched(&self, first: usize, second: usize) -> Vec<usize> {
        let sides = self.activity.groups_of(first).zip(self.activity.groups_of(second));
        let mut groups: Vec<usize> = sides.filter(|(first, second)| first != second).flat_map(<[_; 2]>::from).collect();
        groups.sort_unstable();
        groups.dedup();
        groups
    }

    fn try_exchange(&mut self, first: usize, second: usize, groups: &[usize]) -> bool {
        let before: u64 = groups.iter().filter_map(|group| self.live.get(*group)).sum();
        self.order.swap(first, second);
        let after: Vec<u64> = groups.iter().map(|group| self.activity.live(&self.order, *group)).collect();
        if after.iter().sum::<u64>() >= before {
            self.order.swap(first, second);
            return false;
        }
        for (group, live) in groups.iter().zip(after) {
            if let Some(slot) = self.live.get_mut(*group) {
                *slot = live;
            }
        }
        true
    }
}
