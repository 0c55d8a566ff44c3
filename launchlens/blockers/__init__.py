"""What stands in the way of a CUDA graph: rules on a trace, source lines, confirmation.

`find_blockers` gives findings from an eager trace alone; with dispatch events of a harness, call
stacks of the trace or a capture attempt they get source lines and are confirmed or cleared.
A rule is one file of `launchlens.blockers.rules`, registered in `RULES`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from launchlens.blockers.confirm import apply_attempt, is_silent
from launchlens.blockers.errors import Explanation, explain_error
from launchlens.blockers.grouping import Place, make_findings
from launchlens.blockers.hits import Rule
from launchlens.blockers.match import match_events
from launchlens.blockers.rules import (
    alloc,
    dtoh_sync,
    event_query,
    explicit_sync,
    lazy_load,
    legacy_stream,
    pageable_htod,
    slow_pinned_htod,
    stale_input,
    unstable_sequence,
)
from launchlens.blockers.stacks import place_calls
from launchlens.blockers.view import make_view
from launchlens.records.columns import Trace
from launchlens.records.figures import Finding, Step
from launchlens.records.stacks import Stacks

__all__ = ["RULES", "Explanation", "Rule", "explain_error", "find_blockers"]

RULES: tuple[Rule, ...] = (
    pageable_htod.RULE,
    dtoh_sync.RULE,
    slow_pinned_htod.RULE,
    explicit_sync.RULE,
    alloc.RULE,
    legacy_stream.RULE,
    event_query.RULE,
    lazy_load.RULE,
    unstable_sequence.RULE,
    stale_input.RULE,
)


def find_blockers(
    trace: Trace,
    steps: Sequence[Step],
    *,
    dispatch_events: Sequence[Mapping[str, Any]] | None = None,
    attempt: Mapping[str, Any] | None = None,
    stacks: Stacks | None = None,
) -> tuple[Finding, ...]:
    """Find what blocks the capture of a trace's steps, most certain and frequent first.

    Args:
        trace: an eager trace; steps that launch graphs have little left to find.
        steps: its steps. Prefill and decode steps are looked at apart.
        dispatch_events: operators of one more step that copied or waited, in order (the
            harness's ``events``), which give source lines; by default those of ``attempt``.
        attempt: the result of a capture attempt, which confirms or clears findings.
        stacks: the trace's own call stacks, which give source lines for any program.

    Returns:
        Findings, grouped by rule, kind and bytes, and by file and function where known. Empty
        for a trace without API calls.
    """
    phases = list(dict.fromkeys(step.phase for step in steps))
    all_events = dispatch_events if dispatch_events is not None else (attempt or {}).get("events")
    findings: list[Finding] = []
    for phase in phases:
        mine = [step for step in steps if step.phase == phase]
        events = [e for e in all_events or () if e.get("phase") in {None, phase}]
        if not events and len(phases) == 1:
            events = list(all_events or ())  # the trace does not tell the phase
        found = [
            replace(f, phase=phase, silent=is_silent(f))
            for f in _find_in_phase(trace, mine, events, stacks)
        ]
        if len(phases) > 1:
            found = [replace(f, title=f"{f.title} ({phase} steps)") for f in found]
        findings.extend(found)
    if attempt is not None:
        findings = apply_attempt(findings, attempt)
    order = {"confirmed": 0, "likely": 1, "suspected": 2, "cleared": 3}
    return tuple(sorted(findings, key=lambda f: (order[f.confidence], -f.count_per_step)))


def _find_in_phase(
    trace: Trace,
    steps: Sequence[Step],
    events: Sequence[Mapping[str, Any]],
    stacks: Stacks | None,
) -> list[Finding]:
    view = make_view(trace, steps)
    if not view.size or not trace.api.start_ns.size:
        return []
    found = [(rule, hits) for rule in RULES for hits in rule.find(view)]
    places: dict[int, Place] = {}
    if stacks is not None:
        places |= place_calls(view, stacks, [hits.row for _, hits in found])
    if events:
        places |= match_events([hits for _, hits in found], events)
    return [finding for rule, hits in found for finding in make_findings(view, rule, hits, places)]
