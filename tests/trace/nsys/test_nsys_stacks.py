"""Stacks read from exports: from hand-built payloads, and from what nsys recorded on a GPU.

Payloads are packed here with struct, by the layout of nvToolsExtPayload.h.
"""

import contextlib
import lzma
import sqlite3
import struct
from collections import Counter
from pathlib import Path

import pytest

from launchlens.errors import TraceError
from launchlens.records.stacks import ChainRow, Stacks
from launchlens.trace import find_secrets, read_stacks, scrub_trace
from launchlens.trace.formats.nsys.frames import decode_frames
from launchlens.trace.formats.nsys.layouts import EntryRow, Layouts, SchemaRow, read_layouts
from launchlens.trace.formats.nsys.payload import decode_payload, survey_payload

RECORDED = Path(__file__).parents[2] / "blockers" / "recorded"
DOMAIN, FRAME, STACK, STATE = 3, 1 << 24, (1 << 32) + 5, (1 << 32) + 4
INT32, UINT32, UINT64, CSTRING, HANDLE = 15, 16, 18, 75, 80
FIXED, ZERO_ENDED, LENGTH_INDEX = 1 << 4, 2 << 4, 3 << 4
FROM_BASE = 1 << 2


def entry(schema, index, kind, name, flags=0, detail=0, offset=None):
    return EntryRow(DOMAIN, schema, index, flags, kind, name, detail, offset)


def packed(schema, payload):
    return struct.pack("<QQQQ", DOMAIN, schema, len(payload), 32 + len(payload)) + payload


def text(value):
    return value.encode() + b"\0"


FRAMES = [("item", "/site-packages/torch/_tensor.py", 900), ("forward", "/app/model.py", 12)]


def stack_layout():
    """A count, then as many frames: function and file as C strings, the line as a number."""
    schemas = [SchemaRow(DOMAIN, FRAME, "frame", 2, 0), SchemaRow(DOMAIN, STACK, "stack", 2, 0)]
    entries = [
        entry(STACK, 0, UINT64, "count"),
        entry(STACK, 1, FRAME, "frames", LENGTH_INDEX, 0),
        entry(FRAME, 0, CSTRING, "function", ZERO_ENDED),
        entry(FRAME, 1, CSTRING, "file", ZERO_ENDED),
        entry(FRAME, 2, INT32, "line"),
    ]
    blob = struct.pack("<Q", len(FRAMES))
    blob += b"".join(text(f) + text(p) + struct.pack("<i", n) for f, p, n in FRAMES)
    return schemas, entries, packed(STACK, blob)


def test_a_variable_list_of_frames():
    schemas, entries, blob = stack_layout()
    (value,) = decode_payload(blob, Layouts.of(schemas, entries))
    assert value["count"] == 2
    assert value["frames"][1] == {"function": "forward", "file": "/app/model.py", "line": 12}
    frames = decode_frames(blob, Layouts.of(schemas, entries), domain=DOMAIN)
    assert [(f.function, f.source) for f in frames] == [
        ("item", "_tensor.py:900"),
        ("forward", "model.py:12"),
    ]


def test_fixed_strings_offsets_and_parallel_lists():
    schemas = [SchemaRow(DOMAIN, FRAME, "frame", 1, 28)]
    entries = [
        entry(FRAME, 0, INT32, "line", offset=0),
        entry(FRAME, 1, CSTRING, "file", detail=16, offset=8),
        entry(FRAME, 2, INT32, "numbers", FIXED, 2, offset=24),
    ]
    payload = struct.pack("<i4x16s2i", 7, b"model.py", 8, 9)
    (value,) = decode_payload(packed(FRAME, payload), Layouts.of(schemas, entries))
    assert value == {"line": 7, "file": "model.py", "numbers": [8, 9]}
    parallel = [
        entry(STACK, 0, INT32, "line numbers", FIXED, 2),
        entry(STACK, 1, CSTRING, "file", FROM_BASE),
    ]
    payload = struct.pack("<iiQ", 1, 2, 16) + text("there.py")
    (value,) = decode_payload(packed(STACK, payload), Layouts.of([], parallel))
    assert value == {"line numbers": [1, 2], "file": "there.py"}


def nsys_layout(strings=()):
    """As nsys 2025.3 writes it: functions and files by the ids of their strings."""
    schemas = [
        SchemaRow(DOMAIN, STACK, "Python Backtrace on CUDA", 2, 0),
        SchemaRow(DOMAIN, FRAME, None, 1, 24),
    ]
    entries = [
        entry(STACK, 0, UINT64, "Thread state ID"),
        entry(STACK, 1, STATE, "Thread state", offset=8),
        entry(STACK, 2, UINT32, "Frames count", offset=12),
        entry(STACK, 3, FRAME, "Frames", LENGTH_INDEX, 2, offset=16),
        entry(FRAME, 0, HANDLE, "Function"),
        entry(FRAME, 1, HANDLE, "File", offset=8),
        entry(FRAME, 2, INT32, "Line", offset=16),
    ]
    return schemas, entries, Layouts.of(schemas, entries, strings)


NAMES = [(28, "synchronize"), (29, "torch/cuda/streams.py"), (30, "step"), (31, "/app/model.py")]
ROWS = [(28, 29, 108), (30, 31, 21)]


def nsys_payload(padding=b"host"):
    """Two frames; nsys leaves four bytes of whatever lay in memory after each line number."""
    frames = b"".join(struct.pack("<QQi", *row) + padding for row in ROWS)
    return packed(STACK, struct.pack("<QII", 1, 1, len(ROWS)) + frames)


def test_the_layout_of_nsys():
    _, _, layouts = nsys_layout(NAMES)
    frames = decode_frames(nsys_payload(), layouts, domain=DOMAIN)
    assert [(f.function, f.file, f.line) for f in frames] == [
        ("synchronize", "torch/cuda/streams.py", 108),
        ("step", "/app/model.py", 21),
    ]
    # Without the strings nothing is known: a line without its file is no place.
    assert decode_frames(nsys_payload(), nsys_layout()[2], domain=DOMAIN) == ()


def test_what_a_scrubber_must_know_of_a_payload():
    ids, cleared = survey_payload(nsys_payload(), nsys_layout()[2], DOMAIN)
    assert ids == {28, 29, 30, 31}
    assert cleared == nsys_payload(padding=bytes(4))


@contextlib.contextmanager
def recorded(name, folder):
    """A recorded export, unpacked."""
    path = RECORDED / f"{name}.stacks.sqlite.xz"
    plain = folder / "recorded.sqlite"
    plain.write_bytes(lzma.decompress(path.read_bytes()))
    with contextlib.closing(sqlite3.connect(plain)) as connection:
        yield connection


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        # Three steps; the lines are those that the programs mark.
        ("altup_epsilon", {31: 9, 35: 9}),
        ("boolean_index", {20: 3}),
        ("cpu_embedding", {18: 3, 20: 3}),
        ("item_loop", {22: 63}),
        ("shape_tensors", {20: 3, 21: 3, 22: 3}),
        ("tolist_lengths", {21: 3}),
    ],
)
def test_lines_in_payloads_that_nsys_wrote(tmp_path, name, lines):
    with recorded(name, tmp_path) as connection:
        layouts = read_layouts(connection, {i: f"{i}.py" for i in range(5000)})
        query = """
            SELECT mark.domainId, mark.binaryData FROM NVTX_EVENTS AS mark
            JOIN NVTX_EVENTS AS step ON mark.start BETWEEN step.start AND step.end
            WHERE mark.binaryData IS NOT NULL AND step.text LIKE 'prefill#%'
        """
        stacks = [decode_frames(b, layouts, domain=d) for d, b in connection.execute(query)]
    assert all(stacks)
    innermost = Counter(frames[0].line for frames in stacks)
    assert innermost == lines


@pytest.mark.parametrize("cut", range(0, 120, 7))
def test_damaged_payloads_never_raise(cut):
    schemas, entries, blob = stack_layout()
    decode_payload(blob[:cut], Layouts.of(schemas, entries))
    decode_payload(blob[cut:], Layouts.of(schemas, entries))
    decode_frames(blob[:cut], Layouts.of([], []), domain=DOMAIN)


def test_a_layout_that_contains_itself_ends():
    entries = [entry(FRAME, 0, FRAME, "again", LENGTH_INDEX, 1), entry(FRAME, 1, INT32, "n")]
    decode_payload(packed(FRAME, b"\1\0\0\0" * 20), Layouts.of([], entries))


def test_text_and_bare_strings_when_the_layout_is_unknown():
    none = Layouts.of([], [])
    frames = decode_frames(b"", none, text='File "/app/m.py", line 12, in forward')
    assert [(f.function, f.source) for f in frames] == [("forward", "m.py:12")]
    raw = b"\x07\0" + text("forward") + b"\1\2" + text("/app/m.py")
    (frame,) = decode_frames(raw, none)
    assert (frame.function, frame.source, frame.line) == ("forward", "m.py", None)


def export(path, *, layout=None, as_text=False):
    connection = sqlite3.connect(path)
    connection.executescript(
        """
        CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
        CREATE TABLE CUDA_CALLCHAINS (
          id INTEGER, symbol INTEGER, module INTEGER, unresolved INTEGER, originalIP INTEGER,
          stackDepth INTEGER);
        CREATE TABLE NVTX_EVENTS (
          start INTEGER, end INTEGER, eventType INTEGER, text TEXT, textId INTEGER,
          globalTid INTEGER, domainId INTEGER, binaryData TEXT);
        CREATE TABLE NVTX_PAYLOAD_SCHEMAS (
          domainId INTEGER, schemaId INTEGER, name TEXT, type INTEGER, flags INTEGER,
          numEntries INTEGER, payloadSize INTEGER, alignTo INTEGER);
        CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES (
          domainId INTEGER, schemaId INTEGER, idx INTEGER, flags INTEGER, type INTEGER,
          name TEXT, description TEXT, arrayOrUnionDetail INTEGER, offset INTEGER);
        INSERT INTO StringIds VALUES (1, 'at::native::is_nonzero(at::Tensor const&)'),
          (2, 'libtorch_cpu.so'), (3, 'Python Backtrace on CUDA');
        INSERT INTO CUDA_CALLCHAINS VALUES (5, 1, 2, 0, 0, 0);
        """
    )
    schemas, entries, blob = layout or stack_layout()
    for s in schemas:
        row = (s.domain_id, s.schema_id, s.name, s.kind, 0, 0, s.payload_bytes, None)
        connection.execute("INSERT INTO NVTX_PAYLOAD_SCHEMAS VALUES (?,?,?,?,?,?,?,?)", row)
    for e in entries:
        row = (e.domain_id, e.schema_id, e.index, e.flags, e.kind, e.name, None, e.detail, e.offset)
        connection.execute(
            "INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES (?,?,?,?,?,?,?,?,?)", row
        )
    payload = blob.hex() if as_text else blob
    event = "INSERT INTO NVTX_EVENTS VALUES (?, NULL, ?, NULL, ?, ?, ?, ?)"
    connection.execute(event, (0, 75, 3, 99, DOMAIN, None))
    connection.execute(event, (61, 34, None, 99, DOMAIN, payload))
    connection.execute(event, (61, 34, None, 99, 0, payload))  # another domain's mark
    connection.commit()
    connection.close()
    return path


@pytest.mark.parametrize("as_text", [False, True])
def test_rows_are_read_from_an_export(tmp_path, as_text):
    stacks = read_stacks(export(tmp_path / "a.sqlite", as_text=as_text))
    symbol = "at::native::is_nonzero(at::Tensor const&)"
    assert stacks.chains == (ChainRow(5, 0, symbol, "libtorch_cpu.so"),)
    (python,) = stacks.python
    assert (python.thread_key, python.start_ns) == (99, 61)
    assert [f.source for f in python.frames] == ["_tensor.py:900", "model.py:12"]
    assert stacks.undecoded == 0


def test_an_export_without_stacks_is_empty(tmp_path):
    path = tmp_path / "plain.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE StringIds (id INTEGER, value TEXT)")
    connection.commit()
    connection.close()
    assert read_stacks(path) == Stacks()
    with pytest.raises(TraceError):
        read_stacks(tmp_path / "missing.sqlite")


def test_scrubbing_keeps_the_strings_of_stacks_and_no_other(tmp_path):
    schemas, entries, _ = nsys_layout()
    path = export(tmp_path / "raw.sqlite", layout=(schemas, entries, nsys_payload(b"hunt")))
    with contextlib.closing(sqlite3.connect(path)) as connection:
        names = dict(NAMES) | {29: "/srv/ada/venv/lib/python3.12/site-packages/torch/streams.py"}
        names |= {31: "/srv/ada/secret/model.py", 21: "the program's output", 108: "a host's name"}
        connection.executemany("INSERT INTO StringIds VALUES (?, ?)", names.items())
        connection.commit()
    out = tmp_path / "clean.sqlite"
    scrub_trace(path, out)
    (python,) = read_stacks(out).python
    # The line numbers 21 and 108 are ids of strings too, but no references to them.
    assert [(f.function, f.file, f.line) for f in python.frames] == [
        ("synchronize", "torch/streams.py", 108),
        ("step", "model.py", 21),
    ]
    assert find_secrets(out) == []
    raw = out.read_bytes()
    assert [w for w in (b"ada", b"secret", b"output", b"a host", b"hunt") if w in raw] == []
