"""The shipped costs are those of the shipped traces: computed here once more, in another way."""

from __future__ import annotations

import statistics
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from step_graphs import shipped

from launchlens.errors import LaunchlensError
from launchlens.forecast.constants import choose, parse
from launchlens.forecast.effects.attention_mask import EFFECT
from launchlens.records.columns import OpKind

H200 = choose("NVIDIA H200", "nsys")
CAPTURED = (
    "profile-qwen3-0.6b-cudagraph",
    "qwen3-0.6b-cudagraph",
    "profile-gemma-4-e4b-cudagraph",
    "profile-gemma-3n-e4b-both-fixes-cudagraph",
    "profile-qwen3-0.6b-compile-cudagraph",
)
"""Steps captured whole, each traced by nodes and as one span."""
SAME_KERNELS = (
    ("profile-gemma-4-e4b-osl5-eager.node", "profile-gemma-4-e4b-osl5-cudagraph.node", "decode"),
    ("profile-gemma-4-e4b-eager.node", "profile-gemma-4-e4b-cudagraph.node", "prefill"),
    (
        "profile-gemma-3n-e4b-both-fixes-eager.node",
        "profile-gemma-3n-e4b-both-fixes-cudagraph.node",
        "prefill",
    ),
    ("profile-qwen3-0.6b-eager.node", "profile-qwen3-0.6b-cudagraph.node", "prefill"),
)


def operations(name, phase="prefill"):
    """(names, durations) of every step's operations but the first step's."""
    loaded = shipped(name)
    ops, found = loaded.trace.ops, []
    for i, step in enumerate(loaded.analysis.steps):
        if step.phase != phase:
            continue
        low, high = loaded.measured.owned.calls.low[i], loaded.measured.owned.calls.high[i]
        rows = np.flatnonzero((ops.api_row >= low) & (ops.api_row < high))
        names = [
            loaded.trace.strings[n] if n >= 0 else f"<{OpKind(int(k)).name}>"
            for n, k in zip(ops.name[rows], ops.kind[rows], strict=True)
        ]
        found.append((names, ops.end_ns[rows] - ops.start_ns[rows]))
    return found[1:]


def spans():
    """For each captured step: kernels, memsets, length of the span, sum of the nodes."""
    for name in CAPTURED:
        (spanned,) = shipped(f"{name}.graph").analysis.summary
        (noded,) = shipped(f"{name}.node").analysis.summary
        m = noded.metrics
        kernels = m["kernels"].median + m["memcpys"].median
        yield kernels, m["memsets"].median, spanned.metrics["busy_ns"].median, m["busy_ns"].median


def fitted(rows):
    """Gap of a kernel and of a memset beside node-level durations: least squares, by parts."""
    kernels, memsets, span, nodes = (np.array(column, float) for column in zip(*rows, strict=True))
    design = np.stack([kernels / span, memsets / span], axis=1)
    return np.linalg.lstsq(design, (span - nodes) / span, rcond=None)[0]


def lengthened(eager, captured, phase):
    """By how much a kernel runs longer as a node, over kernels that both steps run as often."""
    sides = []
    for name in (eager, captured):
        count, total = Counter(), Counter()
        steps = operations(name, phase)
        for names, durations in steps:
            for kernel, ns in zip(names, durations.tolist(), strict=True):
                count[kernel] += 1 / len(steps)
                total[kernel] += ns / len(steps)
        sides.append((count, total))
    (a, time_a), (b, time_b) = sides
    same = [k for k in a if abs(a[k] - b[k]) < 0.01]
    return sum(time_b[k] - time_a[k] for k in same) / sum(a[k] for k in same)


def test_gaps_within_a_graph_come_from_spans_beside_nodes():
    gap, memset = fitted(list(spans()))
    longer = statistics.median(lengthened(*pair) for pair in SAME_KERNELS)
    assert H200.node_gap_ns.value == pytest.approx(gap + longer, rel=0.02)
    assert H200.memset_gap_ns.value == pytest.approx(memset, rel=0.02)


@pytest.mark.parametrize("left_out", range(len(CAPTURED)))
def test_no_single_model_makes_the_gap(left_out):
    rows = list(spans())
    same = {0, 1} if left_out in (0, 1) else {left_out}  # one model, traced twice
    gap, _ = fitted([row for i, row in enumerate(rows) if i not in same])
    whole, _ = fitted(rows)
    assert gap == pytest.approx(whole, abs=H200.node_gap_ns.spread)


def test_breaks_come_from_the_broken_graphs_gaps():
    loaded = shipped("profile-qwen3-0.6b-breakable.graph")
    ops, kinds = loaded.trace.ops, {"leaves": [], "enters": [], "between": []}
    for i in range(1, len(loaded.analysis.steps)):
        low, high = loaded.measured.owned.calls.low[i], loaded.measured.owned.calls.high[i]
        rows = np.flatnonzero((ops.api_row >= low) & (ops.api_row < high))
        rows = rows[np.argsort(ops.start_ns[rows])]
        for a, b in pairwise(rows):
            of_graph = (ops.kind[a] == OpKind.GRAPH, ops.kind[b] == OpKind.GRAPH)
            kind = {(True, False): "leaves", (False, True): "enters"}.get(of_graph, "between")
            kinds[kind].append(int(ops.start_ns[b] - ops.end_ns[a]))
    traced = {kind: statistics.median(gaps) for kind, gaps in kinds.items()}
    # Tracing lengthens each by 0.36 µs: the untraced step is 0.1 ms shorter (docs/forecast.md).
    assert H200.leave_graph_ns.value == pytest.approx(traced["leaves"] - 360, rel=0.03)
    assert H200.enter_graph_ns.value == pytest.approx(traced["enters"] - 360, rel=0.03)
    assert H200.delay_ns.value == pytest.approx(traced["between"] - 360, rel=0.03)


def test_the_attention_mask_costs_what_it_costs_in_the_traces():
    extra_ops, extra_ns = [], []
    for eager, captured, phase in SAME_KERNELS[1:]:
        a, b = operations(eager, phase), operations(captured, phase)
        calls = len(EFFECT.find([n if n[0] != "<" else "memset" for n in a[0][0]]))
        longer = lengthened(eager, captured, phase)
        more = len(b[0][0]) - len(a[0][0])
        busy = [statistics.median(int(d.sum()) for _, d in side) for side in (a, b)]
        extra_ops.append(more / calls)
        extra_ns.append((busy[1] - busy[0] - longer * len(a[0][0])) / calls)
    assert EFFECT.operations == pytest.approx(statistics.mean(extra_ops), rel=0.03)
    assert EFFECT.busy_ns == pytest.approx(statistics.mean(extra_ns), rel=EFFECT.spread)


def test_constants_that_cannot_be_read_are_refused_in_a_sentence():
    with pytest.raises(LaunchlensError, match="calibrate"):
        parse("{}", named="x.json", source="measured")
