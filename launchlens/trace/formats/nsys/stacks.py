"""Reads the call stacks of an export, if it was recorded with them.

Tables: CUDA_CALLCHAINS (native frames), NVTX_EVENTS of the domain "Python Backtrace on CUDA"
(Python frames, in ``binaryData``; kept only by ``nsys export --include-blobs=true``),
NVTX_PAYLOAD_SCHEMAS and NVTX_PAYLOAD_SCHEMA_ENTRIES (their layout). Functions and files are
registered strings: the payload holds their ids in StringIds.
"""

from __future__ import annotations

import sqlite3

from launchlens.records.stacks import ChainRow, PythonFrame, PythonStack, Stacks
from launchlens.trace.formats.nsys.frames import decode_frames
from launchlens.trace.formats.nsys.layouts import as_bytes, read_layouts, select
from launchlens.trace.formats.nsys.source import opened
from launchlens.trace.interface import TraceFile

NOTE = "recorded with call stacks, which lengthens the calls that get one: they wait longer here."
PYTHON_DOMAIN = "Python Backtrace on CUDA"
_DOMAIN_CREATION = 75
_MARKS = (34, 59, 60)
_MARK_COLUMNS = ("start", "globalTid", "eventType", "text", "textId", "binaryData")


def read_stacks(file: TraceFile) -> Stacks:
    """Read all call stacks of an SQLite export; an empty record for one without any.

    Raises:
        TraceError: the file cannot be read as SQLite.
    """
    with opened(file) as connection:
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        strings: dict[int, str] = dict(select(connection, "StringIds", ("id", "value")))
        python, undecoded = _read_python(connection, strings)
        chains = _read_chains(connection, strings)
        return Stacks(chains, python, undecoded, NOTE if chains or python else None)


def _read_chains(connection: sqlite3.Connection, strings: dict[int, str]) -> tuple[ChainRow, ...]:
    rows = select(connection, "CUDA_CALLCHAINS", ("id", "stackDepth", "symbol", "module"))
    return tuple(
        ChainRow(int(chain), int(depth or 0), str(strings.get(symbol, symbol)), strings.get(module))
        for chain, depth, symbol, module in rows
        if chain is not None
    )


def _read_python(
    connection: sqlite3.Connection, strings: dict[int, str]
) -> tuple[tuple[PythonStack, ...], int]:
    """Python stacks, and how many marks could not be read."""
    layouts = read_layouts(connection, strings)
    known: dict[tuple[bytes, str | None], tuple[PythonFrame, ...]] = {}
    stacks, undecoded = [], 0
    for domain in _python_domains(connection, strings):
        for start, tid, kind, text, text_id, binary in select(
            connection, "NVTX_EVENTS", _MARK_COLUMNS, where=("domainId", domain)
        ):
            if kind not in _MARKS or tid is None:
                continue
            key = as_bytes(binary), text or strings.get(text_id)
            if key not in known:
                known[key] = decode_frames(key[0], layouts, domain=domain, text=key[1])
            if known[key]:
                stacks.append(PythonStack(start, tid, known[key]))
            else:
                undecoded += 1
    return tuple(stacks), undecoded


def _python_domains(connection: sqlite3.Connection, strings: dict[int, str]) -> list[int]:
    created = select(
        connection,
        "NVTX_EVENTS",
        ("domainId", "text", "textId"),
        where=("eventType", _DOMAIN_CREATION),
    )
    named = (d for d, text, i in created if (text or strings.get(i)) == PYTHON_DOMAIN)
    return sorted({domain for domain in named if domain is not None})
