//! Fixed searches: their count of nodes is a signature of the whole engine, the same on every machine and tier, and
//! with every evaluator; their time says how fast it is.

use crate::evaluation::Kind;
use crate::game::Game;
use crate::network::Network;
use crate::options::{HASH_DEFAULT, Options, evaluator};
use crate::positions::POSITIONS;
use crate::root::{self, Task};
use crate::say::say;
use crate::table::Table;
use crate::time::{Deadlines, Limits};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

pub const USAGE: &str = "usage: bench [DEPTH] [--net FILE] [--tier NAME] [--rounds N] \
                         [--evaluator tamis|scalar|checked|popped|copied]...";

const DEPTH_DEFAULT: usize = 9;

struct Chosen {
    depth: usize,
    options: Options,
    evaluators: Vec<Kind>,
    rounds: usize,
}

/// What one evaluator did with all positions.
#[derive(Clone, Copy, Default)]
struct Total {
    nodes: u64,
    /// Of each position the shortest round, so that a neighbour who takes the processor is not counted.
    time: Duration,
}

/// Searches every position with every evaluator in turn, round after round.
pub fn run(words: &[String], options: &Options) -> Result<(), String> {
    let chosen = choose(words, options)?;
    let net = &chosen.options.net;
    let mut table = Table::new(HASH_DEFAULT)?;
    let mut totals = vec![Total::default(); chosen.evaluators.len()];
    for fen in POSITIONS {
        let game = Game::from_fen(fen)?;
        let mut shortest = vec![Duration::MAX; chosen.evaluators.len()];
        for round in 0..chosen.rounds {
            for (index, evaluator) in chosen.evaluators.iter().enumerate() {
                table.clear();
                let (nodes, time) = search(&game, net, *evaluator, chosen.depth, &mut table)?;
                shortest[index] = shortest[index].min(time);
                if round == 0 {
                    totals[index].nodes += nodes;
                }
            }
        }
        totals.iter_mut().zip(shortest).for_each(|(total, time)| total.time += time);
    }
    let tier = net.any().plan().kernels().name;
    for (evaluator, total) in chosen.evaluators.iter().zip(&totals) {
        say!("bench depth {} evaluator {} tier {tier}", chosen.depth, evaluator.name());
        say!("{} nodes {} nps", total.nodes, speed(total));
    }
    if let [first, second, ..] = totals[..] {
        say!(
            "{} to {}: {:.3}",
            chosen.evaluators[0].name(),
            chosen.evaluators[1].name(),
            speed(&first) as f64 / speed(&second) as f64
        );
    }
    Ok(())
}

fn speed(total: &Total) -> u128 {
    u128::from(total.nodes) * 1_000_000 / total.time.as_micros().max(1)
}

fn search(
    game: &Game,
    net: &Network,
    evaluator: Kind,
    depth: usize,
    table: &mut Table,
) -> Result<(u64, Duration), String> {
    let limits = Limits { depth: Some(depth), ..Limits::default() };
    let start = Instant::now();
    let deadlines = Deadlines::new(start, &limits, Duration::ZERO);
    let task = Task { game: game.clone(), limits, deadlines, net: net.clone(), evaluator };
    let found = root::search(&task, table, &AtomicBool::new(false), &mut |_| ());
    match found.fault {
        Some(fault) => Err(format!("{} after {} nodes from `{}`", fault, found.nodes, game.board)),
        None => Ok((found.nodes, start.elapsed())),
    }
}

fn choose(words: &[String], options: &Options) -> Result<Chosen, String> {
    let mut chosen = Chosen { depth: DEPTH_DEFAULT, options: options.clone(), evaluators: Vec::new(), rounds: 1 };
    let mut words = words.iter().map(String::as_str);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word}: a value is missing; {USAGE}"));
        let number = |text: &str| {
            let number = text.parse().ok().filter(|number| (1..=99).contains(number));
            number.ok_or_else(|| format!("`{text}` is no number from 1 to 99; {USAGE}"))
        };
        match word {
            "--net" => drop(chosen.options.set("EvalFile", value()?)?),
            "--tier" => drop(chosen.options.set("Tier", value()?)?),
            "--evaluator" => chosen.evaluators.push(evaluator(value()?)?),
            "--rounds" => chosen.rounds = number(value()?)?,
            depth => chosen.depth = number(depth)?,
        }
    }
    if chosen.evaluators.is_empty() {
        chosen.evaluators.push(options.evaluator());
    }
    Ok(chosen)
}
