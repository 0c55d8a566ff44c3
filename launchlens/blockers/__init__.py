"""What stands in the way of a CUDA graph: rules on a trace, source lines, confirmation.

`find_blockers` gives findings from an eager trace alone; with dispatch events of a harness, call
stacks of the trace or a capture attempt they get source lines and are confirmed or cleared.
A rule is one file of `launchlens.blockers.rules`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from launchlens.blockers.confirm import apply_attempt
from launchlens.blockers.failed import find_failed
from launchlens.blockers.grouping import Found, make_findings
from launchlens.blockers.hits import Hits, Origin, Rule
from launchlens.blockers.match import match_events
from launchlens.blockers.rules import rules
from launchlens.blockers.stacks import place_calls
from launchlens.blockers.unseen import find_unseen
from launchlens.blockers.view import Rows, View, make_view, see_calls
from launchlens.errors import UsageError
from launchlens.records.columns import Trace
from launchlens.records.figures import Finding, Step
from launchlens.records.stacks import Stacks

if TYPE_CHECKING:
    from launchlens.protocol.step import Attempt, CopyEvent

__all__ = ["Rule", "Search", "calls_of_rule", "find_blockers", "rules", "search_blockers"]


@dataclass(frozen=True, slots=True)
class Search:
    """What was found, and why that may not be all there is (`find_unseen`)."""

    findings: tuple[Finding, ...]
    unseen: tuple[str, ...]
    calls: tuple[Rows, ...] = field(default=(), kw_only=True)
    """API rows of each finding's occurrences, where a trace alone was looked at."""


def find_blockers(
    trace: Trace,
    steps: Sequence[Step],
    *,
    dispatch_events: Sequence[CopyEvent] | None = None,
    attempt: Attempt | None = None,
    stacks: Stacks | None = None,
) -> tuple[Finding, ...]:
    """The findings of `search_blockers`."""
    return search_blockers(
        trace, steps, dispatch_events=dispatch_events, attempt=attempt, stacks=stacks
    ).findings


def search_blockers(
    trace: Trace,
    steps: Sequence[Step],
    *,
    dispatch_events: Sequence[CopyEvent] | None = None,
    attempt: Attempt | None = None,
    stacks: Stacks | None = None,
    all_threads: bool = False,
) -> Search:
    """Look for what blocks the capture of a trace's steps, most certain and frequent first.

    Steps that launch graphs have little left to find; those of prefill and decode are looked at
    apart. Findings are grouped by rule, kind and bytes, and by file and function where known; there
    are none for a trace without API calls. Source lines come from ``dispatch_events``, operators of
    one more step that copied or waited, in order (by default those of ``attempt``), or from the
    trace's own call ``stacks``, for any program. A capture ``attempt`` confirms or clears findings.
    With ``all_threads`` a step owns the calls of all threads of its process.
    """
    phases = list(dict.fromkeys(step.phase for step in steps))
    all_events = dispatch_events if dispatch_events is not None else attempt and attempt.events
    calls = see_calls(trace)
    found = [Found(finding) for finding in find_failed(trace)]
    views = []
    for phase in phases:
        mine = [step for step in steps if step.phase == phase]
        events = [e for e in all_events or () if e.phase in {None, phase}]
        if not events and len(phases) == 1:
            events = list(all_events or ())  # the trace does not tell the phase
        several = f" ({phase} steps)" if len(phases) > 1 else ""
        view = make_view(trace, calls, mine, all_threads=all_threads)
        views.append(view)
        found += [
            replace(f, finding=replace(f.finding, phase=phase, title=f.finding.title + several))
            for f in _find_in_phase(view, events, stacks)
        ]
    unseen = tuple(find_unseen(trace, views, all_threads=all_threads))
    if attempt is not None:
        return Search(tuple(sorted(apply_attempt(found, attempt), key=_rank)), unseen)
    found = sorted(found, key=lambda f: _rank(f.finding))
    return Search(tuple(f.finding for f in found), unseen, calls=tuple(f.calls for f in found))


def calls_of_rule(trace: Trace, steps: Sequence[Step], rule_id: str) -> Rows:
    """API rows of all that a rule finds in a trace's steps, by its own time.

    Raises:
        UsageError: there is no such rule.
    """
    named = {rule.id: rule for rule in rules()}
    if rule_id not in named:
        there = ", ".join(named)
        raise UsageError(f"There is no rule {rule_id!r}.", hint=f"There are: {there}.")
    calls, found = see_calls(trace), [np.empty(0, np.int64)]
    for phase in dict.fromkeys(step.phase for step in steps):
        view = make_view(trace, calls, [step for step in steps if step.phase == phase])
        if view.size:
            found += [hits.row for _, hits in _hits_of(named[rule_id], view) if hits.timed]
    return np.unique(np.concatenate(found))


def _rank(finding: Finding) -> tuple[int, float]:
    order = {"confirmed": 0, "likely": 1, "suspected": 2, "cleared": 3}
    return order[finding.confidence], -finding.count_per_step


def _hits_of(rule: Rule, view: View) -> Iterator[tuple[Rule, Hits]]:
    """What a rule finds, but for calls that are another rule's own."""
    theirs = [r.calls for r in rules() if r.calls and r.id != rule.id]
    for hits in rule.find(view):
        mine = hits.of(~view.are_named("|".join(theirs), hits.row)) if theirs else hits
        if mine.row.size:
            yield rule, mine


def _find_in_phase(view: View, events: Sequence[CopyEvent], stacks: Stacks | None) -> list[Found]:
    if not view.size:
        return []
    found = [pair for rule in rules() for pair in _hits_of(rule, view)]
    origins: dict[int, Origin] = {}
    if stacks is not None:
        origins |= place_calls(view, stacks, [hits.row for _, hits in found])
    if events:
        origins |= match_events([hits for _, hits in found], events)
    return [one for rule, hits in found for one in make_findings(view, rule, hits, origins)]
