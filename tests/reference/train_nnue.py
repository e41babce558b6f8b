"""Train the reference NNUE and write its weights and its full-precision outputs.

    python train_nnue.py positions.bf      train; writes nnue.weights.bin, nnue.reference.safetensors
    python train_nnue.py --check           recompute the stored outputs in float64 with numpy

Network: (768 -> 128)x2 -> 1 with 8 output buckets, features Chess768, bucket (pieces - 2) / 4.

    a_stm = l0b + sum of l0w rows of the side to move's features         (128,)
    a_ntm = the same for the other side                                  (128,)
    h     = clamp(concat(a_stm, a_ntm), 0, 1)^2                           (256,)
    out   = l1w[bucket] . h + l1b[bucket]                                 centipawns = 400 * out

Loss: (sigmoid(out) - target)^2, target = L * result / 2 + (1 - L) * sigmoid(score / 400), L = 0.25.
The last twentieth of the file is held out. It takes no part in training or in fitting the baselines.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn

from reference_files import (
    common_metadata,
    prepare_torch,
    read_reference,
    read_weights,
    report_agreement,
    write_reference,
    write_weights,
)

FEATURE_COUNT = 768
NO_FEATURE = 768  # pads a position's list to 32; XOR with 7 or 56 keeps it >= 768
HIDDEN = 128
BUCKET_COUNT = 8
EVAL_SCALE = 400.0
WDL_LAMBDA = 0.25
WEIGHT_CLIP = 1.98
QA, QB = 255, 64
REFERENCE_COUNT = 4096

RECORD = np.dtype(
    [
        ("occupancy", "<u8"),
        ("pieces", "u1", 16),
        ("score", "<i2"),
        ("result", "u1"),
        ("own_king", "u1"),
        ("opponent_king", "u1"),
        ("extra", "u1", 3),
    ]
)


# Positions


def decode_features(records: np.ndarray) -> np.ndarray:
    """Chess768 indices of the side to move: 384 * opponent + 64 * type + square.

    records: (N,) of RECORD -> (N, 32) i16, padded with NO_FEATURE.
    """
    features = np.full((len(records), 32), NO_FEATURE, dtype=np.int16)
    for start in range(0, len(records), 1 << 17):
        chunk = records[start : start + (1 << 17)]
        occupancy_bytes = chunk["occupancy"].copy().view("u1").reshape(-1, 8)
        occupied = np.unpackbits(occupancy_bytes, axis=1, bitorder="little")
        position, square = np.nonzero(occupied)
        slot = (np.cumsum(occupied, axis=1, dtype=np.int16) - 1)[position, square]
        packed = chunk["pieces"]
        nibbles = np.stack([packed & 15, packed >> 4], axis=2).reshape(-1, 32)
        piece = nibbles[position, slot].astype(np.int16)
        features[start + position, slot] = 384 * (piece >> 3) + 64 * (piece & 7) + square
    return features


def training_targets(records: np.ndarray) -> np.ndarray:
    """(N,) f32 in 0..1: the mixture of game result and engine score."""
    expected_score = 1.0 / (1.0 + np.exp(-records["score"] / EVAL_SCALE))
    return (WDL_LAMBDA * records["result"] / 2 + (1 - WDL_LAMBDA) * expected_score).astype(np.float32)


def heldout_start(record_count: int) -> int:
    return record_count - record_count // 20


# Network


class Network(nn.Module):
    """The definition in the module's header; features (B, 32) i16 -> out (B, 1)."""

    def __init__(self, dropout_share: float = 0.0) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout_share)  # in training mode only
        self.l0w = nn.Parameter(torch.randn(FEATURE_COUNT, HIDDEN) * (2 / FEATURE_COUNT) ** 0.5)
        self.l0b = nn.Parameter(torch.zeros(HIDDEN))
        self.l1w = nn.Parameter(torch.randn(BUCKET_COUNT, 2 * HIDDEN) * (2 / (2 * HIDDEN)) ** 0.5)
        self.l1b = nn.Parameter(torch.zeros(BUCKET_COUNT))

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        present = features < FEATURE_COUNT
        piece_count = present.sum(dim=1)
        ends = piece_count.cumsum(dim=0)
        starts = ends - piece_count
        stm = features[present].long()
        ntm = (stm ^ 56) + 384
        ntm = torch.where(ntm < FEATURE_COUNT, ntm, ntm - FEATURE_COUNT)
        accumulators = [
            nn.functional.embedding_bag(index, self.l0w, starts, mode="sum") + self.l0b for index in (stm, ntm)
        ]
        hidden = torch.cat(accumulators, dim=1).clamp(0.0, 1.0).square()
        every_bucket = nn.functional.linear(self.dropout(hidden), self.l1w, self.l1b)
        # A one-hot sum instead of gather: its backward pass is deterministic everywhere.
        bucket = torch.div(piece_count - 2, 4, rounding_mode="floor")
        chosen = nn.functional.one_hot(bucket, BUCKET_COUNT).to(every_bucket.dtype)
        return (every_bucket * chosen).sum(dim=1, keepdim=True)

    def clip(self) -> None:
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.clamp_(-WEIGHT_CLIP, WEIGHT_CLIP)

    def column_major(self) -> dict[str, np.ndarray]:
        """Flat tensors in bullet's order: w[o][i] at o + out * i."""
        values = {name: parameter.detach().cpu().numpy() for name, parameter in self.named_parameters()}
        return {
            "l0b": values["l0b"],
            "l0w": values["l0w"].reshape(-1),  # (768, 128): already a row of outputs per feature
            "l1b": values["l1b"],
            "l1w": values["l1w"].T.reshape(-1),  # (8, 256) -> input-major
        }

    def load_column_major(self, tensors: dict[str, np.ndarray]) -> None:
        with torch.no_grad():
            self.l0b.copy_(torch.tensor(tensors["l0b"]))
            self.l0w.copy_(torch.tensor(tensors["l0w"].reshape(FEATURE_COUNT, HIDDEN)))
            self.l1b.copy_(torch.tensor(tensors["l1b"]))
            self.l1w.copy_(torch.tensor(tensors["l1w"].reshape(2 * HIDDEN, BUCKET_COUNT).T.copy()))


def predict(network: Network, features: torch.Tensor) -> np.ndarray:
    """Outputs in f32, (N, 1)."""
    network.eval()
    with torch.no_grad():
        return torch.cat([network(part) for part in features.split(16384)]).cpu().numpy()


def mean_squared_error(outputs: np.ndarray, targets: np.ndarray) -> float:
    """The training loss, accumulated in float64."""
    probabilities = 1.0 / (1.0 + np.exp(-outputs.astype(np.float64).reshape(-1)))
    return float(np.mean((probabilities - targets.astype(np.float64)) ** 2))


def train(network: Network, features: torch.Tensor, targets: torch.Tensor, options: argparse.Namespace) -> None:
    """AdamW with a cosine learning rate; every epoch sees each position once, mirrored at random.

    Chess768 has no castling or en-passant input, so the mirrored board (files a-h exchanged,
    feature ^ 7) is a position with the same target; this doubles the data. Positions of one game
    share a result, which a network without dropout memorises: the training loss then falls while
    the held-out loss stands still.
    """
    network.train()
    optimiser = torch.optim.AdamW(network.parameters(), lr=options.learning_rate, weight_decay=options.weight_decay)
    schedule_generator = torch.Generator().manual_seed(options.seed)
    batches_per_epoch = len(features) // options.batch_size
    steps = options.epochs * batches_per_epoch
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps, eta_min=options.learning_rate / 1000)
    start = time.monotonic()
    for epoch in range(options.epochs):
        order = torch.randperm(len(features), generator=schedule_generator).to(features.device)
        loss_sum = 0.0
        for batch in range(batches_per_epoch):
            rows = order[batch * options.batch_size : (batch + 1) * options.batch_size]
            flips = torch.randint(0, 2, (len(rows), 1), generator=schedule_generator).to(features)
            outputs = network(features[rows] ^ (7 * flips)).squeeze(1)
            loss = (torch.sigmoid(outputs) - targets[rows]).square().mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
            network.clip()
            loss_sum += loss.item()
        print(
            f"epoch {epoch + 1:3}: loss {loss_sum / batches_per_epoch:.6f}, {time.monotonic() - start:.0f} s",
            flush=True,
        )


# Baselines


def material_differences(features: np.ndarray) -> np.ndarray:
    """Own minus opponent counts of P, N, B, R, Q, and a constant 1: (N, 6) f64."""
    present = features < FEATURE_COUNT
    sign = np.where(features < 384, 1, -1) * present
    kind = features % 384 // 64
    columns = [(sign * (kind == piece)).sum(axis=1) for piece in range(5)]
    return np.stack([*columns, np.ones(len(features))], axis=1).astype(np.float64)


def fit_through_sigmoid(inputs: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Weights (K,) that minimise the training loss of sigmoid(inputs . weights), by Gauss-Newton."""
    weights = np.zeros(inputs.shape[1])
    for _ in range(30):
        probabilities = 1.0 / (1.0 + np.exp(-inputs @ weights))
        jacobian = inputs * (probabilities * (1.0 - probabilities))[:, None]
        weights += np.linalg.lstsq(jacobian.T @ jacobian, jacobian.T @ (targets - probabilities), rcond=None)[0]
    return weights


def material_baselines(features: np.ndarray, targets: np.ndarray, split: int) -> dict[str, float]:
    """Held-out losses of material counts, fitted on the training part: five free values; 1/3/3/5/9 scaled."""
    differences = material_differences(features)
    conventional = np.stack([differences[:, :5] @ [1, 3, 3, 5, 9], differences[:, 5]], axis=1)
    losses = {}
    for name, inputs in [("fitted", differences), ("1/3/3/5/9", conventional)]:
        weights = fit_through_sigmoid(inputs[:split], targets[:split].astype(np.float64))
        losses[name] = mean_squared_error(inputs[split:] @ weights, targets[split:])
        print(
            f"material baseline {name}: weights in centipawns {np.round(EVAL_SCALE * weights, 1)}, "
            f"held-out loss {losses[name]:.6f}"
        )
    return losses


# Integer safety


def round_half_away(values: np.ndarray) -> np.ndarray:
    return np.trunc(values + np.copysign(0.5, values)).astype(np.int64)


def report_integer_bounds(tensors: dict[str, np.ndarray]) -> bool:
    """Bounds that hold for every position when l0 is i16 at 255 and l1w is i16 at 64; True if all are safe."""
    output_weights = round_half_away(QB * tensors["l1w"].astype(np.float64)).reshape(2 * HIDDEN, BUCKET_COUNT)
    positive = np.maximum(output_weights, 0).sum(axis=0)
    negative = np.maximum(-output_weights, 0).sum(axis=0)
    dot_bound = int(np.maximum(positive, negative).max()) * QA * QA
    print(f"bound of the dot product over buckets: {dot_bound} = {dot_bound / 2**31:.4f} of 2^31")

    rows = round_half_away(QA * tensors["l0w"].astype(np.float64)).reshape(FEATURE_COUNT, HIDDEN)
    bias = round_half_away(QA * tensors["l0b"].astype(np.float64))
    ascending = np.sort(rows, axis=0)
    highest = int((bias + np.maximum(ascending[-32:], 0).sum(axis=0)).max())
    lowest = int((bias + np.minimum(ascending[:32], 0).sum(axis=0)).min())
    print(f"bound of the accumulators, bias and 32 extreme rows: {lowest}..{highest} (i16: -32768..32767)")

    largest_bias = int(np.abs(round_half_away(QA * QB * tensors["l1b"].astype(np.float64))).max())
    print(
        f"largest |l1b| at 16320: {largest_bias}; largest |l1w| at 64: {np.abs(output_weights).max()}; "
        f"largest |l0w| at 255: {np.abs(rows).max()}"
    )
    return dot_bound < 2**31 and -32768 <= lowest and highest <= 32767 and largest_bias <= 32767


# Commands


def reference_rows(split: int, record_count: int) -> np.ndarray:
    """4096 row numbers spread evenly over the held-out part."""
    return split + np.arange(REFERENCE_COUNT) * (record_count - split) // REFERENCE_COUNT


def forward_float64(features: np.ndarray, tensors: dict[str, np.ndarray]) -> np.ndarray:
    """The network in numpy float64, one position after another: features (N, 32) -> (N, 1)."""
    l0w = tensors["l0w"].astype(np.float64).reshape(FEATURE_COUNT, HIDDEN)
    l1w = tensors["l1w"].astype(np.float64).reshape(2 * HIDDEN, BUCKET_COUNT)
    outputs = np.empty((len(features), 1))
    for row, padded in enumerate(features):
        stm = padded[padded < FEATURE_COUNT].astype(np.int64)
        ntm = ((stm ^ 56) + 384) % FEATURE_COUNT
        accumulators = np.concatenate([tensors["l0b"] + l0w[index].sum(axis=0) for index in (stm, ntm)])
        bucket = (len(stm) - 2) // 4
        outputs[row] = np.clip(accumulators, 0, 1) ** 2 @ l1w[:, bucket] + tensors["l1b"][bucket]
    return outputs


def print_first_outputs(records: np.ndarray, outputs: np.ndarray) -> None:
    for number in range(3):
        output = float(outputs[number, 0])
        print(
            f"position {number}: {records[number].tobytes().hex()} output {output:.7f} = {EVAL_SCALE * output:.2f} cp"
        )


def run_training(options: argparse.Namespace) -> bool:
    device = prepare_torch(options.device, options.threads, options.seed)
    records = np.fromfile(options.positions, dtype=RECORD)
    split = heldout_start(len(records))
    features = decode_features(records)
    targets = training_targets(records)
    print(f"{split} training positions, {len(records) - split} held-out; device {device}")
    baselines = material_baselines(features, targets, split)

    network = Network(options.dropout).to(device)
    feature_tensor = torch.from_numpy(features).to(device)
    target_tensor = torch.from_numpy(targets).to(device)
    train(network, feature_tensor[:split], target_tensor[:split], options)

    weights_path = options.directory / "nnue.weights.bin"
    write_weights(weights_path, network.column_major())
    network.load_column_major(read_weights(weights_path))
    bounds_hold = report_integer_bounds(read_weights(weights_path))

    heldout_outputs = predict(network, feature_tensor[split:])
    heldout_loss = mean_squared_error(heldout_outputs, targets[split:])
    scores = records["score"][split:].astype(np.float64)
    correlation = float(np.corrcoef(EVAL_SCALE * heldout_outputs[:, 0].astype(np.float64), scores)[0, 1])
    print(f"held-out loss {heldout_loss:.6f}, correlation with the engine's score {correlation:.4f}")
    engine_loss = mean_squared_error(scores / EVAL_SCALE, targets[split:])
    print(
        f"held-out loss of the engine's own score {engine_loss:.6f}: the target's result part that no evaluation knows"
    )

    rows = reference_rows(split, len(records))
    outputs = predict(network, feature_tensor[torch.from_numpy(rows).to(device)])
    metadata = common_metadata(device, options.seed, weights_path) | {
        "network": "reference",
        "units": "network output; centipawns = 400 * output",
        "wdl_lambda": str(WDL_LAMBDA),
        "heldout_loss": f"{heldout_loss:.6f}",
        "material_baseline_loss": f"{baselines['fitted']:.6f}",
        "material_baseline_loss_13359": f"{baselines['1/3/3/5/9']:.6f}",
        "score_correlation": f"{correlation:.4f}",
    }
    raw_records = records.view("u1").reshape(-1, 32)[rows]
    write_reference(
        options.directory / "nnue.reference.safetensors", {"positions": raw_records, "outputs": outputs}, metadata
    )
    print_first_outputs(records[rows], outputs)
    return bounds_hold


def run_check(options: argparse.Namespace) -> bool:
    weights_path = options.directory / "nnue.weights.bin"
    weights = read_weights(weights_path)
    tensors, metadata = read_reference(options.directory / "nnue.reference.safetensors")
    records = tensors["positions"].copy().view(RECORD).reshape(-1)
    recomputed = forward_float64(decode_features(records), weights)
    print_first_outputs(records, tensors["outputs"])
    bounds_hold = report_integer_bounds(weights)
    return report_agreement(tensors["outputs"], recomputed, weights_path, metadata) and bounds_hold


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("positions", nargs="?", type=Path, help="BulletFormat file; needed unless --check")
    parser.add_argument("--check", action="store_true", help="recompute the stored outputs; train nothing")
    parser.add_argument("--directory", type=Path, default=Path(__file__).parent, help="where the files lie")
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda")
    parser.add_argument("--threads", type=int, default=1, help="CPU threads; another number changes the sums' order")
    parser.add_argument("--seed", type=int, default=20260101)
    parser.add_argument("--epochs", type=int, default=45)
    parser.add_argument("--batch-size", type=int, default=8192)
    parser.add_argument("--learning-rate", type=float, default=2e-3)
    parser.add_argument("--weight-decay", type=float, default=0.5)
    parser.add_argument("--dropout", type=float, default=0.4, help="share of hidden values dropped in training")
    options = parser.parse_args()
    if options.positions is None and not options.check:
        parser.error("positions is required unless --check is given")
    return options


if __name__ == "__main__":
    chosen = parse_options()
    sys.exit(0 if (run_check if chosen.check else run_training)(chosen) else 1)
