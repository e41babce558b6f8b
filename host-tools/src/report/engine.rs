//! What a chess engine has to be built for: the numbers that `Network` and `Expected` of the runtime's engine interface
//! take.

use serde::{Serialize, Serializer};
use std::fmt;
use tamis_runtime::engine::AnyNetwork;
use tamis_runtime::format::Model;
use tamis_runtime::raw::chess::{Planes, Relations};
use tamis_runtime::raw::feature_set;

/// The shape that an engine fixes.
#[derive(Debug, Serialize)]
pub struct EngineReport {
    /// Elements of one perspective's accumulator.
    accumulator: usize,
    features_per_king_bucket: u32,
    king_buckets: u32,
    /// Whether the board is mirrored while the own king stands on files e to h.
    mirrored: bool,
    /// `both`, `merged` or `none`
    kings: &'static str,
    /// `threats`, or `threats and pawn pairs`, where relations between pieces are features too.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(serialize_with = "relations_word")]
    relations: Option<Relations>,
    output_buckets: u32,
    outputs: usize,
}

impl EngineReport {
    /// Of a container that the engine interface takes, else none.
    pub fn of(model: &Model<'_>) -> Option<Self> {
        let network = AnyNetwork::load(model.bytes()).ok()?;
        let input = model.input();
        let set = feature_set::of(input.feature_set)?;
        let features_per_king_bucket = set.planes.features_per_king_bucket();
        Some(Self {
            accumulator: network.hidden(),
            features_per_king_bucket,
            king_buckets: (input.size - feature_set::relation_count(set.code)) / features_per_king_bucket,
            mirrored: set.mirrored,
            kings: match set.planes {
                Planes::Both => "both",
                Planes::Merged => "merged",
                Planes::NoKings => "none",
            },
            relations: set.relations,
            output_buckets: input.bucket_count,
            outputs: network.outputs(),
        })
    }

    /// The features as an expression of the runtime's [`tamis_runtime::engine::Features`].
    pub fn features(&self) -> String {
        match self.relations {
            Some(Relations::ThreatsAndPairs) => return "Features::THREATS_AND_PAIRS".to_owned(),
            Some(Relations::Threats) => return "Features::THREATS".to_owned(),
            None => {}
        }
        let mirrored = if self.mirrored { ".mirrored()" } else { "" };
        let kings = match self.kings {
            "merged" => ".merged_kings()",
            "none" => ".without_kings()",
            _ => "",
        };
        format!("Features::king_buckets({}){mirrored}{kings}", self.king_buckets)
    }
}

const fn word(relations: Relations) -> &'static str {
    match relations {
        Relations::Threats => "threats",
        Relations::ThreatsAndPairs => "threats and pawn pairs",
    }
}

fn relations_word<S: Serializer>(relations: &Option<Relations>, serializer: S) -> Result<S::Ok, S::Error> {
    relations.map(word).serialize(serializer)
}

impl fmt::Display for EngineReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        let Self { accumulator, features_per_king_bucket, king_buckets, output_buckets, outputs, .. } = self;
        write!(f, "accumulator {accumulator} wide; {features_per_king_bucket} features x {king_buckets} king bucket")?;
        f.write_str(plural(*king_buckets as usize))?;
        if self.mirrored {
            f.write_str(", mirrored")?;
        }
        match self.kings {
            "merged" => f.write_str(", kings merged")?,
            "none" => f.write_str(", without kings")?,
            _ => {}
        }
        if let Some(relations) = self.relations {
            write!(f, ", and {}", word(relations))?;
        }
        write!(f, "; {output_buckets} output bucket{}", plural(*output_buckets as usize))?;
        write!(f, ", {outputs} output{}", plural(*outputs))
    }
}
