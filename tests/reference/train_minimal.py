"""Train the smallest network: is an 8x8 image of a digit a zero? Writes minimal.weights.bin and the images of the
firmware example.

    python train_minimal.py            train; writes minimal.weights.bin, and minimal.images.bin of firmware-examples
    python train_minimal.py --check    compute the stored weights' answers on the test images again

Network: 64 -> 16 -> 1 on the images that scikit-learn bundles, pixel / 16 in 0..1.

    h     = max(l0w . x + l0b, 0)      (16,)
    logit = l1w . h + l1b              (1,), above 0: a zero

Loss: cross-entropy. Split: sample i of load_digits() is a test sample when i % 5 == 4. It needs numpy and scikit-learn
only.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

from reference_files import read_weights, write_weights

PIXELS, HIDDEN = 64, 16
PIXEL_MAX = 16
INPUT_MAX = 127  # the largest byte of a dense input
SEED = 20260101
EPOCHS, BATCH_SIZE, LEARNING_RATE, WEIGHT_DECAY = 200, 32, 1e-2, 0.03
SHOWN_DIGITS = (0, 6)  # the first of each in the test split go into the firmware


def split_digits() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Train pixels (1438, 64) in 0..16, their digits, test pixels (359, 64), their digits."""
    digits = load_digits()
    is_test = np.arange(len(digits.target)) % 5 == 4
    return digits.data[~is_test], digits.target[~is_test], digits.data[is_test], digits.target[is_test]


def forward(inputs: np.ndarray, weights: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Hidden values (N, 16) and logits (N,) of inputs (N, 64)."""
    hidden = np.maximum(inputs @ weights["l0w"] + weights["l0b"], 0.0)
    return hidden, (hidden @ weights["l1w"] + weights["l1b"])[:, 0]


def gradients(inputs: np.ndarray, targets: np.ndarray, weights: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Of the mean cross-entropy over a batch."""
    hidden, logits = forward(inputs, weights)
    error = ((1 / (1 + np.exp(-logits)) - targets) / len(targets))[:, None]
    back = (error @ weights["l1w"].T) * (hidden > 0)
    return {"l0w": inputs.T @ back, "l0b": back.sum(0), "l1w": hidden.T @ error, "l1b": error.sum(0)}


def train(inputs: np.ndarray, targets: np.ndarray) -> dict[str, np.ndarray]:
    """AdamW with a cosine learning rate over shuffled batches, in float64; w[i][o] multiplies input i for output o."""
    random = np.random.default_rng(SEED)
    weights = {
        "l0w": random.uniform(-1, 1, (PIXELS, HIDDEN)) / np.sqrt(PIXELS),
        "l0b": np.zeros(HIDDEN),
        "l1w": random.uniform(-1, 1, (HIDDEN, 1)) / np.sqrt(HIDDEN),
        "l1b": np.zeros(1),
    }
    first = {name: np.zeros_like(value) for name, value in weights.items()}
    second = {name: np.zeros_like(value) for name, value in weights.items()}
    step = 0
    for epoch in range(EPOCHS):
        rate = LEARNING_RATE * (1 + np.cos(np.pi * epoch / EPOCHS)) / 2
        order = random.permutation(len(inputs))
        for start in range(0, len(order), BATCH_SIZE):
            rows = order[start : start + BATCH_SIZE]
            step += 1
            for name, gradient in gradients(inputs[rows], targets[rows], weights).items():
                first[name] = 0.9 * first[name] + 0.1 * gradient
                second[name] = 0.999 * second[name] + 0.001 * gradient**2
                mean, variance = first[name] / (1 - 0.9**step), second[name] / (1 - 0.999**step)
                weights[name] = weights[name] * (1 - rate * WEIGHT_DECAY) - rate * mean / (np.sqrt(variance) + 1e-8)
    return weights


def report(weights: dict[str, np.ndarray]) -> float:
    """Prints and returns the accuracy on the test images, and the largest hidden value on the training images."""
    train_pixels, _, pixels, digits = split_digits()
    right = (forward(pixels / PIXEL_MAX, weights)[1] > 0) == (digits == 0)
    print(f"right on {right.sum()} of {len(right)} test images")
    print(f"largest hidden value on the training images: {forward(train_pixels / PIXEL_MAX, weights)[0].max():.7f}")
    return float(right.mean())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="compute the answers again; train nothing")
    parser.add_argument("--directory", type=Path, default=Path(__file__).parent, help="where the weights lie")
    parser.add_argument("--images", type=Path, help="where the firmware's images go")
    options = parser.parse_args()
    path = options.directory / "minimal.weights.bin"
    if not options.check:
        train_pixels, train_digits, pixels, digits = split_digits()
        write_weights(path, train(train_pixels / PIXEL_MAX, (train_digits == 0).astype(float)))
        chosen = pixels[[int(np.argmax(digits == digit)) for digit in SHOWN_DIGITS]]
        images = options.images or Path(__file__).parents[2] / "firmware-examples/programs/src/minimal.images.bin"
        images.write_bytes(((chosen * INPUT_MAX + PIXEL_MAX // 2) // PIXEL_MAX).astype("u1").tobytes())
    stored = read_weights(path)
    shapes = {"l0w": (PIXELS, HIDDEN), "l1w": (HIDDEN, 1)}
    accuracy = report({name: value.astype(float).reshape(shapes.get(name, -1)) for name, value in stored.items()})
    return 0 if accuracy > 0.98 else 1


if __name__ == "__main__":
    sys.exit(main())
