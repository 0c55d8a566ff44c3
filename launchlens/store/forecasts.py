"""Forecasts of runs beside what their variants took."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from launchlens.records.forecast import Forecast
from launchlens.records.score import ForecastOutcome
from launchlens.store.database import DATABASE, open_database, read_rows
from launchlens.store.rows import UNTRACED, UNTRACED_METRIC

if TYPE_CHECKING:
    from sqlite_utils import Database

_OUTCOMES = f"""
SELECT f.run_id, r.created, r.model, r.gpu, f.variant, f.phase, v.isl, v.batch, f.costs,
       f.eager_ns, f.step_ns, f.low_ns, f.high_ns, x.median AS outcome_ns
FROM forecasts AS f JOIN runs AS r ON r.id = f.run_id
JOIN variants AS v ON v.run_id = f.run_id AND v.name = f.variant
JOIN figures AS x ON x.variant_id = v.id AND x.phase = f.phase
     AND x.trace_kind = '{UNTRACED}' AND x.metric = '{UNTRACED_METRIC}'
WHERE x.median IS NOT NULL ORDER BY r.created, f.rowid"""


def put_forecast(db: Database, run_id: str, made_from: str, forecast: Forecast) -> None:
    """Rows of a run's forecasts, in place of older ones from the same variant."""
    eager = {base.phase: base.step_ns for base in forecast.untraced}
    table, used = db.table("forecasts"), forecast.constants
    table.delete_where("run_id = ? AND made_from = ?", [run_id, made_from])
    table.insert_all(
        {
            "run_id": run_id,
            "made_from": made_from,
            "variant": f.variant,
            "phase": f.phase,
            "step_ns": f.step_ns,
            "low_ns": f.low_ns,
            "high_ns": f.high_ns,
            "eager_ns": eager.get(f.phase),
            "costs": used.source if used else None,
        }
        for f in forecast.forecasts
    )


def read_outcomes(root: Path) -> tuple[ForecastOutcome, ...]:
    """Every forecast of the runs in a folder whose variant was measured after it, oldest first."""
    if not (root / DATABASE).exists():
        return ()
    with open_database(root) as db:
        found = read_rows(db, _OUTCOMES)
    return tuple(
        ForecastOutcome(
            **{name: value for name, value in row.items() if name != "outcome_ns"},
            outcome_ns=round(row["outcome_ns"]),
            error=row["step_ns"] / row["outcome_ns"] - 1,
            held=row["low_ns"] <= row["outcome_ns"] <= row["high_ns"],
        )
        for row in found
    )
