"""From one step's end to the next one's start: drawn by hand, and on vLLM's traces by SQL."""

from __future__ import annotations

import lzma
import sqlite3
import statistics
from pathlib import Path

import pytest
from build_trace import TraceBuilder

from launchlens.metrics import summarize
from launchlens.trace import read_trace

TRACES = Path(__file__).parents[2] / "traces"


@pytest.fixture
def between(tmp_path):
    return lambda trace: summarize(read_trace(trace.write(tmp_path / "t.sqlite"))).between


@pytest.fixture
def drawn():
    """A prefill step, sampling, two decode steps with 50 ns between them."""
    trace = TraceBuilder()
    trace.range("prefill#0", 0, 100)
    trace.launch(10, 12, kernel=(20, 120))  # the GPU is busy until 20 ns after the step
    trace.launch(110, 112, kernel=(130, 140))
    trace.copy(150, 155, gpu=(160, 170))
    trace.sync(156, 190)
    trace.range("decode#0", 200, 300)
    trace.launch(210, 212, kernel=(220, 240))
    trace.range("decode#1", 350, 450)
    trace.launch(360, 362, kernel=(370, 380))
    return trace


def test_launches_copies_waits_and_idle_time(drawn, between):
    prefill, decode = between(drawn)
    assert (prefill.after, prefill.intervals, prefill.length_ns.median) == ("prefill", 1, 100)
    assert (prefill.launches.median, prefill.copies.median, prefill.sync_calls.median) == (1, 1, 1)
    assert prefill.idle_ns.median == 100 - 20 - 10 - 10
    assert (decode.after, decode.launches.median, decode.idle_ns.median) == ("decode", 0, 50)


def test_steps_of_another_thread_are_no_neighbours(drawn, between):
    drawn.range("decode#7", 310, 340, tid=2)
    drawn.launch(320, 322, kernel=(330, 335), tid=2)
    assert [(one.after, one.length_ns.median) for one in between(drawn)] == [
        ("prefill", 100),
        ("decode", 50),
    ]


def test_idle_time_is_unknown_where_a_launch_left_no_work(drawn, between):
    drawn.graph(320, 322)
    prefill, decode = between(drawn)
    assert prefill.idle_ns.median == 60
    assert (decode.idle_ns.median, decode.graph_launches.median) == (None, 1)


SQL = """
WITH step AS (
  SELECT start, end, globalTid AS thread, lead(start) OVER (ORDER BY start) AS next
  FROM NVTX_EVENTS LEFT JOIN StringIds ON StringIds.id = textId
  WHERE eventType = 59 AND coalesce(text, value) GLOB 'execute_context_*'
    AND coalesce(text, value) NOT GLOB '*_0(0)_generation_0(0)')
SELECT sum(name.value GLOB 'cu*LaunchKernel*' OR name.value GLOB 'cu*GraphLaunch*'),
  sum(name.value GLOB 'cu*Memcpy*' OR name.value GLOB 'cu*Memset*')
FROM step JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS api
  ON globalTid = thread AND api.start > step.end AND api.start < step.next
JOIN StringIds AS name ON name.id = nameId GROUP BY step.start"""


@pytest.mark.parametrize("variant", ["eager", "piecewise.node"])
def test_vllm_samples_between_its_ranges(variant, tmp_path):
    packed = TRACES / f"vllm024-qwen3-0.6b-{variant}.nsys2025.3.sqlite.xz"
    plain = tmp_path / "t.sqlite"
    plain.write_bytes(lzma.decompress(packed.read_bytes()))
    counted = sqlite3.connect(plain).execute(SQL).fetchall()
    prefill, decode = summarize(read_trace(plain)).between
    assert prefill.intervals + decode.intervals == len(counted) == 39
    launches, copies = (statistics.median(column) for column in zip(*counted, strict=True))
    assert prefill.launches.median == decode.launches.median == launches == 11
    assert prefill.copies.median == decode.copies.median == copies
