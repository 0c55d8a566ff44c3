"""The first sentences of a comparison, and its verdict in a heading: the answer.

Like stands beside like: times without a profiler with the idle that they correct, or traced times
with traced idle. What makes a speed-up worthless stands before it.
"""

from __future__ import annotations

from dataclasses import dataclass

from launchlens.catalogue import by_name, of_role
from launchlens.records.comparison import Comparison, PhaseComparison, Row, Side
from launchlens.records.figures import Verdict
from launchlens.records.metric import Metric, Role
from launchlens.report.benchmarks import requests_beside
from launchlens.report.changes import brief_change
from launchlens.report.findings import describe_equivalence
from launchlens.report.phases import compared_phases
from launchlens.report.ranking import fastest
from launchlens.report.side_cells import judged, row_of, value_of
from launchlens.report.words import LONG, arrow, plain, step_words, value

_DOUBTS: dict[Verdict, str] = {"inconclusive": ", inconclusive", "same": ", same"}


@dataclass(frozen=True, slots=True)
class _Step:
    """A side's step beside the baseline's: ``speed`` is its change, "" of one alone."""

    metric: Metric
    row: Row
    speed: str
    doubt: str


def comparison_sentences(comparison: Comparison) -> tuple[str, ...]:
    """The answer, then what failed and what was lost; of a side alone a sentence about it."""
    sides = comparison.sides
    if not comparison.phases:
        return ("No steps were measured.",)
    if not compared_phases(comparison):
        said = ["No phase is in the baseline and a candidate: nothing can be compared."]
    elif len(sides) > 2 and fastest(comparison) is not None:
        said = [_fastest(comparison)]
        said += [f"{plain(s.label)} {failed_words(s)}" for s in sides if s.facts.failure]
    else:
        last = len(sides)
        baseline = plain(comparison.baseline.short)
        said = [f"No candidate is known to be faster than {baseline}."] if last > 2 else []
        chosen = range(1, last) if last > 1 else (0,)
        said += [_sentence(comparison, i) for i in chosen]
        ran = [sides[i] for i in chosen if is_measured(comparison, i)]
        said += [f"{plain(s.label)} {failed_words(s)}" for s in ran if s.facts.failure]
    said += [f"{plain(side.label)}: {plain(loss, LONG)}" for side in sides for loss in side.losses]
    return tuple(said)


def failed_words(side: Side) -> str:
    """Why a variant failed, behind its name."""
    failure = side.facts.failure
    if failure is None:
        return ""
    at = f" at {plain(failure.source)}" if failure.source else ""
    said = f"{failure.words}{at}: {plain(failure.error_line, LONG)}"
    more = [plain(failure.hint, LONG)] if failure.hint else []
    more += [f"Its output is in {plain(failure.log)}."] if failure.log else []
    return " ".join([said if said.endswith(".") or not more else f"{said}.", *more])


def _trouble(side: Side) -> str:
    """What is wrong with what a side computes, in sentences before any speed-up; else ""."""
    said = [f"{plain(finding.title)}; " for finding in side.findings if finding.replays_wrong][:1]
    if wrong := [describe_equivalence(one) for one in side.facts.equivalence if one.is_wrong]:
        said.append(f"outputs differ by more than rounding ({'; '.join(wrong)}); ")
    return "".join(said)


def _fastest(comparison: Comparison) -> str:
    """Which of several candidates is the fastest, and by how much."""
    index = fastest(comparison)
    assert index is not None
    phases = compared_phases(comparison)
    start = "".join(
        f"{plain(side.short)}: {said}" for side in comparison.candidates if (said := _trouble(side))
    )
    told = []
    for phase in phases:
        step = step_beside(phase, index)
        if step is None or not both_known(step.row, index):
            continue
        before, after = (value(value_of(step.row, step.row.cells[i])) for i in (0, index))
        named = f"{step_words(phase.phase)} " if len(phases) > 1 else ""
        baseline = f"({plain(comparison.baseline.short)}: {before})"
        basis = "" if step.metric.untraced else ", traced"
        told.append(f"{named}{after}, {step.speed}{step.doubt} {baseline}{basis}")
    told += [served] if (served := requests_beside(comparison, index)) else []
    return f"{start}Fastest: {plain(comparison.sides[index].short)}, {'; '.join(told)}"


def _sentence(comparison: Comparison, index: int) -> str:
    """A side beside the baseline, or one alone: its step, idle and launches."""
    side = comparison.sides[index]
    start = plain(comparison.baseline.label) + (f" → {plain(side.short)}: " if index else ": ")
    start += _trouble(side)
    if not is_measured(comparison, index):
        return start + failed_words(side)
    phases = compared_phases(comparison)
    first, *others = phases
    alike = sum(phase.phase == first.phase for phase in phases)
    group = next((g for g in first.groups if g != "-"), "-")
    where = f" ({group}; first of {alike})" if alike > 1 else ""
    said = [requests_beside(comparison, index), *_phase_words(first, index, where)]
    said += [_further(phase, index) for phase in others if phase.phase != first.phase]
    return start + "; ".join(part for part in said if part)


def _phase_words(phase: PhaseComparison, index: int, where: str) -> list[str]:
    """Step and idle of one kind, launches, and what is unknown of these."""
    step = step_beside(phase, index)
    told, unknown = [], []
    if step is None or not _any_known(step.row, index):
        unknown.append(f"{step_words(phase.phase)}{where} time")
    else:
        noun = step.metric.noun or step_words(phase.phase)
        speed = f", {step.speed}{step.doubt}" if step.speed else ""
        told.append(f"{noun}{where} {arrow_between(step.row, index)}{speed}")
    untraced = step is not None and step.metric.untraced
    idle = _row_of_basis(phase, "idle", untraced=untraced)
    apart = []
    if idle is not None and idle.cells[index].verdict == "incomparable":
        apart.append(f"{by_name()[idle.metric].noun} not comparable")
    elif idle is not None and _any_known(idle, index):
        told.append(f"{by_name()[idle.metric].noun} {arrow_between(idle, index)}")
    elif not any(
        _any_known(row, index) for m in of_role("idle") if (row := row_of(phase, m.name))
    ):  # what is known of another kind is not like these times
        unknown.append(of_role("idle")[0].noun)
    basis = f" ({'untraced' if untraced else 'traced'})" if told else ""
    said = [", ".join(told) + basis]
    (launches,) = of_role("launches")
    row = row_of(phase, launches.name)
    if row is not None and _any_known(row, index):
        said.append(f"{launches.title} {arrow_between(row, index)}")
    else:
        unknown.append(launches.title)
    return said + apart + ([" and ".join(unknown) + " unknown"] if unknown else [])


def _further(phase: PhaseComparison, index: int) -> str:
    """A further phase: its step."""
    step = step_beside(phase, index)
    if step is None or not both_known(step.row, index):
        return ""
    noun = step.metric.noun or step_words(phase.phase)
    speed = f", {step.speed}{step.doubt}" if step.speed else ""
    return f"{noun} {arrow_between(step.row, index)}{speed}"


def step_beside(phase: PhaseComparison, index: int) -> _Step | None:
    """The time of a step that both sides have, else that either has; untraced if it can be."""
    rows = [(m, row) for m in of_role("step") if (row := row_of(phase, m.name))]
    found = [(m, row) for m, row in rows if both_known(row, index)]
    found += [(m, row) for m, row in rows if _any_known(row, index)]
    if not found:
        return None
    metric, row = found[0]
    cell = row.cells[index]
    speed = brief_change(judged(row, cell)) if index else ""
    return _Step(metric, row, speed, _DOUBTS.get(cell.verdict, "") if speed else "")


def _row_of_basis(phase: PhaseComparison, role: Role, *, untraced: bool) -> Row | None:
    """A role's row of the traced metric, or of that which rests on times without a profiler."""
    names = [metric.name for metric in of_role(role) if metric.untraced is untraced]
    return next((row for name in names if (row := row_of(phase, name))), None)


def is_measured(comparison: Comparison, index: int) -> bool:
    """Whether there are any figures of a side's steps, though it may have failed."""
    side = comparison.sides[index]
    traced = any(phase.steps[index] for phase in comparison.phases)
    return side.facts.failure is None or traced or bool(side.facts.untraced)


def both_known(row: Row, index: int) -> bool:
    """Whether the baseline and a side have a figure."""
    return all(row.cells[i].value is not None for i in {0, index})


def _any_known(row: Row, index: int) -> bool:
    """Whether there is a figure of either side, so that an arrow says something."""
    return any(row.cells[i].value is not None for i in {0, index})


def arrow_between(row: Row, index: int) -> str:
    """The baseline's figure and a side's, or of one alone its own."""
    before, after = (value_of(row, row.cells[i]) for i in (0, index))
    return value(before) if index == 0 else arrow(before, after)
