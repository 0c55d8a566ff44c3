"""The report of one trace: its sentence, which rows it shows, its tables by step, its end."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from handmade import analysis, group, stat
from written import as_markdown, in_terminal

from launchlens.catalogue import gap_causes, step_metrics
from launchlens.metrics import summarize
from launchlens.report.analysis import analysis_document
from launchlens.report.document import Table, Text
from launchlens.report.sentences import analysis_sentence
from launchlens.trace import read_trace

TRACES = Path(__file__).parents[2] / "traces"


def made(bound="launch-bound", window=1000, steps=8, **gaps):
    """A group of made-up steps: idle for ``gaps`` of their window."""
    figures = {m.name: stat(0) for m in step_metrics()}
    idle = {f"gaps_ns.{cause}": stat(gaps.get(cause, 0)) for cause in gap_causes()}
    total = sum(gaps.values())
    figures |= idle | {
        "launches": stat(7),
        "kernels": stat(7),
        "window_ns": stat(window),
        "busy_ns": stat(window - total),
        "idle": stat(total / window),
        "cpu_ns": stat(window),
    }
    return group(metrics=figures, bound=bound, steps=steps)


def sentence(shown):
    return analysis_sentence(analysis((shown,))).partition("(traced)")[2]


@pytest.mark.parametrize(
    ("shown", "said"),
    [
        (
            made(host=450, launch=390, sync=10),
            ". CPU-bound: 45% of the step the GPU waits for Python and framework code, 39% for "
            "launch latency.",
        ),
        (
            made("sync-bound", sync=700, host=49),
            ". Bound by synchronization: 70% of the step the GPU waits for synchronization.",
        ),
        (made("gpu-bound", device=10), ". GPU-bound."),
        (
            made("mixed", device=300, lead_in=200),
            ". Bound by several causes: 30% of the step the GPU waits for queued operations to "
            "start, 20% for the first operation.",
        ),
        (
            made(None, host=450),
            ". 45% of the step the GPU waits for Python and framework code.",
        ),
    ],
)
def test_the_sentence_says_whose_per_cent_it_is(shown, said):
    assert sentence(shown) == said


def test_one_launch_is_no_launches():
    one = made("gpu-bound")
    one = replace(one, metrics=one.metrics | {"launches": stat(1)})
    assert ": 1 launch per prefill step" in analysis_sentence(analysis((one,)))


def rows(shown, *, verbose=False, width=100):
    """The lines of the table of figures, by their names."""
    text = in_terminal(analysis((shown,)), width=width, verbose=verbose)
    table = text.partition("per step ")[2].partition("\n\n")[0].splitlines()
    return table[0].split(), [line.split("  ")[0] for line in table[1:]]


def test_about_ten_rows_and_all_metrics_with_details():
    shown = made(host=450, launch=390, sync=4, device=6, lead_in=9, tail=0)
    _, names = rows(shown)
    assert names == [
        "launches per step",
        "kernels on the GPU",
        "step, traced",
        "GPU idle, traced",
        "GPU busy",
        "idle: Python, framework",
        "idle: launch latency",
        "idle: synchronization",
        "idle: between operations",
    ]
    assert rows(shown, verbose=True)[1] == [metric.title for metric in step_metrics()]


def test_causes_that_every_report_leaves_out_show_from_a_hundredth_of_the_step_on():
    assert "idle: before first operation" not in rows(made(lead_in=9))[1]
    assert "idle: before first operation" in rows(made(lead_in=10))[1]


def test_the_range_on_the_cpu_stands_for_an_unknown_step():
    unknown = stat(None, 0, 8)
    shown = made()
    lost = dict.fromkeys(("window_ns", "idle", "busy_ns"), unknown)
    assert "range on the CPU" not in rows(shown)[1]
    assert "range on the CPU" in rows(replace(shown, metrics=shown.metrics | lost))[1]


@pytest.mark.parametrize(
    ("steps", "quantiles"), [(8, []), (10, ["p10", "p90"]), (100, ["p10", "p90", "p99"])]
)
def test_quantiles_are_told_of_enough_steps_and_with_details_only(steps, quantiles):
    shown = made(steps=steps)
    plain = ["median", "95%", "interval"]
    assert rows(shown)[0] == plain
    assert rows(shown, verbose=True)[0] == plain + quantiles


def test_an_interval_without_a_width_is_said_once():
    text = in_terminal(analysis((made(),)), width=100)
    line = next(line for line in text.splitlines() if line.startswith("launches per step"))
    assert line.split()[3:] == ["7", "7"]


@pytest.fixture(scope="module")
def captured():
    return summarize(read_trace(TRACES / "qwen3-0.6b-cudagraph.node.nsys2025.3.sqlite.xz"))


def test_tklqt_of_a_graph_is_unknown_and_says_why(captured):
    assert captured.summary[0].metrics["tklqt_ns"].median is None
    assert "TKLQT" not in in_terminal(captured, width=100)
    said = " ".join(in_terminal(captured, verbose=True, width=140).split())
    assert "TKLQT unknown: the kernels of a graph start long after its launch, by design" in said


@pytest.fixture(scope="module")
def eager():
    return summarize(read_trace(TRACES / "gemma-4-e4b-eager.nsys2025.3.sqlite.xz"))


def test_tables_are_per_step(eager):
    """306 runs in each of 8 steps, followed by 69.2 ms of idle time in all (SQL, traces/)."""
    text = in_terminal(eager, width=120)
    assert "the GPU idles after, mean per step" in text
    name = "vectorized_elementwise_kernel (bfloat16_copy_kernel_cuda)"
    line = next(line for line in text.splitlines() if line.startswith(name))
    assert line.split()[2:] == ["306", "306", "8.66", "ms"]
    assert "reduce_kernel (MeanOps)" in text
    calls = next(line for line in text.splitlines() if line.startswith("cudaLaunchKernel "))
    assert calls.split()[1:4] == ["3398", "18.2", "ms"]
    (kernel, *_) = eager.summary[0].kernels
    assert kernel.count == 302 * 8, "JSON keeps what it documents: totals"


def test_full_names_stand_in_a_list_with_details(eager):
    full = "void at::native::reduce_kernel<(int)512, (int)1, at::native::ReduceOp<float"
    assert full not in in_terminal(eager, width=200)
    assert full in in_terminal(eager, width=2000, verbose=True)
    assert "Kernel names in full" in as_markdown(eager)


def names_in_tables(document):
    for section in document.sections:
        for block in section.blocks:
            if isinstance(block, Table) and section.anchor.startswith("work"):
                yield [row.cells[0] for row in block.rows]


@pytest.mark.parametrize(
    "path", sorted(TRACES.glob("*.sqlite.xz")), ids=lambda path: path.name.partition(".nsys")[0]
)
def test_no_two_rows_of_a_shipped_trace_look_the_same(path):
    for names in names_in_tables(analysis_document(summarize(read_trace(path)))):
        shown = [name if isinstance(name, str) else name.text for name in names]
        assert len(set(shown)) == len(shown)
        assert all(len(name) <= 64 for name in shown)


def closing(document):
    return [
        (block.title, *block.lines)
        for section in document.sections
        if section.anchor == "next"
        for block in section.blocks
        if isinstance(block, Text)
    ]


def test_an_eager_trace_ends_with_what_to_do_next(eager, captured):
    assert closing(analysis_document(eager)) == [
        ("What a CUDA graph would bring", "launchlens profile --model MODEL"),
        (
            "What would block its capture",
            "launchlens blockers gemma-4-e4b-eager.nsys2025.3.sqlite.xz",
        ),
    ]
    assert closing(analysis_document(captured)) == []
    odd = replace(eager, trace=replace(eager.trace, file="my trace.sqlite"))
    assert closing(analysis_document(odd))[1][1] == "launchlens blockers 'my trace.sqlite'"
