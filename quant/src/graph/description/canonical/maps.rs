//! Windows, shapes and sizes in canonical text.

use super::{Text, quoted};
use crate::graph::description::types::{Described, Kernel};
use crate::graph::{Shape, Window};

impl Text {
    pub(super) fn kernel(
        &mut self,
        node: &Described,
        kernel: &Kernel,
        read: Shape,
        (same, size): (Window, Option<[usize; 2]>),
        is_depthwise: bool,
    ) {
        if !is_depthwise || kernel.outputs != read.channels {
            self.set("outputs", kernel.outputs);
        }
        self.window(&kernel.window, [1, 1], same);
        if let Some(size) = size {
            self.set("size", pair(size));
        }
        if !is_depthwise && kernel.groups != 1 {
            self.set("groups", kernel.groups);
        }
        self.tensor(&node.name, "weights", "weight", &kernel.weights);
        self.optional(&node.name, "bias", "bias", kernel.bias.as_deref());
        if node.op.word(read).kernel_orders().first() != Some(&kernel.order) {
            self.set("order", quoted(kernel.order.word()));
        }
    }

    pub(super) fn window(&mut self, window: &Window, default_stride: [usize; 2], same: Window) {
        let Window { kernel, stride, dilation, before, after } = *window;
        self.set("kernel", pair(kernel));
        if stride != default_stride {
            self.set("stride", pair(stride));
        }
        if dilation != [1; 2] {
            self.set("dilation", pair(dilation));
        }
        if [before, after] == [[0; 2]; 2] {
            return;
        }
        let [top, left, bottom, right] = [before[0], before[1], after[0], after[1]];
        if *window == same {
            self.set("padding", quoted("same"));
        } else if before == after {
            self.set("padding", pair(before));
        } else {
            self.set("padding", format!("[{top}, {left}, {bottom}, {right}]"));
        }
    }

    pub(super) fn shape(&mut self, shape: Shape) {
        let [height, width, channels] = shape.axes();
        if shape.is_vector() {
            self.set("shape", channels);
        } else {
            self.set("shape", format!("[{height}, {width}, {channels}]"));
        }
    }

    pub(super) fn triple(&mut self, key: &str, values: [usize; 3], default: [usize; 3]) {
        if values != default {
            self.set(key, triple(values, default[2]));
        }
    }
}

/// One number for two equal ones.
pub(super) fn pair([down, across]: [usize; 2]) -> String {
    if down == across { down.to_string() } else { format!("[{down}, {across}]") }
}

/// The channels left out where they are what they are without being said.
pub(super) fn triple([down, across, channels]: [usize; 3], default: usize) -> String {
    if channels == default { pair([down, across]) } else { format!("[{down}, {across}, {channels}]") }
}
