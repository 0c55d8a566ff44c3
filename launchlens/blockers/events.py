"""Suspects from a harness's operators alone, for machines without a GPU: no trace, no times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from launchlens.blockers.hits import DIRECTIONS, Origin, Rule, source_text
from launchlens.blockers.rules import rules
from launchlens.records.figures import Finding

if TYPE_CHECKING:
    from launchlens.protocol.step import CopyEvent


def find_in_events(events: Sequence[CopyEvent]) -> tuple[Finding, ...]:
    """Operators of one step that would copy or wait, grouped by kind, bytes, file and function.

    All are merely suspected: whether and how they copy shows in a trace only.
    """
    groups: dict[object, tuple[Rule, list[CopyEvent]]] = {}
    for event in events:
        rule = next((r for r in rules() if r.suspects is not None and r.suspects(event)), None)
        if rule is not None:
            key = event.kind, event.bytes, _origin(event).file, event.function
            groups.setdefault(key, (rule, []))[1].append(event)
    findings = (_finding(rule, members) for rule, members in groups.values())
    return tuple(sorted(findings, key=lambda f: -f.count_per_step))


def _finding(rule: Rule, members: Sequence[CopyEvent]) -> Finding:
    first = members[0]
    kinds, title = DIRECTIONS[first.kind]
    size = first.bytes
    file = _origin(first).file
    lines = tuple(dict.fromkeys(m.line for m in members if m.line is not None))
    unit = "byte" if size == 1 else "bytes"
    return Finding(
        rule=rule.id,
        confidence="suspected",
        title=f"{title} ({first.op})" if size is None else f"{title}, {size} {unit}",
        count_per_step=float(len(members)),
        stable=True,
        bytes=size,
        kinds=kinds,
        source=source_text(file, lines),
        stack=first.stack,
        host_ns=None,
        idle_ns=None,
        position=None,
        remedy=rule.remedy,
        note="Seen as an operator of one step, not in a trace.",
        copies=rule.copies,
        file=file,
        lines=lines if file else (),
    )


def _origin(event: CopyEvent) -> Origin:
    return Origin.of(event.path, event.line, event.function, event.stack)
