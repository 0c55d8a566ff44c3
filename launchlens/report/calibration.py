"""The report on a machine's costs of launches and graphs."""

from __future__ import annotations

from launchlens.records.calibration import Calibration
from launchlens.report.cells import Value
from launchlens.report.document import Column, Document, Row, Section, Table
from launchlens.report.words import format_ns, plain


def calibration_document(calibration: Calibration) -> Document:
    """What was measured, beside what is shipped."""
    costs = {row.name: row for row in calibration.costs}
    gap, launch = costs["node_gap_ns"], costs["tracing_ns"]
    said = (
        f"{plain(calibration.gpu)}: {format_ns(gap.ns)} for each node of a graph, tracing adds "
        f"{format_ns(launch.ns)} to each call; forecasts of its traces use this"
    )
    rows = tuple(
        Row(
            (
                row.name,
                Value(row.ns, "ns") if row.measured else "not measured",
                Value(row.spread_ns, "ns") if row.measured else "",
                Value(row.shipped_ns, "ns"),
            )
        )
        for row in calibration.costs
    )
    table = Table(
        "costs of launches and graphs",
        (
            Column("cost", "text"),
            Column("here"),
            Column("spread"),
            Column(f"shipped, {plain(calibration.shipped_gpu)}"),
        ),
        rows,
    )
    return Document(
        kind="calibration",
        title="launchlens: costs of launches and graphs",
        answers=(said,),
        sections=(Section("costs", "Costs", (table,)),),
        cautions=calibration.notes,
        footer=(f"Kept in {plain(calibration.file)}.",),
        record=calibration,
    )
