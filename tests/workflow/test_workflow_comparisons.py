"""Comparisons from what is named; whether blockers were looked for, also in reports of before."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from launchlens.errors import UsageError
from launchlens.records.blocking import SEARCHED
from launchlens.records.commit import Commit
from launchlens.workflow.comparisons import compare_sides, load_comparison
from launchlens.workflow.load import Choices
from launchlens.workflow.sides import load_sides

TRACES = Path(__file__).parents[2] / "traces"
GEMMA = str(TRACES / "gemma-3n-e4b-eager.nsys2025.3.sqlite.xz")
NODE = str(TRACES / "qwen3-0.6b-cudagraph.node.nsys2025.3.sqlite.xz")


def to_json(comparison):
    from launchlens.serialize import to_json

    return to_json(comparison)


@pytest.fixture(scope="module")
def sides():
    return load_sides([NODE, GEMMA], Choices(), None, blockers=True)


def test_a_report_says_that_blockers_were_looked_for(sides):
    searched, unsearched = (compare_sides(sides, blockers=asked) for asked in (True, False))
    assert searched.blockers_searched
    assert searched.notes == (*unsearched.notes, SEARCHED)
    assert not unsearched.blockers_searched
    assert "pageable-htod" in {f.rule for f in searched.candidates[0].findings}


@pytest.mark.parametrize("has_field", [True, False], ids=["now", "before there was a field"])
def test_a_report_read_again_tells_it_still(sides, tmp_path, has_field):
    for asked in (True, False):
        report = json.loads(to_json(compare_sides(sides, blockers=asked)))
        assert report["blockers_searched"] is asked
        if not has_field:
            del report["blockers_searched"]
        file = tmp_path / "report.json"
        file.write_text(json.dumps(report))
        if asked:
            assert load_comparison([str(file)], Choices(), None, blockers=True).blockers_searched
        else:
            with pytest.raises(UsageError, match="does not tell whether capture blockers"):
                load_comparison([str(file)], Choices(), None, blockers=True)
            assert not load_comparison([str(file)], Choices(), None).blockers_searched


@pytest.mark.parametrize(
    ("recorded", "named", "same"),
    [
        ("abc123def456", "abc123def4567890abc123def4567890abc123de", True),
        ("abc123def456-dirty", "abc123d", True),
        ("abc123def456", "abc123", False),  # too short to mean one commit
        ("abc123def456", "bbc123def456", False),
    ],
)
def test_hashes_of_one_commit(recorded, named, same):
    assert Commit.described(recorded).is_same(named) is same
