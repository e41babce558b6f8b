//! Which channels go.

use super::spans::{Channels, Reach, keeps_channels, reaches};
use crate::program::{Convolution, Element, Operation, Program, ProgramNode};

/// How a reader of a value depends on its channels.
pub(super) enum Tie {
    /// Each is multiplied by weights of its own.
    Weighed,
    /// Channel c becomes channel c + this of what is made.
    Along(usize),
    /// So many in a group become so many.
    Groups(usize, usize),
    /// All have to stay.
    Fixed,
}

/// How a node depends on what it reads at a place.
pub(super) fn tie(program: &Program, node: &ProgramNode, place: usize) -> Tie {
    let (from, to) = (program.shape(node.read(place)), node.value.shape);
    if node.reads[place].part.is_some() || node.value.element == Element::F32 {
        return Tie::Fixed;
    }
    let along = if from.channels == to.channels { Tie::Along(0) } else { Tie::Fixed };
    match &node.op {
        Operation::Convolution(_) if place == 1 => along,
        Operation::Convolution(op) if op.groups > 1 => {
            Tie::Groups(from.channels / op.groups, op.weights.outputs / op.groups)
        }
        Operation::Convolution(_) | Operation::Affine { .. } => Tie::Weighed,
        Operation::Pool { .. }
        | Operation::Elementwise { .. }
        | Operation::Pad { .. }
        | Operation::Resize { .. }
        | Operation::Lookup { .. } => along,
        // A multiplier an element.
        Operation::Requantise { .. } | Operation::Add if from.is_vector() && to.is_vector() => along,
        Operation::Move { start, steps } if keeps_channels(*start, *steps, from, to) => Tie::Along(0),
        Operation::Concat { runs } => {
            let (a, b) = (program.shape(node.read(0)), program.shape(node.read(1)));
            match place {
                _ if a.channels + b.channels == to.channels && *runs == to.pixels() => {
                    Tie::Along(if place == 0 { 0 } else { a.channels })
                }
                _ if a.channels == b.channels && *runs <= to.height => along,
                _ => Tie::Fixed,
            }
        }
        _ => Tie::Fixed,
    }
}

/// The channels of every value that stay, in order.
pub(super) fn kept(program: &Program, known: &Channels) -> Vec<Vec<usize>> {
    let mut classes = Classes::of(program);
    let members = classes.members();
    let mut stays: Vec<bool> = vec![true; classes.parents.len()];
    let mut left: Vec<usize> = (0..=program.nodes.len()).map(|value| program.shape(value).channels).collect();
    // A channel is read by fewer where channels behind it are gone.
    loop {
        let mut changed = false;
        for class in members.iter().rev() {
            let mut cost = vec![0; left.len()];
            class.iter().for_each(|(value, _)| cost[*value] += 1);
            let is_gone = !stays[classes.at(class[0].0, class[0].1)];
            let empties = cost.iter().zip(&left).any(|(cost, left)| *cost > 0 && cost == left);
            if is_gone || empties || !class.iter().all(|member| is_idle(program, known, &classes, &stays, *member)) {
                continue;
            }
            for (value, channel) in class {
                stays[classes.at(*value, *channel)] = false;
                left[*value] -= 1;
            }
            changed = true;
        }
        if !changed {
            break;
        }
    }
    let of = |value: usize| {
        let all = 0..program.shape(value).channels;
        all.filter(|channel| stays[classes.at(value, *channel)]).collect()
    };
    (0..=program.nodes.len()).map(of).collect()
}

/// Whether every reader that weighs a channel can do without it.
fn is_idle(
    program: &Program,
    known: &Channels,
    classes: &Classes,
    stays: &[bool],
    (value, channel): (usize, usize),
) -> bool {
    // What goes in and what comes out is given.
    if value == 0 || value == program.nodes.len() || program.element(value) == Element::F32 {
        return false;
    }
    // What makes it must be able to make fewer.
    let maker = &program.nodes[value - 1];
    if (0..maker.reads.len()).any(|place| matches!(tie(program, maker, place), Tie::Fixed)) {
        return false;
    }
    let constant = known.constant(value, channel);
    program.nodes.iter().enumerate().all(|(index, node)| {
        let is_kept = |row: usize| stays[classes.at(index + 1, row)];
        node.reads.iter().enumerate().filter(|(_, read)| read.value == value).all(|(place, _)| {
            match (tie(program, node, place), &node.op) {
                (Tie::Along(_) | Tie::Groups(..), _) => true,
                (Tie::Weighed, Operation::Convolution(op)) => absorbs(program, node, op, channel, constant, is_kept),
                (Tie::Weighed, Operation::Affine { weights, bias }) => {
                    let columns = weights.integers().chunks(weights.outputs).enumerate();
                    let mut own = columns.filter(|(element, _)| element % program.shape(value).channels == channel);
                    let is_read = own.any(|(_, column)| has_weight(column, &is_kept));
                    !is_read || (constant.is_some() && bias.is_some()) || constant == Some(0)
                }
                _ => false,
            }
        })
    })
}

/// Whether a convolution's sums stay as they are, but for the bias, without a channel.
fn absorbs(
    program: &Program,
    node: &ProgramNode,
    op: &Convolution,
    channel: usize,
    constant: Option<i64>,
    is_kept: impl Fn(usize) -> bool,
) -> bool {
    let from = program.shape(node.read(0));
    if constant == Some(program.zero(node.read(0)).into()) {
        return true;
    }
    let is_foldable = constant.is_some() && op.bias.is_some();
    reaches(op, from, node.value.shape).into_iter().enumerate().all(|(tap, reach)| {
        let start = op.weights.outputs * (tap * from.channels + channel);
        let column = &op.weights.integers()[start..start + op.weights.outputs];
        match reach {
            Reach::Outside => true,
            Reach::Inside if is_foldable => true,
            Reach::Inside | Reach::Either => !has_weight(column, &is_kept),
        }
    })
}

fn has_weight(column: &[i32], is_kept: &impl Fn(usize) -> bool) -> bool {
    column.iter().enumerate().any(|(row, weight)| *weight != 0 && is_kept(row))
}

/// Channels that go together, as trees of parents.
struct Classes {
    /// The number of each value's first channel.
    first: Vec<usize>,
    parents: Vec<usize>,
}

impl Classes {
    fn of(program: &Program) -> Self {
        let mut first = vec![0];
        for value in 0..=program.nodes.len() {
            first.push(first[value] + program.shape(value).channels);
        }
        let mut classes = Self { parents: (0..first[first.len() - 1]).collect(), first };
        for (index, node) in program.nodes.iter().enumerate() {
            for (place, read) in node.reads.iter().enumerate() {
                match tie(program, node, place) {
                    Tie::Along(offset) => {
                        (0..program.shape(read.value).channels).for_each(|channel| {
                            classes.join((read.value, channel), (index + 1, channel + offset));
                        });
                    }
                    Tie::Groups(inputs, outputs) => {
                        for channel in 0..program.shape(read.value).channels {
                            classes.join((read.value, channel), (index + 1, channel / inputs * outputs));
                        }
                        for output in 0..node.value.shape.channels {
                            classes.join((index + 1, output), (index + 1, output / outputs * outputs));
                        }
                    }
                    Tie::Weighed | Tie::Fixed => {}
                }
            }
        }
        classes
    }

    fn at(&self, value: usize, channel: usize) -> usize {
        self.first[value] + channel
    }

    fn root(&mut self, mut at: usize) -> usize {
        while self.parents[at] != at {
            self.parents[at] = self.parents[self.parents[at]];
            at = self.parents[at];
        }
        at
    }

    fn join(&mut self, a: (usize, usize), b: (usize, usize)) {
        let (a, b) = (self.root(self.at(a.0, a.1)), self.root(self.at(b.0, b.1)));
        // The later one is the root, so that classes come in the order of their last member.
        self.parents[a.min(b)] = a.max(b);
    }

    /// Each class as (value, channel), in the order of the last of them.
    fn members(&mut self) -> Vec<Vec<(usize, usize)>> {
        let mut members = vec![Vec::new(); self.parents.len()];
        for value in 0..self.first.len() - 1 {
            for at in self.first[value]..self.first[value + 1] {
                members[self.root(at)].push((value, at - self.first[value]));
            }
        }
        members.retain(|class| !class.is_empty());
        members
    }
}
