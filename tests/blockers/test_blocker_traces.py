"""The shipped traces: exactly the copies that are there, rated as what they are.

The counts come from docs and from SQL on the export itself, not from the rules.
"""

import lzma
import sqlite3
from pathlib import Path

import pytest

from launchlens.blockers import find_blockers
from launchlens.metrics import summarize
from launchlens.trace import read_trace

TRACES = Path(__file__).parents[2] / "traces"
GEMMA_3N = "gemma-3n-e4b-eager.nsys2025.3.sqlite.xz"


def findings_of(name):
    trace = read_trace(TRACES / name)
    return find_blockers(trace, summarize(trace).steps)


def test_gemma_3n_has_exactly_6_and_10_and_2():
    groups = {(f.rule, f.kinds, f.bytes): f for f in findings_of(GEMMA_3N)}
    counts = {key: f.count_per_step for key, f in groups.items()}
    assert counts == {
        ("pageable-htod", "HtoD pageable", 2): 6.0,
        ("pageable-htod", "HtoD pageable", 4): 10.0,
        ("dtoh-sync", "DtoH pinned", 1): 2.0,
    }
    assert all(f.stable for f in groups.values())
    mask = groups["dtoh-sync", "DtoH pinned", 1]
    assert mask.confidence == "suspected"
    assert "skipped while a stream is capturing" in mask.note
    assert all(f.confidence == "likely" for f in groups.values() if f is not mask)


def test_gemma_3n_host_time_agrees_with_sql(tmp_path):
    """Per step: time in copies of 4 bytes and in the synchronize that follows each."""
    plain = tmp_path / "trace.sqlite"
    plain.write_bytes(lzma.decompress((TRACES / GEMMA_3N).read_bytes()))
    connection = sqlite3.connect(plain)
    query = """
        SELECT sum(copy.end - copy.start) + sum(sync.end - sync.start)
        FROM NVTX_EVENTS AS step
        JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS copy
          ON copy.start BETWEEN step.start AND step.end AND copy.globalTid = step.globalTid
        JOIN CUPTI_ACTIVITY_KIND_MEMCPY AS op USING (correlationId)
        JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS sync ON sync.start = (
          SELECT min(start) FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE start > copy.start)
        WHERE step.text LIKE 'prefill#%' AND op.copyKind = 1 AND op.bytes = 4
        GROUP BY step.start ORDER BY 1
    """
    connection.execute("CREATE TEMP TABLE one (x)")
    totals = [total for (total,) in connection.execute(query)]
    connection.close()
    finding = next(f for f in findings_of(GEMMA_3N) if f.bytes == 4)
    middle = (totals[3] + totals[4]) / 2
    assert len(totals) == 8
    assert finding.host_ns == pytest.approx(middle, abs=1)


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("gemma-4-e4b-eager.nsys2025.3.sqlite.xz", 2.0),
        ("qwen3-0.6b-eager.nsys2025.3.sqlite.xz", 1.0),
        ("trtllm-range-names.nsys2025.3.sqlite.xz", 1.0),
        ("nvtx-domain-ranges.nsys2025.3.sqlite.xz", 1.0),
    ],
)
def test_only_the_mask_check_in_models_that_capture(name, count):
    (finding,) = findings_of(name)
    assert (finding.rule, finding.bytes, finding.kinds) == ("dtoh-sync", 1, "DtoH pinned")
    assert (finding.count_per_step, finding.stable) == (count, True)
    assert finding.confidence == "suspected"
    assert "packed-sequence" in finding.note


@pytest.mark.parametrize("name", sorted(p.name for p in TRACES.glob("*cudagraph*.xz")))
def test_captured_steps_have_nothing_left(name):
    assert findings_of(name) == ()


def test_breakable_graphs_have_nothing_left():
    assert findings_of("gemma-4-e4b-breakable.node.nsys2025.3.sqlite.xz") == ()
