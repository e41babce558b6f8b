//! A network's sizes as constants, those that its kind has.

use super::Outputs;
use std::fmt::Write;
use tamis_runtime::format::Model;
use tamis_runtime::raw::{element, input_kind};

/// All of them, a line of documentation each.
pub fn of(model: &Model<'_>, signature: u64, output: Outputs) -> String {
    let (input, mut text) = (model.input(), String::new());
    let mut add = |doc: &str, name: &str, kind: &str, value: String| {
        // A string takes all that is written to it.
        let _ = write!(text, "/// {doc}\npub const {name}: {kind} = {value};\n\n");
    };
    add("Length of the container.", "LEN_BYTES", "usize", model.bytes().len().to_string());
    let hexadecimal = |number: u64| format!("0x{number:016x}");
    add("The container's checksum.", "CHECKSUM", "u64", hexadecimal(model.header().checksum()));
    add("What [`Network::signature`] gives on every tier and board.", "SIGNATURE", "u64", hexadecimal(signature));
    let has_values = input.kind == input_kind::SPARSE && input.element == element::I16;
    match input.kind {
        input_kind::DENSE => dense(model, &mut add),
        _ => add("Features; the first is 0.", "FEATURES", "u32", input.size.to_string()),
    }
    if has_values {
        add("The real value of one unit of the input.", "INPUT_UNIT", "f32", format!("{:?}", input.unit));
    }
    if input.kind == input_kind::FEATURES {
        add("Width of one accumulator.", "HIDDEN", "usize", input.hidden.to_string());
        add("Accumulators of a position.", "PERSPECTIVES", "usize", input.perspectives.to_string());
        add(
            "The most features active at once, in one perspective.",
            "MAX_ACTIVE",
            "usize",
            input.max_active.to_string(),
        );
    }
    if input.kind == input_kind::SPARSE {
        let doc = match input.exact {
            1 => "Features that are active, in every example.",
            _ => "The most features active at once.",
        };
        add(doc, "MAX_ACTIVE", "usize", input.max_active.to_string());
    }
    add("Output buckets.", "BUCKETS", "usize", input.bucket_count.to_string());
    add("Numbers that come out.", "OUTPUT_LEN", "usize", output.len.to_string());
    add("The real value of one unit of the output.", "OUTPUT_UNIT", "f32", format!("{:?}", input.output_unit));
    add(
        "Scratch memory that an evaluation needs.",
        "WORKSPACE_LEN_BYTES",
        "usize",
        model.workspace_len_bytes().to_string(),
    );
    text
}

/// Of a vector or a map: how many numbers, and which real number each stands for.
fn dense(model: &Model<'_>, add: &mut impl FnMut(&str, &str, &str, String)) {
    // A container that parses has value 0, which is the input.
    let (input, Some(value)) = (model.input(), model.values().first()) else { return };
    let pixels = value.pixels();
    if pixels == [1, 1] {
        add("Numbers that go in.", "INPUT_LEN", "usize", input.size.to_string());
    } else {
        let [height, width] = pixels;
        add("Rows of pixels that go in.", "INPUT_HEIGHT", "usize", height.to_string());
        add("Pixels of a row.", "INPUT_WIDTH", "usize", width.to_string());
        add("Numbers of a pixel.", "INPUT_CHANNELS", "usize", (input.size / (height * width)).to_string());
        let product = "INPUT_HEIGHT * INPUT_WIDTH * INPUT_CHANNELS".to_owned();
        add("Numbers that go in: row after row, in a row pixel after pixel.", "INPUT_LEN", "usize", product);
    }
    add("The real value of one unit of the input.", "INPUT_UNIT", "f32", format!("{:?}", input.unit));
    if input.element != element::F32 {
        add("The integer that stands for the real 0 in the input.", "INPUT_ZERO", "i32", value.zero.to_string());
    }
}
