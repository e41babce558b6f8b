//! Channels without an effect, taken out of a program; no bit of any output changes.
//!
//! A channel is constant where its bounds, over every input that there can be and over every place of a map, meet in
//! one number. It goes where each of its readers can do without it: because all weights that read it are 0, because it
//! is the zero point, of which operations add nothing, or because what it adds to a sum is the same at every place and
//! becomes part of the bias. At a border a convolution reads padding in its place, so that a constant other than the
//! zero point stays wherever a window leaves the map.
//!
//! Operations that keep channels apart, depthwise filters, pools, sums of two maps, tie those that they read to those
//! that they make: such channels go together or not at all. So does a whole group of a grouped convolution.
//!
//! ```text
//! spans: what every channel can be --ties: which go--> rebuilt: the same operations over fewer channels
//! ```

mod rebuilt;
mod spans;
mod ties;

use crate::program::Program;
use serde::Serialize;
use spans::Channels;

/// What a program had, and what of it is gone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Removed {
    /// Channels of all values that operations make.
    pub channels: usize,
    /// Of them those that were removed.
    pub removed_channels: usize,
    /// Products that one example takes, before.
    pub macs: u64,
    /// Of them those that are saved.
    pub removed_macs: u64,
    /// Bytes of the parameters, before.
    pub parameters_len_bytes: usize,
    /// Of them those that are saved.
    pub removed_len_bytes: usize,
}

/// Of what each node makes, the channels that are one number for every input and at every place.
#[must_use]
pub fn constant_channels(program: &Program) -> Vec<usize> {
    if program.transformer.is_some() {
        return vec![0; program.nodes.len()];
    }
    let known = Channels::of(program);
    let count = |value: usize| {
        let channels = 0..program.shape(value).channels;
        channels.filter(|channel| known.constant(value, *channel).is_some()).count()
    };
    (1..=program.nodes.len()).map(count).collect()
}

/// Takes out what has no effect. Networks of accumulators stay as they are.
#[must_use]
pub fn remove_channels(program: Program) -> (Program, Removed) {
    let channels_of = |program: &Program| program.nodes.iter().map(|node| node.value.shape.channels).sum::<usize>();
    let (channels, macs, len_bytes) = (channels_of(&program), program.macs(), program.parameter_len_bytes());
    let whole = Removed { channels, macs, parameters_len_bytes: len_bytes, ..Removed::default() };
    if program.transformer.is_some() || program.nodes.is_empty() {
        return (program, whole);
    }
    let known = Channels::of(&program);
    let kept = ties::kept(&program, &known);
    let rebuilt = rebuilt::program(program, &known, &kept);
    let removed = Removed {
        removed_channels: channels - channels_of(&rebuilt),
        removed_macs: macs - rebuilt.macs(),
        removed_len_bytes: len_bytes - rebuilt.parameter_len_bytes(),
        ..whole
    };
    (rebuilt, removed)
}
