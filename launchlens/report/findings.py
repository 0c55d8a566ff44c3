"""Capture blockers and failures in words: the one wording of every report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from launchlens.plural import counted
from launchlens.records.comparison import Side
from launchlens.records.figures import Finding
from launchlens.records.variant import Equivalence, Failure
from launchlens.report.document import FindingItem, Findings, Section, Text
from launchlens.report.words import format_ns, format_value, plain

TITLE = "What stands in the way of a CUDA graph"
_VERDICTS = {
    "confirmed": "blocks capture (confirmed)",
    "likely": "likely blocks capture",
    "suspected": "may block capture (suspected)",
    "cleared": "does not block capture",
}
_MEANINGS = {
    "confirmed": "a capture failed at this line, or its replays went wrong",
    "likely": "this usually blocks a capture",
    "suspected": "it may block a capture",
    "cleared": "a capture went past it",
}
_NOT_SEARCHED = (
    "A capture stops at the first call that it does not allow. What would have stopped it next was "
    "not looked for: launchlens blockers does."
)


def describe_finding(finding: Finding) -> str:
    """A finding in a line: how many, what, where, and what it does to a capture."""
    where = f", {plain(finding.source)}" if finding.source else ""
    count = format_value(finding.count_per_step, "count")
    varies = "" if finding.stable else " (differs between steps)"
    return f"{count} × {finding.title}{varies}{where}: {verdict_words(finding)}"


def verdict_words(finding: Finding) -> str:
    """What a finding does to a capture, and how sure that is."""
    if finding.replays_wrong:
        return "makes replays go wrong (confirmed)"
    if finding.silent:
        return f"may make replays go wrong silently ({finding.confidence})"
    return _VERDICTS[finding.confidence]


def finding_item(finding: Finding) -> FindingItem:
    """A finding with all that is known of it."""
    cleared = finding.confidence == "cleared"
    brief = ("note", finding.note or "") if cleared else ("remedy", finding.remedy)
    return FindingItem(
        said=describe_finding(finding),
        confidence=finding.confidence,
        rule=finding.rule,
        source=finding.source,
        details=tuple(_details(finding)),
        remedies=(brief,) if brief[1] else (),
        stack=finding.stack,
    )


def _details(finding: Finding) -> Iterator[tuple[str, str]]:
    if finding.position and not finding.source:
        yield "where", finding.position
    costs = []
    if finding.host_ns is not None:
        costs.append(f"the thread waits {format_ns(finding.host_ns)} in each step")
    if finding.idle_ns is not None:
        costs.append(f"GPU idle from there to the next work {format_ns(finding.idle_ns)}")
    if finding.saved_ns is not None:
        costs.append(
            f"without them the step would take {format_ns(finding.saved_ns)} less (forecast)"
        )
    if costs:
        yield "cost", ", ".join(costs)
    if finding.note:
        yield "note", finding.note
    if finding.confidence != "cleared":
        yield "remedy", finding.remedy


def describe_failure(name: str, failure: Failure) -> str:
    """Why a variant failed, and where."""
    where = f" at {plain(failure.source)}" if failure.source else ""
    return f"{plain(name)} {failure.words}{where}: {plain(failure.error_line, 400)}"


def _failure_item(side: str, failure: Failure) -> FindingItem:
    details = [("error", failure.error_type)]
    details += [("remedy", failure.hint)] if failure.hint else []
    details += [("log", failure.log)] if failure.log else []
    said = describe_failure(side, failure)
    return FindingItem(said, "failed", source=failure.source, details=tuple(details))


def side_findings(sides: Sequence[Side], passed: Sequence[Side] = ()) -> Section | None:
    """Failed variants, then the blockers of each side; None where there is neither.

    ``passed`` are sides with suspects that another variant was captured in spite of: details.
    """
    failures = [(side.short, side.facts.failure) for side in sides if side.facts.failure]
    found = [finding for side in sides for finding in side.findings]
    blocks: list[Text | Findings] = []
    if found:
        blocks.append(_counted(found))
    elif any(failure.during == "capture" for _, failure in failures):
        blocks.append(Text((_NOT_SEARCHED,), prominence="page"))
    if failures:
        items = tuple(_failure_item(name, failure) for name, failure in failures)
        blocks.append(Findings("", items, prominence="page"))
    blocks += [
        _brief(f"Capture blockers, {side.short}", side.findings) for side in sides if side.findings
    ]
    blocks += [
        replace(
            _brief(f"Suspected in {s.short}, though a variant was captured", s.findings),
            prominence="more",
        )
        for s in passed
    ]
    if not blocks:
        return None
    captured = found or passed or any(failure.during == "capture" for _, failure in failures)
    return Section("blockers", TITLE if captured else "What failed", tuple(blocks))


def trace_findings(findings: Sequence[Finding]) -> Section:
    """Blockers of one trace."""
    return Section("blockers", TITLE, (_counted(findings), _brief("Capture blockers", findings)))


def _brief(title: str, findings: Sequence[Finding]) -> Findings:
    return Findings(title, tuple(finding_item(finding) for finding in findings), brief=True)


def _counted(findings: Sequence[Finding]) -> Text:
    """How many findings of which confidence, and what these words mean."""
    counts: Counter[str] = Counter(finding.confidence for finding in findings)
    words = [
        f"{counts[word]} {word} ({meaning})" for word, meaning in _MEANINGS.items() if counts[word]
    ]
    return Text((f"{counted(len(findings), 'finding')}: {', '.join(words)}.",), prominence="page")


def describe_equivalence(e: Equivalence) -> str:
    """One clause about a variant's outputs beside the baseline's."""
    if not e.finite:
        return f"{e.dtype}: outputs are not finite"
    if e.identical:
        return f"{e.dtype}: identical"
    if e.max_abs_diff is None:
        return f"{e.dtype}: not compared"
    top = "" if e.top1_agreement is None else f", same top token in {e.top1_agreement:.0%}"
    allowed = ""
    if e.tolerance is not None:
        beyond = "more than" if e.is_wrong else "within what"
        allowed = f", {beyond} rounding explains ({e.tolerance:.3g})"
    return f"{e.dtype}: max abs difference {e.max_abs_diff:.3g}{allowed}{top}"
