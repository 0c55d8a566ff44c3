"""Rows of data: flat objects in which a bound is told as one."""

from __future__ import annotations

from dataclasses import replace

import handmade

from launchlens.report.data import step_rows


def test_a_step_names_the_figures_that_are_only_bounds():
    first, second = handmade.analysis().steps
    first = replace(first, bounds={"busy_ns": "lower", "idle": "upper"})
    rows = list(step_rows(replace(handmade.analysis(), steps=(first, second))))
    assert rows[0]["bounds"] == "busy_ns lower, idle upper"
    assert rows[1]["bounds"] is None
    assert not [name for row in rows for name, value in row.items() if isinstance(value, dict)]
