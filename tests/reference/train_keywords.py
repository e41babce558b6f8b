"""Train the reference keyword spotter on made-up spectrograms and write its weights and its full-precision outputs.

    python train_keywords.py             train; writes keywords.safetensors, keywords.reference.safetensors
    python train_keywords.py --check     recompute the stored outputs in float64 with numpy

Network: the shape of MLPerf Tiny's keyword spotter, 49 frames of 10 coefficients -> 12 words, a depthwise separable
network of 64 channels with BatchNormalization; `keywords.toml` says the same.

Input: coefficients q of -128 to 127, as stored; the network takes q / 16. A word is three bumps over the coefficients
that glide through the frames, each from one coefficient to another; a sample shifts, stretches and weights them, and
adds noise. Word 0 is silence, noise alone, and word 1 is any other three bumps.

Loss: cross-entropy. Training, calibration and test samples are drawn one behind the other from one generator.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn

from reference_files import (
    common_metadata,
    prepare_torch,
    read_reference,
    report_agreement,
    write_reference,
)

FRAMES, COEFFICIENTS, CHANNELS, WORDS = 49, 10, 64, 12
UNIT = 1 / 16
TRAINING, CALIBRATION, TEST = 12_000, 100, 200
BUMPS = 3
NOISE = 14.0
EPSILON = 1e-5


def draw_word(generator: np.random.Generator) -> np.ndarray:
    """Three bumps: start, end (coefficients), first frame, frames, height; (3, 5) f64."""
    start, end = generator.uniform(0, COEFFICIENTS - 1, (2, BUMPS))
    first, length = generator.uniform(4, 22, BUMPS), generator.uniform(8, 24, BUMPS)
    return np.stack([start, end, first, length, generator.uniform(25, 70, BUMPS)], axis=1)


def draw_sample(word: np.ndarray | None, generator: np.random.Generator) -> np.ndarray:
    """A spectrogram (49, 10) of -128 to 127."""
    frames, coefficients = np.arange(FRAMES)[:, None], np.arange(COEFFICIENTS)[None, :]
    values = generator.normal(0, NOISE, (FRAMES, COEFFICIENTS))
    shift, stretch, loudness = generator.normal(0, 3), generator.uniform(0.8, 1.25), generator.uniform(0.5, 1.2)
    for start, end, first, length, height in word if word is not None else []:
        along = (frames - shift - first * stretch) / (length * stretch)
        centre = start + (end - start) * along + generator.normal(0, 0.4)
        envelope = np.exp(-((2.2 * along - 1.1) ** 2) * 2)
        values = values + loudness * height * envelope * np.exp(-((coefficients - centre) ** 2) / 1.6)
    return np.clip(np.round(values), -128, 127).astype(np.int8)


def draw_samples(count: int, words: list[np.ndarray], generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Inputs (count, 49, 10, 1) i8 and labels (count,) u8."""
    labels = generator.integers(0, WORDS, count).astype(np.uint8)
    known = {0: lambda: None, 1: lambda: draw_word(generator)}
    inputs = [draw_sample(known.get(label, lambda label=label: words[label - 2])(), generator) for label in labels]
    return np.stack(inputs)[..., None], labels


class Network(nn.Module):
    """Inputs (B, 1, 49, 10) f32 -> logits (B, 12)."""

    def __init__(self) -> None:
        super().__init__()
        layers = [nn.Conv2d(1, CHANNELS, (10, 4), 2, (5, 1), bias=False), nn.BatchNorm2d(CHANNELS), nn.ReLU()]
        for _ in range(4):
            layers += [nn.Conv2d(CHANNELS, CHANNELS, 3, 1, 1, groups=CHANNELS, bias=False), nn.BatchNorm2d(CHANNELS)]
            layers += [nn.ReLU(), nn.Conv2d(CHANNELS, CHANNELS, 1, bias=False), nn.BatchNorm2d(CHANNELS), nn.ReLU()]
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Linear(CHANNELS, WORDS)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return self.classifier(self.features(inputs).mean((2, 3)))


def as_real(inputs: np.ndarray) -> torch.Tensor:
    """Stored (B, 49, 10, 1) i8 as (B, 1, 49, 10) f32."""
    return torch.from_numpy(inputs.astype(np.float32) * UNIT).permute(0, 3, 1, 2)


def train(network: Network, inputs: torch.Tensor, labels: torch.Tensor, options: argparse.Namespace) -> None:
    """AdamW with a cosine learning rate over shuffled batches."""
    optimiser = torch.optim.AdamW(network.parameters(), lr=options.learning_rate, weight_decay=options.weight_decay)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, options.epochs)
    generator = torch.Generator().manual_seed(options.seed)
    network.train()
    for _ in range(options.epochs):
        order = torch.randperm(len(inputs), generator=generator).to(inputs.device)
        for rows in order.split(options.batch_size):
            loss = nn.functional.cross_entropy(network(inputs[rows]), labels[rows])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        schedule.step()
    network.eval()


def accuracy_of(logits: np.ndarray, labels: np.ndarray) -> float:
    return float((logits.argmax(axis=1) == labels).mean())


def convolve(x: np.ndarray, weight: np.ndarray, stride: int, before: tuple[int, int]) -> np.ndarray:
    """x (B, c, h, w), weight (m, c / groups, kh, kw), as many groups as fit -> (B, m, h', w')."""
    (down, across), (above, left) = weight.shape[2:], before
    x = np.pad(x, ((0, 0), (0, 0), (above, above), (left, left)))
    height, width = (x.shape[2] - down) // stride + 1, (x.shape[3] - across) // stride + 1
    out = np.zeros((len(x), len(weight), height, width))
    for a in range(down):
        for b in range(across):
            seen = x[:, :, a : a + stride * (height - 1) + 1 : stride, b : b + stride * (width - 1) + 1 : stride]
            if weight.shape[1] == x.shape[1]:
                out += np.einsum("bcij,mc->bmij", seen, weight[:, :, a, b])
            else:
                out += seen * weight[None, :, 0, a, b, None, None]
    return out


def forward_float64(inputs: np.ndarray, tensors: dict[str, np.ndarray]) -> np.ndarray:
    """The network in numpy float64: stored inputs (N, 49, 10, 1) -> logits (N, 12)."""
    x = inputs.astype(np.float64).transpose(0, 3, 1, 2) * UNIT
    get = lambda name: tensors[name].astype(np.float64)
    for index in range(0, 27, 3):
        first = index == 0
        x = convolve(x, get(f"features.{index}.weight"), 2 if first else 1, (5, 1) if first else (index // 3 % 2,) * 2)
        names = ("weight", "bias", "running_mean", "running_var")
        scale, shift, mean, variance = (get(f"features.{index + 1}.{name}")[:, None, None] for name in names)
        x = np.maximum((x - mean) / np.sqrt(variance + EPSILON) * scale + shift, 0)
    return x.mean((2, 3)) @ get("classifier.weight").T + get("classifier.bias")


def run_training(options: argparse.Namespace) -> bool:
    device = prepare_torch(options.device, options.threads, options.seed)
    generator = np.random.default_rng(options.seed)
    words = [draw_word(generator) for _ in range(WORDS - 2)]
    (train_inputs, train_labels), (calibration, _), (test_inputs, test_labels) = (
        draw_samples(count, words, generator) for count in (TRAINING, CALIBRATION, TEST)
    )
    network = Network().to(device)
    train(network, as_real(train_inputs).to(device), torch.from_numpy(train_labels).long().to(device), options)
    with torch.no_grad():
        logits = network(as_real(test_inputs).to(device)).cpu().numpy()

    weights_path = options.directory / "keywords.safetensors"
    state = {name: tensor.cpu().numpy() for name, tensor in network.state_dict().items()}
    state = {name: tensor for name, tensor in state.items() if tensor.ndim > 0}  # without the counts of batches
    write_reference(weights_path, state, {"network": "keywords"})
    accuracy = accuracy_of(logits, test_labels)
    metadata = common_metadata(device, options.seed, weights_path) | {
        "network": "keywords",
        "units": "logits; inputs count in 1/16",
        "accuracy": f"{accuracy:.6f}",
    }
    tensors = {"inputs": test_inputs, "outputs": logits, "labels": test_labels, "calibration_inputs": calibration}
    write_reference(options.directory / "keywords.reference.safetensors", tensors, metadata)
    print(f"test accuracy {accuracy:.4f} ({len(test_labels)} samples)")
    return True


def run_check(options: argparse.Namespace) -> bool:
    weights_path = options.directory / "keywords.safetensors"
    weights, _ = read_reference(weights_path)
    tensors, metadata = read_reference(options.directory / "keywords.reference.safetensors")
    recomputed = forward_float64(tensors["inputs"], weights)
    print(f"test accuracy {accuracy_of(recomputed, tensors['labels']):.4f} (recorded {metadata['accuracy']})")
    return report_agreement(tensors["outputs"], recomputed, weights_path, metadata)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="recompute the stored outputs; train nothing")
    parser.add_argument("--directory", type=Path, default=Path(__file__).parent, help="where the files lie")
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda")
    parser.add_argument("--threads", type=int, default=1, help="CPU threads; another number changes the sums' order")
    parser.add_argument("--seed", type=int, default=20260101)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--learning-rate", type=float, default=4e-3)
    parser.add_argument("--weight-decay", type=float, default=0.01)
    return parser.parse_args()


if __name__ == "__main__":
    chosen = parse_options()
    sys.exit(0 if (run_check if chosen.check else run_training)(chosen) else 1)
