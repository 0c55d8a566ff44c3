"""Confirms or clears findings by a capture attempt of the same step."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from launchlens.blockers.errors import explain_error
from launchlens.records.figures import Finding

# A successful capture says nothing about these: they do not fail, they go wrong on replay.
_SILENT_RULES = frozenset({"unstable-sequence", "stale-input"})
_SILENT_WORK = "work on the default stream"
# Errors that are the answer to several things, so that the text alone does not choose among them:
# error 900, and torch's refusal of a copy, which looks alike in both directions.
_SAME_ERROR = (
    frozenset({"dtoh-sync", "explicit-sync", "alloc", "event-query", "lazy-load"}),
    frozenset({"pageable-htod", "dtoh-sync to pageable"}),
)
_RULES_BY_KIND = {"htod": "pageable-htod", "dtoh": "dtoh-sync", "sync": "dtoh-sync"}


def is_silent(finding: Finding) -> bool:
    """Whether a finding does not stop a capture but may make replays go wrong."""
    return finding.rule in _SILENT_RULES or finding.kinds == _SILENT_WORK


def apply_attempt(findings: Sequence[Finding], attempt: Mapping[str, Any]) -> list[Finding]:
    """Findings after a capture attempt: those at its failing lines confirmed, others cleared.

    Args:
        findings: findings of the eager trace.
        attempt: ``captured`` (or ``status``), ``blockers`` in the order capture met them
            (``order``, ``source``, ``error_line``, ``bytes``, ``count``), or for a single failure
            ``source`` and ``error_line``; ``captured_after_fixes``.

    Returns:
        The findings, and one more for each blocker that none of them explains.
    """
    blockers = _blockers(attempt)
    captured = bool(attempt.get("captured") or attempt.get("status") == "captured")
    captured = captured or bool(attempt.get("captured_after_fixes"))
    result = list(findings)
    for blocker in blockers:
        matches = _matching(result, blocker)
        for i in matches:
            result[i] = _confirmed(result[i], blocker)
        if not matches:
            possible = [result[i] for i in _possible(result, blocker)]
            result.append(_unexplained(blocker, possible))
    if captured:
        seen = {
            (str(c.get("source"))): bool(c.get("seen_while_capturing"))
            for c in attempt.get("cleared") or ()
        }
        result = [_cleared(f, seen, after_fixes=bool(blockers)) for f in result]
    return result


def _blockers(attempt: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    listed = list(attempt.get("blockers") or ())
    if not listed and attempt.get("status") == "failed":
        listed = [{"order": 1} | {k: attempt.get(k) for k in ("source", "error_line", "stack")}]
    return listed


def source_lines(source: str | None) -> frozenset[str]:
    """Every "file.py:line" that a finding's source names ("file.py:1727/1764")."""
    if not source:
        return frozenset()
    file, _, lines = source.rpartition(":")
    return frozenset(f"{file}:{line}" for line in re.split(r"[/,]", lines))


def _matching(findings: Sequence[Finding], blocker: Mapping[str, Any]) -> list[int]:
    """Findings at the blocker's line; without lines, the only one that can be meant."""
    source = blocker.get("source")
    at_line = [i for i, f in enumerate(findings) if source and source in source_lines(f.source)]
    if at_line:
        allowed = [i for i in at_line if _allows(blocker, findings[i])]
        return allowed or at_line
    possible = _possible(findings, blocker)
    return possible if len(possible) == 1 else []


def _possible(findings: Sequence[Finding], blocker: Mapping[str, Any]) -> list[int]:
    """Findings without a line that the error's text, bytes and count allow."""
    size, count = blocker.get("bytes"), blocker.get("count")
    return [
        i
        for i, f in enumerate(findings)
        if f.source is None
        and _allows(blocker, f)
        and (size is None or f.bytes in {None, size})
        and (count is None or f.count_per_step == count)
    ]


def _allows(blocker: Mapping[str, Any], finding: Finding) -> bool:
    """Whether a failure can be this finding's, by what failed or else by its text."""
    kind = blocker.get("kind")
    if kind in _RULES_BY_KIND:
        return finding.rule == _RULES_BY_KIND[kind]
    rule = explain_error(str(blocker.get("error_line") or "")).rule
    names = {finding.rule}
    if finding.rule == "dtoh-sync" and "pageable" in (finding.kinds or ""):
        names = {"dtoh-sync to pageable"}  # torch refuses it before CUDA is asked
    return bool(names & next((g for g in _SAME_ERROR if rule in g), frozenset({rule})))


def _rule_of(blocker: Mapping[str, Any], possible: Sequence[Finding]) -> str | None:
    """The rule of a failure that is tied to no finding; None if several may be meant."""
    kind = blocker.get("kind")
    if kind in _RULES_BY_KIND:
        return _RULES_BY_KIND[kind]
    rules = {f.rule for f in possible}
    if rules:
        return rules.pop() if len(rules) == 1 else None
    return explain_error(str(blocker.get("error_line") or "")).rule


def _confirmed(finding: Finding, blocker: Mapping[str, Any]) -> Finding:
    order = int(blocker.get("order") or 1)
    line = blocker.get("error_line")
    when = "" if order <= 1 else f", once {_earlier(order - 1)} out of the way"
    note = f"The capture failed here{when}" + (f": {line}" if line else ".")
    if finding.confidence == "confirmed" and finding.note:
        where = str(blocker.get("source") or "another line").rpartition(":")[2]
        note = f"{finding.note.rstrip('.')}. It failed at line {where} too{when}."
    source = finding.source or blocker.get("source")
    return replace(finding, confidence="confirmed", note=note, source=source)


def _earlier(count: int) -> str:
    return "the blocker before it is" if count == 1 else f"the {count} blockers before it are"


def _unexplained(blocker: Mapping[str, Any], possible: Sequence[Finding]) -> Finding:
    """A failure that is tied to no finding: what the error itself says.

    Args:
        blocker: the failure.
        possible: findings of this kind, if the trace does not tell which one failed.
    """
    line = str(blocker.get("error_line") or "unknown error")
    explanation = explain_error(line)
    count = blocker.get("count")
    reason = (
        "the trace alone does not tell which of its findings that is"
        if possible
        else "nothing in the trace shows it"
    )
    return Finding(
        rule=_rule_of(blocker, possible) or "unknown",
        confidence="confirmed",
        title=explanation.title,
        count_per_step=float(count) if count is not None else 1.0,
        stable=count is not None,
        bytes=blocker.get("bytes"),
        kinds=None,
        source=blocker.get("source"),
        stack=tuple(str(frame) for frame in blocker.get("stack") or ()),
        host_ns=None,
        idle_ns=None,
        position=None,
        remedy=str(blocker.get("hint") or explanation.hint),
        note=f"The capture failed here, and {reason}: {line}",
    )


def _cleared(finding: Finding, seen: Mapping[str, bool], *, after_fixes: bool) -> Finding:
    if finding.confidence == "confirmed":
        return finding
    fixed = " once the confirmed blockers are patched over" if after_fixes else ""
    if is_silent(finding):
        return replace(finding, note=_silent_note(finding, fixed))
    lines = source_lines(finding.source)
    met = [seen[line] for line in lines if line in seen]
    if met and not any(met):
        note = (
            f"Skipped while capturing: the capture succeeds{fixed} and never comes to this line. "
            "It does not block; the captured step runs other kernels there."
        )
    else:
        note = f"Does not block: the capture succeeds{fixed}."
    return replace(finding, confidence="cleared", note=note)


def _silent_note(finding: Finding, fixed: str) -> str:
    said = f"The capture succeeds{fixed}, which clears nothing here: replays go wrong silently."
    if finding.kinds == _SILENT_WORK:
        said += " What runs on the default stream is not in the graph."
    return f"{finding.note} {said}" if finding.note else said
