"""Steps submitted while the last one runs: drawn by hand, and of vLLM beside its own benchmark."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from build_trace import TraceBuilder

import launchlens
from launchlens.metrics import summarize
from launchlens.trace import read_trace

ROOT = Path(__file__).parents[2]
MS = 1_000_000


@pytest.fixture
def notes(tmp_path):
    def of(trace):
        return summarize(read_trace(trace.write(tmp_path / "t.sqlite"))).notes

    return of


def steps(work_ms, *, names=("decode",) * 5, every_ms=10):
    """A step begins every ``every_ms``; its kernel begins after 8 ms and runs for ``work_ms``."""
    trace = TraceBuilder()
    for number, name in enumerate(names):
        start = number * every_ms * MS
        trace.range(f"{name}#{number}", start, start + 6 * MS)
        kernel = (start + 8 * MS, start + (8 + work_ms) * MS)
        trace.launch(start + 1, start + 3, kernel=kernel)
    return trace


def test_steps_that_overlap_say_so_and_how_often_one_is_done(notes):
    """Windows of 18 ms that begin every 10 ms share 8 of 18 ms, and end every 10 ms."""
    (note,) = notes(steps(10))
    assert note == (
        "decode steps overlap: work of the step before fills 44% of a step's window (median), as "
        "each is submitted before the last has finished. One is done every 10 ms: compare that, "
        "not the step's time."
    )


def test_steps_one_behind_the_other_say_nothing(notes):
    assert notes(steps(1)) == ()
    assert notes(steps(2)) == (), "each ends as the next begins"


def test_a_step_behind_one_of_another_phase_is_not_compared(notes):
    assert notes(steps(10, names=("prefill", "decode"))) == ()


@pytest.mark.parametrize("name", ["gemma-4-e4b-default", "gemma-4-e4b-breakable"])
def test_vllm_finishes_a_decode_step_as_often_as_its_benchmark_says(name):
    """Traced at node level beside vLLM's untraced time between tokens, measured on its own."""
    trace = ROOT / f"traces/vllm024-run-{name}.node.nsys2025.3.sqlite.xz"
    notes = launchlens.summarize(launchlens.read_trace(trace)).notes
    (said,) = [note for note in notes if note.startswith("decode steps overlap")]
    found = re.search(r"every ([\d.]+) ms", said)
    assert found is not None
    served = json.loads((ROOT / f"docs/examples/vllm/{name}-c1.json").read_text())
    assert float(found[1]) == pytest.approx(served["median_itl_ms"], rel=0.05)
