//! Bullet's networks: the transformer, what its accumulators become, and the tail of reals.

mod heads;
mod psqt;
mod tail;

use crate::arch::{Activation, ElementType, InputKind};
use crate::program::{
    Clip, Element, Lists, Note, Operation, Program, ProgramInput, QuantTensor, Read, Tables, Transformer, Unsupported,
    Values,
};
use crate::quantised::{
    IntegerActivation, IntegerTail, QuantLayer, QuantNet, SumActivation, head, integer_tail, permutation_name,
    reorderable_pairs, sum_factor,
};
use tail::real_activation;
use tamis_runtime::raw::feature_set;

impl QuantNet {
    /// The network as a program, its neurons in the file's order.
    ///
    /// # Errors
    /// [`Unsupported`] for what the runtime has no operation for.
    pub fn lower(&self) -> Result<Program, Unsupported> {
        let net = &*self.in_file_order();
        let arch = &net.arch;
        let program = Program {
            name: arch.name.clone(),
            description: arch.to_toml(),
            header: net.bare_header.clone(),
            input: input(net),
            transformer: None,
            nodes: Vec::new(),
            notes: Vec::new(),
            keeps_units: false,
        };
        let mut lowering = Lowering { net, program };
        lowering.features()?;
        lowering.permutation()?;
        Ok(lowering.program)
    }
}

fn input(net: &QuantNet) -> ProgramInput {
    let arch = &net.arch;
    ProgramInput::Features {
        features: arch.feature_count(),
        perspectives: arch.perspectives(),
        max_active: arch.max_active(),
        buckets: arch.bucket_count(),
        set: feature_code(net),
        other_first: arch.input.other_first,
    }
}

/// The code of the network's feature set.
fn feature_code(net: &QuantNet) -> u32 {
    let arch = &net.arch;
    match arch.input.kind {
        InputKind::Chess => feature_set::code(arch.planes(), arch.input.mirrored)
            .unwrap_or_else(|| unreachable!("a description has no set that no file can name")),
        _ => feature_set::CUSTOM,
    }
}

struct Lowering<'n> {
    net: &'n QuantNet,
    program: Program,
}

impl Lowering<'_> {
    fn unsupported(&self, layer: usize, what: impl Into<String>, instead: &'static str) -> Unsupported {
        let layer = self.net.arch.layers.get(layer).map_or_else(String::new, |layer| layer.name.clone());
        Unsupported { layer, what: what.into(), instead }
    }

    fn push(&mut self, layer: usize, step: &str, read: Read, op: Operation, element: Element, len: usize) -> usize {
        let name = format!("{}.{step}", self.net.arch.layers[layer].name);
        self.program.push(name, vec![read], op, element, len)
    }

    /// A tensor of layer `index`, with the layer's output buckets as banks.
    fn tensor(&self, index: usize, tensor: &QuantTensor) -> QuantTensor {
        let is_bucketed = self.net.arch.layers[index].bucketed;
        QuantTensor { banks: if is_bucketed { self.net.arch.bucket_count() } else { 1 }, ..tensor.clone() }
    }

    /// Outputs of layer `index`, of one bucket.
    fn outputs(&self, index: usize) -> usize {
        self.net.arch.layers[index].outputs
    }

    /// The transformer, then the layers behind it.
    fn features(&mut self) -> Result<(), Unsupported> {
        let net = self.net;
        self.transformer()?;
        let (Some(second), Some(activation)) = (net.layers.get(1), IntegerActivation::of(&net.arch)) else {
            return Err(self.unsupported(0, "a feature transformer alone", "add a layer behind it"));
        };
        if net.arch.layers[0].activation_shift.is_some() && second.weights.element != ElementType::I8 {
            let what = format!("an `activation_shift` in front of {} weights", second.weights.element.word());
            return Err(self.unsupported(0, what, "leave it out, or store the next layer's weights as i8"));
        }
        let accumulators = Read::whole(0);
        // Before the layers, so that those stay neighbours, which steps are made of.
        let psqt = self.psqt(accumulators)?;
        match (activation.activation, second.weights.element) {
            (Activation::Relu | Activation::Crelu | Activation::Screlu | Activation::Sqrrelu, ElementType::I16) => {
                let head = head(&net.arch);
                if let Some(head) = head.filter(|head| head.is_rounded) {
                    self.rounded(accumulators, activation, second, head)?;
                    self.add_psqt(psqt);
                    return Ok(());
                }
                let weights = self.dot_weights(second)?;
                if let Some(head) = head.filter(|_| self.is_wide(activation, &weights)) {
                    self.wide_head(accumulators, activation, weights, head)?;
                    self.add_psqt(psqt);
                    return Ok(());
                }
                let sums = self.activate_dot(accumulators, activation, weights);
                match head {
                    Some(head) => {
                        self.rescale(1, sums, head)?;
                        self.add_psqt(psqt);
                        Ok(())
                    }
                    None => {
                        let real = self.dequantise(sums, activation, second)?;
                        self.tail(real, psqt)
                    }
                }
            }
            (
                Activation::Relu
                | Activation::Crelu
                | Activation::Screlu
                | Activation::Sqrrelu
                | Activation::PairwiseCrelu,
                ElementType::F32,
            ) => {
                let op = Operation::ActivateF32 {
                    activation: real_activation(activation.activation)?,
                    max: activation.clip,
                    inverse: (1.0 / f64::from(activation.qa)) as f32,
                    left_out: self.left_out(),
                };
                let real = self.push(0, "activations", accumulators, op, Element::F32, net.arch.layer_inputs(1));
                let sums = self.affine_f32(1, Read::whole(real))?;
                self.tail(sums, psqt)
            }
            (Activation::PairwiseCrelu | Activation::Relu | Activation::Crelu, ElementType::I8) => {
                let bytes = self.bytes(accumulators, activation)?;
                let tail = integer_tail(&net.arch);
                if let Some(tail) = tail.map_err(|(layer, what, instead)| self.unsupported(layer, what, instead))? {
                    self.integers(bytes, &tail)?;
                    self.add_psqt(psqt);
                    return Ok(());
                }
                let op = Operation::Affine { weights: self.tensor(1, &second.weights), bias: None };
                let sums = self.push(1, "sums", Read::whole(bytes), op, Element::I32, self.outputs(1));
                let real = self.dequantise(sums, activation, second)?;
                self.tail(real, psqt)
            }
            (activation, element) => Err(self.unsupported(
                1,
                format!("{} weights behind {}", element.word(), activation.word()),
                "use i16 or f32 weights behind screlu and sqrrelu, i8 too behind relu and crelu, i8 or f32 behind \
                 pairwise-crelu",
            )),
        }
    }

    fn transformer(&mut self) -> Result<(), Unsupported> {
        let net = self.net;
        let Some(first) = net.layers.first() else {
            return Err(self.unsupported(0, "no layer", "add one"));
        };
        if !matches!(first.weights.element, ElementType::I16 | ElementType::I8)
            || first.bias.element != ElementType::I16
        {
            let what = "a feature transformer that is not i16 or i8 with an i16 bias";
            return Err(self.unsupported(0, what, "store it so"));
        }
        let tables =
            || Tables { kings: net.arch.king_table(), buckets: net.arch.bucket_table(), counted: net.arch.counted() };
        let mut transformer = Transformer {
            rows: first.weights.clone(),
            further: Vec::new(),
            bias: first.bias.clone(),
            tables: (net.arch.input.kind == InputKind::Chess).then(tables),
            lists: Lists::of_set(feature_code(net), net.arch.feature_count()),
            wraps: 0,
        };
        self.with_digits(&mut transformer)?;
        self.program.transformer = Some(transformer);
        Ok(())
    }

    /// Accumulators to the second layer's sums.
    fn activate_dot(&mut self, accumulators: Read, activation: IntegerActivation, weights: QuantTensor) -> usize {
        let clip = dot_clip(activation);
        let op = Operation::ActivateDot { weights, clip, max: activation.clip };
        self.push(1, "sums", accumulators, op, Element::I32, self.outputs(1))
    }

    /// Layers of integers behind bytes; the last one's bias is the head's.
    fn integers(&mut self, bytes: usize, tail: &IntegerTail) -> Result<(), Unsupported> {
        let net = self.net;
        let last = net.layers.len() - 1;
        let mut sums = bytes;
        for (index, layer) in net.layers.iter().enumerate().skip(1) {
            if index < last && layer.bias.element != ElementType::I32 {
                return Err(self.unsupported(index, "a narrow bias between layers of integers", "store it as i32"));
            }
            if net.arch.layers[index].gated {
                return Err(self.unsupported(
                    index,
                    "a gate between layers of integers",
                    "store the second bias as f32",
                ));
            }
            let weights = self.tensor(index, &layer.weights);
            let bias = (index < last).then(|| self.tensor(index, &layer.bias));
            let op = match index.checked_sub(2).map(|before| tail.activations[before]) {
                None => Operation::Affine { weights, bias },
                Some(SumActivation { activation, shift, one }) => {
                    let (clip, max) = match activation {
                        Activation::Relu => (Clip::Relu, i32::MAX),
                        Activation::Crelu | Activation::DualCrelu => (Clip::Crelu, one),
                        Activation::Screlu => (Clip::Screlu, one),
                        Activation::Sqrrelu => (Clip::Sqrrelu, i16::MAX.into()),
                        Activation::Identity
                        | Activation::PairwiseCrelu
                        | Activation::HardSwish
                        | Activation::Sigmoid
                        | Activation::Swish => {
                            let what = format!("{} between layers of integers", activation.word());
                            return Err(self.unsupported(index - 1, what, "store the second bias as f32"));
                        }
                    };
                    let is_dual = activation == Activation::DualCrelu;
                    Operation::AffineI32 { clip, is_dual, max, shift, weights, bias }
                }
            };
            sums = self.push(index, "sums", Read::whole(sums), op, Element::I32, self.outputs(index));
        }
        self.rescale(last, sums, tail.head)
    }

    /// Accumulators to bytes, in pairs or each by itself.
    fn bytes(&mut self, accumulators: Read, activation: IntegerActivation) -> Result<usize, Unsupported> {
        let IntegerActivation { clip: max, shift, is_rounded, .. } = activation;
        if activation.activation != Activation::PairwiseCrelu {
            if max >> shift > i32::from(u8::MAX) {
                let what = format!("an activation of {max} >> {shift}, which leaves u8,");
                return Err(self.unsupported(0, what, "raise `activation_shift`, or lower the scale"));
            }
            let op = Operation::ClipU8 { max, shift, left_out: self.left_out() };
            return Ok(self.push(0, "bytes", accumulators, op, Element::U8, self.net.arch.layer_inputs(1)));
        }
        if activation.product(max.into(), max.into()) > u8::MAX.into() {
            let what = format!("a product of {max}·{max} >> {shift}, which leaves u8,");
            return Err(self.unsupported(0, what, "raise `product_shift`, or lower the scale"));
        }
        let op = Operation::PairwiseU8 { max, shift, is_rounded, left_out: self.left_out() };
        Ok(self.push(0, "products", accumulators, op, Element::U8, self.net.arch.layer_inputs(1)))
    }

    /// Sums to reals, with the second layer's bias.
    fn dequantise(
        &mut self,
        sums: usize,
        activation: IntegerActivation,
        second: &QuantLayer,
    ) -> Result<usize, Unsupported> {
        if second.bias.element != ElementType::F32 {
            return Err(self.unsupported(1, "an integer bias in front of a real tail", "store the bias as f32"));
        }
        let bias = Some(self.tensor(1, &second.bias));
        let op = Operation::Dequantise { factor: sum_factor(activation, second), bias };
        Ok(self.push(1, "reals", Read::whole(sums), op, Element::F32, self.outputs(1)))
    }

    fn affine_f32(&mut self, index: usize, input: Read) -> Result<usize, Unsupported> {
        let layer = &self.net.layers[index];
        if layer.weights.element != ElementType::F32 || layer.bias.element != ElementType::F32 {
            let what = "integer weights or bias in a real tail";
            return Err(self.unsupported(index, what, "store weights and bias as f32"));
        }
        let bias = Some(self.tensor(index, &layer.bias));
        let op = Operation::AffineF32 { weights: self.tensor(index, &layer.weights), bias };
        Ok(self.push(index, "sums", input, op, Element::F32, self.outputs(index)))
    }

    /// The order of the neurons, for people and for `unpack`.
    fn permutation(&mut self) -> Result<(), Unsupported> {
        let Some(permutation) = &self.net.permutation else { return Ok(()) };
        let order = permutation.order();
        if reorderable_pairs(&self.net.arch) != Some(order.len()) {
            let what = format!("a permutation of {} pairs of neurons", order.len());
            return Err(self.unsupported(0, what, "permute what i8 weights read behind pairwise-crelu, or nothing"));
        }
        let values = Values::Int(order.iter().map(|pair| *pair as i32).collect());
        let name = permutation_name(&self.net.arch);
        let tensor = QuantTensor::vector(name, ElementType::I32, order.len(), values);
        self.program.notes.push(Note { behind: self.program.nodes.len(), tensor, by_input: false });
        Ok(())
    }
}

/// What is done with accumulators in front of integer weights of a dot.
const fn dot_clip(activation: IntegerActivation) -> Clip {
    match activation.activation {
        Activation::Relu => Clip::Relu,
        Activation::Crelu => Clip::Crelu,
        Activation::Screlu => Clip::Screlu,
        _ => Clip::Sqrrelu,
    }
}
