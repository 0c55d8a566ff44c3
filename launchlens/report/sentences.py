"""The first sentences of a report: the answer."""

from __future__ import annotations

from launchlens.catalogue import gap_causes
from launchlens.plural import counted
from launchlens.records.figures import Analysis, Group
from launchlens.report.words import (
    BOUND_SIGNS,
    bound_words,
    format_value,
    plain,
    sentence,
    step_words,
)

_WORTH_TELLING = 0.05  # of the window


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
