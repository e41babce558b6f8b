//! Layers of reals behind the second one's sums.

use super::Lowering;
use crate::arch::Activation;
use crate::program::{Element, Operation, Read, RealActivation, Unsupported};

impl Lowering<'_> {
    /// The real layers behind the second one's sums; skips and piece-square values are added at the end, then the
    /// output's scale.
    pub(super) fn tail(&mut self, mut sums: usize, psqt: Option<usize>) -> Result<(), Unsupported> {
        let net = self.net;
        let mut skips: Vec<Read> = Vec::new();
        let mut next = Read::whole(sums);
        for (index, layer) in net.arch.layers.iter().enumerate().skip(1) {
            let active = net.arch.active_outputs(index);
            next = Read::whole(sums);
            if layer.skip > 0 {
                skips.push(Read { value: sums, part: Some((active, layer.skip)) });
                next.part = Some((0, active));
            }
            next = if layer.gated {
                self.gated(index, (sums, active))?
            } else {
                self.activated(index, next, net.arch.activated_width(index))?
            };
            if index + 1 < net.layers.len() {
                sums = self.affine_f32(index + 1, next)?;
            }
        }
        let outputs = net.arch.output_count();
        for skip in skips.into_iter().chain(psqt.map(Read::whole)) {
            let name = format!("skip{}", self.program.nodes.len());
            next = Read::whole(self.program.push(name, vec![next, skip], Operation::Add, Element::F32, outputs));
        }
        let op = Operation::Scale(net.arch.output.scale as f32);
        self.program.push("output".to_owned(), vec![next], op, Element::F32, outputs);
        Ok(())
    }

    /// An activation of reals, which makes `len` of them.
    fn activated(&mut self, index: usize, read: Read, len: usize) -> Result<Read, Unsupported> {
        let word = self.net.arch.layers[index].activation;
        let value = match word {
            Activation::Identity => return Ok(read),
            Activation::Swish => {
                let op = Operation::Activation(RealActivation::Sigmoid);
                let sigmoid = self.push(index, "sigmoid", read, op, Element::F32, len);
                self.product(index, "activations", [read, Read::whole(sigmoid)], len)
            }
            word => {
                let op = Operation::Activation(real_activation(word)?);
                self.push(index, "activations", read, op, Element::F32, len)
            }
        };
        Ok(Read::whole(value))
    }

    /// The first half of so many sums, activated, times the second.
    fn gated(&mut self, index: usize, (sums, active): (usize, usize)) -> Result<Read, Unsupported> {
        let half = active / 2;
        let [gate, values] = [0, half].map(|start| Read { value: sums, part: Some((start, half)) });
        let gate = self.activated(index, gate, half)?;
        Ok(Read::whole(self.product(index, "gated", [gate, values], half)))
    }

    fn product(&mut self, index: usize, step: &str, reads: [Read; 2], len: usize) -> usize {
        let name = format!("{}.{step}", self.net.arch.layers[index].name);
        self.program.push(name, reads.to_vec(), Operation::Multiply, Element::F32, len)
    }
}

/// The runtime's function of reals for a description's word.
pub(super) fn real_activation(word: Activation) -> Result<RealActivation, Unsupported> {
    Ok(match word {
        Activation::Relu => RealActivation::Relu,
        Activation::Crelu => RealActivation::Crelu,
        Activation::Screlu => RealActivation::Screlu,
        Activation::Sqrrelu => RealActivation::Sqrrelu,
        Activation::PairwiseCrelu => RealActivation::PairwiseCrelu,
        Activation::DualCrelu => RealActivation::DualCrelu,
        Activation::HardSwish => RealActivation::HardSwish,
        Activation::Sigmoid => RealActivation::Sigmoid,
        Activation::Identity | Activation::Swish => {
            let (layer, what) = (String::new(), format!("{} where one function of the runtime must be", word.word()));
            return Err(Unsupported { layer, what, instead: "use another activation" });
        }
    })
}
