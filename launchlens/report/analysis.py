"""One trace as a document: a table for each group of steps, then what they ran and waited for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from launchlens.catalogue import columns, step_metrics, tiles
from launchlens.kernel_names import short_names
from launchlens.plural import counted
from launchlens.records.figures import Analysis, Group, Step
from launchlens.records.metric import Metric
from launchlens.records.timeline import Timeline
from launchlens.report.about import about_trace
from launchlens.report.cells import Interval, Name, Value
from launchlens.report.closing import closing_sections
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
from launchlens.report.sentences import analysis_sentence, group_words, is_unknown
from launchlens.report.serving import log_sentences, replay_sentence, serving_sections
from launchlens.report.tables import call_table, follower_table, gap_table, kernel_table, name_facts
from launchlens.report.timelines import timeline_section
from launchlens.report.words import IDLE_BASIS, LONG, bound_words, plain

_MOST_TILES = 4
_MOST_STEPS = 40
_MOST_GROUPS = 64  # (process, device, phase); a trace of a whole cluster node has fewer
_QUANTILES = (("p10", 10), ("p90", 10), ("p99", 100))
"""Each with the number of steps from which on it can be told."""


def analysis_document(
    analysis: Analysis,
    timelines: Sequence[Timeline] = (),
    closing: Sequence[str] = (),
    *,
    named: str = "",
) -> Document:
    """The figures of one trace, with some of its steps drawn on a common time axis.

    ``closing``: the forecast that it ends with, in lines; ``named``: how a command
    line names the trace.
    """
    return Document(
        kind="analysis",
        title=f"launchlens: {analysis.trace.label}",
        answers=tuple(_answers(analysis)) if analysis.summary else (),
        about=about_trace(analysis.trace),
        tiles=_tiles(analysis.summary[0]) if analysis.summary else (),
        cautions=(*analysis.trace.warnings, *analysis.notes),
        sections=(*_sections(analysis, timelines), *closing_sections(analysis, closing, named)),
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
        groups = counted(more, "more group")
        said = f"{groups} of steps left out here; --format json has all of them."
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


def _names(groups: Sequence[Group]) -> list[str]:
    """What tells the groups apart: the phase, and where several have it the process and device."""
    phases = Counter(group.phase for group in groups)
    return [
        f"{g.phase} steps" + (f", {group_words(g)}" if phases[g.phase] > 1 else "") for g in groups
    ]


def _figures(group: Group, title: str, index: int) -> Section:
    """What a step of the group costs: time by cause, then every figure."""
    dropped = f", {group.dropped} dropped" if group.dropped else ""
    quantiles = [name for name, least in _QUANTILES if group.steps >= least]
    table = Table(
        f"{group.phase}: {counted(group.steps, 'step')}{dropped} "
        f"({group_words(group)}, steps named by {group.engine})",
        (
            Column("per step", "text"),
            Column("median"),
            Column("95% interval"),
            *(Column(name, prominence="more") for name in quantiles),
        ),
        tuple(_metric_row(m, group, quantiles) for m in step_metrics()),
        caption=f"{group.phase}: {counted(group.steps, 'step')} used, {group.dropped} dropped. "
        f"Named by {group.engine}; {group_words(group)}.",
        form="figures",
    )
    blocks: list[Block] = [table]
    if group.unknown_reason and not (index == 0 and is_unknown(group)):
        blocks.append(Text((f"Unknown figures: {group.unknown_reason}",), "caution"))
    return Section(f"group-{index}", title, tuple(blocks))


def _metric_row(metric: Metric, group: Group, quantiles: Sequence[str]) -> Row:
    stat = group.metrics[metric.name]
    shown: Prominence = "main" if _leads(metric, group) else "more"
    title = metric.title
    if stat.median is None:
        graphs = group.metrics["graph_launches"].median
        why = f"unknown: {metric.without_graphs}" if metric.without_graphs and graphs else ""
        value = Value(None, metric.unit, instead=why)
        return Row((title, value, "", *("" for _ in quantiles)), None, shown)
    figures = (Value(getattr(stat, name), metric.unit, stat.bound) for name in quantiles)
    interval = Interval(stat.ci_low, stat.ci_high, metric.unit, stat.bound)
    return Row(
        (title, Value(stat.median, metric.unit, stat.bound), interval, *figures), None, shown
    )


def _leads(metric: Metric, group: Group) -> bool:
    """Whether a report without details shows the metric, by its entry in the catalogue."""
    if metric.stands_for:
        return group.metrics[metric.stands_for].median is None
    if metric.shown == "always":
        return True
    median, window = group.metrics[metric.name].median, group.metrics["window_ns"].median
    if metric.shown == "detail" or not median:
        return False
    return not metric.least_share or (window or 0) * metric.least_share <= median


def _tiles(group: Group) -> tuple[Tile, ...]:
    """The figures people quote."""
    chosen = [(m, group.metrics[m.name]) for m in tiles() if m.name in group.metrics]
    return tuple(
        (m.title, (("median", Value(stat.median, m.unit, stat.bound)),))
        for m, stat in chosen[:_MOST_TILES]
    )


def _work(group: Group, index: int, short: Mapping[str, str]) -> Iterator[Block]:
    """What the steps ran, and how long the GPU stood idle in between."""
    yield from group_gaps(group, index)
    if any(gap.count for gap in group.gap_histogram):
        yield gap_table([("", group.gap_histogram, group.steps)])
    if group.gap_followers:
        yield follower_table(group.gap_followers, group.steps, short)
    if chart := kernel_times(group, index, short):
        yield chart
    if group.kernels:
        yield kernel_table(group.kernels, group.steps, short)
    if group.api_calls:
        yield call_table(group.api_calls, group.steps)


def _step_table(steps: Sequence[Step]) -> Table:
    """The steps one by one; their process and GPU where there are several."""
    several = len({(s.pid, s.device) for s in steps}) > 1
    return Table(
        "",
        (
            Column("step", "text"),
            Column("phase"),
            *((Column("pid:gpu"),) if several else ()),
            *(Column(metric.column) for metric in columns()),
            Column("bound"),
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
    figures = (Value(step.figure(m.name), m.unit, step.bounds.get(m.name)) for m in columns())
    return Row((name, step.phase, *placed, *figures, bound_words(step.bound)))
