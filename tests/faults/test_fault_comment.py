"""A report from elsewhere in `comment`: escaped, worked out again, refused where absurd."""

from __future__ import annotations

import json
import lzma
import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

REPORT = Path(__file__).parent / "data/report-with-markdown.json.xz"
DRY = ("--repo", "o/r", "--pr", "1", "--dry-run")
STRANGE = (
    "\n# Heading\n- @octocat ![i](https://evil.example/t.png) <img src=x> ```mermaid\n::error::"
)


@pytest.fixture
def report():
    return json.loads(lzma.decompress(REPORT.read_bytes()))


@pytest.fixture
def comment(cli, tmp_path):
    """The comment on a report: exit code, what would be posted, standard error."""

    def write(report, *options):
        path = tmp_path / "report.json"
        path.write_text(report if isinstance(report, str) else json.dumps(report))
        return cli("comment", path, *DRY, *options)

    return write


def row_of(report, metric):
    return next(row for row in report["phases"][0]["rows"] if row["metric"] == metric)


def elements(markdown):
    return set(re.findall(r"<(\w+)", MarkdownIt("gfm-like", {"linkify": False}).render(markdown)))


def test_the_title_with_markdown_in_it_is_text(comment, report):
    code, body, err = comment(report)
    assert (code, err) == (0, "")
    assert not {"img", "h1", "h2", "a"} & elements(body)
    assert "@octocat" not in body
    assert "| launches per step | 3828 | 1 |" in body  # as the metric is called


@pytest.mark.parametrize("place", ["label", "title", "notes", "dtype", "difference", "row", "log"])
def test_text_anywhere_in_it_is_text(comment, report, place):
    side = report["candidates"][0]
    if place == "label":
        side["label"] = side["short"] = STRANGE
    elif place == "title":
        report["title"] = STRANGE
    elif place == "notes":
        report["notes"] = [STRANGE]
    elif place == "dtype":
        side["facts"]["dtype"] = side["facts"]["commit"] = STRANGE
    elif place == "difference":
        report["differences"] = [{"what": STRANGE, "values": [STRANGE, "x"], "serious": True}]
    elif place == "row":
        row_of(report, "launches")["note"] = row_of(report, "launches")["cells"][0]["note"] = (
            STRANGE
        )
    else:
        failure = {"error_type": STRANGE, "error_line": STRANGE, "source": STRANGE}
        side["facts"]["failure"] = failure | {"during": "capture", "hint": STRANGE, "log": STRANGE}
    code, body, err = comment(report)
    assert code == 0, err
    assert not {"img", "h1", "h2", "a", "ol"} & elements(body)
    assert "@octocat" not in re.sub("<code>.*?</code>", "", body)
    assert not any(line.lstrip().startswith("::") for line in body.splitlines())


def test_a_forged_change_is_worked_out_again(comment, report):
    row = row_of(report, "sync_calls")
    base, candidate = row["cells"]
    candidate |= {"value": 30, "ci_low": 30, "ci_high": 30}  # ten times the baseline's 3
    candidate |= {"change": -2.0, "relative": -0.67, "verdict": "better"}
    row["direction"] = 1
    code, body, _ = comment(report)
    assert code == 0
    assert base["value"] == 3
    assert "| sync calls | 3 | 30 | +27 (+900.0%) | **worse** |" in body


def test_a_forged_change_does_not_pass_a_threshold(comment, report):
    candidate = row_of(report, "sync_calls")["cells"][1]
    candidate |= {"value": 30, "change": -2.0, "relative": -0.67}
    code, body, err = comment(report, "--fail-on", "sync_calls>+0")
    assert code == 3
    assert "- ❌ FAILED" in body
    assert "from 3 to 30" in err


@pytest.mark.parametrize(
    "number", ["NaN", "Infinity", "-Infinity", "1e999", "1e40", "9" * 30, "-1e300"]
)
@pytest.mark.parametrize("field", ["value", "ci_high", "change"])
def test_numbers_that_no_figure_has_are_refused(comment, report, number, field):
    row_of(report, "launches")["cells"][1][field] = "NUMBER"
    text = json.dumps(report).replace('"NUMBER"', number)
    code, body, err = comment(text, "--fail-on", "launches>+0")
    assert (code, body) == (1, "")
    assert re.fullmatch(
        rf"launchlens: \S+report\.json is not a launchlens report: {number[:40]} is no figure\.\n",
        err,
    )


@pytest.mark.parametrize("damage", ["cells", "groups", "steps", "differences", "histogram"])
def test_what_does_not_belong_together_is_refused(comment, report, damage):
    phase = report["phases"][0]
    if damage == "cells":
        del row_of(report, "launches")["cells"][1]
    elif damage == "differences":
        report["differences"] = [{"what": "GPU", "values": ["H200"], "serious": True}]
    elif damage == "histogram":
        del report["baseline"]["gap_histogram"][2:]
    else:
        phase[damage] = phase[damage][:1]
    code, body, err = comment(report)
    assert (code, body) == (1, "")
    assert len(err.splitlines()) == 1
    assert "is damaged" in err


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, "{}", "[]", "1", '"x"', '{"schema": ["launchlens.comparison/1"]}', "", "\x00"],
)
def test_what_is_no_report_is_refused(comment, text):
    code, body, err = comment(text)
    assert (code, body) == (1, "")
    assert len(err.splitlines()) == 1
