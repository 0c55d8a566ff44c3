"""The first sentences of a report: the answer."""

from __future__ import annotations

from collections.abc import Mapping

from launchlens.catalogue import gap_causes, metrics
from launchlens.plural import counted
from launchlens.records.comparison import Cell, Comparison, PhaseComparison, Row
from launchlens.records.figures import Analysis, Group
from launchlens.report.cells import Value
from launchlens.report.changes import faster
from launchlens.report.words import (
    BOUND_SIGNS,
    LONG,
    arrow,
    bound_words,
    format_value,
    joined,
    plain,
    sentence,
    step_words,
    value,
)

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
    elif traced := _traced(rows, index):
        parts.append(f"{traced[0]} {_arrow(traced[1], index)} (traced)")
    else:
        unknown.append("step time")
    told = [", ".join(parts)] if parts else []
    return start + "; ".join(told + ([" and ".join(unknown) + " unknown"] if unknown else []))


def _traced(rows: Mapping[str, Row], index: int) -> tuple[str, Row] | None:
    """The traced time of a step, or what stands for it where that is unknown; with its name."""
    for metric in metrics():
        if (metric.column and metric.speed) or metric.stands_for:
            row = rows.get(metric.name)
            if row is not None and _is_known(row, index):
                return metric.column or metric.title, row
    return None


def _is_known(row: Row, index: int) -> bool:
    """Whether there is a figure of either side, so that an arrow says something."""
    return any(row.cells[i].value is not None for i in {0, index})


def _arrow(row: Row, index: int) -> str:
    before, after = (value_of(row, row.cells[i]) for i in (0, index))
    return arrow(before, after) if index else value(before)


def _speedup(row: Row, index: int) -> str:
    before, after = row.cells[0].value, row.cells[index].value
    if not before or not after or not index:
        return ""
    said = faster(before, after)
    doubt = ", inconclusive" if row.cells[index].verdict == "inconclusive" else ""
    return f" ({said}{doubt})"


def analysis_sentence(analysis: Analysis) -> str:
    """What a trace says about its first group of steps: launches, idle, what the GPU waits for."""
    group = analysis.summary[0]
    figures = group.metrics
    alike = sum(g.phase == group.phase for g in analysis.summary)
    where = f" ({group_words(group)}; first of {alike})" if alike > 1 else ""
    launches = figures["launches"]
    said = format_value(launches.median, "count", launches.bound)
    number = counted(launches.median or 0, "launch", "launches", digits=said)
    start = f"{plain(analysis.trace.label)}: {number} per {step_words(group.phase)}{where}"
    idle, window = figures["idle"], figures["window_ns"]
    if is_unknown(group) or window.median is None:
        took = format_value(figures["cpu_ns"].median, "ns", figures["cpu_ns"].bound)
        reason = plain(group.unknown_reason or "the trace cannot tell", 400)
        return f"{start}, {took} on the CPU (traced); GPU idle unknown: {reason}"
    part = format_value(idle.median, "fraction", idle.bound)
    of = format_value(window.median, "ns", window.bound)
    bound = bound_words(group.bound) if group.bound else ""
    why = ": ".join(words for words in (bound, _waits(group, window.median)) if words)
    return f"{start}, GPU idle {part} of {of} (traced)." + (f" {sentence(why)}" if why else "")


def is_unknown(group: Group) -> bool:
    """Whether the sentence cannot tell of idle time, and tells why instead."""
    return group.metrics["idle"].median is None or group.metrics["window_ns"].median is None


def group_words(group: Group) -> str:
    """Process and device of a group."""
    return f"process {group.pid}, device {'unknown' if group.device is None else group.device}"


def _waits(group: Group, window: float) -> str:
    """What the GPU waits for most, as shares of the step."""
    shares = [
        (stat.median or 0, metric.cause, BOUND_SIGNS.get(stat.bound, ""))
        for metric in gap_causes().values()
        if metric.cause and (stat := group.metrics[metric.name])
    ]
    largest = [s for s in sorted(shares, reverse=True)[:2] if s[0] >= _WORTH_TELLING * window > 0]
    said = [(f"{sign}{100 * ns / window:.0f}%", words) for ns, words, sign in largest]
    parts = [f"{part} of the step the GPU waits for {words}" for part, words in said[:1]]
    return ", ".join([*parts, *(f"{part} for {words}" for part, words in said[1:])])
