//! Every tolerance in the tests, in one table, with its reason. Integers have none.

/// Real tail in f32 against centipawns computed in f64 and printed with four decimals: sums of up to 1536 products.
pub const F32_TAIL_CENTIPAWNS: f64 = 0.01;
/// The f64 evaluator against values printed with four decimals.
pub const F64_PRINTED_CENTIPAWNS: f64 = 0.001;
/// Two evaluators in f64 that add up to some hundred products of numbers up to about 30 in another order.
pub const F64_ORDER: f64 = 1e-12;
/// Errors of a layer whose sums were added up part by part: sums of up to some million reals in another order, as a
/// share of the larger of mean and deviation.
pub const MERGED_LAYERS: f64 = 1e-9;
/// The float graph in a program's units, which are f32, some of them products of two: half a unit in the last place
/// each, a few of them in a row, and sums that cancel.
pub const F32_UNITS: f64 = 1e-5;
/// Statistics against figures published with two decimals.
pub const PRINTED_TWO_DECIMALS: f64 = 0.005;
/// Statistics against figures published with one decimal.
pub const PRINTED_ONE_DECIMAL: f64 = 0.05;
/// The f64 evaluator against a framework's f32 forward pass of 256 products, in network outputs (1 is 400 centipawns).
pub const FRAMEWORK_F32: f64 = 1e-5;
/// The same for four layers, the first of 256 products of two clipped sums.
pub const FRAMEWORK_LAYERS_F32: f64 = 1e-5;
/// The same for logits of up to about 30 after two dense layers.
pub const FRAMEWORK_LOGITS_F32: f64 = 5e-5;
/// Least signal to quantisation noise of a lightly trained network whose values are tens of centipawns: 30 dB is the
/// limit that PyTorch's own end-to-end tests of quantised models use.
pub const QUANTISED_SQNR_DB: f64 = 30.0;
/// What `verify` asks of the multi-layer network. Its first layer reads products of 7 bits that are cut downwards, most
/// of them of few steps, and that alone is 22 of the 23 centipawns of rms (27 dB).
pub const LAYERS_GATES: &str = "max_mean = 2.0\nmax_rms = 30.0\nmax_error = 150.0\nmin_sqnr_db = 25.0";
/// What rounding may cost a reference network in held-out loss, as a share of the loss.
pub const LOSS_BY_ROUNDING: f64 = 0.01;
/// Largest share of the held-out loss of counted material that a trained network may have: clearly better, not by
/// chance.
pub const LOSS_OF_MATERIAL: f64 = 0.8;
/// The multi-layer network's groups of four products that are not all zero, of all of them, in the trained order: it is
/// 0.44, and another kind of CPU may train another network.
pub const LAYERS_LIVE_BEFORE: std::ops::Range<f64> = 0.4..0.8;
/// Most of them that may be left in the order that `--permute` chooses, as a share of those before: 0.64 are.
pub const LAYERS_LIVE_LEFT: f64 = 0.75;
/// Angel's scores, computed from f32 parameters and written as f64: the reference's own figure for another reader is
/// 3e-7.
pub const ANGEL_SCORES: f64 = 1e-6;
/// What quantising a click model may cost in area under the curve.
pub const LOST_AUC: f64 = 0.001;
/// Least share of MNIST's test images on which int8 and full precision agree.
pub const MNIST_TOP1: f64 = 0.999;
/// Least signal to noise of MNIST's logits in int8, u7 between layers: a hidden layer in 7 bits allows about 45.
pub const MNIST_SQNR_DB: f64 = 41.0;
/// Least signal to noise of random graphs under random options, the coarsest of which leave 7 bits after several
/// layers.
pub const RANDOM_GRAPH_SQNR_DB: f64 = 18.0;
/// Least signal to noise of a graph that was kept in f32: what is left is f32's own rounding.
pub const REALS_SQNR_DB: f64 = 100.0;
/// Outputs near 1 of a graph of a few nodes in bytes.
pub const SMALL_GRAPH: f64 = 0.01;
/// Logits that another system computed in f32 and saved: what f32 itself differs from f64 by is below 1e-5.
pub const SAVED_LOGITS_F32: f64 = 1e-4;
/// Outputs of lattice-fann, of their scale: its sums are of f32 with fused products, whose last bits depend on the
/// processor.
pub const RECORDED_OUTPUTS_F32: f64 = 1e-5;
/// Outputs of convolutional networks, of their scale: computed in f64 and rounded to f32, from a checkpoint whose
/// normalizations were folded and rounded to f32 before.
pub const F32_OUTPUTS: f64 = 5e-6;
/// What `verify` asks of the token network, whose logits reach 20: 7 bits between its layers leave 40 dB; and of a
/// hundred pairs at most one judged otherwise.
pub const TOKENS_GATES: &str = "min_sqnr_db = 35.0\nmin_top1_agreement = 0.99\nmax_accuracy_loss = 0.5";
/// The f64 evaluator against outputs of an f64 evaluation that were rounded to f32, as a part of the largest output.
pub const TFLITE_OUTPUTS_F32: f64 = 5e-6;
/// Least signal to noise of the logits of MLPerf Tiny's networks with maps of 8 bits, in decibels: what they have, less
/// 0.3 to 0.5; and the least share of equal answers where the best two logits are more than 0.1 apart, in per cent.
pub const MAPS_CLOSENESS: [(&str, f64, f64); 5] =
    [("kws", 35.2, 99.5), ("kws_ckpt", 35.9, 99.3), ("ic", 39.5, 98.5), ("vww", 29.9, 99.5), ("ad", 46.6, 0.0)];
/// The same decibels of KWS with the three maps in 16 bits that gain most.
pub const MAPS_SIXTEEN_SQNR_DB: f64 = 41.5;
/// The most bytes of workspace beside the outputs that the same networks may take: no bits and no decibel, what a small
/// microcontroller has for them.
pub const MAPS_WORKSPACE_LEN_BYTES: [(&str, usize); 5] =
    [("kws", 16_500), ("kws_ckpt", 16_500), ("ic", 50_000), ("vww", 56_000), ("ad", 1_000)];
/// Reals against int8 operators whose inputs are the same, in steps of the output: rounding, which some kernels do
/// twice or with factors of 8 bits.
pub const TFLITE_STEPS: f64 = 1.0;
/// The same where an engine's multipliers have become 0.
pub const TFLITE_STEPS_DEAD: f64 = 6.0;
/// Outputs of ONNX's operators, of the largest of them: ONNX Runtime computes them in f32.
pub const ONNX_FLOATS: f64 = 1e-5;
/// Outputs of whole networks out of ONNX, of their scale: they were evaluated in f64 and rounded to f32, their weights
/// rounded to f32 on the way, in batch normalisations that were folded into them, too.
pub const ONNX_NETWORKS: f64 = 5e-6;
/// Share of int8 elements that integers, rounded once, may have other than XNNPACK's f32: near halves, and what follows
/// from such an element in the layers behind it.
pub const TFLITE_INT8_DIFFERING: f64 = 0.02;
/// Code of a program on a microcontroller by that of another with another network, as a share of it: programs differ in
/// their logs, in which calls of the runtime they make, and in which of those are inlined. Of those that are measured
/// the worst is 8.1 %.
pub const CODE_OF_ANOTHER_NETWORK: f64 = 0.09;
/// The same of networks of two kinds, dense layers and convolutions: their images have the loader and the program in
/// common, and neither kernels nor operations, which modules leave out. Of those that are measured the worst is 27.9 %.
pub const CODE_OF_ANOTHER_KIND: f64 = 0.28;
/// Code of an image that was measured, as a share of what is expected of it: a compiler's order of functions changes
/// some bytes from place to place.
pub const CODE_OF_AN_IMAGE: f64 = 0.02;
/// What two float networks differ by in centipawns that are one, but for neurons that are some sixteenths larger and
/// weights behind them as much smaller: every such weight is an f32 that was rounded once more.
pub const FINER_NEURONS: f64 = 0.01;
/// Mean error of a fitted network on positions that were held out, in centipawns, where a few thousand were fitted to:
/// it is settled on those, and errors of a game's positions go together. On 100,000 it is 0.02.
pub const FITTED_MEAN: f64 = 0.5;
/// The same behind pairs, bytes and reals, where errors are three times as large (11.7 and 6.3 for 4.0 and below).
pub const FITTED_MEAN_BEHIND_PAIRS: f64 = 1.0;
