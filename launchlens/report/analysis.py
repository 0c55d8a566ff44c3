"""One trace as a document: a table for each group of steps, then what they ran and waited for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from launchlens.catalogue import by_name, step_metrics, tiles
from launchlens.kernel_names import short_names
from launchlens.records.figures import Analysis, Group, Stat, Step
from launchlens.records.metric import Metric
from launchlens.records.timeline import Timeline
from launchlens.report.about import about_trace
from launchlens.report.cells import Cell, Interval, Name, Number, Value
from launchlens.report.data import step_rows
from launchlens.report.document import (
    Block,
    Column,
    Document,
    Prominence,
    Row,
    Section,
    Table,
    Text,
    Tile,
)
from launchlens.report.findings import trace_findings
from launchlens.report.group_charts import group_gaps, kernel_times, modules, step_time
from launchlens.report.provenance import analysis_provenance
from launchlens.report.sentences import analysis_sentence, group_words
from launchlens.report.serving import log_sentences, replay_sentence, serving_sections
from launchlens.report.tables import call_table, follower_table, gap_table, kernel_table, name_facts
from launchlens.report.timelines import timeline_section
from launchlens.report.words import IDLE_BASIS, LONG, plain

_MOST_TILES = 4
_MOST_STEPS = 40
_MOST_GROUPS = 64  # (process, device, phase); a trace of a whole cluster node has fewer
_STEP_FIGURES = {
    "launches": "launches",
    "kernels": "kernels",
    "window": "window_ns",
    "busy": "busy_ns",
    "idle": "idle",
}


def analysis_document(
    analysis: Analysis, timelines: Sequence[Timeline] = (), closing: Sequence[str] = ()
) -> Document:
    """The figures of one trace, with some of its steps drawn on a common time axis.

    ``closing``: the lines that it ends with.
    """
    return Document(
        kind="analysis",
        title=f"launchlens: {analysis.trace.label}",
        answers=tuple(_answers(analysis)) if analysis.summary else (),
        about=about_trace(analysis.trace),
        tiles=_tiles(analysis.summary[0]) if analysis.summary else (),
        cautions=(*analysis.trace.warnings, *analysis.notes),
        sections=(*_sections(analysis, timelines), *_closing(closing)),
        provenance=analysis_provenance(analysis),
        footer=(IDLE_BASIS,),
        basis=IDLE_BASIS,
        record=analysis,
        data=lambda: step_rows(analysis),
    )


def _answers(analysis: Analysis) -> Iterator[str]:
    yield analysis_sentence(analysis)
    if said := replay_sentence(analysis):
        yield said
    yield from log_sentences(analysis)
    yield from (plain(loss, LONG) for loss in analysis.losses)


def _sections(analysis: Analysis, timelines: Sequence[Timeline]) -> Iterator[Section]:
    names = _names(analysis.summary)
    shown = {k.name for g in analysis.summary for k in g.kernels}
    shown |= {f.name for g in analysis.summary for f in g.gap_followers}
    short = short_names(shown)
    for i, (group, name) in enumerate(zip(analysis.summary[:_MOST_GROUPS], names, strict=False)):
        if chart := step_time(group, i):
            yield Section(f"causes-{i}", chart.title, (chart,), glance=i == 0)
        if timelines and i == 0:
            yield timeline_section(timelines)
        yield _figures(group, name.capitalize(), i)
        if work := tuple(_work(group, i, short)):
            yield Section(f"work-{i}", f"Kernels and gaps of {name}", work, folds=True)
    if (more := len(analysis.summary) - _MOST_GROUPS) > 0:
        said = f"{more} more groups of steps are left out here; --format json has all of them."
        yield Section("more-groups", "More groups", (Text((said,)),))
    if chart := modules(timelines):
        yield Section("modules-section", "Modules", (chart,))
    if analysis.findings:
        yield trace_findings(analysis.findings)
    yield from serving_sections(analysis)
    if full := name_facts(shown, short):
        yield Section("kernel-names", "Kernel names in full", (full,), folds=True)
    if analysis.steps:
        yield Section("steps", "Steps", (_step_table(analysis.steps),))


def _closing(lines: Sequence[str]) -> Iterator[Section]:
    if lines:
        yield Section("forecast", "What a CUDA graph would bring", (Text(tuple(lines), "answer"),))


def _names(groups: Sequence[Group]) -> list[str]:
    """What tells the groups apart: the phase, and where several have it the process and device."""
    phases = Counter(group.phase for group in groups)
    return [
        f"{g.phase} steps" + (f", {group_words(g)}" if phases[g.phase] > 1 else "") for g in groups
    ]


def _figures(group: Group, title: str, index: int) -> Section:
    """What a step of the group costs: time by cause, then every figure."""
    dropped = f", {group.dropped} dropped" if group.dropped else ""
    where = f"{group_words(group)}, steps named by {group.engine}"
    quantiles = ("p10", "p90", "p99")
    titles = ("median", *quantiles, "95% interval")
    table = Table(
        f"{group.phase}: {group.steps} steps{dropped} ({where})",
        (Column("per step", "text"), *(Column(title) for title in titles)),
        tuple(_metric_row(m, group.metrics[m.name]) for m in step_metrics()),
        caption=f"{group.phase}: {group.steps} steps used, {group.dropped} dropped. "
        f"Recognized by: {group.engine}; {group_words(group)}.",
        form="figures",
    )
    blocks: list[Block] = [table]
    if group.unknown_reason:
        blocks.append(Text((f"unknown where: {group.unknown_reason}",), "caution"))
    return Section(f"group-{index}", title, tuple(blocks))


def _metric_row(metric: Metric, stat: Stat) -> Row:
    leads = (metric.always or stat.median) and metric.shown != "detail"
    shown: Prominence = "main" if leads else "more"
    if stat.median is None:
        return Row((metric.title, _value(metric, stat, None), "", "", "", ""), None, shown)
    numbers = (stat.median, stat.p10, stat.p90, stat.p99)
    figures: list[Cell] = [_value(metric, stat, number) for number in numbers]
    interval = Interval(stat.ci_low, stat.ci_high, metric.unit, stat.bound)
    return Row((metric.title, *figures, interval), None, shown)


def _value(metric: Metric, stat: Stat, number: Number | None) -> Value:
    return Value(number, metric.unit, stat.bound)


def _tiles(group: Group) -> tuple[Tile, ...]:
    """The figures people quote."""
    chosen = [(m, group.metrics[m.name]) for m in tiles() if m.name in group.metrics]
    return tuple(
        (m.title, (("median", _value(m, stat, stat.median)),)) for m, stat in chosen[:_MOST_TILES]
    )


def _work(group: Group, index: int, short: Mapping[str, str]) -> Iterator[Block]:
    """What the steps ran, and how long the GPU stood idle in between."""
    yield from group_gaps(group, index)
    if any(gap.count for gap in group.gap_histogram):
        yield gap_table([("", group.gap_histogram)])
    if group.gap_followers:
        yield follower_table(group.gap_followers, short)
    if chart := kernel_times(group, index, short):
        yield chart
    if group.kernels:
        yield kernel_table(group.kernels, short)
    if group.api_calls:
        yield call_table(group.api_calls)


def _step_table(steps: Sequence[Step]) -> Table:
    """The steps one by one; their process and GPU where there are several."""
    several = len({(s.pid, s.device) for s in steps}) > 1
    return Table(
        "",
        (
            Column("step", "text"),
            Column("phase"),
            *((Column("pid:gpu"),) if several else ()),
            *(Column(title) for title in (*_STEP_FIGURES, "bound")),
        ),
        tuple(_step_row(step, several=several) for step in steps),
        caption="Every step",
        prominence="more",
        most=_MOST_STEPS,
        rest="--format csv lists all",
    )


def _step_row(step: Step, *, several: bool) -> Row:
    where = f"{step.pid}:{'?' if step.device is None else step.device}"
    name, placed = Name(f"{step.index}: {plain(step.range)}"), (where,) if several else ()
    figures = (_figure(step, name) for name in _STEP_FIGURES.values())
    return Row((name, step.phase, *placed, *figures, step.bound or "unknown"))


def _figure(step: Step, name: str) -> Value:
    metric = by_name()[name]
    return Value(step.figure(name), metric.unit, step.bounds.get(name))
