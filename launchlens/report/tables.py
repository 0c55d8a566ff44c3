"""Tables that several reports have: kernels, calls, gaps, laid out once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from launchlens.records.comparison import KernelChanges
from launchlens.records.figures import ApiRow, FollowerRow, GapBin, KernelRow
from launchlens.report.cells import Name, Value
from launchlens.report.document import Block, Column, Facts, Prominence, Row, Table, Text
from launchlens.report.words import gap_bin_label, plain

_MOST = 5
_MOST_CHANGES = 6


def gap_table(
    sides: Sequence[tuple[str, Sequence[GapBin]]], prominence: Prominence = "main"
) -> Table:
    """Gaps by length: number and time in each class, of sides (prefix of its columns, gaps)."""
    columns = [Column(f"{name}{title}") for name, _ in sides for title in ("count", "time")]
    rows = []
    for gaps in zip(*(gaps for _, gaps in sides), strict=True):
        cells = [v for gap in gaps for v in (_count(gap.count), _ns(gap.total_ns))]
        rows.append(Row((gap_bin_label(gaps[0]), *cells)))
    first = Column("gaps, all steps", "text")
    title = "Gaps by length, all steps" if prominence == "more" else ""
    return Table(title, (first, *columns), tuple(rows), prominence=prominence, whole=len(sides) > 1)


def follower_table(
    followers: Sequence[FollowerRow], short: Mapping[str, str], title: str = ""
) -> Table:
    """Operations after which the GPU stood idle; ``short`` names kernels (`short_names`)."""
    rows = [
        (_name(f.name, short), _count(f.gaps), _count(f.count), _ns(f.idle_ns)) for f in followers
    ]
    return _named(title, ("the GPU idles after", "gaps", "of runs", "idle"), rows)


def kernel_table(kernels: Sequence[KernelRow], short: Mapping[str, str]) -> Table:
    """Kernels by total time, under their short names."""
    rows = [
        (
            _name(k.name, short),
            Value(k.count, "count", k.count_bound),
            Value(k.total_ns, "ns", k.total_bound),
            Value(k.share, "fraction"),
            Value(k.median_ns, "ns"),
        )
        for k in kernels
    ]
    return _named("", ("kernels, all steps", "count", "total", "share", "median"), rows)


def call_table(calls: Sequence[ApiRow]) -> Table:
    """Host API calls by the time inside them."""
    rows = [
        (
            Name(a.name),
            Value(a.count, "count", a.bound),
            Value(a.total_ns, "ns", a.bound),
            _ns(a.median_ns),
        )
        for a in calls
    ]
    return _named("", ("host API calls, all steps", "count", "total", "median"), rows)


def kernel_changes(changes: KernelChanges, short: Mapping[str, str]) -> Block:
    """Kernels of a candidate whose number differs from the baseline's, under their short names."""
    candidate = plain(changes.candidate)
    if not changes.known:
        said = f"Kernels of {candidate}: unknown ({plain(changes.reason or '', 400)})"
        return Text((said,), prominence="more")
    groups = (("+", changes.added), ("-", changes.removed), ("~", changes.changed))
    counted = (
        f"{len(changes.added)} added, {len(changes.removed)} removed, {len(changes.changed)} run "
        "another number of times"
    )
    rows = []
    for mark, diffs in groups:
        for d in diffs:
            counts = (_count(d.baseline_count), _count(d.candidate_count))
            name = _name(d.name, short, mark)
            rows.append(Row((name, *counts, _ns(d.baseline_ns), _ns(d.candidate_ns))))
    titles = ("before", "after", "time before", "time after")
    return Table(
        f"Kernels of {candidate}: {counted}",
        (Column("kernel, per step", "text"), *(Column(title) for title in titles)),
        tuple(rows),
        prominence="more",
        most=_MOST_CHANGES,
        lead=f"kernels, {candidate}: {counted}" if rows else "",
    )


def _named(
    title: str, headers: tuple[str, ...], rows: Sequence[tuple[Name, *tuple[Value, ...]]]
) -> Table:
    """A table of names and their figures, the largest first."""
    columns = (Column(headers[0], "text"), *(Column(header) for header in headers[1:]))
    return Table(title, columns, tuple(Row(cells) for cells in rows), most=_MOST)


def _name(full: str, short: Mapping[str, str], mark: str = "") -> Name:
    said = short.get(full, full)
    return Name(said, mark, full if said != full else "")


def name_facts(names: Iterable[str], short: Mapping[str, str]) -> Facts | None:
    """The whole names behind short ones, for reports with all details; None without any."""
    entries = {short[n]: n for n in names if short.get(n, n) != n}
    if not entries:
        return None
    return Facts("kernel names in full", tuple(sorted(entries.items())), "more")


def _count(number: float) -> Value:
    return Value(number, "count")


def _ns(number: int) -> Value:
    return Value(number, "ns")
