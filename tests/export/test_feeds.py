"""Feeds: github-action-benchmark, CSV, Parquet."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import handmade
import pytest
from written import as_csv

from launchlens.catalogue import by_name, unit_of
from launchlens.export.feeds import (
    render_analysis_parquet,
    render_benchmark_json,
    render_comparison_parquet,
)


def entries(made=None, **changes):
    found = json.loads(render_benchmark_json(made or handmade.comparison(), **changes))
    return {entry["name"]: entry for entry in found}


def test_benchmark_entries_have_the_fields_the_action_reads():
    for entry in entries().values():
        assert set(entry) <= {"name", "unit", "value", "range", "extra"}
        assert isinstance(entry["value"], int | float)
        assert isinstance(entry["unit"], str)
    launches = entries()["gemma-4-e4b-cudagraph · prefill · launches"]
    assert (launches["value"], launches["unit"]) == (1, "count")
    assert entries()["gemma-4-e4b-eager · prefill · untraced"]["value"] == 49.1


def test_smaller_and_bigger_never_mix():
    smaller, bigger = entries(), entries(bigger_is_better=True)
    assert not set(smaller) & set(bigger)
    load = "ISL 25, OSL 5, concurrency 4"
    name = f"gemma-4-e4b-eager · requests · {by_name()['requests_per_s'].title} · {load}"
    assert bigger[name]["unit"] == "/s"
    title = by_name()["ttft_ns"].title
    assert smaller[f"gemma-4-e4b-eager · requests · {title} · {load}"]["unit"] == "ms"
    # kernels have no better direction here, so they are in neither
    assert not [n for n in (*smaller, *bigger) if n.endswith("· kernels")]


def test_unknown_figures_are_left_out_not_zero():
    made = handmade.comparison([handmade.row("idle", 0.8, None)])
    assert "gemma-4-e4b-cudagraph · prefill · idle" not in entries(made)


def test_range_is_the_interval():
    row = handmade.row("window_ns", 100e6, 90e6)
    cells = tuple(replace(c, ci_low=c.value - 1e6, ci_high=c.value + 1e6) for c in row.cells)
    found = entries(handmade.comparison([replace(row, cells=cells)]))
    entry = found["gemma-4-e4b-eager · prefill · window"]
    assert (entry["value"], entry["unit"], entry["range"]) == (100, "ms", "99 to 101")
    assert entry["extra"].startswith("window_ns; ")


@pytest.mark.parametrize(
    ("metric", "value", "shown"),
    [
        ("idle", 0.8473, (84.73, "%")),
        ("window_ns", 4_661_407, (4.661407, "ms")),
        ("queue_ns", 2_163, (0.002163, "ms")),
        ("peak_memory_bytes", 3 << 29, (1536, "MiB")),
        ("launches", 1569, (1569, "count")),
    ],
)
def test_units_are_those_that_people_read(metric, value, shown):
    found = entries(
        handmade.comparison([handmade.row(metric, value, value, unit=unit_of(metric))]),
        headline=False,
    )
    (entry,) = [e for name, e in found.items() if "eager · prefill" in name]
    assert (entry["value"], entry["unit"]) == shown


def test_titles_name_each_metric_alone():
    """Else two series of a history would become one."""
    titles = [metric.title for metric in by_name().values()]
    assert len(titles) == len(set(titles))


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_comparison_csv_has_a_row_for_each_metric_and_side():
    made = handmade.comparison()
    found = rows(as_csv(made))
    assert len(found) == 2 * len(made.phases[0].rows)
    (idle,) = [r for r in found if r["metric"] == "idle" and r["is_baseline"] == "False"]
    assert (float(idle["value"]), idle["unit"], idle["verdict"]) == (0.176, "fraction", "better")
    assert float(idle["change"]) == pytest.approx(0.176 - 0.847)


def test_csv_tells_unknown_from_zero():
    made = handmade.comparison([handmade.row("sync_calls", 0, None)])
    assert [r["value"] for r in rows(as_csv(made))] == ["0", ""]


def test_analysis_csv_has_every_figure_of_every_step():
    made = handmade.analysis(steps=3)
    found = rows(as_csv(made))
    assert [r["index"] for r in found] == ["0", "1", "2"]
    assert found[0]["gaps_ns.host"] == str(made.steps[0].gaps_ns.host)
    assert found[0]["launches"] == "3828"
    assert len(as_csv(handmade.analysis(steps=0)).splitlines()) == 1


@pytest.mark.parametrize("text", ["=HYPERLINK(1)", "+1", "-1", "@x", "\t=1", 'a"b,c\nd|e'])
def test_hostile_text_is_no_formula_and_stays_one_row(text):
    step = handmade.step(range=text)
    made = replace(handmade.analysis(), steps=(step,))
    (found,) = rows(as_csv(made))
    assert found["range"][0] not in "=+-@\t"
    assert "\n" not in found["range"]
    assert len(as_csv(made).splitlines()) == 2


def test_numbers_may_be_negative():
    (found,) = rows(as_csv(replace(handmade.analysis(), steps=(handmade.step(),))))
    assert found["tail_ns"] == "-10800000"


def test_parquet_says_the_same_with_types():
    pq = pytest.importorskip("pyarrow.parquet")
    made = handmade.comparison()
    table = pq.read_table(io.BytesIO(render_comparison_parquet(made))).to_pylist()
    assert len(table) == len(rows(as_csv(made)))
    (launches,) = [r for r in table if r["metric"] == "launches" and not r["is_baseline"]]
    assert (launches["value"], launches["change"]) == (1, -3827)
    steps = pq.read_table(io.BytesIO(render_analysis_parquet(handmade.analysis()))).to_pylist()
    assert steps[0]["window_ns"] == 70_800_000
    assert steps[0]["gaps_ns.host"] == 50_000_000
    assert steps[0]["unknown_reason"] is None
