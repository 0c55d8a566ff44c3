"""One comparison in every format, as a user asks for each: all of them tell the same figures.

The right values are the medians of traces/expected.json, which separate SQL confirms, and what was
written into the stored run by hand.
"""

from __future__ import annotations

import csv
import io
import json
import re
from html.parser import HTMLParser
from statistics import median

import handmade
import pytest
from stored_runs import EAGER, NODE, SPANS, TRACES, make_run

from launchlens.protocol.facts import ChildError, VariantFailure
from launchlens.protocol.result import TimeResult
from launchlens.protocol.spec import HarnessSpec
from launchlens.workflow.profiling.gather import failure_of

UNTRACED = (47_400_000, 4_670_000)
TARGET = ("--repo", "o/r", "--pr", "7", "--dry-run")
TEXTS = ("terminal", "markdown", "html", "comment")


def expected() -> dict[str, tuple[float, float]]:
    """Figures of eager and cudagraph, each side's of one trace."""
    known = json.loads((TRACES / "expected.json").read_text("utf-8"))
    eager, node, spans = (known[file.name] for file in (EAGER, NODE, SPANS))

    def of(name, captured=node):
        return tuple(median(step[name] for step in steps) for steps in (eager, captured))

    launches = [
        median(step["kernel_launches"] + step["graph_launches"] for step in steps)
        for steps in (eager, node)
    ]
    return {
        "launches": (launches[0], launches[1]),
        "sync_calls": of("sync_calls"),
        "kernels": of("kernels"),
        "untraced_ns": UNTRACED,
        "window_ns": of("window_ns"),
        "window_graph_ns": of("window_ns", spans),
        "idle": of("idle"),
        "busy_ns": of("busy_ns"),
    }


TITLES = {
    "launches per step": "launches",
    "sync calls": "sync_calls",
    "kernels on the gpu": "kernels",
    "step, untraced": "untraced_ns",
    "step, traced": "window_ns",
    "step, traced as whole graphs": "window_graph_ns",
    "gpu idle, traced": "idle",
    "gpu busy": "busy_ns",
}


def as_text(metric: str, value: float) -> str:
    """How a reader expects it: three digits of milliseconds, a decimal of per cent, a count."""
    if metric.endswith("_ns"):
        return f"{value / 1e6:#.3g} ms"
    return f"{100 * value:.1f}%" if metric == "idle" else f"{value:g}"


def change_of(metric: str, before: float, after: float) -> str:
    """The change's last part: points for idle, per cent for the rest."""
    if metric == "idle":
        return f"{100 * (after - before):.1f} pp".replace("-", "\N{MINUS SIGN}")
    percent = 100 * (after / before - 1)
    digits = 2 if 99.9 < abs(percent) < 100 else 1
    return f"{percent:+.{digits}f}%".replace("-", "\N{MINUS SIGN}")


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("formats") / "runs"
    make_run(root, eager_ns=UNTRACED[0], captured_ns=UNTRACED[1])
    run = make_run(root, day=1, failed=("breakable",))
    run.save_findings("breakable", [handmade.finding(confidence="confirmed")])
    return root


@pytest.fixture
def reports(cli, root, tmp_path, monkeypatch):
    """The comparison of the named sides in the named format."""
    monkeypatch.setenv("COLUMNS", "100")

    def write(form, run="20261130", variants=("eager", "cudagraph")):
        sides = [f"{run}:{variant}" for variant in variants]
        place = ("--runs", root)
        if form == "comment":
            return cli("comment", *TARGET, *sides, *place)[1]
        if form == "benchmark":
            cli("export", *sides, *place, "--github-benchmark", tmp_path / "benchmark.json")
            return (tmp_path / "benchmark.json").read_text("utf-8")
        return cli("diff", *sides, *place, "--format", form)[1]

    return write


def table_rows(form, report):
    """Rows of the metric table as texts: title, both values, change, verdict."""
    if form == "terminal":
        return [re.split(r" {2,}", line.strip()) for line in report.splitlines()]
    if form == "html":
        reader = Cells()
        reader.feed(report)
        return reader.rows
    return [
        [cell.strip(" *🟢🔴⚪") for cell in line.strip("|").split("|")]
        for line in report.splitlines()
        if line.startswith("| ")
    ]


class Cells(HTMLParser):
    """Texts of table cells without the notes below them."""

    def __init__(self):
        super().__init__()
        self.rows, self.depth, self.in_note = [], 0, False

    def handle_starttag(self, tag, attrs):
        self.in_note = dict(attrs).get("class") in ("interval", "row-note")
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        self.depth += tag in ("td", "th")

    def handle_endtag(self, tag):
        self.depth -= tag in ("td", "th")
        self.in_note = self.in_note and tag != "span"

    def handle_data(self, data):
        if self.depth and not self.in_note:
            self.rows[-1][-1] += data.strip()


@pytest.mark.parametrize("form", TEXTS)
def test_every_text_tells_the_same_figures(reports, form):
    found = {}
    for title, *cells in filter(None, table_rows(form, reports(form))):
        metric = TITLES.get(title.lower())
        if metric and len(cells) == (3 if metric == "kernels" and form == "terminal" else 4):
            found.setdefault(metric, cells)  # the table of all metrics
    for metric, (before, after) in expected().items():
        if metric == "window_graph_ns" and form == "terminal":
            continue  # a detail beside times without a profiler
        first, second, change, verdict = (*found[metric], "")[:4]
        assert (first, second) == (as_text(metric, before), as_text(metric, after)), metric
        assert change.rstrip(")").endswith(change_of(metric, before, after)), metric
        judged = "" if metric == "kernels" else "better" if after < before else "worse"
        assert verdict == judged, metric


@pytest.mark.parametrize("form", TEXTS)
def test_every_text_leads_with_the_same_sentence(reports, form):
    known = expected()
    figures = {metric: [as_text(metric, v) for v in pair] for metric, pair in known.items()}
    report = " ".join(re.sub(r"<[^>]*>|\*", "", reports(form)).split())
    times = " → ".join(time.removesuffix(" ms") for time in figures["untraced_ns"])
    # Like beside like: idle that the untraced times correct.
    walls = zip(known["busy_ns"], known["untraced_ns"], strict=True)
    corrected = [as_text("idle", 1 - busy / wall) for busy, wall in walls]
    sentence = (
        f"qwen3-0.6b-eager → cudagraph: prefill step {times} ms, 10× faster, GPU idle "
        f"{' → '.join(corrected)} (untraced); launches per step {' → '.join(figures['launches'])}"
    )
    if form in ("markdown", "comment"):
        sentence = f"### Prefill step 10× faster · {' → '.join(figures['launches'])} launches"
    assert sentence in report
    assert "47.7 ms" in report  # TTFT, and requests by hand: 47.4 + 0.3
    assert "4.97 ms" in report


def records(form, report):
    """(metric, side) and value of each record of a feed."""
    if form == "json":
        made = json.loads(report)
        labels = [side["label"] for side in (made["baseline"], *made["candidates"])]
        for row in made["phases"][0]["rows"]:
            for label, cell in zip(labels, row["cells"], strict=True):
                yield row["metric"], label, cell["value"]
    elif form == "csv":
        for line in csv.DictReader(io.StringIO(report)):
            yield line["metric"], line["side"], float(line["value"]) if line["value"] else None
    else:
        for entry in json.loads(report):
            label, _, title, *_ = entry["name"].split(" · ")
            metric = TITLES.get(title.lower(), title)
            yield metric, label, entry["value"] * {"ms": 1e6, "%": 0.01}.get(entry["unit"], 1)


@pytest.mark.parametrize("form", ["json", "csv", "benchmark"])
def test_every_feed_has_the_same_values(reports, form):
    found = {(m, side): value for m, side, value in records(form, reports(form))}
    for metric, pair in expected().items():
        if metric == "window_graph_ns" and form == "benchmark":
            continue  # no headline
        for variant, value in zip(("eager", "cudagraph"), pair, strict=True):
            assert found[metric, f"qwen3-0.6b-{variant}"] == pytest.approx(value, rel=2e-7), metric


def test_the_bars_of_a_step_are_as_long_as_the_figures(reports):
    page = reports("html")
    plot = page[page.index('id="idle-0"') : page.index("</figure>", page.index('id="idle-0"'))]
    rows = plot.split('class="bar-row')[1:]
    widths = [
        [float(width) for width in re.findall(r"width:([\d.]+)%", row.split("bar-stack")[1])]
        for row in rows
    ]
    busy = [row[0] for row in widths]
    before, after = expected()["busy_ns"]
    assert busy[1] / busy[0] == pytest.approx(after / before, rel=1e-3)
    for row, side, value in zip(rows, ("eager", "cudagraph"), expected()["window_ns"], strict=True):
        assert side in row
        assert as_text("window_ns", value) in row
    assert max(map(sum, widths)) == pytest.approx(100, abs=0.01)


@pytest.mark.parametrize("form", [*TEXTS, "json"])
def test_a_failed_variant_and_its_blockers_are_in_every_report(reports, form):
    report = reports(form, "20261201", ("eager", "cudagraph", "breakable"))
    plain = " ".join(report.replace("&#58;", ":").replace("&#95;", "_").split())
    assert "Cannot copy between CPU and CUDA" in plain
    assert "modeling.py:17" in plain
    assert "Copy from pageable memory" in plain
    assert "modeling_gemma3n.py:1727" in plain
    assert "confirmed" in plain
    if form != "terminal":
        assert "Build the value on the GPU." in plain
    if form in TEXTS:
        assert "breakable could not be captured at" in plain.replace("breakable: ", "breakable ")


def test_a_stored_run_shows_what_stood_in_the_way(cli, root):
    shown = " ".join(cli("runs", "show", "20261201", "--runs", root)[1].split())
    assert "breakable could not be captured at modeling.py:17" in shown
    assert "6 × Copy from pageable memory, modeling_gemma3n.py:1727" in shown


def test_a_crash_is_told_from_a_failed_capture():
    child = {"variant": "eager", "spec": HarnessSpec(model="m", result_path="r.json")}
    error = ChildError("ProcessError", "ended with -9", None)
    crashed = failure_of(TimeResult(**child, error=error))
    refused = failure_of(TimeResult(**child, failure=VariantFailure("RuntimeError", "no")))
    assert (crashed.during, crashed.words) == ("run", "could not be run")
    assert (refused.during, refused.words) == ("capture", "could not be captured")
