//! The description in the file against the one given now, fact by fact.

use super::{Evidence, Mistake, MistakeKind};
use crate::arch::{Architecture, ElementType};

/// Every fact on which the two descriptions differ. Names and what stands around the tensors do not count.
pub fn find(file: &Architecture, given: &Architecture) -> Vec<Mistake> {
    let mut mistakes = Vec::new();
    let mut differ = |kind, place: &str, in_file: String, in_given: String| {
        if in_file != in_given {
            let text = format!("{place}: the file was made with {in_file}, the description given now says {in_given}");
            mistakes.push(Mistake { kind, evidence: Evidence::Description, text });
        }
    };
    let king = |arch: &Architecture| format!("{} buckets {}", arch.king_bucket_count(), table(&arch.king_table(), 8));
    differ(MistakeKind::KingBuckets, "[input] king_buckets", king(file), king(given));
    differ(
        MistakeKind::KingBuckets,
        "[input] mirrored",
        file.input.mirrored.to_string(),
        given.input.mirrored.to_string(),
    );
    let merged = |arch: &Architecture| arch.input.merged_kings.to_string();
    differ(MistakeKind::KingBuckets, "[input] merged_kings", merged(file), merged(given));
    let order = |arch: &Architecture| {
        if arch.input.other_first { "the other side first" } else { "the side to move first" }.to_owned()
    };
    differ(MistakeKind::PerspectivesSwapped, "[input] other_first", order(file), order(given));
    let bucket = |arch: &Architecture| format!("{} buckets {}", arch.bucket_count(), table(&arch.bucket_table(), 33));
    differ(MistakeKind::BucketOrder, "[buckets]", bucket(file), bucket(given));
    let counted = |arch: &Architecture| {
        arch.buckets.as_ref().and_then(|buckets| buckets.counted.clone()).unwrap_or_else(|| "all pieces".to_owned())
    };
    differ(MistakeKind::BucketOrder, "[buckets] counted", counted(file), counted(given));
    let scale = |arch: &Architecture| arch.output.scale.to_string();
    differ(MistakeKind::Scale, "[output] scale", scale(file), scale(given));
    let psqt = |arch: &Architecture| match (&arch.psqt, arch.psqt_of()) {
        (Some(psqt), Some(of)) => {
            let bias = psqt.bias.as_ref().map_or("no bias".to_owned(), |bias| format!("bias `{bias}`"));
            let bucketed = if psqt.bucketed { ", bucketed" } else { "" };
            format!("{} of `{}`, {bias}{bucketed}", of.word(), psqt.weights)
        }
        _ => "none".to_owned(),
    };
    differ(MistakeKind::OtherFact, "[psqt]", psqt(file), psqt(given));
    let divide = |arch: &Architecture| arch.output.divide.word().to_owned();
    differ(MistakeKind::OtherFact, "[output] divide", divide(file), divide(given));
    let active = |arch: &Architecture| arch.max_active().to_string();
    differ(MistakeKind::OtherFact, "[input] max_active", active(file), active(given));
    for (file, given) in file.layers.iter().zip(&given.layers) {
        let place = |key: &str| format!("layer `{}`, {key}", given.name);
        let word = |layer: &crate::arch::Layer| layer.activation.word().to_owned();
        differ(MistakeKind::Activation, &place("activation"), word(file), word(given));
        let gated = |layer: &crate::arch::Layer| layer.gated.to_string();
        differ(MistakeKind::Activation, &place("gated"), gated(file), gated(given));
        let factoriser = |layer: &crate::arch::Layer| {
            layer.factoriser.clone().map_or("no factoriser".to_owned(), |name| format!("factoriser `{name}`"))
        };
        differ(MistakeKind::Factoriser, &place("factoriser"), factoriser(file), factoriser(given));
        let bucketed = |layer: &crate::arch::Layer| layer.bucketed.to_string();
        differ(MistakeKind::BucketOrder, &place("bucketed"), bucketed(file), bucketed(given));
        let shift =
            |layer: &crate::arch::Layer| layer.product_shift.map_or("none".to_owned(), |shift| shift.to_string());
        differ(MistakeKind::Scale, &place("product_shift"), shift(file), shift(given));
        let rounded = |layer: &crate::arch::Layer| layer.product_rounded.to_string();
        differ(MistakeKind::OtherFact, &place("product_rounded"), rounded(file), rounded(given));
        let range = |layer: &crate::arch::Layer| layer.activation_max.map_or("none".to_owned(), |max| max.to_string());
        differ(MistakeKind::Scale, &place("activation_max"), range(file), range(given));
        let skip = |layer: &crate::arch::Layer| layer.skip.to_string();
        differ(MistakeKind::OtherFact, &place("skip"), skip(file), skip(given));
    }
    let given_arch = given;
    for given in &given.tensors {
        let Some(file) = file.tensor(&given.name) else { continue };
        let place = |key: &str| format!("tensor `{}`, {key}", given.name);
        let scale = |spec: &crate::arch::TensorSpec| spec.scale.map_or("none".to_owned(), |scale| scale.to_string());
        differ(MistakeKind::Scale, &place("scale"), scale(file), scale(given));
        let rounding = |spec: &crate::arch::TensorSpec| spec.rounding.word().to_owned();
        differ(MistakeKind::Rounding, &place("rounding"), rounding(file), rounding(given));
        let vector = given_arch.tensor_shape(&given.name).is_some_and(|(outputs, inputs)| outputs == 1 || inputs == 1);
        let transposed = |spec: &crate::arch::TensorSpec| (spec.transposed && !vector).to_string();
        differ(MistakeKind::TransposedWeights, &place("transposed"), transposed(file), transposed(given));
        // The first layer's rows are stored in bytes where each is one, which changes no value.
        let is_of_rows = given_arch.weights_name(0) == given.name;
        let is_narrowed = (file.r#type, given.r#type) == (ElementType::I8, ElementType::I16);
        if !(is_of_rows && is_narrowed) {
            let element = |spec: &crate::arch::TensorSpec| spec.r#type.word().to_owned();
            differ(MistakeKind::OtherFact, &place("type"), element(file), element(given));
        }
    }
    mistakes
}

/// A table in rows, equal rows run together, so that a difference can be seen.
fn table(entries: &[u8], width: usize) -> String {
    let rows: Vec<String> =
        entries.chunks(width).map(|row| row.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")).collect();
    let mut text = String::from("(");
    let mut rows = rows.into_iter().peekable();
    while let Some(row) = rows.next() {
        let mut times = 1;
        while rows.peek() == Some(&row) {
            rows.next();
            times += 1;
        }
        text.push_str(&row);
        if times > 1 {
            text.push_str(&format!(" ×{times}"));
        }
        if rows.peek().is_some() {
            text.push_str(" / ");
        }
    }
    text.push(')');
    text
}
