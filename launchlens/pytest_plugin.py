"""pytest plug-in: budgets held on saved traces, in a CI that has no GPU.

    def test_prefill_stays_captured(launchlens_budget):
        launchlens_budget("traces/qwen3-cudagraph.sqlite.xz")

Like `cli`, it joins the rooms and tells their errors in a sentence; everything is imported when the
fixture is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from launchlens.project_file import PROJECT_FILE
from launchlens.records.limits import LimitResult

BUDGET_FILE = PROJECT_FILE


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the ini option that names the budget file."""
    parser.addini(
        "launchlens_budget",
        f"Budget file of the launchlens_budget fixture, below the root (default: {BUDGET_FILE}).",
        default=BUDGET_FILE,
    )


@dataclass(frozen=True, slots=True)
class BudgetChecker:
    """What the fixture gives: call it with a trace.

    Relative paths start from ``root``; ``file`` is the budget that is used when none is named.
    """

    root: Path
    file: Path

    def __call__(
        self,
        trace: str | Path,
        *,
        budget: str | Path | None = None,
        baseline: str | Path | None = None,
        model: str | None = None,
        phase: str = "all",
        skip: int = 0,
        step: str | None = None,
    ) -> Sequence[LimitResult]:
        """Fails the test unless every limit for this trace is known to hold; returns the results.

        What cannot be read, and a trace that no limit is for, fail it with a sentence too.

        Args:
            trace: an nsys export, plain or compressed, or a report that is exported first.
            budget: another budget file than the configured one.
            baseline: an earlier trace, to say what changed when a limit is broken.
            model: the model's name, matched against the budget's patterns beside the trace's.
            phase: only this phase.
            skip: first steps of each group that are left out.
            step: regular expression that names steps.
        """
        __tracebackhide__ = True
        from launchlens.errors import LaunchlensError
        from launchlens.workflow.budgets import hold_budget
        from launchlens.workflow.load import Choices

        file = self._path(budget or self.file)
        earlier = self._path(baseline) if baseline else None
        try:
            (held,) = hold_budget(
                file, [self._path(trace)], Choices(phase, step, skip), baseline=earlier, model=model
            ).traces
        except LaunchlensError as error:
            pytest.fail(str(error), pytrace=False)
        if not held.held:
            pytest.fail(_describe(file, trace, held.results), pytrace=False)
        return held.results

    def _path(self, path: str | Path) -> Path:
        return self.root / path  # an absolute path stays as it is


@pytest.fixture(scope="session")
def launchlens_budget(request: pytest.FixtureRequest) -> BudgetChecker:
    """Holds a saved trace against the limits of a budget file (see `BudgetChecker`)."""
    file = Path(str(request.config.getini("launchlens_budget")))
    return BudgetChecker(request.config.rootpath, file)


def _describe(budget: Path, trace: str | Path, results: Sequence[LimitResult]) -> str:
    from launchlens.report.limits import describe_limit

    broken = [f"  {describe_limit(result)}" for result in results if not result.passed]
    return "\n".join([f"{trace} breaks {len(broken)} limit(s) of {budget}:", *broken])
