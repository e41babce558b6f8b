//! Runs one series and prints it; `--json` prints what `series/run` joins with the baselines' figures.
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use benches::{
    Cases, Figure, accumulators, batches, dense, evaluations, layers, limits, maps, perceptrons, pin, series, tails,
    threat_evaluations, trainer,
};
use serde_json::json;
use std::process::ExitCode;
use tamis_runtime::kernels::{Tier, best, tiers};

const USAGE: &str = "usage: series [--rounds N] [--processor N] [--tiers A,B] [--only TEXT,TEXT] [--json]
  --rounds     samples of each case; 40
  --processor  the one to stay on; 0
  --tiers      the tiers to measure; all that this machine has
  --only       cases whose id contains one of the texts";

struct Options {
    rounds: usize,
    processor: usize,
    tiers: Vec<&'static Tier>,
    only: Vec<String>,
    is_json: bool,
}

fn main() -> ExitCode {
    let Some(options) = options(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let is_pinned = pin(options.processor);
    let only = options.only;
    let mut cases =
        Cases::new(options.tiers, move |id| only.is_empty() || only.iter().any(|text| id.contains(text.as_str())));
    limits(&mut cases);
    accumulators(&mut cases);
    evaluations(&mut cases);
    threat_evaluations(&mut cases);
    trainer(&mut cases);
    layers(&mut cases);
    perceptrons(&mut cases);
    batches(&mut cases);
    dense(&mut cases);
    tails(&mut cases);
    maps(&mut cases);
    let figures = series(cases.into_vec(), options.rounds);
    if options.is_json {
        let figures: serde_json::Map<String, serde_json::Value> = figures.iter().map(entry).collect();
        println!("{}", json!({ "best": best().name, "pinned": is_pinned, "figures": figures }));
    } else {
        for Figure { id, median, p10, p90, .. } in figures {
            println!("{id:<52} median {median:>11.2} ns  p10 {p10:>11.2}  p90 {p90:>11.2}");
        }
    }
    ExitCode::SUCCESS
}

fn entry(figure: &Figure) -> (String, serde_json::Value) {
    let hundredths = |time: f64| (time * 100.0).round() / 100.0;
    let mut entry = json!({ "p10": hundredths(figure.p10), "median": hundredths(figure.median) });
    if figure.amount > 0 {
        entry["amount"] = figure.amount.into();
    }
    (figure.id.clone(), entry)
}

fn options(mut words: impl Iterator<Item = String>) -> Option<Options> {
    let mut options = Options { rounds: 40, processor: 0, tiers: tiers().collect(), only: Vec::new(), is_json: false };
    while let Some(word) = words.next() {
        match word.as_str() {
            "--json" => options.is_json = true,
            "--rounds" => options.rounds = words.next()?.parse().ok().filter(|rounds| *rounds > 0)?,
            "--processor" => options.processor = words.next()?.parse().ok()?,
            "--only" => options.only = words.next()?.split(',').map(String::from).collect(),
            "--tiers" => {
                let names = words.next()?;
                let names: Vec<&str> = names.split(',').collect();
                options.tiers.retain(|tier| names.contains(&tier.name));
            }
            _ => return None,
        }
    }
    Some(options)
}
