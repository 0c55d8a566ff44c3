"""The report on how well forecasts held."""

from __future__ import annotations

from launchlens.plural import counted
from launchlens.records.score import ForecastOutcome, ForecastScore
from launchlens.report.cells import Interval, Value
from launchlens.report.changes import percent
from launchlens.report.document import Column, Document, Row, Section, Table
from launchlens.report.words import plain


def score_document(score: ForecastScore) -> Document:
    """Every forecast beside its outcome; the first line says how large errors are."""
    titles = ("run", "variant", "phase", "forecast", "90% interval", "measured", "error", "held")
    table = Table(
        "",
        tuple(Column(t, "text" if t in titles[:3] else "number") for t in titles),
        tuple(_row(one) for one in score.outcomes),
        caption="Forecasts that were written down before the variant was measured.",
        names=2,
    )
    return Document(
        kind="forecast-score",
        title="launchlens: forecasts and outcomes",
        answers=(_sentence(score),),
        sections=(Section("outcomes", "Outcomes", (table,)),) if score.outcomes else (),
        record=score,
    )


def _sentence(score: ForecastScore) -> str:
    if score.median_error is None or score.worst_error is None:
        return "No stored run has a forecast and the measured step that it is of."
    median, worst = (percent(e).lstrip("+") for e in (score.median_error, score.worst_error))
    return (
        f"{counted(len(score.outcomes), 'forecast')}: median error {median}, largest {worst}; "
        f"90% intervals held {score.held} of {len(score.outcomes)} outcomes"
    )


def _row(one: ForecastOutcome) -> Row:
    return Row(
        (
            plain(one.run_id),
            plain(one.variant),
            one.phase,
            Value(one.step_ns, "ns"),
            Interval(one.low_ns, one.high_ns, "ns"),
            Value(one.outcome_ns, "ns"),
            percent(one.error),
            "yes" if one.held else "no",
        )
    )
