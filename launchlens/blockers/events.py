"""Suspects from a harness's operators alone, for machines without a GPU: no trace, no times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from launchlens.records.figures import Finding

_KINDS = {
    "htod": ("pageable-htod", "host-to-device copy", "HtoD"),
    "dtoh": ("dtoh-sync", "device-to-host copy", "DtoH"),
    "sync": ("explicit-sync", "synchronization", None),
}


def find_in_events(events: Sequence[Mapping[str, Any]]) -> tuple[Finding, ...]:
    """Operators that would copy or wait, grouped by kind, bytes, file and function.

    Args:
        events: the harness's ``events``: ``kind`` (htod, dtoh, sync), ``op``, ``bytes``,
            ``pinned``, ``source``, ``stack``.

    Returns:
        Findings, all merely suspected: whether and how they copy shows in a trace only.
    """
    from launchlens.blockers import RULES

    remedies = {rule.id: rule.remedy for rule in RULES}
    groups: dict[tuple[str, int | None, str | None, str | None], list[Mapping[str, Any]]] = {}
    for event in events:
        if event.get("kind") in _KINDS and not (event["kind"] == "htod" and event.get("pinned")):
            file = str(event.get("source") or "").partition(":")[0] or None
            key = event["kind"], event.get("bytes"), file, event.get("function")
            groups.setdefault(key, []).append(event)
    findings = []
    for (kind, size, file, _), members in groups.items():
        rule, title, kinds = _KINDS[kind]
        size_said = "" if size is None else f", {size} byte{'' if size == 1 else 's'}"
        findings.append(
            Finding(
                rule=rule,
                confidence="suspected",
                title=f"{title}{size_said}"
                if size is not None
                else f"{title} ({members[0]['op']})",
                count_per_step=float(len(members)),
                stable=True,
                bytes=size,
                kinds=kinds,
                source=_source(file, members),
                stack=tuple(str(frame) for frame in members[0].get("stack") or ()),
                host_ns=None,
                idle_ns=None,
                position=None,
                remedy=remedies[rule],
                note="Seen as an operator of one step, not in a trace.",
            )
        )
    return tuple(sorted(findings, key=lambda f: -f.count_per_step))


def _source(file: str | None, members: Sequence[Mapping[str, Any]]) -> str | None:
    """File and all lines of a group: "modeling_gemma3n.py:1727/1764"."""
    lines = dict.fromkeys(str(m["source"]).rpartition(":")[2] for m in members if m.get("source"))
    return f"{file}:{'/'.join(lines)}" if file else None
