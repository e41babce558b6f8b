//! The class that JavaScript sees.

use crate::arrays::{self, Dense};
use crate::board;
use crate::facts::Facts;
use crate::fen;
use crate::memory::{Bytes, Loaded};
use js_sys::{Array, Int16Array, Reflect, Uint8Array};
use tamis_runtime::format::ParseError;
use tamis_runtime::raw::{InputRecord, element, input_kind};
use tamis_runtime::signature::{Buffers, signature};
use tamis_runtime::{Input, Plan};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsError, JsValue};

/// A network: a `quantised.bin` that was checked.
///
/// It has memory of the module's, which `free()` gives back at once; a browser that has `FinalizationRegistry` gives it
/// back some time after the last use.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Network {
    loaded: Loaded,
    workspace: Bytes,
    /// Of a network of chess that has evaluated.
    state: Option<Bytes>,
}

#[wasm_bindgen]
impl Network {
    /// Checks a file and copies it.
    ///
    /// Throws an `Error` in the loader's words: where, what was found, what was expected. Its `needsGeneral` is true
    /// where the module with the runtime's feature `general` may say otherwise.
    #[wasm_bindgen(constructor)]
    pub fn new(file: &Uint8Array) -> Result<Self, JsValue> {
        let memory = |len| Bytes::zeroed(len).ok_or_else(|| JsError::new(&format!("no memory for {len} bytes")));
        let mut bytes = memory(file.length() as usize)?;
        file.copy_to(bytes.get_mut());
        let loaded = Loaded::check(bytes).map_err(|error| refusal(&error))?;
        let workspace = memory(loaded.model().workspace_len_bytes())?;
        Ok(Self { loaded, workspace, state: None })
    }

    /// What the file says of its network, as JSON of the type `Facts`.
    #[wasm_bindgen(js_name = factsJson, skip_typescript)]
    pub fn facts_json(&self) -> Result<String, JsError> {
        Ok(serde_json::to_string(&Facts::of(&self.loaded)?)?)
    }

    /// The signature: sixteen hexadecimal digits that are the same on every machine for one file. `host-tools inspect`
    /// prints them too.
    pub fn signature(&mut self) -> Result<String, JsError> {
        let plan = self.loaded.plan();
        let (record, hidden) = (plan.model().input(), plan.hidden());
        let size = record.size as usize;
        let (values, bytes, words) = match (record.kind, record.element) {
            (input_kind::FEATURES, _) => (hidden, 0, 0),
            (input_kind::SPARSE, _) => (record.max_active as usize, 0, record.max_active as usize),
            (_, element::F32) => (0, 0, size),
            _ => (0, size, 0),
        };
        let found = signature(
            plan,
            Buffers {
                own: &mut vec![0; values],
                other: &mut vec![0; hidden],
                spare: &mut vec![0; hidden],
                bytes: &mut vec![0; bytes],
                words: &mut vec![0; words],
                workspace: self.workspace.get_mut(),
            },
        )?;
        Ok(format!("{found:016x}"))
    }

    /// Real numbers as the array that `run` takes: each is divided by the input's unit and rounded, halves away from 0;
    /// what is beyond the range goes to its nearest end. As `host-tools eval` does with an array of reals.
    #[wasm_bindgen(unchecked_return_type = "Dense")]
    pub fn quantise(&self, reals: &[f64]) -> Result<JsValue, JsError> {
        let zero = self.loaded.model().values().first().map(|value| value.zero);
        Dense::of_reals(self.record(), zero.ok_or_else(|| JsError::new("the network has no input"))?, reals)
    }

    /// Evaluates a dense input: as many elements as `facts.input.size`, of its type.
    #[wasm_bindgen(unchecked_return_type = "Outputs")]
    pub fn run(
        &mut self,
        #[wasm_bindgen(unchecked_param_type = "Dense")] input: &JsValue,
        bucket: Option<u32>,
    ) -> Result<JsValue, JsError> {
        let input = Dense::read(self.record(), input)?;
        self.run_input(input.input(), bucket)
    }

    /// The same, and every value on the way: an entry an operation, in the order of `facts.operations`.
    #[wasm_bindgen(unchecked_return_type = "Value[]")]
    pub fn trace(
        &mut self,
        #[wasm_bindgen(unchecked_param_type = "Dense")] input: &JsValue,
        bucket: Option<u32>,
    ) -> Result<Array, JsError> {
        let input = Dense::read(self.record(), input)?;
        let (plan, values) = (self.loaded.plan(), Array::new());
        let mut pieces = Vec::new();
        plan.run_traced(input.input(), of(bucket), self.workspace.get_mut(), |index, bytes| {
            let Some(record) = plan.model().values().get(index) else { return };
            let mut bytes = bytes;
            // One of which a few rows lie in memory at a time comes in pieces.
            if record.rows_held() > 0 {
                pieces.extend_from_slice(bytes);
                if element::len_bytes(record.element()).map(|len| len * record.len as usize) != Some(pieces.len()) {
                    return;
                }
                bytes = &pieces;
            }
            values.push(&arrays::value(record.element(), bytes));
            pieces.clear();
        })?;
        Ok(values)
    }

    /// Evaluates a sparse input: the features that are not 0, in ascending order, and their values where the network
    /// takes values.
    #[wasm_bindgen(js_name = runSparse, unchecked_return_type = "Outputs")]
    pub fn run_sparse(
        &mut self,
        features: &[u32],
        values: Option<Box<[i16]>>,
        bucket: Option<u32>,
    ) -> Result<JsValue, JsError> {
        let values = values.as_deref().unwrap_or(&[]);
        self.run_input(Input::Sparse { features, values }, bucket)
    }

    /// Evaluates lists of features that the caller numbers: of the side to move, and of the other side where the
    /// network has two perspectives.
    #[wasm_bindgen(js_name = runFeatures, unchecked_return_type = "Outputs")]
    pub fn run_features(
        &mut self,
        own: &[u32],
        other: Option<Box<[u32]>>,
        bucket: Option<u32>,
    ) -> Result<JsValue, JsError> {
        let plan = self.loaded.plan();
        let mut accumulators = [vec![0; plan.hidden()], Vec::new()];
        let [first, second] = &mut accumulators;
        plan.refresh(first, own)?;
        if plan.model().input().perspectives == 2 {
            let list = other.ok_or_else(|| JsError::new("the network has two perspectives; give two lists"))?;
            second.resize(plan.hidden(), 0);
            plan.refresh(second, &list)?;
        }
        let [own, other] = &accumulators;
        self.run_input(Input::Accumulators(own, other), bucket)
    }

    /// Evaluates a position of chess for the side to move.
    #[wasm_bindgen(unchecked_return_type = "Outputs")]
    pub fn evaluate(&mut self, fen: &str) -> Result<JsValue, JsError> {
        let position = fen::read(fen)?;
        let (loaded, state) = self.state()?;
        board::outputs(loaded, state, &position)
    }

    /// What each piece adds to the value of a position: the value less the one without that piece.
    #[wasm_bindgen(unchecked_return_type = "Shares")]
    pub fn shares(&mut self, fen: &str) -> Result<JsValue, JsError> {
        let position = fen::read(fen)?;
        let (loaded, state) = self.state()?;
        board::shares(loaded, state, &position)
    }

    /// The accumulators of a position, the side to move's first.
    pub fn accumulators(&mut self, fen: &str) -> Result<Vec<Int16Array>, JsError> {
        let position = fen::read(fen)?;
        let (loaded, state) = self.state()?;
        board::accumulators(loaded, state, &position)
    }
}

impl Network {
    fn record(&self) -> &InputRecord {
        self.loaded.model().input()
    }

    fn run_input(&mut self, input: Input<'_>, bucket: Option<u32>) -> Result<JsValue, JsError> {
        let plan: &Plan<'_> = self.loaded.plan();
        let unit = plan.model().input().output_unit;
        Ok(arrays::outputs(plan.run(input, of(bucket), self.workspace.get_mut())?, unit))
    }

    /// The file, and memory for positions.
    fn state(&mut self) -> Result<(&Loaded, &mut Bytes), JsError> {
        let state = match self.state.take() {
            Some(state) => state,
            None => board::state_memory(&self.loaded)?,
        };
        Ok((&self.loaded, self.state.insert(state)))
    }
}

/// What the constructor throws. A module without `general` has no words for all that it leaves out: a record that it
/// does not know may be right.
fn refusal(error: &ParseError) -> JsValue {
    let thrown: JsValue = JsError::new(&error.to_string()).into();
    let is_of_a_record = matches!(error, ParseError::Feature { .. } | ParseError::Field { .. });
    // Fails for what is no object.
    let _ = Reflect::set(&thrown, &"needsGeneral".into(), &(is_of_a_record && !cfg!(feature = "general")).into());
    thrown
}

/// A network without buckets has one.
fn of(bucket: Option<u32>) -> usize {
    const ONLY: u32 = 0;
    bucket.unwrap_or(ONLY) as usize
}
