//! A network in one line: `(768x4hm → 512)x2 → 1×8, SqrReLU`.
//!
//! `x4` king buckets, `hm` mirrored horizontally, `x2` perspectives, `+1` an output that skips the later layers, `×8`
//! output buckets; then the activations, layer by layer.

use tamis_quant::arch::{Activation, Architecture, InputKind, Layer};
use tamis_quant::program::{Program, ProgramInput};

/// The line.
pub fn one_line(arch: &Architecture) -> String {
    let mut line = input(arch);
    for (index, layer) in arch.layers.iter().enumerate() {
        line = format!("{line} → {}", width(arch, layer));
        if index == 0 && arch.input.is_sparse() {
            line = format!("({line})x{}", arch.perspectives());
        }
    }
    if let Some(psqt) = &arch.psqt {
        let buckets = if psqt.bucketed { format!("×{}", arch.bucket_count()) } else { String::new() };
        line = format!("{line} + PSQT {}{buckets}", arch.output_count());
    }
    let gated = |layer: &Layer| if layer.gated { "gated " } else { "" };
    let named = arch.layers.iter().filter(|layer| is_named(&layer.activation));
    let activations: Vec<String> =
        named.map(|layer| format!("{}{}", gated(layer), published_name(layer.activation))).collect();
    if activations.is_empty() { line } else { format!("{line}, {}", activations.join(", ")) }
}

/// More operations than this are counted, not listed.
const OPERATIONS_SHOWN: usize = 12;

/// A graph as its operations: `784 u8 → affine 128 i32 → requantise 128 u8 → affine 10 i32`.
pub fn graph_in_one_line(graph: &Program) -> String {
    let mut line = match graph.input {
        ProgramInput::Dense { shape, element, .. } => format!("{shape} {}", element.word()),
        ProgramInput::Sparse { features, max_active, exact, .. } => {
            format!("{features} features, {} {max_active} active", if exact { "exactly" } else { "at most" })
        }
        ProgramInput::Features { features, perspectives, .. } => {
            format!("{features} features, {perspectives} accumulators of {} i16", graph.width())
        }
    };
    for node in graph.nodes.iter().take(OPERATIONS_SHOWN) {
        line.push_str(&format!(" → {} {} {}", node.op.word(), node.value.len(), node.value.element.word()));
    }
    match graph.nodes.len().checked_sub(OPERATIONS_SHOWN) {
        Some(rest @ 1..) => format!("{line} → … ({rest} more)"),
        _ => line,
    }
}

fn input(arch: &Architecture) -> String {
    if arch.input.kind != InputKind::Chess {
        return arch.feature_count().to_string();
    }
    let buckets = arch.king_bucket_count();
    let mut text = (arch.feature_count() / buckets.max(1)).to_string();
    if buckets > 1 {
        text.push_str(&format!("x{buckets}"));
    }
    if arch.input.mirrored {
        text.push_str("hm");
    }
    text
}

fn width(arch: &Architecture, layer: &Layer) -> String {
    let active = layer.outputs.saturating_sub(layer.skip);
    let mut text = active.to_string();
    if layer.skip > 0 {
        text.push_str(&format!("+{}", layer.skip));
    }
    if layer.bucketed {
        text.push_str(&format!("×{}", arch.bucket_count()));
    }
    text
}

fn is_named(activation: &Activation) -> bool {
    *activation != Activation::Identity
}

/// As papers and engines write it.
fn published_name(activation: Activation) -> &'static str {
    match activation {
        Activation::Identity => "identity",
        Activation::Relu => "ReLU",
        Activation::Crelu => "CReLU",
        Activation::Screlu => "SCReLU",
        Activation::Sqrrelu => "SqrReLU",
        Activation::PairwiseCrelu => "pairwise CReLU",
        Activation::DualCrelu => "dual CReLU",
        Activation::HardSwish => "hard-swish",
        Activation::Sigmoid => "sigmoid",
        Activation::Swish => "swish",
    }
}

#[cfg(test)]
mod tests {
    use super::one_line;
    use tamis_quant::arch::Architecture;

    macro_rules! line_of {
        ($name:literal) => {{
            let text = include_str!(concat!("../../../tests/architectures/", $name, ".toml"));
            one_line(&Architecture::from_toml(text, $name).unwrap())
        }};
    }

    #[test]
    fn lines_of_known_networks() {
        assert_eq!(line_of!("cwtch"), "(768x4hm → 512)x2 → 1×8, SqrReLU");
        assert_eq!(line_of!("noggin"), "(768 → 64)x2 → 1, SCReLU");
        assert_eq!(line_of!("digits"), "64 → 32 → 10, ReLU");
        assert_eq!(
            line_of!("bullet-test2"),
            "(768x2hm → 128)x2 → 15+1×8 → 32×8 → 1×8, pairwise CReLU, dual CReLU, SCReLU"
        );
    }
}
