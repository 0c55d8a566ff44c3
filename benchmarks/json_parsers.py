"""One way to parse a trace of torch.profiler, timed: a child of benchmarks/kineto.py.

usage: python benchmarks/json_parsers.py WAY TRACE.json

Ways whose names end in "-pieces" parse the list of events in pieces of 2 MiB, all others the whole
file at once. Prints seconds, and events where the way counts them; imports are left out.
"""

from __future__ import annotations

import io
import json
import re
import resource
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

PIECE_BYTES = 2 << 20
MOST_BYTES = 18 << 30
"""More address space than this ends a way: it would not fit beside anything else."""
_CUT = re.compile(rb"\}\s*(,)\s*\{")
Way = Callable[[str], int | None]


def pieces(path: str) -> Iterator[bytes]:
    """The events as arrays, in pieces."""
    with Path(path).open("rb") as source:
        head = source.read(1 << 20)
        at = head.index(b"[", head.index(b'"traceEvents"')) + 1
        while True:
            source.seek(at)
            block = source.read(PIECE_BYTES)
            if len(block) < PIECE_BYTES:
                yield b"[" + block[: block.rindex(b"]") + 1]
                return
            cut = [m.start(1) for m in _CUT.finditer(block, len(block) - 65_536)][-1]
            yield b"[" + block[:cut] + b"]"
            at += cut + 1


def pysimdjson() -> Way:
    import simdjson

    parser = simdjson.Parser()
    return lambda path: len(parser.load(path)["traceEvents"])


def pysimdjson_pieces() -> Way:
    import simdjson

    parser = simdjson.Parser()
    return lambda path: sum(len(parser.parse(piece)) for piece in pieces(path))


def cysimdjson() -> Way:
    import cysimdjson

    parser = cysimdjson.JSONParser()
    return lambda path: len(parser.load(path)["traceEvents"])


def orjson_pieces() -> Way:
    import orjson

    return lambda path: sum(len(orjson.loads(piece)) for piece in pieces(path))


def msgspec_pieces() -> Way:
    import msgspec

    decode = msgspec.json.Decoder().decode
    return lambda path: sum(len(decode(piece)) for piece in pieces(path))


def structs_pieces() -> Way:
    """Msgspec into the structs that launchlens keeps, without making columns of them."""
    from launchlens.trace.formats.kineto.pieces import Parser
    from launchlens.trace.formats.kineto.tables import Tables

    parser = Parser(Tables.kept, float)

    def read(path: str) -> int:
        count = 0
        for piece in pieces(path):
            try:
                count += len(parser.parse(piece))
            except ValueError:  # the last piece: metadata has no category
                count += len(json.loads(piece))
        return count

    return read


def stdlib_pieces() -> Way:
    return lambda path: sum(len(json.loads(piece)) for piece in pieces(path))


def ijson() -> Way:
    import ijson

    def read(path: str) -> int:
        with Path(path).open("rb") as source:
            return sum(1 for _ in ijson.items(source, "traceEvents.item"))

    return read


COLUMNS = {"ph": "VARCHAR", "cat": "VARCHAR", "name": "VARCHAR", "ts": "DECIMAL(18,3)"} | {
    "dur": "DECIMAL(18,3)",
    "args": "STRUCT(correlation BIGINT, stream BIGINT, device BIGINT, bytes BIGINT)",
}


def duckdb() -> Way:
    import duckdb

    inner = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())

    def read(path: str) -> int:
        size = Path(path).stat().st_size + 1
        sql = (
            f"SELECT unnest(traceEvents, recursive := true) FROM read_json('{path}', "
            f"columns = {{traceEvents: 'STRUCT({inner})[]'}}, maximum_object_size = {size})"
        )
        return int(duckdb.sql(sql).to_arrow_table().num_rows)

    return read


def polars() -> Way:
    import polars as pl

    args = pl.Struct(dict.fromkeys(("correlation", "stream", "device", "bytes"), pl.Int64))
    texts = dict.fromkeys(("ph", "cat", "name"), pl.String)
    event = pl.Struct({**texts, "ts": pl.Float64, "dur": pl.Float64, "args": args})

    def read(path: str) -> int:
        frame = pl.read_json(path, schema={"traceEvents": pl.List(event)})
        return frame["traceEvents"].explode().struct.unnest().height

    return read


def pyarrow_pieces() -> Way:
    import pyarrow as pa
    import pyarrow.json as pj

    texts = [(name, pa.string()) for name in ("ph", "cat", "name")]
    times = [(name, pa.decimal128(22, 3)) for name in ("ts", "dur")]
    ids = [(name, pa.int64()) for name in ("correlation", "stream", "device", "bytes")]
    event = pa.struct([*texts, *times, ("args", pa.struct(ids))])
    parse = pj.ParseOptions(
        explicit_schema=pa.schema([("e", pa.list_(event))]), unexpected_field_behavior="ignore"
    )
    options = pj.ReadOptions(use_threads=False, block_size=4 * PIECE_BYTES)

    def read(path: str) -> int:
        count = 0
        for piece in pieces(path):
            row = io.BytesIO(b'{"e":' + piece.replace(b"\n", b" ") + b"}\n")
            count += len(pj.read_json(row, options, parse)["e"].chunk(0).flatten())
        return count

    return read


def launchlens() -> Way:
    """All columns that figures need, as `launchlens.trace` reads them."""
    from launchlens.trace import read_trace

    def read(path: str) -> None:
        info = read_trace(path).info
        assert info.api_calls
        assert info.ops

    return read


WAYS: dict[str, Callable[[], Way]] = {
    one.__name__.replace("_", "-"): one
    for one in (
        pysimdjson,
        pysimdjson_pieces,
        cysimdjson,
        orjson_pieces,
        msgspec_pieces,
        structs_pieces,
        stdlib_pieces,
        ijson,
        duckdb,
        polars,
        pyarrow_pieces,
        launchlens,
    )
}


def main() -> None:
    name, path = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    answer: dict[str, Any] = {}
    try:
        way = WAYS[name]()
        before = resource.getrusage(resource.RUSAGE_SELF)
        begin = time.perf_counter()
        answer["events"] = way(path)
        answer["seconds"] = time.perf_counter() - begin
        after = resource.getrusage(resource.RUSAGE_SELF)
        spent = [u.ru_utime + u.ru_stime for u in (before, after)]
        answer["cpu_seconds"] = spent[1] - spent[0]
    except ImportError as error:
        answer = {"failed": f"not installed: {error.name}"}
    except Exception as error:
        answer = {"failed": f"{type(error).__name__}: {str(error)[:200]}"}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
