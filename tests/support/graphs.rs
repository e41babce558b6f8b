//! Random graphs with every operation, and samples for them.

use tamis_quant::float::Matrix;
use tamis_quant::graph::{Activation, Axis, Forest, Graph, Input, Node, Op, Sample, Shape, Tree, Value};

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.draw() >> 32) as usize % limit
    }

    /// −1 to 1.
    pub fn real(&mut self) -> f64 {
        (self.draw() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn reals(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.real()).collect()
    }

    fn matrix(&mut self, outputs: usize, inputs: usize) -> Matrix<f64> {
        Matrix::new(outputs, inputs, self.reals(outputs * inputs)).unwrap()
    }
}

struct Builder<'r> {
    random: &'r mut Random,
    nodes: Vec<Node>,
}

impl Builder<'_> {
    fn push(&mut self, reads: &[Value], op: Op) -> Value {
        let name = format!("n{}", self.nodes.len());
        self.nodes.push(Node { name, reads: reads.to_vec(), op });
        self.nodes.len()
    }

    fn linear(&mut self, read: Value, inputs: usize, outputs: usize) -> Value {
        let (weights, bias) = (self.random.matrix(outputs, inputs), self.random.reals(outputs));
        self.push(&[read], Op::Linear { weights, bias })
    }

    fn activation(&mut self) -> Activation {
        match self.random.below(4) {
            0 => Activation::LeakyRelu { alpha: 0.125 },
            1 => Activation::Sigmoid,
            2 => Activation::Tanh,
            _ => Activation::Relu,
        }
    }

    fn forest(&mut self, features: usize) -> Op {
        let tree = |random: &mut Random| Tree {
            features: (0..7).map(|_| (random.below(4) > 0).then(|| random.below(features) as u32)).collect(),
            thresholds: random.reals(7),
            leaves: random.reals(7),
        };
        let trees = (0..3).map(|_| tree(self.random)).collect();
        Op::Trees(Forest { rate: 0.3, trees })
    }

    /// Linear layers with activations between, from a value of `inputs` elements to one of `outputs`.
    fn tower(&mut self, read: Value, inputs: usize, outputs: usize) -> Value {
        let mut value = read;
        let mut width = inputs;
        for _ in 0..=self.random.below(2) {
            let next = 1 + self.random.below(17);
            value = self.linear(value, width, next);
            let activation = self.activation();
            value = self.push(&[value], Op::Activation(activation));
            width = next;
        }
        self.linear(value, width, outputs)
    }

    /// What makes the end: logits as they are, or with a function behind.
    fn end(&mut self, value: Value) {
        match self.random.below(5) {
            0 => self.push(&[value], Op::Activation(Activation::Sigmoid)),
            1 => self.push(&[value], Op::Activation(Activation::Softmax)),
            2 => self.push(&[value], Op::Scale(0.5)),
            3 => self.push(&[value], Op::Flatten),
            _ => value,
        };
    }
}

/// A dense graph.
pub fn dense(random: &mut Random) -> Graph {
    let len = 1 + random.below(40);
    let mut builder = Builder { random, nodes: Vec::new() };
    let outputs = 1 + builder.random.below(4);
    let first = builder.tower(0, len, outputs);
    let second = builder.tower(0, len, outputs);
    let joined = builder.push(&[first, second], Op::Concat { axis: Axis::Channels });
    let relu = builder.push(&[joined], Op::Activation(Activation::Relu));
    let third = builder.linear(relu, 2 * outputs, outputs);
    let scaled = builder.push(&[third], Op::Scale(0.25));
    let sum = builder.push(&[first, scaled], Op::Add);
    let value = if builder.random.below(3) == 0 {
        let forest = builder.forest(len);
        let trees = builder.push(&[0], forest);
        let one = builder.linear(sum, outputs, 1);
        builder.push(&[one, trees], Op::Add)
    } else {
        sum
    };
    builder.end(value);
    Graph { name: "dense".to_owned(), input: Input::Dense { shape: Shape::vector(len) }, nodes: builder.nodes }
}

/// A sparse graph with everything that click models have.
pub fn sparse(random: &mut Random) -> Graph {
    let (features, max_active, width) = (8 + random.below(40), 2 + random.below(6), 1 + random.below(9));
    let exact = random.below(2) == 0;
    let mut builder = Builder { random, nodes: Vec::new() };
    let (weights, bias) = (builder.random.matrix(1, features), builder.random.reals(1));
    let wide = builder.push(&[0], Op::SparseLinear { weights, bias });
    let table = builder.random.matrix(width, features);
    let embedded = builder.push(&[0], Op::Embed { table });
    let fm = builder.push(&[embedded], Op::FmTerm { width });
    let pooled = builder.push(&[embedded], Op::BiInteraction { width });
    let products = builder.push(&[embedded], Op::InnerProducts { width });
    let pairs = max_active * (max_active - 1) / 2;
    let joined = builder.push(&[embedded, products, pooled], Op::Concat { axis: Axis::Channels });
    let deep = builder.tower(joined, max_active * width + pairs + width, 1);
    let nfm = builder.tower(pooled, width, 1);
    let forest = builder.forest(features);
    let trees = builder.push(&[0], forest);
    let sum = builder.push(&[wide, fm, deep, nfm, trees], Op::Add);
    builder.end(sum);
    Graph { name: "sparse".to_owned(), input: Input::Sparse { features, max_active, exact }, nodes: builder.nodes }
}

/// A sample; `values`: whether features have values other than 1.
pub fn sample(random: &mut Random, input: Input, values: bool) -> Sample {
    match input {
        Input::Dense { shape } => Sample::Dense(random.reals(shape.len())),
        Input::Sparse { features, max_active, exact } => {
            let count = if exact { max_active } else { random.below(max_active + 1) };
            let mut chosen: Vec<u32> = Vec::new();
            while chosen.len() < count {
                let feature = random.below(features) as u32;
                if !chosen.contains(&feature) {
                    chosen.push(feature);
                }
            }
            chosen.sort_unstable();
            let value = |feature| (feature, if values { random.real() } else { 1.0 });
            Sample::Sparse(chosen.into_iter().map(value).collect())
        }
    }
}
