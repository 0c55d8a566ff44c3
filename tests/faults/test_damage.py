"""Damaged pages: rows that are gone are told, never counted as if there were none."""

import contextlib
import lzma
import sqlite3
from pathlib import Path

import pytest

from launchlens.errors import TraceError
from launchlens.trace import read_trace, scrub_trace

TRACE = Path(__file__).parents[2] / "traces" / "qwen3-0.6b-eager.nsys2025.3.sqlite.xz"
LEAF = 13


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "trace.sqlite"
    path.write_bytes(lzma.decompress(TRACE.read_bytes()))
    return path


def hide_rows(path, table, rows=10):
    """Let a leaf page of a table tell of fewer rows than it holds, as a flipped bit would."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        (page_bytes,) = db.execute("PRAGMA page_size").fetchone()
        (page,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,))
    raw = bytearray(path.read_bytes())
    at = (page[0] - 1) * page_bytes
    while raw[at] != LEAF:  # down the first child of each inner page
        first = at + int.from_bytes(raw[at + 12 : at + 14], "big")
        at = (int.from_bytes(raw[first : first + 4], "big") - 1) * page_bytes
    count = int.from_bytes(raw[at + 3 : at + 5], "big")
    raw[at + 3 : at + 5] = (count - rows).to_bytes(2, "big")
    path.write_bytes(raw)
    with contextlib.closing(sqlite3.connect(path)) as db:  # SQLite itself says nothing
        return db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


@pytest.mark.parametrize(
    "table", ["CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_KERNEL", "NVTX_EVENTS"]
)
def test_rows_that_a_damaged_page_hides_are_not_passed_over(trace, table):
    with contextlib.closing(sqlite3.connect(trace)) as db:
        (before,) = db.execute(f"SELECT count(*) FROM {table}").fetchone()
    assert hide_rows(trace, table) == before - 10
    with pytest.raises(TraceError, match=f"damaged SQLite file: {table}: .*Export the report"):
        read_trace(trace)


def test_damage_of_what_is_not_read_stops_nothing(trace):
    hide_rows(trace, "TARGET_INFO_SYSTEM_ENV", 1)
    assert read_trace(trace).api.start_ns.size == read_trace(TRACE).api.start_ns.size


def test_a_damaged_export_is_not_scrubbed(trace, tmp_path):
    hide_rows(trace, "TARGET_INFO_SYSTEM_ENV", 1)
    with pytest.raises(TraceError, match="damaged SQLite file"):
        scrub_trace(trace, tmp_path / "out.sqlite")
    assert not (tmp_path / "out.sqlite").exists()


def test_rows_that_break_the_rules_of_their_table_are_no_damage(trace):
    with contextlib.closing(sqlite3.connect(trace)) as db:
        db.execute("PRAGMA writable_schema = ON")
        db.execute(
            "UPDATE sqlite_master SET sql = replace(sql, 'callchainId                 INTEGER', "
            "'callchainId INTEGER NOT NULL') WHERE name = 'CUPTI_ACTIVITY_KIND_RUNTIME'"
        )
        db.commit()
    with contextlib.closing(sqlite3.connect(trace)) as db:
        assert db.execute("PRAGMA quick_check").fetchone()[0].startswith("NULL value in")
    assert read_trace(trace).api.start_ns.size == read_trace(TRACE).api.start_ns.size
