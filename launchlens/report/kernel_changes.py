"""Kernels that only one side runs, or more often: judged by the time that they take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from launchlens.plural import counted
from launchlens.records.comparison import KernelChanges, KernelDiff
from launchlens.report.cells import Value
from launchlens.report.document import Block, Column, Row, Table, Text
from launchlens.report.tables import short_name
from launchlens.report.words import format_value, plain, plus

_MOST = 6
_NAMED = 3
"""Kernels that a sentence names; the table holds all."""


def kernel_changes(
    changes: KernelChanges, short: Mapping[str, str], *, brief: bool = False
) -> Block:
    """The kernels whose number differs, under their short names, and what they cost together.

    ``brief``: the line in the table's place names none of them.
    """
    candidate = plain(changes.candidate)
    if not changes.known:
        said = f"Kernels of {candidate}: unknown ({plain(changes.reason or '', 400)})"
        return Text((said,), prominence="more")
    rows = [
        _row(diff, short, mark)
        for mark, diffs in (("+", changes.added), ("-", changes.removed), ("~", changes.changed))
        for diff in diffs
    ]
    titles = ("before", "after", "time before", "time after")
    cost = _cost(changes)
    named = "" if brief else f": {_named(changes.all_diffs, short)}"
    return Table(
        f"Kernels of {candidate}: {cost or 'the same'}",
        (Column("kernel, per step", "text"), *(Column(title) for title in titles)),
        tuple(rows),
        prominence="more",
        most=_MOST,
        lead=f"{candidate}: {cost}{named}" if rows and cost else "",
    )


def _row(diff: KernelDiff, short: Mapping[str, str], mark: str) -> Row:
    counts = (Value(diff.baseline_count, "count"), Value(diff.candidate_count, "count"))
    times = (
        Value(diff.baseline_ns, "ns", diff.baseline_bound),
        Value(diff.candidate_ns, "ns", diff.candidate_bound),
    )
    return Row((short_name(diff.name, short, mark), *counts, *times))


def _cost(changes: KernelChanges) -> str:
    """How many kernels more or fewer there are in a step, and the GPU time that takes or saves."""
    more, ns, bound = changes.count_change, changes.time_change_ns, changes.time_bound
    if not changes.all_diffs:
        return ""
    if more is None:  # of an older report
        return counted(len(changes.all_diffs), "kernel differs", "kernels differ")
    number = plus(more, ".0f" if float(more).is_integer() else ".1f")
    said = counted(abs(more), "kernel", digits=number) if more else "as many kernels, but others,"
    if ns is None:
        return f"{said} at an unknown cost"
    if ns < 0 and bound:
        bound = "upper" if bound == "lower" else "lower"
    one = abs(more) == 1
    verb = ("costs" if one else "cost") if ns >= 0 else ("saves" if one else "save")
    return f"{said} {verb} {format_value(abs(ns), 'ns', bound)} of GPU time per step"


def _named(diffs: Sequence[KernelDiff], short: Mapping[str, str]) -> str:
    """The kernels that came or went most often."""
    ordered = sorted(diffs, key=lambda d: -abs(d.candidate_count - d.baseline_count))
    said = []
    for diff in ordered[:_NAMED]:
        by = diff.candidate_count - diff.baseline_count
        sign = "" if by > 0 else "\N{MINUS SIGN}"
        said.append(
            f"{sign}{format_value(abs(by), 'count')} × {plain(short.get(diff.name, diff.name))}"
        )
    if left := len(diffs) - len(said):
        said.append(f"{left} more")
    return ", ".join(said)
