//! What a user can choose, and what follows from it.

use crate::evaluation::Kind;
use crate::load::load;
use crate::network::{self, Bytes, Network};
use std::time::Duration;
use tamis_runtime::kernels::{self, Tier};

/// Megabytes of the transposition table.
pub const HASH_DEFAULT: usize = 16;
const HASH_MOST: usize = 4096;
const OVERHEAD_DEFAULT_MS: u64 = 20;
const OVERHEAD_MOST_MS: u64 = 5000;
/// Stands for the network in the program.
const EMBEDDED: &str = "<embedded>";

#[derive(Debug, Clone)]
pub struct Options {
    pub hash_megabytes: usize,
    pub overhead: Duration,
    /// The chosen network, bound to the chosen tier.
    pub net: Network,
    bytes: Bytes,
    evaluator: Kind,
    /// Whether the evaluator tamis is held against positions filled anew; it goes before `evaluator`.
    is_checked: bool,
}

impl Options {
    /// The embedded network on the fastest tier.
    pub fn new() -> Result<Self, String> {
        let bytes = network::embedded();
        Ok(Self {
            hash_megabytes: HASH_DEFAULT,
            overhead: Duration::from_millis(OVERHEAD_DEFAULT_MS),
            net: load(bytes, kernels::best())?,
            bytes,
            evaluator: Kind::Tamis,
            is_checked: false,
        })
    }

    /// The chosen evaluator.
    pub fn evaluator(&self) -> Kind {
        if self.is_checked { Kind::Checked } else { self.evaluator }
    }

    /// Changes one; on an error everything is as before. Gives what there is to tell.
    pub fn set(&mut self, name: &str, value: &str) -> Result<Option<String>, String> {
        let number = |most: u64| {
            let refused = format!("option {name}: `{value}`; expected a number up to {most}");
            value.parse().ok().filter(|number: &u64| *number <= most).ok_or(refused)
        };
        match name.to_ascii_lowercase().as_str() {
            "hash" => self.hash_megabytes = number(HASH_MOST as u64)?.max(1) as usize,
            "move overhead" => self.overhead = Duration::from_millis(number(OVERHEAD_MOST_MS)?),
            "tier" => self.net = load(self.bytes, tier(value)?)?,
            "evaluator" => self.evaluator = evaluator(value)?,
            "check" => {
                self.is_checked =
                    value.parse().map_err(|_| format!("option {name}: `{value}`; expected true or false"))?;
            }
            "evalfile" => return self.set_file(value).map(Some),
            _ => return Err(format!("`{name}` is no option; `uci` lists them")),
        }
        Ok(None)
    }

    fn set_file(&mut self, path: &str) -> Result<String, String> {
        let refused = |error| format!("{error}; the network is as before");
        let bytes = match path {
            EMBEDDED | "" => network::embedded(),
            _ => network::read(path).map_err(refused)?,
        };
        let tier = self.net.any().plan().kernels();
        let net = load(bytes, tier).map_err(|error| refused(format!("{path}: {error}")))?;
        let news = format!("network {:016x}, {} bytes", net.any().plan().identity().checksum(), bytes.len());
        (self.net, self.bytes) = (net, bytes);
        Ok(news)
    }
}

/// The tier of a name, for `setoption` and the command line.
pub fn tier(name: &str) -> Result<&'static Tier, String> {
    kernels::by_name(name).ok_or_else(|| format!("`{name}` is no tier of this machine; it has {}", tiers(", ")))
}

/// The same for evaluators.
pub fn evaluator(name: &str) -> Result<Kind, String> {
    Kind::from_name(name)
        .ok_or_else(|| format!("`{name}` is no evaluator; there are tamis, scalar, checked, popped and copied"))
}

fn tiers(between: &str) -> String {
    kernels::tiers().map(|tier| tier.name).collect::<Vec<_>>().join(between)
}

/// As `uci` lists them.
pub fn list() -> String {
    format!(
        "option name Hash type spin default {HASH_DEFAULT} min 1 max {HASH_MOST}\n\
         option name Move Overhead type spin default {OVERHEAD_DEFAULT_MS} min 0 max {OVERHEAD_MOST_MS}\n\
         option name EvalFile type string default {EMBEDDED}\n\
         option name Tier type combo default {} var {}\n\
         option name Evaluator type combo default tamis var tamis var scalar var popped var copied\n\
         option name Check type check default false",
        kernels::best().name,
        tiers(" var ")
    )
}
