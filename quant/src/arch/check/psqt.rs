//! Piece-square values beside the layers: their tensors, and what is made of both perspectives.

use super::{Refusal, name};
use crate::arch::error::{Cause, Place};
use crate::arch::types::{Architecture, ElementType, InputKind, Psqt, PsqtOf};

fn at(key: &'static str) -> impl Fn(Cause) -> Refusal {
    move |cause| (Place::Table("psqt", key), cause)
}

impl Architecture {
    /// The names, after those that the layers use.
    pub(super) fn psqt_names(&self, names: &mut Vec<String>) -> Result<(), Refusal> {
        let Some(psqt) = &self.psqt else { return Ok(()) };
        let bias = psqt.bias.as_ref().map(|bias| ("bias", bias));
        for (key, found) in [("weights", &psqt.weights)].into_iter().chain(bias) {
            name(found).map_err(at(key))?;
            if names.contains(found) {
                let first = "a layer, or by the other key here".to_owned();
                return Err(at(key)(Cause::Duplicate { name: found.clone(), first }));
            }
            names.push(found.clone());
        }
        Ok(())
    }

    pub(super) fn check_psqt(&self) -> Result<(), Refusal> {
        let Some(psqt) = &self.psqt else { return Ok(()) };
        let meaningless = |key, why| Err(at(key)(Cause::Meaningless { why }));
        if self.input.kind == InputKind::Dense {
            return meaningless("weights", "piece-square values are of features, and the input is a vector");
        }
        if psqt.bucketed && self.buckets.is_none() {
            return meaningless("bucketed", "there is no [buckets] table to say how many buckets there are");
        }
        if self.perspectives() == 1 && psqt.of.is_some_and(|of| of != PsqtOf::Own) {
            return meaningless("of", "there is one perspective only, whose own values are added");
        }
        self.check_psqt_tensors(psqt)
    }

    /// Integers, since accumulators add up nothing else, and in both tensors of one scale.
    fn check_psqt_tensors(&self, psqt: &Psqt) -> Result<(), Refusal> {
        let listed = |key, name: &str| {
            let spec = self.tensor(name).ok_or_else(|| at(key)(Cause::NotListed { name: name.to_owned() }))?;
            if spec.r#type == ElementType::F32 {
                let why = "is f32, and values of features are added up as integers; give it such a type and a scale";
                return Err(at(key)(Cause::UnfitTensor { name: name.to_owned(), why }));
            }
            Ok(spec)
        };
        let weights = listed("weights", &psqt.weights)?;
        let Some(bias) = &psqt.bias else { return Ok(()) };
        if listed("bias", bias)?.scale != weights.scale {
            let why = "has another scale than the weights that it is added to; give both the same";
            return Err(at("bias")(Cause::UnfitTensor { name: bias.clone(), why }));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{SMALL, refused};
    use crate::arch::{Architecture, PsqtOf};

    const TENSORS: &str = "[[tensor]]\nname = \"pstw\"\ntype = \"i16\"\nscale = 64\n";

    #[test]
    fn defaults_are_a_difference_of_pstw() {
        let arch = Architecture::from_toml(&format!("{SMALL}{TENSORS}[psqt]\n"), "x").unwrap();
        assert_eq!((arch.psqt_rows(), arch.psqt_of()), (1, Some(PsqtOf::Difference)));
        assert_eq!((arch.tensor_shape("pstw"), arch.tensor_shape("pstb")), (Some((1, 768)), None));
        let one = SMALL.replace("perspectives = 2", "perspectives = 1");
        let arch = Architecture::from_toml(&format!("{one}{TENSORS}[psqt]\n"), "x").unwrap();
        assert_eq!(arch.psqt_of(), Some(PsqtOf::Own));
        assert_eq!(Architecture::from_toml(&arch.to_toml(), "y").unwrap(), arch);
        assert_eq!(Architecture::from_toml(SMALL, "x").unwrap().psqt_rows(), 0);
    }

    #[test]
    fn contradictions_name_their_key() {
        let bias = "[[tensor]]\nname = \"pstb\"\ntype = \"i32\"\nscale = 65\n";
        let reals = TENSORS.replace("type = \"i16\"\nscale = 64", "type = \"f32\"");
        for (text, expected) in [
            (format!("{SMALL}[psqt]\n"), "psqt.weights: no [[tensor]] is called `pstw`"),
            (format!("{SMALL}{reals}[psqt]\n"), "psqt.weights: the tensor `pstw` is f32, and values"),
            (format!("{SMALL}{TENSORS}[psqt]\nbucketed = true\n"), "psqt.bucketed: has no meaning here: there is no"),
            (format!("{SMALL}{TENSORS}[psqt]\nbias = \"pstw\"\n"), "psqt.bias: the name `pstw` is already used"),
            (format!("{SMALL}[psqt]\nweights = \"l0w\"\n"), "psqt.weights: the name `l0w` is already used by a layer"),
            (
                format!("{SMALL}{TENSORS}{bias}[psqt]\nbias = \"pstb\"\n"),
                "psqt.bias: the tensor `pstb` has another scale",
            ),
        ] {
            let message = refused(&text);
            assert!(message.starts_with(expected), "{message}");
        }
        let one = SMALL.replace("perspectives = 2", "perspectives = 1");
        let message = refused(&format!("{one}{TENSORS}[psqt]\nof = \"half-difference\"\n"));
        assert!(message.starts_with("psqt.of: has no meaning here: there is one perspective only"), "{message}");
    }
}
