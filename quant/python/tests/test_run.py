"""Outputs are those of `host-tools eval` to the last bit, however they are asked for."""

from __future__ import annotations

import pickle
import threading
from pathlib import Path

import numpy as np
import pytest
import tamis
from conftest import click_rows, examples, host_tools

FENS = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 b - - 0 1",
]


@pytest.mark.parametrize("name", ["small", "bytes_in"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8, np.int8])
def test_rows_are_those_of_eval(
    name: str, dtype: type, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    model = request.getfixturevalue(name)
    x = (examples(150) * (1 if dtype in (np.float32, np.float64) else 40)).astype(dtype)
    model.save(tmp_path / "net.bin")
    np.save(tmp_path / "x.npy", x)
    wanted = np.array(host_tools("eval", tmp_path / "net.bin", "--inputs", tmp_path / "x.npy")["values"])
    found = model(x)
    assert found.dtype == np.float64 and found.shape == (150, 3)
    assert found.tobytes() == wanted.tobytes()
    assert model(x[7]).tobytes() == wanted[7].tobytes(), "one row alone"
    for threads in (1, 2, 3, 7):
        assert model(x, threads=threads).tobytes() == wanted.tobytes()


def test_layouts_of_arrays_do_not_matter(small: tamis.Model) -> None:
    x = examples(40)
    wanted = small(x).tobytes()
    wide = np.zeros((40, 24), np.float32)
    wide[:, ::2] = x
    unaligned = np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(np.float32).reshape(40, 12)
    for same in (
        np.asfortranarray(x),
        wide[:, ::2],
        x[::-1][::-1],
        x.astype(">f4"),
        unaligned,
        x.reshape(40, 3, 4),
        x.tolist(),
    ):
        assert small(same).tobytes() == wanted
    half = x.astype(np.float16)
    assert small(half).tobytes() == small(half.astype(np.float64)).tobytes()
    whole = np.arange(24).reshape(2, 12)
    assert small(whole).tobytes() == small(whole.astype(np.float64)).tobytes()
    assert small(x[:0]).shape == (0, 3)


def test_positions_are_those_of_eval(chess: tamis.Model, tmp_path: Path) -> None:
    chess.save(tmp_path / "net.bin")
    (tmp_path / "fens.txt").write_text("".join(f"{fen}\n" for fen in FENS * 50))
    wanted = np.array(host_tools("eval", tmp_path / "net.bin", "--fens", tmp_path / "fens.txt")["values"])
    found = chess.evaluate(FENS * 50)
    assert found.dtype == np.int32 and (found == wanted).all()
    assert (chess.evaluate(FENS * 50, threads=3) == found).all()
    assert chess.evaluate("startpos").shape == (1,)
    assert chess.evaluate("startpos")[0] == found[0, 0]
    assert chess.evaluate(iter(FENS)).shape == (3, 1)
    assert chess.evaluate(b"").shape == (0, 1)


def test_features_are_those_of_eval(clicks: tamis.Model, tmp_path: Path) -> None:
    offsets, features, dense = click_rows(200)
    clicks.save(tmp_path / "net.bin")
    np.save(tmp_path / "x.npy", dense)
    wanted = np.array(host_tools("eval", tmp_path / "net.bin", "--inputs", tmp_path / "x.npy")["values"])
    for given in (
        dense,
        (offsets, features),
        (offsets, features, np.ones(len(features), np.float32)),
        (offsets.tolist(), features.tolist()),
    ):
        assert clicks(given).tobytes() == wanted.tobytes()
    assert clicks((offsets, features), threads=3).tobytes() == wanted.tobytes()


def test_a_trace_shows_every_layer(small: tamis.Model, chess: tamis.Model) -> None:
    x = examples(1)[0]
    stored, reals = small.trace(x), small.trace(x, reals=True)
    assert list(stored) == list(reals) and len(stored) >= 2
    assert reals[list(reals)[-1]].tobytes() == small(x).tobytes()
    assert any(value.dtype == np.int32 for value in stored.values())
    seen = chess.trace("startpos")
    assert "accumulators" in seen and seen[list(seen)[-1]].tolist() == chess.evaluate("startpos").tolist()


def test_a_model_says_what_it_is(small: tamis.Model, chess: tamis.Model, bytes_in: tamis.Model) -> None:
    assert (small.input_kind, small.input_shape, small.outputs) == ("dense", [12], 3)
    assert bytes_in.input_dtype == "uint8"
    assert chess.input_kind == "features" and "tamis.Model" in repr(chess)
    facts = small.inspect()
    assert facts["signature"] == f"{small.signature():016x}" and facts["checksum"] == f"{small.checksum:016x}"
    assert facts["file"] == "model.bin", "no path of a temporary folder"
    assert small.proof() and small.proof().bounds and small.proof().to_dict()["holds"]
    assert tamis.proof(chess).holds


def test_a_model_is_what_was_loaded(small: tamis.Model, chess: tamis.Model, tmp_path: Path) -> None:
    path = tmp_path / "net.bin"
    small.save(path)
    loaded = tamis.load(path)
    x = examples(5)
    wanted = loaded(x)
    chess.save(path)
    assert (loaded(x) == wanted).all(), "the file was replaced behind it"
    path.write_bytes(b"")
    assert (loaded(x) == wanted).all()
    assert (tamis.load(small.container)(x) == wanted).all()
    assert (pickle.loads(pickle.dumps(loaded))(x) == wanted).all()
    assert [entry.name for entry in tmp_path.iterdir()] == ["net.bin"], "nothing is left beside it"


def test_many_threads_of_python_call_one_model(small: tamis.Model) -> None:
    x = examples(300)
    wanted = small(x, threads=1)
    faults: list[int] = []

    def work(start: int) -> None:
        for row in range(start, 300, 4):
            if not (small(x[row]) == wanted[row]).all():
                faults.append(row)
        if not (small(x) == wanted).all():
            faults.append(-1)

    threads = [threading.Thread(target=work, args=(start,)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
