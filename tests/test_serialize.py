"""JSON in and out: the schema holds, a report comes back equal, the names are the contract's."""

from __future__ import annotations

import json
import lzma
import pkgutil
import shutil
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path

import jsonschema
import pytest
from handmade import analysis, comparison, failed_candidate, finding

from launchlens.comparison import compare
from launchlens.errors import LaunchlensError, UsageError
from launchlens.metrics import summarize
from launchlens.recipes import all_recipes
from launchlens.records.blocking import BlockerReport
from launchlens.records.buckets import BucketChoice, CaptureSizes, EngineOption
from launchlens.records.calibration import Calibration, CostRow
from launchlens.records.comparison import SideInput
from launchlens.records.doctor import Check, DoctorReport
from launchlens.records.figures import Analyses
from launchlens.records.limits import LimitReport, LimitResult, TraceLimits
from launchlens.records.models import ModelList, ModelRow
from launchlens.records.recipes import RecipeList
from launchlens.records.score import ForecastOutcome, ForecastScore
from launchlens.records.stored import RunList
from launchlens.records.trend import Trend, TrendPoint, TrendSeries
from launchlens.serialize import KINDS, describe, from_json, record_of, to_json
from launchlens.serialize import schema as schema_of
from launchlens.store import list_runs, load_run
from launchlens.trace import read_trace
from launchlens.workflow.forecasting import forecast_trace
from launchlens.workflow.load import Choices, load

HERE = Path(__file__).parent
TRACES = Path(__file__).parents[1] / "traces"
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
    schema = schema_of(kind)
    jsonschema.Draft202012Validator.check_schema(schema)
    said = json.loads(text)
    jsonschema.Draft202012Validator(schema).validate(said)
    return said


@pytest.fixture(scope="module", params=sorted(EXPECTED))
def real(request):
    return request.param, summarize(read_trace(TRACES / request.param))


def test_every_shipped_trace_gives_valid_json_with_the_stated_figures(real):
    name, made = real
    said = check("analysis", to_json(made))
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
    assert from_json(to_json(made), named="x.json") == made


def test_comparisons_too():
    names = ["gemma-4-e4b-eager.nsys2025.3.sqlite.xz",
             "gemma-4-e4b-cudagraph.node.nsys2025.3.sqlite.xz"]  # fmt: skip
    made = compare(
        [
            SideInput(a.trace.label, a)
            for a in (summarize(read_trace(TRACES / name)) for name in names)
        ]
    )
    said = check("comparison", to_json(made))
    assert said["schema"] == "launchlens.comparison/1"
    assert from_json(to_json(made), named="x.json") == made


@pytest.mark.parametrize(
    "made",
    [comparison(), failed_candidate(comparison()), comparison(findings=(finding(),))],
    ids=["plain", "failed", "findings"],
)
def test_drawn_comparisons_validate_and_come_back(made):
    check("comparison", to_json(made))
    assert from_json(to_json(made), named="x.json") == made


def test_drawn_analyses_validate_and_come_back():
    made = analysis(findings=(finding(),))
    check("analysis", to_json(made))
    assert from_json(to_json(made), named="x.json") == made


def test_unknown_is_null_and_never_a_word_or_nan():
    made = summarize(read_trace(TRACES / "gemma-3n-cudagraph.default-mode.nsys2023.4.sqlite.xz"))
    text = to_json(made)
    step = json.loads(text)["steps"][0]
    assert (step["idle"], step["kernels"], step["gaps_ns"]) == (None, None, None)
    assert "NaN" not in text
    assert "Infinity" not in text


@pytest.mark.parametrize(
    "unseen",
    map(
        chr,
        (
            0xE0041,
            0xE007F,
            0xE0100,
            0x202E,
            0x2066,
            0x200B,
            0xFEFF,
            0x3164,
            0xFE0F,
            0xE000,
            0x7F,
            0x9B,
            0,
        ),
    ),
)
def test_what_nobody_sees_is_escaped_in_every_json(unseen):
    record = replace(analysis(), notes=(f"a{unseen}b ≥ 1 µs",))
    text = to_json(record)
    assert unseen not in text
    assert "b ≥ 1 µs" in text
    assert json.loads(text)["notes"] == [f"a{unseen}b ≥ 1 µs"]
    assert from_json(text, named="x.json") == record


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
        from_json(text, named="x.json")
    assert said in str(error.value)
    assert "\n" not in str(error.value)


# --- every kind ---


def limit(status: str) -> LimitResult:
    return LimitResult("launches<=3", "launches", "count", "x", status, 4, "value", 4, 3)


def shipped_trace():
    """A shipped eager trace with its figures."""
    (file,) = (HERE.parent / "traces").glob("trtllm-range-names.*.sqlite.xz")
    return load(file, Choices())


@pytest.fixture
def made(tmp_path):
    """A record of every kind; those of stored runs from runs of the version before."""
    runs = tmp_path / "runs"
    shutil.copytree(HERE / "store/old_runs", runs)
    rows = list_runs(runs)
    point = TrendPoint(rows[0].id, rows[0].created, None, None, 0.5, bound="lower")
    series = TrendSeries("idle", "fraction", "m", "eager", None, "batch 1", None, "graph", (point,))
    limits = TraceLimits("x", False, (limit("failed"), limit("unknown")))
    return {
        "analysis": analysis(findings=(finding(),)),
        "analyses": Analyses("launchlens.analyses/1", (analysis(), analysis(steps=3))),
        "comparison": comparison(findings=(finding(),)),
        "blockers": BlockerReport("launchlens.blockers/1", "x", ("decode",), 1, None, (finding(),)),
        "forecast": forecast_trace(shipped_trace()),
        "forecast-score": ForecastScore(
            outcomes=(
                ForecastOutcome(
                    run_id="r",
                    created="2026-01-01",
                    model="m",
                    gpu=None,
                    variant="cudagraph",
                    phase="prefill",
                    isl=25,
                    batch=1,
                    costs="shipped",
                    eager_ns=9,
                    step_ns=4,
                    low_ns=3,
                    high_ns=5,
                    outcome_ns=5,
                    error=-0.2,
                    held=True,
                ),
            ),
            median_error=0.2,
            worst_error=0.2,
            held=1,
        ),
        "limits": LimitReport(budget="b.toml", held=False, traces=(limits,)),
        "runs": RunList(runs=rows),
        "stored-run": load_run(runs / rows[0].id),
        "trend": Trend(series=(series,)),
        "models": ModelList(models=(ModelRow("m", "o/m", 3, 0.5, "MConfig"),)),
        "calibration": Calibration(
            gpu="G",
            driver=None,
            cuda=None,
            cpu=None,
            shipped_gpu="H",
            file="c.json",
            costs=(CostRow("node_gap_ns", 400.5, 2.0, 412.0, True),),
        ),
        "buckets": BucketChoice(
            steps=3,
            sizes=1,
            best=CaptureSizes("best", (4,), 1.5, 0.0, 0.0),
            beside=CaptureSizes("other", (8,), 2.0, 0.0, 0.0),
            saved=0.25,
            worth_it=True,
            options=(EngineOption("E", "--sizes 4"),),
        ),
        "doctor": DoctorReport(ready=False, checks=(Check("GPU", "fail", "none", "buy"),)),
        "recipes": RecipeList(recipes=all_recipes({})),
    }


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_holds_its_schema_and_comes_back_equal(made, kind):
    said = check(kind, to_json(made[kind]))
    assert said["schema"] == f"launchlens.{kind}/1"
    assert next(iter(said)) == "schema"
    assert from_json(to_json(made[kind]), named="x.json") == made[kind]


def undescribed(schema):
    """Properties without a description, as "Record.key"; and records without one."""
    records = {schema.get("title", "?"): schema, **schema.get("$defs", {})}
    return [
        f"{name}.{key}"
        for name, record in records.items()
        for key, shape in record.get("properties", {}).items()
        if not shape.get("description")
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_every_property_is_described(kind):
    made = schema_of(kind)
    assert undescribed(made) == []
    assert made.get("description") or "$ref" in made  # what the record is


def test_a_property_without_a_docstring_is_found():
    @dataclass
    class Bare:
        launches: int

    assert undescribed(describe(Bare)) == ["Bare.launches"]


def test_descriptions_are_the_docstrings_below_the_fields():
    step = schema_of("analysis")["$defs"]["Step"]["properties"]
    assert step["idle"]["description"] == "1 − busy_ns / window_ns."
    assert step["gaps_ns"]["description"] == "Idle time by cause."


def test_every_record_that_names_a_layout_is_a_kind():
    """A record of launchlens.records with a field ``schema`` is printed, so it has a schema."""
    import launchlens.records as folder

    found = {
        record
        for module in pkgutil.iter_modules(folder.__path__)
        for record in vars(import_module(f"{folder.__name__}.{module.name}")).values()
        if "schema" in getattr(record, "__dataclass_fields__", {})
    }
    assert found == {record_of(kind) for kind in KINDS}


def test_an_unknown_kind_is_refused_with_those_there_are():
    with pytest.raises(UsageError, match="There is no schema 'trace'") as error:
        schema_of("trace")
    assert "analysis, comparison" in str(error.value)


# --- what older versions wrote ---


def old(name):
    """A report that the version before bounds were fields wrote (old_reports/)."""
    return from_json(lzma.open(HERE / f"old_reports/{name}.json.xz", "rt").read(), named=name)


def test_bounds_of_old_comparisons_are_fields():
    read = old("diff-qwen3-0.6b")
    names = [
        "qwen3-0.6b-eager.nsys2025.3.sqlite.xz", "qwen3-0.6b-cudagraph.graph.nsys2025.3.sqlite.xz",
    ]  # fmt: skip
    fresh = compare(
        [SideInput(a.trace.label, a) for a in (summarize(read_trace(TRACES / n)) for n in names)]
    )

    def bounds(made):
        rows = made.phases[0].rows
        return {row.metric: [cell.bound for cell in row.cells] for row in rows}

    assert bounds(read)["idle"] == [None, "lower"]
    assert bounds(read)["busy_ns"] == [None, "upper"]
    assert bounds(read).items() <= bounds(fresh).items()
    notes = {cell.note for row in read.phases[0].rows for cell in row.cells}
    assert not any("bound" in note for note in notes if note)


def test_bounds_of_old_analyses_are_fields():
    stats = old("analyze-qwen3-0.6b-cudagraph").summary[0].metrics
    assert (stats["idle"].bound, stats["busy_ns"].bound) == ("lower", "upper")
    assert (stats["launches"].bound, stats["gaps_ns.host"].bound) == (None, None)


def test_failed_variants_of_old_comparisons_say_so_in_fields():
    read = old("diff-failed")
    idle = next(row for row in read.phases[0].rows if row.metric == "idle")
    assert [cell.failed for cell in idle.cells] == [False, True]
    facts = read.candidates[0].facts
    assert (facts.commit, facts.dirty) == ("0f3c" * 10, True)
    assert facts.shortened == "Shortened to 4 of 28 layers."


def test_a_metric_newer_than_a_report_is_unknown_in_it():
    document = json.loads(to_json(summarize(read_trace(TRACES / sorted(EXPECTED)[0]))))
    for step in document["steps"]:
        del step["launch_cost_ns"]
    made = from_json(json.dumps(document), named="x.json")
    assert {step.launch_cost_ns for step in made.steps} == {None}
    assert [step.launches for step in made.steps] == [s["launches"] for s in document["steps"]]
    del document["steps"][0]["range"]  # which is no metric
    with pytest.raises(LaunchlensError, match=r"damaged at steps\.0\.range: "):
        from_json(json.dumps(document), named="x.json")


def test_a_metric_of_requests_newer_than_a_comparison_is_unknown_in_it(made):
    document = json.loads(to_json(made["comparison"]))
    for side in (document["baseline"], *document["candidates"]):
        for requests in side["facts"]["requests"]:
            del requests["itl_ns"]
    read = from_json(json.dumps(document), named="x.json")
    loads = [load for side in read.sides for load in side.facts.requests]
    assert loads
    assert {load.itl_ns for load in loads} == {None}
