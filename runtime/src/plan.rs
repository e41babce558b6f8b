//! A model bound to a tier: what an engine or a firmware calls.

use crate::error::RunError;
use crate::features::ACCUMULATORS;
use crate::format::{BlockRecord, Identity, Model, element};
#[cfg(short_ways)]
use crate::kernels::MoveRows;
use crate::kernels::{Moved, Tier, prefetch};
use crate::ops::Operations;
use crate::step::{AHEAD, FusedHead, OutputPlace, Step, fused};
#[cfg(short_ways)]
use crate::step::{Chained, ProductsHead};
use crate::sure::sure;

/// Rows of one block that one pass takes, where a network has several blocks.
const ROWS_A_PASS: usize = 32;

/// A checked model and the tier that runs it. `Clone`; shared freely between threads.
///
/// ```
/// # if !cfg!(feature = "accumulators") { return Ok(()) } // refused without
/// use tamis_runtime::{Input, Output, Plan, Workspace, format::Model, kernels};
///
/// static NET: &[u8] = tamis_runtime::include_model!("../../tests/vectors/tiny.bin");
/// let plan = Plan::new(Model::parse(NET)?, kernels::best());
///
/// // Once a position: the accumulators of both sides from their lists of active features …
/// let (mut own, mut other) = ([0i16; 2], [0i16; 2]);
/// plan.refresh(&mut own, &[0, 1])?;
/// plan.refresh(&mut other, &[2, 3])?;
/// assert_eq!((own, other), ([165, 7], [-35, 317]));
/// // … or, after a move, from those of the position before: feature 3 comes, feature 1 goes.
/// let mut moved = [0i16; 2];
/// plan.update(&mut moved, &own, &[3], &[1])?;
/// assert_eq!(moved, [115, 97]);
///
/// let mut scratch = Workspace::<128>::new();
/// let output = plan.run(Input::Accumulators(&own, &other), 0, scratch.as_mut())?;
/// assert_eq!(output, Output::I32(&[-187]));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Plan<'a> {
    pub(crate) model: Model<'a>,
    pub(crate) kernels: &'a Tier,
    pub(crate) operations: &'a Operations,
    /// The first `done` operations, resolved and fused.
    pub(crate) steps: heapless::Vec<Step<'a>, AHEAD>,
    pub(crate) done: usize,
    /// Those of them that are one call.
    #[cfg(short_ways)]
    pub(crate) chain: Option<Chained<'a>>,
    /// Whether they are one piece, all of them.
    #[cfg(short_ways)]
    pub(crate) products: Option<ProductsHead>,
    pub(crate) output: OutputPlace,
    /// The whole network behind the accumulators, where it is one layer with one output.
    pub(crate) head: Option<FusedHead<'a>>,
    /// The first block's rows, and its biases.
    rows: Rows<'a>,
    stride: usize,
    bias: &'a [i16],
    /// Width of one accumulator; 0 of a network without.
    hidden: usize,
    /// Number of features.
    size: u32,
    /// Whether [`Moved`] is all that a move needs: all rows in one block, and `max_active` no less than the rows of a
    /// move.
    is_plain: bool,
    identity: Identity,
}

/// The feature rows of a block.
#[derive(Debug, Clone, Copy)]
enum Rows<'a> {
    I16(&'a [i16]),
    I8(&'a [i8]),
}

impl<'a> Plan<'a> {
    /// Binds a model to a tier. [`crate::kernels::best`] picks one; [`crate::kernels::by_name`] forces one.
    pub fn new(model: Model<'a>, kernels: &'a Tier) -> Self {
        Self::of(model, kernels, Operations::ALL)
    }

    /// The same for firmware that links no kinds of operations but these, which are the model's, as a module of
    /// `host-tools codegen` says; on hosts as [`Plan::new`].
    #[inline]
    pub fn of(model: Model<'a>, kernels: &'a Tier, operations: &'a Operations) -> Self {
        let (steps, done) = fused(&model, kernels);
        #[cfg(short_ways)]
        let (chain, products) =
            (Chained::resolve(&model, kernels, &steps, done), ProductsHead::resolve(&model, &steps, done));
        let first = model.blocks().first().filter(|_| ACCUMULATORS);
        let (rows, stride) = first.map_or((Rows::I16(&[]), 0), |block| rows_of(&model, block));
        let bias = match first {
            Some(block) => sure(model.tensor(block.bias).map(|bias| bias.bank(0))),
            None => &[],
        };
        let head = FusedHead::resolve(&model, kernels);
        let output = OutputPlace::of(&model);
        let input = model.input();
        let (hidden, size) = if ACCUMULATORS { (input.hidden as usize, input.size) } else { (0, 0) };
        let is_plain = ACCUMULATORS && input.perspectives == 2 && model.blocks().len() == 1 && input.max_active >= 2;
        let identity = model.identity();
        #[cfg(short_ways)]
        let head = head.map(|head| head.behind(move_rows(rows, stride, size, is_plain)));
        Self {
            model,
            kernels,
            operations,
            steps,
            done,
            #[cfg(short_ways)]
            chain,
            #[cfg(short_ways)]
            products,
            output,
            head,
            rows,
            stride,
            bias,
            hidden,
            size,
            is_plain,
            identity,
        }
    }

    /// The model.
    pub const fn model(&self) -> &Model<'a> {
        &self.model
    }

    /// The tier.
    pub const fn kernels(&self) -> &'a Tier {
        self.kernels
    }

    /// What tells its model from every other that the program loads, one with the same checksum too.
    pub const fn identity(&self) -> Identity {
        self.identity
    }

    /// Whether the network reads the accumulators of both perspectives.
    #[inline]
    pub(crate) const fn is_two_sided(&self) -> bool {
        self.model.input().perspectives == 2
    }

    /// Width of one accumulator.
    pub const fn hidden(&self) -> usize {
        self.hidden
    }

    /// The most features active at once in one perspective.
    pub const fn max_active(&self) -> usize {
        self.model.input().max_active as usize
    }

    /// Fills an accumulator from nothing: `acc = bias + Σ row(feature)`, i16, wrapping.
    ///
    /// acc: (hidden,) · features: at most `max_active`, each below `size`; distinct, if the overflow proof is to hold.
    ///
    /// # Errors
    /// [`RunError`] for a wrong length, too many features or an index out of range; `acc` is then unspecified.
    pub fn refresh(&self, acc: &mut [i16], features: &[u32]) -> Result<(), RunError> {
        self.check_accumulator("accumulator", acc.len())?;
        self.check_features(features, &[])?;
        let bias = self.bias.get(..acc.len()).ok_or(RunError::InputKind)?;
        self.change(acc, Some(bias), features, &[]);
        Ok(())
    }

    /// Changes an accumulator: `acc = source + Σ row(added) − Σ row(removed)`, i16, wrapping, in one pass.
    ///
    /// acc, source: (hidden,) · added, removed: at most `max_active` each. Which features are active is the caller's to
    /// know: the overflow proof holds while they are distinct and at most `max_active`.
    ///
    /// # Errors
    /// [`RunError`] for a wrong length, too many features or an index out of range; `acc` is then unspecified.
    pub fn update(&self, acc: &mut [i16], source: &[i16], added: &[u32], removed: &[u32]) -> Result<(), RunError> {
        self.check_accumulator("accumulator", acc.len())?;
        self.check_accumulator("source accumulator", source.len())?;
        self.check_features(added, removed)?;
        self.change(acc, Some(source), added, removed);
        Ok(())
    }

    /// Changes the accumulators of both perspectives, [`Plan::update`] for each; the moves that games are made of in
    /// one pass.
    ///
    /// acc, source: (2, hidden), perspective 0 first · added, removed: a list a perspective, as in [`Plan::update`].
    ///
    /// # Errors
    /// As [`Plan::update`].
    #[inline(always)]
    pub fn update_both(
        &self,
        acc: &mut [i16],
        source: &[i16],
        added: [&[u32]; 2],
        removed: [&[u32]; 2],
    ) -> Result<(), RunError> {
        let len = 2 * self.hidden;
        if let Some(moved) = Moved::of(added, removed)
            && self.is_plain
            && (acc.len(), source.len()) == (len, len)
            && moved.largest() < self.size
        {
            self.pass_both(acc, source, &moved);
            return Ok(());
        }
        self.update_each(acc, source, added, removed)
    }

    /// The same, one after the other.
    #[cold]
    fn update_each(
        &self,
        acc: &mut [i16],
        source: &[i16],
        added: [&[u32]; 2],
        removed: [&[u32]; 2],
    ) -> Result<(), RunError> {
        let (first, second) = acc.split_at_mut(acc.len() / 2);
        let (from, from_second) = source.split_at(source.len() / 2);
        self.update(first, from, added[0], removed[0])?;
        self.update(second, from_second, added[1], removed[1])
    }

    /// [`crate::kernels::UpdateBoth`] for rows and lengths that were checked, or that the features of a piece on a
    /// board always are; false, and nothing done, where the network's rows lie in several blocks.
    #[inline]
    pub(crate) fn move_both(&self, acc: &mut [i16], source: &[i16], moved: &Moved) -> bool {
        if self.is_plain {
            self.pass_both(acc, source, moved);
        }
        self.is_plain
    }

    /// An accumulator without any feature.
    pub(crate) fn start(&self, acc: &mut [i16]) {
        if let Some(bias) = self.bias.get(..acc.len()) {
            acc.copy_from_slice(bias);
        }
    }

    #[inline(always)]
    fn pass_both(&self, acc: &mut [i16], source: &[i16], moved: &Moved) {
        match self.rows {
            Rows::I16(rows) => (self.kernels.update_both_i16.call)(acc, source, rows, self.stride, moved),
            Rows::I8(rows) => (self.kernels.update_both_i8.call)(acc, source, rows, self.stride, moved),
        }
    }

    /// The same in place: `acc = acc + Σ row(added) − Σ row(removed)`.
    ///
    /// # Errors
    /// As [`Plan::update`]; `acc` is then unspecified.
    pub fn update_in_place(&self, acc: &mut [i16], added: &[u32], removed: &[u32]) -> Result<(), RunError> {
        self.check_accumulator("accumulator", acc.len())?;
        self.check_features(added, removed)?;
        self.change(acc, None, added, removed);
        Ok(())
    }

    /// Asks the processor to fetch the rows of features that an update will soon need, when a move is made for
    /// instance. A feature that the network does not have is passed over. When not to use it: for tables that fit the
    /// second cache.
    pub fn prefetch(&self, features: &[u32]) {
        let hidden = self.hidden();
        for feature in features {
            match self.rows {
                Rows::I16(rows) => prefetch(bytemuck::cast_slice(row_at(rows, self.stride, *feature, hidden))),
                Rows::I8(rows) => prefetch(bytemuck::cast_slice(row_at(rows, self.stride, *feature, hidden))),
            }
        }
    }

    #[inline]
    pub(crate) fn check_accumulator(&self, what: &'static str, found: usize) -> Result<(), RunError> {
        match self.hidden {
            0 => Err(RunError::InputKind),
            expected if found == expected => Ok(()),
            expected => Err(RunError::Length { what, found, expected }),
        }
    }

    /// Counts and indices of two lists.
    #[inline]
    pub(crate) fn check_features(&self, added: &[u32], removed: &[u32]) -> Result<(), RunError> {
        let (limit, size) = (self.max_active(), self.size);
        let found = added.len().max(removed.len());
        if found > limit {
            return Err(RunError::TooManyFeatures { found, limit });
        }
        for list in [added, removed] {
            for feature in list {
                if *feature >= size {
                    return Err(RunError::Feature { found: *feature, limit: size });
                }
            }
        }
        Ok(())
    }

    /// [`crate::kernels::Update`] over all blocks, for lists and lengths that were checked.
    #[inline]
    pub(crate) fn change(&self, acc: &mut [i16], source: Option<&[i16]>, added: &[u32], removed: &[u32]) {
        if let [_] = self.model.blocks() {
            return self.pass(self.rows, self.stride, acc, source, added, removed);
        }
        self.change_blocks(acc, source, added, removed);
    }

    fn change_blocks(&self, acc: &mut [i16], source: Option<&[i16]>, added: &[u32], removed: &[u32]) {
        if let Some(source) = source {
            acc.copy_from_slice(source);
        }
        for block in self.model.blocks() {
            let (rows, stride) = rows_of(&self.model, block);
            let row = |feature: &u32| feature.checked_sub(block.first_feature).filter(|row| *row < block.feature_count);
            let (mut added, mut removed) = (added.iter().filter_map(row), removed.iter().filter_map(row));
            loop {
                let plus: heapless::Vec<u32, ROWS_A_PASS> = added.by_ref().take(ROWS_A_PASS).collect();
                let minus: heapless::Vec<u32, ROWS_A_PASS> = removed.by_ref().take(ROWS_A_PASS).collect();
                if plus.is_empty() && minus.is_empty() {
                    break;
                }
                self.pass(rows, stride, acc, None, &plus, &minus);
            }
        }
    }

    #[inline]
    fn pass(
        &self,
        rows: Rows<'_>,
        stride: usize,
        acc: &mut [i16],
        source: Option<&[i16]>,
        added: &[u32],
        removed: &[u32],
    ) {
        match rows {
            Rows::I16(rows) => (self.kernels.update_i16.call)(acc, source, rows, stride, added, removed),
            Rows::I8(rows) => (self.kernels.update_i8.call)(acc, source, rows, stride, added, removed),
        }
    }
}

/// The rows of a block and the distance between them. Empty if the block has no such tensor, which the loader rules
/// out.
fn rows_of<'a>(model: &Model<'a>, block: &BlockRecord) -> (Rows<'a>, usize) {
    match model.tensor(block.weights) {
        Some(tensor) if u32::from(tensor.record.element) == element::I8 => (Rows::I8(tensor.bank(0)), tensor.stride()),
        Some(tensor) => (Rows::I16(tensor.bank(0)), tensor.stride()),
        None => (Rows::I16(&[]), 0),
    }
}

/// The rows of a block for moves that end in a dot; none where they are of another form, or not all that a move takes.
/// They are as many as the features, so that a kernel that finds a row has found a feature.
#[cfg(short_ways)]
const fn move_rows(rows: Rows<'_>, stride: usize, size: u32, is_plain: bool) -> MoveRows<'_> {
    match rows {
        Rows::I16(rows) if is_plain && rows.len() == stride.saturating_mul(size as usize) => MoveRows { rows, stride },
        _ => MoveRows { rows: &[], stride },
    }
}

/// A row; none of a feature that the network does not have.
fn row_at<T>(rows: &[T], stride: usize, row: u32, len: usize) -> &[T] {
    let start = (row as usize).saturating_mul(stride);
    let Some(row) = rows.get(start..).and_then(|rest| rest.get(..len)) else { return &[] };
    row
}
