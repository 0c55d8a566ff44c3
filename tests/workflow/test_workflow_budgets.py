"""What a budget is held against: figures under the side's name, with blockers if a limit asks."""

from __future__ import annotations

from pathlib import Path

import pytest

from launchlens.errors import TraceError
from launchlens.limits.budget import read_budget
from launchlens.workflow.budgets import analyze_for
from launchlens.workflow.load import Choices

TRACES = Path(__file__).parents[2] / "traces"
GEMMA = TRACES / "gemma-3n-e4b-eager.nsys2025.3.sqlite.xz"


def budget(tmp_path, limit):
    file = tmp_path / "budget.toml"
    file.write_text(f'[models."*"]\n{limit}\n')
    return read_budget(file)


@pytest.mark.parametrize("named", [GEMMA, str(GEMMA)], ids=["path", "reference"])
def test_blockers_are_found_only_for_a_limit_on_them(tmp_path, named):
    for limit, found in (("blockers = 0", True), ("launches = 1", False)):
        analysis, facts = analyze_for(budget(tmp_path, limit), named, Choices())
        assert bool(analysis.findings) is found
        assert (analysis.trace.label, facts.model) == ("gemma-3n-e4b-eager", None)


def test_a_path_is_never_taken_for_a_run(tmp_path):
    limits = budget(tmp_path, "launches = 1")
    with pytest.raises(TraceError, match=r"no such file\. Check"):
        analyze_for(limits, tmp_path / "latest", Choices())
    with pytest.raises(TraceError, match="no such file, and no stored run in"):
        analyze_for(limits, "nothing:eager", Choices(), tmp_path)
