"""Several traces: a line for each phase of each, and how to compare them."""

from __future__ import annotations

from dataclasses import replace

from handmade import analysis, group

from launchlens.records.figures import Analyses
from launchlens.render import write
from launchlens.report.traces import traces_document


def document(*analyses, named=("a.sqlite", "b.sqlite")):
    return traces_document(Analyses("launchlens.analyses/1", analyses), named)


def table(*analyses):
    (shown,) = (b for b in document(*analyses).sections[0].blocks if hasattr(b, "rows"))
    return shown


def names(*analyses):
    return [row.cells[0].text for row in table(*analyses).rows]


def test_a_line_for_each_phase_of_each_trace():
    eager = analysis((group(), group("decode")), label="eager")
    captured = analysis(label="captured")
    rows = [(row.cells[0].text, row.cells[1]) for row in table(eager, captured).rows]
    assert rows == [("eager", "prefill"), ("eager", "decode"), ("captured", "prefill")]


def test_key_figures_first_the_rest_with_details():
    columns = table(analysis()).columns
    main = [column.title for column in columns if column.prominence == "main"]
    assert main == ["trace", "phase", "launches", "step", "idle", "bound"]
    more = [column.title for column in columns if column.prominence == "more"]
    assert more == ["steps", "kernels", "busy"]


def test_processes_that_share_a_phase_are_told():
    rows = table(analysis((group(), group(pid=2)))).rows
    assert [row.cells[1] for row in rows] == [
        "prefill (process 1, device 0)",
        "prefill (process 2, device 0)",
    ]


def test_traces_of_one_name_are_told_by_their_files_then_numbered():
    one, other = analysis(label="run"), analysis(label="run")
    other = replace(other, trace=replace(other.trace, file="other.sqlite"))
    assert names(one, other) == [one.trace.file, "other.sqlite"]
    assert names(one, one) == [f"1: {one.trace.file}", f"2: {one.trace.file}"]


def test_warnings_say_whose_they_are():
    doubted = replace(analysis(label="odd"), notes=("the clocks disagree.",))
    assert "odd: the clocks disagree." in document(analysis(), doubted).cautions


def test_the_command_that_compares_them_can_be_copied():
    text = write(document(analysis(), analysis(), named=("my a.sqlite", "b.sqlite")), "terminal")
    assert "launchlens diff 'my a.sqlite' b.sqlite\n" in text


def test_rows_of_data_name_their_trace():
    text = write(document(analysis(label="a", steps=1), analysis(label="b", steps=2)), "csv")
    assert [line.partition(",")[0] for line in text.splitlines()] == ["trace", "a", "b", "b"]
