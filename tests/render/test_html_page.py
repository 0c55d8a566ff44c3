"""The HTML report as a file: the record's figures, nothing from outside, hostile names inert."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import get_args, get_type_hints

import handmade
import html_records as records
import pytest

from launchlens.catalogue import step_metrics
from launchlens.metrics import summarize_measured
from launchlens.metrics.timeline import build_timeline, representative_step
from launchlens.records.variant import Failure
from launchlens.render.html.packed import plotly_source
from launchlens.render.html.page import write_page
from launchlens.report.analysis import analysis_document
from launchlens.report.cells import Interval, Name, Value
from launchlens.report.comparison import comparison_document
from launchlens.report.document import (
    Block,
    Checks,
    Column,
    Course,
    Document,
    Facts,
    FindingItem,
    Findings,
    Point,
    Row,
    Section,
    Table,
    Text,
)
from launchlens.report.pictures import Chart, Series, Timelines
from launchlens.report.trend import trend_document
from launchlens.trace import read_trace


def render_comparison(comparison, timelines=()) -> str:
    return write_page(comparison_document(comparison, timelines))


TRACES = Path(__file__).parents[2] / "traces"
VOID = {"meta", "br", "img", "input", "link", "hr"}
MB = 1_000_000


class Parsed(HTMLParser):
    """Elements with their attributes, text by element id, and whether all tags are closed."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text_of: dict[int, list[str]] = {}
        self.open: list[int] = []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.handle_data(" ")  # neighbouring cells are words of their own
        if tag not in VOID:
            self.open.append(len(self.elements) - 1)

    def handle_endtag(self, tag):
        index = self.open.pop()
        assert self.elements[index][0] == tag, (self.elements[index], tag)

    def handle_data(self, data):
        for index in self.open:
            self.text_of.setdefault(index, []).append(data)

    def texts(self, tag: str) -> list[str]:
        return [
            " ".join("".join(self.text_of.get(i, [])).split())
            for i, (name, _) in enumerate(self.elements)
            if name == tag
        ]

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.elements if name == tag]


def unpacked(source: str, name: str) -> str | None:
    """What stands in the page as gzip in base64."""
    found = re.search(f'id="{name}">([^<]*)</script>', source)
    return gzip.decompress(base64.b64decode(found[1])).decode() if found else None


def timelines_of(source: str) -> list[dict]:
    return json.loads(unpacked(source, "timeline-data") or "[]")


@pytest.fixture(scope="module")
def page() -> str:
    return render_comparison(records.comparison(), records.timelines(400))


@pytest.fixture(scope="module")
def document(page) -> Parsed:
    return Parsed(page)


def test_page_leads_with_the_answer(document):
    assert document.texts("h1") == ["launchlens: eager → cudagraph, breakable"]
    about, lead = document.texts("p")[:2]
    assert about == "gemma-4-e4b ISL 25 batch 1 bfloat16 NVIDIA H200"
    assert lead.startswith("Fastest: cudagraph, ")


def test_metric_table_has_every_row_of_the_record(document):
    cells = document.texts("th") + document.texts("td")
    for row in records.rows():
        assert any(cell.lower().startswith(row.title.lower()) for cell in cells), row.title
    rows = [text for text in document.texts("tr") if text.startswith("Launches per step")]
    assert rows == ["Launches per step 3828 1 −3827 (−99.97%) better 309 −3519 (−91.9%) better"]


def test_unknown_is_said_not_drawn_as_zero():
    made = records.comparison()
    phase = made.phases[0]
    kept = tuple(
        replace(r, cells=(*r.cells[:2], replace(r.cells[2], value=None)))
        if r.metric == "busy_ns" or r.metric.startswith("gaps_ns")
        else r
        for r in phase.rows
    )
    document = Parsed(render_comparison(replace(made, phases=(replace(phase, rows=kept),))))
    assert any(t.startswith("Step time, untraced") and "unknown" in t for t in document.texts("tr"))
    plot = next(text for text in document.texts("section") if text.startswith("Where a prefill"))
    assert "breakable unknown" in plot
    assert "breakable" in plot.split("breakable unknown")[0] or "16.9 ms" in plot


def test_five_columns_for_one_candidate():
    source = render_comparison(records.comparison(candidates=1))
    heads = [text for text in Parsed(source).texts("thead") if text.startswith("Metric")]
    assert heads[0] == "Metric Baseline: eager cudagraph Change Verdict"


def test_one_h1_and_no_heading_level_is_skipped(document):
    levels = [int(tag[1]) for tag, _ in document.elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))


def test_tables_and_figures_speak_to_a_screen_reader(document):
    assert len(document.all("caption")) == len(document.all("table"))
    assert all(attrs.get("scope") in ("col", "row", "colgroup") for attrs in document.all("th"))
    ids = [attrs["id"] for _, attrs in document.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    for attrs in document.all("figure"):
        assert attrs["aria-labelledby"] in ids
    plots = [a for a in document.all("div") if a.get("class") == "plot"]
    assert len(plots) >= 5
    assert all(a["role"] == "img" and len(a["aria-label"] or "") > 40 for a in plots)
    anchors = [(a["href"] or "")[1:] for a in document.all("a")]
    assert set(anchors) <= set(ids)


def test_nothing_is_loaded_from_anywhere(page, document):
    loading = [
        (tag, name, value)
        for tag, attrs in document.elements
        for name, value in attrs.items()
        if name in ("src", "href", "srcset", "action", "poster", "data") and value[0] != "#"
    ]
    assert loading == []
    assert not document.all("link")
    assert "url(" not in page
    assert "http:" not in page
    assert "https:" not in page
    assert "@import" not in page
    policy = document.all("meta")[1]["content"]
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    assert "http" not in policy
    assert "connect-src" not in policy
    assert policy.count("sha256-") == 2  # plotly and the page's own script, and no other
    for script in (
        unpacked(page, "plotly-packed"),
        page.split("<script>")[1].split("</script>")[0],
    ):
        assert base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() in policy


def test_same_record_same_page(page):
    assert page == render_comparison(records.comparison(), records.timelines(400))


@pytest.mark.parametrize("name", [records.HOSTILE, records.LONG, "", "\ud800 lone", "a\x00b"])
def test_hostile_names_stay_text(name):
    made = records.comparison(name=name, label=name or "x", candidates=1)
    made = replace(
        made,
        title=name or None,
        notes=(name,),
        baseline=replace(made.baseline, findings=(records.finding(name),)),
    )
    line = replace(records.timeline("eager", 50, 9000, 2000, name=name), range=name)
    source = render_comparison(made, [line])
    source.encode("utf-8")
    document = Parsed(source)
    assert document.open == []
    assert len(document.all("script")) == 3
    assert not document.all("img")
    assert not [a for _, attrs in document.elements for a in attrs if a.startswith("on")]
    assert "49 {" not in source  # a template inside a name is not run
    names = timelines_of(source)[0]["names"]
    # Whitespace is a space; what is no character of a text, here NUL and a lone surrogate, U+FFFD.
    assert re.sub(r"[\x00\ud800]", "\ufffd", re.sub(r"[\n\u2028]", " ", name)) in names


def test_file_stays_small_with_steps_of_5000_kernels():
    """The limits that docs/develop/html-page.md names."""
    sides = [records.timeline(f"side {i}", 5000, 17_000, 1900) for i in range(7)]
    assert len(render_comparison(records.comparison(), sides[:2]).encode()) < 0.9 * MB
    assert len(render_comparison(records.comparison(), sides).encode()) < 1.5 * MB


def test_the_page_of_the_longest_timeline_stays_small():
    trace = read_trace(TRACES / "profile-gemma-4-e4b-osl5-eager.node.nsys2025.3.sqlite.xz")
    analysis, measured = summarize_measured(trace)
    step = representative_step(analysis, analysis.summary[0])
    drawn = build_timeline(trace, measured, step, side="eager")
    assert sum(len(lane.spans) for lane in drawn.lanes) > 15_000
    assert len(write_page(analysis_document(analysis, [drawn])).encode()) < 1.5 * MB


def test_a_page_without_a_timeline_carries_no_library():
    source = render_comparison(records.comparison())
    assert len(source.encode()) < 0.1 * MB
    assert len(Parsed(source).all("script")) == 1
    assert Parsed(source).all("meta")[1]["content"].count("sha256-") == 1


def test_a_trend_stays_small():
    made = [records.trend([47_400_000 + i for i in range(50)], variant=f"v{n}") for n in range(7)]
    assert len(write_page(trend_document(made)).encode()) < 0.3 * MB


def test_the_library_is_the_published_one():
    """plotly.js-basic-dist-min as npm has it, of the version that the plotly package brings."""
    offline = pytest.importorskip("plotly.offline")
    source = plotly_source()
    version = offline.get_plotlyjs_version()
    assert source.startswith(f"/**\n* plotly.js (basic - minified) v{version}\n")
    assert hashlib.sha256(source.encode()).hexdigest() == (
        "99784e3abfb07b142a15e521a439e6d9addceadb3f79553fd24c72774f0649ba"
    )


def test_a_failed_variant_is_shown_with_its_reason():
    made = handmade.failed_candidate(handmade.comparison())
    source = render_comparison(made)
    text = " ".join(Parsed(source).texts("main"))
    assert "Cannot copy between CPU and CUDA tensors" in text
    assert "modeling_gemma3n.py:1727" in text


def test_a_failed_variant_and_its_blockers_have_a_section_of_their_own():
    made = handmade.failed_candidate(handmade.comparison())
    found = (
        handmade.finding(confidence="confirmed"),
        handmade.finding(confidence="cleared", title="Copy that is harmless", remedy="none needed"),
    )
    made = replace(made, candidates=(replace(made.candidates[0], findings=found),))
    document = Parsed(render_comparison(made))
    assert "What stands in the way of a CUDA graph" in document.texts("h2")
    assert "What stands in the way of a CUDA graph" in document.texts("nav")[0]
    section = section_of(document, "What stands in the way of a CUDA graph")
    failed, confirmed, cleared = [
        text for text in document.texts("div") if text.startswith(("cudagraph could", "6 ×"))
    ]
    assert failed.startswith(
        "cudagraph could not be captured at modeling_gemma3n.py:1727: Cannot copy"
    )
    assert failed.endswith("Error: RuntimeError Remedy: Build the value on the GPU.")
    assert confirmed.startswith(
        "6 × Copy from pageable memory, modeling_gemma3n.py:1727: blocks capture (confirmed)"
    )
    assert confirmed.endswith("Remedy: Build the value on the GPU.")
    assert "Remedy" not in cleared
    assert "Capture blockers, cudagraph" in document.texts("h3")
    assert "2 findings: 1 confirmed (a capture failed at this line, or" in section


def test_a_failure_alone_says_that_no_blockers_were_looked_for():
    made = handmade.failed_candidate(handmade.comparison())
    document = Parsed(render_comparison(made))
    section = section_of(document, "What stands in the way of a CUDA graph")
    assert "not looked for: launchlens blockers does" in section


def test_a_program_that_crashed_is_not_called_uncapturable():
    failure = Failure("ProcessError", "the process ended with -9", None, None, "run.log", "run")
    made = handmade.failed_candidate(handmade.comparison())
    side = made.candidates[0]
    side = replace(side, facts=replace(side.facts, failure=failure))
    phase = replace(made.phases[0], steps=(5, 0))
    made = replace(made, candidates=(side,), phases=(phase,))
    text = " ".join(Parsed(render_comparison(made)).texts("body"))
    assert "cudagraph could not be run" in text
    assert "eager → cudagraph: could not be run: the process ended with -9" in text
    assert "captured" not in section_of(Parsed(render_comparison(made)), "What failed")


def test_charts_name_a_side_without_figures_once():
    made = records.comparison(candidates=1)
    silent = replace(made.candidates[0], kernels=(), api_calls=(), gap_histogram=())
    made = replace(made, candidates=(silent,))
    document = Parsed(render_comparison(made))
    captions = " ".join(document.texts("figcaption"))
    assert "Shown is eager. Unknown: cudagraph." in captions
    assert "What changed on the GPU" not in document.texts("h2")


def section_of(document, title):
    """The text of the section with this heading."""
    (found,) = [text for text in document.texts("section") if text.startswith(title)]
    return found


def test_sides_without_a_timeline_are_named(document):
    section = section_of(document, "Timeline of one step")
    assert "Not drawn, since the trace does not tell: breakable." in section


def test_a_side_with_two_traces_says_which_one_is_drawn():
    made = records.comparison(candidates=1)
    captured = made.candidates[0]
    made = replace(made, candidates=(replace(captured, timing_trace=captured.trace),))
    document = Parsed(render_comparison(made, records.timelines(50)))
    section = section_of(document, "Timeline of one step")
    assert "Drawn from the node-level trace, not the whole-graph one: cudagraph." in section


def test_a_failed_side_is_not_said_to_have_a_trace():
    made = handmade.failed_candidate(handmade.comparison())
    drawn = [records.timeline("eager", 50, 9000, 2000)]
    document = Parsed(render_comparison(made, drawn))
    section = section_of(document, "Timeline of one step")
    assert "Not drawn, since there is no trace: cudagraph." in section


def test_blockers_and_requests_are_there(document):
    text = " ".join(document.texts("main"))
    assert "6 × host-to-device copies, 2 bytes, pageable" in text
    assert "modeling_gemma3n.py:1727" in text
    assert any(row.startswith("1 eager 48.3 ms") for row in document.texts("tr"))


def test_page_of_one_trace():
    filled = {m.name: handmade.stat(1_000_000, 5) for m in step_metrics()}
    filled |= handmade.group().metrics
    made = handmade.analysis([handmade.group(metrics=filled)])
    source = write_page(analysis_document(made, [records.timeline("eager", 50, 9000, 2000)]))
    document = Parsed(source)
    assert document.open == []
    assert any(t.startswith("Launches per step 3828") for t in document.texts("tr"))
    assert document.texts("p")[0] == "NVIDIA H200 nsys 2025.3.2"
    assert document.texts("p")[1].startswith("gemma-4-e4b-eager: 3828 launches per prefill step")


def test_a_trend_has_a_section_for_each_shape_and_its_first_and_last_values():
    made = [
        records.trend([47_400_000, 4_670_000, None]),
        records.trend([2_000_000], shape="ISL 512"),
        records.trend([3], phase="decode"),
    ]
    source = write_page(trend_document(made))
    document = Parsed(source)
    ids = [a["id"] for a in document.all("div") if a.get("class") == "plot"]
    assert ids == ["trend-0", "trend-1", "trend-2"]
    assert not [a for a in document.all("dl") if a.get("class") == "cards"]  # sentences say it
    assert document.texts("p")[0].startswith("untraced_ns of qwen3-0.6b, eager, prefill step: 47.4")
    rows = [row for row in document.texts("tr") if row.startswith("2026-11-0")]
    assert rows[:3] == [
        "2026-11-01 1111111 (run1) 47.4 ms",
        "2026-11-02 2222222+ (run2) 4.67 ms",
        "2026-11-03 3333333 (run3) unknown",
    ]


def test_a_document_of_a_kind_that_no_one_thought_of():
    """Every block there is, twice, with one anchor for all of them and hostile texts."""
    text = records.HOSTILE
    value = Value(2.5, "fraction", "lower", 2.0, 3.0)
    series = Series(text, (value, Value(None, "fraction")), ("side", "9"))
    columns = (Column(text, "text"), Column("number"), Column("interval"))
    cells = (Name(text), value, Interval(1, 2, "ns"))
    item = FindingItem(text, "suspected", "rule", "f.py:1", ((text, text),), (), (text, text))
    blocks = (
        *(Text((text, "  behind it"), form) for form in get_args(get_type_hints(Text)["form"])),
        Table(text, columns, (Row(cells, text), Row(("plain", Value(None, "ns"), ""))) * 4, most=2),
        Table(text, (), ()),
        *(
            Chart(text, text, (text, "b"), (series,), "fraction", form, text, text)
            for form in get_args(get_type_hints(Chart)["form"])
        ),
        Timelines((records.timeline(text, 9, 900, 300),), text, text),
        Findings(text, (item,)),
        Facts(text, ((text, text),)),
        Course(text, text, (Point("2026-11-01", text, value, text),)),
        Checks(((text, text, text), ("ok", "fine", ""))),
    )
    sections = (Section(text, text, blocks), Section(text, "", (*blocks, *blocks)))
    made = Document(
        "horoscope",
        text,
        (text,),
        tiles=((text, ((text, value),)),),
        differences=((text, (text,)),),
        sides=(text,),
        sections=sections,
        provenance=(Facts(text, ((text, text),)),),
    )
    source = write_page(made)
    page = Parsed(source)
    assert page.open == []
    assert len(page.all("script")) == 3
    assert not page.all("img")
    ids = [attrs["id"] for _, attrs in page.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert len(timelines_of(source)) == 3
    assert set(get_args(Block)) == {type(block) for block in blocks}
    assert "≥ 250.0%" in " ".join(page.texts("tr"))


def test_an_empty_document_is_a_page():
    page = Parsed(write_page(Document("nothing", "Nothing", ())))
    assert page.texts("h1") == ["Nothing"]
    assert page.texts("section") == []


def test_many_lines_of_a_trend_have_cards_instead_of_sentences():
    made = [records.trend([47_400_000, 4_670_000], variant=f"v{i}") for i in range(5)]
    document = Parsed(write_page(trend_document(made)))
    assert document.texts("p")[0] == "untraced_ns: 5 lines, 2 runs"
    assert document.texts("dl")[0].startswith("Qwen3-0.6b, v0, prefill 47.4 → 4.67 ms")


def test_cards_are_of_the_fastest_and_have_the_colour_of_their_verdict():
    document = Parsed(render_comparison(records.comparison()))
    cards = [a for a in document.all("div") if a.get("class") == "card"]
    text = document.texts("dl")[0]
    assert len(cards) == 4
    assert text.startswith("Launches per step 3828 → 1 −99.97% eager → cudagraph")
    chips = [a["class"] for a in document.all("span") if (a.get("class") or "").startswith("chip")]
    assert chips[:4] == ["chip better"] * 4


def test_intervals_are_asked_for_and_not_in_cells():
    made = records.comparison(candidates=1)
    phase = made.phases[0]
    rows = tuple(
        replace(r, cells=tuple(replace(c, ci_low=1_000_000, ci_high=2_000_000) for c in r.cells))
        if r.metric == "window_ns"
        else r
        for r in phase.rows
    )
    document = Parsed(render_comparison(replace(made, phases=(replace(phase, rows=rows),))))
    tips = [a["data-tip"] for a in document.all("td") if a.get("data-tip")]
    assert tips.count("95%: 1.00 ms to 2.00 ms") == 2
    assert "Show intervals and sources" in " ".join(document.texts("label"))
    hidden = [a for a in document.all("span") if a.get("class") == "interval"]
    assert len(hidden) == len(tips)


def test_a_kernel_s_whole_name_is_where_its_short_one_is_pointed_at():
    made = records.comparison(candidates=1)
    other = replace(made.candidates[0], kernels=made.candidates[0].kernels[:1])
    document = Parsed(render_comparison(replace(made, candidates=(other,))))
    tips = [a.get("data-tip") for a in document.all("span") if a.get("class") == "bar-title"]
    assert records.ADD in tips


def test_the_yellow_box_holds_warnings_and_the_end_of_the_page_the_rest():
    made = Document("x", "X", ("y",), warnings=("odd sides",), cautions=("lost rows",))
    document = Parsed(write_page(replace(made, remarks=("a preset",))))
    box = [text for text in document.texts("div") if "Lost rows" in text]
    assert box == ["Odd sides Lost rows"]
    assert section_of(document, "Notes") == "Notes a preset"


def test_candidates_stand_in_the_order_of_their_steps_each_with_its_colour():
    made = records.comparison()
    made = replace(made, candidates=made.candidates[::-1], phases=(swapped(made.phases[0]),))
    source = render_comparison(made)
    heads = next(t for t in Parsed(source).texts("thead") if t.startswith("Metric"))
    assert heads.startswith("Metric Baseline: eager cudagraph breakable")  # the fastest first
    rows = [t for t in Parsed(source).texts("tr") if t.startswith("Launches per step")]
    assert rows[0].startswith("Launches per step 3828 1 ")


def swapped(phase):
    """The phase with its two candidates the other way round."""
    rows = tuple(replace(r, cells=(r.cells[0], r.cells[2], r.cells[1])) for r in phase.rows)
    return replace(phase, rows=rows)
