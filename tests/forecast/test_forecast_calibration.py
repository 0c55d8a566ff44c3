"""Calibration: made-up measurements of known costs give them back; the file is read again."""

from __future__ import annotations

import json

import pytest
from step_graphs import eager

from launchlens.errors import LaunchlensError
from launchlens.forecast.calibration import TracedLaunches, Where, as_file, calibrated, fit_line
from launchlens.forecast.constants import choose, parse
from launchlens.protocol.facts import Environment
from launchlens.protocol.result import CalibrateResult
from launchlens.protocol.spec import HarnessSpec
from launchlens.protocol.timings import TimedCost
from launchlens.workflow.calibrating import keep
from launchlens.workflow.forecasting import Wanted, forecast_trace
from launchlens.workflow.load import Choices, load

# A machine made up for these tests.
KERNEL, GAP, DELAY, MEMSET = 1_000, 350, 900, 2_500
LEAVES_AND_ENTERS, HOST, GRAPH_FIXED, GRAPH_NODE, TRACING = 5_000, 4_500, 7_000, 250, 3_000
PIECE, SIZES, LAUNCHES = 10, (50, 100, 200, 400), 400
WHERE = Where("NVIDIA Made-up", "1.2", "13.0", "a CPU", "nsys 1", "nsys", "2026-01-01")
SHIPPED = choose("NVIDIA H200", "nsys")


def measured():
    turn = PIECE * KERNEL + (PIECE - 1) * GAP + KERNEL + LEAVES_AND_ENTERS
    each = {
        "launches, GPU": lambda n: 20_000 + n * (KERNEL + DELAY),
        "launches, CPU": lambda n: 1_000 + n * HOST,
        "graph, GPU": lambda n: 9_000 + n * (KERNEL + GAP),
        "graph, CPU": lambda n: GRAPH_FIXED + n * GRAPH_NODE,
        "graph with memsets, GPU": lambda n: 9_000 + n * (KERNEL + GAP + MEMSET),
        "graph with memsets, CPU": lambda n: GRAPH_FIXED + 2 * n * GRAPH_NODE,
    }
    costs = {kind: {n: [of(n)] * 5 for n in SIZES} for kind, of in each.items()}
    costs["broken graph, GPU"] = {n // 2: [8_000 + n // 2 * turn] * 5 for n in SIZES}
    return costs


TRACED = TracedLaunches(KERNEL, 2 * LAUNCHES, [LAUNCHES * (HOST + 2 * TRACING)] * 9, LAUNCHES)


def test_known_costs_come_back():
    made, kept = calibrated(measured(), TRACED, PIECE, WHERE, SHIPPED)
    assert made.node_gap_ns.value == pytest.approx(GAP)
    assert made.memset_gap_ns.value == pytest.approx(MEMSET)
    assert made.delay_ns.value == pytest.approx(DELAY)
    across = made.enter_graph_ns.value + made.leave_graph_ns.value
    assert across == pytest.approx(LEAVES_AND_ENTERS)
    assert made.graph_launch_ns.value == pytest.approx(GRAPH_FIXED)
    assert made.graph_launch_node_ns.value == pytest.approx(GRAPH_NODE)
    assert made.tracing_ns.value == pytest.approx(TRACING)
    assert (made.gpu, made.source) == ("NVIDIA Made-up", "measured")
    assert kept == ("replay_ns",)


def test_what_could_not_be_measured_is_told_and_stays_as_shipped():
    costs = {k: v for k, v in measured().items() if "memsets" not in k}
    made, kept = calibrated(costs, TRACED, PIECE, WHERE, SHIPPED)
    assert kept == ("memset_gap_ns", "replay_ns")
    assert made.memset_gap_ns == SHIPPED.memset_gap_ns
    del costs["graph, GPU"]
    with pytest.raises(LaunchlensError, match="graph, GPU"):
        calibrated(costs, TRACED, PIECE, WHERE, SHIPPED)


def test_the_spread_of_a_cost_is_that_of_its_slopes():
    line = fit_line({10: [1_000], 20: [2_000], 30: [3_500]})
    assert line.each_ns.spread == pytest.approx(25.0)  # slopes of 100 and 150
    with pytest.raises(LaunchlensError, match="two sizes"):
        fit_line({10: [1_000]})


def test_the_file_is_what_forecasts_read():
    made, _ = calibrated(measured(), TRACED, PIECE, WHERE, SHIPPED)
    assert parse(json.dumps(as_file(made)), named="x", source="measured") == made


def test_a_calibrated_machine_is_used_for_its_traces(tmp_path):
    """From the child's answer and a trace, over the file, to a forecast that says so."""
    spec = HarnessSpec(model="calibration", result_path="x", mode="calibrate")
    environment = Environment("2.11", "5", "13.0", "NVIDIA Made-up", 1, "9.0", None, "3.12")
    costs = [
        TimedCost(kind, n, tuple(samples))
        for kind, by_size in measured().items()
        for n, samples in by_size.items()
    ]
    answer = CalibrateResult(
        variant="eager", spec=spec, environment=environment, costs=costs, piece=PIECE
    )
    path = eager(tmp_path, kernel_ns=KERNEL, gpu="NVIDIA Made-up")
    loaded = load(path, Choices())
    kept = keep(answer, loaded, "2025.3", tmp_path / "runs")
    assert {row.name for row in kept.costs if not row.measured} == {"replay_ns"}
    from launchlens.store import calibration_file

    made = forecast_trace(loaded, Wanted(constants=calibration_file(tmp_path / "runs")))
    assert (made.constants.gpu, made.constants.source) == ("NVIDIA Made-up", "measured")
    assert not made.constants.foreign
    assert made.constants.costs_ns["node_gap_ns"] == pytest.approx(GAP)


def test_a_damaged_file_is_refused_in_a_sentence(tmp_path):
    (tmp_path / "calibration.json").write_text('{"gpu": "NVIDIA H200", "node_gap_ns": -1}')
    loaded = load(eager(tmp_path), Choices())
    with pytest.raises(LaunchlensError, match="calibrate writes it anew"):
        forecast_trace(loaded, Wanted(constants=tmp_path / "calibration.json"))
