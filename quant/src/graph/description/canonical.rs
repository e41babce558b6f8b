//! The one text of a description, written by hand so that its bytes depend on nothing but the description.

use super::check::{ALWAYS_INPUT, INPUT};
use super::keys::Word;
use super::types::{Described, DescribedOp, Description, Order, VERSION};
use crate::graph::{Activation, Input, Value};
use std::fmt::{Display, Write};

impl Description {
    /// The canonical text: keys in a fixed order, what has its default left out, reals with the shortest digits that
    /// read back as the same number. Equal descriptions give equal bytes, and [`Description::from_toml`] gives the
    /// description back.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        set(&mut text, "graph", VERSION);
        set(&mut text, "name", quoted(&self.name));
        text.push_str("\n[input]\n");
        match self.input {
            Input::Dense { shape } => {
                set(&mut text, "kind", quoted("dense"));
                set(&mut text, "size", shape.len());
            }
            Input::Sparse { features, max_active, exact } => {
                set(&mut text, "kind", quoted("sparse"));
                set(&mut text, "features", features);
                set(&mut text, "max_active", max_active);
                if exact {
                    set(&mut text, "exact", true);
                }
            }
        }
        for (index, node) in self.nodes.iter().enumerate() {
            text.push_str("\n[[node]]\n");
            set(&mut text, "name", quoted(&node.name));
            set(&mut text, "op", quoted(node.op.word().text()));
            if node.reads != [index] {
                let names: Vec<String> = node.reads.iter().map(|read| quoted(self.value_name(*read, index))).collect();
                set(&mut text, "reads", format!("[{}]", names.join(", ")));
            }
            write_op(&mut text, node);
        }
        text
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

fn write_op(text: &mut String, node: &Described) {
    let name = |text: &mut String, key, part, tensor: &str| {
        if tensor != Described::default_tensor(&node.name, part) {
            set(text, key, quoted(tensor));
        }
    };
    let order = |text: &mut String, word: Word, order: Order| {
        if order != word.default_order() {
            set(text, "order", quoted(order.word()));
        }
    };
    match &node.op {
        DescribedOp::Linear { outputs, weights, bias, order: lies, .. } => {
            set(text, "outputs", outputs);
            name(text, "weights", "weight", weights);
            match bias {
                Some(bias) => name(text, "bias", "bias", bias),
                None => set(text, "bias", false),
            }
            order(text, node.op.word(), *lies);
        }
        DescribedOp::Embed { width, table, order: lies } => {
            set(text, "width", width);
            name(text, "table", "table", table);
            order(text, node.op.word(), *lies);
        }
        DescribedOp::FmTerm { width } | DescribedOp::BiInteraction { width } | DescribedOp::InnerProducts { width } => {
            set(text, "width", width);
        }
        // `{:?}` of a finite f64 is TOML: it has a point or an exponent.
        DescribedOp::Scale(factor) => set(text, "factor", format!("{factor:?}")),
        DescribedOp::Activation(Activation::LeakyRelu { alpha }) => set(text, "alpha", format!("{alpha:?}")),
        DescribedOp::Trees { rate, trees, slots } => {
            set(text, "rate", format!("{rate:?}"));
            set(text, "trees", trees);
            set(text, "slots", slots);
        }
        DescribedOp::Activation(_) | DescribedOp::Concat | DescribedOp::Add | DescribedOp::Flatten => {}
    }
}

fn set(text: &mut String, key: &str, value: impl Display) {
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{key} = {value}");
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
