//! The search: greedy groups, then exchanges. Only integers, only fixed orders of visiting.

use super::activity::{Activity, GROUP};

/// Words that the greedy groups may read, and the exchanges again: some seconds. Of it 768 pairs and 2048
/// positions take a twenty-fifth for a round of exchanges, and less for the groups.
const BUDGET_WORDS: u64 = 1 << 32;
/// What an exchange costs beside the words of its groups, in words.
const EXCHANGE_WORDS: u64 = 64;
/// The least number of pairs that are looked at for a place in a group, whatever the budget.
const LEAST_CANDIDATES: u64 = 16;

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
    let words: u64 = left.iter().map(|pair| activity.row(*pair).len() as u64).sum();
    // The rarest first, which is where a rare pair's like are.
    let candidates = (BUDGET_WORDS / words.max(1)).max(LEAST_CANDIDATES);
    let candidates = usize::try_from(candidates).unwrap_or(usize::MAX);
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
            let costs = left.iter().take(candidates).map(with);
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
                    let cost = EXCHANGE_WORDS + self.activity.words_read() * groups.len() as u64;
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

#[cfg(test)]
mod tests {
    use super::super::activity::Activity;
    use super::{Search, choose, greedy};

    /// Products of every sample, some pairs rarer than others, alike in both perspectives or not.
    fn products(pairs: usize, perspectives: usize, samples: usize) -> Vec<Vec<i32>> {
        let mut state = (pairs * 31 + perspectives) as u64;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as i32
        };
        let columns = pairs * perspectives;
        let mut sample =
            || (0..columns).map(|column| i32::from(draw() % 16 < 1 + (column % pairs) as i32 % 11)).collect();
        (0..samples).map(|_| sample()).collect()
    }

    fn activity(pairs: usize, perspectives: usize, products: &[Vec<i32>]) -> Activity {
        let mut activity = Activity::new(pairs, perspectives, products.len());
        products.iter().enumerate().for_each(|(sample, products)| activity.record(sample, products));
        activity
    }

    /// Live groups, counted as FORMAT.md lays the columns out.
    fn live_groups(pairs: usize, products: &[Vec<i32>], order: &[u32]) -> u64 {
        let count = |products: &Vec<i32>| {
            let sides = products.chunks(pairs);
            let columns: Vec<i32> = sides.flat_map(|side| order.iter().map(|pair| side[*pair as usize])).collect();
            columns.chunks(4).filter(|group| group.iter().any(|product| *product != 0)).count() as u64
        };
        products.iter().map(count).sum()
    }

    #[test]
    fn no_exchange_is_left_that_helps() {
        for (pairs, perspectives) in [(1, 1), (4, 2), (8, 1), (16, 2), (18, 2), (19, 2), (21, 1), (32, 2)] {
            let products = products(pairs, perspectives, 70);
            let activity = activity(pairs, perspectives, &products);
            let count = |order: &[u32]| live_groups(pairs, &products, order);
            let (trained, mut order) = ((0..pairs as u32).collect::<Vec<_>>(), choose(&activity));
            let best = count(&order);
            let groups = (perspectives * pairs).div_ceil(4) * products.len();
            assert_eq!(activity.share(&order), best as f64 / groups as f64);
            assert!(best <= count(&trained) && best <= count(&greedy(&activity)), "{pairs} pairs");
            assert!(pairs < 16 || best < count(&trained), "{pairs} pairs");
            for first in 0..pairs {
                for second in first + 1..pairs {
                    order.swap(first, second);
                    assert!(count(&order) >= best, "{pairs} pairs: places {first} and {second}");
                    order.swap(first, second);
                }
            }
            order.sort_unstable();
            assert_eq!(order, trained);
        }
    }

    /// Written down once: on another host, in another build, the same samples give the same order.
    #[test]
    fn the_order_is_the_same_everywhere() {
        let order = choose(&activity(18, 2, &products(18, 2, 70)));
        assert_eq!(order, [3, 4, 1, 14, 12, 0, 13, 11, 2, 5, 6, 15, 8, 7, 16, 17, 9, 10]);
    }

    #[test]
    fn exchanges_stop_with_the_budget() {
        let activity = activity(16, 2, &products(16, 2, 70));
        let trained: Vec<u32> = (0..16).collect();
        let after = |budget| {
            let mut search = Search::new(&activity, trained.clone());
            search.exchange(budget);
            search.total()
        };
        assert_eq!(after(0), Search::new(&activity, trained.clone()).total());
        assert!(after(u64::MAX) < after(3_000) && after(3_000) < after(0));
    }
}
