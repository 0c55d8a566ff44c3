"""How values become text. The only place where milliseconds and per cent exist.

Renderers take their words from here, so that a figure reads the same in every format.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from launchlens.records.comparison import Cell, Comparison, PhaseComparison, Row
from launchlens.records.figures import Analysis, GapBin, Group, Stat, Verdict
from launchlens.records.metric import Bound

UNKNOWN = "unknown"
MINUS = "\N{MINUS SIGN}"
IDLE_BASIS = "Idle: share of the step window without any operation, unless a row says otherwise."
"""Window and operation set of an idle fraction: never printed without."""
# A colon matters in :emoji: and in links only, a parenthesis behind a bracket only.
_MARKDOWN_ACTIVE = re.compile(r"[&<>|`*_\[\]~#@!\\$]|:(?=[\w+-]+:|//)")
_LONGEST_NAME = 160


def format_value(value: float | int | None, unit: str) -> str:
    """A value with its unit; ``unit`` is count, ns, fraction, bytes or per_s."""
    if value is None:
        return UNKNOWN
    if unit == "ns":
        return format_ns(value)
    if unit == "fraction":
        return f"{signed(100 * value, '.1f')}%"
    if unit == "bytes":
        return _format_bytes(value)
    if unit == "per_s":
        return f"{_digits(value)}/s"
    return f"{value:,.0f}".replace(",", "") if float(value).is_integer() else f"{value:.1f}"


def format_bounded(value: float | int | None, unit: str, bound: Bound | None) -> str:
    """A value with its unit, marked where it is only a bound."""
    mark = {"lower": "≥ ", "upper": "≤ "}.get(bound or "", "") if value is not None else ""
    return mark + format_value(value, unit)


def format_stat(stat: Stat, unit: str) -> str:
    """The median of a figure over steps, marked where it is only a bound."""
    return format_bounded(stat.median, unit, stat.bound)


def format_ns(value: float | int) -> str:
    """A time in the unit that keeps three digits readable: ns, µs, ms or s."""
    size = abs(value)
    for bound, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if size >= bound * 0.9995:
            return f"{_digits(value / bound)} {unit}"
    return f"{signed(value, '.0f')} ns"


def signed(value: float, spec: str) -> str:
    """A number with a real minus sign."""
    text = format(value, spec)
    return text.replace("-", MINUS) if float(text) else text.lstrip("-")


def _digits(value: float) -> str:
    size = abs(value)
    return signed(value, ".2f" if size < 9.995 else ".1f" if size < 999.5 else ".0f")


def _format_bytes(value: float) -> str:
    for power, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if abs(value) >= 1 << power:
            return f"{_digits(value / (1 << power))} {unit}"
    return f"{signed(value, '.0f')} B"


def format_cell(row: Row, cell: Cell) -> str:
    """A cell's value; bounds are marked as such, and what a failed variant has none of."""
    if cell.value is None and cell.failed:
        return "failed"
    return format_bounded(cell.value, row.unit, cell.bound)


def format_change(row: Row, cell: Cell) -> str:
    """A change against the baseline: counts absolute and %, times as ratio and %, idle in pp."""
    if cell.change is None:
        return ""
    if row.unit == "fraction":
        return f"{_plus(100 * cell.change, '.1f')} pp"
    if row.unit == "count":
        absolute = _plus(cell.change, ".0f" if float(cell.change).is_integer() else ".1f")
        if cell.change == 0 or cell.relative is None:
            return absolute if cell.change else "0"
        return f"{absolute} ({_percent(cell.relative)})"
    return _sized_change(row.unit, cell.value or 0, cell.change, cell.relative)


def _sized_change(unit: str, value: float, change: float, relative: float | None) -> str:
    """A change of a time, size or rate: as a ratio and %, or as a difference where both fail."""
    if relative is None or min(value, value - change) < 0:
        # From nothing, or of a negative time (a tail), there is no ratio.
        return ("+" if change > 0 else "") + format_value(change, unit)
    ratio = _ratio(unit, relative) if relative > -1 else ""
    return f"{ratio} ({_percent(relative)})" if ratio else _percent(relative)


def format_brief_change(row: Row, cell: Cell) -> str:
    """A change in one term, for narrow cells: times as ratio, counts in %, idle in pp."""
    said = format_change(row, cell)
    first, _, rest = said.partition(" (")
    if row.unit == "count" and rest:
        return rest.removesuffix(")")
    return first


def _ratio(unit: str, relative: float) -> str:
    factor = 1 + relative
    if abs(relative) < 0.005:
        return ""
    up, down = {"ns": ("longer", "shorter"), "bytes": ("larger", "smaller")}.get(
        unit, ("higher", "lower")
    )
    return f"{_digits(factor)}× {up}" if factor > 1 else f"{_digits(1 / factor)}× {down}"


def _percent(relative: float | None) -> str:
    if relative is None:
        return ""
    percent = 100 * relative
    if percent == -100:
        return f"{MINUS}100%"
    if 99.9 < abs(percent) < 100:
        return f"{_plus(percent, '.2f')}%"
    return f"{_plus(percent, '.1f' if abs(percent) < 1000 else '.0f')}%"


def _plus(value: float, spec: str) -> str:
    text = signed(value, spec)
    return f"+{text}" if value > 0 else text


def format_verdict(verdict: Verdict) -> str:
    """The word for a verdict; nothing for metrics of which neither less nor more is better."""
    return "" if verdict == "neutral" else verdict


def format_interval(low: float | int | None, high: float | int | None, unit: str) -> str:
    """A confidence interval, or nothing where there is none."""
    if low is None or high is None:
        return ""
    return f"{format_value(low, unit)} to {format_value(high, unit)}"


def gap_bin_label(gap: GapBin) -> str:
    """Name of a class of gap length, as in "< 2 µs" or "2-5 µs"."""
    low = gap.from_ns // 1000
    if gap.below_ns is None:
        return f"> {low} µs"
    high = gap.below_ns // 1000
    return f"{low}-{high} µs" if low else f"< {high} µs"


# Sentences ------------------------------------------------------------------------------------


def sentences(comparison: Comparison) -> list[str]:
    """One sentence for each candidate, about the first phase."""
    phase = comparison.phases[0]
    rows = {row.metric: row for row in phase.rows}
    if not comparison.candidates:
        return [_sentence(comparison, phase, rows, 0)]
    return [_sentence(comparison, phase, rows, index) for index in range(1, len(comparison.sides))]


def _sentence(
    comparison: Comparison, phase: PhaseComparison, rows: dict[str, Row], index: int
) -> str:
    side = comparison.sides[index]
    start = plain(comparison.baseline.label) + (f" → {plain(side.short)}: " if index else ": ")
    failure = side.facts.failure
    if failure is not None and phase.steps[index] == 0 and not side.facts.untraced:
        where = f" at {plain(failure.source)}" if failure.source else ""
        return f"{start}{failure.words}{where}: {plain(failure.error_line, 160)}"
    parts = []
    kind = f"{phase.phase} step" if phase.phase != "unknown" else "step"
    alike = sum(p.phase == phase.phase for p in comparison.phases)
    group = next((g for g in phase.groups if g != "-"), "-")
    where = f" ({group}; first of {alike})" if alike > 1 else ""
    unknown = []
    for metric, title in (("launches", f"launches per {kind}"), ("idle", "GPU idle")):
        row = rows.get(metric)
        if row is not None and _is_known(row, index):
            parts.append(f"{title} {_arrow(row, index)}{where if metric == 'launches' else ''}")
        elif row is not None:
            unknown.append(title)
    timed = rows.get("untraced_ns")
    if timed and timed.cells[0].value is not None and timed.cells[index].value is not None:
        parts.append(f"step {_arrow(timed, index)} untraced{_speedup(timed, index)}")
    elif traced := next((r for m in _TRACED if (r := rows.get(m)) and _is_known(r, index)), None):
        parts.append(f"{_TRACED[traced.metric]} {_arrow(traced, index)} (traced)")
    else:
        unknown.append("step time")
    said = ", ".join(parts)
    if unknown:
        said += ("; " if said else "") + " and ".join(unknown) + " unknown"
    return start + said


_TRACED = {"window_ns": "step", "cpu_ns": "range on the CPU"}


def phase_title(comparison: Comparison, phase: PhaseComparison) -> tuple[str, str]:
    """The phase, and what tells it from others of that name: processes and devices, or nothing."""
    if sum(p.phase == phase.phase for p in comparison.phases) == 1:
        return phase.phase, ""
    return phase.phase, f"({joined([g for g in phase.groups if g != '-'] or ['-'])})"


def _is_known(row: Row, index: int) -> bool:
    """Whether there is a figure of either side, so that an arrow says something."""
    return any(row.cells[i].value is not None for i in {0, index})


def _arrow(row: Row, index: int) -> str:
    before, after = row.cells[0], row.cells[index]
    if index == 0:
        return format_cell(row, before)
    left, right = format_cell(row, before), format_cell(row, after)
    unit = right.rpartition(" ")[2]
    if row.unit == "ns" and left.endswith(f" {unit}"):
        left = left.removesuffix(f" {unit}")
    return f"{left} → {right}"


def _speedup(row: Row, index: int) -> str:
    before, after = row.cells[0].value, row.cells[index].value
    if not before or not after or not index:
        return ""
    factor = before / after
    said = f"{_digits(factor)}× faster" if factor >= 1 else f"{_digits(1 / factor)}× slower"
    doubt = ", inconclusive" if row.cells[index].verdict == "inconclusive" else ""
    return f" ({said}{doubt})"


def analysis_sentence(analysis: Analysis) -> str:
    """What a trace says about its first group of steps, in a sentence."""
    group = analysis.summary[0]
    metrics = group.metrics
    kind = f"{group.phase} step" if group.phase != "unknown" else "step"
    launches = format_value(metrics["launches"].median, "count")
    alike = sum(g.phase == group.phase for g in analysis.summary)
    device = "unknown" if group.device is None else str(group.device)
    where = f" (process {group.pid}, device {device}; first of {alike})" if alike > 1 else ""
    noun = "launch" if launches == "1" else "launches"
    start = f"{plain(analysis.trace.label)}: {launches} {noun} per {kind}{where}"
    idle, window = metrics["idle"].median, metrics["window_ns"].median
    if idle is None or window is None:
        took = format_value(metrics["cpu_ns"].median, "ns")
        reason = plain(group.unknown_reason or "the trace cannot tell", 400)
        return f"{start}, {took} on the CPU (traced); GPU idle unknown: {reason}"
    bound = f": {group.bound}" if group.bound else ""
    mark = "≥ " if group.graph_tracing in ("graph", "mixed") else ""
    return (
        f"{start}, GPU idle {mark}{format_value(idle, 'fraction')} of {format_ns(window)} (traced)"
        f"{bound}{_waits(group, window)}"
    )


_CAUSES = {
    "host": "for the host",
    "launch": "for launches",
    "sync": "in synchronization",
    "device": "between operations on the device",
    "lead_in": "in the lead-in",
}


def _waits(group: Group, window: float) -> str:
    shares = [(group.metrics[f"gaps_ns.{c}"].median or 0, text) for c, text in _CAUSES.items()]
    largest = sorted(shares, reverse=True)[:2]
    said = [f"{100 * ns / window:.0f}% waits {text}" for ns, text in largest if ns / window >= 0.05]
    return "; " + ", ".join(said) if said else ""


# Foreign text ---------------------------------------------------------------------------------


def plain(text: str, limit: int = _LONGEST_NAME) -> str:
    """Foreign text on one line: no control characters, no newlines, shortened in the middle."""
    cleaned = "".join(
        " " if c.isspace() else "\N{REPLACEMENT CHARACTER}" if _is_control(c) else c for c in text
    )
    cleaned = " ".join(cleaned.split())
    if len(cleaned) <= limit:
        return cleaned
    head = (limit - 1) * 2 // 3
    return f"{cleaned[:head]}…{cleaned[-(limit - 1 - head) :]}"


def _is_control(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cf", "Co", "Cs", "Cn")


def markdown_text(text: str, limit: int = _LONGEST_NAME) -> str:
    """Foreign text that shows as itself in GitHub's Markdown, also inside a table.

    GitHub looks for names to notify in the finished HTML, where an escaped @ is an @ again: a
    zero-width space after it keeps "@someone" from being one.
    """
    return _escaped(plain(text, limit)).replace("&#64;", "&#64;&#8203;")


def _escaped(text: str) -> str:
    return _MARKDOWN_ACTIVE.sub(lambda m: f"&#{ord(m[0])};", text)


def markdown_code(text: str, limit: int = _LONGEST_NAME) -> str:
    """Foreign text as code. An HTML element, since backticks cannot be escaped within backticks."""
    return f"<code>{_escaped(plain(text, limit))}</code>"


def joined(values: Sequence[str]) -> str:
    """Values joined by "vs", or just one where all are alike."""
    return values[0] if len(set(values)) == 1 else " vs ".join(values)
