"""What stands in the way of a CUDA graph: rules on a trace, source lines, confirmation.

`find_blockers` gives findings from an eager trace alone; with dispatch events of a harness, call
stacks of the trace or a capture attempt they get source lines and are confirmed or cleared.
A rule is one file of `launchlens.blockers.rules`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from launchlens.blockers.confirm import apply_attempt
from launchlens.blockers.grouping import Found, make_findings
from launchlens.blockers.hits import Hits, Origin, Rule
from launchlens.blockers.match import match_events
from launchlens.blockers.rules import rules
from launchlens.blockers.stacks import place_calls
from launchlens.blockers.view import Kinds, Mask, View, make_view, rule_kinds
from launchlens.records.columns import Trace
from launchlens.records.figures import Finding, Step
from launchlens.records.stacks import Stacks

if TYPE_CHECKING:
    from launchlens.protocol.step import Attempt, CopyEvent

__all__ = ["Rule", "find_blockers", "rules"]


def find_blockers(
    trace: Trace,
    steps: Sequence[Step],
    *,
    dispatch_events: Sequence[CopyEvent] | None = None,
    attempt: Attempt | None = None,
    stacks: Stacks | None = None,
) -> tuple[Finding, ...]:
    """Find what blocks the capture of a trace's steps, most certain and frequent first.

    Steps that launch graphs have little left to find; those of prefill and decode are looked at
    apart. Findings are grouped by rule, kind and bytes, and by file and function where known; there
    are none for a trace without API calls. Source lines come from ``dispatch_events``, operators of
    one more step that copied or waited, in order (by default those of ``attempt``), or from the
    trace's own call ``stacks``, for any program. A capture ``attempt`` confirms or clears findings.
    """
    phases = list(dict.fromkeys(step.phase for step in steps))
    all_events = dispatch_events if dispatch_events is not None else attempt and attempt.events
    kinds = rule_kinds(trace)
    found: list[Found] = []
    for phase in phases:
        mine = [step for step in steps if step.phase == phase]
        events = [e for e in all_events or () if e.phase in {None, phase}]
        if not events and len(phases) == 1:
            events = list(all_events or ())  # the trace does not tell the phase
        several = f" ({phase} steps)" if len(phases) > 1 else ""
        found += [
            replace(f, finding=replace(f.finding, phase=phase, title=f.finding.title + several))
            for f in _find_in_phase(trace, kinds, mine, events, stacks)
        ]
    findings = apply_attempt(found, attempt) if attempt is not None else [f.finding for f in found]
    order = {"confirmed": 0, "likely": 1, "suspected": 2, "cleared": 3}
    return tuple(sorted(findings, key=lambda f: (order[f.confidence], -f.count_per_step)))


def _hits_of(rule: Rule, view: View) -> Iterator[tuple[Rule, Hits]]:
    """What a rule finds, but for calls that are another rule's own."""
    theirs = [r.calls for r in rules() if r.calls and r.id != rule.id]
    for hits in rule.find(view):
        mine = hits.of(~view.are_named("|".join(theirs), hits.row)) if theirs else hits
        if mine.row.size:
            yield rule, mine


def _find_in_phase(
    trace: Trace,
    kinds: tuple[Kinds, Mask],
    steps: Sequence[Step],
    events: Sequence[CopyEvent],
    stacks: Stacks | None,
) -> list[Found]:
    view = make_view(trace, kinds, steps)
    if not view.size or not trace.api.start_ns.size:
        return []
    found = [pair for rule in rules() for pair in _hits_of(rule, view)]
    origins: dict[int, Origin] = {}
    if stacks is not None:
        origins |= place_calls(view, stacks, [hits.row for _, hits in found])
    if events:
        origins |= match_events([hits for _, hits in found], events)
    return [one for rule, hits in found for one in make_findings(view, rule, hits, origins)]
