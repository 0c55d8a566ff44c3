"""Budgets held on traces: by path or reference, with blockers if a limit asks."""

from __future__ import annotations

from pathlib import Path

import pytest

from launchlens.errors import TraceError
from launchlens.workflow.budgets import hold_budget
from launchlens.workflow.load import Choices

TRACES = Path(__file__).parents[2] / "traces"
GEMMA = TRACES / "gemma-3n-e4b-eager.nsys2025.3.sqlite.xz"


def hold(tmp_path, limit, named, **how):
    file = tmp_path / "budget.toml"
    file.write_text(f'[models."*"]\n{limit}\n')
    return hold_budget(file, [named], Choices(), **how)


@pytest.mark.parametrize("named", [GEMMA, str(GEMMA)], ids=["path", "reference"])
def test_a_path_and_its_name_are_the_same_trace(tmp_path, named):
    report = hold(tmp_path, "blockers = 0", named)
    assert not report.held
    (trace,) = report.traces
    assert (trace.label, trace.held) == ("gemma-3n-e4b-eager", False)
    # 10 copies of 4 bytes and 6 of 2 bytes (the trace's card).
    assert [(r.metric, r.value) for r in trace.results] == [("blockers", 16)]


def test_a_path_is_never_taken_for_a_run(tmp_path):
    with pytest.raises(TraceError, match=r"no such file\. Check"):
        hold(tmp_path, "launches = 1", tmp_path / "latest")
    with pytest.raises(TraceError, match="no such file, and no stored run in"):
        hold(tmp_path, "launches = 1", "nothing:eager", runs=tmp_path)


def test_the_report_is_held_if_all_traces_hold(tmp_path):
    assert hold(tmp_path, "launches = 100000", GEMMA).held
