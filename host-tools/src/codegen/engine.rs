//! What a chess engine takes of a network: it knows pieces, and makes and unmakes moves.

use crate::report::EngineReport;
use tamis_runtime::engine::AnyNetwork;
use tamis_runtime::format::Model;

/// Whether the engine interface takes the network.
pub fn is_one(model: &Model<'_>) -> bool {
    AnyNetwork::load(model.bytes()).is_ok()
}

/// The expectation, the state and the network of that interface; `None` for a network that it does not take.
pub fn of(model: &Model<'_>) -> Option<String> {
    let (facts, any) = (EngineReport::of(model)?, AnyNetwork::load(model.bytes()).ok()?);
    let (features, keys) = (facts.features(), any.keys());
    Some(format!(
        "\
/// What the engine interface holds the container against.
pub const EXPECTED: Expected = Expected {{
    features: {features},
    output_buckets: BUCKETS, // chosen by the number of pieces
    outputs: OUTPUT_LEN,
}};

/// Places of a king that fill an accumulator differently.
pub const KEYS: usize = {keys};

/// What a search owns: a line of play of up to `PLIES` positions, the root included, a refresh
/// cache with a place for each of `CACHED` keys, and scratch memory of the right size.
pub type State<const PLIES: usize, const CACHED: usize = KEYS> =
    engine::State<HIDDEN, PLIES, CACHED, WORKSPACE_LEN_BYTES>;

/// The network for the engine interface, in place of [`Network`]: pieces in, an evaluation out.
///
/// # Errors
/// [`LoadError`] if memory does not hold what the build put there.
pub fn engine() -> Result<engine::Network<'static, HIDDEN>, LoadError> {{
    engine_on(&KERNELS)
}}

/// The same on another tier: `kernels::best()` asks the machine.
///
/// # Errors
/// As [`engine()`].
pub fn engine_on(
    tier: &'static Tier, // one that this machine can run
) -> Result<engine::Network<'static, HIDDEN>, LoadError> {{
    engine::Network::load_on(FILE, &EXPECTED, tier)
}}

"
    ))
}
