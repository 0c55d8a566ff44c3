"""Files that are no usable trace: one sentence that says what and what to do, never a crash."""

from __future__ import annotations

import gzip
import lzma
import random
import sqlite3

import pytest
import zstandard
from build_trace import TraceBuilder

from launchlens.errors import LaunchlensError, TraceError
from launchlens.metrics import summarize
from launchlens.trace import read_trace


def drawn(steps=3, **facts):
    trace = TraceBuilder(**facts)
    for number in range(steps):
        at = 1000 * number
        trace.range(f"prefill#{number}", at, at + 900)
        for i in range(8):
            trace.launch(at + 10 * i, at + 10 * i + 5, kernel=(at + 10 * i + 6, at + 10 * i + 9))
    return trace


@pytest.fixture
def good(tmp_path):
    return drawn().write(tmp_path / "good.sqlite")


def refused(path):
    with pytest.raises(TraceError) as error:
        read_trace(path)
    assert "\n" not in str(error.value)
    assert path.name in str(error.value)
    assert error.value.hint or error.value.message.endswith(".")
    return str(error.value)


def test_a_missing_file(tmp_path):
    assert "no such file" in refused(tmp_path / "none.sqlite")


def test_a_folder(tmp_path):
    assert "is a folder" in refused(tmp_path)


def test_an_empty_file(tmp_path):
    path = tmp_path / "empty.sqlite"
    path.touch()
    assert "is empty" in refused(path)


@pytest.mark.parametrize("size", [1, 15, 99, 5000])
def test_an_encrypted_file(tmp_path, size):
    path = tmp_path / "secret.sqlite"
    path.write_bytes(random.Random(5).randbytes(size))
    assert "encrypted" in refused(path)


def test_a_text_file(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("steps: 5\n")
    assert "a format that launchlens reads (torch.profiler, Nsight Systems)" in refused(path)


@pytest.mark.parametrize("part", [16, 50, 100, 512, 0.5, 0.99, -1])
def test_a_truncated_file(good, part):
    raw = good.read_bytes()
    cut = good.with_name("cut.sqlite")
    cut.write_bytes(raw[: int(len(raw) * part) if isinstance(part, float) else part])
    assert "truncated" in refused(cut)


def test_sqlite_without_nsyss_tables(tmp_path):
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as db:
        db.execute('CREATE TABLE "bookmarks \x1b[31m" (url TEXT)')
    said = refused(path)
    assert "not a trace in a format" in said
    assert "bookmarks" not in said


def test_sqlite_without_any_table(tmp_path):
    path = tmp_path / "blank.sqlite"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE x (y)")
        db.execute("DROP TABLE x")
    assert "not a trace in a format" in refused(path)


@pytest.mark.parametrize("suffix", ["-journal", "-wal"])
def test_an_export_that_is_still_being_written(good, suffix):
    good.with_name(good.name + suffix).write_bytes(b"x" * 512)
    assert "half-written" in refused(good)


def test_an_empty_journal_is_left_by_some_modes_and_harmless(good):
    good.with_name(good.name + "-journal").touch()
    assert read_trace(good).info.ops == 24


def test_a_newer_schema(tmp_path):
    path = drawn(schema_version="4.1.0").write(tmp_path / "new.sqlite")
    said = refused(path)
    assert "4.1.0" in said
    assert "Upgrade launchlens" in said


def test_a_newer_minor_schema_is_read(tmp_path):
    path = drawn(schema_version="3.99.1").write(tmp_path / "new.sqlite")
    assert read_trace(path).info.export_schema == "3.99.1"


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("CUPTI_ACTIVITY_KIND_KERNEL", "correlationId"),
        ("CUPTI_ACTIVITY_KIND_RUNTIME", "globalTid"),
        ("NVTX_EVENTS", "eventType"),
        ("StringIds", "value"),
    ],
)
def test_a_missing_column(tmp_path, table, column):
    path = drawn(drop_columns={table: (column,)}).write(tmp_path / "odd.sqlite")
    said = refused(path)
    assert table in said
    assert column in said


def test_an_export_without_strings(tmp_path):
    path = drawn(drop_tables=("StringIds",)).write(tmp_path / "odd.sqlite")
    assert "no table StringIds" in refused(path)


@pytest.mark.parametrize(
    ("value", "kind"), [("'wandering-otter'", "text"), ("X'00ff'", "blob"), ("1.5", "real")]
)
def test_a_column_that_holds_something_else(good, value, kind):
    with sqlite3.connect(good) as db:
        db.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = '6' WHERE rowid = 2")
        db.execute(f"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = {value} WHERE rowid = 5")
    said = refused(good)
    assert "CUPTI_ACTIVITY_KIND_KERNEL cannot be read: start of row 5" in said
    assert f"holds a {kind}, not a whole number" in said
    assert "otter" not in said
    assert "1.5" not in said


@pytest.mark.parametrize("value", ["'abc'", "X'00ff'"])
@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("CUPTI_ACTIVITY_KIND_RUNTIME", "globalTid"),
        ("CUPTI_ACTIVITY_KIND_KERNEL", "globalPid"),
        ("CUPTI_ACTIVITY_KIND_KERNEL", "demangledName"),
        ("CUPTI_ACTIVITY_KIND_RUNTIME", "nameId"),
    ],
)
def test_an_id_that_is_no_number(good, table, column, value):
    with sqlite3.connect(good) as db:
        db.execute(f"UPDATE {table} SET {column} = {value}")
    said = refused(good)
    assert f"{table} cannot be read: {column} of row 1 holds a" in said
    assert "abc" not in said


def test_no_message_of_sqlite_quotes_what_the_file_holds(good):
    with sqlite3.connect(good) as db:
        db.execute("PRAGMA writable_schema = ON")
        db.execute(
            "INSERT INTO sqlite_master VALUES ('table', 'x', 'x', 0, 'CREATE wandering_otter x')"
        )
    assert "otter" not in refused(good)


PACKERS = {"gz": gzip.compress, "xz": lzma.compress, "zst": zstandard.compress}


@pytest.mark.parametrize("kind", PACKERS)
@pytest.mark.parametrize("part", [0.3, 0.9])
def test_truncated_compression(good, kind, part):
    packed = PACKERS[kind](good.read_bytes())
    path = good.with_name(f"cut.sqlite.{kind}")
    path.write_bytes(packed[: int(len(packed) * part)])
    assert "truncated" in refused(path) or "damaged" in refused(path)


@pytest.mark.parametrize("kind", PACKERS)
def test_damaged_compression(good, kind):
    packed = bytearray(PACKERS[kind](good.read_bytes()))
    middle = len(packed) // 2
    packed[middle : middle + 40] = bytes(b ^ 0xFF for b in packed[middle : middle + 40])
    path = good.with_name(f"bad.sqlite.{kind}")
    path.write_bytes(packed)
    refused(path)


@pytest.mark.parametrize("kind", PACKERS)
def test_compressed_something_else(tmp_path, kind):
    path = tmp_path / f"text.{kind}"
    path.write_bytes(PACKERS[kind](b"not a trace" * 50))
    assert "not a trace in a format" in refused(path)


@pytest.mark.parametrize("kind", PACKERS)
def test_compressed_nothing(tmp_path, kind):
    path = tmp_path / f"none.{kind}"
    path.write_bytes(PACKERS[kind](b""))
    refused(path)


def outcome(path):
    """Figures, or one sentence; anything else is a crash."""
    try:
        return summarize(read_trace(path)).steps
    except LaunchlensError:
        return None


@pytest.mark.parametrize("filling", ["zeros", "noise"])
def test_any_damaged_page_is_refused_or_harmless(good, filling):
    """Each page in turn; a page that holds none of the figures may be lost without harm."""
    raw, page, noise = good.read_bytes(), 4096, random.Random(3)
    whole = outcome(good)
    refusals = 0
    for at in range(page, len(raw), page):
        spoilt = bytes(page) if filling == "zeros" else noise.randbytes(page)
        path = good.with_name("spoilt.sqlite")
        path.write_bytes(raw[:at] + spoilt + raw[at + page :])
        steps = outcome(path)
        refusals += steps is None
        assert steps is None or steps == whole, f"page at {at} changed figures unnoticed"
    assert refusals > 3


def test_single_flipped_bytes_never_crash(good):
    raw, chance = bytearray(good.read_bytes()), random.Random(11)
    for _ in range(150):
        spoilt = bytearray(raw)
        spoilt[chance.randrange(100, len(raw))] ^= 1 << chance.randrange(8)
        path = good.with_name("flipped.sqlite")
        path.write_bytes(spoilt)
        outcome(path)
