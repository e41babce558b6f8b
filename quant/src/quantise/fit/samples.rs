//! What is fitted to: the active features of many examples, and what the float network makes of each.

use super::FitError;
use crate::float::{Example, Net};
use crate::parallel;

/// Examples that a worker evaluates in one piece.
const PIECE: usize = 512;

/// Lists of features, one behind the other. Entry `sides · example + side` is the list of a perspective.
#[derive(Debug)]
pub(super) struct Samples {
    /// Perspectives, 1 or 2.
    pub sides: usize,
    /// Where an entry's list starts; one more than there are entries.
    starts: Vec<u32>,
    features: Vec<u32>,
    /// The output bucket of each example.
    pub buckets: Vec<u8>,
    /// What the float network makes of each, in units of its output.
    pub targets: Vec<f64>,
}

impl Samples {
    /// Of examples that fit the network.
    pub fn of(real: &Net<f32>, examples: &[Example]) -> Result<Self, FitError> {
        let sides = real.arch.perspectives();
        let mut samples = Self {
            sides,
            starts: Vec::with_capacity(sides * examples.len() + 1),
            features: Vec::new(),
            buckets: Vec::with_capacity(examples.len()),
            targets: Vec::with_capacity(examples.len()),
        };
        samples.starts.push(0);
        for example in examples {
            let Example::Features { lists, bucket } = example else { return Err(FitError::NotSparse) };
            for list in lists.iter().take(sides) {
                samples.features.extend(list);
                samples.starts.push(u32::try_from(samples.features.len()).map_err(|_| FitError::TooMany)?);
            }
            samples.buckets.push(u8::try_from(*bucket).map_err(|_| FitError::TooMany)?);
        }
        samples.targets = targets(real, examples)?;
        Ok(samples)
    }

    /// The lists of features, entry by entry.
    pub fn lists(&self) -> impl Iterator<Item = &[u32]> {
        self.starts.windows(2).map(|ends| &self.features[ends[0] as usize..ends[1] as usize])
    }

    /// For each of `features` features the entries whose list has it, in ascending order.
    pub fn by_feature(&self, features: usize) -> ByFeature {
        let mut starts = vec![0u32; features + 1];
        for feature in &self.features {
            starts[*feature as usize + 1] += 1;
        }
        for index in 0..features {
            starts[index + 1] += starts[index];
        }
        let (mut next, mut entries) = (starts.clone(), vec![0u32; self.features.len()]);
        for (entry, list) in (0u32..).zip(self.lists()) {
            for feature in list {
                let place = &mut next[*feature as usize];
                entries[*place as usize] = entry;
                *place += 1;
            }
        }
        ByFeature { starts, entries }
    }
}

/// The other way round: where each feature is active.
#[derive(Debug)]
pub(super) struct ByFeature {
    starts: Vec<u32>,
    entries: Vec<u32>,
}

impl ByFeature {
    /// The entries of one feature.
    pub fn of(&self, feature: usize) -> &[u32] {
        &self.entries[self.starts[feature] as usize..self.starts[feature + 1] as usize]
    }
}

/// The float network's outputs, in double precision.
fn targets(real: &Net<f32>, examples: &[Example]) -> Result<Vec<f64>, FitError> {
    let real = real.to_f64();
    let pieces: Vec<&[Example]> = examples.chunks(PIECE).collect();
    let evaluated = parallel::map(pieces.len(), |index| {
        let outputs = pieces[index].iter().map(|example| Ok(real.evaluate(example)?[0]));
        outputs.collect::<Result<Vec<f64>, FitError>>()
    });
    let mut targets = Vec::with_capacity(examples.len());
    for piece in evaluated {
        targets.extend(piece?);
    }
    Ok(targets)
}
