"""Confirms or clears findings by a capture attempt of the same step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from launchlens.blockers.grouping import Found
from launchlens.blockers.hits import Origin, Rule, source_text
from launchlens.blockers.replays import find_in_replays
from launchlens.blockers.rules import rules
from launchlens.capture_errors import CaptureError, find_error
from launchlens.records.figures import Finding

if TYPE_CHECKING:
    from launchlens.protocol.step import Attempt, BlockerMet

_UNKNOWN_TITLE = "unknown capture error"
_UNKNOWN_REMEDY = "Look at the source line of the failure and at the findings of the eager trace."


def apply_attempt(found: Sequence[Found], attempt: Attempt) -> list[Finding]:
    """Findings after a capture attempt: those at its failing lines confirmed, others cleared.

    There is one more for each blocker that none of the eager trace's findings explains.
    """
    result = list(found)
    for blocker in attempt.blockers:
        matches = _matching(result, blocker)
        for i in matches:
            result[i] = replace(result[i], finding=_confirmed(result[i].finding, blocker))
        if not matches:
            possible = [result[i].finding for i in _possible(result, blocker)]
            result.append(Found(_unexplained(blocker, possible)))
    if not attempt.captured:
        return [one.finding for one in result]
    wrong = find_in_replays(attempt.replay) if attempt.replay is not None else ()
    return [*wrong, *(_cleared(one, attempt) for one in result)]


def rule_of_error(text: str) -> str | None:
    """The rule that an error's text tells best (`Rule.errors`); None for an error of no rule."""
    error = find_error(text)
    rule = rule_told_by(error) if error else None
    return rule.id if rule else None


def rule_told_by(error: CaptureError) -> Rule | None:
    """The rule that an error tells best (`Rule.errors`); None for an error of no rule."""
    told = [rule for rule in rules() if error.name in rule.errors]
    return min(told, key=lambda rule: rule.errors.index(error.name), default=None)


def _sources(finding: Finding) -> set[str]:
    """Each line of a finding as an attempt names it."""
    return {f"{finding.file}:{line}" for line in finding.lines}


def _matching(found: Sequence[Found], blocker: BlockerMet) -> list[int]:
    """Findings at the blocker's line; without lines, the only one that can be meant."""
    at_line = [i for i, f in enumerate(found) if blocker.source in _sources(f.finding)]
    if at_line:
        return [i for i in at_line if _allows(blocker, found[i])] or at_line
    possible = _possible(found, blocker)
    return possible if len(possible) == 1 else []


def _possible(found: Sequence[Found], blocker: BlockerMet) -> list[int]:
    """Findings without a line that the error's text, bytes and count allow."""
    return [
        i
        for i, one in enumerate(found)
        if one.finding.source is None
        and _allows(blocker, one)
        and (blocker.bytes is None or one.finding.bytes in {None, blocker.bytes})
        and (blocker.count is None or one.finding.count_per_step == blocker.count)
    ]


def _allows(blocker: BlockerMet, found: Found) -> bool:
    """Whether a failure can be this finding's, by what failed or else by its text."""
    if blocker.kind is not None:
        return blocker.kind in found.operators
    error = find_error(blocker.error_line)
    return error is not None and error.name in found.errors


def _rule_of(blocker: BlockerMet, possible: Sequence[Finding]) -> str | None:
    """The rule of a failure that is tied to no finding; None if several may be meant."""
    if blocker.kind is not None:
        return next((rule.id for rule in rules() if blocker.kind in rule.operators), None)
    meant = {f.rule for f in possible}
    if meant:
        return meant.pop() if len(meant) == 1 else None
    return rule_of_error(blocker.error_line)


def _confirmed(finding: Finding, blocker: BlockerMet) -> Finding:
    before = blocker.order - 1
    earlier = "blocker before it is" if before == 1 else f"{before} blockers before it are"
    when = f", once the {earlier} out of the way" if before > 0 else ""
    said = f": {blocker.error_line}" if blocker.error_line else "."
    note = f"The capture failed here{when}{said}"
    if finding.confidence == "confirmed" and finding.note:
        where = "another line" if blocker.line is None else blocker.line
        note = f"{finding.note.rstrip('.')}. It failed at line {where} too{when}."
    finding = replace(finding, confidence="confirmed", note=note, silent=False)
    return finding if finding.source else _at(finding, blocker)


def _at(finding: Finding, blocker: BlockerMet) -> Finding:
    origin = Origin.of(blocker.path, blocker.line, blocker.function, ())
    lines = (origin.line,) if origin.line is not None else ()
    return replace(finding, source=source_text(origin.file, lines), file=origin.file, lines=lines)


def _unexplained(blocker: BlockerMet, possible: Sequence[Finding]) -> Finding:
    """A failure that is tied to no finding: what the error itself says.

    ``possible`` are findings of its kind, where the trace does not tell which one failed.
    """
    error = find_error(blocker.error_line)
    rule = _rule_of(blocker, possible)
    reason = (
        "the trace alone does not tell which of its findings that is"
        if possible
        else "nothing in the trace shows it"
    )
    finding = Finding(
        rule=rule or "unknown",
        confidence="confirmed",
        title=error.title if error else _UNKNOWN_TITLE,
        count_per_step=float(blocker.count) if blocker.count is not None else 1.0,
        stable=blocker.count is not None,
        bytes=blocker.bytes,
        kinds=None,
        source=None,
        stack=(),
        host_ns=None,
        idle_ns=None,
        position=None,
        remedy=blocker.hint or (error.remedy if error else _UNKNOWN_REMEDY),
        note=f"The capture failed here, and {reason}: {blocker.error_line or 'unknown error'}",
        copies=any(r.copies for r in rules() if r.id == rule),
    )
    return _at(finding, blocker)


def _cleared(found: Found, attempt: Attempt) -> Finding:
    finding = found.finding
    if finding.confidence == "confirmed":
        return finding
    fixed = " once the confirmed blockers are patched over" if attempt.blockers else ""
    if finding.silent:
        said = f"The capture succeeds{fixed}, which clears nothing here: replays go wrong silently."
        return replace(finding, note=" ".join(filter(None, (finding.note, said, found.on_replay))))
    if patched := _sources(finding).intersection(attempt.patched_sources):
        note = (
            f"Not reached: {', '.join(sorted(patched))} was patched over as a whole for another "
            "call of that line, so nothing is known of this one."
        )
        return replace(finding, note=" ".join(filter(None, (finding.note, note))))
    seen = {line.source: line.seen_while_capturing for line in attempt.cleared or ()}
    met = [seen[line] for line in _sources(finding) if line in seen]
    if met and not any(met):
        note = (
            f"Skipped while capturing: the capture succeeds{fixed} and never comes to this line. "
            "It does not block; the captured step runs other kernels there."
        )
    else:
        note = f"Does not block: the capture succeeds{fixed}."
    return replace(finding, confidence="cleared", note=note)
