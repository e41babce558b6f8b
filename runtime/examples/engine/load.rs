//! From a file's bytes to a network that a search can rely on.

use crate::evaluation::network_state::{self, NetworkState};
use crate::network::{Bytes, Network, Own};
use cozy_chess::Board;
use tamis_runtime::engine::{AnyNetwork, Colour, Expected, Features, LoadError};
use tamis_runtime::kernels::Tier;

/// What this engine's own network is, but for its width, which stands in its type.
const EXPECTED: Expected = Expected { features: Features::CHESS_768, output_buckets: 8, outputs: 1 };

/// Checks a container, binds it to a tier and chooses by its width and its features how it is used. What it gives has
/// evaluated a position, so a search will not be refused one.
pub fn load(bytes: Bytes, tier: &'static Tier) -> Result<Network, String> {
    let net = match Own::load_on(bytes, &EXPECTED, tier) {
        Ok(net) => Network::Own(net),
        Err(LoadError::Differs { .. }) => {
            Network::Any(AnyNetwork::load_on(bytes, tier).map_err(|error| error.to_string())?)
        }
        Err(error) => return Err(error.to_string()),
    };
    let found = net.any().outputs();
    if found != EXPECTED.outputs {
        let expected = EXPECTED.outputs;
        return Err(LoadError::Differs { what: "outputs", found, expected }.to_string());
    }
    network_state::filled_anew(net.any(), &Board::default())
        .and_then(|mut state| state.evaluate(Colour::White))
        .map_err(|error| error.to_string())?;
    Ok(net)
}
