//! Which value of one graph is which of another, told from the input on by what makes it.

use super::weights::{cosine, in_order, weights_of};
use crate::graph::description::Tensors;
use crate::graph::{Binary, Forest, Graph, Input, Node, Op, Pooling, Shape, Value, Window};

/// Whether what the one takes can be handed to the other: of vectors and maps the number of elements counts.
pub(super) fn same_input(own: Input, given: Input) -> bool {
    match (own, given) {
        (Input::Dense { shape: own }, Input::Dense { shape: given }) => own.len() == given.len(),
        (own, given) => own == given,
    }
}

/// Whether a node hands on the elements that it reads, in their order.
pub(super) const fn is_transparent(op: &Op) -> bool {
    matches!(op, Op::Flatten | Op::Reshape(_))
}

/// By the value of `own`, the value of `given` that it is, if there is one; none where the logits or the outputs do not
/// meet, or a layer with weights has no partner.
pub(super) fn values(own: &Graph, given: &Graph, tensors: &Tensors) -> Option<Vec<Option<Value>>> {
    let (ours, theirs) = (Side::of(own), Side::of(given));
    let mut values: Vec<Option<Value>> = vec![Some(0)];
    let mut taken = vec![false; given.nodes.len()];
    for (index, node) in own.nodes.iter().enumerate() {
        if is_transparent(&node.op) {
            values.push(values[node.reads[0]]);
            continue;
        }
        let reads: Option<Vec<Value>> = node.reads.iter().map(|read| values[*read]).collect();
        let fits = |other: &usize| {
            let reads_alike = reads.as_ref().is_some_and(|reads| same_reads(node, reads, &theirs.reads(*other)));
            !taken[*other] && reads_alike && alike((&ours, index), (&theirs, *other))
        };
        let mut candidates: Vec<usize> = (0..given.nodes.len()).filter(fits).collect();
        if candidates.len() > 1 {
            // Branches of one shape are told by their weights.
            let found = in_order(tensors, &node.name);
            let closeness = |other: &usize| {
                let truth = weights_of(&given.nodes[*other].op);
                found.as_deref().zip(truth).and_then(|(found, truth)| cosine(found, truth)).unwrap_or(-1.0)
            };
            candidates.sort_by(|a, b| closeness(b).total_cmp(&closeness(a)).then(a.cmp(b)));
        }
        let found = candidates.first().copied();
        found.into_iter().for_each(|other| taken[other] = true);
        values.push(found.map(|other| other + 1));
    }
    let is_lost = |(node, value): (&Node, &Option<Value>)| value.is_none() && weights_of(&node.op).is_some();
    let is_complete = !own.nodes.iter().zip(&values[1..]).any(is_lost);
    let weighted = |graph: &Graph| graph.nodes.iter().filter(|node| weights_of(&node.op).is_some()).count();
    let ends_meet = values[own.output()] == Some(given.root(given.output()))
        && values[own.logits()] == Some(given.root(given.logits()))
        && ours.shapes[own.output()].len() == theirs.shapes[given.output()].len();
    (is_complete && ends_meet && weighted(own) == weighted(given)).then_some(values)
}

/// A graph and the shapes of its values.
struct Side<'g> {
    graph: &'g Graph,
    shapes: Vec<Shape>,
}

impl<'g> Side<'g> {
    fn of(graph: &'g Graph) -> Self {
        Self { graph, shapes: graph.shapes() }
    }

    /// What a node reads; nothing of one that is transparent, which is nobody's partner.
    fn reads(&self, node: usize) -> Vec<Value> {
        let node = &self.graph.nodes[node];
        if is_transparent(&node.op) {
            return vec![usize::MAX];
        }
        node.reads.iter().map(|read| self.graph.root(*read)).collect()
    }
}

/// Sums read their terms in any order.
fn same_reads(node: &Node, own: &[Value], given: &[Value]) -> bool {
    let commutes = matches!(node.op, Op::Add | Op::Binary(Binary::Add | Binary::Mul | Binary::Max | Binary::Min));
    if !commutes {
        return own == given;
    }
    let sorted = |values: &[Value]| {
        let mut values = values.to_vec();
        values.sort_unstable();
        values
    };
    sorted(own) == sorted(given)
}

/// Whether two nodes do the same, whatever they are called and whatever their numbers are. A container may have fewer
/// channels, where those that say nothing were left out, and windows may lie otherwise over the same pixels.
fn alike((ours, index): (&Side<'_>, usize), (theirs, other): (&Side<'_>, usize)) -> bool {
    let (a, b) = (&ours.graph.nodes[index], &theirs.graph.nodes[other]);
    let (made, wanted) = (ours.shapes[index + 1], theirs.shapes[other + 1]);
    if (made.pixels(), made.channels > wanted.channels) != (wanted.pixels(), false) {
        return false;
    }
    let read = |side: &Side<'_>, node: &Node| node.reads.first().map(|read| side.shapes[side.graph.root(*read)]);
    let kernel =
        |side: &Side<'_>, node: &Node, made| read(side, node).and_then(|read| Sliding::of(&node.op, read, made));
    match (kernel(ours, a, made), kernel(theirs, b, wanted)) {
        (Some(a), Some(b)) => a == b,
        (None, None) => bare(&a.op) == bare(&b.op),
        _ => false,
    }
}

/// What slides over a map, in whichever operation it stands.
#[derive(Debug, PartialEq)]
struct Sliding {
    kind: &'static str,
    kernel: [usize; 2],
    /// 1 where there is one place.
    stride: [usize; 2],
    /// 1 where there is one tap.
    dilation: [usize; 2],
    groups: Groups,
}

/// Groups of channels that do not see one another.
#[derive(Debug, PartialEq)]
enum Groups {
    /// Every channel is one.
    Each,
    /// So many.
    Of(usize),
}

impl Sliding {
    fn of(op: &Op, read: Shape, made: Shape) -> Option<Self> {
        let (kind, window, groups) = match op {
            Op::Linear { weights, .. } if weights.inputs == read.len() => {
                ("affine", Window::of([read.height, read.width]), 1)
            }
            Op::Linear { .. } => ("affine", Window::of([1, 1]), 1),
            Op::PerChannel { .. } => ("affine", Window::of([1, 1]), read.channels),
            Op::Convolution { window, groups, .. } => ("affine", *window, *groups),
            Op::TransposedConvolution { window, groups, .. } => ("transposed", *window, *groups),
            Op::Pool { window, kind } => {
                let is_padded = window.before != [0, 0] || window.after != [0, 0];
                let kind = match kind {
                    Pooling::Max => "max",
                    Pooling::AverageWithPadding if is_padded => "mean with padding",
                    Pooling::Average | Pooling::AverageWithPadding => "mean",
                };
                (kind, *window, 1)
            }
            _ => return None,
        };
        let sides = [made.height, made.width];
        let along =
            |value: [usize; 2], matters: [bool; 2]| [0, 1].map(|axis| if matters[axis] { value[axis] } else { 1 });
        Some(Self {
            kind,
            kernel: window.kernel,
            stride: along(window.stride, sides.map(|side| side > 1 || kind == "transposed")),
            dilation: along(window.dilation, window.kernel.map(|taps| taps > 1)),
            groups: if groups > 1 && groups == read.channels { Groups::Each } else { Groups::Of(groups) },
        })
    }
}

/// An operation without its numbers.
fn bare(op: &Op) -> Op {
    let mut op = op.clone();
    match &mut op {
        Op::SparseLinear { weights, bias } => {
            weights.values.clear();
            bias.clear();
        }
        Op::Embed { table } => table.values.clear(),
        Op::PRelu { slopes: numbers } | Op::Constant { values: numbers, .. } => numbers.clear(),
        Op::Trees(forest) => *forest = Forest { rate: forest.rate, trees: Vec::new() },
        _ => {}
    }
    op
}
