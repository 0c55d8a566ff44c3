"""The page of one trace, without anything to compare it with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from launchlens.catalogue import step_metrics
from launchlens.records.figures import Analysis, Group
from launchlens.records.timeline import Timeline
from launchlens.render.format import analysis_sentence
from launchlens.render.html_blockers import findings_section
from launchlens.render.html_charts import gap_histogram_charts
from launchlens.render.html_figures import Series, bars_by_category
from launchlens.render.html_modules import module_chart
from launchlens.render.html_page import FactsView, FigureView, Page, SectionView, Tile, TileValue
from launchlens.render.html_palette import BUSY_COLOUR, GAP_CAUSES, side_colour
from launchlens.render.html_sections import timeline_section, trace_entries
from launchlens.render.html_tables import group_table, group_value, kernel_table, step_table

_TILES = (
    ("launches", "Launches per step", "count"),
    ("idle", "GPU idle, traced", "fraction"),
    ("window_ns", "Step, traced", "ns"),
    ("sync_calls", "Sync calls per step", "count"),
)
_MOST = 12


def analysis_page(analysis: Analysis, timelines: Sequence[Timeline]) -> Page:
    """The page's records: a section for each group of steps, then the recording itself."""
    names = _names(analysis.summary)
    blocks = [
        _figures_section(group, name.capitalize(), i)
        for i, (group, name) in enumerate(zip(analysis.summary, names, strict=True))
    ]
    if timelines:
        blocks.insert(min(1, len(blocks)), timeline_section(timelines))
    modules = module_chart(timelines)
    if modules:
        blocks.append(SectionView("modules-section", "Modules", figures=(modules,)))
    blocks += [
        _work_section(group, f"Kernels and gaps of {name}", i)
        for i, (group, name) in enumerate(zip(analysis.summary, names, strict=True))
    ]
    if analysis.findings:
        blocks.append(findings_section(analysis.findings))
    if analysis.steps:
        blocks.append(SectionView("steps", "Steps", tables=(step_table(analysis),)))
    known = tuple((n, v) for n, v in trace_entries(analysis.trace) if v)
    facts = (FactsView(analysis.trace.label, known),)
    blocks.append(SectionView("provenance", "Where the figures come from", facts=facts))
    return Page(
        title=f"launchlens: {analysis.trace.label}",
        sentences=(analysis_sentence(analysis),) if analysis.summary else (),
        tiles=_tiles(analysis.summary[0]) if analysis.summary else (),
        notices=(
            *analysis.trace.warnings,
            *analysis.notes,
            *(g.unknown_reason for g in analysis.summary if g.unknown_reason),
        ),
        blocks=tuple(blocks),
    )


def _tiles(group: Group) -> tuple[Tile, ...]:
    return tuple(
        Tile(
            title,
            (TileValue("median", group_value(group, name, group.metrics[name].median, unit)),),
        )
        for name, title, unit in _TILES
        if name in group.metrics
    )


def _names(groups: Sequence[Group]) -> list[str]:
    """What tells the groups apart: the phase, and where several have it the process and device."""
    phases = Counter(group.phase for group in groups)
    return [f"{g.phase} steps" + (f", {_where(g)}" if phases[g.phase] > 1 else "") for g in groups]


def _figures_section(group: Group, title: str, index: int) -> SectionView:
    """What a step of the group costs: time by cause, then every figure."""
    notes = [f"Steps recognized by: {group.engine}; {_where(group)}."]
    if group.bound:
        notes.append(f"By the causes of its gaps the step is {group.bound}.")
    idle = _idle_figure(group, index)
    titles = {m.name: (m.title, m.unit) for m in step_metrics()}
    return SectionView(
        f"group-{index}",
        title,
        (" ".join(notes),),
        figures=(idle,) if idle else (),
        tables=(group_table(group, titles),),
    )


def _work_section(group: Group, title: str, index: int) -> SectionView:
    """What the steps ran, and how long the GPU stood idle in between."""
    figures = [figure for figure in (_kernel_figure(group, index),) if figure]
    if group.gap_histogram:
        histogram = [(group.phase, group.gap_histogram, group.steps)]
        figures += gap_histogram_charts(histogram, f"-{index}")
    return SectionView(
        f"work-{index}",
        title,
        (_where(group).capitalize() + ".",),
        figures=tuple(figures),
        tables=(kernel_table(group),) if group.kernels else (),
    )


def _where(group: Group) -> str:
    return f"process {group.pid}" + ("" if group.device is None else f", device {group.device}")


def _idle_figure(group: Group, index: int) -> FigureView | None:
    parts = [("busy", BUSY_COLOUR, "busy: at least one operation runs", "busy_ns")]
    for cause, (colour, words) in GAP_CAUSES.items():
        parts.append((cause.replace("_", "-"), colour, words, f"gaps_ns.{cause}"))
    series = [
        Series(name, colour, (group.metrics[metric].median,), words)
        for name, colour, words, metric in parts
        if metric in group.metrics and group.metrics[metric].median
    ]
    if not series:
        return None
    return bars_by_category(
        f"idle-{index}",
        "Where the step's time goes on the GPU",
        "Traced; each part is its own median over the steps.",
        [f"{group.phase} step"],
        series,
        unit="ns",
        stacked=True,
    )


def _kernel_figure(group: Group, index: int) -> FigureView | None:
    rows = group.kernels[:_MOST]
    if not rows:
        return None
    series = [Series("total time", side_colour(1), tuple(row.total_ns for row in rows))]
    return bars_by_category(
        f"kernels-{index}",
        "Kernels by total time",
        f"Over {group.steps} steps together.",
        [row.name for row in rows],
        series,
        unit="ns",
    )
