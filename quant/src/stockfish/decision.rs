//! Which of the two rules a file's network is for.
//!
//! A file does not say so. Its architecture does where it is that of one release, or of several with one rule; that of
//! the small networks is shared by 16.1 and its successors, of which the published files are known by their hash.

use super::division::Division;
use super::net::{FeatureSet, Head, Shape};
use sha2::{Digest, Sha256};
use std::fmt;

/// A rule, and what it follows from. Prints as the latter: `by the architecture, that of Stockfish 17 and 17.1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// The rule.
    pub division: Division,
    /// What decided.
    pub basis: Basis,
}

/// What a [`Decision`] follows from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// The architecture, whose releases share the rule.
    Architecture {
        /// Which releases.
        releases: &'static str,
    },
    /// The file, which is a published one.
    File {
        /// The name that its hash gives it.
        name: &'static str,
        /// Where it was published.
        releases: &'static str,
    },
    /// Nothing in the file: releases with both rules have its architecture. The rule is that of the first of them.
    Shared {
        /// Which releases, and their rules.
        releases: &'static str,
    },
    /// Nothing in the file: no release has its architecture. The rule is that of the releases with the same inputs and
    /// the same form of head, of whichever width, of which the first decides.
    Unlisted,
}

impl Basis {
    /// `architecture` or `file` where one of them tells, else `default`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Architecture { .. } => "architecture",
            Self::File { .. } => "file",
            Self::Shared { .. } | Self::Unlisted => "default",
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.basis {
            Basis::Architecture { releases } => write!(f, "by the architecture, that of {releases}"),
            Basis::File { name, releases } => write!(f, "by the file, which is {name} of {releases}"),
            Basis::Shared { releases } => {
                write!(f, "by default, since the file does not tell: its architecture is that of {releases}")
            }
            Basis::Unlisted => {
                let word = self.division.word();
                write!(
                    f,
                    "by default, since the file does not tell: no release has its architecture, and the first of its \
                     form \
                     divides {word}"
                )
            }
        }
    }
}

/// What is known of an architecture.
struct Known {
    shape: Shape,
    releases: &'static str,
    /// `None` where the releases differ.
    division: Option<Division>,
}

const fn known(
    (features, width, head): (FeatureSet, usize, Head),
    releases: &'static str,
    division: Option<Division>,
) -> Known {
    Known { shape: Shape { features, width, head }, releases, division }
}

const HM: FeatureSet = FeatureSet::HalfKaV2Hm;
const SQUARES: Head = Head::Pairwise { squares: true };

/// The architectures of releases. Networks without piece-square values have one part, so that both rules agree on them.
const KNOWN: [Known; 13] = [
    known((FeatureSet::HalfKp, 256, Head::Clipped { first: 32 }), "Stockfish 12 and 13", Some(Division::Once)),
    known((FeatureSet::HalfKaV2, 512, Head::Clipped { first: 16 }), "Stockfish 14", Some(Division::Once)),
    known((HM, 1024, Head::Clipped { first: 8 }), "Stockfish 14.1", Some(Division::Once)),
    known((HM, 1024, Head::Pairwise { squares: false }), "Stockfish 15", Some(Division::Once)),
    known((HM, 1024, SQUARES), "Stockfish 15.1", Some(Division::Once)),
    known((HM, 1536, SQUARES), "Stockfish 16", Some(Division::Once)),
    known((HM, 2560, SQUARES), "Stockfish 16.1", Some(Division::Once)),
    known((HM, 3072, SQUARES), "Stockfish 17 and 17.1", Some(Division::Twice)),
    known((HM, 256, SQUARES), "Stockfish 18 lite", Some(Division::Twice)),
    known((FeatureSet::Threats, 1024, SQUARES), "Stockfish 18", Some(Division::Twice)),
    known((FeatureSet::PHm, 1024, Head::Wide), "Stockfish 19 lite", Some(Division::Twice)),
    known((FeatureSet::ThreatsAndPairs, 1024, Head::Wide), "Stockfish 19", Some(Division::Twice)),
    // The small networks.
    known((HM, 128, SQUARES), "Stockfish 16.1, which divides once, and of 17 to 18, which divide twice", None),
];

/// Published files of architectures that releases with both rules have: the start of the hash that is the file's name.
const PUBLISHED: [(&str, &str, &str, Division); 2] = [
    ("baff1ede1f90", "nn-baff1ede1f90.nnue", "Stockfish 16.1", Division::Once),
    ("37f18f62d772", "nn-37f18f62d772.nnue", "Stockfish 18", Division::Twice),
];

/// The rule that a network is for, by its architecture and, where that does not tell, by its `.nnue` file if it is
/// given.
///
/// Where neither tells, it is the rule of the release that first had the architecture, or this form of one: twice from
/// Stockfish 17's on, once before.
#[must_use]
pub fn decide(shape: &Shape, file: Option<&[u8]>) -> Decision {
    let Some(known) = KNOWN.iter().find(|known| known.shape == *shape) else {
        return Decision { division: of_form(shape), basis: Basis::Unlisted };
    };
    if let Some(division) = known.division {
        return Decision { division, basis: Basis::Architecture { releases: known.releases } };
    }
    let hash = file.map(|file| Sha256::digest(file).iter().map(|byte| format!("{byte:02x}")).collect::<String>());
    let published = hash.and_then(|hash| PUBLISHED.iter().find(|(start, ..)| hash.starts_with(start)));
    match published {
        Some(&(_, name, releases, division)) => Decision { division, basis: Basis::File { name, releases } },
        None => Decision { division: of_form(shape), basis: Basis::Shared { releases: known.releases } },
    }
}

/// The rule of the release that first had these inputs and this form of head. A new feature set has to be put
/// here, without a wildcard on purpose.
const fn of_form(shape: &Shape) -> Division {
    match (shape.features, shape.head) {
        (
            FeatureSet::HalfKp | FeatureSet::HalfKaV2 | FeatureSet::HalfKaV2Hm,
            Head::Clipped { .. } | Head::Pairwise { .. },
        ) => Division::Once,
        (FeatureSet::PHm | FeatureSet::Threats | FeatureSet::ThreatsAndPairs, _) | (_, Head::Wide) => Division::Twice,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_decide() {
        let of = |features, width, head| {
            let decision = decide(&Shape { features, width, head }, None);
            (decision.division, decision.basis.word())
        };
        assert_eq!(of(FeatureSet::HalfKp, 256, Head::Clipped { first: 32 }), (Division::Once, "architecture"));
        assert_eq!(of(FeatureSet::HalfKaV2, 512, Head::Clipped { first: 16 }), (Division::Once, "architecture"));
        assert_eq!(of(HM, 1024, Head::Clipped { first: 8 }), (Division::Once, "architecture"));
        assert_eq!(of(HM, 1024, Head::Pairwise { squares: false }), (Division::Once, "architecture"));
        for (width, division, basis) in [
            (1024, Division::Once, "architecture"),
            (1536, Division::Once, "architecture"),
            (2560, Division::Once, "architecture"),
            (3072, Division::Twice, "architecture"),
            (256, Division::Twice, "architecture"),
            (128, Division::Once, "default"),
            (512, Division::Once, "default"),
        ] {
            assert_eq!(of(HM, width, SQUARES), (division, basis), "{width}");
        }
    }

    #[test]
    fn reasons() {
        let said = |width| decide(&Shape { features: HM, width, head: SQUARES }, Some(b"no file")).to_string();
        assert_eq!(said(3072), "by the architecture, that of Stockfish 17 and 17.1");
        assert!(said(128).contains("does not tell") && said(128).contains("17 to 18"), "{}", said(128));
        assert!(said(64).contains("no release"), "{}", said(64));
    }
}
