//! Which features of the runtime a network needs: of those with which a build runs it, the ones that add least code.

use tamis_runtime::format::{Feature, Model};
use tamis_runtime::raw::{
    Layout, OpRecord, WindowRecord, activation, element, feature_set, input_kind, is_depthwise, op,
};

/// The features, none of which another one of them implies, in the order in which the runtime lists them.
pub fn of(model: &Model<'_>) -> Vec<Feature> {
    let input = model.input();
    let ops = || model.ops().iter();
    let of_kinds = |feature| ops().any(|record| op::feature(record.kind) == Some(feature));
    let relations = input.kind == input_kind::FEATURES && feature_set::relation_count(input.feature_set) > 0;
    let is_real = input.kind == input_kind::DENSE && input.element == element::F32;
    let general = of_kinds(Feature::General)
        || input.kind == input_kind::SPARSE
        || relations
        || is_real
        || ops().any(|record| rounds_generally(model, record));
    let maps = ops().any(|record| works_on_maps(model, record, general))
        || model.values().iter().any(|value| value.rows_held() > 0);
    // Zero points are a map's, too.
    let convolutions = ops().any(works_on_pixels)
        || model.values().iter().any(|value| value.pixels() != [1, 1] || value.zero != 0)
        || !general && ops().any(|record| record.kind == op::AFFINE_I16 || is_curve(record));
    let accumulators = of_kinds(Feature::Accumulators) || input.kind == input_kind::FEATURES;
    [
        (Feature::Accumulators, accumulators && !general),
        (Feature::Reals, of_kinds(Feature::Reals) && !general),
        (Feature::Convolutions, convolutions && !maps),
        (Feature::Maps, maps),
        (Feature::General, general),
    ]
    .into_iter()
    .filter_map(|(feature, is_needed)| is_needed.then_some(feature))
    .collect()
}

/// A rounding with a zero point, to i16, or of i32 in its place.
fn rounds_generally(model: &Model<'_>, record: &OpRecord) -> bool {
    let place = |index: u32| model.values().get(index as usize).map(|value| (value.element(), value.place));
    let [from, to] = [record.input, record.output].map(place);
    let is_to_i16 = to.is_some_and(|(to, _)| to == element::I16);
    record.kind == op::REQUANTISE && (record.params[2] != 0 || is_to_i16 || from == to)
}

/// A kind that only `maps` has, or `general` too if it is not there anyway; and a convolution in groups or of i16.
fn works_on_maps(model: &Model<'_>, record: &OpRecord, has_general: bool) -> bool {
    match record.kind {
        op::CONCAT if record.params[0] > 1 => true,
        op::CONCAT | op::LOOKUP => !has_general,
        op::CONVOLUTION => Form::of(model, record) == Some(Form::Gathered),
        kind => op::feature(kind) == Some(Feature::Maps),
    }
}

/// The way that a convolution goes, by how its weights lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A filter for every channel.
    Depthwise,
    /// Outputs that see all channels, weights in K4.
    Whole,
    /// In groups, or on i16.
    Gathered,
}

impl Form {
    /// `None` for an operation that is no convolution.
    pub fn of(model: &Model<'_>, record: &OpRecord) -> Option<Self> {
        if !matches!(record.kind, op::CONVOLUTION | op::TRANSPOSED_CONVOLUTION) {
            return None;
        }
        let form = Self::of_convolution(model, record);
        Some(form.unwrap_or_else(|| unreachable!("a checked model has what its operations name")))
    }

    fn of_convolution(model: &Model<'_>, record: &OpRecord) -> Option<Self> {
        let channels = |index: u32| {
            let value = model.values().get(index as usize)?;
            let [height, width] = value.pixels();
            Some((value.len / (height * width)) as usize)
        };
        let weights = model.tensor(record.weights)?;
        let shape = [weights.record.rows as usize, weights.record.cols as usize];
        let [down, across] = WindowRecord::of(record).kernel.map(usize::from);
        let channels = [channels(record.input)?, channels(record.output)?];
        Some(if is_depthwise(record.kind, shape, down * across, channels) {
            Self::Depthwise
        } else if weights.layout == Layout::K4 {
            Self::Whole
        } else {
            Self::Gathered
        })
    }
}

/// A kind that only `convolutions` has.
fn works_on_pixels(record: &OpRecord) -> bool {
    record.kind != op::AFFINE_I16 && op::feature(record.kind) == Some(Feature::Convolutions)
}

/// Softmax and its like in f32, which `general` has or, beside `reals`, `convolutions`.
fn is_curve(record: &OpRecord) -> bool {
    record.kind == op::ACTIVATION_F32 && record.activation > activation::DUAL_CRELU
}
