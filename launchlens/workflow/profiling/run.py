"""A whole run of ``launchlens profile``: into its folder, then compared."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from launchlens import capture
from launchlens.capture import Nsys
from launchlens.comparison import side_figures
from launchlens.errors import HarnessError
from launchlens.private import without_private
from launchlens.records.comparison import Comparison
from launchlens.render import write
from launchlens.report.comparison import comparison_document
from launchlens.store import RunFolder, create_run, runs_root
from launchlens.streams import note, say
from launchlens.workflow.comparisons import compare_sides
from launchlens.workflow.profiling.execute import Execution
from launchlens.workflow.profiling.outcome import Outcome
from launchlens.workflow.profiling.plan import Plan
from launchlens.workflow.profiling.progress import Progress
from launchlens.workflow.sides import LoadedSide, with_blockers


def run_profile(
    plan: Plan,
    nsys: Path | None,
    runs: Path | None,
    tell: Callable[[Comparison, Sequence[LoadedSide]], None],
    *,
    blockers: bool = False,
) -> Comparison:
    """Run all variants into a run folder, and compare them; one alone has figures only.

    ``tell`` is called with the comparison and its sides, also if it holds untraced times alone;
    ``nsys`` and ``runs`` are as the options name them.

    Raises:
        CaptureError: no nsys.
        HarnessError: no variant could be traced; untraced times of several are told before.
        StoreError: the run's folder cannot be written.
    """
    found = capture.find_nsys(nsys)
    environment = describe_environment(found)
    progress = Progress(plan.children)
    arguments = {"command": "profile"} | plan.arguments()
    with new_run(runs, plan.spec.model, arguments, environment, progress) as run:
        outcomes = Execution(plan, run, found, progress, environment).run_variants()
        untraced = _nothing_traced(outcomes)
        if untraced and sum(bool(o.facts.untraced) for o in outcomes) < _COMPARABLE:
            raise untraced
        title = plan.spec.model.rstrip("/").rpartition("/")[2]
        sides = [outcome.side(title) for outcome in outcomes]
        for outcome, side in zip(outcomes, sides, strict=True):
            run.save_side_figures(outcome.variant, side_figures(side.input))
        if blockers:
            sides = [side if side.input.findings else with_blockers(side) for side in sides]
        comparison = without_private(compare_sides(sides, title=title, blockers=blockers))
        report = write(comparison_document(comparison), "markdown")
        (run.folder / "report.md").write_text(report, "utf-8")
        tell(comparison, sides)
        if untraced:
            raise untraced
    return comparison


@contextlib.contextmanager
def new_run(
    runs: Path | None,
    model: str,
    arguments: dict[str, Any],
    environment: dict[str, Any],
    progress: Progress,
) -> Iterator[RunFolder]:
    """A run's folder; says at the end where it is, or when interrupted that it is incomplete."""
    root = runs_root(runs)
    with create_run(root, model=model, arguments=arguments, environment=environment) as run:
        try:
            yield run
        except KeyboardInterrupt:
            say(f"interrupted: run {run.id} in {run.folder} is incomplete")
            raise
    note(f"run {run.id} in {run.folder} ({progress.seconds:.0f} s)")


def describe_environment(nsys: Nsys) -> dict[str, Any]:
    """What is known before anything runs, for the run's row and for reports."""
    environment: dict[str, Any] = {"nsys": nsys.version_text}
    if gpus := capture.gpu_facts():
        environment |= {"gpu": gpus[0].name, "driver": gpus[0].driver}
    state = capture.git_state(Path.cwd())
    if state is not None and state.commit is not None:
        environment |= {"git_commit": state.commit, "git_dirty": state.dirty}
    return environment


_COMPARABLE = 2  # variants with untraced times


def _nothing_traced(outcomes: list[Outcome]) -> HarnessError | None:
    """The first failure of a run of which nothing could be traced: it answers half at most."""
    if any(outcome.traces for outcome in outcomes):
        return None
    variant, failure = next((o.variant, o.facts.failure) for o in outcomes if o.facts.failure)
    assert failure is not None
    said = failure.error_line if failure.error_line.endswith(".") else f"{failure.error_line}."
    hint = failure.hint or (f"The program's output is in {failure.log}." if failure.log else None)
    return HarnessError(f"{variant} {failure.words}: {said}", hint=hint)
