"""Work grows with what a trace holds, not with its square: each limit only tells a hang."""

from __future__ import annotations

import struct
import time

import pytest
from build_trace import TraceBuilder

from launchlens.metrics import summarize
from launchlens.report.analysis import analysis_document
from launchlens.trace import read_trace
from launchlens.trace.formats.nsys.frames import decode_frames
from launchlens.trace.formats.nsys.layouts import EntryRow, Layouts, SchemaRow

SIZE = 300_000
LAYOUT = 1 << 24


@pytest.fixture(autouse=True)
def _ends_soon():
    began = time.monotonic()
    yield
    assert time.monotonic() - began < 30


@pytest.mark.parametrize(
    "text",
    ["a" * SIZE, ".py" * (SIZE // 3), ".py" + ":" * SIZE, ("a.py" + "," * 30) * (SIZE // 34)],
)
def test_frames_in_a_long_text(text):
    none = Layouts.of([], [], [])
    assert decode_frames(b"", none, text=text) == ()
    assert len(decode_frames(text.encode(), none)) <= 1


def test_a_payload_whose_offsets_point_back_is_read_once():
    layouts = Layouts.of(
        [SchemaRow(0, LAYOUT, "self", 0, 0)],
        [EntryRow(0, LAYOUT, 0, (1 << 2) | (1 << 4), LAYOUT, "self", 20, 0)],
    )
    payload = struct.pack("<QQQQ", 0, LAYOUT, 8 * 64, 32) + struct.pack("<q", 8) * 64
    assert decode_frames(payload, layouts) == ()


def test_many_layouts_of_other_domains():
    numbers = range(LAYOUT, LAYOUT + 3000)
    layouts = Layouts.of(
        [SchemaRow(0, n, "x", 0, 8) for n in numbers],
        [EntryRow(0, n, 0, 0, 10, "f", 0, 0) for n in numbers],
    )
    payload = struct.pack("<QQQQQ", 5, numbers[-1], 8, 32, 7) * 3000
    assert decode_frames(payload, layouts, domain=7) == ()


def test_names_of_a_megabyte_are_shortened_and_stay_apart(tmp_path):
    trace = TraceBuilder()
    trace.range("prefill", 0, 100_000)
    for i in range(40):
        at = 1000 * i
        trace.launch(at + 1, at + 5, kernel=(at + 10, at + 40), name="k" * 1_000_000 + str(i % 2))
    (group,) = summarize(read_trace(trace.write(tmp_path / "x.sqlite"))).summary
    assert [row.count for row in group.kernels] == [20, 20]
    for row in group.kernels:
        assert row.name.startswith("kkk")
        assert "… (1000001 characters, " in row.name
        assert len(row.name) < 20_000


def test_a_thousand_processes(tmp_path):
    trace = TraceBuilder()
    for pid in range(1, 1001):
        trace.range("prefill", 0, 100, pid=pid)
        trace.launch(10, 20, kernel=(30, 40), pid=pid)
    analysis = summarize(read_trace(trace.write(tmp_path / "x.sqlite")))
    assert len(analysis.summary) == 1000
    document = analysis_document(analysis)
    assert len(document.sections) < 200
    said = next(s for s in document.sections if s.title == "More groups").blocks[0].lines
    assert said == ("936 more groups of steps left out here; --format json has all of them.",)
