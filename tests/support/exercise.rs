//! What a file must do that the loader accepts: run, on every tier, to the same bits.

use tamis_quant::pack::{unpack, unpack_graph, unpack_nnue};
use tamis_quant::program::Program;
use tamis_quant::proof::prove;
use tamis_quant::run::Runner;
use tamis_runtime::format::Model;
use tamis_runtime::kernels::tiers;

/// Vectors beyond this are legal and only take long.
const LONGEST: u32 = 1 << 12;

/// Parses; if the file is accepted, computes its signature on every tier, which must agree. Says whether it was
/// accepted.
///
/// # Panics
/// If the tiers disagree, or if anything in them panics.
pub fn exercise(bytes: &[u8]) -> bool {
    let Ok(model) = Model::parse(bytes) else { return false };
    let _ = model.metadata();
    let _ = (unpack_nnue(&model), unpack_graph(&model), unpack(&model));
    if model.input().size.max(model.input().hidden) > LONGEST || model.values().iter().any(|value| value.len > LONGEST)
    {
        return true;
    }
    on_a_host(&model);
    let mut signatures = tiers().map(|tier| (tier.name, Runner::new(model, tier).signature()));
    let first = signatures.next();
    for (name, signature) in signatures {
        assert_eq!(Some(signature), first.map(|(_, first)| first), "tier {name}");
    }
    assert!(matches!(first, Some((_, Ok(_)))), "an accepted model does not run: {first:?}");
    true
}

/// Takes a model apart as every front end would, and proves what comes out: nothing in a file may panic here either.
fn on_a_host(model: &Model<'_>) {
    let bullet = unpack(model).ok().and_then(|net| net.lower().ok());
    let family = unpack_nnue(model).ok().map(|net| net.lower());
    for program in [bullet, family, unpack_graph(model).ok()].into_iter().flatten() {
        let program: Program = program;
        let _ = prove(&program);
    }
}
