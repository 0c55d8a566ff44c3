"""The section on capture: variants that failed, and what stands in the way of a CUDA graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from launchlens.records.comparison import Side
from launchlens.records.figures import Finding
from launchlens.records.measured import Failure
from launchlens.render.format import format_value
from launchlens.render.html_page import FindingView, SectionView

_TITLE = "What stands in the way of a CUDA graph"
_NOT_SEARCHED = (
    "A capture stops at the first call that it does not allow. What would have stopped it next was "
    "not looked for: launchlens blockers does."
)
_CHIPS = {"confirmed": "worse", "likely": "worse", "cleared": "better"}
_MEANINGS = {
    "confirmed": "a capture failed at this line",
    "likely": "this usually blocks a capture",
    "suspected": "it may block a capture",
    "cleared": "a capture went past it",
}


def blockers_section(sides: Sequence[Side]) -> SectionView | None:
    """Failed variants first, each with its own blockers; then those of the other sides.

    Returns:
        None where no variant failed and no side has findings.
    """
    views: list[FindingView] = []
    for side in sorted(sides, key=lambda side: side.facts.failure is None):
        if side.facts.failure:
            views.append(_failure_view(side.short, side.facts.failure))
        views += [finding_view(finding, side.short) for finding in side.findings]
    if not views:
        return None
    found = [finding for side in sides for finding in side.findings]
    failures = [side.facts.failure for side in sides if side.facts.failure]
    if found:
        return SectionView("blockers", _TITLE, (_counted(found),), findings=tuple(views))
    if any(failure.during == "capture" for failure in failures):
        return SectionView("blockers", _TITLE, (_NOT_SEARCHED,), findings=tuple(views))
    return SectionView("blockers", "What failed", findings=tuple(views))


def findings_section(findings: Sequence[Finding]) -> SectionView:
    """Blockers of one trace."""
    views = tuple(finding_view(finding) for finding in findings)
    return SectionView("blockers", _TITLE, (_counted(findings),), findings=views)


def finding_view(finding: Finding, side: str = "") -> FindingView:
    """A capture blocker as text."""
    same = "the same in every step" if finding.stable else "not the same in all steps"
    size = None if finding.bytes is None else f"{format_value(finding.bytes, 'bytes')} each"
    facts = [
        f"{format_value(finding.count_per_step, 'count')} in each step, {same}",
        finding.kinds,
        size,
        finding.host_ns is not None and f"host time {format_value(finding.host_ns, 'ns')}",
        finding.idle_ns is not None and f"GPU idle {format_value(finding.idle_ns, 'ns')}",
        finding.position,
        f"rule {finding.rule}",
    ]
    return FindingView(
        title=f"{side}: {finding.title}" if side else finding.title,
        confidence=finding.confidence,
        chip=_CHIPS.get(finding.confidence, ""),
        facts=" · ".join(fact for fact in facts if fact),
        source=finding.source,
        note=finding.note,
        remedy="" if finding.confidence == "cleared" else finding.remedy,
        stack="\n".join(finding.stack),
    )


def _failure_view(side: str, failure: Failure) -> FindingView:
    return FindingView(
        title=f"{side} {failure.words}",
        confidence="failed",
        chip="worse",
        facts=f"{failure.error_type}: {failure.error_line}",
        source=failure.source,
        note=f"The program's output is in {failure.log}." if failure.log else None,
        remedy=failure.hint or "",
        stack="",
    )


def _counted(findings: Sequence[Finding]) -> str:
    """How many findings of which confidence, and what these words mean."""
    counts: Counter[str] = Counter(finding.confidence for finding in findings)
    noun = "finding" if len(findings) == 1 else "findings"
    words = [
        f"{counts[word]} {word} ({meaning})" for word, meaning in _MEANINGS.items() if counts[word]
    ]
    return f"{len(findings)} {noun}: {', '.join(words)}."
