"""What the findings of blockers, and other questions about a step, would save."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from launchlens.errors import UsageError
from launchlens.records.figures import Finding
from launchlens.workflow.forecasting.steps import steps_of, traced_step, why_not
from launchlens.workflow.forecasting.wanted import Wanted
from launchlens.workflow.load import Loaded

if TYPE_CHECKING:
    from launchlens.forecast.case import Change
    from launchlens.forecast.step_graph import StepGraph
    from launchlens.records.columns import IntColumn

_STEPS = 3


def with_savings(
    loaded: Loaded, findings: Sequence[Finding], calls: Sequence[IntColumn]
) -> tuple[Finding, ...]:
    """The findings with what each would save alone; of those alike in certainty the dearest first.

    Args:
        loaded: the trace that they were found in.
        findings: what was found.
        calls: API rows of each finding's occurrences; empty where these are not known.
    """
    from launchlens.forecast.what_if import saved_without

    graphs: dict[str, list[StepGraph]] = {}
    told = []
    for finding, rows in zip(findings, calls, strict=True):
        phase = finding.phase or "unknown"
        if rows.size and phase not in graphs:
            graphs[phase] = _untraced_graphs(loaded, phase)
        saved = saved_without(graphs[phase], rows) if rows.size else None
        told.append(replace(finding, saved_ns=saved))
    certain = list(dict.fromkeys(f.confidence for f in told))  # they come most certain first
    return tuple(sorted(told, key=lambda f: (certain.index(f.confidence), -(f.saved_ns or 0))))


def _untraced_graphs(loaded: Loaded, phase: str) -> list[StepGraph]:
    """Some steps of a phase, tracing taken off; none where they cannot be simulated."""
    from launchlens.forecast.changes import without_tracing
    from launchlens.forecast.constants import choose
    from launchlens.forecast.step_graph import TraceIndex
    from launchlens.store import calibration_file, runs_root

    info = loaded.analysis.trace
    constants = choose(info.gpu, info.format, calibration_file(runs_root()))
    index = TraceIndex(loaded.trace, loaded.measured.calls)
    for group in loaded.analysis.summary:
        steps = steps_of(loaded, group)
        if group.phase != phase or why_not(loaded, group, steps):
            continue
        chosen = steps[:: max(len(steps) // _STEPS, 1)][:_STEPS]
        traced = (traced_step(loaded, index, s, constants, Wanted()) for s in chosen)
        return [without_tracing(t.graph, constants.tracing_ns.value) for t in traced]
    return []


def questions(loaded: Loaded, wanted: Wanted) -> list[tuple[str, Change]]:
    """The changes that options ask for, with their names.

    Raises:
        UsageError: a rule that there is not, or that finds nothing.
    """
    from launchlens.blockers import calls_of_rule
    from launchlens.forecast.what_if import ask_faster, ask_without
    from launchlens.metrics import captured_parts

    asked = []
    steps = captured_parts(loaded.trace, loaded.analysis.steps)[0] if wanted.without else []
    for rule in wanted.without:
        rows = calls_of_rule(loaded.trace, steps, rule)
        if not rows.size:
            raise UsageError(
                f"--without {rule}: the rule finds no calls in these steps that could be gone.",
                hint="launchlens blockers lists what it finds.",
            )
        asked.append((f"without {rule}", ask_without(rows)))
    if wanted.idle_host is not None:
        where = f" in {wanted.within}" if wanted.within else ""
        name = f"with {wanted.idle_host:g} of the CPU's time{where}"
        asked.append((name, ask_faster(wanted.idle_host)))
    return asked
