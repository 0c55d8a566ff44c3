"""Forecasts of traces and stored runs: which steps, with which costs and untraced times."""

from launchlens.workflow.forecasting.forecast import forecast_trace
from launchlens.workflow.forecasting.times import load_eager, parse_times
from launchlens.workflow.forecasting.wanted import ONE_GRAPH, Wanted

__all__ = ["ONE_GRAPH", "Wanted", "forecast_trace", "load_eager", "parse_times"]
