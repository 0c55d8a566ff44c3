"""The catalogue of a step's figures, and the functions that compute them."""

from __future__ import annotations

from launchlens.catalogue import step_metrics
from launchlens.metrics.figures import figures


def test_every_figure_of_a_step_has_its_function_and_no_other():
    fields = {metric.name.partition(".")[0] for metric in step_metrics()}
    assert set(figures()) == fields
