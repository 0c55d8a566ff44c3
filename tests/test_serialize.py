"""JSON in and out: the schema holds, a report comes back equal, the names are the contract's."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from handmade import analysis, comparison, failed_candidate, finding

from launchlens.comparison import compare
from launchlens.errors import LaunchlensError
from launchlens.metrics import summarize
from launchlens.records.comparison import SideInput
from launchlens.render.json_report import json_schema, read_json, render_json
from launchlens.trace import read_trace

TRACES = Path(__file__).parents[2] / "traces"
EXPECTED = json.loads((TRACES / "expected.json").read_text())

#: As docs/definitions.md lists them.
STEP = {
    "range", "domain", "engine", "phase", "pid", "tid", "device", "kernel_launches",
    "graph_launches", "launches", "memcpy_calls", "memset_calls", "sync_calls", "alloc_calls",
    "captured_calls", "kernels", "memcpys", "memsets", "graph_spans", "graph_tracing",
    "hidden_graph_launches", "cpu_ns", "projected_ns", "window_ns", "busy_ns", "idle",
    "idle_kernels_only", "idle_projected", "gaps_ns",
}  # fmt: skip
GAPS = ["lead_in", "host", "launch", "sync", "device", "tail", "unlinked"]
TRACE = {
    "file", "nsys_version", "export_schema", "gpu", "driver", "graph_tracing", "diagnostics",
    "warnings",
}  # fmt: skip


def check(kind, text):
    schema = json_schema(kind)
    jsonschema.Draft202012Validator.check_schema(schema)
    said = json.loads(text)
    jsonschema.Draft202012Validator(schema).validate(said)
    return said


@pytest.fixture(scope="module", params=sorted(EXPECTED))
def real(request):
    return request.param, summarize(read_trace(TRACES / request.param))


def test_every_shipped_trace_gives_valid_json_with_the_stated_figures(real):
    name, made = real
    said = check("analysis", render_json(made))
    assert said["schema"] == "launchlens.analysis/1"
    assert said["trace"].keys() >= TRACE
    starts = [s["start_ns"] for s in said["steps"]]
    assert starts == sorted(starts)
    for step, exact in zip(said["steps"], EXPECTED[name], strict=True):
        assert step.keys() >= STEP
        for key, value in exact.items():
            is_fraction = key.startswith("idle") and value is not None
            assert step[key] == (pytest.approx(value, abs=1e-6) if is_fraction else value), key
        if step["gaps_ns"]:
            assert list(step["gaps_ns"]) == GAPS
        for key, value in step.items():
            if key.endswith("_ns") and key != "gaps_ns":
                assert value is None or isinstance(value, int), key
            if key.startswith("idle"):
                assert value is None or 0 <= value <= 1, key


def test_a_report_comes_back_equal(real):
    _, made = real
    assert read_json(render_json(made), named="x.json") == made


def test_comparisons_too():
    names = ["gemma-4-e4b-eager.nsys2025.3.sqlite.xz",
             "gemma-4-e4b-cudagraph.node.nsys2025.3.sqlite.xz"]  # fmt: skip
    made = compare(
        [
            SideInput(a.trace.label, a)
            for a in (summarize(read_trace(TRACES / name)) for name in names)
        ]
    )
    said = check("comparison", render_json(made))
    assert said["schema"] == "launchlens.comparison/1"
    assert read_json(render_json(made), named="x.json") == made


@pytest.mark.parametrize(
    "made",
    [comparison(), failed_candidate(comparison()), comparison(findings=(finding(),))],
    ids=["plain", "failed", "findings"],
)
def test_drawn_comparisons_validate_and_come_back(made):
    check("comparison", render_json(made))
    assert read_json(render_json(made), named="x.json") == made


def test_drawn_analyses_validate_and_come_back():
    made = analysis(findings=(finding(),))
    check("analysis", render_json(made))
    assert read_json(render_json(made), named="x.json") == made


def test_unknown_is_null_and_never_a_word_or_nan():
    made = summarize(read_trace(TRACES / "gemma-3n-cudagraph.default-mode.nsys2023.4.sqlite.xz"))
    text = render_json(made)
    step = json.loads(text)["steps"][0]
    assert (step["idle"], step["kernels"], step["gaps_ns"]) == (None, None, None)
    assert "NaN" not in text
    assert "Infinity" not in text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not a launchlens report"),
        ("not json", "not a launchlens report"),
        ("[1]", "not a launchlens report"),
        ("{}", "has schema 'none'"),
        ('{"schema": "launchlens.analysis/9"}', "has schema 'launchlens.analysis/9'"),
        ('{"schema": ["a"]}', "has schema"),
        ('{"schema": "launchlens.analysis/1"}', "is damaged at trace"),
        ('{"schema": "launchlens.comparison/1", "baseline": 5}', "is damaged at baseline"),
    ],
)
def test_what_is_no_report_is_refused_in_a_sentence(text, said):
    with pytest.raises(LaunchlensError, match=r"^x\.json") as error:
        read_json(text, named="x.json")
    assert said in str(error.value)
    assert "\n" not in str(error.value)
