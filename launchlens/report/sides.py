"""Figures of several sides beside one another: the table of a phase, and the key figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from launchlens.catalogue import by_name, metrics, tiles
from launchlens.records.comparison import Cell, Comparison, PhaseComparison
from launchlens.records.comparison import Row as MetricRow
from launchlens.report.cells import Judged
from launchlens.report.document import Block, Column, Prominence, Row, Section, Table, Text, Tile
from launchlens.report.sentences import phase_title, value_of
from launchlens.report.tables import kernel_changes
from launchlens.report.words import IDLE_BASIS, bound_words, joined, step_words

_MOST_TILES = 4


def figures_section(
    comparison: Comparison, phase: PhaseComparison, index: int, short: Mapping[str, str]
) -> Section:
    """A phase's metrics with their changes and verdicts, and the kernels that differ."""
    names = [side.short for side in comparison.sides]
    used = ", ".join(f"{n} of {name}" for n, name in zip(phase.steps, names, strict=True))
    caption = (
        f"{phase.phase.capitalize()} steps used: {used}. Medians; the 95% interval below. "
        f"{IDLE_BASIS}"
    )
    if any(phase.dropped):
        dropped = ", ".join(f"{n} of {name}" for n, name in zip(phase.dropped, names, strict=True))
        caption += f" Dropped at the start: {dropped}."
    table = Table(
        title=phase_title(comparison, phase),
        columns=(Column("metric", "text"), *(Column(name) for name in names)),
        rows=tuple(_metric_rows(phase)),
        caption=caption,
        form="sides",
        lead=f"Per {step_words(phase.phase)}, medians over "
        f"{joined([str(n) for n in phase.steps])} steps:",
    )
    bound = [f"{name} is {bound_words(b)}" for name, b in zip(names, phase.bound, strict=True) if b]
    blocks: tuple[Block, ...] = (
        table,
        *(kernel_changes(changes, short) for changes in phase.kernels),
    )
    if bound:
        said = "By the causes of their gaps: " + ", ".join(bound) + "."
        blocks = (Text((said,), prominence="page"), *blocks)
    return Section(f"figures-{index}", f"Figures of a {phase_words(comparison, phase)}", blocks)


def _metric_rows(phase: PhaseComparison) -> Iterator[Row]:
    """What stands for an unknown figure (`Metric.stands_for`) takes its place in the main rows."""
    saying = {r.metric for r in phase.rows if any(cell.value not in (0, None) for cell in r.cells)}
    main = {r.metric for r in phase.rows if r.headline and r.metric in saying}
    main.add(tiles()[0].name)
    main |= {m.name for m in metrics() if m.stands_for and m.stands_for not in main}
    for row in phase.rows:
        shown: Prominence = (
            "main" if row.metric in main else "more" if row.metric in saying else "page"
        )
        cells = tuple(judged(row, cell) for cell in row.cells)
        yield Row((row.title, *cells), row.note, shown)


def judged(row: MetricRow, cell: Cell) -> Judged:
    """A side's figure with its change, as a cell of a document."""
    said = (cell.change, cell.relative, cell.verdict, cell.source, cell.note, cell.change_bound)
    metric = by_name().get(row.metric)
    return Judged(value_of(row, cell), *said, speed=metric is not None and metric.speed)


def key_figures(comparison: Comparison) -> tuple[Tile, ...]:
    """The figures people quote; of the first phase, where they are known at all."""
    if not comparison.phases:
        return ()
    known = {
        row.metric: row
        for row in comparison.phases[0].rows
        if any(cell.value is not None for cell in row.cells)
    }
    chosen = [known[m.name] for m in tiles() if m.name in known][:_MOST_TILES]
    names = [side.short for side in comparison.sides]
    return tuple(
        (row.title, tuple(zip(names, (judged(row, cell) for cell in row.cells), strict=True)))
        for row in chosen
    )


def phase_words(comparison: Comparison, phase: PhaseComparison) -> str:
    """The phase and "step", with process and device where several groups share the phase."""
    words = step_words(phase.phase)
    if sum(other.phase == phase.phase for other in comparison.phases) == 1:
        return words
    return f"{words} ({' / '.join(dict.fromkeys(phase.groups))})"
