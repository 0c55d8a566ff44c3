"""The first sentences of a report: the answer."""

from __future__ import annotations

from launchlens.catalogue import GAPS, gap_causes
from launchlens.records.comparison import Cell, Comparison, PhaseComparison, Row
from launchlens.records.figures import Analysis, Group
from launchlens.report.cells import Value
from launchlens.report.changes import faster
from launchlens.report.words import (
    BOUND_SIGNS,
    LONG,
    format_value,
    joined,
    plain,
    step_words,
    value,
)

_TRACED = {"window_ns": "step", "cpu_ns": "range on the CPU"}
_WORTH_TELLING = 0.05  # of the window


def value_of(row: Row, cell: Cell) -> Value:
    """A side's figure as a value of a document."""
    instead = "failed" if cell.failed else ""
    return Value(cell.value, row.unit, cell.bound, cell.ci_low, cell.ci_high, instead)  # type: ignore[arg-type]


def comparison_sentences(comparison: Comparison) -> tuple[str, ...]:
    """One sentence for each candidate, about the first phase; of a side alone, one about it."""
    if not comparison.phases:
        return ("No steps were measured.",)
    last = len(comparison.sides)
    said = [_sentence(comparison, i) for i in (range(1, last) if last > 1 else (0,))]
    for side in comparison.sides:
        said += [f"{plain(side.label)}: {plain(loss, LONG)}" for loss in side.losses]
    return tuple(said)


def phase_title(comparison: Comparison, phase: PhaseComparison) -> str:
    """The phase, with processes and devices where others have its name too."""
    if sum(p.phase == phase.phase for p in comparison.phases) == 1:
        return phase.phase
    return f"{phase.phase} ({joined([g for g in phase.groups if g != '-'] or ['-'])})"


def _sentence(comparison: Comparison, index: int) -> str:
    side, phase = comparison.sides[index], comparison.phases[0]
    rows = {row.metric: row for row in phase.rows}
    start = plain(comparison.baseline.label) + (f" → {plain(side.short)}: " if index else ": ")
    if wrong := next((f for f in side.findings if f.replays_wrong), None):
        start += f"{plain(wrong.title)}; "
    failure = side.facts.failure
    if failure is not None and phase.steps[index] == 0 and not side.facts.untraced:
        at = f" at {plain(failure.source)}" if failure.source else ""
        return f"{start}{failure.words}{at}: {plain(failure.error_line)}"
    alike = sum(p.phase == phase.phase for p in comparison.phases)
    group = next((g for g in phase.groups if g != "-"), "-")
    where = f" ({group}; first of {alike})" if alike > 1 else ""
    parts, unknown = [], []
    for metric, title, behind in (
        ("launches", f"launches per {step_words(phase.phase)}", where),
        ("idle", "GPU idle", ""),
    ):
        row = rows.get(metric)
        if row is not None and _is_known(row, index):
            parts.append(f"{title} {_arrow(row, index)}{behind}")
        elif row is not None:
            unknown.append(title)
    timed = rows.get("untraced_ns")
    if timed and timed.cells[0].value is not None and timed.cells[index].value is not None:
        parts.append(f"step {_arrow(timed, index)} untraced{_speedup(timed, index)}")
    elif traced := next((r for m in _TRACED if (r := rows.get(m)) and _is_known(r, index)), None):
        parts.append(f"{_TRACED[traced.metric]} {_arrow(traced, index)} (traced)")
    else:
        unknown.append("step time")
    told = [", ".join(parts)] if parts else []
    return start + "; ".join(told + ([" and ".join(unknown) + " unknown"] if unknown else []))


def _is_known(row: Row, index: int) -> bool:
    """Whether there is a figure of either side, so that an arrow says something."""
    return any(row.cells[i].value is not None for i in {0, index})


def _arrow(row: Row, index: int) -> str:
    left, right = (value(value_of(row, row.cells[i])) for i in (0, index))
    if index == 0:
        return left
    unit = right.rpartition(" ")[2]
    if row.unit == "ns" and left.endswith(f" {unit}"):
        left = left.removesuffix(f" {unit}")
    return f"{left} → {right}"


def _speedup(row: Row, index: int) -> str:
    before, after = row.cells[0].value, row.cells[index].value
    if not before or not after or not index:
        return ""
    said = faster(before, after)
    doubt = ", inconclusive" if row.cells[index].verdict == "inconclusive" else ""
    return f" ({said}{doubt})"


def analysis_sentence(analysis: Analysis) -> str:
    """What a trace says about its first group of steps, in a sentence."""
    group = analysis.summary[0]
    metrics = group.metrics
    launches = format_value(metrics["launches"].median, "count", metrics["launches"].bound)
    alike = sum(g.phase == group.phase for g in analysis.summary)
    where = f" ({group_words(group)}; first of {alike})" if alike > 1 else ""
    noun = "launch" if launches == "1" else "launches"
    start = f"{plain(analysis.trace.label)}: {launches} {noun} per {step_words(group.phase)}{where}"
    idle, window = metrics["idle"], metrics["window_ns"]
    if idle.median is None or window.median is None:
        took = format_value(metrics["cpu_ns"].median, "ns", metrics["cpu_ns"].bound)
        reason = plain(group.unknown_reason or "the trace cannot tell", 400)
        return f"{start}, {took} on the CPU (traced); GPU idle unknown: {reason}"
    bound = f": {group.bound}" if group.bound else ""
    said = format_value(idle.median, "fraction", idle.bound)
    of = format_value(window.median, "ns", window.bound)
    return f"{start}, GPU idle {said} of {of} (traced){bound}{_waits(group, window.median)}"


def group_words(group: Group) -> str:
    """Process and device of a group."""
    return f"process {group.pid}, device {'unknown' if group.device is None else group.device}"


def _waits(group: Group, window: float) -> str:
    shares = [
        (stat.median or 0, metric.cause, BOUND_SIGNS.get(stat.bound, ""))
        for name, metric in gap_causes().items()
        if metric.cause and (stat := group.metrics[f"{GAPS}.{name}"])
    ]
    largest = sorted(shares, reverse=True)[:2]
    said = [
        f"{sign}{100 * ns / window:.0f}% waits {words}"
        for ns, words, sign in largest
        if window and ns / window >= _WORTH_TELLING
    ]
    return "; " + ", ".join(said) if said else ""
