//! The one text of a description, written by hand so that its bytes depend on nothing but the description.

mod maps;

use self::maps::{pair, triple};
use super::check::{ALWAYS_INPUT, INPUT};
use super::keys::{ELU_ALPHA, EPSILON, HARD_SIGMOID_ALPHA, HARD_SIGMOID_BETA, Word};
use super::node::{COORDINATES, ROUNDINGS, default_coordinates, transposed_same, transposed_size};
use super::order::Order;
use super::read::AXES;
use super::skeleton::Skeleton;
use super::types::{Described, DescribedOp, Description, VERSION};
use crate::graph::shapes::Numbers;
use crate::graph::{Activation, Axis, Fill, Input, Pooling, Rounding, Sampling, Shape, Value, Window};
use std::fmt::{Display, Write};

impl Description {
    /// The canonical text: keys in a fixed order, what has its default left out, reals with the shortest digits that
    /// read back as the same number. Equal descriptions give equal bytes, and [`Description::from_toml`] gives the
    /// description back.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut text = Text(String::new());
        text.set("graph", VERSION);
        text.set("name", quoted(&self.name));
        text.0.push_str("\n[input]\n");
        match self.input {
            Input::Dense { shape } => {
                text.set("kind", quoted("dense"));
                if shape.is_vector() { text.set("size", shape.len()) } else { text.shape(shape) }
            }
            Input::Sparse { features, max_active, exact } => {
                text.set("kind", quoted("sparse"));
                text.set("features", features);
                text.set("max_active", max_active);
                if exact {
                    text.set("exact", true);
                }
            }
        }
        let skeleton = Skeleton::of(self, Numbers::Absent);
        for (index, node) in self.nodes.iter().enumerate() {
            let read = node.reads.first().map_or(Shape::map(0, 0, 0), |read| skeleton.shape(*read));
            text.0.push_str("\n[[node]]\n");
            text.set("name", quoted(&node.name));
            text.set("op", quoted(node.op.word(read).text()));
            if node.reads != node.default_reads(index) {
                let names: Vec<String> = node.reads.iter().map(|read| quoted(self.value_name(*read, index))).collect();
                text.set("reads", format!("[{}]", names.join(", ")));
            }
            text.op(node, read);
        }
        text.0
    }

    /// What node `reader` calls a value.
    fn value_name(&self, value: Value, reader: usize) -> &str {
        match value.checked_sub(1).and_then(|node| self.nodes.get(node)) {
            Some(node) => &node.name,
            None if self.nodes.iter().take(reader).any(|node| node.name == INPUT) => ALWAYS_INPUT,
            None => INPUT,
        }
    }
}

/// What is written so far.
struct Text(String);

impl Text {
    fn op(&mut self, node: &Described, read: Shape) {
        let name = &node.name;
        match &node.op {
            DescribedOp::Linear { outputs, weights, bias, order, each_pixel, .. } => {
                self.set("outputs", outputs);
                self.tensor(name, "weights", "weight", weights);
                self.optional(name, "bias", "bias", bias.as_deref());
                self.order(node.op.word(read), *order);
                if *each_pixel {
                    self.set("each_pixel", true);
                }
            }
            DescribedOp::Embed { width, table, order } => {
                self.set("width", width);
                self.tensor(name, "table", "table", table);
                self.order(node.op.word(read), *order);
            }
            DescribedOp::FmTerm { width }
            | DescribedOp::BiInteraction { width }
            | DescribedOp::InnerProducts { width } => self.set("width", width),
            DescribedOp::Concat { axis } if *axis != Axis::Channels => {
                self.set("axis", quoted(axis_word(axis.index())))
            }
            DescribedOp::Constant { shape, values } => {
                self.shape(*shape);
                self.tensor(name, "values", "values", values);
            }
            DescribedOp::Scale(factor) => self.real("factor", *factor),
            DescribedOp::PerChannel { weights, bias } => {
                self.tensor(name, "weights", "weight", weights);
                self.optional(name, "bias", "bias", bias.as_deref());
            }
            DescribedOp::BatchNormalization { weights, bias, mean, variance, epsilon } => {
                self.optional(name, "weights", "weight", weights.as_deref());
                self.optional(name, "bias", "bias", bias.as_deref());
                self.tensor(name, "mean", "running_mean", mean);
                self.tensor(name, "variance", "running_var", variance);
                self.real_unless("epsilon", *epsilon, EPSILON);
            }
            DescribedOp::PRelu { weights } => self.tensor(name, "weights", "weight", weights),
            DescribedOp::Activation(activation) => self.activation(*activation),
            DescribedOp::Flatten { channels_first: true } => self.set("order", quoted("channels-first")),
            DescribedOp::Reshape(shape) => self.shape(*shape),
            DescribedOp::Transpose(axes) => {
                let words = axes.map(|axis| quoted(axis_word(axis)));
                self.set("axes", format!("[{}]", words.join(", ")));
            }
            DescribedOp::Slice { start, size, step } => {
                self.triple("start", *start, [0; 3]);
                self.set("size", triple(*size, read.channels));
                self.triple("step", *step, [1; 3]);
            }
            DescribedOp::Pad { before, after, fill } => {
                self.triple("before", *before, [0; 3]);
                self.triple("after", *after, [0; 3]);
                match fill {
                    Fill::Value(value) => self.real_unless("fill", *value, 0.0),
                    Fill::Reflect => self.set("fill", quoted("reflect")),
                    Fill::Edge => self.set("fill", quoted("edge")),
                }
            }
            DescribedOp::Resize { size, sampling, coordinates } => {
                self.set("size", pair(*size));
                match sampling {
                    Sampling::Nearest(Rounding::Floor) => {}
                    Sampling::Nearest(rounding) => self.word("rounding", &ROUNDINGS, *rounding),
                    Sampling::Bilinear => self.set("sampling", quoted("bilinear")),
                }
                if *coordinates != default_coordinates(*sampling) {
                    self.word("coordinates", &COORDINATES, *coordinates);
                }
            }
            DescribedOp::Convolution(kernel) => {
                let is_depthwise = node.op.word(read) == Word::Depthwise;
                let same = kernel.window.same([read.height, read.width]);
                self.kernel(node, kernel, read, (same, None), is_depthwise);
            }
            DescribedOp::TransposedConvolution { kernel, size } => {
                let has_size_of_same = *size == transposed_same(kernel.window.stride, read);
                let same = if has_size_of_same { kernel.window.same(*size) } else { Window::of([0; 2]) };
                let is_padded = [kernel.window.before, kernel.window.after] != [[0; 2]; 2];
                let is_usual = is_padded && kernel.window == same || *size == transposed_size(&kernel.window, read);
                self.kernel(node, kernel, read, (same, (!is_usual).then_some(*size)), false);
            }
            DescribedOp::Pool { window, kind } => {
                if matches!(node.op.word(read), Word::AveragePool | Word::MaxPool) {
                    self.window(window, window.kernel, window.same([read.height, read.width]));
                }
                if *kind == Pooling::AverageWithPadding {
                    self.set("count_padding", true);
                }
            }
            DescribedOp::Trees { rate, trees, slots } => {
                self.real("rate", *rate);
                self.set("trees", trees);
                self.set("slots", slots);
            }
            DescribedOp::Concat { .. }
            | DescribedOp::Add
            | DescribedOp::Binary(_)
            | DescribedOp::Flatten { channels_first: false } => {}
        }
    }

    fn activation(&mut self, activation: Activation) {
        match activation {
            Activation::LeakyRelu { alpha } => self.real("alpha", alpha),
            Activation::Clip { .. } if Word::of_activation(activation) == Word::Relu6 => {}
            Activation::Clip { low, high } => {
                self.real_unless("low", low, f64::NEG_INFINITY);
                self.real_unless("high", high, f64::INFINITY);
            }
            Activation::HardSigmoid { alpha, beta } => {
                self.real_unless("alpha", alpha, HARD_SIGMOID_ALPHA);
                self.real_unless("beta", beta, HARD_SIGMOID_BETA);
            }
            Activation::Elu { alpha } => self.real_unless("alpha", alpha, ELU_ALPHA),
            _ => {}
        }
    }

    fn order(&mut self, word: Word, order: Order) {
        if order != word.default_order() {
            self.set("order", quoted(order.word()));
        }
    }

    fn tensor(&mut self, node: &str, key: &str, part: &str, tensor: &str) {
        if tensor != Described::default_tensor(node, part) {
            self.set(key, quoted(tensor));
        }
    }

    fn optional(&mut self, node: &str, key: &str, part: &str, tensor: Option<&str>) {
        match tensor {
            Some(tensor) => self.tensor(node, key, part, tensor),
            None => self.set(key, false),
        }
    }

    fn word<T: PartialEq>(&mut self, key: &str, known: &[(&str, T)], value: T) {
        if let Some((word, _)) = known.iter().find(|(_, known)| *known == value) {
            self.set(key, quoted(word));
        }
    }

    /// `{:?}` of an f64 that is a number is TOML: it has a point or an exponent, or is `inf`.
    fn real(&mut self, key: &str, value: f64) {
        self.set(key, format!("{value:?}"));
    }

    /// Compared by bits, since a zero has a sign.
    fn real_unless(&mut self, key: &str, value: f64, default: f64) {
        if value.to_bits() != default.to_bits() {
            self.real(key, value);
        }
    }

    fn set(&mut self, key: &str, value: impl Display) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.0, "{key} = {value}");
    }
}

fn axis_word(index: usize) -> &'static str {
    AXES.iter().find(|(_, axis)| axis.index() == index).map_or("", |(word, _)| word)
}

fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}
