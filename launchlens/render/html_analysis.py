"""The page of one trace, without anything to compare it with."""

from __future__ import annotations

from collections.abc import Sequence

from launchlens.model.figures import Analysis, Group
from launchlens.model.timeline import Timeline
from launchlens.render.format import format_value
from launchlens.render.html_charts import gap_histogram_charts
from launchlens.render.html_figures import Series, bars_by_category
from launchlens.render.html_page import FactsView, FigureView, Page, SectionView, Tile, TileValue
from launchlens.render.html_palette import BUSY_COLOUR, GAP_CAUSES, side_colour
from launchlens.render.html_sections import finding_view, timeline_section, trace_entries
from launchlens.render.html_tables import group_table, kernel_table, step_table

_TILES = (
    ("launches", "Launches per step", "count"),
    ("idle", "GPU idle, traced", "fraction"),
    ("window_ns", "Step, traced", "ns"),
    ("sync_calls", "Sync calls per step", "count"),
)
_MOST = 12


def analysis_page(analysis: Analysis, timelines: Sequence[Timeline]) -> Page:
    """The page's records: a section for each group of steps, then the recording itself."""
    blocks = [_group_section(group, i) for i, group in enumerate(analysis.summary)]
    if timelines:
        blocks.insert(min(1, len(blocks)), timeline_section(timelines))
    if analysis.findings:
        views = tuple(finding_view(finding) for finding in analysis.findings)
        title = "What stands in the way of a CUDA graph"
        blocks.append(SectionView("blockers", title, findings=views))
    if analysis.steps:
        blocks.append(SectionView("steps", "Steps", tables=(step_table(analysis),)))
    known = tuple((n, v) for n, v in trace_entries(analysis.trace) if v)
    facts = (FactsView(analysis.trace.label, known),)
    blocks.append(SectionView("provenance", "Where the figures come from", facts=facts))
    return Page(
        title=f"launchlens: {analysis.trace.label}",
        sentence=_sentence(analysis),
        tiles=_tiles(analysis.summary[0]) if analysis.summary else (),
        notices=(
            *analysis.notes,
            *(g.unknown_reason for g in analysis.summary if g.unknown_reason),
        ),
        blocks=tuple(blocks),
    )


def _sentence(analysis: Analysis) -> str:
    if not analysis.summary:
        return f"{analysis.trace.label}: no step to sum up."
    parts = []
    for group in analysis.summary:
        figures = {
            name: group.metrics[name].median for name, _, _ in _TILES if name in group.metrics
        }
        parts.append(
            f"{format_value(figures.get('launches'), 'count')} launches per {group.phase} step, "
            f"GPU idle {format_value(figures.get('idle'), 'fraction')}, "
            f"step {format_value(figures.get('window_ns'), 'ns')}"
        )
    return f"{analysis.trace.label}: {'; '.join(parts)} (traced)."


def _tiles(group: Group) -> tuple[Tile, ...]:
    return tuple(
        Tile(title, (TileValue("median", format_value(group.metrics[name].median, unit)),))
        for name, title, unit in _TILES
        if name in group.metrics
    )


def _group_section(group: Group, index: int) -> SectionView:
    where = f"process {group.pid}" + ("" if group.device is None else f", device {group.device}")
    notes = [f"{group.engine}, {where}."]
    if group.bound:
        notes.append(f"By the causes of its gaps the step is {group.bound}.")
    figures = [
        figure for figure in (_idle_figure(group, index), _kernel_figure(group, index)) if figure
    ]
    if group.gap_histogram:
        figures += [
            _renamed(figure, index)
            for figure in gap_histogram_charts([(group.phase, group.gap_histogram)])
        ]
    tables = [group_table(group, {name: (title, unit) for name, title, unit in _TILES})]
    if group.kernels:
        tables.append(kernel_table(group))
    return SectionView(
        f"group-{index}",
        f"{group.phase.capitalize()} steps",
        (" ".join(notes),),
        figures=tuple(figures),
        tables=tuple(tables),
    )


def _idle_figure(group: Group, index: int) -> FigureView | None:
    parts = [("busy", BUSY_COLOUR, "busy_ns")]
    parts += [(c.replace("_", "-"), v[0], f"gaps_ns.{c}") for c, v in GAP_CAUSES.items()]
    series = [
        Series(name, colour, (group.metrics[metric].median,))
        for name, colour, metric in parts
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


def _renamed(figure: FigureView, index: int) -> FigureView:
    from dataclasses import replace

    return replace(figure, id=f"{figure.id}-{index}")
