"""The verdict of a comparison as a heading, which comments and Markdown open with."""

from __future__ import annotations

from launchlens.catalogue import of_role
from launchlens.records.comparison import Comparison, PhaseComparison, Side
from launchlens.records.variant import Equivalence
from launchlens.report.benchmarks import requests_beside
from launchlens.report.comparison_first import (
    arrow_between,
    both_known,
    is_measured,
    step_beside,
)
from launchlens.report.phases import compared_phases
from launchlens.report.ranking import fastest
from launchlens.report.side_cells import row_of
from launchlens.report.words import plain, step_words


def verdict_title(comparison: Comparison) -> str:
    """The answer as a heading: "Prefill step 3.9× faster · 1569 → 1 launches · outputs identical".

    "" where nothing is compared.
    """
    phases, candidates = compared_phases(comparison), comparison.candidates
    if not candidates:
        return ""
    several = len(candidates) > 1
    index = fastest(comparison) if several else 1
    parts = [said for side in candidates if (said := _wrong_in_short(side, named=several))]
    named = several and bool(parts)  # a name keeps its first letter
    failed = [said for side in candidates if (said := _failed_in_short(side))]
    if not phases:
        parts.append("nothing can be compared")
    elif index is None:
        parts.append(f"no candidate is known to be faster than {plain(comparison.baseline.short)}")
    elif is_measured(comparison, index):
        timed = ", ".join(said for phase in phases if (said := _timed(phase, index)))
        who = f"Fastest: {plain(comparison.sides[index].short)}" if several else ""
        parts += [", ".join(part for part in (who, timed) if part)]
        parts.append(requests_beside(comparison, index, brief=True))
        (launches,) = of_role("launches")
        if (row := row_of(phases[0], launches.name)) and both_known(row, index):
            parts.append(f"{arrow_between(row, index)} {launches.noun}")
        parts.append(_outputs(comparison.sides[index].facts.equivalence))
    said = " · ".join(part for part in (*parts, *failed) if part)
    return said if named or not any(parts) else said[:1].upper() + said[1:]


def _wrong_in_short(side: Side, *, named: bool) -> str:
    """What a heading says before any speed-up; "" where nothing is known to be wrong."""
    who = f"{plain(side.short)}: " if named else ""
    if any(finding.replays_wrong for finding in side.findings):
        return f"{who}replays go wrong"
    wrong = any(outputs.is_wrong for outputs in side.facts.equivalence)
    return f"{who}outputs differ by more than rounding" if wrong else ""


def _failed_in_short(side: Side) -> str:
    if (failure := side.facts.failure) is None:
        return ""
    at = f" at {plain(failure.source)}" if failure.source else ""
    return f"{plain(side.short)} {failure.words}{at}"


def _timed(phase: PhaseComparison, index: int) -> str:
    """A phase's step in a heading, and its change."""
    step = step_beside(phase, index)
    if step is None or not both_known(step.row, index):
        return ""
    noun = step.metric.noun or step_words(phase.phase)
    if step.row.cells[index].verdict == "same":
        return f"{noun} unchanged"
    doubt = ", inconclusive" if step.row.cells[index].verdict == "inconclusive" else ""
    basis = "" if step.metric.untraced else " (traced)"
    return f"{noun} {step.speed or arrow_between(step.row, index)}{doubt}{basis}"


def _outputs(found: tuple[Equivalence, ...]) -> str:
    """What a heading says of outputs that were compared and are right, as far as one knows."""
    if not found or any(outputs.is_wrong for outputs in found):
        return ""
    if all(outputs.identical for outputs in found):
        return "outputs identical"
    if all(outputs.identical or outputs.tolerance is not None for outputs in found):
        return "outputs equal but for rounding"
    known = [outputs.max_abs_diff for outputs in found]
    largest = [number for number in known if number is not None]
    return f"outputs differ by up to {max(largest):.3g}" if len(largest) == len(known) else ""
