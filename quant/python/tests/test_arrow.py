"""Batches of Arrow: from batch to batch, from files, and in engines that run here."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tamis
from conftest import ROOT, click_rows, examples, host_tools

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
from tamis.arrow import features, positions, scorer  # noqa: E402

FENS = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 b - - 0 1",
]


def records(count: int = 500) -> bytes:
    file = (ROOT / "tests/reference/layers.reference.safetensors").read_bytes()
    return file[-131_072:][: 32 * count]


def lists(x: np.ndarray, of: Any) -> Any:
    return pa.FixedSizeListArray.from_arrays(pa.array(x.reshape(-1), of), x.shape[1])


def numbers(column: Any, width: int) -> np.ndarray:
    flat = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return flat.flatten().to_numpy().reshape(-1, width)


@pytest.mark.parametrize("of", [pa.float32(), pa.float64(), pa.float16()])
def test_dense_rows_in_every_layout(small: tamis.Model, of: Any) -> None:
    x = examples(300).astype(np.float16).astype(np.float32)
    typed = x.astype(of.to_pandas_dtype())
    wanted = small(x)
    flat = lists(typed, of)
    ragged = pa.array(list(typed), pa.list_(of))
    nested = pa.FixedSizeListArray.from_arrays(pa.FixedSizeListArray.from_arrays(flat.flatten(), 4), 3)
    tensor = pa.ExtensionArray.from_storage(pa.fixed_shape_tensor(of, [12]), flat)
    for column in (flat, ragged, ragged.cast(pa.large_list(of)), nested, tensor):
        batch = pa.record_batch([pa.array(np.arange(300)), column], ["id", "inputs"])
        made = scorer(small)(batch)
        assert made.schema.names == ["id", "inputs", "outputs"] and made.num_rows == 300
        assert made.schema == scorer(small).schema(batch.schema)
        assert numbers(made.column("outputs"), 3).tobytes() == wanted.tobytes()
        part = scorer(small)(batch.slice(37, 101)).column("outputs")
        assert numbers(part, 3).tobytes() == wanted[37:138].tobytes(), "a slice"
        assert scorer(small)(batch.slice(0, 0)).num_rows == 0


def test_a_column_for_each_element(small: tamis.Model) -> None:
    x = examples(50)
    names = [f"x{column}" for column in range(12)]
    batch = pa.record_batch([pa.array(x[:, column]) for column in range(12)], names)
    made = scorer(small, names, keep=["x3"])(batch)
    assert made.schema.names == ["x3", "outputs"]
    assert numbers(made.column("outputs"), 3).tobytes() == small(x).tobytes()
    assert scorer(small, names)(batch.slice(0, 0)).num_rows == 0
    with pytest.raises(tamis.UsageError, match="11 columns"):
        scorer(small, names[:11])(batch)


def test_bytes_are_taken_as_stored(bytes_in: tamis.Model) -> None:
    x = np.random.default_rng(4).integers(0, 256, (60, 12)).astype(np.uint8)
    made = scorer(bytes_in, "pixels")(pa.record_batch([lists(x, pa.uint8())], ["pixels"]))
    assert numbers(made.column("outputs"), 3).tobytes() == bytes_in(x).tobytes()


def test_tables_keep_their_chunks_order(small: tamis.Model) -> None:
    x = examples(90)
    table = pa.table({"inputs": pa.chunked_array([lists(x[:40], pa.float32()), lists(x[40:], pa.float32())])})
    made = scorer(small, threads=2)(table)
    assert isinstance(made, pa.Table) and numbers(made["outputs"], 3).tobytes() == small(x).tobytes()
    assert scorer(small)(table.slice(0, 0)).schema == made.schema
    again = pickle.loads(pickle.dumps(scorer(small)))
    assert again(table).equals(made)
    assert pa.Table.from_batches(scorer(small).each(table.to_batches())).equals(made)


def test_positions_of_every_form(chess: tamis.Model, tmp_path: Path) -> None:
    bullet = records()
    (tmp_path / "p.bf").write_bytes(bullet)
    wanted = chess.evaluate(bullet).reshape(-1)
    chess.save(tmp_path / "net.bin")
    printed = host_tools("eval", tmp_path / "net.bin", "--positions", tmp_path / "p.bf")["values"]
    assert wanted.tolist() == [value for (value,) in printed]
    score = scorer(chess)
    found = pa.Table.from_batches(score.each(positions(tmp_path / "p.bf", rows=77)))
    assert found["outputs"].type == pa.int32() and found["outputs"].to_numpy().tolist() == wanted.tolist()
    assert {batch.num_rows for batch in positions(tmp_path / "p.bf", rows=77)} == {77, 500 % 77}
    # Through Parquet, as binary of any kind.
    for of in (pa.binary(32), pa.binary(), pa.large_binary()):
        pq.write_table(pa.table({"position": found["position"].cast(of)}), tmp_path / "p.parquet")
        again = score(pq.read_table(tmp_path / "p.parquet"))
        assert again["outputs"].equals(found["outputs"])
    lines = FENS * 40
    (tmp_path / "p.txt").write_text("# head\n" + "".join(f"{fen}\n\n" for fen in lines))
    made = pa.Table.from_batches(score.each(positions(tmp_path / "p.txt", rows=50)))
    assert made["outputs"].to_pylist() == chess.evaluate(lines).reshape(-1).tolist()
    for of in (pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())):
        column = pa.array(lines).dictionary_encode() if pa.types.is_dictionary(of) else pa.array(lines, of)
        assert score.array(column).equals(made["outputs"].combine_chunks())


def test_features_of_every_form(clicks: tamis.Model, tmp_path: Path) -> None:
    offsets, found, dense = click_rows(200)
    wanted = clicks(dense).reshape(-1)
    rows = [found[start:end].tolist() for start, end in zip(offsets, offsets[1:])]
    text = "".join(f"{index % 2} {' '.join(f'{feature}:1' for feature in row)}\n" for index, row in enumerate(rows))
    (tmp_path / "c.libsvm").write_text(text)
    score = scorer(clicks)
    made = pa.Table.from_batches(score.each(features(tmp_path / "c.libsvm", rows=33)))
    assert made.schema.names == ["label", "features", "values", "outputs"]
    assert made["outputs"].to_numpy().tobytes() == wanted.tobytes()
    assert made["label"].to_pylist() == [float(index % 2) for index in range(200)]
    pq.write_table(made.drop_columns(["outputs"]), tmp_path / "c.parquet")
    assert score(pq.read_table(tmp_path / "c.parquet"))["outputs"].equals(made["outputs"])
    ones = [[1.0] * len(row) for row in rows]
    structs = pa.array([{"indices": row, "values": one} for row, one in zip(rows, ones)])
    for batch in (
        pa.record_batch([pa.array(rows, pa.list_(pa.uint32()))], ["features"]),
        pa.record_batch([pa.array(rows, pa.large_list(pa.int64())), pa.array(ones)], ["features", "values"]),
        pa.record_batch([structs], ["x"]),
        pa.record_batch([lists(dense, pa.float32())], ["x"]),
    ):
        assert score(batch).column("outputs").to_numpy().tobytes() == wanted.tobytes()
        assert score(batch.slice(50, 20)).column("outputs").to_numpy().tobytes() == wanted[50:70].tobytes()


def test_what_does_not_fit_is_named(
    small: tamis.Model, chess: tamis.Model, clicks: tamis.Model, tmp_path: Path
) -> None:
    def refused(model: tamis.Model, column: Any, says: str) -> None:
        with pytest.raises(tamis.UsageError, match=says):
            scorer(model, "x")(pa.record_batch([column], ["x"]))

    x = examples(20)
    x[7, 3] = np.nan
    refused(small, lists(x, pa.float32()), "x, row 7, column 3")
    refused(small, lists(examples(20, 11), pa.float32()), r"\(n, 12\)")
    refused(small, pa.array([[1.0] * 12, None]), "x, row 1: null")
    refused(small, pa.array([[1.0] * 11 + [None]]), "null")
    refused(small, pa.array([[1.0] * 12, [1.0] * 11]), "x, row 1: lists of several lengths")
    refused(small, pa.array(["a"]), "expected numbers")
    refused(chess, pa.array([FENS[0], None]), "x, row 1: null")
    refused(chess, pa.array([b"x" * 32, b"x" * 31]), "row 1: 31 bytes")
    refused(chess, pa.array([1]), "expected lines of FEN")
    refused(clicks, pa.array([[1, 2], [50]]), "row 1")
    refused(clicks, pa.array([[1, 2], [-1]]), "0 or more")
    with pytest.raises(tamis.TamisError, match="x, position 1"):
        scorer(chess, "x")(pa.record_batch([pa.array([FENS[0], "no position"])], ["x"]))
    with pytest.raises(tamis.UsageError, match="not as many as features"):
        batch = pa.record_batch([pa.array([[1, 2]]), pa.array([[1.0]])], ["features", "values"])
        scorer(clicks)(batch)
    batch = pa.record_batch([pa.array(FENS), pa.array([1, 2, 3])], ["outputs", "b"])
    for options, says in [
        ({"outputs": "o"}, "'position'"),
        ({"outputs": "o", "column": "c"}, "'c'"),
        ({"column": "outputs"}, "already"),
        ({"keep": ["c"]}, "'c'"),
    ]:
        with pytest.raises(tamis.UsageError, match=says):
            scorer(chess, **options)(batch)
    with pytest.raises(tamis.UsageError, match="record batch"):
        scorer(chess)([FENS])
    with pytest.raises(tamis.FileError, match="none.bf"):
        positions(tmp_path / "none.bf")
    (tmp_path / "cut.bf").write_bytes(records()[:65])
    with pytest.raises(tamis.MalformedError, match="cut.bf"):
        positions(tmp_path / "cut.bf")
    (tmp_path / "bad.libsvm").write_text("1 1:1\n0 x:1\n")
    with pytest.raises(tamis.TamisError, match="bad.libsvm.*line 2"):
        features(tmp_path / "bad.libsvm")


def test_duckdb_calls_it(chess: tamis.Model) -> None:
    duckdb = pytest.importorskip("duckdb")
    database = duckdb.connect()
    score = scorer(chess)
    database.create_function("centipawns", score.array, ["VARCHAR"], "INTEGER", type="arrow")
    games = pa.table({"fen": FENS * 2000})  # noqa: F841 - the query names it
    found = database.sql("select fen, centipawns(fen) as value from games").to_arrow_table()
    assert found["value"].to_pylist() == chess.evaluate(found["fen"].to_pylist()).reshape(-1).tolist()
    best = database.execute("select max(centipawns(fen)) from games").fetchone()
    assert best == (int(chess.evaluate(FENS).max()),)


def test_polars_maps_with_it(small: tamis.Model) -> None:
    polars = pytest.importorskip("polars")
    x = examples(1000)
    frame = polars.DataFrame({"id": np.arange(1000), "inputs": polars.Series(x)})
    score = scorer(small, keep=["id"])
    of_part = lambda part: polars.from_arrow(score(part.to_arrow()))  # noqa: E731
    assert of_part(frame).equals(frame.lazy().map_batches(of_part, validate_output_schema=False).collect())
    made = of_part(frame)
    assert made.columns == ["id", "outputs"]
    assert made["outputs"].to_numpy().tobytes() == small(x).tobytes()
