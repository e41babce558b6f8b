//! The layers: widths that follow from one another, activations where they can stand, and a total that fits.

use super::{Refusal, name, range, size_range};
use crate::arch::error::{Cause, Place};
use crate::arch::types::{Activation, Architecture, InputKind, Layer};

const MAX_LAYERS: usize = 64;
const MAX_OUTPUTS: usize = 1 << 16;
/// The largest shift that leaves anything of a product of two 16-bit activations.
const MAX_PRODUCT_SHIFT: u32 = 30;
/// Bits that a rounded product loses.
const ROUNDED_BITS: u32 = 15;
/// The largest shift that leaves anything of an accumulator above 0.
const MAX_ACCUMULATOR_SHIFT: u32 = 14;
/// And of a sum.
const MAX_SUM_SHIFT: u32 = 30;
/// Weights and biases of the network as `f32`: 4 GiB.
pub(super) const MAX_VALUES: u64 = 1 << 30;

impl Architecture {
    pub(super) fn check_layers(&self) -> Result<(), Refusal> {
        let perspectives = self.perspectives();
        let min = perspectives.max(1);
        let why = if min == 2 { " (two perspectives meet in the second)" } else { "" };
        if !(min..=MAX_LAYERS).contains(&self.layers.len()) {
            let cause = Cause::LayerCount { found: self.layers.len(), min, max: MAX_LAYERS, why };
            return Err((Place::Top("layer"), cause));
        }
        for (index, layer) in self.layers.iter().enumerate() {
            let refuse = |key| move |cause| (Place::Layer(index, layer.name.clone(), key), cause);
            name(&layer.name).map_err(refuse("name"))?;
            if let Some(first) = self.layers[..index].iter().position(|other| other.name == layer.name) {
                let first = format!("layer {}", first + 1);
                return Err(refuse("name")(Cause::Duplicate { name: layer.name.clone(), first }));
            }
            size_range(layer.outputs, 1, MAX_OUTPUTS).map_err(refuse("outputs"))?;
            self.check_skip(index, layer).map_err(refuse("skip"))?;
            self.check_activation(index, layer).map_err(refuse("activation"))?;
            self.check_gated(index, layer).map_err(refuse("gated"))?;
            self.check_bucketed(index, layer).map_err(refuse("bucketed"))?;
            self.check_factoriser(index, layer).map_err(refuse("factoriser"))?;
            self.check_activation_max(index, layer).map_err(refuse("activation_max"))?;
            check_product_shift(layer).map_err(refuse("product_shift"))?;
            self.check_product_rounded(index, layer).map_err(refuse("product_rounded"))?;
            self.check_activation_shift(index, layer).map_err(refuse("activation_shift"))?;
        }
        let is_psqt_bucketed = self.psqt.as_ref().is_some_and(|psqt| psqt.bucketed);
        if self.buckets.is_some() && !self.layers.iter().any(|layer| layer.bucketed) && !is_psqt_bucketed {
            let why = "no layer is bucketed (`bucketed = true` gives a layer rows for each bucket)";
            return Err((Place::Table("buckets", "count"), Cause::Meaningless { why }));
        }
        self.check_total()
    }

    fn is_last(&self, index: usize) -> bool {
        index + 1 == self.layers.len()
    }

    fn check_skip(&self, index: usize, layer: &Layer) -> Result<(), Cause> {
        if layer.skip == 0 {
            return Ok(());
        }
        if self.is_last(index) {
            return Err(Cause::Meaningless { why: "the last layer's outputs are the network's" });
        }
        if index == 0 && self.input.kind != InputKind::Dense {
            return Err(Cause::Meaningless { why: "the first layer of a feature network is an accumulator" });
        }
        if layer.skip >= layer.outputs {
            return Err(Cause::SkipAll { outputs: layer.outputs });
        }
        let outputs = self.layers.last().map_or(0, |last| last.outputs);
        if layer.skip != outputs {
            return Err(Cause::SkipCount { found: layer.skip, outputs });
        }
        Ok(())
    }

    fn check_activation(&self, index: usize, layer: &Layer) -> Result<(), Cause> {
        let found = layer.activation.word();
        match (self.is_last(index), layer.activation) {
            (false, Activation::Identity) if !layer.gated => {
                let why = "only the last layer may leave its activation out, two affine layers in a row are one";
                Err(Cause::Activation { found, why })
            }
            (true, Activation::PairwiseCrelu | Activation::DualCrelu) => {
                let why = "it changes the number of values, and the last layer's outputs are the network's";
                Err(Cause::Activation { found, why })
            }
            (true, activation) if activation != Activation::Identity && self.input.kind != InputKind::Dense => {
                let why = "the last layer of a feature network is reported as it is";
                Err(Cause::Activation { found, why })
            }
            (_, Activation::HardSwish | Activation::Sigmoid | Activation::Swish)
                if index == 0 || self.input.kind == InputKind::Dense =>
            {
                let why = "it is a function of reals, and belongs behind a later layer of a feature network";
                Err(Cause::Activation { found, why })
            }
            (_, Activation::PairwiseCrelu) if !(layer.outputs - layer.skip).is_multiple_of(2) => {
                let values = layer.outputs - layer.skip;
                Err(Cause::OddPairs { values, outputs: layer.outputs, skip: layer.skip })
            }
            _ => Ok(()),
        }
    }

    fn check_gated(&self, index: usize, layer: &Layer) -> Result<(), Cause> {
        if !layer.gated {
            return Ok(());
        }
        let meaningless = |why| Err(Cause::Meaningless { why });
        let values = layer.outputs - layer.skip;
        match layer.activation {
            _ if self.input.kind == InputKind::Dense => meaningless("gates are of reals behind accumulators"),
            _ if index == 0 => meaningless("products of accumulators are `pairwise-crelu`"),
            _ if self.is_last(index) => meaningless("the last layer of a feature network is reported as it is"),
            Activation::PairwiseCrelu | Activation::DualCrelu => {
                meaningless("a gate is a function of one value each, and this one changes their number")
            }
            _ if !values.is_multiple_of(2) => Err(Cause::OddPairs { values, outputs: layer.outputs, skip: layer.skip }),
            _ => Ok(()),
        }
    }

    fn check_bucketed(&self, index: usize, layer: &Layer) -> Result<(), Cause> {
        if layer.bucketed && self.buckets.is_none() {
            return Err(Cause::Meaningless { why: "there is no [buckets] table to say how many buckets there are" });
        }
        if layer.bucketed && index == 0 {
            return Err(Cause::Meaningless {
                why: "the first layer of a feature network is shared by all output buckets",
            });
        }
        Ok(())
    }

    fn check_factoriser(&self, index: usize, layer: &Layer) -> Result<(), Cause> {
        let Some(factoriser) = &layer.factoriser else { return Ok(()) };
        if index != 0 || self.input.kind != InputKind::Chess {
            return Err(Cause::Meaningless { why: "only the first layer of a chess network has a factoriser" });
        }
        name(factoriser)?;
        if self.tensors.iter().any(|tensor| &tensor.name == factoriser) {
            return Err(Cause::Duplicate {
                name: factoriser.clone(),
                first: "a [[tensor]]; a factoriser is merged before it is stored and must not be listed".to_owned(),
            });
        }
        Ok(())
    }

    fn check_activation_max(&self, index: usize, layer: &Layer) -> Result<(), Cause> {
        let Some(found) = layer.activation_max else { return Ok(()) };
        if self.input.kind != InputKind::Dense {
            return Err(Cause::Meaningless { why: "only a dense network's activations are scaled by their range" });
        }
        if self.is_last(index) {
            return Err(Cause::Meaningless { why: "the network's outputs are reported unclipped" });
        }
        if !matches!(layer.activation, Activation::Relu | Activation::Sqrrelu) {
            return Err(Cause::Meaningless { why: "this activation ends at 1 by itself" });
        }
        if found.is_finite() && found > 0.0 { Ok(()) } else { Err(Cause::NotPositive { found }) }
    }

    /// Whether integers follow is seen when the network is lowered.
    fn check_activation_shift(&self, index: usize, layer: &Layer) -> Result<(), Cause> {
        let Some(shift) = layer.activation_shift else { return Ok(()) };
        let is_first = index == 0;
        let meaningless = |why| Err(Cause::Meaningless { why });
        match layer.activation {
            _ if self.input.kind == InputKind::Dense => meaningless("only a feature network's integers are shifted"),
            _ if self.is_last(index) => meaningless("the last layer is reported as it is"),
            Activation::PairwiseCrelu => meaningless("products have `product_shift`"),
            Activation::Screlu | Activation::Sqrrelu | Activation::DualCrelu if is_first => {
                meaningless("accumulators are shifted behind relu and crelu only")
            }
            _ => range(shift, 0, if is_first { MAX_ACCUMULATOR_SHIFT } else { MAX_SUM_SHIFT }),
        }
    }

    /// Counts weights and biases layer by layer; no product here can leave `u64` after the checks above.
    fn check_total(&self) -> Result<(), Refusal> {
        let mut total = (self.psqt_rows() as u64).saturating_mul(self.feature_count() as u64 + 1);
        for (index, layer) in self.layers.iter().enumerate() {
            let (rows, inputs) = (self.layer_rows(index) as u64, self.layer_inputs(index) as u64);
            total = total.saturating_add(rows.saturating_mul(inputs.saturating_add(1)));
            if total > MAX_VALUES {
                let cause = Cause::TooManyValues { found: total, limit: MAX_VALUES };
                return Err((Place::Layer(index, layer.name.clone(), "outputs"), cause));
            }
        }
        Ok(())
    }
}

impl Architecture {
    /// Kernels round at 15 bits, so that one factor has to fit i16 shifted up by what is missing.
    fn check_product_rounded(&self, index: usize, layer: &Layer) -> Result<(), Cause> {
        if !layer.product_rounded {
            return Ok(());
        }
        let Some(shift @ 1..=ROUNDED_BITS) = layer.product_shift else {
            return Err(Cause::Meaningless { why: "only products with a `product_shift` of 1 to 15 are rounded" });
        };
        let scale = self.tensor(&self.weights_name(index)).and_then(|spec| spec.scale);
        match scale {
            Some(scale) if i64::from(scale) << (ROUNDED_BITS - shift) <= i64::from(i16::MAX) => Ok(()),
            _ => Err(Cause::Meaningless {
                why: "rounded products want a QA whose QA << (15 − `product_shift`) fits i16",
            }),
        }
    }
}

/// Whether the shift is *needed* depends on the tensor's type: see [`super::tensors`].
fn check_product_shift(layer: &Layer) -> Result<(), Cause> {
    match layer.product_shift {
        Some(_) if layer.activation != Activation::PairwiseCrelu => {
            Err(Cause::Meaningless { why: "only a pairwise activation has products to shift" })
        }
        Some(shift) => range(shift, 0, MAX_PRODUCT_SHIFT),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{SMALL, refused, spoiled};

    #[test]
    fn activations_stand_where_they_can() {
        assert!(spoiled("activation = \"screlu\"\n", "").contains("`identity` cannot stand here"));
        assert!(spoiled("outputs = 1\n", "outputs = 1\nactivation = \"relu\"\n").contains("`relu` cannot stand here"));
        assert!(
            spoiled("outputs = 1\n", "outputs = 2\nactivation = \"pairwise-crelu\"\n").contains("changes the number")
        );
        let odd = spoiled("outputs = 64\nactivation = \"screlu\"", "outputs = 63\nactivation = \"pairwise-crelu\"");
        assert!(odd.contains("63 remain of 63 outputs after 0 skip"), "{odd}");
        assert!(spoiled("\"screlu\"", "\"screlu\"\nproduct_shift = 9").contains("only a pairwise activation"));
        assert!(spoiled("\"screlu\"", "\"pairwise-crelu\"\nproduct_shift = 31").contains("31 is outside 0 to 30"));
        assert!(spoiled("\"screlu\"", "\"screlu\"\nactivation_max = 1.0").contains("only a dense network"));
    }

    #[test]
    fn gates_stand_between_reals() {
        assert!(spoiled("\"screlu\"", "\"screlu\"\ngated = true").contains("products of accumulators"));
        assert!(spoiled("outputs = 1\n", "outputs = 1\ngated = true\n").contains("reported as it is"));
        let middle = "\"screlu\"\n[[layer]]\nname = \"m\"\ngated = true\n";
        let with = |lines: &str| spoiled("\"screlu\"\n", &format!("{middle}{lines}\n"));
        assert!(with("outputs = 4\nactivation = \"dual-crelu\"").contains("this one changes their number"));
        assert!(with("outputs = 5\nactivation = \"swish\"").contains("5 remain of 5 outputs"));
        // What is wrong then is only that its tensors are missing.
        assert!(with("outputs = 4\nactivation = \"identity\"").contains("tensor: the tensor `mw`"));
        assert!(spoiled("\"screlu\"", "\"swish\"").contains("`swish` cannot stand here"));
    }

    #[test]
    fn skips_reach_the_output() {
        assert!(spoiled("outputs = 64", "outputs = 64\nskip = 1").contains("is an accumulator"));
        assert!(spoiled("outputs = 1\n", "outputs = 1\nskip = 1\n").contains("the last layer's outputs"));
        let middle = "\"screlu\"\n[[layer]]\nname = \"m\"\nactivation = \"crelu\"\n";
        let with = |lines: &str| spoiled("\"screlu\"\n", &format!("{middle}{lines}\n"));
        assert!(with("outputs = 4\nskip = 4").contains("all 4 outputs skip"));
        assert!(with("outputs = 4\nskip = 2").contains("2 outputs skip to the end, but the network has 1"));
        assert!(with("outputs = 4\nskip = 18446744073709551615").contains(""));
    }

    #[test]
    fn buckets_and_factorisers_belong_to_some_layers() {
        assert!(spoiled("outputs = 1\n", "outputs = 1\nbucketed = true\n").contains("no [buckets] table"));
        assert!(refused(&format!("{SMALL}[buckets]\ncount = 8")).contains("no layer is bucketed"));
        let first = SMALL.replace("outputs = 64", "outputs = 64\nbucketed = true");
        assert!(refused(&format!("{first}[buckets]\ncount = 8")).contains("shared by all output buckets"));
        assert!(spoiled("outputs = 1\n", "outputs = 1\nfactoriser = \"f\"\n").contains("only the first layer"));
        assert!(spoiled("outputs = 64", "outputs = 64\nfactoriser = \"l0w\"").contains("must not be listed"));
        assert!(spoiled("outputs = 64", "outputs = 64\nfactoriser = \"\"").contains("is not a name"));
    }

    #[test]
    fn sizes_are_bounded() {
        assert!(spoiled("outputs = 64", "outputs = 65537").contains("65537 is outside 1 to 65536"));
        let wide = SMALL.replace("outputs = 64", "outputs = 65536").replace("outputs = 1\n", "outputs = 65536\n");
        assert!(refused(&wide).contains("more than the 1073741824"));
        let table: Vec<u8> = (0..64).map(|square| square * 4).collect();
        let kings = SMALL
            .replace("outputs = 64", "outputs = 65536")
            .replace("kind = \"chess\"", &format!("kind = \"chess\"\nking_buckets = {table:?}"));
        assert!(refused(&kings).contains("layer 1 (`l0`), outputs: the network has"));
        assert!(spoiled("[[layer]]\nname = \"l1\"\noutputs = 1\n", "").contains("two perspectives meet in the second"));
    }
}
