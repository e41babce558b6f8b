//! The tensor list: exactly the tensors that the layers name, each once, with scales where scales belong.

use super::{Refusal, name, range};
use crate::arch::error::{Cause, Place};
use crate::arch::shape::Part;
use crate::arch::suggest::advice;
use crate::arch::types::{Activation, Architecture, ElementType, HeadDivision, InputKind, Rounding, TensorSpec};
use tamis_batches::printable;

impl Architecture {
    pub(super) fn check_tensors(&self) -> Result<(), Refusal> {
        let expected = self.tensor_names()?;
        for (index, tensor) in self.tensors.iter().enumerate() {
            let refuse = |key| move |cause| (Place::Tensor(index, printable(&tensor.name), key), cause);
            name(&tensor.name).map_err(refuse("name"))?;
            if !expected.contains(&tensor.name) {
                return Err(refuse("name")(Cause::UnusedTensor { advice: advice(&tensor.name, &expected) }));
            }
            if let Some(first) = self.tensors[..index].iter().position(|other| other.name == tensor.name) {
                let first = format!("tensor {}", first + 1);
                return Err(refuse("name")(Cause::Duplicate { name: tensor.name.clone(), first }));
            }
            self.check_scale(tensor).map_err(refuse("scale"))?;
            if tensor.r#type == ElementType::F32 && tensor.rounding != Rounding::Nearest {
                return Err(refuse("rounding")(Cause::Meaningless { why: "an f32 tensor is stored as it is" }));
            }
        }
        // Everything listed is expected and nothing twice: a length that differs means that something is missing.
        for (index, layer) in self.layers.iter().enumerate() {
            for name in [self.weights_name(index), self.bias_name(index)] {
                if self.tensor(&name).is_none() {
                    let cause = Cause::UnlistedTensor { name, layer: layer.name.clone() };
                    return Err((Place::Top("tensor"), cause));
                }
            }
        }
        self.check_product_shifts()
    }

    /// The names that the layers use, in layer order, each checked and used once.
    fn tensor_names(&self) -> Result<Vec<String>, Refusal> {
        let mut names: Vec<String> = Vec::with_capacity(2 * self.layers.len());
        for (index, layer) in self.layers.iter().enumerate() {
            for part in [Part::Weights, Part::Bias] {
                let (key, found) = match part {
                    Part::Weights => ("weights", self.weights_name(index)),
                    Part::Bias => ("bias", self.bias_name(index)),
                };
                let refuse = |cause| (Place::Layer(index, layer.name.clone(), key), cause);
                name(&found).map_err(refuse)?;
                if names.contains(&found) {
                    let first = "another layer, or by the other part of this one".to_owned();
                    return Err(refuse(Cause::Duplicate { name: found, first }));
                }
                names.push(found);
            }
        }
        self.psqt_names(&mut names)?;
        Ok(names)
    }

    fn check_scale(&self, tensor: &TensorSpec) -> Result<(), Cause> {
        match (tensor.r#type, tensor.scale) {
            (ElementType::F32, Some(_)) => Err(Cause::Meaningless { why: "an f32 tensor is stored as it is" }),
            (ElementType::F32, None) => Ok(()),
            (_, Some(_)) if self.input.kind == InputKind::Dense => Err(Cause::Meaningless {
                why: "a dense network's scales come from its weights and its activations' ranges",
            }),
            (_, None) if self.input.kind == InputKind::Dense => Ok(()),
            (_, None) => Err(Cause::Missing {
                why: "say what an integer tensor was multiplied by before rounding (255 for `l0w` of a usual network)",
            }),
            // bullet's own multipliers are i16 for i8 and i16 targets, i32 for i32 targets.
            // Weights that are rounded are no trainer's.
            (ElementType::I16, Some(scale))
                if self.output.divide == HeadDivision::Rounded && tensor.name == self.weights_name(1) =>
            {
                range(scale, 1, i32::MAX)
            }
            (ElementType::I8 | ElementType::I16, Some(scale)) => range(scale, 1, i32::from(i16::MAX)),
            (ElementType::I32, Some(scale)) => range(scale, 1, i32::MAX),
        }
    }

    /// A pairwise product that meets integer weights needs its shift, one of floats has none.
    fn check_product_shifts(&self) -> Result<(), Refusal> {
        for (index, layer) in self.layers.iter().enumerate() {
            if layer.activation != Activation::PairwiseCrelu {
                continue;
            }
            let element = |index| self.tensor(&self.weights_name(index)).map(|tensor| tensor.r#type);
            let meets_integers = element(index + 1).is_some_and(|element| element != ElementType::F32);
            let cause = match (element(index), layer.product_shift) {
                (Some(ElementType::F32), Some(_)) => Cause::Meaningless { why: "the layer's weights are f32" },
                (Some(ElementType::F32), None) | (_, Some(_)) => continue,
                (_, None) if !meets_integers => continue,
                (_, None) => Cause::Missing {
                    why: "say how far the product of two integer activations is shifted right (bullet engines use 9)",
                },
            };
            return Err((Place::Layer(index, layer.name.clone(), "product_shift"), cause));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{SMALL, refused, spoiled};
    use crate::arch::Architecture;

    #[test]
    fn the_list_is_exactly_what_the_layers_use() {
        assert_eq!(
            spoiled("name = \"l1b\"", "name = \"l1bias\""),
            "tensor 4 (`l1bias`), name: no layer uses this tensor; expected one of `l0w`, `l0b`, `l1w`, `l1b`"
        );
        let doubled = format!("{SMALL}[[tensor]]\nname = \"l0w\"\ntype = \"f32\"\n");
        assert!(refused(&doubled).contains("the name `l0w` is already used by tensor 1"));
        let missing = spoiled("[[tensor]]\nname = \"l1b\"\ntype = \"i16\"\nscale = 16320\n", "");
        assert!(missing.starts_with("tensor: the tensor `l1b` of layer `l1` is not listed"), "{missing}");
        let shared = spoiled("outputs = 1\n", "outputs = 1\nweights = \"l0w\"\n");
        assert!(shared.starts_with("layer 2 (`l1`), weights: the name `l0w` is already used"), "{shared}");
        let same = spoiled("outputs = 1\n", "outputs = 1\nweights = \"x\"\nbias = \"x\"\n");
        assert!(same.contains("bias: the name `x`"), "{same}");
    }

    #[test]
    fn scales_belong_to_integers() {
        assert!(spoiled("scale = 255\n", "").contains("scale: is missing"));
        assert!(spoiled("scale = 255", "scale = 0").contains("0 is outside 1 to 32767"));
        assert!(spoiled("scale = 255", "scale = 32768").contains("32768 is outside 1 to 32767"));
        assert!(spoiled("scale = 255", "scale = -255").contains("-255 is outside"));
        assert!(spoiled("type = \"i16\"", "type = \"f32\"").contains("stored as it is"));
        let truncated = spoiled("type = \"i16\"\nscale = 255", "type = \"f32\"\nrounding = \"truncate\"");
        assert!(truncated.contains("rounding: has no meaning"), "{truncated}");
        let wide = SMALL.replace("type = \"i16\"\nscale = 16320", "type = \"i32\"\nscale = 2147483647");
        Architecture::from_toml(&wide, "x").unwrap();
        let dense = "kind = \"dense\"\nsize = 4\ntype = \"u7\"\nmax = 1.0";
        assert!(spoiled("kind = \"chess\"\nperspectives = 2", dense).contains("a dense network's scales come from"));
    }

    #[test]
    fn a_pairwise_product_of_integers_needs_a_shift() {
        assert!(spoiled("\"screlu\"", "\"pairwise-crelu\"").contains("product_shift: is missing"));
        let real_next =
            SMALL.replace("\"screlu\"", "\"pairwise-crelu\"").replace("type = \"i16\"\nscale = 64", "type = \"f32\"");
        Architecture::from_toml(&real_next, "x").unwrap();
        let float = SMALL.replace("\"screlu\"", "\"pairwise-crelu\"").replacen(
            "type = \"i16\"\nscale = 255",
            "type = \"f32\"",
            1,
        );
        Architecture::from_toml(&float, "x").unwrap();
        let shifted = float.replace("\"pairwise-crelu\"", "\"pairwise-crelu\"\nproduct_shift = 9");
        assert!(refused(&shifted).contains("the layer's weights are f32"));
    }
}
