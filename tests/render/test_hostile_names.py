"""Hostile kernel names, range texts and metadata cannot break a table or reach the reader raw."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from build_trace import TraceBuilder
from handmade import HOSTILE
from written import as_github, as_markdown, in_terminal

from launchlens.comparison import compare
from launchlens.metrics import summarize
from launchlens.records.comparison import SideInput
from launchlens.records.figures import Diagnostic
from launchlens.records.variant import Failure, VariantFacts
from launchlens.report.words import plain
from launchlens.trace import read_trace

CONTROL = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]"
)
TAGS = {"details", "summary", "code", "blockquote", "strong", "h3", "p", "ul", "li", "sub"}
TAGS |= {"table", "thead", "tbody", "tr", "th", "td"}


def hostile_analysis(folder, text, kernels=(1, 2)):
    """Figures of a trace in which everything that can be named bears this name."""
    storable = text.encode(errors="replace").decode().replace("\x00", "")
    trace = TraceBuilder(gpus={0: storable})
    trace.domain(1, storable)
    trace.range(f"prefill {storable}", 0, 1000, domain=1)
    for i in kernels:
        trace.launch(
            10 * i, 10 * i + 2, kernel=(100 * i, 100 * i + 50), name=f"{storable} {i}",
            api=f"cudaLaunch {storable}",
        )  # fmt: skip
    trace.diagnostics = [(3, storable)]
    analysis = summarize(read_trace(trace.write(folder / "t.sqlite")))
    info = replace(
        analysis.trace, label=text, file=text, nsys_version=text, driver=text,
        diagnostics=(Diagnostic(text, text),), warnings=(text,),
    )  # fmt: skip
    groups = tuple(replace(g, unknown_reason=text) for g in analysis.summary)
    return replace(analysis, trace=info, notes=(text,), summary=groups)


def hostile_comparison(folder, text):
    first = hostile_analysis(folder, text)
    second = hostile_analysis(folder, text, kernels=(2, 3))
    facts = VariantFacts(model=text, dtype=text, command=text, versions={text: text})
    failed = VariantFacts(failure=Failure(text, text, text, text))
    return compare(
        [
            SideInput(text, first, facts=facts),
            SideInput(text + "2", second, facts=VariantFacts(model="other")),
            SideInput("failed", None, facts=failed),
        ]
    )


@pytest.fixture(params=range(len(HOSTILE)), ids=lambda i: ascii(HOSTILE[i])[:20])
def text(request):
    return HOSTILE[request.param]


@pytest.fixture
def terminal(tmp_path, text):
    def reports(width):
        analysis = hostile_analysis(tmp_path, text)
        yield in_terminal(analysis, verbose=True, width=width)
        yield in_terminal(hostile_comparison(tmp_path, text), verbose=True, width=width)

    return reports


@pytest.fixture
def markdown(tmp_path, text):
    return [
        as_markdown(hostile_analysis(tmp_path, text)),
        as_markdown(hostile_comparison(tmp_path, text)),
    ]


@pytest.mark.parametrize("width", [40, 80])
def test_terminal_output_stays_within_its_lines(terminal, width):
    from rich.cells import cell_len

    for report in terminal(width):
        assert not CONTROL.search(report)
        assert max(cell_len(line) for line in report.split("\n")) <= width
        report.encode()


def test_markup_is_printed_and_not_obeyed(tmp_path):
    analysis = hostile_analysis(tmp_path, "[red]not markup[/red]")
    assert "[red]not markup[/red]" in in_terminal(analysis, width=120)


def tables(report):
    """Tables of a Markdown report as lists of lines."""
    found, current = [], []
    for line in [*report.split("\n"), ""]:
        if line.startswith("|"):
            current.append(line)
        elif current:
            found.append(current)
            current = []
    return found


def test_every_table_line_has_as_many_columns_as_its_header(markdown):
    for report in markdown:
        assert tables(report)
        for lines in tables(report):
            # A bar behind a backslash is text, one behind two of them is none.
            assert len({re.sub(r"\\.", "", line).count("|") for line in lines}) == 1
            assert re.fullmatch(r"\|( :?-+:? \|)+", lines[1])


def test_no_tag_but_the_reports_own(markdown):
    for report in markdown:
        assert not CONTROL.search(report)
        page = as_github(report)
        tags = re.findall(r"<(/?)([a-z0-9]+)([^>]*)>", page)
        assert {name for _, name, _ in tags} <= TAGS
        aligned = re.compile(r"( align=\"(left|right)\")?")
        assert all(aligned.fullmatch(rest) for _, _, rest in tags), "no attributes"
        for name in TAGS:
            assert page.count(f"<{name}>") + page.count(f"<{name} ") == page.count(f"</{name}>")


class Reader(HTMLParser):
    """Counts cells of each table row, tags, and text outside code."""

    def __init__(self):
        super().__init__()
        self.tags, self.rows, self.text, self.in_code = set(), [], [], 0

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag == "table":
            self.rows.append([])
        elif tag == "tr":
            self.rows[-1].append(0)
        elif tag in ("td", "th"):
            self.rows[-1][-1] += 1
        self.in_code += tag == "code"

    def handle_endtag(self, tag):
        self.in_code -= tag == "code"

    def handle_data(self, data):
        if not self.in_code:
            self.text.append(data)


def test_github_sees_the_same_tables(markdown):
    for report in markdown:
        page = Reader()
        page.feed(as_github(report))
        assert len(page.rows) == len(tables(report))
        for rows, lines in zip(page.rows, tables(report), strict=True):
            assert len(set(rows)) == 1
            assert len(rows) == len(lines) - 1
        assert page.tags <= TAGS
        assert not re.search(r"@someone|#12|https://|www\.(?!\u200b)", "".join(page.text))


def test_names_show_as_they_are(tmp_path, text):
    """Kernels stand in code, whatever characters they have."""
    shown = plain(f"{text} 1")
    for report in (as_github(as_markdown(hostile_analysis(tmp_path, text))),):
        codes = [html.unescape(c) for c in re.findall(r"<code>(.*?)</code>", report, re.DOTALL)]
        if len(shown) < 60 and text.isprintable():  # others are shortened, or cleaned
            assert shown in codes
