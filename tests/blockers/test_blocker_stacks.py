"""Stacks decoded from hand-built payloads and rows, and tied to calls.

Payloads are packed here with struct, by the layout of nvToolsExtPayload.h.
"""

import sqlite3
import struct

import pytest
from drawn_traces import call, draw, dtoh, launch

from launchlens.blockers import find_blockers
from launchlens.blockers.payload import Layouts, decode_payload
from launchlens.blockers.stacks import decode_mark, decode_stacks, short_symbol
from launchlens.errors import TraceError
from launchlens.model.stacks import ChainRow, EntryRow, MarkRow, SchemaRow, Stacks
from launchlens.trace.stacks import read_stacks

DOMAIN, FRAME, STACK = 3, 1 << 24, (1 << 32) + 5
INT32, UINT64, CSTRING = 15, 18, 75
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
    frames = decode_mark(MarkRow(0, 1, DOMAIN, None, blob), Layouts.of(schemas, entries))
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


@pytest.mark.parametrize("cut", range(0, 120, 7))
def test_damaged_payloads_never_raise(cut):
    schemas, entries, blob = stack_layout()
    decode_payload(blob[:cut], Layouts.of(schemas, entries))
    decode_payload(blob[cut:], Layouts.of(schemas, entries))
    decode_mark(MarkRow(0, 1, DOMAIN, None, blob[:cut]), Layouts.of([], []))


def test_a_layout_that_contains_itself_ends():
    entries = [entry(FRAME, 0, FRAME, "again", LENGTH_INDEX, 1), entry(FRAME, 1, INT32, "n")]
    decode_payload(packed(FRAME, b"\1\0\0\0" * 20), Layouts.of([], entries))


def test_text_and_bare_strings_when_the_layout_is_unknown():
    none = Layouts.of([], [])
    frames = decode_mark(MarkRow(0, 1, 0, 'File "/app/m.py", line 12, in forward', b""), none)
    assert [(f.function, f.source) for f in frames] == [("forward", "m.py:12")]
    raw = b"\x07\0" + text("forward") + b"\1\2" + text("/app/m.py")
    (frame,) = decode_mark(MarkRow(0, 1, 0, None, raw), none)
    assert (frame.function, frame.source, frame.line) == ("forward", "m.py", None)


CHAIN = [
    ("cuStreamSynchronize", "libcuda.so.1"),
    ("c10::cuda::memcpy_and_sync(void*, void const*, long)", "libc10_cuda.so"),
    ("at::native::_local_scalar_dense_cuda(at::Tensor const&)", "libtorch_cuda.so"),
    ("at::_ops::_local_scalar_dense::call(at::Tensor const&)", "libtorch_cpu.so"),
    ("at::native::is_nonzero(at::Tensor const&)", "libtorch_cpu.so"),
    ("_PyEval_EvalFrameDefault", "python3.12"),
]
CHAINS = tuple(ChainRow(5, i, symbol, module) for i, (symbol, module) in enumerate(CHAIN))
COPY, SYNC = "cudaMemcpyAsync_v3020", "cudaStreamSynchronize_v3020"


def read_back():
    return [
        launch(10),
        call(COPY, 50, 60, dtoh(8, 70, 72, "Pinned")),
        call(SYNC, 61, 80, chain=5),  # only synchronizing calls get a chain
        launch(90),
    ]


def test_native_frames_alone_name_the_operator():
    native = decode_stacks(Stacks(chains=CHAINS)).native[5]
    assert native == (
        "c10::cuda::memcpy_and_sync",
        "at::native::_local_scalar_dense_cuda",
        "at::native::is_nonzero",
    )
    (finding,) = find_blockers(*draw(read_back()), stacks=Stacks(chains=CHAINS))
    assert finding.source is None
    assert finding.stack[-1] == "at::native::is_nonzero"


def test_python_frames_name_the_line_of_the_model():
    trace, steps = draw(read_back())
    schemas, entries, blob = stack_layout()
    mark = MarkRow(61, trace.threads[0].global_tid, DOMAIN, None, blob)
    stacks = Stacks(CHAINS, tuple(schemas), tuple(entries), (mark,))
    (finding,) = find_blockers(trace, steps, stacks=stacks)
    assert finding.source == "model.py:12"  # the frame in torch is not the model's
    assert "_tensor.py:900 item" in finding.stack
    assert "at::native::is_nonzero" in finding.stack


def test_different_stacks_are_different_findings():
    more = [call(COPY, 150, 160, dtoh(8, 170, 172, "Pinned")), call(SYNC, 161, 180), launch(190)]
    findings = find_blockers(*draw([*read_back(), *more]), stacks=Stacks(chains=CHAINS))
    assert sorted(len(f.stack) for f in findings) == [0, 3]


def test_symbols_are_shortened():
    assert short_symbol("at::native::copy_impl(at::Tensor&, bool)") == "at::native::copy_impl"
    assert short_symbol("f<void (*)(int)>(int)") == "f<void (*)(int)>"
    name = "at::native::(anonymous namespace)::run(int)"
    assert short_symbol(name) == "at::native::(anonymous namespace)::run"


def export(path, *, blob=b"", as_text=False):
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
    schemas, entries, packed_stack = stack_layout()
    for s in schemas:
        row = (s.domain_id, s.schema_id, s.name, s.kind, 0, 0, s.payload_bytes, None)
        connection.execute("INSERT INTO NVTX_PAYLOAD_SCHEMAS VALUES (?,?,?,?,?,?,?,?)", row)
    for e in entries:
        row = (e.domain_id, e.schema_id, e.index, e.flags, e.kind, e.name, None, e.detail, e.offset)
        connection.execute(
            "INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES (?,?,?,?,?,?,?,?,?)", row
        )
    blob = blob or packed_stack
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
    decoded = decode_stacks(stacks)
    assert decoded.native == {5: ("at::native::is_nonzero",)}
    assert [f.source for f in decoded.python[99, 61]] == ["_tensor.py:900", "model.py:12"]
    assert decoded.undecoded == 0


def test_an_export_without_stacks_is_empty(tmp_path):
    path = tmp_path / "plain.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE StringIds (id INTEGER, value TEXT)")
    connection.commit()
    connection.close()
    assert read_stacks(path) == Stacks()
    with pytest.raises(TraceError):
        read_stacks(tmp_path / "missing.sqlite")
