"""Several traces as a document: a line for each phase of each, in the order they were named."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from launchlens.catalogue import columns
from launchlens.plural import counted
from launchlens.records.figures import Analyses, Analysis, Group
from launchlens.records.metric import Metric
from launchlens.report.cells import Name, Value
from launchlens.report.data import step_rows
from launchlens.report.document import Column, Document, Prominence, Row, Section, Table, Text
from launchlens.report.sentences import analysis_sentence, group_words
from launchlens.report.words import IDLE_BASIS, LONG, bound_words, plain


def traces_document(found: Analyses, named: Sequence[str]) -> Document:
    """Traces beside one another, without a verdict: that is what comparing is for.

    ``named``: how a command line names each of them.
    """
    labels = _labels(found.analyses)
    pairs = list(zip(labels, found.analyses, strict=True))
    command = shlex.join(["launchlens", "diff", *named])
    sections = (
        Section("traces", "Traces", (_table(pairs), *_sentences(found.analyses))),
        Section("next", "What next", (Text((command,), "log", title="Compare them"),)),
    )
    return Document(
        kind="analysis",
        title=f"launchlens: {counted(len(pairs), 'trace')}",
        sections=sections,
        cautions=tuple(
            f"{label}: {plain(said, LONG)}"
            for label, one in pairs
            for said in (*one.losses, *one.trace.warnings, *one.notes)
        ),
        footer=(IDLE_BASIS,),
        basis=IDLE_BASIS,
        record=found,
        data=lambda: _data(pairs),
    )


def _labels(analyses: Sequence[Analysis]) -> list[str]:
    """Short names of the traces; their files where two would be called the same, then numbers."""
    for names in ([a.trace.label for a in analyses], [a.trace.file for a in analyses]):
        if len(set(names)) == len(names):
            return names
    return [f"{i}: {a.trace.file}" for i, a in enumerate(analyses, 1)]


def _table(pairs: Sequence[tuple[str, Analysis]]) -> Table:
    figures = (Column(m.column, prominence=_prominence(m)) for m in columns())
    return Table(
        "Steps as traced, medians",
        (
            Column("trace", "text"),
            Column("phase", "whole"),
            Column("steps", prominence="more"),
            *figures,
            Column("bound", "whole"),
        ),
        tuple(row for label, one in pairs for row in _rows(label, one)),
    )


def _prominence(metric: Metric) -> Prominence:
    """Key figures fit beside one another in a terminal; the rest come with details."""
    return "more" if metric.tile is None else "main"


def _rows(label: str, analysis: Analysis) -> Iterator[Row]:
    phases = Counter(group.phase for group in analysis.summary)
    for group in analysis.summary:
        phase = group.phase
        if phases[phase] > 1:
            phase += f" ({group_words(group)})"  # type: ignore[assignment]
        steps = Value(group.steps, "count")
        yield Row((Name(label), phase, steps, *_figures(group), bound_words(group.bound)))


def _figures(group: Group) -> Iterator[Value]:
    for metric in columns():
        stat = group.metrics[metric.name]
        yield Value(stat.median, metric.unit, stat.bound)


def _sentences(analyses: Sequence[Analysis]) -> Iterator[Text]:
    said = tuple(analysis_sentence(one) for one in analyses if one.summary)
    if said:
        yield Text(said, "list", prominence="more")


def _data(pairs: Sequence[tuple[str, Analysis]]) -> Iterator[dict[str, Any]]:
    """The rows of all steps, each with its trace."""
    for label, analysis in pairs:
        for row in step_rows(analysis):
            yield {"trace": label} | row
