"""Records in which every text is a stranger's: no format lets it act, wherever it stands."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import re
from pathlib import Path
from typing import Literal, get_args, get_origin, get_type_hints

import handmade
import html_records as records
import pytest
from markdown_it import MarkdownIt
from test_html_page import Parsed
from written import as_github

from launchlens.catalogue import by_name
from launchlens.export.feeds import render_benchmark_json
from launchlens.export.perfetto import render_perfetto
from launchlens.records.blocking import BlockerReport, CaptureAttempt
from launchlens.records.doctor import Check, DoctorReport
from launchlens.records.limits import LimitReport, LimitResult, TraceLimits
from launchlens.records.stored import RunRow, StoredRun
from launchlens.render import names_for, write
from launchlens.render.markdown.comment import Measured, Place, render_comment
from launchlens.report.analysis import analysis_document
from launchlens.report.blockers import blockers_document
from launchlens.report.comparison import comparison_document
from launchlens.report.doctor import doctor_document
from launchlens.report.limits import limits_document
from launchlens.report.runs import run_document, runs_document
from launchlens.report.trend import trend_document

TEXT = (
    "::error::x\n# Heading\n![i](https://evil.example/t.png) <img src=https://evil.example/p>"
    " @octocat o/r#12 www.evil.example [a](b) ```mermaid \x1b[31m\x9b1m\u202e\u2066\u200b##[error]"
)
STARTS = ("- item", "1. item", "=====", "---", "+ item", "2) item")
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
METRICS = set(by_name())


def strange(value, text=TEXT, hint=str):
    """The record with every text that is not one of a closed list replaced."""
    if dataclasses.is_dataclass(value):
        hints = get_type_hints(type(value))
        fields = (f.name for f in dataclasses.fields(value) if f.init)
        changes = {name: strange(getattr(value, name), text, hints[name]) for name in fields}
        return dataclasses.replace(value, **changes)
    if isinstance(value, str):
        return value if is_closed(hint) or value in METRICS else text
    if isinstance(value, tuple):
        return tuple(strange(one, text, hint) for one in value)
    if isinstance(value, dict):
        return {k if k in METRICS else text: strange(v, text, hint) for k, v in value.items()}
    return value


def is_closed(hint):
    return get_origin(hint) is Literal or any(is_closed(part) for part in get_args(hint))


def documents(text=TEXT):
    timelines = [strange(records.timeline("a", 30, 9000, 2000), text)]
    findings = (handmade.finding(), handmade.finding(confidence="cleared"))
    comparison = records.comparison()
    trace = comparison.baseline.trace
    yield comparison_document(strange(comparison, text), timelines)
    analysis = dataclasses.replace(handmade.analysis(findings=findings), notes=("note",))
    yield analysis_document(strange(analysis, text), timelines)
    yield trend_document([strange(records.trend([1, 2, 3]), text)])
    attempt = CaptureAttempt(captured=False, blockers=(), patched_sources=(), stopped="why")
    made = ("launchlens.blockers/1", "label", ("prefill",), 3, trace, findings, attempt)
    yield blockers_document(strange(BlockerReport(*made, notes=("note",)), text))
    checks = (Check("nsys", "fail", "detail", "remedy"),)
    yield doctor_document(strange(DoctorReport(ready=False, checks=checks), text))
    row = RunRow(
        "id",
        "2026",
        "complete",
        "why",
        "model",
        "GPU",
        "abc",
        True,
        ("eager",),
        (),
        "note",
        1,
        2,
        missing=False,
    )
    yield runs_document([strange(row, text)])
    times = ("2026-11-01T10:00:00+00:00", None)
    known = {"gpu": text, "git_commit": text}
    run = StoredRun(
        id=text, folder=Path("/runs") / text.replace("/", " "), created=text, finished=times[1],
        status="failed", reason=text, model=text, arguments={}, environment=known,
        commands={text: (text, text)}, variants={},
    )  # fmt: skip
    yield run_document(run)
    result = LimitResult("a", "b", "ns", "where", "failed", 1, "value", 1, 0, 2, "why")
    limits = LimitReport(budget="b", held=False, traces=(TraceLimits("t", False, (result,)),))
    yield limits_document(strange(limits, text))


DOCUMENTS = {document.kind: document for document in documents()}


@pytest.fixture(params=DOCUMENTS)
def document(request):
    return DOCUMENTS[request.param]


def seen_by_github(markdown):
    """The page that GitHub makes of it, and one that another parser does: both must be harmless."""
    parser = MarkdownIt("gfm-like", {"html": True, "linkify": False})
    return as_github(markdown) + parser.render(markdown)


def assert_harmless(markdown):
    assert not CONTROL.search(markdown)
    page = Parsed(seen_by_github(markdown))
    for tag in ("img", "a", "script", "ol"):
        assert not page.all(tag), tag
    # Not even where Markdown is not read: raw, names of code aside, it is no tag either.
    assert not re.search(r"^[^`]*<img", markdown, re.MULTILINE)
    outside_code = re.sub(r"<code>.*?</code>", "", seen_by_github(markdown), flags=re.DOTALL)
    for found_later in (r"@octocat", r"r#12", r"https://evil", r"www\.evil"):
        assert not re.search(found_later, outside_code), found_later
    return page


@pytest.mark.parametrize("width", [60, 200])
def test_the_terminal_gets_no_control_characters(document, width):
    for verbose in (False, True):
        text = write(document, "terminal", verbose=verbose, width=width)
        assert not CONTROL.search(text)
        assert width < 100 or "\n# Heading" not in text  # where nothing has to fold


def test_colours_are_the_reports_own(document):
    text = write(document, "terminal", verbose=True, width=120, color=True)
    assert not CONTROL.search(re.sub(r"\x1b\[[0-9;]*m", "", text))
    assert "\x1b[31m\ufffd" not in text


def test_markdown_shows_it_as_text(document):
    page = assert_harmless(write(document, "markdown"))
    for heading in ("h1", "h2"):
        assert not page.all(heading)
    # The verdict of a comparison is the report's own; two parsers see it.
    assert len(page.all("h3")) == (2 if document.kind == "comparison" else 0)


def test_a_page_shows_it_as_text(document):
    source = write(document, "html")
    page = Parsed(source)
    assert not page.all("img")
    assert len(page.all("script")) in (1, 3)  # with a timeline, its data and its library
    assert not CONTROL.search(source)


def test_the_comment_shows_it_as_text():
    body = render_comment(
        DOCUMENTS["comparison"],
        marker="<!-- marker -->",
        place=Place("GitHub", "pull request", 65_536),
        measured=Measured(TEXT),
        limits=[(False, TEXT)],
    )
    page = assert_harmless(body.removeprefix("<!-- marker -->"))
    assert len(page.all("h3")) == 2  # launchlens' own, of two parsers
    assert not page.all("h1")
    (chart,) = re.findall(r"^```mermaid\n(.*?)^```$", body, re.DOTALL | re.MULTILINE)
    assert "::" not in chart
    assert "evil.example/" not in chart


@pytest.mark.parametrize("start", STARTS)
def test_no_text_begins_a_list_a_rule_or_a_heading(start):
    for document in documents(start):
        page = Parsed(seen_by_github(write(document, "markdown")))
        for tag in ("ol", "hr", "h1", "h2"):
            assert not page.all(tag), (document.kind, tag)


def test_tables_of_data_hold_lines_without_control_characters():
    for kind in ("comparison", "analysis"):
        text = write(DOCUMENTS[kind], "csv")
        assert not CONTROL.search(text)
        header, *rows = csv.reader(io.StringIO(text))
        assert {len(row) for row in rows} == {len(header)}
        assert len(text.splitlines()) == 1 + len(rows)


def test_json_says_the_same_without_what_terminals_obey(document):
    if "json" not in names_for(document.kind):
        return
    text = write(document, "json")
    assert not CONTROL.search(text)
    assert "##[" not in text
    assert TEXT.replace("/", " ") in str(json.loads(text)) or TEXT in _texts(json.loads(text))


def _texts(value):
    if isinstance(value, dict):
        return {t for k, v in value.items() for t in {k} | _texts(v)}
    if isinstance(value, list):
        return {t for v in value for t in _texts(v)}
    return {value} if isinstance(value, str) else set()


def test_a_feed_for_benchmarks_holds_no_control_characters():
    text = render_benchmark_json(strange(records.comparison()), headline=False)
    assert TEXT.split(maxsplit=1)[0] in json.loads(text)[0]["name"]
    assert not CONTROL.search(text)
    assert "##[" not in text


def test_a_step_for_perfetto_holds_its_names_and_no_command():
    made = records.timeline("a", 3, 9000, 2000)
    lanes = (dataclasses.replace(strange(lane), role=lane.role) for lane in made.lanes)
    text = render_perfetto([dataclasses.replace(strange(made), lanes=tuple(lanes))])
    assert not CONTROL.search(text)
    assert "##[" not in text
    assert any(event["name"].endswith(TEXT) for event in json.loads(text)["traceEvents"])


def test_a_feed_says_that_a_figure_is_a_bound():
    comparison = records.comparison()
    row = comparison.phases[0].rows[0]
    cells = (dataclasses.replace(row.cells[0], bound="upper", note="why"), *row.cells[1:])
    phase = dataclasses.replace(
        comparison.phases[0], rows=(dataclasses.replace(row, cells=cells, direction=-1),)
    )
    made = dataclasses.replace(comparison, phases=(phase,))
    extra = [entry["extra"] for entry in json.loads(render_benchmark_json(made, headline=False))]
    assert extra[0].endswith("; only an upper bound; why")
    notes = [row["note"] for row in comparison_document(made).data()]
    assert notes[0] == "upper bound; why"
