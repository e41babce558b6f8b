"""Train the multi-layer reference NNUE and write its weights and its full-precision outputs.

    python train_layers.py positions.bf      train; writes layers.weights.bin, layers.reference.safetensors
    python train_layers.py --check           recompute the stored outputs in float64 with numpy

Network: (768 -> 256)x2, pairwise, -> 16 -> 32 -> 1 with 8 output buckets; features, buckets, data, split,
loss and baselines are those of train_nnue.py.

    a_stm, a_ntm   accumulators, l0b + sum of l0w rows of a side's features      (256,) each
    c              clamp(a, 0, 1)
    p              concat over the sides of c[:128] * c[128:]                    (256,)
    h1             clamp(l1w[bucket] p + l1b[bucket], 0, 1)^2                    (16,)
    h2             clamp(l2w[bucket] h1 + l2b[bucket], 0, 1)^2                   (32,)
    out            l3w[bucket] . h2 + l3b[bucket]                                centipawns = 400 * out

Integers make floor(127 p) of each p, roughly: those below 1/127 become zero, the others lose up to 1/127.
The loss is that of train_nnue.py plus a penalty that makes most of p zero in a position (`scarcity`), and in
training p is perturbed by about as much as the integers will do it (`perturbed`).
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
from train_nnue import (
    BUCKET_COUNT,
    EVAL_SCALE,
    FEATURE_COUNT,
    QA,
    RECORD,
    WDL_LAMBDA,
    WEIGHT_CLIP,
    decode_features,
    heldout_start,
    material_baselines,
    mean_squared_error,
    predict,
    print_first_outputs,
    reference_rows,
    round_half_away,
    training_targets,
)

HIDDEN = 256
PAIRS = HIDDEN // 2
L1, L2 = 16, 32
PRODUCT_SHIFT = 9  # 255 * 255 >> 9 = 127
STEP = (1 << PRODUCT_SHIFT) / (QA * QA)  # p of one integer step, 1/127.002
L1_SCALE = 128
L1_CLIP = 127 / 128
SCARCITY_HALF = 4 * STEP  # a product of this size costs half as much as the largest

# Outputs of one bucket, inputs: the layers behind the feature transformer.
SHAPES = {"l1": (L1, 2 * PAIRS), "l2": (L2, L1), "l3": (1, L2)}


# Network


def bucketed(name: str) -> tuple[nn.Parameter, nn.Parameter]:
    """Weights (buckets * outputs, inputs) and biases (buckets * outputs,); every bucket starts alike."""
    outputs, inputs = SHAPES[name]
    weights = torch.randn(outputs, inputs) * (2 / inputs) ** 0.5
    return nn.Parameter(weights.repeat(BUCKET_COUNT, 1)), nn.Parameter(torch.full((BUCKET_COUNT * outputs,), 0.1))


class Network(nn.Module):
    """The definition in the module's header; features (B, 32) i16 -> out (B, 1)."""

    def __init__(self, dropout_share: float = 0.0) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout_share)  # in training mode only
        self.l0w = nn.Parameter(torch.randn(FEATURE_COUNT, HIDDEN) * (2 / FEATURE_COUNT) ** 0.5)
        self.l0b = nn.Parameter(torch.full((HIDDEN,), 0.1))
        self.l1w, self.l1b = bucketed("l1")
        self.l2w, self.l2b = bucketed("l2")
        self.l3w, self.l3b = bucketed("l3")

    def products(self, features: torch.Tensor) -> torch.Tensor:
        """p: features (B, 32) -> (B, 256)."""
        present = features < FEATURE_COUNT
        piece_count = present.sum(dim=1)
        starts = piece_count.cumsum(dim=0) - piece_count
        stm = features[present].long()
        ntm = (stm ^ 56) + 384
        ntm = torch.where(ntm < FEATURE_COUNT, ntm, ntm - FEATURE_COUNT)
        sides = []
        for index in (stm, ntm):
            accumulators = nn.functional.embedding_bag(index, self.l0w, starts, mode="sum") + self.l0b
            clipped = accumulators.clamp(0.0, 1.0)
            sides.append(clipped[:, :PAIRS] * clipped[:, PAIRS:])
        return torch.cat(sides, dim=1)

    def tail(self, features: torch.Tensor, products: torch.Tensor) -> torch.Tensor:
        """What follows p: (B, 256) -> (B, 1)."""
        bucket = torch.div((features < FEATURE_COUNT).sum(dim=1) - 2, 4, rounding_mode="floor")
        # A one-hot sum instead of gather: its backward pass is deterministic everywhere.
        chosen = nn.functional.one_hot(bucket, BUCKET_COUNT).to(products.dtype).unsqueeze(2)

        def layer(inputs: torch.Tensor, weights: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
            every_bucket = nn.functional.linear(inputs, weights, bias).view(len(inputs), BUCKET_COUNT, -1)
            return (every_bucket * chosen).sum(dim=1)

        hidden = layer(self.dropout(products), self.l1w, self.l1b).clamp(0.0, 1.0).square()
        hidden = layer(hidden, self.l2w, self.l2b).clamp(0.0, 1.0).square()
        return layer(hidden, self.l3w, self.l3b)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return self.tail(features, self.products(features))

    def clip(self) -> None:
        """What becomes an integer stays within its type."""
        with torch.no_grad():
            for parameter, limit in ((self.l0w, WEIGHT_CLIP), (self.l0b, WEIGHT_CLIP), (self.l1w, L1_CLIP)):
                parameter.clamp_(-limit, limit)

    def column_major(self) -> dict[str, np.ndarray]:
        """Flat tensors in bullet's order: w[o][i] at o + out * i, bucket b owning rows from b * outputs on."""
        values = {name: parameter.detach().cpu().numpy() for name, parameter in self.named_parameters()}
        # l0w (768, 256) is already a row of outputs per feature.
        return {
            name: (value.T if name in ("l1w", "l2w", "l3w") else value).reshape(-1) for name, value in values.items()
        }

    def load_column_major(self, tensors: dict[str, np.ndarray]) -> None:
        with torch.no_grad():
            for name, parameter in self.named_parameters():
                value = torch.tensor(tensors[name])
                if name in ("l1w", "l2w", "l3w"):
                    value = value.view(parameter.shape[1], parameter.shape[0]).T
                parameter.copy_(value.reshape(parameter.shape))


def live_shares(products: torch.Tensor) -> tuple[float, float]:
    """Shares of products and of groups of four side by side that are not all zero as integers."""
    live = products >= STEP
    return live.float().mean().item(), live.view(len(live), -1, 4).any(dim=2).float().mean().item()


def scarcity(products: torch.Tensor) -> torch.Tensor:
    """About the share of products that are not zero, with a gradient: the mean of p / (p + SCARCITY_HALF).

    The mean of p itself would make few products zero and all of them small, and small ones lose most to rounding.
    """
    return (products / (products + SCARCITY_HALF)).mean()


def perturbed(products: torch.Tensor) -> torch.Tensor:
    """Products with up to two steps of noise in all where they are not zero: a part of each position's own, one of each
    product's.

    The noise has mean 0, so that the network without it is the one that was trained.
    """
    of_position = torch.rand(len(products), 1, device=products.device) * 2 - 1
    of_product = torch.rand_like(products) * 2 - 1
    return products + STEP * (of_position + of_product) * (products.detach() > 0)


def train(network: Network, features: torch.Tensor, targets: torch.Tensor, options: argparse.Namespace) -> None:
    """As in train_nnue.py, boards mirrored at random, with the penalty and the noise on products.

    The penalty's weight follows the share of live products: it grows while that is above the wanted one and shrinks
    while it is below, a fiftieth of the ratio's logarithm a step.
    """
    network.train()
    optimiser = torch.optim.AdamW(network.parameters(), lr=options.learning_rate, weight_decay=options.weight_decay)
    schedule_generator = torch.Generator().manual_seed(options.seed)
    batches_per_epoch = len(features) // options.batch_size
    steps = options.epochs * batches_per_epoch
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps, eta_min=options.learning_rate / 1000)
    weight = 0.005
    start = time.monotonic()
    for epoch in range(options.epochs):
        order = torch.randperm(len(features), generator=schedule_generator).to(features.device)
        loss_sum = 0.0
        for batch in range(batches_per_epoch):
            rows = order[batch * options.batch_size : (batch + 1) * options.batch_size]
            flips = torch.randint(0, 2, (len(rows), 1), generator=schedule_generator).to(features)
            boards = features[rows] ^ (7 * flips)
            products = network.products(boards)
            outputs = network.tail(boards, perturbed(products)).squeeze(1)
            loss = (torch.sigmoid(outputs) - targets[rows]).square().mean()
            optimiser.zero_grad()
            (loss + weight * scarcity(products)).backward()
            optimiser.step()
            schedule.step()
            network.clip()
            loss_sum += loss.item()
            live, groups = live_shares(products.detach())
            weight = min(max(weight * (max(live, 0.001) / options.live) ** 0.02, 1e-4), 0.2)
            if batch % 40 == 0 or batch + 1 == batches_per_epoch:
                print(
                    f"epoch {epoch + 1:3}, batch {batch + 1}: loss {loss_sum / (batch + 1):.6f}, live {live:.3f}, "
                    f"groups {groups:.3f}, penalty's weight {weight:.4f}, {time.monotonic() - start:.0f} s",
                    flush=True,
                )


# Integer safety


def report_integer_bounds(tensors: dict[str, np.ndarray]) -> bool:
    """Bounds that hold for every position when l0 is i16 at 255 and l1w is i8 at 128; True if all are safe."""
    rows = round_half_away(QA * tensors["l0w"].astype(np.float64)).reshape(FEATURE_COUNT, HIDDEN)
    bias = round_half_away(QA * tensors["l0b"].astype(np.float64))
    ascending = np.sort(rows, axis=0)
    highest = int((bias + np.maximum(ascending[-32:], 0).sum(axis=0)).max())
    lowest = int((bias + np.minimum(ascending[:32], 0).sum(axis=0)).min())
    print(f"bound of the accumulators, bias and 32 extreme rows: {lowest}..{highest} (i16: -32768..32767)")
    weights = round_half_away(L1_SCALE * tensors["l1w"].astype(np.float64)).reshape(2 * PAIRS, BUCKET_COUNT * L1)
    sums = 127 * np.maximum(np.maximum(weights, 0).sum(axis=0), np.maximum(-weights, 0).sum(axis=0))
    print(
        f"largest |l0w| at 255: {np.abs(rows).max()}; largest |l1w| at 128: {np.abs(weights).max()}; "
        f"bound of l1's sums: {sums.max()}"
    )
    return -32768 <= lowest and highest <= 32767 and np.abs(weights).max() <= 127


# Commands


def forward_float64(features: np.ndarray, tensors: dict[str, np.ndarray]) -> np.ndarray:
    """The network in numpy float64, one position after another: features (N, 32) -> (N, 1)."""
    exact = {name: value.astype(np.float64) for name, value in tensors.items()}
    l0w = exact["l0w"].reshape(FEATURE_COUNT, HIDDEN)
    weights = {
        name: exact[name + "w"].reshape(inputs, BUCKET_COUNT, outputs) for name, (outputs, inputs) in SHAPES.items()
    }
    biases = {name: exact[name + "b"].reshape(BUCKET_COUNT, outputs) for name, (outputs, _) in SHAPES.items()}
    outputs = np.empty((len(features), 1))
    for row, padded in enumerate(features):
        stm = padded[padded < FEATURE_COUNT].astype(np.int64)
        ntm = ((stm ^ 56) + 384) % FEATURE_COUNT
        clipped = [np.clip(exact["l0b"] + l0w[index].sum(axis=0), 0, 1) for index in (stm, ntm)]
        values = np.concatenate([side[:PAIRS] * side[PAIRS:] for side in clipped])
        bucket = (len(stm) - 2) // 4
        for name in ("l1", "l2"):
            values = np.clip(values @ weights[name][:, bucket] + biases[name][bucket], 0, 1) ** 2
        outputs[row] = values @ weights["l3"][:, bucket] + biases["l3"][bucket]
    return outputs


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
    if options.tune:  # a twentieth in front of the held-out part stands in for it, which is not looked at
        feature_tensor, target_tensor = feature_tensor[:split], target_tensor[:split]
        records, features, targets = records[:split], features[:split], targets[:split]
        split = heldout_start(split)
    train(network, feature_tensor[:split], target_tensor[:split], options)

    weights_path = options.directory / "layers.weights.bin"
    write_weights(weights_path, network.column_major())
    network.load_column_major(read_weights(weights_path))
    bounds_hold = report_integer_bounds(read_weights(weights_path))

    heldout_outputs = predict(network, feature_tensor[split:])
    heldout_loss = mean_squared_error(heldout_outputs, targets[split:])
    scores = records["score"][split:].astype(np.float64)
    correlation = float(np.corrcoef(EVAL_SCALE * heldout_outputs[:, 0].astype(np.float64), scores)[0, 1])
    with torch.no_grad():
        live, groups = live_shares(network.products(feature_tensor[split : split + 16384]))
    print(f"held-out loss {heldout_loss:.6f}, correlation with the engine's score {correlation:.4f}")
    print(f"held-out share of products that are not zero {live:.4f}, of groups of four {groups:.4f}")
    if options.tune:
        return bounds_hold

    rows = reference_rows(split, len(records))
    outputs = predict(network, feature_tensor[torch.from_numpy(rows).to(device)])
    metadata = common_metadata(device, options.seed, weights_path) | {
        "network": "reference-layers",
        "units": "network output; centipawns = 400 * output",
        "wdl_lambda": str(WDL_LAMBDA),
        "live_wanted": str(options.live),
        "heldout_loss": f"{heldout_loss:.6f}",
        "material_baseline_loss": f"{baselines['fitted']:.6f}",
        "material_baseline_loss_13359": f"{baselines['1/3/3/5/9']:.6f}",
        "score_correlation": f"{correlation:.4f}",
        "live_products": f"{live:.4f}",
        "live_groups": f"{groups:.4f}",
    }
    raw_records = records.view("u1").reshape(-1, 32)[rows]
    write_reference(
        options.directory / "layers.reference.safetensors", {"positions": raw_records, "outputs": outputs}, metadata
    )
    print_first_outputs(records[rows], outputs)
    return bounds_hold


def run_check(options: argparse.Namespace) -> bool:
    weights_path = options.directory / "layers.weights.bin"
    weights = read_weights(weights_path)
    tensors, metadata = read_reference(options.directory / "layers.reference.safetensors")
    records = tensors["positions"].copy().view(RECORD).reshape(-1)
    recomputed = forward_float64(decode_features(records), weights)
    print_first_outputs(records, tensors["outputs"])
    bounds_hold = report_integer_bounds(weights)
    return report_agreement(tensors["outputs"], recomputed, weights_path, metadata) and bounds_hold


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("positions", nargs="?", type=Path, help="BulletFormat file; needed unless --check")
    parser.add_argument("--check", action="store_true", help="recompute the stored outputs; train nothing")
    parser.add_argument("--tune", action="store_true", help="judge by the end of the training part; write no reference")
    parser.add_argument("--directory", type=Path, default=Path(__file__).parent, help="where the files lie")
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda")
    parser.add_argument("--threads", type=int, default=1, help="CPU threads; another number changes the sums' order")
    parser.add_argument("--seed", type=int, default=20260101)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--batch-size", type=int, default=8192)
    parser.add_argument("--learning-rate", type=float, default=3e-3)
    parser.add_argument("--weight-decay", type=float, default=0.2)
    parser.add_argument("--dropout", type=float, default=0.1, help="share of products dropped in training")
    parser.add_argument("--live", type=float, default=0.15, help="share of products that shall not be zero")
    options = parser.parse_args()
    if options.positions is None and not options.check:
        parser.error("positions is required unless --check is given")
    return options


if __name__ == "__main__":
    chosen = parse_options()
    sys.exit(0 if (run_check if chosen.check else run_training)(chosen) else 1)
