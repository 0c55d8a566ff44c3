"""The report on which sizes to capture. The first line is the answer."""

from __future__ import annotations

from collections.abc import Sequence

from launchlens.plural import counted
from launchlens.records.buckets import BucketChoice, CaptureSizes
from launchlens.report.cells import Value
from launchlens.report.changes import percent
from launchlens.report.document import Block, Column, Document, Row, Section, Table, Text
from launchlens.report.words import plain


def buckets_document(choice: BucketChoice) -> Document:
    """The best sizes beside the default ones, and how engines are told them."""
    blocks: list[Block] = [_table((choice.best, choice.beside))]
    if choice.worth_it:
        lines = tuple(f"{plain(o.engine)}: {o.option}" for o in choice.options)
        blocks.append(Text(lines, "log"))
    return Document(
        kind="buckets",
        title="launchlens: which sizes to capture",
        answers=(_sentence(choice),),
        sections=(Section("sizes", "Sizes", tuple(blocks)),),
        record=choice,
    )


def _sentence(choice: BucketChoice) -> str:
    of = f"{counted(choice.steps, 'step')} of {counted(choice.sizes, 'size')}"
    said = percent(-choice.saved)
    if not choice.worth_it:
        return (
            f"{plain(choice.beside.name)} is fine: the best sizes for these {of} change the time "
            f"of all steps by {said}"
        )
    listed = ", ".join(map(str, choice.best.sizes)) or "none"
    return f"capture {listed}: {said} time for {of} beside {plain(choice.beside.name)}"


def _table(rows: Sequence[CaptureSizes]) -> Table:
    return Table(
        "",
        (
            Column("sizes of", "text"),
            Column("sizes", "text"),
            Column("all steps"),
            Column("graph memory"),
            Column("capture time"),
        ),
        tuple(
            Row(
                (
                    plain(row.name),
                    ", ".join(map(str, row.sizes)) or "none",
                    Value(round(row.step_ns), "ns"),
                    Value(round(row.memory_bytes), "bytes") if row.memory_bytes else "",
                    Value(round(row.capture_ns), "ns") if row.capture_ns else "",
                )
            )
            for row in rows
        ),
    )
