"""Groups of steps: skipped steps, tables of kernels, calls and gaps, bounds, notes."""

from __future__ import annotations

import lzma
import sqlite3
import statistics
from pathlib import Path

import pytest
from build_trace import TraceBuilder

from launchlens.errors import UsageError
from launchlens.metrics import summarize
from launchlens.metrics.bound import what_bounds
from launchlens.records.figures import Gaps
from launchlens.trace import read_trace

TRACES = Path(__file__).parents[2] / "traces"


@pytest.fixture
def analyze(tmp_path):
    def measure(trace, **options):
        return summarize(read_trace(trace.write(tmp_path / "t.sqlite")), **options)

    return measure


def steps_of(lengths, *, name="prefill", start=0, trace=None):
    trace = trace or TraceBuilder()
    for number, length in enumerate(lengths):
        trace.range(f"{name}#{number}", start, start + length)
        trace.launch(start + 1, start + 3, kernel=(start + 5, start + length - 5))
        start += length + 10
    return trace


def test_skipped_steps_are_left_out_of_figures_and_counted(analyze):
    analysis = analyze(steps_of([900, 100, 102, 104]), skip=1)
    (group,) = analysis.summary
    assert (group.steps, group.dropped, analysis.skipped) == (3, 1, 1)
    assert group.metrics["window_ns"].median == 102
    assert len(analysis.steps) == 4, "the steps themselves are all there"


def test_each_phase_drops_its_own_first_steps(analyze):
    trace = steps_of([900, 100, 100])
    steps_of([50, 20, 20], name="decode", start=5000, trace=trace)
    analysis = analyze(trace, skip=1)
    assert [(g.phase, g.steps, g.dropped) for g in analysis.summary] == [
        ("prefill", 2, 1),
        ("decode", 2, 1),
    ]
    assert analysis.skipped == 2


@pytest.mark.parametrize("skip", [4, 9, -1])
def test_skipping_all_steps_or_fewer_than_none_is_a_usage_error(analyze, skip):
    with pytest.raises(UsageError, match="--skip"):
        analyze(steps_of([100] * 4), skip=skip)


def test_a_slow_first_step_is_pointed_out(analyze):
    notes = analyze(steps_of([900, 100, 100, 100, 100])).notes
    assert notes == (
        "the first prefill step took 9.0× as long as the others (median); --skip 1 leaves it out.",
    )


def test_a_slow_first_step_that_is_skipped_is_not(analyze):
    assert analyze(steps_of([900, 100, 100, 100, 100]), skip=1).notes == ()


def test_a_prefill_before_shorter_decode_steps_is_no_slow_first_step(analyze):
    trace = steps_of([900, 900, 900, 900])
    steps_of([50] * 6, name="decode", start=10_000, trace=trace)
    assert analyze(trace).notes == ()


def test_gap_histogram_classes(analyze):
    trace = TraceBuilder()
    trace.range("prefill", 0, 2_000_000)
    end = 0
    for gap in (1_999, 2_000, 4_999, 5_000, 9_999, 10_000, 49_999, 50_000, 499_999, 500_000):
        trace.launch(end, end + 1, kernel=(end + gap, end + gap + 100))
        end += gap + 100
    trace.range("prefill", 0, end)  # nested: the window ends with the last kernel
    (group,) = analyze(trace).summary
    assert [(b.from_ns, b.below_ns, b.count, b.total_ns) for b in group.gap_histogram] == [
        (0, 2_000, 1, 1_999),
        (2_000, 5_000, 2, 6_999),
        (5_000, 10_000, 2, 14_999),
        (10_000, 50_000, 2, 59_999),
        (50_000, 500_000, 2, 549_999),
        (500_000, None, 1, 500_000),
    ]


def test_kernel_table_call_table_and_followers(analyze):
    trace = TraceBuilder()
    trace.range("prefill", 0, 100)
    trace.launch(0, 4, kernel=(10, 20), name="a")
    trace.launch(4, 6, kernel=(20, 50), name="b")
    trace.launch(6, 9, kernel=(60, 70), name="a")
    trace.copy(9, 10, gpu=(75, 80))
    trace.launch(10, 12, kernel=(90, 100), name="c", tid=2)  # not the step's own
    (group,) = analyze(trace).summary
    assert [(k.name, k.count, k.total_ns, k.median_ns, k.share) for k in group.kernels] == [
        ("b", 1, 30, 30, 0.6),
        ("a", 2, 20, 10, 0.4),
    ]
    assert [(c.name, c.count, c.total_ns, c.median_ns) for c in group.api_calls] == [
        ("cudaLaunchKernel", 3, 9, 3),
        ("cudaMemcpyAsync", 1, 1, 1),
    ]
    assert [(f.name, f.gaps, f.idle_ns, f.count) for f in group.gap_followers] == [
        ("b", 1, 10, 1),
        ("[memcpy]", 1, 10, 1),
        ("a", 1, 5, 2),
    ]


def test_kernels_of_no_duration_have_a_share_of_nothing(analyze):
    trace = TraceBuilder()
    trace.range("prefill", 0, 100)
    trace.launch(0, 4, kernel=(10, 10))
    (group,) = analyze(trace).summary
    assert [(k.count, k.total_ns, k.share) for k in group.kernels] == [(1, 0, 0.0)]


def test_kernels_without_a_name_are_counted(analyze):
    trace = TraceBuilder()
    trace.range("prefill", 0, 100)
    trace.launch(0, 4, kernel=(10, 20), name=None)
    trace.launch(4, 6, kernel=(20, 40), name="b")
    (group,) = analyze(trace).summary
    assert [(k.name, k.count) for k in group.kernels] == [("b", 1), ("", 1)]


@pytest.mark.parametrize(
    ("tracing", "expected"),
    [
        (["none", "none"], "none"),
        (["none", "node"], "node"),  # eager steps beside captured ones hide nothing
        (["none", "graph"], "graph"),
        (["graph", "node"], "mixed"),
        (["mixed", "node"], "mixed"),
    ],
)
def test_graph_tracing_of_a_group(analyze, tracing, expected):
    trace = TraceBuilder()
    for number, how in enumerate(tracing):
        at = 1000 * number
        trace.range(f"prefill#{number}", at, at + 100)
        trace.launch(at, at + 1, kernel=(at + 5, at + 8))
        if how in ("node", "mixed"):
            trace.graph(at + 2, at + 3, nodes=[(at + 10, at + 20)])
        if how in ("graph", "mixed"):
            trace.graph(at + 4, at + 5, span=(at + 30, at + 40))
    (group,) = analyze(trace).summary
    assert group.graph_tracing == expected


def test_a_step_with_missing_graph_work_makes_the_groups_counts_unknown(analyze):
    trace = TraceBuilder()
    trace.range("prefill#0", 0, 100)
    trace.graph(10, 20)
    trace.range("prefill#1", 200, 300)
    trace.graph(210, 220)
    (group,) = analyze(trace).summary
    assert (group.graph_tracing, group.device) == ("missing", None)
    assert group.metrics["idle"].median is None
    assert (group.metrics["graph_launches"].median, group.metrics["idle"].unknown) == (1, 2)
    assert (group.kernels, group.gap_histogram, group.gap_followers) == ((), (), ())
    assert group.api_calls


@pytest.mark.parametrize(
    ("idle", "gaps", "bound"),
    [
        (0.19, {"host": 100}, "gpu-bound"),
        (0.20, {"host": 59, "device": 41}, "mixed"),
        (0.20, {"host": 20, "launch": 20, "lead_in": 20, "device": 40}, "launch-bound"),
        (0.90, {"sync": 60, "host": 40}, "sync-bound"),
        (0.90, {"device": 100}, "mixed"),
        (None, {"host": 1}, None),
    ],
)
def test_bound_from_the_causes(idle, gaps, bound):
    empty = dict.fromkeys(Gaps.__dataclass_fields__, 0)
    assert what_bounds(idle, Gaps(**(empty | gaps))) == bound


@pytest.mark.parametrize(
    ("idle", "gaps", "bound"),
    [
        (0.05, {"host": 50}, None),  # the GPU may have waited inside a graph
        (0.50, {"host": 500}, None),  # half of the window, of which the other half may be idle too
        (0.70, {"host": 650, "device": 50}, "launch-bound"),
        (0.70, {"sync": 650, "device": 50}, "sync-bound"),
        (0.70, {"host": 350, "sync": 350}, None),
    ],
)
def test_idle_hidden_in_graphs_cannot_turn_what_a_step_is_bound_by(idle, gaps, bound):
    """Whole-graph spans: idle is a lower bound, the window is 1000 long."""
    none = dict.fromkeys(("lead_in", "host", "launch", "sync", "device", "tail", "unlinked"), 0)
    assert what_bounds(idle, Gaps(**(none | gaps)), {"idle": "lower"}) == bound


def test_skip_drops_the_first_steps_of_a_group(tmp_path):
    trace = TraceBuilder()
    for i, launches in enumerate((5, 1, 1, 2)):
        trace.range("prefill", 1000 * i, 1000 * i + 900)
        for k in range(launches):
            at = 1000 * i + 100 * k
            trace.launch(at + 10, at + 20, kernel=(at + 30, at + 40))
    analysis = summarize(read_trace(trace.write(tmp_path / "t.sqlite")), skip=1)
    launches = analysis.summary[0].metrics["launches"]
    assert (launches.n, launches.median, launches.p99) == (3, 1, pytest.approx(1.98))


# Tables of a real trace, by SQL over the same file ------------------------------------------------

OWNED = """
WITH step AS (SELECT start, end, globalTid FROM NVTX_EVENTS WHERE text LIKE 'prefill#%'),
     call AS (SELECT r.* FROM CUPTI_ACTIVITY_KIND_RUNTIME r JOIN step
              ON r.globalTid = step.globalTid AND r.start BETWEEN step.start AND step.end)
"""


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    name = "qwen3-0.6b-eager.nsys2025.3.sqlite.xz"
    path = tmp_path_factory.mktemp("plain") / "trace.sqlite"
    path.write_bytes(lzma.decompress((TRACES / name).read_bytes()))
    (group,) = summarize(read_trace(path)).summary
    with sqlite3.connect(path) as db:
        db.execute("CREATE INDEX by_id ON CUPTI_ACTIVITY_KIND_KERNEL(correlationId)")
        yield group, db


def test_kernels_of_a_real_trace_agree_with_sql(real):
    group, db = real
    rows = db.execute(
        OWNED + "SELECT s.value, k.end - k.start FROM call JOIN CUPTI_ACTIVITY_KIND_KERNEL k "
        "ON k.correlationId = call.correlationId JOIN StringIds s ON s.id = k.demangledName"
    ).fetchall()
    lengths: dict[str, list[int]] = {}
    for name, ns in rows:
        lengths.setdefault(name, []).append(ns)
    found = {k.name: (k.count, k.total_ns, k.median_ns) for k in group.kernels}
    assert found == {
        name: (len(ns), sum(ns), int(statistics.median(ns))) for name, ns in lengths.items()
    }
    assert sum(k.share for k in group.kernels) == pytest.approx(1)
    assert sum(len(ns) for ns in lengths.values()) == group.metrics["kernels"].median * group.steps


def test_calls_of_a_real_trace_agree_with_sql(real):
    group, db = real
    rows = db.execute(
        OWNED + "SELECT s.value, count(*), sum(call.end - call.start) FROM call "
        "JOIN StringIds s ON s.id = call.nameId GROUP BY s.value"
    ).fetchall()
    found = {c.name: (c.count, c.total_ns) for c in group.api_calls}
    assert found == {name.split("_v")[0]: (count, ns) for name, count, ns in rows}
