//! The one text of a description: what `quantised.bin` carries.
//!
//! Written by hand rather than by the TOML crate, because the bytes enter a file that must be the same whatever
//! version of that crate wrote it. Keys stand in the order of the types, what is absent or off is left out, reals have
//! the shortest digits that read back as the same number.

use std::fmt::{Display, Write};

use super::types::{
    Architecture, DenseType, ElementType, HeadDivision, InputKind, Layer, PsqtOf, Rounding, TensorSpec,
};

impl Architecture {
    /// The canonical text. Equal descriptions give equal bytes, and [`Architecture::from_toml`] gives a checked
    /// description back.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut text = Text(String::new());
        text.set("schema", Some(self.schema));
        text.quote("name", Some(&self.name));
        self.write_input(&mut text);
        if let Some(buckets) = &self.buckets {
            text.table("[buckets]");
            text.set("count", Some(buckets.count));
            text.list("by_piece_count", buckets.by_piece_count.as_deref());
            text.quote("counted", buckets.counted.as_deref());
            text.list("by_side_counts", buckets.by_side_counts.as_deref());
        }
        text.table("[output]");
        text.set("scale", Some(self.output.scale));
        text.quote("divide", Some(self.output.divide.word()).filter(|_| self.output.divide != HeadDivision::default()));
        if let Some(psqt) = &self.psqt {
            text.table("[psqt]");
            text.quote("weights", Some(&psqt.weights));
            text.quote("bias", psqt.bias.as_deref());
            text.quote("of", psqt.of.map(PsqtOf::word));
            text.flag("bucketed", psqt.bucketed);
        }
        text.table("[file]");
        text.set("header_len_bytes", (self.file.header_len_bytes != 0).then_some(self.file.header_len_bytes));
        text.quote("header_magic", self.file.header_magic.as_deref());
        text.quote("header_hex", self.file.header_hex.as_deref());
        text.quote("tail", Some(self.file.tail.word()));
        for layer in &self.layers {
            write_layer(&mut text, layer);
        }
        for tensor in &self.tensors {
            write_tensor(&mut text, tensor);
        }
        text.0
    }

    fn write_input(&self, text: &mut Text) {
        let input = &self.input;
        text.table("[input]");
        let kind = match input.kind {
            InputKind::Chess => "chess",
            InputKind::Features => "features",
            InputKind::Dense => "dense",
        };
        text.quote("kind", Some(kind));
        text.set("size", input.size);
        text.set("perspectives", input.perspectives);
        text.flag("other_first", input.other_first);
        text.flag("mirrored", input.mirrored);
        text.flag("merged_kings", input.merged_kings);
        text.list("king_buckets", input.king_buckets.as_deref());
        text.set("max_active", input.max_active);
        let element = input.r#type.map(|element| match element {
            DenseType::U7 => "u7",
            DenseType::I8 => "i8",
        });
        text.quote("type", element);
        text.real("max", input.max);
    }
}

fn write_layer(text: &mut Text, layer: &Layer) {
    text.table("[[layer]]");
    text.quote("name", Some(&layer.name));
    text.set("outputs", Some(layer.outputs));
    text.quote("activation", Some(layer.activation.word()));
    text.flag("gated", layer.gated);
    text.flag("bucketed", layer.bucketed);
    text.set("skip", (layer.skip != 0).then_some(layer.skip));
    text.quote("factoriser", layer.factoriser.as_deref());
    text.real("activation_max", layer.activation_max);
    text.set("product_shift", layer.product_shift);
    text.set("product_rounded", layer.product_rounded.then_some(true));
    text.set("activation_shift", layer.activation_shift);
    text.quote("weights", layer.weights.as_deref());
    text.quote("bias", layer.bias.as_deref());
}

fn write_tensor(text: &mut Text, tensor: &TensorSpec) {
    text.table("[[tensor]]");
    text.quote("name", Some(&tensor.name));
    text.quote("type", Some(tensor.r#type.word()));
    text.set("scale", tensor.scale);
    // An f32 tensor is not rounded, and `nearest` is what reading such a table gives.
    let rounds = tensor.r#type != ElementType::F32 || tensor.rounding != Rounding::default();
    text.quote("rounding", rounds.then_some(tensor.rounding.word()));
    text.flag("transposed", tensor.transposed);
}

/// Lines of TOML.
struct Text(String);

impl Text {
    fn table(&mut self, header: &str) {
        self.0.push('\n');
        self.0.push_str(header);
        self.0.push('\n');
    }

    fn set(&mut self, key: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            // Writing to a String cannot fail.
            let _ = writeln!(self.0, "{key} = {value}");
        }
    }

    fn flag(&mut self, key: &str, value: bool) {
        self.set(key, value.then_some("true"));
    }

    /// `{:?}` of a finite f64 is TOML: it has a point or an exponent, and the shortest digits that read back.
    fn real(&mut self, key: &str, value: Option<f64>) {
        self.set(key, value.map(|value| format!("{value:?}")));
    }

    fn list(&mut self, key: &str, values: Option<&[u8]>) {
        let Some(values) = values else { return };
        let words: Vec<String> = values.iter().map(u8::to_string).collect();
        self.set(key, Some(format!("[{}]", words.join(", "))));
    }

    fn quote(&mut self, key: &str, value: Option<&str>) {
        let Some(value) = value else { return };
        let mut quoted = String::with_capacity(value.len() + 2);
        for character in value.chars() {
            match character {
                '"' | '\\' => quoted.extend(['\\', character]),
                control if control.is_control() => {
                    let _ = write!(quoted, "\\u{:04X}", u32::from(control));
                }
                other => quoted.push(other),
            }
        }
        self.set(key, Some(format!("\"{quoted}\"")));
    }
}

#[cfg(test)]
mod tests {
    use crate::arch::Architecture;
    use crate::arch::check::tests::SMALL;

    #[test]
    fn the_text_is_fixed() {
        let text = Architecture::from_toml(SMALL, "x").unwrap().to_toml();
        let expected = "schema = 1\nname = \"small\"\n\n[input]\nkind = \"chess\"\nperspectives = 2\n\n[output]\n\
            scale = 1\n\n[file]\ntail = \"bullet\"\n\n[[layer]]\nname = \"l0\"\noutputs = 64\nactivation = \
            \"screlu\"\n\n\
            [[layer]]\nname = \"l1\"\noutputs = 1\nactivation = \"identity\"\n\n[[tensor]]\nname = \"l0w\"\n\
            type = \"i16\"\nscale = 255\nrounding = \"nearest\"\n";
        assert!(text.starts_with(expected), "{text}");
    }

    #[test]
    fn it_reads_back_equal_and_is_its_own_canonical_text() {
        let dense = r#"
            schema = 1
            name = "quo\"te \\ é"
            [input]
            kind = "dense"
            size = 4
            type = "i8"
            max = 1e-7
            [file]
            header_len_bytes = 2
            header_magic = "\""
            header_hex = "22fF"
            tail = "zeros"
            [[layer]]
            name = "a"
            outputs = 4
            activation = "relu"
            activation_max = 0.1
            weights = "\\"
            [[layer]]
            name = "b"
            outputs = 2
            bias = "bias"
            [[tensor]]
            name = "\\"
            type = "i8"
            transposed = true
            [[tensor]]
            name = "ab"
            type = "i32"
            rounding = "truncate"
            [[tensor]]
            name = "bias"
            type = "f32"
            [[tensor]]
            name = "bw"
            type = "f32"
        "#;
        for text in [SMALL, dense] {
            let first = Architecture::from_toml(text, "x").unwrap();
            let canonical = first.to_toml();
            let second = Architecture::from_toml(&canonical, "y").unwrap();
            assert_eq!(first, second);
            assert_eq!(canonical, second.to_toml());
        }
    }
}
