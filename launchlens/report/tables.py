"""Tables that several reports have: kernels, calls, gaps, laid out once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from launchlens.records.figures import ApiRow, FollowerRow, GapBin, KernelRow
from launchlens.report.cells import Name, Value
from launchlens.report.document import Column, Facts, Prominence, Row, Table
from launchlens.report.words import gap_bin_label

_MOST = 5
_MEAN = "mean per step"


def gap_table(
    sides: Sequence[tuple[str, Sequence[GapBin], int]], prominence: Prominence = "main"
) -> Table:
    """Gaps by length: number and time in each class, a mean over the steps.

    A side is the prefix of its columns, its gaps, and its number of steps.
    """
    columns = [Column(f"{name}{title}") for name, _, _ in sides for title in ("gaps", "idle")]
    steps = [n for _, _, n in sides]
    rows = []
    for gaps in zip(*(gaps for _, gaps, _ in sides), strict=True):
        pairs = zip(gaps, steps, strict=True)
        cells = [v for gap, n in pairs for v in (_count(gap.count / n), _ns(gap.total_ns / n))]
        rows.append(Row((gap_bin_label(gaps[0]), *cells)))
    first = Column(f"length of gap, {_MEAN}", "text")
    title = "Gaps by length" if prominence == "more" else ""
    return Table(title, (first, *columns), tuple(rows), prominence=prominence, whole=len(sides) > 1)


def follower_table(
    followers: Sequence[FollowerRow], steps: int, short: Mapping[str, str], title: str = ""
) -> Table:
    """Operations after which the GPU stood idle; ``short`` names kernels (`short_names`)."""
    rows = [
        (
            short_name(f.name, short),
            _count(f.gaps / steps),
            _count(f.count / steps),
            _ns(f.idle_ns / steps),
        )
        for f in followers
    ]
    return _named(title, (f"the GPU idles after, {_MEAN}", "gaps", "runs", "idle"), rows)


def kernel_table(kernels: Sequence[KernelRow], steps: int, short: Mapping[str, str]) -> Table:
    """Kernels by the time that they take, under their short names."""
    rows = [
        (
            short_name(k.name, short),
            Value(k.count / steps, "count", k.count_bound),
            Value(k.total_ns / steps, "ns", k.total_bound),
            Value(k.share, "fraction"),
            Value(k.median_ns, "ns"),
        )
        for k in kernels
    ]
    return _named("", (f"kernels, {_MEAN}", "runs", "time", "share", "a run"), rows)


def call_table(calls: Sequence[ApiRow], steps: int) -> Table:
    """CUDA API calls by the time inside them."""
    rows = [
        (
            Name(a.name),
            Value(a.count / steps, "count", a.bound),
            Value(a.total_ns / steps, "ns", a.bound),
            _ns(a.median_ns),
        )
        for a in calls
    ]
    return _named("", (f"CUDA API calls, {_MEAN}", "calls", "time", "a call"), rows)


def _named(
    title: str, headers: tuple[str, ...], rows: Sequence[tuple[Name, *tuple[Value, ...]]]
) -> Table:
    """A table of names and their figures, the largest first."""
    columns = (Column(headers[0], "text"), *(Column(header) for header in headers[1:]))
    return Table(title, columns, tuple(Row(cells) for cells in rows), most=_MOST)


def short_name(full: str, short: Mapping[str, str], mark: str = "") -> Name:
    """A kernel under its short name."""
    said = short.get(full, full)
    return Name(said, mark, full if said != full else "")


def name_facts(names: Iterable[str], short: Mapping[str, str]) -> Facts | None:
    """The whole names behind short ones, for reports with all details; None without any."""
    entries = {short[n]: n for n in names if short.get(n, n) != n}
    if not entries:
        return None
    return Facts("Kernel names in full", tuple(sorted(entries.items())), "more", names=True)


def _count(number: float) -> Value:
    return Value(number, "count")


def _ns(number: float) -> Value:
    return Value(number, "ns")
