"""Quantising and verifying from memory is what the command line does with files."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
import tamis
from conftest import CHAIN, ROOT, examples, host_tools, state_dict
from tamis.arrays import safetensors_of

NET = ROOT / "tests/reference/nnue.weights.bin"
ARCH = ROOT / "tests/architectures/reference.toml"
FENS = ["startpos", "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"] * 20


def test_a_state_dict_becomes_what_its_file_becomes(small: tamis.Model, tmp_path: Path) -> None:
    (tmp_path / "state_dict.safetensors").write_bytes(safetensors_of(state_dict()))
    np.save(tmp_path / "calibrate.npy", examples(200))
    host_tools(
        "quantise", tmp_path / "state_dict.safetensors", "--arch", CHAIN,
        "--calibrate", tmp_path / "calibrate.npy", "-o", tmp_path / "net.bin",
    )  # fmt: skip
    assert (tmp_path / "net.bin").read_bytes() == small.container
    again = tamis.quantise(
        tmp_path / "state_dict.safetensors", arch=CHAIN, calibrate=tmp_path / "calibrate.npy", out=tmp_path / "again"
    )
    assert again.container == small.container == (tmp_path / "again").read_bytes()


class Tensor:
    """As torch's: on a device, with a gradient."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        self.dtype = array.dtype

    def detach(self) -> Tensor:
        return self

    def cpu(self) -> Tensor:
        return self

    def numpy(self) -> np.ndarray:
        return self.array


def test_tensors_of_torch_are_taken(small: tamis.Model) -> None:
    tensors = {name: Tensor(array) for name, array in state_dict().items()}
    again = tamis.quantise(tensors, arch=CHAIN, calibrate=Tensor(examples(200)))
    assert again.container == small.container


def test_options_are_those_of_the_command_line() -> None:
    def of(**options: str | bool) -> tamis.Model:
        return tamis.quantise(state_dict(), arch=CHAIN, calibrate=examples(200), **options)

    assert of(activations="i16").container != of(activations="u8").container
    assert of(keep_f32="all").container != of(no_bias_correction=True).container
    with pytest.raises(tamis.UsageError, match="--no-such-option"):
        of(no_such_option=True)
    with pytest.raises(tamis.UsageError, match="command line alone"):
        of(html="x")


def test_a_verification_is_that_of_the_command_line(small: tamis.Model, tmp_path: Path) -> None:
    x = examples(64, seed=9)
    report = tamis.verify(small, state_dict(), arch=CHAIN, inputs=x)
    assert report.passed and report.accuracy["samples"] == 64 and not report.mistakes
    small.save(tmp_path / "model.bin")
    (tmp_path / "state_dict.safetensors").write_bytes(safetensors_of(state_dict()))
    np.save(tmp_path / "inputs.npy", x)
    wanted = host_tools(
        "verify", tmp_path / "model.bin", "--checkpoint", tmp_path / "state_dict.safetensors",
        "--arch", CHAIN, "--inputs", tmp_path / "inputs.npy", "--html", tmp_path / "report.html",
    )  # fmt: skip
    found = report.to_dict()
    for place in ("checkpoint", "inputs"):
        wanted["truth"][place] = Path(wanted["truth"][place]).name
    wanted["html"] = Path(wanted["html"]).name
    assert found == wanted
    assert report.to_html().startswith("<!") and "<svg" in report.to_html()
    view = report._repr_html_()
    assert view.startswith("<iframe srcdoc=") and view.count('"') == 8, "the page is one quoted attribute"


def test_positions_come_in_three_forms(chess: tamis.Model, tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text("".join(f"{fen}\n" for fen in FENS))
    reports = [tamis.verify(chess, NET, arch=ARCH, positions=given) for given in (FENS, tmp_path / "p.txt")]
    first, second = (report.to_dict() for report in reports)
    assert first["accuracy"] == second["accuracy"] and first["passed"]
    assert "passed" in repr(reports[0])


def test_limits_are_kept_or_named(chess: tamis.Model) -> None:
    report = tamis.verify(chess, NET, arch=ARCH, positions=FENS, gates={"max_error": 0.0, "require_proof": True})
    assert not report.passed and "max_error" in repr(report)
    with pytest.raises(tamis.MalformedError, match="max_eror"):
        tamis.verify(chess, NET, arch=ARCH, positions=FENS, gates={"max_eror": 1.0})


def test_a_wrong_description_is_named(small: tamis.Model) -> None:
    report = tamis.verify(small, state_dict(seed=9), arch=CHAIN, inputs=examples(64))
    assert not report.passed and report.mistakes


def test_reports_of_parts_are_the_report_of_the_whole(chess: tamis.Model, small: tamis.Model) -> None:
    def of(fens: list[str], partial: bool = True) -> tamis.Report:
        return tamis.verify(chess, NET, arch=ARCH, positions=fens, partial=partial)

    whole = of(FENS, partial=False).to_dict()
    for cuts in ([0, 40], [0, 1, 40], [0, 7, 9, 30, 40]):
        parts = [of(FENS[start:end]) for start, end in zip(cuts, cuts[1:])]
        parts = pickle.loads(pickle.dumps(parts))
        for merged in (tamis.Report.merge(parts), tamis.Report.merge([tamis.Report.merge(parts[:2]), *parts[2:]])):
            found = merged.to_dict()
            for layer, wanted in zip(found["accuracy"].pop("layers"), whole["accuracy"]["layers"]):
                assert layer["max"] == wanted["max"] and np.isclose(layer["sd"], wanted["sd"], 1e-9, 0)
            assert found == {**whole, "accuracy": {k: v for k, v in whole["accuracy"].items() if k != "layers"}}
            assert merged.passed and "<svg" in merged.to_html()
    assert not tamis.Report.merge(parts, gates={"max_error": 0.0}).passed
    with pytest.raises(tamis.UsageError, match="partial=True"):
        tamis.Report.merge([of(FENS, partial=False)])
    with pytest.raises(tamis.UsageError, match="no reports"):
        tamis.Report.merge([])
    other = tamis.verify(small, state_dict(), arch=CHAIN, inputs=examples(8), partial=True)
    with pytest.raises(tamis.UsageError, match="report 1.*another|report 1.*of the container"):
        tamis.Report.merge([parts[0], other])
