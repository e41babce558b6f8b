"""Train the reference digit classifier and write its weights and its full-precision outputs.

    python train_digits.py             train; writes digits.weights.bin, digits.safetensors,
    digits.reference.safetensors python train_digits.py --check     recompute the stored outputs in float64 with numpy

Network: 64 -> 32 -> 10 on the 8x8 images that scikit-learn bundles, pixel / 16 in 0..1.

    h      = max(l0w . x + l0b, 0)      (32,)
    logits = l1w . h + l1b              (10,)

Loss: cross-entropy. Split: sample i of load_digits() is a test sample when i % 5 == 4.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import torch
from sklearn.datasets import load_digits
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

PIXELS, HIDDEN, CLASSES = 64, 32, 10
PIXEL_MAX = 16.0
CALIBRATION_COUNT = 256
SHIFT_SHARE = 0.15


def split_digits() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Train inputs (1438, 64) f32, train labels (1438,) u8, test inputs (359, 64), test labels (359,)."""
    digits = load_digits()
    inputs = (digits.data / PIXEL_MAX).astype(np.float32)
    labels = digits.target.astype(np.uint8)
    is_test = np.arange(len(labels)) % 5 == 4
    return inputs[~is_test], labels[~is_test], inputs[is_test], labels[is_test]


class Network(nn.Module):
    """The definition in the module's header; inputs (B, 64) f32 -> logits (B, 10)."""

    def __init__(self) -> None:
        super().__init__()
        self.l0 = nn.Linear(PIXELS, HIDDEN)
        self.l1 = nn.Linear(HIDDEN, CLASSES)

    def hidden(self, inputs: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.l0(inputs))

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return self.l1(self.hidden(inputs))

    def column_major(self) -> dict[str, np.ndarray]:
        """Flat tensors in bullet's order: w[o][i] at o + out * i."""
        tensors = {}
        for name, layer in [("l0", self.l0), ("l1", self.l1)]:
            tensors[name + "w"] = layer.weight.detach().cpu().numpy().T.reshape(-1)
            tensors[name + "b"] = layer.bias.detach().cpu().numpy()
        return tensors

    def load_column_major(self, tensors: dict[str, np.ndarray]) -> None:
        with torch.no_grad():
            for name, layer in [("l0", self.l0), ("l1", self.l1)]:
                matrix = tensors[name + "w"].reshape(layer.in_features, layer.out_features).T
                layer.weight.copy_(torch.tensor(matrix.copy()))
                layer.bias.copy_(torch.tensor(tensors[name + "b"]))


def shift_some(inputs: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Move about 15 % of the images (B, 64) by -1, 0 or 1 pixel each way; zeros come in at the edges."""
    count = len(inputs)
    chosen = torch.rand(count, generator=generator) < SHIFT_SHARE
    offsets = torch.where(chosen, torch.randint(0, 3, (2, count), generator=generator), 1)  # 1: not moved
    padded = nn.functional.pad(inputs.reshape(-1, 8, 8), (1, 1, 1, 1))
    rows, columns = offsets[:, :, None].to(inputs.device) + torch.arange(8, device=inputs.device)
    image = torch.arange(count, device=inputs.device)[:, None, None]
    return padded[image, rows[:, :, None], columns[:, None, :]].reshape(-1, PIXELS)


def train(network: Network, inputs: torch.Tensor, labels: torch.Tensor, options: argparse.Namespace) -> None:
    """AdamW with a cosine learning rate over shuffled batches, some images shifted by a pixel."""
    optimiser = torch.optim.AdamW(network.parameters(), lr=options.learning_rate, weight_decay=options.weight_decay)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, options.epochs)
    generator = torch.Generator().manual_seed(options.seed)
    for _ in range(options.epochs):
        order = torch.randperm(len(inputs), generator=generator).to(inputs.device)
        for rows in order.split(options.batch_size):
            loss = nn.functional.cross_entropy(network(shift_some(inputs[rows], generator)), labels[rows])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        schedule.step()


def accuracy_of(logits: np.ndarray, labels: np.ndarray) -> float:
    return float((logits.argmax(axis=1) == labels).mean())


def forward_float64(inputs: np.ndarray, tensors: dict[str, np.ndarray]) -> np.ndarray:
    """The network in numpy float64: inputs (N, 64) -> logits (N, 10)."""
    l0w = tensors["l0w"].astype(np.float64).reshape(PIXELS, HIDDEN)
    l1w = tensors["l1w"].astype(np.float64).reshape(HIDDEN, CLASSES)
    hidden = np.maximum(inputs.astype(np.float64) @ l0w + tensors["l0b"], 0.0)
    return hidden @ l1w + tensors["l1b"]


def as_pytorch(tensors: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The same weights as a PyTorch module names and lays them out: (out, in)."""
    return {
        "fc1.weight": tensors["l0w"].reshape(PIXELS, HIDDEN).T,
        "fc1.bias": tensors["l0b"],
        "fc2.weight": tensors["l1w"].reshape(HIDDEN, CLASSES).T,
        "fc2.bias": tensors["l1b"],
    }


def run_training(options: argparse.Namespace) -> bool:
    device = prepare_torch(options.device, options.threads, options.seed)
    train_inputs, train_labels, test_inputs, test_labels = split_digits()
    network = Network().to(device)
    train_tensor = torch.from_numpy(train_inputs).to(device)
    train(network, train_tensor, torch.from_numpy(train_labels).long().to(device), options)

    weights_path = options.directory / "digits.weights.bin"
    write_weights(weights_path, network.column_major())
    network.load_column_major(read_weights(weights_path))
    write_reference(
        options.directory / "digits.safetensors", as_pytorch(read_weights(weights_path)), {"network": "digits"}
    )
    with torch.no_grad():
        logits = network(torch.from_numpy(test_inputs).to(device)).cpu().numpy()
        train_logits = network(train_tensor).cpu().numpy()
        activation_max = float(network.hidden(train_tensor).max())

    accuracy = accuracy_of(logits, test_labels)
    calibration_rows = np.arange(CALIBRATION_COUNT) * len(train_inputs) // CALIBRATION_COUNT
    metadata = common_metadata(device, options.seed, weights_path) | {
        "network": "digits",
        "units": "logits; inputs are pixel / 16",
        "accuracy": f"{accuracy:.6f}",
        "activation_max_l0": f"{activation_max:.9g}",
    }
    tensors = {
        "inputs": test_inputs,
        "outputs": logits,
        "labels": test_labels,
        "calibration_inputs": train_inputs[calibration_rows],
    }
    write_reference(options.directory / "digits.reference.safetensors", tensors, metadata)
    print(
        f"test accuracy {accuracy:.4f} ({len(test_labels)} samples), "
        f"training accuracy {accuracy_of(train_logits, train_labels):.4f}"
    )
    print(f"largest hidden activation over the training split {activation_max:.6f}")
    return True


def run_check(options: argparse.Namespace) -> bool:
    weights_path = options.directory / "digits.weights.bin"
    tensors, metadata = read_reference(options.directory / "digits.reference.safetensors")
    recomputed = forward_float64(tensors["inputs"], read_weights(weights_path))
    print(f"test accuracy {accuracy_of(recomputed, tensors['labels']):.4f} (recorded {metadata['accuracy']})")
    return report_agreement(tensors["outputs"], recomputed, weights_path, metadata)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="recompute the stored outputs; train nothing")
    parser.add_argument("--directory", type=Path, default=Path(__file__).parent, help="where the files lie")
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda")
    parser.add_argument("--threads", type=int, default=1, help="CPU threads; another number changes the sums' order")
    parser.add_argument("--seed", type=int, default=20260101)
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--learning-rate", type=float, default=1e-2)
    parser.add_argument("--weight-decay", type=float, default=0.03)
    return parser.parse_args()


if __name__ == "__main__":
    chosen = parse_options()
    sys.exit(0 if (run_check if chosen.check else run_training)(chosen) else 1)
